//! What a driver asks the harness to do: processes to run, and faults to inject into them.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use simutant_sim_core::{Fault, Faults, Network};

use super::network::named;
use super::{Injection, ScheduledInjection, TimeScale};
use crate::process::ProcessExit;
use crate::side::{ExpectedExit, FURTHER_PORTS, Ready, Side, Stop};

/// A plan, which a driver prints as its first line, as JSON, if the harness is to run the processes of a test case.
///
/// ```json
/// {
///   "processes": [
///     {"name": "a", "command": ["./server", "--listen", "{port}", "--peer", "{b}"], "ready": {"line": "listening"}},
///     {"name": "b", "command": ["./server", "--listen", "{port}", "--peer", "{a}"], "ready": {"line": "listening"}}
///   ],
///   "clients": ["client"],
///   "faults": {"schedule": [{"at_ns": 200000000, "fault": "crash", "component": "a"}]},
///   "network": {"link": {"latency": {"constant_ns": 5000000}, "drop": 0.1}},
///   "seed": 7
/// }
/// ```
///
/// Processes are started in this order, each when the one before is ready. When all are, the schedule of faults and
/// partitions begins, and the driver reads a line of JSON on its standard input for each thing that happens.
///
/// ```
/// use simutant_harness::{Plan, Ready, TimeScale};
///
/// let line = r#"{"processes": [{"name": "a", "command": ["./server", "{port}"], "ready": "port"}], "seed": 7}"#;
/// let plan: Plan = serde_json::from_str(line)?;
/// assert_eq!(plan.processes[0].ready, Ready::Port);
/// // What is left out goes wrong nowhere, and takes the time that it takes.
/// assert!(plan.faults.is_empty() && plan.network.is_none());
/// assert_eq!(plan.time_scale, TimeScale::REAL);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// The processes.
    pub processes: Vec<PlannedProcess>,
    /// Components that the driver plays itself: it reaches processes over the network as each of these.
    #[serde(default)]
    pub clients: Vec<String>,
    /// What goes wrong with processes; the names of components are those of processes. What goes wrong with a client is
    /// the driver's part.
    #[serde(default)]
    pub faults: Faults,
    /// The network between processes and clients; if there is none, they reach each other directly.
    #[serde(default)]
    pub network: Option<Network>,
    /// Fixes the fates of packets, as in a simulation with this seed.
    #[serde(default)]
    pub seed: u64,
    /// How long a second of virtual time takes, in seconds: of faults and of the network.
    #[serde(default)]
    pub time_scale: TimeScale,
}

/// A process of a [`Plan`].
///
/// It runs in a folder of its own, which has its name and lies in the test case's. A restart finds there what the
/// process left, unless its durable state is lost.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlannedProcess {
    /// Its name: that of the component.
    pub name: String,
    /// The program and its arguments, with placeholders: `{port}` to `{port9}`, ports of its own; `{NAME}`, the address
    /// at which it reaches another process; `{NAME:port2}`, the address at which it reaches `{port2}` of that process;
    /// `{peers}`, the addresses of all others, as `a=127.0.0.1:2001,b=127.0.0.1:2002`; `{work}`, the folder of the test
    /// case; `{here}` and `{build}`.
    pub command: Vec<String>,
    /// When the next process may be started.
    #[serde(default)]
    pub ready: Ready,
    /// How it may end, other than by a fault: at the end of the test case by default.
    #[serde(default = "stopped")]
    pub exit: ExpectedExit,
    /// How it is ended when the driver has ended: it is killed by default.
    #[serde(default = "Stop::kill")]
    pub stop: Stop,
}

fn stopped() -> ExpectedExit {
    ExpectedExit::Stopped
}

/// Placeholders that no process can be called.
const RESERVED: [&str; 6] = ["port", "host", "peers", "work", "here", "build"];

impl Plan {
    /// Returns the plan that a driver printed.
    ///
    /// # Errors
    /// What is wrong with it, in words.
    pub(crate) fn read(line: &str) -> Result<Self, String> {
        let plan: Self = serde_json::from_str(line).map_err(|error| error.to_string())?;
        plan.faults.validate().map_err(|error| format!("faults: {error}"))?;
        if let Some(network) = &plan.network {
            network.validate().map_err(|error| format!("network: {error}"))?;
        }
        let mut seen = BTreeSet::new();
        for name in plan.processes.iter().map(|process| &process.name).chain(&plan.clients) {
            let is_plain = |character: char| character.is_ascii_alphanumeric() || "._-".contains(character);
            if name.is_empty() || name.starts_with('.') || !name.chars().all(is_plain) {
                return Err(format!("{name:?} is no name of letters, digits, `.`, `_` and `-`"));
            }
            if RESERVED.contains(&name.as_str()) || FURTHER_PORTS.contains(&name.as_str()) {
                return Err(format!("no process may be called {name}, which is a placeholder"));
            }
            if !seen.insert(name) {
                return Err(format!("there are two processes called {name}"));
            }
        }
        for process in &plan.processes {
            if process.command.first().is_none_or(String::is_empty) {
                return Err(format!("the command of {} is empty", process.name));
            }
        }
        Ok(plan)
    }

    /// Says which fault is one of a component that is neither a process nor a client, if there is such a fault.
    pub(crate) fn fault_without_process(&self) -> Option<String> {
        let is_known = |name: &str| {
            self.processes.iter().any(|process| process.name == name)
                || self.clients.iter().any(|client| client == name)
        };
        let unknown = self.faults.schedule.iter().map(|scheduled| &scheduled.fault);
        let unknown = unknown.into_iter().find(|fault| !is_known(fault.component()))?;
        let verb = match unknown {
            Fault::Crash { .. } => "crashes",
            Fault::Restart { .. } => "restarts",
            Fault::Pause { .. } => "pauses",
        };
        let names = self.processes.iter().map(|process| process.name.as_str()).collect::<Vec<_>>().join(", ");
        let names = if names.is_empty() { "none" } else { &names };
        Some(format!("the plan {verb} {}, but its processes are: {names}", unknown.component()))
    }

    /// Says which component the network names that is neither a process nor a client, if there is such a component: what was to
    /// happen to its packets would happen to nobody's.
    pub(crate) fn stranger_in_network(&self) -> Option<String> {
        let known: Vec<&String> = self.processes.iter().map(|process| &process.name).chain(&self.clients).collect();
        let stranger = self.network.iter().flat_map(named).find(|name| !known.contains(&name))?;
        let known = known.into_iter().map(String::as_str).collect::<Vec<_>>().join(", ");
        Some(format!("the network of the plan names {stranger}, but its processes and clients are: {known}"))
    }
}

impl PlannedProcess {
    /// Returns the side that it is.
    pub(crate) fn side(&self) -> Side {
        let Self { name, command, ready, exit, stop } = self.clone();
        Side { name, command, files: Vec::new(), ready, exit, stop }
    }
}

/// What a driver is told, as a line of JSON on its standard input.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(crate) struct Notice<'a> {
    #[serde(flatten)]
    pub(crate) what: What<'a>,
    /// How long after the beginning, in milliseconds.
    pub(crate) at_ms: u64,
    /// By how much the machine was too late so far, in milliseconds: with a datagram or an injection.
    pub(crate) late_ms: u64,
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub(crate) enum What<'a> {
    /// All processes are ready, and the schedule begins.
    Begun {
        /// Where processes receive.
        addresses: BTreeMap<String, String>,
        /// For each client where it reaches processes over the network.
        clients: BTreeMap<&'a str, BTreeMap<String, String>>,
    },
    /// A process ended by itself.
    Ended {
        process: &'a str,
        exit: ProcessExit,
    },
    /// An injection was due.
    Crashed {
        process: &'a str,
    },
    Restarted {
        process: &'a str,
    },
    /// A process that was started again printed the line by which it is ready.
    Ready {
        process: &'a str,
    },
    Paused {
        process: &'a str,
    },
    Resumed {
        process: &'a str,
    },
    Separated {
        partition: usize,
    },
    Healed {
        partition: usize,
    },
    /// Nothing more is scheduled.
    FaultsOver,
}

impl<'a> From<&'a ScheduledInjection> for What<'a> {
    fn from(scheduled: &'a ScheduledInjection) -> Self {
        match &scheduled.injection {
            Injection::Crash { process } => Self::Crashed { process },
            Injection::Restart { process, .. } => Self::Restarted { process },
            Injection::Pause { process } => Self::Paused { process },
            Injection::Resume { process } => Self::Resumed { process },
            Injection::Separate { partition } => Self::Separated { partition: *partition },
            Injection::Heal { partition } => Self::Healed { partition: *partition },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_refused(line: &str, expect: &str) {
        let error = Plan::read(line).expect_err("it is no plan");
        assert!(error.contains(expect), "{error}");
    }

    #[test]
    fn a_plan_has_defaults_and_its_errors_name_the_field() {
        let plan = Plan::read(r#"{"processes": [{"name": "a", "command": ["true"]}]}"#).expect("a plan");
        let [process] = plan.processes.as_slice() else { panic!("{plan:?}") };
        assert_eq!((process.exit, process.stop, &process.ready), (ExpectedExit::Stopped, Stop::KILL, &Ready::Started));
        assert_eq!((plan.network, plan.time_scale), (None, TimeScale::REAL));
        check_refused("started", "expected value");
        check_refused(r#"{"processes": [], "fault": {}}"#, "unknown field `fault`");
        check_refused(r#"{"processes": [], "time_scale": 0}"#, "the time scale is 0");
        check_refused(r#"{"processes": [{"name": "a", "command": []}]}"#, "the command of a is empty");
        check_refused(r#"{"processes": [{"name": "../a", "command": ["a"]}]}"#, "is no name of letters");
        check_refused(r#"{"processes": [], "clients": ["peers"]}"#, "which is a placeholder");
        check_refused(r#"{"processes": [], "clients": ["a", "a"]}"#, "two processes called a");
        let slow = r#"{"processes": [], "faults": {"slow": [{"component": "a", "percent": 1}]}}"#;
        check_refused(slow, "faults: slow[0].percent is 1");
        let network = r#"{"processes": [], "network": {"partitions": [{"from_ns": 1, "groups": []}]}}"#;
        check_refused(network, "network: partitions[0].groups");
    }

    #[track_caller]
    fn check_fault(kind: &str, component: &str, expect: Option<&str>) {
        let fault = format!(r#"{{"at_ns": 1, "fault": "{kind}", "component": "{component}"}}"#);
        let fault = if kind == "pause" { fault.replace('}', r#", "for_ns": 1}"#) } else { fault };
        let processes = r#"[{"name": "server", "command": ["a"]}, {"name": "store", "command": ["a"]}]"#;
        let line =
            format!(r#"{{"processes": {processes}, "clients": ["client"], "faults": {{"schedule": [{fault}]}}}}"#);
        let plan = Plan::read(&line).expect("a plan");
        assert_eq!(plan.fault_without_process().as_deref(), expect);
    }

    #[test]
    fn a_network_with_a_component_that_is_neither_process_nor_client_is_named() {
        for (name, expect) in [
            ("server", None),
            ("client", None),
            ("sever", Some("the network of the plan names sever, but its processes and clients are: server, client")),
        ] {
            let processes = r#"[{"name": "server", "command": ["a"]}]"#;
            let partition = format!(r#"{{"from_ns": 1, "groups": [["{name}"]]}}"#);
            let line = format!(
                r#"{{"processes": {processes}, "clients": ["client"], "network": {{"partitions": [{partition}]}}}}"#
            );
            assert_eq!(Plan::read(&line).expect("a plan").stranger_in_network().as_deref(), expect);
        }
    }

    #[test]
    fn a_fault_of_a_component_that_is_neither_process_nor_client_is_named() {
        for kind in ["crash", "restart", "pause"] {
            check_fault(kind, "store", None);
            check_fault(kind, "client", None);
        }
        check_fault("crash", "sever", Some("the plan crashes sever, but its processes are: server, store"));
        check_fault("restart", "sever", Some("the plan restarts sever, but its processes are: server, store"));
        check_fault("pause", "sever", Some("the plan pauses sever, but its processes are: server, store"));
    }
}
