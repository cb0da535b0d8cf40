//! Formulas of random histories: a solver agrees with the search.

#[path = "../../../examples/checker/src/judge.rs"]
#[expect(clippy::disallowed_types, reason = "nobody sees the order of what has failed")]
#[expect(dead_code, reason = "calls are explained together")]
mod judge;
#[path = "../../examples/solver/process.rs"]
mod process;

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::path::Path;

use judge::{Shape, brute_force, history};
use process::{Satisfiable, Solver, SolverError};
use simutant_oracle::specifications::{Queue, Register, ZooKeeper, containers, register, zookeeper};
use simutant_oracle::{Check, History, Order, Specification, smt};
use simutant_random::Random;

/// How many histories of each specification there are.
const HISTORIES: u64 = 120;

/// How many orders they are tried with.
const ORDERS: u64 = 6;

const SHAPE: Shape = Shape { calls_max: 7, sessions: 3, unknown: 1, may_be_wrong: true };

fn one_of<T: Clone>(random: &mut Random, options: &[T]) -> T {
    options[random.uniform(0..=options.len() as u64 - 1) as usize].clone()
}

/// A formula, and what the search says.
struct Case {
    text: String,
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
            Order::zookeeper(),
            Order::none(),
            Order { pairs, ..Order::sequential() },
        ];
        let order = orders[(seed % ORDERS) as usize].clone();
        let text = smt::formula(&history, &S::default(), &order, 10_000).expect("the states are few");
        let checked = Check { order: order.clone(), ..Check::default() }.run(&history, &S::default());
        let is_possible = checked.is_possible();
        // The judge that tries all orders does not close pairs over calls that may not have happened.
        if order.pairs.is_empty() && history.calls().len() < 7 {
            assert_eq!(brute_force(&history, &S::default(), &order), is_possible, "{order:?} {history:#?}");
        }
        Case { text, is_possible, what: format!("seed {seed}, {order:?}: {history:#?}") }
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
        use zookeeper::CreateMode::Persistent;
        use zookeeper::Error::{NoNode, NodeExists, NotEmpty};
        use zookeeper::Operation::{Create, Delete, Exists, GetData, SetData};
        use zookeeper::Response;
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
    let texts: Vec<&str> = cases.iter().map(|case| case.text.as_str()).collect();
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("agreement.smt2");
    std::fs::write(&file, texts.join("(reset)\n")).expect("the file can be written");
    // One process for all of them.
    let answers = solver.answers(&file, 60).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(answers.len(), cases.len());
    for (case, answer) in cases.iter().zip(answers) {
        let expect = if case.is_possible { Satisfiable::Yes } else { Satisfiable::No };
        assert_eq!(answer, expect, "{}\n{}", case.what, case.text);
    }
    // Neither answer is rare.
    let possible = cases.iter().filter(|case| case.is_possible).count();
    assert!(possible > cases.len() / 5 && possible < cases.len() * 4 / 5, "{possible} of {}", cases.len());
}

#[test]
fn texts_are_balanced_and_declare_what_they_use() {
    for case in all_cases() {
        check_form(&case.text).unwrap_or_else(|error| panic!("{error}\n{}", case.text));
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
