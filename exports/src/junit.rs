//! JUnit XML: the form of the Jenkins plugin `xunit`, which other systems for continuous integration read, too.

use simutant_analysis::{Study, suite_scores};
use simutant_outcomes::Mutant;

use crate::Root;
use crate::change::{Standing, sentence};
use crate::xml::{element, escaped, open};

/// Results in suites of tests.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct JunitReport {
    /// What was tested.
    pub name: String,
    /// The suites.
    pub suites: Vec<TestSuite>,
}

/// Tests that belong together.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TestSuite {
    /// Its name.
    pub name: String,
    /// What else is known, by name.
    pub properties: Vec<(String, String)>,
    /// The tests.
    pub cases: Vec<JunitTest>,
}

/// One test.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct JunitTest {
    /// Its name.
    pub name: String,
    /// The class that it belongs to, with `.` between its parts.
    pub class: String,
    /// How long it took, in milliseconds; `None` where time says nothing.
    pub duration_ms: Option<u64>,
    /// How it ended.
    pub end: JunitEnd,
    /// What it printed.
    pub output: String,
}

/// How a test ended.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum JunitEnd {
    /// Well.
    #[default]
    Passed,
    /// Not well.
    Failed {
        /// What kind of failure it is.
        kind: String,
        /// What is wrong, on one line.
        message: String,
        /// More of it.
        text: String,
    },
    /// Nothing was found out, for this reason.
    Inconclusive(String),
    /// It was not run, or does not count.
    Skipped(String),
}

impl JunitReport {
    /// Returns the report as XML, ending in a line break.
    pub fn to_xml(&self) -> String {
        let all: Vec<&JunitTest> = self.suites.iter().flat_map(|suite| &suite.cases).collect();
        let mut out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n".to_owned();
        let some = |text: &str| Some(text.to_owned());
        let [tests, failures, errors, _] = counts(&all);
        let head = [
            ("name", some(&self.name)),
            ("tests", tests),
            ("failures", failures),
            ("errors", errors),
            ("time", duration(&all)),
        ];
        open(&mut out, "testsuites", &head);
        out.push('\n');
        for suite in &self.suites {
            let cases: Vec<&JunitTest> = suite.cases.iter().collect();
            let [tests, failures, errors, skipped] = counts(&cases);
            let head = [
                ("name", some(&suite.name)),
                ("tests", tests),
                ("failures", failures),
                ("errors", errors),
                ("skipped", skipped),
                ("time", duration(&cases)),
            ];
            open(&mut out, "testsuite", &head);
            out.push('\n');
            if !suite.properties.is_empty() {
                out.push_str("<properties>\n");
                for (name, value) in &suite.properties {
                    element(&mut out, "property", &[("name", some(name)), ("value", some(value))], "");
                }
                out.push_str("</properties>\n");
            }
            suite.cases.iter().for_each(|case| write_case(&mut out, case));
            out.push_str("</testsuite>\n");
        }
        out.push_str("</testsuites>\n");
        out
    }
}

fn write_case(out: &mut String, case: &JunitTest) {
    let some = |text: &str| Some(text.to_owned());
    let head = [("name", some(&case.name)), ("classname", some(&case.class)), ("time", duration(&[case]))];
    open(out, "testcase", &head);
    match &case.end {
        JunitEnd::Passed => {}
        JunitEnd::Failed { kind, message, text } => {
            element(out, "failure", &[("type", some(kind)), ("message", some(message))], text);
        }
        JunitEnd::Inconclusive(reason) => {
            element(out, "error", &[("type", some("inconclusive")), ("message", some(reason))], "");
        }
        JunitEnd::Skipped(reason) => element(out, "skipped", &[("message", some(reason))], ""),
    }
    if !case.output.is_empty() {
        out.push_str(&format!("<system-out>{}</system-out>", escaped(&case.output, false)));
    }
    out.push_str("</testcase>\n");
}

/// How many tests there are, how many failed, of how many nothing was found out, and how many were skipped.
fn counts(cases: &[&JunitTest]) -> [Option<String>; 4] {
    let count = |is: fn(&JunitEnd) -> bool| cases.iter().filter(|case| is(&case.end)).count();
    let counts = [
        cases.len(),
        count(|end| matches!(end, JunitEnd::Failed { .. })),
        count(|end| matches!(end, JunitEnd::Inconclusive(_))),
        count(|end| matches!(end, JunitEnd::Skipped(_))),
    ];
    counts.map(|count| Some(count.to_string()))
}

/// The time of tests together in seconds, `None` if one of them has none.
fn duration(cases: &[&JunitTest]) -> Option<String> {
    let sum: u64 = cases.iter().map(|case| case.duration_ms).sum::<Option<u64>>()?;
    Some(format!("{}.{:03}", sum / 1000, sum % 1000))
}

/// Returns a study as a report: a suite for each specification file, a test for each mutant, which fails if no test
/// case of the universe kills it. Mutants that are known to be equivalent, duplicates, and those that do not compile
/// are skipped.
pub fn study(study: &Study<'_>, root: &Root) -> JunitReport {
    let outcomes = study.outcomes;
    let sites = &outcomes.sites;
    let mut properties = vec![
        ("system".to_owned(), outcomes.system.clone()),
        ("seed".into(), outcomes.seed.to_string()),
        ("test cases".into(), outcomes.cases.len().to_string()),
        ("score of the universe".into(), study.analysis.score_bounds.to_string()),
    ];
    if let Some(suite) = study.suite {
        let scores = suite_scores(outcomes, study.analysis, suite);
        properties.push(("score of the suite".into(), scores.mutants.to_string()));
        properties.push(("score of the suite on dominators".into(), scores.dominators.to_string()));
    }
    let suites = sites.files.iter().enumerate().map(|(file, source)| {
        let mutants = sites.mutants.iter().enumerate().filter(|(_, mutant)| mutant.span.file == file);
        let rejected = sites.rejected.iter().filter(|rejected| rejected.mutant.span.file == file);
        let test = |mutant: &Mutant, end| JunitTest {
            name: format!(
                "{} line {}: {} [{}]",
                mutant.operator,
                mutant.span.line,
                sentence(sites, mutant),
                mutant.identity
            ),
            class: sites.functions[mutant.function].path.replace("::", "."),
            duration_ms: None,
            end,
            output: String::new(),
        };
        let tested = mutants.map(|(number, mutant)| {
            let end = match Standing::of(study, number) {
                Standing::Killed(_) | Standing::TimedOut(_) => JunitEnd::Passed,
                Standing::Ignored(reason) => JunitEnd::Skipped(reason),
                Standing::Alive(class, evidence) => JunitEnd::Failed {
                    kind: class.to_string(),
                    message: format!("mutant {number} survives, {evidence}"),
                    text: format!("{}\n{}", root.path(&source.path), sites.diff(mutant, 3)),
                },
            };
            test(mutant, end)
        });
        let skipped = rejected.map(|rejected| {
            let first_line = rejected.reason.lines().next().unwrap_or_default();
            // The numbers of its parts, if it has some, are not those of mutants that are left.
            let mutant = Mutant { parts: None, ..rejected.mutant.clone() };
            test(&mutant, JunitEnd::Skipped(format!("does not compile: {first_line}")))
        });
        TestSuite {
            name: root.path(&source.path),
            properties: properties.clone(),
            cases: tested.chain(skipped).collect(),
        }
    });
    JunitReport { name: format!("mutants of {}", outcomes.system), suites: suites.collect() }
}
