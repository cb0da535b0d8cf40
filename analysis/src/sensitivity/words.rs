//! What other choices do to the first place, in words and as a table.

use std::collections::BTreeMap;

use super::{FirstPlace, Measure, OtherChoice, ROWS_MIN, Sensitivity, Variant};
use crate::analysis::Analysis;
use crate::chosen::Recommendation;
use crate::expected::Rows;
use crate::text::{correlation, list, or_none, plural};

/// How many variants that change the first place the table has room for.
const SHOWN_MAX: usize = 12;

/// A kind of choice, with a row of its own in the table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Family {
    Operators,
    Functions,
    Fifths,
    Counts,
    Thresholds,
    Measures,
}

impl Family {
    const ALL: [Self; 6] =
        [Self::Operators, Self::Functions, Self::Fifths, Self::Counts, Self::Thresholds, Self::Measures];

    fn title(self) -> &'static str {
        match self {
            Self::Operators => "without an operator",
            Self::Functions => "without a function",
            Self::Fifths => "without a fifth of the universe",
            Self::Counts => "other counts",
            Self::Thresholds => "other thresholds",
            Self::Measures => "another measure",
        }
    }
}

impl OtherChoice {
    fn family(&self) -> Family {
        match self {
            Self::WithoutOperator(_) => Family::Operators,
            Self::WithoutFunction(_) => Family::Functions,
            Self::WithoutFifth(_) => Family::Fifths,
            Self::OwnSeeds | Self::Unweighted | Self::ByDifficulty | Self::Dominators => Family::Counts,
            Self::ByScore | Self::ByWorth => Family::Measures,
            Self::PathologicalAbove(_) => Family::Thresholds,
        }
    }
}

impl std::fmt::Display for OtherChoice {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::WithoutOperator(name) => write!(formatter, "without operator {name}"),
            Self::WithoutFunction(path) => write!(formatter, "without function {path}"),
            Self::WithoutFifth(part) => write!(formatter, "without test cases {part}, {}, …", part + 5),
            Self::OwnSeeds => formatter.write_str("kills on own seeds"),
            Self::Unweighted => formatter.write_str("each mutant counts the same"),
            Self::ByDifficulty => formatter.write_str("each mutant counts by its difficulty"),
            Self::ByScore => formatter.write_str("by mean score"),
            Self::ByWorth => formatter.write_str("by what an input is worth"),
            Self::Dominators => formatter.write_str("dominator classes alone"),
            Self::PathologicalAbove(share) => {
                write!(formatter, "without mutants that more than {:.0} % kill", 100.0 * share)
            }
        }
    }
}

impl Measure {
    /// Writes a difference of values with its unit.
    fn difference(self, difference: f64) -> String {
        match self {
            Self::Score => format!("{:.1} points", 100.0 * difference),
            Self::Worth => format!("{difference:.2} random inputs"),
        }
    }
}

impl Sensitivity {
    /// Returns what speaks against the first place, `None` if nothing does: it is the first sentence of the
    /// recommendation.
    pub(crate) fn sentence(&self, analysis: &Analysis) -> Option<String> {
        let name = |criterion: usize| analysis.criteria[criterion].name.as_str();
        let candidates: Vec<&str> = self.candidates.iter().map(|&criterion| name(criterion)).collect();
        match self.first_place {
            FirstPlace::Firm => None,
            FirstPlace::FewRows => {
                Some(format!("{}, though {} kills no row more often.", self.lead(analysis), name(self.order[1])))
            }
            FirstPlace::Undecided => Some(format!(
                "No mutant tells {} apart, so no suite of a criterion is recommended: --criterion NAME takes the best one of that criterion.",
                list(&candidates)
            )),
            FirstPlace::Open => Some(format!(
                "Which criterion is best is open between {}: {}. The recommendation is the larger of their best suites, that of {}.",
                list(&candidates),
                self.reasons(analysis).join("; "),
                analysis.recommendation.as_ref().map_or("none", |recommendation| &recommendation.criterion),
            )),
        }
    }

    fn reasons(&self, analysis: &Analysis) -> Vec<String> {
        let name = |criterion: usize| analysis.criteria[criterion].name.as_str();
        let best = self.order[0];
        let mut reasons = Vec::new();
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        self.changed().for_each(|variant| *counts.entry(variant.first).or_default() += 1);
        let count = self.changed().count();
        if count > 0 {
            let regret = self.like_study().map(|variant| variant.regret).fold(0.0, f64::max);
            let recommended = analysis.recommendation.as_ref().map_or(best, |chosen| chosen.choice.criterion);
            let mut counts: Vec<(usize, usize)> = counts.into_iter().collect();
            counts.sort_by_key(|&(criterion, count)| (std::cmp::Reverse(count), criterion));
            let counts: Vec<String> =
                counts.into_iter().map(|(criterion, count)| format!("{} in {count}", name(criterion))).collect();
            reasons.push(format!(
                "under {count} of {} that the study varied, another criterion than {} comes first ({}), and {} is at most {} below the first",
                plural(self.like_study().count(), "choice"),
                name(best),
                counts.join(", "),
                name(recommended),
                self.measure.difference(regret),
            ));
        }
        if self.deciding_rows.is_some() {
            reasons.push(self.lead(analysis).replacen("The", "the", 1));
        }
        if count == 0 {
            let others = 1.0 - self.first_in_resamples[0];
            if others >= analysis.options.alpha {
                reasons.push(format!(
                    "in {:.0} % of resamples of the kill rows, another criterion than {} comes first",
                    100.0 * others,
                    name(best)
                ));
            }
        }
        reasons
    }

    /// What the lead of the first over the second rests on.
    fn lead(&self, analysis: &Analysis) -> String {
        let [best, second] = [self.order[0], self.order[1]].map(|criterion| analysis.criteria[criterion].name.as_str());
        let rows = plural(self.rows, "different kill row");
        match self.deciding_rows {
            Some(0) => format!("{best} and {second} are equal on average"),
            Some(deciding) => format!("The lead of {best} over {second} rests on {deciding} of {rows}"),
            None => format!("The lead of {best} over {second} rests on {ROWS_MIN} or more of {rows}"),
        }
    }

    /// The variants in which another criterion comes first, by what the study goes by.
    fn changed(&self) -> impl Iterator<Item = &Variant> {
        self.like_study().filter(|variant| variant.first != self.order[0])
    }
}

/// Returns a row for each kind of choice, and one for each choice that changes the first place.
pub(crate) fn rows(sensitivity: &Sensitivity, analysis: &Analysis) -> Rows {
    let name = |criterion: usize| analysis.criteria[criterion].name.as_str();
    let regret_of = |variant: &Variant| variant.measure.difference(variant.regret);
    let of_family = |family: Family| {
        let variants = || sensitivity.variants.iter().filter(move |variant| variant.choice.family() == family);
        let count = variants().count();
        let first_of_study = sensitivity.order[0];
        let taus = variants().filter_map(|variant| variant.tau);
        let share = |variant: &Variant| variant.regret / (variant.values.iter().copied().fold(0.0, f64::max));
        let worst = variants().max_by(|one, other| share(one).total_cmp(&share(other)))?;
        let changed = variants().filter(|variant| variant.first != first_of_study).count();
        let first = match changed {
            0 => name(first_of_study).to_owned(),
            1 if count == 1 => name(worst.first).to_owned(),
            _ => format!("another in {changed} of {count}"),
        };
        let bound = |text: String, is_exact: bool, or: &str| if is_exact { text } else { format!("{text} {or}") };
        let tau = or_none(taus.reduce(f64::min), |tau| bound(correlation(tau), count == 1 || tau == 1.0, "or more"));
        let regret = bound(regret_of(worst), count == 1 || worst.regret == 0.0, "or less");
        Some(vec![family.title().to_owned(), count.to_string(), first, tau, regret])
    };
    let of_variant = |variant: &Variant| {
        vec![
            variant.choice.to_string(),
            String::new(),
            name(variant.first).to_owned(),
            or_none(variant.tau, correlation),
            regret_of(variant),
        ]
    };
    let mut table: Vec<Vec<String>> = Family::ALL.into_iter().filter_map(of_family).collect();
    table.extend(sensitivity.changed().take(SHOWN_MAX).map(of_variant));
    Rows { head: ["other choice", "of them", "first", "tau-b", "regret"].map(str::to_owned).to_vec(), rows: table }
}

/// Returns what the table shows, and how often each criterion is first when mutants are drawn again.
pub(crate) fn notes(sensitivity: &Sensitivity, analysis: &Analysis) -> Vec<String> {
    let name = |criterion: usize| analysis.criteria[criterion].name.as_str();
    let recommended = analysis.recommendation.as_ref();
    let recommended = recommended.map_or(name(sensitivity.order[0]), |recommendation| &recommendation.criterion);
    let mut notes = vec![format!(
        "Tau-b: the order of all criteria against that of the study. Regret: how much less {} {recommended} has there than the first. Rows of \
         single choices are those that change the first place; all are in results.json.",
        match sensitivity.measure {
            Measure::Score => "mean score",
            Measure::Worth => "worth of an input",
        }
    )];
    let more = sensitivity.changed().count().saturating_sub(SHOWN_MAX);
    if more > 0 {
        notes.push(format!("{more} more choices change the first place."));
    }
    let shares = sensitivity.order.iter().zip(&sensitivity.first_in_resamples);
    let mut shares: Vec<(usize, f64)> = shares.map(|(&criterion, &share)| (criterion, share)).collect();
    shares.sort_by(|one, other| other.1.total_cmp(&one.1));
    let shares: Vec<String> = shares
        .into_iter()
        .filter(|(_, share)| *share >= 0.005)
        .map(|(criterion, share)| format!("{} in {:.0} %", name(criterion), 100.0 * share))
        .collect();
    notes.push(format!(
        "First in {} resamples of the kill rows: {}. {}.",
        sensitivity.resamples,
        shares.join(", "),
        sensitivity.lead(analysis),
    ));
    notes
}

impl Recommendation {
    /// Whether its criterion is the first of the study.
    pub(crate) fn is_of_first(&self, analysis: &Analysis) -> bool {
        let sensitivity = analysis.sensitivity.as_ref();
        sensitivity.is_none_or(|sensitivity| sensitivity.order[0] == self.choice.criterion)
    }
}

impl Analysis {
    /// Returns what is recommended, or why nothing is, in sentences; what speaks against it comes first.
    pub(crate) fn recommendation_sentences(&self) -> Vec<String> {
        match &self.recommendation {
            Some(recommendation) => recommendation.sentences(self),
            None => self.sensitivity.iter().filter_map(|sensitivity| sensitivity.sentence(self)).collect(),
        }
    }
}
