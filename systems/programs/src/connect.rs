//! Connections to programs that may not be there.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// How long a program may take to accept a connection.
const PATIENCE: Duration = Duration::from_secs(1);

/// Returns a connection to a program, which has a second to accept it.
///
/// # Errors
/// The system's reason; [`ErrorKind::ConnectionRefused`] if nobody listens at the address.
pub fn connect(address: SocketAddr) -> io::Result<TcpStream> {
    TcpStream::connect_timeout(&address, PATIENCE).and_then(refuse_itself)
}

/// While nobody listens at a port that the system gave, it may give this port to a connection to it. That is one with
/// itself, and keeps the program from coming back.
fn refuse_itself(stream: TcpStream) -> io::Result<TcpStream> {
    if stream.local_addr()? == stream.peer_addr()? { Err(ErrorKind::ConnectionRefused.into()) } else { Ok(stream) }
}

#[cfg(test)]
mod tests {
    use std::net::{Ipv4Addr, TcpListener};

    use rustix::net::{AddressFamily, SocketType};

    use super::*;

    #[test]
    fn a_connection_with_itself_is_refused() {
        let any = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let socket = rustix::net::socket(AddressFamily::INET, SocketType::STREAM, None).expect("a socket");
        rustix::net::bind(&socket, &any).expect("a port is free");
        let stream = TcpStream::from(socket);
        let itself = stream.local_addr().expect("it is bound");
        rustix::net::connect(&stream, &itself).expect("TCP has that");
        assert_eq!(refuse_itself(stream).map_err(|error| error.kind()).err(), Some(ErrorKind::ConnectionRefused));

        let listener = TcpListener::bind(any).expect("a port is free");
        let address = listener.local_addr().expect("it is bound");
        assert_eq!(connect(address).and_then(|stream| stream.peer_addr()).ok(), Some(address));
    }
}
