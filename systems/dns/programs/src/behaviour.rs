//! The decisions of a resolver, each in a function of its own.
//!
//! The functions as they stand here are right. A fault is a [`Behaviour`] that gets one of them wrong.

use std::time::Duration;

use super::message::{Message, Question, Record, SERVER_FAILURE, Type};
use super::name::Name;
use super::resolver::Answer;

/// That something is not there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Denial {
    /// Whether the name has no such records, or is not there at all.
    pub rcode: u8,
    /// The SOA record of the zone, with the time for which that may be kept.
    pub soa: Record,
}

/// What a resolver decides in each situation.
pub trait Behaviour: std::fmt::Debug + Sync {
    /// Returns the number of a query, given how many the resolver sent before, and how many of them for this client's
    /// question.
    fn id(&self, sent: u16, _sent_for_client: u16) -> u16 {
        sent
    }

    /// Returns whether `response` answers `query`. What was doubled may come when something else is asked.
    fn is_response_to(&self, response: &Message, query: &Message) -> bool {
        response.is_response && response.id == query.id && response.question == query.question
    }

    /// Returns how often servers of a zone are asked, one after the other.
    fn tries(&self) -> u32 {
        12
    }

    /// Returns the response code for a question of which the servers say nothing.
    fn rcode_of_silence(&self) -> u8 {
        SERVER_FAILURE
    }

    /// Returns the response code for a question of which the servers say nothing that is of use, or whose servers
    /// cannot be found.
    fn rcode_of_failure(&self) -> u8 {
        SERVER_FAILURE
    }

    /// Returns whether a response can be used as it is, and need not be asked for by stream.
    fn is_whole(&self, response: &Message) -> bool {
        !response.is_truncated
    }

    /// Returns whether servers whose addresses did not come with their names are looked up.
    fn looks_up_servers(&self) -> bool {
        true
    }

    /// Returns the records that are kept where `known` were kept so far, and `found` have come now.
    fn kept(&self, _known: &[Record], found: Vec<Record>) -> Vec<Record> {
        found
    }

    /// Returns for how many seconds a record may still be kept that had `ttl` seconds when it came, `None` if it is
    /// over.
    fn left(&self, ttl: u32, age: Duration) -> Option<u32> {
        let left = Duration::from_secs(ttl.into()).checked_sub(age).filter(|left| !left.is_zero())?;
        u32::try_from(left.as_secs()).ok()
    }

    /// Returns the time to live with which a record is given that may be kept for so many seconds.
    fn aged(&self, _record: &Record, left: u32) -> u32 {
        left
    }

    /// Returns whether the age of records counts from the last time that they were used.
    fn is_new_when_used(&self) -> bool {
        false
    }

    /// Returns for which types it is kept that `question` has that answer: `None` for all.
    fn denied_types(&self, question: &Question, denial: &Denial) -> Option<Type> {
        (denial.rcode == super::message::NO_ERROR).then_some(question.of)
    }

    /// Returns the name that is kept as denied, of the one that was asked for and the one that aliases lead to.
    fn denied_name<'a>(&self, _asked: &'a Name, canonical: &'a Name) -> &'a Name {
        canonical
    }

    /// Returns the SOA record as it is kept: what is not there may be kept for the lesser of its time and its last
    /// field.
    fn soa(&self, soa: Record) -> Record {
        let ttl = soa.ttl.min(soa.minimum().unwrap_or_default());
        Record { ttl, ..soa }
    }

    /// Returns whether `name`, to which the aliases in `chain` lead, was come to before, given all names of aliases
    /// that were followed for other questions.
    fn is_loop(&self, name: &Name, chain: &[Record], _followed: &[Name]) -> bool {
        chain.iter().any(|alias| alias.name == *name)
    }

    /// Returns whether the rest of a chain is left to the client.
    fn ends_chain(&self, _chain: &[Record]) -> bool {
        false
    }

    /// Returns whether an alias is a part of an answer with this response code.
    fn shows_alias(&self, _alias: &Record, _rcode: u8) -> bool {
        true
    }

    /// Returns whether a whole answer that was given `age` ago is given again, and with which times to live.
    fn repeats(&self, _answer: &Answer, _age: Duration) -> Option<Answer> {
        None
    }
}

/// The resolver as it should be.
#[derive(Debug)]
pub struct Correct;

impl Behaviour for Correct {}
