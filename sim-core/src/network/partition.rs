//! Partitions: groups of components that cannot reach each other, for a time.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::invalid::Field;
use super::{InvalidNetwork, Names};
use crate::VirtualTime;
use crate::message::ComponentId;

/// A partition that comes and goes by schedule.
///
/// Packets between different groups are lost, whether they are sent meanwhile or arrive meanwhile. Partitions may
/// overlap: what any of them separates is separated. On a path of several links, each link between different groups is
/// cut; packets look for no other path.
///
/// ```
/// use simutant_sim_core::Network;
///
/// let json = r#"{"partitions": [{"from_ns": 5, "until_ns": 5, "groups": [["a"], ["b", "c"]]}]}"#;
/// let network: Network = serde_json::from_str(json)?;
/// // A partition that lasts no time is refused.
/// let error = network.validate().expect_err("it heals when it comes");
/// assert_eq!(error.to_string(), "partitions[0].until_ns is 5: it must be above from_ns, which is 5");
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ScheduledPartition {
    /// When it comes.
    #[serde(rename = "from_ns")]
    pub from: VirtualTime,
    /// When it heals; never if this is left out.
    #[serde(rename = "until_ns", default)]
    pub until: Option<VirtualTime>,
    /// The names of the components in each group. Those that are in none form one more group.
    pub groups: Vec<Vec<String>>,
}

impl ScheduledPartition {
    pub(super) fn validate(&self, field: &Field<'_>) -> Result<(), InvalidNetwork> {
        if let Some(until) = self.until.filter(|until| *until <= self.from) {
            let allowed = format!("above from_ns, which is {}", self.from.as_nanos());
            return Err(field.child("until_ns").refuse(until.as_nanos(), allowed));
        }
        let groups_field = field.child("groups");
        if self.groups.is_empty() {
            return Err(groups_field.refuse("[]", "a list of at least one group"));
        }
        let mut seen = BTreeSet::new();
        for (index, group) in self.groups.iter().enumerate() {
            let group_field = groups_field.element(index);
            if group.is_empty() {
                return Err(group_field.refuse("[]", "a list of at least one component"));
            }
            if let Some(twice) = group.iter().find(|name| !seen.insert(name.as_str())) {
                return Err(group_field.refuse(format_args!("a group with {twice:?}"), "without who was named before"));
            }
        }
        Ok(())
    }
}

/// What the schedule of a network does to it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum PartitionChange {
    /// The partition with this index among [`Network::partitions`](crate::Network) heals.
    Heal(usize),
    /// It comes.
    Begin(usize),
}

impl PartitionChange {
    /// Returns the index of the partition.
    pub(crate) fn index(self) -> usize {
        match self {
            Self::Heal(index) | Self::Begin(index) => index,
        }
    }
}

/// Who is separated.
#[derive(Debug, Clone, Default)]
pub(super) struct Partitions {
    /// By index in the schedule: the number of each component's group.
    scheduled: Vec<Vec<u32>>,
    /// Those of the schedule that hold now.
    active: BTreeSet<usize>,
    /// The number of each component's class: two are in one class if no active partition separates them. Empty if none
    /// is active.
    classes: Vec<u32>,
}

impl Partitions {
    pub(super) fn new(schedule: &[ScheduledPartition], names: &Names<'_>) -> Result<Self, InvalidNetwork> {
        let mut scheduled = Vec::with_capacity(schedule.len());
        for (index, partition) in schedule.iter().enumerate() {
            let field = Field::root("partitions").element(index);
            let groups_field = field.child("groups");
            let mut groups = Vec::with_capacity(partition.groups.len());
            for (group_index, group) in partition.groups.iter().enumerate() {
                let group_field = groups_field.element(group_index);
                let find = |(index, name): (usize, &String)| names.find(name, &group_field.element(index));
                groups.push(group.iter().enumerate().map(find).collect::<Result<Vec<_>, _>>()?);
            }
            scheduled.push(group_numbers(&groups, names.len()));
        }
        Ok(Self { scheduled, ..Self::default() })
    }

    pub(super) fn is_active(&self) -> bool {
        !self.classes.is_empty()
    }

    #[inline]
    pub(super) fn is_separated(&self, source: ComponentId, destination: ComponentId) -> bool {
        self.is_active() && self.classes[source.index()] != self.classes[destination.index()]
    }

    pub(super) fn change(&mut self, change: PartitionChange) {
        match change {
            PartitionChange::Begin(index) => self.active.insert(index),
            PartitionChange::Heal(index) => self.active.remove(&index),
        };
        self.classify();
    }

    fn classify(&mut self) {
        let active: Vec<&Vec<u32>> = self.active.iter().map(|index| &self.scheduled[*index]).collect();
        let components = active.first().map_or(0, |numbers| numbers.len());
        let mut classes = BTreeMap::new();
        let mut class_of = |component: usize| {
            let numbers: Vec<u32> = active.iter().map(|partition| partition[component]).collect();
            let next = classes.len() as u32;
            *classes.entry(numbers).or_insert(next)
        };
        self.classes = (0..components).map(&mut class_of).collect();
    }
}

/// Returns the number of each component's group: from 1, and 0 for those that are in none.
fn group_numbers(groups: &[Vec<ComponentId>], components: usize) -> Vec<u32> {
    let mut numbers = vec![0; components];
    for (number, group) in (1..).zip(groups) {
        group.iter().for_each(|component| numbers[component.index()] = number);
    }
    numbers
}
