//! Whether stubs got right answers from a real resolver.
//!
//! This asks less than the oracle of the simulation, which knows the one resolver that it judges. A real one may keep something for
//! a shorter time than it might, and so tell any time to live up to the original one; it may add whatever it likes to the authority
//! section, beside the SOA record that says why there is no answer (RFC 2308, section 6); and where packets are lost it
//! may give up, as long as it says so or is silent: how often to try again is nowhere prescribed (RFC 1035, section 7.2, says
//! that the amount of work must be bounded).

use simutant_systems::dns::{Answer, Rcode, Record, RecordType, TestCase};

use super::message::{Response, Unreadable, list, rcode_name};
use super::stub::Reply;
use crate::report::FailureReason;

/// The probability of a loss from which on a resolver may give up. It is that of the simulation.
const FAILURE_DROP_MIN: f64 = 0.05;

/// Returns what is wrong first, in the order of the queries.
pub(super) fn judge(case: &TestCase, replies: &[Option<Reply>]) -> Option<FailureReason> {
    replies.iter().enumerate().find_map(|(number, reply)| {
        let question = case.queries[number].question();
        let words = format!("{} {}", question.name, question.record_type);
        let right = case.name_space.answer(&question);
        let reply = reply.as_ref().expect("stubs came to their ends");
        let (wrong, found) = match &reply.response {
            Some(Ok(response)) => (wrong_in(&right, response)?, response.to_string()),
            Some(Err(Unreadable(what))) => ("the answer cannot be read".to_owned(), what.clone()),
            None if case.drop.get() >= FAILURE_DROP_MIN => return None,
            None => {
                let waited_ms = reply.waited.as_millis().try_into().unwrap_or(u64::MAX);
                let (tries, refusals) = (reply.tries, reply.refusals);
                return Some(FailureReason::NoAnswer { query: number, question: words, tries, waited_ms, refusals });
            }
        };
        let expected = expected(&right);
        Some(FailureReason::WrongAnswer { query: number, question: words, wrong, expected, found })
    })
}

/// Returns the right answer as a response shows it.
fn expected(right: &Answer) -> String {
    let mut text = format!("{} {}", rcode_name(number_of(right.rcode)), list(right.section()));
    if let Some(soa) = &right.soa {
        text.push_str(&format!(" with authority {}", list([soa])));
    }
    text
}

fn number_of(rcode: Rcode) -> u8 {
    match rcode {
        Rcode::NoError => 0,
        Rcode::ServerFailure => 2,
        Rcode::NameError => 3,
        Rcode::Refused => 5,
    }
}

/// Returns what is wrong with a response, if anything is.
fn wrong_in(right: &Answer, response: &Response) -> Option<String> {
    if response.rcode != number_of(right.rcode) {
        return Some(format!("the response code is {}", rcode_name(response.rcode)));
    }
    let expected: Vec<&Record> = right.section().collect();
    for (index, record) in response.answer.iter().enumerate() {
        let Some(original) = expected.iter().find(|original| is_same(original, record)) else {
            return Some(format!("the answer has {record}, which is not there"));
        };
        if record.ttl > original.ttl {
            return Some(format!("the answer has {record}, which lives for {} s only", original.ttl));
        }
        if response.answer[..index].iter().any(|other| is_same(other, record)) {
            return Some(format!("the answer has {record} twice"));
        }
    }
    if let Some(missing) = expected.iter().find(|original| !response.answer.iter().any(|found| is_same(original, found))) {
        return Some(format!("the answer lacks {missing}"));
    }
    let original = right.soa.as_ref()?;
    let mut found = response.authority.iter().filter(|record| record.record_type() == RecordType::Soa);
    match (found.next(), found.next()) {
        (None, _) => Some("no SOA record says for how long that holds".to_owned()),
        (Some(_), Some(second)) => Some(format!("there is another SOA record, {second}")),
        (Some(soa), None) if !is_same(original, soa) => Some(format!("the SOA record is {soa}, of no help here")),
        (Some(soa), None) if soa.ttl > original.ttl => {
            Some(format!("the SOA record lives for {} s, and it may be kept for {} s only", soa.ttl, original.ttl))
        }
        (Some(_), None) => None,
    }
}

fn is_same(one: &Record, other: &Record) -> bool {
    one.name == other.name && one.data == other.data
}
