//! Tables in Markdown.

use simutant_tuning::{Front, REWARDS, Row};

/// Which measures the table of a comparison has, with the decimals of each.
const SHOWN: [(usize, usize); 8] = [(0, 1), (1, 0), (2, 2), (3, 2), (4, 1), (5, 1), (6, 1), (7, 1)];

/// Returns a table of cells below a head, whose first columns are words.
fn table(head: &[String], words: usize, rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let rule: Vec<String> = (0..head.len()).map(|at| if at < words { "---" } else { "--:" }.to_owned()).collect();
    [line(head), line(&rule)].into_iter().chain(rows.into_iter().map(|row| line(&row))).collect()
}

/// Returns the least, the greatest, and the best candidate's value of each reward.
pub(crate) fn rewards(front: &Front) -> String {
    let head = ["reward", "least", "greatest", "of the highest mean"].map(str::to_owned);
    let names = REWARDS.iter().copied().chain(["tradeoff"]);
    let rows = names.enumerate().map(|(at, name)| {
        let of =
            |candidate: &simutant_tuning::Candidate| candidate.rewards.get(at).copied().unwrap_or(candidate.tradeoff);
        let values = || front.candidates.iter().map(of);
        let cells =
            [values().fold(f64::INFINITY, f64::min), values().fold(0.0, f64::max), values().next().unwrap_or(0.0)];
        [name.to_owned()].into_iter().chain(cells.map(|cell| format!("{cell:.2}"))).collect()
    });
    table(&head, 1, rows)
}

/// Returns a row for each strategy on each subject: means, each with half of the interval of its difference from the
/// first strategy, and a sign if zero is outside of that.
pub(crate) fn comparison(rows: &[Row]) -> String {
    let names = SHOWN.iter().map(|&(measure, _)| Row::MEASURES[measure]);
    let head: Vec<String> = ["subject", "strategy"].into_iter().chain(names).map(str::to_owned).collect();
    let cells = rows.iter().map(|row| {
        let cell = |&(measure, decimals): &(usize, usize)| {
            let (mean, half) = (row.measures[measure].mean, row.differences[measure].half);
            let sign = match row.sign(measure) {
                1 => " +",
                -1 => " −",
                _ => "",
            };
            if half == 0.0 && sign.is_empty() {
                format!("{mean:.decimals$}")
            } else {
                format!("{mean:.decimals$} ± {half:.decimals$}{sign}")
            }
        };
        [row.subject.clone(), row.strategy.clone()].into_iter().chain(SHOWN.iter().map(cell)).collect()
    });
    table(&head, 2, cells)
}

/// Returns a row for each subject: by how much walks by pairs have more than walks by weight of as many transitions.
pub(crate) fn equal_length(rows: &[[Row; 2]]) -> String {
    let measures = [(2, 2), (3, 2), (4, 1), (5, 1), (6, 1)];
    let names = measures.iter().map(|&(measure, _)| Row::MEASURES[measure]);
    let head: Vec<String> =
        ["subject"].into_iter().chain(names).map(|name| name.replace("tests to", "transitions to")).collect();
    let cells = rows.iter().map(|[weighted, pairs]| {
        let cell = |&(measure, decimals): &(usize, usize)| {
            let [one, other] = [weighted, pairs].map(|row| {
                // Tests of different length are compared by what they take.
                let by = if Row::MEASURES[measure] == "tests to failure" { row.measures[0].mean } else { 1.0 };
                (by * row.measures[measure].mean, by * row.measures[measure].half)
            });
            format!("{:+.decimals$} ± {:.decimals$}", other.0 - one.0, one.1.hypot(other.1))
        };
        [weighted.subject.clone()].into_iter().chain(measures.iter().map(cell)).collect()
    });
    table(&head, 1, cells)
}

/// Returns the scores of a whole Pareto set beside those of other strategies: the highest, and the mean of all.
pub(crate) fn of_all(others: &[Row], tuned: &[Row]) -> String {
    let score = Row::MEASURES.len() - 1;
    let mut strategies: Vec<&str> = Vec::new();
    let mut subjects: Vec<&str> = Vec::new();
    for row in others {
        if !strategies.contains(&&*row.strategy) {
            strategies.push(&row.strategy);
        }
        if !subjects.contains(&&*row.subject) {
            subjects.push(&row.subject);
        }
    }
    let head = ["subject", "highest of the set", "mean of the set"].into_iter().chain(strategies.iter().copied());
    let head: Vec<String> = head.map(str::to_owned).collect();
    let cells = subjects.iter().map(|subject| {
        let own = |rows: &[Row]| -> Vec<f64> {
            let own = rows.iter().filter(|row| row.subject == *subject);
            own.map(|row| row.measures[score].mean).collect()
        };
        let set = own(tuned);
        let all = [set.iter().copied().fold(0.0, f64::max), set.iter().sum::<f64>() / set.len().max(1) as f64];
        let cells = all.into_iter().chain(own(others)).map(|cell| format!("{cell:.1}"));
        [(*subject).to_owned()].into_iter().chain(cells).collect()
    });
    table(&head, 1, cells)
}
