//! Clients of programs, each with a socket of its own towards the program: so the program tells them apart, and its
//! answers find their way back.

use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::any_port_towards;

/// How many clients a proxy remembers at one time; of more, the one that was silent for longest is forgotten, and answers
/// to it are lost.
pub const CLIENTS_MAX: usize = 256;

/// The clients that are remembered.
#[derive(Debug)]
pub(super) struct Visitors {
    known: Vec<Visitor>,
    /// How long a client is remembered that neither sends nor gets anything.
    idle_max: Duration,
}

/// A client of a program.
#[derive(Debug)]
pub(super) struct Visitor {
    /// Where it sends from, and gets its answers.
    pub(super) address: SocketAddr,
    /// The place of the entry that it sends to.
    pub(super) entry: usize,
    /// What the program sees of it.
    pub(super) socket: Arc<UdpSocket>,
    /// When something was last heard of it, or for it.
    heard_at: Instant,
}

impl Visitors {
    pub(super) fn new(idle_max: Duration) -> Self {
        Self { known: Vec::new(), idle_max }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &Visitor> {
        self.known.iter()
    }

    /// Returns the client at a place of [`iter`](Self::iter), for which something is heard just now.
    pub(super) fn heard(&mut self, place: usize) -> &Visitor {
        let visitor = &mut self.known[place];
        visitor.heard_at = Instant::now();
        visitor
    }

    /// Returns the socket of the client that sent to `entry` just now, a new one if it is not known, and the entry of the
    /// client that was forgotten for it, if there were too many. It can send to `program`. Places of other clients may
    /// change.
    ///
    /// # Errors
    /// If the system has no socket left.
    pub(super) fn socket(
        &mut self,
        entry: usize,
        address: SocketAddr,
        program: SocketAddr,
    ) -> io::Result<(Arc<UdpSocket>, Option<usize>)> {
        let now = Instant::now();
        let is_it = |visitor: &&mut Visitor| visitor.entry == entry && visitor.address == address;
        if let Some(visitor) = self.known.iter_mut().find(is_it) {
            visitor.heard_at = now;
            return Ok((Arc::clone(&visitor.socket), None));
        }
        let forgotten = self.make_room(now);
        let socket = UdpSocket::bind(any_port_towards(program))?;
        socket.set_nonblocking(true)?;
        let socket = Arc::new(socket);
        self.known.push(Visitor { address, entry, socket: Arc::clone(&socket), heard_at: now });
        Ok((socket, forgotten))
    }

    /// Makes room for another one. Returns the entry of the one that was forgotten, if it might still have been heard of.
    fn make_room(&mut self, now: Instant) -> Option<usize> {
        self.known.retain(|visitor| now.saturating_duration_since(visitor.heard_at) <= self.idle_max);
        if self.known.len() < CLIENTS_MAX {
            return None;
        }
        let (longest, _) = self.known.iter().enumerate().min_by_key(|(_, visitor)| visitor.heard_at)?;
        Some(self.known.swap_remove(longest).entry)
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use super::*;

    const IDLE_MAX: Duration = Duration::from_secs(10);

    fn client(port: u16) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, port).into()
    }

    fn visitors(count: u16) -> Visitors {
        let mut visitors = Visitors::new(IDLE_MAX);
        for port in 1..=count {
            visitors.socket(0, client(port), client(9)).expect("there are sockets");
        }
        visitors
    }

    fn known(visitors: &Visitors) -> Vec<u16> {
        visitors.iter().map(|visitor| visitor.address.port()).collect()
    }

    #[test]
    fn clients_of_which_nothing_is_heard_any_more_are_forgotten() {
        let mut visitors = visitors(2);
        let now = Instant::now();
        visitors.known[1].heard_at = now + IDLE_MAX;
        assert_eq!(visitors.make_room(now + IDLE_MAX / 2), None);
        assert_eq!(known(&visitors), [1, 2]);
        assert_eq!(visitors.make_room(now + 2 * IDLE_MAX), None);
        assert_eq!(known(&visitors), [2]);
    }

    #[test]
    fn of_too_many_clients_the_one_that_is_silent_for_longest_is_forgotten() {
        let mut visitors = visitors(CLIENTS_MAX as u16);
        // An answer to the first one makes the second one that which is silent for longest.
        visitors.heard(0);
        let (_, forgotten) = visitors.socket(1, client(999), client(9)).expect("there are sockets");
        assert_eq!(forgotten, Some(0));
        let known = known(&visitors);
        assert_eq!(known.len(), CLIENTS_MAX);
        assert!(known.contains(&1) && !known.contains(&2) && known.contains(&999), "{known:?}");
    }

    #[test]
    fn a_client_has_one_socket_for_each_entry() {
        let mut visitors = visitors(0);
        let mut socket = |entry| {
            let (socket, _) = visitors.socket(entry, client(1), client(9)).expect("there are sockets");
            socket.local_addr().expect("it is bound")
        };
        assert_eq!(socket(0), socket(0));
        assert_ne!(socket(0), socket(1));
    }
}
