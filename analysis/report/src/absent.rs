//! What a suite lacks, in a sentence.

use simutant_analysis::{AbsentFeature, plural};

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
