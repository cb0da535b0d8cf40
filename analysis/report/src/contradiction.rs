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
