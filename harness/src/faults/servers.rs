//! The servers of a test case, and the network to them.

use std::net::{Ipv4Addr, SocketAddr};

use simutant_sim_core::{Network, Random};

use super::{NetworkProgram, RealNetwork, TimeScale};
use crate::error::HarnessError;
use crate::ports::Lease;

/// Servers, each at a port of its own on the loopback interface, and the network between them and their clients.
#[derive(Debug)]
pub struct ServerNetwork {
    /// Where each server listens.
    pub addresses: Vec<SocketAddr>,
    /// The network.
    pub network: RealNetwork,
    /// Keep the ports from other jobs.
    _leases: Vec<Lease>,
}

impl ServerNetwork {
    /// Finds a port for each of these servers, and starts the network, whose connections pass on
    /// [what is corrupted](RealNetwork::corrupt_streams). `random` decides what happens to packets.
    ///
    /// # Errors
    /// [`HarnessError`] if the network is not valid, no port is free, or the system has no socket, pipe or thread left.
    pub fn start(
        servers: impl Iterator<Item = String>,
        clients: impl Iterator<Item = String>,
        network: &Network,
        random: &Random,
    ) -> Result<Self, HarnessError> {
        let (mut leases, mut addresses, mut programs) = (Vec::new(), Vec::new(), Vec::new());
        for name in servers {
            let lease = Lease::for_both()?;
            let address = SocketAddr::from((Ipv4Addr::LOCALHOST, lease.port()));
            programs.push(NetworkProgram { name, addresses: vec![address] });
            addresses.push(address);
            leases.push(lease);
        }
        programs.extend(clients.map(|name| NetworkProgram { name, addresses: Vec::new() }));
        let network = RealNetwork::start(&programs, network, random.stream("network").bits(), TimeScale::REAL)?;
        network.corrupt_streams(random.stream("corruption"));
        Ok(Self { addresses, network, _leases: leases })
    }
}
