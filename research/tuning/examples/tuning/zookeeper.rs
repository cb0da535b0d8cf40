//! Simulated ZooKeeper as a subject: a strategy decides what all its clients do.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::rc::Rc;

use simutant_models::{Learned, Open, Strategy};
use simutant_random::Random;
use simutant_sim_core::trace::{Action, TraceEvent};
use simutant_system::{Requirements, System, TraceCriterion, criteria, universe};
use simutant_tuning::{Measured, Subject};
use simutant_zookeeper::{ZooKeeper2439, machine};

/// A server with the fault of ZOOKEEPER-2439, so that walks can fail.
pub(crate) struct ZooKeeperSubject;

/// A strategy that all walks of a suite share.
struct Boxed(Box<dyn Strategy>);

impl Strategy for Boxed {
    fn choose(&mut self, open: &[Open], random: &mut Random) -> Option<usize> {
        self.0.choose(open, random)
    }

    fn learn(&mut self, chosen: &Open, learned: &Learned) {
        self.0.learn(chosen, learned);
    }
}

impl Subject for ZooKeeperSubject {
    fn name(&self) -> &str {
        "ZooKeeper"
    }

    /// A test is a test case of one to three clients, each with a walk. The latencies, crashes and most numbers of steps are
    /// those of the universe of this seed.
    fn suite(&self, strategy: Box<dyn Strategy>, tests: usize, seed: u64) -> Measured {
        let strategy = Rc::new(RefCell::new(Boxed(strategy)));
        let mut random = Random::from_seed(seed).stream("walks");
        let criteria = criteria::machines();
        let mut covered: [BTreeSet<String>; 4] = std::array::from_fn(|_| BTreeSet::new());
        let (mut walks, mut tried, mut backtracked, mut first_failure) = (0, 0, 0, None);
        // Where clients begin.
        covered[0].insert("client: disconnected".to_owned());
        for index in 0..tests {
            let mut case = universe::<ZooKeeper2439>(seed, index);
            for walk in ZooKeeper2439::walks(&mut case) {
                walk.steer(strategy.clone(), random.bits());
                walks += 1;
            }
            let mut simulation = ZooKeeper2439::configure(&case);
            simulation.record_trace();
            let report = simulation.run();
            if !report.ended.passed() {
                first_failure = first_failure.or(Some(index + 1));
            }
            let trace = report.trace.unwrap_or_default();
            tried += trace.iter().filter(|event| noted(event).is_some()).count();
            backtracked += trace.iter().filter_map(noted).filter(|note| note.ends_with("=> (backtracked)")).count();
            for (covered, criterion) in covered.iter_mut().zip(&criteria) {
                covered.extend(labels(criterion, &trace));
            }
        }
        // A label of a transition also says what came of it.
        let [states, transitions, pairs, paths] = covered;
        let transitions: BTreeSet<&str> =
            transitions.iter().map(|label| label.split_once(" to ").map_or(&**label, |(name, _)| name)).collect();
        let shape = machine::shape();
        Measured {
            tests,
            walks,
            tried,
            backtracked,
            states: (states.len(), shape.states.len()),
            transitions: (transitions.len(), shape.transitions.len()),
            pairs: pairs.len(),
            paths: paths.len(),
            first_failure,
        }
    }
}

fn labels(criterion: &TraceCriterion, trace: &[TraceEvent]) -> Vec<String> {
    let covered: Requirements = criterion.covered(trace);
    covered.labels().map(str::to_owned).collect()
}

/// Returns what a walk noted of a transition.
fn noted(event: &TraceEvent) -> Option<&str> {
    match &event.action {
        Action::Noted { text, .. } if text.starts_with("walk of ") => Some(text),
        _ => None,
    }
}
