//! Which transition a walk takes next.

use foldhash::fast::FixedState;
use hashbrown::{HashMap, HashSet};
use simutant_random::Random;

use crate::path::{InstanceId, StepResult};
use crate::script::by_weight;
use crate::step::Evaluated;

/// A transition that can be taken.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Open {
    /// Whose it is.
    pub instance: InstanceId,
    /// The instance's machine.
    pub machine: u32,
    /// The transition's number in it.
    pub transition: u32,
    /// The state that it leaves.
    pub origin: u32,
    /// The state that it mostly leads to.
    pub target: u32,
    /// Whether no transition leaves that state.
    pub ends: bool,
    /// The transition that the instance took before; `None` if this is its first one.
    pub before: Option<u32>,
    /// How often it is taken, relative to others.
    pub weight: f64,
}

/// The result of a transition that a strategy chose.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Learned {
    /// The result.
    pub result: StepResult,
    /// The state afterwards.
    pub state: u32,
    /// How often preconditions held, and did not.
    pub preconditions: Evaluated,
    /// How often assertions held, and did not.
    pub assertions: Evaluated,
}

/// Chooses transitions, and may learn from what came of them, over all walks of a [`Walker`](crate::Walker).
///
/// ```
/// use simutant_models::{Machine, Open, Strategy, Walker, skip};
/// use simutant_random::Random;
///
/// /// Ends walks as soon as it can.
/// struct Hasty;
///
/// impl Strategy for Hasty {
///     fn choose(&mut self, open: &[Open], random: &mut Random) -> Option<usize> {
///         let ending = open.iter().position(|open| open.ends);
///         ending.or_else(|| Some(random.uniform(0..open.len())))
///     }
/// }
///
/// let ring = Machine::new("ring", ["a", "b", "out"], [skip("a -> b"), skip("b -> a"), skip("b -> out")])?;
/// let mut walker = Walker::new().with_strategy(Hasty);
/// assert!((0..20).all(|seed| walker.run(ring.with(()), seed).taken.len() == 2));
/// # Ok::<(), simutant_models::MachineError>(())
/// ```
pub trait Strategy {
    /// Returns the place of the chosen one among `open`, which has one at least; `None` if none is to be taken.
    fn choose(&mut self, open: &[Open], random: &mut Random) -> Option<usize>;

    /// Learns what came of the transition that was chosen.
    fn learn(&mut self, _chosen: &Open, _learned: &Learned) {}
}

/// Each open transition with the same probability.
#[derive(Debug, Clone, Copy, Default)]
pub struct Uniform;

impl Strategy for Uniform {
    fn choose(&mut self, open: &[Open], random: &mut Random) -> Option<usize> {
        Some(random.uniform(0..open.len()))
    }
}

/// Each open transition with a probability in proportion to its weight.
#[derive(Debug, Clone, Copy, Default)]
pub struct Weighted;

impl Strategy for Weighted {
    fn choose(&mut self, open: &[Open], random: &mut Random) -> Option<usize> {
        by_weight(|| random.unit(), open.iter().map(|open| open.weight))
    }
}

/// Rewards of the [`Bandit`], each from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rewards {
    /// Of a transition that led to another state.
    pub to_other: f64,
    /// Of one that led back to its own.
    pub to_self: f64,
    /// Of one that backtracked.
    pub backtracked: f64,
    /// Of one that failed.
    pub failed: f64,
    /// Expected of a precondition that holds.
    pub precondition_passed: f64,
    /// Expected of a precondition that does not hold.
    pub precondition_failed: f64,
    /// Expected of an assertion that holds.
    pub assertion_passed: f64,
    /// Expected of an assertion that does not hold.
    pub assertion_failed: f64,
}

impl Default for Rewards {
    /// The defaults of Modbat 3.4.
    fn default() -> Self {
        Self {
            to_other: 0.6,
            to_self: 0.4,
            backtracked: 0.8,
            failed: 0.5,
            precondition_passed: 0.7,
            precondition_failed: 0.7,
            assertion_passed: 0.7,
            assertion_failed: 0.7,
        }
    }
}

/// The bandit heuristic of Wang, Artho, Kristensen and Stolz (2020, "Multi-objective search for model-based testing",
/// III-A): each transition once, and then that of the highest sum of the mean reward of its outcomes, the reward that
/// its preconditions and assertions promise, and a bonus for being tried seldom (UCB1).
#[derive(Debug, Clone)]
pub struct Bandit {
    rewards: Rewards,
    tradeoff: f64,
    arms: HashMap<(u32, u32), Arm, FixedState>,
    /// How often a state was left, or tried to be.
    visits: HashMap<(u32, u32), u32, FixedState>,
    best: Vec<usize>,
}

/// What is known of a transition.
#[derive(Debug, Clone, Copy, Default)]
struct Arm {
    tried: u32,
    reward: f64,
    preconditions: Evaluated,
    assertions: Evaluated,
}

impl Bandit {
    /// Returns a bandit with the rewards, and the factor of the bonus (2 in UCB1).
    pub fn new(rewards: Rewards, tradeoff: f64) -> Self {
        let (arms, visits) = (HashMap::default(), HashMap::default());
        Self { rewards, tradeoff, arms, visits, best: Vec::new() }
    }

    fn value(&self, open: &Open) -> f64 {
        let Some(arm) = self.arms.get(&(open.machine, open.transition)).filter(|arm| arm.tried > 0) else {
            return f64::INFINITY;
        };
        let expected = |evaluated: Evaluated, passed: f64, failed: f64| {
            let (held, not) = (f64::from(evaluated.passed), f64::from(evaluated.failed));
            if held + not > 0.0 { (held * passed + not * failed) / (held + not) } else { 0.0 }
        };
        let Rewards { precondition_passed, precondition_failed, assertion_passed, assertion_failed, .. } = self.rewards;
        let visits = self.visits.get(&(open.machine, open.origin)).copied().unwrap_or(1);
        arm.reward / f64::from(arm.tried)
            + expected(arm.preconditions, precondition_passed, precondition_failed)
            + expected(arm.assertions, assertion_passed, assertion_failed)
            + (self.tradeoff * f64::from(visits.max(1)).ln() / f64::from(arm.tried)).sqrt()
    }
}

impl Default for Bandit {
    fn default() -> Self {
        Self::new(Rewards::default(), 2.0)
    }
}

impl Strategy for Bandit {
    fn choose(&mut self, open: &[Open], random: &mut Random) -> Option<usize> {
        let mut best = std::mem::take(&mut self.best);
        let values = open.iter().map(|open| self.value(open)).enumerate();
        let chosen = one_of_best(values, &mut best, random);
        self.best = best;
        chosen
    }

    fn learn(&mut self, chosen: &Open, learned: &Learned) {
        let reward = match learned.result {
            StepResult::Backtracked => self.rewards.backtracked,
            StepResult::Failed => self.rewards.failed,
            StepResult::Succeeded | StepResult::Exceptional(_) if learned.state == chosen.origin => {
                self.rewards.to_self
            }
            StepResult::Succeeded | StepResult::Exceptional(_) => self.rewards.to_other,
        };
        let arm = self.arms.entry((chosen.machine, chosen.transition)).or_default();
        arm.tried += 1;
        arm.reward += reward;
        arm.preconditions.add(learned.preconditions);
        arm.assertions.add(learned.assertions);
        *self.visits.entry((chosen.machine, chosen.origin)).or_default() += 1;
    }
}

/// Each open transition with a probability in proportion to its weight, which counts up to four times: as many as `1 + 3
/// / (1 + n)`, where n is how often an instance took the transition after the one that this instance took before.
///
/// Weights stay what they are: they say what brings a system into states where something can go wrong. A transition that
/// backtracked was not taken. One to a state that nothing leaves counts four times until it was taken, and once from then
/// on: with a bonus for all of its pairs, walks would end early.
///
/// ```
/// use simutant_models::{CoverageGuided, Machine, Strategy, Uniform, Walker, skip};
///
/// let states = ["hub", "a", "b", "c", "out"];
/// let arrows = ["hub -> a", "hub -> b", "hub -> c", "a | b | c -> hub", "hub -> out"].map(skip);
/// let star = Machine::new("star", states, arrows)?;
/// let covered_pairs = |strategy: Box<dyn Strategy>, seed: u64| {
///     let mut walker = Walker::new().with_boxed(strategy);
///     (0..4).for_each(|walk| _ = walker.run(star.with(()), 100 * seed + walk));
///     walker.coverage().pairs().0
/// };
/// let (mut uniform, mut guided) = (0, 0);
/// for seed in 0..50_u64 {
///     uniform += covered_pairs(Box::new(Uniform), seed);
///     guided += covered_pairs(Box::new(CoverageGuided::default()), seed);
/// }
/// assert!(guided > uniform);
/// # Ok::<(), simutant_models::MachineError>(())
/// ```
#[derive(Debug, Clone, Default)]
pub struct CoverageGuided {
    pairs: HashMap<(u32, Option<u32>, u32), u32, FixedState>,
    transitions: HashSet<(u32, u32), FixedState>,
}

/// How much more than once the weight of a transition counts that would make a new pair.
const BONUS: f64 = 3.0;

impl CoverageGuided {
    fn weight(&self, open: &Open) -> f64 {
        let bonus = if !open.ends {
            let taken = self.pairs.get(&(open.machine, open.before, open.transition)).copied().unwrap_or(0);
            BONUS / (1.0 + f64::from(taken))
        } else if self.transitions.contains(&(open.machine, open.transition)) {
            0.0
        } else {
            BONUS
        };
        (1.0 + bonus) * open.weight
    }
}

impl Strategy for CoverageGuided {
    fn choose(&mut self, open: &[Open], random: &mut Random) -> Option<usize> {
        by_weight(|| random.unit(), open.iter().map(|open| self.weight(open)))
    }

    fn learn(&mut self, chosen: &Open, learned: &Learned) {
        if learned.result != StepResult::Backtracked {
            let taken = self.pairs.entry((chosen.machine, chosen.before, chosen.transition)).or_default();
            *taken = taken.saturating_add(1);
            self.transitions.insert((chosen.machine, chosen.transition));
        }
    }
}

/// Returns one of the places with the highest value, each with the same probability.
fn one_of_best(
    values: impl Iterator<Item = (usize, f64)>,
    best: &mut Vec<usize>,
    random: &mut Random,
) -> Option<usize> {
    best.clear();
    let mut highest = f64::NEG_INFINITY;
    for (place, value) in values {
        if value > highest {
            highest = value;
            best.clear();
        }
        if value >= highest {
            best.push(place);
        }
    }
    random.choose(best).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    const FIRST: Open = Open {
        instance: InstanceId(0),
        machine: 0,
        transition: 0,
        origin: 0,
        target: 0,
        ends: false,
        before: None,
        weight: 2.0,
    };

    fn learned(result: StepResult) -> Learned {
        Learned { result, state: 0, preconditions: Evaluated::default(), assertions: Evaluated::default() }
    }

    #[test]
    fn a_pair_counts_less_each_time_that_it_was_taken() {
        let mut guided = CoverageGuided::default();
        let then = Open { before: Some(0), ..FIRST };
        let mut weights = Vec::new();
        for result in [StepResult::Backtracked, StepResult::Succeeded, StepResult::Failed, StepResult::Exceptional(0)] {
            weights.push(guided.weight(&FIRST));
            guided.learn(&FIRST, &learned(result));
        }
        assert_eq!(weights, [8.0, 8.0, 5.0, 4.0]);
        assert_eq!((guided.weight(&then), guided.weight(&FIRST)), (8.0, 3.5));
    }

    #[test]
    fn a_transition_that_ends_counts_more_until_it_was_taken_once() {
        let mut guided = CoverageGuided::default();
        let ending = Open { ends: true, ..FIRST };
        let then = Open { before: Some(1), ..ending };
        guided.learn(&ending, &learned(StepResult::Backtracked));
        assert_eq!((guided.weight(&ending), guided.weight(&then)), (8.0, 8.0));
        guided.learn(&ending, &learned(StepResult::Succeeded));
        assert_eq!((guided.weight(&ending), guided.weight(&then)), (2.0, 2.0));
    }

    #[test]
    fn what_weighs_nothing_is_not_taken() {
        let mut random = Random::from_seed(1);
        let never = Open { transition: 1, weight: 0.0, ..FIRST };
        let mut guided = CoverageGuided::default();
        assert_eq!(guided.choose(&[never], &mut random), None);
        assert!((0..100).all(|_| guided.choose(&[never, FIRST], &mut random) == Some(1)));
    }
}
