//! The one message of the protocol: queries and responses have the same form (RFC 1035, section 4).

use simutant_sim_core::Message;

use super::{Name, Record, RecordType};

/// The most bytes of a message that goes as a datagram (RFC 1035, section 2.3.4).
pub const DATAGRAM_BYTES_MAX: usize = 512;

/// What is asked for. The class is always IN.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Question {
    /// Of which name.
    pub name: Name,
    /// Of which type.
    pub record_type: RecordType,
}

/// How a question was answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Rcode {
    /// It was: with records, or with none because there are none, or by pointing to other servers.
    NoError,
    /// The server could not find out.
    ServerFailure,
    /// There is no such name.
    NameError,
    /// The server knows nothing of such names.
    Refused,
}

/// A query or a response.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct DnsMessage {
    /// Chosen by who asks, and copied into the response.
    pub id: u16,
    /// Whether it is a response (the bit QR).
    pub is_response: bool,
    /// Whether the server has authority over the name of the question (AA).
    pub is_authoritative: bool,
    /// Whether it was too long for a datagram, and its sections left out (TC).
    pub is_truncated: bool,
    /// How the question was answered.
    pub rcode: Rcode,
    /// The question.
    pub question: Question,
    /// Records that answer it.
    pub answer: Vec<Record>,
    /// Records that point to a server with authority, or that say by whose authority there is no answer.
    pub authority: Vec<Record>,
    /// Records that are of use with those of the other sections.
    pub additional: Vec<Record>,
}

impl DnsMessage {
    /// Returns a query.
    pub fn query(id: u16, question: Question) -> Self {
        Self {
            id,
            is_response: false,
            is_authoritative: false,
            is_truncated: false,
            rcode: Rcode::NoError,
            question,
            answer: Vec::new(),
            authority: Vec::new(),
            additional: Vec::new(),
        }
    }

    /// Returns a response to this query, with nothing in it.
    pub fn response(&self) -> Self {
        Self { is_response: true, ..Self::query(self.id, self.question.clone()) }
    }

    /// Returns how many bytes it takes, without compression of names: so some that are truncated here are not in
    /// reality.
    pub fn wire_bytes(&self) -> usize {
        let records = self.answer.iter().chain(&self.authority).chain(&self.additional);
        12 + self.question.name.wire_bytes() + 4 + records.map(Record::wire_bytes).sum::<usize>()
    }
}

impl Message for DnsMessage {
    fn kind(&self) -> &'static str {
        match self {
            Self { is_response: false, .. } => "QUERY",
            Self { is_truncated: true, .. } => "TRUNCATED",
            Self { rcode: Rcode::ServerFailure | Rcode::Refused, .. } => "FAILURE",
            Self { rcode: Rcode::NameError, .. } => "NAME-ERROR",
            Self { answer, .. } if !answer.is_empty() => "ANSWER",
            Self { authority, .. } if authority.iter().any(|record| record.record_type() == RecordType::Ns) => {
                "REFERRAL"
            }
            _ => "NO-DATA",
        }
    }

    fn bytes(&self) -> u32 {
        self.wire_bytes() as u32
    }
}
