//! A worker written by hand, with a mutant for everything that a mutant can do to its process.
//!
//! The mutator generates such programs; this one shows what they look like inside, and the tests of the campaign run
//! it. The system is one component that adds up the numbers below a limit.
//!
//! Started by another file name it makes a mistake that a campaign has to see ([`Mistake`]).

use std::cell::Cell;
use std::io::Write;
use std::process::ExitCode;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use serde::{Deserialize, Serialize};
use simutant_probe as probe;
use simutant_sim_core::trace::{Action, TraceEvent};
use simutant_sim_core::{CheckFailure, Context, Message, Random, Simulation, VirtualDuration};
use simutant_system::{
    BlackBoxCriterion, CostBounds, InvalidTestCase, Quota, Requirements, System, TraceCriterion, criteria,
};

/// How many mutants [`sum_below`] has.
const MUTANTS: u32 = 20;

/// A balance that says nothing.
const UNREADABLE: u64 = u64::MAX;

/// What the worker does wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Mistake {
    None,
    /// It does not say that mutant 1 is infected: named `counter_worker-silent`.
    Silent,
    /// The original takes longer than its test cases say: named `counter_worker-late`.
    Late,
    /// The body that chooses does something else than the original where no mutant is active: named
    /// `counter_worker-skewed`.
    Skewed,
    /// Mutant 1 does not panic: named `counter_worker-calm`.
    Calm,
    /// Not a mistake: re-seedings are others, named `counter_worker-chance`.
    Chance,
    /// Re-seedings of a limit above 12 have a limit on which the original fails: named `counter_worker-unlucky`.
    Unlucky,
    /// Not a mistake: the system states how long it takes at most, named `counter_worker-bounded`.
    Bounded,
    /// The original panics at 5 and aborts at 7: named `counter_worker-fragile`.
    Fragile,
    /// The original takes longer each time for limits above 12: named `counter_worker-fickle`.
    Fickle,
    /// A limit above 12 is never set up: named `counter_worker-stuck`.
    Stuck,
    /// Drawing a limit above 12 panics: named `counter_worker-undrawable`.
    Undrawable,
}

impl Mistake {
    fn of_this_program() -> Self {
        let program = std::env::args().next().unwrap_or_default();
        match program.rsplit_once('-') {
            Some((_, "silent")) => Self::Silent,
            Some((_, "late")) => Self::Late,
            Some((_, "skewed")) => Self::Skewed,
            Some((_, "calm")) => Self::Calm,
            Some((_, "chance")) => Self::Chance,
            Some((_, "unlucky")) => Self::Unlucky,
            Some((_, "bounded")) => Self::Bounded,
            Some((_, "fragile")) => Self::Fragile,
            Some((_, "fickle")) => Self::Fickle,
            Some((_, "stuck")) => Self::Stuck,
            Some((_, "undrawable")) => Self::Undrawable,
            _ => Self::None,
        }
    }
}

#[derive(Debug)]
struct Counter;

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct TestCase {
    limit: u64,
}

#[derive(Debug, Clone, Hash)]
struct Nothing;

impl Message for Nothing {
    fn kind(&self) -> &'static str {
        "NOTHING"
    }
}

impl System for Counter {
    const NAME: &'static str = "counter";
    const UNIVERSE: usize = 16;
    type TestCase = TestCase;
    type Message = Nothing;

    fn sample(random: &mut Random) -> TestCase {
        let limit = random.uniform(1..=16);
        assert!(limit <= 12 || Mistake::of_this_program() != Mistake::Undrawable, "{limit} is above 12");
        TestCase { limit }
    }

    /// Nothing is chance, but for a worker that is named `counter_worker-chance`, or `counter_worker-unlucky`.
    fn reseed(case: &TestCase, random: &mut Random) -> TestCase {
        match Mistake::of_this_program() {
            Mistake::Chance => Self::sample(random),
            Mistake::Unlucky if case.limit > 12 => TestCase { limit: 17 },
            _ => case.clone(),
        }
    }

    fn cost_bounds(_: &TestCase) -> CostBounds {
        let is_bounded = Mistake::of_this_program() == Mistake::Bounded;
        CostBounds { virtual_time_ns_max: is_bounded.then_some(1_000_000), ..CostBounds::default() }
    }

    fn validate(case: &TestCase) -> Result<(), InvalidTestCase> {
        if (1..=17).contains(&case.limit) {
            return Ok(());
        }
        Err(InvalidTestCase {
            field: "limit".to_owned(),
            value: case.limit.to_string(),
            allowed: "from 1 to 17".to_owned(),
        })
    }

    fn configure(case: &TestCase) -> Simulation<Nothing> {
        let limit = case.limit;
        while limit > 12 && Mistake::of_this_program() == Mistake::Stuck {
            std::hint::spin_loop();
        }
        // 17 is outside of the universe: the original fails on it.
        let expected = if limit == 17 { 0 } else { limit * (limit - 1) / 2 };
        let mut simulation = Simulation::new(1);
        let books = Rc::new(Cell::new(0));
        let of_adder = books.clone();
        simulation.add("adder", move |context| sum_below(context, limit, of_adder)).expecting(expected);
        simulation.check("the books balance", move || match books.get() {
            0 => Ok(()),
            UNREADABLE => Err(CheckFailure::inconclusive("they cannot be read")),
            balance => Err(CheckFailure::new(format!("they say {balance}"))),
        });
        simulation
    }

    fn criteria() -> Vec<BlackBoxCriterion<TestCase>> {
        vec![BlackBoxCriterion {
            name: "parity",
            requirements: vec!["even limit".to_owned(), "odd limit".to_owned()],
            // One of them is enough.
            quotas: vec![Quota { requirements: 0..2, covered_min: 1 }],
            covered: |case| vec![(case.limit % 2) as usize],
        }]
    }

    fn trace_criteria() -> Vec<TraceCriterion> {
        let mut criteria = criteria::built_in();
        criteria.push(TraceCriterion { name: "last-digits", requirements: last_digits });
        criteria
    }
}

/// The last digit of each sum that is returned.
fn last_digits(trace: &[TraceEvent], requirements: &mut Requirements) {
    for event in trace {
        if let Action::Returned { component, value } = &event.action {
            requirements.insert(format!("{component} returns a number with {} at its end", &value[value.len() - 1..]));
        }
    }
}

/// What a fickle worker keeps outside of its simulations.
static RUNS: AtomicU64 = AtomicU64::new(0);

/// Adds up in the instrumented way: the first match is what the mutator makes of a function.
async fn sum_below(context: Context<Nothing>, limit: u64, books: Rc<Cell<u64>>) -> u64 {
    let body = SUM_BELOW.enter();
    let mut sum = 0;
    for number in 0..limit {
        probe::tick();
        sum += number;
    }
    let mistake = Mistake::of_this_program();
    match (mistake, limit) {
        (Mistake::Fragile, 5) => panic!("five"),
        (Mistake::Fragile, 7) => std::process::abort(),
        _ => {}
    }
    let milliseconds = match mistake {
        Mistake::Late => 2,
        Mistake::Fickle if limit > 12 => 1 + RUNS.fetch_add(1, Relaxed),
        _ => 1,
    };
    context.pause(VirtualDuration::from_millis(milliseconds)).await;
    match body {
        0 => sum,
        1 => mutated(&context, sum, limit, &books).await,
        _ => {
            record(sum, limit, mistake);
            sum
        }
    }
}

/// What [`record`] marks: two branches, and three blocks.
static SUM_BELOW: probe::FunctionMarks =
    probe::FunctionMarks::new(0, [0, 6], [0, 2], (0, &[]), (&[], &[]), (0, &[3, 4, 5]), ([0, MUTANTS], [0, MUTANTS]));

/// Says which mutants a limit reaches and infects: all but a few, the one that hangs only at 16.
fn record(sum: u64, limit: u64, mistake: Mistake) {
    probe::mark(3);
    probe::mark(if limit.is_multiple_of(2) { 4 } else { 5 });
    probe::branch(limit.is_multiple_of(2), 1, []);
    probe::reach(0);
    probe::Original(&sum).compare(&[0], &mut |_| sum + limit / 8);
    for mutant in (1..=9).chain(13..=19) {
        match (mistake, mutant) {
            (Mistake::Silent, 1) => probe::reach(mutant),
            _ => probe::infect(mutant),
        }
    }
    probe::reach(10);
    probe::Original(&sum).compare(&[10], &mut |_| sum);
    if limit == 16 {
        probe::infect(11);
    }
}

async fn mutated(context: &Context<Nothing>, sum: u64, limit: u64, books: &Cell<u64>) -> u64 {
    let mutant = probe::active();
    if mutant <= 10 || mutant >= 13 || (mutant == 11 && limit == 16) {
        probe::hit();
    }
    match mutant {
        0 => sum + limit / 8,
        1 if Mistake::of_this_program() == Mistake::Calm => sum,
        1 => panic!("limit {}", limit % 2),
        2 => loop {
            probe::tick();
        },
        3 => endless(sum),
        4 => {
            let mut hoard: Vec<Vec<u8>> = Vec::new();
            loop {
                hoard.push(Vec::with_capacity(64 << 20));
            }
        }
        5 => std::process::abort(),
        6 => std::process::exit(3),
        7 => {
            _ = writeln!(std::io::stdout(), "this is not of the protocol");
            sum
        }
        8 => loop {
            context.pause(VirtualDuration::from_nanos(1)).await;
        },
        9 => {
            // Leaked, and never touched: after some runs the worker is replaced.
            std::mem::forget(Vec::<u8>::with_capacity(60 << 20));
            sum
        }
        11 if limit == 16 => loop {
            std::thread::park();
        },
        13 if limit < 4 => sum + 1,
        14 => {
            let mut hoard: Vec<Vec<u8>> = Vec::new();
            loop {
                probe::tick();
                hoard.push(Vec::with_capacity(16 << 20));
            }
        }
        15 => {
            context.pause(VirtualDuration::from_secs(3600)).await;
            sum
        }
        16 => {
            context.channel().recv().await;
            sum
        }
        17 => {
            books.set(sum + 1);
            sum
        }
        19 => {
            books.set(UNREADABLE);
            sum
        }
        18 => {
            // Nobody looks at when the adder returns.
            context.pause(VirtualDuration::from_millis(1)).await;
            sum
        }
        mutant if mutant >= MUTANTS && Mistake::of_this_program() == Mistake::Skewed => sum + 1,
        _ => sum,
    }
}

#[expect(unconditional_recursion, reason = "this is the mutant that overflows the stack")]
fn endless(sum: u64) -> u64 {
    std::hint::black_box(endless(std::hint::black_box(sum)) + 1)
}

fn main() -> ExitCode {
    simutant_worker::main(&[simutant_worker::system::<Counter>()], &[])
}
