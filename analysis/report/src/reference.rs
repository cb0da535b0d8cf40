//! What an earlier experiment found beside what these outcomes say, in sentences.

use simutant_analysis::{Agreement, Comparison, Reference, ReferenceImplementations};

/// Returns in one sentence each: how many claims agree, and what could not be compared.
pub(crate) fn sentences(comparison: &Comparison, reference: &Reference) -> Vec<String> {
    let name = &reference.name;
    let mut sentences = Vec::new();
    if comparison.claims.is_empty() {
        sentences.push(format!("No pair of criteria is both here and in the {name}."));
    } else {
        sentences.push(format!(
            "Of the {} pairs of criteria that both have, {} stand in the {name}'s order, {} in the opposite one, and \
             {} are not significantly different here (by the thesis's own test, which corrects for nothing: {}, {} and {}).",
            comparison.claims.len(),
            comparison.count(Agreement::Agrees),
            comparison.count(Agreement::Differs),
            comparison.count(Agreement::Undecided),
            comparison.count_by_thesis(Agreement::Agrees),
            comparison.count_by_thesis(Agreement::Differs),
            comparison.count_by_thesis(Agreement::Undecided),
        ));
    }
    if !comparison.only_there.is_empty() {
        sentences.push(format!("The {name} also has {}, without a score here.", comparison.only_there.join(", ")));
    }
    if !comparison.only_here.is_empty() {
        sentences.push(format!("The {name} does not have {}.", comparison.only_here.join(", ")));
    }
    sentences
}

/// Returns the heads of columns with what the experiment reports; none without one.
pub(crate) fn columns<const N: usize>(reference: Option<&Reference>, columns: [&str; N]) -> Vec<String> {
    let head = |name: &str| columns.iter().map(|column| format!("{name} {column}")).collect();
    reference.map_or_else(Vec::new, |reference| head(&reference.name))
}

/// Returns the name of the experiment, and what its implementations did; `None` if it does not report that.
pub(crate) fn implementations(reference: &Reference) -> Option<(&str, &ReferenceImplementations)> {
    Some((&reference.name, reference.implementations.as_ref()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use simutant_analysis::{ClaimComparison, ReferenceMutants};

    fn earlier() -> Reference {
        Reference {
            name: "paper".into(),
            source: "made up".into(),
            predicted: "all were".into(),
            mutants: ReferenceMutants { all: 0, equivalent: 0, pathological: 0, used: 0 },
            criteria: Vec::new(),
            claims: Vec::new(),
            implementations: None,
        }
    }

    fn text(claims: &[[Agreement; 2]], only_there: &[&str], only_here: &[&str]) -> String {
        let claim = |&[agreement, agreement_by_thesis]: &[Agreement; 2]| ClaimComparison {
            better: "a".into(),
            worse: "b".into(),
            agreement,
            agreement_by_thesis,
        };
        let owned = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect();
        let comparison = Comparison {
            claims: claims.iter().map(claim).collect(),
            only_there: owned(only_there),
            only_here: owned(only_here),
        };
        sentences(&comparison, &earlier()).join(" ")
    }

    #[test]
    fn claims_are_counted_by_both_tests() {
        let [agrees, undecided, differs] = [Agreement::Agrees, Agreement::Undecided, Agreement::Differs];
        let text = text(&[[agrees, agrees], [undecided, undecided], [differs, undecided]], &[], &[]);
        assert!(
            text.starts_with("Of the 3 pairs of criteria that both have, 1 stand in the paper's order, 1 in"),
            "{text}"
        );
        assert!(text.ends_with("corrects for nothing: 1, 0 and 2)."), "{text}");
    }

    #[test]
    fn what_only_one_has_is_said() {
        let text = text(&[], &["all-uses", "IP-2"], &["loss"]);
        assert_eq!(
            text,
            "No pair of criteria is both here and in the paper. The paper also has all-uses, IP-2, without a score here. \
             The paper does not have loss."
        );
    }

    #[test]
    fn columns_are_named_after_the_experiment() {
        assert_eq!(columns(Some(&earlier()), ["size", "E"]), ["paper size", "paper E"]);
        assert_eq!(columns(None, ["size", "E"]), [""; 0]);
    }
}
