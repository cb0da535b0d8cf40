//! Black-box criteria of the domain name system: what users ask (Rutherford, PhD thesis, section 4.4).

use simutant_system::BlackBoxCriterion;

use super::{AnswerKind, RecordType, TestCase};

/// A query for each type.
pub(super) fn all_resource_types() -> BlackBoxCriterion<TestCase> {
    BlackBoxCriterion {
        name: "All-resource-types",
        requirements: RecordType::ALL.map(|record_type| format!("a query for {record_type}")).to_vec(),
        quotas: Vec::new(),
        covered: |case| {
            let is_asked = |record_type| case.queries.iter().any(|query| query.record_type == record_type);
            (0..RecordType::ALL.len()).filter(|&index| is_asked(RecordType::ALL[index])).collect()
        },
    }
}

/// Of addresses and of mail exchanges, which are asked for most: a query for what is there, one for an unknown name,
/// and one for a name without such records.
pub(super) fn typical_usage() -> BlackBoxCriterion<TestCase> {
    BlackBoxCriterion {
        name: "TypicalUsage",
        requirements: usages().map(|(record_type, kind)| format!("{record_type} records {}", words(kind))).collect(),
        quotas: Vec::new(),
        covered: |case| {
            let typical = case.queries.iter().filter(|query| usages().any(|usage| usage.0 == query.record_type));
            let used: Vec<_> =
                typical.map(|query| (query.record_type, case.name_space.answer(&query.question()).kind())).collect();
            usages().enumerate().filter(|(_, usage)| used.contains(usage)).map(|(index, _)| index).collect()
        },
    }
}

fn usages() -> impl Iterator<Item = (RecordType, AnswerKind)> {
    let kinds =
        |record_type| [AnswerKind::Valid, AnswerKind::NameError, AnswerKind::NoData].map(|kind| (record_type, kind));
    [RecordType::A, RecordType::Mx].into_iter().flat_map(kinds)
}

fn words(kind: AnswerKind) -> &'static str {
    match kind {
        AnswerKind::Valid => "that are there",
        AnswerKind::NameError => "of an unknown name",
        AnswerKind::NoData => "of a name without them",
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{query, small_case};
    use super::*;

    /// Returns the labels of what these queries of the small name space cover.
    fn covered(criterion: &BlackBoxCriterion<TestCase>, queries: &[(&str, RecordType)]) -> Vec<String> {
        let queries = queries.iter().map(|&(owner, record_type)| query(1, 0, owner, record_type)).collect();
        let case = TestCase { queries, ..small_case() };
        (criterion.covered)(&case).into_iter().map(|index| criterion.requirements[index].clone()).collect()
    }

    #[test]
    fn a_query_for_a_type_covers_it_whatever_is_there() {
        let criterion = all_resource_types();
        assert_eq!(criterion.requirements.len(), 10);
        for record_type in RecordType::ALL {
            let label = format!("a query for {record_type}");
            assert_eq!(covered(&criterion, &[("no.com.", record_type)]), [label]);
        }
        let three = [("www.com.", RecordType::Mx), ("com.", RecordType::Ns), ("www.com.", RecordType::Mx)];
        assert_eq!(covered(&criterion, &three), ["a query for NS", "a query for MX"]);
    }

    #[test]
    fn usage_is_typical_by_type_and_by_what_is_there() {
        let criterion = typical_usage();
        let all = [
            "A records that are there",
            "A records of an unknown name",
            "A records of a name without them",
            "MX records that are there",
            "MX records of an unknown name",
            "MX records of a name without them",
        ];
        assert_eq!(criterion.requirements, all);
        #[track_caller]
        fn check(owner: &str, record_type: RecordType, expect: &[&str]) {
            assert_eq!(covered(&typical_usage(), &[(owner, record_type)]), expect);
        }
        check("two.com.", RecordType::A, &all[..1]);
        check("no.com.", RecordType::A, &all[1..2]);
        check("b.com.", RecordType::A, &all[2..3]);
        check("www.com.", RecordType::Mx, &all[3..4]);
        check("no.alias.org.", RecordType::Mx, &all[4..5]);
        check("two.com.", RecordType::Mx, &all[5..]);
        // By way of an alias.
        check("alias.org.", RecordType::Mx, &all[3..4]);
        check("alias.org.", RecordType::A, &all[2..3]);
        check("www.com.", RecordType::Txt, &[]);
    }
}
