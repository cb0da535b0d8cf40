//! A study on a Slurm cluster of two nodes on loopback: one node is lost, the command is interrupted, and the files are
//! those of one machine.
#![expect(clippy::print_stderr, reason = "what is skipped is said")]

use std::io::Read;
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use rustix::process::Signal;
use tempfile::TempDir;

use crate::processes::send;
use crate::resume::{LONG_STUDY, UNDISTURBED};
use crate::support::{assert_exit, folder, results, stderr, stdout, text, wait_until, write};

/// The names of the nodes; both are this machine.
const NODES: [&str; 2] = ["n1", "n2"];
/// Longer than a lost node is unnoticed, and its tasks wait.
const PATIENCE: Duration = Duration::from_secs(240);

/// A cluster. Its daemons end with the test, also if that is killed: the kernel kills them when the thread that started
/// them ends.
struct Cluster {
    folder: TempDir,
    daemons: Vec<(&'static str, Child)>,
    ports: Vec<u16>,
}

impl Cluster {
    fn start() -> Self {
        // Sockets and keys: not below a long path, which a socket could not have.
        let folder = tempfile::Builder::new().prefix("slurm").tempdir_in("/tmp").expect("a temporary folder");
        let listeners: Vec<TcpListener> =
            (0..=NODES.len()).map(|_| TcpListener::bind("127.0.0.1:0").expect("a free port")).collect();
        let ports: Vec<u16> = listeners.iter().map(|port| port.local_addr().expect("it is bound").port()).collect();
        drop(listeners);
        let mut cluster = Self { folder, daemons: Vec::new(), ports };
        for name in ["munge", "state", "spool", "log"] {
            std::fs::create_dir(cluster.path(name)).expect("a temporary folder can be written");
        }
        let mut key = vec![0; 1024];
        let mut random = std::fs::File::open("/dev/urandom").expect("Linux");
        random.read_exact(&mut key).expect("it has no end");
        write(&cluster.path("munge/key"), key);
        let private = <std::fs::Permissions as std::os::unix::fs::PermissionsExt>::from_mode(0o600);
        std::fs::set_permissions(cluster.path("munge/key"), private).expect("it is ours");
        write(&cluster.path("slurm.conf"), cluster.configuration());
        let munge = |name: &str| text(&cluster.path("munge").join(name));
        let arguments = [
            "--foreground".to_owned(),
            "--force".to_owned(),
            format!("--socket={}", munge("socket")),
            format!("--key-file={}", munge("key")),
            format!("--pid-file={}", munge("pid")),
            format!("--log-file={}", munge("log")),
            format!("--seed-file={}", munge("seed")),
        ];
        cluster.daemon("munged", &arguments);
        wait_until("munged", || cluster.path("munge/socket").exists());
        let configuration = text(&cluster.path("slurm.conf"));
        cluster.daemon("slurmctld", &["-D".to_owned(), "-c".to_owned(), "-f".to_owned(), configuration.clone()]);
        for node in NODES {
            cluster.daemon(node, &["-D", "-N", node, "-f", &configuration].map(str::to_owned));
        }
        wait_until("idle nodes", || {
            stdout(&cluster.command("sinfo").args(["-h", "-t", "idle", "-o", "%D"]).output().expect("it is installed"))
                .trim()
                == "2"
        });
        cluster
    }

    fn daemon(&mut self, name: &'static str, arguments: &[String]) {
        let mut command = self.command("setpriv");
        command.args(["--pdeathsig", "KILL"]);
        if NODES.contains(&name) {
            command.args(isolation()).arg("slurmd");
        } else {
            command.arg(name);
        }
        command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
        self.daemons.push((name, command.spawn().expect("it is installed")));
    }

    /// Returns the name of the cluster, which no other one has.
    fn name(&self) -> String {
        format!("loopback{}", self.ports[0])
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Returns a command that knows the cluster.
    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("SLURM_CONF", self.path("slurm.conf"));
        // Where Debian has the daemons.
        command.env("PATH", format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default()));
        command
    }

    fn ask(&self, program: &str, arguments: &[&str]) -> String {
        stdout(&self.command(program).args(arguments).output().expect("it is installed"))
    }

    /// Returns the command that studies on the cluster.
    fn study(&self, out: &Path, options: &[&str]) -> Command {
        let mut command = self.command(env!("CARGO_BIN_EXE_simutant"));
        command.args(LONG_STUDY.strip_suffix(&["--fresh"]).expect("it is the last argument"));
        command.args(["--cluster", "slurm", "--shards", "6"]).args(options).arg("--out").arg(out);
        command
    }

    /// Returns the processes that tasks run on a node.
    fn running(&self, node: &str) -> Vec<i32> {
        let wanted = [format!("SLURMD_NODENAME={node}"), format!("SLURM_CLUSTER_NAME={}", self.name())];
        let is_of_task = |process: &i32| {
            let environment = environment(*process);
            wanted.iter().all(|word| environment.contains(word))
        };
        processes().into_iter().filter(is_of_task).collect()
    }

    /// Ends all processes of a node at once, as a power cut would.
    fn lose(&mut self, node: &str) {
        let daemon = self.daemons.iter_mut().find(|(name, _)| *name == node).expect("it is a node");
        daemon.1.kill().expect("it is ours");
    }

    fn tasks(&self) -> String {
        self.ask("squeue", &["--noheader", "--array", "--format=%K %t %N"])
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        // The controller last, so that nothing is started again.
        for (_, daemon) in self.daemons.iter_mut().rev() {
            _ = daemon.kill();
            _ = daemon.wait();
        }
    }
}

impl Cluster {
    fn configuration(&self) -> String {
        let host = rustix::system::uname();
        let host = host.nodename().to_string_lossy().split('.').next().unwrap_or_default().to_owned();
        let user = stdout(&Command::new("id").arg("-un").output().expect("it is there")).trim().to_owned();
        let (name, root) = (self.name(), text(self.folder.path()));
        let [controller, nodes @ ..] = &self.ports[..] else { unreachable!("a port each") };
        let mut lines = format!(
            "\
ClusterName={name}
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller}
SlurmUser={user}
SlurmdUser={user}
AuthType=auth/munge
AuthInfo=socket={root}/munge/socket,cred_expire=10
CredType=cred/munge
StateSaveLocation={root}/state
SlurmdSpoolDir={root}/spool/%n
SlurmctldPidFile={root}/slurmctld.pid
SlurmdPidFile={root}/slurmd-%n.pid
SlurmctldLogFile={root}/log/slurmctld
SlurmdLogFile={root}/log/slurmd-%n
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MpiDefault=none
SwitchType=switch/none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_min_interval=0,bf_interval=1
ReturnToService=2
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
SlurmdTimeout=5
SlurmctldTimeout=10
MessageTimeout=10
InactiveLimit=0
KillWait=5
JobRequeue=1
PropagateResourceLimits=NONE
"
        );
        for (node, port) in NODES.iter().zip(nodes) {
            lines.push_str(&format!(
                "NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={port} CPUs=1 RealMemory=4000\n"
            ));
        }
        lines + "PartitionName=all Nodes=ALL Default=YES MaxTime=INFINITE State=UP\n"
    }
}

fn processes() -> Vec<i32> {
    let entries = std::fs::read_dir("/proc").expect("Linux").flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect()
}

fn environment(process: i32) -> Vec<String> {
    let bytes = std::fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
    bytes.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned()).collect()
}

fn ended(mut child: Child) -> Output {
    let begun = Instant::now();
    while child.try_wait().expect("it was started here").is_none() {
        assert!(begun.elapsed() < PATIENCE, "the study does not end");
        std::thread::sleep(Duration::from_millis(20));
    }
    child.wait_with_output().expect("it has ended")
}

/// Returns the command before another one that lets what a node runs, and what watches over it, end with its daemon, as by a
/// power cut.
fn isolation() -> Vec<&'static str> {
    let apart = ["--pid", "--fork", "--kill-child", "--mount-proc"];
    let as_user: &[&str] = if rustix::process::geteuid().is_root() { &[] } else { &["--user", "--map-current-user"] };
    [&["unshare"], as_user, &apart].concat()
}

/// Returns whether all programs of a cluster are installed.
fn is_installed() -> bool {
    let path = format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default());
    let is_there = |program: &str| path.split(':').any(|folder| Path::new(folder).join(program).exists());
    ["munged", "slurmctld", "slurmd", "sbatch", "setpriv"].into_iter().all(is_there)
}

#[test]
fn a_study_on_a_cluster_writes_the_files_of_one_machine_whatever_happens_to_it() {
    if !is_installed() {
        eprintln!("skipped: Slurm is not installed (`cargo xtask test` installs it on Debian)");
        return;
    }
    if !Command::new(isolation()[0]).args(&isolation()[1..]).arg("true").status().is_ok_and(|status| status.success()) {
        eprintln!("skipped: this user may not have processes apart, which end together");
        return;
    }
    let expected = &*UNDISTURBED;
    let mut cluster = Cluster::start();
    let folder = folder();
    let out = folder.path().join("interrupted");

    // Nobody waits; then somebody does, and is interrupted; then it goes on.
    let detached = cluster.study(&out, &["--detach"]).output().expect("the command was built");
    assert_exit(&detached, 0);
    assert!(stderr(&detached).contains("goes on; the same command without --detach attaches to it"));
    assert!(!cluster.tasks().is_empty(), "{}", stderr(&detached));
    let job = || std::fs::read_to_string(out.join("cluster/job.json")).expect("it was submitted");
    let submitted = job();
    let piped = |command: &mut Command| command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("built");
    let told = folder.path().join("told.txt");
    let log = std::fs::File::create(&told).expect("a temporary folder can be written");
    let attached = cluster.study(&out, &[]).stdout(Stdio::null()).stderr(log).spawn().expect("the command was built");
    let has_told = |what: &str| std::fs::read_to_string(&told).is_ok_and(|text| text.contains(what));
    wait_until("an attached command", || has_told("attached to job") || cluster.tasks().is_empty());
    let is_attached = !cluster.tasks().is_empty();
    assert!(!is_attached || has_told("attached to job"), "{}", std::fs::read_to_string(&told).unwrap_or_default());
    assert_eq!(job(), submitted, "the job that was submitted is the one that somebody waits for");
    send(&attached, Signal::INT);
    let attached = ended(attached);
    // On a machine that is slow to build, the job may be done before.
    if is_attached && attached.status.code() != Some(0) {
        assert_eq!(attached.status.code(), Some(130));
        assert!(has_told("cancelling the job"), "{}", std::fs::read_to_string(&told).unwrap_or_default());
        assert_eq!(cluster.tasks(), "", "its tasks are cancelled");
    }
    let finished = ended(piped(&mut cluster.study(&out, &["--verbose"])));
    assert_exit(&finished, 0);
    assert!(stdout(&finished).contains("runs: none in this session"), "{}", stdout(&finished));
    assert_eq!(results(&out), *expected);

    // A node is lost while its task runs.
    let out = folder.path().join("lost");
    let study = piped(&mut cluster.study(&out, &[]));
    // A shell, the command and a worker at least.
    wait_until("a task on a node", || cluster.running("n1").len() > 2);
    cluster.lose("n1");
    let study = ended(study);
    assert_exit(&study, 0);
    let jobs = cluster.ask("scontrol", &["show", "job"]);
    assert!(jobs.contains("Restarts=1"), "a task was started again: {jobs}");
    assert_eq!(results(&out), *expected);
    let files = ["results/0.sqlite", "results/5.sqlite"].map(|name| text(&out.join("cluster").join(name)));
    let mut merge = Command::new(env!("CARGO_BIN_EXE_simutant"));
    let merged = merge.arg("merge").arg(&out).args(&files).arg("--json").output().expect("the command was built");
    assert_exit(&merged, 0);
    let merged: serde_json::Value = serde_json::from_slice(&merged.stdout).expect("JSON");
    assert_eq!((&merged["taken"], &merged["missing"]), (&0.into(), &serde_json::json!([])), "nothing changes");

    let ports = cluster.ports.clone();
    let (conf, name) =
        (format!("SLURM_CONF={}", text(&cluster.path("slurm.conf"))), format!("SLURM_CLUSTER_NAME={}", cluster.name()));
    drop(cluster);
    let is_of_cluster = |process| environment(process).iter().any(|word| *word == conf || *word == name);
    wait_until("the end of all processes", || !processes().into_iter().any(is_of_cluster));
    let listens = |port: &u16| std::net::TcpStream::connect(("127.0.0.1", *port)).is_ok();
    assert!(!ports.iter().any(listens), "nothing listens");
}
