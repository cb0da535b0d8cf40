//! Choices on their way between the engine and the protocol, which knows no engine.

use simutant_protocol as protocol;
use simutant_sim_core::{ChoiceKind, Others, RecordedChoice, Replay, Simulation};

/// Lets choices be made as the campaign wants it.
pub(crate) fn impose<M: simutant_sim_core::Message>(simulation: &mut Simulation<M>, choosing: &protocol::Choosing) {
    // Without this a run that nobody chooses for would be asked for each choice.
    if *choosing == protocol::Choosing::default() {
        return;
    }
    let others = match choosing.others {
        protocol::Others::Seed => Others::Seed,
        protocol::Others::Simplest => Others::Simplest,
    };
    let imposed = choosing.choices.iter().cloned().map(to_engine);
    simulation.choices(Replay::new(imposed).others(others).latencies(choosing.latencies.clone()));
}

fn to_engine(choice: protocol::Choice) -> RecordedChoice {
    use protocol::ChoiceKind as Theirs;
    let protocol::Choice { stream, index, kind, value } = choice;
    let kind = match kind {
        Theirs::Drop => ChoiceKind::Drop,
        Theirs::Duplicate => ChoiceKind::Duplicate,
        Theirs::Corrupt => ChoiceKind::Corrupt,
        Theirs::Reorder => ChoiceKind::Reorder,
        Theirs::Latency => ChoiceKind::Latency,
        Theirs::CopyCorrupt => ChoiceKind::CopyCorrupt,
        Theirs::CopyReorder => ChoiceKind::CopyReorder,
        Theirs::CopyLatency => ChoiceKind::CopyLatency,
        Theirs::Hold => ChoiceKind::Hold,
        Theirs::CopyHold => ChoiceKind::CopyHold,
        Theirs::Corruption => ChoiceKind::Corruption,
        Theirs::Order => ChoiceKind::Order,
        Theirs::Bits => ChoiceKind::Bits,
    };
    RecordedChoice { stream, index, kind, value }
}

/// Returns a choice as the protocol has it.
pub(crate) fn to_protocol(choice: RecordedChoice) -> protocol::Choice {
    use protocol::ChoiceKind as Theirs;
    let RecordedChoice { stream, index, kind, value } = choice;
    let kind = match kind {
        ChoiceKind::Drop => Theirs::Drop,
        ChoiceKind::Duplicate => Theirs::Duplicate,
        ChoiceKind::Corrupt => Theirs::Corrupt,
        ChoiceKind::Reorder => Theirs::Reorder,
        ChoiceKind::Latency => Theirs::Latency,
        ChoiceKind::CopyCorrupt => Theirs::CopyCorrupt,
        ChoiceKind::CopyReorder => Theirs::CopyReorder,
        ChoiceKind::CopyLatency => Theirs::CopyLatency,
        ChoiceKind::Hold => Theirs::Hold,
        ChoiceKind::CopyHold => Theirs::CopyHold,
        ChoiceKind::Corruption => Theirs::Corruption,
        ChoiceKind::Order => Theirs::Order,
        ChoiceKind::Bits => Theirs::Bits,
    };
    protocol::Choice { stream, index, kind, value }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_sides_mean_the_same_kinds_and_the_same_simplest_values() {
        let kinds = [
            ChoiceKind::Drop,
            ChoiceKind::Duplicate,
            ChoiceKind::Corrupt,
            ChoiceKind::Reorder,
            ChoiceKind::Latency,
            ChoiceKind::CopyCorrupt,
            ChoiceKind::CopyReorder,
            ChoiceKind::CopyLatency,
            ChoiceKind::Hold,
            ChoiceKind::CopyHold,
            ChoiceKind::Corruption,
            ChoiceKind::Order,
            ChoiceKind::Bits,
        ];
        for (index, kind) in (0..).zip(kinds) {
            let choice = RecordedChoice { stream: "network a->b".to_owned(), index, kind, value: 7 };
            let theirs = to_protocol(choice.clone());
            assert_eq!(kind.simplest(), theirs.kind.has_simplest().then_some(0), "{kind:?}");
            let text = |value: serde_json::Result<String>| value.expect("plain data");
            assert_eq!(text(serde_json::to_string(&choice)), text(serde_json::to_string(&theirs)));
            assert_eq!(to_engine(theirs), choice);
        }
    }
}
