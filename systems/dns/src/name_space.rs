//! The name space: zones with their records, and what is right to answer from them.

use std::collections::BTreeSet;
use std::fmt;

use serde::{Deserialize, Serialize};

use super::{Name, Question, Rcode, Record, RecordData, RecordType};

/// All names that there are, cut into zones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NameSpace {
    /// The zones: the root's, and those that others delegate.
    pub zones: Vec<Zone>,
}

/// A zone: a part of the tree of names under one administration.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Zone {
    /// The name at its top.
    pub apex: Name,
    /// Its records, as its zone file has them: the SOA and NS records of the apex, and what its names have; for each
    /// zone that is cut out of it the NS records and, for servers that have their names there, their addresses, called
    /// glue.
    pub records: Vec<Record>,
}

/// What is right to answer to a question, by the name space alone.
///
/// Of lists of records, only the set counts. Times to live are those of the zones, which caches make shorter.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// [`Rcode::NameError`] if the last name of the chain does not exist (RFC 6604), or else [`Rcode::NoError`].
    pub rcode: Rcode,
    /// The aliases that lead from the name of the question to the one that the records are of, in this order.
    pub chain: Vec<Record>,
    /// The records that were asked for. None of them, and no name error, says that there are no such data.
    pub records: Vec<Record>,
    /// The SOA record of the zone that says that something is not there, with the time to live of that (RFC 2308,
    /// section 5): `None` if there are records.
    pub soa: Option<Record>,
}

/// The kinds of right answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AnswerKind {
    /// There are such records.
    Valid,
    /// There is no such name.
    NameError,
    /// The name has no such records.
    NoData,
}

impl NameSpace {
    /// Returns the right answer to `question`.
    ///
    /// It is independent of what servers and resolvers do: each name belongs to the zone with the longest apex that it
    /// ends with.
    ///
    /// # Panics
    /// If the name space is [not valid](super::TestCase): there is no zone of the root, or one without an SOA record,
    /// or aliases in a circle.
    pub fn answer(&self, question: &Question) -> Answer {
        let mut name = &question.name;
        let mut chain = Vec::new();
        loop {
            let zone = self.zone_of(name);
            let of_name = |record: &&Record| record.name == *name;
            let of_type = |record: &&Record| of_name(record) && record.record_type() == question.record_type;
            let records: Vec<Record> = zone.records.iter().filter(of_type).cloned().collect();
            let alias = zone.records.iter().filter(of_name).find_map(|record| match &record.data {
                RecordData::Cname(canonical) => Some((record, canonical)),
                _ => None,
            });
            if !records.is_empty() {
                return Answer { rcode: Rcode::NoError, chain, records, soa: None };
            }
            let Some((record, canonical)) = alias else {
                let exists =
                    self.zones.iter().flat_map(|zone| &zone.records).any(|record| is_at_or_below(&record.name, name));
                let rcode = if exists { Rcode::NoError } else { Rcode::NameError };
                return Answer { rcode, chain, records, soa: Some(zone.negative_soa()) };
            };
            chain.push(record.clone());
            assert!(
                chain.len() <= self.zones.iter().map(|zone| zone.records.len()).sum(),
                "{name} is an alias of itself"
            );
            name = canonical;
        }
    }

    /// Returns the zone that a name belongs to, whether the name exists or not.
    ///
    /// # Panics
    /// If there is no zone of the root.
    pub fn zone_of(&self, name: &Name) -> &Zone {
        let above = self.zones.iter().filter(|zone| is_at_or_below(name, &zone.apex));
        above.max_by_key(|zone| zone.apex.wire_bytes()).expect("all names are at or below the root")
    }

    /// Returns the zone that delegates a zone: `None` for the root's.
    pub fn parent_of(&self, zone: &Zone) -> Option<&Zone> {
        let above =
            self.zones.iter().filter(|other| other.apex != zone.apex && is_at_or_below(&zone.apex, &other.apex));
        above.max_by_key(|zone| zone.apex.wire_bytes())
    }

    /// Returns all names that exist, in the order of their texts: those that have records, and those between them and
    /// the root.
    pub fn names(&self) -> Vec<Name> {
        let mut names: BTreeSet<Name> = BTreeSet::new();
        for record in self.zones.iter().flat_map(|zone| &zone.records) {
            let mut text = record.name.as_str();
            while !names.contains(text) {
                let name: Name = text.parse().expect("the end of a name is a name");
                let above = text.split_once('.').map_or("", |(_, above)| above);
                text = if above.is_empty() { "." } else { above };
                names.insert(name);
            }
        }
        names.into_iter().collect()
    }

    /// Returns the records that the zone of the root has of its servers, which are the hints of resolvers: NS and A
    /// records.
    ///
    /// # Panics
    /// If there is no zone of the root.
    pub fn root_hints(&self) -> Vec<Record> {
        let root = self.zone_of(&Name::root());
        let servers: Vec<&Record> = root.servers().collect();
        let hosts = servers.iter().filter_map(|record| record.data.host());
        let addresses = hosts.flat_map(|host| root.addresses(host));
        servers.iter().copied().chain(addresses).cloned().collect()
    }
}

impl Zone {
    /// Returns the record that the zone starts with.
    ///
    /// # Panics
    /// If it has none.
    pub fn soa(&self) -> &Record {
        let found = self.records.iter().find(|record| record.record_type() == RecordType::Soa);
        found.expect("each zone has an SOA record")
    }

    /// Returns the NS records of the apex.
    pub fn servers(&self) -> impl Iterator<Item = &Record> {
        self.records.iter().filter(|record| record.name == self.apex && record.record_type() == RecordType::Ns)
    }

    /// Returns the A records that the zone has of a name, glue included.
    pub fn addresses<'a>(&'a self, name: &'a Name) -> impl Iterator<Item = &'a Record> {
        self.records.iter().filter(move |record| record.name == *name && record.record_type() == RecordType::A)
    }

    /// Returns the SOA record with the time for which it holds that something is not there (RFC 2308, section 5).
    fn negative_soa(&self) -> Record {
        let record = self.soa();
        let RecordData::Soa(soa) = &record.data else { unreachable!("it was found by its type") };
        Record { ttl: record.ttl.min(soa.minimum), ..record.clone() }
    }
}

/// The zone file (RFC 1035, section 5): a line for each record, the SOA record first.
impl fmt::Display for Zone {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let soa = self.soa();
        let others = self.records.iter().filter(|&record| record != soa);
        std::iter::once(soa).chain(others).try_for_each(|record| writeln!(formatter, "{record}"))
    }
}

impl Answer {
    /// Returns which kind of answer it is.
    pub fn kind(&self) -> AnswerKind {
        match (self.rcode, self.records.is_empty()) {
            (Rcode::NameError, _) => AnswerKind::NameError,
            (_, true) => AnswerKind::NoData,
            (_, false) => AnswerKind::Valid,
        }
    }

    /// Returns all that the answer section of a response has: the chain, and the records.
    pub fn section(&self) -> impl Iterator<Item = &Record> {
        self.chain.iter().chain(&self.records)
    }
}

/// Returns whether a name is `other`, or ends with it.
pub(super) fn is_at_or_below(name: &Name, other: &Name) -> bool {
    let is_whole_label = |before: &str| before.is_empty() || before.ends_with('.');
    other.is_root() || name.as_str().strip_suffix(other.as_str()).is_some_and(is_whole_label)
}
