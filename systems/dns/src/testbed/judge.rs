//! Whether stubs got right answers from a real resolver.
//!
//! This asks less than the oracle of the simulation, which knows the one resolver that it judges. A real one may keep
//! something for a shorter time than it might, and so tell any time to live up to what is left of the original one
//! since it knew the record last; it may add whatever it likes to the authority section, beside the SOA record that
//! says why there is no answer (RFC 2308, section 6); and where packets were lost it may give up: how often it tries
//! again is nowhere prescribed, the amount of work must be bounded (RFC 1035, section 7.2), and it may remember for
//! five minutes that it could not find out (RFC 2308, section 7.1), so that to ask again is of no use.

use std::time::{Duration, Instant};

use crate::{Answer, Question, Rcode, Record, RecordType, StubQuery, TestCase};
use serde::Serialize;
use simutant_outcomes::Finding;

use super::message::{Response, Unreadable, list, rcode_name};
use super::observed_answers::{ObservedAnswers, is_same};
use super::stub::Reply;

/// What is left of a time to live may be told by so much too long: resolvers count in whole seconds, and a busy machine
/// may let one wait before it reads what it was sent.
const SLACK: Duration = Duration::from_secs(2);

/// What became of the packets between a resolver and the servers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Losses {
    /// None was lost.
    None,
    /// Some were.
    Some,
}

/// What is wrong with what a stub was told; its `Display` is a sentence without a full stop.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(super) enum WrongReply {
    /// A question was answered wrongly.
    WrongAnswer {
        /// The query's place in the test case.
        query: usize,
        /// What was asked: name and type.
        question: String,
        /// What is wrong with the answer.
        wrong: String,
        /// The right answer, by the name space.
        expected: String,
        /// The answer, as it came.
        found: String,
    },
    /// A question got no answer, or none but that the answer could not be found out.
    NoAnswer {
        /// The query's place in the test case.
        query: usize,
        /// What was asked: name and type.
        question: String,
        /// How often it was asked.
        tries: u32,
        /// For how long, in milliseconds.
        waited_ms: u64,
        /// How many of the tries were answered, with the message that says so (SERVFAIL).
        refusals: u32,
    },
}

impl std::fmt::Display for WrongReply {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::WrongAnswer { query, question, wrong, expected, found } => {
                write!(formatter, "query {query} ({question}): {wrong}; right is {expected}, the answer was {found}")
            }
            Self::NoAnswer { query, question, tries, waited_ms, refusals } => write!(
                formatter,
                "query {query} ({question}) was asked {tries} times in {waited_ms} ms and not answered; {refusals} times the resolver said that it could not find out"
            ),
        }
    }
}

impl From<WrongReply> for Finding {
    fn from(wrong: WrongReply) -> Self {
        let kind = match wrong {
            WrongReply::WrongAnswer { .. } => "wrong-answer",
            WrongReply::NoAnswer { .. } => "no-answer",
        };
        Finding::wrong_result(kind, wrong.to_string()).with_detail(wrong)
    }
}

/// Returns what is wrong first, in the order of the queries.
pub(super) fn judge(
    case: &TestCase,
    replies: &[Option<Reply>],
    observed: &ObservedAnswers,
    losses: Losses,
) -> Option<WrongReply> {
    let asked: Vec<Asked<'_>> =
        case.queries.iter().zip(replies).map(|(query, reply)| Asked::new(case, query, reply)).collect();
    asked.iter().enumerate().find_map(|(number, query)| {
        let Asked { question: Question { name, record_type }, right, reply } = query;
        let words = format!("{name} {record_type}");
        let (wrong, found) = match &reply.response {
            Some(Ok(response)) => {
                let wrong = wrong_in(right, response).or_else(|| too_old(case, query, response, &asked, observed))?;
                (wrong, response.to_string())
            }
            Some(Err(Unreadable(what))) => ("the answer cannot be read".to_owned(), what.clone()),
            None if losses == Losses::Some => return None,
            None => {
                let waited_ms = reply.waited().as_millis().try_into().unwrap_or(u64::MAX);
                let (tries, refusals) = (reply.tries, reply.refusals);
                return Some(WrongReply::NoAnswer { query: number, question: words, tries, waited_ms, refusals });
            }
        };
        let expected = expected(right);
        Some(WrongReply::WrongAnswer { query: number, question: words, wrong, expected, found })
    })
}

/// A query and what came of it.
struct Asked<'a> {
    question: Question,
    right: Answer,
    reply: &'a Reply,
}

impl<'a> Asked<'a> {
    fn new(case: &TestCase, query: &StubQuery, reply: &'a Option<Reply>) -> Self {
        let question = query.question();
        let right = case.name_space.answer(&question);
        Self { question, right, reply: reply.as_ref().expect("all stubs have ended") }
    }

    /// Returns the records of the right answer that say something of names or of their absence.
    fn records(&self) -> impl Iterator<Item = &Record> {
        self.right.section().chain(&self.right.soa)
    }
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
    if let Some(missing) =
        expected.iter().find(|original| !response.answer.iter().any(|found| is_same(original, found)))
    {
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

/// Returns which record is told to live for longer than is left of its time, if one is. Those of its hints a resolver
/// has without being told.
fn too_old(
    case: &TestCase,
    query: &Asked<'_>,
    response: &Response,
    asked: &[Asked<'_>],
    observed: &ObservedAnswers,
) -> Option<String> {
    let hints = case.name_space.root_hints();
    let soa = response.authority.iter().filter(|_| query.right.soa.is_some());
    let records = response.answer.iter().chain(soa);
    records.filter(|record| !hints.iter().any(|hint| is_same(hint, record))).find_map(|record| {
        let original = query.records().find(|original| is_same(original, record))?;
        let since = known_since(record, query.reply.ended, asked, observed)?;
        let age = query.reply.tried.saturating_duration_since(since);
        let left = (Duration::from_secs(original.ttl.into()) + SLACK).checked_sub(age);
        let is_over = left.is_none_or(|left| Duration::from_secs(record.ttl.into()) > left);
        is_over.then(|| {
            let age_s = age.as_secs();
            format!(
                "the answer has {record}, which the resolver knew for {age_s} s when it was asked, to live for {} s",
                original.ttl
            )
        })
    })
}

/// Returns since when, at the latest, the resolver has known a record that it gave at `end`: since a server told it
/// last, or, where that was while a question was open whose answer has the record, since it had that answer. Until then
/// the record is of the transaction in progress (RFC 1035, section 3.2.1), and some resolvers count the times of all
/// records of an answer from when they know the whole of it.
fn known_since(record: &Record, end: Instant, asked: &[Asked<'_>], observed: &ObservedAnswers) -> Option<Instant> {
    let last = observed.last_before(record, end)?;
    let has_it =
        |query: &&Asked<'_>| query.reply.response.is_some() && query.records().any(|other| is_same(other, record));
    let answered = asked.iter().filter(has_it).filter_map(|query| {
        let end = query.reply.ended.min(end);
        observed.last_before(record, end).filter(|moment| *moment >= query.reply.open_since).map(|_| end)
    });
    answered.chain([last]).max()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn case(queries: &[(&str, &str)]) -> TestCase {
        let queries: Vec<_> =
            queries.iter().map(|(name, of)| json!({ "stub": 1, "start_ms": 0, "name": name, "type": of })).collect();
        let case = json!({
            "zones": [
                {
                    "apex": ".",
                    "records": [
                        ". 60 IN SOA ns1. hostmaster. 1 3600 600 86400 5",
                        ". 60 IN NS ns1.",
                        "ns1. 60 IN A 198.18.0.1",
                        "oak. 60 IN NS ns1.",
                        "alias. 5 IN CNAME host.oak.",
                    ],
                },
                {
                    "apex": "oak.",
                    "records": [
                        "oak. 60 IN SOA ns1. hostmaster.oak. 1 3600 600 86400 5",
                        "oak. 60 IN NS ns1.",
                        "host.oak. 2 IN A 198.18.1.1",
                        "host.oak. 2 IN A 198.18.2.1",
                    ],
                },
            ],
            "servers": [{ "address": "198.18.0.1", "zones": [".", "oak."] }],
            "queries": queries, "drop": 0.1, "duplicate": 0.0, "seed": 1,
        });
        let case: TestCase = serde_json::from_value(case).expect("it has the form of a test case");
        case.validate().expect("it is a test case");
        case
    }

    fn reply(response: Option<Result<Response, Unreadable>>) -> Reply {
        Reply { response, tries: 2, refusals: 1, ..Reply::new(Instant::now()) }
    }

    fn response(rcode: u8, answer: &[&str], authority: &[&str]) -> Option<Reply> {
        let records = |texts: &[&str]| texts.iter().map(|text| text.parse().expect("it is a record")).collect();
        Some(reply(Some(Ok(Response { rcode, answer: records(answer), authority: records(authority) }))))
    }

    const SOA: &str = "oak. 5 IN SOA ns1. hostmaster.oak. 1 3600 600 86400 5";
    const ADDRESSES: [&str; 2] = ["host.oak. 2 IN A 198.18.1.1", "host.oak. 2 IN A 198.18.2.1"];

    #[track_caller]
    fn check(query: (&str, &str), reply: Option<Reply>, expect: Option<&str>) {
        let found = judge(&case(&[query]), &[reply], &ObservedAnswers::default(), Losses::None)
            .map(|reason| reason.to_string());
        match expect {
            None => assert_eq!(found, None),
            Some(expect) => assert!(found.as_ref().is_some_and(|found| found.contains(expect)), "{found:?}"),
        }
    }

    #[test]
    fn records_are_right_in_any_order_with_their_aliases_and_any_shorter_time_to_live() {
        let [one, other] = ADDRESSES;
        check(("host.oak.", "A"), response(0, &[other, one], &[]), None);
        check(("host.oak.", "A"), response(0, &["host.oak. 0 IN A 198.18.1.1", other], &["oak. 60 IN NS ns1."]), None);
        check(("alias.", "A"), response(0, &["alias. 4 IN CNAME host.oak.", one, other], &[]), None);
    }

    #[test]
    fn what_differs_in_the_answer_is_named() {
        let [one, other] = ADDRESSES;
        check(
            ("host.oak.", "A"),
            response(3, &[], &[SOA]),
            Some("query 0 (host.oak. A): the response code is NXDOMAIN"),
        );
        check(("host.oak.", "A"), response(0, &[one], &[]), Some("the answer lacks host.oak. 2 IN A 198.18.2.1"));
        check(("host.oak.", "A"), response(0, &[one, one, other], &[]), Some("198.18.1.1 twice"));
        check(("alias.", "A"), response(0, &[one, other], &[]), Some("the answer lacks alias. 5 IN CNAME host.oak."));
        let late = response(0, &["host.oak. 3 IN A 198.18.1.1", other], &[]);
        check(("host.oak.", "A"), late, Some("which lives for 2 s only; right is NOERROR [host.oak. 2 IN A"));
        let more = response(0, &[one, other, "host.oak. 2 IN A 198.18.3.1"], &[]);
        check(("host.oak.", "A"), more, Some("the answer has host.oak. 2 IN A 198.18.3.1, which is not there"));
        let unreadable = Some(reply(Some(Err(Unreadable("a malformed message".into())))));
        check(("host.oak.", "A"), unreadable, Some("cannot be read"));
    }

    #[test]
    fn what_is_not_there_needs_the_record_that_says_so() {
        check(("host.oak.", "TXT"), response(0, &[], &[SOA]), None);
        check(("nobody.oak.", "A"), response(3, &[], &[SOA, "oak. 60 IN NS ns1."]), None);
        check(
            ("nobody.oak.", "A"),
            response(0, &[], &[SOA]),
            Some("the response code is NOERROR; right is NXDOMAIN []"),
        );
        check(("host.oak.", "TXT"), response(0, &[], &[]), Some("no SOA record"));
        check(("host.oak.", "TXT"), response(0, &[], &[&SOA.replace(" 5 IN", " 60 IN")]), Some("for 5 s only"));
        check(("host.oak.", "TXT"), response(0, &[], &[&SOA.replace("oak. 5 IN", ". 5 IN")]), Some("of no help"));
    }

    #[test]
    fn a_resolver_may_give_up_if_packets_were_lost() {
        let queries = [("host.oak.", "A"), ("host.oak.", "TXT")];
        let [one, other] = ADDRESSES;
        let replies = |second| [response(0, &[one, other], &[]), second];
        let mut unanswered = reply(None);
        unanswered.ended += Duration::from_secs(20);
        let found = judge(&case(&queries), &replies(Some(unanswered)), &ObservedAnswers::default(), Losses::None)
            .map(|reason| reason.to_string());
        let expect = "query 1 (host.oak. TXT) was asked 2 times in 20000 ms and not answered; 1 times the resolver said that it could not find out";
        assert_eq!(found.as_deref(), Some(expect));
        assert_eq!(
            judge(&case(&queries), &replies(Some(reply(None))), &ObservedAnswers::default(), Losses::Some),
            None
        );
    }

    #[test]
    fn what_is_told_grows_old() {
        let second = Duration::from_secs(1);
        // Returns what is wrong if a record is given that came `age` before the question, and again `again` before or
        // after it.
        let wrong = |query, answer: &[&str], authority: &[&str], age: u32, again: Option<(bool, u32)>| {
            let observed = ObservedAnswers::default();
            let start = Instant::now();
            let asked = start + 100 * second;
            let soa: Vec<Record> = authority.iter().map(|text| text.parse().expect("it is a record")).collect();
            let original = case(&[query]).name_space.answer(&case(&[query]).queries[0].question());
            observed.note(original.section().cloned().chain(soa.clone()).collect(), asked - age * second);
            if let Some((is_before, seconds)) = again {
                let moment = if is_before { asked - seconds * second } else { asked + seconds * second };
                observed.note(original.section().cloned().collect(), moment);
            }
            let response = response(0, answer, authority)?.response;
            let reply = Reply { response, ended: asked + second, ..Reply::new(asked) };
            judge(&case(&[query]), &[Some(reply)], &observed, Losses::None).map(|reason| reason.to_string())
        };
        let alias = ["alias. 5 IN CNAME host.oak."];
        let query = ("alias.", "CNAME");
        assert_eq!(wrong(query, &alias, &[], 2, None), None);
        let old = wrong(query, &alias, &[], 3, None).expect("it is too old");
        assert!(
            old.contains(
                "alias. 5 IN CNAME host.oak., which the resolver knew for 3 s when it was asked, to live for 5 s"
            ),
            "{old}"
        );
        assert_eq!(wrong(query, &["alias. 4 IN CNAME host.oak."], &[], 3, None), None);
        assert_eq!(wrong(query, &["alias. 0 IN CNAME host.oak."], &[], 7, None), None);
        assert!(wrong(query, &["alias. 0 IN CNAME host.oak."], &[], 8, None).is_some(), "it is kept for too long");
        assert_eq!(wrong(query, &alias, &[], 9, Some((true, 1))), None);
        assert_eq!(wrong(query, &alias, &[], 9, Some((false, 1))), None);
        assert!(wrong(query, &alias, &[], 9, Some((false, 2))).is_some(), "that was after the answer");
        assert_eq!(wrong(("ns1.", "A"), &["ns1. 60 IN A 198.18.0.1"], &[], 9, None), None, "it is a hint");
        assert_eq!(wrong(("host.oak.", "TXT"), &[], &[SOA], 2, None), None);
        assert!(wrong(("host.oak.", "TXT"), &[], &[SOA], 3, None).is_some());
    }

    #[test]
    fn what_is_told_on_the_way_to_an_answer_counts_from_there() {
        let second = Duration::from_secs(1);
        let (alias, [one, other]) = ("alias. 5 IN CNAME host.oak.", ADDRESSES);
        // Asks a question after `since` s that has its answer after `ended` s, and for the alias after 19 s; a server
        // tells of it after 11 s.
        let wrong = |question, answer: Option<Reply>, [since, ended]: [u32; 2]| {
            let (start, observed) = (Instant::now(), ObservedAnswers::default());
            observed.note(vec![alias.parse().expect("it is a record")], start + 11 * second);
            let [since, ended, asked] = [since, ended, 19].map(|seconds| start + seconds * second);
            let response = answer.and_then(|answer| answer.response);
            let earlier = Reply { response, tried: ended, ended, ..Reply::new(since) };
            let last = Reply { response: self::response(0, &[alias], &[])?.response, ..Reply::new(asked) };
            let case = case(&[question, ("alias.", "CNAME")]);
            judge(&case, &[Some(earlier), Some(last)], &observed, Losses::Some).map(|reason| reason.to_string())
        };
        let (query, answer) = (("alias.", "A"), || response(0, &[alias, one, other], &[]));
        assert_eq!(wrong(query, answer(), [10, 17]), None);
        assert_eq!(wrong(("alias.", "TXT"), response(0, &[alias], &[SOA]), [10, 17]), None);
        let is_known = |wrong: Option<String>, time: &str| wrong.is_some_and(|wrong| wrong.contains(time));
        assert!(is_known(wrong(query, answer(), [10, 16]), "for 3 s"), "that was too early");
        assert!(is_known(wrong(query, None, [10, 17]), "for 8 s"), "there was no answer");
        assert!(
            is_known(wrong(("host.oak.", "A"), response(0, &[one, other], &[]), [10, 17]), "for 8 s"),
            "it has no alias"
        );
        // What the resolver knew before grows old while it is silent.
        assert!(is_known(wrong(query, answer(), [12, 13]), "query 1 (alias. CNAME)"), "its answer was young enough");
        assert!(is_known(wrong(query, answer(), [12, 16]), "query 0 (alias. A)"), "its answer was old");
    }
}
