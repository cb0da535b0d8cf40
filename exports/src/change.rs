//! Places in the source and changes of it, as the formats have them.

use simutant_analysis::{MutantClass, Study, Survivor, case_name};
use simutant_outcomes::{Compiled, Mutant, Sites, Span};

/// A place in a text: line and column from 1, the column in units of UTF-16, as editors and JavaScript count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Position {
    pub(crate) line: usize,
    pub(crate) column: usize,
}

impl Position {
    /// Returns the place of a byte.
    pub(crate) fn of(text: &str, byte: usize) -> Self {
        let before = &text[..byte];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        let column = before[line_start..].encode_utf16().count() + 1;
        Self { line: before.matches('\n').count() + 1, column }
    }
}

/// Returns where a span begins and the place after its end.
pub(crate) fn ends(sites: &Sites, span: Span) -> (Position, Position) {
    let text = &sites.files[span.file].text;
    (Position::of(text, span.start), Position::of(text, span.end))
}

/// Returns the change in words: `` `a < b` becomes `a <= b` ``.
pub(crate) fn sentence(sites: &Sites, mutant: &Mutant) -> String {
    let changes = sites.changes(mutant).into_iter().map(|change| match change.replacement.trim() {
        "" => format!("`{}` is deleted", one_line(&change.original)),
        replacement => format!("`{}` becomes `{}`", one_line(&change.original), one_line(replacement)),
    });
    changes.collect::<Vec<_>>().join(", and ")
}

/// Code without line breaks, cut where it is long.
pub(crate) fn one_line(code: &str) -> String {
    const CHARACTERS_MAX: usize = 80;
    let words = code.split_whitespace().collect::<Vec<_>>().join(" ");
    match words.char_indices().nth(CHARACTERS_MAX) {
        Some((end, _)) => format!("{}…", &words[..end]),
        None => words,
    }
}

/// How a mutant stands, for formats that tell killed from alive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Standing {
    /// Test cases kill it, and not all of them by not ending; with the most frequent reason.
    Killed(String),
    /// Every test case that kills it does so by not ending; with the most frequent reason.
    TimedOut(String),
    /// No test case kills it; with the evidence.
    Alive(MutantClass, String),
    /// It does not count; with the reason.
    Ignored(String),
}

impl Standing {
    pub(crate) fn of(study: &Study<'_>, number: usize) -> Self {
        let (outcomes, analysis) = (study.outcomes, study.analysis);
        let identity = &outcomes.sites.mutants[number].identity;
        let class = analysis.mutants.classes[number];
        if let Some(Compiled::Duplicate(other)) = analysis.options.compiled.get(identity) {
            return Self::Ignored(format!("the compiler makes the same machine code of it as of mutant {other}"));
        }
        let cases = outcomes.cases.len();
        if !outcomes.kills[number].is_clear() {
            let verdicts = outcomes.verdicts[number];
            let reason = outcomes.reasons[number].first().map_or_else(String::new, |reason| {
                let first = case_name(&outcomes.system, reason.first_case, cases);
                format!(": {} ({}, {} times, first {first})", reason.reason, reason.cause, reason.count)
            });
            let text = format!("{} of {cases} test cases kill it{reason}", verdicts.kills());
            return if verdicts.kills() == verdicts.not_terminated { Self::TimedOut(text) } else { Self::Killed(text) };
        }
        let survivor = analysis.survivors.iter().find(|survivor| survivor.mutant as usize == number);
        let survivor = survivor.expect("what nothing kills, and is no duplicate, is a survivor");
        if class == MutantClass::Equivalent {
            return Self::Ignored(equivalence(survivor));
        }
        Self::Alive(class, evidence(study, survivor))
    }
}

/// Why a mutant counts as equivalent.
pub(crate) fn equivalence(survivor: &Survivor) -> String {
    match &survivor.judgement {
        Some(judgement) => format!("judged {}: {}", judgement.judged, judgement.reason),
        None => "equivalent: the compiler makes the machine code of the original of it".to_owned(),
    }
}

/// How far a mutant gets that nothing kills.
pub(crate) fn evidence(study: &Study<'_>, survivor: &Survivor) -> String {
    let cases = study.outcomes.cases.len();
    let Survivor { class, reached, infected, diverged, example, judgement, .. } = survivor;
    let see =
        example.map_or_else(String::new, |case| format!("; see {}", case_name(&study.outcomes.system, case, cases)));
    let judged = judgement
        .as_ref()
        .map_or_else(String::new, |judgement| format!("; judged {}: {}", judgement.judged, judgement.reason));
    format!(
        "{class}: of {cases} test cases {reached} reach it, {infected} infect it, {diverged} have other events on it{see}{judged}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_count_as_editors_do() {
        let text = "a\n\u{1d11e}é = 1;\n";
        let equals = text.find('=').expect("it is there");
        assert_eq!(Position::of(text, equals), Position { line: 2, column: 5 });
        assert_eq!(Position::of(text, 0), Position { line: 1, column: 1 });
        assert_eq!(Position::of(text, text.len()), Position { line: 3, column: 1 });
    }

    #[test]
    fn long_code_is_cut_between_characters() {
        assert_eq!(one_line("a\n    + b"), "a + b");
        assert_eq!(one_line(&"é".repeat(81)).chars().count(), 81);
    }
}
