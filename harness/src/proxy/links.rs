//! Links between programs, which take as long for each datagram as those of a simulated network.
//!
//! Each end of a link is a UDP socket of its own: what a program sends there comes to the program at the other end,
//! from the address that this one has there for the first. So a program sees one address for each neighbour, and needs
//! to know no other.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, PipeReader};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use simutant_sim_core::{VirtualTime, network};

use super::relay_thread::RelayThread;
use super::{
    Activity, BURST_MAX, DATAGRAM_BYTES_MAX, DirectionCounters, DirectionCounts, Fate, ProxyError, receive, send,
};

/// A program that links lead to.
#[derive(Debug)]
pub struct Linked {
    /// Where it receives.
    pub address: SocketAddr,
    /// What becomes of the datagrams that it sends, over whichever link.
    pub fates: network::Fates,
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
        let (mut ends, mut entries) = (Vec::new(), BTreeMap::new());
        for &(one, other) in pairs {
            for (source, destination) in [(one, other), (other, one)] {
                let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0))?;
                socket.set_nonblocking(true)?;
                entries.insert((source, destination), socket.local_addr()?);
                ends.push(End { socket, source, destination });
            }
        }
        let traffic = Arc::new(Traffic::default());
        let relay =
            Relay { ends, programs, on_their_way: BTreeMap::new(), next_number: 0, traffic: Arc::clone(&traffic) };
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
}

/// A datagram that is to arrive later.
#[derive(Debug)]
struct Datagram {
    /// The end that it came in at.
    end: usize,
    bytes: Vec<u8>,
}

/// What the thread owns.
struct Relay {
    /// The two ends of a link lie side by side.
    ends: Vec<End>,
    programs: Vec<Linked>,
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
            let Some((length, _)) = receive(&self.ends[end].socket, buffer)? else { return Ok(()) };
            let now = Instant::now();
            let fates = &mut self.programs[self.ends[end].source].fates;
            // The links have no limited bandwidth, so times and sizes do not matter.
            let arrivals = match fates.draw(VirtualTime::ZERO, 0) {
                network::Fate::Dropped(_) => vec![],
                network::Fate::Delivered(arrival) => vec![arrival],
                network::Fate::Duplicated(arrival, copy) => vec![arrival, copy],
            };
            self.traffic.counters.note(match arrivals.len() {
                0 => Fate::Drop,
                1 => Fate::Deliver,
                _ => Fate::Duplicate,
            });
            for arrival in arrivals {
                let due = now + Duration::from_nanos(arrival.after.as_nanos());
                let datagram = Datagram { end, bytes: buffer[..length].to_vec() };
                self.on_their_way.insert((due, self.next_number), datagram);
                self.next_number += 1;
            }
        }
        Ok(())
    }

    /// Delivers what is due.
    fn hand_out(&mut self) {
        while let Some(entry) = self.on_their_way.first_entry()
            && entry.key().0 <= Instant::now()
        {
            let Datagram { end, bytes } = entry.remove();
            let to = self.programs[self.ends[end].destination].address;
            let other_end = end ^ 1;
            let sent = send(&self.ends[other_end].socket, &bytes, to, 1);
            self.traffic.counters.forwarded.fetch_add(sent, Ordering::Relaxed);
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
