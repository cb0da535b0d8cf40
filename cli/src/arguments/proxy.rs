//! The arguments of `simutant proxy`.

use std::net::SocketAddr;

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct ProxyArguments {
    /// The address that the client sends to; port 0 takes any free port.
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) listen: SocketAddr,
    /// The address of the server.
    #[arg(long, value_name = "HOST:PORT")]
    pub(crate) forward: SocketAddr,
    /// The probability that a datagram is dropped.
    #[arg(long, default_value_t = 0.0, value_name = "P")]
    pub(crate) drop: f64,
    /// The probability that a datagram that is not dropped is duplicated.
    #[arg(long, default_value_t = 0.0, value_name = "P")]
    pub(crate) duplicate: f64,
    /// Do instead what a simulated network does to packets, for datagrams and for TCP connections: latency, loss,
    /// duplicates, corruption, reordering, bandwidth, partitions and rules. A network as test cases have it, in JSON,
    /// or a file with it; its components are `client` and `server`.
    #[arg(long, value_name = "JSON|FILE", conflicts_with_all = ["drop", "duplicate"])]
    pub(crate) network: Option<String>,
}
