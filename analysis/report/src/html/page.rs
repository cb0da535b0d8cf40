//! The page of one mutant: its change in context, who kills it and why, and where its run leaves the original's.

use maud::{Markup, html};
use serde::{Deserialize, Serialize};
use simutant_analysis::case_name;
use simutant_outcomes::{Cause, Execution, Judgement, MutantNumber, Outcomes, Sites};

use super::mutants::{causes, diff, verdicts};
use super::{Operators, document};

/// Lines of the source before and after the change.
const CONTEXT: usize = 8;
/// How many of the test cases that kill a mutant are named.
const KILLERS_MAX: usize = 40;

/// What the page of a mutant is made of.
#[derive(Debug, Clone, Copy)]
pub struct MutantPage<'a> {
    /// The source and its mutants.
    pub sites: &'a Sites,
    /// The mutant.
    pub mutant: MutantNumber,
    /// What a campaign found out, if there was one.
    pub outcomes: Option<&'a Outcomes>,
    /// What a person says of the mutant.
    pub judgement: Option<&'a Judgement>,
    /// What one test case shows of it; `None` if there is no case to show.
    pub explanation: Option<&'a Explanation>,
    /// The mutant whose page is the one before, if there is one.
    pub previous: Option<MutantNumber>,
    /// The mutant whose page is the next one.
    pub next: Option<MutantNumber>,
    /// The command that judges the mutant; `None` if nobody can.
    pub judge: Option<&'a str>,
    /// What the codes of operators mean.
    pub operators: Operators<'a>,
}

/// What one test case shows of a mutant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Explanation {
    /// The test case, in its system's own form.
    pub case: serde_json::Value,
    /// Its number in the universe; `None` if it is not of it.
    pub number: Option<usize>,
    /// How the run on the mutant ended.
    pub execution: Execution,
    /// Whether the run executed the mutated place.
    pub reached: bool,
    /// Where the runs part; `None` if their events are the same, or one of them left no trace.
    pub parting: Option<Parting>,
    /// The message sequences around that place, of the original and of the mutant, as SVG; `None` without traces.
    #[serde(skip)]
    pub pictures: Option<[String; 2]>,
    /// The whole message sequences of both, as pages to zoom and search in; `None` without traces.
    #[serde(skip)]
    pub diagrams: Option<[String; 2]>,
    /// The command that runs the test case on the mutant again.
    pub replay: String,
}

/// The first event in which two runs differ.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parting {
    /// Its number in the trace, from 0 on.
    pub event: usize,
    /// The event before, which both runs have.
    pub before: Option<String>,
    /// What happens in the run of the original, in words; `None` if that is over.
    pub original: Option<String>,
    /// What happens in the run of the mutant, in words; `None` if that is over.
    pub mutant: Option<String>,
}

impl MutantPage<'_> {
    /// Returns the name of the page's file, which is the same as long as the mutant has its number and its identity.
    pub fn file_name(&self) -> String {
        file_name(self.sites, self.mutant)
    }

    /// Returns the names of the files with the whole message sequences of the original and of the mutant, in the folder
    /// `diagrams` beside that of the page.
    pub fn diagram_names(&self) -> [String; 2] {
        let name = self.file_name();
        let stem = name.trim_end_matches(".html");
        ["original", "mutant"].map(|whose| format!("{stem}-{whose}.html"))
    }

    fn beside(&self, name: &str, mutant: Option<MutantNumber>) -> Markup {
        html! {
            @if let Some(mutant) = mutant { a href=(file_name(self.sites, mutant)) { (name) " (" (mutant) ")" } }
        }
    }

    /// Returns the page as the text of an HTML file that needs nothing else, but for its links.
    pub fn html(&self) -> String {
        let Self { sites, mutant: number, .. } = *self;
        let mutant = &sites.mutants[number as usize];
        let place = format!("{}:{}", sites.files[mutant.span.file].path, mutant.span.line);
        document(
            &format!("Simutant: {}, mutant {number}", sites.system),
            html! {
                nav aria-label="Sections" {
                    a.brand href={ "../report.html#m" (number) } { "Simutant " b { (sites.system) } }
                    a href="#change" { "Change" }
                    a href="#evidence" { "Evidence" }
                    a href="#run" { "Run" }
                    (self.beside("Previous", self.previous))
                    (self.beside("Next", self.next))
                }
                main {
                    section #change {
                        h1 { "Mutant " b { (number) } ", " code { (mutant.operator) } " at " (place) }
                        p.note {
                            @if let Some(title) = self.operators.title(&mutant.operator) { (mutant.operator) ": " (title) ". " }
                            "In " code { (sites.functions[mutant.function].path) } ", identity " code { (mutant.identity) } "."
                        }
                        (diff(sites, mutant, CONTEXT))
                        @if let Some(judgement) = self.judgement {
                            p { "Judged " b { (judgement.judged) } ": " (judgement.reason) }
                        }
                        @if let Some(judge) = self.judge {
                            p.note { "To judge it, with your reason, or " code { "killable" } " for " code { "equivalent" } ":" }
                            pre.command { (judge) }
                        }
                    }
                    section #evidence {
                        h2 { "What test cases do to it" }
                        @match self.outcomes {
                            Some(outcomes) => (evidence(outcomes, number as usize)),
                            None => p { "No study has been made." },
                        }
                    }
                    section #run {
                        h2 { "What one test case shows" }
                        @match self.explanation {
                            Some(explanation) => (run(self, explanation)),
                            None => p { "No test case was run." },
                        }
                    }
                }
            },
        )
    }
}

/// Returns the name of the file with the page of a mutant.
pub(crate) fn file_name(sites: &Sites, mutant: MutantNumber) -> String {
    format!("{mutant}-{}.html", sites.mutants[mutant as usize].identity)
}

/// Returns the test case that shows a mutant best: one that kills it or, failing that, one whose run on it has other
/// events, one that infects it, one that reaches it. Of these it is the first of those on which the original has the
/// fewest events. `None` if none reaches it.
pub fn example_case(outcomes: &Outcomes, mutant: MutantNumber) -> Option<usize> {
    let mutant = mutant as usize;
    let shortest = |is_one: &dyn Fn(usize) -> bool| {
        (0..outcomes.cases.len()).filter(|&case| is_one(case)).min_by_key(|&case| outcomes.cases[case].events)
    };
    shortest(&|case| outcomes.kills[mutant].contains(case))
        .or_else(|| shortest(&|case| outcomes.diverged[mutant].contains(case)))
        .or_else(|| shortest(&|case| outcomes.cases[case].infected.contains(mutant)))
        .or_else(|| shortest(&|case| outcomes.cases[case].reached.contains(mutant)))
}

fn evidence(outcomes: &Outcomes, mutant: usize) -> Markup {
    let cases = outcomes.cases.len();
    let (reached, infected, diverged) = (
        outcomes.cases.iter().filter(|case| case.reached.contains(mutant)).count(),
        outcomes.cases.iter().filter(|case| case.infected.contains(mutant)).count(),
        outcomes.diverged[mutant].count_ones(..),
    );
    let kills = &outcomes.kills[mutant];
    html! {
        p {
            "Of " (cases) " test cases " (reached) " reach it, " (infected) " infect it, " (diverged) " have other events on it than on "
            "the original, and " b { (kills.count_ones(..)) " kill it" } ". "
            (verdicts(outcomes.verdicts[mutant])) (causes(&outcomes.causes[mutant]))
        }
        @if !outcomes.reasons[mutant].is_empty() {
            ul.reasons {
                @for reason in &outcomes.reasons[mutant] {
                    li {
                        (reason.count) " × " span.verdict { (reason.cause) } ": " (reason.reason)
                        small { "first " (case_name(&outcomes.system, reason.first_case, cases)) }
                    }
                }
            }
        }
        @if !kills.is_clear() {
            details {
                summary { "The test cases that kill it" }
                p {
                    @for case in kills.ones().take(KILLERS_MAX) { code { (case_name(&outcomes.system, case, cases)) } " " }
                    @if kills.count_ones(..) > KILLERS_MAX { "and " (kills.count_ones(..) - KILLERS_MAX) " more" }
                }
            }
        }
    }
}

fn run(page: &MutantPage<'_>, explanation: &Explanation) -> Markup {
    let Explanation { case, number, execution, reached, parting, pictures, diagrams, replay } = explanation;
    let name = match (page.outcomes, number) {
        (Some(outcomes), Some(number)) => case_name(&outcomes.system, *number, outcomes.cases.len()),
        (None, Some(number)) => format!("test case {number}"),
        (_, None) => "a test case of its own".to_owned(),
    };
    html! {
        p { b { (name) } ": " code { (case) } }
        p {
            "On the mutant: " span.verdict[execution.verdict.kills()] { (execution.verdict) }
            @if let Some(cause) = execution.cause { " (" (cause) ")" }
            @if !execution.reason.is_empty() { ": " (execution.reason) }
            @if !reached { ". The run does not reach the change" }
            "."
        }
        @match parting {
            Some(parting) => (parting_of(parting)),
            None if pictures.is_none() => {
                p { "There is no trace: " @if execution.cause.is_some_and(ends_process) { "the run ended its process." } @else { "the runs were not traced." } }
            }
            None => p { "The two runs have the same events." },
        }
        @if let Some([original, mutant]) = pictures {
            div.pair {
                @for (name, picture) in [("original", original), ("mutant", mutant)] {
                    figure {
                        figcaption { b { "the " (name) } }
                        img src=(data_uri(picture)) alt={ "Message sequence of the run on the " (name) ", around the first difference" };
                    }
                }
            }
        }
        @if diagrams.is_some() {
            @let [original, mutant] = page.diagram_names();
            p {
                "The whole message sequences, to zoom and search in: " a href={ "../diagrams/" (original) } { "the original" } ", "
                a href={ "../diagrams/" (mutant) } { "the mutant" } "."
            }
        }
        p.note { "Again:" }
        pre.command { (replay) }
    }
}

fn parting_of(parting: &Parting) -> Markup {
    let or_end = |event: &Option<String>| event.clone().unwrap_or_else(|| "the run is over".to_owned());
    html! {
        p { "First difference: event " b { (parting.event) } @if parting.before.is_none() { ", the first of the run" } "." }
        table.compact {
            tbody {
                @if let Some(before) = &parting.before { tr { th scope="row" { "both" } td.change { (before) } } }
                tr { th scope="row" { "original" } td.change { (or_end(&parting.original)) } }
                tr { th scope="row" { "mutant" } td.change { (or_end(&parting.mutant)) } }
            }
        }
    }
}

/// Returns whether a run that ends so takes its trace with it.
fn ends_process(cause: Cause) -> bool {
    matches!(cause, Cause::StackOverflow | Cause::Memory | Cause::Abort | Cause::Exit | Cause::Hang)
}

/// Returns a picture as an address. So its styles and names are its own, although two pictures are on one page.
pub(super) fn data_uri(svg: &str) -> String {
    let mut uri = String::from("data:image/svg+xml,");
    for character in svg.chars() {
        match character {
            '%' | '#' | '"' | '<' | '>' | '\n' | '\r' | '\t' => uri.push_str(&format!("%{:02X}", u32::from(character))),
            other => uri.push(other),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;
    use simutant_outcomes::Judged;
    use simutant_synthetic::from_kills;

    fn explanation(pictures: Option<[String; 2]>) -> Explanation {
        Explanation {
            case: serde_json::json!({ "text": "</code><script>" }),
            number: Some(1),
            execution: Execution {
                verdict: Cause::Panic.verdict(),
                cause: Some(Cause::Panic),
                reason: "<b> panicked".into(),
                events: 3,
                steps: 4,
            },
            reached: true,
            parting: pictures.is_some().then(|| Parting {
                event: 7,
                before: Some("a sends".into()),
                original: Some("b receives".into()),
                mutant: None,
            }),
            diagrams: pictures.clone(),
            pictures,
            replay: "simutant simulate small --case 1 --mutant 0".into(),
        }
    }

    #[test]
    fn a_page_says_what_is_known_and_escapes_it() {
        let outcomes = from_kills(&["rik."]);
        let svg = || "<svg xmlns=\"http://www.w3.org/2000/svg\"><!-- 100 % --></svg>\n".to_owned();
        let explanation = explanation(Some([svg(), svg()]));
        let judgement = Judgement { judged: Judged::Killable, reason: "<i>".into() };
        let page = MutantPage {
            sites: &outcomes.sites,
            mutant: 0,
            outcomes: Some(&outcomes),
            judgement: Some(&judgement),
            explanation: Some(&explanation),
            previous: None,
            next: Some(0),
            judge: Some("simutant judge small 0 equivalent --reason 'WHY'"),
            operators: Operators { titles: &[("LVR", "literal value replacement")] },
        };
        assert_eq!(page.file_name(), "0-0000000000000000.html");
        let html = page.html();
        for part in [
            "Of 4 test cases 3 reach it, 2 infect it, 1 have other events",
            "<b>1 kill it</b>",
            "1 wrong result",
            "Judged <b>killable</b>: &lt;i&gt;",
            "abnormal</span> (panic): &lt;b&gt; panicked",
            "First difference: event <b>7</b>",
            "the run is over",
            "data:image/svg+xml,%3Csvg",
            "100 %25",
            "&lt;/code&gt;&lt;script&gt;",
            "href=\"../report.html#m0\"",
            "<a href=\"0-0000000000000000.html\">Next (0)</a>",
            "<pre class=\"command\">simutant judge small 0 equivalent --reason 'WHY'</pre>",
            "<pre class=\"command\">simutant simulate small --case 1 --mutant 0</pre>",
            "href=\"../diagrams/0-0000000000000000-original.html\"",
            "href=\"../diagrams/0-0000000000000000-mutant.html\"",
            "LVR: literal value replacement. In <code>",
        ] {
            assert!(html.contains(part), "`{part}` is not in {html}");
        }
        assert!(!html.contains("Previous"), "it is the first");
        assert!(!html.contains("<script"), "a page needs no script");
        for outside in ["src=\"http", "href=\"http", "@import", "url("] {
            assert!(!html.contains(outside), "the page stands alone: {outside}");
        }
    }

    #[test]
    fn a_page_says_what_is_missing() {
        let outcomes = from_kills(&["...."]);
        let explanation = explanation(None);
        let page = MutantPage {
            sites: &outcomes.sites,
            mutant: 0,
            outcomes: None,
            judgement: None,
            explanation: None,
            previous: None,
            next: None,
            judge: None,
            operators: Operators::default(),
        };
        assert!(page.html().contains("No study has been made.") && page.html().contains("No test case was run."));
        let html = MutantPage { explanation: Some(&explanation), ..page }.html();
        assert!(html.contains("the runs were not traced"), "{html}");
    }

    #[test]
    fn the_case_that_is_shown_gets_as_far_as_any_and_is_short() {
        let mut outcomes = from_kills(&["rikk", "ridd", "rrii", "..r.", "...."]);
        outcomes.cases[2].events = 20;
        let cases: Vec<_> = (0..5).map(|mutant| example_case(&outcomes, mutant)).collect();
        assert_eq!(cases, [Some(3), Some(3), Some(3), Some(2), None]);
    }
}
