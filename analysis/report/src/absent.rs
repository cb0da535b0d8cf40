//! What a suite lacks, in a sentence.

use simutant_analysis::{AbsentFeature, Analysis, ChosenSuite, FeatureShare, percent, plural};

use crate::terminal::Rows;
use crate::text::list;

/// Returns what none of a suite's inputs has; `None` if there is nothing of the kind.
pub(crate) fn absent_sentence(inputs: usize, absent: &[AbsentFeature]) -> Option<String> {
    let named: Vec<String> = absent.iter().map(ToString::to_string).collect();
    let named: Vec<&str> = named.iter().map(String::as_str).collect();
    (!named.is_empty()).then(|| {
        format!(
            "None of its {} has {}: no mutant asks for it, and faults that only such inputs show it cannot find. Run some of them, too, or choose \
             the suite by a criterion that demands them (`--criterion NAME`).",
            plural(inputs, "input"),
            list(&named).replace(" and ", " or ")
        )
    })
}

/// Returns for what some inputs do without, such as faults, how many of the suite and of the universe have it; `None`
/// if all inputs have the same.
pub(crate) fn suite_shares(chosen: &ChosenSuite) -> Option<Rows> {
    let row = |share: &FeatureShare| vec![share.feature.to_string(), percent(share.suite), percent(share.universe)];
    let head = ["inputs with", "suite", "universe"].map(str::to_owned).to_vec();
    (!chosen.features.is_empty()).then(|| Rows { head, rows: chosen.features.iter().map(row).collect() })
}

/// Returns what the suite has less than half as often as the universe; `None` if there is nothing of the kind.
/// What is absent from a suite that was built, [`absent_sentence`] tells.
pub(crate) fn rare_sentence(analysis: &Analysis) -> Option<String> {
    let absent = analysis.built_expected.as_ref();
    let is_told = |share: &&FeatureShare| {
        absent.is_some_and(|built| built.absent.iter().any(|absent| absent.feature == share.feature))
    };
    let rare = analysis.chosen.iter().flat_map(|chosen| &chosen.features);
    let rare = rare.filter(|share| share.is_rare() && !is_told(share));
    let rare: Vec<String> = rare.map(|share| share.feature.to_string()).collect();
    let rare: Vec<&str> = rare.iter().map(String::as_str).collect();
    (!rare.is_empty()).then(|| {
        format!(
            "The suite has less than half of the universe's share of inputs with {}: faults that only such inputs show it is less likely to find.",
            list(&rare).replace(" and ", " or ")
        )
    })
}

#[cfg(test)]
mod tests {
    use simutant_analysis::Feature;

    use super::*;

    #[test]
    fn what_is_absent_is_named_with_its_share() {
        assert_eq!(absent_sentence(3, &[]), None);
        let absent = [
            AbsentFeature { feature: Feature::Some("crashes".into()), share: 2.0 / 3.0 },
            AbsentFeature { feature: Feature::NotZero("drop".into()), share: 0.5 },
        ];
        let sentence = absent_sentence(12, &absent).expect("something is");
        let expect = "None of its 12 inputs has crashes (66.7 % of the universe) or drop other than 0 (50.0 % of the universe): ";
        assert!(sentence.starts_with(expect), "{sentence}");
    }
}
