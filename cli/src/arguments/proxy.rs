//! The arguments of `simutant proxy`.

use std::net::{SocketAddr, ToSocketAddrs};

use clap::Args;

#[derive(Debug, Args)]
pub(crate) struct ProxyArguments {
    /// The address that clients send to; port 0 takes any free port. A name stands for its first IPv4 address, or else
    /// its first IPv6 address.
    #[arg(long, value_name = "HOST:PORT", value_parser = address)]
    pub(crate) listen: SocketAddr,
    /// The address of the server, in whatever network this machine reaches.
    #[arg(long, value_name = "HOST:PORT", value_parser = address)]
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

/// Reads an address, or resolves a name.
fn address(text: &str) -> Result<SocketAddr, String> {
    if let Ok(address) = text.parse() {
        return Ok(address);
    }
    // An IPv6 address without brackets would leave open where its port begins.
    let is_name = |host: &str| !host.is_empty() && !host.contains(':');
    if !text.rsplit_once(':').is_some_and(|(host, port)| is_name(host) && port.parse::<u16>().is_ok()) {
        return Err("give a host and a port, for example localhost:5000, 127.0.0.1:0 or [::1]:5000".into());
    }
    let all: Vec<SocketAddr> = text.to_socket_addrs().map_err(|error| error.to_string())?.collect();
    // Datagrams cannot be tried at one address after another, as connections are; programs under test are at IPv4's.
    let chosen = all.iter().find(|address| address.is_ipv4()).or(all.first());
    chosen.copied().ok_or_else(|| "the name has no address".into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_taken_as_they_are_and_names_resolved() {
        for text in ["127.0.0.1:0", "10.9.0.2:7007", "[::1]:53", "[fe80::1%1]:9"] {
            assert_eq!(address(text), Ok(text.parse().expect("it is an address")));
        }
        let found = address("localhost:5000").expect("it is in every file of hosts");
        assert!(found.ip().is_loopback() && found.port() == 5000, "{found}");
        for text in
            ["localhost", "localhost:", ":5000", "127.0.0.1", "::1", "::1:53", "localhost:http", "localhost:70000"]
        {
            assert!(address(text).is_err_and(|error| error.starts_with("give a host and a port")), "{text}");
        }
        assert!(address("no name:1").is_err());
    }
}
