//! Suites that are expected to kill most: each test case is the one that adds most to those before it, and may be one
//! of them again.

use crate::probabilities::KillProbabilities;

/// A suite that grows, with what is left to be killed.
#[derive(Debug)]
struct Growing<'a> {
    probabilities: &'a KillProbabilities,
    cases: Vec<usize>,
    /// By test case, how often it is in the suite.
    times: Vec<u32>,
    /// By mutant that counts, its difficulty times the probability that it survives the suite.
    left: Vec<f64>,
}

impl<'a> Growing<'a> {
    fn new(probabilities: &'a KillProbabilities) -> Self {
        let (times, left) = (vec![0; probabilities.cases()], probabilities.difficulty.clone());
        Self { probabilities, cases: Vec::new(), times, left }
    }

    /// Returns what a test case adds to the expected score, in units of difficulty.
    fn gain(&self, case: usize) -> f64 {
        self.left.iter().enumerate().map(|(place, left)| left * (1.0 - self.survival_after(case, place))).sum()
    }

    /// Returns the probability that one more run of a test case lets a mutant survive that those in the suite do.
    fn survival_after(&self, case: usize, place: usize) -> f64 {
        let survival = |times| self.probabilities.survival_of(case, place, times);
        match self.times[case] {
            0 => survival(1),
            times => {
                let before = survival(times);
                if before == 0.0 { 0.0 } else { survival(times + 1) / before }
            }
        }
    }

    fn take(&mut self, case: usize) {
        for place in 0..self.left.len() {
            self.left[place] *= self.survival_after(case, place);
        }
        self.times[case] += 1;
        self.cases.push(case);
    }
}

/// The test cases that are taken greedily, one after the other.
///
/// Each beginning is expected to kill at least `1 - (1 - 1/n)^n`, more than 63.2 %, of what the best suite of as many
/// is (Nemhauser, Wolsey and Fisher, "An analysis of approximations for maximizing submodular set functions",
/// Mathematical Programming 14, 1978): the expected score is monotone and submodular over multisets. It ends where
/// nothing is left to be killed. Of equals the first is taken.
///
/// Cost O(cases * mutants) for each at worst; gains are looked up lazily (Minoux 1978), as they only shrink.
#[derive(Debug)]
struct Greedily<'a> {
    growing: Growing<'a>,
    /// What each test case added when it was looked up last.
    gains: Vec<(f64, usize)>,
}

impl<'a> Greedily<'a> {
    fn new(probabilities: &'a KillProbabilities) -> Self {
        let growing = Growing::new(probabilities);
        let gains = (0..probabilities.cases()).map(|case| (growing.gain(case), case)).collect();
        Self { growing, gains }
    }
}

impl Iterator for Greedily<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        // Of those that were looked up last, the first ones are the best; below them it is known that none is better.
        self.gains.sort_by(|one, other| other.0.total_cmp(&one.0).then(one.1.cmp(&other.1)));
        let mut best: Option<(f64, usize)> = None;
        for (known, case) in &mut self.gains {
            if best.is_some_and(|(gain, _)| *known < gain) {
                break;
            }
            *known = self.growing.gain(*case);
            if best.is_none_or(|(gain, first)| *known > gain || (*known == gain && *case < first)) {
                best = Some((*known, *case));
            }
        }
        let (_, case) = best.filter(|(gain, _)| *gain > 0.0)?;
        self.growing.take(case);
        Some(case)
    }
}

/// Returns `size` test cases that are taken [`Greedily`], or fewer where nothing is left to be killed.
pub(crate) fn greedy(probabilities: &KillProbabilities, size: usize) -> Vec<usize> {
    Greedily::new(probabilities).take(size).collect()
}

/// Returns test cases with at most `budget` events together, each the one that adds most for its events of those that
/// still fit, or one alone that adds more than all of these: at least 31.6 % of what is possible, `(1 - 1/e) / 2`
/// (Khuller, Moss and Naor, "The budgeted maximum coverage problem", Information Processing Letters 70, 1999).
pub(crate) fn budgeted(probabilities: &KillProbabilities, events: &[u64], budget: u64) -> Vec<usize> {
    let mut growing = Growing::new(probabilities);
    let (mut rest, mut added) = (budget, 0.0);
    let gains = |growing: &Growing<'_>, rest: u64| -> Vec<(f64, usize)> {
        let fitting = (0..probabilities.cases()).filter(|&case| events[case] <= rest);
        fitting.map(|case| (growing.gain(case), case)).collect()
    };
    let alone = gains(&growing, rest).into_iter().reduce(|best, next| if next.0 > best.0 { next } else { best });
    loop {
        let rate = |(gain, case): &(f64, usize)| gain / events[*case] as f64;
        let fitting = gains(&growing, rest).into_iter();
        let best = fitting.reduce(|best, next| if rate(&next) > rate(&best) { next } else { best });
        let Some((gain, case)) = best.filter(|(gain, _)| *gain > 0.0) else { break };
        growing.take(case);
        rest -= events[case];
        added += gain;
    }
    match alone {
        Some((gain, case)) if gain > added => vec![case],
        _ => growing.cases,
    }
}

/// What a suite says about all others: by submodularity, none of `n` test cases, repetitions included, scores more than
/// this one and `n` times the largest gain that is left.
#[derive(Debug, Clone, Copy)]
struct Bound {
    score: f64,
    gain: f64,
}

impl Bound {
    /// `total` is the sum of all difficulties.
    fn of(growing: &Growing<'_>, total: f64) -> Self {
        let gains = (0..growing.times.len()).map(|case| growing.gain(case));
        let gain = gains.fold(0.0, f64::max) / total;
        Self { score: 1.0 - growing.left.iter().sum::<f64>() / total, gain }
    }

    fn at(self, size: usize) -> f64 {
        (self.score + size as f64 * self.gain).min(1.0)
    }
}

/// A suite that is expected to reach a score, and how few test cases any such suite can have.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reaching {
    /// The test cases.
    pub(crate) cases: Vec<usize>,
    /// No suite that reaches the score has fewer.
    pub(crate) size_min: usize,
}

/// Returns a suite that is expected to score `target`, as small as the greedy order and leaving out of its test cases
/// makes it; `None` if `size_max` test cases do not.
pub(crate) fn reaching(probabilities: &KillProbabilities, target: f64, size_max: usize) -> Option<Reaching> {
    let total = probabilities.total_difficulty()?;
    let score = |cases: &[usize]| probabilities.score(cases).map_or(0.0, |score| score.mean);
    let mut order = Greedily::new(probabilities);
    let mut bounds = vec![Bound::of(&order.growing, total)];
    while score(&order.growing.cases) < target {
        if order.growing.cases.len() == size_max {
            return None;
        }
        order.next()?;
        bounds.push(Bound::of(&order.growing, total));
    }
    let mut cases = order.growing.cases;
    // The first ones are those that later ones may have made superfluous.
    let mut place = 0;
    while place < cases.len() {
        let mut without = cases.clone();
        without.remove(place);
        if score(&without) >= target { cases = without } else { place += 1 }
    }
    let is_possible = |size: &usize| bounds.iter().take(cases.len() + 1).all(|bound| bound.at(*size) >= target);
    let size_min = (0..cases.len()).find(is_possible).unwrap_or(cases.len());
    Some(Reaching { cases, size_min })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probabilities::tests::probabilities;
    use proptest::prelude::*;
    use simutant_synthetic::reseeded;

    #[test]
    fn a_budget_is_spent_where_most_comes_for_it() {
        let probabilities = probabilities(&reseeded(&[&[8, 0, 0, 0], &[0, 8, 0, 0], &[8, 8, 8, 0]]));
        assert_eq!(budgeted(&probabilities, &[10, 10, 1, 1], 10), [0], "more than the cheap one");
        let mut both = budgeted(&probabilities, &[10, 10, 10, 1], 20);
        both.sort_unstable();
        assert_eq!(both, [0, 1]);
        assert_eq!(budgeted(&probabilities, &[10, 10, 10, 10], 9), [0; 0]);
    }

    /// All multisets of so many test cases.
    fn suites(cases: usize, size: usize) -> Vec<Vec<usize>> {
        match size {
            0 => vec![Vec::new()],
            _ => suites(cases, size - 1)
                .into_iter()
                .flat_map(|suite| {
                    (suite.last().copied().unwrap_or(0)..cases).map(move |case| [&suite[..], &[case]].concat())
                })
                .collect(),
        }
    }

    /// Kills out of eight, by mutant and test case.
    fn any_kills() -> impl Strategy<Value = Vec<Vec<u8>>> {
        (1..5_usize, 1..6_usize)
            .prop_flat_map(|(mutants, cases)| prop::collection::vec(prop::collection::vec(0..=8_u8, cases), mutants))
    }

    proptest! {
        #[test]
        fn greedy_suites_keep_their_guarantee_and_bounds_hold(kills in any_kills()) {
            let rows: Vec<&[u8]> = kills.iter().map(Vec::as_slice).collect();
            let probabilities = probabilities(&reseeded(&rows));
            let score = |cases: &[usize]| probabilities.score(cases).map(|score| score.mean);
            let found = greedy(&probabilities, 3);
            for size in 1..=3_usize {
                let Some(best) = suites(rows[0].len(), size).iter().filter_map(|suite| score(suite)).reduce(f64::max) else {
                    prop_assert!(found.is_empty());
                    continue;
                };
                let beginning = &found[..size.min(found.len())];
                let own = score(beginning).expect("there is a score");
                let guarantee = 1.0 - (1.0 - 1.0 / size as f64).powi(size as i32);
                prop_assert!(own >= guarantee * best - 1e-9, "{own} of {best} with {size}");
                for known in 0..=found.len() {
                    let mut growing = Growing::new(&probabilities);
                    found[..known].iter().for_each(|&case| growing.take(case));
                    let total = probabilities.total_difficulty().expect("there is a score");
                    let bound = Bound::of(&growing, total).at(size);
                    prop_assert!(bound >= best - 1e-9, "{bound} after {known}, but {best}");
                }
                // What reaches the best score has no more test cases than the bound allows.
                if let Some(reaching) = reaching(&probabilities, 0.9 * best, 6) {
                    prop_assert!(score(&reaching.cases).is_some_and(|score| score >= 0.9 * best));
                    prop_assert!(reaching.size_min <= size, "{} and {size}", reaching.size_min);
                    let fewer = (0..reaching.size_min).flat_map(|size| suites(rows[0].len(), size));
                    prop_assert!(fewer.filter_map(|suite| score(&suite)).all(|score| score < 0.9 * best));
                }
            }
        }

        #[test]
        fn lazy_gains_choose_what_all_gains_choose(kills in any_kills()) {
            let rows: Vec<&[u8]> = kills.iter().map(Vec::as_slice).collect();
            let probabilities = probabilities(&reseeded(&rows));
            let score = |cases: &[usize]| probabilities.score(cases).map_or(0.0, |score| score.mean);
            let found = greedy(&probabilities, 4);
            for size in 0..found.len() {
                let with = |case: usize| score(&[&found[..size], &[case]].concat());
                let best = (0..rows[0].len()).map(with).fold(0.0, f64::max);
                prop_assert!(with(found[size]) >= best - 1e-12, "{found:?} at {size}");
            }
        }
    }

    #[test]
    fn a_test_case_that_kills_by_chance_is_taken_again() {
        let probabilities = probabilities(&reseeded(&[&[5, 0, 0, 1], &[0, 0, 1, 4]]));
        let mut suite = greedy(&probabilities, 4);
        suite.sort_unstable();
        assert_eq!(suite, [0, 0, 3, 3]);
    }
}
