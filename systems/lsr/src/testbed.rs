//! Test cases of link-state routing on real programs: a router each, and a client for each message.
//!
//! The harness of Rutherford, PhD thesis, section 4.1.2.2, does what the simulation's configuration does. Routers are
//! linked as the topology says, by [`Links`] that delay datagrams; they start as far apart as in the simulation, and so
//! do the clients. What routers wrote down is judged by the oracle of the simulation.
//!
//! The links delay datagrams as the simulated network does, and in what order they arrive is decided by that: the n-th
//! datagram of a router takes as long as the n-th packet of the simulated router with the same test case does, and what the
//! machine adds. A side that plays the whole network is told no delays.
//!
//! When all routers know the network cannot be read off the programs. So the harness waits until nobody has said
//! anything for a while: nothing is on its way, nothing came in, no datagram waits to be read, and no router is at
//! work.
//!
//! An implementation may also be one program that plays all of that, with a network of its own: `LsrNetworkTestbed`.

mod whole;

use std::collections::BTreeSet;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::{CLIENT_GAP, Inbox, Lsr, Publication, RouterId, TestCase};
use serde_json::{Value, json};
use simutant_harness::{
    Activity, Conclusion, Environment, HarnessError, InvalidCase, Lease, Left, Linked, Links, Placeholders, Process,
    ProxyCounts, Role, Setup, Testbed, Testbeds, has_unread, read_case,
};
use simutant_outcomes::{Finding, Verdict};
use simutant_sim_core::network;
use simutant_system::{Observer, System};

use whole::LsrNetworkTestbed;

/// The testbeds: of routers, and of programs that play a whole network.
pub const TESTBEDS: Testbeds = Testbeds::new(&[&LsrTestbed, &LsrNetworkTestbed]);

const ROUTER: &str = "router";
const CLIENT: &str = "client";

const ROLES: [Role; 2] = [
    Role {
        name: ROUTER,
        placeholders: &["id", "listen", "host", "port", "neighbours", "output", "seed"],
        listens: true,
    },
    Role {
        name: CLIENT,
        placeholders: &["peer", "peer_host", "peer_port", "number", "source", "destination", "seed"],
        listens: false,
    },
];

/// How long nobody may have said anything: more than twice the slowest packet, for routers whose work cannot be seen.
const SILENCE: Duration = Duration::from_millis(25);

/// How long silence is waited for: routers that greet each other all the time are never silent.
const SILENCE_PATIENCE: Duration = Duration::from_secs(1);

/// How often to look whether somebody has said anything.
const SILENCE_INTERVAL: Duration = Duration::from_millis(3);

/// Runs test cases of [`Lsr`].
#[derive(Debug)]
struct LsrTestbed;

impl Testbed for LsrTestbed {
    fn system(&self) -> &str {
        Lsr::NAME
    }

    fn roles(&self) -> &[Role] {
        &ROLES
    }

    fn check(&self, case: &Value) -> Result<(), InvalidCase> {
        read_case(case, Lsr::validate).map(drop)
    }

    /// The test case leaves nothing open.
    fn redraws(&self) -> bool {
        false
    }

    fn set_up(&self, setup: &Setup<'_>) -> Result<Box<dyn Environment>, HarnessError> {
        let case = read_case(setup.case, Lsr::validate).expect("the case was checked");
        let count = usize::from(case.topology.router_count());
        let leases: Vec<Lease> = (0..count).map(|_| Lease::new()).collect::<Result<_, _>>()?;
        let routers: Vec<SocketAddr> = leases.iter().map(|lease| (Ipv4Addr::LOCALHOST, lease.port()).into()).collect();
        let linked = case.topology.routers().zip(&routers).map(|(id, &address)| Linked {
            address,
            fates: network::Fates::new(&case.network(), case.seed, &id.name()).expect("the simulation has such links"),
        });
        let pairs: Vec<(usize, usize)> =
            case.topology.links().iter().map(|&(one, other, _)| (place(one), place(other))).collect();
        let links = Links::start(linked.collect(), &pairs)?;
        Ok(Box::new(Internetwork { case, routers, _leases: leases, links, folder: setup.folder.into() }))
    }
}

/// Returns where a router stands in lists of all.
fn place(id: RouterId) -> usize {
    usize::from(id.0) - 1
}

/// The network of one test case.
struct Internetwork {
    case: TestCase,
    /// Where the routers receive.
    routers: Vec<SocketAddr>,
    /// Keep the routers' ports from other jobs.
    _leases: Vec<Lease>,
    links: Links,
    folder: PathBuf,
}

impl Internetwork {
    fn router(&self, id: RouterId, start: Duration) -> Process {
        let address = self.routers[place(id)];
        let neighbour =
            |link: crate::Link| format!("{}={}/{}", link.to.0, self.links.entry(place(id), place(link.to)), link.cost);
        let neighbours: Vec<String> = self.case.topology.neighbours(id).map(neighbour).collect();
        let placeholders = Placeholders::from([
            ("id", id.0.to_string().into()),
            ("listen", address.to_string().into()),
            ("host", address.ip().to_string().into()),
            ("port", address.port().to_string().into()),
            ("neighbours", neighbours.join(",").into()),
            ("output", output(&self.folder, id).into()),
            ("seed", self.case.seed.to_string().into()),
        ]);
        Process { name: id.name(), placeholders, port: Some(address.port()), start }
    }

    fn client(&self, publication: Publication) -> Process {
        let Publication { number, source, destination, .. } = publication;
        let peer = self.routers[place(source)];
        let placeholders = Placeholders::from([
            ("peer", peer.to_string().into()),
            ("peer_host", peer.ip().to_string().into()),
            ("peer_port", peer.port().to_string().into()),
            ("number", number.to_string().into()),
            ("source", source.0.to_string().into()),
            ("destination", destination.0.to_string().into()),
            ("seed", self.case.seed.to_string().into()),
        ]);
        let start = Duration::from_nanos(CLIENT_GAP.as_nanos()) * (number - 1);
        Process { name: format!("{CLIENT}-{number}"), placeholders, port: None, start }
    }

    /// Returns all ports at which a datagram may wait.
    fn ports(&self) -> BTreeSet<u16> {
        self.links.ports().into_iter().chain(self.routers.iter().map(SocketAddr::port)).collect()
    }
}

impl Environment for Internetwork {
    fn processes(&self, role: &str) -> Vec<Process> {
        if role == CLIENT {
            return self.case.publications().map(|publication| self.client(publication)).collect();
        }
        let starts = self.case.router_starts();
        let start = |id: RouterId| Duration::from_nanos(starts[place(id)].as_nanos());
        let mut routers: Vec<Process> = self.case.topology.routers().map(|id| self.router(id, start(id))).collect();
        routers.sort_by_key(|router| router.start);
        routers
    }

    fn settle(&self, deadline: Instant, is_active: &dyn Fn() -> bool) {
        let (ports, give_up_at) = (self.ports(), deadline.min(Instant::now() + SILENCE_PATIENCE));
        let (mut heard, mut silent_since) = (self.links.counts(), Instant::now());
        while Instant::now() < give_up_at {
            std::thread::sleep(SILENCE_INTERVAL);
            if silent_since.elapsed() >= SILENCE {
                // A datagram goes from a port to a router, to a port of the links, to the links, and to the next
                // router's port. Looked for in this order it cannot slip by, since links that have passed something on
                // count it.
                let is_with_routers = has_unread(&ports) || is_active();
                let is_with_links = has_unread(&ports) || self.links.are_busy();
                if !is_with_routers && !is_with_links && self.links.counts() == heard {
                    return;
                }
                silent_since = Instant::now();
            }
            let now = self.links.counts();
            if now != heard || self.links.are_busy() {
                (heard, silent_since) = (now, Instant::now());
            }
        }
    }

    fn network(&self) -> Result<ProxyCounts, HarnessError> {
        self.links.check()?;
        Ok(ProxyCounts { forward: self.links.counts(), ..ProxyCounts::default() })
    }

    fn activity(&self) -> Option<Activity> {
        Some(self.links.activity())
    }

    fn judge(&self, _left: &Left<'_>) -> Result<Conclusion, HarnessError> {
        Ok(judge_all(&self.case, &self.folder)?.into())
    }
}

/// Returns where a router of the test case in `folder` writes what it delivers.
fn output(folder: &Path, id: RouterId) -> PathBuf {
    folder.join(id.name())
}

/// Checks what the routers of the test case in `folder` wrote down, each in the file that has its name.
fn judge_all(case: &TestCase, folder: &Path) -> Result<Verdict, HarnessError> {
    for id in case.topology.routers() {
        let path = output(folder, id);
        let delivered = match std::fs::read_to_string(&path) {
            Ok(delivered) => delivered,
            // A router without messages has nothing to write.
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(HarnessError::file("read", &path)(error)),
        };
        let expected: Vec<Publication> =
            case.publications().filter(|publication| publication.destination == id).collect();
        if let Err(failure) = judge(id, &delivered, &expected) {
            let finding = Finding::wrong_result("wrong-deliveries", format!("{}: {failure}", id.name()));
            return Ok(Verdict::Fail(finding.with_detail(json!({ "router": id.name(), "failure": failure }))));
        }
    }
    Ok(Verdict::Pass)
}

/// Checks what a router wrote down; says what is wrong with it.
fn judge(router: RouterId, delivered: &str, expected: &[Publication]) -> Result<(), String> {
    // A router's file has no times.
    let inbox = Inbox::new(router, Observer::without_clock());
    for line in delivered.lines() {
        inbox.deliver(delivery(line).ok_or_else(|| format!("`{line}` is not NUMBER SOURCE DESTINATION COST"))?);
    }
    inbox.check(expected).map_err(|failure| failure.to_string())
}

/// Returns the message in a line of a router's file.
fn delivery(line: &str) -> Option<Publication> {
    let mut words = line.split_ascii_whitespace();
    let mut word = || words.next();
    let publication = Publication {
        number: word()?.parse().ok()?,
        source: RouterId(word()?.parse().ok()?),
        destination: RouterId(word()?.parse().ok()?),
        path_cost: word()?.parse().ok()?,
    };
    word().is_none().then_some(publication)
}

#[cfg(test)]
mod tests {
    use simutant_harness::InputContent;

    use super::*;

    fn environment(folder: &Path) -> Box<dyn Environment> {
        let case = serde_json::json!({
            "topology": "3-cycle", "messages": [{ "from": 1, "to": 3 }, { "from": 2, "to": 2 }], "seed": 5
        });
        LsrTestbed.check(&case).expect("a good case");
        LsrTestbed
            .set_up(&Setup {
                name: "a",
                case: &case,
                seed: 0,
                folder,
                input: InputContent::Bytes,
                fixture: None,
                fixture_side: None,
                waived: &std::collections::BTreeMap::new(),
            })
            .expect("ports are free")
    }

    #[test]
    fn there_is_a_router_for_each_of_the_topology_and_a_client_for_each_message() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let environment = environment(folder.path());
        let mut routers = environment.processes(ROUTER);
        assert!(routers.is_sorted_by_key(|router| router.start));
        assert!(routers.iter().all(|router| router.start <= Duration::from_millis(20)));
        routers.sort_by_key(|router| router.name.clone());
        assert_eq!(
            routers.iter().map(|router| router.name.as_str()).collect::<Vec<_>>(),
            ["router-1", "router-2", "router-3"]
        );
        let neighbours: Vec<&str> =
            routers.iter().map(|router| router.placeholders["neighbours"].to_str().expect("plain text")).collect();
        let costs = |neighbours: &str| -> Vec<(String, String)> {
            let parts = |neighbour: &str| {
                let (id, rest) = neighbour.split_once('=').expect("a number first");
                (id.to_owned(), rest.split_once('/').expect("a cost last").1.to_owned())
            };
            neighbours.split(',').map(parts).collect()
        };
        let pair = |id: &str, cost: &str| (id.to_owned(), cost.to_owned());
        assert_eq!(costs(neighbours[0]), [pair("2", "1"), pair("3", "5")]);
        assert_eq!(costs(neighbours[1]), [pair("1", "1"), pair("3", "2")]);

        let clients = environment.processes(CLIENT);
        assert_eq!(clients.iter().map(|client| client.start.as_millis()).collect::<Vec<_>>(), [0, 10]);
        assert_eq!(clients[0].placeholders["peer"], routers[0].placeholders["listen"]);
        assert_eq!(
            (&clients[0].placeholders["number"], &clients[0].placeholders["destination"]),
            (&"1".into(), &"3".into())
        );
        assert!(clients.iter().all(|client| client.port.is_none()));
    }

    #[test]
    fn what_routers_wrote_is_judged_by_the_oracle_of_the_simulation() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let environment = environment(folder.path());
        let judged = |two: Option<&str>, three: &str| {
            let path = folder.path().join("router-2");
            match two {
                Some(text) => std::fs::write(path, text).expect("the folder can be written"),
                None => assert!(!path.exists()),
            }
            std::fs::write(folder.path().join("router-3"), three).expect("the folder can be written");
            let judgement = environment.judge(&Left { processes: &[] }).expect("the files can be read");
            judgement.verdict.finding().map(|finding| finding.summary.clone())
        };
        let right = "1 1 3 3\n";
        assert_eq!(judged(None, right).as_deref(), Some("router-2: message 2 was not delivered"));
        let own = Some("2 2 2 0\n");
        assert_eq!(judged(own, right), None);
        assert_eq!(
            judged(own, "1 1 3 5\n").as_deref(),
            Some("router-3: message 1 came at a cost of 5, the shortest path costs 3")
        );
        assert_eq!(judged(own, "1 1 3 3\n1 1 3 3\n").as_deref(), Some("router-3: message 1 was delivered twice"));
        for line in ["1 1 3", "1 1 3 3 3", "one 1 3 3", ""] {
            let expect = format!("router-3: `{line}` is not NUMBER SOURCE DESTINATION COST");
            assert_eq!(judged(own, &format!("{right}{line}\n")), Some(expect));
        }
    }

    #[test]
    fn an_environment_settles_when_nothing_is_said_and_nothing_waits() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let environment = environment(folder.path());
        let start = Instant::now();
        environment.settle(start + Duration::from_secs(60), &|| false);
        assert!(start.elapsed() >= SILENCE, "{:?}", start.elapsed());
        let is_active = std::cell::Cell::new(3);
        environment.settle(start + Duration::from_secs(60), &|| is_active.replace(is_active.get() - 1) > 1);
        assert_eq!(is_active.get(), 0, "it asks until nobody is active");
        // Nobody reads at a router's port.
        let router = &environment.processes(ROUTER)[0];
        let address: SocketAddr =
            router.placeholders["listen"].to_str().and_then(|text| text.parse().ok()).expect("an address");
        let socket = std::net::UdpSocket::bind(address).expect("the port is leased");
        socket.send_to(b"text", address).expect("loopback accepts");
        let start = Instant::now();
        environment.settle(start + Duration::from_millis(200), &|| false);
        assert!(start.elapsed() >= Duration::from_millis(200), "{:?}", start.elapsed());
    }

    #[test]
    fn a_case_that_is_not_one_is_named() {
        let message = |case: Value| LsrTestbed.check(&case).expect_err("the case is not one").to_string();
        let far = serde_json::json!({ "topology": "duo", "messages": [{ "from": 1, "to": 3 }], "seed": 1 });
        assert_eq!(message(far), "field messages[0].to is 3: it must be from 1 to 2");
        assert!(message(serde_json::json!({ "topology": "5-star", "messages": [], "seed": 1 })).contains("5-star"));
    }
}
