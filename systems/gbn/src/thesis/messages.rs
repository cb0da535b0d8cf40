//! The two messages of go-back-n.

use simutant_sim_core::Message;

/// The most bytes of a file that a segment carries: a packet of 1,400 bytes, less one for kind and sequence number.
pub const SEGMENT_BYTES: u32 = 1_399;

/// How many sequence numbers there are: seven bits of the byte before the data. They begin again after the last.
pub const SEQUENCE_NUMBERS: u32 = 128;

/// A piece of the file, on its way from the sender to the receiver. The bytes themselves are left out: a piece is known
/// by its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Dat {
    /// Counts the segments of the file from 0, modulo [`SEQUENCE_NUMBERS`].
    pub sequence: u32,
    /// Where in the file the piece begins, in bytes.
    pub offset: u64,
    /// How long it is, in bytes; at most [`SEGMENT_BYTES`].
    pub length: u32,
}

/// An acknowledgement, on its way from the receiver to the sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ack {
    /// The sequence number that the receiver expects next: it has all segments before, whatever else was lost.
    pub next: u32,
}

/// Either of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GbnMessage {
    /// A piece of the file.
    Dat(Dat),
    /// An acknowledgement.
    Ack(Ack),
}

impl GbnMessage {
    /// Returns the piece of the file that this is.
    ///
    /// # Panics
    /// If it is an acknowledgement: nobody sends one to a receiver.
    #[track_caller]
    pub fn into_dat(self) -> Dat {
        match self {
            Self::Dat(dat) => dat,
            Self::Ack(ack) => panic!("a receiver was sent {ack:?}"),
        }
    }

    /// Returns the acknowledgement that this is.
    ///
    /// # Panics
    /// If it is a piece of the file: nobody sends one to a sender.
    #[track_caller]
    pub fn into_ack(self) -> Ack {
        match self {
            Self::Ack(ack) => ack,
            Self::Dat(dat) => panic!("a sender was sent {dat:?}"),
        }
    }
}

impl Message for GbnMessage {
    fn kind(&self) -> &'static str {
        match self {
            Self::Dat(_) => "DAT",
            Self::Ack(_) => "ACK",
        }
    }
}

impl From<Dat> for GbnMessage {
    fn from(dat: Dat) -> Self {
        Self::Dat(dat)
    }
}

impl From<Ack> for GbnMessage {
    fn from(ack: Ack) -> Self {
        Self::Ack(ack)
    }
}
