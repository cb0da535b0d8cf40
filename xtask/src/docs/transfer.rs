//! The tables over systems of `docs/src/experiments/transfer.md`, from `transfer.json`, which `cargo xtask transfer` writes
//! from the `experiment.json` of several experiments.
//!
//! Most rules of thumb are of a parameter of one system. Over systems only those are single procedures that each system has;
//! the best rule of each system is another one, which the result picks.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use simutant_analysis::{AtBudget, Experiment, Interval, SelectionCurves, SubjectKind};

use super::reference::Page;

const PAGE: &str = "docs/src/experiments/transfer.md";

const FILE: &str = "docs/src/experiments/transfer.json";

/// What the tables stand between.
const MARKS: [&str; 2] = ["<!-- transfer -->\n", "<!-- /transfer -->"];

/// The names of the choice and of chance in an experiment.
const CHOSEN: &str = "chosen";
const RANDOM: &str = "random";

/// What is kept of an experiment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Transfer {
    system: String,
    universe_seed: u64,
    cases: usize,
    seeds: usize,
    /// How many programs count.
    programs: usize,
    /// See [`SelectionCurves::budgets`].
    budgets: Vec<f64>,
    /// At each budget, by how suites are chosen.
    ways: BTreeMap<String, Vec<AtBudget>>,
    /// The rule with the least regret over the budgets.
    best_rule: String,
    /// Whether the seed decides if the chosen suites find more than random ones.
    seed_decides: bool,
}

/// Reads these experiments, and writes the file; `cargo xtask docs` brings its tables into the page.
pub(crate) fn write(root: &Path, experiments: &[PathBuf]) -> anyhow::Result<()> {
    let read = |path: &PathBuf| -> anyhow::Result<Transfer> {
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
        let experiment: Experiment =
            serde_json::from_str(&text).with_context(|| format!("{} is no experiment.json", path.display()))?;
        let found = Transfer::new(&experiment);
        found.with_context(|| format!("{} compares nothing by time: it is of an earlier version", path.display()))
    };
    let all: Vec<Transfer> = experiments.iter().map(read).collect::<anyhow::Result<_>>()?;
    if all.iter().any(|other| other.budgets != all[0].budgets) {
        bail!("the experiments have other budgets of time");
    }
    std::fs::write(root.join(FILE), serde_json::to_string_pretty(&all)? + "\n")?;
    Ok(())
}

/// Returns the page as it should be; `None` if there is no file.
pub(super) fn page(root: &Path) -> anyhow::Result<Option<Page>> {
    let Ok(text) = std::fs::read_to_string(root.join(FILE)) else { return Ok(None) };
    let all: Vec<Transfer> = serde_json::from_str(&text).with_context(|| format!("cannot read {FILE}"))?;
    let path = root.join(PAGE);
    let page = std::fs::read_to_string(&path)?;
    let marked = page.split_once(MARKS[0]).and_then(|(before, rest)| Some((before, rest.split_once(MARKS[1])?.1)));
    let (before, after) = marked.with_context(|| format!("{PAGE} lacks the marks {MARKS:?} for the tables"))?;
    Ok(Some(Page { text: format!("{before}{}{}{}{after}", MARKS[0], tables(&all), MARKS[1]), path }))
}

impl Transfer {
    /// `None` if nothing is compared by time.
    fn new(experiment: &Experiment) -> Option<Self> {
        let findings = experiment.findings.iter().find(|findings| findings.kind == SubjectKind::Implementations)?;
        let choosing: &SelectionCurves = findings.choosing_in_time.as_ref()?;
        let ways = choosing.curves().map(|curve| (curve.name.clone(), curve.at_budgets.clone()));
        Some(Self {
            system: experiment.system.clone(),
            universe_seed: experiment.universe_seed,
            cases: experiment.preparation.cases,
            seeds: experiment.seeds,
            programs: findings.subjects.len(),
            budgets: choosing.budgets.clone(),
            ways: ways.collect(),
            best_rule: choosing.best_rule_at_budgets()?.name.clone(),
            seed_decides: choosing.random.seed_decides(),
        })
    }

    /// Returns the mean regret of a way to choose over the budgets; `None` if the system has no such rule.
    fn regret(&self, way: &str) -> Option<f64> {
        let at_budgets = self.ways.get(way)?;
        Some(at_budgets.iter().filter_map(|at| at.regret).sum::<f64>() / at_budgets.len() as f64)
    }
}

/// Returns the tables over systems in Markdown.
fn tables(all: &[Transfer]) -> String {
    let Some(first) = all.first() else { return String::new() };
    let mut everywhere: Vec<(&str, Vec<f64>)> = first
        .ways
        .keys()
        .filter_map(|way| Some((way.as_str(), all.iter().map(|of| of.regret(way)).collect::<Option<Vec<f64>>>()?)))
        .collect();
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    everywhere.sort_by(|one, other| mean(&one.1).total_cmp(&mean(&other.1)));
    let several = |of: &Transfer| all.iter().filter(|other| other.system == of.system).count() > 1;
    let heads = all.iter().map(|of| match several(of) {
        true => format!("`{}`, seed {}", of.system, of.universe_seed),
        false => format!("`{}`", of.system),
    });
    let heads: Vec<String> = heads.collect();
    let mut text = String::new();
    let mut row = |cells: Vec<String>| text.push_str(&format!("| {} |\n", cells.join(" | ")));
    let each = |name: &str, value: &dyn Fn(&Transfer) -> String, rest: [&str; 2]| -> Vec<String> {
        let rest = rest.iter().map(|cell| (*cell).to_owned());
        [name.to_owned()].into_iter().chain(all.iter().map(value)).chain(rest).collect()
    };
    let head = |name: &str, rest: &[&str]| -> Vec<String> {
        let rest = rest.iter().map(|cell| (*cell).to_owned());
        [name.to_owned()].into_iter().chain(heads.iter().cloned()).chain(rest).collect()
    };
    let ruler = |columns: usize| -> Vec<String> {
        std::iter::once("---".to_owned()).chain(std::iter::repeat_n("---:".to_owned(), columns)).collect()
    };
    row(head("points short of the best rule, mean over the budgets", &["mean", "most"]));
    row(ruler(heads.len() + 2));
    for (way, regrets) in &everywhere {
        let most = regrets.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let numbers = regrets.iter().copied().chain([mean(regrets), most]);
        row([name_of(way)].into_iter().chain(numbers.map(short)).collect());
    }
    let best =
        |of: &Transfer| format!("{}, `{}`", of.regret(&of.best_rule).map_or_else(String::new, short), of.best_rule);
    row(each("the best rule of each system, picked by the result", &best, ["", ""]));
    text.push('\n');
    let mut row = |cells: Vec<String>| text.push_str(&format!("| {} |\n", cells.join(" | ")));
    row(head("", &[]));
    row(ruler(heads.len()));
    let of_all = |value: &dyn Fn(&Transfer) -> String| all.iter().map(value).collect::<Vec<_>>();
    let mut line = |name: String, value: &dyn Fn(&Transfer) -> String| {
        row([name].into_iter().chain(of_all(value)).collect());
    };
    line("test cases".into(), &|of| of.cases.to_string());
    line("faulty programs that count".into(), &|of| of.programs.to_string());
    line("seeds of each test case".into(), &|of| of.seeds.to_string());
    for (budget, part) in first.budgets.iter().enumerate() {
        let part = format!("1/{:.0} of the time", 1.0 / part);
        line(format!("built suites find, {part}"), &|of| share(of, CHOSEN, budget));
        line(format!("random ones, {part}"), &|of| share(of, RANDOM, budget));
        line(format!("built minus random, {part}"), &|of| gain(of, RANDOM, budget));
        line(format!("built minus the best rule, {part}"), &|of| gain(of, &of.best_rule, budget));
    }
    line("one seed decides whether built or random ones find more".into(), &|of| match (of.seeds, of.seed_decides) {
        (..2, _) => "not known".into(),
        (_, true) => "yes".into(),
        (_, false) => "no".into(),
    });
    text
}

/// Names a way to choose in a table.
fn name_of(way: &str) -> String {
    match way {
        CHOSEN => "suites built for expected faults".into(),
        RANDOM => "random test cases".into(),
        rule => format!("`{rule}`"),
    }
}

fn share(of: &Transfer, way: &str, budget: usize) -> String {
    format!("{:.1} %", 100.0 * of.ways[way][budget].share)
}

fn gain(of: &Transfer, way: &str, budget: usize) -> String {
    let AtBudget { chosen_above, chosen_above_interval, .. } = of.ways[way][budget];
    let interval = |Interval { lower, upper }| format!(" ({} to {})", points(lower), points(upper));
    format!("{}{}", points(chosen_above), chosen_above_interval.map_or_else(String::new, interval))
}

/// Writes points with their sign.
fn points(share: f64) -> String {
    let text = format!("{:+.1}", 100.0 * share);
    if text == "-0.0" { "+0.0".into() } else { text.replace('-', "−") }
}

/// Writes points with a sign only if they are negative.
fn short(share: f64) -> String {
    points(share).trim_start_matches('+').to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(system: &str, ways: &[(&str, [f64; 2])], best_rule: &str) -> Transfer {
        let at = |share: f64, regret: f64| AtBudget {
            share,
            chosen_above: 0.5 - share,
            chosen_above_interval: Some(Interval { lower: -0.2, upper: 0.125 }),
            regret: Some(regret),
        };
        let ways = ways.iter().map(|(name, [share, regret])| ((*name).to_owned(), vec![at(*share, *regret)]));
        Transfer {
            system: system.into(),
            universe_seed: 1,
            cases: 500,
            seeds: 2,
            programs: 9,
            budgets: vec![0.25],
            ways: ways.collect(),
            best_rule: best_rule.into(),
            seed_decides: true,
        }
    }

    #[test]
    fn over_systems_rules_count_that_all_have() {
        let one = of("one", &[("chosen", [0.5, 0.1]), ("random", [0.4, 0.2]), ("boundary", [0.6, 0.0])], "boundary");
        let two = of(
            "two",
            &[("chosen", [0.5, 0.3]), ("random", [0.3, 0.5]), ("boundary", [0.2, 0.6]), ("highest a", [0.8, 0.0])],
            "highest a",
        );
        let text = tables(&[one.clone(), two]);
        let rows: Vec<&str> = text.lines().collect();
        assert_eq!(
            rows[2..6],
            [
                "| suites built for expected faults | 10.0 | 30.0 | 20.0 | 30.0 |",
                "| `boundary` | 0.0 | 60.0 | 30.0 | 60.0 |",
                "| random test cases | 20.0 | 50.0 | 35.0 | 50.0 |",
                "| the best rule of each system, picked by the result | 0.0, `boundary` | 0.0, `highest a` |  |  |",
            ]
        );
        assert!(
            text.contains("| built minus random, 1/4 of the time | +10.0 (−20.0 to +12.5) | +20.0 (−20.0 to +12.5) |"),
            "{text}"
        );
        assert!(text.contains("| one seed decides whether built or random ones find more | yes | yes |"), "{text}");
        let other = Transfer { universe_seed: 2, ..one.clone() };
        assert!(tables(&[one, other]).contains("| `one`, seed 1 | `one`, seed 2 |"));
        assert_eq!(tables(&[]), "");
    }
}
