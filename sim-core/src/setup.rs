//! What is set of a run, whatever its messages are: all systems share it, so it is compiled once, and not with each.

use std::collections::{BTreeMap, BTreeSet};

use crate::choice::Choices;
use crate::components::Components;
use crate::executor::Change;
use crate::fault::{Fault, Faults};
use crate::kernel::EVERYONE;
use crate::message::{ComponentId, Group};
use crate::network::{NetworkState, network_seed, some_names};
use crate::outlined::outline;
use crate::trace::TraceEvent;
use crate::{CheckFailure, InvalidFaults, InvalidNetwork, Limits, Network, Random, VirtualTime};

/// The order of events of one instant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum TieOrder {
    /// The one that was scheduled first.
    #[default]
    Scheduling,
    /// Each is equally likely, by the seed: to find out what relies on an order that no network promises. Scheduled
    /// faults and partitions come first all the same.
    Random,
}

/// A configuration that cannot be: nothing of it runs.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidConfiguration {
    /// Two components have one name; give one of them another.
    #[error("there are two components called {name}: give one of them another name")]
    NameTwice {
        /// The name.
        name: String,
    },
    /// A component or group has a name that would be mistaken for something else; give it another.
    #[error("the name {name:?} cannot be: {reason}")]
    Name {
        /// The name.
        name: String,
        /// Why not.
        reason: &'static str,
    },
    /// The network cannot be.
    #[error("network: {0}")]
    Network(#[from] InvalidNetwork),
    /// The faults cannot be.
    #[error("faults: {0}")]
    Faults(#[from] InvalidFaults),
}

/// What a check of the end state does with the trace, which is empty unless a check looks at it.
pub(crate) type CheckTrace = Box<dyn FnOnce(&[TraceEvent]) -> Result<(), CheckFailure>>;

/// A check of the end state.
pub(crate) struct FinalCheck {
    pub(crate) name: String,
    pub(crate) check: CheckTrace,
}

/// What is set of a run.
pub(crate) struct Setup {
    pub(crate) network: Network,
    pub(crate) faults: Faults,
    pub(crate) limits: Limits,
    pub(crate) checks: Vec<FinalCheck>,
    /// Whether a check looks at the trace.
    pub(crate) checks_trace: bool,
    /// Whether the report has the trace.
    pub(crate) reports_trace: bool,
    pub(crate) tie_order: TieOrder,
    pub(crate) choices: Choices,
    seed: u64,
    pub(crate) random: Random,
    ids: BTreeMap<String, ComponentId>,
    groups: BTreeMap<String, Group>,
    /// The first name that was given to two components.
    name_twice: Option<String>,
}

outline!(Setup, Vec<(VirtualTime, Change)>);

impl Setup {
    pub(crate) fn new(seed: u64) -> Self {
        Self {
            network: Network::default(),
            faults: Faults::default(),
            limits: Limits::default(),
            checks: Vec::new(),
            checks_trace: false,
            reports_trace: false,
            tie_order: TieOrder::default(),
            choices: Choices::default(),
            seed,
            random: Random::from_seed(seed),
            ids: BTreeMap::new(),
            groups: BTreeMap::new(),
            name_twice: None,
        }
    }

    // What these put something in the place of is dropped here, and not by the crate of a system.

    #[inline(never)]
    pub(crate) fn set_network(&mut self, network: Network) {
        self.network = network;
    }

    #[inline(never)]
    pub(crate) fn set_faults(&mut self, faults: Faults) {
        self.faults = faults;
    }

    /// Returns the component called `name`, if there is one.
    pub(crate) fn id(&self, name: &str) -> Option<ComponentId> {
        self.ids.get(name).copied()
    }

    pub(crate) fn name_component(&mut self, name: &str, id: ComponentId) {
        self.ids.insert(name.to_owned(), id);
    }

    pub(crate) fn ids(&self) -> &BTreeMap<String, ComponentId> {
        &self.ids
    }

    /// Returns the group called `name`, if there is one.
    pub(crate) fn group(&self, name: &str) -> Option<Group> {
        self.groups.get(name).copied()
    }

    pub(crate) fn name_group(&mut self, name: &str, group: Group) {
        self.groups.insert(name.to_owned(), group);
    }

    /// Notes that two components were given one name.
    pub(crate) fn note_name_twice(&mut self, name: &str) {
        self.name_twice.get_or_insert_with(|| name.to_owned());
    }

    /// Returns the network of the run, and what happens by schedule.
    ///
    /// `components` are those of the run, and `restartable` says which can be restarted.
    pub(crate) fn compile(
        &self,
        components: &Components,
        restartable: &BTreeSet<ComponentId>,
    ) -> Result<(NetworkState, Vec<(VirtualTime, Change)>), InvalidConfiguration> {
        if let Some(name) = self.name_twice.clone() {
            return Err(InvalidConfiguration::NameTwice { name });
        }
        for name in self.ids.keys().chain(self.groups.keys()) {
            let reason = if name.is_empty() {
                "it is empty"
            } else if name.contains("->") {
                "\"->\" stands between the two ends of a packet"
            } else if name == EVERYONE {
                "it stands for all components"
            } else if self.ids.contains_key(name) && self.groups.contains_key(name) {
                "a component and a group have it"
            } else {
                continue;
            };
            return Err(InvalidConfiguration::Name { name: name.clone(), reason });
        }
        let names: Vec<String> = components.added_names().map(str::to_owned).collect();
        let network = NetworkState::new(&self.network, &names, network_seed(self.seed))?;
        self.faults.validate()?;
        for (field, name) in self.faults.names() {
            if !self.ids.get(name).is_some_and(|&id| components.is_added(id)) {
                let allowed = format!("the name of a component: {}", some_names(&names));
                return Err(InvalidFaults { field, value: format!("{name:?}"), allowed }.into());
            }
        }
        let mut changes = Vec::new();
        for (index, scheduled) in self.faults.schedule.iter().enumerate() {
            let component = self.ids[scheduled.fault.component()];
            if matches!(scheduled.fault, Fault::Restart { .. }) && !restartable.contains(&component) {
                return Err(InvalidFaults {
                    field: format!("schedule[{index}].component"),
                    value: format!("{:?}", scheduled.fault.component()),
                    allowed: "a component that was added by add_restartable, since it is to restart".to_owned(),
                }
                .into());
            }
            changes.push((scheduled.at, Change::Fault(scheduled.fault.clone(), component)));
        }
        for (at, change) in self.network.scheduled() {
            changes.push((at, Change::Partition(change, self.network.partitions[change.index()].groups.clone())));
        }
        Ok((network, changes))
    }

    /// Sets how fast the components' clocks and the components are.
    pub(crate) fn set_speeds(&self, components: &mut Components) {
        for fault in &self.faults.clocks {
            components.set_clock(self.ids[&fault.component], fault.clock);
        }
        for fault in &self.faults.slow {
            components.set_pause_percent(self.ids[&fault.component], fault.percent);
        }
    }

    /// Returns who makes the choices of the run; they know the components' generators by name.
    pub(crate) fn take_choices(&mut self) -> Choices {
        let mut choices = std::mem::take(&mut self.choices);
        if choices.is_active() {
            for name in self.ids.keys() {
                let seed = self.component_random(name).seed();
                choices.name_stream(seed, format!("component {name}"));
            }
        }
        choices
    }

    /// Returns the generator of a component.
    pub(crate) fn component_random(&self, name: &str) -> Random {
        self.random.stream(&format!("component/{name}"))
    }

    /// Returns what decides between simultaneous events, unless it is the order of scheduling.
    pub(crate) fn order(&self) -> Option<Random> {
        (self.tie_order == TieOrder::Random).then(|| self.random.stream("order"))
    }
}
