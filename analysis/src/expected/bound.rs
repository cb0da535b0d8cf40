//! What no suite can find in a time, and in what time none finds so much.

use super::growing::Growing;

/// How many suites a bound looks from, at most.
const VIEWS: usize = 8;

/// What known suites say about all others.
///
/// The expected score is monotone and submodular over multisets. So no suite scores more than a known one with what its
/// own test cases add to the known one, and none in a time more than that with the best choice of fractions of test cases
/// that takes as long (the linear relaxation of a knapsack; Nemhauser and Wolsey, "Integer and combinatorial
/// optimization", 1988, III.3.9). The first and the second run of each test case count on their own, further ones as the
/// second.
#[derive(Debug)]
pub(super) struct Bound(Vec<View>);

/// What can be added to one suite.
#[derive(Debug)]
struct View {
    /// Its score, in units of difficulty.
    score: f64,
    /// The gains and prices of test cases, those first that add most for their price; those that are no better than one
    /// that can be taken again and again are left out.
    steps: Vec<(f64, f64)>,
    /// What is added for each unit of the price beyond these.
    rate: f64,
}

impl View {
    fn new(growing: &Growing<'_>, prices: &[f64], total: f64) -> Self {
        let mut rate: f64 = 0.0;
        let gains: Vec<(f64, f64)> =
            prices.iter().enumerate().map(|(case, &price)| (growing.gain(case), price)).collect();
        // Looked up only where it may matter: a second run adds no more than the first.
        let mut order: Vec<usize> = (0..prices.len()).collect();
        let first = |case: &usize| gains[*case].0 / prices[*case];
        order.sort_by(|one, other| first(other).total_cmp(&first(one)));
        for case in order {
            if gains[case].0 / prices[case] <= rate {
                break;
            }
            rate = rate.max(growing.gain_again(case) / prices[case]);
        }
        let mut steps: Vec<(f64, f64)> = gains.into_iter().filter(|(gain, price)| gain / price > rate).collect();
        steps.sort_by(|one, other| (other.0 / other.1).total_cmp(&(one.0 / one.1)));
        Self { score: total - growing.left(), steps, rate }
    }

    /// Returns the most that any suite scores in a time.
    fn at(&self, mut time: f64) -> f64 {
        let mut score = self.score;
        for &(gain, price) in &self.steps {
            if price >= time {
                return score + gain * time / price;
            }
            score += gain;
            time -= price;
        }
        score + self.rate * time
    }

    /// Returns a time in less of which no suite reaches a score.
    fn time_for(&self, score: f64) -> f64 {
        let (mut missing, mut time) = (score - self.score, 0.0);
        if missing <= 0.0 {
            return 0.0;
        }
        for &(gain, price) in &self.steps {
            if gain >= missing {
                return time + price * missing / gain;
            }
            missing -= gain;
            time += price;
        }
        if self.rate > 0.0 { time + missing / self.rate } else { f64::INFINITY }
    }
}

impl Bound {
    /// Looks from beginnings of an order of test cases, evenly spread: one from nothing, one from all of it.
    pub(super) fn new(mut growing: Growing<'_>, order: &[usize], prices: &[f64]) -> Self {
        let total = growing.left();
        let mut views = vec![View::new(&growing, prices, total)];
        for view in 1..VIEWS {
            let end = (order.len() * view).div_ceil(VIEWS - 1);
            if end > growing.cases.len() {
                order[growing.cases.len()..end].iter().for_each(|&case| growing.take(case));
                views.push(View::new(&growing, prices, total));
            }
        }
        Self(views)
    }

    /// Returns what no suite that takes at most this time scores more than, in units of difficulty.
    pub(super) fn at(&self, time: f64) -> f64 {
        self.0.iter().map(|view| view.at(time)).fold(f64::INFINITY, f64::min)
    }

    /// Returns a time in less of which no suite reaches a score, in units of difficulty.
    pub(super) fn time_for(&self, score: f64) -> f64 {
        self.0.iter().map(|view| view.time_for(score)).fold(0.0, f64::max)
    }
}
