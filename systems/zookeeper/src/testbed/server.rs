//! Servers of Debian's package `zookeeper`, as [fixtures](simutant_harness::Fixture): one alone, and three together.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::Path;

use simutant_harness::{Fixture, FixtureCommand, HarnessError, Ready, SideFile, Stop};

/// What the package has: the server, and a logger that prints. The package itself comes with one that says nothing.
const JARS: [&str; 2] = ["/usr/share/java/zookeeper.jar", "/usr/share/java/slf4j-simple.jar"];

/// What the server prints when it takes connections, and hardly anything else: it would print a line for each error that
/// a client is answered.
const READY: (&str, &str) = ("org.apache.zookeeper.server.ContainerManager", "Using checkIntervalMs");

/// What a member of an ensemble prints when it begins to look for a leader.
const LOOKING: (&str, &str) = ("org.apache.zookeeper.server.quorum.FastLeaderElection", "New election");

/// Settings that all servers have: sessions that may expire after 200 ms without a sign of life, and need not before a
/// minute; a folder of their own, no port but those that are named, and as many connections of one client as it likes.
const SETTINGS: &str = "\
tickTime=100
minSessionTimeout=200
maxSessionTimeout=60000
clientPortAddress=127.0.0.1
admin.enableServer=false
maxClientCnxns=0
autopurge.purgeInterval=0
";

/// How many servers an ensemble has.
const MEMBERS: usize = 3;

/// The ports for clients, of one server and of the members of an ensemble.
const CLIENT_PORTS: [&str; MEMBERS] = ["port", "port2", "port3"];

/// The ports by which members of an ensemble know each other.
const MEMBER_PORTS: [(&str, &str); MEMBERS] = [("port4", "port5"), ("port6", "port7"), ("port8", "port9")];

/// A server, or an ensemble of them, that runs until it is dropped.
#[derive(Debug)]
pub struct Servers {
    addresses: Vec<SocketAddr>,
    _fixture: Fixture,
}

impl Servers {
    /// Returns whether the package is installed.
    pub fn are_installed() -> bool {
        JARS.iter().all(|jar| Path::new(jar).is_file())
    }

    /// Starts one server. Its folder is made in `folder`.
    ///
    /// # Errors
    /// [`HarnessError`] if it does not start.
    pub fn one(folder: &Path) -> Result<Self, HarnessError> {
        Self::start("zookeeper", &one_server(), folder, 1)
    }

    /// Starts three servers, which take a moment to agree on a leader: clients that come before are tried again. Their
    /// folder is made in `folder`.
    ///
    /// # Errors
    /// [`HarnessError`] if one does not start.
    pub fn ensemble(folder: &Path) -> Result<Self, HarnessError> {
        Self::start("zookeeper-ensemble", &ensemble(), folder, MEMBERS)
    }

    fn start(name: &str, command: &FixtureCommand, folder: &Path, count: usize) -> Result<Self, HarnessError> {
        let fixture = Fixture::start_alone(name, command, folder)?;
        let ports = CLIENT_PORTS.iter().take(count).filter_map(|port| fixture.port(port));
        let addresses = ports.map(|port| SocketAddr::from((Ipv4Addr::LOCALHOST, port))).collect();
        Ok(Self { addresses, _fixture: fixture })
    }

    /// Returns where clients find each of them.
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }
}

/// Returns the command that runs a program of the package. Most of a start is what the virtual machine does: it starts
/// in a third of the time if it compiles little and has one collector of garbage.
fn java(logger: &str, program: &str, configuration: &str) -> Vec<String> {
    let log = "-Dorg.slf4j.simpleLogger";
    [
        "java",
        "-Xmx128m",
        "-XX:+UseSerialGC",
        "-XX:TieredStopAtLevel=1",
        "-Dzookeeper.forceSync=no",
        &format!("{log}.logFile=System.out"),
        &format!("{log}.defaultLogLevel=error"),
        &format!("{log}.log.{logger}=info"),
        "-cp",
        &JARS.join(":"),
        program,
        configuration,
    ]
    .map(String::from)
    .to_vec()
}

/// Returns how one server is started.
pub fn one_server() -> FixtureCommand {
    let text = format!("{SETTINGS}dataDir={{work}}/data\nclientPort={{port}}\n");
    FixtureCommand {
        command: java(READY.0, "org.apache.zookeeper.server.ZooKeeperServerMain", "{work}/zoo.cfg"),
        files: vec![SideFile { name: "zoo.cfg".into(), text }],
        ready: Ready::Line(READY.1.into()),
        timeout_s: None,
        stop: Stop::KILL,
    }
}

/// Returns how an ensemble is started: a shell starts its members, and all of them end with it.
fn ensemble() -> FixtureCommand {
    let member =
        |(number, (one, other)): (usize, &(&str, &str))| format!("server.{number}=127.0.0.1:{{{one}}}:{{{other}}}\n");
    let members: String = (1..).zip(&MEMBER_PORTS).map(member).collect();
    let file = |(number, port): (usize, &str)| {
        let text = format!(
            "{SETTINGS}dataDir={{work}}/{number}\nclientPort={{{port}}}\ninitLimit=200\nsyncLimit=100\n{members}"
        );
        SideFile { name: format!("zoo-{number}.cfg"), text }
    };
    let files = (1..).zip(CLIENT_PORTS).map(file).collect();
    let program = "org.apache.zookeeper.server.quorum.QuorumPeerMain";
    let command = java(LOOKING.0, program, "\"$1/zoo-$number.cfg\"").join(" ");
    let script = format!(
        "for number in 1 2 3; do mkdir \"$1/$number\" && echo $number > \"$1/$number/myid\" && {command} & done; wait"
    );
    FixtureCommand {
        command: ["sh", "-c", &script, "sh", "{work}"].map(String::from).to_vec(),
        files,
        ready: Ready::Line(LOOKING.1.into()),
        timeout_s: None,
        stop: Stop::KILL,
    }
}
