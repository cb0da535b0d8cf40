//! Mistakes about which link state is the newer one, and about what a router hears of itself.

use crate::behaviour::{Behaviour, Correct};
use crate::packet::{LinkState, RouterNumber};
use crate::router::Router;

/// Numbers have two bits and come round, so of two that are two apart neither is the newer one. Shows where a router has
/// three neighbours and its third link state overtakes the second.
///
/// Seen in: RFC 789, the day on which the ARPANET's numbers came round (there six bits).
#[derive(Debug)]
pub(super) struct NumbersComeRound;

impl Behaviour for NumbersComeRound {
    fn is_news(&self, router: &Router, state: &LinkState, _from: RouterNumber) -> bool {
        let known = router.network.sequence(state.origin);
        known.is_none_or(|known| matches!(state.sequence.wrapping_sub(known) % 4, 1))
    }
}

/// A link state has to have the number after the one that is known, as packets of a stream do. Shows where one is overtaken
/// by the next.
///
/// Seen in: FRRouting/frr issue 6304, an exchange that begins anew because of a number that is not the next.
#[derive(Debug)]
pub(super) struct WaitsForTheNextNumber;

impl Behaviour for WaitsForTheNextNumber {
    fn is_news(&self, router: &Router, state: &LinkState, _from: RouterNumber) -> bool {
        router.network.sequence(state.origin).is_none_or(|known| state.sequence == known + 1)
    }
}

/// A link state that comes within a millisecond of the last one of its origin is dropped, to calm the network down, and
/// nobody sends it again.
///
/// Seen in: zebra-rs/zebra-rs pull request 913, `MinLSArrival` with an acknowledgement of what was dropped.
#[derive(Debug)]
pub(super) struct DropsNewsThatComesSoon;

impl Behaviour for DropsNewsThatComesSoon {
    fn is_news(&self, router: &Router, state: &LinkState, from: RouterNumber) -> bool {
        let last = router.heard.iter().rfind(|heard| heard.is_stored && heard.origin == state.origin);
        let is_soon = last.is_some_and(|last| router.now.saturating_sub(last.at).as_micros() < 1_000);
        !is_soon && Correct.is_news(router, state, from)
    }
}

/// Numbers are compared with what the same neighbour said before, so that an older link state that comes on another way
/// takes the place of a newer one. Shows in circles.
///
/// Seen in: FRRouting/frr issue 14666, an old router LSA that stays beside the new one and is passed on.
#[derive(Debug)]
pub(super) struct ComparesWithTheSameNeighbour;

impl Behaviour for ComparesWithTheSameNeighbour {
    fn is_news(&self, router: &Router, state: &LinkState, from: RouterNumber) -> bool {
        let same = router.heard.iter().filter(|heard| heard.from == from && heard.origin == state.origin);
        state.origin != router.number
            && same.map(|heard| heard.sequence).max().is_none_or(|known| state.sequence > known)
    }
}

/// A link state's number is the time in milliseconds, so that two of one millisecond have one number.
///
/// Seen in: FRRouting/frr pull request 15460, a change with no time in between that was taken for none.
#[derive(Debug)]
pub(super) struct NumbersAreMilliseconds;

impl Behaviour for NumbersAreMilliseconds {
    fn next_number(&self, router: &Router) -> u32 {
        u32::try_from(router.now.as_millis()).unwrap_or(u32::MAX)
    }
}

/// A router that hears of itself goes on from the number that it hears, also if its own is greater.
///
/// Seen in: FRRouting/frr pull request 20601, an own LSA of before a restart that took the place of the present one.
#[derive(Debug)]
pub(super) struct GoesOnFromTheEcho;

impl Behaviour for GoesOnFromTheEcho {
    fn hears_of_itself(&self, router: &mut Router, state: &LinkState) {
        router.sequence = state.sequence;
    }
}

/// A link state of a router that nobody has told of a link to is dropped. Shows where it comes before that of a router on
/// the way.
///
/// Seen in: eclipse-zenoh/zenoh pull request 390, link states with links to who was not known yet.
#[derive(Debug)]
pub(super) struct DropsNewsOfTheUnknown;

impl Behaviour for DropsNewsOfTheUnknown {
    fn is_news(&self, router: &Router, state: &LinkState, from: RouterNumber) -> bool {
        let is_linked = |known: &LinkState| known.links.iter().any(|link| link.to == state.origin);
        let is_known = state.origin == from || router.network.states().any(is_linked);
        is_known && Correct.is_news(router, state, from)
    }
}

/// What a neighbour says in its first five milliseconds is the exchange of databases, and is stored whatever its number
/// is.
///
/// Seen in: FRRouting/frr issue 16197, an LSA of the milliseconds in which neighbours come up that has its way for good.
#[derive(Debug)]
pub(super) struct BelievesTheExchange;

impl Behaviour for BelievesTheExchange {
    fn stores(&self, router: &Router, state: &LinkState, from: RouterNumber) -> bool {
        let is_new = router.up_since(from).is_some_and(|since| since.as_millis() < 5);
        state.origin != router.number && (is_new || self.is_news(router, state, from))
    }
}
