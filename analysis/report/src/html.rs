//! The analysis as one page: no network, readable without JavaScript, light and dark.

mod boosting;
mod case_page;
mod choices;
mod cost;
mod criteria;
mod curve;
mod distributions;
mod expected;
mod experiment_page;
mod matrix;
mod mutants;
mod names;
mod order;
mod overview;
mod page;
mod pairs;
mod plots;
mod sensitivity;
mod source;
mod suite;
mod suites;
mod survivors;
mod svg;

use maud::{DOCTYPE, Markup, PreEscaped, html};
use simutant_analysis::{Analysis, KillsByCase, Reference, target};
use simutant_outcomes::{BitSet, MutantNumber, Outcomes};

pub use case_page::{CasePage, CasePages};
pub use experiment_page::experiment_report;
pub use page::{Explanation, MutantPage, Parting, example_case};
pub use plots::{Plot, plots};

const STYLE: &str = include_str!("html/style.css");
const SCRIPTS: [&str; 3] =
    [include_str!("html/script.js"), include_str!("html/pairs.js"), include_str!("html/matrix.js")];

/// Returns the report as the text of one self-contained HTML page, with what an earlier experiment reports beside it.
///
/// # Panics
/// If `analysis` is not one of `outcomes`.
pub fn report(outcomes: &Outcomes, analysis: &Analysis, reference: Option<&Reference>) -> String {
    report_with_pages(outcomes, analysis, reference, Pages::default())
}

/// What has a page of its own.
#[derive(Debug, Clone, Copy, Default)]
pub struct Pages<'a> {
    /// Mutants: files in the folder `mutants` beside the report, with the names that [`MutantPage::file_name`] gives.
    pub mutants: &'a [MutantNumber],
    /// Test cases: files in the folder `cases`, with the names that [`CasePage::file_name`] gives.
    pub cases: &'a [usize],
    /// What the codes of mutation operators mean.
    pub operators: Operators<'a>,
}

/// What the codes of mutation operators mean: for each its title, as `relational operator replacement` of `ROR`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Operators<'a> {
    /// Codes with titles.
    pub titles: &'a [(&'a str, &'a str)],
}

impl<'a> Operators<'a> {
    /// Returns the title of a code, if it is known.
    fn title(self, code: &str) -> Option<&'a str> {
        self.titles.iter().find(|(known, _)| *known == code).map(|(_, title)| *title)
    }

    /// Returns a code that says what it means when it is pointed at.
    fn code(self, code: &str) -> Markup {
        html! {
            @match self.title(code) {
                Some(title) => abbr title=(title) { code { (code) } },
                None => code { (code) },
            }
        }
    }
}

/// Returns the report as [`report`] does, with links to these pages.
///
/// # Panics
/// If `analysis` is not one of `outcomes`.
pub fn report_with_pages(
    outcomes: &Outcomes,
    analysis: &Analysis,
    reference: Option<&Reference>,
    pages: Pages<'_>,
) -> String {
    let mut page = Page::new(outcomes, analysis, reference);
    page.pages.extend(pages.mutants.iter().map(|number| *number as usize));
    page.case_pages.extend(pages.cases.iter().copied());
    page.operators = pages.operators;
    let expected = analysis.expected.as_ref();
    let expected = expected.map(|expected| ("expected", "Expected scores", expected::section(&page, expected)));
    let cost = analysis.cost.as_ref().map(|cost| ("cost", "Cost oracle", cost::section(&page, cost)));
    let sensitivity = analysis.sensitivity.as_ref();
    let sensitivity = sensitivity.map(|found| ("sensitivity", "Sensitivity", sensitivity::section(&page, found)));
    // What a reader acts on comes first: survivors, and the source with them; then what to run, then statistics.
    let first = [
        ("survivors", "Survivors", survivors::section(&page)),
        ("source", "Source", source::section(&page)),
        ("mutants", "Mutants", mutants::section(&page)),
        ("suite", "Chosen suite", suite::section(&page)),
        ("suites", "Suites side by side", suites::section(&page)),
        ("kills", "Kill matrix", matrix::section(&page)),
        ("criteria", "Criteria", criteria::section(&page)),
    ];
    let last = [
        ("order", "Order of the criteria", order::section(&page)),
        ("distributions", "Distributions", distributions::section(&page)),
        ("size", "Size and cost", curve::section(&page)),
        ("boosting", "Boosting", boosting::section(&page)),
    ];
    let sections = first.into_iter().chain(expected).chain(sensitivity).chain(last).chain(cost);
    let sections: Vec<(&str, &str, Markup)> = sections.collect();
    let title = format!("Simutant: {}", analysis.system);
    document(
        &title,
        html! {
            nav aria-label="Sections" {
                a.brand href="#overview" { "Simutant " b { (analysis.system) } }
                @for (id, name, _) in &sections { a href={ "#" (id) } { (name) } }
            }
            main {
                (overview::section(&page))
                @for (id, name, content) in &sections {
                    section id=(id) { h2 { (name) } (content) }
                }
            }
            footer {
                p {
                    "Method: Matthew J. Rutherford, PhD thesis, University of Colorado, chapters 3 and 4. "
                    "A mutant score speaks of the simulation and of this universe of test cases."
                }
            }
            @for script in SCRIPTS { script { (PreEscaped(script)) } }
        },
    )
}

/// Returns a page with this body, as the text of an HTML file that needs nothing else.
fn document(title: &str, body: Markup) -> String {
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (title) }
                style { (PreEscaped(STYLE)) }
            }
            body { (body) }
        }
    }
    .into_string()
}

/// What the sections of the page share.
struct Page<'a> {
    outcomes: &'a Outcomes,
    analysis: &'a Analysis,
    /// What an earlier experiment reports about the system.
    reference: Option<&'a Reference>,
    kills: KillsByCase,
    /// Test cases of the chosen suite; empty if there is none.
    suite: Vec<usize>,
    /// Mutants that the chosen suite kills.
    killed_by_suite: BitSet,
    /// Mutants that have a page of their own.
    pages: BitSet,
    /// Test cases that have one.
    case_pages: BitSet,
    /// What the codes of operators mean.
    operators: Operators<'a>,
}

impl<'a> Page<'a> {
    fn new(outcomes: &'a Outcomes, analysis: &'a Analysis, reference: Option<&'a Reference>) -> Self {
        let of_these_outcomes = analysis.campaign.cases == outcomes.cases.len()
            && analysis.mutants.classes.len() == outcomes.sites.mutants.len()
            && analysis.criteria.iter().map(|c| &c.name).eq(outcomes.criteria.iter().map(|c| &c.name));
        assert!(of_these_outcomes, "the analysis is of other outcomes: {} cases", analysis.campaign.cases);
        let suite = analysis.chosen.as_ref().map(|chosen| chosen.cases.clone()).unwrap_or_default();
        let kills = KillsByCase::new(outcomes);
        let killed_by_suite = kills.of_suite(&suite);
        let pages = BitSet::with_capacity(outcomes.sites.mutants.len());
        let case_pages = BitSet::with_capacity(outcomes.cases.len());
        Self {
            outcomes,
            analysis,
            reference,
            kills,
            suite,
            killed_by_suite,
            pages,
            case_pages,
            operators: Operators::default(),
        }
    }

    /// Returns which requirements of the criterion called `name` the universe and the chosen suite cover, `None` if the
    /// outcomes do not have it.
    fn coverage(&self, name: &str) -> Option<(BitSet, BitSet)> {
        let criterion = self.outcomes.criteria.iter().find(|criterion| criterion.name == name)?;
        let mut by_suite = BitSet::with_capacity(criterion.requirements.len());
        self.suite.iter().for_each(|&case| by_suite.union_with(&criterion.covered[case]));
        Some((target(criterion), by_suite))
    }

    /// Returns the name of a test case, with a link to its page if it has one.
    fn case_link(&self, case: usize) -> Markup {
        let name = simutant_analysis::case_name(&self.analysis.system, case, self.analysis.campaign.cases);
        html! {
            @if self.case_pages.contains(case) {
                a href={ "cases/" (case_page::case_file_name(self.analysis, case)) } { code { (name) } }
            } @else {
                code { (name) }
            }
        }
    }

    /// Returns `path:line` of a place.
    fn place(&self, span: simutant_outcomes::Span) -> String {
        format!("{}:{}", self.outcomes.sites.files[span.file].path, span.line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use simutant_analysis::{AnalysisOptions, analyse};
    use simutant_synthetic::synthetic;

    fn page() -> String {
        let mut outcomes = synthetic(60, 1);
        outcomes.sites.mutants[0].replacement = "<script>alert(1)</script>".into();
        let analysis = analyse(&outcomes, &AnalysisOptions::default()).expect("sound outcomes");
        report(&outcomes, &analysis, None)
    }

    #[test]
    fn the_page_needs_nothing_from_outside() {
        let page = page();
        for outside in ["http://", "https://", "src=", "@import", "url("] {
            assert!(!page.contains(outside), "the page has `{outside}`");
        }
    }

    #[test]
    fn survivors_and_source_come_before_statistics() {
        let page = page();
        let at = |id: &str| page.find(&format!("<section id=\"{id}\"")).unwrap_or_else(|| panic!("no section {id}"));
        let order = ["overview", "survivors", "source", "mutants", "suite", "criteria", "order", "boosting"].map(at);
        assert!(order.is_sorted(), "{order:?}");
        let large = page.find("class=\"tiles large\"").expect("there are numbers that matter");
        let sentence = page.find("class=\"lead\"").expect("there are sentences");
        assert!(large < sentence && sentence < at("survivors"), "scores come first");
    }

    #[test]
    fn the_code_of_an_operator_says_what_it_means_where_a_finger_reads_it_too() {
        let outcomes = synthetic(60, 1);
        let analysis = analyse(&outcomes, &AnalysisOptions::default()).expect("sound outcomes");
        let code = outcomes.sites.mutants[0].operator.as_str();
        let titles = [(code, "a <small> change"), ("XYZ", "no mutant is of it")];
        let pages = Pages { operators: Operators { titles: &titles }, ..Pages::default() };
        let page = report_with_pages(&outcomes, &analysis, None, pages);
        let pointed_at = format!("<abbr title=\"a &lt;small&gt; change\"><code>{code}</code></abbr>");
        assert!(page.matches(&pointed_at).count() > 2, "{pointed_at}");
        assert!(page.contains(&format!("<dt><code>{code}</code></dt><dd>a &lt;small&gt; change</dd>")));
        assert!(!page.contains("XYZ") && !report(&outcomes, &analysis, None).contains("<abbr"));
    }

    #[test]
    fn code_is_escaped() {
        let page = page();
        assert!(page.contains("&lt;script&gt;alert(1)"));
        assert!(!page.contains("<script>alert(1)"));
    }

    #[test]
    fn every_link_has_its_target() {
        let page = page();
        for link in page.split("href=\"#").skip(1) {
            let id = link.split('"').next().expect("a split has a first part");
            assert!(page.contains(&format!("id=\"{id}\"")), "nothing has the id `{id}`");
        }
    }

    #[test]
    fn ids_are_unique() {
        let page = page();
        let mut ids: Vec<&str> = page.split(" id=\"").skip(1).filter_map(|rest| rest.split('"').next()).collect();
        let count = ids.len();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), count);
    }

    #[test]
    #[should_panic(expected = "the analysis is of other outcomes")]
    fn an_analysis_of_other_outcomes_is_refused() {
        let analysis = analyse(&synthetic(60, 1), &AnalysisOptions::default()).expect("sound outcomes");
        report(&synthetic(61, 1), &analysis, None);
    }
}
