//! What came of checks, for people.

use simutant_oracle::{
    AllowedAnswer, CoreCall, Impossible, ReportedAnswer, ReportedCall, ReportedConflict, Time, What, words,
};

use super::{Counts, Judged, Judgement};

/// How wide the text is.
const WIDTH: usize = 80;

/// How many calls and answers are listed; `--json` has all.
const LISTED_MAX: usize = 12;

/// Returns what is said of one file.
pub(super) fn of(judged: &Judged) -> String {
    let contested = "One of the two is wrong. Please report it, with the history.";
    let smt = judged.smt.as_ref().map_or_else(String::new, |smt| paragraph(&smt.sentence()));
    of_judgement(judged) + &smt + &if judged.is_contested() { paragraph(contested) } else { String::new() }
}

fn of_judgement(judged: &Judged) -> String {
    let Judged { file, judgement, .. } = judged;
    let report = match judgement {
        Judgement::Report(report) => report,
        Judgement::Unreadable { unreadable } => return format!("{file}: unreadable\n") + &paragraph(unreadable),
        Judgement::Unanswered { unanswered } => return format!("{file}: no answer\n") + &paragraph(unanswered),
    };
    let size = format!("{} of {}", counted(report.calls, "call"), counted(report.sessions, "session"));
    match &report.answer {
        ReportedAnswer::Possible { .. } if report.answered == 0 => {
            let line = "Warning: no call was answered, so nothing was observed. With --require-answers that is \
                        inconclusive.";
            format!("{file}: possible ({size})\n") + &paragraph(line)
        }
        ReportedAnswer::Possible { .. } => format!("{file}: possible ({size})\n"),
        ReportedAnswer::Unobserved => {
            let line = "No call was answered, so nothing was observed. That is neither a pass nor a failure.";
            format!("{file}: inconclusive ({size})\n") + &paragraph(line)
        }
        ReportedAnswer::Undecided { limit } => {
            let explored = &report.explored;
            let line = format!(
                "{limit} ran out after {} and {}. That is neither a pass nor a failure; --steps, \
                 --memory and --time say how much a check may take.",
                counted(explored.steps, "step"),
                counted(explored.states, "state")
            );
            format!("{file}: undecided ({size})\n") + &paragraph(&capitalised(&line))
        }
        ReportedAnswer::Impossible(impossible) => {
            format!("{file}: impossible ({size})\n") + &explained(impossible, report.begun_ns, Some(report.calls))
        }
    }
}

/// Says that the initial state may be to blame.
pub(super) fn doubt(initial_form: &str) -> String {
    paragraph(&format!(
        "If the service began with something else, or answers otherwise, say so with --initial: {initial_form}."
    ))
}

fn capitalised(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

/// Returns the last line.
pub(super) fn summary(counts: Counts) -> String {
    let Counts { possible, impossible, unobserved, undecided, unreadable, unanswered, contested } = counts;
    let all = counted_histories(possible + impossible + unobserved + undecided + unreadable + unanswered);
    let nothing = if unobserved == 0 { String::new() } else { format!("{unobserved} without any answer, ") };
    let none = if unanswered == 0 { String::new() } else { format!(", {unanswered} without an answer") };
    let contrary = if contested == 0 { String::new() } else { format!(", {contested} on which the solver disagrees") };
    format!(
        "{all}: {possible} possible, {impossible} impossible, {nothing}{undecided} undecided, {unreadable} unreadable{none}{contrary}\n"
    )
}

fn counted_histories(count: usize) -> String {
    if count == 1 { "1 history".to_owned() } else { format!("{count} histories") }
}

fn counted(count: impl std::fmt::Display + PartialEq + From<u8>, noun: &str) -> String {
    let plural = if count == 1.into() { "" } else { "s" };
    format!("{count} {noun}{plural}")
}

/// Says why a history is impossible. Times are shown from `origin` on; `calls` is how many the history has, if that is known.
pub(crate) fn explained(impossible: &Impossible, origin: Time, calls: Option<usize>) -> String {
    let Impossible { stuck, allowed, core, revisions, .. } = impossible;
    let shown = |call: &ReportedCall, known| shown(call, known, origin);
    let mut text = match origin {
        Time::ZERO => String::new(),
        _ => paragraph("Times are counted from the beginning of the first call."),
    };
    text.push_str(&revisions.as_ref().map_or_else(String::new, |conflict| contradicting(conflict, origin)));
    text.push_str(&paragraph("No order of the calls explains the answer of"));
    text.push_str(&item(&shown(stuck, What::Answer)));
    if !allowed.is_empty() {
        text.push_str(&paragraph(
            "All calls that ended before it can be explained. After them, the specification allows",
        ));
        let items = allowed.iter().map(|AllowedAnswer { response, reason, .. }| match reason {
            Some(reason) => format!("{}, since {reason}", words(response)),
            None => words(response),
        });
        text.push_str(&listed(items));
    }
    match core.len() {
        0 => text.push_str(&paragraph("The budget ended before it was known which calls are to blame.")),
        count => {
            let whatever = match calls.map(|calls| calls.saturating_sub(count)) {
                // Where nobody says how many calls there are, there may be no others.
                None | Some(0) => "",
                Some(1) => ", whatever the other call was answered",
                _ => ", whatever the other calls were answered",
            };
            let these = match count {
                1 => "This call is impossible by itself".to_owned(),
                _ => format!("These {count} calls are impossible together"),
            };
            text.push_str(&paragraph(&format!("{these}{whatever}:")));
            text.push_str(&listed(core.iter().map(|CoreCall { call, known }| shown(call, *known))));
        }
    }
    text
}

/// Returns which revisions contradict the rest.
fn contradicting(conflict: &ReportedConflict, origin: Time) -> String {
    let Some(calls) = &conflict.calls else {
        return paragraph(
            "It is possible without the revisions: those of the calls below contradict the answers, or the order of the \
             calls.",
        );
    };
    let revision = |call: &ReportedCall| call.revision.map_or_else(String::new, |revision| format!(", {revision}"));
    let items = calls.iter().map(|call| shown(call, What::Answer, origin) + &revision(call));
    paragraph(
        "It is possible without the revisions: these calls' revisions contradict the answers, or the order of the \
         calls, by which the first one was taken before the second:",
    ) + &listed(items)
}

/// Returns a call with its time and its answer.
fn shown(call: &ReportedCall, known: What, origin: Time) -> String {
    let answer = match known {
        What::Answer => words(&call.response),
        What::Ended => format!("{}, or any other answer", words(&call.response)),
    };
    format!("call {} of {}, {}: {} -> {answer}", call.call, call.session, call.period(origin), words(&call.operation))
}

fn paragraph(text: &str) -> String {
    wrapped(text, "  ", "  ")
}

fn item(text: &str) -> String {
    wrapped(text, "    ", "      ")
}

fn listed(items: impl ExactSizeIterator<Item = String>) -> String {
    let more = items.len().saturating_sub(LISTED_MAX);
    let mut text: String = items.take(LISTED_MAX).map(|text| item(&text)).collect();
    if more > 0 {
        text.push_str(&item(&format!("and {more} more; --json has all")));
    }
    text
}

/// Returns the text in lines of at most [`WIDTH`] characters, where words allow it.
fn wrapped(text: &str, first: &str, rest: &str) -> String {
    let mut lines = String::new();
    let mut line = first.to_owned();
    let mut is_empty = true;
    for word in text.split(' ') {
        if !is_empty && line.chars().count() + 1 + word.chars().count() > WIDTH {
            lines.push_str(&line);
            lines.push('\n');
            rest.clone_into(&mut line);
            is_empty = true;
        }
        if !is_empty {
            line.push(' ');
        }
        line.push_str(word);
        is_empty = false;
    }
    lines + &line + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_wrapped_between_words_and_long_words_stay() {
        let long = "x".repeat(100);
        let text = format!("{} {long} end", "word ".repeat(30).trim_end());
        let lines = wrapped(&text, "  ", "    ");
        let words: Vec<&str> = lines.split_whitespace().collect();
        assert_eq!(words, text.split(' ').collect::<Vec<_>>());
        assert!(lines.lines().all(|line| line.len() <= WIDTH || line.trim() == long));
        assert_eq!(lines.lines().map(str::len).filter(|length| (75..=80).contains(length)).count(), 2);
    }
}
