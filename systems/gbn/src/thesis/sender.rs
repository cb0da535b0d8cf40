//! The sender: a window of segments on their way, and one timer for the oldest of them.

use simutant_sim_core::{Address, Context, TimedOut, VirtualDuration};

use super::{Dat, GbnMessage, SEGMENT_BYTES, SEQUENCE_NUMBERS};

/// How long the oldest segment may stay unacknowledged: a round trip of 20 ms, and some patience.
const TIMEOUT: VirtualDuration = VirtualDuration::from_millis(25);

/// The most segments that are on their way at a time.
const WINDOW_MAX: u32 = 16;

/// Sends a file of `bytes` bytes to a receiver, and returns how many bytes of it were acknowledged: all.
pub async fn sender(context: Context<GbnMessage>, receiver: Address, bytes: u64) -> u64 {
    let mut channel = context.channel();
    let segments = bytes.div_ceil(u64::from(SEGMENT_BYTES)) as u32;
    let mut window = Window::new();
    let mut deadline = context.now();
    while window.base < segments {
        if window.next == window.base {
            // Nothing is on its way: the segment that goes now will be the oldest.
            deadline = context.now() + TIMEOUT;
        }
        while window.next < segments && window.has_room() {
            channel.send(receiver, segment(window.next, bytes));
            window.advance();
        }
        match channel.recv_timeout(deadline - context.now()).await {
            Ok(delivery) => {
                if window.acknowledge(delivery.message.into_ack().next) {
                    deadline = context.now() + TIMEOUT;
                }
            }
            Err(TimedOut) => window.go_back(),
        }
    }
    assert_eq!(window.base, segments, "more was acknowledged than there is");
    u64::min(u64::from(window.base) * u64::from(SEGMENT_BYTES), bytes)
}

/// Returns the segment of the file with this index; the last one may be short.
fn segment(index: u32, bytes: u64) -> Dat {
    let offset = u64::from(index) * u64::from(SEGMENT_BYTES);
    assert!(offset < bytes, "segment {index} begins at {offset}, after the end of the file");
    let mut length = SEGMENT_BYTES;
    if bytes - offset < u64::from(SEGMENT_BYTES) {
        length = (bytes - offset) as u32;
    }
    Dat { sequence: index % SEQUENCE_NUMBERS, offset, length }
}

/// Which segments are on their way: those from `base` up to, but not including, `next`. Indices count on where sequence
/// numbers begin again.
struct Window {
    /// The oldest segment that is not acknowledged.
    base: u32,
    /// The segment to be sent next.
    next: u32,
    /// The first segment that was never sent. It is above `next` after going back.
    unsent: u32,
    /// How many segments may be on their way.
    size: u32,
    /// How many segments were acknowledged since the size changed last.
    acknowledged: u32,
}

impl Window {
    fn new() -> Self {
        Self { base: 0, next: 0, unsent: 0, size: 1, acknowledged: 0 }
    }

    fn has_room(&self) -> bool {
        self.next < self.base + self.size
    }

    /// Notes that segment `next` was sent.
    fn advance(&mut self) {
        self.next += 1;
        if self.unsent < self.next {
            self.unsent = self.next;
        }
        self.check();
    }

    /// Notes that the receiver expects the segment with sequence number `next`, and returns whether that is news. After
    /// a full window of news without a timeout, the window grows.
    fn acknowledge(&mut self, next: u32) -> bool {
        let news = (next + SEQUENCE_NUMBERS - self.base % SEQUENCE_NUMBERS) % SEQUENCE_NUMBERS;
        if news == 0 || news > self.unsent - self.base {
            assert!(news == 0 || SEQUENCE_NUMBERS - news <= WINDOW_MAX, "{next} was acknowledged, but never sent");
            return false;
        }
        self.acknowledged += news;
        self.base += news;
        if self.next < self.base {
            // Sent before going back, and acknowledged only now.
            self.next = self.base;
        }
        if self.acknowledged >= self.size {
            self.acknowledged = 0;
            if self.size < WINDOW_MAX {
                self.size += 1;
            }
        }
        self.check();
        true
    }

    /// Makes every unacknowledged segment be sent again, through a window of half the size.
    fn go_back(&mut self) {
        self.next = self.base;
        self.acknowledged = 0;
        if self.size > 1 {
            self.size /= 2;
        }
        self.check();
    }

    fn check(&self) {
        assert!(self.size >= 1, "the window is closed");
        assert!(self.size <= WINDOW_MAX, "the window has {} segments", self.size);
        assert!(self.acknowledged < self.size, "the window should have grown");
        assert!(self.base <= self.next, "segment {} is unacknowledged, {} is next", self.base, self.next);
        assert!(self.next <= self.base + self.size, "segment {} was sent outside the window", self.next - 1);
        assert!(self.next <= self.unsent, "segment {} counts as sent", self.next - 1);
    }
}
