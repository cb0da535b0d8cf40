//! Servers behind a lossy network: each has an address of its own that many clients may send to, from many ports.
//!
//! Datagrams are lost and doubled as the simulated network does, in both directions. What clients send draws its fates
//! from one stream, whichever server it is for, as the packets of the one simulated resolver do; what a server sends
//! draws from a stream of its own. Streams (TCP) are passed on as they are: the simulated ones are whole too. Whoever
//! wants to know what clients were told is told of each message that is passed back.

use std::io::{self, ErrorKind, PipeReader, Read};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};
use simutant_sim_core::Probability;

use super::relay_thread::RelayThread;
use super::visitors::Visitors;
use super::{
    Activity, BURST_MAX, Counters, DATAGRAM_BYTES_MAX, DatagramFates, ProxyCounts, ProxyError, is_answer, receive,
};

/// How long a client is remembered that sends nothing: servers answer at once, and a resolver that asks from another
/// port each time would leave hundreds, which make every look at the system's sockets dear.
const IDLE_MAX: Duration = Duration::from_secs(10);

/// A server, and where it seems to be.
#[derive(Debug)]
pub struct Served {
    /// Its name, which decides the fates of what it sends.
    pub name: String,
    /// The address that clients send to.
    pub listen: SocketAddr,
    /// Where it is.
    pub forward: SocketAddr,
}

/// Losses and duplicates of datagrams, drawn from a seed.
#[derive(Debug, Clone, Copy)]
pub struct Losses<'a> {
    /// The name of the clients, which decides the fates of what they send.
    pub clients: &'a str,
    /// The probability that a datagram is dropped.
    pub drop: Probability,
    /// The probability that a datagram that was not dropped is sent twice.
    pub duplicate: Probability,
    /// Decides every fate.
    pub seed: u64,
}

/// Receives the messages that servers send back, each before its client gets it.
pub trait MessageListener: Send + Sync {
    /// Takes a message: a datagram that is not lost, or a part of a stream that begins with its length in two bytes
    /// (RFC 1035, section 4.2.2), without these.
    fn hear(&self, message: &[u8]);
}

/// A running network; it stops when it is dropped.
#[derive(Debug)]
pub struct LossyServers {
    counts: Arc<Counters>,
    thread: RelayThread,
}

impl LossyServers {
    /// Returns a network that runs on a thread of its own; its addresses can be sent to at once.
    ///
    /// # Errors
    /// [`ProxyError`] if an address cannot be listened on, or the system has no socket, pipe or thread left.
    pub fn start(
        servers: Vec<Served>,
        losses: &Losses<'_>,
        listener: Arc<dyn MessageListener>,
    ) -> Result<Self, ProxyError> {
        let fates = |name: &str| DatagramFates::new(losses.seed, name, losses.drop, losses.duplicate);
        let mut fronts = Vec::new();
        for Served { name, listen, forward } in servers {
            let refused = |source| ProxyError::listen(listen, source);
            let datagrams = UdpSocket::bind(listen).map_err(refused)?;
            let streams = TcpListener::bind(datagrams.local_addr()?).map_err(refused)?;
            datagrams.set_nonblocking(true)?;
            streams.set_nonblocking(true)?;
            fronts.push(Front { datagrams, streams, server: forward, fates: fates(&name) });
        }
        let counts = Arc::new(Counters::default());
        let forward_fates = fates(losses.clients);
        let clients = Visitors::new(IDLE_MAX);
        let relay = Relay { fronts, clients, forward_fates, counts: Arc::clone(&counts), listener };
        let thread = RelayThread::start("lossy-servers", move |stop| relay.run(stop))?;
        Ok(Self { counts, thread })
    }

    /// Returns the counts of datagrams so far: forward is from clients to servers.
    pub fn counts(&self) -> ProxyCounts {
        self.counts.read()
    }

    /// Returns what it has heard so far of clients and servers.
    pub fn activity(&self) -> Activity {
        self.counts.activity()
    }

    /// Checks that the network still works.
    ///
    /// # Errors
    /// [`ProxyError::Broken`] if it passes nothing on any more.
    pub fn check(&self) -> Result<(), ProxyError> {
        self.thread.check()
    }
}

/// Where a server seems to be.
#[derive(Debug)]
struct Front {
    datagrams: UdpSocket,
    streams: TcpListener,
    server: SocketAddr,
    /// Those of the server's datagrams.
    fates: DatagramFates,
}

/// What the thread owns.
struct Relay {
    fronts: Vec<Front>,
    clients: Visitors,
    forward_fates: DatagramFates,
    counts: Arc<Counters>,
    listener: Arc<dyn MessageListener>,
}

impl Relay {
    /// Passes datagrams and streams on until the other end of `stop` is closed, or polling or receiving fails.
    fn run(mut self, stop: &PipeReader) -> io::Result<()> {
        let mut buffer = vec![0; DATAGRAM_BYTES_MAX];
        loop {
            let mut sockets = vec![PollFd::new(stop, PollFlags::IN)];
            sockets.extend(self.fronts.iter().map(|front| PollFd::new(&front.datagrams, PollFlags::IN)));
            sockets.extend(self.fronts.iter().map(|front| PollFd::new(&front.streams, PollFlags::IN)));
            sockets.extend(self.clients.iter().map(|client| PollFd::new(&*client.socket, PollFlags::IN)));
            match rustix::event::poll(&mut sockets, None) {
                Ok(_) => {}
                Err(rustix::io::Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            }
            let is_ready: Vec<bool> = sockets.iter().map(|socket| !socket.revents().is_empty()).collect();
            if is_ready[0] {
                return Ok(());
            }
            let (fronts, clients) = is_ready[1..].split_at(2 * self.fronts.len());
            // Clients first: their places change when new ones come.
            for place in (0..clients.len()).filter(|&place| clients[place]) {
                self.pass_back(place, &mut buffer)?;
            }
            for front in (0..self.fronts.len()).filter(|&front| fronts[front]) {
                self.pass_forward(front, &mut buffer)?;
            }
            for front in (0..self.fronts.len()).filter(|&front| fronts[self.fronts.len() + front]) {
                self.accept(front)?;
            }
        }
    }

    fn pass_forward(&mut self, front: usize, buffer: &mut [u8]) -> io::Result<()> {
        for _ in 0..BURST_MAX {
            let Some((length, source)) = receive(&self.fronts[front].datagrams, buffer)? else { return Ok(()) };
            let copies = self.counts.forward.note(self.forward_fates.draw());
            let server = self.fronts[front].server;
            let (socket, forgotten) = self.clients.socket(front, source, server)?;
            self.counts.forward.forgotten.fetch_add(forgotten.map_or(0, |_| 1), Ordering::Relaxed);
            self.counts.forward.send(&socket, &buffer[..length], server, copies);
        }
        Ok(())
    }

    fn pass_back(&mut self, place: usize, buffer: &mut [u8]) -> io::Result<()> {
        let client = self.clients.heard(place);
        let front = &mut self.fronts[client.entry];
        for _ in 0..BURST_MAX {
            let Some((length, source)) = receive(&client.socket, buffer)? else { return Ok(()) };
            // A stranger's datagram must not use up a fate of the server's.
            if !is_answer(front.server, source) {
                continue;
            }
            let copies = self.counts.back.note(front.fates.draw());
            if copies > 0 {
                self.listener.hear(&buffer[..length]);
            }
            self.counts.back.send(&front.datagrams, &buffer[..length], client.address, copies);
        }
        Ok(())
    }

    fn accept(&self, front: usize) -> io::Result<()> {
        match self.fronts[front].streams.accept() {
            Ok((stream, _)) => {
                let (server, listener) = (self.fronts[front].server, Arc::clone(&self.listener));
                let pass = move || pass_stream(&stream, server, listener.as_ref());
                std::thread::Builder::new().name("stream".into()).spawn(pass)?;
                Ok(())
            }
            // A client that has left again is no trouble of the network.
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Ok(()),
            Err(error) if error.kind() == ErrorKind::ConnectionAborted => Ok(()),
            Err(error) => Err(error),
        }
    }
}

/// Passes a stream on in both directions, until both ends have closed it; whatever fails closes it for the other end.
fn pass_stream(client: &TcpStream, server: SocketAddr, listener: &dyn MessageListener) {
    let Ok(server) = TcpStream::connect(server) else { return };
    if client.set_nonblocking(false).is_err() {
        return;
    }
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut heard = Heard { stream: &server, bytes: Vec::new(), listener };
            copy(&mut heard, client);
        });
        copy(&mut { client }, &server);
    });
}

/// Copies until the end, and says so.
fn copy(from: &mut impl Read, mut to: &TcpStream) {
    // The number of bytes is of no interest, and whoever closed the stream knows why.
    _ = io::copy(from, &mut to);
    _ = to.shutdown(std::net::Shutdown::Write);
}

/// A stream of a server that tells of messages when they are read.
struct Heard<'a> {
    stream: &'a TcpStream,
    /// The begin of a message.
    bytes: Vec<u8>,
    listener: &'a dyn MessageListener,
}

impl Read for Heard<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.stream.read(buffer)?;
        self.bytes.extend_from_slice(&buffer[..length]);
        while let Some((size, rest)) = self.bytes.split_first_chunk::<2>()
            && let Some((message, rest)) = rest.split_at_checked(u16::from_be_bytes(*size).into())
        {
            self.listener.hear(message);
            self.bytes = rest.to_vec();
        }
        Ok(length)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::net::Ipv4Addr;
    use std::sync::Mutex;

    use super::*;
    use crate::faults::any_loopback_port;
    use crate::ports::Lease;
    use crate::test_support::received;

    const PATIENCE: Duration = Duration::from_secs(10);

    fn datagrams() -> UdpSocket {
        let socket = UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).expect("a loopback port is free");
        socket.set_read_timeout(Some(PATIENCE)).expect("a socket can be made so");
        socket
    }

    /// Returns a port that is free for datagrams and streams.
    fn free() -> Lease {
        Lease::for_both().expect("a port is free")
    }

    fn at(lease: &Lease) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, lease.port()).into()
    }

    /// Returns a server for datagrams and streams.
    fn server() -> (UdpSocket, TcpListener) {
        let (datagrams, streams) = any_loopback_port().expect("a loopback port is free");
        datagrams.set_read_timeout(Some(PATIENCE)).expect("a socket can be made so");
        (datagrams, streams)
    }

    /// Notes what it is told.
    #[derive(Debug, Default)]
    struct Notes(Mutex<Vec<String>>);

    impl MessageListener for Notes {
        fn hear(&self, message: &[u8]) {
            self.0.lock().expect("nobody panics").push(String::from_utf8_lossy(message).into_owned());
        }
    }

    fn start(servers: &[(SocketAddr, SocketAddr)], drop: f64, duplicate: f64) -> LossyServers {
        start_with(servers, drop, duplicate, Arc::default())
    }

    fn start_with(servers: &[(SocketAddr, SocketAddr)], drop: f64, duplicate: f64, notes: Arc<Notes>) -> LossyServers {
        let probability = |value| Probability::new(value).expect("it is from 0 to 1");
        let served = |(number, &(listen, forward))| Served { name: format!("server-{number}"), listen, forward };
        let losses = Losses { clients: "clients", drop: probability(drop), duplicate: probability(duplicate), seed: 1 };
        LossyServers::start(servers.iter().enumerate().map(served).collect(), &losses, notes)
            .expect("the network starts")
    }

    fn send_to(socket: &UdpSocket, text: &str, to: SocketAddr) {
        socket.send_to(text.as_bytes(), to).expect("it is sent");
    }

    #[test]
    fn each_client_gets_its_own_answers_from_where_it_asked() {
        let (one, other, leases) = (datagrams(), datagrams(), [free(), free()]);
        let fronts = leases.each_ref().map(at);
        let address = |socket: &UdpSocket| socket.local_addr().expect("it is bound");
        let network = start(&[(fronts[0], address(&one)), (fronts[1], address(&other))], 0.0, 0.0);
        let clients = [datagrams(), datagrams()];
        for (number, client) in clients.iter().enumerate() {
            send_to(client, &format!("{number}"), fronts[0]);
            send_to(client, &format!("{number}"), fronts[1]);
        }
        for (server, name) in [(&one, "one"), (&other, "other")] {
            let asked = [received(server), received(server)];
            // The last that came is answered first.
            for (text, source) in asked.into_iter().rev() {
                send_to(server, &format!("{name} to {text}"), source);
            }
        }
        for (number, client) in clients.iter().enumerate() {
            let mut answers = [received(client), received(client)];
            answers.sort();
            assert_eq!(answers, [(format!("one to {number}"), fronts[0]), (format!("other to {number}"), fronts[1])]);
        }
        network.check().expect("it works");
        // The last one is counted after it went out.
        while network.counts().back.forwarded < 4 {
            std::thread::yield_now();
        }
        assert_eq!((network.counts().forward.received, network.counts().back.received), (4, 4));
    }

    #[test]
    fn datagrams_are_lost_and_doubled_and_streams_are_not() {
        let ((server, listener), lease) = (server(), free());
        let front = at(&lease);
        let network = start(&[(front, server.local_addr().expect("it is bound"))], 1.0, 0.0);
        let client = datagrams();
        send_to(&client, "lost", front);
        let mut stream = TcpStream::connect(front).expect("it is listened on");
        stream.write_all(b"whole").expect("it is sent");
        stream.shutdown(std::net::Shutdown::Write).expect("it is open");
        let (mut accepted, _) = listener.accept().expect("the stream is passed on");
        let mut text = String::new();
        accepted.read_to_string(&mut text).expect("it ends");
        assert_eq!(text, "whole");
        while network.counts().forward.dropped == 0 {
            std::thread::yield_now();
        }
        drop(network);
        let network = start(&[(front, server.local_addr().expect("it is bound"))], 0.0, 1.0);
        send_to(&client, "doubled", front);
        assert_eq!([received(&server).0, received(&server).0], ["doubled", "doubled"]);
        assert_eq!(network.counts().forward.duplicated, 1);
    }

    #[test]
    fn what_servers_say_is_heard_once_and_before_clients_have_it() {
        let ((server, listener), lease, notes) = (server(), free(), Arc::<Notes>::default());
        let front = at(&lease);
        let places = [(front, server.local_addr().expect("it is bound"))];
        let heard = || notes.0.lock().expect("nobody panics").clone();
        let network = start_with(&places, 0.0, 1.0, Arc::clone(&notes));
        let client = datagrams();
        send_to(&client, "question", front);
        let (_, source) = received(&server);
        send_to(&server, "datagram", source);
        assert_eq!([received(&client).0, received(&client).0], ["datagram", "datagram"]);
        assert_eq!(heard(), ["datagram"]);
        let mut stream = TcpStream::connect(front).expect("it is listened on");
        let (mut accepted, _) = listener.accept().expect("the stream is passed on");
        // Two messages in three pieces.
        for piece in ["\0\u{3}one\0", "\u{7}ano", "ther"] {
            accepted.write_all(piece.as_bytes()).expect("it is sent");
            stream.read_exact(&mut vec![0; piece.len()]).expect("it comes");
        }
        assert_eq!(heard(), ["datagram", "one", "another"]);
        drop(network);
        let network = start_with(&places, 1.0, 0.0, Arc::clone(&notes));
        send_to(&client, "lost", front);
        while network.counts().forward.dropped == 0 {
            std::thread::yield_now();
        }
        assert_eq!(heard().len(), 3);
    }
}
