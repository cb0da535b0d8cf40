//! The domain name system: stubs ask a resolver, which asks servers, and remembers what they say for as long as it may.
//!
//! The configuration is that of Rutherford, PhD thesis, section 4.1.3; the protocol is that of RFC 1034 and 1035, with negative answers
//! as RFC 2308 has them, and addresses of version 6 (RFC 3596). A test case has the whole name space, cut into zones, the servers of
//! each zone, and what stubs ask when.

mod messages;
mod name;
mod name_space;
mod record;
mod sampling;
mod test_case;
mod validation;

pub use messages::{DATAGRAM_BYTES_MAX, DnsMessage, Question, Rcode};
pub use name::{InvalidName, Name};
pub use name_space::{Answer, AnswerKind, NameSpace, Zone};
pub use record::{InvalidRecord, Record, RecordData, RecordType, Soa};
pub use test_case::{AuthoritativeServer, StubQuery, TestCase};

#[cfg(test)]
mod tests;
