//! What time is for a walk.

use std::cell::Cell;
use std::future::{self, Future};
use std::pin::Pin;
use std::time::{Duration, Instant};

/// A clock that walks wait by: of a simulation, or a real one.
pub trait Clock {
    /// Returns the time since some moment before the walk.
    fn now(&self) -> Duration;

    /// Waits until it is `then`.
    fn sleep_until(&self, then: Duration) -> Pin<Box<dyn Future<Output = ()> + '_>>;
}

/// A clock that is put forward by who waits: a walk without a system that takes time.
#[derive(Debug, Default)]
pub struct VirtualClock {
    now: Cell<Duration>,
}

impl Clock for VirtualClock {
    fn now(&self) -> Duration {
        self.now.get()
    }

    fn sleep_until(&self, then: Duration) -> Pin<Box<dyn Future<Output = ()> + '_>> {
        self.now.set(self.now.get().max(then));
        Box::pin(future::ready(()))
    }
}

/// The machine's clock. Who waits by it blocks the thread.
#[derive(Debug)]
pub struct RealClock {
    began: Instant,
}

impl Default for RealClock {
    #[expect(clippy::disallowed_methods, reason = "this clock is the real one")]
    fn default() -> Self {
        Self { began: Instant::now() }
    }
}

impl Clock for RealClock {
    fn now(&self) -> Duration {
        self.began.elapsed()
    }

    #[expect(clippy::disallowed_methods, reason = "this clock is the real one")]
    fn sleep_until(&self, then: Duration) -> Pin<Box<dyn Future<Output = ()> + '_>> {
        std::thread::sleep(then.saturating_sub(self.now()));
        Box::pin(future::ready(()))
    }
}
