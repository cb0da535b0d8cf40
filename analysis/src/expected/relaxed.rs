//! The continuous relaxation: test cases of which fractions can be run. It bounds what suites can do, and tells which
//! test cases good suites are made of.

use crate::probabilities::KillProbabilities;

/// Runs of a test case from this one on count the same.
const RUNS: u32 = 4;

/// How many cuts are made at most.
const CUTS_MAX: usize = 40;

/// How often all amounts are adjusted for each cut, at most.
const SWEEPS_MAX: usize = 20;

/// Amounts that change by less are settled.
const SETTLED: f64 = 1e-3;

/// The goal is met when no more than this share more is left, or paid.
const MET: f64 = 1e-3;

/// What is left, and the price, go about with the root of the worth of difficulty: this says how far the worth moves.
const EXPONENT: f64 = 1.5;

/// It moves less far by this factor each time that it has come past the goal.
const DAMPING: f64 = 0.7;

/// No step goes farther than for a goal that is missed by this factor.
const BEHIND_MAX: f64 = 8.0;

/// The relaxation is solved when its price, or its score, is this near to the bound.
const NEAR: f64 = 1e-4;

/// Cuts are looser by this share than they are computed, which is more than sums of doubles lose.
const ROUNDING: f64 = 1e-11;

/// The largest hazard: what survives it is not told from 0 beside 1.
const HAZARD_MAX: f64 = 36.0;

/// What a suite is to do.
#[derive(Debug, Clone, Copy)]
pub(super) enum Goal {
    /// To score as much as it can at this price.
    Within(f64),
    /// To leave no more than this to be killed, in units of difficulty, at a price as low as it can be.
    Left(f64),
}

/// What the relaxation says of suites.
#[derive(Debug, Clone)]
pub(super) struct Relaxation {
    /// For [`Goal::Within`], no suite leaves less to be killed, in units of difficulty; for [`Goal::Left`], none has a
    /// lower price.
    pub(super) bound: f64,
    /// How often each test case runs that does, with its fraction.
    pub(super) amounts: Vec<(usize, f64)>,
    /// By test case, what it adds for each unit of its price, seen from the solution.
    pub(super) rates: Vec<f64>,
}

/// Solves the relaxation.
///
/// The hazard of a run is `-ln` of the probability that a mutant survives it which survived those before, and that of a
/// suite the sum over its runs. A suite leaves `sum(difficulty * exp(-hazard))`, which is convex in the amounts of runs.
/// So to leave little at a low price is a convex program. The first runs of a test case have amounts of at most 1; from some
/// run on all count as that one, which adds most of them.
///
/// At a worth of a unit of difficulty, amounts change one at a time by Newton steps (coordinate descent) for the test
/// cases that are worth their price (column generation); then the worth moves towards the goal. The bound is the best of
/// the cuts. Each cut holds wherever the search stops.
///
/// Cost O(cases * mutants) for each of at most 40 cuts.
pub(super) fn relaxed(probabilities: &KillProbabilities, prices: &[f64], goal: Goal) -> Relaxation {
    let mut solver = Solver::new(probabilities, prices);
    let mut cut = Cut::new(probabilities, prices, &solver.hazards);
    let mut bound = cut.bound(goal);
    let mut worth = 1.0 / cut.rate_max();
    let (mut exponent, mut is_behind) = (EXPONENT, true);
    for _ in 0..CUTS_MAX {
        if !worth.is_finite() || solver.is_solved(goal, bound, worth) {
            break;
        }
        let behind = solver.behind(goal);
        if is_behind != (behind > 1.0) {
            (exponent, is_behind) = (exponent * DAMPING, behind > 1.0);
        }
        worth *= behind.powf(exponent);
        solver.add_columns(&cut, worth);
        solver.settle(worth);
        cut = Cut::new(probabilities, prices, &solver.hazards);
        bound = bound.max(cut.bound(goal));
    }
    Relaxation { bound, amounts: solver.amounts(), rates: cut.rates }
}

/// A linear function of the runs of a suite, no suite leaves less than which.
///
/// At hazards `h`, with `left = difficulty * exp(-h)`, a suite leaves at least `sum(left * (1 + h))` without the gains of
/// its runs. The gain of a run with hazard `d` is `left * d` up to `d = h`, where this line touches the exponential from
/// below, and `left * (1 + h - exp(h - d))` beyond: concave in `d` and 0 for `d = 0`, so that several runs gain no less
/// than one with the sum of their hazards, which gains enough. With `h = 0` it is that of Nemhauser and Wolsey ("Integer
/// and combinatorial optimization", 1988, III.3.9) for submodular functions, seen from the empty suite.
#[derive(Debug)]
struct Cut {
    /// What is left without a run.
    left: f64,
    /// By test case, the gain of its first run for each unit of its price.
    rates: Vec<f64>,
    /// Gains and prices of runs, those first that gain most for their price; those that are no better than a run that can
    /// be made again and again are left out.
    steps: Vec<(f64, f64)>,
    /// What such a run gains for each unit of its price.
    rate_again: f64,
}

impl Cut {
    fn new(probabilities: &KillProbabilities, prices: &[f64], hazards: &[f64]) -> Self {
        let difficulty = &probabilities.difficulty;
        let survivals: Vec<f64> = hazards.iter().map(|hazard| (-hazard).exp()).collect();
        let gain = |case: usize, run: u32| -> f64 {
            let of_mutant = |place: usize| {
                let (survival, of_run) = (survivals[place], probabilities.survival_of_run(case, place, run));
                let of_unit = match of_run >= survival {
                    true => -survival * of_run.ln(),
                    false => survival * (1.0 + hazards[place]) - of_run,
                };
                difficulty[place] * of_unit
            };
            (0..difficulty.len()).map(of_mutant).sum()
        };
        let rates: Vec<f64> = prices.iter().enumerate().map(|(case, price)| gain(case, 1) / price).collect();
        let mut order: Vec<usize> = (0..prices.len()).collect();
        order.sort_by(|&one, &other| rates[other].total_cmp(&rates[one]));
        let mut rate_again: f64 = 0.0;
        for &case in &order {
            // A later run gains no more than the first.
            if rates[case] <= rate_again {
                break;
            }
            rate_again = rate_again.max(gain(case, RUNS) / prices[case]);
        }
        let mut steps = Vec::new();
        for &case in order.iter().take_while(|&&case| rates[case] > rate_again) {
            let price = prices[case];
            steps.push((rates[case] * price, price));
            let later = (2..RUNS).map(|run| gain(case, run)).take_while(|gain| gain / price > rate_again);
            steps.extend(later.map(|gain| (gain, price)));
        }
        steps.sort_by(|one, other| (other.0 / other.1).total_cmp(&(one.0 / one.1)));
        let of_left = |place: usize| difficulty[place] * survivals[place] * (1.0 + hazards[place]);
        let left = (1.0 - ROUNDING) * (0..difficulty.len()).map(of_left).sum::<f64>();
        Self { left, rates, steps, rate_again }
    }

    fn rate_max(&self) -> f64 {
        self.rates.iter().copied().fold(0.0, f64::max)
    }

    fn bound(&self, goal: Goal) -> f64 {
        match goal {
            Goal::Within(price) => self.left_at(price).max(0.0),
            Goal::Left(most) => self.price_for(most),
        }
    }

    /// Returns the least that any suite leaves at a price.
    fn left_at(&self, mut price: f64) -> f64 {
        let mut left = self.left;
        for &(gain, of_step) in &self.steps {
            if of_step >= price {
                return left - gain * price / of_step;
            }
            left -= gain;
            price -= of_step;
        }
        left - self.rate_again * price
    }

    /// Returns the lowest price at which any suite leaves so little.
    fn price_for(&self, most: f64) -> f64 {
        let (mut missing, mut price) = (self.left - most, 0.0);
        if missing <= 0.0 {
            return 0.0;
        }
        for &(gain, of_step) in &self.steps {
            if gain >= missing {
                return price + of_step * missing / gain;
            }
            missing -= gain;
            price += of_step;
        }
        if self.rate_again > 0.0 { price + missing / self.rate_again } else { f64::INFINITY }
    }
}

/// One run of a test case, with its fraction.
#[derive(Debug)]
struct Column {
    case: usize,
    /// The which run of the test case it is, from 1 on; [`RUNS`] stands for all from there on.
    run: u32,
    /// By mutant, the hazard of the run.
    hazards: Vec<f64>,
    amount: f64,
}

/// What looks for the best amounts.
#[derive(Debug)]
struct Solver<'a> {
    probabilities: &'a KillProbabilities,
    prices: &'a [f64],
    columns: Vec<Column>,
    /// By mutant, the hazard of all runs.
    hazards: Vec<f64>,
    /// By mutant, what is left of its difficulty.
    left: Vec<f64>,
    /// All difficulty.
    total: f64,
}

impl<'a> Solver<'a> {
    fn new(probabilities: &'a KillProbabilities, prices: &'a [f64]) -> Self {
        let left = probabilities.difficulty.clone();
        let (hazards, total) = (vec![0.0; left.len()], left.iter().sum());
        Self { probabilities, prices, columns: Vec::new(), hazards, left, total }
    }

    fn price(&self) -> f64 {
        self.columns.iter().map(|column| column.amount * self.prices[column.case]).sum()
    }

    fn all_left(&self) -> f64 {
        self.left.iter().sum()
    }

    /// Returns by what factor the goal is missed, cut off at some size: above 1 if more is to be run, below if less.
    fn behind(&self, goal: Goal) -> f64 {
        let behind = match goal {
            Goal::Within(limit) => limit / self.price(),
            Goal::Left(most) => self.all_left() / most,
        };
        match behind {
            behind if behind >= 0.0 => behind.clamp(1.0 / BEHIND_MAX, BEHIND_MAX),
            // Not even nothing may be left.
            _ => BEHIND_MAX,
        }
    }

    /// Returns whether the amounts meet the goal, nearly, and none can be much better.
    fn is_solved(&self, goal: Goal, bound: f64, worth: f64) -> bool {
        let (price, left) = (self.price(), self.all_left());
        match goal {
            Goal::Within(limit) => {
                let missed = (price - limit).max(0.0);
                missed <= MET * limit && left + missed / worth - bound <= NEAR * self.total
            }
            Goal::Left(most) => {
                let missed = (left - most).max(0.0);
                missed <= MET * most && price + missed * worth - bound <= NEAR * price
            }
        }
    }

    /// Adds columns for test cases that are worth their price, and for the next runs of those that are taken as a whole.
    fn add_columns(&mut self, cut: &Cut, worth: f64) {
        let mut known = vec![0; self.prices.len()];
        self.columns.iter().for_each(|column| known[column.case] += 1);
        let is_whole = |column: &&Column| column.run < RUNS && column.amount >= 1.0 && known[column.case] == column.run;
        let later: Vec<(usize, u32)> =
            self.columns.iter().filter(is_whole).map(|column| (column.case, column.run + 1)).collect();
        let first = (0..self.prices.len()).filter(|&case| known[case] == 0 && worth * cut.rates[case] > 1.0);
        for (case, run) in first.map(|case| (case, 1)).chain(later) {
            let hazard = |place: usize| {
                let survival = self.probabilities.survival_of_run(case, place, run);
                (-survival.ln()).clamp(0.0, HAZARD_MAX)
            };
            let hazards = (0..self.left.len()).map(hazard).collect();
            self.columns.push(Column { case, run, hazards, amount: 0.0 });
        }
    }

    /// Adjusts all amounts to a worth of a unit of difficulty.
    fn settle(&mut self, worth: f64) {
        for _ in 0..SWEEPS_MAX {
            let mut change_max: f64 = 0.0;
            for column in &mut self.columns {
                let of_mutants = column.hazards.iter().zip(&self.left);
                let (slope, curvature) = of_mutants.fold((0.0, 0.0), |(slope, curvature), (hazard, left)| {
                    (slope + hazard * left, curvature + hazard * hazard * left)
                });
                if curvature <= 0.0 {
                    continue;
                }
                let amount_max = if column.run < RUNS { 1.0 } else { f64::INFINITY };
                let step = (slope - self.prices[column.case] / worth) / curvature;
                let amount = (column.amount + step).clamp(0.0, amount_max);
                let change = amount - column.amount;
                if change == 0.0 {
                    continue;
                }
                change_max = change_max.max(change.abs());
                column.amount = amount;
                for (place, hazard) in column.hazards.iter().enumerate().filter(|(_, hazard)| **hazard > 0.0) {
                    self.hazards[place] = (self.hazards[place] + change * hazard).clamp(0.0, HAZARD_MAX);
                    self.left[place] = self.probabilities.difficulty[place] * (-self.hazards[place]).exp();
                }
            }
            if change_max < SETTLED {
                break;
            }
        }
    }

    fn amounts(&self) -> Vec<(usize, f64)> {
        let mut amounts = vec![0.0; self.prices.len()];
        self.columns.iter().for_each(|column| amounts[column.case] += column.amount);
        amounts.into_iter().enumerate().filter(|(_, amount)| *amount > 0.0).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::probabilities::tests::known;
    use proptest::prelude::*;

    const MUTANTS: usize = 3;

    /// Probabilities, some of them certain, and prices of test cases, with a coupling.
    fn any_cases() -> impl Strategy<Value = (KillProbabilities, Vec<f64>)> {
        let survival = prop_oneof![Just(0.0), Just(1.0), 0.0..1.0_f64];
        let of_case = (prop::collection::vec(survival, MUTANTS), (1..8_u8).prop_map(|price| f64::from(price) / 2.0));
        (prop::collection::vec(of_case, 1..5), prop_oneof![Just(1.0), 0.1..1.0_f64]).prop_map(|(cases, coupling)| {
            let (survival, prices): (Vec<Vec<f64>>, Vec<f64>) = cases.into_iter().unzip();
            (known(&survival).coupled(coupling), prices)
        })
    }

    /// All multisets of at most seven test cases, each with its price and what it leaves.
    fn suites(probabilities: &KillProbabilities, prices: &[f64]) -> Vec<(f64, f64)> {
        let mut suites: Vec<Vec<usize>> = vec![Vec::new()];
        let mut last = 0..1;
        for _ in 0..7 {
            let end = suites.len();
            for number in last {
                let from = suites[number].last().copied().unwrap_or(0);
                (from..prices.len()).for_each(|case| suites.push([&suites[number][..], &[case]].concat()));
            }
            last = end..suites.len();
        }
        let of_suite = |suite: Vec<usize>| {
            let survivals = probabilities.survivals(&suite);
            let left =
                survivals.iter().zip(&probabilities.difficulty).map(|(survival, difficulty)| survival * difficulty);
            (suite.iter().map(|&case| prices[case]).sum(), left.sum())
        };
        suites.into_iter().map(of_suite).collect()
    }

    proptest! {
        #[test]
        fn no_suite_is_better_than_a_cut(
            (probabilities, prices) in any_cases(), hazards in prop::collection::vec(0.0..4.0_f64, MUTANTS),
        ) {
            let cut = Cut::new(&probabilities, &prices, &hazards);
            for (price, left) in suites(&probabilities, &prices) {
                prop_assert!(cut.left_at(price) <= left + 1e-9, "{} but {left} at {price}", cut.left_at(price));
                prop_assert!(cut.price_for(left) <= price + 1e-9, "{} but {price} for {left}", cut.price_for(left));
            }
        }

        #[test]
        fn no_suite_is_better_than_the_relaxation((probabilities, prices) in any_cases(), limit in 1..12_u8, share in 0.0..1.0_f64) {
            let (limit, most) = (f64::from(limit) / 2.0, share * probabilities.difficulty.iter().sum::<f64>());
            let left_min = relaxed(&probabilities, &prices, Goal::Within(limit)).bound;
            let price_min = relaxed(&probabilities, &prices, Goal::Left(most)).bound;
            for (price, left) in suites(&probabilities, &prices) {
                prop_assert!(price > limit || left_min <= left + 1e-12, "{left_min} but {left} at {price}");
                prop_assert!(left > most || price_min <= price, "{price_min} but {price} for {left}");
            }
        }
    }

    /// Half of a test case leaves the root of what a whole one does, a quarter. No suite is made of it: in the cut that is
    /// seen from the empty suite, two thirds of it leave a half.
    #[test]
    fn a_test_case_is_run_as_often_as_its_goal_asks_for() {
        let probabilities = known(&[vec![0.25], vec![1.0]]);
        let left = probabilities.difficulty[0] * 0.5;
        let relaxation = relaxed(&probabilities, &[3.0, 1.0], Goal::Left(left));
        let &[(0, amount)] = &relaxation.amounts[..] else { panic!("{relaxation:?}") };
        assert!((amount - 0.5).abs() < 1e-2, "{amount}");
        assert!((relaxation.bound - 2.0).abs() < 1e-9, "{relaxation:?}");
    }
}
