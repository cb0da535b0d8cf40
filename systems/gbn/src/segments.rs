//! The segments of the file: it is read once, and what is on its way is kept for being sent again.

use std::collections::VecDeque;

use super::SEGMENT_BYTES;

/// A piece of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Segment {
    /// Where in the file it begins, in bytes.
    pub(super) offset: u64,
    /// How long it is, in bytes.
    pub(super) length: u32,
}

/// The segments that were read and not acknowledged yet.
#[derive(Debug)]
pub(super) struct Segments {
    /// The length of the file, in bytes.
    bytes: u64,
    /// How many bytes were read.
    read: u64,
    /// How many bytes were acknowledged.
    pub(super) acknowledged: u64,
    kept: VecDeque<Segment>,
}

impl Segments {
    /// Returns those of a file of `bytes` bytes: none was read.
    pub(super) fn new(bytes: u64) -> Self {
        Self { bytes, read: 0, acknowledged: 0, kept: VecDeque::new() }
    }

    /// Returns segment number `place` of those that are kept, counted from 0; the one behind the last of them is read.
    pub(super) fn at(&mut self, place: u32) -> Segment {
        if place as usize == self.kept.len() {
            self.read_next();
        }
        self.kept[place as usize]
    }

    /// Reads the next segment; the last one may be short.
    fn read_next(&mut self) {
        let length = u64::min(self.bytes - self.read, u64::from(SEGMENT_BYTES)) as u32;
        assert!(length >= 1, "nothing is left to be read after byte {}", self.read);
        self.kept.push_back(Segment { offset: self.read, length });
        self.read += u64::from(length);
    }

    /// Forgets the oldest segments, since `packets` packets were acknowledged. The end mark is no segment.
    pub(super) fn acknowledge(&mut self, packets: u32) {
        for _ in 0..packets {
            if let Some(segment) = self.kept.pop_front() {
                self.acknowledged += u64::from(segment.length);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Each segment begins where the one before it ends, also if it is asked for again, and all are the file.
        #[test]
        fn the_segments_are_the_file(bytes in 1_u64..20_000, window in 1_u32..5) {
            let mut segments = Segments::new(bytes);
            let count = bytes.div_ceil(u64::from(SEGMENT_BYTES)) as u32;
            for base in 0..count {
                for place in 0..window.min(count - base) {
                    let segment = segments.at(place);
                    prop_assert_eq!(segment.offset, u64::from(base + place) * u64::from(SEGMENT_BYTES));
                    let is_last = base + place + 1 == count;
                    prop_assert!(segment.length == SEGMENT_BYTES || is_last);
                    prop_assert_eq!(segment.offset + u64::from(segment.length) == bytes, is_last);
                }
                segments.acknowledge(1);
            }
            prop_assert_eq!(segments.acknowledged, bytes);
            segments.acknowledge(1);
            prop_assert_eq!(segments.acknowledged, bytes, "the end mark has no bytes");
        }
    }
}
