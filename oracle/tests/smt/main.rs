//! Formulas of random histories: a solver agrees with the search.

#[path = "../../../research/checker/src/judge.rs"]
#[expect(clippy::disallowed_types, reason = "nobody sees the order of what has failed")]
#[expect(dead_code, reason = "calls are explained together")]
mod judge;

use std::collections::BTreeSet;
use std::fmt::Debug;

use judge::{Shape, brute_force, history, one_of};
use simutant_oracle::smt::{self, Satisfiable, Solver, SolverError};
use simutant_oracle::specifications::{Queue, Register, containers, register};
use simutant_oracle::{Check, Compared, Filter, History, Order, Recorder, Scope, Session, Specification, Time};
use simutant_random::Random;
use simutant_zookeeper_histories::{self as histories, ZooKeeper};

/// How many histories of each specification there are.
const HISTORIES: u64 = 120;

/// How many orders they are tried with.
const ORDERS: u64 = 6;

const SHAPE: Shape = Shape { calls_max: 7, sessions: 3, unknown: 1, may_be_wrong: true };

/// The scopes that they are tried with, the whole history most often.
const SCOPES: [Scope; 7] = {
    const fn each(compared: Compared, filter: Filter) -> Scope {
        Scope::EachCall { compared, filter }
    }
    [
        Scope::History,
        Scope::History,
        Scope::EachRead,
        each(Compared::Target, Filter::Reads),
        each(Compared::Target, Filter::Unrelated),
        each(Compared::All, Filter::Reads),
        each(Compared::All, Filter::Unrelated),
    ]
};

/// The formulas of a history, and what the search says.
struct Case {
    texts: Vec<String>,
    is_possible: bool,
    what: String,
}

/// Returns the cases of a specification whose histories have some operations, and some made-up answers.
fn cases<S>(operations: &[S::Operation], responses: &[S::Response]) -> Vec<Case>
where
    S: Specification + Debug + Default,
    S::Operation: Debug + Clone,
    S::Response: Debug + Clone,
{
    let case = |seed| {
        let mut random = Random::from_seed(seed);
        // Each order comes with few and with many ends that are not known.
        let shape = Shape { unknown: SHAPE.unknown + seed / ORDERS % 5, ..SHAPE };
        let made_up = |random: &mut Random, _: &S::Operation| one_of(random, responses);
        let history: History<S::Operation, S::Response> =
            history(&mut random, shape, &S::default(), |random| one_of(random, operations), made_up);
        let mut pairs = Vec::new();
        for _ in 0..random.uniform(0..=4_u64) {
            let [one, other] = [0; 2].map(|_| random.uniform(0..=history.calls().len() as u64 - 1) as usize);
            // Mostly forwards: pairs in a circle are rare, and allow nothing.
            if one < other || (one > other && random.uniform(0..=4_u64) == 0) {
                pairs.push((one, other));
            }
        }
        let orders: [Order; ORDERS as usize] = [
            Order::linearizability(),
            Order::linearizability().with_revisions(),
            Order::sequential(),
            Order::ordered_sequential(),
            Order::none(),
            Order { pairs, ..Order::sequential() },
        ];
        let order = orders[(seed % ORDERS) as usize].clone();
        let scope = SCOPES[(seed / ORDERS) as usize % SCOPES.len()];
        let initial = S::default();
        let texts = smt::formulas(&history, &initial, &order, scope, 10_000);
        let texts: Vec<String> = texts.collect::<Result<_, _>>().expect("the states are few");
        let checked = Check { order: order.clone(), scope, ..Check::default() }.run(&history, &initial);
        let is_possible = checked.is_possible();
        // The judge that tries all orders does not close pairs over calls that may not have happened.
        if scope == Scope::History && order.pairs.is_empty() && history.calls().len() < 7 {
            assert_eq!(brute_force(&history, &initial, &order), is_possible, "{order:?} {history:#?}");
        }
        Case { texts, is_possible, what: format!("seed {seed}, {scope:?}, {order:?}: {history:#?}") }
    };
    (0..HISTORIES).map(case).collect()
}

fn all_cases() -> Vec<Case> {
    let registers = {
        use register::Operation::{CompareAndSet, Read, Write};
        use register::Response::{Compared, Done, Value};
        let operations = [Read, Read, Write(0), Write(1), CompareAndSet { from: 0, to: 1 }];
        let responses = [Value(None), Value(Some(0)), Value(Some(1)), Compared(true), Compared(false), Done];
        cases::<Register<u8>>(&operations, &responses)
    };
    let queues = {
        use containers::Operation::{Put, Take};
        use containers::Response::{Done, Value};
        cases::<Queue<u8>>(&[Put(0), Put(1), Take, Take], &[Value(None), Value(Some(0)), Value(Some(1)), Done])
    };
    let trees = {
        use histories::CreateMode::Persistent;
        use histories::Error::{NoNode, NodeExists, NotEmpty};
        use histories::Operation::{Create, Delete, Exists, GetData, SetData};
        use histories::Response;
        let operations = [
            Create { path: "/a".into(), data: None, mode: Persistent },
            Create { path: "/a/b".into(), data: Some("x".into()), mode: Persistent },
            Delete { path: "/a".into(), version: None },
            Exists { path: "/a".into() },
            GetData { path: "/a/b".into() },
            SetData { path: "/a".into(), data: Some("y".into()), version: None },
        ];
        let responses = [
            Response::Done,
            Response::Exists(true),
            Response::Data(Some("x".into())),
            Response::Error(NoNode),
            Response::Error(NodeExists),
            Response::Error(NotEmpty),
        ];
        cases::<ZooKeeper>(&operations, &responses)
    };
    [registers, queues, trees].into_iter().flatten().collect()
}

#[test]
fn a_solver_agrees_with_the_search() {
    let solver = Solver::installed().unwrap_or_else(|error| panic!("{error}"));
    let cases = all_cases();
    let texts: Vec<&str> = cases.iter().flat_map(|case| &case.texts).map(String::as_str).collect();
    // One process for all of them.
    let answers = solver.answers(&texts.join("(reset)\n"), 60).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(answers.len(), texts.len());
    let mut answers = answers.into_iter();
    for case in &cases {
        let answers: Vec<Satisfiable> = answers.by_ref().take(case.texts.len()).collect();
        assert!(!answers.contains(&Satisfiable::Unknown), "{}", case.what);
        let is_possible = answers.iter().all(|answer| *answer == Satisfiable::Yes);
        assert_eq!(is_possible, case.is_possible, "{answers:?}: {}\n{}", case.what, case.texts.join("\n"));
    }
    // Neither answer is rare.
    let possible = cases.iter().filter(|case| case.is_possible).count();
    assert!(possible > cases.len() / 5 && possible < cases.len() * 4 / 5, "{possible} of {}", cases.len());
}

#[test]
fn a_call_that_may_be_left_out_is_not_where_another_one_waits_for_it() {
    use histories::{CreateMode, Operation, Response};
    let recorder = Recorder::new();
    let create = |path: &str| Operation::Create { path: path.into(), data: None, mode: CreateMode::Persistent };
    let delete = Operation::Delete { path: "/a".into(), version: None };
    let children = Response::Children(["a", "b", "zookeeper"].map(Into::into).to_vec());
    let read = Operation::GetChildren { path: "/".into() };
    for (time, (session, operation, response)) in (0..).zip([
        (1, create("/a"), Response::Done),
        (2, delete, Response::Done),
        (2, create("/b"), Response::Done),
        (1, read, children),
    ]) {
        recorder.observed(Session(session), operation, response, Time::from_nanos(time));
    }
    let (history, order) = (recorder.history(), Order::sequential());
    let scope = Scope::EachCall { compared: Compared::All, filter: Filter::Unrelated };
    assert!(
        !Check { order: order.clone(), scope, ..Check::default() }.run(&history, &ZooKeeper::default()).is_possible()
    );
    let tree = ZooKeeper::default();
    let last = smt::formulas(&history, &tree, &order, scope, 100).last().expect("a call returned").expect("few states");
    let solver = Solver::installed().unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(solver.answers(&last, 60).unwrap_or_else(|error| panic!("{error}")), [Satisfiable::No]);
}

#[test]
fn texts_are_balanced_and_declare_what_they_use() {
    for case in all_cases() {
        for text in &case.texts {
            check_form(text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        }
    }
    for wrong in ["(assert (= t_0 t_0))", "(assert true", "(assert true))", "(declare-const t_0 Bool) (assert t_1)"] {
        assert!(check_form(wrong).is_err(), "{wrong}");
    }
}

/// What a solver knows without a declaration.
const KNOWN: [&str; 20] = [
    "set-logic",
    "QF_BV",
    "define-sort",
    "declare-const",
    "define-fun",
    "assert",
    "check-sat",
    "_",
    "BitVec",
    "Bool",
    "true",
    "false",
    "and",
    "or",
    "not",
    "=>",
    "=",
    "distinct",
    "bvult",
    "bvule",
];

fn check_form(text: &str) -> Result<(), String> {
    let mut known: BTreeSet<&str> = KNOWN.into();
    let code: Vec<&str> = text.lines().filter(|line| !line.starts_with(';')).collect();
    let spaced = code.join("\n").replace('(', " ( ").replace(')', " ) ");
    let (mut depth, mut previous) = (0_usize, "");
    for word in spaced.split_whitespace() {
        match word {
            "(" => depth += 1,
            ")" => depth = depth.checked_sub(1).ok_or("a parenthesis too many")?,
            "before" | "after" if depth > 0 => {}
            _ if word.starts_with("#b") || word.parse::<u64>().is_ok() => {}
            _ if ["define-sort", "declare-const", "define-fun"].contains(&previous) => {
                if !known.insert(word) {
                    return Err(format!("{word} is declared twice"));
                }
            }
            _ if known.contains(word) => {}
            _ => return Err(format!("{word} is used and not declared")),
        }
        previous = word;
    }
    if depth == 0 { Ok(()) } else { Err(format!("{depth} parentheses are open")) }
}

#[test]
fn too_many_states_are_an_error() {
    use register::Operation::Write;
    let case = |random: &mut Random, shape| {
        history(
            random,
            shape,
            &Register::default(),
            |random| Write(random.uniform(0..=200_u64)),
            |_, _| register::Response::Done,
        )
    };
    let shape = Shape { calls_max: 30, sessions: 30, unknown: 0, may_be_wrong: false };
    let long = (0..).map(|seed| case(&mut Random::from_seed(seed), shape)).find(|long| long.calls().len() > 20);
    let long = long.expect("some are long");
    let error = smt::formula(&long, &Register::default(), &Order::none(), 10).expect_err("there are more");
    assert_eq!(error, smt::TooManyStates { states_max: 10, positions: 1 });
    assert!(smt::formula(&long, &Register::default(), &Order::none(), 31).is_ok());
}

#[test]
fn a_history_without_calls_is_explained() {
    let text =
        smt::formula(&History::new(), &Register::<u8>::default(), &Order::none(), 1).expect("there is one state");
    check_form(&text).expect("it is well formed");
}

#[test]
fn a_missing_solver_is_said_to_be_missing() {
    let error = Solver::among("/nowhere:/neither".as_ref()).expect_err("there is none");
    assert!(matches!(error, SolverError::NotInstalled));
    assert!(error.to_string().contains("install"), "{error}");
}
