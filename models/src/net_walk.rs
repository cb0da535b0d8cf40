//! Runs of a net whose steps a strategy chooses.

use simutant_nets::{Event, ExploreError, Net, Tests};

use crate::path::{InstanceId, StepResult};
use crate::step::Evaluated;
use crate::strategy::{Learned, Open, Strategy};

/// Returns a test case for each set of stimuli of so many runs of a net, as [`Net::simulate`], with steps that a strategy
/// chooses. To it, the net is a machine whose transitions lead from one state to another; each binding is a transition
/// that it can take, of weight 1.
///
/// ```
/// use simutant_models::{CoverageGuided, simulate_net};
/// use simutant_nets::{Net, any};
///
/// let net = || {
///     let mut net = Net::<(), &str>::with_events("lottery");
///     let (ticket, drawn) = (net.place("ticket", [()]), net.place::<u32>("drawn", []));
///     net.transition("lose", (ticket.take(), any(1..100)), |(), number| Some(number), drawn.put());
///     net.transition("win", ticket.take(), |()| Some(0), drawn.put()).output(|()| Some("won"));
///     net
/// };
/// let wins = |tests: simutant_nets::Tests<(), &str>| tests.cases[0].outcomes.len() > 1;
/// let guided = (0..20).filter(|&seed| {
///     wins(simulate_net(&mut net(), &mut CoverageGuided::default(), 40, seed, 10).expect("it has no mistake"))
/// });
/// let random = (0..20).filter(|&seed| wins(net().simulate(40, seed, 10).expect("it has no mistake")));
/// assert!(guided.count() > random.count());
/// ```
///
/// # Errors
/// Those of [`Net::simulate`].
pub fn simulate_net<I: Event, O: Event>(
    net: &mut Net<I, O>,
    strategy: &mut dyn Strategy,
    runs: usize,
    seed: u64,
    steps_max: usize,
) -> Result<Tests<I, O>, ExploreError> {
    net.simulate_by(runs, seed, steps_max, &mut |transitions, last, random| {
        let open = |&transition: &usize| Open {
            instance: InstanceId(0),
            machine: 0,
            transition: transition as u32,
            origin: 0,
            target: 1,
            ends: false,
            before: last.map(|last| last as u32),
            weight: 1.0,
        };
        let open: Vec<Open> = transitions.iter().map(open).collect();
        // A net goes on while it can.
        let chosen = strategy.choose(&open, random).unwrap_or(0);
        let none = Evaluated::default();
        let learned = Learned { result: StepResult::Succeeded, state: 1, preconditions: none, assertions: none };
        strategy.learn(&open[chosen], &learned);
        chosen
    })
}
