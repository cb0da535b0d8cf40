//! How test cases are drawn: a tree of names, cut into zones, with servers and queries.

use std::net::{Ipv4Addr, Ipv6Addr};
use std::sync::Arc;

use simutant_sim_core::Random;
use simutant_system::Domain;

use super::record::Soa;
use super::validation::{PROBABILITIES, QUERIES, SERVERS, STUBS, ZONES};
use super::{
    AnswerKind, AuthoritativeServer, Name, NameSpace, Question, Record, RecordData, RecordType, StubQuery, TestCase,
    Zone,
};

/// Labels of names. None of them is reserved, and none is used twice in a name space, so that names are in the zones
/// that they were made for.
const WORDS: [&str; 56] = [
    "alder", "amber", "aspen", "atlas", "basil", "beech", "birch", "cedar", "clover", "cobalt", "coral", "cypress",
    "daisy", "delta", "dune", "elder", "ember", "falcon", "fern", "flint", "garnet", "gecko", "hazel", "heron", "iris",
    "ivory", "jade", "juniper", "kelp", "larch", "lilac", "linden", "lotus", "maple", "marble", "mint", "moss",
    "myrtle", "nettle", "onyx", "opal", "orchid", "otter", "pearl", "pine", "poplar", "quartz", "raven", "robin",
    "rowan", "sage", "sorrel", "spruce", "thyme", "tulip", "willow",
];

/// Times to live: some end between two queries, some never do.
const TTLS: [u32; 6] = [0, 1, 2, 5, 60, 3_600];

/// Times to live of what leads to servers, and of what is not there.
const SERVER_TTLS: [u32; 4] = [2, 5, 60, 3_600];

/// The longest time between two queries. Twelve queries take 11 s on the average, as real runs of the thesis did.
const GAP_MS_MAX: u64 = 2_000;

/// Hosts and servers have addresses for tests of benchmarks (RFC 2544), which real resolvers neither have zones of
/// their own for nor keep back, as they do with those for private networks and for documentation.
fn address(subnet: u8, host: u8) -> Ipv4Addr {
    Ipv4Addr::new(198, 18, subnet, host)
}

pub(super) fn sample(random: &mut Random) -> TestCase {
    let (drop, duplicate) = (PROBABILITIES.draw(random), PROBABILITIES.draw(random));
    let zone_count = ZONES.draw(random);
    let server_count = SERVERS.draw(random);
    let query_count = QUERIES.draw(random);
    let stub_count = STUBS.draw(random);
    let pointers = *random.choose(&Pointers::ALL).expect("there are three");
    let seed = random.bits();
    let mut words = WORDS.to_vec();
    random.shuffle(&mut words);
    let name_space = NameSpace { zones: Vec::new() };
    let mut draft = Draft { random, words, name_space, hosts: Vec::new(), aliases: Vec::new() };
    draft.cut(zone_count, pointers);
    let servers = draft.serve(server_count);
    draft.populate(pointers);
    draft.link();
    let Draft { random, words, name_space, .. } = draft;
    let mut queries = Queries { random, unused: words, name_space: &name_space, drawn: Vec::new() };
    queries.draw(query_count, stub_count);
    let queries = queries.drawn;
    TestCase { name_space, servers, queries, drop, duplicate, seed }
}

/// Where the names of addresses are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Pointers {
    /// There are none.
    None,
    /// In the zone of the root.
    InRoot,
    /// In a zone of their own.
    InZone,
}

impl Pointers {
    const ALL: [Self; 3] = [Self::None, Self::InRoot, Self::InZone];
    const APEX: &'static str = "18.198.in-addr.arpa.";
}

/// A name space in the making.
struct Draft<'a> {
    random: &'a mut Random,
    /// Labels that are not used yet.
    words: Vec<&'static str>,
    /// The zones. Those that delegate others come before these.
    name_space: NameSpace,
    /// Names with addresses, and their first addresses.
    hosts: Vec<(Name, Ipv4Addr)>,
    /// Names that are to be aliases, with their zones.
    aliases: Vec<(usize, Name)>,
}

impl Draft<'_> {
    /// Makes the zones, without records.
    fn cut(&mut self, zone_count: usize, pointers: Pointers) {
        let mut apexes = vec![Name::root()];
        let others = if pointers == Pointers::InZone && zone_count > 2 { zone_count - 1 } else { zone_count };
        while apexes.len() < others {
            let above = apexes[self.random.uniform(0..apexes.len())].clone();
            apexes.push(self.name_below(&above));
        }
        if others < zone_count {
            apexes.push(Pointers::APEX.parse().expect("it is a name"));
        }
        self.name_space.zones = apexes.into_iter().map(|apex| Zone { apex, records: Vec::new() }).collect();
    }

    /// Returns a new name below another one: one time in four, with an empty one between them.
    fn name_below(&mut self, above: &Name) -> Name {
        let between = if self.random.uniform(0..4_u8) == 0 { above.child(self.word()) } else { Ok(above.clone()) };
        between.and_then(|above| above.child(self.word())).expect("words are labels, and few")
    }

    fn word(&mut self) -> &'static str {
        self.words.pop().expect("there are more words than names")
    }

    /// Assigns each zone to servers, and gives zones their SOA and NS records, glue included.
    fn serve(&mut self, server_count: usize) -> Vec<AuthoritativeServer> {
        let mut serving: Vec<Vec<usize>> = vec![Vec::new(); server_count];
        for zone in 0..self.name_space.zones.len() {
            let mut servers: Vec<usize> = (0..server_count).collect();
            self.random.shuffle(&mut servers);
            let count = self.random.uniform(1..=usize::min(server_count, 3));
            servers[..count].iter().for_each(|&server| serving[server].push(zone));
        }
        serving.retain(|zones| !zones.is_empty());
        // A server has its name in the first of its zones, or in one before. So whoever looks for its address needs
        // only zones before the others.
        let mut hosts = Vec::new();
        for (zones, number) in serving.iter().zip(1..) {
            let home = if self.random.uniform(0..2_u8) == 0 { zones[0] } else { self.random.uniform(0..=zones[0]) };
            let host = self.name_space.zones[home].apex.child(&format!("ns{number}")).expect("it is a name");
            let record = Record { name: host, ttl: self.server_ttl(), data: RecordData::A(address(0, number)) };
            self.name_space.zones[home].records.push(record.clone());
            hosts.push((home, record));
        }
        for zone in 0..self.name_space.zones.len() {
            self.delegate(zone, &serving, &hosts);
        }
        serving.iter_mut().for_each(|zones| self.random.shuffle(zones));
        let server = |(zones, number): (&Vec<usize>, u8)| AuthoritativeServer {
            address: address(0, number),
            zones: zones.iter().map(|&zone| self.name_space.zones[zone].apex.clone()).collect(),
        };
        serving.iter().zip(1..).map(server).collect()
    }

    /// Gives a zone its SOA and NS records, and the zone above it copies of what leads to it.
    fn delegate(&mut self, zone: usize, serving: &[Vec<usize>], hosts: &[(usize, Record)]) {
        let apex = self.name_space.zones[zone].apex.clone();
        let ttl = self.server_ttl();
        let own = hosts.iter().zip(serving).filter(|(_, zones)| zones.contains(&zone));
        let own: Vec<&(usize, Record)> = own.map(|(host, _)| host).collect();
        let ns =
            |(_, host): &&(usize, Record)| Record { name: apex.clone(), ttl, data: RecordData::Ns(host.name.clone()) };
        let servers: Vec<Record> = own.iter().map(ns).collect();
        let soa = Soa {
            mname: own[0].1.name.clone(),
            rname: apex.child("hostmaster").expect("it is a name"),
            serial: 1,
            refresh: 3_600,
            retry: 600,
            expire: 86_400,
            minimum: self.server_ttl(),
        };
        let soa = Record { name: apex.clone(), ttl: self.server_ttl(), data: RecordData::Soa(Arc::new(soa)) };
        let glue = own.iter().filter(|&&&(home, _)| home == zone).map(|(_, host)| host.clone());
        let glue: Vec<Record> = glue.collect();
        let parent = self.name_space.parent_of(&self.name_space.zones[zone]).map(|parent| parent.apex.clone());
        if let Some(parent) = self.name_space.zones.iter_mut().find(|zone| Some(&zone.apex) == parent.as_ref()) {
            parent.records.extend(servers.iter().cloned().chain(glue));
        }
        let records = &mut self.name_space.zones[zone].records;
        let below = std::mem::take(records);
        records.extend(std::iter::once(soa).chain(servers).chain(below));
    }

    /// Gives zones names, and these addresses, texts and so on.
    fn populate(&mut self, pointers: Pointers) {
        for zone in 0..self.name_space.zones.len() {
            let apex = self.name_space.zones[zone].apex.clone();
            if apex.as_str() == Pointers::APEX {
                continue;
            }
            // A service whose host is the root is not there, and neither is mail (RFC 2782, RFC 7505): so the root is
            // no host.
            if self.random.uniform(0..3_u8) == 0 && !apex.is_root() {
                self.add_host(zone, &apex);
            }
            for index in 0..self.random.uniform(1..=4) {
                let name = self.name_below(&apex);
                // The first name of the first zone below the root is a host, so that there is one.
                match self.random.uniform(0..8_u8) {
                    5.. if (zone, index) != (1, 0) => self.aliases.push((zone, name)),
                    _ => self.add_host(zone, &name),
                }
            }
        }
        let place = self.name_space.zones.iter().position(|zone| zone.apex.as_str() == Pointers::APEX);
        if pointers != Pointers::None {
            self.point(place.unwrap_or(0));
        }
    }

    fn add_host(&mut self, zone: usize, name: &Name) {
        let number = self.hosts.len() as u8 + 1;
        let ttl = self.ttl();
        let count = self.random.uniform(1..=3);
        for subnet in 1..=count {
            self.add(zone, name, ttl, RecordData::A(address(subnet, number)));
        }
        self.hosts.push((name.clone(), address(1, number)));
        if self.random.uniform(0..2_u8) == 0 {
            let ttl = self.ttl();
            let address = Ipv6Addr::new(0x2001, 2, 0, 0, 0, 0, 0, number.into());
            self.add(zone, name, ttl, RecordData::Aaaa(address));
        }
        if self.random.uniform(0..4_u8) == 0 {
            let ttl = self.ttl();
            let cpu = *self.random.choose(&["PDP-11", "VAX 780", "ARM64"]).expect("there are some");
            self.add(zone, name, ttl, RecordData::Hinfo(cpu.into(), "UNIX".into()));
        }
        if self.random.uniform(0..4_u8) == 0 {
            let ttl = self.ttl();
            // One time in three too long for a datagram, even for one of 1,232 bytes, which servers of today agree on.
            let count = if self.random.uniform(0..3_u8) == 0 { 8 } else { 1 };
            let texts = (1..=count).map(|part| match count {
                1 => format!("{name} is a host"),
                _ => format!("part {part} of {count} of {name}: {}", "and so on ".repeat(15)),
            });
            let texts: Vec<String> = texts.collect();
            self.add(zone, name, ttl, RecordData::Txt(texts.into()));
        }
    }

    /// Gives addresses their names.
    fn point(&mut self, zone: usize) {
        for (host, address) in self.hosts.clone() {
            let [first, second, third, fourth] = address.octets();
            let name = format!("{fourth}.{third}.{second}.{first}.in-addr.arpa.");
            let ttl = self.ttl();
            self.add(zone, &name.parse().expect("it is a name"), ttl, RecordData::Ptr(host));
        }
    }

    /// Adds what leads from names to others: aliases, mail exchanges, services.
    fn link(&mut self) {
        for zone in 0..self.name_space.zones.len() {
            let apex = self.name_space.zones[zone].apex.clone();
            if apex.as_str() != Pointers::APEX && !apex.is_root() && self.random.uniform(0..2_u8) == 0 {
                self.add_exchanges(zone, &apex);
            }
        }
        for (name, _) in self.hosts.clone() {
            let owner = self.name_space.zone_of(&name).apex.clone();
            let zone = self.name_space.zones.iter().position(|zone| zone.apex == owner).expect("it is one of them");
            let has_mail = self.name_space.zones[zone]
                .records
                .iter()
                .any(|record| record.name == name && record.record_type() == RecordType::Mx);
            if !has_mail && self.random.uniform(0..4_u8) == 0 {
                self.add_exchanges(zone, &name);
            }
            if self.random.uniform(0..4_u8) == 0 {
                let service = name.child("_http._tcp").expect("it is a name");
                let (ttl, target) = (self.ttl(), self.host());
                let (priority, weight) = (self.random.uniform(0..=2), self.random.uniform(0..=10));
                self.add(zone, &service, ttl, RecordData::Srv(priority, weight, 80, target));
            }
        }
        let mut before: Vec<Name> = Vec::new();
        for (zone, name) in std::mem::take(&mut self.aliases) {
            // After four aliases, the chain begins anew.
            if before.len() == 4 {
                before.clear();
            }
            let canonical = match self.random.uniform(0..10_u8) {
                0 => self.host().child("nobody").expect("it is a name"),
                1..=5 => before.last().cloned().unwrap_or_else(|| self.host()),
                _ => self.host(),
            };
            let ttl = self.ttl();
            before.push(name.clone());
            self.add(zone, &name, ttl, RecordData::Cname(canonical));
        }
    }

    fn add_exchanges(&mut self, zone: usize, name: &Name) {
        let mut hosts: Vec<Name> = self.hosts.iter().map(|(host, _)| host.clone()).collect();
        self.random.shuffle(&mut hosts);
        let ttl = self.ttl();
        for (host, preference) in hosts.into_iter().take(self.random.uniform(1..=3)).zip([10, 10, 20]) {
            self.add(zone, name, ttl, RecordData::Mx(preference, host));
        }
    }

    fn add(&mut self, zone: usize, name: &Name, ttl: u32, data: RecordData) {
        self.name_space.zones[zone].records.push(Record { name: name.clone(), ttl, data });
    }

    fn host(&mut self) -> Name {
        self.random.choose(&self.hosts).expect("there is a host").0.clone()
    }

    fn ttl(&mut self) -> u32 {
        *self.random.choose(&TTLS).expect("there are some")
    }

    fn server_ttl(&mut self) -> u32 {
        *self.random.choose(&SERVER_TTLS).expect("there are some")
    }
}

/// Queries in the making.
struct Queries<'a> {
    random: &'a mut Random,
    /// Labels that no name has.
    unused: Vec<&'static str>,
    name_space: &'a NameSpace,
    drawn: Vec<StubQuery>,
}

impl Queries<'_> {
    fn draw(&mut self, count: usize, stub_count: u8) {
        let names = self.name_space.names();
        let mut start_ms = 0;
        for _ in 0..count {
            // Of ten queries, about four are of valid mappings, two of unknown names, and two of types that their names
            // have not; the others were asked before.
            let repeated = self.random.choose(&self.drawn).map(StubQuery::question);
            let question = match (self.random.uniform(0..10_u8), repeated) {
                (0 | 1, Some(question)) => question,
                (2 | 3, _) => self.unknown(&names),
                (4 | 5, _) => self.existing(&names, AnswerKind::NoData).expect("some names have no NS records"),
                _ => self.existing(&names, AnswerKind::Valid).expect("some names have NS records"),
            };
            let stub = self.random.uniform(1..=stub_count);
            let Question { name, record_type } = question;
            self.drawn.push(StubQuery { stub, start_ms, name, record_type });
            start_ms += self.random.uniform(0..=GAP_MS_MAX);
        }
    }

    /// Returns a question of a name that exists and of a type, each equally likely, whose answer is of this kind, if
    /// there are such.
    fn existing(&mut self, names: &[Name], kind: AnswerKind) -> Option<Question> {
        let mut types = RecordType::ALL;
        self.random.shuffle(&mut types);
        for record_type in types {
            let questions = names.iter().map(|name| Question { name: name.clone(), record_type });
            let fitting: Vec<_> =
                questions.filter(|question| self.name_space.answer(question).kind() == kind).collect();
            if let Some(question) = self.random.choose(&fitting) {
                return Some(question.clone());
            }
        }
        None
    }

    /// Returns a question of a name that does not exist, below one that does; or of an alias of such a name.
    fn unknown(&mut self, names: &[Name]) -> Question {
        if self.random.uniform(0..4_u8) == 0
            && let Some(question) = self.existing(names, AnswerKind::NameError)
        {
            return question;
        }
        let record_type = *self.random.choose(&RecordType::ALL).expect("there are ten");
        let above = self.random.choose(names).expect("there is the root");
        // The second of two such questions may be of the first one's name.
        let label = self.unused[self.random.uniform(0..usize::min(self.unused.len(), 2))];
        let name = above.child(label).expect("it is a name");
        Question { name, record_type }
    }
}
