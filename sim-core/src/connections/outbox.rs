//! What an end of a stream has sent, and is to send.

use std::collections::VecDeque;

use super::segment::Acknowledgement;
use crate::{VirtualDuration, VirtualTime};

/// So many acknowledgements of one sequence number mean that what begins there was lost (RFC 5681, section 3.2).
const DUPLICATES: u32 = 3;

/// Numbers messages, and keeps them until they are acknowledged.
///
/// Message `n` has the sequence number `n`, and the end of all messages has the one after the last.
#[derive(Debug)]
pub(crate) struct Outbox<M> {
    /// Messages from the sequence number `acknowledged` on.
    messages: VecDeque<Outgoing<M>>,
    /// How many messages it takes.
    window_max: u64,
    /// The other end has all before this sequence number.
    acknowledged: u64,
    /// All before this sequence number were sent.
    next: u64,
    /// How many messages there ever were.
    count: u64,
    /// The other end has no room from this sequence number on.
    limit: u64,
    is_finished: bool,
    /// What was sent before this sequence number, and is not acknowledged, is taken for lost.
    lost_until: u64,
    /// How many acknowledgements in a row have told nothing new.
    duplicates: u32,
}

#[derive(Debug)]
struct Outgoing<M> {
    message: M,
    sent_at: VirtualTime,
    is_sent_again: bool,
}

/// What is to be sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Item<M> {
    Message(u64, M),
    End(u64),
}

/// What an acknowledgement changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Progress {
    /// Whether anything was acknowledged for the first time.
    pub(crate) is_new: bool,
    /// The round trip of what was, if it was sent once.
    pub(crate) round_trip: Option<VirtualDuration>,
    /// Whether the oldest of what is not acknowledged was lost.
    pub(crate) is_oldest_lost: bool,
}

impl<M: Clone> Outbox<M> {
    pub(crate) fn new(window_max: u64) -> Self {
        Self {
            messages: VecDeque::new(),
            window_max,
            acknowledged: 0,
            next: 0,
            count: 0,
            limit: 0,
            is_finished: false,
            lost_until: 0,
            duplicates: 0,
        }
    }

    /// Returns whether it takes another message.
    pub(crate) fn has_room(&self) -> bool {
        (self.messages.len() as u64) < self.window_max
    }

    pub(crate) fn push(&mut self, message: M) {
        assert!(self.has_room() && !self.is_finished, "a message beyond the window or the end");
        self.messages.push_back(Outgoing { message, sent_at: VirtualTime::ZERO, is_sent_again: false });
        self.count += 1;
    }

    /// Lets the messages that there are be the last.
    pub(crate) fn finish(&mut self) {
        self.is_finished = true;
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.is_finished
    }

    /// Returns whether the end of all messages was acknowledged.
    pub(crate) fn is_complete(&self) -> bool {
        self.acknowledged > self.count
    }

    /// Returns whether something was sent and is not acknowledged.
    pub(crate) fn is_in_flight(&self) -> bool {
        self.acknowledged < self.next
    }

    /// Returns whether messages wait only because the other end has no room.
    pub(crate) fn is_blocked(&self) -> bool {
        !self.is_in_flight() && self.next < self.count && self.next >= self.limit
    }

    /// Returns the limit that the other end has told.
    pub(crate) fn limit(&self) -> u64 {
        self.limit
    }

    pub(crate) fn set_limit(&mut self, limit: u64) {
        self.limit = self.limit.max(limit);
    }

    /// Returns what is to be sent for the first time now, if anything can be.
    pub(crate) fn next_item(&mut self, now: VirtualTime) -> Option<Item<M>> {
        let sequence = self.next;
        if sequence == self.count && self.is_finished {
            self.next += 1;
            return Some(Item::End(sequence));
        }
        if sequence >= self.count || sequence >= self.limit {
            return None;
        }
        self.next += 1;
        let outgoing = &mut self.messages[(sequence - self.acknowledged) as usize];
        outgoing.sent_at = now;
        Some(Item::Message(sequence, outgoing.message.clone()))
    }

    /// Returns the oldest of what was sent and is not acknowledged, to be sent again.
    pub(crate) fn oldest_item(&mut self) -> Option<Item<M>> {
        if !self.is_in_flight() {
            return None;
        }
        let sequence = self.acknowledged;
        let Some(outgoing) = self.messages.front_mut() else { return Some(Item::End(sequence)) };
        outgoing.is_sent_again = true;
        Some(Item::Message(sequence, outgoing.message.clone()))
    }

    /// Takes all that was sent and is not acknowledged for lost: nothing came in time.
    pub(crate) fn lose_all(&mut self) {
        self.lost_until = self.next;
        self.duplicates = 0;
    }

    /// Takes an acknowledgement in; messages that are not needed any more go to `done`.
    pub(crate) fn acknowledge(
        &mut self,
        acknowledgement: Acknowledgement,
        is_alone: bool,
        now: VirtualTime,
        done: &mut Vec<M>,
    ) -> Progress {
        let Acknowledgement { expected, limit } = acknowledgement;
        assert!(expected <= self.next, "{expected} is acknowledged, and {} was not sent", self.next);
        let is_same_limit = limit <= self.limit;
        self.set_limit(limit);
        if expected < self.acknowledged {
            return Progress::default();
        }
        if expected == self.acknowledged {
            // Only what says nothing else is a sign that something arrived out of order.
            if !is_alone || !is_same_limit || !self.is_in_flight() {
                return Progress::default();
            }
            self.duplicates += 1;
            let is_oldest_lost = self.duplicates == DUPLICATES && self.lost_until <= self.acknowledged;
            if is_oldest_lost {
                self.lost_until = self.next;
            }
            return Progress { is_oldest_lost, ..Progress::default() };
        }
        let (mut newest_sent_at, mut any_sent_again) = (None, false);
        while self.acknowledged < expected {
            if let Some(outgoing) = self.messages.pop_front() {
                newest_sent_at = Some(outgoing.sent_at);
                any_sent_again |= outgoing.is_sent_again;
                done.push(outgoing.message);
            }
            self.acknowledged += 1;
        }
        self.duplicates = 0;
        Progress {
            is_new: true,
            round_trip: newest_sent_at.filter(|_| !any_sent_again).map(|sent_at| now.since(sent_at)),
            is_oldest_lost: self.is_in_flight() && self.acknowledged < self.lost_until,
        }
    }

    /// Removes all messages.
    pub(crate) fn clear(&mut self, done: &mut Vec<M>) {
        done.extend(self.messages.drain(..).map(|outgoing| outgoing.message));
        self.next = self.acknowledged;
        self.count = self.acknowledged;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> VirtualTime {
        VirtualTime::from_millis(millis)
    }

    /// Returns an outbox that has sent four messages at 0, 1, 2 and 3 ms.
    fn outbox() -> Outbox<char> {
        let mut outbox = Outbox::new(5);
        outbox.set_limit(4);
        for (sequence, message) in (0..).zip("abcd".chars()) {
            outbox.push(message);
            assert_eq!(outbox.next_item(at(sequence)), Some(Item::Message(sequence, message)));
        }
        outbox
    }

    fn acknowledge(outbox: &mut Outbox<char>, expected: u64, now: VirtualTime) -> Progress {
        outbox.acknowledge(Acknowledgement { expected, limit: 4 }, true, now, &mut Vec::new())
    }

    #[test]
    fn both_ends_windows_hold_messages_back() {
        let mut outbox = outbox();
        outbox.push('e');
        assert!(!outbox.has_room());
        assert_eq!(outbox.next_item(at(4)), None);
        assert!(!outbox.is_blocked(), "acknowledgements are still to come");
        acknowledge(&mut outbox, 4, at(5));
        assert!(outbox.is_blocked());
        outbox.set_limit(5);
        assert_eq!(outbox.next_item(at(6)), Some(Item::Message(4, 'e')));
    }

    #[test]
    fn only_what_was_sent_once_measures_a_round_trip() {
        let mut outbox = outbox();
        assert_eq!(acknowledge(&mut outbox, 2, at(11)).round_trip, Some(VirtualDuration::from_millis(10)));
        assert_eq!(outbox.oldest_item(), Some(Item::Message(2, 'c')));
        let progress = acknowledge(&mut outbox, 4, at(12));
        assert_eq!((progress.is_new, progress.round_trip), (true, None));
    }

    #[test]
    fn three_equal_acknowledgements_tell_of_a_loss_once() {
        let mut outbox = outbox();
        let lost = [(); 6].map(|()| acknowledge(&mut outbox, 0, at(9)).is_oldest_lost);
        assert_eq!(lost, [false, false, true, false, false, false]);
        // The gap is not the only one: an acknowledgement of less than was sent then tells of the next.
        assert!(acknowledge(&mut outbox, 2, at(9)).is_oldest_lost);
        assert!(!acknowledge(&mut outbox, 4, at(9)).is_oldest_lost);
    }

    #[test]
    fn the_end_comes_after_all_messages_whatever_the_window() {
        let mut outbox = outbox();
        outbox.finish();
        assert_eq!(outbox.next_item(at(4)), Some(Item::End(4)));
        assert_eq!(outbox.next_item(at(4)), None);
        acknowledge(&mut outbox, 4, at(5));
        assert!(!outbox.is_complete());
        assert_eq!(outbox.oldest_item(), Some(Item::End(4)));
        acknowledge(&mut outbox, 5, at(6));
        assert!(outbox.is_complete() && !outbox.is_in_flight());
    }
}
