//! Servers of Debian's package `zookeeper` without a test case: those of an implementation, as
//! [fixtures](simutant_harness::Fixture).

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

use simutant_harness::{Fixture, HarnessError, Implementation};

use super::own::OwnServers;

/// What the package has: the server, and a logger that prints. The package itself comes with one that says nothing.
const JARS: [&str; 2] = ["/usr/share/java/zookeeper.jar", "/usr/share/java/slf4j-simple.jar"];

/// A server, or an ensemble of them, that runs until it is dropped.
#[derive(Debug)]
pub struct Servers {
    addresses: Vec<SocketAddr>,
    _fixtures: Vec<Fixture>,
    /// Keeps the ports of an ensemble.
    _own: Option<OwnServers>,
}

impl Servers {
    /// Returns whether the package is installed.
    pub fn are_installed() -> bool {
        JARS.iter().all(|jar| Path::new(jar).is_file())
    }

    /// Starts the fixture of an implementation, or an ensemble of its side. An ensemble takes a moment to agree on a leader:
    /// clients that come before are tried again. The folders are made in `folder`.
    ///
    /// # Errors
    /// [`HarnessError`] if one does not start.
    pub fn start(implementation: &Implementation, folder: &Path) -> Result<Self, HarnessError> {
        if let Some(command) = &implementation.fixture {
            let fixture = Fixture::start_alone(&implementation.name, command, folder)?;
            let address = fixture.port("port").map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port)));
            return Ok(Self { addresses: Vec::from_iter(address), _fixtures: vec![fixture], _own: None });
        }
        let own = OwnServers::ensemble(folder, false)?;
        let mut fixtures = Vec::new();
        for side in &implementation.sides {
            for process in own.processes(&side.name) {
                fixtures.push(own.start(side, &process)?);
            }
        }
        Ok(Self { addresses: own.addresses(), _fixtures: fixtures, _own: Some(own) })
    }

    /// Returns where clients find each of them.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }
}
