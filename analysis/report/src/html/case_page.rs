//! The page of one test case: its input, what it covers that few others do, what it kills, and its message sequence.

use maud::{Markup, html};
use serde_json::Value;
use simutant_analysis::{Analysis, MutantClass, case_name, count, plural};
use simutant_outcomes::{BitSet, Outcomes};

use super::document;
use super::overview::class_name;
use super::page::{data_uri, file_name};

/// How many mutants, and how many rare requirements, are named.
const NAMED_MAX: usize = 60;
/// A requirement that so many test cases of a thousand cover, or fewer, is rare.
const RARE_OF_THOUSAND: usize = 50;

/// What the pages of test cases have in common.
#[derive(Debug)]
pub struct CasePages<'a> {
    outcomes: &'a Outcomes,
    analysis: &'a Analysis,
    /// How many test cases cover each requirement of each criterion.
    covering: Vec<Vec<usize>>,
}

impl<'a> CasePages<'a> {
    /// Begins pages about what a campaign found out and what that says.
    pub fn new(outcomes: &'a Outcomes, analysis: &'a Analysis) -> Self {
        let covering = outcomes.criteria.iter().map(|criterion| {
            let mut covering = vec![0; criterion.requirements.len()];
            criterion.covered.iter().flat_map(BitSet::ones).for_each(|requirement| covering[requirement] += 1);
            covering
        });
        Self { outcomes, analysis, covering: covering.collect() }
    }
}

/// What the page of a test case is made of.
#[derive(Debug, Clone, Copy)]
pub struct CasePage<'a> {
    /// What it has in common with others.
    pub pages: &'a CasePages<'a>,
    /// The number of the test case in the universe.
    pub case: usize,
    /// The beginning of its message sequence as SVG; `None` without a trace.
    pub picture: Option<&'a str>,
    /// The name of the file beside this one with the whole message sequence; `None` without a trace.
    pub diagram: Option<&'a str>,
    /// The command that runs it again.
    pub replay: &'a str,
}

impl CasePage<'_> {
    /// Returns the name of the page's file.
    pub fn file_name(&self) -> String {
        case_file_name(self.pages.analysis, self.case)
    }

    /// Returns the page as the text of an HTML file that needs nothing else, but for its links.
    pub fn html(&self) -> String {
        let Self { pages, case, .. } = *self;
        let CasePages { outcomes, analysis, .. } = *pages;
        let name = case_name(&analysis.system, case, analysis.campaign.cases);
        let outcome = &outcomes.cases[case];
        document(
            &format!("Simutant: {name}"),
            html! {
                nav aria-label="Sections" {
                    a.brand href="../report.html#suite" { "Simutant " b { (analysis.system) } }
                    a href="#input" { "Input" }
                    a href="#coverage" { "Coverage" }
                    a href="#kills" { "Kills" }
                    a href="#run" { "Run" }
                }
                main {
                    section #input {
                        h1 { "Test case " b { (name) } }
                        (input(&outcome.case))
                        p.note {
                            (count(outcome.events)) " events, " (count(outcome.steps)) " steps, "
                            (outcome.virtual_time_ns as f64 / 1e9) " s of virtual time on the original."
                        }
                    }
                    section #coverage { h2 { "What it covers" } (coverage(pages, case)) }
                    section #kills { h2 { "What it kills" } (kills(outcomes, analysis, case)) }
                    section #run { h2 { "Its run on the original" } (self.run()) }
                }
            },
        )
    }

    fn run(&self) -> Markup {
        html! {
            @match self.picture {
                Some(picture) => img.wide src=(data_uri(picture)) alt="Message sequence of the beginning of the run";,
                None => p { "The run was not traced." },
            }
            @if let Some(diagram) = self.diagram { p { a href=(diagram) { "The whole message sequence" } ", to zoom and search in." } }
            p.note { "Again:" }
            pre.command { (self.replay) }
        }
    }
}

/// Returns the name of the file with the page of a test case.
pub(crate) fn case_file_name(analysis: &Analysis, case: usize) -> String {
    format!("{}.html", case_name(&analysis.system, case, analysis.campaign.cases))
}

/// The fields of a test case, or all of it where it has none.
fn input(case: &Value) -> Markup {
    let Some(fields) = case.as_object().filter(|fields| !fields.is_empty()) else {
        return html! { p { code { (case) } } };
    };
    html! {
        table.compact {
            tbody {
                @for (name, value) in fields {
                    tr { th scope="row" { (name) } td.change { code { (value) } } }
                }
            }
        }
    }
}

fn coverage(CasePages { outcomes, covering, .. }: &CasePages<'_>, case: usize) -> Markup {
    let cases = outcomes.cases.len();
    html! {
        table.numbers.compact {
            thead {
                tr { th scope="col" { "criterion" } th scope="col" { "covers" } th scope="col" { "of" } th scope="col" { "rare" } }
            }
            tbody {
                @for (criterion, covering) in outcomes.criteria.iter().zip(covering) {
                    @let covered = &criterion.covered[case];
                    @let rare: Vec<(usize, usize)> = covered
                        .ones()
                        .map(|requirement| (covering[requirement], requirement))
                        .filter(|(by, _)| 1000 * by <= RARE_OF_THOUSAND * cases)
                        .collect();
                    tr {
                        th scope="row" { (criterion.name) }
                        td { (covered.count_ones(..)) }
                        td { (criterion.requirements.len()) }
                        td {
                            @if rare.is_empty() { "0" } @else {
                                details {
                                    summary { (rare.len()) }
                                    @for (by, requirement) in rare.iter().take(NAMED_MAX) {
                                        (criterion.requirements[*requirement]) " (" (plural(*by, "test case")) ")" br;
                                    }
                                }
                            }
                        }
                    }
                }
            }
        }
        p.note { "Rare: what at most one of twenty test cases of the universe covers." }
    }
}

fn kills(outcomes: &Outcomes, analysis: &Analysis, case: usize) -> Markup {
    let of_class = |class: MutantClass| -> Vec<usize> {
        let is_killed = |&mutant: &usize| outcomes.kills[mutant].contains(case);
        analysis.mutants.of(class).ones().filter(is_killed).collect()
    };
    let classes: Vec<(MutantClass, Vec<usize>)> = MutantClass::ALL
        .into_iter()
        .map(|class| (class, of_class(class)))
        .filter(|(_, found)| !found.is_empty())
        .collect();
    html! {
        @if classes.is_empty() { p { "Nothing." } }
        @for (class, found) in &classes {
            p {
                span.badge.(class_name(*class)) { (class) } " " b { (found.len()) }
                @for &mutant in found.iter().take(NAMED_MAX) {
                    " " a href={ "../report.html#m" (mutant) } title=(file_name(&outcomes.sites, mutant as u32)) { (mutant) }
                }
                @if found.len() > NAMED_MAX { " …" }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simutant_analysis::{AnalysisOptions, analyse};
    use simutant_synthetic::synthetic;

    #[test]
    fn a_page_says_what_is_known_and_escapes_it() {
        let mut outcomes = synthetic(60, 1);
        outcomes.cases[7].case = serde_json::json!({ "name": "<script>alert(1)</script>" });
        let analysis = analyse(&outcomes, &AnalysisOptions::default()).expect("sound outcomes");
        let page = CasePage {
            pages: &CasePages::new(&outcomes, &analysis),
            case: 7,
            picture: Some("<svg xmlns=\"x\"/>"),
            diagram: Some("arq-0007-diagram.html"),
            replay: "simutant simulate arq --case 7",
        };
        assert_eq!(page.file_name(), "arq-0007.html");
        let html = page.html();
        assert!(html.contains("&lt;script&gt;alert(1)") && !html.contains("<script>"), "{html}");
        assert!(html.contains("src=\"data:image/svg+xml,%3Csvg"), "{html}");
        assert!(html.contains("href=\"arq-0007-diagram.html\""), "{html}");
        let killed = (0..outcomes.kills.len()).filter(|&mutant| outcomes.kills[mutant].contains(7));
        for mutant in killed {
            assert!(html.contains(&format!("report.html#m{mutant}\"")), "mutant {mutant} is killed");
        }
        let bare = CasePage { picture: None, diagram: None, ..page };
        assert!(bare.html().contains("was not traced"));
    }

    #[test]
    fn what_few_test_cases_cover_is_named_with_how_many_do() {
        let mut outcomes = synthetic(60, 1);
        let criterion = &mut outcomes.criteria[0];
        criterion.covered.iter_mut().for_each(|covered| covered.set(0, false));
        [3, 7, 9].iter().for_each(|&case: &usize| criterion.covered[case].insert(0));
        let label = format!("{} (3 test cases)", criterion.requirements[0]);
        let analysis = analyse(&outcomes, &AnalysisOptions::default()).expect("sound outcomes");
        let pages = CasePages::new(&outcomes, &analysis);
        let page = |case| CasePage { pages: &pages, case, picture: None, diagram: None, replay: "" }.html();
        assert!(page(7).contains(&label) && !page(8).contains(&label));
    }
}
