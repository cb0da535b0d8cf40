//! What test cases take on an implementation: the one place that decides what is paid for them.

use simutant_outcomes::Outcomes;

use crate::case_names::case_name;
use crate::options::AnalysisOptions;

/// Returns what each test case of the universe is expected to take, in seconds, all above 0: what the options say that
/// it took, or else what they say of runs that cost as much.
pub fn seconds(outcomes: &Outcomes, options: &AnalysisOptions) -> Vec<f64> {
    let count = outcomes.cases.len();
    let of_case = |case: usize| {
        let estimated = || options.test_time.seconds(outcomes.cases[case].cost());
        match options.durations.is_empty() {
            true => estimated(),
            false => {
                let known = options.durations.get(&case_name(&outcomes.system, case, count));
                known.copied().unwrap_or_else(estimated)
            }
        }
    };
    (0..count).map(of_case).collect()
}

#[cfg(test)]
mod tests {
    use simutant_outcomes::TestTime;
    use simutant_synthetic::from_kills;

    use super::*;

    #[test]
    fn what_was_measured_goes_before_what_is_estimated() {
        let mut outcomes = from_kills(&["k.k"]);
        for (number, case) in outcomes.cases.iter_mut().enumerate() {
            (case.virtual_time_ns, case.messages) = (1_000_000_000 * number as u64, 10 * number as u64);
        }
        let mut options = AnalysisOptions::default();
        assert_eq!(seconds(&outcomes, &options), [0.3, 1.3, 2.3]);
        options.test_time = TestTime { start: 1.0, per_virtual_second: 0.5, per_message: 0.25, ..TestTime::default() };
        options.durations.insert("small-0002".into(), 9.0);
        assert_eq!(seconds(&outcomes, &options), [1.0, 4.0, 9.0]);
    }
}
