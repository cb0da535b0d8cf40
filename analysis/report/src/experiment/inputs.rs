//! The inputs on which implementations fail: tables 4.4 to 4.6 of the thesis.

use comfy_table::Table;
use simutant_analysis::{Characteristic, Experiment, Input, Reference, Score, SubjectKind, percent};

use crate::reference;
use crate::terminal::{cells, table};
use crate::text::{NONE, capitalised, or_none, p_value};

/// Returns what was found about the inputs on which implementations of a kind fail.
pub(super) fn inputs_of(experiment: &Experiment, kind: SubjectKind) -> Vec<&Input> {
    experiment.inputs.iter().filter(|input| kind.has(experiment.subjects[input.subject].origin)).collect()
}

pub(super) fn table_of(experiment: &Experiment, kind: SubjectKind) -> Table {
    let mut table = table(["implementation", "field", "failing", "universe", "A12", "p (BH)"]);
    let mut last = None;
    for input in inputs_of(experiment, kind) {
        let mut name = |field: String| {
            let shown = if last == Some(input.subject) {
                String::new()
            } else {
                experiment.subjects[input.subject].name.clone()
            };
            last = Some(input.subject);
            [shown, field]
        };
        match &input.characteristic {
            Characteristic::Quantity { median_failing, median, effect, p } => {
                let [subject, field] = name(format!("{} (median)", input.field));
                let row = [subject, field, short(*median_failing), short(*median), format!("{effect:.2}"), p_value(*p)];
                table.add_row(cells(row));
            }
            Characteristic::Regions(regions) => {
                for region in regions {
                    let [subject, field] = name(format!("{} {}", input.field, region.value));
                    let rate = Score { killed: region.failed, of: region.cases };
                    let share = or_none(rate.value(), percent);
                    let overall = percent(experiment.subjects[input.subject].failure_rate);
                    table.add_row(cells([subject, field, share, overall, NONE.into(), p_value(region.p)]));
                }
            }
        }
    }
    table
}

/// Writes a quantity with as many digits as tell it from others.
fn short(value: f64) -> String {
    if value.fract() == 0.0 || value.abs() >= 100.0 { format!("{value:.0}") } else { format!("{value:.3}") }
}

pub(super) fn notes(reference: Option<&Reference>) -> Vec<String> {
    let mut notes = vec![
        "A12: how often a field is higher in a test case that fails than in one that passes. Of a field that is no quantity: how many of its \
         test cases fail, and of all."
            .to_owned(),
    ];
    let there = reference.and_then(reference::implementations);
    notes.extend(there.map(|(name, there)| format!("{}: {}.", capitalised(name), there.inputs)));
    notes
}
