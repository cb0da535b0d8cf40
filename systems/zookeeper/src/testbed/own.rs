//! Servers of a test case's own, which may crash and be cut off from each other.
//!
//! Servers that are cut off have a network namespace each. They reach each other, and clients reach them, by way of one more
//! namespace, which drops packets between the sides of a partition. A proxy in between would be left out, since a server tells
//! others by which address it wants to be found. The namespaces have no names, and end with the processes in
//! them, in whatever way these end.

use std::fmt::Write as _;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use simutant_harness::{
    ExpectedExit, Fixture, FixtureCommand, HarnessError, Injection, Lease, Placeholders, Process, Ready, Role, Side,
    Stop,
};
use simutant_system::Separation;

/// What reports call a server; those of an ensemble have their numbers behind it.
pub(super) const SERVER: &str = "server";

/// What makes the namespaces.
const NETWORK: &str = "network";

/// The sides of an ensemble's implementation.
pub(super) const ROLES: [Role; 1] =
    [Role { name: SERVER, placeholders: &["number", "host", "port", "members", "enter"], listens: false }];

/// How many servers an ensemble has.
const MEMBERS: usize = 3;

/// Makes the namespaces in a new one, which forwards what the others send. Files in the folder have the processes that keep
/// them.
const LAY_NETWORK: &str = r#"
ip link set lo up && echo 1 > /proc/sys/net/ipv4/ip_forward || exit
for n in 1 2 3; do
    unshare --net sh -c 'echo $$ > "$0"; exec sleep 600' "$0/net-$n" &
    until [ -s "$0/net-$n" ]; do kill -0 $! || exit; sleep 0.01; done
    ip link add to-$n type veth peer name eth0 netns $(cat "$0/net-$n") || exit
    ip addr add 10.0.$n.1/24 dev to-$n && ip link set to-$n up || exit
    nsenter --net --target $(cat "$0/net-$n") sh -c "ip link set lo up && ip addr add 10.0.$n.2/24 dev eth0 &&
        ip link set eth0 up && ip route add default via 10.0.$n.1" || exit
done
echo $$ > "$0/net-0"
echo laid
wait
"#;

/// What a network needs, tried.
const TRY_NETWORK: &str = "ip link add a type veth peer name b && ip rule add blackhole &&
    echo 1 > /proc/sys/net/ipv4/ip_forward && nsenter --version";

/// The servers of a test case.
#[derive(Debug)]
pub(super) struct OwnServers {
    /// What is started beside the sides of the implementation.
    pub(super) services: Vec<Side>,
    /// The folder of the test case.
    folder: PathBuf,
    /// The ports of each server: for clients, for followers and for elections.
    leases: Vec<[Lease; 3]>,
    /// Whether each has a namespace.
    is_apart: bool,
}

fn leases() -> Result<[Lease; 3], HarnessError> {
    Ok([Lease::for_both()?, Lease::for_both()?, Lease::for_both()?])
}

impl OwnServers {
    /// Returns one server, which is started as a fixture is.
    pub(super) fn one(side: Side, folder: &Path) -> Result<Self, HarnessError> {
        let services = vec![Side { name: SERVER.into(), ..side }];
        Ok(Self { services, folder: folder.into(), leases: vec![leases()?], is_apart: false })
    }

    /// Returns an ensemble, whose servers the implementation has; they can be cut off from each other, if that is asked for
    /// and possible.
    pub(super) fn ensemble(folder: &Path, are_separated: bool) -> Result<Self, HarnessError> {
        for number in 1..=MEMBERS {
            let data = folder.join(number.to_string());
            std::fs::create_dir(&data)
                .and_then(|()| std::fs::write(data.join("myid"), number.to_string()))
                .map_err(HarnessError::file("write", &data))?;
        }
        let is_apart = are_separated && why_no_network().is_none();
        let network = Side {
            name: NETWORK.into(),
            command: ["unshare", "--net", "sh", "-c", LAY_NETWORK, "{work}"].map(String::from).to_vec(),
            files: Vec::new(),
            ready: Ready::Line("laid".into()),
            exit: ExpectedExit::Stopped,
            stop: Stop::KILL,
        };
        let services = is_apart.then_some(network).into_iter().collect();
        let leases = (0..MEMBERS).map(|_| leases()).collect::<Result<_, _>>()?;
        Ok(Self { services, folder: folder.into(), leases, is_apart })
    }

    /// Returns the names of the servers.
    pub(super) fn names(&self) -> Vec<String> {
        match self.leases.len() {
            1 => vec![SERVER.into()],
            count => (1..=count).map(server_name).collect(),
        }
    }

    fn host(&self, number: usize) -> Ipv4Addr {
        // There are three.
        if self.is_apart { Ipv4Addr::new(10, 0, number as u8, 2) } else { Ipv4Addr::LOCALHOST }
    }

    /// Returns where clients find each of them, once they have [entered](Self::enter) its network.
    pub(super) fn addresses(&self) -> Vec<SocketAddr> {
        let address = |(number, [port, ..]): (usize, &[Lease; 3])| (self.host(number), port.port()).into();
        (1..).zip(&self.leases).map(address).collect()
    }

    pub(super) fn processes(&self, role: &str) -> Vec<Process> {
        let process = |name, placeholders| Process { name, placeholders, port: None, start: Duration::ZERO };
        if role == NETWORK {
            return vec![process(NETWORK.into(), Placeholders::new())];
        }
        let mut members = String::new();
        for (number, [_, quorum, election]) in (1..).zip(&self.leases) {
            let (host, quorum, election) = (self.host(number), quorum.port(), election.port());
            writeln!(members, "server.{number}={host}:{quorum}:{election}").expect("a text takes everything");
        }
        let server = |(name, (number, [port, ..])): (String, (usize, &[Lease; 3]))| {
            let enter = if self.is_apart { &self.enter_command(number)[..] } else { &[] };
            let placeholders = Placeholders::from([
                ("number", number.to_string().into()),
                ("host", self.host(number).to_string().into()),
                ("port", port.port().to_string().into()),
                ("members", members.clone().into()),
                ("enter", enter.join(" ").into()),
            ]);
            process(name, placeholders)
        };
        self.names().into_iter().zip((1..).zip(&self.leases)).map(server).collect()
    }

    /// Starts a process of a side where there is no test case to run. The files of ours have no braces but placeholders.
    pub(super) fn start(&self, side: &Side, process: &Process) -> Result<Fixture, HarnessError> {
        let mut placeholders = process.placeholders.clone();
        placeholders.insert("work", self.folder.clone().into());
        let fill = |text: &String| {
            placeholders.iter().fold(text.clone(), |text, (name, value)| {
                text.replace(&format!("{{{name}}}"), &value.to_string_lossy())
            })
        };
        for file in &side.files {
            let path = self.folder.join(fill(&file.name));
            std::fs::write(&path, fill(&file.text)).map_err(HarnessError::file("write", &path))?;
        }
        let command = side.command.iter().map(fill).collect();
        let (ready, stop) = (side.ready.clone(), side.stop);
        let command = FixtureCommand { command, files: Vec::new(), ready, timeout_s: None, stop };
        Fixture::start_alone(&process.name, &command, &self.folder)
    }

    /// Returns the file of a server's namespace, or of that in between (0), as long as a process is in there.
    fn namespace(&self, number: usize) -> String {
        let process = std::fs::read_to_string(self.folder.join(format!("net-{number}"))).unwrap_or_default();
        format!("/proc/{}/ns/net", process.trim())
    }

    /// Returns what comes before a command that is to run in a namespace.
    fn enter_command(&self, number: usize) -> [String; 2] {
        ["nsenter".into(), format!("--net={}", self.namespace(number))]
    }

    /// Moves this thread to where the servers can be reached.
    pub(super) fn enter(&self) -> io::Result<()> {
        if self.is_apart { self.enter_namespace(0) } else { Ok(()) }
    }

    #[cfg(target_os = "linux")]
    fn enter_namespace(&self, number: usize) -> io::Result<()> {
        use std::os::fd::AsFd as _;

        use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

        let namespace = std::fs::File::open(self.namespace(number))?;
        Ok(move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network))?)
    }

    /// Elsewhere than on Linux there are none.
    #[cfg(not(target_os = "linux"))]
    fn enter_namespace(&self, _: usize) -> io::Result<()> {
        Err(io::ErrorKind::Unsupported.into())
    }

    /// Cuts servers off, or connects them again; returns why that is not possible.
    pub(super) fn inject(&self, injection: &Injection, partitions: &[Separation]) -> Option<String> {
        let (partition, verb) = match injection {
            Injection::Separate { partition } => (*partition, "add"),
            Injection::Heal { partition } if self.is_apart => (*partition, "del"),
            _ => return None,
        };
        if !self.is_apart {
            return why_no_network().map(str::to_owned);
        }
        let group = &partitions[partition].components;
        let (mut rules, mut place) = (String::new(), 100 * partition);
        for one in group {
            for other in (1..=MEMBERS).filter(|other| !group.contains(other)) {
                for (from, to) in [(*one, other), (other, *one)] {
                    place += 1;
                    let (from, to) = (self.host(from), self.host(to));
                    writeln!(rules, "rule {verb} priority {place} from {from} to {to} blackhole")
                        .expect("a text takes everything");
                }
            }
        }
        let path = self.folder.join("rules");
        let ip = || {
            let [program, network] = self.enter_command(0);
            Command::new(program).arg(network).args(["ip", "-batch"]).arg(&path).output()
        };
        match std::fs::write(&path, rules).and_then(|()| ip()) {
            Ok(output) if output.status.success() => None,
            Ok(output) => Some(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
            Err(error) => Some(error.to_string()),
        }
    }
}

/// Returns the name of a server of an ensemble.
pub(super) fn server_name(number: usize) -> String {
    format!("{SERVER}-{number}")
}

/// Returns why there can be no network namespaces with rules on this machine, if so.
fn why_no_network() -> Option<&'static str> {
    static WHY: OnceLock<Option<String>> = OnceLock::new();
    let tried = || match Command::new("unshare").args(["--net", "sh", "-c", TRY_NETWORK]).output() {
        Ok(output) if output.status.success() => None,
        Ok(output) => Some(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        Err(error) => Some(format!("unshare: {error}")),
    };
    WHY.get_or_init(tried).as_deref()
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    #[expect(clippy::print_stderr, reason = "what is skipped is said")]
    fn servers_that_are_cut_off_do_not_reach_each_other_until_the_partition_heals() {
        if let Some(why) = why_no_network() {
            eprintln!("skipped: no network namespaces here: {why}");
            return;
        }
        let folder = tempfile::tempdir().expect("a temporary folder");
        let own = OwnServers::ensemble(folder.path(), true).expect("ports are free");
        let [network] = &own.services[..] else { panic!("there is a network") };
        let [process] = &own.processes(NETWORK)[..] else { panic!("it is one process") };
        let _network = own.start(network, process).expect("it was tried");
        let listen = |number: usize| {
            own.enter_namespace(number).expect("it is there");
            TcpListener::bind((own.host(number), 2_181)).expect("nobody else is there")
        };
        let connect = |from: usize, to: usize| {
            own.enter_namespace(from).expect("it is there");
            TcpStream::connect_timeout(&(own.host(to), 2_181).into(), Duration::from_millis(300)).is_ok()
        };
        let listeners = [1, 2, 3].map(|number| std::thread::scope(|scope| scope.spawn(|| listen(number)).join()));
        let reaches = |from, to| std::thread::scope(|scope| scope.spawn(|| connect(from, to)).join().expect("it ends"));
        let all = || [(1, 2), (2, 1), (1, 3), (2, 3), (0, 1), (0, 2)].map(|(from, to)| reaches(from, to));
        let cut = [Separation { components: [1, 3].into(), at_ms: 1, for_ms: 1 }];
        assert_eq!(all(), [true; 6]);
        assert_eq!(own.inject(&Injection::Separate { partition: 0 }, &cut), None);
        assert_eq!(all(), [false, false, true, false, true, true]);
        assert_eq!(own.inject(&Injection::Heal { partition: 0 }, &cut), None);
        assert_eq!(all(), [true; 6]);
        drop(listeners);
    }
}
