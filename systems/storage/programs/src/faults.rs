//! Mistakes that people make with replicated registers. `--fault NAME` makes a program behave so.
//!
//! Each passes where one client makes its calls and all servers are there. To fail, all need servers that crash, or
//! that are later than others, or clients beside each other.

use simutant_programs::Damaged;
use simutant_programs::quorum::majority;

use super::behaviour::Behaviour;
use super::message::{Content, Timestamp};

/// Every fault by its name, sorted.
pub const ALL: [(&str, &dyn Behaviour); 7] = [
    ("counts-without-acknowledgement", &CountsWithoutAcknowledgement),
    ("forgets-in-a-crash", &ForgetsInACrash),
    ("ignores-writers", &IgnoresWriters),
    ("quorum-of-less", &QuorumOfLess),
    ("reads-lowest", &ReadsLowest),
    ("skips-write-back", &SkipsWriteBack),
    ("trusts-damaged-lines", &TrustsDamagedLines),
];

/// Returns the fault of a name.
#[cfg(test)]
pub(crate) fn find(name: &str) -> &'static dyn Behaviour {
    ALL.iter().find(|(known, _)| *known == name).expect("there is such a fault").1
}

/// A write counts a server as soon as it has sent to it.
///
/// The connection took the line without an error, so it seems to have arrived. Shows when servers crash with lines that
/// they have not read, or when lines take longer than a read of another client: it returns what was there before.
#[derive(Debug)]
struct CountsWithoutAcknowledgement;

impl Behaviour for CountsWithoutAcknowledgement {
    fn awaits_acknowledgements(&self) -> bool {
        false
    }
}

/// A server answers first, and appends every eight writes to its log together.
///
/// A write to a file for each line is slow, and a majority has the value anyway. Shows when so many servers crash, at
/// once or one after the other, that the rest of those which had it are no quorum: they come back with less.
#[derive(Debug)]
struct ForgetsInACrash;

impl Behaviour for ForgetsInACrash {
    fn gathers(&self) -> usize {
        8
    }
}

/// Timestamps are compared by their numbers alone, and equal ones replace each other.
///
/// That is right for one writer, whose numbers all differ, and lets a request come twice. Shows when two writers take
/// the same number: servers keep the write that arrives last, each another one, and reads go to and fro between both.
#[derive(Debug)]
struct IgnoresWriters;

impl Behaviour for IgnoresWriters {
    fn is_newer(&self, offered: Timestamp, held: Timestamp) -> bool {
        offered.number >= held.number
    }
}

/// A write returns while acknowledgements are fewer than a quorum.
///
/// The test for "not enough yet" has its branches the wrong way round. Shows when a read that follows asks other
/// servers than the first one that answered; where one server is all, no write ever returns. Seen in: one of two errors
/// that Wang, Kristensen, Meling and Stolz (ToPNoC XIII, 2018) injected into quorum functions.
#[derive(Debug)]
struct QuorumOfLess;

impl Behaviour for QuorumOfLess {
    fn writes(&self, acknowledgements: usize, servers: usize) -> Option<()> {
        (acknowledgements < majority(servers)).then_some(())
    }
}

/// A read returns the reply with the lowest timestamp.
///
/// The comparison in the quorum function is the wrong way round. Shows when a server has missed a write, or has it
/// later than others, and is among those that answer first. Seen in: the other error that Wang, Kristensen, Meling and
/// Stolz (ToPNoC XIII, 2018) injected.
#[derive(Debug)]
struct ReadsLowest;

impl Behaviour for ReadsLowest {
    fn reads(&self, replies: &[Content], servers: usize) -> Option<Content> {
        let lowest = replies.iter().min_by_key(|reply| reply.timestamp);
        lowest.copied().filter(|_| replies.len() >= majority(servers))
    }
}

/// An atomic read does not write back.
///
/// A read that changes servers seems odd, and costs twice the time. Shows when two reads follow each other beside a
/// write that few servers have: the first meets one of these, the second does not and returns the older value. A
/// monitor of a regular register lets this pass, as both values may be read.
#[derive(Debug)]
struct SkipsWriteBack;

impl Behaviour for SkipsWriteBack {
    fn writes_back(&self) -> bool {
        false
    }
}

/// Nobody looks at the checksums of lines.
///
/// TCP has one, so each line seems to be what was sent. Shows when a router between the checksums of TCP changes a digit: a
/// value that nobody wrote is read, or a timestamp that nobody made hides the writes that follow.
#[derive(Debug)]
struct TrustsDamagedLines;

impl Behaviour for TrustsDamagedLines {
    fn damaged(&self) -> Damaged {
        Damaged::Trusted
    }
}
