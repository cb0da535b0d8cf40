//! Test cases of the domain name system on real resolvers: servers of the name space behind a lossy network, and stubs
//! that ask.
//!
//! The harness of Rutherford, PhD thesis, section 4.1.3.2. Each server of the test case is a process of NSD with the
//! zones that the test case gives it, at an address of a loopback network that belongs to the test case alone; what is
//! lost and doubled is what goes between these and the resolver. Stubs ask at the times of the test case, in real time,
//! so that times to live run out as they do there, and each answer is held against the name space.
//!
//! Packets are lost and doubled as in the simulation, in both directions, but take no time. Streams are whole. More is right
//! than in the simulation, whose oracle knows the one resolver that it judges: a real one may forget what it might keep, and
//! so tell any time to live up to the original one, and say whatever else it likes beside the answer.

mod judge;
mod message;
mod observed_answers;
mod stub;

use std::fmt::Write as _;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::{Dns, TestCase};
use serde_json::Value;
use simutant_harness::{
    Activity, Clients, Conclusion, Environment, ExpectedExit, HarnessError, InvalidCase, Lease, Left, Loopback, Losses,
    LossyServers, Placeholders, Process, ProxyCounts, ProxyError, Ready, Role, Served, Setup, Side, Stop, Testbed,
    Testbeds, read_case,
};
use simutant_outcomes::Verdict;
use simutant_system::System;

use observed_answers::ObservedAnswers;
use stub::Reply;

const RESOLVER: &str = "resolver";

/// The servers, which the testbed brings along.
const SERVER: &str = "server";

/// Where resolvers ask servers.
const PORT: u16 = 53;

const ROLES: [Role; 1] =
    [Role { name: RESOLVER, placeholders: &["listen", "host", "port", "hints", "seed"], listens: true }];

/// The testbed of [`Dns`].
pub const TESTBEDS: Testbeds = Testbeds::new(&[&DnsTestbed]);

/// Runs test cases of [`Dns`].
#[derive(Debug)]
struct DnsTestbed;

impl Testbed for DnsTestbed {
    fn system(&self) -> &str {
        Dns::NAME
    }

    fn roles(&self) -> &[Role] {
        &ROLES
    }

    /// Stubs ask as late as the test case says, and resolvers that lose packets try for a minute and more.
    fn timeout(&self) -> Duration {
        Duration::from_secs(180)
    }

    /// Stubs wait between two questions.
    fn jobs_for_each_core(&self) -> usize {
        60
    }

    fn duration(&self, case: &Value) -> Duration {
        let starts = case["queries"].as_array().into_iter().flatten().filter_map(|query| query["start_ms"].as_u64());
        Duration::from_millis(starts.max().unwrap_or_default())
    }

    fn check(&self, case: &Value) -> Result<(), InvalidCase> {
        read_case(case, Dns::validate).map(drop)
    }

    fn set_up(&self, setup: &Setup<'_>) -> Result<Box<dyn Environment>, HarnessError> {
        let folder = setup.folder;
        let case = read_case(setup.case, Dns::validate).expect("the case was checked");
        let random = setup.random(case.seed);
        let loopback = Loopback::lease(PORT)?;
        let old: Vec<_> = case.servers.iter().map(|server| server.address).collect();
        let place = |address| (1..).zip(&old).find_map(|(number, old)| (*old == address).then_some(number));
        let case = case.with_server_addresses(|address| loopback.address(place(address).expect("it is one of them")));
        let (mut servers, mut leases) = (Vec::new(), vec![Lease::for_both()?]);
        // Some resolvers listen at addresses only that an interface has.
        let resolver = SocketAddr::from((Ipv4Addr::LOCALHOST, leases[0].port()));
        for (server, number) in case.servers.iter().zip(1..) {
            leases.push(Lease::new()?);
            let forward = SocketAddr::from((loopback.address(SERVERS_HOST + number), leases[leases.len() - 1].port()));
            let name = format!("{SERVER}-{number}");
            let configuration = nsd_configuration(&case, &server.zones, forward, &folder.join(&name))?;
            servers.push(Placed { name, forward, listen: (server.address, PORT).into(), configuration });
        }
        let hints = folder.join("hints");
        let records = case.name_space.root_hints();
        let lines: Vec<String> = records.iter().map(|record| format!("{record}\n")).collect();
        std::fs::write(&hints, lines.concat()).map_err(HarnessError::file("write", &hints))?;
        let served = servers.iter().map(|Placed { name, listen, forward, .. }| Served {
            name: name.clone(),
            listen: *listen,
            forward: *forward,
        });
        let seed = random.stream("network").bits();
        let losses = Losses { clients: RESOLVER, drop: case.drop, duplicate: case.duplicate, seed };
        let observed = Arc::<ObservedAnswers>::default();
        let network =
            LossyServers::start(served.collect(), &losses, Arc::clone(&observed) as _).map_err(without_address)?;
        let replies = Mutex::new(vec![None; case.queries.len()]);
        let services = vec![Side {
            name: SERVER.into(),
            // In the foreground, so that it ends with the test case.
            command: ["nsd", "-d", "-c", "{configuration}"].map(String::from).to_vec(),
            files: Vec::new(),
            ready: Ready::Port,
            exit: ExpectedExit::Stopped,
            stop: Stop::default(),
        }];
        let environment = NameService {
            case,
            services,
            servers,
            resolver,
            hints: hints.into_os_string(),
            network,
            observed,
            replies,
            _leases: leases,
            _loopback: loopback,
        };
        Ok(Box::new(environment))
    }
}

/// After this, the last bytes of the addresses that servers really have. Those that the resolver sees count from 1.
const SERVERS_HOST: u8 = 100;

/// Says what is missing where an address cannot be listened on.
fn without_address(error: ProxyError) -> HarnessError {
    match error {
        ProxyError::Listen { address: SocketAddr::V4(address), source } => {
            HarnessError::NoNetwork { port: address.port(), address: *address.ip(), source }
        }
        other => other.into(),
    }
}

/// A server.
struct Placed {
    name: String,
    /// Where it seems to be.
    listen: SocketAddr,
    /// Where it is.
    forward: SocketAddr,
    configuration: std::path::PathBuf,
}

/// Writes zone files and a configuration of NSD, and returns the latter's path.
fn nsd_configuration(
    case: &TestCase,
    apexes: &[crate::Name],
    address: SocketAddr,
    folder: &Path,
) -> Result<std::path::PathBuf, HarnessError> {
    std::fs::create_dir(folder).map_err(HarnessError::file("make the folder", folder))?;
    let shown = folder.display();
    // Without limits of rates, which would be losses of its own, and without files elsewhere. Tables for what is not
    // done here, limits and transfers of zones, would be most of what a start costs.
    let mut text = format!(
        "server:\n  ip-address: {ip}@{port}\n  server-count: 1\n  username: \"\"\n  chroot: \"\"\n  zonesdir: \"{shown}\"\n  \
         database: \"\"\n  pidfile: \"\"\n  zonelistfile: \"{shown}/zones\"\n  xfrdfile: \"{shown}/transfers\"\n  \
         xfrdir: \"{shown}\"\n  rrl-ratelimit: 0\n  rrl-size: 1\n  xfrd-tcp-max: 1\n  xfrd-tcp-pipeline: 1\n  tcp-count: 8\n\
         remote-control:\n  control-enable: no\n",
        ip = address.ip(),
        port = address.port(),
    );
    for (apex, number) in apexes.iter().zip(1..) {
        let zone = case.name_space.zones.iter().find(|zone| zone.apex == *apex).expect("servers have zones that are");
        let file = folder.join(format!("zone-{number}"));
        std::fs::write(&file, zone.to_string()).map_err(HarnessError::file("write", &file))?;
        write!(text, "zone:\n  name: \"{apex}\"\n  zonefile: \"zone-{number}\"\n").expect("a text takes everything");
    }
    let path = folder.join("nsd.conf");
    std::fs::write(&path, text).map_err(HarnessError::file("write", &path))?;
    Ok(path)
}

/// The servers, the network and the stubs of one test case.
struct NameService {
    /// With the servers' addresses as the resolver sees them.
    case: TestCase,
    services: Vec<Side>,
    servers: Vec<Placed>,
    resolver: SocketAddr,
    hints: std::ffi::OsString,
    network: LossyServers,
    observed: Arc<ObservedAnswers>,
    /// By the numbers of the queries.
    replies: Mutex<Vec<Option<Reply>>>,
    /// Keep ports from other jobs.
    _leases: Vec<Lease>,
    /// Keeps the addresses from other runs.
    _loopback: Loopback,
}

impl Environment for NameService {
    fn services(&self) -> &[Side] {
        &self.services
    }

    /// To read the certificates of the system, of which NSD uses none, takes it longer than all the rest of its start.
    fn service_variables(&self) -> &[(&str, &str)] {
        &[("SSL_CERT_FILE", "/dev/null"), ("SSL_CERT_DIR", "/dev/null")]
    }

    fn processes(&self, role: &str) -> Vec<Process> {
        let process = |name: String, address: SocketAddr, placeholders: Placeholders| Process {
            name,
            placeholders,
            port: Some(address.port()),
            start: Duration::ZERO,
        };
        if role == SERVER {
            let server = |placed: &Placed| {
                let placeholders = Placeholders::from([("configuration", placed.configuration.clone().into())]);
                process(placed.name.clone(), placed.forward, placeholders)
            };
            return self.servers.iter().map(server).collect();
        }
        let placeholders = Placeholders::from([
            ("listen", self.resolver.to_string().into()),
            ("host", self.resolver.ip().to_string().into()),
            ("port", self.resolver.port().to_string().into()),
            ("hints", self.hints.clone()),
            ("seed", self.case.seed.to_string().into()),
        ]);
        vec![process(RESOLVER.into(), self.resolver, placeholders)]
    }

    fn clients(&self) -> Option<&dyn Clients> {
        Some(self)
    }

    fn activity(&self) -> Option<Activity> {
        Some(self.network.activity())
    }

    fn network(&self) -> Result<ProxyCounts, HarnessError> {
        self.network.check()?;
        let replies = self.replies.lock().expect("stubs have no way to panic");
        if let Some(number) = replies.iter().flatten().find_map(|reply| reply.shortage) {
            let source = std::io::Error::from_raw_os_error(number);
            return Err(HarnessError::Exhausted { action: "ask the resolver".into(), source });
        }
        Ok(self.network.counts())
    }

    fn judge(&self, _left: &Left<'_>) -> Result<Conclusion, HarnessError> {
        let replies = self.replies.lock().expect("stubs have no way to panic");
        let counts = self.network.counts();
        let losses = match counts.forward.dropped + counts.back.dropped {
            0 => judge::Losses::None,
            _ => judge::Losses::Some,
        };
        let finding = judge::judge(&self.case, &replies, &self.observed, losses);
        Ok(finding.map_or(Verdict::Pass, |finding| Verdict::Fail(finding.into())).into())
    }
}

impl Clients for NameService {
    fn run(&self, deadline: Instant, is_cut: &AtomicBool) -> Vec<String> {
        let start = Instant::now();
        std::thread::scope(|scope| {
            let stubs: Vec<u8> = self.case.queries.iter().map(|query| query.stub).collect();
            let running: Vec<_> = (1..=u8::MAX)
                .filter(|number| stubs.contains(number))
                .map(|number| {
                    let moments = stub::Moments { start, deadline, is_cut };
                    (number, scope.spawn(move || stub::run(&self.case, number, self.resolver, &moments, &self.replies)))
                })
                .collect();
            let ended = |(number, stub): (u8, std::thread::ScopedJoinHandle<'_, bool>)| {
                let has_ended = stub.join().expect("stubs have no way to panic");
                (!has_ended).then(|| format!("stub-{number}"))
            };
            running.into_iter().filter_map(ended).collect()
        })
    }
}
