//! A client that pings a server over a network that loses every third packet on average.
//!
//! It sends each ping again until it is answered. The run passes if all of them are.

use simutant_sim_core::{Address, Context, Latency, Link, Message, Probability, Simulation, VirtualDuration};

#[derive(Debug, Clone, Copy, Hash)]
enum PingMessage {
    Ping { number: u32 },
    Pong { number: u32 },
}

impl Message for PingMessage {
    fn kind(&self) -> &'static str {
        match self {
            Self::Ping { .. } => "PING",
            Self::Pong { .. } => "PONG",
        }
    }
}

/// Pings until `count` pings are answered, and returns how many pings that took.
async fn client(context: Context<PingMessage>, server: Address, count: u32) -> u32 {
    let mut channel = context.channel();
    let mut sent = 0;
    let mut number = 0;
    while number < count {
        channel.send(server, PingMessage::Ping { number });
        sent += 1;
        if let Ok(delivery) = channel.recv_timeout(VirtualDuration::from_millis(100)).await {
            let PingMessage::Pong { number: answered } = delivery.message else { panic!("a server sent a ping") };
            assert_eq!(answered, number, "the answer is to another ping");
            number += 1;
        }
    }
    sent
}

/// Answers every ping.
async fn server(context: Context<PingMessage>, port: u16) {
    let mut channel = context.channel_at(port);
    while context.running() {
        let delivery = channel.recv().await;
        let PingMessage::Ping { number } = delivery.message else { panic!("a client sent a pong") };
        channel.send(delivery.source, PingMessage::Pong { number });
    }
}

fn main() {
    let mut simulation = Simulation::new(7);
    simulation.network(Link {
        latency: Latency::Uniform { min: VirtualDuration::from_millis(5), max: VirtualDuration::from_millis(20) },
        drop: Probability::new(0.33).expect("it is one").into(),
        ..Link::default()
    });
    simulation.add("server", |context| server(context, 7));
    let to = simulation.address("server", 7);
    let sent = simulation.add("client", |context| client(context, to, 100)).returned();

    let report = simulation.run();
    assert!(report.ended.passed(), "{}", report.ended);
    // Two packets of three arrive, so four round trips of nine succeed: 225 pings on average.
    let sent = *sent.get().expect("the client returned");
    assert!((180..270).contains(&sent), "{sent} pings");
}
