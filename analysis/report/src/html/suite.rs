//! The chosen suite with its inputs.

use std::collections::BTreeMap;

use maud::{Markup, html};
use serde_json::Value;
use simutant_analysis::{MutantClass, Score, count, reseeding_name};
use simutant_outcomes::BitSet;

use super::Page;
use super::overview::prose;
use crate::absent::{rare_sentence, suite_shares};

pub(super) fn section(page: &Page<'_>) -> Markup {
    let analysis = page.analysis;
    let Some(chosen) = &analysis.chosen else {
        return html! { p { "No suite was drawn." } };
    };
    let mut killed = page.killed_by_suite.clone();
    killed.intersect_with(&analysis.mutants.of(MutantClass::Analysed));
    let analysed = Score { killed: killed.count_ones(..), of: analysis.mutants.counts.analysed };
    let cases: Vec<&Value> = page.suite.iter().map(|&case| &page.outcomes.cases[case].case).collect();
    let columns = columns(&cases);
    html! {
        p {
            "The suite of " code { "suite.json" } ", in its order: " (chosen.chosen) ". It kills "
            (analysed) " of the analysed mutants and " (chosen.scores.dominators) " of the dominator "
            "classes. It was chosen for its score, so on other mutants it will score somewhat lower."
        }
        @if let Some(rows) = suite_shares(chosen) {
            table.numbers.compact.narrow {
                thead { tr { @for name in &rows.head { th scope="col" { (name) } } } }
                tbody { @for row in &rows.rows { tr { th scope="row" { (row[0]) } @for cell in &row[1..] { td { (cell) } } } } }
            }
            @if let Some(sentence) = rare_sentence(analysis) { p { (prose(&sentence)) } }
        }
        div.scroll {
            table.numbers {
                thead {
                    tr {
                        th scope="col" { "test case" }
                        @for name in &columns { th scope="col" { (name) } }
                        @if columns.is_empty() { th.text scope="col" { "input" } }
                        th scope="col" { "events" }
                        th scope="col" title="analysed mutants" { "kills" }
                        th scope="col" title="analysed mutants that no case above kills" { "new" }
                    }
                }
                tbody { (rows(page, &columns)) }
            }
        }
    }
}

fn rows(page: &Page<'_>, columns: &[&str]) -> Markup {
    let analysed = page.analysis.mutants.of(MutantClass::Analysed);
    let mut before = BitSet::with_capacity(analysed.len());
    let mut times: BTreeMap<usize, u32> = BTreeMap::new();
    html! {
        @for &case in &page.suite {
            @let outcome = &page.outcomes.cases[case];
            @let time = times.entry(case).or_default();
            @let again = *time;
            @let () = *time += 1;
            @let mut killed = page.kills.of_suite(&[case]);
            @let () = killed.intersect_with(&analysed);
            @let new = killed.difference_count(&before);
            @let () = before.union_with(&killed);
            tr {
                th scope="row" {
                    (page.case_link(case))
                    @if again > 0 { small title="runs again, with its chance drawn anew" { (reseeding_name("", again)) } }
                }
                @for name in columns { td { (input(&outcome.case[*name])) } }
                @if columns.is_empty() { td.text { code { (outcome.case) } } }
                td { (count(outcome.events)) }
                td { (killed.count_ones(..)) }
                td { (new) }
            }
        }
    }
}

/// The fields of the test cases, if every test case is an object with the same few plain fields; otherwise none.
fn columns<'a>(cases: &[&'a Value]) -> Vec<&'a str> {
    const COLUMNS_MAX: usize = 10;
    let fields = |case: &'a Value| -> Option<Vec<&'a str>> {
        let object = case.as_object()?;
        let is_flat = object.values().all(|value| !value.is_object() && !value.is_array());
        (is_flat && object.len() <= COLUMNS_MAX).then(|| object.keys().map(String::as_str).collect())
    };
    let Some(first) = cases.first().and_then(|case| fields(case)) else {
        return Vec::new();
    };
    // Test cases from a file may have them in another order.
    let sorted = |mut names: Vec<&'a str>| {
        names.sort_unstable();
        names
    };
    let same = sorted(first.clone());
    let is_same = |case: &&'a Value| fields(case).is_some_and(|other| sorted(other) == same);
    if cases.iter().all(is_same) { first } else { Vec::new() }
}

fn input(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), String::from)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(cases: &[Value], expect: &[&str]) {
        assert_eq!(columns(&cases.iter().collect::<Vec<_>>()), expect);
    }

    #[test]
    fn plain_fields_become_columns() {
        check(&[json!({ "a": 1, "b": "x" }), json!({ "a": 2, "b": null })], &["a", "b"]);
        check(&[json!({ "b": 1, "a": "x" }), json!({ "a": 2, "b": null })], &["b", "a"]);
    }

    #[test]
    fn other_test_cases_are_shown_whole() {
        check(&[], &[]);
        check(&[json!(5)], &[]);
        check(&[json!({ "a": [1] })], &[]);
        check(&[json!({ "a": 1 }), json!({ "b": 1 })], &[]);
    }
}
