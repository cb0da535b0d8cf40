//! Ends the process if a test case is not set up in time.
//!
//! A run counts steps and events, and comes to a limit. Nothing counts while a test case becomes a simulation, so a loop
//! there would be told by the campaign's clock alone, after a second attempt. Here it is the processor's time that
//! counts: it does not depend on the load of the machine, so that one attempt is enough.

use std::io::Write;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use rustix::time::{ClockId, clock_gettime};
use simutant_protocol::{SETUP_SECONDS_MAX, setup_hang};

/// How often it is looked at, at least.
const LOOK: Duration = Duration::from_millis(250);

/// Goes up when a test case begins to be set up, to an odd number, and when it is.
static SETUPS: AtomicU64 = AtomicU64::new(0);

/// A test case that is being set up.
struct Setup;

impl Setup {
    fn begin() -> Self {
        SETUPS.fetch_add(1, Relaxed);
        Self
    }
}

impl Drop for Setup {
    fn drop(&mut self) {
        SETUPS.fetch_add(1, Relaxed);
    }
}

/// Sets a test case up, watched.
pub(crate) fn watched<T>(set_up: impl FnOnce() -> T) -> T {
    let _setup = Setup::begin();
    set_up()
}

/// Looks at what is set up for as long as the process lives.
pub(crate) fn watch() {
    let mut seen = (SETUPS.load(Relaxed), processor_seconds());
    loop {
        std::thread::sleep(LOOK);
        let (setup, spent) = (SETUPS.load(Relaxed), processor_seconds());
        if setup != seen.0 {
            seen = (setup, spent);
        } else if setup % 2 == 1 && spent - seen.1 > SETUP_SECONDS_MAX {
            // Nobody is left to tell if this fails.
            _ = writeln!(std::io::stderr(), "{}", setup_hang());
            std::process::exit(1);
        }
    }
}

/// Returns how long the process has computed, in whole seconds.
fn processor_seconds() -> u64 {
    clock_gettime(ClockId::ProcessCPUTime).tv_sec.unsigned_abs()
}
