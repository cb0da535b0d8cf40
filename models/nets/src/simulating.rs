//! Random runs of a net: for nets whose state space is too large.

use simutant_random::Random;

use crate::cases::{Calls, Collected, Event, NOTHING, Paths, Tests};
use crate::explorer::ExploreError;
use crate::firing::{Effect, Firing};
use crate::multiset::Overflow;
use crate::net::{Core, Net};

/// Chooses one of the steps that are possible: see [`Net::simulate_by`].
pub type Choose<'a> = dyn FnMut(&[usize], Option<usize>, &mut Random) -> usize + 'a;

/// A step, with the marking after it.
type Step = (usize, Effect, Vec<u32>);

/// Returns the next step at a marking, after the transition of the last one; `None` if there is none.
type Next<'a> =
    dyn FnMut(&mut Core, &mut Firing, &[u32], Option<usize>, &mut Random) -> Result<Option<Step>, Overflow> + 'a;

/// What happens in a run.
enum Happening<'a> {
    /// A transition fires, and binds this.
    Fired(usize, &'a [u32]),
    /// The run is over.
    Ended,
    /// It has too many steps.
    Cut,
}

/// Is told what happens in a net's runs.
type Watch<'a, N> = dyn FnMut(&N, Happening<'_>) -> Result<(), ExploreError> + 'a;

/// Returns the next step: any that is possible.
fn any_step(
    core: &mut Core,
    firing: &mut Firing,
    marking: &[u32],
    _: Option<usize>,
    random: &mut Random,
) -> Result<Option<Step>, Overflow> {
    firing.sample(core, marking, random)
}

impl<I: Event, O: Event> Net<I, O> {
    /// Returns a test case for each set of stimuli of so many random runs, with what is observed of the runs that had them:
    /// for nets whose state space is too large. Each step is one of those that are possible, all equally likely. A run with
    /// more than `steps_max` steps gives no test case.
    ///
    /// # Errors
    /// [`ExploreError`] if the net has a mistake, or if something does not fit into 32 bits.
    pub fn simulate(&mut self, runs: usize, seed: u64, steps_max: usize) -> Result<Tests<I, O>, ExploreError> {
        self.simulate_tests(runs, seed, steps_max, &mut any_step)
    }

    /// Returns the [calls](crate::StateSpace::calls) of so many random runs, of each of them at most `steps_max` steps: for nets whose
    /// state space is too large.
    ///
    /// ```
    /// use std::collections::BTreeSet;
    /// use simutant_nets::Net;
    ///
    /// let mut net = Net::<u32, u32>::with_events("squares");
    /// let numbers = net.place("numbers", 1..=1_000);
    /// let square = net.transition("square", numbers.take(), |_: u32| Some(()), ());
    /// square.input(|number| Some(number)).output(|number| Some(number * number));
    ///
    /// let calls = net.simulate_calls(3, 1, 10)?;
    /// assert!(calls.len() > 20 && calls.iter().all(|(number, squares)| squares.contains(&(number * number))));
    /// # Ok::<(), simutant_nets::ExploreError>(())
    /// ```
    ///
    /// # Errors
    /// Those of [`Net::simulate`].
    pub fn simulate_calls(&mut self, runs: usize, seed: u64, steps_max: usize) -> Result<Calls<I, O>, ExploreError> {
        let mut calls = Calls::new();
        self.walk(runs, seed, steps_max, &mut any_step, &mut |net, happening| {
            if let Happening::Fired(transition, binding) = happening {
                net.called(transition, binding, &mut calls);
            }
            Ok(())
        })?;
        Ok(calls)
    }

    /// As [`Net::simulate`], with steps that `choose` chooses: it is given the number of the transition of each step that
    /// is possible, that of the last step, and a generator, and returns the place of the chosen one.
    ///
    /// Cost: all steps that are possible are found for each that is made.
    ///
    /// # Errors
    /// Those of [`Net::simulate`].
    ///
    /// # Panics
    /// If `choose` returns a place beyond the end.
    pub fn simulate_by(
        &mut self,
        runs: usize,
        seed: u64,
        steps_max: usize,
        choose: &mut Choose<'_>,
    ) -> Result<Tests<I, O>, ExploreError> {
        self.simulate_tests(runs, seed, steps_max, &mut |core, firing, marking, last, random| {
            let mut steps = Vec::new();
            firing.successors(core, marking, |transition, effect, after| {
                steps.push((transition, effect.clone(), after.to_vec()));
                Ok::<(), Overflow>(())
            })?;
            let open: Vec<usize> = steps.iter().map(|(transition, ..)| *transition).collect();
            Ok((!open.is_empty()).then(|| steps.swap_remove(choose(&open, last, random))))
        })
    }

    fn simulate_tests(
        &mut self,
        runs: usize,
        seed: u64,
        steps_max: usize,
        next: &mut Next<'_>,
    ) -> Result<Tests<I, O>, ExploreError> {
        let mut collected = Collected::new::<I, O>();
        let (mut seen, mut endless) = (NOTHING, 0);
        self.walk(runs, seed, steps_max, next, &mut |net, happening| {
            match happening {
                Happening::Fired(transition, binding) => {
                    let events = collected.seen_of_all(net, transition, binding)?;
                    seen = collected.with(seen, events)?;
                }
                Happening::Ended => _ = collected.cases.insert(std::mem::replace(&mut seen, NOTHING)),
                Happening::Cut => (seen, endless) = (NOTHING, endless + 1),
            }
            Ok(())
        })?;
        Ok(collected.tests(Paths::Simulated, endless))
    }

    fn walk(
        &mut self,
        runs: usize,
        seed: u64,
        steps_max: usize,
        next: &mut Next<'_>,
        watch: &mut Watch<'_, Self>,
    ) -> Result<(), ExploreError> {
        self.check()?;
        let mut random = Random::from_seed(seed);
        let mut firing = Firing::new(&self.core);
        let initial: Vec<u32> = self.core.places.iter().map(|place| place.initial).collect();
        for _ in 0..runs {
            let (mut marking, mut last, mut steps) = (initial.clone(), None, 0);
            loop {
                let step = next(&mut self.core, &mut firing, &marking, last, &mut random);
                let step = step.map_err(|overflow| self.core.too_many(overflow))?;
                let Some((transition, Effect { binding, .. }, after)) = step else {
                    watch(self, Happening::Ended)?;
                    break;
                };
                if steps == steps_max {
                    watch(self, Happening::Cut)?;
                    break;
                }
                watch(self, Happening::Fired(transition, &binding))?;
                (marking, last) = (after, Some(transition));
                steps += 1;
            }
        }
        Ok(())
    }
}
