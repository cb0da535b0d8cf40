//! What a person reads first of a study: what to run, what that is worth, what it does not see, and how sure that is.

use simutant_analysis::{Analysis, ExpectedSuite, Reference, duration, percent, plural};
use simutant_outcomes::InputSource;

use crate::absent::{absent_sentence, rare_sentence};
use crate::contradiction::contradiction_sentence;
use crate::survivors;
use crate::tables::tables;
use crate::terminal::{heading, wrapped};
use crate::text::many;
use crate::words::recommendation_sentences;
use crate::{built, cost, inconclusive, late_faults};

/// Returns what a person reads first of a study, in at most 30 lines for all but odd studies. What speaks against the
/// result is among them; all else is in [`tables`](crate::tables).
///
/// Plain text without colours, ending in a line break.
pub fn summary(analysis: &Analysis) -> String {
    let mut parts = vec![wrapped(&overview(analysis)) + "\n"];
    let cases = analysis.campaign.cases;
    let wrong = analysis.contradictions.iter().map(|wrong| contradiction_sentence(wrong, &analysis.system, cases));
    let warnings = [inconclusive::sentence(analysis), late_faults::sentence(analysis)].into_iter().flatten();
    parts.extend(wrong.chain(warnings).map(|warning| wrapped(&warning) + "\n"));
    parts.push(match &analysis.built_expected {
        Some(built) => expected(built, analysis),
        None => chosen(analysis).iter().map(|sentence| wrapped(sentence) + "\n").collect(),
    });
    let cost: Vec<String> = analysis.cost.iter().flat_map(|found| cost::sentences(found, analysis)).collect();
    parts.extend((!cost.is_empty()).then(|| wrapped(&cost.join(" ")) + "\n"));
    parts.extend(survivors::telling(analysis));
    parts.push(wrapped(&certainty(analysis).join(" ")) + "\n");
    parts.retain(|part| !part.trim().is_empty());
    parts.join("\n")
}

/// Returns the [summary] of a study and all its [tables], in [sections](crate::sections).
pub fn study_text(analysis: &Analysis, reference: Option<&Reference>) -> String {
    format!("{}{}\n{}", heading("summary"), summary(analysis), tables(analysis, reference))
}

/// What was tried, and what is killed at most.
fn overview(analysis: &Analysis) -> String {
    let campaign = &analysis.campaign;
    let source = match analysis.input_source {
        InputSource::Uniform => String::new(),
        source => format!(", {source}"),
    };
    format!(
        "{}: {} (seed {}{source}) and {}, of which the universe kills {}.",
        analysis.system,
        many(campaign.cases as u64, "test case"),
        analysis.universe_seed,
        many(campaign.mutants as u64, "mutant"),
        analysis.score_bounds,
    )
}

/// What to run, and what else is expected to find in the same time.
fn expected(built: &ExpectedSuite, analysis: &Analysis) -> String {
    let rule = built.same_time.rules.first();
    let width = rule.map_or(0, |rule| rule.name.chars().count()).max(24);
    let line = |name: &str, found: &str, note: &str| {
        format!("  {name:<width$} {found:<13} {note}").trim_end().to_owned() + "\n"
    };
    let found = format!("{} ± {:.1}", percent(built.found.mean), 100.0 * built.found.sd);
    let mut others = line(built::FILE, &found, "");
    if let Some(rule) = rule {
        let note = format!("best of {}, by this result", plural(built.same_time.rules.len(), "rule"));
        others.push_str(&line(&rule.name, &percent(rule.found), &note));
    }
    others.push_str(&line("random inputs", &percent(built.same_time.random), ""));
    let all = format!("all {}", many(analysis.campaign.cases as u64, "input"));
    others.push_str(&line(&all, &percent(built.universe), &format!("in {}", duration(built.universe_seconds))));
    let against = built::beaten(built).into_iter().chain(absent_sentence(built.cases.len(), &built.absent));
    let against = against.chain(rare_sentence(analysis));
    format!(
        "{}\n\n{}\n{others}{}",
        wrapped(&format!("Run {}: {}.", built::FILE, built.chosen())),
        wrapped(&format!(
            "Expected to be found in {}, of faults like the mutants, if one input in {} that kills a mutant finds such a fault:",
            duration(built.seconds),
            built::inputs(built.coupling)
        )),
        against.map(|sentence| wrapped(&sentence) + "\n").collect::<String>(),
    )
}

/// What to run where a criterion chose, or why there is nothing.
fn chosen(analysis: &Analysis) -> Vec<String> {
    let Some(run) = built::run_sentence(analysis) else { return recommendation_sentences(analysis) };
    let of_built = analysis.built.iter().flat_map(|built| built::sentences(built, analysis, built::FILE));
    std::iter::once(run).chain(of_built).chain(rare_sentence(analysis)).collect()
}

/// What the result rests on.
fn certainty(analysis: &Analysis) -> Vec<String> {
    let mut sentences = Vec::new();
    if analysis.built_expected.is_some() {
        sentences.push("These are shares of faults like the mutants, not of real faults.".to_owned());
        sentences.push(built::test_time_sentence(analysis));
    }
    sentences.extend(checked_sentence(analysis));
    sentences
}

/// What the campaign checked of itself.
pub(crate) fn checked_sentence(analysis: &Analysis) -> Option<String> {
    let checked = analysis.campaign.checked?;
    Some(format!(
        "Checked: {} {} the same on the package as it is written, and {} {} as the original's.",
        many(checked.cases_compared, "test case"),
        if checked.cases_compared == 1 { "does" } else { "do" },
        many(checked.pairs_checked, "pruned run"),
        if checked.pairs_checked == 1 { "ends" } else { "end" },
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use simutant_analysis::{AnalysisOptions, analyse};
    use simutant_synthetic::{from_kills, synthetic};

    #[test]
    fn it_fits_on_a_screen() {
        for outcomes in [synthetic(60, 3), from_kills(&["dd..", "k...", "i...", "...."]), from_kills(&["...."])] {
            let options = AnalysisOptions { resamples: 200, ..AnalysisOptions::default() };
            let text = summary(&analyse(&outcomes, &options).expect("sound outcomes"));
            assert!(text.lines().count() <= 30, "{text}");
            assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
            assert!(text.ends_with('\n') && !text.contains("\n\n\n") && !text.ends_with("\n\n"), "{text}");
            assert!(!text.contains("NaN"), "{text}");
        }
    }

    #[test]
    fn survivors_of_several_functions_that_change_what_happens_are_shown_with_their_code() {
        let outcomes = from_kills(&["dd..", "k...", "i...", "d..."]);
        let options = AnalysisOptions { resamples: 200, ..AnalysisOptions::default() };
        let text = summary(&analyse(&outcomes, &options).expect("sound outcomes"));
        assert!(text.contains("2 of 3 survivors change what happens, and no check notices"), "{text}");
        assert!(text.contains("  src/lib.rs:1 in small::f, mutant 0 (LVR)\n  - fn f() -> u8 { 1 }\n"), "{text}");
    }
}
