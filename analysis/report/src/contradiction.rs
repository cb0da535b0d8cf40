//! Judgements that kills show to be wrong, in sentences.

use simutant_analysis::{Contradiction, case_name};

/// Returns what is wrong, in a sentence. `cases` is the size of the universe.
pub fn contradiction_sentence(contradiction: &Contradiction, system: &str, cases: usize) -> String {
    let Contradiction { mutant, identity, place, reason, kills, first_case } = contradiction;
    format!(
        "WRONG JUDGEMENT: mutant {mutant} [{identity}] at {place} is judged equivalent ({reason}), and {kills} of {cases} test \
         cases kill it, first {}.",
        case_name(system, *first_case, cases)
    )
}

#[cfg(test)]
mod tests {
    use crate::{report, tables};
    use simutant_analysis::{AnalysisOptions, analyse};
    use simutant_outcomes::{Judged, Judgement};
    use simutant_synthetic::from_kills;

    #[test]
    fn a_wrong_judgement_is_told_on_terminal_and_page() {
        let outcomes = from_kills(&[".k.k", "k..."]);
        let judgement = Judgement { judged: Judged::Equivalent, reason: "so".into() };
        let judgements = [(outcomes.sites.mutants[0].identity.clone(), judgement)].into();
        let options = AnalysisOptions { judgements, resamples: 100, ..AnalysisOptions::default() };
        let analysis = analyse(&outcomes, &options).expect("sound outcomes");
        let expect = "WRONG JUDGEMENT: mutant 0 [0000000000000000] at src/lib.rs:1 is judged equivalent (so), and 2 of 4 \
                      test cases kill it, first small-0001.";
        for shown in [tables(&analysis, None), report(&outcomes, &analysis, None)] {
            assert!(crate::terminal::flat(&shown).contains(expect), "{shown}");
        }
    }
}
