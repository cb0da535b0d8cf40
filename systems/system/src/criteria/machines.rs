//! What walks of machines cover.

use std::collections::BTreeMap;

use simutant_sim_core::trace::{Action, TraceEvent};

use super::criterion::{Requirements, TraceCriterion};
use crate::walk::{Noted, NotedResult, read_note};

/// Returns the criteria of systems with [walks](crate::Walk) of machines: `machine-states`, `machine-transitions`,
/// `machine-pairs` and `machine-paths`.
///
/// Machines of one name are one, in whatever component, so clients that do the same cover the same. A transition that
/// backtracks is not taken. A pair is two transitions that an instance takes one after the other; the first one that it
/// takes counts as a pair with its start. A path is all that a walk does, in its order, without repetitions that follow
/// each other: the number of paths is that of the linearly independent paths of Wang, Artho, Kristensen and Stolz
/// ("Visualization and abstractions for execution paths in model-based software testing", IFM 2019).
///
/// ```
/// use simutant_system::criteria;
///
/// let criteria = [criteria::built_in(), criteria::machines()].concat();
/// assert_eq!(criteria.len(), 9);
/// ```
pub fn machines() -> Vec<TraceCriterion> {
    vec![
        TraceCriterion { name: "machine-states", requirements: states },
        TraceCriterion { name: "machine-transitions", requirements: transitions },
        TraceCriterion { name: "machine-pairs", requirements: pairs },
        TraceCriterion { name: "machine-paths", requirements: paths },
    ]
}

/// Asks that each state is reached by a transition.
fn states(trace: &[TraceEvent], requirements: &mut Requirements) {
    for (_, Noted { machine, result, .. }) in noted(trace) {
        if let NotedResult::LedTo(state) = result {
            requirements.insert(format!("{machine}: {state}"));
        }
    }
}

/// Asks that each transition is taken, to each state that it leads to.
fn transitions(trace: &[TraceEvent], requirements: &mut Requirements) {
    for (_, taken) in noted(trace).filter(|(_, noted)| noted.result != NotedResult::Backtracked) {
        requirements.insert(format!("{}: {}", taken.machine, words(&taken)));
    }
}

/// Asks that each two transitions are taken one after the other.
fn pairs(trace: &[TraceEvent], requirements: &mut Requirements) {
    let mut last: BTreeMap<(&str, &str, &str), &str> = BTreeMap::new();
    for (component, taken) in noted(trace).filter(|(_, noted)| noted.result != NotedResult::Backtracked) {
        let Noted { machine, instance, transition, .. } = taken;
        let before = last.insert((component, machine, instance), transition).unwrap_or("start");
        requirements.insert(format!("{machine}: {before}, then {transition}"));
    }
}

/// Asks that each path is walked.
fn paths(trace: &[TraceEvent], requirements: &mut Requirements) {
    let mut walks: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    for (component, taken) in noted(trace) {
        let walk = walks.entry(component).or_default();
        let step = format!("{} {}: {}", taken.machine, taken.instance, words(&taken));
        if walk.last() != Some(&step) {
            walk.push(step);
        }
    }
    for walk in walks.values() {
        let steps = walk.len();
        requirements.insert(format!("{steps} steps, {:016x}", hash(walk)));
    }
}

fn words(taken: &Noted<'_>) -> String {
    match taken.result {
        NotedResult::LedTo(state) => format!("{} to {state}", taken.transition),
        NotedResult::Backtracked => format!("{} backtracks", taken.transition),
        NotedResult::Failed => format!("{} fails", taken.transition),
    }
}

/// Returns the transitions of walks, each with the component that takes it.
fn noted(trace: &[TraceEvent]) -> impl Iterator<Item = (&str, Noted<'_>)> {
    trace.iter().filter_map(|event| match &event.action {
        Action::Noted { component, text } => Some((component.as_str(), read_note(text)?)),
        _ => None,
    })
}

/// Returns a number for a path, the same on every machine: FNV-1a of 64 bits.
fn hash(walk: &[String]) -> u64 {
    let bytes = walk.iter().flat_map(|step| step.bytes().chain([0]));
    bytes.fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x100_0000_01b3))
}
