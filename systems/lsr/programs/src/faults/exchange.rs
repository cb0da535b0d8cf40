//! Mistakes with neighbours that come up: greetings, and what they are told then.

use std::time::Duration;

use crate::behaviour::{Behaviour, Correct};
use crate::packet::{LinkState, RouterNumber};
use crate::router::Router;

/// A greeting is not answered within two milliseconds of the last one that was, so as not to be flooded. Who has heard no
/// other greeting takes the link for down.
///
/// Seen in: FRRouting/frr pull request 23158, answers to repeated packets, which have to be paced.
#[derive(Debug)]
pub(super) struct AnswersTooSeldom;

impl Behaviour for AnswersTooSeldom {
    fn answers(&self, router: &Router) -> bool {
        router.up_at.last().is_none_or(|last| router.now.saturating_sub(*last) >= Duration::from_millis(2))
    }
}

/// Any packet of a neighbour brings the link up. Who comes up by a link state and not by a greeting is told nothing of what
/// it missed.
///
/// Seen in: FRRouting/frr pull request 9760, LS Updates that counted as Hellos.
#[derive(Debug)]
pub(super) struct TakesNewsForGreeting;

impl Behaviour for TakesNewsForGreeting {
    fn takes_news_for_greeting(&self) -> bool {
        true
    }
}

/// A neighbour that has not greeted is not listened to, and what it says is not said again. Shows where a link state
/// overtakes the greeting before it, but not if it is of the neighbour itself.
///
/// Seen in: markverick/ns3-ospf issue 18, LSAs that were lost while a neighbour was coming up.
#[derive(Debug)]
pub(super) struct DropsNewsBeforeGreeting;

impl Behaviour for DropsNewsBeforeGreeting {
    fn is_news(&self, router: &Router, state: &LinkState, from: RouterNumber) -> bool {
        (state.origin == from || router.is_up(from)) && Correct.is_news(router, state, from)
    }
}

/// A neighbour is told the first two link states, which fill a packet, and not that there are more.
///
/// Seen in: markverick/ns3-ospf issue 19, database descriptions of more than one packet.
#[derive(Debug)]
pub(super) struct TellsTwoStates;

impl Behaviour for TellsTwoStates {
    fn missed<'a>(&self, router: &'a Router, _neighbour: RouterNumber) -> Vec<&'a LinkState> {
        router.network.states().take(2).collect()
    }
}

/// Of two neighbours the one with the greater number tells what it knows, and the other one nothing.
///
/// Seen in: FRRouting/frr issue 6304, routers that do not agree on who is the master of an exchange.
#[derive(Debug)]
pub(super) struct OnlyTheMasterTells;

impl Behaviour for OnlyTheMasterTells {
    fn missed<'a>(&self, router: &'a Router, neighbour: RouterNumber) -> Vec<&'a LinkState> {
        router.network.states().filter(|_| router.number > neighbour).collect()
    }
}

/// A neighbour is told of the routers that there is a path to at that moment. Shows where parts of the network are joined
/// that know of each other, but not of a path yet.
///
/// Seen in: zebra-rs/zebra-rs pull request 1817, a router that came up late and stayed unreachable for all.
#[derive(Debug)]
pub(super) struct TellsOfTheReachable;

impl Behaviour for TellsOfTheReachable {
    fn missed<'a>(&self, router: &'a Router, _neighbour: RouterNumber) -> Vec<&'a LinkState> {
        router.network.states().filter(|state| router.paths.contains_key(&state.origin)).collect()
    }
}

/// A router tells what it knows to two neighbours, and the third is told nothing: the first two exchanges never end.
///
/// Seen in: zebra-rs/zebra-rs pull request 1240, exchanges of databases that never were complete.
#[derive(Debug)]
pub(super) struct TellsTwoNeighbours;

impl Behaviour for TellsTwoNeighbours {
    fn missed<'a>(&self, router: &'a Router, _neighbour: RouterNumber) -> Vec<&'a LinkState> {
        router.network.states().filter(|_| router.up.len() < 2).collect()
    }
}

/// A neighbour is told only link states that were told anew since the first time: one with the first number passes for an
/// empty entry.
///
/// Seen in: FRRouting/frr pull request 961, entries that were empty at first and stayed out of the paths.
#[derive(Debug)]
pub(super) struct TellsNoFirstStates;

impl Behaviour for TellsNoFirstStates {
    fn missed<'a>(&self, router: &'a Router, _neighbour: RouterNumber) -> Vec<&'a LinkState> {
        router.network.states().filter(|state| state.sequence > 1).collect()
    }
}

/// Nothing is passed on to a neighbour in the first three milliseconds after it came up: it is told all anyway. But what
/// it is told was put together before.
///
/// Seen in: zebra-rs/zebra-rs pull request 2251, what is flooded to neighbours that are still being told.
#[derive(Debug)]
pub(super) struct SkipsWhoJustCameUp;

impl Behaviour for SkipsWhoJustCameUp {
    fn passes_on(&self, router: &Router, state: &LinkState, from: RouterNumber, to: RouterNumber) -> bool {
        let is_told = router.up_since(to).is_some_and(|since| since < Duration::from_millis(3));
        !is_told && Correct.passes_on(router, state, from, to)
    }
}
