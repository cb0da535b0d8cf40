//! Mistakes with the bytes of the file: how it is cut, stored, counted and sent again.

use crate::behaviour::{Arrival, Behaviour, Correct, Progress};
use crate::packet::SEGMENT_BYTES;

/// The sender pads segments that are shorter than 64 bytes.
///
/// Short frames are padded, and where the length of the data is not sent along, the padding is data. Shows with files
/// whose last segment is that short. Seen in: goreplay, which took the padding of Ethernet frames below 64 octets for
/// data (probelabs/goreplay#325); a TFTP client that sent its last block with trailing zeros (xlphs/TFTP#1).
#[derive(Debug)]
pub(super) struct PadsShortSegments;

impl Behaviour for PadsShortSegments {
    fn segment(&self, file: &[u8], number: u32) -> Vec<u8> {
        let mut segment = Correct.segment(file, number);
        segment.resize(segment.len().max(64), 0);
        segment
    }
}

/// The sender strips white space off the file's end.
///
/// Lines of text are stripped as they are read, and so is a file. Shows with files that end with the byte of a space, a
/// tab or a line end. Seen in: rsub, which stripped the newlines that a file ends with (henrikpersson/rsub#14); setec,
/// for binary files (tailscale/setec#82).
#[derive(Debug)]
pub(super) struct StripsWhiteSpace;

impl Behaviour for StripsWhiteSpace {
    fn segment(&self, file: &[u8], number: u32) -> Vec<u8> {
        let segment = Correct.segment(file, number);
        let is_last = number as usize * SEGMENT_BYTES + segment.len() == file.len();
        if is_last { segment.trim_ascii_end().to_vec() } else { segment }
    }
}

/// A file of full segments has an empty one behind them, which is no packet.
///
/// `bytes / length + 1` counts the segments of all files but those. Shows with files whose length is a multiple of a
/// segment's. Seen in: PyPXE's TFTP (pypxe/PyPXE#96), fx-tftp (drbig/fx-tftp#4) and AElf (AElfProject/AElf#576), each of
/// which got the end of just such files wrong.
#[derive(Debug)]
pub(super) struct CountsOneSegmentMore;

impl Behaviour for CountsOneSegmentMore {
    fn segments(&self, bytes: usize) -> usize {
        bytes / SEGMENT_BYTES + 1
    }
}

/// The sender has room for two hundred segments.
///
/// All packets are made before the first is sent, in an array that was large enough for the files of the tests. Shows
/// with large files. Seen in: gr-control, where files above 148 KB ran out of an array (duggabe/gr-control#10).
#[derive(Debug)]
pub(super) struct RoomForTwoHundredSegments;

impl Behaviour for RoomForTwoHundredSegments {
    fn segments(&self, bytes: usize) -> usize {
        let segments = Correct.segments(bytes);
        assert!(segments <= 200, "no room for {segments} segments");
        segments
    }
}

/// The receiver has room for 256 KiB.
///
/// The file is put together in memory and written at its end. Shows with large files. Seen in: fsx-rs, which crashed
/// with files larger than 256 kB, since its buffers had that size (asomers/fsx-rs#17).
#[derive(Debug)]
pub(super) struct RoomForQuarterMegabyte;

impl Behaviour for RoomForQuarterMegabyte {
    fn takes(&self, arrival: &Arrival) -> Option<u32> {
        let offset = arrival.expected as usize * SEGMENT_BYTES;
        assert!(arrival.is_end || offset < 256 * 1_024, "there is no room for byte {offset}");
        Correct.takes(arrival)
    }
}

/// The sender reports its progress in percent of the segments after the first.
///
/// The first one starts the bar at 0 %, the last one ends it at 100 %. A file of one segment has none after the first.
/// Shows with such files. Seen in: dash-uploader, which divided by zero with small files (fohrloop/dash-uploader#101).
#[derive(Debug)]
pub(super) struct ReportsProgress;

impl Behaviour for ReportsProgress {
    fn acknowledged(&self, progress: &Progress, next_expected: u32) -> Option<u32> {
        let last_segment = progress.packets - 2;
        let _percent = 100 * next_expected / last_segment;
        Correct.acknowledged(progress, next_expected)
    }
}
