//! The interface by which a system runs its test cases on real programs: [`Testbed`] and [`Environment`].

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt::Display;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use simutant_outcomes::Verdict;
use simutant_sim_core::Random;

use crate::error::HarnessError;
use crate::faults::{Injection, Schedule};
use crate::proxy::{Activity, ProxyCounts};
use crate::report::EndedProcess;
use crate::side::Side;

/// Values of placeholders in commands, by the placeholders' names: `port` is the name of `{port}`.
pub type Placeholders = BTreeMap<&'static str, OsString>;

/// A part that programs of an implementation play in a system, such as that of a sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Role {
    /// Its name: that of the side in the file of an implementation.
    pub name: &'static str,
    /// The placeholders that its command may use, beside those that every command may use.
    pub placeholders: &'static [&'static str],
    /// Whether it is given a UDP port to bind.
    pub listens: bool,
}

/// A process to start. A test case may ask for several of one role, as for a router each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Process {
    /// Its name in reports: the role, with a number if there may be several.
    pub name: String,
    /// Values of the placeholders of its role.
    pub placeholders: Placeholders,
    /// The UDP port that it is to bind, if the role listens.
    pub port: Option<u16>,
    /// How long after the first moment of its role it is started.
    pub start: Duration,
}

/// Maps the test cases of one system to real programs on a real network.
pub trait Testbed: Sync {
    /// Returns the system's name.
    fn system(&self) -> &str;

    /// Returns the system that programs implement on which these test cases run: the system itself, or another one with
    /// the same inputs.
    fn implemented_as(&self) -> &str {
        self.system()
    }

    /// Returns the roles that an implementation has a side for, each. By default there are none: what is tested is the
    /// fixture.
    fn roles(&self) -> &[Role] {
        &[]
    }

    /// Returns whether an implementation has a [fixture](crate::FixtureCommand): something that outlives a test case, as a
    /// server that takes long to start. [`Setup::fixture`] says where it is. By default it has none.
    fn needs_fixture(&self) -> bool {
        false
    }

    /// Returns the default time limit of a test case.
    fn timeout(&self) -> Duration {
        TIMEOUT
    }

    /// Returns how many test cases run at once for each core by default: one if each job has a fixture of its own, else
    /// four, as they mostly wait, for packets that were lost.
    fn jobs_for_each_core(&self) -> usize {
        if self.needs_fixture() { 1 } else { 4 }
    }

    /// Returns whether the seed of the run decides anything, such as the fates of datagrams, so that a repetition has others.
    /// By default it does.
    fn redraws(&self) -> bool {
        true
    }

    /// Returns how long a test case takes, as far as it says so itself.
    fn duration(&self, _case: &Value) -> Duration {
        Duration::ZERO
    }

    /// Returns the path of the [program](crate::TestbedProgram) that contains this testbed, if it is not this program:
    /// then that program is started to run the test cases.
    fn program(&self) -> Option<&Path> {
        None
    }

    /// Returns the names of the rules of the oracle that an implementation may be allowed to break: see
    /// [`Implementation::waive`](crate::Implementation::waive). By default there are none.
    fn rules(&self) -> Vec<&str> {
        Vec::new()
    }

    /// Checks that `case` is a test case of the system.
    ///
    /// # Errors
    /// Which field is wrong, and how.
    fn check(&self, case: &Value) -> Result<(), InvalidCase>;

    /// Returns a network and the files that the test case needs, in an empty folder of its own.
    ///
    /// # Errors
    /// [`HarnessError`] if the machine lacks a port, a file or an address.
    fn set_up(&self, setup: &Setup<'_>) -> Result<Box<dyn Environment>, HarnessError>;
}

/// The default time limit of a test case.
pub(crate) const TIMEOUT: Duration = Duration::from_secs(30);

/// The request for an environment: a test case, its seed and its folder.
#[derive(Debug, Clone)]
pub struct Setup<'a> {
    /// The test case's name in its suite.
    pub name: &'a str,
    /// The test case, which has passed [`Testbed::check`].
    pub case: &'a Value,
    /// Decides what the test case leaves open, such as the content of files. Each repetition has another one.
    pub seed: u64,
    /// An empty folder of the test case's own.
    pub folder: &'a Path,
    /// What is in files whose content the test case leaves open.
    pub input: InputContent,
    /// What is known of the implementation's fixture, if it has one: its folder is `fixture`, its ports are `fixture_port` to
    /// `fixture_port9`.
    pub fixture: Option<&'a Placeholders>,
    /// What is started as the fixture, for a test case that needs one of its own: as a [service](Environment::services).
    pub fixture_side: Option<Side>,
    /// The rules of the oracle that the implementation may break, of those that [`Testbed::rules`] names, with the reasons.
    pub waived: &'a BTreeMap<String, String>,
}

impl Setup<'_> {
    /// Returns what decides all that a test case of this seed leaves open.
    pub fn random(&self, case_seed: u64) -> Random {
        Random::from_seed(case_seed).stream(&format!("harness/{}", self.seed))
    }

    /// Returns the address, on the loopback interface, of a port of the fixture, such as `fixture_port`; port 0 if the fixture
    /// has no such port.
    pub fn fixture_address(&self, port: &str) -> SocketAddr {
        let port = self.fixture.and_then(|known| known.get(port)?.to_str()?.parse().ok());
        SocketAddr::from((Ipv4Addr::LOCALHOST, port.unwrap_or_default()))
    }
}

/// Content of files whose content a test case leaves open.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum InputContent {
    /// Any bytes.
    #[default]
    Bytes,
    /// Lines of printable ASCII, each ended by a line feed.
    Text,
}

impl InputContent {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
    pub(crate) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// A test case's network and files, in place and ready for the programs.
pub trait Environment {
    /// Returns the auxiliary services that the environment brings along: programs that are assumed right, and that are
    /// started before those of the implementation. By default there are none.
    fn services(&self) -> &[Side] {
        &[]
    }

    /// Returns variables of the environment of these, beside those of the harness.
    fn service_variables(&self) -> &[(&str, &str)] {
        &[]
    }

    /// Returns the processes of a role or an auxiliary service, in the order in which they are started; the test case
    /// may need none.
    fn processes(&self, role: &str) -> Vec<Process>;

    /// Waits until what the processes have caused so far has settled, at most until `deadline`.
    ///
    /// This is called before each role but the first is started, and before processes that do not end by themselves
    /// are stopped. `is_active` tells whether one of them is at work, as far as that can be seen. By default it returns
    /// at once.
    fn settle(&self, _deadline: Instant, _is_active: &dyn Fn() -> bool) {}

    /// Is told when all processes are ready, before the schedule begins: what clients find there is made until
    /// `deadline`. By default nothing is.
    fn prepare(&self, _deadline: Instant) {}

    /// Returns what is done to the processes while they run, by their names. By default nothing is.
    fn schedule(&self) -> Schedule {
        Schedule::default()
    }

    /// Does to the network what the schedule says, at its moment; returns why it cannot. By default the network has a clock
    /// of its own.
    fn inject(&self, _injection: &Injection) -> Option<String> {
        None
    }

    /// Is told when all processes are ready, which is when the schedule begins: a network with faults of its own begins
    /// then, too.
    fn begin(&self, _moment: Instant) {}

    /// Returns who talks to the processes when all have been started, if that is the environment itself.
    fn clients(&self) -> Option<&dyn Clients> {
        None
    }

    /// Returns what the network has done so far.
    ///
    /// # Errors
    /// Why the network does not work any more: then whatever the programs did says nothing about them.
    fn network(&self) -> Result<ProxyCounts, HarnessError> {
        Ok(ProxyCounts::default())
    }

    /// Returns what the network has heard of the programs so far; `None` if they have a network of their own.
    fn activity(&self) -> Option<Activity> {
        None
    }

    /// Judges what the processes left, after all have ended as they should.
    ///
    /// # Errors
    /// [`HarnessError`] if what they left cannot be read.
    fn judge(&self, left: &Left<'_>) -> Result<Conclusion, HarnessError>;
}

/// The results that processes left beside their files.
#[derive(Debug, Clone, Copy)]
pub struct Left<'a> {
    /// How each process ended, by its name, and what it printed, in the order in which they were started.
    pub processes: &'a [EndedProcess],
}

/// The conclusion of an environment from what processes left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conclusion {
    /// Whether what the processes left is right.
    pub verdict: Verdict,
    /// Faults of the test case that could not be injected, each in words. A test case that passes without them is
    /// inconclusive, unless [`RunOptions`](crate::RunOptions) say otherwise.
    pub not_injected: Vec<String>,
    /// What else somebody who reads the verdict should know.
    pub notes: Vec<String>,
    /// The rules that are waived, and were kept all the same.
    pub kept: Vec<String>,
}

impl From<Verdict> for Conclusion {
    fn from(verdict: Verdict) -> Self {
        Self { verdict, not_injected: Vec::new(), notes: Vec::new(), kept: Vec::new() }
    }
}

/// Clients that talk to processes from within the harness.
pub trait Clients: Sync {
    /// Talks to the processes, at most until `deadline`, and stops early if `is_cut` becomes true, as one of them ended
    /// badly.
    ///
    /// Returns what had not ended at the deadline.
    fn run(&self, deadline: Instant, is_cut: &AtomicBool) -> Vec<String>;
}

/// Why a value is not a test case of the system.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct InvalidCase(String);

impl InvalidCase {
    /// A field is missing, unknown or of another type.
    pub fn malformed(error: &serde_json::Error) -> Self {
        Self(error.to_string())
    }

    /// A field is outside the system's input domain, as the message says that begins with its name.
    pub fn outside_domain(message: impl Display) -> Self {
        Self(format!("field {message}"))
    }
}

/// Returns a test case that `validate` accepts, such as that of a system's domain: what a testbed begins with, in
/// [`Testbed::check`] and in [`Testbed::set_up`].
///
/// ```
/// # use simutant_harness::read_case;
/// #[derive(serde::Deserialize)]
/// struct TestCase {
///     bytes: u32,
/// }
/// let validate = |case: &TestCase| if case.bytes > 0 { Ok(()) } else { Err("bytes: at least one is sent") };
///
/// assert!(read_case(&serde_json::json!({ "bytes": 3 }), validate).is_ok());
/// let error = read_case(&serde_json::json!({ "bytes": 0 }), validate).err().expect("it is outside");
/// assert_eq!(error.to_string(), "field bytes: at least one is sent");
/// ```
///
/// # Errors
/// [`InvalidCase`] says which field is wrong, and how.
pub fn read_case<T: DeserializeOwned, E: Display>(
    case: &Value,
    validate: impl FnOnce(&T) -> Result<(), E>,
) -> Result<T, InvalidCase> {
    let case = T::deserialize(case).map_err(|error| InvalidCase::malformed(&error))?;
    validate(&case).map_err(InvalidCase::outside_domain)?;
    Ok(case)
}

/// Returns what a program has written to a file of text; nothing if it has made none. What is no text is replaced.
///
/// # Errors
/// [`HarnessError`] if the file is there and cannot be read.
pub fn read_log(path: &Path) -> Result<String, HarnessError> {
    match std::fs::read(path) {
        Ok(bytes) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(String::new()),
        Err(error) => Err(HarnessError::file("read", path)(error)),
    }
}

/// The testbeds of several systems. Those of one system stand side by side, the usual one first.
#[derive(Clone, Copy)]
pub struct Testbeds(&'static [&'static dyn Testbed]);

impl PartialEq for Testbeds {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Testbeds {}

impl Default for Testbeds {
    fn default() -> Self {
        Self::NONE
    }
}

impl std::fmt::Debug for Testbeds {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_list().entries(self.systems()).finish()
    }
}

impl Testbeds {
    /// No testbed: only implementations with a `driver` can be run.
    pub const NONE: Self = Self(&[]);

    /// Returns a set of testbeds.
    pub const fn new(testbeds: &'static [&'static dyn Testbed]) -> Self {
        Self(testbeds)
    }

    /// Returns the testbeds of a system, one for each way in which an implementation may be cut into sides; there are
    /// none if the system is not known.
    pub fn of<'a>(&self, system: &'a str) -> impl Iterator<Item = &'static dyn Testbed> + use<'a> {
        self.0.iter().copied().filter(move |testbed| testbed.system() == system)
    }

    /// Returns all of them.
    pub(crate) fn all(&self) -> impl Iterator<Item = &'static dyn Testbed> + use<> {
        self.0.iter().copied()
    }

    /// Returns the names of the systems that have a testbed.
    pub fn systems(&self) -> impl Iterator<Item = &'static str> + use<> {
        let mut systems: Vec<_> = self.0.iter().map(|testbed| testbed.system()).collect();
        systems.dedup();
        systems.into_iter()
    }
}
