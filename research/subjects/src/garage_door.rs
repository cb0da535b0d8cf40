//! A garage door: two metres, and a motor that moves it an eighth of a metre in a second.

use std::cell::Cell;
use std::time::Duration;

use simutant_models::{Instance, Machine, MachineError, Step, skip, transition};

/// How long the machine waits for the door to arrive.
pub const WAITS: Duration = Duration::from_secs(16);

/// A door.
#[derive(Debug)]
pub struct Door {
    /// How long it takes from one end to the other.
    takes: Duration,
    /// When it began to move, and whether up; `None` if it was never moved, and is down.
    moves: Cell<Option<(Duration, bool)>>,
}

impl Door {
    /// Returns a door that is down, and takes this long from one end to the other.
    pub fn new(takes: Duration) -> Self {
        Self { takes, moves: Cell::new(None) }
    }

    /// Starts the motor.
    pub fn start(&self, up: bool, now: Duration) {
        self.moves.set(Some((now, up)));
    }

    /// Returns whether the door is at its upper or lower end, where the motor is off.
    pub fn is_at_end(&self, up: bool, now: Duration) -> bool {
        match self.moves.get() {
            None => !up,
            Some((since, to)) => to == up && now - since >= self.takes,
        }
    }
}

/// Returns the machine.
///
/// # Errors
/// None: the machine has no mistakes.
pub fn machine() -> Result<Machine<Door>, MachineError> {
    let start = |up: bool| {
        async move |door: &mut Door, step: &mut Step<'_>| {
            let is_there = door.is_at_end(!up, step.now());
            step.require(is_there)?;
            door.start(up, step.now());
            step.stay(WAITS);
            Ok(())
        }
    };
    let check = |up: bool| {
        async move |door: &mut Door, step: &mut Step<'_>| {
            let is_there = door.is_at_end(up, step.now());
            step.assert(is_there, "the door is at its end, and the motor is off")
        }
    };
    Machine::new(
        "garage door",
        ["down", "opening", "up", "closing", "end"],
        [
            transition("down -> opening", start(true)),
            transition("opening -> up", check(true)),
            transition("up -> closing", start(false)),
            transition("closing -> down", check(false)),
            skip("down | up -> end"),
        ],
    )
}

/// Returns an instance of the machine, with a door that takes this long: longer than [`WAITS`], and it fails.
///
/// # Errors
/// None: the machine has no mistakes.
pub fn instance(takes: Duration) -> Result<Box<dyn Instance>, MachineError> {
    Ok(machine()?.with(Door::new(takes)))
}
