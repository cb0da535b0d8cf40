//! The four messages of go-back-n.

use simutant_sim_core::Message;

/// The most bytes of a file that a segment carries: a packet of 1,400 bytes, less one for kind and sequence number.
pub const SEGMENT_BYTES: u32 = 1_399;

/// How many sequence numbers there are: six bits of the byte before the data. They begin again after the last. There
/// must be more of them than packets in the window.
pub const SEQUENCE_NUMBERS: u32 = 64;

/// A piece of the file, on its way from the sender to the receiver. The bytes themselves are left out: a piece is known
/// by its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Dat {
    /// Counts the packets of the transfer from 0, modulo [`SEQUENCE_NUMBERS`].
    pub sequence: u32,
    /// Where in the file the piece begins, in bytes.
    pub offset: u64,
    /// How long it is, in bytes; at most [`SEGMENT_BYTES`].
    pub length: u32,
}

/// The end mark: the packet behind the last piece of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct End {
    /// Counts on from the last piece.
    pub sequence: u32,
}

/// An acknowledgement, on its way from the receiver to the sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Acknowledgement {
    /// A sequence number. What it says is up to the [rule](super::AcknowledgementRule).
    pub sequence: u32,
}

/// Any of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TransferMessage {
    /// A piece of the file.
    Dat(Dat),
    /// The end mark.
    End(End),
    /// An acknowledgement.
    Ack(Acknowledgement),
    /// The sender has the last acknowledgement, and leaves.
    Bye,
}

impl TransferMessage {
    /// Returns the sequence number of a piece of the file or of the end mark, and `None` of a goodbye.
    ///
    /// # Panics
    /// If it is an acknowledgement: nobody sends one to a receiver.
    #[track_caller]
    pub fn sequence(&self) -> Option<u32> {
        match self {
            Self::Dat(dat) => Some(dat.sequence),
            Self::End(end) => Some(end.sequence),
            Self::Bye => None,
            Self::Ack(ack) => panic!("a receiver was sent {ack:?}"),
        }
    }

    /// Returns the acknowledgement that this is.
    ///
    /// # Panics
    /// If it is another message: nobody sends one to a sender.
    #[track_caller]
    pub fn into_ack(self) -> Acknowledgement {
        match self {
            Self::Ack(ack) => ack,
            other => panic!("a sender was sent {other:?}"),
        }
    }
}

impl Message for TransferMessage {
    fn kind(&self) -> &'static str {
        match self {
            Self::Dat(_) => "DAT",
            Self::End(_) => "END",
            Self::Ack(_) => "ACK",
            Self::Bye => "BYE",
        }
    }
}

impl From<Dat> for TransferMessage {
    fn from(dat: Dat) -> Self {
        Self::Dat(dat)
    }
}

impl From<End> for TransferMessage {
    fn from(end: End) -> Self {
        Self::End(end)
    }
}

impl From<Acknowledgement> for TransferMessage {
    fn from(ack: Acknowledgement) -> Self {
        Self::Ack(ack)
    }
}
