//! The protocol: a coordinator that asks participants for their votes and tells them what is decided.
//!
//! Whatever must not be forgotten is on a disk, which takes time to write and survives crashes. A coordinator that
//! finds a transaction without a decision after a crash aborts it (presumed abort: Mohan, Lindsay and Obermarck, 1986).

use std::collections::BTreeMap;

use simutant_sim_core::{Address, Channel, Context, Message, VirtualDuration};

/// The port of participants.
pub const PORT: u16 = 5_000;

/// How long the coordinator waits for answers before it asks again.
pub const TIMEOUT: VirtualDuration = VirtualDuration::from_millis(100);

/// How often the coordinator asks for votes before it aborts.
pub const TRIES: u32 = 3;

/// How long it takes to write to a disk.
pub const WRITE: VirtualDuration = VirtualDuration::from_millis(5);

/// What coordinator and participants send to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum CommitMessage {
    /// The coordinator asks for a vote on a transaction.
    Prepare {
        /// The transaction.
        transaction: u32,
    },
    /// A participant votes.
    Vote {
        /// The transaction.
        transaction: u32,
        /// Whether it can be committed.
        yes: bool,
    },
    /// The coordinator tells what is decided.
    Decide {
        /// The transaction.
        transaction: u32,
        /// Whether it is committed; else it is aborted.
        commit: bool,
    },
    /// A participant has done what was decided.
    Done {
        /// The transaction.
        transaction: u32,
    },
}

impl Message for CommitMessage {
    fn kind(&self) -> &'static str {
        match self {
            Self::Prepare { .. } => "PREPARE",
            Self::Vote { .. } => "VOTE",
            Self::Decide { .. } => "DECIDE",
            Self::Done { .. } => "DONE",
        }
    }
}

/// Carries transactions through, one after the other, and returns what was decided on each. After a crash it begins
/// here again.
pub async fn coordinator(context: Context<CommitMessage>, participants: Vec<Address>, transactions: u32) -> Vec<bool> {
    let mut channel = context.channel();
    let begun = context.durable("begun", || None::<u32>);
    let decisions = context.durable("decisions", Vec::<bool>::new);
    while decisions.get().len() < transactions as usize {
        let transaction = decisions.get().len() as u32;
        let was_begun = *begun.get() == Some(transaction);
        let mut commit = false;
        if !was_begun {
            context.pause(WRITE).await;
            begun.replace(Some(transaction));
            context.phase("collecting");
            commit = all_vote_yes(&mut channel, &context, &participants, transaction).await;
        }
        context.phase("deciding");
        context.pause(WRITE).await;
        decisions.change().push(commit);
    }
    context.phase("telling");
    // Participants that were told before a crash are told again: they have done it, and say so.
    let decided = decisions.get().clone();
    for (transaction, commit) in (0..).zip(decided.iter().copied()) {
        tell(&mut channel, &context, &participants, transaction, commit).await;
    }
    decided
}

/// Asks all participants for their votes. Who does not answer votes no.
async fn all_vote_yes(
    channel: &mut Channel<CommitMessage>,
    context: &Context<CommitMessage>,
    participants: &[Address],
    transaction: u32,
) -> bool {
    let mut open = participants.to_vec();
    for _ in 0..TRIES {
        for participant in &open {
            channel.send(*participant, CommitMessage::Prepare { transaction });
        }
        let deadline = context.now() + TIMEOUT;
        while context.now() < deadline && !open.is_empty() {
            let Ok(delivery) = channel.recv_timeout(deadline - context.now()).await else { break };
            match delivery.message {
                CommitMessage::Vote { transaction: of, yes } if of == transaction => {
                    if !yes {
                        return false;
                    }
                    open.retain(|participant| *participant != delivery.source);
                }
                // An answer to what was asked before.
                _ => {}
            }
        }
        if open.is_empty() {
            return true;
        }
    }
    false
}

/// Tells all participants what is decided, again and again until each has done it.
async fn tell(
    channel: &mut Channel<CommitMessage>,
    context: &Context<CommitMessage>,
    participants: &[Address],
    transaction: u32,
    commit: bool,
) {
    let mut open = participants.to_vec();
    while !open.is_empty() {
        for participant in &open {
            channel.send(*participant, CommitMessage::Decide { transaction, commit });
        }
        let deadline = context.now() + TIMEOUT;
        while context.now() < deadline && !open.is_empty() {
            let Ok(delivery) = channel.recv_timeout(deadline - context.now()).await else { break };
            if delivery.message == (CommitMessage::Done { transaction }) {
                open.retain(|participant| *participant != delivery.source);
            }
        }
    }
}

/// What a participant has on its disk of a transaction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Entry {
    vote: bool,
    is_done: bool,
}

/// Votes as `votes` says, and does what is decided: `apply` is called with a transaction and whether it is committed.
/// After a crash it begins here again.
pub async fn participant(context: Context<CommitMessage>, votes: Vec<bool>, apply: impl Fn(u32, bool)) {
    let mut channel = context.channel_at(PORT);
    let log = context.durable("log", BTreeMap::<u32, Entry>::new);
    while context.running() {
        let delivery = channel.recv().await;
        match delivery.message {
            CommitMessage::Prepare { transaction } => {
                let known = log.get().get(&transaction).copied();
                let yes = match known {
                    Some(entry) => entry.vote,
                    None => {
                        let vote = votes[transaction as usize];
                        context.pause(WRITE).await;
                        log.change().insert(transaction, Entry { vote, is_done: false });
                        context.phase("uncertain");
                        vote
                    }
                };
                channel.send(delivery.source, CommitMessage::Vote { transaction, yes });
            }
            CommitMessage::Decide { transaction, commit } => {
                let known = log.get().get(&transaction).copied();
                if !known.is_some_and(|entry| entry.is_done) {
                    assert!(!commit || known.is_some_and(|entry| entry.vote), "committed without a vote");
                    context.pause(WRITE).await;
                    apply(transaction, commit);
                    log.change().insert(transaction, Entry { vote: commit, is_done: true });
                    context.phase("settled");
                }
                channel.send(delivery.source, CommitMessage::Done { transaction });
            }
            other => panic!("a participant was sent {other:?}"),
        }
    }
}
