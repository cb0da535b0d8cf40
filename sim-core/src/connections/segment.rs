//! Segments: the packets of streams.

use std::hash::{Hash, Hasher};

use super::EndId;
use crate::{Address, Message};

/// A packet of a stream. A message is one segment, however large it is.
#[derive(Debug, Clone)]
pub(crate) struct Segment<M> {
    pub(crate) source: Address,
    pub(crate) destination: Address,
    /// The end that sends it; `None` if there is none, and this says so.
    pub(crate) from: Option<EndId>,
    /// The end that it is for; `None` if there is none yet.
    pub(crate) to: Option<EndId>,
    pub(crate) content: Content<M>,
}

/// What a segment says.
#[derive(Debug, Clone)]
pub(crate) enum Content<M> {
    /// A client wants a stream, and has room for so many messages.
    Syn { limit: u64 },
    /// A server agrees, and has room for so many messages.
    SynAck { limit: u64 },
    /// What has arrived.
    Ack(Acknowledgement),
    /// A question for an [`Content::Ack`], from an end that is told there is no room.
    Probe,
    /// A message.
    Data { sequence: u64, message: M, acknowledgement: Acknowledgement },
    /// There are no messages from this sequence number on.
    Fin { sequence: u64, acknowledgement: Acknowledgement },
    /// There is no such stream.
    Rst,
}

/// What an end says about what it received.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Acknowledgement {
    /// The sequence number that it expects: it has all before it.
    pub(crate) expected: u64,
    /// The first sequence number that it has no room for.
    pub(crate) limit: u64,
}

impl<M: Message> Segment<M> {
    pub(crate) fn kind(&self) -> &'static str {
        match &self.content {
            Content::Syn { .. } => "SYN",
            Content::SynAck { .. } => "SYN-ACK",
            Content::Ack(_) => "ACK",
            Content::Probe => "PROBE",
            Content::Data { message, .. } => message.kind(),
            Content::Fin { .. } => "FIN",
            Content::Rst => "RST",
        }
    }

    /// Returns its size on the wire: as those of datagrams, headers have none.
    pub(crate) fn bytes(&self) -> u32 {
        self.message().map_or(0, Message::bytes)
    }

    pub(crate) fn message(&self) -> Option<&M> {
        match &self.content {
            Content::Data { message, .. } => Some(message),
            _ => None,
        }
    }

    pub(crate) fn into_message(self) -> Option<M> {
        match self.content {
            Content::Data { message, .. } => Some(message),
            _ => None,
        }
    }
}

/// For the digest.
impl<M: Message> Hash for Segment<M> {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        hasher.write_u8(match &self.content {
            Content::Syn { .. } => 0,
            Content::SynAck { .. } => 1,
            Content::Ack(_) => 2,
            Content::Probe => 3,
            Content::Data { .. } => 4,
            Content::Fin { .. } => 5,
            Content::Rst => 6,
        });
        match &self.content {
            Content::Syn { limit } | Content::SynAck { limit } => limit.hash(hasher),
            Content::Ack(acknowledgement) => acknowledgement.hash(hasher),
            Content::Data { sequence, message, acknowledgement } => {
                (sequence, acknowledgement).hash(hasher);
                message.hash(hasher);
            }
            Content::Fin { sequence, acknowledgement } => (sequence, acknowledgement).hash(hasher),
            Content::Probe | Content::Rst => {}
        }
    }
}
