//! ChooseTest: a machine of three states, one of whose transitions makes choices.

use simutant_models::{Instance, Machine, MachineError, Step, skip, transition};

/// Returns the machine. Its assertion fails in one of a hundred attempts to take its transition.
///
/// # Errors
/// None: the machine has no mistakes.
pub fn machine() -> Result<Machine<()>, MachineError> {
    let transitions = [
        skip("ok -> ok"),
        skip("ok -> end"),
        transition("ok -> err", async |_: &mut (), step: &mut Step<'_>| {
            let first = step.choose(0..=9);
            step.require(first == 0)?;
            let second = step.choose(0..=9);
            step.assert(second != 0, "the second choice is not 0")
        }),
    ];
    Machine::new("ChooseTest", ["ok", "end", "err"], transitions)
}

/// Returns an instance of the machine.
///
/// # Errors
/// None: the machine has no mistakes.
pub fn instance() -> Result<Box<dyn Instance>, MachineError> {
    Ok(machine()?.with(()))
}
