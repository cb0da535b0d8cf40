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
    /// The transition that the instance took before; `None` if this is its first one.
    pub before: Option<u32>,
    /// How often it is taken, relative to others.
    pub weight: f64,
}

/// What came of a transition that a strategy chose.
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

/// Each open transition with a probability in proportion to its weight, which counts four times as long as no
/// instance took the transition after the one that this instance took before.
///
/// Weights stay what they are: they say what brings a system into states where something can go wrong, and which
/// transitions end a walk.
#[derive(Debug, Clone, Default)]
pub struct CoverageGuided {
    pairs: HashSet<(u32, Option<u32>, u32), FixedState>,
}

/// How many times the weight of a transition counts that would make a new pair.
const UNSEEN: f64 = 4.0;

impl Strategy for CoverageGuided {
    fn choose(&mut self, open: &[Open], random: &mut Random) -> Option<usize> {
        let is_seen = |open: &Open| self.pairs.contains(&(open.machine, open.before, open.transition));
        let weight = |open: &Open| if is_seen(open) { open.weight } else { UNSEEN * open.weight };
        by_weight(|| random.unit(), open.iter().map(weight))
    }

    fn learn(&mut self, chosen: &Open, _: &Learned) {
        self.pairs.insert((chosen.machine, chosen.before, chosen.transition));
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
