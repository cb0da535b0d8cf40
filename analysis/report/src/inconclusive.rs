//! Runs of which nothing was found out, in a sentence.

use simutant_analysis::{Analysis, count};

/// Returns how many pairs the oracle could not decide, and what that leaves open; `None` if it decided all.
pub(crate) fn sentence(analysis: &Analysis) -> Option<String> {
    let pairs = analysis.campaign.verdicts.inconclusive;
    if pairs == 0 {
        return None;
    }
    let open = analysis.survivors.iter().filter(|survivor| survivor.inconclusive > 0).count();
    Some(format!(
        "INCONCLUSIVE: the oracle could not decide {} of {} pairs, which count neither as kills nor as passes. Of the \
         mutants that survive, {} may be killed by one of these runs.",
        count(pairs),
        count(analysis.campaign.pairs),
        count(open as u64),
    ))
}

#[cfg(test)]
mod tests {
    use simutant_analysis::{AnalysisOptions, analyse};
    use simutant_outcomes::{Outcomes, VerdictCounts};
    use simutant_synthetic::from_kills;

    use crate::{report, tables};

    #[test]
    fn inconclusive_runs_are_told_on_terminal_and_page() {
        let mut outcomes = from_kills(&["...k", "k..."]);
        let told = |outcomes: &Outcomes| {
            let options = AnalysisOptions { resamples: 100, ..AnalysisOptions::default() };
            let analysis = analyse(outcomes, &options).expect("sound outcomes");
            [tables(&analysis, None), report(outcomes, &analysis, None)]
        };
        assert!(told(&outcomes).iter().all(|text| !text.contains("INCONCLUSIVE")));
        outcomes.kills[0].clear();
        outcomes.causes[0].clear();
        outcomes.reasons[0].clear();
        outcomes.verdicts[0] = VerdictCounts { passed: 2, inconclusive: 2, ..VerdictCounts::default() };
        for text in told(&outcomes) {
            let expect = "INCONCLUSIVE: the oracle could not decide 2 of 8 pairs, which count neither as kills nor as passes. \
                          Of the mutants that survive, 1 may be killed by one of these runs.";
            assert!(crate::terminal::flat(&text).contains(expect), "{text}");
        }
    }
}
