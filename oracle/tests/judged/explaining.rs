//! What an explanation takes: no more than the budget, however long the history is.

use std::cell::Cell;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use simutant_oracle::specifications::Register;
use simutant_oracle::specifications::register::{Operation, Response};
use simutant_oracle::{
    Answer, Budget, Call, Check, End, Explanation, Footprint, History, Known, Open, Session, Specification, Time, What,
};
use simutant_random::Random;

thread_local! {
    static STEPS: Cell<u64> = const { Cell::new(0) };
}

/// A register that counts its steps.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
struct Counted(Register<u64>);

impl Specification for Counted {
    type Operation = Operation<u64>;
    type Response = Response<u64>;

    fn step(&mut self, session: Session, operation: &Operation<u64>, open: &mut Open<'_>) -> Response<u64> {
        STEPS.set(STEPS.get() + 1);
        self.0.step(session, operation, open)
    }

    fn footprint(operation: &Operation<u64>, response: Option<&Response<u64>>) -> Footprint {
        Register::footprint(operation, response)
    }

    fn depends_on_session(operation: &Operation<u64>) -> bool {
        Register::depends_on_session(operation)
    }

    fn is_same(one: &Operation<u64>, other: &Operation<u64>) -> bool {
        Register::is_same(one, other)
    }

    fn fast_path(&self, calls: &[&Call<Operation<u64>, Response<u64>>]) -> Option<Answer> {
        self.0.fast_path(calls)
    }
}

type CountedHistory = History<Operation<u64>, Response<u64>>;

/// What random histories are like.
#[derive(Debug, Clone, Copy)]
struct Shape {
    calls: u64,
    sessions: u64,
    /// How many values are written; 0 for a new one each time.
    values: u64,
    /// One call in so many ends unknown; 0 for none.
    unknown: u64,
    /// Which read is wrong, by its place.
    wrong: u64,
}

/// Returns a history of a register in which calls overlap, and one read has a value that is long gone.
fn made(random: &mut Random, shape: Shape) -> CountedHistory {
    let moment = |nanos| Time::from_nanos(nanos).into();
    let mut value = None;
    let mut gone = Vec::new();
    let calls = (0..shape.calls).map(|number| {
        let is_unknown = shape.unknown > 0 && number % shape.unknown == 1;
        let (operation, response) = match random.uniform(0..=1_u64) {
            _ if number == shape.wrong => (Operation::Read, Response::Value(*gone.first().unwrap_or(&Some(u64::MAX)))),
            0 => (Operation::Read, Response::Value(value)),
            _ => {
                let written = if shape.values == 0 { number } else { random.uniform(0..=shape.values) };
                gone.push(value.replace(written));
                (Operation::Write(written), Response::Done)
            }
        };
        let end = End::Returned { at: moment(10 * number + 12), response };
        let end = if is_unknown && number != shape.wrong { End::Unknown } else { end };
        Call::new(Session(number % shape.sessions), operation, moment(10 * number), end)
    });
    History::from_calls(calls.collect()).expect("they end later")
}

/// Explains a history within so many steps, and returns how many it took.
fn explained(history: &CountedHistory, steps: Option<u64>) -> (Option<Explanation<Counted>>, u64) {
    STEPS.set(0);
    let budget = Budget { steps, ..Budget::default() };
    let explanation = Check { budget, ..Check::default() }.explain(history, &Counted::default());
    (explanation, STEPS.get())
}

/// Returns whether what is known of some calls is impossible, whatever else happened; `None` if it takes too long.
fn is_impossible(history: &CountedHistory, core: &[Known]) -> Option<bool> {
    let forget = |(place, call): (usize, &Call<Operation<u64>, Response<u64>>)| {
        let is_known = core.iter().any(|known| known.call == place);
        let end = if is_known || call.end.response().is_none() { call.end.clone() } else { End::Unknown };
        Call { end, ..call.clone() }
    };
    let calls = history.calls().iter().enumerate().map(forget).collect();
    let forgotten = History::from_calls(calls).expect("ends are as they were");
    let budget = Budget { steps: Some(1 << 20), ..Budget::default() };
    let checked = Check { budget, ..Check::default() }.run(&forgotten, &Register::default());
    match checked.answer {
        Answer::Undecided { .. } => None,
        answer => Some(matches!(answer, Answer::Impossible { .. })),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, rng_seed: RngSeed::Fixed(35), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_explanation_takes_no_more_steps_than_the_budget(
        seed: u64,
        calls in 2..400_u64,
        sessions in 1..6_u64,
        values in 0..6_u64,
        unknown in prop::sample::select(vec![0_u64, 3, 40]),
        steps in 1..40_000_u64,
    ) {
        let mut random = Random::from_seed(seed);
        let wrong = random.uniform(0..=calls - 1);
        let history = made(&mut random, Shape { calls, sessions, values, unknown, wrong });
        let (explanation, taken) = explained(&history, Some(steps));
        // The answers that are allowed are found after the search: one for each explanation.
        prop_assert!(taken <= steps + 256, "{taken} of {steps}");
        if let Some(explanation) = explanation {
            prop_assert!(explanation.core.iter().any(|known| known.what == What::Answer));
            prop_assert_ne!(is_impossible(&history, &explanation.core), Some(false));
        }
    }
}

#[test]
fn a_wrong_read_in_a_long_history_is_explained_by_few_calls() {
    // Where all values are distinct, a register needs no search.
    for (calls, values) in [(2_000, 0), (300, 4), (300, 100)] {
        let wrong = calls / 10 * 9;
        let shape = Shape { calls, sessions: 5, values, unknown: 0, wrong };
        let history = made(&mut Random::from_seed(1), shape);
        let (explanation, taken) = explained(&history, None);
        let explanation = explanation.expect("the value is gone");
        assert_eq!(explanation.stuck as u64, wrong);
        assert!(explanation.core.len() <= 40, "{values} values: {} calls", explanation.core.len());
        assert!(taken <= 2_000_000, "{values} values: {taken} steps");
        assert_ne!(is_impossible(&history, &explanation.core), Some(false));
    }
}
