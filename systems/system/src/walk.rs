//! Walks of state machines in a simulation: clients that a machine drives.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::time::Duration;

use serde::{Deserialize, Serialize};
use simutant_models::{
    Clock, End, Instance, Learned, Limits, Observed, Open, Path, Script, StepResult, Strategy, Walker,
};
use simutant_random::Random;
use simutant_sim_core::{Context, Message, VirtualDuration};

use crate::{Domain, Lengths};

/// A walk of a [machine](simutant_models::Machine), as a field of a test case: its decisions.
///
/// A component takes it. The actions of the machine are async, so they send, receive and sleep as those of any component
/// do, and what they choose is the test case's. [`Walks`] is the domain of such a field, and
/// [`System::walks`](crate::System::walks) tells Simutant where they are: then the sources `walk`, `bandit` and `pairs`
/// make test cases, and the [criteria of machines](crate::criteria::machines) say what they cover.
///
/// ```
/// use std::rc::Rc;
///
/// use simutant_models::{Limits, Machine, Step, skip, transition};
/// use simutant_sim_core::{Context, Message, Random, Simulation, VirtualDuration};
/// use simutant_system::{Domain, Walk, Walks};
/// # #[derive(Debug, Clone, Hash)]
/// # enum NoMessage {}
/// # impl Message for NoMessage {
/// #     fn kind(&self) -> &'static str {
/// #         match *self {}
/// #     }
/// # }
///
/// type Client = Rc<Context<NoMessage>>;
///
/// fn client() -> Machine<Client> {
///     let wait = async |client: &mut Client, step: &mut Step<'_>| {
///         client.sleep(VirtualDuration::from_millis(u64::from(step.choose(1..=9)))).await;
///         step.assert(client.now().as_nanos() > 0, "time passes")
///     };
///     let transitions = [transition("idle -> idle", wait).label("wait").weight(3.0), skip("idle -> gone")];
///     Machine::new("client", ["idle", "gone"], transitions).expect("it is a machine")
/// }
///
/// const WALKS: Walks = Walks { steps: 0..=20, choices: 1 };
/// let walk: Walk = WALKS.draw(&mut Random::from_seed(1));
///
/// let mut simulation = Simulation::<NoMessage>::new(1);
/// let body = move |context| async move {
///     let context = Rc::new(context);
///     walk.take(&context, Limits::default(), client().with(context.clone())).await
/// };
/// simulation.add("client", body).expecting(Ok(()));
/// assert!(simulation.run().ended.passed());
/// ```
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Walk {
    script: Script,
    #[serde(skip)]
    steering: Option<Rc<Steering>>,
}

/// What decides a walk in the place of its script, while a source makes test cases.
pub(crate) struct Steering {
    strategy: Rc<RefCell<dyn Strategy>>,
    seed: u64,
    /// What was decided.
    decided: RefCell<Script>,
}

impl std::fmt::Debug for Steering {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Steering").field("seed", &self.seed).finish_non_exhaustive()
    }
}

/// Walks are equal if their scripts are.
impl PartialEq for Walk {
    fn eq(&self, other: &Self) -> bool {
        self.script == other.script
    }
}

impl Eq for Walk {}

impl From<Script> for Walk {
    fn from(script: Script) -> Self {
        Self { script, steering: None }
    }
}

impl Walk {
    /// Returns the decisions.
    ///
    /// ```
    /// use simutant_models::Script;
    /// use simutant_system::Walk;
    ///
    /// // A test case that a person wrote: two steps, of which the first one makes a choice.
    /// let walk: Walk = serde_json::from_str("[[0, 65535], [40000]]")?;
    /// assert_eq!(walk.script(), &Script { steps: vec![vec![0, 65_535], vec![40_000]] });
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn script(&self) -> &Script {
        &self.script
    }

    /// Takes the walk in a component, beginning with an instance of a machine, until its decisions, the machine or the
    /// limits end it. Each transition is noted in the trace.
    ///
    /// # Errors
    /// What failed, in words: an assertion, an invariant, an exception. A component that returns this and is
    /// [expecting](simutant_sim_core::Added::expecting) `Ok(())` makes it the failure of the run.
    pub async fn take<M: Message>(
        &self,
        context: &Rc<Context<M>>,
        limits: Limits,
        instance: Box<dyn Instance>,
    ) -> Result<(), String> {
        let noting = context.clone();
        let observer = move |observed: &Observed<'_>| noting.note(|| note(observed));
        let walker = Walker::new().with_clock(Rc::new(VirtualWaits(context.clone()))).with_observer(observer);
        let path = match &self.steering {
            None => walker.with_limits(limits).follow(instance, &self.script).await,
            Some(steering) => {
                let limits = Limits { transitions: limits.transitions.min(self.script.steps.len()), ..limits };
                steering.walk(walker.with_limits(limits), instance).await
            }
        };
        match path.end {
            End::Failed(finding) => Err(finding.summary),
            End::Finished | End::Stuck | End::Cut | End::Diverged(_) => Ok(()),
        }
    }

    /// Lets a strategy decide the walk when it is taken, in at most as many steps as the script has. Several walks may
    /// have a strategy together, in one run and in runs one after the other: it learns from all of them.
    ///
    /// Sources do so with each test case. The script stays what it is.
    pub fn steer(&mut self, strategy: Rc<RefCell<dyn Strategy>>, seed: u64) {
        self.steering = Some(Rc::new(Steering { strategy, seed, decided: RefCell::default() }));
    }

    /// Returns what a strategy has decided. If the walk was not taken, that is nothing.
    pub(crate) fn decided(&self) -> Option<Script> {
        self.steering.as_ref().map(|steering| steering.decided.borrow().clone())
    }
}

impl Steering {
    async fn walk(&self, walker: Walker, instance: Box<dyn Instance>) -> Path {
        let mut walker = walker.with_strategy(Shared(self.strategy.clone()));
        // A component that was restarted takes its walk again: what is noted is the last one.
        let mut decided = self.decided.try_borrow_mut();
        let mut unheard = Script::default();
        let decided = decided.as_deref_mut().unwrap_or(&mut unheard);
        *decided = Script::default();
        walker.walk_noted(instance, self.seed, decided).await
    }
}

/// A strategy that several walks have together.
struct Shared(Rc<RefCell<dyn Strategy>>);

impl Strategy for Shared {
    fn choose(&mut self, open: &[Open], random: &mut Random) -> Option<usize> {
        self.0.borrow_mut().choose(open, random)
    }

    fn learn(&mut self, chosen: &Open, learned: &Learned) {
        self.0.borrow_mut().learn(chosen, learned);
    }
}

/// Waits in virtual time.
struct VirtualWaits<M: Message>(Rc<Context<M>>);

impl<M: Message> Clock for VirtualWaits<M> {
    fn now(&self) -> Duration {
        Duration::from_nanos(self.0.now().as_nanos())
    }

    fn sleep_until(&self, then: Duration) -> Pin<Box<dyn Future<Output = ()> + '_>> {
        let left = then.saturating_sub(self.now());
        let left = VirtualDuration::from_nanos(u64::try_from(left.as_nanos()).unwrap_or(u64::MAX));
        Box::pin(async move { self.0.sleep(left).await })
    }
}

/// The domain of walks: scripts of so many steps, with so many choices each. A longer or shorter step is in it, too.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Walks {
    /// How many steps there are.
    pub steps: std::ops::RangeInclusive<usize>,
    /// How many choices are drawn for each step: as many as an action makes, at most. Of an action that makes more, the
    /// others are the first option.
    pub choices: usize,
}

/// How many numbers a step has at most.
const STEP_MAX: usize = 1_000;

impl Domain for Walks {
    type Value = Walk;

    fn draw(&self, random: &mut Random) -> Walk {
        let count = Lengths(self.steps.clone()).draw(random);
        let step = |_| (0..=self.choices).map(|_| random.uniform(0..=u16::MAX)).collect();
        Script { steps: (0..count).map(step).collect() }.into()
    }

    fn admits(&self, walk: &Walk) -> bool {
        let steps = &walk.script.steps;
        self.steps.contains(&steps.len()) && steps.iter().all(|step| step.len() <= STEP_MAX)
    }

    fn allowed(&self) -> String {
        format!("a list of {} to {} lists of numbers from 0 to 65535", self.steps.start(), self.steps.end())
    }

    fn written(&self, walk: &Walk) -> String {
        format!("a list of {}", walk.script.steps.len())
    }
}

/// How a trace says that an instance tried a transition: `client 0: open => connected`, where `open` is the name of the
/// transition, and the other one the state that it led to, or what came of it.
fn note(observed: &Observed<'_>) -> String {
    let Observed { shape, taken } = observed;
    let transition = &shape.transitions[taken.transition as usize];
    let end = match taken.result {
        StepResult::Backtracked => BACKTRACKED,
        StepResult::Failed => FAILED,
        StepResult::Succeeded | StepResult::Exceptional(_) => &shape.states[taken.state as usize],
    };
    format!("{PREFIX}{} {}: {} => {end}", shape.name, taken.instance.0, transition.name)
}

const PREFIX: &str = "walk of ";
const BACKTRACKED: &str = "(backtracked)";
const FAILED: &str = "(failed)";

/// A transition that a trace says to be taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Noted<'a> {
    /// The machine's name.
    pub(crate) machine: &'a str,
    /// The instance in its walk.
    pub(crate) instance: &'a str,
    /// The transition's name.
    pub(crate) transition: &'a str,
    /// What came of it.
    pub(crate) result: NotedResult<'a>,
}

/// What a trace says that came of a transition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NotedResult<'a> {
    LedTo(&'a str),
    Backtracked,
    Failed,
}

/// Reads what [`note`] writes; `None` is another text.
pub(crate) fn read_note(text: &str) -> Option<Noted<'_>> {
    let (transition, end) = text.strip_prefix(PREFIX)?.split_once(" => ")?;
    let (instance, transition) = transition.split_once(": ")?;
    let (machine, instance) = instance.rsplit_once(' ')?;
    let result = match end {
        BACKTRACKED => NotedResult::Backtracked,
        FAILED => NotedResult::Failed,
        state => NotedResult::LedTo(state),
    };
    Some(Noted { machine, instance, transition, result })
}
