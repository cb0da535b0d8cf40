//! Runs of a net whose stimuli are given.

use std::collections::BTreeSet;

use foldhash::fast::FixedState;
use hashbrown::{HashMap, HashSet};
use simutant_random::Random;

use crate::cases::{Collected, Event, NOTHING, Seen};
use crate::explorer::ExploreError;
use crate::firing::{Effect, Firing};
use crate::multiset::{Overflow, hasher};
use crate::net::Net;
use crate::space::{Fired, Marking, fired};

/// A run of a net with the stimuli of a test case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Driven<O> {
    /// What is observed.
    pub observed: BTreeSet<O>,
    /// What fired.
    pub firings: Vec<Fired>,
    /// By firing, the marking after it, in words.
    pub markings: Vec<String>,
}

/// A step that fires: what is seen after it, and the marking.
type Step = (Seen, (usize, Effect), Vec<u32>);

impl<I: Event, O: Event> Net<I, O> {
    /// Returns a run to its end in which all these stimuli are given, and no other; `None` if there is none with at most
    /// so many steps. Each step is one of those that lead there, in an order that `random` decides.
    ///
    /// Places that no transition can use are no mistake here: an arc that a mutant lacks may leave some.
    ///
    /// # Errors
    /// [`ExploreError`] if the net has another mistake, or if something does not fit into 32 bits.
    ///
    /// ```
    /// use std::collections::BTreeSet;
    /// use simutant_nets::{Net, any};
    /// use simutant_random::Random;
    ///
    /// let mut net = Net::<&str, &str>::with_events("coin");
    /// let (ready, shown) = (net.place("ready", [()]), net.place::<&str>("shown", []));
    /// net.transition("toss", (ready.take(), any(["heads", "tails"])), |(), side| Some(side), shown.put())
    ///     .input(|(), _| Some("toss"))
    ///     .output(|(), side| Some(side));
    /// let mut random = Random::from_seed(1);
    /// let run = net.drive(&BTreeSet::from(["toss"]), &mut random, 100)?.expect("it can be tossed");
    /// assert_eq!((run.firings.len(), run.observed.len()), (1, 1));
    /// assert_eq!(net.drive(&BTreeSet::new(), &mut random, 100)?, None);
    /// # Ok::<(), simutant_nets::ExploreError>(())
    /// ```
    pub fn drive(
        &mut self,
        inputs: &BTreeSet<I>,
        random: &mut Random,
        steps_max: usize,
    ) -> Result<Option<Driven<O>>, ExploreError> {
        self.check_made()?;
        let mut search = Search::new(self, inputs);
        // In depth: what was left without success is not entered again, unless by a way that is shorter.
        let mut left: HashMap<(Vec<u32>, Seen), usize, FixedState> = HashMap::with_hasher(hasher());
        let mut taken: Vec<Step> = Vec::new();
        let mut open: Vec<Vec<Step>> = Vec::new();
        let mut at = (search.initial(), NOTHING);
        loop {
            let shortest = left.entry((at.0.clone(), (at.1.0, 0))).or_insert(usize::MAX);
            let is_new = taken.len() < *shortest;
            *shortest = taken.len().min(*shortest);
            let (mut steps, is_dead) = if is_new { search.steps(&at.0, at.1)? } else { (Vec::new(), false) };
            if is_dead && is_new && search.gave_all(at.1) {
                return Ok(Some(search.driven(&taken)));
            }
            if taken.len() == steps_max {
                steps.clear();
            }
            shuffle(&mut steps, random);
            open.push(steps);
            loop {
                let Some(steps) = open.last_mut() else { return Ok(None) };
                if let Some(step) = steps.pop() {
                    at = (step.2.clone(), step.0);
                    taken.push(step);
                    break;
                }
                open.pop();
                taken.pop();
            }
        }
    }

    /// Returns the sets of observations that the runs to their end show in which all these stimuli are given, and no other.
    ///
    /// # Errors
    /// [`ExploreError`] if the net has a mistake, if something does not fit into 32 bits, or if there are more than
    /// `markings` markings with what is seen on the way there.
    pub fn outcomes(&mut self, inputs: &BTreeSet<I>, markings: usize) -> Result<BTreeSet<BTreeSet<O>>, ExploreError> {
        self.check()?;
        let mut search = Search::new(self, inputs);
        let initial = (search.initial(), NOTHING);
        let mut known: HashSet<(Vec<u32>, Seen), FixedState> = HashSet::with_hasher(hasher());
        known.insert(initial.clone());
        let (mut open, mut found) = (vec![initial], BTreeSet::new());
        while let Some((marking, seen)) = open.pop() {
            let (steps, is_dead) = search.steps(&marking, seen)?;
            if is_dead && search.gave_all(seen) {
                found.insert(search.collected.outputs.get(seen.1));
            }
            for (seen, _, marking) in steps {
                if known.insert((marking.clone(), seen)) {
                    open.push((marking, seen));
                }
            }
            if known.len() > markings {
                let limit = format!("{markings} markings");
                let grows = "they are those of the runs with the given stimuli".to_owned();
                return Err(ExploreError::Exhausted { limit, markings: known.len(), grows });
            }
        }
        Ok(found)
    }
}

/// Puts steps into a random order.
fn shuffle(steps: &mut [Step], random: &mut Random) {
    for last in (1..steps.len()).rev() {
        steps.swap(last, random.uniform(0..last + 1));
    }
}

/// A net and the stimuli that may be given.
struct Search<'a, I, O> {
    net: &'a mut Net<I, O>,
    firing: Firing,
    inputs: &'a BTreeSet<I>,
    collected: Collected,
    /// The number of the set of all stimuli, once it is known.
    all: Option<u32>,
}

impl<'a, I: Event, O: Event> Search<'a, I, O> {
    fn new(net: &'a mut Net<I, O>, inputs: &'a BTreeSet<I>) -> Self {
        let firing = Firing::new(&net.core);
        Self { net, firing, inputs, collected: Collected::new::<I, O>(), all: None }
    }

    fn initial(&self) -> Vec<u32> {
        self.net.core.places.iter().map(|place| place.initial).collect()
    }

    /// Returns the steps at a marking that give no other stimulus, and whether no transition is enabled at all.
    fn steps(&mut self, marking: &[u32], seen: Seen) -> Result<(Vec<Step>, bool), ExploreError> {
        let mut effects = Vec::new();
        let found = self.firing.successors(&mut self.net.core, marking, |transition, effect, after| {
            effects.push((transition, effect.clone(), after.to_vec()));
            Ok::<(), Overflow>(())
        });
        found.map_err(|overflow| self.net.core.too_many(overflow))?;
        let is_dead = effects.is_empty();
        let mut steps = Vec::with_capacity(effects.len());
        for (transition, effect, after) in effects {
            let events = self.collected.seen(self.net, transition, &effect.binding, Some(self.inputs))?;
            let Some(events) = events else { continue };
            steps.push((self.collected.with(seen, events)?, (transition, effect), after));
        }
        Ok((steps, is_dead))
    }

    /// Returns whether all stimuli are given: no other is, so it is their number that counts.
    fn gave_all(&mut self, seen: Seen) -> bool {
        if self.all.is_none() && self.collected.inputs.size(seen.0) == self.inputs.len() as u64 {
            self.all = Some(seen.0);
        }
        self.all == Some(seen.0)
    }

    fn driven(&self, taken: &[Step]) -> Driven<O> {
        let seen = taken.last().map_or(NOTHING, |step| step.0);
        let core = &self.net.core;
        let firings = taken.iter().enumerate();
        let firings =
            firings.map(|(number, (_, (transition, effect), _))| fired(core, *transition, &effect.binding, number + 1));
        let markings = taken.iter().map(|(_, _, marking)| Marking { net: core, row: marking }.to_string()).collect();
        Driven { observed: self.collected.outputs.get(seen.1), firings: firings.collect(), markings }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Place;

    #[test]
    fn a_marking_that_leads_nowhere_is_not_searched_again_by_a_longer_way() {
        // Two places on each of 40 floors, an arc from each to both of the next floor, and a way to stay.
        let mut net = Net::<&str, &str>::with_events("floors");
        let floors: Vec<[Place<()>; 2]> = (0..40)
            .map(|floor| [0, 1].map(|side| net.place(format!("{floor}.{side}"), (floor + side == 0).then_some(()))))
            .collect();
        for (floor, pair) in floors.iter().enumerate() {
            for (side, from) in pair.iter().enumerate() {
                net.transition(format!("stay {floor}.{side}"), from.keep(), |()| Some(()), ());
                for (next, to) in floors.get(floor + 1).into_iter().flatten().enumerate() {
                    net.transition(format!("rise {floor}.{side}.{next}"), from.take(), |()| Some(()), to.put());
                }
            }
        }
        let driven = net.drive(&BTreeSet::from(["bell"]), &mut Random::from_seed(1), 1_000);
        assert_eq!(driven, Ok(None));
    }

    #[test]
    fn a_place_that_is_left_over_is_no_reason_not_to_run() {
        let mut net = Net::<&str, &str>::with_events("mutant");
        let (begun, _) = (net.place("begun", [()]), net.place::<()>("ended", []));
        net.transition("end", begun.take(), |()| Some(()), ()).output(|()| Some("over"));
        assert!(net.check().is_err());
        let driven = net.drive(&BTreeSet::new(), &mut Random::from_seed(1), 10).expect("it runs").expect("it ends");
        assert_eq!(driven.observed, BTreeSet::from(["over"]));
    }
}
