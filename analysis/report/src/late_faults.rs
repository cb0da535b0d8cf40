//! Faults that come when a test case is over, in a sentence.

use simutant_analysis::{Analysis, count};

/// From which share of the test cases on it is told: where the times of faults are drawn, a few come late.
const SHARE_MIN: f64 = 0.05;

/// Returns how many test cases have faults after their end, and what to do about that; `None` if there are few.
pub(crate) fn sentence(analysis: &Analysis) -> Option<String> {
    let (late, cases) = (analysis.campaign.late_faults, analysis.campaign.cases);
    if late == 0 || (late as f64) < SHARE_MIN * cases as f64 {
        return None;
    }
    Some(format!(
        "LATE FAULTS: {} of {} test cases plan faults after their end, when all components that return have returned: no \
         client sees them, and on real programs they are not injected. Let `sample` draw the times of faults from the \
         time that a run takes; `simulate {} --case N --trace` shows it.",
        count(late as u64),
        count(cases as u64),
        analysis.system,
    ))
}

#[cfg(test)]
mod tests {
    use simutant_analysis::{AnalysisOptions, analyse};
    use simutant_synthetic::from_kills;

    use crate::terminal::flat;
    use crate::{report, tables};

    #[test]
    fn late_faults_are_told_once_on_terminal_and_page_unless_they_are_few() {
        let mut outcomes = from_kills(&[&format!("{}k", ".".repeat(39))]);
        for (late, is_told) in [(0, false), (1, false), (2, true), (40, true)] {
            outcomes.cases.iter_mut().take(late).for_each(|case| case.late_faults = 3);
            let options = AnalysisOptions { resamples: 100, ..AnalysisOptions::default() };
            let analysis = analyse(&outcomes, &options).expect("sound outcomes");
            let told = format!("LATE FAULTS: {late} of 40 test cases plan faults after their end, ");
            for text in [flat(&tables(&analysis, None)), report(&outcomes, &analysis, None)] {
                assert_eq!(text.matches(&told).count(), usize::from(is_told), "{late}: {text}");
                assert_eq!(text.matches("LATE FAULTS").count(), usize::from(is_told), "{late}: {text}");
            }
        }
    }
}
