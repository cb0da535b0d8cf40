//! The receiver's program: a socket and a file around [`Receiver`].

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::net::{SocketAddr, UdpSocket};
use std::path::Path;
use std::time::Duration;

use super::behaviour::Behaviour;
use super::packet::{Packet, SEGMENT_BYTES};
use super::receiver::Receiver;

/// How long a sender may say nothing before all of the file has arrived.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// How long a sender that lacks the last acknowledgement would say nothing: over 100 of its timeouts.
pub(super) const LINGER: Duration = Duration::from_secs(2);

/// Why a file was not received.
#[derive(Debug)]
pub enum ReceiveError {
    /// The file cannot be written.
    File(io::Error),
    /// The socket does not work.
    Socket(io::Error),
    /// The sender said goodbye before the end of the file.
    Goodbye,
    /// The sender has said nothing for long.
    Silence,
    /// The sender has not said goodbye.
    NoGoodbye,
}

impl std::error::Error for ReceiveError {}

impl std::fmt::Display for ReceiveError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(error) => write!(formatter, "cannot write the file: {error}"),
            Self::Socket(error) => write!(formatter, "the socket does not work: {error}"),
            Self::Goodbye => formatter.write_str("the sender left before the end of the file"),
            Self::Silence => write!(formatter, "no packet for {} s; gave up", PATIENCE.as_secs()),
            Self::NoGoodbye => formatter.write_str("the sender has not said goodbye"),
        }
    }
}

/// Receives one file at the address `listen` and writes it to `path`; returns when the sender knows, or should know.
///
/// # Errors
/// [`ReceiveError`] if the file or the socket does not work, or if the sender is gone too early.
pub fn receive_file(path: &Path, listen: SocketAddr, behaviour: &'static dyn Behaviour) -> Result<(), ReceiveError> {
    let mut file = File::create(path).map_err(ReceiveError::File)?;
    let socket = UdpSocket::bind(listen).map_err(ReceiveError::Socket)?;
    let mut receiver = Receiver::new(behaviour);
    let mut buffer = [0; SEGMENT_BYTES + 64];
    while receiver.stays() {
        let wait_max = if receiver.has_all() { LINGER } else { PATIENCE };
        socket.set_read_timeout(Some(wait_max)).map_err(ReceiveError::Socket)?;
        let (length, peer) = match socket.recv_from(&mut buffer) {
            Ok(received) => received,
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                return match receiver.has_all() {
                    false => Err(ReceiveError::Silence),
                    true if behaviour.needs_goodbye() => Err(ReceiveError::NoGoodbye),
                    true => Ok(()),
                };
            }
            Err(error) if matches!(error.kind(), ErrorKind::ConnectionRefused | ErrorKind::Interrupted) => continue,
            Err(error) => return Err(ReceiveError::Socket(error)),
        };
        let Some(packet) = Packet::decode(&buffer[..length]) else { continue };
        if packet == Packet::Bye {
            return if receiver.has_all() { Ok(()) } else { Err(ReceiveError::Goodbye) };
        }
        let answer = receiver.take(packet);
        file.write_all(&answer.append).map_err(ReceiveError::File)?;
        if let Some(reply) = answer.reply {
            // A sender that has left does not need it.
            _ = socket.send_to(&reply.encode(), peer);
        }
    }
    Ok(())
}
