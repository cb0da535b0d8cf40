//! Proxies between programs, which treat datagrams and connections as the simulated network treats packets.
//!
//! A proxy gives each client of a server a socket of its own, so that the server tells clients apart and each gets its
//! own answers. The n-th datagram of a component has a fate that only the seed and n decide, whatever other components
//! do: this generalises the proxy of Rutherford, PhD thesis, section 4.1.1.2.

mod fate;
mod links;
mod relay_thread;
mod servers;
mod streams;
mod visitors;

use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::ops::Add;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};

use crate::process::is_shortage;
pub use fate::{DatagramFate, DatagramFates};
#[cfg(test)]
pub(crate) use links::broken_links;
pub use links::{Linked, Links};
pub(crate) use links::{ProgramPort, Senders, Weather};
pub use servers::{Losses, LossyServers, MessageListener, Served};
pub(crate) use streams::{StreamEntry, StreamLinks};
pub use visitors::CLIENTS_MAX;

/// The largest payload that a UDP datagram can have, in bytes.
const DATAGRAM_BYTES_MAX: usize = 65_535;

/// How many datagrams one direction passes on before the proxy looks at the other direction.
const BURST_MAX: usize = 16;

/// Names the fates of what clients send.
pub(crate) const CLIENT: &str = "client";

/// Names the fates of what the server sends.
pub(crate) const SERVER: &str = "server";

/// Counts of the datagrams of one direction, by fate.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DirectionCounts {
    /// Datagrams that came in.
    pub received: u64,
    /// Of these, how many were dropped.
    pub dropped: u64,
    /// Of these, how many were sent twice.
    pub duplicated: u64,
    /// Datagrams that went out, copies included.
    pub forwarded: u64,
    /// Datagrams that the system refused to send, copies included: no fate of the network, but trouble of this machine.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unsent: u64,
    /// Clients among those that sent, of which the network has forgotten where they are, since more than [`CLIENTS_MAX`]
    /// sent at one time: what is answered to them is lost.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub forgotten: u64,
}

impl Add for DirectionCounts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            received: self.received + other.received,
            dropped: self.dropped + other.dropped,
            duplicated: self.duplicated + other.duplicated,
            forwarded: self.forwarded + other.forwarded,
            unsent: self.unsent + other.unsent,
            forgotten: self.forgotten + other.forgotten,
        }
    }
}

/// The first datagram that the system refused to send.
#[derive(Debug, Clone)]
pub struct Unsent {
    /// Where it was to go.
    pub to: SocketAddr,
    /// The system's reason.
    pub source: Arc<io::Error>,
}

impl std::fmt::Display for Unsent {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "a datagram to {} could not be sent: {}", self.to, self.source)
    }
}

/// Counts of the datagrams of both directions, and of connections; where more than two programs are linked, all count
/// as forward.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProxyCounts {
    /// From clients to the server.
    pub forward: DirectionCounts,
    /// From the server to clients.
    pub back: DirectionCounts,
    /// How many connections were made through it; what they carry is not counted.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub connections: u64,
}

impl ProxyCounts {
    /// Says how many datagrams the system refused to send, and how many clients were forgotten, if there are any.
    pub(crate) fn trouble(&self) -> impl Iterator<Item = String> {
        let DirectionCounts { unsent, forgotten, .. } = self.forward + self.back;
        let unsent = (unsent > 0).then(|| format!("datagrams that could not be sent: {unsent}"));
        let forgotten = (forgotten > 0)
            .then(|| format!("clients that were forgotten, as more than {CLIENTS_MAX} sent at one time: {forgotten}"));
        unsent.into_iter().chain(forgotten)
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// The activity of programs that a network has observed so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Activity {
    /// Datagrams that came in.
    pub datagrams: u64,
    /// When the last one did.
    pub last: Option<Instant>,
}

impl Activity {
    /// Returns what is heard in two directions together.
    fn and(self, other: Self) -> Self {
        Self { datagrams: self.datagrams + other.datagrams, last: self.last.max(other.last) }
    }
}

/// Why a proxy cannot be started, or does not work any more.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ProxyError {
    /// The address is in use, or does not belong to this machine.
    #[error("cannot listen on {address}: {source}; choose another address, or port 0 for any free port")]
    Listen {
        /// The address that was asked for.
        address: SocketAddr,
        /// The system's reason.
        source: io::Error,
    },
    /// Nothing that is sent to the server's address can arrive there.
    #[error("cannot forward to {address}: {why}; give the address at which the server receives")]
    Forward {
        /// The address that was asked for.
        address: SocketAddr,
        /// What is wrong with it.
        why: String,
    },
    /// The system is out of sockets, pipes or threads.
    #[error("cannot start the proxy: {0}; run fewer jobs at a time, or raise the limit of open files (`ulimit -n`)")]
    Resources(#[from] io::Error),
    /// A socket of a running proxy cannot be read or waited for any more; the proxy passes nothing on since.
    #[error("the proxy failed while it ran: {0}; what the programs did after that says nothing about them, run again")]
    Broken(#[source] Arc<io::Error>),
}

impl ProxyError {
    /// Returns why an address is not listened on.
    pub(crate) fn listen(address: SocketAddr, source: io::Error) -> Self {
        if is_shortage(&source) { Self::Resources(source) } else { Self::Listen { address, source } }
    }
}

/// Returns the next datagram that waits, or `None`.
///
/// An error that the system holds against the socket because a datagram did not reach its peer is passed over.
fn receive(socket: &UdpSocket, buffer: &mut [u8]) -> io::Result<Option<(usize, SocketAddr)>> {
    loop {
        let error = match socket.recv_from(buffer) {
            Ok(received) => return Ok(Some(received)),
            Err(error) => error,
        };
        match error.kind() {
            ErrorKind::WouldBlock => return Ok(None),
            ErrorKind::Interrupted
            | ErrorKind::ConnectionRefused
            | ErrorKind::ConnectionReset
            | ErrorKind::HostUnreachable
            | ErrorKind::NetworkUnreachable => {}
            _ => return Err(error),
        }
    }
}

/// Returns where to bind a socket that talks to `server`.
fn any_port_towards(server: SocketAddr) -> SocketAddr {
    let host: IpAddr = match server.ip() {
        IpAddr::V4(host) if host.is_loopback() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(host) if host.is_loopback() => Ipv6Addr::LOCALHOST.into(),
        IpAddr::V4(_) => Ipv4Addr::UNSPECIFIED.into(),
        IpAddr::V6(_) => Ipv6Addr::UNSPECIFIED.into(),
    };
    SocketAddr::new(host, 0)
}

/// Checks that what is sent to `server` can arrive there, and does not come back to a proxy that listens on `listen`.
///
/// # Errors
/// [`ProxyError::Forward`] if it cannot, [`ProxyError::Resources`] if the system has no socket left.
pub(crate) fn check_forward(listen: SocketAddr, server: SocketAddr) -> Result<(), ProxyError> {
    let refused = |why: &str| Err(ProxyError::Forward { address: server, why: why.into() });
    let (ip, port) = (server.ip(), server.port());
    if port == 0 {
        return refused("nothing receives at port 0");
    }
    if ip.is_unspecified() {
        return refused("it stands for all addresses of a machine");
    }
    if ip.is_multicast() {
        return refused("a group has no server");
    }
    // An address at which a socket can be bound is one of this machine.
    let is_here = || UdpSocket::bind((ip, 0)).is_ok();
    if port == listen.port() && (ip == listen.ip() || listen.ip().is_unspecified() && is_here()) {
        return refused("that is where the proxy listens");
    }
    let socket = UdpSocket::bind(any_port_towards(server))?;
    // This sends nothing, and tells whether there is a way.
    match socket.connect(server) {
        Ok(()) => Ok(()),
        Err(error) if is_shortage(&error) => Err(ProxyError::Resources(error)),
        Err(error) => refused(&error.to_string()),
    }
}

/// Returns whether what comes from `source` is an answer of the server at `server`: from whatever port, as a TFTP server
/// answers, and from whatever address of loopback, as one answers that is bound to all.
fn is_answer(server: SocketAddr, source: SocketAddr) -> bool {
    server.ip() == source.ip() || server.ip().is_loopback() && source.ip().is_loopback()
}

/// The counts, as the thread writes them.
#[derive(Debug, Default)]
struct Counters {
    forward: DirectionCounters,
    back: DirectionCounters,
}

impl Counters {
    fn read(&self) -> ProxyCounts {
        ProxyCounts { forward: self.forward.read(), back: self.back.read(), connections: 0 }
    }

    fn activity(&self) -> Activity {
        self.forward.activity().and(self.back.activity())
    }
}

#[derive(Debug, Default)]
struct DirectionCounters {
    received: AtomicU64,
    dropped: AtomicU64,
    duplicated: AtomicU64,
    forwarded: AtomicU64,
    unsent: AtomicU64,
    forgotten: AtomicU64,
    first_unsent: OnceLock<Unsent>,
    last: LastMoment,
}

impl DirectionCounters {
    /// Counts one datagram in and returns how many copies of it are to go out.
    fn note(&self, fate: DatagramFate) -> u64 {
        self.received.fetch_add(1, Ordering::Relaxed);
        self.last.is_now();
        match fate {
            DatagramFate::Drop => {
                self.dropped.fetch_add(1, Ordering::Relaxed);
            }
            DatagramFate::Duplicate => {
                self.duplicated.fetch_add(1, Ordering::Relaxed);
            }
            DatagramFate::Deliver => {}
        }
        fate.copies()
    }

    /// Sends a datagram `copies` times, and counts how that went.
    fn send(&self, socket: &UdpSocket, datagram: &[u8], to: SocketAddr, copies: u64) {
        for _ in 0..copies {
            match socket.send_to(datagram, to) {
                Ok(_) => self.forwarded.fetch_add(1, Ordering::Relaxed),
                Err(source) => {
                    self.first_unsent.get_or_init(|| Unsent { to, source: Arc::new(source) });
                    self.unsent.fetch_add(1, Ordering::Relaxed)
                }
            };
        }
    }

    fn read(&self) -> DirectionCounts {
        DirectionCounts {
            received: self.received.load(Ordering::Relaxed),
            dropped: self.dropped.load(Ordering::Relaxed),
            duplicated: self.duplicated.load(Ordering::Relaxed),
            forwarded: self.forwarded.load(Ordering::Relaxed),
            unsent: self.unsent.load(Ordering::Relaxed),
            forgotten: self.forgotten.load(Ordering::Relaxed),
        }
    }

    fn activity(&self) -> Activity {
        Activity { datagrams: self.received.load(Ordering::Relaxed), last: self.last.read() }
    }
}

/// When something happened last, as one thread writes it and others read it.
#[derive(Debug)]
struct LastMoment {
    origin: Instant,
    /// Nanoseconds after the origin; 0 if it has not happened yet.
    after_ns: AtomicU64,
}

impl Default for LastMoment {
    fn default() -> Self {
        Self { origin: Instant::now(), after_ns: AtomicU64::new(0) }
    }
}

impl LastMoment {
    fn is_now(&self) {
        let after_ns = u64::try_from(self.origin.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.after_ns.store(after_ns.max(1), Ordering::Relaxed);
    }

    fn read(&self) -> Option<Instant> {
        let after_ns = self.after_ns.load(Ordering::Relaxed);
        (after_ns > 0).then(|| self.origin + Duration::from_nanos(after_ns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(listen: &str, forward: &str, expect: Option<&str>) {
        let [listen, server] = [listen, forward].map(|address| address.parse().expect("it is an address"));
        let why = match check_forward(listen, server) {
            Ok(()) => None,
            Err(ProxyError::Forward { address, why }) if address == server => Some(why),
            Err(error) => panic!("{error}"),
        };
        assert_eq!(why.as_deref(), expect, "{listen} to {forward}");
    }

    #[test]
    fn addresses_at_which_nothing_can_arrive_are_refused() {
        check("127.0.0.1:0", "127.0.0.1:7", None);
        check("127.0.0.1:7", "127.0.0.2:7", None);
        check("127.0.0.1:0", "127.0.0.1:0", Some("nothing receives at port 0"));
        check("127.0.0.1:0", "0.0.0.0:7", Some("it stands for all addresses of a machine"));
        check("127.0.0.1:0", "224.0.0.1:7", Some("a group has no server"));
        check("127.0.0.1:7", "127.0.0.1:7", Some("that is where the proxy listens"));
        check("0.0.0.0:7", "127.0.0.1:7", Some("that is where the proxy listens"));
        check("[::]:7", "127.0.0.1:7", Some("that is where the proxy listens"));
        // A broadcast needs a socket that asks to be allowed it.
        check("127.0.0.1:0", "255.255.255.255:7", Some("Permission denied (os error 13)"));
    }

    #[test]
    fn datagrams_that_could_not_be_sent_and_clients_that_were_forgotten_are_told() {
        let direction = |unsent, forgotten| DirectionCounts { unsent, forgotten, ..DirectionCounts::default() };
        let told = |forward, back| {
            let counts = ProxyCounts { forward, back, connections: 0 };
            counts.trouble().collect::<Vec<_>>()
        };
        assert_eq!(told(direction(0, 0), direction(0, 0)), [""; 0]);
        assert_eq!(told(direction(2, 0), direction(1, 0)), ["datagrams that could not be sent: 3"]);
        let forgotten = "clients that were forgotten, as more than 256 sent at one time: 4";
        assert_eq!(told(direction(0, 4), direction(1, 0)), ["datagrams that could not be sent: 1", forgotten]);
    }

    #[test]
    fn answers_come_from_the_server_whatever_its_port() {
        let is = |server: &str, source: &str| {
            let [server, source] = [server, source].map(|address| address.parse().expect("it is an address"));
            is_answer(server, source)
        };
        assert!(is("10.9.0.2:7", "10.9.0.2:8"));
        assert!(is("127.0.0.5:7", "127.0.0.1:7"), "it is bound to all addresses");
        assert!(!is("10.9.0.2:7", "10.9.0.3:7"));
        assert!(!is("10.9.0.2:7", "127.0.0.1:7"));
    }
}
