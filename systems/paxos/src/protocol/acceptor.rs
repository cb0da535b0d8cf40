//! The acceptor, which learns as well, and answers clients and detectors.

use std::collections::BTreeMap;
use std::rc::Rc;

use simutant_sim_core::{Address, Context};

use super::{Common, Decision, Decree, PORT, PaxosMessage, Round, Value, Vote, WRITE, decree_after};

/// What an acceptor has on its disk.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Record {
    /// Nothing is accepted in earlier rounds.
    promised: Round,
    /// What was accepted last for each decree.
    votes: BTreeMap<Decree, Vote>,
    /// What is decided. A decree is missing if its commit was.
    decided: BTreeMap<Decree, Value>,
}

/// Answers what comes.
pub async fn accept(context: Context<PaxosMessage>, common: Rc<Common>, learned: impl Fn(Decision)) {
    let mut channel = context.channel_at(PORT);
    let record = context.durable("acceptor", Record::default);
    let mut clients: Vec<(Address, Value)> = Vec::new();
    while context.running() {
        let mut decided = common.decided.borrow().clone();
        while let Some(&value) = record.get().decided.get(&decree_after(&decided)) {
            learned(Decision { decree: decree_after(&decided), value });
            decided.push(value);
        }
        common.decided.replace(decided.clone());
        clients.retain(|(client, value)| {
            let answer = answer_to_client(&decided, *value, common.is_over());
            let is_answered = answer.is_some();
            answer.into_iter().for_each(|values| channel.send(*client, PaxosMessage::Decided { values }));
            !is_answered
        });
        let delivery = channel.recv().await;
        let before = record.get().clone();
        let (after, reply) = answer(before.clone(), &delivery.message);
        if after != before {
            context.pause(WRITE).await;
            record.replace(after);
        }
        if let PaxosMessage::Propose { value } = delivery.message {
            clients.push((delivery.source, value));
            if !common.proposed.borrow().contains(&value) {
                common.proposed.borrow_mut().push(value);
            }
        }
        if let Some(reply) = reply {
            channel.send(delivery.source, reply);
        }
    }
}

/// Returns what the client of a value is told, if what is decided has it, or there is no more to be decided.
fn answer_to_client(decided: &[Value], value: Value, is_over: bool) -> Option<Vec<Value>> {
    match decided.iter().position(|other| *other == value) {
        Some(place) => Some(decided[..=place].to_vec()),
        None => is_over.then(|| decided.to_vec()),
    }
}

/// Returns what an acceptor has on its disk after a message, and what it replies.
fn answer(mut record: Record, message: &PaxosMessage) -> (Record, Option<PaxosMessage>) {
    let promised = record.promised;
    let reply = match *message {
        // The round of a leader that asks again is promised already.
        PaxosMessage::Prepare { round } if round >= promised => {
            record.promised = round;
            Some(PaxosMessage::Promise { round, votes: record.votes.values().copied().collect() })
        }
        PaxosMessage::Accept(asked) if asked.round >= promised => {
            record.promised = asked.round;
            record.votes.insert(asked.decree, asked);
            Some(PaxosMessage::Learn(asked))
        }
        PaxosMessage::Prepare { round } | PaxosMessage::Accept(Vote { round, .. }) => {
            Some(PaxosMessage::Refused { round, promised })
        }
        PaxosMessage::Commit(decision) => {
            record.decided.insert(decision.decree, decision.value);
            Some(PaxosMessage::Committed(decision))
        }
        PaxosMessage::Ping { decree } => {
            let decided = record.decided.get(&decree).map(|value| Decision { decree, value: *value });
            Some(PaxosMessage::Alive { decided })
        }
        PaxosMessage::Propose { .. } => None,
        ref other => panic!("an acceptor was sent {other:?}"),
    };
    (record, reply)
}
