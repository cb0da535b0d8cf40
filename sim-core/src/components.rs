//! What the kernel knows of components: names, whether they are up, their clocks, their durable state.

use std::any::Any;
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::message::ComponentId;
use crate::{Clock, VirtualDuration, VirtualTime};

/// The components of a run, by number: those that were added, and those that are only named.
#[derive(Debug, Default)]
pub(crate) struct Components {
    components: Vec<ComponentState>,
    /// Whether any clock is wrong or any component slow: so that a pause need not look where none is.
    any_is_odd: bool,
    paused_count: usize,
    down_count: usize,
}

#[derive(Debug)]
struct ComponentState {
    name: Rc<str>,
    /// False if it is only named, and nobody will ever be there.
    is_added: bool,
    /// When it crashed, if it is down.
    down_since: Option<VirtualTime>,
    /// When its pause began, if a fault has paused it.
    paused_since: Option<VirtualTime>,
    clock: Clock,
    /// How long its pauses last, in percent.
    pause_percent: u32,
    durable: BTreeMap<String, Rc<dyn Any>>,
}

/// What a wait is for: it decides which faults make it longer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WaitPurpose {
    /// It stands for work, which is slow on a slow component.
    Work,
    /// It is a timeout.
    Timeout,
}

impl Components {
    /// Adds a component that is up and has nothing odd about it.
    pub(crate) fn add(&mut self, name: &str) -> ComponentId {
        let number = u32::try_from(self.components.len()).ok().filter(|&number| number < ComponentId::COUNT_MAX);
        let component = ComponentId(number.expect("a run has fewer than 2^31 components"));
        self.components.push(ComponentState {
            name: name.into(),
            is_added: false,
            down_since: None,
            paused_since: None,
            clock: Clock::default(),
            pause_percent: 100,
            durable: BTreeMap::new(),
        });
        component
    }

    pub(crate) fn len(&self) -> usize {
        self.components.len()
    }

    pub(crate) fn name(&self, component: ComponentId) -> &Rc<str> {
        &self.components[component.index()].name
    }

    /// Returns all names by number; those of components that were not added are empty, which is no name.
    pub(crate) fn added_names(&self) -> impl Iterator<Item = &str> {
        self.components.iter().map(|component| if component.is_added { &*component.name } else { "" })
    }

    /// Returns whether a component was added, and not only named.
    pub(crate) fn is_added(&self, component: ComponentId) -> bool {
        self.components[component.index()].is_added
    }

    /// Notes that a component was added, and returns whether it had been before.
    pub(crate) fn set_added(&mut self, component: ComponentId) -> bool {
        std::mem::replace(&mut self.components[component.index()].is_added, true)
    }

    pub(crate) fn set_clock(&mut self, component: ComponentId, clock: Clock) {
        self.components[component.index()].clock = clock;
        self.any_is_odd |= !clock.is_true();
    }

    pub(crate) fn set_pause_percent(&mut self, component: ComponentId, percent: u32) {
        self.components[component.index()].pause_percent = percent;
        self.any_is_odd |= percent != 100;
    }

    pub(crate) fn is_down(&self, component: ComponentId) -> bool {
        self.down_since(component).is_some()
    }

    /// Returns when a component crashed, if it is down.
    pub(crate) fn down_since(&self, component: ComponentId) -> Option<VirtualTime> {
        self.components[component.index()].down_since
    }

    pub(crate) fn set_down_since(&mut self, component: ComponentId, since: Option<VirtualTime>) {
        let was = std::mem::replace(&mut self.components[component.index()].down_since, since);
        self.down_count = self.down_count + usize::from(since.is_some()) - usize::from(was.is_some());
    }

    #[inline]
    pub(crate) fn any_is_down(&self) -> bool {
        self.down_count > 0
    }

    #[inline]
    pub(crate) fn any_is_paused(&self) -> bool {
        self.paused_count > 0
    }

    pub(crate) fn is_paused(&self, component: ComponentId) -> bool {
        self.paused_since(component).is_some()
    }

    /// Returns since when a component is paused, if it is.
    pub(crate) fn paused_since(&self, component: ComponentId) -> Option<VirtualTime> {
        self.components[component.index()].paused_since
    }

    pub(crate) fn set_paused_since(&mut self, component: ComponentId, since: Option<VirtualTime>) {
        let was = std::mem::replace(&mut self.components[component.index()].paused_since, since);
        self.paused_count = self.paused_count + usize::from(since.is_some()) - usize::from(was.is_some());
    }

    /// Returns what a component's clock shows.
    #[inline]
    pub(crate) fn read_clock(&self, component: ComponentId, now: VirtualTime) -> VirtualTime {
        if self.any_is_odd { self.components[component.index()].clock.read(now) } else { now }
    }

    /// Returns how long a component really waits when it means to wait for `duration`.
    #[inline]
    pub(crate) fn real_duration(
        &self,
        component: ComponentId,
        duration: VirtualDuration,
        purpose: WaitPurpose,
    ) -> VirtualDuration {
        if self.any_is_odd { self.odd_duration(component, duration, purpose) } else { duration }
    }

    #[cold]
    fn odd_duration(&self, component: ComponentId, duration: VirtualDuration, purpose: WaitPurpose) -> VirtualDuration {
        let ComponentState { clock, pause_percent, .. } = &self.components[component.index()];
        let duration = clock.until_passed(duration);
        match purpose {
            WaitPurpose::Timeout => duration,
            WaitPurpose::Work => {
                let nanos = u128::from(duration.as_nanos()) * u128::from(*pause_percent) / 100;
                VirtualDuration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
            }
        }
    }

    /// Returns a component's durable value of this name, if it has one.
    pub(crate) fn durable(&self, component: ComponentId, name: &str) -> Option<Rc<dyn Any>> {
        self.components[component.index()].durable.get(name).cloned()
    }

    /// Sets a durable value, and returns the one that was there, for the caller to drop.
    #[must_use = "values of the model are dropped after the borrow"]
    pub(crate) fn set_durable(
        &mut self,
        component: ComponentId,
        name: &str,
        value: Rc<dyn Any>,
    ) -> Option<Rc<dyn Any>> {
        self.components[component.index()].durable.insert(name.to_owned(), value)
    }

    /// Removes the durable values of all components, for the caller to drop.
    #[must_use = "values of the model are dropped after the borrow"]
    pub(crate) fn lose_all_durable(&mut self) -> Vec<BTreeMap<String, Rc<dyn Any>>> {
        let durable = self.components.iter_mut().map(|component| std::mem::take(&mut component.durable));
        durable.filter(|durable| !durable.is_empty()).collect()
    }

    /// Removes all durable values of a component, for the caller to drop.
    #[must_use = "values of the model are dropped after the borrow"]
    pub(crate) fn lose_durable(&mut self, component: ComponentId) -> BTreeMap<String, Rc<dyn Any>> {
        std::mem::take(&mut self.components[component.index()].durable)
    }
}
