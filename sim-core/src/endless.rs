//! Pauses that end at the end of time, which does not come: they are remembered, so that a report can name them.

use crate::VirtualTime;
use crate::event_queue::EventId;
use crate::message::ComponentId;

/// The pauses that do not end.
#[derive(Debug, Default)]
pub(crate) struct EndlessPauses {
    /// By the slot of its timer in the event queue, which is used again. Empty if there never was one.
    by_slot: Vec<Option<EndlessPause>>,
}

#[derive(Debug, Clone, Copy)]
struct EndlessPause {
    timer: EventId,
    component: ComponentId,
    since: VirtualTime,
}

impl EndlessPauses {
    /// Remembers a pause.
    #[cold]
    pub(crate) fn add(&mut self, timer: EventId, component: ComponentId, since: VirtualTime) {
        if self.by_slot.len() <= timer.slot() {
            self.by_slot.resize(timer.slot() + 1, None);
        }
        self.by_slot[timer.slot()] = Some(EndlessPause { timer, component, since });
    }

    /// Forgets a pause that was given up, if it was one of these.
    #[inline]
    pub(crate) fn remove(&mut self, timer: EventId) {
        if let Some(place) = self.by_slot.get_mut(timer.slot())
            && place.is_some_and(|pause| pause.timer == timer)
        {
            *place = None;
        }
    }

    /// Returns who pauses, and since when, in no order that means anything.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (ComponentId, VirtualTime)> {
        self.by_slot.iter().flatten().map(|pause| (pause.component, pause.since))
    }
}
