//! Links between programs, which take as long for each datagram as those of a simulated network.
//!
//! A program sends what is for a port of another one to an entry of its own, a UDP socket. It comes to the other program
//! from the entry at which that one sends to the port that the datagram was sent from. So a program sees one address for
//! each port of a neighbour, and needs to know no other.
//!
//! What a program sends from another socket than those at its ports, as clients do, comes to the other end from a
//! socket of its own where there may be [`Senders::Any`]: so answers find their way back to the socket that asked.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, PipeReader};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use simutant_sim_core::{VirtualDuration, VirtualTime, network};

use super::relay_thread::RelayThread;
use super::visitors::Visitors;
use super::{
    Activity, BURST_MAX, DATAGRAM_BYTES_MAX, DatagramFate, DirectionCounters, DirectionCounts, ProxyError, Unsent,
    is_answer, receive,
};

/// How long a client is remembered that neither sends nor gets anything: as long as a NAT has to (RFC 4787, section 4.3).
const IDLE_MAX: Duration = Duration::from_mins(2);

/// A program that links lead to.
#[derive(Debug)]
pub struct Linked {
    /// Where it receives.
    pub address: SocketAddr,
    /// What becomes of the datagrams that it sends, over whichever link.
    pub fates: network::Fates,
}

/// A port of a program, at which it receives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ProgramPort {
    /// The place of the program.
    pub(crate) program: usize,
    pub(crate) address: SocketAddr,
}

/// What becomes of the datagrams on links between programs, which are known by their places.
pub(crate) trait Weather: Send {
    /// Returns what becomes of the next datagram, which was sent just now.
    fn fate(&mut self, source: usize, destination: usize, bytes: u32) -> network::Fate;

    /// Returns whether a datagram that arrives just now is lost after all.
    fn is_separated(&mut self, source: usize, destination: usize) -> bool;

    /// Returns random bits for a piece of a connection that arrives corrupted; `None` if a checksum discards it.
    fn stream_corruption(&mut self) -> Option<u64> {
        None
    }

    /// Returns how long a delay takes in real time.
    fn real(&self, delay: VirtualDuration) -> Duration;

    /// Is told how late a datagram or a piece of a connection was handed out or sent again, since the machine had something
    /// else to do.
    fn note_lateness(&self, lateness: Duration);
}

/// Links that are as each program's fates say, at the pace of real time.
impl Weather for Vec<network::Fates> {
    fn fate(&mut self, source: usize, _destination: usize, _bytes: u32) -> network::Fate {
        // The links have no limited bandwidth, so times and sizes do not matter.
        self[source].draw(VirtualTime::ZERO, 0)
    }

    fn is_separated(&mut self, _source: usize, _destination: usize) -> bool {
        false
    }

    fn real(&self, delay: VirtualDuration) -> Duration {
        Duration::from_nanos(delay.as_nanos())
    }

    fn note_lateness(&self, _lateness: Duration) {}
}

/// Which sockets of a program may send on its links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Senders {
    /// Any counts as the one at its first port, where answers go.
    AsOne,
    /// Each is told apart, and gets its own answers.
    Any,
}

/// Running links; they stop when they are dropped.
#[derive(Debug)]
pub struct Links {
    /// By the places of the program that sends and of the port that receives.
    entries: BTreeMap<(usize, usize), SocketAddr>,
    /// What comes in at the entries.
    sockets: Vec<Arc<UdpSocket>>,
    traffic: Arc<Traffic>,
    thread: RelayThread,
}

/// What the thread tells.
#[derive(Debug, Default)]
struct Traffic {
    /// By the program that sends.
    counters: Vec<DirectionCounters>,
    /// Whether something is on its way, or was just found to have come in.
    is_busy: AtomicBool,
    /// Whether it may have read datagrams that it has not counted yet.
    is_reading: AtomicBool,
}

impl Links {
    /// Returns links that run on a thread of their own, one for each of `pairs`, which are of two places in `programs`.
    ///
    /// # Errors
    /// [`ProxyError`] if the system has no socket, pipe or thread left.
    pub fn start(programs: Vec<Linked>, pairs: &[(usize, usize)]) -> Result<Self, ProxyError> {
        let port = |(program, linked): (usize, &Linked)| ProgramPort { program, address: linked.address };
        let ports = programs.iter().enumerate().map(port).collect();
        let fates: Vec<_> = programs.into_iter().map(|program| program.fates).collect();
        let routes: Vec<_> = pairs.iter().flat_map(|&(one, other)| [(one, other), (other, one)]).collect();
        let socket = |_, _| Ok(UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?);
        Self::between(ports, &routes, Senders::AsOne, Box::new(fates), socket)
    }

    /// Returns links on which each of `routes` leads from a program to a port, both by their places. `socket` makes the
    /// entry of a route.
    ///
    /// # Errors
    /// [`ProxyError`] if the system has no socket, pipe or thread left.
    pub(crate) fn between(
        ports: Vec<ProgramPort>,
        routes: &[(usize, usize)],
        senders: Senders,
        weather: Box<dyn Weather>,
        mut socket: impl FnMut(usize, usize) -> Result<UdpSocket, ProxyError>,
    ) -> Result<Self, ProxyError> {
        let (mut entries, mut addresses) = (Vec::new(), BTreeMap::new());
        for &(source, port) in routes {
            let socket = socket(source, port)?;
            socket.set_nonblocking(true)?;
            addresses.insert((source, port), socket.local_addr()?);
            entries.push(Entry { socket: Arc::new(socket), source, port });
        }
        let sockets = entries.iter().map(|entry| Arc::clone(&entry.socket)).collect();
        let relay = Relay::new(ports, entries, senders, weather);
        let traffic = Arc::clone(&relay.traffic);
        let thread = RelayThread::start("links", move |stop| relay.run(stop))?;
        Ok(Self { entries: addresses, sockets, traffic, thread })
    }

    /// Returns where the program `source` sends what is for `destination`.
    ///
    /// # Panics
    /// If there is no link between them.
    pub fn entry(&self, source: usize, destination: usize) -> SocketAddr {
        self.entries[&(source, destination)]
    }

    /// Returns the ports of all entries.
    pub fn ports(&self) -> BTreeSet<u16> {
        self.entries.values().map(SocketAddr::port).collect()
    }

    /// Returns the counts so far, all links and both directions together.
    pub fn counts(&self) -> DirectionCounts {
        self.traffic.counters.iter().map(DirectionCounters::read).fold(DirectionCounts::default(), |all, of| all + of)
    }

    /// Returns the counts so far of what a program sent.
    pub(crate) fn counts_from(&self, program: usize) -> DirectionCounts {
        self.traffic.counters.get(program).map(DirectionCounters::read).unwrap_or_default()
    }

    /// Returns the first datagram that could not be sent, if there is one.
    pub fn unsent(&self) -> Option<Unsent> {
        self.traffic.counters.iter().find_map(|counters| counters.first_unsent.get().cloned())
    }

    /// Returns what they have heard so far, all links and both directions together.
    pub fn activity(&self) -> Activity {
        let each = self.traffic.counters.iter().map(DirectionCounters::activity);
        each.fold(Activity::default(), Activity::and)
    }

    /// Returns whether datagrams are on their way. One that has come in, and was not looked at yet, waits to be read at
    /// one of [`Links::ports`].
    pub fn are_busy(&self) -> bool {
        self.traffic.is_busy.load(Ordering::SeqCst)
    }

    /// Waits until all is counted that has come in at the entries: who sent it may have ended before the thread was
    /// given time to read it. Waits no longer than `at_most`, as somebody may go on sending.
    pub(crate) fn wait_until_counted(&self, at_most: Duration) {
        let begun = Instant::now();
        // In this order: what is not there any more was read, and is counted once the thread does not read.
        while (self.holds_unread() || self.traffic.is_reading.load(Ordering::SeqCst))
            && self.check().is_ok()
            && begun.elapsed() < at_most
        {
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// Returns whether datagrams wait to be read at an entry.
    fn holds_unread(&self) -> bool {
        let mut ready: Vec<_> = self.sockets.iter().map(|socket| PollFd::new(&**socket, PollFlags::IN)).collect();
        rustix::event::poll(&mut ready, Some(&Timespec::default())).is_ok_and(|ready| ready > 0)
    }

    /// Checks that the links still work.
    ///
    /// # Errors
    /// [`ProxyError::Broken`] if they pass nothing on any more.
    pub fn check(&self) -> Result<(), ProxyError> {
        self.thread.check()
    }
}

/// Where a program sends what is for a port of another one.
#[derive(Debug)]
struct Entry {
    socket: Arc<UdpSocket>,
    /// The program that sends here.
    source: usize,
    /// The place of the port that it sends to.
    port: usize,
}

/// How a datagram goes on.
#[derive(Debug)]
struct Route {
    /// The programs that it is from and for.
    source: usize,
    destination: usize,
    /// What it goes out of.
    socket: Arc<UdpSocket>,
    to: SocketAddr,
}

/// A datagram that is to arrive later.
#[derive(Debug)]
struct Datagram {
    route: Arc<Route>,
    bytes: Vec<u8>,
}

/// What the thread owns.
struct Relay {
    ports: Vec<ProgramPort>,
    entries: Vec<Entry>,
    /// The place of each entry, by its program and its port.
    places: BTreeMap<(usize, usize), usize>,
    visitors: Visitors,
    senders: Senders,
    weather: Box<dyn Weather>,
    /// By the moment of their arrival; the number tells apart those of one moment.
    on_their_way: BTreeMap<(Instant, u64), Datagram>,
    next_number: u64,
    traffic: Arc<Traffic>,
}

/// Where a datagram came in.
#[derive(Debug, Clone, Copy)]
enum Came {
    /// At an entry, by its place.
    Entry(usize),
    /// At the socket of a client, by its place: an answer.
    Visitor(usize),
}

impl Relay {
    fn new(ports: Vec<ProgramPort>, entries: Vec<Entry>, senders: Senders, weather: Box<dyn Weather>) -> Self {
        let places = entries.iter().enumerate().map(|(place, entry)| ((entry.source, entry.port), place)).collect();
        let sources = entries.iter().map(|entry| entry.source).chain(ports.iter().map(|port| port.program));
        let counters = (0..sources.max().map_or(0, |last| last + 1)).map(|_| DirectionCounters::default()).collect();
        Self {
            ports,
            entries,
            places,
            visitors: Visitors::new(IDLE_MAX),
            senders,
            weather,
            on_their_way: BTreeMap::new(),
            next_number: 0,
            traffic: Arc::new(Traffic { counters, ..Traffic::default() }),
        }
    }

    /// Passes datagrams on until the other end of `stop` is closed, or polling or receiving fails.
    fn run(mut self, stop: &PipeReader) -> io::Result<()> {
        let mut buffer = vec![0; DATAGRAM_BYTES_MAX];
        loop {
            self.traffic.is_busy.store(!self.on_their_way.is_empty(), Ordering::SeqCst);
            self.traffic.is_reading.store(false, Ordering::SeqCst);
            let wait = self.on_their_way.first_key_value().map(|((due, _), _)| due.duration_since(Instant::now()));
            let ready = self.poll(stop, wait)?;
            self.traffic.is_busy.store(true, Ordering::SeqCst);
            self.traffic.is_reading.store(true, Ordering::SeqCst);
            let Some((stopped, ready)) = ready.split_last() else { unreachable!("the pipe is always asked for") };
            if *stopped {
                return Ok(());
            }
            let (entries, visitors) = ready.split_at(self.entries.len());
            let ready_of = |ready: &[bool]| (0..ready.len()).filter(|&place| ready[place]).collect::<Vec<_>>();
            // Visitors first: their places change when new ones come.
            for visitor in ready_of(visitors) {
                self.take_in(Came::Visitor(visitor), &mut buffer)?;
            }
            for entry in ready_of(entries) {
                self.take_in(Came::Entry(entry), &mut buffer)?;
            }
            self.hand_out();
        }
    }

    /// Returns which of the entries can be read, which of the visitors' sockets, and last whether it is time to stop.
    fn poll(&self, stop: &PipeReader, wait: Option<Duration>) -> io::Result<Vec<bool>> {
        let sockets = self.entries.iter().map(|entry| &entry.socket);
        let sockets = sockets.chain(self.visitors.iter().map(|visitor| &visitor.socket));
        let mut ready: Vec<PollFd<'_>> = sockets.map(|socket| PollFd::new(&**socket, PollFlags::IN)).collect();
        ready.push(PollFd::new(stop, PollFlags::IN));
        let wait = wait.map(|wait| Timespec::try_from(wait).expect("a delay is short"));
        match rustix::event::poll(&mut ready, wait.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(ready.iter().map(|descriptor| !descriptor.revents().is_empty()).collect())
    }

    /// Sets what has come in on its way.
    fn take_in(&mut self, came: Came, buffer: &mut [u8]) -> io::Result<()> {
        let socket = match came {
            Came::Entry(place) => Arc::clone(&self.entries[place].socket),
            Came::Visitor(place) => Arc::clone(&self.visitors.heard(place).socket),
        };
        for _ in 0..BURST_MAX {
            let Some((length, sender)) = receive(&socket, buffer)? else { return Ok(()) };
            let now = Instant::now();
            let route = match came {
                Came::Entry(place) => self.route(place, sender)?,
                // A stranger's datagram must not use up a fate of the program's.
                Came::Visitor(place) => match self.answer_route(place, sender) {
                    Some(route) => route,
                    None => continue,
                },
            };
            let arrivals = match self.weather.fate(route.source, route.destination, length as u32) {
                network::Fate::Dropped(_) => vec![],
                network::Fate::Delivered(arrival) => vec![arrival],
                network::Fate::Duplicated(arrival, copy) => vec![arrival, copy],
            };
            self.traffic.counters[route.source].note(match arrivals.len() {
                0 => DatagramFate::Drop,
                1 => DatagramFate::Deliver,
                _ => DatagramFate::Duplicate,
            });
            let route = Arc::new(route);
            for arrival in arrivals {
                let due = now + self.weather.real(arrival.after);
                let mut bytes = buffer[..length].to_vec();
                if arrival.is_corrupted && length > 0 {
                    bytes[self.next_number as usize % length] ^= 1;
                }
                let datagram = Datagram { route: Arc::clone(&route), bytes };
                self.on_their_way.insert((due, self.next_number), datagram);
                self.next_number += 1;
            }
        }
        Ok(())
    }

    /// Returns how a datagram goes on that came in at an entry.
    fn route(&mut self, entry: usize, sender: SocketAddr) -> io::Result<Route> {
        let Entry { source, port, .. } = self.entries[entry];
        let ProgramPort { program: destination, address: to } = self.ports[port];
        let is_own =
            |port: &ProgramPort| port.program == source && (self.senders == Senders::AsOne || port.address == sender);
        let own = self.ports.iter().position(is_own);
        let back = own.and_then(|own| self.places.get(&(destination, own)));
        let socket = match back {
            Some(&back) => Arc::clone(&self.entries[back].socket),
            None => {
                let (socket, forgotten) = self.visitors.socket(entry, sender, to)?;
                if let Some(entry) = forgotten {
                    self.traffic.counters[self.entries[entry].source].forgotten.fetch_add(1, Ordering::Relaxed);
                }
                socket
            }
        };
        Ok(Route { source, destination, socket, to })
    }

    /// Returns how an answer to a visitor goes on, from the entry that the visitor sent to; `None` for what is none.
    fn answer_route(&self, visitor: usize, sender: SocketAddr) -> Option<Route> {
        let visitor = self.visitors.iter().nth(visitor)?;
        let entry = &self.entries[visitor.entry];
        let ProgramPort { program: source, address } = self.ports[entry.port];
        let socket = Arc::clone(&entry.socket);
        is_answer(address, sender).then_some(Route { source, destination: entry.source, socket, to: visitor.address })
    }

    /// Delivers what is due.
    fn hand_out(&mut self) {
        while let Some(entry) = self.on_their_way.first_entry()
            && let now = Instant::now()
            && entry.key().0 <= now
        {
            self.weather.note_lateness(now - entry.key().0);
            let Datagram { route, bytes } = entry.remove();
            let Route { source, destination, ref socket, to } = *route;
            if !self.weather.is_separated(source, destination) {
                self.traffic.counters[source].send(socket, &bytes, to, 1);
            }
        }
    }
}

/// Returns links whose thread has ended because one of its sockets is none.
#[cfg(test)]
pub(crate) fn broken_links() -> Links {
    let no_socket = std::fs::File::open("/dev/null").expect("every Unix has it");
    let socket = Arc::new(std::os::fd::OwnedFd::from(no_socket).into());
    let ports = vec![ProgramPort { program: 1, address: (Ipv4Addr::LOCALHOST, 1).into() }];
    let fates: Vec<network::Fates> = Vec::new();
    let relay = Relay::new(ports, vec![Entry { socket, source: 0, port: 0 }], Senders::Any, Box::new(fates));
    let traffic = Arc::clone(&relay.traffic);
    let mut thread = RelayThread::start("links", move |stop| relay.run(stop)).expect("there are threads");
    thread.wait();
    Links { entries: BTreeMap::new(), sockets: Vec::new(), traffic, thread }
}

#[cfg(test)]
mod tests {
    use simutant_sim_core::{Latency, Link, Probability, VirtualDuration};

    use super::*;

    fn program() -> UdpSocket {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a loopback port is free");
        socket.set_read_timeout(Some(Duration::from_secs(10))).expect("10 s is a valid timeout");
        socket
    }

    /// Returns three programs in a row, and the links between them.
    fn row(link: &Link) -> ([UdpSocket; 3], Links) {
        let programs = [(); 3].map(|()| program());
        let linked = |(number, program): (usize, &UdpSocket)| Linked {
            address: program.local_addr().expect("a bound socket has an address"),
            fates: network::Fates::new(link, 7, &number.to_string()).expect("the link is valid"),
        };
        let linked = programs.iter().enumerate().map(linked).collect();
        let links = Links::start(linked, &[(0, 1), (1, 2)]).expect("the links start");
        (programs, links)
    }

    /// Stops the links and returns the final counts.
    fn stop(mut links: Links) -> DirectionCounts {
        links.thread.stop();
        links.counts()
    }

    #[test]
    fn a_neighbour_has_one_address_for_both_directions() {
        let ([first, middle, last], links) = row(&Link::default());
        let mut buffer = [0; 16];
        first.send_to(b"to the middle", links.entry(0, 1)).expect("loopback accepts");
        let (length, source) = middle.recv_from(&mut buffer).expect("it arrives");
        assert_eq!((&buffer[..length], source), (b"to the middle".as_slice(), links.entry(1, 0)));
        middle.send_to(b"back", source).expect("loopback accepts");
        let (length, source) = first.recv_from(&mut buffer).expect("it arrives");
        assert_eq!((&buffer[..length], source), (b"back".as_slice(), links.entry(0, 1)));
        middle.send_to(b"onwards", links.entry(1, 2)).expect("loopback accepts");
        let (length, source) = last.recv_from(&mut buffer).expect("it arrives");
        assert_eq!((&buffer[..length], source), (b"onwards".as_slice(), links.entry(2, 1)));
        links.check().expect("the links work");
        assert!(links.activity().datagrams == 3 && links.activity().last.is_some(), "{:?}", links.activity());
        assert_eq!(stop(links), DirectionCounts { received: 3, forwarded: 3, ..DirectionCounts::default() });
    }

    #[test]
    fn a_datagram_takes_at_least_as_long_as_it_was_drawn() {
        let latency = Latency::Constant(VirtualDuration::from_millis(50));
        let ([first, middle, _], links) = row(&Link { latency, ..Link::default() });
        let start = Instant::now();
        first.send_to(b"slow", links.entry(0, 1)).expect("loopback accepts");
        while !links.are_busy() {
            assert!(start.elapsed() < Duration::from_secs(10), "nobody takes the datagram in");
            thread::yield_now();
        }
        middle.recv(&mut [0; 16]).expect("it arrives");
        assert!(start.elapsed() >= Duration::from_millis(50), "{:?}", start.elapsed());
    }

    #[test]
    fn slow_datagrams_are_overtaken_as_in_the_simulation() {
        let (min, max) = (VirtualDuration::ZERO, VirtualDuration::from_millis(400));
        let link = Link { latency: Latency::Uniform { min, max }, ..Link::default() };
        let ([first, middle, _], links) = row(&link);
        let mut fates = network::Fates::new(&link, 7, "0").expect("the link is valid");
        let mut due: Vec<(VirtualDuration, u8)> = (0..4)
            .map(|number| match fates.draw(VirtualTime::ZERO, 0) {
                network::Fate::Delivered(arrival) => (arrival.after, number),
                other => panic!("the link loses nothing: {other:?}"),
            })
            .collect();
        for number in 0..4 {
            first.send_to(&[number], links.entry(0, 1)).expect("loopback accepts");
        }
        due.sort_unstable();
        let mut buffer = [0; 1];
        let arrived: Vec<u8> = (0..4)
            .map(|_| {
                middle.recv(&mut buffer).expect("it arrives");
                buffer[0]
            })
            .collect();
        assert!(due.windows(2).all(|pair| pair[1].0 - pair[0].0 > VirtualDuration::from_millis(20)), "{due:?}");
        assert!(!due.is_sorted_by_key(|(_, number)| *number), "{due:?}");
        assert_eq!(arrived, due.iter().map(|(_, number)| *number).collect::<Vec<_>>());
    }

    #[test]
    fn losses_and_copies_are_counted() {
        let duplicate = Probability::ONE;
        let ([first, middle, _], links) = row(&Link { duplicate, ..Link::default() });
        first.send_to(b"twice", links.entry(0, 1)).expect("loopback accepts");
        for _ in 0..2 {
            middle.recv(&mut [0; 16]).expect("it arrives");
        }
        let ([first, ..], lossy) = row(&Link { drop: Probability::ONE.into(), ..Link::default() });
        first.send_to(b"lost", lossy.entry(0, 1)).expect("loopback accepts");
        while lossy.counts().received == 0 {
            lossy.check().expect("the links work");
            thread::yield_now();
        }
        assert_eq!(
            stop(links),
            DirectionCounts { received: 1, duplicated: 1, forwarded: 2, ..DirectionCounts::default() }
        );
        assert_eq!(stop(lossy), DirectionCounts { received: 1, dropped: 1, ..DirectionCounts::default() });
    }

    #[test]
    fn what_was_sent_before_is_counted() {
        let ([first, ..], links) = row(&Link { drop: Probability::ONE.into(), ..Link::default() });
        for rounds in 1..=50 {
            for _ in 0..2 * BURST_MAX {
                first.send_to(b"lost", links.entry(0, 1)).expect("loopback accepts");
            }
            links.wait_until_counted(Duration::from_secs(10));
            assert_eq!(links.counts().received, rounds * 2 * BURST_MAX as u64);
        }
    }

    #[test]
    fn a_socket_that_cannot_be_read_ends_the_links_and_is_told() {
        let error = broken_links().check().expect_err("the socket is none");
        assert!(matches!(error, ProxyError::Broken(_)), "{error:?}");
        assert!(error.to_string().starts_with("the proxy failed while it ran: "), "{error}");
    }
}
