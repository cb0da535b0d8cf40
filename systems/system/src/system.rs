//! Systems: a simulation with parameters, its input domain and its oracle. All that the rest of Simutant knows of one.

use std::fmt::Debug;

use serde::Serialize;
use serde::de::DeserializeOwned;

use simutant_outcomes::{CostBounds, Quota};
use simutant_random::Random;
use simutant_sim_core::{Message, Simulation};

use crate::criteria::{self, TraceCriterion};
use crate::domain::InvalidTestCase;
use crate::walk::Walk;

/// A simulated system: an abstract configuration in the sense of Rutherford, PhD thesis, section 3.1.3.
///
/// A value of [`System::TestCase`] makes it concrete. The trait is implemented on a unit type that only names the
/// system.
///
/// ```
/// use std::ops::RangeInclusive;
/// use simutant_sim_core::{Random, Simulation, VirtualDuration, VirtualTime};
/// use simutant_system::{BlackBoxCriterion, Domain, InvalidTestCase, System, universe};
/// # #[derive(Debug, Clone, Hash)]
/// # enum NoMessage {}
/// # impl simutant_sim_core::Message for NoMessage {
/// #     fn kind(&self) -> &'static str {
/// #         match *self {}
/// #     }
/// # }
///
/// /// A worker that works for as long as the test case says, in milliseconds.
/// struct Worker;
///
/// const WORK_MS: RangeInclusive<u64> = 1..=500;
///
/// impl System for Worker {
///     const NAME: &'static str = "worker";
///     type TestCase = u64;
///     type Message = NoMessage;
///
///     fn sample(random: &mut Random) -> u64 { WORK_MS.draw(random) }
///
///     fn validate(case: &u64) -> Result<(), InvalidTestCase> { WORK_MS.check("work_ms", case) }
///
///     fn configure(case: &u64) -> Simulation<NoMessage> {
///         let (mut simulation, work) = (Simulation::new(1), VirtualDuration::from_millis(*case));
///         let worker = simulation.add("worker", move |context| async move {
///             context.pause(work).await;
///             context.now()
///         });
///         worker.expecting(VirtualTime::ZERO + work);
///         simulation
///     }
///
///     fn criteria() -> Vec<BlackBoxCriterion<u64>> { Vec::new() }
/// }
///
/// let case = universe::<Worker>(1, 0);
/// assert_eq!(Worker::validate(&case), Ok(()));
/// assert!(Worker::configure(&case).run().ended.passed());
/// ```
pub trait System: 'static {
    /// The system's name on the command line and in files: lower case, without spaces.
    const NAME: &'static str;

    /// The name of the random streams of its universes: its own name, unless it has the universes of another system.
    const STREAM: &'static str = Self::NAME;

    /// The default number of test cases in the universe of a study.
    const UNIVERSE: usize = 2_500;

    /// An input vector: everything that a run depends on, seeds included. Serde's form of it is what files hold.
    type TestCase: Serialize + DeserializeOwned + Clone + Debug + PartialEq + 'static;

    /// The type of the messages that the components send.
    type Message: Message;

    /// Draws a test case from the input domain.
    ///
    /// [Sources](crate::InputSource) other than the uniform one decide what its draws come to: first those that are
    /// parameters, then what depends on them, is the order that suits them best.
    fn sample(random: &mut Random) -> Self::TestCase;

    /// Returns a test case that transfers the same to a real program, with its chance drawn anew.
    ///
    /// What transfers are parameters, topologies, and faults at given times and places: all that a harness can bring
    /// about. Chance is what a run depends on beside that, and what no harness can repeat: the seed that decides which
    /// packet is lost, how long each takes within a distribution, which of simultaneous events comes first. A campaign
    /// re-seeds test cases to find out how likely each kills a mutant. By default nothing is chance, and a kill on one
    /// run counts as certain.
    fn reseed(case: &Self::TestCase, random: &mut Random) -> Self::TestCase {
        let _ = random;
        case.clone()
    }

    /// Returns the [walks](Walk) of a test case, if machines drive the system's clients: the same fields of each test
    /// case, in the same order. By default there are none.
    fn walks(case: &mut Self::TestCase) -> Vec<&mut Walk> {
        let _ = case;
        Vec::new()
    }

    /// Returns the test cases that a net of the system generates, at most the first `count`: those of
    /// [`InputSource::Net`](crate::InputSource::Net), with what may come of each in a field that the oracle looks at. What
    /// is random in them is drawn from `seed`. `None`, the default, is for systems without a net: it does not depend on
    /// `seed` and `count`. [`NetSystem`](crate::NetSystem) is for systems that have a net and no other simulation.
    fn of_net(seed: u64, count: usize) -> Option<Vec<Self::TestCase>> {
        let _ = (seed, count);
        None
    }

    /// Returns what a run of a test case may cost at most, whatever the original needs: a second opinion beside the
    /// oracle, which looks at results alone. It is asked for with a cost oracle, and the original must keep it. By
    /// default nothing is bounded.
    fn cost_bounds(case: &Self::TestCase) -> CostBounds {
        let _ = case;
        CostBounds::default()
    }

    /// Checks that a test case is in the input domain, for test cases that people write. The [domain](crate::Domain) of
    /// a field both draws and checks.
    ///
    /// # Errors
    /// [`InvalidTestCase`] for the first field that is not.
    fn validate(case: &Self::TestCase) -> Result<(), InvalidTestCase>;

    /// Returns the simulation of a valid test case, with expected results and final checks: the oracle.
    fn configure(case: &Self::TestCase) -> Simulation<Self::Message>;

    /// Returns the system's black-box adequacy criteria.
    fn criteria() -> Vec<BlackBoxCriterion<Self::TestCase>>;

    /// Returns the adequacy criteria that look at what happens in a run: the [built-in](criteria::built_in) ones,
    /// unless a system has others, or [more](TraceCriterion). Their names differ from those of all other criteria.
    fn trace_criteria() -> Vec<TraceCriterion> {
        criteria::built_in()
    }
}

/// An adequacy criterion that looks at the test case alone (Rutherford, PhD thesis, section 4.4).
#[derive(Debug, Clone)]
pub struct BlackBoxCriterion<C> {
    /// Its name, for example `IP-1`.
    pub name: &'static str,
    /// A label for each requirement.
    pub requirements: Vec<String>,
    /// Requirements that a suite need not cover all of; none of them is in two quotas. A suite covers all others.
    pub quotas: Vec<Quota>,
    /// Returns the indices of the requirements that a test case covers, ascending.
    pub covered: fn(&C) -> Vec<usize>,
}

/// Returns the indices of the requirements that are met, ascending: of a criterion whose requirements have a condition each.
///
/// ```
/// assert_eq!(simutant_system::met_requirements(&[true, false, true]), [0, 2]);
/// ```
pub fn met_requirements(is_met: &[bool]) -> Vec<usize> {
    (0..is_met.len()).filter(|&requirement| is_met[requirement]).collect()
}

/// Returns test case `index` of the universe of `seed`.
///
/// It depends on the system, the seed and the index alone, so a longer universe begins with the shorter one.
pub fn universe<S: System>(seed: u64, index: usize) -> S::TestCase {
    S::sample(&mut case_stream::<S>(seed, index))
}

/// Returns re-seeding `number` of `case`, test case `index` of a universe of `seed`; number 0 is the test case itself.
///
/// It depends on the system, the seed, both numbers and the test case alone.
pub fn reseeding<S: System>(seed: u64, index: usize, number: u32, case: &S::TestCase) -> S::TestCase {
    match number {
        0 => case.clone(),
        _ => S::reseed(case, &mut case_stream::<S>(seed, index).stream(&format!("reseeding/{number}"))),
    }
}

/// Returns the stream that a test case is drawn from.
pub(crate) fn case_stream<S: System>(seed: u64, index: usize) -> Random {
    Random::from_seed(seed).stream(S::STREAM).stream(&format!("case/{index}"))
}
