//! Which test cases are in the domain: those that real servers load, and whose questions can be answered.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;
use std::ops::RangeInclusive;

use simutant_system::{Domain, InvalidTestCase, Lengths, Probabilities};

use super::name_space::is_at_or_below;
use super::{Name, NameSpace, Record, RecordData, RecordType, TestCase, Zone};

/// How many zones there are.
pub(super) const ZONES: Lengths = Lengths(2..=5);

/// How many servers there are.
pub(super) const SERVERS: Lengths = Lengths(1..=4);

/// How many queries there are.
pub(super) const QUERIES: Lengths = Lengths(1..=12);

/// The numbers of stubs.
pub(super) const STUBS: RangeInclusive<u8> = 1..=3;

/// The latest query: a real run takes as long.
pub(super) const START_MS_MAX: u64 = 60_000;

/// The probabilities of a loss, and of a duplication.
pub(super) const PROBABILITIES: Probabilities = Probabilities::up_to(0.20);

/// The longest time to live: a week.
const TTL_MAX: u32 = 604_800;

/// The most aliases on the way to a record: some real resolvers give up after eight.
pub(super) const ALIASES_MAX: usize = 7;

/// How many records a zone has.
const RECORDS: Lengths = Lengths(1..=200);

/// Checks that real servers would load the zones, and that their questions can be answered.
pub(super) fn validate(case: &TestCase) -> Result<(), InvalidTestCase> {
    validate_zones(&case.name_space)?;
    for (index, zone) in case.name_space.zones.iter().enumerate() {
        let field = format!("zones[{index}]");
        Records { case, zone, field: &field }.validate()?;
    }
    validate_servers(case)?;
    validate_reachability(&case.name_space)?;
    validate_queries(case)?;
    PROBABILITIES.check("drop", &case.drop)?;
    PROBABILITIES.check("duplicate", &case.duplicate)
}

fn refuse(field: impl Into<String>, value: impl ToString, allowed: impl Into<String>) -> Result<(), InvalidTestCase> {
    Err(InvalidTestCase::new(field, value, allowed))
}

fn validate_zones(name_space: &NameSpace) -> Result<(), InvalidTestCase> {
    let zones = &name_space.zones;
    ZONES.check("zones", &zones.len())?;
    if !zones[0].apex.is_root() {
        return refuse("zones[0].apex", &zones[0].apex, "., since the first zone is the root's");
    }
    for (index, zone) in zones.iter().enumerate() {
        let is_apex = |record: &&Record| record.name == zone.apex && record.record_type() == RecordType::Soa;
        if zones[..index].iter().any(|other| other.apex == zone.apex) {
            return refuse(format!("zones[{index}].apex"), &zone.apex, "another one than that of the zones before");
        }
        let soas = zone.records.iter().filter(is_apex).count();
        if soas != 1 {
            return refuse(
                format!("zones[{index}].records"),
                format!("a list with {soas} SOA records of the apex"),
                "one with one",
            );
        }
        if zone.servers().next().is_none() {
            return refuse(format!("zones[{index}].records"), "a list without NS records of the apex", "one with some");
        }
        RECORDS.check(format!("zones[{index}].records"), &zone.records.len())?;
    }
    Ok(())
}

/// The records of a zone.
struct Records<'a> {
    case: &'a TestCase,
    zone: &'a Zone,
    field: &'a str,
}

impl Records<'_> {
    fn validate(&self) -> Result<(), InvalidTestCase> {
        for (index, record) in self.zone.records.iter().enumerate() {
            let allowed = self.first_fault(&self.zone.records[..index], record);
            if let Some(allowed) = allowed {
                return refuse(format!("{}.records[{index}]", self.field), record, allowed);
            }
        }
        self.validate_delegation()
    }

    /// Returns what the record must be instead, if it cannot be as it is after those before it.
    fn first_fault(&self, before: &[Record], record: &Record) -> Option<String> {
        let (name_space, zone) = (&self.case.name_space, self.zone);
        let record_type = record.record_type();
        if record.ttl > TTL_MAX {
            return Some(format!("one with a time to live of at most {TTL_MAX}"));
        }
        if !is_at_or_below(&record.name, &zone.apex) {
            return Some(format!("one of a name at or below {}", zone.apex));
        }
        if before.contains(record) {
            return Some("another one than those before".to_owned());
        }
        let mut same_name = before.iter().filter(|other| other.name == record.name);
        if let Some(other) = same_name.find(|other| other.record_type() == record_type && other.ttl != record.ttl) {
            return Some(format!(
                "one with a time to live of {}, like the others of its name and type (RFC 2181, 5.2)",
                other.ttl
            ));
        }
        let mut same_name = before.iter().filter(|other| other.name == record.name);
        if same_name.any(|other| RecordType::Cname == record_type || RecordType::Cname == other.record_type()) {
            return Some("one of another name, since an alias has nothing else (RFC 1034, 3.6.2)".to_owned());
        }
        if has_service_label(&record.name) && !matches!(record_type, RecordType::Srv | RecordType::Txt) {
            return Some("one of a host, whose name has no underscore".to_owned());
        }
        let owner = name_space.zone_of(&record.name);
        if owner.apex != zone.apex {
            return self.first_fault_of_delegation(owner, record);
        }
        let is_apex = record.name == zone.apex;
        match &record.data {
            RecordData::Soa(_) if !is_apex => Some("one of the apex, as there is no SOA record elsewhere".to_owned()),
            RecordData::Soa(soa) if !zone.servers().any(|server| server.data.host() == Some(&soa.mname)) => {
                Some("one with a server of the zone as its host".to_owned())
            }
            RecordData::Soa(soa) if soa.minimum > TTL_MAX => {
                Some(format!("one with a time of negative caching of at most {TTL_MAX}"))
            }
            RecordData::Ns(_) if !is_apex => Some("one of a name at which another zone begins".to_owned()),
            RecordData::Cname(_) => self.first_fault_of_alias(record),
            RecordData::Ptr(host) => self.first_fault_of_host(host),
            data => data.host().and_then(|host| self.first_fault_of_host(host)),
        }
    }

    /// Returns what a record of a name in another zone must be instead, if it neither delegates that zone nor is glue.
    fn first_fault_of_delegation(&self, child: &Zone, record: &Record) -> Option<String> {
        let parent = self.case.name_space.parent_of(child);
        let is_delegated_here = parent.is_some_and(|parent| parent.apex == self.zone.apex);
        let is_ns = record.record_type() == RecordType::Ns && record.name == child.apex;
        let is_glue = record.record_type() == RecordType::A && is_server(child, &record.name);
        if is_delegated_here && (is_ns || is_glue) && child.records.contains(record) {
            return None;
        }
        Some(format!(
            "in the zone {}, or be a copy of the NS records of its apex, or of their addresses below it",
            child.apex
        ))
    }

    /// Checks that the zone is delegated, with its glue.
    fn validate_delegation(&self) -> Result<(), InvalidTestCase> {
        let Some(parent) = self.case.name_space.parent_of(self.zone) else { return Ok(()) };
        let zone = self.zone;
        let glue = zone.records.iter().filter(|record| {
            let is_below = is_at_or_below(&record.name, &zone.apex);
            record.record_type() == RecordType::A && is_below && is_server(zone, &record.name)
        });
        match zone.servers().chain(glue).find(|record| !parent.records.contains(record)) {
            Some(missing) => {
                let index = self.case.name_space.zones.iter().position(|zone| zone.apex == parent.apex);
                let field = format!("zones[{}].records", index.expect("it is one of them"));
                refuse(field, format!("a list without {missing}"), format!("one with it, to delegate {}", zone.apex))
            }
            None => Ok(()),
        }
    }

    /// Returns what is wrong with where an alias leads.
    fn first_fault_of_alias(&self, record: &Record) -> Option<String> {
        let mut record = record;
        for _ in 0..ALIASES_MAX {
            let RecordData::Cname(name) = &record.data else { unreachable!("only aliases are followed") };
            let mut records = self.case.name_space.zone_of(name).records.iter();
            match records.find(|other| other.name == *name && other.record_type() == RecordType::Cname) {
                Some(next) => record = next,
                None => return None,
            }
        }
        Some(format!("one from which at most {ALIASES_MAX} aliases lead to another name"))
    }

    /// Returns what is wrong with the host that a record points to: it is to have an address of its own.
    fn first_fault_of_host(&self, host: &Name) -> Option<String> {
        if host.is_root() {
            return Some(
                "one that points to another host than the root, which stands for none (RFC 2782, RFC 7505)".to_owned(),
            );
        }
        let zone = self.case.name_space.zone_of(host);
        let has_address = zone.addresses(host).next().is_some();
        (!has_address)
            .then(|| "one that points to a host with an A record, and to no alias (RFC 2181, 10.3)".to_owned())
    }
}

/// Returns whether a name is that of a host of the zone's servers.
fn is_server(zone: &Zone, name: &Name) -> bool {
    zone.servers().any(|server| server.data.host() == Some(name))
}

fn has_service_label(name: &Name) -> bool {
    name.labels().any(|label| label.starts_with('_'))
}

fn validate_servers(case: &TestCase) -> Result<(), InvalidTestCase> {
    SERVERS.check("servers", &case.servers.len())?;
    for (index, server) in case.servers.iter().enumerate() {
        if case.servers[..index].iter().any(|other| other.address == server.address) {
            return refuse(format!("servers[{index}].address"), server.address, "another one than those before");
        }
        if server.zones.is_empty() {
            return refuse(format!("servers[{index}].zones"), "an empty list", "one of zones");
        }
        for (place, apex) in server.zones.iter().enumerate() {
            let is_known = case.name_space.zones.iter().any(|zone| zone.apex == *apex);
            if !is_known || server.zones[..place].contains(apex) {
                return refuse(format!("servers[{index}].zones[{place}]"), apex, "the apex of a zone, once");
            }
        }
    }
    for (index, zone) in case.name_space.zones.iter().enumerate() {
        let mut named = BTreeSet::new();
        for server in zone.servers() {
            let host = server.data.host().expect("an NS record has one");
            let owner = case.name_space.zone_of(host);
            let addresses: Vec<&Record> = owner.addresses(host).collect();
            let [Record { data: RecordData::A(address), .. }] = addresses[..] else {
                return refuse(
                    format!("zones[{index}].records"),
                    server,
                    "one that points to a host with one A record",
                );
            };
            if owner.records.iter().any(|record| record.name == *host && record.record_type() == RecordType::Aaaa) {
                return refuse(
                    format!("zones[{index}].records"),
                    server,
                    "one that points to a host without AAAA records",
                );
            }
            named.insert(*address);
        }
        let serving: BTreeSet<Ipv4Addr> = case.servers_of(zone).map(|server| server.address).collect();
        if named != serving {
            let allowed = format!("those of the servers of the zone, which are {serving:?}");
            return refuse(format!("zones[{index}].records"), format!("a list with NS records to {named:?}"), allowed);
        }
    }
    Ok(())
}

/// Checks that each zone can be reached from the root: its servers have their names in it, or in zones that can be
/// reached without it.
fn validate_reachability(name_space: &NameSpace) -> Result<(), InvalidTestCase> {
    let mut reached = BTreeSet::from([&name_space.zones[0].apex]);
    for _ in 0..name_space.zones.len() {
        for zone in &name_space.zones {
            let is_parent_reached = name_space.parent_of(zone).is_none_or(|parent| reached.contains(&parent.apex));
            let mut hosts = zone.servers().filter_map(|server| server.data.host());
            let are_found = hosts.all(|host| {
                let owner = &name_space.zone_of(host).apex;
                *owner == zone.apex || reached.contains(owner)
            });
            if is_parent_reached && are_found {
                reached.insert(&zone.apex);
            }
        }
    }
    // The root's servers are known by the hints, but resolvers ask for their addresses again.
    for (index, zone) in name_space.zones.iter().enumerate() {
        let mut hosts = zone.servers().filter_map(|server| server.data.host());
        let is_root_served_elsewhere =
            zone.apex.is_root() && hosts.any(|host| !name_space.zone_of(host).apex.is_root());
        if !reached.contains(&zone.apex) || is_root_served_elsewhere {
            let allowed = "one whose hosts are in the zone itself, or in zones that can be reached without it";
            return refuse(format!("zones[{index}].records"), "a list of which NS records lead in a circle", allowed);
        }
    }
    Ok(())
}

fn validate_queries(case: &TestCase) -> Result<(), InvalidTestCase> {
    QUERIES.check("queries", &case.queries.len())?;
    let mut earliest = 0;
    for (index, query) in case.queries.iter().enumerate() {
        STUBS.check(format!("queries[{index}].stub"), &query.stub)?;
        if !(earliest..=START_MS_MAX).contains(&query.start_ms) {
            let allowed = format!("from {earliest} to {START_MS_MAX}, and none before those before it");
            return refuse(format!("queries[{index}].start_ms"), query.start_ms, allowed);
        }
        earliest = query.start_ms;
    }
    Ok(())
}
