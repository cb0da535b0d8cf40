//! The resolver's program: sockets and threads around [`Resolver`].

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::sync::Arc;
use std::time::Duration;

use super::behaviour::Behaviour;
use super::exchange::{Sockets, read_framed, write_framed};
use super::hints::Hints;
use super::message::{DATAGRAM_BYTES_MAX, Message, SERVER_FAILURE};
use super::resolver::{Answer, Resolver};

/// How long a client may leave a stream without a question.
const IDLE_MAX: Duration = Duration::from_secs(20);

/// Why a resolver ends.
#[derive(Debug)]
pub enum ServeError {
    /// The address cannot be listened on.
    Listen(io::Error),
    /// A socket does not work any more.
    Socket(io::Error),
}

impl std::error::Error for ServeError {}

impl std::fmt::Display for ServeError {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Listen(error) => write!(formatter, "the address cannot be listened on: {error}"),
            Self::Socket(error) => write!(formatter, "the socket does not work: {error}"),
        }
    }
}

/// Answers clients at the address `listen`, by datagram and by stream, until the program is ended.
///
/// # Errors
/// [`ServeError`] if the sockets do not work; it does not return otherwise.
pub fn serve(listen: SocketAddr, hints: Hints, behaviour: &'static dyn Behaviour) -> Result<(), ServeError> {
    // First streams, so that whoever sees that datagrams are listened for may use either.
    let streams = TcpListener::bind(listen).map_err(ServeError::Listen)?;
    let datagrams = Arc::new(UdpSocket::bind(listen).map_err(ServeError::Listen)?);
    let desk = Arc::new(Desk { resolver: Resolver::new(hints, behaviour), sockets: Sockets::new(behaviour) });
    let desk_of_streams = Arc::clone(&desk);
    std::thread::spawn(move || {
        for stream in streams.incoming().flatten() {
            let desk = Arc::clone(&desk_of_streams);
            // A client that leaves, or says something else, is told nothing.
            std::thread::spawn(move || _ = converse(&desk, stream));
        }
    });
    let mut buffer = [0; DATAGRAM_BYTES_MAX];
    loop {
        let (length, client) = match datagrams.recv_from(&mut buffer) {
            Ok(received) => received,
            // A client that has left already.
            Err(error) if matches!(error.kind(), ErrorKind::ConnectionRefused | ErrorKind::Interrupted) => continue,
            Err(error) => return Err(ServeError::Socket(error)),
        };
        let Some(query) = Message::decode(&buffer[..length]).filter(|message| !message.is_response) else { continue };
        let (desk, socket) = (Arc::clone(&desk), Arc::clone(&datagrams));
        std::thread::spawn(move || _ = socket.send_to(&desk.respond(query).encode_for_datagram(), client));
    }
}

/// Who answers.
struct Desk {
    resolver: Resolver,
    sockets: Sockets,
}

impl Desk {
    fn respond(&self, query: Message) -> Message {
        let found = match self.sockets.network() {
            Ok(mut network) => self.resolver.resolve(&query.question, &mut network),
            Err(_) => Answer { rcode: SERVER_FAILURE, answer: Vec::new(), authority: Vec::new() },
        };
        let Answer { rcode, answer, authority } = found;
        Message { is_response: true, rcode, answer, authority, additional: Vec::new(), ..query }
    }
}

/// Answers what comes by a stream until it is closed.
fn converse(desk: &Desk, mut stream: TcpStream) -> io::Result<()> {
    stream.set_read_timeout(Some(IDLE_MAX))?;
    while let Some(query) = Message::decode(&read_framed(&mut stream)?).filter(|message| !message.is_response) {
        write_framed(&mut stream, &desk.respond(query).encode())?;
    }
    Ok(())
}
