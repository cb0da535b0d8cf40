//! Link-state routing over UDP: routers that know the whole network, and pass messages along the cheapest paths.
//!
//! After Kurose and Ross, *Computer Networking: A Top-Down Approach*, section "The link-state routing algorithm", and
//! OSPF (RFC 2328), of which it is a small part: greetings, flooding, the database, the shortest-path tree. A router
//! greets its neighbours until they greet back. With each neighbour that does, it tells all routers anew which links it
//! has, with a sequence number that grows; who hears news tells its other neighbours. A neighbour that has just come up
//! is told all that is known, since it may have missed it. A link counts if the routers at both ends tell of it.
//!
//! A message carries the sum of the costs of the links that it came through. It is given up after a number of links, so
//! that a loop in the routes does not keep it going for ever.
//!
//! [`Router`] is the protocol, free of sockets and clocks; [`route`] runs it, and [`publish`] gives a message to a
//! router. What a [`Behaviour`] decides is what the [`faults`] get wrong.

mod behaviour;
pub mod faults;
mod neighbours;
mod network;
pub mod ospf;
mod packet;
mod paths;
mod publish;
mod route;
mod router;

pub use behaviour::{Behaviour, Correct};
pub use neighbours::{Neighbour, Neighbours, NeighboursError};
pub use network::Network;
pub use packet::{LinkState, LinkTo, Message, Packet, RouterNumber};
pub use paths::{Paths, Step, cheapest_paths};
pub use publish::publish;
pub use route::{RouteError, route};
pub use router::{GivenUp, Reaction, Router};
