//! Loopback networks: each belongs to one test case, whatever other processes do.

use std::hash::{BuildHasher, RandomState};
use std::io;
use std::net::{Ipv4Addr, TcpListener};

use simutant_sim_core::Random;

use crate::error::HarnessError;

/// How many networks are tried, each drawn anew.
const TRIES_MAX: usize = 100;

/// The last byte of the address that stands for the network: who listens there has it.
const GUARD_HOST: u8 = 254;

/// The 256 addresses `127.x.y.0/24`, which no other test case has as long as this lives.
///
/// The kernel gives the address that stands for them to one process only, and takes it back when that dies.
#[derive(Debug)]
pub struct Loopback {
    network: [u8; 3],
    _guard: TcpListener,
}

impl Loopback {
    /// Returns a network, and sees that `port` may be bound there.
    ///
    /// # Errors
    /// [`HarnessError::NoNetwork`] if the port may not be bound, or all networks that were tried are taken;
    /// [`HarnessError::Exhausted`] if there are no sockets left.
    pub fn lease(port: u16) -> Result<Self, HarnessError> {
        let mut random = Random::from_seed(RandomState::new().hash_one(std::process::id()));
        let mut tries = TRIES_MAX;
        loop {
            // Small numbers are left to what is set up by hand.
            let network = [127, random.uniform(64..=254), random.uniform(0..=254)];
            let address = Ipv4Addr::new(network[0], network[1], network[2], GUARD_HOST);
            tries -= 1;
            match TcpListener::bind((address, port)) {
                Ok(guard) => return Ok(Self { network, _guard: guard }),
                Err(error) if error.kind() == io::ErrorKind::AddrInUse && tries > 0 => {}
                Err(source) => {
                    let usual = |source| HarnessError::NoNetwork { port, address, source };
                    return Err(HarnessError::exhausted_or("have a loopback network", source, usual));
                }
            }
        }
    }

    /// Returns the address with this last byte.
    pub fn address(&self, host: u8) -> Ipv4Addr {
        let [first, second, third] = self.network;
        Ipv4Addr::new(first, second, third, host)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ports::Lease;

    #[test]
    fn networks_are_others_as_long_as_they_live() {
        let port = Lease::new().expect("a port is free").port();
        let (one, other) = (Loopback::lease(port).expect("it is free"), Loopback::lease(port).expect("it is free"));
        assert_ne!(one.network, other.network);
        let guard = (one.address(GUARD_HOST), port);
        assert_eq!(TcpListener::bind(guard).expect_err("it is held").kind(), io::ErrorKind::AddrInUse);
        drop(one);
        TcpListener::bind(guard).expect("it is free again");
    }

    #[test]
    fn a_port_that_is_held_everywhere_is_an_error_that_says_so() {
        let held = TcpListener::bind((Ipv4Addr::UNSPECIFIED, 0)).expect("a port is free");
        let port = held.local_addr().expect("it is bound").port();
        let error = Loopback::lease(port).expect_err("it is held at all addresses");
        assert!(error.to_string().contains("end programs that hold this port at all addresses"), "{error}");
    }
}
