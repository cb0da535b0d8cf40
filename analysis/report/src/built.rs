//! Suites that were built, in sentences.

use std::collections::BTreeSet;

use simutant_analysis::{
    Analysis, AnalysisOptions, Beside, Builder, BuiltSuite, ExpectedSuite, JudgedSuite, SuiteIndex, percent, plural,
};
use simutant_outcomes::{Suite, TestTimeSource};

use crate::absent::absent_sentence;
use crate::terminal::wrapped;
use crate::text::{many, points};

/// The file of a study's suite.
pub(crate) const FILE: &str = "suite.json";

/// Says what to run, and what that kills; `None` without a suite.
pub(crate) fn run_sentence(analysis: &Analysis) -> Option<String> {
    let chosen = analysis.chosen.as_ref()?;
    Some(format!(
        "Run suite.json: {} that kill{} {} of all mutants; the whole universe of {} kills {}.",
        plural(chosen.cases.len(), "input"),
        if chosen.cases.len() == 1 { "s" } else { "" },
        chosen.scores.mutants,
        many(analysis.campaign.cases as u64, "input"),
        analysis.score_bounds,
    ))
}

/// Says what a suite is that was chosen from a study and is in `file`: sentences, each ended by a line break.
pub fn choice_text(analysis: &Analysis, suite: &Suite, file: &str) -> String {
    let sentences = match (&analysis.built_expected, &analysis.built) {
        (Some(built), _) => expected_sentences(built, analysis, file),
        (None, Some(built)) => sentences(built, analysis, file),
        (None, None) => vec![format!("{file} has {}: {}.", plural(suite.cases.len(), "input"), suite.chosen)],
    };
    sentences.iter().map(|sentence| wrapped(sentence) + "\n").collect()
}

/// Returns what the suite in `file` is, and what held-out mutants say of it, in sentences.
pub(crate) fn sentences(built: &BuiltSuite, analysis: &Analysis, file: &str) -> Vec<String> {
    let mut sentences: Vec<String> = built.dominated_by.iter().map(|&choice| dominating(choice, analysis)).collect();
    sentences.push(format!(
        "{file} has {} with {} for {}: {}. {} {} of the analysed mutants and {} of the dominator classes.",
        plural(built.cases.len(), "input"),
        plural(built.events as usize, "event"),
        built.criterion,
        built.chosen(),
        if built.cases.len() == 1 { "It kills" } else { "They kill" },
        built.score,
        built.dominator_score,
    ));
    sentences.extend(built.judged.as_ref().map(|judged| judged_sentence(judged, built.builder)));
    sentences
}

/// Says which drawn suite dominates the one that was built.
fn dominating(choice: SuiteIndex, analysis: &Analysis) -> String {
    let criterion = &analysis.criteria[choice.criterion];
    let suite = &criterion.suites[choice.suite];
    format!(
        "A drawn suite dominates the built one, suite {} of the {} of {}: with {} it is no larger, kills no fewer mutants and no fewer \
         dominators ({} and {}), and is better in one of these.",
        choice.suite + 1,
        criterion.suites.len(),
        criterion.name,
        plural(suite.cases.len(), "input"),
        suite.killed,
        suite.dominators_killed,
    )
}

fn judged_sentence(judged: &JudgedSuite, builder: Builder) -> String {
    let of_whom = if judged.is_half {
        format!(
            "Built in the same way for the other half of the analysed mutants and judged by {}",
            plural(judged.judges, "mutant")
        )
    } else {
        format!("Judged by the {} that were held out", plural(judged.judges, "analysed mutant"))
    };
    if let (Builder::Prioritised { .. }, Some(order)) = (builder, judged.order) {
        return format!(
            "{of_whom}, the order detects them at an APFD of {:.4}; a random order would at {:.4}.",
            order.apfd, order.random
        );
    }
    let difference = judged.score - judged.drawn_score;
    let verdict = match difference {
        d if d < 0.0 => {
            format!("so that building rather than drawing loses {} points", points(-d).trim_start_matches('+'))
        }
        d if d > 0.0 => {
            format!("so that building rather than drawing gains {} points", points(d).trim_start_matches('+'))
        }
        _ => "so that building rather than drawing loses nothing".to_owned(),
    };
    format!(
        "{of_whom}, {} {} {}, adequate suites that are drawn kill {} with {:.1} inputs on average, {verdict}; random suites of its size kill {}.",
        plural(judged.size, "input"),
        if judged.size == 1 { "kills" } else { "kill" },
        percent(judged.score),
        percent(judged.drawn_score),
        judged.drawn_size,
        percent(judged.random_score),
    )
}

/// Returns what the suite is, and how it stands to random suites and rules of thumb, in sentences; what speaks
/// against it comes first.
pub(crate) fn expected_sentences(built: &ExpectedSuite, analysis: &Analysis, file: &str) -> Vec<String> {
    let repeated = built.cases.len() - built.cases.iter().collect::<BTreeSet<_>>().len();
    let own = format!(
        "{file} has {}. It is expected to find {} ± {:.1} of faults of the mutants' kinds, if one input in {} that kills a mutant finds the fault, \
         and to kill {} of the mutants; the whole universe finds {}{}.",
        built.chosen(),
        percent(built.found.mean),
        100.0 * built.found.sd,
        inputs(built.coupling),
        percent(built.score.mean),
        percent(built.universe),
        match repeated {
            0 => String::new(),
            1 => "; 1 of them repeats another one with its chance drawn anew".to_owned(),
            repeated => format!("; {repeated} of them repeat others with their chance drawn anew"),
        }
    );
    let mut sentences: Vec<String> = beaten(built).into_iter().chain([own]).collect();
    sentences.push(format!(
        "In the same time {}; with as many inputs {}.",
        others(&built.same_time, "random inputs are expected to find"),
        others(&built.same_size, "random ones find"),
    ));
    sentences.push(test_time_sentence(analysis));
    sentences.extend(absent_sentence(built.cases.len(), &built.absent));
    sentences.push(format!("Suites of a criterion only compare the criteria: {file} is none of them."));
    sentences
}

/// Says which rule of thumb does as well as the suite; `None` if none does.
pub(crate) fn beaten(built: &ExpectedSuite) -> Option<String> {
    let rule = built.same_time.rules.first().filter(|rule| rule.found >= built.found.mean)?;
    Some(format!(
        "A rule of thumb does as well in the same time: inputs by {} are expected to find {}.",
        rule.name,
        percent(rule.found)
    ))
}

/// Says what random inputs find, and the rule of thumb that finds most.
pub(crate) fn others(beside: &Beside, random: &str) -> String {
    let rule = beside.rules.first().map_or_else(String::new, |rule| {
        let rules = plural(beside.rules.len(), "rule");
        format!(", and the best of {rules} of thumb by this result, {}, {}", rule.name, percent(rule.found))
    });
    format!("{random} {}{rule}", percent(beside.random))
}

/// Says what a test case is taken to take, and how that is known.
pub(crate) fn test_time_sentence(analysis: &Analysis) -> String {
    let AnalysisOptions { test_time, test_time_from, durations, .. } = &analysis.options;
    let known = match test_time_from {
        TestTimeSource::Assumed => {
            format!("A test case is taken to take {test_time}, until `simutant test` measures it.")
        }
        TestTimeSource::Manifest => format!("By the system's manifest a test case takes {test_time}."),
        TestTimeSource::Measured { implementations, trials } => format!(
            "A test case takes {test_time}, as {} on {} showed.",
            plural(*trials, "trial"),
            plural(*implementations, "implementation"),
        ),
    };
    match durations.len() {
        0 => known,
        given => format!("{known} Of {} the time was given.", plural(given, "test case")),
    }
}

/// Returns of how many inputs that kill a mutant one finds a fault of its kind, as briefly as it can be said.
pub(crate) fn inputs(coupling: f64) -> String {
    let inputs = 1.0 / coupling;
    if (inputs - inputs.round()).abs() < 1e-9 { inputs.round().to_string() } else { format!("{inputs:.1}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simutant_analysis::{AnalysisOptions, MUTANTS, analyse, build_suite};
    use simutant_synthetic::from_kills;

    const GREEDY: Builder = Builder::Greedy { budget: None };

    #[test]
    fn a_suite_says_how_it_was_built_and_who_judged_it() {
        let sentences_of = |kills: &[&str], criterion: Option<&str>| {
            let outcomes = from_kills(kills);
            let options = AnalysisOptions { resamples: 200, ..AnalysisOptions::default() };
            let analysis = analyse(&outcomes, &options).expect("sound outcomes");
            let built = build_suite(&outcomes, &analysis, Builder::Minimum, criterion).expect("something is covered");
            sentences(&built, &analysis, FILE)
        };
        let found = sentences_of(&["kk..", "k...", "..kk", "....", "kkkk"], Some(MUTANTS));
        assert!(found[0].contains("none with fewer inputs is adequate"), "{found:?}");
        assert_eq!(sentences_of(&["....", "...."], None).len(), 1, "no mutant judges");
    }

    #[test]
    fn losses_are_told() {
        let judged = |score: f64| JudgedSuite {
            judges: 7,
            is_half: false,
            size: 3,
            score,
            drawn_size: 5.5,
            drawn_score: 0.75,
            random_score: 0.4,
            order: None,
        };
        assert_eq!(
            judged_sentence(&judged(0.5), Builder::Minimum),
            "Judged by the 7 analysed mutants that were held out, 3 inputs kill 50.0 %, adequate suites that are drawn kill \
             75.0 % with 5.5 inputs on average, so that building rather than drawing loses 25.0 points; random suites of its size kill 40.0 %."
        );
        assert!(judged_sentence(&judged(0.75), GREEDY).contains("loses nothing"));
        assert!(judged_sentence(&judged(1.0), GREEDY).contains("gains 25.0 points"));
    }
}
