//! The receiver's half of the protocol: which packets to take, and what to answer.

use super::behaviour::{Arrival, Behaviour};
use super::packet::Packet;

/// The receiver's state.
#[derive(Debug)]
pub struct Receiver {
    behaviour: &'static dyn Behaviour,
    /// The number of the packet to take next; `None` before the first packet.
    expected: Option<u32>,
    /// How many packets have arrived.
    arrived: u32,
    /// How often the last acknowledgement was repeated; `None` before the end mark.
    repeated: Option<u32>,
}

/// What a packet asks of the receiver's program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Answer {
    /// Bytes to append to the file.
    pub append: Vec<u8>,
    /// What to send back.
    pub reply: Option<Packet>,
}

impl Receiver {
    /// Returns a receiver that has received nothing yet.
    pub fn new(behaviour: &'static dyn Behaviour) -> Self {
        Self { behaviour, expected: None, arrived: 0, repeated: None }
    }

    /// Takes a packet of the sender's.
    pub fn take(&mut self, packet: Packet) -> Answer {
        let (sequence, segment) = match packet {
            Packet::Data { sequence, segment } => (sequence, Some(segment)),
            Packet::End { sequence } => (sequence, None),
            Packet::Ack { .. } | Packet::Bye => return Answer { append: Vec::new(), reply: None },
        };
        self.arrived += 1;
        let mut expected = self.expected.unwrap_or_else(|| self.behaviour.first_expected(sequence));
        let (is_end, is_after_end) = (segment.is_none(), self.has_all());
        let arrival = Arrival { sequence, is_end, expected, arrived: self.arrived, is_after_end };
        let mut append = Vec::new();
        if let Some(repeated) = &mut self.repeated {
            *repeated += 1;
        } else if let Some(next_expected) = self.behaviour.takes(&arrival) {
            expected = next_expected;
            match segment {
                Some(segment) => append = segment,
                None => self.repeated = Some(0),
            }
        }
        self.expected = Some(expected);
        let numbers = self.behaviour.sequence_numbers();
        let named = self.behaviour.answers(&arrival, expected);
        let reply = named.map(|next| Packet::Ack { next: (u64::from(next) % numbers) as u32 });
        Answer { append, reply }
    }

    /// Returns whether the whole file has arrived.
    pub fn has_all(&self) -> bool {
        self.repeated.is_some()
    }

    /// Returns whether to stay and answer, since the file has not arrived or the sender may not know that it has.
    pub fn stays(&self) -> bool {
        self.repeated.is_none_or(|repeated| self.behaviour.stays(repeated))
    }
}

#[cfg(test)]
mod tests {
    use super::super::behaviour::Correct;
    use super::*;

    #[track_caller]
    fn check(receiver: &mut Receiver, packet: Packet, append: &[u8], next: u32) {
        assert_eq!(receiver.take(packet), Answer { append: append.to_vec(), reply: Some(Packet::Ack { next }) });
    }

    fn data(sequence: u32) -> Packet {
        Packet::Data { sequence, segment: vec![sequence as u8] }
    }

    #[test]
    fn packets_are_taken_in_order_only() {
        let mut receiver = Receiver::new(&Correct);
        check(&mut receiver, data(1), &[], 0);
        check(&mut receiver, data(0), &[0], 1);
        check(&mut receiver, data(0), &[], 1);
        check(&mut receiver, data(2), &[], 1);
        check(&mut receiver, data(1), &[1], 2);
        check(&mut receiver, Packet::End { sequence: 3 }, &[], 2);
        assert!(!receiver.has_all());
    }

    #[test]
    fn after_the_end_the_last_acknowledgement_is_repeated() {
        let mut receiver = Receiver::new(&Correct);
        check(&mut receiver, data(0), &[0], 1);
        check(&mut receiver, Packet::End { sequence: 1 }, &[], 2);
        assert!(receiver.has_all());
        check(&mut receiver, data(0), &[], 2);
        check(&mut receiver, Packet::End { sequence: 1 }, &[], 2);
        assert!(receiver.stays());
    }

    #[test]
    fn packets_for_a_sender_are_not_answered() {
        for packet in [Packet::Ack { next: 1 }, Packet::Bye] {
            assert_eq!(Receiver::new(&Correct).take(packet).reply, None);
        }
    }
}
