//! The virtual time of a run, for what observes it.

use std::fmt;
use std::rc::Rc;

use crate::VirtualTime;

/// The virtual time of a run, for what observes it, as the recorder of a history does. Clones show the same time.
///
/// Components read their own clock, [`Context::now`](crate::Context::now), which may be [wrong](crate::Clock); this one
/// never is.
#[derive(Clone)]
pub struct RunClock(Rc<dyn Fn() -> VirtualTime>);

impl RunClock {
    pub(crate) fn new(read: impl Fn() -> VirtualTime + 'static) -> Self {
        Self(Rc::new(read))
    }

    /// Returns the virtual time: zero before the run, and the time of the last event after it.
    ///
    /// # Panics
    /// If the engine asks for something meanwhile: a choice of a [source](crate::ChoiceSource), what a
    /// [message](crate::Message) is. Components and checks may always call this.
    pub fn now(&self) -> VirtualTime {
        (self.0)()
    }
}

impl fmt::Debug for RunClock {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("RunClock").finish_non_exhaustive()
    }
}
