//! What is done to processes, and when: a pure function of the faults of a test case.

use std::collections::BTreeMap;
use std::time::Duration;

use simutant_sim_core::network::ScheduledPartition;
use simutant_sim_core::trace::DurableState;
use simutant_sim_core::{Fault, Faults, ScheduledFault, VirtualDuration, VirtualTime};

use super::TimeScale;

/// Faults of a test case as the injections that they are to processes, in order, and those that cannot be injected.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Schedule {
    /// What is done, in the order of their moments.
    pub injections: Vec<ScheduledInjection>,
    /// Faults that no injection stands for, each in words.
    pub not_injected: Vec<String>,
}

/// An injection, and when it is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScheduledInjection {
    /// How long after all processes are ready.
    pub at: Duration,
    /// When it is due in the test case's own time.
    pub virtual_at: VirtualTime,
    /// What is done.
    pub injection: Injection,
}

/// Something that is done to a process, or that the network does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Injection {
    /// The process and all that it started are killed (SIGKILL), and its connections are reset.
    Crash {
        /// The process.
        process: String,
    },
    /// A process that was killed is started again.
    Restart {
        /// The process.
        process: String,
        /// Whether it finds the files that it left.
        durable_state: DurableState,
    },
    /// The process and all that it started are stopped (SIGSTOP).
    Pause {
        /// The process.
        process: String,
    },
    /// They go on (SIGCONT).
    Resume {
        /// The process.
        process: String,
    },
    /// The network is partitioned.
    Separate {
        /// Which partition of the network it is.
        partition: usize,
    },
    /// The partition is over.
    Heal {
        /// Which partition of the network it is.
        partition: usize,
    },
}

impl ScheduledInjection {
    /// Returns when it is due, as the test case says it.
    pub(crate) fn moment(&self) -> String {
        format!("{} ms", self.virtual_at.as_nanos() / 1_000_000)
    }
}

impl Injection {
    /// Returns the process that it is done to, if it is not done to the network.
    pub fn process(&self) -> Option<&str> {
        match self {
            Self::Crash { process }
            | Self::Restart { process, .. }
            | Self::Pause { process }
            | Self::Resume { process } => Some(process),
            Self::Separate { .. } | Self::Heal { .. } => None,
        }
    }

    /// Returns whether it only undoes an earlier one.
    pub(crate) fn is_mended(&self) -> bool {
        matches!(self, Self::Restart { .. } | Self::Resume { .. } | Self::Heal { .. })
    }
}

impl std::fmt::Display for ScheduledInjection {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.injection {
            Injection::Crash { process } => write!(formatter, "crash of {process}")?,
            Injection::Restart { process, .. } => write!(formatter, "restart of {process}")?,
            Injection::Pause { process } => write!(formatter, "pause of {process}")?,
            Injection::Resume { process } => write!(formatter, "end of the pause of {process}")?,
            Injection::Separate { partition } => write!(formatter, "partition {partition}")?,
            Injection::Heal { partition } => write!(formatter, "end of partition {partition}")?,
        }
        write!(formatter, " at {}", self.moment())
    }
}

impl Schedule {
    /// Returns the schedule of `faults` and `partitions` for processes with these names.
    ///
    /// Injections of one moment stay in the order of the faults; partitions come after faults, and those that heal
    /// before those that begin. Pauses of a process that overlap are one. Components that are no process, wrong clocks
    /// and slowness are not injected.
    ///
    /// ```
    /// use std::time::Duration;
    /// use simutant_harness::{Injection, Schedule, TimeScale};
    /// use simutant_sim_core::Faults;
    ///
    /// let faults: Faults = serde_json::from_str(
    ///     r#"{"schedule": [
    ///         {"at_ns": 400000000, "fault": "crash", "component": "server"},
    ///         {"at_ns": 500000000, "fault": "pause", "component": "client", "for_ns": 1000}
    ///     ]}"#,
    /// )?;
    /// // A second of virtual time takes half a second, and the client is no process.
    /// let scale = TimeScale::new(0.5).expect("it is above 0");
    /// let schedule = Schedule::new(&faults, &[], &["server"], scale);
    /// assert_eq!(schedule.injections[0].at, Duration::from_millis(200));
    /// assert_eq!(schedule.injections[0].injection, Injection::Crash { process: "server".to_owned() });
    /// assert_eq!((schedule.injections.len(), schedule.not_injected.len()), (1, 1));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn new(faults: &Faults, partitions: &[ScheduledPartition], processes: &[&str], scale: TimeScale) -> Self {
        let mut schedule = Self::default();
        let mut pauses = pauses(faults);
        for scheduled in &faults.schedule {
            let process = scheduled.fault.component().to_owned();
            let injection = match &scheduled.fault {
                Fault::Crash { .. } => Injection::Crash { process },
                Fault::Restart { durable_state, .. } => Injection::Restart { process, durable_state: *durable_state },
                Fault::Pause { .. } => {
                    let of_process = pauses.get_mut(process.as_str());
                    // One that begins during another is a part of that one.
                    let Some(until) = of_process.and_then(|pauses| pauses.remove(&scheduled.at)) else { continue };
                    let resume = Injection::Resume { process: process.clone() };
                    schedule.add(scale.scheduled(until, resume), processes);
                    Injection::Pause { process }
                }
            };
            schedule.add(scale.scheduled(scheduled.at, injection), processes);
        }
        for (partition, scheduled) in partitions.iter().enumerate() {
            if let Some(until) = scheduled.until {
                let injection = Injection::Heal { partition };
                schedule.injections.push(scale.scheduled(until, injection));
            }
        }
        for (partition, scheduled) in partitions.iter().enumerate() {
            let injection = Injection::Separate { partition };
            schedule.injections.push(scale.scheduled(scheduled.from, injection));
        }
        schedule.injections.sort_by_key(|scheduled| scheduled.at);
        let clocks = faults
            .clocks
            .iter()
            .map(|fault| format!("wrong clock of {}: all processes have the clock of the machine", fault.component));
        let slow = faults.slow.iter().map(|fault| {
            format!("slowness of {} ({} %): all processes are as fast as the machine", fault.component, fault.percent)
        });
        schedule.not_injected.extend(clocks.chain(slow));
        schedule
    }

    /// Adds an injection to a process, if that is there.
    fn add(&mut self, scheduled: ScheduledInjection, processes: &[&str]) {
        let is_known = scheduled.injection.process().is_some_and(|process| processes.contains(&process));
        let is_mended = scheduled.injection.is_mended();
        match is_known {
            true => self.injections.push(scheduled),
            false if is_mended => {}
            false => self.not_injected.push(format!("{scheduled}: no process has this name")),
        }
    }
}

impl TimeScale {
    /// Returns an injection that is due at a moment of the test case.
    fn scheduled(self, virtual_at: VirtualTime, injection: Injection) -> ScheduledInjection {
        ScheduledInjection { at: self.moment(virtual_at), virtual_at, injection }
    }
}

/// Returns when the pauses of each component begin, and until when they last; those that overlap or touch are one.
fn pauses(faults: &Faults) -> BTreeMap<&str, BTreeMap<VirtualTime, VirtualTime>> {
    let mut all: BTreeMap<&str, Vec<(VirtualTime, VirtualTime)>> = BTreeMap::new();
    for ScheduledFault { at, fault } in &faults.schedule {
        if let Fault::Pause { component, duration } = fault
            && *duration > VirtualDuration::ZERO
        {
            let until = at.checked_add(*duration).unwrap_or(VirtualTime::MAX);
            all.entry(component).or_default().push((*at, until));
        }
    }
    let joined = |mut pauses: Vec<(VirtualTime, VirtualTime)>| {
        pauses.sort_unstable();
        let mut joined: BTreeMap<VirtualTime, VirtualTime> = BTreeMap::new();
        for (from, until) in pauses {
            match joined.last_entry() {
                Some(mut last) if from <= *last.get() => _ = last.insert(until.max(*last.get())),
                _ => _ = joined.insert(from, until),
            }
        }
        joined
    };
    all.into_iter().map(|(component, pauses)| (component, joined(pauses))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use simutant_sim_core::{ClockFault, SlowFault};

    const NAMES: [&str; 4] = ["a", "b", "c", "nobody"];

    fn fault() -> impl Strategy<Value = ScheduledFault> {
        let at = (0..40_u64).prop_map(VirtualTime::from_millis);
        (at, 0..NAMES.len(), 0..4_u8, 0..20_u64).prop_map(|(at, name, kind, millis)| {
            let component = NAMES[name].to_owned();
            let fault = match kind {
                0 => Fault::Crash { component },
                1 => Fault::Restart { component, durable_state: DurableState::Kept },
                2 => Fault::Restart { component, durable_state: DurableState::Lost },
                _ => Fault::Pause { component, duration: VirtualDuration::from_millis(millis) },
            };
            ScheduledFault { at, fault }
        })
    }

    fn partition() -> impl Strategy<Value = ScheduledPartition> {
        (0..40_u64, prop::option::of(1..20_u64)).prop_map(|(from, lasts)| ScheduledPartition {
            from: VirtualTime::from_millis(from),
            until: lasts.map(|lasts| VirtualTime::from_millis(from + lasts)),
            groups: vec![vec!["a".into()]],
        })
    }

    /// Returns in which milliseconds a process is paused, by the faults themselves.
    fn paused_by_faults(faults: &Faults, process: &str) -> Vec<u64> {
        let covers = |millis: u64| {
            faults.schedule.iter().any(|ScheduledFault { at, fault }| match fault {
                Fault::Pause { component, duration } if component == process => {
                    let from = at.as_nanos() / 1_000_000;
                    (from..from + duration.as_nanos() / 1_000_000).contains(&millis)
                }
                _ => false,
            })
        };
        (0..100).filter(|&millis| covers(millis)).collect()
    }

    /// Returns in which milliseconds a process is paused, by the injections in their order.
    fn paused_by_injections(schedule: &Schedule, process: &str, scale: f64) -> Vec<u64> {
        let mut is_paused = false;
        let mut injections = schedule.injections.iter().peekable();
        let paused = (0..100_u64).filter(|&millis| {
            let now = Duration::from_secs_f64(millis as f64 / 1e3 * scale + 1e-7);
            while let Some(scheduled) = injections.next_if(|scheduled| scheduled.at <= now) {
                match &scheduled.injection {
                    Injection::Pause { process: of } if of == process => {
                        assert!(!is_paused, "{scheduled}: it is paused already");
                        is_paused = true;
                    }
                    Injection::Resume { process: of } if of == process => {
                        assert!(is_paused, "{scheduled}: it is not paused");
                        is_paused = false;
                    }
                    _ => {}
                }
            }
            is_paused
        });
        paused.collect()
    }

    proptest! {
        #[test]
        fn a_schedule_is_in_order_and_has_every_fault_of_a_process_once(
            schedule in prop::collection::vec(fault(), 0..12),
            partitions in prop::collection::vec(partition(), 0..4),
            scale in prop::sample::select(vec![0.5, 1.0, 4.0]),
        ) {
            let faults = Faults { schedule, ..Faults::default() };
            let made = Schedule::new(&faults, &partitions, &NAMES[..3], TimeScale::new(scale).expect("above 0"));
            prop_assert!(made.injections.is_sorted_by_key(|scheduled| scheduled.at));
            for process in &NAMES[..3] {
                let mut expect: Vec<(Duration, Injection)> = faults
                    .schedule
                    .iter()
                    .filter(|scheduled| scheduled.fault.component() == *process)
                    .filter_map(|ScheduledFault { at, fault }| {
                        let process = (*process).to_owned();
                        let real = Duration::from_nanos((at.as_nanos() as f64 * scale) as u64);
                        match fault {
                            Fault::Crash { .. } => Some((real, Injection::Crash { process })),
                            Fault::Restart { durable_state, .. } => {
                                Some((real, Injection::Restart { process, durable_state: *durable_state }))
                            }
                            Fault::Pause { .. } => None,
                        }
                    })
                    .collect();
                expect.sort_by_key(|(at, _)| *at);
                let is_of_process = |scheduled: &&ScheduledInjection| match &scheduled.injection {
                    Injection::Crash { process: of } | Injection::Restart { process: of, .. } => of == process,
                    _ => false,
                };
                let found = made.injections.iter().filter(is_of_process);
                let found: Vec<_> = found.map(|scheduled| (scheduled.at, scheduled.injection.clone())).collect();
                prop_assert_eq!(found, expect);
                prop_assert_eq!(paused_by_injections(&made, process, scale), paused_by_faults(&faults, process));
            }
        }

        #[test]
        fn partitions_heal_before_others_begin_and_nobody_is_left_out(
            partitions in prop::collection::vec(partition(), 0..6),
        ) {
            let made = Schedule::new(&Faults::default(), &partitions, &[], TimeScale::REAL);
            let heals = partitions.iter().filter(|partition| partition.until.is_some()).count();
            prop_assert_eq!(made.injections.len(), partitions.len() + heals);
            for pair in made.injections.windows(2).filter(|pair| pair[0].at == pair[1].at) {
                let is_heal = |scheduled: &ScheduledInjection| matches!(scheduled.injection, Injection::Heal { .. });
                prop_assert!(is_heal(&pair[0]) || !is_heal(&pair[1]), "{:?}", pair);
            }
        }
    }

    #[test]
    fn what_cannot_be_injected_is_said() {
        let component = || "a".to_owned();
        let crash = Fault::Crash { component: "client".into() };
        let restart = Fault::Restart { component: "client".into(), durable_state: DurableState::Kept };
        let at = VirtualTime::from_millis;
        let schedule =
            vec![ScheduledFault { at: at(1_500), fault: crash }, ScheduledFault { at: at(2_000), fault: restart }];
        let clocks = vec![ClockFault { component: component(), clock: simutant_sim_core::Clock::default() }];
        let slow = vec![SlowFault { component: component(), percent: 300 }];
        let twice = TimeScale::new(2.0).expect("above 0");
        let made = Schedule::new(&Faults { schedule, clocks, slow }, &[], &["a"], twice);
        assert_eq!(made.injections, []);
        insta::assert_snapshot!(made.not_injected.join("\n"), @r"
        crash of client at 1500 ms: no process has this name
        wrong clock of a: all processes have the clock of the machine
        slowness of a (300 %): all processes are as fast as the machine
        ");
    }
}
