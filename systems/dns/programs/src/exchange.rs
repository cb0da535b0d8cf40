//! Queries to servers: by datagram, again if there is no response, and by stream if it was truncated.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicU16, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::behaviour::Behaviour;
use super::message::{DATAGRAM_BYTES_MAX, Message, Question};
use super::resolver::{Asked, Network};

/// Where servers are asked.
const PORT: u16 = 53;

/// How long to wait for a response before the next server is asked, or the same one again.
const PATIENCE: Duration = Duration::from_millis(300);

/// How long a stream may take.
const STREAM_PATIENCE: Duration = Duration::from_secs(5);

/// What all questions of clients share.
#[derive(Debug)]
pub(super) struct Sockets {
    behaviour: &'static dyn Behaviour,
    start: Instant,
    /// Those that nobody uses at the moment.
    idle: Mutex<Vec<UdpSocket>>,
    sent: AtomicU16,
}

impl Sockets {
    pub(super) fn new(behaviour: &'static dyn Behaviour) -> Self {
        Self { behaviour, start: Instant::now(), idle: Mutex::default(), sent: AtomicU16::new(0) }
    }

    /// Returns what carries the queries for one question of a client.
    pub(super) fn network(&self) -> io::Result<impl Network> {
        let idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let socket = match idle {
            Some(socket) => socket,
            None => UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?,
        };
        Ok(Exchanges { sockets: self, socket: Some(socket), sent: 0 })
    }
}

/// The exchanges for one question of a client.
struct Exchanges<'a> {
    sockets: &'a Sockets,
    /// There until it is given back.
    socket: Option<UdpSocket>,
    sent: u16,
}

impl Drop for Exchanges<'_> {
    fn drop(&mut self) {
        self.sockets.idle.lock().unwrap_or_else(PoisonError::into_inner).extend(self.socket.take());
    }
}

impl Network for Exchanges<'_> {
    fn now(&self) -> Duration {
        self.sockets.start.elapsed()
    }

    fn exchange(&mut self, servers: &[Ipv4Addr], question: &Question) -> Option<Asked> {
        let behaviour = self.sockets.behaviour;
        let sent = self.sockets.sent.fetch_add(1, Ordering::Relaxed);
        let query = Message::query(behaviour.id(sent, self.sent), question.clone());
        self.sent += 1;
        let bytes = query.encode();
        // Who is asked first changes, so that nobody is asked all the time.
        let order = servers.iter().cycle().skip(usize::from(sent) % servers.len());
        for server in order.take(behaviour.tries() as usize) {
            // A server that cannot be sent to is one that does not answer.
            _ = self.socket.as_ref()?.send_to(&bytes, (*server, PORT));
            if let Some(asked) = self.await_response(servers, &query) {
                return Some(asked);
            }
        }
        None
    }
}

impl Exchanges<'_> {
    /// Returns the response to a query, from whichever server: one that was asked before may be late.
    fn await_response(&self, servers: &[Ipv4Addr], query: &Message) -> Option<Asked> {
        let (socket, behaviour) = (self.socket.as_ref()?, self.sockets.behaviour);
        let deadline = Instant::now() + PATIENCE;
        let mut buffer = [0; DATAGRAM_BYTES_MAX];
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() || socket.set_read_timeout(Some(left)).is_err() {
                return None;
            }
            let (length, source) = match socket.recv_from(&mut buffer) {
                Ok(received) => received,
                // What an earlier datagram met with is told by the next call.
                Err(error) if matches!(error.kind(), ErrorKind::ConnectionRefused | ErrorKind::Interrupted) => continue,
                Err(_) => return None,
            };
            let server = servers.iter().copied().find(|server| source == SocketAddr::from((*server, PORT)));
            let (Some(server), Some(response)) = (server, Message::decode(&buffer[..length])) else { continue };
            if !behaviour.is_response_to(&response, query) {
                continue;
            }
            if behaviour.is_whole(&response) {
                return Some(Asked { server, response });
            }
            let whole = by_stream(server, query).ok().flatten();
            return whole
                .filter(|response| behaviour.is_response_to(response, query))
                .map(|response| Asked { server, response });
        }
    }
}

/// Returns the response by stream, `None` if it is no message.
fn by_stream(server: Ipv4Addr, query: &Message) -> io::Result<Option<Message>> {
    let mut stream = TcpStream::connect_timeout(&(server, PORT).into(), STREAM_PATIENCE)?;
    stream.set_read_timeout(Some(STREAM_PATIENCE))?;
    write_framed(&mut stream, &query.encode())?;
    Ok(Message::decode(&read_framed(&mut stream)?))
}

/// Writes a message after its length (RFC 1035, section 4.2.2).
pub(super) fn write_framed(stream: &mut TcpStream, message: &[u8]) -> io::Result<()> {
    let length = u16::try_from(message.len()).map_err(|_| io::Error::from(ErrorKind::InvalidData))?;
    stream.write_all(&[&length.to_be_bytes(), message].concat())
}

/// Reads a message after its length.
pub(super) fn read_framed(stream: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut length = [0; 2];
    stream.read_exact(&mut length)?;
    let mut message = vec![0; u16::from_be_bytes(length).into()];
    stream.read_exact(&mut message)?;
    Ok(message)
}
