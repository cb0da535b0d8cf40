//! What an end of a stream has received.

use std::collections::VecDeque;

use super::segment::Acknowledgement;

/// Puts messages in order, and keeps them until they are received.
#[derive(Debug)]
pub(crate) struct Inbox<M> {
    /// Messages that are in order, oldest first.
    ready: VecDeque<M>,
    /// Messages that overtook others: the first place is that of the sequence number `expected`.
    early: VecDeque<Option<M>>,
    /// All before this sequence number have arrived.
    expected: u64,
    /// Where the other end's messages end, if that is known.
    end: Option<u64>,
    /// How many messages there is room for.
    window_max: u64,
    /// The greatest limit that the other end was told. It is never taken back.
    told_limit: u64,
}

impl<M> Inbox<M> {
    pub(crate) fn new(window_max: u64) -> Self {
        Self {
            ready: VecDeque::new(),
            early: VecDeque::new(),
            expected: 0,
            end: None,
            window_max,
            told_limit: window_max,
        }
    }

    /// Takes a message in. Gives it back if it has arrived before, or if there is no room for it.
    pub(crate) fn accept(&mut self, sequence: u64, message: M) -> Result<(), M> {
        if sequence < self.expected || sequence >= self.told_limit {
            return Err(message);
        }
        let place = (sequence - self.expected) as usize;
        if self.early.len() <= place {
            self.early.resize_with(place + 1, || None);
        }
        if self.early[place].is_some() {
            return Err(message);
        }
        self.early[place] = Some(message);
        while let Some(Some(_)) = self.early.front() {
            self.ready.extend(self.early.pop_front().flatten());
            self.expected += 1;
        }
        self.accept_end();
        Ok(())
    }

    /// Notes that there are no messages from this sequence number on.
    pub(crate) fn accept_fin(&mut self, sequence: u64) {
        self.end = Some(sequence);
        self.accept_end();
    }

    fn accept_end(&mut self) {
        if self.end == Some(self.expected) {
            self.expected += 1;
        }
    }

    /// Returns whether everything has arrived that the other end will ever send.
    pub(crate) fn is_complete(&self) -> bool {
        self.end.is_some_and(|end| end < self.expected)
    }

    /// Returns whether a message with this sequence number has not arrived yet, as far as it is in order.
    pub(crate) fn is_new(&self, sequence: u64) -> bool {
        sequence >= self.expected
    }

    /// Returns whether messages wait to be received.
    pub(crate) fn has_unread(&self) -> bool {
        !self.ready.is_empty()
    }

    /// Removes the oldest message that waits.
    pub(crate) fn pop(&mut self) -> Option<M> {
        self.ready.pop_front()
    }

    /// Returns whether there is so much more room than the other end knows that it should be told: half of the whole,
    /// as Clark has it in RFC 813, so that a slow reader is not sent one message at a time.
    pub(crate) fn should_tell(&self) -> bool {
        !self.is_complete() && self.limit() - self.told_limit >= (self.window_max / 2).max(1)
    }

    /// Returns the greatest limit that the other end was told.
    pub(crate) fn told_limit(&self) -> u64 {
        self.told_limit
    }

    /// Returns what the other end is to be told, and notes that it was.
    pub(crate) fn acknowledge(&mut self) -> Acknowledgement {
        self.told_limit = self.limit();
        Acknowledgement { expected: self.expected, limit: self.told_limit }
    }

    /// Returns the first sequence number that there is no room for. It only grows: what arrives in order moves both
    /// numbers that it is made of.
    fn limit(&self) -> u64 {
        let arrived = self.expected - u64::from(self.is_complete());
        arrived + self.window_max - self.ready.len() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_out_in_order_and_once() {
        let mut inbox = Inbox::new(4);
        assert_eq!(inbox.accept(2, 'c'), Ok(()));
        assert_eq!(inbox.accept(2, 'c'), Err('c'));
        assert_eq!((inbox.acknowledge().expected, inbox.pop()), (0, None));
        assert_eq!(inbox.accept(0, 'a'), Ok(()));
        assert_eq!(inbox.accept(1, 'b'), Ok(()));
        assert_eq!(inbox.accept(0, 'a'), Err('a'));
        assert_eq!(inbox.acknowledge().expected, 3);
        assert_eq!([inbox.pop(), inbox.pop(), inbox.pop(), inbox.pop()], [Some('a'), Some('b'), Some('c'), None]);
    }

    #[test]
    fn an_end_counts_once_all_before_it_is_there() {
        let mut inbox = Inbox::new(4);
        inbox.accept_fin(1);
        assert!(!inbox.is_complete());
        assert_eq!(inbox.accept(0, 'a'), Ok(()));
        assert!(inbox.is_complete());
        assert_eq!(inbox.acknowledge(), Acknowledgement { expected: 2, limit: 4 });
        inbox.accept_fin(1);
        assert_eq!(inbox.acknowledge().expected, 2);
    }

    #[test]
    fn room_is_told_when_half_of_it_is_new() {
        let mut inbox = Inbox::new(4);
        (0..4).for_each(|sequence| assert_eq!(inbox.accept(sequence, sequence), Ok(())));
        assert_eq!(inbox.acknowledge().limit, 4);
        assert_eq!(inbox.accept(4, 4), Err(4));
        inbox.pop();
        assert!(!inbox.should_tell());
        inbox.pop();
        assert!(inbox.should_tell());
        assert_eq!(inbox.acknowledge().limit, 6);
        assert!(!inbox.should_tell());
    }
}
