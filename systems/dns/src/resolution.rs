//! Resolution: from a question to its answer, by way of the servers that know it (RFC 1034, section 5.3.3).

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::rc::Rc;

use simutant_sim_core::{Address, Channel, Context, VirtualDuration};

use super::cache::{Cache, Known, Topic, Trust};
use super::exchange::exchange;
use super::tree::{above, depth, is_within};
use super::{DnsMessage, Name, Question, Rcode, Record, RecordData, RecordType};

/// How often a question is sent to the servers of one zone, one after the other, until an answer is given up.
const TRIES: usize = 12;

/// How long each server has for its answer when all are asked for the first time: twice as long the next time, and so
/// on.
const PATIENCE: VirtualDuration = VirtualDuration::from_millis(500);

/// How often the time is doubled.
const DOUBLINGS_MAX: usize = 3;

/// The most steps from a question to its answer: each is an alias, a zone on the way down, or an answer.
const STEPS_MAX: usize = 24;

/// The most questions that wait for each other: addresses of servers are looked for while something else is. Each is of
/// another zone.
const NESTING_MAX: usize = 5;

/// What all resolutions of a resolver share.
#[derive(Debug)]
pub(super) struct Knowledge {
    /// The NS records of the root, and the addresses of its servers.
    pub(super) hints: Vec<Record>,
    /// What is reached at which address.
    pub(super) routes: Rc<BTreeMap<Ipv4Addr, Address>>,
    pub(super) cache: RefCell<Cache>,
    /// The id of the last query.
    pub(super) id: Cell<u16>,
}

/// The resolution of one question, and of those that it raises.
#[derive(Debug)]
pub(super) struct Resolution {
    pub(super) context: Context<DnsMessage>,
    pub(super) channel: Channel<DnsMessage>,
    pub(super) knowledge: Rc<Knowledge>,
}

/// What came out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Outcome {
    pub(super) rcode: Rcode,
    /// Aliases on the way, and records.
    pub(super) answer: Vec<Record>,
    /// The SOA record that says that there are none.
    pub(super) authority: Vec<Record>,
}

impl Outcome {
    fn failure() -> Self {
        Self { rcode: Rcode::ServerFailure, answer: Vec::new(), authority: Vec::new() }
    }
}

impl Resolution {
    /// Returns the answer to a question which `nesting` others wait for.
    pub(super) async fn resolve(&mut self, question: &Question, nesting: usize) -> Outcome {
        let record_type = question.record_type;
        let mut name = question.name.clone();
        let mut answer = Vec::new();
        for _ in 0..STEPS_MAX {
            let known = self.knowledge.cache.borrow().find(&name, record_type, self.context.now());
            match known {
                Some(Known::Records(records)) => {
                    answer.extend(records);
                    return Outcome { rcode: Rcode::NoError, answer, authority: Vec::new() };
                }
                Some(Known::Nothing(rcode, authority)) => return Outcome { rcode, answer, authority },
                Some(Known::Alias(record, canonical)) => {
                    answer.push(record);
                    name = canonical;
                }
                None => {
                    let Some((zone, servers)) = self.find_servers(&name, nesting).await else { break };
                    let asked = Question { name: name.clone(), record_type };
                    let Some(response) = self.ask(&servers, &asked).await else { break };
                    self.learn(&zone, &response);
                }
            }
        }
        Outcome::failure()
    }

    /// Returns the zone nearest to a name of which servers are known, and their addresses: `None` if they cannot be
    /// found out.
    async fn find_servers(&mut self, name: &Name, nesting: usize) -> Option<(Name, Vec<Ipv4Addr>)> {
        let mut zone = name.as_str();
        loop {
            let hosts = self.hosts(zone);
            let known: Vec<Ipv4Addr> = hosts.iter().flat_map(|host| self.known_addresses(host)).collect();
            if !known.is_empty() {
                return Some((zone.parse().ok()?, known));
            }
            // Hosts in the zone itself can be found through the zone above only, which tells their addresses with their
            // names.
            let outside: Vec<Name> = hosts.into_iter().filter(|host| !is_within(host.as_str(), zone)).collect();
            for host in &outside {
                let found = self.resolve_address(host, nesting).await;
                if !found.is_empty() {
                    return Some((zone.parse().ok()?, found));
                }
            }
            if !outside.is_empty() {
                return None;
            }
            match above(zone) {
                Some(above) => zone = above,
                None => return Some((Name::root(), addresses(&self.knowledge.hints))),
            }
        }
    }

    /// Returns the hosts of the servers of a zone, as far as they are known.
    fn hosts(&self, zone: &str) -> Vec<Name> {
        let cache = self.knowledge.cache.borrow();
        let records = cache.records(zone, RecordType::Ns, self.context.now());
        records.iter().filter_map(|record| record.data.host()).cloned().collect()
    }

    fn known_addresses(&self, host: &Name) -> Vec<Ipv4Addr> {
        addresses(self.knowledge.cache.borrow().records(host.as_str(), RecordType::A, self.context.now()))
    }

    async fn resolve_address(&mut self, host: &Name, nesting: usize) -> Vec<Ipv4Addr> {
        assert!(nesting < NESTING_MAX, "{nesting} questions wait for the address of {host}");
        let question = Question { name: host.clone(), record_type: RecordType::A };
        let outcome = Box::pin(self.resolve(&question, nesting + 1)).await;
        addresses(&outcome.answer)
    }

    /// Asks the servers of a zone, one after the other, until one answers.
    async fn ask(&mut self, servers: &[Ipv4Addr], question: &Question) -> Option<DnsMessage> {
        let first = self.context.random().uniform(0..servers.len());
        for attempt in 0..TRIES {
            let server = self.knowledge.routes[&servers[(first + attempt) % servers.len()]];
            let query = DnsMessage::query(self.next_id(), question.clone());
            let patience = PATIENCE * (1 << usize::min(attempt / servers.len(), DOUBLINGS_MAX));
            let response = exchange(&self.context, &mut self.channel, server, &query, patience).await;
            if let Some(response) = response {
                assert_eq!((response.id, &response.question), (query.id, question), "it answers something else");
                return Some(response);
            }
        }
        None
    }

    fn next_id(&self) -> u16 {
        let id = self.knowledge.id.get().wrapping_add(1);
        self.knowledge.id.set(id);
        id
    }

    /// Takes in what a server of the zone says, as far as it is about names of the zone.
    fn learn(&self, zone: &Name, response: &DnsMessage) {
        let (now, mut cache) = (self.context.now(), self.knowledge.cache.borrow_mut());
        let Question { name, record_type } = &response.question;
        assert!(matches!(response.rcode, Rcode::NoError | Rcode::NameError), "a server of {zone} said {response:?}");
        for record in &response.answer {
            let is_asked = record.record_type() == *record_type || record.record_type() == RecordType::Cname;
            assert!(is_asked, "a server of {zone} answers {:?} with {record}", response.question);
        }
        let answer_trust = if response.is_authoritative { Trust::Answer } else { Trust::Referral };
        let sections = [
            (&response.answer, answer_trust),
            (&response.authority, Trust::Referral),
            (&response.additional, Trust::Referral),
        ];
        for (section, trust) in sections {
            for ((owner, record_type), records) in record_sets(section) {
                if !is_within(owner.as_str(), zone.as_str()) {
                    continue;
                }
                let is_referral = trust == Trust::Referral && record_type == RecordType::Ns;
                assert!(
                    !is_referral || depth(owner.as_str()) > depth(zone.as_str()),
                    "a server of {zone} leads to {owner}"
                );
                cache.insert(&owner, Topic::Records(record_type), trust, records, now);
            }
        }
        let canonical = end_of_aliases(name, &response.answer);
        let soa: Vec<Record> =
            response.authority.iter().filter(|record| record.record_type() == RecordType::Soa).cloned().collect();
        if !soa.is_empty() && is_within(canonical.as_str(), zone.as_str()) {
            let topic = if response.rcode == Rcode::NameError { Topic::NameError } else { Topic::NoData(*record_type) };
            cache.insert(canonical, topic, answer_trust, soa, now);
        }
    }
}

/// Returns the records by name and type.
fn record_sets(section: &[Record]) -> BTreeMap<(Name, RecordType), Vec<Record>> {
    let mut sets: BTreeMap<_, Vec<Record>> = BTreeMap::new();
    for record in section {
        sets.entry((record.name.clone(), record.record_type())).or_default().push(record.clone());
    }
    sets
}

/// Returns the name that a name is an alias of after all, as far as the records say.
fn end_of_aliases<'a>(name: &'a Name, records: &'a [Record]) -> &'a Name {
    let mut end = name;
    for record in records {
        if let RecordData::Cname(canonical) = &record.data
            && record.name == *end
        {
            end = canonical;
        }
    }
    end
}

fn addresses(records: &[Record]) -> Vec<Ipv4Addr> {
    let address = |record: &Record| match record.data {
        RecordData::A(address) => Some(address),
        _ => None,
    };
    records.iter().filter_map(address).collect()
}
