//! A finished study as one value: what comparisons and exports read.

use simutant_outcomes::{Outcomes, Suite};

use crate::analysis::{Analysis, campaign_counts};
use crate::case_names::suite_cases;

/// What a study left: the outcomes of its campaign, what the analysis makes of them, and the suite that it chose.
#[derive(Debug, Clone, Copy)]
pub struct Study<'a> {
    /// What the campaign found out.
    pub outcomes: &'a Outcomes,
    /// What that says.
    pub analysis: &'a Analysis,
    /// The inputs to run, `None` if no criterion has a suite.
    pub suite: Option<&'a Suite>,
}

/// Why the parts of a study do not belong together.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StudyMismatch {
    /// The analysis is of other outcomes, for example of those before an edit.
    #[error("the analysis is not of these outcomes: {0} differ; run the study again")]
    OtherOutcomes(&'static str),
    /// The suite is for another system.
    #[error("the suite is for `{found}`, the study is of `{expected}`; run the study again")]
    OtherSystem {
        /// The system of the suite.
        found: String,
        /// The system of the outcomes.
        expected: String,
    },
    /// The suite is of other test cases, for example of those of another seed.
    #[error("the suite has test cases that the universe of the study has not; run the study again")]
    OtherCases,
}

impl<'a> Study<'a> {
    /// Returns the study that these are the parts of.
    ///
    /// # Errors
    /// [`StudyMismatch`] if they do not belong together.
    pub fn new(
        outcomes: &'a Outcomes,
        analysis: &'a Analysis,
        suite: Option<&'a Suite>,
    ) -> Result<Self, StudyMismatch> {
        let counts = campaign_counts(outcomes);
        let criteria = outcomes.criteria.iter().map(|criterion| (&criterion.name, criterion.requirements.len()));
        let analysed = analysis.criteria.iter().map(|criterion| (&criterion.name, criterion.requirements));
        let killed = analysis.mutants.classes.len() == outcomes.kills.len() && {
            let mut classes = analysis.mutants.classes.iter().zip(&outcomes.kills);
            classes.all(|(class, kills)| !class.is_killed() || !kills.is_clear())
        };
        let classes = (0..).zip(&analysis.mutants.classes);
        let alive = classes.filter(|(_, class)| class.survives()).map(|(number, _)| number);
        let mut survivors = analysis.survivors.iter();
        let checks = [
            ("systems", analysis.system == outcomes.system),
            ("seeds", analysis.universe_seed == outcomes.seed),
            ("counts", crate::CampaignCounts { checked: None, ..analysis.campaign } == counts),
            ("criteria", criteria.eq(analysed)),
            ("kills", killed),
            ("survivors", alive.eq(analysis.survivors.iter().map(|survivor| survivor.mutant))),
            ("requirements", requirements(outcomes, analysis)),
            ("suites", suites(analysis)),
            (
                "mutants",
                survivors.all(|survivor| {
                    let mutant = outcomes.sites.mutants.get(survivor.mutant as usize);
                    mutant.is_some_and(|mutant| mutant.identity == survivor.identity)
                }),
            ),
        ];
        if let Some((what, _)) = checks.into_iter().find(|(_, is_same)| !is_same) {
            return Err(StudyMismatch::OtherOutcomes(what));
        }
        match suite {
            Some(suite) if suite.system != outcomes.system => {
                Err(StudyMismatch::OtherSystem { found: suite.system.clone(), expected: outcomes.system.clone() })
            }
            Some(suite) if suite_cases(outcomes, suite).len() != suite.cases.len() => Err(StudyMismatch::OtherCases),
            _ => Ok(Self { outcomes, analysis, suite }),
        }
    }
}

/// Whether all requirements that the analysis names are there.
fn requirements(outcomes: &Outcomes, analysis: &Analysis) -> bool {
    let mut criteria = analysis.criteria.iter().zip(&outcomes.criteria);
    criteria.all(|(analysed, criterion)| {
        analysed.uncovered.iter().all(|&requirement| requirement < criterion.requirements.len())
    })
}

/// Whether all criteria and suites that the analysis names are there.
fn suites(analysis: &Analysis) -> bool {
    let is_there = |criterion: usize| criterion < analysis.criteria.len();
    let chosen = analysis.recommendation.iter();
    let mut chosen =
        chosen.flat_map(|recommendation| [Some(recommendation.choice), recommendation.instead_of]).flatten();
    analysis.ranking.order.iter().all(|&criterion| is_there(criterion))
        && analysis.ranking.pairs.iter().all(|pair| is_there(pair.better) && is_there(pair.worse))
        && chosen.all(|choice| {
            analysis.criteria.get(choice.criterion).is_some_and(|criterion| choice.suite < criterion.suites.len())
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AnalysisOptions, analyse, suite};
    use simutant_synthetic::{from_kills, synthetic};

    #[track_caller]
    fn check(change: impl FnOnce(&mut Outcomes), expect: Option<&str>) {
        let mut outcomes = from_kills(&["k...", ".i.."]);
        let analysis = analyse(&outcomes, &AnalysisOptions { resamples: 100, ..AnalysisOptions::default() })
            .expect("sound outcomes");
        change(&mut outcomes);
        let found = Study::new(&outcomes, &analysis, None).err().map(|error| error.to_string());
        let expect =
            expect.map(|what| format!("the analysis is not of these outcomes: {what} differ; run the study again"));
        assert_eq!(found, expect);
    }

    #[test]
    fn parts_that_do_not_belong_together_are_told() {
        check(|_| {}, None);
        check(|outcomes| outcomes.system = "other".into(), Some("systems"));
        check(|outcomes| outcomes.seed += 1, Some("seeds"));
        check(|outcomes| outcomes.verdicts[0].abnormal += 1, Some("counts"));
        check(|outcomes| outcomes.criteria[0].name.push('s'), Some("criteria"));
        check(|outcomes| outcomes.kills[0].clear(), Some("kills"));
        check(|outcomes| outcomes.sites.mutants[1].identity.clear(), Some("mutants"));
    }

    #[test]
    fn a_suite_for_another_system_is_refused() {
        let outcomes = synthetic(30, 1);
        let analysis = analyse(&outcomes, &AnalysisOptions { resamples: 100, ..AnalysisOptions::default() })
            .expect("sound outcomes");
        let mut chosen = suite(&outcomes, &analysis).expect("there are suites");
        assert!(Study::new(&outcomes, &analysis, Some(&chosen)).is_ok());
        chosen.system = "other".into();
        let message = Study::new(&outcomes, &analysis, Some(&chosen)).expect_err("another system").to_string();
        assert_eq!(message, "the suite is for `other`, the study is of `arq`; run the study again");
        chosen.system = "arq".into();
        chosen.cases[0].name.push('0');
        let message = Study::new(&outcomes, &analysis, Some(&chosen)).expect_err("another case").to_string();
        assert_eq!(message, "the suite has test cases that the universe of the study has not; run the study again");
    }

    #[test]
    fn an_analysis_that_names_what_is_not_there_is_refused() {
        let outcomes = synthetic(30, 1);
        let whole = analyse(&outcomes, &AnalysisOptions { resamples: 100, ..AnalysisOptions::default() })
            .expect("sound outcomes");
        let check = |change: fn(&mut Analysis), expect: &str| {
            let mut analysis = whole.clone();
            change(&mut analysis);
            let error = Study::new(&outcomes, &analysis, None).expect_err("it is not sound").to_string();
            assert!(error.contains(&format!(": {expect} differ")), "{error}");
        };
        check(|analysis| analysis.criteria[0].uncovered.push(9999), "requirements");
        check(|analysis| _ = analysis.survivors.pop(), "survivors");
        check(|analysis| analysis.ranking.order[0] = 99, "suites");
        check(|analysis| analysis.recommendation.as_mut().expect("suites").choice.suite = 9999, "suites");
    }
}
