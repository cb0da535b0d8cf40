//! The acceptor, which learns as well, and answers clients and detectors.

use std::rc::Rc;

use simutant_sim_core::{Address, Context};

use super::{Common, PORT, PaxosMessage, Round, Value, Vote, WRITE};

/// What an acceptor has on its disk.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Record {
    /// Nothing is accepted in earlier rounds.
    promised: Round,
    /// What was accepted last.
    vote: Option<Vote>,
    /// What is decided.
    decided: Option<Value>,
}

/// Answers what comes.
pub async fn accept(context: Context<PaxosMessage>, common: Rc<Common>, learned: impl Fn(Value)) {
    let mut channel = context.channel_at(PORT);
    let record = context.durable("acceptor", Record::default);
    let mut clients: Vec<Address> = Vec::new();
    while context.running() {
        let decided = record.get().decided;
        if common.decided.get() != decided {
            common.decided.set(decided);
            decided.into_iter().for_each(&learned);
        }
        if let Some(value) = decided {
            clients.drain(..).for_each(|client| channel.send(client, PaxosMessage::Decided { value }));
        }
        let delivery = channel.recv().await;
        let before = *record.get();
        let (after, reply) = answer(before, delivery.message);
        if after != before {
            context.pause(WRITE).await;
            record.replace(after);
        }
        if let PaxosMessage::Propose { value } = delivery.message {
            clients.push(delivery.source);
            if !common.proposed.borrow().contains(&value) {
                common.proposed.borrow_mut().push(value);
            }
        }
        if let Some(reply) = reply {
            channel.send(delivery.source, reply);
        }
    }
}

/// Returns what an acceptor has on its disk after a message, and what it replies.
fn answer(record: Record, message: PaxosMessage) -> (Record, Option<PaxosMessage>) {
    let Record { promised, vote, decided } = record;
    match message {
        // The round of a leader that asks again is promised already.
        PaxosMessage::Prepare { round } if round >= promised => {
            (Record { promised: round, ..record }, Some(PaxosMessage::Promise { round, vote }))
        }
        PaxosMessage::Accept(asked) if asked.round >= promised => {
            (Record { promised: asked.round, vote: Some(asked), decided }, Some(PaxosMessage::Learn(asked)))
        }
        PaxosMessage::Prepare { round } | PaxosMessage::Accept(Vote { round, .. }) => {
            (record, Some(PaxosMessage::Refused { round, promised }))
        }
        PaxosMessage::Commit { value } => (Record { decided: Some(value), ..record }, Some(PaxosMessage::Committed)),
        PaxosMessage::Ping => (record, Some(PaxosMessage::Alive { decided })),
        PaxosMessage::Propose { .. } => (record, None),
        other => panic!("an acceptor was sent {other:?}"),
    }
}
