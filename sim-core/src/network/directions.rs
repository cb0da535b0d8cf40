//! The directions of all links: how each is, and what it remembers.

use std::collections::BTreeMap;

use super::bandwidth::Queue;
use super::invalid::Field;
use super::link::Direction;
use super::loss::BurstState;
use super::{InvalidNetwork, Link, Names, Network};
use crate::message::ComponentId;

/// The directions of the links between all components.
#[derive(Debug, Clone)]
pub(super) struct Directions {
    /// The link that the settings do not set.
    link: Link,
    settings: Settings,
    /// By source: the directions that packets have gone, by destination. Empty if links neither differ nor remember.
    of_source: Vec<BTreeMap<ComponentId, LinkDirection>>,
}

/// The [settings](super::LinkSetting) of a network, found by the ends of a packet however many there are.
#[derive(Debug, Clone)]
struct Settings {
    /// In the order of the network's list.
    links: Vec<Link>,
    /// By source and destination, of which one or both may be left out: the index of the last setting for just these.
    last: BTreeMap<Ends, usize>,
}

/// The source and the destination of a packet, or any component.
type Ends = (Option<ComponentId>, Option<ComponentId>);

#[derive(Debug, Clone)]
struct LinkDirection {
    /// The index of its setting.
    setting: Option<usize>,
    memory: LinkMemory,
}

/// What a direction of a link remembers of the packets that reached it.
#[derive(Debug, Clone, Default)]
pub(super) struct LinkMemory {
    pub(super) burst_state: BurstState,
    pub(super) queue: Queue,
}

impl Directions {
    pub(super) fn new(network: &Network, names: &Names<'_>) -> Result<Self, InvalidNetwork> {
        let mut settings = Settings { links: Vec::with_capacity(network.links.len()), last: BTreeMap::new() };
        for (index, setting) in network.links.iter().enumerate() {
            let field = Field::root("links").element(index);
            let from = names.find_optional(setting.from.as_deref(), &field.child("from"))?;
            let to = names.find_optional(setting.to.as_deref(), &field.child("to"))?;
            settings.last.insert((from, to), index);
            if setting.direction == Direction::Both {
                settings.last.insert((to, from), index);
            }
            settings.links.push(setting.link.clone());
        }
        let is_needed = !settings.links.is_empty() || network.link.has_state();
        let of_source = vec![BTreeMap::new(); if is_needed { names.len() } else { 0 }];
        Ok(Self { link: network.link.clone(), settings, of_source })
    }

    /// Returns whether links differ or remember. If not, no packet needs to be told of.
    pub(super) fn are_needed(&self) -> bool {
        !self.of_source.is_empty()
    }

    /// Returns the link from one component to another, and the state that the packets before have left it in.
    pub(super) fn get(&self, source: ComponentId, destination: ComponentId) -> (&Link, BurstState) {
        if !self.are_needed() {
            return (&self.link, BurstState::default());
        }
        let (setting, burst_state) = match self.of_source[source.index()].get(&destination) {
            Some(direction) => (direction.setting, direction.memory.burst_state),
            None => (self.settings.find(source, destination), BurstState::default()),
        };
        (setting.map_or(&self.link, |setting| &self.settings.links[setting]), burst_state)
    }

    /// Returns the link from one component to another, and its memory for the packet that reaches it now.
    pub(super) fn reach(&mut self, source: ComponentId, destination: ComponentId) -> (&Link, &mut LinkMemory) {
        let settings = &self.settings;
        let direction = self.of_source[source.index()].entry(destination).or_insert_with(|| LinkDirection {
            setting: settings.find(source, destination),
            memory: LinkMemory::default(),
        });
        let link = direction.setting.map_or(&self.link, |setting| &settings.links[setting]);
        (link, &mut direction.memory)
    }
}

impl Settings {
    /// Returns the index of the last setting that matches.
    fn find(&self, source: ComponentId, destination: ComponentId) -> Option<usize> {
        let (from, to) = (Some(source), Some(destination));
        let matching = [(from, to), (from, None), (None, to), (None, None)];
        matching.iter().filter_map(|ends| self.last.get(ends).copied()).max()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::network::LinkSetting;

    const NAMES: [&str; 4] = ["a", "b", "c", "d"];

    fn any_setting() -> impl Strategy<Value = LinkSetting> {
        let any_end = || prop::option::of(prop::sample::select(NAMES.map(str::to_owned).to_vec()));
        let any_direction = prop::sample::select(vec![Direction::Both, Direction::Forward]);
        (any_end(), any_end(), any_direction).prop_map(|(from, to, direction)| LinkSetting {
            from,
            to,
            direction,
            link: Link::default(),
        })
    }

    /// Returns the last setting that matches, as the documentation of a network says it.
    fn last_matching(settings: &[LinkSetting], source: &str, destination: &str) -> Option<usize> {
        let is_end = |end: &Option<String>, name| end.as_deref().is_none_or(|end| end == name);
        settings.iter().rposition(|setting| {
            let is_forward = is_end(&setting.from, source) && is_end(&setting.to, destination);
            let is_back = is_end(&setting.from, destination) && is_end(&setting.to, source);
            is_forward || setting.direction == Direction::Both && is_back
        })
    }

    proptest! {
        #[test]
        fn of_the_settings_that_match_the_last_holds(links in prop::collection::vec(any_setting(), 0..12)) {
            let names = NAMES.map(str::to_owned);
            let network = Network { links: links.clone(), ..Network::default() };
            let directions = Directions::new(&network, &Names::new(&names)).expect("the components are known");
            for (source, source_id) in NAMES.iter().zip((0..).map(ComponentId)) {
                for (destination, destination_id) in NAMES.iter().zip((0..).map(ComponentId)) {
                    let found = directions.settings.find(source_id, destination_id);
                    prop_assert_eq!(found, last_matching(&links, source, destination));
                }
            }
        }
    }
}
