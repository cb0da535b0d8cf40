//! The packets on the wire: a kind, a number in network byte order, and for data the bytes of the segment.
//!
//! UDP's own checksum covers them, so they carry none.

/// How many bytes of the file a full segment has.
pub const SEGMENT_BYTES: usize = 1_399;

const HEADER_BYTES: usize = 5;
const DATA: u8 = 0;
const END: u8 = 1;
const ACK: u8 = 2;
const BYE: u8 = 3;

/// One packet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Packet {
    /// A piece of the file.
    Data {
        /// Its number.
        sequence: u32,
        /// Its bytes, at most [`SEGMENT_BYTES`].
        segment: Vec<u8>,
    },
    /// The end of the file.
    End {
        /// The number after the last segment's.
        sequence: u32,
    },
    /// Everything before a number has arrived.
    Ack {
        /// The number that the receiver expects next.
        next: u32,
    },
    /// The sender has all the acknowledgements and leaves.
    Bye,
}

impl Packet {
    /// Returns the packet as it is sent.
    pub fn encode(&self) -> Vec<u8> {
        let (kind, number, segment): (u8, u32, &[u8]) = match self {
            Self::Data { sequence, segment } => (DATA, *sequence, segment),
            Self::End { sequence } => (END, *sequence, &[]),
            Self::Ack { next } => (ACK, *next, &[]),
            Self::Bye => (BYE, 0, &[]),
        };
        let mut bytes = Vec::with_capacity(HEADER_BYTES + segment.len());
        bytes.push(kind);
        bytes.extend(number.to_be_bytes());
        bytes.extend(segment);
        bytes
    }

    /// Returns the packet in `bytes`, or `None` if there is none.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let ([kind, number @ ..], segment) = bytes.split_first_chunk::<HEADER_BYTES>()?;
        let number = u32::from_be_bytes(*number);
        match (*kind, segment) {
            (DATA, [_, ..]) => Some(Self::Data { sequence: number, segment: segment.to_vec() }),
            (END, []) => Some(Self::End { sequence: number }),
            (ACK, []) => Some(Self::Ack { next: number }),
            (BYE, []) => Some(Self::Bye),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(packet: &Packet, bytes: &[u8]) {
        assert_eq!(packet.encode(), bytes);
        assert_eq!(Packet::decode(bytes).as_ref(), Some(packet));
    }

    #[test]
    fn packets_survive_the_round_trip() {
        check(&Packet::Data { sequence: 258, segment: vec![7, 8] }, &[0, 0, 0, 1, 2, 7, 8]);
        check(&Packet::End { sequence: 1 }, &[1, 0, 0, 0, 1]);
        check(&Packet::Ack { next: u32::MAX }, &[2, 255, 255, 255, 255]);
        check(&Packet::Bye, &[3, 0, 0, 0, 0]);
    }

    #[test]
    fn other_bytes_are_no_packet() {
        for bytes in [&[][..], &[0, 0, 0, 0], &[0, 0, 0, 0, 0], &[2, 0, 0, 0, 0, 9], &[4, 0, 0, 0, 0]] {
            assert_eq!(Packet::decode(bytes), None, "{bytes:?}");
        }
    }
}
