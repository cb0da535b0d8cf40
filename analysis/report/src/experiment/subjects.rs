//! The implementations of experiments, and what it takes to run them: tables 4.1 to 4.3 of the thesis.

use std::collections::BTreeMap;

use comfy_table::{Cell, CellAlignment, Table};
use simutant_analysis::{
    Analysis, Experiment, PATHOLOGICAL_ABOVE, Reference, ReferenceMutants, SubjectClass, SubjectKind, SubjectSummary,
    count, percent, plural,
};

use crate::reference;
use crate::terminal::{Rows, cells, table};
use crate::text::{capitalised, list, or_none};

/// Returns how many mutants and implementations there are of each class.
pub(crate) fn classes(experiment: &Experiment, analysis: &Analysis, reference: Option<&Reference>) -> Rows {
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut row = |name: &str, counts: [Option<usize>; 6]| {
        let counts = counts.map(|count| or_none(count, |count| count.to_string()));
        rows.push([name.to_owned()].into_iter().chain(counts).collect());
    };
    let mutants = analysis.mutants.counts;
    let (equivalent, counted) = (mutants.equivalent + mutants.duplicate, mutants.analysed);
    let not_found = mutants.unkilled() - mutants.equivalent;
    let used = Some(mutants.used_in_thesis());
    let of_mutants = [mutants.total(), equivalent, not_found, mutants.pathological, counted].map(Some);
    let [all, equivalent, not_found, pathological, counted] = of_mutants;
    row("mutants", [all, equivalent, not_found, pathological, counted, used]);
    for kind in SubjectKind::ALL.into_iter().filter(|kind| of_kind(experiment, *kind).next().is_some()) {
        let of = |class| of_kind(experiment, kind).filter(|subject| subject.class == class).count();
        let (pathological, counted) = (of(SubjectClass::Pathological), of(SubjectClass::Counted));
        let all = of_kind(experiment, kind).count();
        let not_found = all - pathological - counted;
        row(&kind.to_string(), [Some(all), None, Some(not_found), Some(pathological), Some(counted), None]);
    }
    if let Some(reference) = reference {
        let ReferenceMutants { all, equivalent, pathological, used } = reference.mutants;
        let name = format!("{}, mutants", reference.name);
        row(&name, [Some(all), Some(equivalent), None, Some(pathological), None, Some(used)]);
    }
    let head = ["of", "all", "equivalent", "not found", "pathological", "counted", "N_u"];
    Rows { head: head.map(str::to_owned).to_vec(), rows }
}

/// What the columns of [`classes`] count.
pub(crate) const CLASSES_NOTE: &str = "Equivalent: known to be so, or the duplicate of another mutant. Not found: mutants that no test case \
                                       kills, implementations that never fail. Pathological: found too easily to tell suites apart. Scores \
                                       count those in \"counted\"; the thesis's N_u has the mutants that are not found as well.";

/// Returns the implementations of a kind.
pub(super) fn of_kind(experiment: &Experiment, kind: SubjectKind) -> impl Iterator<Item = &SubjectSummary> {
    experiment.subjects.iter().filter(move |subject| kind.has(subject.origin))
}

/// Returns the implementations of a kind, those first that fail most seldom.
pub(crate) fn by_rate(experiment: &Experiment, kind: SubjectKind) -> Vec<&SubjectSummary> {
    let mut subjects: Vec<&SubjectSummary> = of_kind(experiment, kind).collect();
    subjects.sort_by_key(|subject| subject.failed);
    subjects
}

/// Returns whether there are any implementations of a kind, those included that are left out.
pub(crate) fn takes_part(experiment: &Experiment, kind: SubjectKind) -> bool {
    of_kind(experiment, kind).next().is_some() || left_out(experiment, kind).next().is_some()
}

/// The head of the column with what a mutant changes.
pub(crate) const CHANGE: &str = "change";

/// Returns the heads of the columns for implementations of a kind: of mutants, what they change stands last, since it
/// may be long.
pub(crate) fn subject_columns(kind: SubjectKind) -> [&'static str; 6] {
    match kind {
        SubjectKind::Implementations => ["implementation", "faults", "failed", "rate", "class", "mean ms"],
        SubjectKind::ImplementationMutants => ["mutant", "failed", "rate", "class", "mean ms", CHANGE],
    }
}

pub(super) fn table_of(experiment: &Experiment, kind: SubjectKind) -> Table {
    let mut table = table(subject_columns(kind));
    for subject in by_rate(experiment, kind) {
        let mut row = vec![
            subject.name.clone(),
            subject.failed.to_string(),
            percent(subject.failure_rate),
            subject.class.to_string(),
            or_none(subject.duration_ms, |duration| format!("{:.0}", duration.mean)),
        ];
        match kind {
            SubjectKind::Implementations => {
                row.insert(1, subject.origin.to_string());
                table.add_row(cells(row));
            }
            SubjectKind::ImplementationMutants => {
                let change = Cell::new(&subject.description).set_alignment(CellAlignment::Left);
                table.add_row(cells(row).into_iter().chain([change]));
            }
        }
    }
    table
}

pub(super) fn notes(experiment: &Experiment, kind: SubjectKind, reference: Option<&Reference>) -> Vec<String> {
    let mut notes = Vec::new();
    let pathological = of_kind(experiment, kind).filter(|subject| subject.class == SubjectClass::Pathological);
    let names: Vec<&str> = pathological.map(|subject| subject.name.as_str()).collect();
    if !names.is_empty() {
        notes.push(format!(
            "Left out, since they fail on more than {} of the test cases: {}.",
            percent(PATHOLOGICAL_ABOVE),
            list(&names)
        ));
    }
    notes.extend(unsteady(experiment, kind));
    notes.extend(left_out(experiment, kind));
    let there = reference.filter(|_| kind == SubjectKind::Implementations);
    if let Some((name, there)) = there.and_then(reference::implementations) {
        let rates: Vec<String> = there.failure_rates.iter().map(|rate| format!("{rate}")).collect();
        notes.push(format!("{}: {} %.", capitalised(name), rates.join(", ")));
    }
    notes
}

/// Returns how far verdicts repeat, where test cases ran several times.
pub(crate) fn unsteady(experiment: &Experiment, kind: SubjectKind) -> Option<String> {
    let sum = |value: fn(&SubjectSummary) -> usize| of_kind(experiment, kind).map(value).sum::<usize>();
    let (ever, always) = (sum(|subject| subject.failed), sum(|subject| subject.failed_always));
    (experiment.repetitions > 1).then(|| {
        format!(
            "Failed: in one of {} repetitions at least. Of {} pairs of an implementation and a test case that do, {} fail in every repetition.",
            experiment.repetitions,
            count(ever as u64),
            count(always as u64),
        )
    })
}

/// Returns which implementations of a kind do not take part, and why: mutants, of which there may be many, by their
/// number for each reason.
pub(crate) fn left_out(experiment: &Experiment, kind: SubjectKind) -> impl Iterator<Item = String> {
    let left_out = experiment.left_out.iter().filter(move |left_out| kind.has(left_out.origin));
    let mut lines: Vec<(String, &str)> = Vec::new();
    match kind {
        SubjectKind::Implementations => {
            lines.extend(left_out.map(|left_out| (left_out.name.clone(), left_out.why.as_str())))
        }
        SubjectKind::ImplementationMutants => {
            let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
            left_out.for_each(|left_out| *counts.entry(&left_out.why).or_default() += 1);
            lines.extend(counts.into_iter().map(|(why, count)| (plural(count, "mutant"), why)));
        }
    }
    lines.into_iter().map(|(who, why)| format!("Left out, {who}: {why}."))
}

pub(super) fn preparation(experiment: &Experiment, reference: Option<&Reference>) -> Table {
    let mut table = table(["", "N", "N_m", "N_i", "T_s", "T_i", "T"]);
    let here = [("here", Some(experiment.preparation)), ("here, on mutants", experiment.mutant_preparation)];
    for (name, ours) in here.into_iter().filter_map(|(name, ours)| Some((name, ours?))) {
        table.add_row(cells([
            name.to_owned(),
            ours.cases.to_string(),
            ours.mutants.to_string(),
            ours.subjects.to_string(),
            format!("{:.3} ms", ours.simulation_ms),
            format!("{:.0} ms", ours.execution_ms),
            duration(ours.total_s),
        ]));
    }
    if let Some((name, there)) = reference.and_then(reference::implementations) {
        let there = there.preparation;
        table.add_row(cells([
            name.to_owned(),
            there.cases.to_string(),
            there.mutants.to_string(),
            there.subjects.to_string(),
            format!("{:.0} ms", 1e3 * there.simulation_s),
            format!("{:.0} ms", 1e3 * there.execution_s),
            duration(86_400.0 * there.total_days),
        ]));
    }
    table
}

/// Writes a time in the unit that suits it.
fn duration(seconds: f64) -> String {
    match seconds {
        ..120.0 => format!("{seconds:.0} s"),
        ..7200.0 => format!("{:.0} min", seconds / 60.0),
        ..172_800.0 => format!("{:.0} h", seconds / 3600.0),
        _ => format!("{:.0} d", seconds / 86_400.0),
    }
}
