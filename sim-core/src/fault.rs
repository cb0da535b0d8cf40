//! Faults of components: what a test case does to them.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::network::ScheduledPartition;
use crate::trace::DurableState;
use crate::{Clock, Random, VirtualDuration, VirtualTime};

/// Faults of the components in a run. They are a value: a test case can hold one. By default there are none.
///
/// Faults of the network are in [`Network`](crate::Network).
///
/// ```
/// use simutant_sim_core::{Fault, Faults};
///
/// let faults: Faults = serde_json::from_str(
///     r#"{
///         "schedule": [{"at_ns": 2000000000, "fault": "crash", "component": "a"}],
///         "clocks": [{"component": "b", "drift_ns_per_s": 50000}],
///         "slow": [{"component": "c", "percent": 50}]
///     }"#,
/// )?;
/// assert_eq!(faults.schedule[0].fault, Fault::Crash { component: "a".to_owned() });
/// let error = faults.validate().expect_err("this component is fast");
/// assert_eq!(error.to_string(), "slow[0].percent is 50: it must be 100 or more");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Faults {
    /// What happens, and when. Faults of one instant happen in this order, before anything else of that instant.
    pub schedule: Vec<ScheduledFault>,
    /// Clocks that are wrong.
    pub clocks: Vec<ClockFault>,
    /// Components that are slow.
    pub slow: Vec<SlowFault>,
}

/// A fault, and when it happens.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScheduledFault {
    /// When.
    #[serde(rename = "at_ns")]
    pub at: VirtualTime,
    /// The fault.
    #[serde(flatten)]
    pub fault: Fault,
}

/// Something that happens to a component.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "fault", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Fault {
    /// Its tasks stop at once, wherever they wait; its channels close, its streams break, its state is gone but for
    /// what it calls [durable](crate::Context::durable). Nothing happens to a component that is down already.
    Crash {
        /// The component.
        component: String,
    },
    /// It begins again. Nothing happens to a component that is up.
    Restart {
        /// The component, which was added by [`add_restartable`](crate::Simulation::add_restartable).
        component: String,
        /// Whether it finds its durable state.
        #[serde(default)]
        durable_state: DurableState,
    },
    /// It stops for a time, as a garbage collector makes it: timers that are due and messages that arrive wait for it.
    Pause {
        /// The component.
        component: String,
        /// For how long.
        #[serde(rename = "for_ns")]
        duration: VirtualDuration,
    },
}

impl Fault {
    /// Returns the name of the component that it happens to.
    pub fn component(&self) -> &str {
        match self {
            Self::Crash { component } | Self::Restart { component, .. } | Self::Pause { component, .. } => component,
        }
    }
}

/// A component whose clock is wrong.
///
/// ```
/// use simutant_sim_core::{Clock, ClockFault, Faults, Message, Simulation, VirtualDuration, VirtualTime};
///
/// # #[derive(Debug, Clone, Hash)]
/// # struct Nothing;
/// # impl Message for Nothing {
/// #     fn kind(&self) -> &'static str { "NOTHING" }
/// # }
/// let mut simulation = Simulation::<Nothing>::new(1);
/// // It gains a second in four, so it waits for 8 s instead of 10 s.
/// let clock = Clock { drift_ns_per_s: 250_000_000, ..Clock::default() };
/// let clocks = vec![ClockFault { component: "a".to_owned(), clock }];
/// simulation.faults(Faults { clocks, ..Faults::default() });
/// simulation
///     .add("a", |context| async move {
///         context.sleep(VirtualDuration::from_secs(10)).await;
///         context.now()
///     })
///     .expecting(VirtualTime::from_secs(10));
/// let report = simulation.run();
/// assert!(report.ended.passed());
/// assert_eq!(report.ended_at, VirtualTime::from_secs(8));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "ClockFaultFields")]
pub struct ClockFault {
    /// The component.
    pub component: String,
    /// Its clock.
    #[serde(flatten)]
    pub clock: Clock,
}

/// A [`ClockFault`] as it is read: serde passes over fields that it does not know wherever something is flattened.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClockFaultFields {
    component: String,
    #[serde(default)]
    offset_ns: u64,
    #[serde(default)]
    drift_ns_per_s: i64,
}

impl From<ClockFaultFields> for ClockFault {
    fn from(fields: ClockFaultFields) -> Self {
        let ClockFaultFields { component, offset_ns, drift_ns_per_s } = fields;
        Self { component, clock: Clock { offset_ns, drift_ns_per_s } }
    }
}

/// A component that is slow: its [pauses](crate::Context::pause), which stand for its work, last longer. Its timeouts
/// do not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SlowFault {
    /// The component.
    pub component: String,
    /// How long its pauses last, in percent of what they should: 100 or more.
    pub percent: u32,
}

/// Faults that come at random, as a Poisson process each: a time to the next fault, and how long it lasts, both
/// exponentially distributed.
///
/// [`RandomFaults::draw`] makes a schedule of them, so a test case can hold either: the rates, or what came of them.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RandomFaults {
    /// No fault begins after this time; those that last end after it.
    #[serde(rename = "until_ns")]
    pub until: VirtualTime,
    /// Crashes, each followed by a restart.
    pub crash: Option<FaultRate>,
    /// What a restart finds of durable state.
    pub durable_state: DurableState,
    /// Pauses.
    pub pause: Option<FaultRate>,
    /// Partitions of the components into two groups, each healed. The rate is that of the whole network.
    pub partition: Option<FaultRate>,
}

/// The rate of a fault, and its mean duration.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FaultRate {
    /// The mean time to the next fault, counted from the end of the last one. Not zero.
    #[serde(rename = "mean_interval_ns")]
    pub interval_mean: VirtualDuration,
    /// The mean time that it lasts.
    #[serde(rename = "mean_duration_ns")]
    pub duration_mean: VirtualDuration,
}

impl RandomFaults {
    /// Checks what the types of the fields leave open.
    ///
    /// # Errors
    /// [`InvalidFaults`] for a mean interval of zero, with which faults would come without end.
    pub fn validate(&self) -> Result<(), InvalidFaults> {
        for (field, rate) in [("crash", self.crash), ("pause", self.pause), ("partition", self.partition)] {
            if rate.is_some_and(|rate| rate.interval_mean == VirtualDuration::ZERO) {
                let (field, value) = (format!("{field}.mean_interval_ns"), "0".to_owned());
                return Err(InvalidFaults { field, value, allowed: "at least 1".to_owned() });
            }
        }
        Ok(())
    }

    /// Draws faults of components, and partitions of the network that they are in.
    ///
    /// Each component draws from a stream of its own, so another component shifts no other faults.
    ///
    /// ```
    /// use simutant_sim_core::{Fault, FaultRate, Random, RandomFaults, VirtualDuration, VirtualTime};
    ///
    /// let (interval_mean, duration_mean) = (VirtualDuration::from_secs(10), VirtualDuration::from_secs(1));
    /// let crash = Some(FaultRate { interval_mean, duration_mean });
    /// let rates = RandomFaults { until: VirtualTime::from_secs(600), crash, ..RandomFaults::default() };
    /// let draw = |components: &[&str]| rates.draw(&Random::from_seed(7), components).0.schedule;
    /// let crashes = |fault: &Fault| matches!(fault, Fault::Crash { .. });
    /// let alone = draw(&["a"]);
    /// assert!(alone.iter().filter(|scheduled| crashes(&scheduled.fault)).count() > 10);
    /// // Another component shifts no faults.
    /// let mut of_a = draw(&["a", "b"]);
    /// of_a.retain(|scheduled| scheduled.fault.component() == "a");
    /// assert_eq!(of_a, alone);
    /// ```
    ///
    /// # Panics
    /// If [`RandomFaults::validate`] refuses them.
    pub fn draw(&self, random: &Random, components: &[&str]) -> (Faults, Vec<ScheduledPartition>) {
        if let Err(error) = self.validate() {
            panic!("the random faults are invalid: {error}");
        }
        let mut schedule = Vec::new();
        for component in components {
            let component = (*component).to_owned();
            if let Some(rate) = self.crash {
                let random = &mut random.stream(&format!("crash/{component}"));
                for (from, duration) in rate.draw(random, self.until) {
                    let crash = Fault::Crash { component: component.clone() };
                    schedule.push(ScheduledFault { at: from, fault: crash });
                    let restart = Fault::Restart { component: component.clone(), durable_state: self.durable_state };
                    schedule.push(ScheduledFault { at: from + duration, fault: restart });
                }
            }
            if let Some(rate) = self.pause {
                let random = &mut random.stream(&format!("pause/{component}"));
                for (from, duration) in rate.draw(random, self.until) {
                    let pause = Fault::Pause { component: component.clone(), duration };
                    schedule.push(ScheduledFault { at: from, fault: pause });
                }
            }
        }
        schedule.sort_by_key(|scheduled| scheduled.at);
        let mut partitions = Vec::new();
        if let (Some(rate), true) = (self.partition, components.len() >= 2) {
            let random = &mut random.stream("partition");
            for (from, duration) in rate.draw(random, self.until) {
                let mut names: Vec<String> = components.iter().map(|&name| name.to_owned()).collect();
                random.shuffle(&mut names);
                let rest = names.split_off(random.uniform(1..names.len()));
                // A partition that lasts no time is none, and a network refuses it.
                let until = from + duration.max(VirtualDuration::from_nanos(1));
                partitions.push(ScheduledPartition { from, until: Some(until), groups: vec![names, rest] });
            }
        }
        (Faults { schedule, ..Faults::default() }, partitions)
    }
}

impl FaultRate {
    /// Draws when faults begin, and how long each lasts.
    fn draw(self, random: &mut Random, until: VirtualTime) -> Vec<(VirtualTime, VirtualDuration)> {
        let mut faults = Vec::new();
        let mut at = VirtualTime::ZERO + random.exponential(self.interval_mean);
        // The end of time does not come.
        while at <= until && at < VirtualTime::MAX {
            let duration = random.exponential(self.duration_mean);
            faults.push((at, duration));
            at += duration + random.exponential(self.interval_mean);
        }
        faults
    }
}

impl Faults {
    /// Returns whether nothing goes wrong.
    pub fn is_empty(&self) -> bool {
        self.schedule.is_empty() && self.clocks.is_empty() && self.slow.is_empty()
    }

    /// Checks what needs no component: the error names the field.
    ///
    /// # Errors
    /// [`InvalidFaults`] for the first field that cannot be.
    pub fn validate(&self) -> Result<(), InvalidFaults> {
        for (index, ClockFault { clock, .. }) in self.clocks.iter().enumerate() {
            if !clock.is_valid() {
                return Err(InvalidFaults {
                    field: format!("clocks[{index}].drift_ns_per_s"),
                    value: clock.drift_ns_per_s.to_string(),
                    allowed: "above -1000000000, with which the clock stands still, and at most 1000000000000".into(),
                });
            }
        }
        let twice = |mut names: Box<dyn Iterator<Item = &String> + '_>, list: &str| {
            let mut seen = BTreeSet::new();
            let (index, name) = names.by_ref().enumerate().find(|(_, name)| !seen.insert((*name).clone()))?;
            let (value, allowed) = (format!("{name:?}"), "a component that was not named before".to_owned());
            Some(InvalidFaults { field: format!("{list}[{index}].component"), value, allowed })
        };
        for (index, SlowFault { percent, .. }) in self.slow.iter().enumerate() {
            if *percent < 100 {
                return Err(InvalidFaults {
                    field: format!("slow[{index}].percent"),
                    value: percent.to_string(),
                    allowed: "100 or more".into(),
                });
            }
        }
        let clocks = twice(Box::new(self.clocks.iter().map(|fault| &fault.component)), "clocks");
        if let Some(error) = clocks.or_else(|| twice(Box::new(self.slow.iter().map(|fault| &fault.component)), "slow"))
        {
            return Err(error);
        }
        Ok(())
    }

    /// Returns each component that is named, with the way to the field that names it.
    pub(crate) fn names(&self) -> impl Iterator<Item = (String, &str)> {
        let schedule = self.schedule.iter().enumerate();
        let schedule = schedule.map(|(at, fault)| (format!("schedule[{at}].component"), fault.fault.component()));
        let clocks = self.clocks.iter().enumerate();
        let clocks = clocks.map(|(at, fault)| (format!("clocks[{at}].component"), fault.component.as_str()));
        let slow = self.slow.iter().enumerate();
        let slow = slow.map(|(at, fault)| (format!("slow[{at}].component"), fault.component.as_str()));
        schedule.chain(clocks).chain(slow)
    }
}

/// Faults that cannot be: the field as JSON has it, its value, and what is allowed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{field} is {value}: it must be {allowed}")]
pub struct InvalidFaults {
    /// The way to the field, for example `schedule[2].component`.
    pub field: String,
    /// Its value.
    pub value: String,
    /// What it may be.
    pub allowed: String,
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Crash { component } => write!(formatter, "{component} crashes"),
            Self::Restart { component, .. } => write!(formatter, "{component} restarts"),
            Self::Pause { component, duration } => write!(formatter, "{component} stops for {duration}"),
        }
    }
}
