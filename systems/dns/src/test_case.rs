//! Test cases: a name space, its servers, and what stubs ask.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use serde::{Deserialize, Serialize};
use simutant_sim_core::{Probability, Random};
use simutant_system::InvalidTestCase;

use super::{Name, NameSpace, Question, RecordData, RecordType, Zone};
use super::{sampling, validation};

/// An input vector of the domain name system (Rutherford, PhD thesis, section 4.1.3.1).
///
/// It is all that real programs need too: the zones are the files of real servers, [`NameSpace::root_hints`] are those
/// of real resolvers, and the queries are what real clients ask.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TestCase {
    /// The names, cut into 2 to 5 zones.
    #[serde(rename = "zones")]
    pub name_space: NameSpace,
    /// The servers, each of which has authority over some of the zones. Those of the root are where resolvers begin.
    pub servers: Vec<AuthoritativeServer>,
    /// What stubs ask the resolver, in the order of time: from 1 to 12 queries.
    pub queries: Vec<StubQuery>,
    /// The probability that a packet between the resolver and a server is lost: at most 0.2.
    pub drop: Probability,
    /// The probability that such a packet which is not lost arrives twice: at most 0.2.
    pub duplicate: Probability,
    /// Fixes which packets are lost and duplicated, how long each is on its way, and which server is asked first.
    pub seed: u64,
}

/// A server with authority over zones.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AuthoritativeServer {
    /// Where it is: the NS records of its zones lead to hosts with this address.
    pub address: Ipv4Addr,
    /// The apexes of its zones.
    pub zones: Vec<Name>,
}

/// A query of a stub.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StubQuery {
    /// The number of the stub: from 1 to 3. A stub waits for one answer before it asks for the next.
    pub stub: u8,
    /// When it asks, in milliseconds after the start.
    pub start_ms: u64,
    /// The name.
    pub name: Name,
    /// The type.
    #[serde(rename = "type")]
    pub record_type: RecordType,
}

impl TestCase {
    /// Draws a test case.
    pub fn sample(random: &mut Random) -> Self {
        sampling::sample(random)
    }

    /// Checks that it is in the domain.
    ///
    /// That includes what real servers insist on: complete delegations with glue, aliases that have nothing else and
    /// lead somewhere, one time to live for the records of a name and type, hosts that have addresses; and that no
    /// servers can be reached through each other alone.
    ///
    /// # Errors
    /// [`InvalidTestCase`] for what is not, first the zones one by one, then the servers, then the queries.
    pub fn validate(&self) -> Result<(), InvalidTestCase> {
        validation::validate(self)
    }

    /// Returns the servers of a zone.
    pub fn servers_of<'a>(&'a self, zone: &'a Zone) -> impl Iterator<Item = &'a AuthoritativeServer> {
        self.servers.iter().filter(|server| server.zones.contains(&zone.apex))
    }

    /// Returns the same test case with its servers at other addresses: where real ones run. Records of other hosts stay
    /// as they are.
    ///
    /// # Panics
    /// If two servers get one address.
    pub fn with_server_addresses(&self, place: impl Fn(Ipv4Addr) -> Ipv4Addr) -> Self {
        let mut case = self.clone();
        let old: Vec<Ipv4Addr> = self.servers.iter().map(|server| server.address).collect();
        let mut taken = BTreeSet::new();
        for server in &mut case.servers {
            server.address = place(server.address);
            assert!(taken.insert(server.address), "two servers are at {}", server.address);
        }
        for record in case.name_space.zones.iter_mut().flat_map(|zone| &mut zone.records) {
            if let RecordData::A(address) = &mut record.data
                && old.contains(address)
            {
                *address = place(*address);
            }
        }
        case
    }
}

impl StubQuery {
    /// Returns what it asks.
    pub fn question(&self) -> Question {
        Question { name: self.name.clone(), record_type: self.record_type }
    }
}
