//! The router's program: a socket, a clock and a file around [`Router`].

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::net::{SocketAddr, UdpSocket};
use std::path::Path;
use std::time::{Duration, Instant};

use super::behaviour::Behaviour;
use super::neighbours::Neighbour;
use super::packet::{Message, Packet, RouterNumber};
use super::router::Router;

/// How long after a greeting that was not answered the next one follows.
const GREETING_INTERVAL: Duration = Duration::from_millis(50);

/// Room for the longest packet: a link state with a link to every number that there is.
const PACKET_BYTES_MAX: usize = 1_024;

/// Why a router ends.
#[derive(Debug)]
pub enum RouteError {
    /// The file cannot be written.
    File(io::Error),
    /// The socket does not work.
    Socket(io::Error),
}

impl std::error::Error for RouteError {}

impl std::fmt::Display for RouteError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::File(error) => write!(formatter, "cannot write the file: {error}"),
            Self::Socket(error) => write!(formatter, "the socket does not work: {error}"),
        }
    }
}

/// Routes at the address `listen` until the program is ended, and adds a line to the new file at `output` for each
/// message that has arrived where it was to go.
///
/// # Errors
/// [`RouteError`] if the file or the socket does not work; it does not return otherwise.
pub fn route(
    number: RouterNumber,
    neighbours: Vec<Neighbour>,
    listen: SocketAddr,
    output: &Path,
    behaviour: &'static dyn Behaviour,
) -> Result<(), RouteError> {
    let mut file = File::create(output).map_err(RouteError::File)?;
    let socket = UdpSocket::bind(listen).map_err(RouteError::Socket)?;
    let (mut router, start) = (Router::new(number, neighbours, behaviour), Instant::now());
    let mut greet_at = start;
    let mut buffer = [0; PACKET_BYTES_MAX];
    loop {
        let now = Instant::now();
        if greet_at <= now {
            send(&socket, &router.greetings());
            greet_at = now + GREETING_INTERVAL;
        }
        socket.set_read_timeout(Some(greet_at - now.min(greet_at))).map_err(RouteError::Socket)?;
        let (length, source) = match socket.recv_from(&mut buffer) {
            Ok(received) => received,
            Err(error) if is_passing(&error) => continue,
            Err(error) => return Err(RouteError::Socket(error)),
        };
        let Some(packet) = Packet::decode(&buffer[..length]) else { continue };
        let reaction = router.take(source, packet, start.elapsed());
        send(&socket, &reaction.send);
        if let Some(Message { number, source, destination, cost, .. }) = reaction.deliver {
            let line = format!("{number} {source} {destination} {cost}\n");
            file.write_all(line.as_bytes()).map_err(RouteError::File)?;
        }
        if let Some(reason) = reaction.given_up {
            // If nobody reads it, the message is as lost as before.
            _ = writeln!(io::stderr(), "router {number}: a message goes no further: {reason}");
        }
    }
}

/// Sends packets. A neighbour that is not there yet, or no longer, hears nothing.
fn send(socket: &UdpSocket, packets: &[(SocketAddr, Packet)]) {
    for (to, packet) in packets {
        _ = socket.send_to(&packet.encode(), to);
    }
}

fn is_passing(error: &io::Error) -> bool {
    use ErrorKind::{ConnectionRefused, Interrupted, TimedOut, WouldBlock};
    matches!(error.kind(), ConnectionRefused | Interrupted | TimedOut | WouldBlock)
}
