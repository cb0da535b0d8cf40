//! A network between programs that does what a simulated one does, for datagrams and for connections.

use std::collections::BTreeMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener, UdpSocket};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use simutant_sim_core::network::{Fate, NetworkFates, Shape};
use simutant_sim_core::{Faults, InvalidNetwork, Network, Random, VirtualDuration, VirtualTime};

use super::{Schedule, TimeScale};
use crate::process::is_shortage;
use crate::proxy::{
    Activity, CLIENT, DirectionCounts, Links, ProgramPort, ProxyCounts, ProxyError, SERVER, Senders, StreamEntry,
    StreamLinks, Unsent, Weather, check_forward,
};

/// How many ports that are free for datagrams are tried for connections.
const PORT_TRIES_MAX: usize = 100;

/// How long counts wait for what was sent already.
const COUNTED_MAX: Duration = Duration::from_secs(1);

/// A program that a network leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NetworkProgram {
    /// Its name among the components of the network.
    pub name: String,
    /// Where it receives, its usual port first; a client that only gets answers has none.
    pub addresses: Vec<SocketAddr>,
}

/// A running network; it stops when it is dropped.
///
/// Each program reaches each port of each other one at an entry of its own, a port for datagrams and for connections.
/// What comes out of it meets the fates of packets in a simulation with the same network and seed: losses, latencies,
/// duplicates, corruption, bandwidth, routes, partitions, and rules that name no kind of message. Connections are
/// delayed, stalled by losses and partitions, and reset if they stall for too long.
///
/// A client that sends from a socket of its own reaches a program from a socket of its own, and gets its answers, from
/// whatever port of the program they come.
#[derive(Debug)]
pub struct RealNetwork {
    names: Vec<String>,
    /// The place of the program that counts as the client: the first that has no address, or else the first.
    client: usize,
    /// The address of each entry, by the place of the program that it is of, and of the one that it leads to with the
    /// number of its port.
    entries: BTreeMap<(usize, (usize, usize)), SocketAddr>,
    datagrams: Links,
    streams: StreamLinks,
    clock: Arc<Clock>,
    not_injected: Vec<String>,
}

/// Returns a socket for datagrams and one for connections, at which the program at one place reaches a port of another.
type Bind<'a> = dyn Fn(usize, usize) -> Result<(UdpSocket, TcpListener), ProxyError> + 'a;

/// The time of a running network, and what is set and noted while it runs.
#[derive(Debug, Default)]
struct Clock {
    scale: TimeScale,
    begun: OnceLock<Instant>,
    /// The longest lateness so far, in nanoseconds.
    lateness_ns: AtomicU64,
    /// Which bits of connections are changed, if any are.
    stream_corruption: Mutex<Option<Random>>,
}

impl Clock {
    /// Returns the virtual time; it stands still before the beginning.
    fn now(&self) -> VirtualTime {
        self.begun.get().map_or(VirtualTime::ZERO, |begun| self.scale.virtual_time(begun.elapsed()))
    }
}

/// The fates of a network at the moment.
#[derive(Debug, Clone)]
struct Now {
    fates: Arc<Mutex<NetworkFates>>,
    clock: Arc<Clock>,
}

impl Now {
    fn ask<T>(&self, question: impl FnOnce(&mut NetworkFates, VirtualTime) -> T) -> T {
        // The time is read under the lock, so that it never runs backwards for the fates.
        let mut fates = self.fates.lock().unwrap_or_else(PoisonError::into_inner);
        let now = self.clock.now();
        question(&mut fates, now)
    }
}

impl Weather for Now {
    fn fate(&mut self, source: usize, destination: usize, bytes: u32) -> Fate {
        self.ask(|fates, now| fates.draw(now, source, destination, bytes))
    }

    fn is_separated(&mut self, source: usize, destination: usize) -> bool {
        self.ask(|fates, now| fates.is_separated(now, source, destination))
    }

    fn stream_corruption(&mut self) -> Option<u64> {
        let mut random = self.clock.stream_corruption.lock().unwrap_or_else(PoisonError::into_inner);
        random.as_mut().map(Random::bits)
    }

    fn real(&self, delay: VirtualDuration) -> Duration {
        self.clock.scale.real(delay)
    }

    fn note_lateness(&self, lateness: Duration) {
        self.clock.lateness_ns.fetch_max(lateness.as_nanos().try_into().unwrap_or(u64::MAX), Ordering::Relaxed);
    }
}

/// Why there is no such network.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RealNetworkError {
    /// The network is none.
    #[error(transparent)]
    Network(#[from] InvalidNetwork),
    /// The network names a component that is none of the programs.
    #[error("{name:?} is no program here; there are: {}", known.join(", "))]
    UnknownProgram {
        /// The name.
        name: String,
        /// Those that there are.
        known: Vec<String>,
    },
    /// The system lacks something.
    #[error(transparent)]
    Proxy(#[from] ProxyError),
}

impl RealNetwork {
    /// Returns a running network between these programs. Components of the network that are no program are there, and
    /// say nothing. Its time begins with [`RealNetwork::begin`].
    ///
    /// # Errors
    /// [`RealNetworkError`] if the network is not valid, or the system has no socket, pipe or thread left.
    pub fn start(
        programs: &[NetworkProgram],
        network: &Network,
        seed: u64,
        scale: TimeScale,
    ) -> Result<Self, RealNetworkError> {
        Self::start_with(programs, network, seed, (scale, &|_, _| any_loopback_port()))
    }

    /// Returns a running network between clients, which reach a server at `listen`, and that server; port 0 takes a
    /// free port. The network calls them `client` and `server`. Its time begins with [`RealNetwork::begin`].
    ///
    /// Both addresses may be of any network that this machine reaches. The server sees each client at an address of its
    /// own.
    ///
    /// # Errors
    /// [`RealNetworkError`] if the network is not valid, the address cannot be listened on, nothing can be sent to the
    /// server's, or the system has no socket, pipe or thread left.
    pub fn between(
        listen: SocketAddr,
        server: SocketAddr,
        network: &Network,
        seed: u64,
    ) -> Result<Self, RealNetworkError> {
        let program = |name: &str, addresses| NetworkProgram { name: name.to_owned(), addresses };
        let programs = [program(CLIENT, vec![]), program(SERVER, vec![server])];
        if let Some(name) = named(network).into_iter().find(|name| ![CLIENT, SERVER].contains(&name.as_str())) {
            return Err(RealNetworkError::UnknownProgram { name, known: vec![CLIENT.into(), SERVER.into()] });
        }
        check_forward(listen, server)?;
        // Clients have no port, so the one entry is theirs.
        let bind = |_, _| {
            let datagrams = || UdpSocket::bind(listen).map_err(|source| ProxyError::listen(listen, source));
            if listen.port() == 0 {
                return same_port(datagrams);
            }
            let socket = datagrams()?;
            let address = socket.local_addr()?;
            let listener = TcpListener::bind(address).map_err(|source| ProxyError::listen(address, source))?;
            Ok((socket, listener))
        };
        Self::start_with(&programs, network, seed, (TimeScale::REAL, &bind))
    }

    fn start_with(
        programs: &[NetworkProgram],
        network: &Network,
        seed: u64,
        (scale, bind): (TimeScale, &Bind<'_>),
    ) -> Result<Self, RealNetworkError> {
        let (network, not_injected) = without_kinds(network);
        let client = programs.iter().position(|program| program.addresses.is_empty()).unwrap_or(0);
        let names: Vec<String> = programs.iter().map(|program| program.name.clone()).collect();
        let mut all = names.clone();
        for named in named(&network) {
            if !all.contains(&named) {
                all.push(named);
            }
        }
        let fates = Arc::new(Mutex::new(NetworkFates::new(&network, &all, seed)?));
        let clock = Arc::new(Clock { scale, ..Clock::default() });
        let now = Now { fates, clock: Arc::clone(&clock) };
        let (mut ports, mut numbered) = (Vec::new(), Vec::new());
        for (program, NetworkProgram { addresses, .. }) in programs.iter().enumerate() {
            ports.extend(addresses.iter().map(|&address| ProgramPort { program, address }));
            numbered.extend((0..addresses.len()).map(|number| (program, number)));
        }
        let routes: Vec<(usize, usize)> = (0..programs.len())
            .flat_map(|source| (0..ports.len()).map(move |port| (source, port)))
            .filter(|&(source, port)| ports[port].program != source)
            .collect();
        let (mut stream_entries, mut entries) = (Vec::new(), BTreeMap::new());
        let socket = |source: usize, port: usize| {
            let (socket, listener) = bind(source, port)?;
            entries.insert((source, numbered[port]), socket.local_addr()?);
            let ProgramPort { program: destination, address } = ports[port];
            stream_entries.push(StreamEntry { listener, source, destination, address });
            Ok(socket)
        };
        let datagrams = Links::between(ports.clone(), &routes, Senders::Any, Box::new(now.clone()), socket)?;
        let streams = StreamLinks::start(stream_entries, Box::new(now))?;
        Ok(Self { names, client, entries, datagrams, streams, clock, not_injected })
    }

    /// Returns where the program `source` reaches the usual port of the program `destination`; `None` if there is no
    /// such program, or it is a client.
    pub fn entry(&self, source: &str, destination: &str) -> Option<SocketAddr> {
        self.entry_of_port(source, destination, 0)
    }

    /// Returns where the program `source` reaches a port of the program `destination`, by its number in
    /// [`NetworkProgram::addresses`]; `None` if there is no such program, or it has no such port.
    pub fn entry_of_port(&self, source: &str, destination: &str, port: usize) -> Option<SocketAddr> {
        let place = |name: &str| self.names.iter().position(|known| known == name);
        self.entries.get(&(place(source)?, (place(destination)?, port))).copied()
    }

    /// Lets its time begin: partitions and rules are scheduled from `moment` on.
    pub fn begin(&self, moment: Instant) {
        _ = self.clock.begun.set(moment);
    }

    /// Lets connections pass on what is corrupted, with one bit changed, as a router does whose memory fails: checksums of
    /// links and of TCP are computed anew behind it. Without this, TCP discards what is corrupted and sends it again.
    pub fn corrupt_streams(&self, random: Random) {
        *self.clock.stream_corruption.lock().unwrap_or_else(PoisonError::into_inner) = Some(random);
    }

    /// Returns what is done to its programs, at its pace.
    pub fn schedule(&self, faults: &Faults) -> Schedule {
        let programs: Vec<&str> = self.names.iter().map(String::as_str).collect();
        Schedule::new(faults, &[], &programs, self.clock.scale)
    }

    /// Resets all connections of a program.
    pub fn reset(&self, program: &str) {
        if let Some(place) = self.names.iter().position(|known| known == program) {
            self.streams.reset(place);
        }
    }

    /// Returns what of the network it cannot do, each in words.
    pub fn not_injected(&self) -> &[String] {
        &self.not_injected
    }

    /// Returns what happened to datagrams so far, and how many connections were made. Waits for up to a second for those
    /// that were sent already. Of two programs, what the client sends counts as forward: the one that has no address, or
    /// else the first.
    pub fn counts(&self) -> ProxyCounts {
        self.datagrams.wait_until_counted(COUNTED_MAX);
        let connections = self.connections();
        match self.names.len() {
            2 => {
                let [forward, back] = [self.client, 1 - self.client].map(|program| self.datagrams.counts_from(program));
                ProxyCounts { forward, back, connections }
            }
            _ => ProxyCounts { forward: self.datagrams.counts(), back: DirectionCounts::default(), connections },
        }
    }

    /// Returns the first datagram that could not be sent, if there is one: [`DirectionCounts::unsent`] counts them.
    pub fn unsent(&self) -> Option<Unsent> {
        self.datagrams.unsent()
    }

    /// Returns how many clients were forgotten so far: see [`DirectionCounts::forgotten`].
    pub fn forgotten(&self) -> u64 {
        self.datagrams.counts().forgotten
    }

    /// Returns how many connections were made so far.
    pub fn connections(&self) -> u64 {
        self.streams.connections()
    }

    /// Returns what it has heard so far; `None` if that tells nothing, as connections were made.
    pub fn activity(&self) -> Option<Activity> {
        (self.connections() == 0).then(|| self.datagrams.activity())
    }

    /// Returns by how much the latest datagram or piece of a connection so far was delivered too late: a machine that is
    /// busy does that.
    pub fn lateness(&self) -> Duration {
        Duration::from_nanos(self.clock.lateness_ns.load(Ordering::Relaxed))
    }

    /// Checks that it still works.
    ///
    /// # Errors
    /// [`ProxyError::Broken`] if it passes nothing on any more.
    pub fn check(&self) -> Result<(), ProxyError> {
        self.datagrams.check()?;
        self.streams.check()
    }
}

/// Returns a socket for datagrams and one for connections at the same port of loopback.
pub(crate) fn any_loopback_port() -> Result<(UdpSocket, TcpListener), ProxyError> {
    same_port(|| Ok(UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?))
}

/// Returns a socket of `datagrams`, which makes one at another port each time, and one for connections at its address:
/// a port that is free for datagrams may be that of a connection.
fn same_port(
    mut datagrams: impl FnMut() -> Result<UdpSocket, ProxyError>,
) -> Result<(UdpSocket, TcpListener), ProxyError> {
    let mut tries = PORT_TRIES_MAX;
    loop {
        let socket = datagrams()?;
        tries -= 1;
        match TcpListener::bind(socket.local_addr()?) {
            Ok(listener) => return Ok((socket, listener)),
            Err(error) if tries == 0 || is_shortage(&error) => return Err(ProxyError::Resources(error)),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
            Err(error) => return Err(ProxyError::Resources(error)),
        }
    }
}

/// Returns the network without the rules that are about a kind of message, and these in words.
fn without_kinds(network: &Network) -> (Network, Vec<String>) {
    let kind = |kind: &String| format!("rule about {kind} messages: the network does not know what programs send");
    let not_injected = network.rules.iter().filter_map(|rule| rule.kind.as_ref().map(kind)).collect();
    let rules = network.rules.iter().filter(|rule| rule.kind.is_none()).cloned().collect();
    (Network { rules, ..network.clone() }, not_injected)
}

/// Returns the components that a network names.
pub(super) fn named(network: &Network) -> Vec<String> {
    let links = network.links.iter().flat_map(|setting| [&setting.from, &setting.to]);
    let rules = network.rules.iter().flat_map(|rule| [&rule.from, &rule.to]);
    let groups = network.partitions.iter().flat_map(|partition| &partition.groups).flatten();
    let topology = network.topology.iter();
    let components = topology.clone().filter_map(|topology| topology.components.as_ref()).flatten();
    let ends = topology.flat_map(|topology| match &topology.shape {
        Shape::Edges(edges) => edges.as_slice(),
        _ => &[],
    });
    let ends = ends.flat_map(|edge| &edge.ends);
    links.chain(rules).flatten().chain(groups).chain(components).chain(ends).cloned().collect()
}

#[cfg(test)]
mod tests;
