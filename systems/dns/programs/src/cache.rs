//! What a resolver remembers: sets of records, and that something is not there.

use std::collections::BTreeMap;
use std::time::Duration;

use super::behaviour::{Behaviour, Denial};
use super::message::{Question, Record, Type};
use super::name::Name;

/// How much a set of records is believed (RFC 2181, section 5.4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Trust {
    /// It came along with something else: good enough to find servers.
    Additional,
    /// It leads to the servers of a zone.
    Referral,
    /// Somebody with authority said so when asked: good enough to answer.
    Answer,
}

/// What is remembered.
#[derive(Debug)]
pub struct Cache {
    behaviour: &'static dyn Behaviour,
    sets: BTreeMap<(Name, Type), Set>,
    /// By the name, and the type unless it is about all.
    denials: BTreeMap<(Name, Option<Type>), (Denial, Duration)>,
}

/// Records of one name and type.
#[derive(Debug)]
struct Set {
    records: Vec<Record>,
    trust: Trust,
    since: Duration,
}

impl Cache {
    /// Returns one without anything.
    pub fn new(behaviour: &'static dyn Behaviour) -> Self {
        Self { behaviour, sets: BTreeMap::new(), denials: BTreeMap::new() }
    }

    /// Keeps `records`, in sets, unless it knows better.
    pub fn keep(&mut self, records: &[Record], trust: Trust, now: Duration) {
        let mut sets: BTreeMap<(Name, Type), Vec<Record>> = BTreeMap::new();
        for record in records {
            sets.entry((record.name.clone(), record.of)).or_default().push(record.clone());
        }
        for (key, mut found) in sets {
            if self.live(&key, now).is_some_and(|known| known.trust > trust) {
                continue;
            }
            if let Some(known) = self.live(&key, now) {
                found = self.behaviour.kept(&known.records, found);
            } else {
                found = self.behaviour.kept(&[], found);
            }
            self.sets.insert(key, Set { records: found, trust, since: now });
        }
    }

    /// Returns the records of a name and type that are believed so much or more, with the times that they have left.
    pub fn records(&mut self, question: &Question, trust: Trust, now: Duration) -> Option<Vec<Record>> {
        let key = (question.name.clone(), question.of);
        let set = self.live(&key, now).filter(|set| set.trust >= trust)?;
        let aged = |record: &Record| {
            let left = self.behaviour.left(record.ttl, now.saturating_sub(set.since))?;
            Some(Record { ttl: self.behaviour.aged(record, left), ..record.clone() })
        };
        let records = set.records.iter().map(aged).collect();
        if self.behaviour.is_new_when_used() {
            self.sets.get_mut(&key)?.since = now;
        }
        records
    }

    /// Keeps that `question` is answered with `denial`.
    pub fn deny(&mut self, question: &Question, denial: &Denial, now: Duration) {
        let of = self.behaviour.denied_types(question, denial);
        let soa = self.behaviour.soa(denial.soa.clone());
        self.denials.insert((question.name.clone(), of), (Denial { soa, ..denial.clone() }, now));
    }

    /// Returns that something is not there, if that is known, with the time for which it still is.
    pub fn denial(&self, question: &Question, now: Duration) -> Option<Denial> {
        [Some(question.of), None].into_iter().find_map(|of| {
            let (denial, since) = self.denials.get(&(question.name.clone(), of))?;
            let ttl = self.behaviour.left(denial.soa.ttl, now.saturating_sub(*since))?;
            Some(Denial { soa: Record { ttl, ..denial.soa.clone() }, ..denial.clone() })
        })
    }

    fn live(&self, key: &(Name, Type), now: Duration) -> Option<&Set> {
        let age = |set: &Set| now.saturating_sub(set.since);
        let lives = |set: &&Set| set.records.iter().all(|record| self.behaviour.left(record.ttl, age(set)).is_some());
        self.sets.get(key).filter(lives)
    }
}

#[cfg(test)]
mod tests {
    use super::super::behaviour::Correct;
    use super::super::message::{NAME_ERROR, NO_ERROR};
    use super::*;

    fn record(name: &str, of: Type, ttl: u32, data: &[u8]) -> Record {
        Record { name: name.parse().expect("it is a name"), of, ttl, data: data.to_vec() }
    }

    fn question(name: &str, of: Type) -> Question {
        Question { name: name.parse().expect("it is a name"), of }
    }

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn records_grow_old() {
        let mut cache = Cache::new(&Correct);
        let (of_two, of_none) = (record("a.", Type::A, 2, &[1, 2, 3, 4]), record("b.", Type::A, 0, &[1, 2, 3, 4]));
        cache.keep(&[of_two, of_none], Trust::Answer, SECOND);
        let mut left = |name, now| {
            let records = cache.records(&question(name, Type::A), Trust::Answer, now)?;
            Some(records[0].ttl)
        };
        assert_eq!(left("a.", SECOND), Some(2));
        assert_eq!(left("a.", SECOND * 2), Some(1));
        assert_eq!(left("a.", SECOND * 5 / 2), Some(0));
        assert_eq!(left("a.", SECOND * 3), None);
        assert_eq!(left("b.", SECOND), None);
    }

    #[test]
    fn what_is_believed_more_stays() {
        let mut cache = Cache::new(&Correct);
        let (one, other) = (record("a.", Type::A, 2, &[1, 2, 3, 4]), record("a.", Type::A, 9, &[5, 6, 7, 8]));
        let asked = question("a.", Type::A);
        cache.keep(std::slice::from_ref(&other), Trust::Additional, SECOND);
        assert_eq!(cache.records(&asked, Trust::Answer, SECOND), None);
        assert_eq!(cache.records(&asked, Trust::Additional, SECOND), Some(vec![other.clone()]));
        cache.keep(std::slice::from_ref(&one), Trust::Answer, SECOND);
        cache.keep(std::slice::from_ref(&other), Trust::Additional, SECOND);
        assert_eq!(cache.records(&asked, Trust::Answer, SECOND), Some(vec![one]));
        cache.keep(&[other], Trust::Additional, SECOND * 3);
        assert_eq!(cache.records(&asked, Trust::Answer, SECOND * 3), None);
    }

    #[test]
    fn what_is_not_there_is_known_for_a_type_or_for_all() {
        let mut cache = Cache::new(&Correct);
        let soa = record("oak.", Type::SOA, 9, &[0, 0, 0, 0, 5]);
        let no_data = Denial { rcode: NO_ERROR, soa: soa.clone() };
        cache.deny(&question("a.oak.", Type::A), &no_data, SECOND);
        cache.deny(&question("b.oak.", Type::A), &Denial { rcode: NAME_ERROR, soa }, SECOND);
        let known = |name, of, now| {
            let denial = cache.denial(&question(name, of), now)?;
            Some((denial.rcode, denial.soa.ttl))
        };
        assert_eq!(known("a.oak.", Type::A, SECOND * 2), Some((NO_ERROR, 4)));
        assert_eq!(known("a.oak.", Type::NS, SECOND * 2), None);
        assert_eq!(known("b.oak.", Type::NS, SECOND * 2), Some((NAME_ERROR, 4)));
        assert_eq!(
            known("b.oak.", Type::NS, SECOND * 6),
            None,
            "the last field of the SOA record is less than its time"
        );
    }
}
