//! Links for connections: TCP between programs, as slow and as interrupted as the streams of a simulated network.
//!
//! A program connects to an entry, and the links connect to the program that the entry is for. What either sends goes
//! on in its order. Each piece meets the fate of a packet: it takes the latency of the link, and one that is lost, or
//! that a partition keeps from arriving, is sent again after a timeout that doubles (RFC 6298). A connection on which
//! nothing gets through for [as long as in the simulation](StreamSettings::give_up_after) is reset, and so are those of
//! a program that is [reset](StreamLinks::reset). The kernel accepts a connection whatever the network does: where a
//! simulated connection would not be made, a real one is made, and stalls.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, PipeReader, PipeWriter, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use simutant_sim_core::{StreamSettings, VirtualDuration, network};

use super::ProxyError;
use super::links::Weather;
use super::relay_thread::RelayThread;

/// How much is read at a time.
const PIECE_BYTES: usize = 16 * 1_024;

/// How much of one direction may be on its way; more is left to the sender's kernel.
const ON_THE_WAY_BYTES_MAX: usize = 1 << 20;

/// How long to wait until what was lost is sent again, the first time.
const TIMEOUT_MIN: VirtualDuration = VirtualDuration::from_millis(200);

/// How long at last.
const TIMEOUT_MAX: VirtualDuration = VirtualDuration::from_secs(2);

/// Where a program connects to reach another one.
#[derive(Debug)]
pub(crate) struct StreamEntry {
    pub(crate) listener: TcpListener,
    /// The program that connects.
    pub(crate) source: usize,
    /// The program that it reaches.
    pub(crate) destination: usize,
    /// Where that one listens.
    pub(crate) address: SocketAddr,
}

/// Running links; they stop, and reset all connections, when they are dropped.
#[derive(Debug)]
pub(crate) struct StreamLinks {
    thread: RelayThread,
    orders: Arc<Orders>,
    /// Wakes the thread for a look at its orders.
    wake: Mutex<PipeWriter>,
}

/// What the thread is told, and tells.
#[derive(Debug, Default)]
struct Orders {
    /// Programs whose connections the proxy resets.
    resets: Mutex<Vec<usize>>,
    connections: AtomicU64,
}

impl StreamLinks {
    /// Returns links that run on a thread of their own.
    ///
    /// # Errors
    /// [`ProxyError`] if the system has no pipe or thread left.
    pub(crate) fn start(entries: Vec<StreamEntry>, weather: Box<dyn Weather>) -> Result<Self, ProxyError> {
        for entry in &entries {
            entry.listener.set_nonblocking(true)?;
        }
        let (woken, wake) = io::pipe()?;
        let orders = Arc::new(Orders::default());
        let relay = Relay { entries, connections: Vec::new(), weather, orders: Arc::clone(&orders) };
        let thread = RelayThread::start("stream-links", move |stop| relay.run(stop, woken))?;
        Ok(Self { thread, orders, wake: Mutex::new(wake) })
    }

    /// Resets all connections of a program: what is on its way is lost, and the other ends hear of it at once.
    pub(crate) fn reset(&self, program: usize) {
        self.orders.resets.lock().unwrap_or_else(PoisonError::into_inner).push(program);
        // If the thread has ended, `check` says why.
        _ = self.wake.lock().unwrap_or_else(PoisonError::into_inner).write_all(&[0]);
    }

    /// Returns how many connections were made so far.
    pub(crate) fn connections(&self) -> u64 {
        self.orders.connections.load(Ordering::Relaxed)
    }

    /// Checks that the links still work.
    ///
    /// # Errors
    /// [`ProxyError::Broken`] if they pass nothing on any more.
    pub(crate) fn check(&self) -> Result<(), ProxyError> {
        self.thread.check()
    }
}

/// A connection, from the program that made it to the other one.
struct Connection {
    /// Places of the programs: that of the one that connected first.
    programs: [usize; 2],
    address: SocketAddr,
    /// Their ends; the second is there when the connection is begun.
    ends: [Option<TcpStream>; 2],
    /// What goes from the first to the second, and back.
    flows: [Flow; 2],
}

/// One direction of a connection.
#[derive(Default)]
struct Flow {
    pieces: VecDeque<Piece>,
    queued_bytes: usize,
    has_ended: bool,
    /// Whether the receiver's kernel takes nothing more for now.
    is_blocked: bool,
}

/// Something on its way.
struct Piece {
    content: Content,
    state: State,
    /// When it was sent first or, if that was later, when the piece before it got through.
    waits_since: Instant,
}

enum Content {
    /// The beginning of the connection.
    Begin,
    Bytes(Vec<u8>),
    /// No more will come.
    End,
}

enum State {
    /// It arrives then, with a bit flipped that a random number says, if there is one.
    Arriving(Instant, Option<u64>),
    /// It was lost, and is sent again then; how long to wait if that is lost, too.
    Lost(Instant, VirtualDuration),
}

impl State {
    fn moment(&self) -> Instant {
        match self {
            Self::Arriving(moment, _) | Self::Lost(moment, _) => *moment,
        }
    }
}

/// A connection that is over.
enum Over {
    /// Both directions have ended.
    Closed,
    /// It is reset.
    Reset,
}

/// What the thread owns.
struct Relay {
    entries: Vec<StreamEntry>,
    connections: Vec<Connection>,
    weather: Box<dyn Weather>,
    orders: Arc<Orders>,
}

impl Relay {
    /// Passes on until the other end of `stop` is closed, or polling fails.
    fn run(mut self, stop: &PipeReader, mut woken: PipeReader) -> io::Result<()> {
        let mut buffer = vec![0; PIECE_BYTES];
        loop {
            let ready = self.poll(stop, &woken)?;
            if ready[0] {
                self.connections.drain(..).for_each(Connection::reset);
                return Ok(());
            }
            if ready[1] {
                _ = woken.read(&mut [0; 64])?;
            }
            for program in std::mem::take(&mut *self.orders.resets.lock().unwrap_or_else(PoisonError::into_inner)) {
                self.connections.extract_if(.., |of| of.programs.contains(&program)).for_each(Connection::reset);
            }
            for entry in (0..self.entries.len()).filter(|entry| ready[2 + entry]) {
                self.accept(entry)?;
            }
            let mut at = 0;
            while at < self.connections.len() {
                match self.connections[at].go_on(self.weather.as_mut(), &mut buffer) {
                    None => at += 1,
                    Some(Over::Closed) => drop(self.connections.swap_remove(at)),
                    Some(Over::Reset) => self.connections.swap_remove(at).reset(),
                }
            }
        }
    }

    /// Waits for something to do. Returns whether it is time to stop, whether there are orders, and which entries are
    /// asked for a connection.
    fn poll(&self, stop: &PipeReader, woken: &PipeReader) -> io::Result<Vec<bool>> {
        let mut all = vec![PollFd::new(stop, PollFlags::IN), PollFd::new(woken, PollFlags::IN)];
        all.extend(self.entries.iter().map(|entry| PollFd::new(&entry.listener, PollFlags::IN)));
        let told = all.len();
        for connection in &self.connections {
            for (end, stream) in connection.ends.iter().enumerate() {
                let flags = connection.awaited(end);
                if let (Some(stream), false) = (stream, flags.is_empty()) {
                    all.push(PollFd::new(stream, flags));
                }
            }
        }
        let due = self.connections.iter().flat_map(|connection| &connection.flows).filter_map(Flow::due).min();
        let wait = due.map(|due| due.saturating_duration_since(Instant::now()));
        let wait = wait.map(|wait| Timespec::try_from(wait).expect("a delay is short"));
        match rustix::event::poll(&mut all, wait.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        Ok(all[..told].iter().map(|descriptor| !descriptor.revents().is_empty()).collect())
    }

    fn accept(&mut self, entry: usize) -> io::Result<()> {
        let StreamEntry { listener, source, destination, address } = &self.entries[entry];
        let stream = match listener.accept() {
            Ok((stream, _)) => stream,
            // Whoever connected has gone again.
            Err(error) if !crate::process::is_shortage(&error) => return Ok(()),
            Err(error) => return Err(error),
        };
        stream.set_nonblocking(true)?;
        // Pieces are to arrive when they are due.
        stream.set_nodelay(true)?;
        let mut connection = Connection {
            programs: [*source, *destination],
            address: *address,
            ends: [Some(stream), None],
            flows: Default::default(),
        };
        connection.send(0, Content::Begin, self.weather.as_mut());
        self.connections.push(connection);
        self.orders.connections.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }
}

impl Flow {
    /// Returns when there is something to do, if the time for it is known.
    fn due(&self) -> Option<Instant> {
        self.pieces.front().filter(|_| !self.is_blocked).map(|piece| piece.state.moment())
    }
}

impl Connection {
    /// Returns what an end is polled for.
    fn awaited(&self, end: usize) -> PollFlags {
        let (from, to) = (&self.flows[end], &self.flows[1 - end]);
        let mut flags = PollFlags::empty();
        flags.set(PollFlags::IN, !from.has_ended && from.queued_bytes < ON_THE_WAY_BYTES_MAX);
        flags.set(PollFlags::OUT, to.is_blocked);
        flags
    }

    /// Reads what is there, and hands out what is due.
    fn go_on(&mut self, weather: &mut dyn Weather, buffer: &mut [u8]) -> Option<Over> {
        for end in 0..2 {
            if self.take_in(end, weather, buffer).is_err() {
                return Some(Over::Reset);
            }
        }
        for flow in 0..2 {
            if let Some(over) = self.hand_out(flow, weather) {
                return Some(over);
            }
        }
        let is_over = self.flows.iter().all(|flow| flow.has_ended && flow.pieces.is_empty());
        is_over.then_some(Over::Closed)
    }

    fn take_in(&mut self, end: usize, weather: &mut dyn Weather, buffer: &mut [u8]) -> io::Result<()> {
        while self.awaited(end).contains(PollFlags::IN)
            && let Some(stream) = &mut self.ends[end]
        {
            match stream.read(buffer) {
                Ok(0) => {
                    self.flows[end].has_ended = true;
                    self.send(end, Content::End, weather);
                }
                Ok(length) => self.send(end, Content::Bytes(buffer[..length].to_vec()), weather),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(())
    }

    /// Sets something on its way.
    fn send(&mut self, flow: usize, content: Content, weather: &mut dyn Weather) {
        let now = Instant::now();
        let state = content.sent(self.way(flow), TIMEOUT_MIN, now, weather);
        self.flows[flow].queued_bytes += content.len();
        self.flows[flow].pieces.push_back(Piece { content, state, waits_since: now });
    }

    /// Returns the place of the program that a direction is from, and of that to which it leads.
    fn way(&self, flow: usize) -> [usize; 2] {
        [self.programs[flow], self.programs[1 - flow]]
    }

    /// Hands out what is due in one direction; returns how the connection ended, if it did.
    fn hand_out(&mut self, flow: usize, weather: &mut dyn Weather) -> Option<Over> {
        // What waits for the receiver is not late.
        let mut was_blocked = std::mem::take(&mut self.flows[flow].is_blocked);
        while let Some(piece) = self.flows[flow].pieces.front()
            && let now = Instant::now()
            && piece.state.moment() <= now
        {
            let (way, waits_since) = (self.way(flow), piece.waits_since);
            // What is late to be sent again delays all that is behind it.
            if !std::mem::take(&mut was_blocked) {
                weather.note_lateness(now.saturating_duration_since(piece.state.moment().max(waits_since)));
            }
            let is_separated = weather.is_separated(way[0], way[1]);
            let again = match piece.state {
                State::Arriving(..) if is_separated => Some(State::lost(TIMEOUT_MIN, now, weather)),
                State::Arriving(..) => None,
                State::Lost(_, timeout) => {
                    let waited = now.saturating_duration_since(waits_since);
                    if waited > weather.real(StreamSettings::default().give_up_after) {
                        return Some(Over::Reset);
                    }
                    Some(self.flows[flow].pieces[0].content.sent(way, timeout, now, weather))
                }
            };
            let front = &mut self.flows[flow].pieces[0];
            match again {
                Some(state) => front.state = state,
                None => {
                    // What is sent again is as it was before.
                    if let State::Arriving(_, corruption) = &mut front.state
                        && let Some(bits) = corruption.take()
                    {
                        front.content.flip(bits);
                    }
                    match self.deliver(flow) {
                        Ok(true) => {}
                        Ok(false) => return None,
                        Err(_) => return Some(Over::Reset),
                    }
                }
            }
        }
        None
    }

    /// Delivers the first piece of a direction; returns whether all of it was taken.
    fn deliver(&mut self, flow: usize) -> io::Result<bool> {
        let Piece { content, .. } = &mut self.flows[flow].pieces[0];
        if let Content::Begin = content {
            let is_connected = match &self.ends[1] {
                None => {
                    let (stream, is_connected) = connect(self.address)?;
                    self.ends[1] = Some(stream);
                    is_connected
                }
                Some(stream) => has_connected(stream)?,
            };
            if !is_connected {
                self.flows[flow].is_blocked = true;
                return Ok(false);
            }
        } else {
            let to = self.ends[1 - flow].as_mut().expect("the first piece connects");
            match content {
                Content::Bytes(bytes) => {
                    let written = match to.write(bytes) {
                        Err(error) if error.kind() == ErrorKind::WouldBlock => 0,
                        Err(error) if error.kind() == ErrorKind::Interrupted => 0,
                        written => written?,
                    };
                    bytes.drain(..written);
                    let is_blocked = !bytes.is_empty();
                    self.flows[flow].queued_bytes -= written;
                    if is_blocked {
                        self.flows[flow].is_blocked = true;
                        return Ok(false);
                    }
                }
                Content::Begin | Content::End => to.shutdown(Shutdown::Write)?,
            }
        }
        self.flows[flow].pieces.pop_front();
        if let Some(next) = self.flows[flow].pieces.front_mut() {
            next.waits_since = Instant::now();
        }
        Ok(true)
    }

    /// Lets both programs find the connection reset.
    fn reset(self) {
        for stream in self.ends.into_iter().flatten() {
            // A socket that does not linger is reset when it is closed.
            _ = rustix::net::sockopt::set_socket_linger(&stream, Some(Duration::ZERO));
        }
    }
}

/// Begins a connection, which may take long where the address is of another machine, and all other connections go on
/// meanwhile; returns whether it is made already. Its end can be written to when it is.
fn connect(address: SocketAddr) -> io::Result<(TcpStream, bool)> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    // A process that is started meanwhile must not inherit it.
    let stream = TcpStream::from(rustix::net::socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC, None)?);
    stream.set_nonblocking(true)?;
    stream.set_nodelay(true)?;
    match rustix::net::connect(&stream, &address) {
        Ok(()) => Ok((stream, true)),
        Err(Errno::INPROGRESS | Errno::INTR) => Ok((stream, false)),
        Err(error) => Err(error.into()),
    }
}

/// Returns whether a connection that was begun is made.
fn has_connected(stream: &TcpStream) -> io::Result<bool> {
    match stream.take_error()? {
        Some(error) => Err(error),
        None => match stream.peer_addr() {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == ErrorKind::NotConnected => Ok(false),
            Err(error) => Err(error),
        },
    }
}

impl State {
    /// Returns the state of a piece that was lost just now.
    fn lost(timeout: VirtualDuration, now: Instant, weather: &dyn Weather) -> Self {
        let doubled = VirtualDuration::from_nanos(2 * timeout.as_nanos()).min(TIMEOUT_MAX);
        Self::Lost(now + weather.real(timeout), doubled)
    }
}

impl Content {
    /// Returns what becomes of a piece that is sent now. It may arrive with a bit flipped.
    fn sent(
        &self,
        [source, destination]: [usize; 2],
        timeout: VirtualDuration,
        now: Instant,
        weather: &mut dyn Weather,
    ) -> State {
        match weather.fate(source, destination, self.len() as u32) {
            network::Fate::Dropped(_) => State::lost(timeout, now, weather),
            network::Fate::Delivered(arrival) if arrival.is_corrupted => match (self, weather.stream_corruption()) {
                (Self::Bytes(_), Some(bits)) => State::Arriving(now + weather.real(arrival.after), Some(bits)),
                // It is discarded by its checksum.
                _ => State::lost(timeout, now, weather),
            },
            network::Fate::Delivered(arrival) | network::Fate::Duplicated(arrival, _) => {
                State::Arriving(now + weather.real(arrival.after), None)
            }
        }
    }

    /// Flips the bit that a random number says.
    fn flip(&mut self, bits: u64) {
        if let Self::Bytes(bytes) = self {
            let bit = (bits % (8 * bytes.len() as u64)) as usize;
            bytes[bit / 8] ^= 1 << (bit % 8);
        }
    }

    fn len(&self) -> usize {
        match self {
            Self::Bytes(bytes) => bytes.len(),
            Self::Begin | Self::End => 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use simutant_sim_core::network::Arrival;

    use super::*;

    /// How long each piece is on its way.
    const LATENCY: Duration = Duration::from_secs(2);

    /// How long the thread has something else to do when the second program sends.
    const BUSY: Duration = Duration::from_secs(3);

    /// Weather that keeps the thread busy.
    struct Busy {
        lateness_ns: Arc<AtomicU64>,
    }

    impl Weather for Busy {
        fn fate(&mut self, source: usize, _: usize, _: u32) -> network::Fate {
            if source == 1 {
                std::thread::sleep(BUSY);
            }
            let after = VirtualDuration::from_nanos(LATENCY.as_nanos() as u64);
            network::Fate::Delivered(Arrival { after, is_corrupted: false })
        }

        fn is_separated(&mut self, _: usize, _: usize) -> bool {
            false
        }

        fn real(&self, delay: VirtualDuration) -> Duration {
            Duration::from_nanos(delay.as_nanos())
        }

        fn note_lateness(&self, lateness: Duration) {
            self.lateness_ns.fetch_max(lateness.as_nanos() as u64, Ordering::Relaxed);
        }
    }

    #[test]
    fn what_is_due_while_the_thread_is_busy_is_late() {
        let listen = || TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port is free");
        let address = |listener: &TcpListener| listener.local_addr().expect("it is bound");
        let server = listen();
        let entry = |source| StreamEntry { listener: listen(), source, destination: 2, address: address(&server) };
        let entries = [0, 1].map(entry);
        let [first, second] = [0, 1].map(|number: usize| address(&entries[number].listener));
        let lateness_ns = Arc::new(AtomicU64::new(0));
        let weather = Busy { lateness_ns: Arc::clone(&lateness_ns) };
        let _links = StreamLinks::start(entries.into(), Box::new(weather)).expect("the links start");
        let mut near = TcpStream::connect(first).expect("it is accepted");
        let (mut far, _) = server.accept().expect("it comes through");
        near.write_all(b"x").expect("the kernel takes it");
        // It is read, and due when the thread is busy with another connection.
        std::thread::sleep(LATENCY / 20);
        let _other = TcpStream::connect(second).expect("it is accepted");
        far.read_exact(&mut [0]).expect("it arrives");
        let lateness = Duration::from_nanos(lateness_ns.load(Ordering::Relaxed));
        assert!(lateness > BUSY / 5, "{lateness:?}");
    }
}
