//! The BIRD Internet routing daemon, of CZ.NIC.

use std::ffi::OsString;
use std::fmt::Write;
use std::path::Path;
use std::process::Child;
use std::time::Duration;

use super::internetwork::{address, device};
use super::{Internetwork, OspfError, Router, RoutingDaemon};

const PROGRAM: &str = "bird";
const CLIENT: &str = "birdc";
const PACKAGE: &str = "bird2";

/// Where the client reaches the daemon.
const SOCKET: &str = "bird.socket";

/// BIRD 2.
#[derive(Debug)]
pub struct Bird;

impl RoutingDaemon for Bird {
    fn programs(&self) -> &'static [(&'static str, &'static str)] {
        &[(PROGRAM, PACKAGE), (CLIENT, PACKAGE)]
    }

    /// A router tells of itself at most every five seconds (`MinLSInterval`, RFC 2328, appendix B), which BIRD has no
    /// setting for. It does so first when it starts, before it has neighbours.
    fn silence(&self) -> Duration {
        Duration::from_secs(6)
    }

    fn prepare(
        &self,
        network: &Internetwork,
        router: Router,
        folder: &Path,
    ) -> Result<Vec<(&'static str, Child)>, OspfError> {
        let text = configuration(router.number, network.neighbours(router.number));
        network.write(&folder.join("bird.conf"), &text)?;
        Ok(Vec::new())
    }

    fn start(&self, network: &Internetwork, router: Router, folder: &Path) -> Result<(&'static str, Child), OspfError> {
        let path = |name: &str| folder.join(name).into_os_string();
        // In the foreground.
        let arguments = ["-f".into(), "-c".into(), path("bird.conf"), "-s".into(), path(SOCKET)];
        Ok((PROGRAM, network.spawn(router.number, PROGRAM, &arguments)?))
    }

    fn ask_for_neighbours(&self, folder: &Path) -> (&'static str, &'static str, Vec<OsString>) {
        let arguments = ["-s".into(), folder.join(SOCKET).into_os_string()].into_iter();
        (CLIENT, PACKAGE, arguments.chain(["show", "ospf", "neighbors"].map(OsString::from)).collect())
    }
}

/// Returns the settings of a router. Greetings are as frequent as they can be; neighbours are never given up, since
/// none goes away.
fn configuration(router: u8, neighbours: impl Iterator<Item = (u8, u16)>) -> String {
    let own = address(router);
    let mut text = format!(
        "log stderr {{ error, fatal, bug }};\nrouter id {own};\nprotocol device {{}}\n\
         protocol kernel {{ ipv4 {{ export all; }}; }}\n\
         protocol ospf v2 {{\n  tick 1;\n  ipv4 {{ import all; export none; }};\n  area 0 {{\n    interface \"lo\" {{ stub; }};\n"
    );
    for (neighbour, cost) in neighbours {
        let device = device(neighbour);
        let settings = format!("type ptp; cost {cost}; hello 1; dead 60; retransmit 2;");
        writeln!(text, "    interface \"{device}\" {{ {settings} }};").expect("a text takes everything");
    }
    text + "  };\n}\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_have_their_costs() {
        let text = configuration(2, [(1, 3), (4, 65_535)].into_iter());
        assert!(text.contains("router id 10.0.0.2;"), "{text}");
        assert!(text.contains("interface \"to-1\" { type ptp; cost 3;"), "{text}");
        assert!(text.contains("interface \"to-4\" { type ptp; cost 65535;"), "{text}");
    }
}
