//! Black-box criteria of the domain name system: what users ask (Rutherford, PhD thesis, section 4.4).

use simutant_sim_core::BlackBoxCriterion;

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

/// Of addresses and of mail exchanges, which are asked for most: a query for what is there, one for an unknown name, and one for a name
/// without such records.
pub(super) fn typical_usage() -> BlackBoxCriterion<TestCase> {
    BlackBoxCriterion {
        name: "TypicalUsage",
        requirements: usages()
            .map(|(record_type, kind)| format!("a query for {record_type} {}", words(kind)))
            .collect(),
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
