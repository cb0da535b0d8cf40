//! What is printed of a suite's results.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;
use simutant_harness::{CaseResult, TestReport};
use simutant_oracle::{Impossible, Time};
use simutant_outcomes::{Finding, Verdict};
use simutant_study::{CaseRate, CostlyResult, DatagramCosts, listed_remarks};

use super::log;
use crate::check::text::explained as explanation;

/// How many test cases that did not pass are shown with what their programs printed.
const SHOWN_MAX: usize = 3;

/// What stands for the kind of finding where nothing was found out.
const INCONCLUSIVE: &str = "inconclusive";

/// How many characters of a test case are shown: the decisions of a walk are a page of numbers.
const INPUT_SHOWN_MAX: usize = 400;

/// What the summary is made of.
pub(super) struct Summary<'a> {
    pub(super) report: &'a TestReport,
    pub(super) rates: &'a [CaseRate<'a>],
    pub(super) is_repeated: bool,
    /// What is costly, if that was asked for.
    pub(super) cost: Option<&'a DatagramCosts<'a>>,
    /// The rules that the implementation may break, with the reasons.
    pub(super) waived: &'a BTreeMap<String, String>,
    /// The command that runs one test case by itself, without the name of that.
    pub(super) alone: &'a str,
}

impl Summary<'_> {
    /// Tells what is costly, and of test cases that failed or of which nothing was found out.
    pub(super) fn text(&self, is_verbose: bool) -> String {
        let Self { report, rates, is_repeated, cost, .. } = *self;
        let mut text = cost.map(|costs| costly(costs, report.results.len(), is_repeated)).unwrap_or_default();
        let not_passed = rates.iter().filter_map(|rate| {
            let first = rate.failures().next().or_else(|| rate.results.iter().find(is_told))?;
            Some((rate, first))
        });
        let shown_max = if is_verbose { usize::MAX } else { SHOWN_MAX };
        let not_passed = NotPassed::new(not_passed.collect(), |(_, first)| first, shown_max);
        for &(rate, shown) in &not_passed.shown {
            text.push_str(&self.one(rate, shown, not_passed.lines_max));
        }
        text.push_str(&not_passed.rest());
        let count = |is_counted: fn(&CaseRate<'_>) -> bool| rates.iter().filter(|rate| is_counted(rate)).count();
        let passed = count(|rate| rate.passes());
        let early = count(|rate| rate.passes() && rate.results.iter().any(CaseResult::passes_before_fault));
        let early = ended_early(early);
        text.push_str(&match is_repeated {
            true => format!(
                "{passed} passed {} times{early}, {} failed sometimes, {} always",
                rates.iter().map(|rate| rate.results.len()).max().unwrap_or_default(),
                count(|rate| 0 < rate.failed && rate.failed < rate.of),
                count(|rate| 0 < rate.of && rate.failed == rate.of),
            ),
            false => format!("{passed} passed{early}, {} failed", count(|rate| rate.failed > 0)),
        });
        let lacks_faults = |rate: &CaseRate<'_>| rate.results.iter().any(CaseResult::passes_without_faults);
        text.push_str(&inconclusive(count(|rate| rate.inconclusive > 0), count(lacks_faults)));
        for (rule, reason) in self.waived {
            let kept = report.results.iter().filter(|result| result.kept.contains(rule)).count();
            text.push_str(&format!("waived: {rule} ({reason}); kept in {kept} of {}\n", report.results.len()));
        }
        text + &match is_repeated {
            true => rates.iter().map(|rate| listed_remarks(rate.results)).collect::<String>(),
            false => listed_remarks(&report.results),
        }
    }

    /// Tells of a test case that did not pass, and shows one of its results.
    fn one(&self, rate: &CaseRate<'_>, shown: &CaseResult, lines_max: usize) -> String {
        let word = if rate.failed > 0 { "FAILED" } else { "INCONCLUSIVE" };
        let (name, mut margin) = (rate.name, "  ".to_owned());
        let mut text = match &shown.verdict {
            Verdict::Fail(finding) if !self.is_repeated => format!("{word} {name}: {finding}\n"),
            Verdict::Inconclusive(inconclusive) if !self.is_repeated => format!("{word} {name}: {inconclusive}\n"),
            _ => format!("{word} {name}: {rate}\n"),
        };
        if self.is_repeated {
            margin = format!("  repetition {}, ", shown.repetition);
            for (reason, count) in rate.reasons() {
                let times = if count == 1 { "once".to_owned() } else { format!("{count} times") };
                text.push_str(&format!("  {times}: {reason}\n"));
            }
            if let Some(reason) = rate.doubt() {
                text.push_str(&format!("  inconclusive: {reason}\n"));
            }
        }
        let commands = shown.verdict.finding().map(commands).unwrap_or_default();
        text.push_str(&if commands.is_empty() { input(&shown.case) } else { commands });
        text.push_str(&explained(shown));
        if let Some(folder) = &shown.folder {
            text.push_str(&format!("  folder: {}\n", folder.display()));
        }
        text.push_str(&log::shown(shown, &margin, lines_max));
        text + &format!("  alone: {} {name}\n\n", self.alone)
    }
}

/// Lists what is costly.
fn costly(costs: &DatagramCosts<'_>, results: usize, is_repeated: bool) -> String {
    let mut text = String::new();
    for CostlyResult { name, repetition, datagrams, simulated_max } in &costs.costly {
        let which = if is_repeated { format!(", repetition {repetition}") } else { String::new() };
        text.push_str(&format!(
            "COSTLY {name}{which}: {datagrams} datagrams; the simulation needs {simulated_max} at most\n"
        ));
    }
    let (count, percent) = (costs.costly.len(), costs.messages_percent);
    text + &format!(
        "{count} of {results} costly: passed with over {percent} % more datagrams than the simulation needs at most\n"
    )
}

/// Results that did not pass: those that are shown, the first of each kind before others of the same, and how many
/// others there are of each kind.
struct NotPassed<T> {
    shown: Vec<T>,
    others: Vec<(String, usize)>,
    /// How many lines of what programs printed there is room for, for each that is shown.
    lines_max: usize,
}

impl<T> NotPassed<T> {
    fn new<'a>(all: Vec<T>, result: impl Fn(&T) -> &'a CaseResult, shown_max: usize) -> Self {
        let kind = |one: &T| match &result(one).verdict {
            Verdict::Fail(finding) => finding.kind.clone(),
            Verdict::Pass | Verdict::Inconclusive(_) => INCONCLUSIVE.to_owned(),
        };
        let kinds: Vec<String> = all.iter().map(kind).collect();
        let mut order: Vec<usize> = (0..all.len()).collect();
        order.sort_by_key(|&place| (kinds[..place].contains(&kinds[place]), kinds[place] == INCONCLUSIVE));
        order.truncate(shown_max);
        let mut others: Vec<(String, usize)> = Vec::new();
        for place in (0..all.len()).filter(|place| !order.contains(place)) {
            match others.iter_mut().find(|(kind, _)| *kind == kinds[place]) {
                Some((_, count)) => *count += 1,
                None => others.push((kinds[place].clone(), 1)),
            }
        }
        // Where all were asked for, there is room for all.
        let sharing = if shown_max == usize::MAX { 1 } else { order.len().max(1) };
        let shown = all.into_iter().enumerate().filter(|(place, _)| order.contains(place)).map(|(_, one)| one);
        Self { shown: shown.collect(), others, lines_max: log::LINES_MAX / sharing }
    }

    /// Says how many others there are; nothing if all are shown.
    fn rest(&self) -> String {
        if self.others.is_empty() {
            return String::new();
        }
        let kinds: Vec<String> = self.others.iter().map(|(kind, count)| format!("{count} {kind}")).collect();
        format!("others that did not pass, by kind: {}; --verbose shows them\n\n", kinds.join(", "))
    }
}

/// Whether a result is told by itself: what lacks faults is noted below, and running it alone would not help.
#[expect(clippy::trivially_copy_pass_by_ref, reason = "filters give a reference")]
fn is_told(result: &&CaseResult) -> bool {
    !result.verdict.passes() && !result.passes_without_faults()
}

/// Returns the line with a test case.
fn input(case: &Value) -> String {
    let text = case.to_string();
    match text.char_indices().nth(INPUT_SHOWN_MAX) {
        Some((end, _)) => format!("  input: {} … (--json has all of it)\n", &text[..end]),
        None => format!("  input: {text}\n"),
    }
}

/// Returns the reason for a finding and the commands of a shell that show it, if it has some, a line each.
pub(crate) fn commands(finding: &Finding) -> String {
    let reason = finding.detail.get("reason").and_then(Value::as_str).filter(|reason| !reason.is_empty());
    let commands = finding.detail.get("commands").and_then(Value::as_array).into_iter().flatten();
    let commands = commands.filter_map(Value::as_str).map(|command| format!("  $ {command}\n"));
    reason.map(|reason| format!("  {reason}\n")).into_iter().chain(commands).collect()
}

/// Says why a history is impossible, if the finding is one of the oracle's.
fn explained(result: &CaseResult) -> String {
    let impossible = result.verdict.finding().and_then(|finding| Impossible::deserialize(&finding.detail).ok());
    impossible.map(|impossible| explanation(&impossible, Time::ZERO, None)).unwrap_or_default()
}

/// Says how many of the test cases that passed had ended before one of their faults was due, if any had: such a pass
/// shows nothing of that fault.
fn ended_early(count: usize) -> String {
    match count {
        0 => String::new(),
        _ => format!(" ({count} of them ended before a fault was due)"),
    }
}

/// Ends a summary with the number of test cases of which nothing was found out, if there are any, and how many of them
/// lack faults that could not be injected.
fn inconclusive(count: usize, without_faults: usize) -> String {
    match (count, without_faults) {
        (0, _) => "\n".into(),
        (_, 0) => format!(", {count} inconclusive\n"),
        _ => format!(
            ", {count} inconclusive ({without_faults} because faults could not be injected; --pass-without-faults counts \
             these as passed)\n"
        ),
    }
}

#[cfg(test)]
mod tests {
    use simutant_outcomes::Finding;

    use super::*;

    #[test]
    fn of_many_failures_the_first_of_each_kind_are_shown_and_the_others_counted() {
        let failed = |kind: &&str| CaseResult {
            verdict: Verdict::Fail(Finding::wrong_result(*kind, "a summary")),
            ..log::tests::failed(&[])
        };
        let kinds = |all: &[&str], shown_max: usize| {
            let all: Vec<CaseResult> = all.iter().map(failed).collect();
            let NotPassed { shown, others, .. } = NotPassed::new(all.iter().collect(), |result| result, shown_max);
            let kind = |result: &&CaseResult| result.verdict.finding().map(|finding| finding.kind.clone());
            (shown.iter().filter_map(kind).collect::<Vec<_>>(), others)
        };
        let (shown, others) = kinds(&["a", "a", "a", "b", "a", "b"], 3);
        assert_eq!(shown, ["a", "a", "b"], "in their order");
        assert_eq!(others, [("a".to_owned(), 2), ("b".to_owned(), 1)]);
        assert_eq!(kinds(&["a", "a"], usize::MAX), (vec!["a".to_owned(); 2], Vec::new()));
    }
}
