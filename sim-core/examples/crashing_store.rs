//! A store that crashes again and again, and loses nothing that it has acknowledged; unless it acknowledges too soon.
//!
//! The client puts values, each again until it is acknowledged, and at last asks for all of them. The server keeps them
//! in a durable log, and writing takes time. If it acknowledges when the log has the value, the client misses nothing.
//! If it acknowledges first, it is faster, and a crash in between loses a value that the client believes to be safe.

use std::collections::BTreeMap;

use simutant_sim_core::{
    Address, Channel, Context, Ended, FaultRate, Message, Random, RandomFaults, Simulation, Violation, VirtualDuration,
    VirtualTime,
};

const PORT: u16 = 6_379;
const VALUES: u64 = 300;
/// How long it takes to append to the log.
const WRITE: VirtualDuration = VirtualDuration::from_millis(4);
/// How long the client waits for an answer. A request and its answer travel for two milliseconds.
const TIMEOUT: VirtualDuration = VirtualDuration::from_millis(20);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum StoreMessage {
    Put { key: u64, value: u64 },
    Acknowledged { key: u64 },
    GetAll,
    All { values: BTreeMap<u64, u64> },
}

impl Message for StoreMessage {
    fn kind(&self) -> &'static str {
        match self {
            Self::Put { .. } => "PUT",
            Self::Acknowledged { .. } => "ACKNOWLEDGED",
            Self::GetAll => "GET-ALL",
            Self::All { .. } => "ALL",
        }
    }
}

/// When the server acknowledges a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Acknowledge {
    /// When it is in the log.
    Written,
    /// When it has arrived.
    Received,
}

/// Serves one request after the other. After a crash it begins here again, and finds its log.
async fn server(context: Context<StoreMessage>, acknowledge: Acknowledge) {
    let mut channel = context.channel_at(PORT);
    let log = context.durable("log", Vec::<(u64, u64)>::new);
    while context.running() {
        let delivery = channel.recv().await;
        match delivery.message {
            StoreMessage::Put { key, value } => {
                if acknowledge == Acknowledge::Received {
                    channel.send(delivery.source, StoreMessage::Acknowledged { key });
                }
                context.pause(WRITE).await;
                log.change().push((key, value));
                if acknowledge == Acknowledge::Written {
                    channel.send(delivery.source, StoreMessage::Acknowledged { key });
                }
            }
            StoreMessage::GetAll => {
                // A value that was put twice, since its acknowledgement was lost, is there once.
                let values = log.get().iter().copied().collect();
                channel.send(delivery.source, StoreMessage::All { values });
            }
            other => panic!("a client sent {other:?}"),
        }
    }
}

/// Puts all values, and returns the keys of those that are not there afterwards.
async fn client(context: Context<StoreMessage>, server: Address) -> Vec<u64> {
    let mut channel = context.channel();
    for key in 0..VALUES {
        let put = StoreMessage::Put { key, value: key * key };
        let acknowledged = StoreMessage::Acknowledged { key };
        ask(&mut channel, server, &put, |answer| *answer == acknowledged).await;
    }
    let is_all = |answer: &StoreMessage| matches!(answer, StoreMessage::All { .. });
    let StoreMessage::All { values } = ask(&mut channel, server, &StoreMessage::GetAll, is_all).await else {
        unreachable!("it was waited for")
    };
    (0..VALUES).filter(|key| values.get(key) != Some(&(key * key))).collect()
}

/// Sends a request again until it is answered. Answers to earlier requests are passed over.
async fn ask(
    channel: &mut Channel<StoreMessage>,
    server: Address,
    request: &StoreMessage,
    is_answer: impl Fn(&StoreMessage) -> bool,
) -> StoreMessage {
    loop {
        channel.send(server, request.clone());
        while let Ok(delivery) = channel.recv_timeout(TIMEOUT).await {
            if is_answer(&delivery.message) {
                return delivery.message;
            }
        }
    }
}

/// Runs the store under crashes that come every tenth of a second on average, and last half as long.
fn run(acknowledge: Acknowledge) -> Ended {
    let mut simulation = Simulation::new(3);
    let crashes = RandomFaults {
        until: VirtualTime::from_secs(10),
        crash: Some(FaultRate {
            interval_mean: VirtualDuration::from_millis(100),
            duration_mean: VirtualDuration::from_millis(50),
        }),
        ..RandomFaults::default()
    };
    let (faults, _) = crashes.draw(&Random::from_seed(3), &["server"]);
    simulation.faults(faults);
    let to = simulation.address("server", PORT);
    simulation.add_restartable("server", move |context| server(context, acknowledge));
    simulation.add("client", move |context| client(context, to)).expecting(Vec::new());
    simulation.run().ended
}

fn main() {
    assert_eq!(run(Acknowledge::Written), Ended::Passed);
    let ended = run(Acknowledge::Received);
    let Ended::Failed(Violation::UnexpectedResult { component, .. }) = &ended else { panic!("{ended}") };
    assert_eq!(component, "client");
}
