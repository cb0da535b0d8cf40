//! The cache: what a resolver was told, for as long as it may be kept.

use std::collections::BTreeMap;

use simutant_sim_core::{VirtualDuration, VirtualTime};

use super::{Name, Rcode, Record, RecordData, RecordType};

/// What is known, by name.
#[derive(Debug, Default)]
pub(super) struct Cache {
    entries: BTreeMap<Name, Vec<Entry>>,
}

/// Something that is known of a name.
#[derive(Debug)]
struct Entry {
    topic: Topic,
    trust: Trust,
    /// The last instant at which it holds. What may be kept for no time holds for the instant at which it was told.
    expires: VirtualTime,
    records: Vec<Record>,
}

/// What an entry is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Topic {
    /// The records of a type.
    Records(RecordType),
    /// That there are none of this type. The entry has the SOA record that says so (RFC 2308, section 5).
    NoData(RecordType),
    /// That there is no such name. The entry has the SOA record that says so.
    NameError,
}

/// How far an entry can be trusted (RFC 2181, section 5.4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Trust {
    /// It was told on the way to something else, by a server without authority over it. It leads to servers, and
    /// answers nothing.
    Referral,
    /// It was asked for, and told with authority.
    Answer,
}

/// What the cache has for a question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Known {
    /// The records.
    Records(Vec<Record>),
    /// The name is an alias, of this name.
    Alias(Record, Name),
    /// There are none: no such data, or no such name, with the SOA record that says so.
    Nothing(Rcode, Vec<Record>),
}

impl Cache {
    /// Takes in records of one time to live. What is known and holds stays, unless it is trusted less: so nobody who
    /// repeats something makes it live longer.
    pub(super) fn insert(&mut self, name: &Name, topic: Topic, trust: Trust, records: Vec<Record>, now: VirtualTime) {
        let ttl = VirtualDuration::from_secs(u64::from(records[0].ttl));
        let entries = self.entries.entry(name.clone()).or_default();
        entries.retain(|entry| entry.expires >= now && (entry.topic != topic || entry.trust >= trust));
        if !entries.iter().any(|entry| entry.topic == topic) {
            entries.push(Entry { topic, trust, expires: now + ttl, records });
        }
        let count = entries.iter().filter(|entry| entry.topic == topic).count();
        assert_eq!(count, 1, "entries about {topic:?} of {name}");
    }

    /// Returns what is known of a name and type, with the times to live that are left.
    pub(super) fn find(&self, name: &Name, record_type: RecordType, now: VirtualTime) -> Option<Known> {
        for entry in self.entries.get(name)? {
            if entry.expires < now || entry.trust < Trust::Answer {
                continue;
            }
            match entry.topic {
                Topic::Records(found) if found == record_type => return Some(Known::Records(entry.aged(now))),
                Topic::Records(RecordType::Cname) => {
                    let record = entry.aged(now).remove(0);
                    if let RecordData::Cname(canonical) = &record.data {
                        let canonical = canonical.clone();
                        return Some(Known::Alias(record, canonical));
                    }
                }
                Topic::NoData(found) if found == record_type => {
                    return Some(Known::Nothing(Rcode::NoError, entry.aged(now)));
                }
                Topic::NameError => return Some(Known::Nothing(Rcode::NameError, entry.aged(now))),
                Topic::Records(_) | Topic::NoData(_) => {}
            }
        }
        None
    }

    /// Returns the records of a name and type, however far they can be trusted.
    pub(super) fn records(&self, name: &str, record_type: RecordType, now: VirtualTime) -> &[Record] {
        let Some(entries) = self.entries.get(name) else { return &[] };
        for entry in entries {
            if entry.topic == Topic::Records(record_type) && entry.expires >= now {
                assert!(now <= entry.expires, "{:?} expired at {}, and it is {now}", entry.records, entry.expires);
                return &entry.records;
            }
        }
        &[]
    }
}

impl Entry {
    /// Returns the records with the times to live that are left, in whole seconds.
    fn aged(&self, now: VirtualTime) -> Vec<Record> {
        assert!(self.trust == Trust::Answer, "{:?} was told on the way to something else", self.records);
        assert!(now <= self.expires, "{:?} expired at {}, and it is {now}", self.records, self.expires);
        let ttl = ((self.expires - now).as_nanos() / 1_000_000_000) as u32;
        let age = |record: &Record| {
            assert!(ttl <= record.ttl, "{record} lives for {ttl} s more");
            Record { ttl, ..record.clone() }
        };
        self.records.iter().map(age).collect()
    }
}
