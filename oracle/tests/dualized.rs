//! Specifications that leave things open, held against brute force on all short traces.
//!
//! The servers are those of Li, "Testing by Dualization" (PhD thesis, University of Pennsylvania, 2022), sections 2.2
//! and 3.1, with its words (section 2.1): a validator is rejection-sound if it rejects no trace that the server can
//! produce, and rejection-complete if it rejects every other one. The validators here are the online check of a
//! specification, and the check of what was recorded, which have to agree after each answer.

use std::collections::BTreeSet;
use std::fmt::Debug;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use simutant_oracle::{
    Answer, Call, Check, End, History, Moment, Online, OnlineBudget, OnlineError, Open, Session, Specification, Time,
};

/// Queries, each with its answer.
type Trace = Vec<(i64, i64)>;

/// A server: from what it remembers, 0 at first, a query and a choice to the answer and what it remembers then.
type Server<'a> = &'a dyn Fn(i64, i64, i64) -> (i64, i64);

/// CMP-SET: says whether a query is larger than a number, which it is then.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
struct CmpSet(i64);

impl Specification for CmpSet {
    type Operation = i64;
    type Response = i64;

    fn step(&mut self, _: Session, &query: &i64, _: &mut Open<'_>) -> i64 {
        let is_larger = query > self.0;
        self.0 = self.0.max(query);
        i64::from(is_larger)
    }
}

/// CMP-RST: the same, but the number after a larger query is any. What is known of it is between which numbers it is, both
/// included, since comparisons say nothing else.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
struct CmpRst {
    min: i64,
    max: i64,
}

impl Specification for CmpRst {
    type Operation = i64;
    type Response = i64;

    fn step(&mut self, _: Session, &query: &i64, open: &mut Open<'_>) -> i64 {
        if query <= self.min || query <= self.max && open.maybe() {
            self.min = self.min.max(query);
            return 0;
        }
        // What was known of the number before does not matter any more.
        *self = Self { min: i64::MIN, max: i64::MAX };
        1
    }
}

/// What is asked.
const QUERIES: [i64; 4] = [-1, 0, 1, 2];

/// What brute force chooses from. CMP-RST only compares what it chose with the queries, so nothing matters but which of
/// them are larger: -2 stands for all numbers below them, 2 for 2 and all above, and each of the others for itself.
const CHOICES: [i64; 5] = [-2, -1, 0, 1, 2];

/// The integer machine: cell 0 has a choice, cell 1 the query and then the answer, and cell 2 is what it remembers.
///
/// Choices are from [`CHOICES`] alone, and those of the thesis from all integers. A specification leaves so few open by
/// [`Open::one_of`], and knows each cell: what is held here is the search through choices, and not what can be known of
/// one, as in [`CmpRst`]. The machine of the thesis multiplies and divides, too.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Machine<'a> {
    program: &'a Program,
    remembered: i64,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Program {
    Return,
    Write(usize, Sum, Box<Self>),
    /// If the first is not larger than the second.
    If(Sum, Sum, Box<Self>, Box<Self>),
}

/// What can be written with `+` and `-`: how often each cell is added, and a constant.
type Sum = [i64; 4];

impl Program {
    fn run(&self, cells: &mut [i64; 3]) {
        let [a, b, c] = *cells;
        let value = |sum: &Sum| sum[0] * a + sum[1] * b + sum[2] * c + sum[3];
        match self {
            Self::Return => {}
            Self::Write(cell, sum, then) => {
                cells[*cell] = value(sum);
                then.run(cells);
            }
            Self::If(one, other, then, or) => if value(one) <= value(other) { then } else { or }.run(cells),
        }
    }

    fn serve(&self, remembered: i64, query: i64, choice: i64) -> (i64, i64) {
        let mut cells = [choice, query, remembered];
        self.run(&mut cells);
        (cells[1], cells[2])
    }
}

impl Specification for Machine<'_> {
    type Operation = i64;
    type Response = i64;

    fn step(&mut self, _: Session, &query: &i64, open: &mut Open<'_>) -> i64 {
        let choice = CHOICES[open.one_of(CHOICES.len())];
        let (answer, remembered) = self.program.serve(self.remembered, query, choice);
        self.remembered = remembered;
        answer
    }
}

/// Returns all traces of up to `length` queries that a server can produce.
fn produced(server: Server<'_>, queries: &[i64], length: usize) -> BTreeSet<Trace> {
    let (mut all, mut last) = (BTreeSet::new(), BTreeSet::from([(Trace::new(), 0)]));
    for _ in 0..length {
        let choices = |&query: &i64| CHOICES.map(|choice| (query, choice));
        let longer = |(trace, remembered): &(Trace, i64), (query, choice)| {
            let (answer, then) = server(*remembered, query, choice);
            ([&trace[..], &[(query, answer)]].concat(), then)
        };
        last =
            last.iter().flat_map(|from| queries.iter().flat_map(choices).map(move |next| longer(from, next))).collect();
        all.extend(last.iter().map(|(trace, _)| trace.clone()));
    }
    all
}

/// Returns all traces of up to `length` queries, possible or not.
fn traces(queries: &[i64], answers: &[i64], length: usize) -> Vec<Trace> {
    let pairs: Trace = queries.iter().flat_map(|&query| answers.iter().map(move |&answer| (query, answer))).collect();
    let (mut all, mut last) = (Vec::new(), vec![Trace::new()]);
    for _ in 0..length {
        last = last.iter().flat_map(|trace| pairs.iter().map(|&pair| [&trace[..], &[pair]].concat())).collect();
        all.extend(last.iter().cloned());
    }
    all
}

/// Returns whether a specification accepts a trace, of which each call has the events of its invocation and its end.
fn accepts<S>(initial: &S, trace: &[(i64, i64)], spans: &[[usize; 2]], sessions: &[usize]) -> bool
where
    S: Specification<Operation = i64, Response = i64>,
{
    let mut online = Online::new(initial.clone(), OnlineBudget::default());
    let (mut calls, mut numbers) = (vec![], vec![]);
    for (event, &session) in sessions.iter().enumerate() {
        let place = spans.iter().position(|span| span.contains(&event)).expect("each event is of a call");
        let at = Moment { time: Time::ZERO, event: Some(event as u64) };
        let (session, (operation, response)) = (Session(session as u64), trace[place]);
        if spans[place][0] == event {
            numbers.push(online.invoked(session, operation));
            calls.push(Call::new(session, operation, at, End::Unknown));
            continue;
        }
        calls[place].end = End::Returned { at, response };
        let recorded = History::from_calls(calls.clone()).expect("calls end after they begin");
        match (online.returned(numbers[place], response), Check::default().run(&recorded, initial).answer) {
            (Ok(()), Answer::Possible { .. }) => {}
            (Err(OnlineError::Impossible { .. }), Answer::Impossible { .. }) => return false,
            (online, recorded) => panic!("{trace:?}, {spans:?} at {event}: {online:?}, but {recorded:?}"),
        }
    }
    true
}

/// Returns whether the server can produce the calls in an order that real time allows, which begins with those in `placed`.
fn linearizes(produced: &BTreeSet<Trace>, trace: &[(i64, i64)], spans: &[[usize; 2]], placed: &[usize]) -> bool {
    let left = || (0..trace.len()).filter(|place| !placed.contains(place));
    let may_follow = |next: &usize| left().all(|other| other == *next || spans[*next][0] < spans[other][1]);
    let mut longer = left().filter(may_follow).map(|next| [placed, &[next]].concat());
    placed.len() == trace.len() && produced.contains(&placed.iter().map(|&place| trace[place]).collect::<Trace>())
        || longer.any(|placed| linearizes(produced, trace, spans, &placed))
}

/// Checks that a specification is rejection-sound, by what the server can produce, and rejection-complete, by other traces.
/// One session makes the calls, or two, in all ways in which the first of them begins.
fn check<S>(initial: &S, produced: &BTreeSet<Trace>, traces: &[Trace], sessions: u32)
where
    S: Specification<Operation = i64, Response = i64> + Debug,
{
    for trace in traces.iter().chain(produced) {
        // A bit for each event says whose it is. Of each session, every second event is the end of a call.
        let ways = if sessions == 1 { 1 } else { 1_usize << (2 * trace.len() - 1) };
        for way in (0..ways).filter(|way| way.count_ones() % 2 == 0) {
            let by: Vec<usize> = (0..2 * trace.len()).map(|event| way >> event & 1).collect();
            let of = |session| (0..by.len()).filter(|&event| by[event] == session).collect::<Vec<_>>();
            let events = [of(0), of(1)].concat();
            let mut spans: Vec<[usize; 2]> = events.chunks(2).map(|span| [span[0], span[1]]).collect();
            spans.sort_unstable();
            let is_possible = linearizes(produced, trace, &spans, &[]);
            assert_eq!(accepts(initial, trace, &spans, &by), is_possible, "{initial:?}: {trace:?}, {spans:?}");
        }
    }
}

#[test]
fn cmp_set_is_rejection_sound_and_rejection_complete() {
    let produced = produced(&|number, query, _| (i64::from(query > number), number.max(query)), &QUERIES, 4);
    check(&CmpSet::default(), &produced, &traces(&QUERIES, &[0, 1], 4), 1);
    check(&CmpSet::default(), &produced, &traces(&QUERIES, &[0, 1], 3), 2);
}

#[test]
fn cmp_rst_is_rejection_sound_and_rejection_complete() {
    let server = |number, query, choice| if query > number { (1, choice) } else { (0, number) };
    assert_eq!(traces(&QUERIES, &[0, 1], 3).len(), 584);
    check(&CmpRst::default(), &produced(&server, &QUERIES, 4), &traces(&QUERIES, &[0, 1], 4), 1);
    check(&CmpRst::default(), &produced(&server, &QUERIES, 3), &traces(&QUERIES, &[0, 1], 3), 2);
    check(&CmpRst::default(), &produced(&server, &[1, 2], 4), &traces(&[1, 2], &[0, 1], 4), 2);
    let accepted = |trace: &[(i64, i64)]| {
        let spans: Vec<[usize; 2]> = (0..trace.len()).map(|place| [2 * place, 2 * place + 1]).collect();
        accepts(&CmpRst::default(), trace, &spans, &vec![0; 2 * trace.len()])
    };
    assert!(accepted(&[(1, 1), (5, 0), (6, 1)]));
    assert!(!accepted(&[(1, 1), (5, 0), (4, 0), (3, 1)]));
    assert!(!accepted(&[(0, 1)]) && !accepted(&[(1, 0)]));
}

fn programs() -> impl Strategy<Value = Program> {
    let sum = || [-1..=1_i64, -1..=1, -1..=1, -1..=1];
    Just(Program::Return).prop_recursive(4, 8, 2, move |then| {
        let write =
            (1..=2_usize, sum(), then.clone()).prop_map(|(cell, sum, then)| Program::Write(cell, sum, then.into()));
        let branches = (sum(), sum(), then.clone(), then);
        prop_oneof![write, branches.prop_map(|(one, other, then, or)| Program::If(one, other, then.into(), or.into()))]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 50, rng_seed: RngSeed::Fixed(7), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn machines_are_rejection_sound_and_rejection_complete(program in programs()) {
        let produced = |length| produced(&|cell, query, choice| program.serve(cell, query, choice), &[0, 1], length);
        let machine = Machine { program: &program, remembered: 0 };
        check(&machine, &produced(3), &traces(&[0, 1], &[-1, 0, 1, 2], 3), 1);
        check(&machine, &produced(2), &traces(&[0, 1], &[-1, 0, 1, 2], 2), 2);
    }
}
