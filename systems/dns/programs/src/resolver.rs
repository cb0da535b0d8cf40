//! How a resolver finds what a client asks for (RFC 1034, section 5.3.3).

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

use super::behaviour::{Behaviour, Denial};
use super::cache::{Cache, Trust};
use super::hints::Hints;
use super::message::{Message, NAME_ERROR, NO_ERROR, Question, Record, SERVER_FAILURE, Type};
use super::name::Name;

/// How many aliases are followed.
const ALIASES_MAX: usize = 16;

/// How many exchanges a question of a client may cost (RFC 1035, section 7.1).
const EXCHANGES_MAX: u32 = 60;

/// How many look-ups of servers may be within each other.
const DEPTH_MAX: usize = 8;

/// Who carries queries to servers, and has a clock.
pub trait Network {
    /// Returns the time since the start.
    fn now(&self) -> Duration;

    /// Asks servers, one after the other and again, and returns the first response: `None` if none comes.
    fn exchange(&mut self, servers: &[Ipv4Addr], question: &Question) -> Option<Asked>;
}

/// A response, and whose it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    /// The server.
    pub server: Ipv4Addr,
    /// What it said.
    pub response: Message,
}

/// What a client is told.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// The response code.
    pub rcode: u8,
    /// The aliases, and the records that were asked for.
    pub answer: Vec<Record>,
    /// The SOA record that says for how long something is not there.
    pub authority: Vec<Record>,
}

impl Answer {
    fn of(rcode: u8) -> Self {
        Self { rcode, answer: Vec::new(), authority: Vec::new() }
    }
}

/// A resolver, which many may ask at once.
#[derive(Debug)]
pub struct Resolver {
    hints: Hints,
    behaviour: &'static dyn Behaviour,
    cache: Mutex<Cache>,
    /// The names of all aliases that were followed, question by question.
    followed: Mutex<Vec<Name>>,
    /// Whole answers, and when they were found.
    answers: Mutex<BTreeMap<Question, (Answer, Duration)>>,
}

impl Resolver {
    /// Returns a resolver that knows nothing but its hints.
    pub fn new(hints: Hints, behaviour: &'static dyn Behaviour) -> Self {
        Self {
            hints,
            behaviour,
            cache: Mutex::new(Cache::new(behaviour)),
            followed: Mutex::default(),
            answers: Mutex::default(),
        }
    }

    /// Returns the answer to the question of a client.
    pub fn resolve(&self, question: &Question, network: &mut dyn Network) -> Answer {
        let now = network.now();
        let known = lock(&self.answers).get(question).cloned();
        let repeated = known.and_then(|(answer, since)| self.behaviour.repeats(&answer, now.saturating_sub(since)));
        if let Some(answer) = repeated {
            return answer;
        }
        let mut search = Search { resolver: self, network, exchanges_left: EXCHANGES_MAX, zones: Vec::new() };
        let answer = search.follow(question);
        if answer.rcode != SERVER_FAILURE {
            lock(&self.answers).insert(question.clone(), (answer.clone(), search.network.now()));
        }
        answer
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().expect("nothing panics with the lock")
}

/// The search for the answer to one question of a client.
struct Search<'a> {
    resolver: &'a Resolver,
    network: &'a mut dyn Network,
    exchanges_left: u32,
    /// The zones whose servers are being looked up.
    zones: Vec<Name>,
}

/// What was found of one name and type.
enum Found {
    Records(Vec<Record>),
    /// The record, and the name that it leads to.
    Alias(Record, Name),
    Nothing(Denial),
    /// No server said anything.
    Silence,
    /// What was said is of no use.
    Failure,
}

/// A zone, and what is known of its servers.
struct Zone {
    name: Name,
    /// The addresses that are known.
    addresses: Vec<Ipv4Addr>,
    /// The servers whose addresses are not.
    hosts: Vec<Name>,
}

/// What a response says.
enum Said {
    Found(Found),
    Referral(Name),
}

impl Search<'_> {
    /// Follows aliases to the end.
    fn follow(&mut self, question: &Question) -> Answer {
        let behaviour = self.resolver.behaviour;
        let before = lock(&self.resolver.followed).clone();
        let mut chain: Vec<Record> = Vec::new();
        let mut asked = question.clone();
        loop {
            match self.find(&asked) {
                Found::Records(records) => {
                    chain.retain(|alias| behaviour.shows_alias(alias, NO_ERROR));
                    chain.extend(records);
                    return Answer { answer: chain, ..Answer::of(NO_ERROR) };
                }
                Found::Alias(alias, canonical) => {
                    chain.push(alias);
                    if behaviour.is_loop(&canonical, &chain, &before) || behaviour.ends_chain(&chain) {
                        return Answer { answer: chain, ..Answer::of(NO_ERROR) };
                    }
                    if chain.len() > ALIASES_MAX {
                        return Answer::of(SERVER_FAILURE);
                    }
                    lock(&self.resolver.followed).push(canonical.clone());
                    asked.name = canonical;
                }
                Found::Nothing(denial) => {
                    let name = behaviour.denied_name(&question.name, &asked.name);
                    if *name != asked.name {
                        let denied = Question { name: name.clone(), of: question.of };
                        self.cache().deny(&denied, &denial, self.network.now());
                    }
                    chain.retain(|alias| behaviour.shows_alias(alias, denial.rcode));
                    return Answer { rcode: denial.rcode, answer: chain, authority: vec![denial.soa] };
                }
                Found::Silence => return Answer::of(behaviour.rcode_of_silence()),
                Found::Failure => return Answer::of(behaviour.rcode_of_failure()),
            }
        }
    }

    /// Finds records of a name and type, without following aliases: in the cache, or else from servers, down from the
    /// nearest ones that are known.
    fn find(&mut self, question: &Question) -> Found {
        if let Some(found) = self.remembered(question) {
            return found;
        }
        let mut zone = self.nearest(&question.name);
        let mut may_begin_anew = !zone.name.is_root();
        loop {
            match self.ask(&mut zone, question) {
                Ok(Said::Found(found)) => return found,
                Ok(Said::Referral(name)) => zone = self.known(&name),
                // What is remembered of servers may be too little, since some of it ends before the rest does.
                Err(Found::Failure) if std::mem::take(&mut may_begin_anew) => zone = self.root(),
                Err(failed) => return failed,
            }
        }
    }

    fn remembered(&self, question: &Question) -> Option<Found> {
        let now = self.network.now();
        let mut cache = self.cache();
        if let Some(denial) = cache.denial(question, now) {
            return Some(Found::Nothing(denial));
        }
        if let Some(records) = cache.records(question, Trust::Answer, now) {
            return Some(Found::Records(records));
        }
        let alias = Question { of: Type::CNAME, ..question.clone() };
        alias_in(cache.records(&alias, Trust::Answer, now)?, &question.name)
    }

    /// Returns the nearest zone above a name whose servers can be asked: the root's in the end.
    fn nearest(&self, name: &Name) -> Zone {
        let zones = name.upwards().filter(|name| !name.is_root()).map(|name| self.known(&name));
        let found = { zones }.find(|zone| {
            // To look its servers up must not take its servers.
            let may_look_up = self.resolver.behaviour.looks_up_servers() && !self.zones.contains(&zone.name);
            !zone.addresses.is_empty() || may_look_up && zone.hosts.iter().any(|host| !host.is_at_or_below(&zone.name))
        });
        found.unwrap_or_else(|| self.root())
    }

    fn root(&self) -> Zone {
        Zone { name: Name::root(), addresses: self.resolver.hints.0.clone(), hosts: Vec::new() }
    }

    /// Returns what is known of the servers of the zone that begins at `name`, if one does.
    fn known(&self, name: &Name) -> Zone {
        let now = self.network.now();
        let mut cache = self.cache();
        let servers = Question { name: name.clone(), of: Type::NS };
        let servers = cache.records(&servers, Trust::Additional, now).unwrap_or_default();
        let mut zone = Zone { name: name.clone(), addresses: Vec::new(), hosts: Vec::new() };
        for host in servers.iter().filter_map(Record::target) {
            let addresses = Question { name: host.clone(), of: Type::A };
            match cache.records(&addresses, Trust::Additional, now) {
                Some(records) => zone.addresses.extend(records.iter().filter_map(Record::address)),
                None => zone.hosts.push(host),
            }
        }
        zone
    }

    /// Asks servers of a zone until one says something that is of use.
    fn ask(&mut self, zone: &mut Zone, question: &Question) -> Result<Said, Found> {
        let mut failed = Found::Failure;
        loop {
            while zone.addresses.is_empty() {
                let host = zone.hosts.pop();
                let host = host.filter(|_| self.resolver.behaviour.looks_up_servers() && self.zones.len() < DEPTH_MAX);
                let Some(name) = host else { return Err(failed) };
                self.zones.push(zone.name.clone());
                if let Found::Records(records) = self.find(&Question { name, of: Type::A }) {
                    zone.addresses.extend(records.iter().filter_map(Record::address));
                }
                self.zones.pop();
            }
            self.exchanges_left = match self.exchanges_left.checked_sub(1) {
                Some(left) => left,
                None => return Err(Found::Failure),
            };
            let Some(Asked { server, response }) = self.network.exchange(&zone.addresses, question) else {
                zone.addresses.clear();
                failed = Found::Silence;
                continue;
            };
            match said(&zone.name, question, &response) {
                Some(said) => {
                    self.keep(&zone.name, question, &response);
                    return Ok(said);
                }
                None => zone.addresses.retain(|address| *address != server),
            }
        }
    }

    /// Keeps what a server of `zone` said, as far as it may speak of it.
    fn keep(&self, zone: &Name, question: &Question, response: &Message) {
        let now = self.network.now();
        let mut cache = self.cache();
        let (of_name, others): (Vec<Record>, Vec<Record>) =
            response.answer.iter().cloned().partition(|record| record.name == question.name);
        let trust = if response.is_authoritative { Trust::Answer } else { Trust::Additional };
        if !response.is_truncated {
            cache.keep(&of_name, trust, now);
        }
        let is_below = |record: &&Record| record.name.is_at_or_below(zone);
        let below = |records: &[Record], of: Type| -> Vec<Record> {
            records.iter().filter(is_below).filter(|record| record.of == of).cloned().collect()
        };
        cache.keep(&below(&others, Type::A), Trust::Additional, now);
        cache.keep(&below(&response.authority, Type::NS), Trust::Referral, now);
        cache.keep(&below(&response.additional, Type::A), Trust::Additional, now);
        if let Some(Said::Found(Found::Nothing(denial))) = said(zone, question, response) {
            cache.deny(question, &denial, now);
        }
    }

    fn cache(&self) -> MutexGuard<'_, Cache> {
        lock(&self.resolver.cache)
    }
}

/// Returns what a response of a server of `zone` says, `None` if it is of no use.
fn said(zone: &Name, question: &Question, response: &Message) -> Option<Said> {
    if ![NO_ERROR, NAME_ERROR].contains(&response.rcode) {
        return None;
    }
    let of_name = response.answer.iter().filter(|record| record.name == question.name);
    let records: Vec<Record> = of_name.clone().filter(|record| record.of == question.of).cloned().collect();
    if !records.is_empty() || response.is_truncated {
        return Some(Said::Found(Found::Records(records)));
    }
    if let Some(found) = alias_in(of_name.cloned().collect(), &question.name) {
        return Some(Said::Found(found));
    }
    let leads_here = |record: &&Record| question.name.is_at_or_below(&record.name) && record.name.is_at_or_below(zone);
    let authority = || response.authority.iter().filter(leads_here);
    if let Some(soa) = authority().find(|record| record.of == Type::SOA) {
        let soa = Record { ttl: soa.ttl.min(soa.minimum().unwrap_or_default()), ..soa.clone() };
        return Some(Said::Found(Found::Nothing(Denial { rcode: response.rcode, soa })));
    }
    let referral = authority().find(|record| record.of == Type::NS && record.name != *zone)?;
    Some(Said::Referral(referral.name.clone()))
}

/// Returns the alias among records, if there is one.
fn alias_in(records: Vec<Record>, name: &Name) -> Option<Found> {
    let alias = records.into_iter().find(|record| record.of == Type::CNAME && record.name == *name)?;
    let canonical = alias.target()?;
    Some(Found::Alias(alias, canonical))
}

#[cfg(test)]
mod tests {
    use super::super::behaviour::Correct;
    use super::*;

    const ROOT: Ipv4Addr = Ipv4Addr::new(127, 0, 1, 1);
    const OAK: Ipv4Addr = Ipv4Addr::new(127, 0, 1, 2);
    const ELM: Ipv4Addr = Ipv4Addr::new(127, 0, 1, 3);

    /// Servers with what they say to whom who asks, and what they were asked.
    struct Servers {
        now: Duration,
        says: fn(Ipv4Addr, &str, Type) -> Option<Message>,
        asked: Vec<String>,
    }

    impl Network for Servers {
        fn now(&self) -> Duration {
            self.now
        }

        fn exchange(&mut self, servers: &[Ipv4Addr], question: &Question) -> Option<Asked> {
            servers.iter().find_map(|&server| {
                self.asked.push(format!("{} {question}", server.octets()[3]));
                let response = (self.says)(server, &question.name.to_string(), question.of)?;
                Some(Asked { server, response: Message { question: question.clone(), ..response } })
            })
        }
    }

    fn name(text: &str) -> Name {
        text.parse().expect("it is a name")
    }

    fn record(owner: &str, of: Type, ttl: u32, data: Vec<u8>) -> Record {
        Record { name: name(owner), of, ttl, data }
    }

    fn to_name(owner: &str, of: Type, ttl: u32, target: &str) -> Record {
        let mut data = Vec::new();
        name(target).encode(&mut data);
        record(owner, of, ttl, data)
    }

    fn address(owner: &str, ttl: u32, address: Ipv4Addr) -> Record {
        record(owner, Type::A, ttl, address.octets().to_vec())
    }

    fn soa(owner: &str, ttl: u32, minimum: u8) -> Record {
        record(owner, Type::SOA, ttl, vec![0, 0, 0, 0, minimum])
    }

    fn response(rcode: u8, answer: &[Record], authority: &[Record], additional: &[Record]) -> Option<Message> {
        let question = Question { name: Name::root(), of: Type::A };
        Some(Message {
            is_response: true,
            is_authoritative: true,
            rcode,
            answer: answer.to_vec(),
            authority: authority.to_vec(),
            additional: additional.to_vec(),
            ..Message::query(0, question)
        })
    }

    /// The root delegates `oak.`, with glue, and `elm.`, of which it does not know where the server is.
    fn says(server: Ipv4Addr, asked: &str, of: Type) -> Option<Message> {
        match (server, asked, of) {
            (ROOT, asked, _) if asked.ends_with("oak.") => {
                let ns = to_name("oak.", Type::NS, 60, "ns.oak.");
                response(NO_ERROR, &[], &[ns], &[address("ns.oak.", 60, OAK)])
            }
            (ROOT, asked, _) if asked.ends_with("elm.") => {
                response(NO_ERROR, &[], &[to_name("elm.", Type::NS, 60, "server.oak.")], &[])
            }
            (OAK, "server.oak.", Type::A) => response(NO_ERROR, &[address("server.oak.", 60, ELM)], &[], &[]),
            (OAK, "alias.oak.", _) => {
                response(NO_ERROR, &[to_name("alias.oak.", Type::CNAME, 2, "www.elm.")], &[], &[])
            }
            (OAK, "nobody.oak.", _) => response(NAME_ERROR, &[], &[soa("oak.", 60, 5)], &[]),
            (ELM, "www.elm.", Type::A) => response(NO_ERROR, &[address("www.elm.", 60, ROOT)], &[], &[]),
            (ELM, "www.elm.", _) => response(NO_ERROR, &[], &[soa("elm.", 60, 5)], &[]),
            (ELM, "refused.elm.", _) => response(5, &[], &[], &[]),
            _ => None,
        }
    }

    fn resolver() -> (Resolver, Servers) {
        let servers = Servers { now: Duration::ZERO, says, asked: Vec::new() };
        (Resolver::new(Hints(vec![ROOT]), &Correct), servers)
    }

    /// Resolves, and checks the answer and who was asked for it.
    #[track_caller]
    fn check(
        (resolver, servers): &mut (Resolver, Servers),
        (asked, of): (&str, Type),
        expect: (u8, &[Record], &[Record]),
        expect_asked: &[&str],
    ) {
        let found = resolver.resolve(&Question { name: name(asked), of }, servers);
        let (rcode, answer, authority) = expect;
        assert_eq!(found, Answer { rcode, answer: answer.to_vec(), authority: authority.to_vec() });
        assert_eq!(std::mem::take(&mut servers.asked), expect_asked);
    }

    #[test]
    fn referrals_and_aliases_are_followed_and_what_is_known_is_not_asked_for() {
        let mut all = resolver();
        let (alias, www) = (to_name("alias.oak.", Type::CNAME, 2, "www.elm."), address("www.elm.", 60, ROOT));
        let asked = [
            "1 alias.oak. type 1",
            "2 alias.oak. type 1",
            "1 www.elm. type 1",
            // The server of `elm.` is looked up, at the nearest server that is known.
            "2 server.oak. type 1",
            "3 www.elm. type 1",
        ];
        check(&mut all, ("alias.oak.", Type::A), (NO_ERROR, &[alias.clone(), www.clone()], &[]), &asked);
        all.1.now = Duration::from_secs(1);
        let (alias, www) = (Record { ttl: 1, ..alias }, Record { ttl: 59, ..www });
        check(&mut all, ("alias.oak.", Type::A), (NO_ERROR, &[alias.clone(), www], &[]), &[]);
        check(&mut all, ("alias.oak.", Type::CNAME), (NO_ERROR, &[alias], &[]), &[]);
    }

    #[test]
    fn what_is_not_there_is_known_for_as_long_as_it_may() {
        let mut all = resolver();
        let asked = ["1 nobody.oak. type 1", "2 nobody.oak. type 1"];
        check(&mut all, ("nobody.oak.", Type::A), (NAME_ERROR, &[], &[soa("oak.", 5, 5)]), &asked);
        all.1.now = Duration::from_secs(4);
        check(&mut all, ("nobody.oak.", Type::NS), (NAME_ERROR, &[], &[soa("oak.", 1, 5)]), &[]);
        all.1.now = Duration::from_secs(5);
        check(&mut all, ("nobody.oak.", Type::NS), (NAME_ERROR, &[], &[soa("oak.", 5, 5)]), &["2 nobody.oak. type 2"]);
        let alias = to_name("alias.oak.", Type::CNAME, 2, "www.elm.");
        let found = all.0.resolve(&Question { name: name("alias.oak."), of: Type::NS }, &mut all.1);
        assert_eq!(found, Answer { rcode: NO_ERROR, answer: vec![alias], authority: vec![soa("elm.", 5, 5)] });
    }

    #[test]
    fn silence_and_refusals_are_failures() {
        let mut all = resolver();
        let nothing = (SERVER_FAILURE, &[][..], &[][..]);
        check(&mut all, ("silent.oak.", Type::A), nothing, &["1 silent.oak. type 1", "2 silent.oak. type 1"]);
        let found = all.0.resolve(&Question { name: name("refused.elm."), of: Type::A }, &mut all.1);
        assert_eq!(found, Answer::of(SERVER_FAILURE));
    }
}
