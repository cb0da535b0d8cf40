//! The client: has commands appended, each again and again until it is decided.

use simutant_sim_core::{Address, Context, VirtualDuration, VirtualTime};

use crate::messages::{ClusterMessage, Command};

/// How long the client waits for an answer before it asks the next server.
pub const TIMEOUT: VirtualDuration = VirtualDuration::from_millis(60);

/// Has the commands appended, one after the other, and returns when all are decided; or with those that are when its
/// time is over.
pub async fn client(
    context: Context<ClusterMessage>,
    servers: Vec<Address>,
    commands: Vec<Command>,
    until: VirtualTime,
) -> Vec<Command> {
    let mut channel = context.channel();
    let mut decided = Vec::new();
    let mut servers = servers.into_iter().cycle();
    for command in commands {
        while !decided.contains(&command) {
            if context.now() >= until {
                return decided;
            }
            let server = servers.next().expect("there are servers, again and again");
            // Once to have it appended, and once to hear of it.
            channel.send(server, ClusterMessage::Append(command));
            if let Ok(delivery) = channel.recv_timeout(TIMEOUT).await {
                match delivery.message {
                    ClusterMessage::Decided(of) if of == command => decided.push(command),
                    // An answer to what was asked before, come late.
                    ClusterMessage::Decided(_) => {}
                    other => panic!("the client was sent {other:?}"),
                }
            }
        }
    }
    decided
}
