//! Tests of what the oracle finds wrong.

use std::rc::Rc;

use simutant_sim_core::{CheckFailure, Context, Probability, VirtualTime};

use super::super::configuration::configure_with;
use super::super::server::{fit, respond};
use super::*;

/// An answer to a query of a stub: its number, when it was asked and when answered in milliseconds, and the sections.
#[derive(Clone)]
struct Told<'a> {
    number: usize,
    times: (u64, u64),
    rcode: Rcode,
    answer: &'a [&'a str],
    authority: &'a [&'a str],
}

fn told<'a>(number: usize, times: (u64, u64), answer: &'a [&'a str]) -> Told<'a> {
    Told { number, times, rcode: Rcode::NoError, answer, authority: &[] }
}

/// The small name space, with these queries, each of a stub of its own.
fn case(queries: &[(&str, RecordType)]) -> TestCase {
    let query = |(stub, &(owner, record_type))| query(stub, 0, owner, record_type);
    TestCase { queries: (1..).zip(queries).map(query).collect(), ..small_case() }
}

/// Returns what the oracle says if all were asked in time.
fn judge(case: &TestCase, told: &[Told<'_>]) -> Result<(), CheckFailure> {
    let mut case = case.clone();
    for told in told {
        case.queries[told.number].start_ms = told.times.0;
    }
    judge_times(&case, told)
}

fn judge_times(case: &TestCase, told: &[Told<'_>]) -> Result<(), CheckFailure> {
    let answers = Answers::new();
    for told in told {
        let query = DnsMessage::query(1, case.queries[told.number].question());
        let response = DnsMessage {
            rcode: told.rcode,
            answer: records(told.answer),
            authority: records(told.authority),
            ..query.response()
        };
        let (asked_at, answered_at) = told.times;
        let times = (VirtualTime::from_millis(asked_at), VirtualTime::from_millis(answered_at));
        answers.note(told.number, times.0, times.1, Some(response));
    }
    answers.check(case)
}

#[track_caller]
fn check(case: &TestCase, told: &[Told<'_>], expect: Result<(), &str>) {
    let found = judge(case, told).map_err(|failure| failure.to_string());
    assert_eq!(found.as_ref().map_err(String::as_str).copied(), expect);
}

const TEXT: &str = "www.com. 5 IN TXT \"a text\"";
const ALIAS: &str = "alias.org. 60 IN CNAME www.com.";
const SOA: &str = "com. 3 IN SOA ns.com. hostmaster.com. 1 3600 600 86400 3";

#[test]
fn answers_have_what_is_there_and_live_no_longer() {
    let text = case(&[("www.com.", RecordType::Txt)]);
    let one = |answer, expect| check(&text, &[told(0, (0, 50), answer)], expect);
    one(&[TEXT], Ok(()));
    one(
        &["www.com. 3 IN TXT \"a text\""],
        Err(
            "query 0 (www.com. TXT) has www.com. 3 IN TXT \"a text\", as if it were from before the run, when it lived for 5 s",
        ),
    );
    one(
        &["www.com. 6 IN TXT \"a text\""],
        Err("query 0 (www.com. TXT) has www.com. 6 IN TXT \"a text\" in its answer, which lives for 5 s only"),
    );
    one(&[TEXT, TEXT], Err("query 0 (www.com. TXT) has www.com. 5 IN TXT \"a text\" in its answer twice"));
    one(&[], Err("query 0 (www.com. TXT) has not www.com. 5 IN TXT \"a text\" in its answer"));
    one(
        &["www.com. 5 IN TXT \"b\""],
        Err("query 0 (www.com. TXT) has www.com. 5 IN TXT \"b\" in its answer, which is not there"),
    );
    let alias = case(&[("alias.org.", RecordType::Txt)]);
    check(&alias, &[told(0, (0, 50), &[ALIAS, TEXT])], Ok(()));
    check(
        &alias,
        &[told(0, (0, 50), &[TEXT])],
        Err("query 0 (alias.org. TXT) has not alias.org. 60 IN CNAME www.com. in its answer"),
    );
}

#[test]
fn what_is_not_there_is_said_by_the_zone() {
    let unknown = case(&[("no.com.", RecordType::Txt)]);
    let one = |rcode, authority, expect| {
        check(&unknown, &[Told { rcode, authority, ..told(0, (0, 50), &[]) }], expect);
    };
    one(Rcode::NameError, &[SOA], Ok(()));
    one(Rcode::NoError, &[SOA], Err("query 0 (no.com. TXT) was answered with NoError, and NameError is right"));
    one(
        Rcode::NameError,
        &[],
        Err("query 0 (no.com. TXT) has not com. 3 IN SOA ns.com. hostmaster.com. 1 3600 600 86400 3 in its authority"),
    );
    let none = case(&[("www.com.", RecordType::A)]);
    check(&none, &[Told { authority: &[SOA], ..told(0, (0, 50), &[]) }], Ok(()));
    let error = Told { rcode: Rcode::NameError, authority: &[SOA], ..told(0, (0, 50), &[]) };
    check(&none, &[error], Err("query 0 (www.com. A) was answered with NameError, and NoError is right"));
}

#[test]
fn what_is_remembered_grows_old() {
    use RecordType::{Hinfo, Txt};
    let case = case(&[("www.org.", Hinfo), ("www.com.", Txt), ("alias.org.", Txt)]);
    let text = |ttl| format!("www.com. {ttl} IN TXT \"a text\"");
    let host = ["www.org. 60 IN HINFO \"PDP-11\" \"UNIX\""];
    let third = |times, ttl, expect: Result<(), &str>| {
        let (before, text) = ([told(0, (0, 50), &host), told(1, (500, 590), &[TEXT])], text(ttl));
        let answer = [ALIAS, &text];
        check(&case, &[&before[..], &[told(2, times, &answer)]].concat(), expect);
    };
    let wrong = |ttl| format!("query 2 (alias.org. TXT) has {}, and what was known holds until 5.5 s", text(ttl));
    // It ends between 5.5 s and 6.59 s.
    third((2_500, 2_550), 3, Ok(()));
    third((2_500, 2_550), 2, Ok(()));
    third((2_490, 2_500), 2, Err(&wrong(2)));
    third((2_490, 2_501), 2, Ok(()));
    third((2_580, 2_600), 4, Ok(()));
    third((2_590, 2_600), 4, Err(&wrong(4)));
    // When it is over, it is new again, and when both ask at a time, nobody knows who was first.
    third((6_700, 6_750), 5, Ok(()));
    third((580, 600), 5, Ok(()));
}

#[test]
fn one_query_may_fail_after_many_losses() {
    let drop = |value| Probability::new(value).expect("it is one");
    let mut case = case(&[("www.com.", RecordType::Txt), ("www.com.", RecordType::Txt)]);
    let failure = |number, times| Told { rcode: Rcode::ServerFailure, ..told(number, times, &[]) };
    case.drop = drop(0.1);
    check(&case, &[failure(0, (0, 6_000)), told(1, (7_000, 7_050), &[TEXT])], Ok(()));
    check(&case, &[failure(0, (0, 5_999))], Err("query 0 (www.com. TXT) failed after 5.999 s"));
    let two = [failure(0, (0, 6_000)), failure(1, (6_000, 12_000))];
    check(&case, &two, Err("query 1 (www.com. TXT) failed after 6 s"));
    case.drop = drop(0.04);
    check(&case, &[failure(0, (0, 6_000))], Err("query 0 (www.com. TXT) failed after 6 s"));
}

#[test]
fn every_query_is_asked_and_answered_once() {
    let text = case(&[("www.com.", RecordType::Txt), ("www.com.", RecordType::Txt)]);
    let answer = |number| told(number, (0, 50), &[TEXT]);
    check(&text, &[answer(0), answer(1)], Ok(()));
    check(&text, &[answer(1)], Err("query 0 was not asked"));
    check(&text, &[answer(0), answer(1), answer(1)], Err("a query was asked twice"));
    let answers = Answers::new();
    answers.note(1, VirtualTime::ZERO, VirtualTime::from_secs(600), None);
    let failure = answers.check(&text).expect_err("there was no answer").to_string();
    assert_eq!(failure, "query 1 (www.com. TXT) was not answered");
    let reversed = judge(&text, &[answer(0), told(1, (50, 0), &[TEXT])]).expect_err("times go on").to_string();
    assert!(
        reversed.ends_with("cannot end at 0 s, before its invocation; take both times from one clock"),
        "{reversed}"
    );
}

#[test]
fn stubs_ask_in_time_and_one_thing_at_a_time() {
    let text = case(&[("www.com.", RecordType::Txt), ("www.com.", RecordType::Txt)]);
    let queries = vec![query(1, 10, "www.com.", RecordType::Txt), query(1, 20, "www.com.", RecordType::Txt)];
    let text = TestCase { queries, ..text };
    let judged = |asked_at: [u64; 2]| {
        let told = [told(0, (asked_at[0], 50), &[TEXT]), told(1, (asked_at[1], 90), &[TEXT])];
        judge_times(&text, &told).map_err(|failure| failure.to_string())
    };
    assert_eq!(judged([10, 50]), Ok(()));
    assert_eq!(judged([9, 50]), Err("query 0 was asked at 0.009 s, and was due at 0.01 s".to_owned()));
    assert_eq!(judged([11, 50]), Err("query 0 was asked at 0.011 s, and was due at 0.01 s".to_owned()));
    assert_eq!(judged([10, 20]), Err("query 1 was asked at 0.02 s, and was due at 0.05 s".to_owned()));
}

/// What a server does wrong.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Fault {
    /// Nothing.
    None,
    /// It says of names that are between others that they do not exist.
    ForgetsEmptyNames,
    /// It leaves one record of several out.
    LeavesOut,
    /// It lets all live longer than the zone says.
    LivesLonger,
    /// It leaves the aliases out.
    HidesAliases,
    /// It says nothing.
    Silent,
}

async fn faulty(context: Context<DnsMessage>, port: u16, zones: Rc<[Zone]>, fault: Fault) {
    let mut channel = context.channel_at(port);
    while context.running() {
        let delivery = channel.recv().await;
        let mut response = respond(&zones, &delivery.message);
        match fault {
            Fault::None => {}
            Fault::ForgetsEmptyNames if response.answer.is_empty() && response.is_authoritative => {
                response.rcode = Rcode::NameError;
            }
            Fault::LeavesOut if response.answer.len() > 1 => drop(response.answer.pop()),
            Fault::LivesLonger => response.answer.iter_mut().for_each(|record| record.ttl += 1),
            Fault::HidesAliases => response.answer.retain(|record| record.record_type() != RecordType::Cname),
            Fault::Silent => continue,
            _ => {}
        }
        channel.send(delivery.source, fit(response));
    }
}

#[test]
fn the_oracle_sees_what_servers_do_wrong() {
    #[track_caller]
    fn check(fault: Fault, owner: &str, record_type: RecordType, expect: &str) {
        let case = case(&[(owner, record_type)]);
        let simulation = configure_with(&case, |context, port, zones| faulty(context, port, zones, fault));
        let ended = simulation.run().ended.to_string();
        let failure =
            format!("failed: check \"stubs have the right answers\" failed: query 0 ({owner} {record_type}) ");
        let found = ended.strip_prefix(&failure).unwrap_or(&ended);
        assert_eq!(found, expect);
    }
    use RecordType::{A, Ns, Txt};
    for (owner, record_type) in [("www.com.", Txt), ("b.com.", A), ("alias.org.", Txt), (".", Ns)] {
        check(Fault::None, owner, record_type, "passed");
    }
    check(Fault::ForgetsEmptyNames, "b.com.", A, "was answered with NameError, and NoError is right");
    check(Fault::LeavesOut, "two.com.", A, "has not two.com. 60 IN A 198.18.2.9 in its answer");
    check(
        Fault::LivesLonger,
        "www.com.",
        Txt,
        "has www.com. 6 IN TXT \"a text\" in its answer, which lives for 5 s only",
    );
    check(Fault::Silent, "www.com.", Txt, "failed after 39.502 s");
    let hidden = "failed after";
    let case = case(&[("alias.org.", Txt)]);
    let simulation = configure_with(&case, |context, port, zones| faulty(context, port, zones, Fault::HidesAliases));
    assert!(simulation.run().ended.to_string().contains(hidden));
}
