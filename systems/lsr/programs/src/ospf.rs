//! Link-state routing by routers that others wrote: daemons that speak OSPF (RFC 2328), on a network that the kernel
//! makes for them.
//!
//! A test case of `lsr` is played by this package's program `lsr-ospf` as a whole. It runs in a [`sandbox`]: namespaces
//! of its own for networks, mounts and processes, so that all it starts and makes is gone when it is, however it ends.
//! In there each router is a network namespace with a [`RoutingDaemon`], and each link a pair of virtual Ethernet
//! devices whose ends have its cost ([`Internetwork`]). When the routers have settled, the program follows each message
//! from router to router by what the kernel's routing tables say, adds up the costs of the links, and writes down what
//! arrives.
//!
//! # What is and what is not as in the test case
//! Routers start as far apart as the test case says. Costs are those of the links; OSPF has room for 1 to 65535. Of
//! paths that cost the same any will do: the simulation takes the one that it finds first, the daemons have ways of
//! their own.
//!
//! The delays of packets are left out: the kernel passes them on at once, and in order. The moments at which messages
//! are published are, too: they would come 10 ms apart, where a daemon takes seconds to learn of its neighbours, and no
//! message depends on another one. No datagram is sent for a message: the kernel is asked what it would do with one
//! (`ip route get`).

mod bird;
mod daemon;
mod error;
mod frr;
mod internetwork;
mod play;
pub mod sandbox;
mod task;

pub use bird::Bird;
pub use daemon::{RoutingDaemon, named};
pub use error::OspfError;
pub use frr::Frr;
pub use internetwork::Internetwork;
pub use play::play;
pub use task::{Link, List, Message, Router, Task};
