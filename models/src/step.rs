//! What an action may ask of the walk that it is part of, and how it ends.

use std::error::Error;
use std::fmt;
use std::ops::RangeInclusive;
use std::time::Duration;

use simutant_random::{Probability, Random};

use crate::instance::Instance;
use crate::path::InstanceId;
use crate::script::option_at;

/// Why an action ends early.
#[derive(Debug)]
pub enum Stop {
    /// A precondition does not hold: the transition is not taken, and another one is tried.
    Backtrack,
    /// An assertion does not hold: the test fails.
    Failed(String),
    /// An exception, which the transition expects or which fails the test.
    Exception(Exception),
}

/// An error that an action ended with.
#[derive(Debug)]
pub struct Exception(Box<dyn Error>);

impl Exception {
    /// Returns the error, if it is of this type.
    pub fn error<E: Error + 'static>(&self) -> Option<&E> {
        self.0.downcast_ref()
    }
}

impl fmt::Display for Exception {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl<E: Error + 'static> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::Exception(Exception(Box::new(error)))
    }
}

/// A transition that is being taken, as its action sees it.
#[derive(Debug)]
pub struct Step<'w> {
    decisions: Decisions<'w>,
    maybe: Probability,
    now: Duration,
    pub(crate) asked: Asked,
    next_instance: u32,
}

/// Who decides the choices of an action.
#[derive(Debug)]
pub(crate) enum Decisions<'w> {
    /// A generator.
    Random(&'w mut Random),
    /// An earlier run of the action; what it did not decide is the first option.
    Replay(std::slice::Iter<'w, u32>),
    /// Places of options; what they do not decide is the first option.
    Places(std::slice::Iter<'w, u16>),
    /// Numbers of options, of which the first ones are given and others are the first option; how many options there
    /// were is noted.
    Listed(std::slice::Iter<'w, u32>, &'w mut Vec<u32>),
    /// Places of options that a generator draws, and that are noted.
    Noted(&'w mut Random, &'w mut Vec<u16>),
}

/// What an action asked for.
#[derive(Debug, Default)]
pub(crate) struct Asked {
    /// The choices, each as the number of the chosen option.
    pub(crate) choices: Vec<u32>,
    pub(crate) preconditions: Evaluated,
    pub(crate) assertions: Evaluated,
    pub(crate) launched: Vec<Box<dyn Instance>>,
    pub(crate) joined: Vec<InstanceId>,
    pub(crate) stay: Duration,
}

/// How often conditions held and did not.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Evaluated {
    /// How often they held.
    pub passed: u32,
    /// How often they did not.
    pub failed: u32,
}

impl Evaluated {
    pub(crate) fn add(&mut self, other: Self) {
        self.passed += other.passed;
        self.failed += other.failed;
    }

    fn note(&mut self, holds: bool) {
        if holds {
            self.passed += 1;
        } else {
            self.failed += 1;
        }
    }
}

impl<'w> Step<'w> {
    pub(crate) fn new(decisions: Decisions<'w>, maybe: Probability, now: Duration, next_instance: u32) -> Self {
        Self { decisions, maybe, now, asked: Asked::default(), next_instance }
    }

    /// Goes on only if a condition holds under which the transition may be taken. Otherwise the walk tries another one,
    /// as if this had not been tried: the action must have changed nothing before.
    ///
    /// ```
    /// use simutant_models::{Machine, Step, Walker, skip, transition};
    ///
    /// let take = transition("open -> open", async |stock: &mut u32, step: &mut Step<'_>| {
    ///     step.require(*stock > 0)?;
    ///     *stock -= 1;
    ///     Ok(())
    /// });
    /// let shop = Machine::new("shop", ["open", "closed"], [take, skip("open -> closed")])?;
    /// // There is nothing to take: it backtracks, and the walk closes the shop.
    /// let path = Walker::new().run(shop.with(0), 7);
    /// assert!(path.verdict().passes());
    /// assert_eq!(path.taken.last().map(|taken| taken.state), Some(1));
    /// # Ok::<(), simutant_models::MachineError>(())
    /// ```
    ///
    /// # Errors
    /// [`Stop::Backtrack`] if it does not hold.
    pub fn require(&mut self, holds: bool) -> Result<(), Stop> {
        self.asked.preconditions.note(holds);
        if holds { Ok(()) } else { Err(Stop::Backtrack) }
    }

    /// Checks what must hold, `what` in words: the test fails if it does not.
    ///
    /// # Errors
    /// [`Stop::Failed`] if it does not hold.
    pub fn assert(&mut self, holds: bool, what: &str) -> Result<(), Stop> {
        self.asked.assertions.note(holds);
        if holds { Ok(()) } else { Err(Stop::Failed(what.to_owned())) }
    }

    /// Returns a number that the walk chooses, each with the same probability.
    ///
    /// # Panics
    /// If the range is empty.
    pub fn choose(&mut self, range: RangeInclusive<u32>) -> u32 {
        assert!(!range.is_empty(), "there is nothing to choose from");
        let (least, last) = (*range.start(), range.end() - range.start());
        least
            + self.decide(last, |random| random.uniform(0..=last), |place| option_at(place, u64::from(last) + 1) as u32)
    }

    /// Returns one of several, each with the same probability.
    ///
    /// ```
    /// use std::collections::BTreeSet;
    /// use simutant_models::{Machine, Step, Walker, transition};
    ///
    /// let send = transition("idle -> sent", async |_: &mut (), step: &mut Step<'_>| {
    ///     let size = step.one_of(&[0, 1, 1_500, 65_507]);
    ///     step.assert(*size < 65_507, "the largest datagram is sent")
    /// });
    /// let sender = Machine::new("sender", ["idle", "sent"], [send])?;
    /// let mut walker = Walker::new();
    /// let failed = (0..40).map(|seed| walker.run(sender.with(()), seed)).filter(|path| !path.verdict().passes());
    /// // A path has the number of the option.
    /// assert_eq!(failed.map(|path| path.taken[0].choices.clone()).collect::<BTreeSet<_>>(), [vec![3]].into());
    /// # Ok::<(), simutant_models::MachineError>(())
    /// ```
    ///
    /// # Panics
    /// If there is none.
    pub fn one_of<'a, T>(&mut self, options: &'a [T]) -> &'a T {
        let last = u32::try_from(options.len()).ok().and_then(|count| count.checked_sub(1));
        let last = last.expect("there is something to choose from");
        &options[self.choose(0..=last) as usize]
    }

    /// Returns whether something is done that need not be: [`Limits::maybe`](crate::Limits::maybe) is how likely.
    pub fn maybe(&mut self) -> bool {
        let probability = self.maybe;
        let is_yes = |place: u16| f64::from(place) >= (1.0 - probability.get()) * 65_536.0;
        self.decide(1, |random| u32::from(random.chance(probability)), |place| u32::from(is_yes(place))) == 1
    }

    /// Starts a further machine, whose transitions are taken between those of the others from now on.
    ///
    /// ```
    /// use simutant_models::{InstanceId, Machine, Step, Walker, skip, transition};
    ///
    /// let worker = Machine::new("worker", ["working", "done"], [skip("working -> done")])?;
    /// let start = transition("idle -> waiting", async move |_: &mut (), step: &mut Step<'_>| {
    ///     for _ in 0..2 {
    ///         let worker = step.launch(worker.with(()));
    ///         step.join(worker);
    ///     }
    ///     Ok(())
    /// });
    /// let master = Machine::new("master", ["idle", "waiting", "over"], [start, skip("waiting -> over")])?;
    /// let path = Walker::new().run(master.with(()), 7);
    /// // The workers have ended before the master goes on.
    /// assert_eq!((path.taken[0].launched, path.taken.len()), (2, 4));
    /// assert_eq!(path.taken[3].instance, InstanceId(0));
    /// # Ok::<(), simutant_models::MachineError>(())
    /// ```
    pub fn launch(&mut self, instance: Box<dyn Instance>) -> InstanceId {
        self.asked.launched.push(instance);
        InstanceId(self.next_instance + self.asked.launched.len() as u32 - 1)
    }

    /// Takes no further transition of this machine before another one has ended.
    pub fn join(&mut self, other: InstanceId) {
        self.asked.joined.push(other);
    }

    /// Takes no further transition of this machine for some time; others go on.
    ///
    /// ```
    /// use std::time::Duration;
    /// use simutant_models::{Machine, Step, Walker, transition};
    ///
    /// let login = transition("out -> in", async |_: &mut (), step: &mut Step<'_>| {
    ///     step.stay(Duration::from_secs(30));
    ///     Ok(())
    /// });
    /// let expire = transition("in -> expired", async |_: &mut (), step: &mut Step<'_>| {
    ///     step.assert(step.now() == Duration::from_secs(30), "a session lasts 30 s")
    /// });
    /// let session = Machine::new("session", ["out", "in", "expired"], [login, expire])?;
    /// // The walker's own clock is put forward: nobody waits.
    /// assert!(Walker::new().run(session.with(()), 7).verdict().passes());
    /// # Ok::<(), simutant_models::MachineError>(())
    /// ```
    pub fn stay(&mut self, time: Duration) {
        self.asked.stay += time;
    }

    /// Returns the time since the walk began, by its [`Clock`](crate::Clock).
    pub fn now(&self) -> Duration {
        self.now
    }

    /// Decides for one of the options up to the last: `draw` draws it, and `at` says which one is at a place.
    fn decide(&mut self, last: u32, draw: impl FnOnce(&mut Random) -> u32, at: impl FnOnce(u16) -> u32) -> u32 {
        let chosen = match &mut self.decisions {
            Decisions::Random(random) => draw(random),
            Decisions::Replay(chosen) => chosen.next().map_or(0, |chosen| (*chosen).min(last)),
            Decisions::Places(places) => places.next().map_or(0, |&place| at(place)),
            Decisions::Listed(chosen, options) => {
                options.push(last.saturating_add(1));
                chosen.next().map_or(0, |chosen| (*chosen).min(last))
            }
            Decisions::Noted(random, noted) => {
                let place = random.uniform(0..=u16::MAX);
                noted.push(place);
                at(place)
            }
        };
        self.asked.choices.push(chosen);
        chosen
    }
}
