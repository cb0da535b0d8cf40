//! The detectors of failures and of the leader.
//!
//! Who does not answer in time is suspected. Who answers after all makes the time longer, so that in the end nobody is
//! suspected who is there (an eventually perfect failure detector; Cachin, Guerraoui and Rodrigues, 2011, algorithm 2.7).

use std::collections::BTreeSet;
use std::rc::Rc;

use simutant_sim_core::{Address, Context, VirtualDuration};

use super::{Common, PORT, PaxosMessage, Replica, decree_after};

/// How long an answer is waited for at first, and how much longer after a suspicion that was wrong.
pub const DELAY: VirtualDuration = VirtualDuration::from_millis(100);

/// Asks all replicas, again and again, whether they are there, and keeps the leader up to date, until this replica knows all that is
/// decided: who knows more says so.
pub async fn detect(context: Context<PaxosMessage>, number: Replica, replicas: Vec<Address>, common: Rc<Common>) {
    let mut channel = context.channel();
    let here = context.address(PORT);
    let mut delay = DELAY;
    let mut suspected = BTreeSet::new();
    while !common.is_over() {
        for (other, address) in replicas.iter().enumerate() {
            if other != number {
                let decree = decree_after(&common.decided.borrow());
                channel.send(*address, PaxosMessage::Ping { decree });
            }
        }
        let mut alive = BTreeSet::from([number]);
        let end = context.now() + delay;
        while context.now() < end {
            let Ok(delivery) = channel.recv_timeout(end - context.now()).await else { break };
            if let PaxosMessage::Alive { decided } = delivery.message {
                alive.extend(replicas.iter().position(|address| *address == delivery.source));
                if let Some(decision) = decided.filter(|of| of.decree == decree_after(&common.decided.borrow())) {
                    channel.send(here, PaxosMessage::Commit(decision));
                }
            }
        }
        if suspected.intersection(&alive).next().is_some() {
            delay += DELAY;
        }
        suspected = (0..replicas.len()).filter(|other| !alive.contains(other)).collect();
        let leader = leader(replicas.len(), &suspected);
        if leader != common.leader.get() {
            context.note(|| format!("replica {leader} leads"));
            common.leader.set(leader);
        }
    }
}

/// Returns the first of so many replicas that is not suspected. A replica does not suspect itself.
fn leader(replicas: usize, suspected: &BTreeSet<Replica>) -> Replica {
    (0..replicas).find(|replica| !suspected.contains(replica)).unwrap_or(0)
}
