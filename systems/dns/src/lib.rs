//! The domain name system: stubs ask a resolver, which asks servers, and remembers what they say for as long as it may.
//!
//! The configuration is that of Rutherford, PhD thesis, section 4.1.3; the protocol is that of RFC 1034 and 1035, with
//! negative answers as RFC 2308 has them, and addresses of version 6 (RFC 3596). A test case has the whole name space,
//! cut into zones, the servers of each zone, and what stubs ask when. A [`stub`](stub()) asks the
//! [`resolver`](resolver()), which goes from the servers of the root to those that know, each of them a
//! [`server`](server()); queries and responses have one form, [`DnsMessage`]. What is too long for a datagram goes by
//! stream.
//!
//! A run passes if every stub has the [right answer](NameSpace::answer) to each of its questions, with times to
//! live that show a cache which keeps everything as long as it may and no longer, and if no assertion of a component
//! was broken. Packets between the resolver and servers are lost and duplicated; a resolver may give up when that
//! happens to twelve tries in a row.
//!
//! Left out are wildcards, classes other than IN, transfers of zones, case (RFC 4343), and compression of names.

mod cache;
mod configuration;
mod criteria;
mod exchange;
mod lookup;
mod messages;
mod name;
mod name_space;
mod oracle;
mod record;
mod resolution;
mod resolver;
mod sampling;
mod server;
mod stub;
mod test_case;
#[cfg(feature = "testbed")]
#[expect(clippy::disallowed_methods, reason = "real programs take real time")]
pub mod testbed;
mod tree;
mod validation;

use simutant_sim_core::{Random, Simulation};
use simutant_system::{BlackBoxCriterion, InvalidTestCase, System};

pub use messages::{DATAGRAM_BYTES_MAX, DnsMessage, Question, Rcode};
pub use name::{InvalidName, Name};
pub use name_space::{Answer, AnswerKind, NameSpace, Zone};
pub use oracle::Answers;
pub use record::{InvalidRecord, Record, RecordData, RecordType, Soa};
pub use resolver::resolver;
pub use server::server;
pub use stub::{Asked, stub};
pub use test_case::{AuthoritativeServer, StubQuery, TestCase};

/// The system.
#[derive(Debug, Clone, Copy)]
pub struct Dns;

impl System for Dns {
    const NAME: &'static str = "dns";

    /// As many as in the thesis.
    const UNIVERSE: usize = 2_000;

    type TestCase = TestCase;
    type Message = DnsMessage;

    fn sample(random: &mut Random) -> TestCase {
        TestCase::sample(random)
    }

    fn reseed(case: &TestCase, random: &mut Random) -> TestCase {
        TestCase { seed: random.bits(), ..case.clone() }
    }

    fn validate(case: &TestCase) -> Result<(), InvalidTestCase> {
        case.validate()
    }

    fn configure(case: &TestCase) -> Simulation<DnsMessage> {
        configuration::configure(case)
    }

    fn criteria() -> Vec<BlackBoxCriterion<TestCase>> {
        vec![criteria::all_resource_types(), criteria::typical_usage()]
    }
}

#[cfg(test)]
mod tests;
