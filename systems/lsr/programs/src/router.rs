//! A router's half of the protocol: what it learns, what it tells, and where messages go.

use std::net::SocketAddr;
use std::time::Duration;

use super::behaviour::Behaviour;
use super::neighbours::Neighbour;
use super::network::Network;
use super::packet::{LinkState, LinkTo, Message, Packet, RouterNumber};
use super::paths::{Paths, Step, cheapest_paths};

/// The router's state.
#[derive(Debug)]
pub struct Router {
    pub(super) number: RouterNumber,
    pub(super) neighbours: Vec<Neighbour>,
    behaviour: &'static dyn Behaviour,
    /// When the last packet came.
    pub(super) now: Duration,
    /// The links to the neighbours that have greeted, in the order in which they did.
    pub(super) up: Vec<LinkTo>,
    /// When each of them came up.
    pub(super) up_at: Vec<Duration>,
    /// The number of the last link state that was told.
    pub(super) sequence: u32,
    pub(super) network: Network,
    pub(super) heard: Vec<Heard>,
    pub(super) paths: Paths,
    pub(super) computed_at: Option<Duration>,
    /// Messages for others that came from others.
    passed_on: Vec<Message>,
    delivered: Vec<Message>,
}

/// A link state that came from a neighbour.
#[derive(Debug, Clone, Copy)]
pub(super) struct Heard {
    pub(super) from: RouterNumber,
    pub(super) origin: RouterNumber,
    pub(super) sequence: u32,
    pub(super) at: Duration,
    pub(super) is_stored: bool,
}

/// What a router does about a packet.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Reaction {
    /// What it sends, and where to.
    pub send: Vec<(SocketAddr, Packet)>,
    /// The message that has arrived where it was to go.
    pub deliver: Option<Message>,
    /// Why a message goes no further.
    pub given_up: Option<GivenUp>,
}

/// Why a message goes no further, though it has not arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GivenUp {
    /// No path leads to its destination.
    NoPath(RouterNumber),
    /// It is to go on to a router that is no neighbour, or has not greeted.
    NoNeighbour(RouterNumber),
    /// It came through so many links that it must go round in circles.
    TooManyHops,
    /// It was taken for one that was here before.
    Repeated,
    /// It came from the wrong neighbour.
    Refused,
    /// There is no room for it.
    NoRoom,
}

impl Router {
    /// Returns a router that knows nobody yet.
    pub fn new(number: RouterNumber, neighbours: Vec<Neighbour>, behaviour: &'static dyn Behaviour) -> Self {
        Self {
            number,
            neighbours,
            behaviour,
            now: Duration::ZERO,
            up: Vec::new(),
            up_at: Vec::new(),
            sequence: 0,
            network: Network::default(),
            heard: Vec::new(),
            paths: Paths::from([(number, Step { cost: 0, previous: number })]),
            computed_at: None,
            passed_on: Vec::new(),
            delivered: Vec::new(),
        }
    }

    /// Returns greetings for the neighbours that have not greeted yet.
    pub fn greetings(&self) -> Vec<(SocketAddr, Packet)> {
        let silent = |neighbour: &&Neighbour| !self.is_up(neighbour.number);
        self.neighbours.iter().filter(silent).map(|neighbour| (neighbour.address, Packet::Hello)).collect()
    }

    /// Takes a packet that came from `source` at a time since some moment in the past.
    pub fn take(&mut self, source: SocketAddr, packet: Packet, now: Duration) -> Reaction {
        self.now = now;
        let neighbour = self.neighbours.iter().find(|neighbour| neighbour.address == source).copied();
        let mut reaction = match (packet, neighbour) {
            (Packet::Hello, Some(neighbour)) => Reaction { send: self.greeted(neighbour), ..Reaction::default() },
            (Packet::LinkState(state), Some(neighbour)) => {
                Reaction { send: self.told(neighbour, state), ..Reaction::default() }
            }
            (Packet::Message(message), from) => match self.forward(message, from.map(|neighbour| neighbour.number)) {
                Ok(reaction) => reaction,
                Err(given_up) => Reaction { given_up: Some(given_up), ..Reaction::default() },
            },
            // Strangers have nothing to say about the network.
            (Packet::Hello | Packet::LinkState(_), None) => Reaction::default(),
        };
        reaction.send.truncate(self.behaviour.packets_max());
        reaction
    }

    pub(super) fn is_up(&self, number: RouterNumber) -> bool {
        self.up.iter().any(|link| link.to == number)
    }

    /// Returns for how long a neighbour has been up.
    pub(super) fn up_since(&self, number: RouterNumber) -> Option<Duration> {
        let place = self.up.iter().position(|link| link.to == number)?;
        Some(self.now.saturating_sub(self.up_at[place]))
    }

    fn greeted(&mut self, neighbour: Neighbour) -> Vec<(SocketAddr, Packet)> {
        if self.is_up(neighbour.number) {
            return Vec::new();
        }
        let mut send = Vec::new();
        if self.behaviour.answers(self) {
            send.push((neighbour.address, Packet::Hello));
        }
        let missed = self.behaviour.missed(self, neighbour.number).into_iter();
        send.extend(missed.map(|state| (neighbour.address, Packet::LinkState(state.clone()))));
        send.extend(self.comes_up(neighbour));
        send
    }

    /// Notes that a link is up, and returns what all neighbours are told of that.
    fn comes_up(&mut self, neighbour: Neighbour) -> Vec<(SocketAddr, Packet)> {
        let since_last = self.up_at.last().map(|last| self.now.saturating_sub(*last));
        self.up.push(neighbour.link());
        self.up_at.push(self.now);
        if !self.behaviour.announces(since_last) {
            return Vec::new();
        }
        self.sequence = self.behaviour.next_number(self);
        let state = LinkState { origin: self.number, sequence: self.sequence, links: self.behaviour.links_told(self) };
        let send = self.flood(&state, |_| true);
        self.network.store(state);
        self.compute_paths(self.number);
        send
    }

    fn told(&mut self, neighbour: Neighbour, state: LinkState) -> Vec<(SocketAddr, Packet)> {
        let (behaviour, from, origin) = (self.behaviour, neighbour.number, state.origin);
        let mut send = Vec::new();
        if behaviour.takes_news_for_greeting() && !self.is_up(from) {
            send = self.comes_up(neighbour);
        }
        if origin == self.number {
            behaviour.hears_of_itself(self, &state);
        }
        if behaviour.is_news(self, &state, from) {
            send.extend(self.flood(&state, |to| behaviour.passes_on(self, &state, from, to)));
        }
        let is_stored = behaviour.stores(self, &state, from);
        self.heard.push(Heard { from, origin, sequence: state.sequence, at: self.now, is_stored });
        if is_stored {
            self.network.store(state);
            self.compute_paths(origin);
        }
        send
    }

    /// Returns a link state for those neighbours that are up and are to hear it, in the order in which they came up.
    fn flood(&self, state: &LinkState, hears: impl Fn(RouterNumber) -> bool) -> Vec<(SocketAddr, Packet)> {
        let neighbour = |link: &LinkTo| self.neighbours.iter().find(|neighbour| neighbour.number == link.to);
        let packet = |neighbour: &Neighbour| (neighbour.address, Packet::LinkState(state.clone()));
        self.up.iter().filter(|link| hears(link.to)).filter_map(neighbour).map(packet).collect()
    }

    /// Computes the paths anew, since something was heard of `origin`.
    fn compute_paths(&mut self, origin: RouterNumber) {
        if self.behaviour.computes(self, origin) {
            let other_paths = self.behaviour.other_paths(&self.network, self.number);
            let found = other_paths.unwrap_or_else(|| cheapest_paths(self.behaviour, &self.network, self.number));
            self.paths = self.behaviour.new_paths(self, origin, found);
            self.computed_at = Some(self.now);
        }
    }

    fn forward(&mut self, mut message: Message, from: Option<RouterNumber>) -> Result<Reaction, GivenUp> {
        let destination = message.destination;
        if !self.behaviour.admits(self, &message, from) {
            return Err(GivenUp::Refused);
        }
        if destination == self.number {
            if self.behaviour.is_doubled(&message, &self.delivered) {
                return Err(GivenUp::Repeated);
            }
            if self.delivered.len() >= self.behaviour.room() {
                return Err(GivenUp::NoRoom);
            }
            self.delivered.push(message);
            return Ok(Reaction { deliver: Some(message), ..Reaction::default() });
        }
        if message.source != self.number {
            if self.behaviour.is_repetition(&message, &self.passed_on) {
                return Err(GivenUp::Repeated);
            }
            self.passed_on.push(message);
        }
        if !self.paths.contains_key(&destination) {
            return Err(GivenUp::NoPath(destination));
        }
        let next = self.behaviour.next_hop(self, destination);
        let neighbour = self.neighbours.iter().find(|neighbour| neighbour.number == next && self.is_up(next));
        let neighbour = neighbour.ok_or(GivenUp::NoNeighbour(next))?;
        if message.hops >= self.behaviour.hops_max() {
            return Err(GivenUp::TooManyHops);
        }
        message.hops += 1;
        message.cost += u32::from(neighbour.cost);
        Ok(Reaction { send: vec![(neighbour.address, Packet::Message(message))], ..Reaction::default() })
    }
}

impl std::fmt::Display for GivenUp {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::NoPath(to) => write!(formatter, "there is no path to {to}"),
            Self::NoNeighbour(to) => write!(formatter, "it should go on to {to}, which is no neighbour here"),
            Self::TooManyHops => formatter.write_str("it came through too many links"),
            Self::Repeated => formatter.write_str("it was here before"),
            Self::Refused => formatter.write_str("it came from the wrong neighbour"),
            Self::NoRoom => formatter.write_str("there is no room for it"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::behaviour::Correct;
    use super::*;

    fn address(number: RouterNumber) -> SocketAddr {
        ([127, 0, 0, 1], 1_000 + u16::from(number)).into()
    }

    fn router(number: RouterNumber, neighbours: &[(RouterNumber, u16)]) -> Router {
        let neighbour = |&(number, cost)| Neighbour { number, address: address(number), cost };
        Router::new(number, neighbours.iter().map(neighbour).collect(), &Correct)
    }

    fn state(origin: RouterNumber, sequence: u32, links: &[(RouterNumber, u16)]) -> Packet {
        let links = links.iter().map(|&(to, cost)| LinkTo { to, cost }).collect();
        Packet::LinkState(LinkState { origin, sequence, links })
    }

    fn message(source: RouterNumber, destination: RouterNumber, cost: u32, hops: u8) -> Packet {
        Packet::Message(Message { number: 1, source, destination, cost, hops })
    }

    #[track_caller]
    fn check(router: &mut Router, from: RouterNumber, packet: Packet, expect: &[(RouterNumber, Packet)]) {
        let reaction = router.take(address(from), packet, Duration::ZERO);
        let send = expect.iter().map(|(to, packet)| (address(*to), packet.clone())).collect();
        assert_eq!(reaction, Reaction { send, ..Reaction::default() });
    }

    #[test]
    fn neighbours_are_greeted_until_they_greet() {
        let mut router = router(1, &[(2, 3), (3, 1)]);
        assert_eq!(router.greetings(), [(address(2), Packet::Hello), (address(3), Packet::Hello)]);
        check(&mut router, 3, Packet::Hello, &[(3, Packet::Hello), (3, state(1, 1, &[(3, 1)]))]);
        assert_eq!(router.greetings(), [(address(2), Packet::Hello)]);
        check(&mut router, 3, Packet::Hello, &[]);
    }

    #[test]
    fn a_neighbour_that_comes_up_late_hears_all_that_it_missed() {
        let mut router = router(1, &[(2, 3), (3, 1)]);
        check(&mut router, 3, Packet::Hello, &[(3, Packet::Hello), (3, state(1, 1, &[(3, 1)]))]);
        check(&mut router, 3, state(3, 1, &[(1, 1)]), &[]);
        let both = state(1, 2, &[(3, 1), (2, 3)]);
        let expect = [
            (2, Packet::Hello),
            (2, state(1, 1, &[(3, 1)])),
            (2, state(3, 1, &[(1, 1)])),
            (3, both.clone()),
            (2, both),
        ];
        check(&mut router, 2, Packet::Hello, &expect);
    }

    #[test]
    fn news_is_passed_on_once_and_not_back() {
        let mut router = router(1, &[(2, 3), (3, 1)]);
        for neighbour in [2, 3] {
            router.take(address(neighbour), Packet::Hello, Duration::ZERO);
        }
        let (old, new) = (state(4, 1, &[(2, 9)]), state(4, 2, &[(2, 9), (5, 1)]));
        check(&mut router, 2, new.clone(), &[(3, new.clone())]);
        check(&mut router, 3, new, &[]);
        check(&mut router, 2, old, &[]);
        assert_eq!(router.network.sequence(4), Some(2));
    }

    #[test]
    fn strangers_change_nothing() {
        let mut router = router(1, &[(2, 3)]);
        check(&mut router, 9, Packet::Hello, &[]);
        check(&mut router, 9, state(2, 1, &[(1, 3)]), &[]);
        assert_eq!(router.network.sequence(2), None);
    }

    #[test]
    fn messages_go_along_the_path_with_the_costs_of_its_links() {
        let mut router = router(1, &[(2, 3), (3, 9)]);
        for neighbour in [2, 3] {
            router.take(address(neighbour), Packet::Hello, Duration::ZERO);
        }
        router.take(address(2), state(2, 2, &[(1, 3), (3, 1)]), Duration::ZERO);
        router.take(address(2), state(3, 2, &[(1, 9), (2, 1)]), Duration::ZERO);
        // From a client, and from a neighbour.
        check(&mut router, 77, message(1, 3, 0, 0), &[(2, message(1, 3, 3, 1))]);
        check(&mut router, 3, message(3, 2, 9, 1), &[(2, message(3, 2, 12, 2))]);
        let own = router.take(address(2), message(3, 1, 4, 2), Duration::ZERO);
        assert_eq!(own.deliver.map(|message| message.cost), Some(4));
        assert!(own.send.is_empty());
    }

    #[test]
    fn a_message_is_delivered_once() {
        let mut router = router(1, &[(2, 3)]);
        let mut take = |packet| router.take(address(2), packet, Duration::ZERO);
        assert!(take(message(2, 1, 3, 1)).deliver.is_some());
        assert_eq!(take(message(2, 1, 3, 1)).given_up, Some(GivenUp::Repeated));
        let other = Message { number: 2, source: 2, destination: 1, cost: 3, hops: 1 };
        assert!(take(Packet::Message(other)).deliver.is_some());
    }

    #[test]
    fn messages_that_can_go_no_further_are_given_up() {
        let mut router = router(1, &[(2, 3)]);
        let given_up = |router: &mut Router, packet| router.take(address(2), packet, Duration::ZERO).given_up;
        assert_eq!(given_up(&mut router, message(1, 2, 0, 0)), Some(GivenUp::NoPath(2)));
        router.take(address(2), Packet::Hello, Duration::ZERO);
        router.take(address(2), state(2, 1, &[(1, 3)]), Duration::ZERO);
        assert_eq!(given_up(&mut router, message(1, 2, 0, 15)), None);
        assert_eq!(given_up(&mut router, message(1, 2, 0, 16)), Some(GivenUp::TooManyHops));
    }
}
