//! Searches that take long: parts of a history go on in turns, a search can be stopped in between, and the steps of all
//! parts count.

use std::cell::Cell;

use simutant_oracle::specifications::KeyValueStore;
use simutant_oracle::specifications::store::{Operation, Response};
use simutant_oracle::{
    Answer, Budget, Check, Checked, Explored, Footprint, History, Limit, Open, Recorder, Session, Specification, Time,
};

/// A store that says nothing of itself but what it touches, so that a search takes long.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
struct Plain(KeyValueStore);

impl Specification for Plain {
    type Operation = Operation;
    type Response = Response;

    fn step(&mut self, session: Session, operation: &Operation, open: &mut Open<'_>) -> Response {
        self.0.step(session, operation, open)
    }

    fn footprint(operation: &Operation, response: Option<&Response>) -> Footprint {
        KeyValueStore::footprint(operation, response)
    }

    fn depends_on_session(operation: &Operation) -> bool {
        KeyValueStore::depends_on_session(operation)
    }
}

type StoreHistory = History<Operation, Response>;

/// How many values are put at a time. A search tries all subsets, each with the value that was put last.
const PUTS: u64 = 10;

/// Values that are put at a time, to keys, and what is read of each key then. The put of value `v0` ends first, and is
/// tried last.
fn made(reads: &[(&str, &str)]) -> StoreHistory {
    let recorder = Recorder::new();
    let at = Time::from_nanos;
    let puts: Vec<_> = (0..PUTS)
        .flat_map(|number| reads.iter().map(move |&(key, _)| (number, key)))
        .map(|(number, key)| {
            let operation = Operation::Put { key: key.into(), value: format!("v{number}").as_str().into() };
            recorder.invoke(Session(number), operation, at(0))
        })
        .collect();
    for (number, put) in (1..).zip(puts) {
        recorder.returned(put, Response::Done, at(number)).expect("it was invoked");
    }
    for &(key, value) in reads {
        let read = recorder.invoke(Session(0), Operation::Get { key: key.into() }, at(1_000));
        recorder.returned(read, Response::Value(Some(value.into())), at(1_001)).expect("it was invoked");
    }
    recorder.history()
}

fn run(history: &StoreHistory, budget: Budget<'_>) -> Checked {
    Check { budget, ..Check::default() }.run(history, &Plain::default())
}

/// Holds that as many steps as a check takes are enough, and that one less is not.
#[track_caller]
fn check_steps(history: &StoreHistory, checked: &Checked) {
    let with = |steps| run(history, Budget { steps: Some(steps), ..Budget::default() });
    assert_eq!(with(checked.explored.steps), *checked);
    let less = with(checked.explored.steps - 1);
    assert_eq!(less.answer, Answer::Undecided { limit: Limit::Steps });
    assert!(less.explored.steps < checked.explored.steps);
}

#[test]
fn what_takes_turns_is_explained() {
    // The value that is read is tried last of one key, of both, or of neither.
    for reads in [[("x", "v0"), ("y", "v9")], [("x", "v9"), ("y", "v0")], [("x", "v0"), ("y", "v0")]] {
        let history = made(&reads);
        let checked = run(&history, Budget::default());
        let Answer::Possible { order } = &checked.answer else { panic!("{reads:?}: {checked:?}") };
        assert!(checked.explored.steps > 1 << 12, "{reads:?}: {checked:?}");
        check_steps(&history, &checked);
        // All calls once, and of each key the value that is read is put last.
        let mut places = order.clone();
        places.sort_unstable();
        assert_eq!(places, (0..history.calls().len()).collect::<Vec<_>>(), "{reads:?}");
        for (key, value) in reads {
            let put = |&place: &usize| match &history.calls()[place].operation {
                Operation::Put { key: of, value } if of.as_str() == key => Some(value.as_str().to_owned()),
                _ => None,
            };
            let puts: Vec<String> = order.iter().filter_map(put).collect();
            assert_eq!(puts.last().map(String::as_str), Some(value), "{reads:?}");
        }
    }
}

#[test]
fn one_part_that_is_impossible_ends_the_turns_of_all() {
    let ended = |reads: &[(&str, &str)]| {
        let history = made(reads);
        let checked = run(&history, Budget::default());
        let Answer::Impossible { stuck, .. } = checked.answer else { panic!("{reads:?}: {checked:?}") };
        check_steps(&history, &checked);
        (history.calls()[stuck].operation.clone(), checked.explored.steps)
    };
    let get = |key: &str| Operation::Get { key: key.into() };
    for (reads, key) in [
        ([("x", "never"), ("y", "v9")], "x"),
        ([("x", "v9"), ("y", "never")], "y"),
        ([("x", "v0"), ("y", "never")], "y"),
        ([("x", "never"), ("y", "v0")], "x"),
    ] {
        let (operation, steps) = ended(&reads);
        assert_eq!(operation, get(key), "{reads:?}");
        assert!(steps > 1 << 12, "{reads:?}: {steps}");
    }
    // A part that shows in no time that it is impossible does not wait for one that takes long.
    let history = {
        let mut calls = made(&[("x", "never")]).into_calls();
        let key = made(&[("y", "never")]).into_calls().pop().expect("it is read last");
        calls.push(key);
        History::from_calls(calls).expect("ends are as they were")
    };
    let checked = run(&history, Budget::default());
    assert!(matches!(checked.answer, Answer::Impossible { .. }), "{checked:?}");
    assert!(checked.explored.steps < 2 << 12, "{checked:?}");
}

#[test]
fn a_search_is_stopped_within_some_hundred_expansions() {
    let history = made(&[("x", "never")]);
    let all = run(&history, Budget::default());
    let questions = Cell::new(0_u32);
    let stopped_at = |limit: u32| {
        questions.set(0);
        let stop = || {
            questions.set(questions.get() + 1);
            questions.get() > limit
        };
        run(&history, Budget { stop: Some(&stop), ..Budget::default() })
    };
    let mut before = Explored::default();
    for limit in 0..6 {
        let checked = stopped_at(limit);
        assert_eq!(checked.answer, Answer::Undecided { limit: Limit::Stopped }, "{limit}");
        assert!(checked.explored.steps >= before.steps, "{limit}");
        // The first two questions are those of the fast path and of the search that begins.
        let expansions = 256 * u64::from(limit.saturating_sub(1) + 1);
        assert!(checked.explored.steps <= expansions * (PUTS + 1), "{limit}: {checked:?}");
        assert!(limit < 2 || checked.explored.steps > before.steps, "{limit}: {checked:?}");
        before = checked.explored;
    }
    // Who is never told to stop asks once in a while, and goes on to the end.
    assert_eq!(stopped_at(u32::MAX), all);
    let asked = u64::from(questions.get());
    assert!((4..=all.explored.steps / 64).contains(&asked), "{asked} questions in {all:?}");
}
