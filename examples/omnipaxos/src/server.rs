//! A server: carries the protocol's messages, and gives it time.

use omnipaxos::util::{LogEntry, NodeId};
use omnipaxos::{ClusterConfig, OmniPaxos, ServerConfig};
use simutant_sim_core::{Address, Context, VirtualDuration, VirtualTime};

use crate::disk::{Content, Disk};
use crate::history::Decisions;
use crate::messages::{ClusterMessage, Command};

/// The port of servers.
pub const PORT: u16 = 8_000;

/// How often the protocol is told that time passes.
pub const TICK: VirtualDuration = VirtualDuration::from_millis(20);

/// After how many ticks without a leader's heartbeat a server looks for another leader.
pub const ELECTION_TICKS: u64 = 5;

/// After how many ticks a message is sent again.
pub const RESEND_TICKS: u64 = 10;

/// A server that was silent for so long is taken for cut off; when it is heard again, the session with it is a new one.
pub const SILENCE: VirtualDuration = VirtualDuration::from_millis(250);

/// What a server is.
#[derive(Debug, Clone)]
pub struct Server {
    /// Its number, from 1.
    pub number: NodeId,
    /// The addresses of all servers, number 1 first.
    pub addresses: Vec<Address>,
    /// When it stops.
    pub until: VirtualTime,
    /// Is told what it decides.
    pub decisions: Decisions,
}

/// Serves until its time is over, and returns the log that it has decided then. After a crash it begins here again, and
/// finds its disk.
pub async fn server(context: Context<ClusterMessage>, server: Server) -> Vec<Command> {
    let mut channel = context.channel_at(PORT);
    let mut protocol = protocol(&server, Disk(context.durable("disk", Content::new)));
    let mut log = Vec::new();
    let mut outgoing = Vec::new();
    let mut heard_at = vec![context.now(); server.addresses.len()];
    let mut tick_at = context.now() + TICK;
    while context.now() < server.until {
        let wait = tick_at - context.now();
        match channel.recv_timeout(wait).await.map(|delivery| (delivery.source, delivery.message)) {
            Ok((_, ClusterMessage::Protocol(message))) => {
                let sender = message.get_sender();
                let heard_before = std::mem::replace(&mut heard_at[sender as usize - 1], context.now());
                if context.now() - heard_before > SILENCE {
                    protocol.reconnected(sender);
                }
                protocol.handle_incoming(message);
            }
            Ok((source, ClusterMessage::Append(command))) if log.contains(&command) => {
                channel.send(source, ClusterMessage::Decided(command));
            }
            // It refuses while it is being reconfigured only; the client asks again.
            Ok((_, ClusterMessage::Append(command))) => _ = protocol.append(command),
            Ok((_, ClusterMessage::Decided(_))) => panic!("a server was told what servers tell"),
            Err(_) => {
                protocol.tick();
                tick_at += TICK;
            }
        }
        learn(&protocol, &server, &mut log);
        protocol.take_outgoing_messages(&mut outgoing);
        for message in outgoing.drain(..) {
            let to = server.addresses[message.get_receiver() as usize - 1];
            channel.send(to, ClusterMessage::Protocol(message));
        }
    }
    log
}

fn protocol(server: &Server, disk: Disk) -> OmniPaxos<Command, Disk> {
    let cluster = ClusterConfig {
        configuration_id: 1,
        nodes: (1..=server.addresses.len() as NodeId).collect(),
        flexible_quorum: None,
    };
    let config = ServerConfig {
        pid: server.number,
        election_tick_timeout: ELECTION_TICKS,
        resend_message_tick_timeout: RESEND_TICKS,
        ..ServerConfig::default()
    };
    cluster.build_for_server(config, disk).expect("the configuration is right")
}

/// Takes over what was decided since the last time.
fn learn(protocol: &OmniPaxos<Command, Disk>, server: &Server, log: &mut Vec<Command>) {
    for entry in protocol.read_decided_suffix(log.len()).unwrap_or_default() {
        let LogEntry::Decided(command) = entry else { panic!("{entry:?} among what is decided") };
        server.decisions.decided(server.number, log.len(), command);
        log.push(command);
    }
}
