//! The client's program: gives one message to a router.

use std::io;
use std::net::{Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};

use super::packet::{Message, Packet, RouterNumber};

/// Gives the message `number` to the router `source`, which is at `peer`, for the router `destination`.
///
/// # Errors
/// The system's reason if there is no socket for it.
pub fn publish(peer: SocketAddr, number: u32, source: RouterNumber, destination: RouterNumber) -> io::Result<()> {
    let socket = match peer {
        SocketAddr::V4(_) => UdpSocket::bind((Ipv4Addr::UNSPECIFIED, 0))?,
        SocketAddr::V6(_) => UdpSocket::bind((Ipv6Addr::UNSPECIFIED, 0))?,
    };
    let message = Message { number, source, destination, cost: 0, hops: 0 };
    socket.send_to(&Packet::Message(message).encode(), peer)?;
    Ok(())
}
