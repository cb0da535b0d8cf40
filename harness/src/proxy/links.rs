//! Links between programs, which take as long for each datagram as those of a simulated network.
//!
//! Each end of a link is a UDP socket of its own: what a program sends there comes to the program at the other end,
//! from the address that this one has there for the first. So a program sees one address for each neighbour, and needs
//! to know no other.
//!
//! What a program sends from another socket than that at its own address, as clients do, comes to the other end from a
//! socket of its own where there may be [`Senders::Any`]: so answers find their way back to the socket that asked.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, PipeReader};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use simutant_sim_core::{VirtualDuration, VirtualTime, network};

use super::relay_thread::RelayThread;
use super::{
    Activity, BURST_MAX, DATAGRAM_BYTES_MAX, DatagramFate, DirectionCounters, DirectionCounts, ProxyError, receive,
    send,
};

/// A program that links lead to.
#[derive(Debug)]
pub struct Linked {
    /// Where it receives.
    pub address: SocketAddr,
    /// What becomes of the datagrams that it sends, over whichever link.
    pub fates: network::Fates,
}

/// What becomes of the datagrams on links, whose ends are programs by their places.
pub(crate) trait Weather: Send {
    /// Returns what becomes of the next datagram, which was sent just now.
    fn fate(&mut self, source: usize, destination: usize, bytes: u32) -> network::Fate;

    /// Returns whether a datagram that arrives just now is lost after all.
    fn is_separated(&mut self, source: usize, destination: usize) -> bool;

    /// Returns how long a delay takes in real time.
    fn real(&self, delay: VirtualDuration) -> Duration;

    /// Is told how late a datagram was handed out, since the machine had something else to do.
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
    /// Any counts as the one at its address, where answers go.
    AsOne,
    /// Each is told apart, and gets its own answers.
    Any,
}

/// Running links; they stop when they are dropped.
#[derive(Debug)]
pub struct Links {
    /// By the numbers of the program that sends and of the one that receives.
    entries: BTreeMap<(usize, usize), SocketAddr>,
    traffic: Arc<Traffic>,
    thread: RelayThread,
}

/// What the thread tells.
#[derive(Debug, Default)]
struct Traffic {
    counters: DirectionCounters,
    /// Whether something is on its way, or was just found to have come in.
    is_busy: AtomicBool,
}

impl Links {
    /// Returns links that run on a thread of their own, one for each of `pairs`, which are of two places in `programs`.
    ///
    /// # Errors
    /// [`ProxyError`] if the system has no socket, pipe or thread left.
    pub fn start(programs: Vec<Linked>, pairs: &[(usize, usize)]) -> Result<Self, ProxyError> {
        let (addresses, fates): (Vec<_>, Vec<_>) =
            programs.into_iter().map(|program| (Some(program.address), program.fates)).unzip();
        let socket = |_, _| Ok(UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?);
        Self::between(addresses, pairs, Senders::AsOne, Box::new(fates), socket)
    }

    /// Returns links between programs that receive at `addresses`; those without only get answers. `socket` makes the
    /// end at which the first sends what is for the second.
    ///
    /// # Errors
    /// [`ProxyError`] if the system has no socket, pipe or thread left.
    pub(crate) fn between(
        addresses: Vec<Option<SocketAddr>>,
        pairs: &[(usize, usize)],
        senders: Senders,
        weather: Box<dyn Weather>,
        mut socket: impl FnMut(usize, usize) -> Result<UdpSocket, ProxyError>,
    ) -> Result<Self, ProxyError> {
        let (mut ends, mut entries) = (Vec::new(), BTreeMap::new());
        for &(one, other) in pairs {
            for (source, destination) in [(one, other), (other, one)] {
                let socket = socket(source, destination)?;
                socket.set_nonblocking(true)?;
                entries.insert((source, destination), socket.local_addr()?);
                let replies_at = ends.len() ^ 1;
                ends.push(End { socket, source, destination, replies_at, sender: None });
            }
        }
        let traffic = Arc::new(Traffic::default());
        let (on_their_way, visitors) = (BTreeMap::new(), BTreeMap::new());
        let relay = Relay {
            ends,
            visitors,
            addresses,
            senders,
            weather,
            on_their_way,
            next_number: 0,
            traffic: Arc::clone(&traffic),
        };
        let thread = RelayThread::start("links", move |stop| relay.run(stop))?;
        Ok(Self { entries, traffic, thread })
    }

    /// Returns where the program `source` sends what is for `destination`.
    ///
    /// # Panics
    /// If there is no link between them.
    pub fn entry(&self, source: usize, destination: usize) -> SocketAddr {
        self.entries[&(source, destination)]
    }

    /// Returns the ports of all ends.
    pub fn ports(&self) -> BTreeSet<u16> {
        self.entries.values().map(SocketAddr::port).collect()
    }

    /// Returns the counts so far, all links and both directions together.
    pub fn counts(&self) -> DirectionCounts {
        self.traffic.counters.read()
    }

    /// Returns what they have heard so far, all links and both directions together.
    pub fn activity(&self) -> Activity {
        self.traffic.counters.activity()
    }

    /// Returns whether datagrams are on their way. One that has come in, and was not looked at yet, waits to be read at
    /// one of [`Links::ports`].
    pub fn are_busy(&self) -> bool {
        self.traffic.is_busy.load(Ordering::SeqCst)
    }

    /// Checks that the links still work.
    ///
    /// # Errors
    /// [`ProxyError::Broken`] if they pass nothing on any more.
    pub fn check(&self) -> Result<(), ProxyError> {
        self.thread.check()
    }
}

/// One end of a link.
#[derive(Debug)]
struct End {
    /// Receives from `source`, and sends what comes from the other end.
    socket: UdpSocket,
    source: usize,
    destination: usize,
    /// The end from which `destination` is sent what came in here.
    replies_at: usize,
    /// The socket of `destination` that is sent what comes in here, if that is not the one at its address.
    sender: Option<SocketAddr>,
}

/// A datagram that is to arrive later.
#[derive(Debug)]
struct Datagram {
    /// The end that it came in at.
    from: usize,
    /// The end that it goes out at.
    out: usize,
    bytes: Vec<u8>,
}

/// What the thread owns.
struct Relay {
    /// The two ends of a link lie side by side. The ends of visitors follow.
    ends: Vec<End>,
    /// By the end that they send to and their address: where what they send goes out, and the answers come in.
    visitors: BTreeMap<(usize, SocketAddr), usize>,
    /// Where programs receive.
    addresses: Vec<Option<SocketAddr>>,
    senders: Senders,
    weather: Box<dyn Weather>,
    /// By the moment of their arrival; the number tells apart those of one moment.
    on_their_way: BTreeMap<(Instant, u64), Datagram>,
    next_number: u64,
    traffic: Arc<Traffic>,
}

impl Relay {
    /// Passes datagrams on until the other end of `stop` is closed, or polling or receiving fails.
    fn run(mut self, stop: &PipeReader) -> io::Result<()> {
        let mut buffer = vec![0; DATAGRAM_BYTES_MAX];
        loop {
            self.traffic.is_busy.store(!self.on_their_way.is_empty(), Ordering::SeqCst);
            let wait = self.on_their_way.first_key_value().map(|((due, _), _)| due.duration_since(Instant::now()));
            let ready = self.poll(stop, wait)?;
            self.traffic.is_busy.store(true, Ordering::SeqCst);
            let Some((stopped, ready)) = ready.split_last() else { unreachable!("the pipe is always asked for") };
            if *stopped {
                return Ok(());
            }
            for (end, _) in ready.iter().enumerate().filter(|(_, is_ready)| **is_ready) {
                self.take_in(end, &mut buffer)?;
            }
            self.hand_out();
        }
    }

    /// Returns which of the ends can be read, and last whether it is time to stop.
    fn poll(&self, stop: &PipeReader, wait: Option<Duration>) -> io::Result<Vec<bool>> {
        let mut ready: Vec<PollFd<'_>> = self.ends.iter().map(|end| PollFd::new(&end.socket, PollFlags::IN)).collect();
        ready.push(PollFd::new(stop, PollFlags::IN));
        let wait = wait.map(|wait| Timespec::try_from(wait).expect("a delay is short"));
        match rustix::event::poll(&mut ready, wait.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(ready.iter().map(|descriptor| !descriptor.revents().is_empty()).collect())
    }

    /// Sets what has come in on its way.
    fn take_in(&mut self, end: usize, buffer: &mut [u8]) -> io::Result<()> {
        for _ in 0..BURST_MAX {
            let Some((length, sender)) = receive(&self.ends[end].socket, buffer)? else { return Ok(()) };
            let now = Instant::now();
            let End { source, destination, .. } = self.ends[end];
            let arrivals = match self.weather.fate(source, destination, length as u32) {
                network::Fate::Dropped(_) => vec![],
                network::Fate::Delivered(arrival) => vec![arrival],
                network::Fate::Duplicated(arrival, copy) => vec![arrival, copy],
            };
            self.traffic.counters.note(match arrivals.len() {
                0 => DatagramFate::Drop,
                1 => DatagramFate::Deliver,
                _ => DatagramFate::Duplicate,
            });
            let out = self.way_out(end, sender)?;
            for arrival in arrivals {
                let due = now + self.weather.real(arrival.after);
                let mut bytes = buffer[..length].to_vec();
                if arrival.is_corrupted && length > 0 {
                    bytes[self.next_number as usize % length] ^= 1;
                }
                self.on_their_way.insert((due, self.next_number), Datagram { from: end, out, bytes });
                self.next_number += 1;
            }
        }
        Ok(())
    }

    /// Returns the end at which a datagram goes out that came in at `end`.
    fn way_out(&mut self, end: usize, sender: SocketAddr) -> io::Result<usize> {
        let End { source, destination, replies_at, .. } = self.ends[end];
        let is_visitor = self.senders == Senders::Any && self.addresses[source] != Some(sender);
        // A socket of a visitor's hears answers alone.
        if !is_visitor || self.ends[end].sender.is_some() {
            return Ok(replies_at);
        }
        if let Some(&known) = self.visitors.get(&(end, sender)) {
            return Ok(known);
        }
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
        socket.set_nonblocking(true)?;
        // Answers come from the destination, and go back from the end that the visitor sent to.
        let visitor = End { socket, source: destination, destination: source, replies_at: end, sender: Some(sender) };
        self.ends.push(visitor);
        self.visitors.insert((end, sender), self.ends.len() - 1);
        Ok(self.ends.len() - 1)
    }

    /// Delivers what is due.
    fn hand_out(&mut self) {
        while let Some(entry) = self.on_their_way.first_entry()
            && let now = Instant::now()
            && entry.key().0 <= now
        {
            self.weather.note_lateness(now - entry.key().0);
            let Datagram { from, out, bytes } = entry.remove();
            let End { source, destination, sender, .. } = self.ends[from];
            let to = sender.or(self.addresses[destination]);
            if let (Some(to), false) = (to, self.weather.is_separated(source, destination)) {
                let sent = send(&self.ends[out].socket, &bytes, to, 1);
                self.traffic.counters.forwarded.fetch_add(sent, Ordering::Relaxed);
            }
        }
    }
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
        assert_eq!(stop(links), DirectionCounts { received: 3, dropped: 0, duplicated: 0, forwarded: 3 });
    }

    #[test]
    fn a_datagram_takes_at_least_as_long_as_it_was_drawn() {
        let latency = Latency::Constant(VirtualDuration::from_millis(50));
        let ([first, middle, _], links) = row(&Link { latency, ..Link::default() });
        let start = Instant::now();
        first.send_to(b"slow", links.entry(0, 1)).expect("loopback accepts");
        while !links.are_busy() {
            assert!(start.elapsed() < Duration::from_secs(10), "nobody takes the datagram in");
            std::thread::yield_now();
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
            std::thread::yield_now();
        }
        assert_eq!(stop(links), DirectionCounts { received: 1, dropped: 0, duplicated: 1, forwarded: 2 });
        assert_eq!(stop(lossy), DirectionCounts { received: 1, dropped: 1, duplicated: 0, forwarded: 0 });
    }
}
