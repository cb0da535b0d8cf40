//! The oracle: whether stubs got the right answers, from caches that keep what they may, as long as they may.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use simutant_oracle::{Call, End, Recorder, Session};
use simutant_sim_core::{CheckFailure, VirtualDuration, VirtualTime};
use simutant_system::history_time;

use super::{Answer, AnswerKind, DnsMessage, Name, Question, Rcode, Record, RecordData, RecordType, TestCase};

/// The least time after which a resolver may say that it could not find out: by then, twelve packets or their answers
/// were lost in a row, each of which it waited for half a second.
pub(super) const FAILURE_AFTER: VirtualDuration = VirtualDuration::from_secs(6);

/// The probability of a loss below which no resolver fails: twelve times in a row, a packet or its answer would be lost
/// once in 10^12 times.
pub(super) const FAILURE_DROP_MIN: f64 = 0.05;

const SECOND: VirtualDuration = VirtualDuration::from_secs(1);

/// What stubs were answered. Clones share one history: its operations are the numbers of queries in the test case.
#[derive(Debug, Clone, Default)]
pub struct Answers {
    stub: Session,
    answered: Recorder<usize, Option<DnsMessage>>,
}

/// What came of a query.
#[derive(Debug, Clone, Copy)]
struct Noted<'a> {
    number: usize,
    asked_at: VirtualTime,
    answered_at: VirtualTime,
    response: Option<&'a DnsMessage>,
}

impl Answers {
    /// Returns an empty list.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns the list for a stub to add to.
    pub fn of_stub(&self, stub: u64) -> Self {
        Self { stub: Session(stub), answered: self.answered.clone() }
    }

    /// Adds what the stub was answered, `None` if it got no answer.
    pub fn note(&self, number: usize, asked_at: VirtualTime, answered_at: VirtualTime, response: Option<DnsMessage>) {
        let call = self.answered.invoke(self.stub, number, history_time(asked_at));
        // An answer from before its question is for the check to refuse.
        let _kept = self.answered.returned(call, response, history_time(answered_at));
    }

    /// Checks that each query of the test case was answered once, and as the name space has it; and that what the
    /// resolver remembers grows old as it should.
    ///
    /// One query may fail, for as many losses in a row as the resolver tries: another such row in one run never comes.
    ///
    /// # Errors
    /// What was answered wrongly first, or else which query was not answered.
    pub fn check(&self, case: &TestCase) -> Result<(), CheckFailure> {
        match self.answered.misuse() {
            Some(misuse) => Err(CheckFailure::new(misuse.to_string())),
            None => self.answered.with(|history| check_calls(history.calls(), case)),
        }
    }
}

/// Checks that each query was answered once, and rightly.
fn check_calls(calls: &[Call<usize, Option<DnsMessage>>], case: &TestCase) -> Result<(), CheckFailure> {
    let mut noted: Vec<Noted<'_>> = calls.iter().filter_map(Noted::of).collect();
    noted.sort_by_key(|noted| (noted.answered_at, noted.number));
    let mut failures = 0;
    let mut memory = Memory { known: BTreeMap::new(), began_at: first_asked(&noted) };
    for query in noted.iter() {
        let &Noted { number, asked_at, answered_at, response } = query;
        let question = case.queries[number].question();
        let fail = |reason: String| {
            let Question { name, record_type } = &question;
            Err(CheckFailure::new(format!("query {number} ({name} {record_type}) {reason}")))
        };
        let Some(response) = response else { return fail("was not answered".to_owned()) };
        if response.question != question {
            return fail(format!("was answered for {:?}", response.question));
        }
        if response.rcode == Rcode::ServerFailure {
            failures += 1;
            let took = answered_at - asked_at;
            if case.drop.get() < FAILURE_DROP_MIN || took < FAILURE_AFTER || failures > 1 {
                return fail(format!("failed after {took}"));
            }
            continue;
        }
        let right = case.name_space.answer(&question);
        let judged = check_response(&right, response);
        let judged = judged.and_then(|()| memory.check(&right, query, &question, response));
        if let Err(reason) = judged {
            return fail(reason);
        }
    }
    let answered: BTreeSet<usize> = noted.iter().map(|noted| noted.number).collect();
    match (0..case.queries.len()).find(|number| !answered.contains(number)) {
        Some(missing) => Err(CheckFailure::new(format!("query {missing} was not asked"))),
        None if noted.len() > answered.len() => Err(CheckFailure::new("a query was asked twice")),
        None => check_times(&noted, case),
    }
}

impl<'a> Noted<'a> {
    /// Returns what came of a call; `None` if that is unknown, as of none that was noted.
    fn of(call: &'a Call<usize, Option<DnsMessage>>) -> Option<Self> {
        let End::Returned { at, response } = &call.end else { return None };
        Some(Self {
            number: call.operation,
            asked_at: VirtualTime::from_nanos(call.invoked.time.as_nanos()),
            answered_at: VirtualTime::from_nanos(at.time.as_nanos()),
            response: response.as_ref(),
        })
    }
}

/// Checks that each stub asked as soon as it was time, and the query before was answered.
fn check_times(noted: &[Noted<'_>], case: &TestCase) -> Result<(), CheckFailure> {
    let mut free_at = BTreeMap::new();
    let mut in_order = noted.to_vec();
    in_order.sort_by_key(|noted| noted.number);
    for Noted { number, asked_at, answered_at, .. } in in_order {
        let query = &case.queries[number];
        let free_at = free_at.entry(query.stub).or_insert(VirtualTime::ZERO);
        let due_at = VirtualTime::max(VirtualTime::from_millis(query.start_ms), *free_at);
        if asked_at != due_at {
            return Err(CheckFailure::new(format!("query {number} was asked at {asked_at}, and was due at {due_at}")));
        }
        *free_at = answered_at;
    }
    Ok(())
}

fn first_asked(noted: &[Noted<'_>]) -> VirtualTime {
    noted.iter().map(|noted| noted.asked_at).min().unwrap_or(VirtualTime::ZERO)
}

/// Checks what a response says, whatever the times to live are that are left.
fn check_response(right: &Answer, response: &DnsMessage) -> Result<(), String> {
    if !response.is_response || response.is_truncated {
        return Err(format!("was answered by {response:?}"));
    }
    if response.rcode != right.rcode {
        return Err(format!("was answered with {:?}, and {:?} is right", response.rcode, right.rcode));
    }
    check_section("answer", &response.answer, &right.section().collect::<Vec<_>>())?;
    if let Some(soa) = &right.soa {
        check_section("authority", &response.authority, &[soa])?;
    }
    Ok(())
}

/// Checks that a section has these records, each once and none that lives longer, in any order.
fn check_section(section: &str, found: &[Record], right: &[&Record]) -> Result<(), String> {
    let is_same = |one: &Record, other: &Record| one.name == other.name && one.data == other.data;
    for (index, record) in found.iter().enumerate() {
        let Some(original) = right.iter().find(|original| is_same(original, record)) else {
            return Err(format!("has {record} in its {section}, which is not there"));
        };
        if record.ttl > original.ttl {
            return Err(format!("has {record} in its {section}, which lives for {} s only", original.ttl));
        }
        if found[..index].iter().any(|other| is_same(other, record)) {
            return Err(format!("has {record} in its {section} twice"));
        }
    }
    match right.iter().find(|original| !found.iter().any(|record| is_same(original, record))) {
        Some(missing) => Err(format!("has not {missing} in its {section}")),
        None => Ok(()),
    }
}

/// What the resolver is known to remember.
struct Memory {
    known: BTreeMap<(Name, About), Known>,
    /// When the resolver was asked for the first time: it knows nothing from before.
    began_at: VirtualTime,
}

/// Something that it remembers.
struct Known {
    /// Between which times it ends to hold.
    ends: Range<VirtualTime>,
    /// When a stub was told last.
    told_at: VirtualTime,
}

/// What is remembered about a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum About {
    Records(RecordType),
    NoData(RecordType),
    NameError,
}

impl Memory {
    /// Checks the times to live of a right response. What holds is not asked for again, so it ends when it would have
    /// ended.
    fn check(
        &mut self,
        right: &Answer,
        noted: &Noted<'_>,
        question: &Question,
        response: &DnsMessage,
    ) -> Result<(), String> {
        for original in right.section() {
            let of_set =
                |record: &&Record| record.name == original.name && record.record_type() == original.record_type();
            for record in response.answer.iter().filter(of_set) {
                let about = (record.name.clone(), About::Records(record.record_type()));
                self.check_record(about, record, original.ttl, noted)?;
            }
        }
        if let (Some(original), [record]) = (&right.soa, &response.authority[..]) {
            let last = right.chain.last().map(|record| &record.data);
            let name = if let Some(RecordData::Cname(canonical)) = last { canonical } else { &question.name };
            let about = match right.kind() {
                AnswerKind::NameError => About::NameError,
                _ => About::NoData(question.record_type),
            };
            self.check_record((name.clone(), about), record, original.ttl, noted)?;
        }
        Ok(())
    }

    fn check_record(
        &mut self,
        about: (Name, About),
        record: &Record,
        ttl: u32,
        noted: &Noted<'_>,
    ) -> Result<(), String> {
        // The resolver looked some time between question and answer, and what it left out is less than a second.
        let left = SECOND * u64::from(record.ttl);
        let ends = noted.asked_at + left..noted.answered_at + left + SECOND;
        if ends.end <= self.began_at + SECOND * u64::from(ttl) {
            return Err(format!("has {record}, as if it were from before the run, when it lived for {ttl} s"));
        }
        let Some(known) = self.known.get_mut(&about) else {
            self.known.insert(about, Known { ends, told_at: noted.answered_at });
            return Ok(());
        };
        if noted.asked_at < known.told_at {
            // Of two answers at a time, either can be the older one.
            return Ok(());
        }
        known.told_at = noted.answered_at;
        if noted.answered_at > known.ends.start {
            // It may have been asked for again.
            known.ends = ends;
            return Ok(());
        }
        if ends.start >= known.ends.end || ends.end <= known.ends.start {
            return Err(format!("has {record}, and what was known holds until {}", known.ends.start));
        }
        known.ends = VirtualTime::max(known.ends.start, ends.start)..VirtualTime::min(known.ends.end, ends.end);
        Ok(())
    }
}
