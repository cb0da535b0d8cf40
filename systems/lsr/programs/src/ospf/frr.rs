//! FRRouting: `ospfd` finds the paths, `zebra` tells the kernel of them.

use std::ffi::OsString;
use std::fmt::Write;
use std::path::Path;
use std::process::Child;
use std::time::Duration;

use super::internetwork::{address, device};
use super::{Internetwork, OspfError, Router, RoutingDaemon};

const ZEBRA: &str = "zebra";
const OSPFD: &str = "ospfd";
const VTYSH: &str = "vtysh";
const PACKAGE: &str = "frr";

/// Where `ospfd` reaches `zebra`. It asks once, and then after ten seconds again: so it is started later.
const SOCKET: &str = "zebra.socket";

/// FRRouting 8 or later.
#[derive(Debug)]
pub struct Frr;

impl RoutingDaemon for Frr {
    fn programs(&self) -> &'static [(&'static str, &'static str)] {
        &[(ZEBRA, PACKAGE), (OSPFD, PACKAGE), (VTYSH, PACKAGE)]
    }

    /// What the settings leave to wait for is greetings and what is sent again, each after a second.
    fn silence(&self) -> Duration {
        Duration::from_millis(2_500)
    }

    fn prepare(
        &self,
        network: &Internetwork,
        router: Router,
        folder: &Path,
    ) -> Result<Vec<(&'static str, Child)>, OspfError> {
        network.write(&folder.join("zebra.conf"), "log stdout errors\n")?;
        let text = configuration(router.number, network.neighbours(router.number));
        network.write(&folder.join("ospfd.conf"), &text)?;
        let mut zebra = network.spawn(router.number, ZEBRA, &arguments(ZEBRA, folder))?;
        let socket = folder.join(SOCKET);
        while !socket.exists() {
            if let Ok(Some(status)) = zebra.try_wait() {
                return Err(OspfError::DaemonEnded { router: router.number, program: ZEBRA, status });
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        Ok(vec![(ZEBRA, zebra)])
    }

    fn start(&self, network: &Internetwork, router: Router, folder: &Path) -> Result<(&'static str, Child), OspfError> {
        Ok((OSPFD, network.spawn(router.number, OSPFD, &arguments(OSPFD, folder))?))
    }

    fn ask_for_neighbours(&self, folder: &Path) -> (&'static str, &'static str, Vec<OsString>) {
        let arguments = ["--vty_socket".into(), folder.into(), "-c".into(), "show ip ospf neighbor".into()];
        (VTYSH, PACKAGE, arguments.to_vec())
    }
}

/// Returns the arguments of a daemon that runs in the foreground, with all its files in `folder`, and cannot be reached
/// by TCP.
fn arguments(program: &str, folder: &Path) -> Vec<OsString> {
    let path = |name: &str| folder.join(name).into_os_string();
    let mut arguments =
        vec!["-f".into(), path(&format!("{program}.conf")), "-i".into(), path(&format!("{program}.pid"))];
    arguments.extend(["-z".into(), path(SOCKET), "--vty_socket".into(), folder.into(), "-P".into(), "0".into()]);
    arguments
}

/// Returns the settings of a router. Greetings are as frequent as they can be, and nothing is kept back; neighbours are
/// never given up, since none goes away.
fn configuration(router: u8, neighbours: impl Iterator<Item = (u8, u16)>) -> String {
    let own = address(router);
    let mut text = String::from("log stdout errors\ninterface lo\n ip ospf area 0\n");
    for (neighbour, cost) in neighbours {
        let device = device(neighbour);
        write!(
            text,
            "interface {device}\n ip ospf area 0\n ip ospf network point-to-point\n ip ospf cost {cost}\n \
             ip ospf hello-interval 1\n ip ospf dead-interval 60\n ip ospf retransmit-interval 1\n"
        )
        .expect("a text takes everything");
    }
    let timers = " timers throttle spf 0 50 50\n timers throttle lsa all 0\n timers lsa min-arrival 0\n";
    text + &format!("router ospf\n ospf router-id {own}\n{timers}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_have_their_costs() {
        let text = configuration(2, [(1, 3), (4, 65_535)].into_iter());
        assert!(text.contains("ospf router-id 10.0.0.2\n"), "{text}");
        for (device, cost) in [("to-1", 3), ("to-4", 65_535)] {
            let expect =
                format!("interface {device}\n ip ospf area 0\n ip ospf network point-to-point\n ip ospf cost {cost}\n");
            assert!(text.contains(&expect), "{text}");
        }
    }
}
