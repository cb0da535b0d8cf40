//! Choices that a run is to make as somebody else wants it.

use simutant_protocol::Choosing;
use simutant_sim_core::{Message, Replay, Simulation};

/// Lets choices be made as the campaign wants it.
pub(crate) fn impose<M: Message>(simulation: &mut Simulation<M>, choosing: &Choosing) {
    // Without this a run that nobody chooses for would be asked for each choice.
    if *choosing == Choosing::default() {
        return;
    }
    let Choosing { others, latencies, choices } = choosing.clone();
    simulation.choices(Replay::new(choices).others(others).latencies(latencies));
}
