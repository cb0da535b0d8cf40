//! The sender's window: which packets are on their way, and how many may be.

/// How many packets may be on their way at the start.
pub(super) const WINDOW_START: u32 = 4;

/// The most packets that are on their way at a time.
pub(super) const WINDOW_MAX: u32 = 32;

/// As long as nothing was lost the window grows by this factor; with every timeout it shrinks by it.
pub(super) const WINDOW_FACTOR: u32 = 2;

/// How many packets the window grows by after the first timeout.
pub(super) const WINDOW_STEP: u32 = 1;

/// Which packets are on their way: those from `base` up to, but not including, `next`. Packets are counted from 0 on,
/// where sequence numbers begin again.
#[derive(Debug)]
pub(super) struct SendWindow {
    /// The oldest packet that is not acknowledged.
    pub(super) base: u32,
    /// The packet to be sent next.
    pub(super) next: u32,
    /// The end mark: the last packet.
    pub(super) end: u32,
    /// The first packet that was never sent. It is above `next` after going back.
    unsent: u32,
    /// How many packets may be on their way.
    size: u32,
    /// How many packets were acknowledged since the size changed last.
    acknowledged: u32,
    /// Whether there was a timeout.
    has_timed_out: bool,
}

impl SendWindow {
    /// Returns the window of a transfer whose end mark is packet `end`.
    pub(super) fn new(end: u32) -> Self {
        Self { base: 0, next: 0, end, unsent: 0, size: WINDOW_START, acknowledged: 0, has_timed_out: false }
    }

    /// Returns whether packet `next` may be sent.
    pub(super) fn has_room(&self) -> bool {
        self.next <= self.end && self.next < self.base + self.size
    }

    /// Notes that packet `next` was sent.
    pub(super) fn sent(&mut self) {
        self.next += 1;
        if self.unsent < self.next {
            self.unsent = self.next;
        }
        self.check();
    }

    /// Notes that the receiver has `news` packets from `base` on. After a full window of news without a timeout, the
    /// window grows.
    ///
    /// # Panics
    /// If some of them were never sent. Acknowledgements do not overtake each other, so none is of the past.
    pub(super) fn acknowledge(&mut self, news: u32) {
        assert!(news <= self.unsent - self.base, "{news} packets were acknowledged, but not sent");
        self.base += news;
        if self.next < self.base {
            // Sent before going back, and acknowledged only now.
            self.next = self.base;
        }
        self.acknowledged += news;
        if self.acknowledged >= self.size {
            self.grow();
        }
        self.check();
    }

    /// Lets more packets be on their way: twice as many until the first timeout, one more after it.
    fn grow(&mut self) {
        self.acknowledged = 0;
        let grown = if self.has_timed_out { self.size + WINDOW_STEP } else { self.size * WINDOW_FACTOR };
        self.size = u32::min(grown, WINDOW_MAX);
    }

    /// Makes every unacknowledged packet be sent again, through a window of half the size.
    pub(super) fn go_back(&mut self) {
        self.next = self.base;
        self.acknowledged = 0;
        self.has_timed_out = true;
        if self.size > 1 {
            self.size /= WINDOW_FACTOR;
        }
        self.check();
    }

    fn check(&self) {
        assert!(self.size >= 1, "the window is closed");
        assert!(self.size <= WINDOW_MAX, "the window has {} packets", self.size);
        assert!(self.acknowledged < self.size, "the window should have grown");
        assert!(self.base <= self.next, "packet {} is unacknowledged, {} is next", self.base, self.next);
        assert!(self.next <= self.base + self.size, "packet {} was sent outside the window", self.next - 1);
        assert!(self.next <= self.unsent, "packet {} counts as sent", self.next - 1);
        assert!(self.unsent <= self.end + 1, "packet {} was sent, after the end mark", self.unsent - 1);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What happens to a window.
    #[derive(Debug, Clone, Copy)]
    enum Step {
        /// All that may be sent is sent, and so many of the packets on their way are acknowledged.
        Acknowledged(u32),
        /// All that may be sent is sent, and nothing is acknowledged in time.
        TimedOut,
    }

    fn steps() -> impl Strategy<Value = Vec<Step>> {
        let step = prop_oneof![4 => (1..=WINDOW_MAX).prop_map(Step::Acknowledged), 1 => Just(Step::TimedOut)];
        prop::collection::vec(step, 1..60)
    }

    fn send_all(window: &mut SendWindow) -> u32 {
        let mut sent = 0;
        while window.has_room() {
            window.sent();
            sent += 1;
        }
        sent
    }

    proptest! {
        /// The rule of the window, told once more: never more than 32 packets, twice as many after each window that is
        /// acknowledged until the first timeout and one more after it, half as many after a timeout and at least one.
        #[test]
        fn the_window_grows_and_shrinks_by_its_rule(steps in steps()) {
            let mut window = SendWindow::new(100_000);
            let (mut size, mut credit, mut has_timed_out) = (4, 0, false);
            for step in steps {
                send_all(&mut window);
                let in_flight = window.next - window.base;
                prop_assert_eq!(in_flight, size);
                match step {
                    Step::Acknowledged(packets) => {
                        let news = packets.min(in_flight);
                        let base = window.base;
                        window.acknowledge(news);
                        prop_assert_eq!(window.base, base + news);
                        credit += news;
                        if credit >= size {
                            credit = 0;
                            size = if has_timed_out { size + 1 } else { 2 * size }.min(32);
                        }
                    }
                    Step::TimedOut => {
                        window.go_back();
                        prop_assert_eq!(window.next, window.base);
                        credit = 0;
                        has_timed_out = true;
                        size = (size / 2).max(1);
                    }
                }
            }
        }

        /// What was sent before going back counts when it is acknowledged, although less was sent again.
        #[test]
        fn an_acknowledgement_from_before_a_timeout_counts(news in 1..=WINDOW_START) {
            let mut window = SendWindow::new(100);
            send_all(&mut window);
            window.go_back();
            window.sent();
            window.acknowledge(news);
            prop_assert_eq!((window.base, window.next), (news, news));
        }

        /// Nothing is sent behind the end mark, however small the file is.
        #[test]
        fn the_end_mark_is_the_last_packet(end in 0_u32..100) {
            let mut window = SendWindow::new(end);
            let mut sent = 0;
            while window.base <= window.end {
                let more = send_all(&mut window);
                window.acknowledge(more);
                sent += more;
            }
            prop_assert_eq!(sent, end + 1);
            prop_assert!(!window.has_room());
        }
    }

    #[test]
    #[should_panic(expected = "5 packets were acknowledged, but not sent")]
    fn what_was_not_sent_cannot_be_acknowledged() {
        let mut window = SendWindow::new(100);
        send_all(&mut window);
        window.acknowledge(WINDOW_START + 1);
    }
}
