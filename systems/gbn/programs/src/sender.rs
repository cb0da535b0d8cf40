//! The sender's half of the protocol: which packet to send next, and what acknowledgements and timeouts change.

use super::behaviour::{Behaviour, Progress};
use super::packet::Packet;

/// How many packets may be in flight at the start.
const WINDOW_START: u32 = 4;

/// The sender's state.
#[derive(Debug)]
pub struct Sender {
    file: Vec<u8>,
    behaviour: &'static dyn Behaviour,
    progress: Progress,
    /// Packet n's bytes are kept at n modulo the length.
    kept: Vec<Vec<u8>>,
    /// How many packets were acknowledged since the window last grew or shrank.
    acknowledged: u32,
}

/// The sender gave up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GaveUp;

impl Sender {
    /// Returns a sender that has sent nothing yet.
    pub fn new(file: Vec<u8>, behaviour: &'static dyn Behaviour) -> Self {
        let segments = behaviour.segments(file.len());
        let packets = u32::try_from(segments).expect("a file in memory has fewer segments") + 1;
        let progress = Progress { packets, window: WINDOW_START, ..Progress::default() };
        let kept = vec![Vec::new(); behaviour.packets_kept() as usize];
        Self { file, behaviour, progress, kept, acknowledged: 0 }
    }

    /// Returns the next packet, if the window lets one go.
    pub fn next_packet(&mut self) -> Option<Packet> {
        if !self.behaviour.may_send(&self.progress) {
            return None;
        }
        let number = self.progress.next;
        self.progress.next += 1;
        self.progress.transmissions += 1;
        let sequence = (u64::from(number) % self.behaviour.sequence_numbers()) as u32;
        if number == self.progress.packets - 1 {
            self.progress.sent = self.progress.sent.max(number + 1);
            return Some(Packet::End { sequence });
        }
        let slot = number as usize % self.kept.len();
        if number >= self.progress.sent {
            self.kept[slot] = self.behaviour.segment(&self.file, number);
            self.progress.sent = number + 1;
        }
        Some(Packet::Data { sequence, segment: self.kept[slot].clone() })
    }

    /// Takes an acknowledgement with the sequence number that is expected next; returns whether it is of something new.
    pub fn acknowledge(&mut self, sequence: u32) -> bool {
        let numbers = self.behaviour.sequence_numbers();
        let ahead = (u64::from(sequence) + numbers - u64::from(self.progress.base) % numbers) % numbers;
        let Ok(ahead) = u32::try_from(ahead) else { return false };
        let Some(next_expected) = self.progress.base.checked_add(ahead) else { return false };
        let Some(base) = self.behaviour.acknowledged(&self.progress, next_expected) else {
            self.progress.repeated_acknowledgements += 1;
            return false;
        };
        self.acknowledged += base - self.progress.base;
        self.progress.base = base;
        self.progress.next = self.progress.next.max(base);
        self.progress.timeouts_in_a_row = 0;
        if self.acknowledged >= self.progress.window {
            self.grow();
        }
        true
    }

    fn grow(&mut self) {
        let more = if self.progress.timeouts_in_all == 0 { self.progress.window } else { 1 };
        self.progress.window = self.behaviour.window_max().min(self.progress.window + more);
        self.acknowledged = 0;
    }

    /// Goes back to the oldest packet that is not acknowledged, with half the window.
    ///
    /// # Errors
    /// [`GaveUp`] if the behaviour says that it is of no use to go on.
    pub fn time_out(&mut self) -> Result<(), GaveUp> {
        self.progress.timeouts_in_a_row += 1;
        self.progress.timeouts_in_all += 1;
        self.progress.next = self.progress.base;
        self.progress.window = (self.progress.window / 2).max(1);
        self.acknowledged = 0;
        if self.behaviour.gives_up(&self.progress) { Err(GaveUp) } else { Ok(()) }
    }

    /// Returns whether a timer is started with the packet that was just sent, if none runs.
    pub fn starts_timer(&self) -> bool {
        self.behaviour.starts_timer(&self.progress)
    }

    /// Returns whether the timer starts anew with an acknowledgement of something new, and does not stop.
    pub fn restarts_timer(&self) -> bool {
        self.behaviour.restarts_timer(&self.progress)
    }

    /// Returns whether the transfer is over.
    pub fn is_over(&self) -> bool {
        self.behaviour.is_over(&self.progress)
    }
}

#[cfg(test)]
mod tests {
    use super::super::behaviour::Correct;
    use super::super::packet::SEGMENT_BYTES;
    use super::*;

    fn sender(segments: usize) -> Sender {
        Sender::new((0..segments * SEGMENT_BYTES).map(|at| (at / SEGMENT_BYTES) as u8).collect(), &Correct)
    }

    /// Returns the numbers of all packets that the window lets go.
    fn sent(sender: &mut Sender) -> Vec<u32> {
        std::iter::from_fn(|| sender.next_packet())
            .map(|packet| match packet {
                Packet::Data { sequence, segment } => {
                    assert_eq!(segment, vec![sequence as u8; SEGMENT_BYTES]);
                    sequence
                }
                Packet::End { sequence } => sequence,
                other => panic!("a sender sends no {other:?}"),
            })
            .collect()
    }

    #[test]
    fn the_window_doubles_until_the_first_timeout() {
        let mut sender = sender(100);
        assert_eq!(sent(&mut sender), [0, 1, 2, 3]);
        assert!(sender.acknowledge(4));
        assert_eq!(sent(&mut sender).len(), 8);
    }

    #[test]
    fn a_timeout_goes_back_and_halves_the_window() {
        let mut sender = sender(100);
        sent(&mut sender);
        assert!(sender.acknowledge(1));
        sent(&mut sender);
        sender.time_out().expect("the correct sender does not give up");
        assert_eq!(sent(&mut sender), [1, 2]);
        assert!(sender.acknowledge(3));
        assert_eq!(sent(&mut sender), [3, 4, 5]);
    }

    #[test]
    fn the_window_is_never_empty() {
        let mut sender = sender(2);
        for expect in [vec![0, 1], vec![0], vec![0], vec![0]] {
            sender.time_out().expect("the correct sender does not give up");
            assert_eq!(sent(&mut sender), expect);
        }
    }

    #[test]
    fn an_acknowledgement_from_before_the_timeout_counts() {
        let mut sender = sender(100);
        sent(&mut sender);
        sender.time_out().expect("the correct sender does not give up");
        assert_eq!(sent(&mut sender), [0, 1]);
        assert!(sender.acknowledge(4));
        assert_eq!(sent(&mut sender)[0], 4);
    }

    #[test]
    fn old_and_impossible_acknowledgements_change_nothing() {
        let mut sender = sender(100);
        sent(&mut sender);
        assert!(sender.acknowledge(2));
        for sequence in [0, 1, 2, 5, u32::MAX] {
            assert!(!sender.acknowledge(sequence), "{sequence}");
        }
    }

    #[test]
    fn the_end_mark_follows_the_last_segment() {
        let mut sender = Sender::new(vec![9; SEGMENT_BYTES + 1], &Correct);
        assert!(matches!(sender.next_packet(), Some(Packet::Data { sequence: 0, segment }) if segment.len() == 1_399));
        assert!(matches!(sender.next_packet(), Some(Packet::Data { sequence: 1, segment }) if segment == [9]));
        assert_eq!(sender.next_packet(), Some(Packet::End { sequence: 2 }));
        assert_eq!(sender.next_packet(), None);
        assert!(!sender.is_over());
        assert!(sender.acknowledge(3));
        assert!(sender.is_over());
        assert!(!sender.restarts_timer());
    }
}
