//! The decisions of servers and clients, each in a function of its own.
//!
//! The functions as they stand here are right. A fault is a [`Behaviour`] that gets one of them wrong.

use simutant_programs::Damaged;
use simutant_programs::quorum::majority;

use super::message::{Content, Timestamp};

/// What servers and clients decide in each situation.
pub trait Behaviour: std::fmt::Debug + Sync {
    /// Both: returns whether what is offered replaces what is held.
    fn is_newer(&self, offered: Timestamp, held: Timestamp) -> bool {
        offered > held
    }

    /// Server: returns how many writes it gathers before it appends them to its log.
    fn gathers(&self) -> usize {
        1
    }

    /// Both: returns what becomes of lines that are not as their checksums say.
    fn damaged(&self) -> Damaged {
        Damaged::Refused
    }

    /// Client: the quorum function of a read. It returns the newest of the replies, once a majority has answered.
    fn reads(&self, replies: &[Content], servers: usize) -> Option<Content> {
        let newer = |held: Content, offered: &Content| {
            if self.is_newer(offered.timestamp, held.timestamp) { *offered } else { held }
        };
        (replies.len() >= majority(servers)).then(|| replies.iter().fold(Content::default(), newer))
    }

    /// Client: the quorum function of a write. It returns something once so many acknowledgements are a majority.
    fn writes(&self, acknowledgements: usize, servers: usize) -> Option<()> {
        (acknowledgements >= majority(servers)).then_some(())
    }

    /// Client: returns whether an atomic read writes back what it has read.
    fn writes_back(&self) -> bool {
        true
    }

    /// Client: returns whether a write waits for acknowledgements, and not only until its request is sent.
    fn awaits_acknowledgements(&self) -> bool {
        true
    }
}

/// The register as it should be.
#[derive(Debug)]
pub struct Correct;

impl Behaviour for Correct {}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns all lists of so many contents, of which each has been written with one of `numbers`.
    fn lists(length: usize, numbers: u64) -> Vec<Vec<Content>> {
        let longer = |lists: Vec<Vec<Content>>| {
            let extended =
                |list: Vec<Content>| (0..numbers).map(move |number| [&list[..], &[content(number)]].concat());
            lists.into_iter().flat_map(extended).collect()
        };
        (0..length).fold(vec![Vec::new()], |lists, _| longer(lists))
    }

    fn content(number: u64) -> Content {
        let value = (number > 0).then_some(10 * number);
        Content { timestamp: Timestamp { number, writer: number.min(1) }, value }
    }

    /// Calls `check` with each list of replies that is possible, and the number of servers.
    fn for_each_list(mut check: impl FnMut(&[Content], usize)) {
        for servers in 1..=5 {
            for replies in (0..=servers).flat_map(|length| lists(length, 3)) {
                check(&replies, servers);
            }
        }
    }

    fn numbers(replies: &[Content]) -> impl Iterator<Item = u64> {
        replies.iter().map(|reply| reply.timestamp.number)
    }

    #[test]
    fn a_read_returns_the_newest_of_a_majority() {
        for_each_list(|replies, servers| {
            let expect = (2 * replies.len() > servers).then(|| content(numbers(replies).max().expect("not empty")));
            assert_eq!(Correct.reads(replies, servers), expect, "{replies:?} of {servers}");
        });
    }

    #[test]
    fn a_read_of_the_lowest_returns_the_oldest_of_a_majority() {
        let fault = crate::faults::find("reads-lowest");
        for_each_list(|replies, servers| {
            let expect = (2 * replies.len() > servers).then(|| content(numbers(replies).min().expect("not empty")));
            assert_eq!(fault.reads(replies, servers), expect, "{replies:?} of {servers}");
        });
    }

    /// Table 1 of Wang, Kristensen, Meling and Stolz (ToPNoC XIII, 2018) has 17 tests of quorum functions for a read
    /// beside a write: these lists of replies, and one, two or three acknowledgements.
    #[test]
    fn three_servers_of_which_each_may_have_the_write_answer_in_fourteen_ways() {
        let count = (1..=3).map(|length| lists(length, 2).len()).sum::<usize>();
        assert_eq!(count, 14);
    }

    #[test]
    fn a_write_needs_a_majority_and_with_a_fault_less_than_one() {
        let fault = crate::faults::find("quorum-of-less");
        for servers in 1..=5 {
            for acknowledgements in 0..=servers {
                let is_majority = 2 * acknowledgements > servers;
                assert_eq!(Correct.writes(acknowledgements, servers).is_some(), is_majority);
                assert_eq!(fault.writes(acknowledgements, servers).is_some(), !is_majority);
            }
        }
    }

    #[test]
    fn writers_order_writes_of_one_number_but_for_a_fault() {
        let [low, high, next] = [(1, 1), (1, 2), (2, 1)].map(|(number, writer)| Timestamp { number, writer });
        let fault = crate::faults::find("ignores-writers");
        for (offered, held, expect) in [(low, high, [false, true]), (high, low, [true; 2]), (low, low, [false, true])] {
            assert_eq!(
                [Correct.is_newer(offered, held), fault.is_newer(offered, held)],
                expect,
                "{offered:?} {held:?}"
            );
        }
        for held in [low, high] {
            assert!(Correct.is_newer(next, held) && fault.is_newer(next, held));
            assert!(!Correct.is_newer(held, next) && !fault.is_newer(held, next));
        }
        let content = |timestamp, value| Content { timestamp, value: Some(value) };
        let replies = [content(high, 7), content(low, 8)];
        assert_eq!(Correct.reads(&replies, 3), Some(replies[0]));
        assert_eq!(fault.reads(&replies, 3), Some(replies[1]), "the last one to answer");
    }
}
