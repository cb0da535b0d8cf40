//! The election: servers without a leader agree on one.
//!
//! Each tells the others whom it votes for: itself at first, and then the best that it has heard of. The best one is of
//! the latest epoch, has logged the most, or has the greatest number, in this order. Who sees that a majority votes as
//! it does itself waits a little for a better vote, and then leads, or follows.
//!
//! This is ZooKeeper's fast leader election without its rounds. A vote that is out of date costs time and no more:
//! nobody follows a server that does not lead, and a leader refuses followers that are better than itself.

use std::collections::BTreeMap;

use simutant_sim_core::{Address, Channel, Context};

use super::member::{OTHERS_NEEDED, Role};
use crate::messages::{PeerMessage, Vote, ZooKeeperMessage};

/// The port at which servers vote.
pub(super) const ELECTION: u16 = 3_888;

/// Looks for a leader, and returns its number.
pub(super) async fn elect(context: &Context<ZooKeeperMessage>, role: &Role) -> u64 {
    let mut channel = context.channel_at(ELECTION);
    let mut best = Vote { epoch: *role.epoch.get(), last: role.last(), server: role.origin.server };
    let mut votes: BTreeMap<Address, Vote> = BTreeMap::new();
    tell(&channel, &role.member.voters, best);
    loop {
        let is_agreed = votes.values().filter(|vote| **vote == best).count() >= OTHERS_NEEDED;
        let patience = role.member.patience;
        let Ok(delivery) = channel.recv_timeout(if is_agreed { patience / 4 } else { patience }).await else {
            if is_agreed {
                return best.server;
            }
            tell(&channel, &role.member.voters, best);
            continue;
        };
        match delivery.message {
            ZooKeeperMessage::Peer(PeerMessage::Lead(leader)) => return leader,
            ZooKeeperMessage::Peer(PeerMessage::Vote(vote)) => {
                votes.insert(delivery.source, vote);
                if vote > best {
                    best = vote;
                    tell(&channel, &role.member.voters, best);
                } else if vote < best {
                    tell(&channel, &[delivery.source], best);
                }
            }
            _ => {}
        }
    }
}

/// Sends a vote to others.
fn tell(channel: &Channel<ZooKeeperMessage>, servers: &[Address], vote: Vote) {
    for server in servers.iter().filter(|server| **server != channel.address()) {
        channel.send(*server, ZooKeeperMessage::Peer(PeerMessage::Vote(vote)));
    }
}

/// Tells servers that vote who leads.
pub(super) async fn answer(context: Context<ZooKeeperMessage>, leader: u64) {
    let mut channel = context.channel_at(ELECTION);
    while context.running() {
        let source = channel.recv().await.source;
        channel.send(source, ZooKeeperMessage::Peer(PeerMessage::Lead(leader)));
    }
}
