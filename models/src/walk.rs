//! Walks: machines whose transitions are taken until none is left to take.

use std::fmt;
use std::pin::pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use simutant_outcomes::{Finding, FindingClass};
use simutant_random::{Probability, Random};

use crate::clock::{Clock, VirtualClock};
use crate::coverage::Coverage;
use crate::instance::{Caught, Instance};
use crate::machine::Shape;
use crate::path::{End, InstanceId, Path, StepResult, Taken};
use crate::script::{Script, place_of, weighted_at};
use crate::step::{Asked, Decisions, Exception, Step, Stop};
use crate::strategy::{Learned, Open, Strategy, Uniform};

/// Limits that end a walk early.
///
/// ```
/// use simutant_models::{End, Limits, Machine, Walker, skip};
///
/// let ring = Machine::new("ring", ["a", "b", "out"], [skip("a -> b"), skip("b -> a"), skip("b -> out")])?;
/// let mut walker = Walker::new().with_limits(Limits { transitions: 5, ..Limits::default() });
/// let paths: Vec<_> = (0..50).map(|seed| walker.run(ring.with(()), seed)).collect();
/// assert!(paths.iter().all(|path| path.taken.len() <= 5));
/// assert!(paths.iter().any(|path| path.end == End::Cut && path.verdict().passes()));
/// # Ok::<(), simutant_models::MachineError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limits {
    /// How many transitions a walk takes at most.
    pub transitions: usize,
    /// How often an instance is in one state at most; `None` for any number.
    pub visits: Option<u32>,
    /// How likely a walk ends after each transition.
    pub abort: Probability,
    /// How likely [`Step::maybe`] says yes.
    pub maybe: Probability,
}

impl Default for Limits {
    /// A thousand transitions, any number of visits, no chance to end early, and a maybe that is as likely as not.
    fn default() -> Self {
        let half = Probability::new(0.5).expect("a half is a probability");
        Self { transitions: 1_000, visits: None, abort: Probability::ZERO, maybe: half }
    }
}

/// Takes walks, and keeps what a strategy has learned and what they have covered.
pub struct Walker {
    strategy: Box<dyn Strategy>,
    limits: Limits,
    clock: Rc<dyn Clock>,
    coverage: Coverage,
    observer: Option<Box<Observer>>,
}

/// What is told of a walk.
type Observer = dyn FnMut(&Observed<'_>);

/// A transition that a walk has tried, as who [listens](Walker::with_observer) is told of it.
#[derive(Debug, Clone, Copy)]
pub struct Observed<'a> {
    /// The machine's states and transitions.
    pub shape: &'a Shape,
    /// The transition, and what came of it.
    pub taken: &'a Taken,
}

impl fmt::Debug for Walker {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { limits, coverage, .. } = self;
        formatter.debug_struct("Walker").field("limits", limits).field("coverage", coverage).finish_non_exhaustive()
    }
}

impl Default for Walker {
    fn default() -> Self {
        Self::new()
    }
}

/// An instance in a walk.
struct Walking {
    instance: Box<dyn Instance>,
    machine: u32,
    state: u32,
    before: Option<u32>,
    /// How often it has been in each state; empty if nobody asks.
    visits: Vec<u32>,
    /// Whom it waits for.
    joined: Vec<InstanceId>,
    /// Until when it stays.
    stays: Duration,
}

impl Walking {
    fn has_ended(&self) -> bool {
        self.instance.shape().is_final(self.state)
    }
}

/// What says what comes next.
enum Guide<'g> {
    /// The walker's strategy and a generator.
    Strategy(Random),
    /// The walker's strategy and a generator, with a note of what they decided.
    Noted(Random, &'g mut Script),
    /// Decisions that were made beforehand.
    Script(std::slice::Iter<'g, Vec<u16>>),
    /// An earlier path, or a part of one.
    Replay(std::slice::Iter<'g, Taken>),
}

/// A transition that is to be taken, and what is known of its choices.
struct Next<'g> {
    open: Open,
    choices: Known<'g>,
}

/// What is known of the choices of an action beforehand.
enum Known<'g> {
    /// Nothing: a generator makes them.
    Open,
    /// The places of their options.
    Places(&'g [u16]),
    /// The options.
    Replay(&'g [u32]),
}

/// What a walk knows while it goes on.
struct Progress {
    seed: u64,
    /// When the walk began, by the clock.
    began: Duration,
    walking: Vec<Walking>,
    taken: Vec<Taken>,
    /// The transitions that backtracked since another one was taken.
    blocked: Vec<(InstanceId, u32)>,
}

impl Walker {
    /// Returns a walker that takes all open transitions with the same probability, in a time of its own.
    pub fn new() -> Self {
        Self {
            strategy: Box::new(Uniform),
            limits: Limits::default(),
            clock: Rc::new(VirtualClock::default()),
            coverage: Coverage::default(),
            observer: None,
        }
    }

    /// Chooses transitions by another strategy.
    #[must_use]
    pub fn with_strategy(self, strategy: impl Strategy + 'static) -> Self {
        self.with_boxed(Box::new(strategy))
    }

    /// Chooses transitions by another strategy, of a type that is not known.
    #[must_use]
    pub fn with_boxed(mut self, strategy: Box<dyn Strategy>) -> Self {
        self.strategy = strategy;
        self
    }

    /// Ends walks by other limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Waits by another clock.
    #[must_use]
    pub fn with_clock(mut self, clock: Rc<dyn Clock>) -> Self {
        self.clock = clock;
        self
    }

    /// Tells of each transition that a walk tries, once it is known what came of it.
    ///
    /// ```
    /// use std::{cell::RefCell, rc::Rc};
    /// use simutant_models::{Machine, Walker, skip};
    ///
    /// let lines = Rc::new(RefCell::new(Vec::new()));
    /// let log = lines.clone();
    /// let mut walker = Walker::new().with_observer(move |observed| {
    ///     let transition = &observed.shape.transitions[observed.taken.transition as usize];
    ///     log.borrow_mut().push(format!("{}: {}", observed.shape.name, transition.name));
    /// });
    /// let door = Machine::new("door", ["open", "shut", "locked"], [skip("open -> shut"), skip("shut -> locked")])?;
    /// walker.run(door.with(()), 7);
    /// assert_eq!(*lines.borrow(), ["door: open -> shut", "door: shut -> locked"]);
    /// # Ok::<(), simutant_models::MachineError>(())
    /// ```
    #[must_use]
    pub fn with_observer(mut self, observer: impl FnMut(&Observed<'_>) + 'static) -> Self {
        self.observer = Some(Box::new(observer));
        self
    }

    /// Returns what the walks have covered so far.
    pub fn coverage(&self) -> &Coverage {
        &self.coverage
    }

    /// Takes a walk whose actions wait for nothing, as those that call a library do.
    ///
    /// # Panics
    /// If an action waits for something: use [`Walker::walk`], in a simulation or a runtime.
    pub fn run(&mut self, instance: Box<dyn Instance>, seed: u64) -> Path {
        at_once(self.walk(instance, seed))
    }

    /// Takes a walk that begins with an instance. The seed, what the strategy has learned, and what the actions do fix
    /// the path.
    pub async fn walk(&mut self, instance: Box<dyn Instance>, seed: u64) -> Path {
        let path = self.guided(instance, seed, Guide::Strategy(Random::from_seed(seed))).await;
        self.coverage.end(&path.taken);
        path
    }

    /// Takes a walk like [`Walker::walk`] does, and adds its decisions to a script, as they are made: from an empty one
    /// on, [`Walker::follow`] makes the same. Transitions that weigh nothing are not taken, and the choices of a setup
    /// are those of seed 0.
    pub async fn walk_noted(&mut self, instance: Box<dyn Instance>, seed: u64, script: &mut Script) -> Path {
        let path = self.guided(instance, 0, Guide::Noted(Random::from_seed(seed), script)).await;
        self.coverage.end(&path.taken);
        path
    }

    /// Takes the walk of a script. The script and what the actions do fix the path; the strategy decides nothing, and
    /// chance does not end it. The choices of a setup are those of seed 0.
    pub async fn follow(&mut self, instance: Box<dyn Instance>, script: &Script) -> Path {
        let path = self.guided(instance, 0, Guide::Script(script.steps.iter())).await;
        self.coverage.end(&path.taken);
        path
    }

    /// Takes the walk of a script whose actions wait for nothing, or block while they do.
    ///
    /// ```
    /// use simutant_models::{End, Machine, Script, Step, Walker, skip, transition};
    ///
    /// let roll = transition("play -> play", async |sum: &mut u32, step: &mut Step<'_>| {
    ///     *sum += step.choose(1..=6);
    ///     step.assert(*sum <= 12, "the sum is small")
    /// });
    /// let game = Machine::new("game", ["play", "over"], [roll, skip("play -> over")])?;
    /// // Of two transitions, places below 32,768 mean the first one; the last place of a roll is a six.
    /// let script = Script { steps: vec![vec![0, 65_535], vec![0, 65_535], vec![40_000]] };
    /// let path = Walker::new().run_script(game.with(0), &script);
    /// assert_eq!((path.end, path.taken[0].choices[0], path.taken.len()), (End::Finished, 5, 3));
    /// # Ok::<(), simutant_models::MachineError>(())
    /// ```
    ///
    /// # Panics
    /// If an action waits for something: use [`Walker::follow`], in a simulation or a runtime.
    pub fn run_script(&mut self, instance: Box<dyn Instance>, script: &Script) -> Path {
        at_once(self.follow(instance, script))
    }

    /// Takes the same transitions as a path did, with the same choices, and no others. Neither coverage nor what a
    /// strategy knows changes.
    pub async fn replay(&mut self, instance: Box<dyn Instance>, path: &Path) -> Path {
        self.guided(instance, path.seed, Guide::Replay(path.taken.iter())).await
    }

    async fn guided(&mut self, instance: Box<dyn Instance>, seed: u64, mut guide: Guide<'_>) -> Path {
        let mut progress =
            Progress { seed, began: self.clock.now(), walking: Vec::new(), taken: Vec::new(), blocked: Vec::new() };
        let end = match self.add(&mut progress, vec![instance]).await {
            Err(finding) => End::Failed(*finding),
            Ok(()) => self.go_on(&mut progress, &mut guide).await,
        };
        for walking in &mut progress.walking {
            walking.instance.tear_down().await;
        }
        Path { seed, taken: progress.taken, end }
    }

    async fn go_on(&mut self, progress: &mut Progress, guide: &mut Guide<'_>) -> End {
        let mut open = Vec::new();
        loop {
            let is_long = progress.taken.len() >= self.limits.transitions;
            let is_over = match guide {
                Guide::Strategy(random) | Guide::Noted(random, _) => is_long || random.chance(self.limits.abort),
                Guide::Script(_) => is_long,
                Guide::Replay(_) => false,
            };
            if is_over && !progress.taken.is_empty() {
                return if progress.has_ended() { End::Finished } else { End::Cut };
            }
            while let Some(then) = self.open(progress, &mut open) {
                self.clock.sleep_until(then).await;
            }
            let next = match guide {
                Guide::Replay(path) => {
                    let Some(next) = path.next() else { return End::Cut };
                    let is_it = |open: &&Open| open.instance == next.instance && open.transition == next.transition;
                    let Some(found) = open.iter().find(is_it) else { return End::Diverged(progress.taken.len()) };
                    Next { open: *found, choices: Known::Replay(&next.choices) }
                }
                Guide::Script(steps) => {
                    let step = steps.next().map(Vec::as_slice);
                    let (&place, choices) = step.and_then(<[u16]>::split_first).unwrap_or((&0, &[]));
                    // Whatever comes next, nothing can be taken.
                    let Some(found) = weighted_at(place, weights(&open)) else { return progress.end() };
                    if step.is_none() {
                        return End::Cut;
                    }
                    Next { open: open[found], choices: Known::Places(choices) }
                }
                Guide::Strategy(random) => {
                    let Some(place) = self.choose(&open, random) else { return progress.end() };
                    Next { open: open[place], choices: Known::Open }
                }
                Guide::Noted(random, script) => {
                    open.retain(|open| open.weight > 0.0);
                    let Some(chosen) = self.choose(&open, random) else { return progress.end() };
                    let place = place_of(chosen, weights(&open));
                    script.steps.push(vec![place]);
                    // A share may be smaller than a place: what the place means counts.
                    let found = weighted_at(place, weights(&open)).unwrap_or(chosen);
                    Next { open: open[found], choices: Known::Open }
                }
            };
            if let Err(finding) = self.take(progress, next, guide).await {
                return End::Failed(*finding);
            }
        }
    }

    fn choose(&mut self, open: &[Open], random: &mut Random) -> Option<usize> {
        if open.is_empty() { None } else { self.strategy.choose(open, random) }
    }

    /// Lists the transitions that can be taken now; returns until when to wait, if nothing else can be done.
    fn open(&self, progress: &Progress, open: &mut Vec<Open>) -> Option<Duration> {
        open.clear();
        let now = if progress.walking.iter().any(|walking| !walking.stays.is_zero()) {
            self.clock.now()
        } else {
            Duration::ZERO
        };
        let mut wakes: Option<Duration> = None;
        for (number, walking) in (0..).zip(&progress.walking) {
            let is_waiting = walking.joined.iter().any(|other| !progress.walking[other.0 as usize].has_ended());
            if is_waiting {
                continue;
            }
            let shape = walking.instance.shape();
            let leaving = &shape.leaving[walking.state as usize];
            if walking.stays > now && !leaving.is_empty() {
                wakes = Some(wakes.map_or(walking.stays, |wakes| wakes.min(walking.stays)));
                continue;
            }
            let instance = InstanceId(number);
            for &transition in leaving {
                let described = &shape.transitions[transition as usize];
                let is_blocked = progress.blocked.contains(&(instance, transition));
                let visits = walking.visits.get(described.target as usize);
                let is_too_often =
                    self.limits.visits.is_some_and(|limit| visits.is_some_and(|visits| *visits >= limit));
                if !is_blocked && !is_too_often {
                    open.push(Open {
                        instance,
                        machine: walking.machine,
                        transition,
                        origin: walking.state,
                        target: described.target,
                        ends: shape.is_final(described.target),
                        before: walking.before,
                        weight: described.weight,
                    });
                }
            }
        }
        wakes.filter(|_| open.is_empty())
    }

    /// Takes a transition.
    async fn take(
        &mut self,
        progress: &mut Progress,
        next: Next<'_>,
        guide: &mut Guide<'_>,
    ) -> Result<(), Box<Finding>> {
        let now = self.clock.now() - progress.began;
        let Progress { walking, taken, blocked, .. } = &mut *progress;
        let chosen = &next.open;
        let number = walking.len() as u32;
        let this = &mut walking[chosen.instance.0 as usize];
        let is_new = !matches!(next.choices, Known::Replay(_));
        let decisions = match (guide, next.choices) {
            (_, Known::Replay(choices)) => Decisions::Replay(choices.iter()),
            (_, Known::Places(places)) => Decisions::Places(places.iter()),
            (Guide::Strategy(random), Known::Open) => Decisions::Random(random),
            (Guide::Noted(random, script), Known::Open) => match script.steps.last_mut() {
                Some(step) => Decisions::Noted(random, step),
                None => Decisions::Random(random),
            },
            (Guide::Script(_) | Guide::Replay(_), Known::Open) => Decisions::Places([].iter()),
        };
        let mut step = Step::new(decisions, self.limits.maybe, now, number);
        let stopped = this.instance.act(chosen.transition, &mut step).await;
        let asked = step.asked;
        let came = judge(&*this.instance, chosen, stopped);
        let (result, failed) = match came {
            Ok(result) => (result, None),
            Err(finding) => (StepResult::Failed, Some(finding)),
        };
        let shape = this.instance.shape();
        let described = &shape.transitions[chosen.transition as usize];
        let state = match result {
            StepResult::Succeeded => described.target,
            StepResult::Exceptional(number) => described.exceptional[number as usize].1,
            StepResult::Backtracked | StepResult::Failed => chosen.origin,
        };
        let Asked { choices, preconditions, assertions, launched, joined, stay } = asked;
        let tried = Taken {
            instance: chosen.instance,
            machine: chosen.machine,
            transition: chosen.transition,
            choices,
            launched: launched.len() as u32,
            result,
            state,
        };
        if let Some(observer) = &mut self.observer {
            observer(&Observed { shape, taken: &tried });
        }
        taken.push(tried);
        if is_new {
            self.coverage.note(chosen, result, state);
            self.strategy.learn(chosen, &Learned { result, state, preconditions, assertions });
        }
        if let Some(finding) = failed {
            return Err(finding);
        }
        // Modbat counts the return to the state as a visit, too.
        if let Some(visits) = this.visits.get_mut(state as usize) {
            *visits += 1;
        }
        if result == StepResult::Backtracked {
            blocked.push((chosen.instance, chosen.transition));
            return Ok(());
        }
        blocked.clear();
        this.before = Some(chosen.transition);
        this.state = state;
        this.joined = joined;
        this.stays = if stay.is_zero() { Duration::ZERO } else { self.clock.now() + stay };
        if !launched.is_empty() {
            self.add(progress, launched).await?;
        }
        progress.check()
    }

    /// Adds instances to a walk.
    async fn add(&mut self, progress: &mut Progress, instances: Vec<Box<dyn Instance>>) -> Result<(), Box<Finding>> {
        for mut instance in instances {
            let number = progress.walking.len() as u32 + 1;
            // A stream of its own, so that a replay has the same.
            let mut random = Random::from_seed(progress.seed).stream(&format!("setup {number}"));
            let mut step =
                Step::new(Decisions::Random(&mut random), self.limits.maybe, self.clock.now() - progress.began, number);
            let stopped = instance.set_up(&mut step).await;
            let machine = self.coverage.add(instance.shape());
            let mut visits = vec![0; self.limits.visits.map_or(0, |_| instance.shape().states.len())];
            if let Some(visits) = visits.first_mut() {
                *visits = 1;
            }
            let (joined, stays, before) = (Vec::new(), Duration::ZERO, None);
            let name = instance.shape().name.clone();
            progress.walking.push(Walking { instance, machine, state: 0, before, visits, joined, stays });
            stopped.map_err(|stop| failure("setup", format!("{name}: the setup fails: {}", words(&stop))))?;
        }
        progress.check()
    }
}

impl Progress {
    /// Returns how a walk ends in which nothing can be taken.
    fn end(&self) -> End {
        if self.has_ended() { End::Finished } else { End::Stuck }
    }

    /// Returns whether all instances are in states that no transition leaves.
    fn has_ended(&self) -> bool {
        self.walking.iter().all(Walking::has_ended)
    }

    /// Checks the invariants of all instances.
    fn check(&self) -> Result<(), Box<Finding>> {
        for Walking { instance, .. } in &self.walking {
            if let Some(what) = instance.violated() {
                return Err(failure("invariant", format!("{}: {what}", instance.shape().name)));
            }
        }
        Ok(())
    }
}

fn weights(open: &[Open]) -> impl Iterator<Item = f64> + Clone {
    open.iter().map(|open| open.weight)
}

/// Says what an action's end comes to.
fn judge(instance: &dyn Instance, chosen: &Open, stopped: Result<(), Stop>) -> Result<StepResult, Box<Finding>> {
    let name = || named(instance.shape(), chosen.transition);
    match stopped {
        Err(Stop::Backtrack) => Ok(StepResult::Backtracked),
        Err(Stop::Failed(what)) => Err(failure("assertion", format!("{}: {what}", name()))),
        Err(Stop::Exception(exception)) => match instance.catch(chosen.transition, &exception) {
            Caught::Thrown => Ok(StepResult::Succeeded),
            Caught::Leads(number) => Ok(StepResult::Exceptional(number)),
            Caught::Unexpected => Err(unexpected(&name(), &exception)),
        },
        Ok(()) => match instance.thrown(chosen.transition) {
            Some(thrown) => Err(failure("no-exception", format!("{}: there is no {thrown}", name()))),
            None => Ok(instance.next_if(chosen.transition).map_or(StepResult::Succeeded, StepResult::Exceptional)),
        },
    }
}

fn unexpected(name: &str, exception: &Exception) -> Box<Finding> {
    let summary = format!("{name}: {exception}");
    Box::new(Finding { class: FindingClass::Abnormal, ..Finding::wrong_result("exception", summary) })
}

fn failure(kind: &str, summary: String) -> Box<Finding> {
    Box::new(Finding::wrong_result(kind, summary))
}

fn named(shape: &Shape, transition: u32) -> String {
    format!("{}: {}", shape.name, shape.transitions[transition as usize].name)
}

fn words(stop: &Stop) -> String {
    match stop {
        Stop::Backtrack => "a precondition does not hold".to_owned(),
        Stop::Failed(what) => what.clone(),
        Stop::Exception(exception) => exception.to_string(),
    }
}

/// Runs a future that waits for nothing.
pub(crate) fn at_once<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("an action waits for something: take the walk in a simulation or a runtime"),
    }
}
