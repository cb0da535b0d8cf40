//! A UDP proxy that loses and doubles datagrams as the simulated network does.
//!
//! It stands between a client and a server. What the client sends to the proxy's address goes on to the server; what
//! the server answers goes back to the client that sent last. Each direction draws its fates from a stream of its own,
//! so the n-th datagram of a direction has a fate that only the seed and n decide, whatever the other direction does.
//! This is the proxy of Rutherford, PhD thesis, section 4.1.1.2. Datagrams are passed on at once: it adds no latency.

mod fate;
mod links;
mod relay_thread;
mod servers;
mod streams;

use std::io::{self, ErrorKind, PipeReader};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};
use serde::{Deserialize, Serialize};

use simutant_sim_core::Probability;

use crate::process::is_shortage;
pub use fate::{DatagramFate, DatagramFates};
pub use links::{Linked, Links};
pub(crate) use links::{Senders, Weather};
use relay_thread::RelayThread;
pub use servers::{Losses, LossyServers, MessageListener, Served};
pub(crate) use streams::{StreamEntry, StreamLinks};

/// The largest payload that a UDP datagram can have, in bytes.
const DATAGRAM_BYTES_MAX: usize = 65_535;

/// How many datagrams one direction passes on before the proxy looks at the other direction.
const BURST_MAX: usize = 16;

/// Names the fates of what clients send.
pub(crate) const CLIENT: &str = "client";

/// Names the fates of what the server sends.
pub(crate) const SERVER: &str = "server";

/// Where a proxy listens, where it forwards to, and how it treats datagrams.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ProxyConfiguration {
    /// The address that clients send to; port 0 takes a free port.
    pub listen: SocketAddr,
    /// The server's address.
    pub forward: SocketAddr,
    /// The probability that a datagram is dropped.
    pub drop: Probability,
    /// The probability that a datagram that was not dropped is sent twice.
    pub duplicate: Probability,
    /// Decides every fate.
    pub seed: u64,
}

/// What happened to the datagrams of one direction.
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
}

/// What happened to the datagrams of both directions, and how many connections there were; where more than two programs are linked, all count as forward.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProxyCounts {
    /// From clients to the server.
    pub forward: DirectionCounts,
    /// From the server to clients.
    pub back: DirectionCounts,
    /// How many connections were made through it; what they carry is not counted.
    #[serde(default, skip_serializing_if = "is_none_made")]
    pub connections: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_none_made(connections: &u64) -> bool {
    *connections == 0
}

/// What a network has heard of its programs so far.
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

/// A running proxy; it stops when it is dropped.
#[derive(Debug)]
pub struct LossyProxy {
    address: SocketAddr,
    counts: Arc<Counters>,
    thread: RelayThread,
}

impl LossyProxy {
    /// Returns a proxy that runs on a thread of its own; it can be sent to at once.
    ///
    /// # Errors
    /// [`ProxyError`] if the address cannot be listened on, or the system has no socket, pipe or thread left.
    pub fn start(configuration: &ProxyConfiguration) -> Result<Self, ProxyError> {
        let front =
            UdpSocket::bind(configuration.listen).map_err(|source| ProxyError::listen(configuration.listen, source))?;
        let back = UdpSocket::bind(any_port_towards(configuration.forward))?;
        front.set_nonblocking(true)?;
        back.set_nonblocking(true)?;
        Self::between(front, back, configuration)
    }

    /// Returns a proxy that runs on these sockets: `front` towards clients, `back` towards the server.
    fn between(front: UdpSocket, back: UdpSocket, configuration: &ProxyConfiguration) -> Result<Self, ProxyError> {
        let address = front.local_addr()?;
        let counts = Arc::new(Counters::default());
        let relay = Relay {
            front,
            back,
            server: configuration.forward,
            client: None,
            forward_fates: DatagramFates::new(configuration.seed, CLIENT, configuration.drop, configuration.duplicate),
            back_fates: DatagramFates::new(configuration.seed, SERVER, configuration.drop, configuration.duplicate),
            counts: Arc::clone(&counts),
        };
        let thread = RelayThread::start("lossy-proxy", move |stop| relay.run(stop))?;
        Ok(Self { address, counts, thread })
    }

    /// Returns the address that clients send to, with the port that was chosen if port 0 was asked for.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the counts so far.
    pub fn counts(&self) -> ProxyCounts {
        self.counts.read()
    }

    /// Returns what it has heard so far, of both sides.
    pub fn activity(&self) -> Activity {
        self.counts.activity()
    }

    /// Checks that the proxy still works.
    ///
    /// # Errors
    /// [`ProxyError::Broken`] if it passes nothing on any more.
    pub fn check(&self) -> Result<(), ProxyError> {
        self.thread.check()
    }

    /// Stops the proxy and returns the final counts.
    pub fn stop(mut self) -> ProxyCounts {
        self.thread.stop();
        self.counts.read()
    }
}

/// What the thread owns.
struct Relay {
    front: UdpSocket,
    back: UdpSocket,
    server: SocketAddr,
    client: Option<SocketAddr>,
    forward_fates: DatagramFates,
    back_fates: DatagramFates,
    counts: Arc<Counters>,
}

impl Relay {
    /// Passes datagrams on until the other end of `stop` is closed, or polling or receiving fails.
    fn run(mut self, stop: &PipeReader) -> io::Result<()> {
        let mut buffer = vec![0; DATAGRAM_BYTES_MAX];
        loop {
            let mut ready = [
                PollFd::new(&self.front, PollFlags::IN),
                PollFd::new(&self.back, PollFlags::IN),
                PollFd::new(stop, PollFlags::IN),
            ];
            match rustix::event::poll(&mut ready, None) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            if !ready[2].revents().is_empty() {
                return Ok(());
            }
            self.pass_forward(&mut buffer)?;
            self.pass_back(&mut buffer)?;
        }
    }

    fn pass_forward(&mut self, buffer: &mut [u8]) -> io::Result<()> {
        for _ in 0..BURST_MAX {
            let Some((length, source)) = receive(&self.front, buffer)? else { return Ok(()) };
            self.client = Some(source);
            let copies = self.counts.forward.note(self.forward_fates.draw());
            let sent = send(&self.back, &buffer[..length], self.server, copies);
            self.counts.forward.forwarded.fetch_add(sent, Ordering::Relaxed);
        }
        Ok(())
    }

    fn pass_back(&mut self, buffer: &mut [u8]) -> io::Result<()> {
        for _ in 0..BURST_MAX {
            let Some((length, source)) = receive(&self.back, buffer)? else { return Ok(()) };
            // A stranger's datagram must not use up a fate of the server's.
            let (Some(client), true) = (self.client, source == self.server) else { continue };
            let copies = self.counts.back.note(self.back_fates.draw());
            let sent = send(&self.front, &buffer[..length], client, copies);
            self.counts.back.forwarded.fetch_add(sent, Ordering::Relaxed);
        }
        Ok(())
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

/// Sends a datagram `copies` times and returns how often that went well; a failure is a loss, as on a network.
fn send(socket: &UdpSocket, datagram: &[u8], to: SocketAddr, copies: u64) -> u64 {
    (0..copies).filter(|_| socket.send_to(datagram, to).is_ok()).count() as u64
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

    fn read(&self) -> DirectionCounts {
        DirectionCounts {
            received: self.received.load(Ordering::Relaxed),
            dropped: self.dropped.load(Ordering::Relaxed),
            duplicated: self.duplicated.load(Ordering::Relaxed),
            forwarded: self.forwarded.load(Ordering::Relaxed),
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

/// Returns a proxy whose thread has ended because its socket towards the server is none.
#[cfg(test)]
pub(crate) fn broken_proxy() -> LossyProxy {
    let front = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a loopback port is free");
    front.set_nonblocking(true).expect("a socket can be made so");
    let no_socket = std::fs::File::open("/dev/null").expect("every Unix has it");
    let configuration = ProxyConfiguration {
        listen: (Ipv4Addr::LOCALHOST, 0).into(),
        forward: (Ipv4Addr::LOCALHOST, 1).into(),
        drop: Probability::ZERO,
        duplicate: Probability::ZERO,
        seed: 0,
    };
    let back = std::os::fd::OwnedFd::from(no_socket).into();
    let mut proxy = LossyProxy::between(front, back, &configuration).expect("the proxy starts");
    proxy.thread.wait();
    proxy
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a client, a server, and a proxy between them.
    fn between(drop: f64, duplicate: f64) -> (UdpSocket, UdpSocket, LossyProxy) {
        let [client, server] = [(); 2].map(|()| {
            let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a loopback port is free");
            socket.set_read_timeout(Some(Duration::from_secs(10))).expect("10 s is a valid timeout");
            socket
        });
        let proxy = LossyProxy::start(&ProxyConfiguration {
            listen: (Ipv4Addr::LOCALHOST, 0).into(),
            forward: server.local_addr().expect("a bound socket has an address"),
            drop: Probability::new(drop).expect("a probability"),
            duplicate: Probability::new(duplicate).expect("a probability"),
            seed: 7,
        })
        .expect("the proxy starts");
        client.connect(proxy.address()).expect("loopback can be reached");
        (client, server, proxy)
    }

    #[test]
    fn a_perfect_proxy_carries_datagrams_both_ways() {
        let (client, server, proxy) = between(0.0, 0.0);
        assert_eq!(proxy.activity(), Activity::default());
        let start = Instant::now();
        let mut buffer = [0; 16];
        for text in [b"one".as_slice(), b"", b"three"] {
            client.send(text).expect("loopback accepts");
            let (length, source) = server.recv_from(&mut buffer).expect("the datagram arrives");
            assert_eq!(&buffer[..length], text);
            server.send_to(text, source).expect("loopback accepts");
            let length = client.recv(&mut buffer).expect("the answer arrives");
            assert_eq!(&buffer[..length], text);
        }
        proxy.check().expect("the proxy works");
        let Activity { datagrams, last } = proxy.activity();
        assert_eq!(datagrams, 6);
        assert!(last.is_some_and(|last| start < last && last < Instant::now()), "{last:?}");
        std::thread::sleep(Duration::from_millis(20));
        assert_eq!(proxy.activity().last, last, "nothing came since");
        let expect = DirectionCounts { received: 3, dropped: 0, duplicated: 0, forwarded: 3 };
        assert_eq!(proxy.stop(), ProxyCounts { forward: expect, back: expect, connections: 0 });
    }

    #[test]
    fn datagrams_meet_the_fates_that_the_seed_draws() {
        let (client, server, proxy) = between(0.3, 0.4);
        let mut fates = DatagramFates::new(
            7,
            CLIENT,
            Probability::new(0.3).expect("a probability"),
            Probability::new(0.4).expect("a probability"),
        );
        let mut buffer = [0; 16];
        let (mut sent, mut copies) = (0_u16, 0);
        // The last one must arrive, so that the proxy has seen all of them when it is stopped.
        while sent < 500 || copies == 0 {
            sent += 1;
            client.send(&sent.to_be_bytes()).expect("loopback accepts");
            copies = fates.draw().copies();
            for _ in 0..copies {
                let length = server.recv(&mut buffer).expect("the copy arrives");
                assert_eq!(&buffer[..length], &sent.to_be_bytes());
            }
        }
        let counts = proxy.stop().forward;
        assert_eq!(counts.received, u64::from(sent));
        assert_eq!(counts.forwarded, counts.received - counts.dropped + counts.duplicated);
        assert!(counts.dropped > 0, "{counts:?}");
        assert!(counts.duplicated > 0, "{counts:?}");
    }

    #[test]
    fn an_answer_goes_to_the_client_that_sent_last() {
        let (first, server, proxy) = between(0.0, 0.0);
        let second = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a loopback port is free");
        second.set_read_timeout(Some(Duration::from_secs(10))).expect("10 s is a valid timeout");
        let mut buffer = [0; 16];
        first.send(b"first").expect("loopback accepts");
        server.recv_from(&mut buffer).expect("the datagram arrives");
        second.send_to(b"second", proxy.address()).expect("loopback accepts");
        let (_, source) = server.recv_from(&mut buffer).expect("the datagram arrives");
        server.send_to(b"answer", source).expect("loopback accepts");
        let length = second.recv(&mut buffer).expect("the answer arrives");
        assert_eq!(&buffer[..length], b"answer");
    }

    #[test]
    fn a_socket_that_cannot_be_read_ends_the_proxy_and_is_told() {
        let error = broken_proxy().check().expect_err("the socket is none");
        assert!(matches!(error, ProxyError::Broken(_)), "{error:?}");
        assert!(error.to_string().starts_with("the proxy failed while it ran: "), "{error}");
    }

    #[test]
    fn a_server_that_is_not_there_does_not_break_the_proxy() {
        let (client, server, proxy) = between(0.0, 0.0);
        drop(server);
        for received in 1..=10 {
            client.send(b"anyone?").expect("loopback accepts");
            while proxy.counts().forward.received < received {
                proxy.check().expect("the proxy works");
                std::thread::yield_now();
            }
        }
    }

    #[test]
    fn an_address_in_use_is_an_error_that_names_it() {
        let taken = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a loopback port is free");
        let listen = taken.local_addr().expect("a bound socket has an address");
        let perfect = Probability::new(0.0).expect("a probability");
        let error = LossyProxy::start(&ProxyConfiguration {
            listen,
            forward: listen,
            drop: perfect,
            duplicate: perfect,
            seed: 0,
        })
        .expect_err("the port is taken");
        assert!(error.to_string().starts_with(&format!("cannot listen on {listen}: ")), "{error}");
    }
}
