//! What walks have covered: states, transitions, pairs of transitions, paths.

use std::rc::Rc;

use crate::machine::Shape;
use crate::path::{StepResult, Taken};
use crate::strategy::Open;
use crate::trie::PathTrie;

/// The coverage of the walks of a [`Walker`](crate::Walker).
#[derive(Debug, Clone, Default)]
pub struct Coverage {
    machines: Vec<MachineCoverage>,
    paths: PathTrie,
}

/// What walks have covered of a machine.
#[derive(Debug, Clone)]
struct MachineCoverage {
    shape: Rc<Shape>,
    /// How often walks were in each state.
    states: Vec<u64>,
    /// How often each transition was taken; one that backtracked was not.
    transitions: Vec<u64>,
    /// How often a transition came after another one of the instance, by row for the first one; the last row is for
    /// those that came first.
    pairs: Vec<u64>,
}

impl Coverage {
    /// Returns the machines, as paths number them.
    pub fn machines(&self) -> impl Iterator<Item = &Shape> {
        self.machines.iter().map(|machine| &*machine.shape)
    }

    /// Returns how many states walks have been in, and how many there are.
    pub fn states(&self) -> (usize, usize) {
        counted(self.machines.iter().flat_map(|machine| machine.states.iter().copied()))
    }

    /// Returns how many transitions walks have taken, and how many there are.
    pub fn transitions(&self) -> (usize, usize) {
        counted(self.machines.iter().flat_map(|machine| machine.transitions.iter().copied()))
    }

    /// Returns how many pairs of transitions walks have taken one after the other, and how many there are: pairs of
    /// which one may lead to the state that the other one leaves. The first transition of an instance counts with what
    /// comes before it.
    ///
    /// ```
    /// use simutant_models::{Machine, Walker, skip};
    ///
    /// let door = Machine::new("door", ["open", "shut", "locked"], [skip("open -> shut"), skip("shut -> locked")])?;
    /// let mut walker = Walker::new();
    /// // At the beginning `open -> shut` is the only one, and `shut -> locked` comes after it.
    /// walker.run(door.with(()), 7);
    /// assert_eq!(walker.coverage().pairs(), (2, 2));
    /// # Ok::<(), simutant_models::MachineError>(())
    /// ```
    pub fn pairs(&self) -> (usize, usize) {
        counted(self.machines.iter().flat_map(MachineCoverage::possible_pairs))
    }

    /// Returns the paths.
    pub fn paths(&self) -> &PathTrie {
        &self.paths
    }

    /// Adds an instance of a machine, and returns the machine's number.
    pub(crate) fn add(&mut self, shape: &Rc<Shape>) -> u32 {
        let is_it = |machine: &MachineCoverage| Rc::ptr_eq(&machine.shape, shape) || machine.shape == *shape;
        let number = self.machines.iter().position(is_it).unwrap_or_else(|| {
            let (states, transitions) = (shape.states.len(), shape.transitions.len());
            self.machines.push(MachineCoverage {
                shape: shape.clone(),
                states: vec![0; states],
                transitions: vec![0; transitions],
                pairs: vec![0; (transitions + 1) * transitions],
            });
            self.machines.len() - 1
        });
        self.machines[number].states[0] += 1;
        number as u32
    }

    pub(crate) fn note(&mut self, chosen: &Open, result: StepResult, state: u32) {
        if result == StepResult::Backtracked {
            return;
        }
        let machine = &mut self.machines[chosen.machine as usize];
        let count = machine.transitions.len();
        let before = chosen.before.map_or(count, |before| before as usize);
        machine.transitions[chosen.transition as usize] += 1;
        machine.pairs[before * count + chosen.transition as usize] += 1;
        if result != StepResult::Failed {
            machine.states[state as usize] += 1;
        }
    }

    pub(crate) fn end(&mut self, path: &[Taken]) {
        self.paths.add(path);
    }
}

impl MachineCoverage {
    fn possible_pairs(&self) -> impl Iterator<Item = u64> {
        let transitions = &self.shape.transitions;
        let count = transitions.len();
        (0..=count).flat_map(move |before| {
            (0..count).filter_map(move |after| {
                let origin = transitions[after].origin;
                let is_possible = match transitions.get(before) {
                    Some(before) => before.targets().any(|target| target == origin),
                    None => origin == 0,
                };
                is_possible.then(|| self.pairs[before * count + after])
            })
        })
    }
}

fn counted(counts: impl Iterator<Item = u64>) -> (usize, usize) {
    counts.fold((0, 0), |(covered, all), count| (covered + usize::from(count > 0), all + 1))
}
