//! The sender's program: a socket and a timer around [`Sender`].

use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::path::Path;
use std::time::{Duration, Instant};

use super::behaviour::Behaviour;
use super::packet::Packet;
use super::sender::Sender;

/// How long to wait for an acknowledgement of the oldest packet in flight.
pub(super) const TIMEOUT: Duration = Duration::from_millis(15);

/// How long to go on without an acknowledgement of anything new: over 300 timeouts.
pub(super) const PATIENCE: Duration = Duration::from_secs(5);

/// Why a file was not sent.
#[derive(Debug)]
pub enum SendError {
    /// The file cannot be read.
    File(io::Error),
    /// The socket does not work.
    Socket(io::Error),
    /// The sender gave up after a number of timeouts.
    GaveUp,
    /// The receiver has said nothing new for long.
    Silence,
}

impl std::error::Error for SendError {}

impl std::fmt::Display for SendError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(error) => write!(formatter, "cannot read the file: {error}"),
            Self::Socket(error) => write!(formatter, "the socket does not work: {error}"),
            Self::GaveUp => formatter.write_str("gave up after too many timeouts"),
            Self::Silence => {
                write!(formatter, "no acknowledgement of anything new for {} s; gave up", PATIENCE.as_secs())
            }
        }
    }
}

/// Sends the file at `path` to the receiver at `peer`, and returns when the receiver has all of it.
///
/// # Errors
/// [`SendError`] if the file or the socket does not work, or if the receiver does not answer.
pub fn send_file(path: &Path, peer: SocketAddr, behaviour: &'static dyn Behaviour) -> Result<(), SendError> {
    let file = std::fs::read(path).map_err(SendError::File)?;
    let socket = connect(peer).map_err(SendError::Socket)?;
    let mut sender = Sender::new(file, behaviour);
    let mut progress_at = Instant::now();
    let mut timer = None;
    loop {
        while let Some(packet) = sender.next_packet() {
            send(&socket, &packet)?;
            if timer.is_none() && sender.starts_timer() {
                timer = Some(Instant::now() + TIMEOUT);
            }
        }
        if sender.is_over() {
            break;
        }
        let give_up_at = progress_at + PATIENCE;
        match receive(&socket, timer.unwrap_or(give_up_at))? {
            Some(Packet::Ack { next }) if sender.acknowledge(next) => {
                progress_at = Instant::now();
                timer = sender.restarts_timer().then(|| Instant::now() + TIMEOUT);
            }
            Some(_) => {}
            None if Instant::now() >= give_up_at => return Err(SendError::Silence),
            None => {
                sender.time_out().map_err(|_| SendError::GaveUp)?;
                timer = None;
            }
        }
    }
    for _ in 0..behaviour.goodbyes() {
        send(&socket, &Packet::Bye)?;
    }
    Ok(())
}

fn connect(peer: SocketAddr) -> io::Result<UdpSocket> {
    let socket = match peer {
        SocketAddr::V4(_) => UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?,
        SocketAddr::V6(_) => UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0))?,
    };
    socket.connect(peer)?;
    Ok(socket)
}

/// Sends a packet. A receiver that is not there yet, or no longer, is like a packet that was lost.
fn send(socket: &UdpSocket, packet: &Packet) -> Result<(), SendError> {
    match socket.send(&packet.encode()) {
        Err(error) if error.kind() != ErrorKind::ConnectionRefused => Err(SendError::Socket(error)),
        _ => Ok(()),
    }
}

/// Returns the next packet, or `None` if none comes before `until`.
fn receive(socket: &UdpSocket, until: Instant) -> Result<Option<Packet>, SendError> {
    let mut buffer = [0; 64];
    loop {
        let wait_max = until.saturating_duration_since(Instant::now());
        if wait_max.is_zero() {
            return Ok(None);
        }
        socket.set_read_timeout(Some(wait_max)).map_err(SendError::Socket)?;
        match socket.recv(&mut buffer) {
            Ok(length) => {
                if let Some(packet) = Packet::decode(&buffer[..length]) {
                    return Ok(Some(packet));
                }
            }
            Err(error) if is_passing(&error) => {}
            Err(error) => return Err(SendError::Socket(error)),
        }
    }
}

fn is_passing(error: &io::Error) -> bool {
    use ErrorKind::{ConnectionRefused, Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), ConnectionRefused | Interrupted | TimedOut | WouldBlock)
}
