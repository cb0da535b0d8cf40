//! What a zone has of a name: the steps of RFC 1034, section 4.3.2, that look into a zone.

use super::tree::{depth, is_within};
use super::{Name, Record, RecordData, RecordType, Zone};

/// What a zone has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Found {
    /// The records of the name and type (step 3a).
    Records(Vec<Record>),
    /// The record that makes the name an alias, and the canonical name (step 3a).
    Alias(Record, Name),
    /// The NS records of the zone that begins at or above the name, and is cut out of this one (step 3b).
    Delegation(Vec<Record>),
    /// The name, without such records.
    NoData,
    /// No such name (step 3c).
    NameError,
}

/// Returns that of the zones which is the nearest one above the name (step 2).
pub(super) fn nearest_zone<'a>(zones: &'a [Zone], name: &Name) -> Option<&'a Zone> {
    let mut nearest: Option<&Zone> = None;
    for zone in zones {
        if !is_within(name.as_str(), zone.apex.as_str()) {
            continue;
        }
        match nearest {
            Some(other) if depth(other.apex.as_str()) > depth(zone.apex.as_str()) => {}
            _ => nearest = Some(zone),
        }
    }
    nearest
}

/// Looks for the records of a name and type in a zone which is above the name (step 3). There are no wildcards.
pub(super) fn look_up(zone: &Zone, name: &Name, record_type: RecordType) -> Found {
    assert!(is_within(name.as_str(), zone.apex.as_str()), "{name} is not in the zone {}", zone.apex);
    if let Some(cut) = cut_above(zone, name) {
        return Found::Delegation(records_of(zone, cut, RecordType::Ns));
    }
    let records = records_of(zone, name, record_type);
    if !records.is_empty() {
        return Found::Records(records);
    }
    for record in &zone.records {
        if record.name == *name
            && let RecordData::Cname(canonical) = &record.data
        {
            return Found::Alias(record.clone(), canonical.clone());
        }
    }
    // A name exists if it has records, or if one below it has.
    if zone.records.iter().any(|record| is_within(record.name.as_str(), name.as_str())) {
        return Found::NoData;
    }
    Found::NameError
}

/// Returns the records that a zone has of a name and type, glue included.
pub(super) fn records_of(zone: &Zone, name: &Name, record_type: RecordType) -> Vec<Record> {
    let of_name = zone.records.iter().filter(|record| record.name == *name && record.record_type() == record_type);
    of_name.cloned().collect()
}

/// Returns the name at or above this one at which another zone is cut out of the zone.
fn cut_above<'a>(zone: &'a Zone, name: &Name) -> Option<&'a Name> {
    let servers = zone.records.iter().filter(|record| record.record_type() == RecordType::Ns);
    let mut cuts = servers.map(|record| &record.name).filter(|cut| **cut != zone.apex);
    cuts.find(|cut| is_within(name.as_str(), cut.as_str()))
}
