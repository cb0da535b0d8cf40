//! What a suite is worth, as sentences and tables.

use simutant_analysis::{AssessedScore, Assessment, Score, count, duration, percent, plural};
use simutant_outcomes::Outcomes;

use crate::absent::absent_sentence;
use crate::built::others;
use crate::terminal::{Sections, cells, table, wrapped};
use crate::text::or_none;

/// The maximum number of mutants that are listed.
const MISSED_MAX: usize = 20;

/// How many are listed on one screen.
const MISSED_SHOWN: usize = 3;

/// Returns sentences on a suite, what would add most to it, and the first of the mutants that it lacks: plain text for one
/// screen, ending in a line break.
///
/// # Panics
/// If the assessment is not of these outcomes.
pub fn assessment_summary(outcomes: &Outcomes, assessment: &Assessment) -> String {
    let mut sections = Sections::new(headline(assessment));
    additions(assessment, &mut sections);
    missed(outcomes, assessment, &mut sections, (MISSED_SHOWN, "--verbose lists them"));
    sections.text()
}

/// Returns sentences on a suite and tables of what it covers and lacks: plain text, ending in a line break.
///
/// # Panics
/// If the assessment is not of these outcomes.
pub fn assessment_text(outcomes: &Outcomes, assessment: &Assessment) -> String {
    let mut sections = Sections::new(headline(assessment));
    let mut coverage = table(["criterion", "covered", "of", "by no other"]);
    for criterion in &assessment.criteria {
        let numbers = [criterion.covered, criterion.feasible, criterion.alone].map(|number| number.to_string());
        coverage.add_row(cells([criterion.name.clone()].into_iter().chain(numbers)));
    }
    let note =
        "Of: requirements that some test case of the universe covers. By no other: no other test case covers them.";
    sections.add("Coverage on own seeds", coverage, &[note.to_owned()]);
    additions(assessment, &mut sections);
    missed(outcomes, assessment, &mut sections, (MISSED_MAX, "--json has them"));
    sections.text()
}

fn headline(assessment: &Assessment) -> String {
    let Assessment { system, universe, inputs, seconds, mutants, dominators, expected, random_suites, absent, .. } =
        assessment;
    let mut sentences = Vec::new();
    if let Some(expected) = expected {
        sentences.push(format!(
            "Whatever its seeds, it is expected to kill {} ± {:.1} of the mutants, each counted by its difficulty.",
            percent(expected.score.mean),
            100.0 * expected.score.sd,
        ));
        sentences.push(format!(
            "In the same time {}; with as many inputs {}.",
            others(&expected.same_time, "random inputs are expected to kill"),
            others(&expected.same_size, "random ones kill"),
        ));
        sentences.push(format!(
            "A minute of it is worth {:.1} minutes of random test cases; one of its inputs, {:.1} random ones.",
            expected.worth.time, expected.worth.inputs
        ));
    }
    sentences.push(format!(
        "It scores higher than {} of {random_suites} random suites that take as long on average, and than {} of {random_suites} of its size.",
        assessment.random_below_same_time, assessment.random_below_same_size,
    ));
    let random = |score: &AssessedScore| {
        let [time, size] = [score.random_same_time, score.random_same_size].map(|share| or_none(share, percent));
        format!("random suites that take as long: {time}, of its size: {size}")
    };
    sentences.push(format!(
        "On its own seeds it kills {} of the mutants that some test case kills; {}.",
        mutants.score,
        random(mutants),
    ));
    sentences.push(format!("Of the dominator classes it kills {}; {}.", dominators.score, random(dominators)));
    let sentences: Vec<String> = sentences.iter().map(|sentence| wrapped(sentence) + "\n").collect();
    let title = wrapped(&format!(
        "A suite of {} for {system} that take{} {}, in a universe of {} test cases with them.",
        plural(*inputs, "input"),
        if *inputs == 1 { "s" } else { "" },
        duration(*seconds),
        count(*universe as u64),
    ));
    let absent =
        absent_sentence(*inputs, absent).map_or_else(String::new, |sentence| format!("\n{}\n", wrapped(&sentence)));
    format!("{title}\n\n{}{absent}", sentences.concat())
}

fn additions(assessment: &Assessment, sections: &mut Sections) {
    if assessment.additions.is_empty() {
        sections.say("No test case of the universe adds to its score.");
        return;
    }
    let mut rows = table(["test case", "score with it", "input"]);
    for addition in &assessment.additions {
        rows.add_row(cells([addition.name.clone(), percent(addition.score), addition.input.to_string()]));
    }
    let what = if assessment.expected.is_some() { "expected score" } else { "share of mutants killed" };
    sections.add(
        "Test cases of the universe that add most",
        rows,
        &[format!("Score with it: the {what} of the suite with this test case and those above.")],
    );
}

/// Lists at most so many of the mutants that it lacks, and says where the others are.
fn missed(outcomes: &Outcomes, assessment: &Assessment, sections: &mut Sections, (listed_max, others): (usize, &str)) {
    let Score { killed, of } = assessment.mutants.score;
    if of == killed {
        sections.say("It kills every mutant that some test case of the universe kills.");
        return;
    }
    let mut rows = table(["mutant", "operator", "place", "function", "killed by"]);
    for missed in assessment.missed.iter().take(listed_max) {
        let sites = &outcomes.sites;
        let mutant = &sites.mutants[missed.mutant];
        rows.add_row(cells([
            missed.mutant.to_string(),
            mutant.operator.clone(),
            format!("{}:{}", sites.files[mutant.span.file].path, mutant.span.line),
            sites.functions[mutant.function].path.clone(),
            missed.killed_by.to_string(),
        ]));
    }
    let more = assessment.missed.len().saturating_sub(listed_max);
    let mut notes = vec!["Killed by: so many test cases of the universe.".to_owned()];
    notes.extend((more > 0).then(|| format!("There are {more} more: {others}.")));
    let mutants = plural(of - killed, "mutant");
    sections.add(&format!("{mutants} that the universe kills and the suite does not"), rows, &notes);
}
