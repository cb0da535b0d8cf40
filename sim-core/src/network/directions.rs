//! The directions of all links: how each is, and what it remembers.

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
    settings: Vec<Setting>,
    /// By source: the directions that packets have gone, ascending by destination. Empty if links neither differ nor remember.
    of_source: Vec<Vec<LinkDirection>>,
}

/// A [`LinkSetting`](super::LinkSetting) whose components were found.
#[derive(Debug, Clone)]
struct Setting {
    from: Option<ComponentId>,
    to: Option<ComponentId>,
    direction: Direction,
    link: Link,
}

#[derive(Debug, Clone)]
struct LinkDirection {
    destination: ComponentId,
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
        let mut settings = Vec::with_capacity(network.links.len());
        for (index, setting) in network.links.iter().enumerate() {
            let field = Field::root("links").element(index);
            settings.push(Setting {
                from: names.find_optional(setting.from.as_deref(), &field.child("from"))?,
                to: names.find_optional(setting.to.as_deref(), &field.child("to"))?,
                direction: setting.direction,
                link: setting.link.clone(),
            });
        }
        let is_needed = !settings.is_empty() || network.link.has_state();
        let of_source = vec![Vec::new(); if is_needed { names.len() } else { 0 }];
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
        let of_source = &self.of_source[source.index()];
        match of_source.binary_search_by_key(&destination, |direction| direction.destination) {
            Ok(index) => (self.link_of(of_source[index].setting), of_source[index].memory.burst_state),
            Err(_) => (self.link_of(self.setting(source, destination)), BurstState::default()),
        }
    }

    /// Returns the link from one component to another, and its memory for the packet that reaches it now.
    pub(super) fn reach(&mut self, source: ComponentId, destination: ComponentId) -> (&Link, &mut LinkMemory) {
        let of_source = &self.of_source[source.index()];
        let found = of_source.binary_search_by_key(&destination, |direction| direction.destination);
        let index = found.unwrap_or_else(|index| {
            let setting = self.setting(source, destination);
            let direction = LinkDirection { destination, setting, memory: LinkMemory::default() };
            self.of_source[source.index()].insert(index, direction);
            index
        });
        let direction = &mut self.of_source[source.index()][index];
        let link = direction.setting.map_or(&self.link, |setting| &self.settings[setting].link);
        (link, &mut direction.memory)
    }

    fn link_of(&self, setting: Option<usize>) -> &Link {
        setting.map_or(&self.link, |setting| &self.settings[setting].link)
    }

    /// Returns the index of the last setting that matches.
    fn setting(&self, source: ComponentId, destination: ComponentId) -> Option<usize> {
        let is_end = |end: Option<ComponentId>, component| end.is_none_or(|end| end == component);
        self.settings.iter().rposition(|setting| {
            let is_forward = is_end(setting.from, source) && is_end(setting.to, destination);
            let is_back = is_end(setting.from, destination) && is_end(setting.to, source);
            is_forward || setting.direction == Direction::Both && is_back
        })
    }
}
