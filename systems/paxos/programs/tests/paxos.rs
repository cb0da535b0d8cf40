//! Replicas that are killed and started again, clients of them, and a replica that a test talks to.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use simutant_paxos_programs::faults;
use simutant_programs::Checked;
use tempfile::TempDir;

/// Enough for what ends by itself, on a busy machine too.
const LONG: Duration = Duration::from_secs(20);

/// For what does not.
const SHORT: Duration = Duration::from_millis(300);

/// A program, which is killed when this is dropped.
struct Program(Child);

impl Drop for Program {
    fn drop(&mut self) {
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

/// Returns what `look` does, once it returns something.
#[track_caller]
fn await_some<T>(mut look: impl FnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        match look() {
            Some(found) => return found,
            None if begin.elapsed() > LONG => panic!("it hangs"),
            None => thread::sleep(Duration::from_millis(5)),
        }
    }
}

/// Replicas in a folder.
struct Replicas {
    folder: TempDir,
    addresses: Vec<String>,
    programs: Vec<Option<Program>>,
    decrees: usize,
    fault: Option<&'static str>,
}

impl Replicas {
    /// Starts three replicas.
    fn start(fault: Option<&'static str>) -> Self {
        let mut replicas = Self::new(3, fault);
        (0..3).for_each(|replica| replicas.restart(replica));
        replicas
    }

    /// Returns so many replicas, none of which runs.
    fn new(count: usize, fault: Option<&'static str>) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        // All of them need all addresses before any of them listens. The system gives such ports to who asks for any, and
        // others to who connects, so that they are still free when the replicas start.
        let listeners: Vec<_> = (0..count).map(|_| TcpListener::bind("127.0.0.1:0").expect("a free port")).collect();
        let address = |listener: &TcpListener| listener.local_addr().expect("it is bound").to_string();
        let addresses = listeners.iter().map(address).collect();
        Self { folder, addresses, programs: (0..count).map(|_| None).collect(), decrees: 1, fault }
    }

    fn log(&self, replica: usize) -> PathBuf {
        self.folder.path().join(format!("replica-{replica}"))
    }

    fn restart(&mut self, replica: usize) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_paxos-replica"));
        command.args(["--listen", &self.addresses[replica], "--number", &replica.to_string()]);
        command.args(["--replicas", &self.addresses.join(",")]).arg("--log").arg(self.log(replica));
        command.args(["--decrees", &self.decrees.to_string()]);
        command.args(self.fault.iter().flat_map(|fault| ["--fault", fault]));
        let mut program = Program(command.stdout(Stdio::piped()).spawn().expect("the replica starts"));
        let mut lines = BufReader::new(program.0.stdout.take().expect("it is piped")).lines();
        let mut line = || lines.next().expect("a line").expect("text");
        assert_eq!(line(), self.addresses[replica]);
        assert_eq!(line(), "ready");
        self.programs[replica] = Some(program);
    }

    fn kill(&mut self, replica: usize) {
        self.programs[replica].take().expect("it runs");
    }

    fn client(&self, value: u64, timeout: Duration) -> Client {
        let log = tempfile::tempdir_in(self.folder.path()).expect("a temporary folder");
        let mut command = Command::new(env!("CARGO_BIN_EXE_paxos-client"));
        command.args(["--replicas", &self.addresses.join(","), "--number", "1", "--value", &value.to_string()]);
        command.args(["--timeout-ms", &timeout.as_millis().to_string(), "--log"]).arg(log.path().join("log"));
        Client { program: Program(command.stdout(Stdio::null()).spawn().expect("the client starts")), value, log }
    }

    /// Returns what a replica has learned, in all its lives, once that is so many times.
    #[track_caller]
    fn learned(&self, replica: usize, times: usize) -> Vec<String> {
        let path = self.folder.path().join(format!("replica-{replica}.learned"));
        let lines = await_some(|| {
            let text = std::fs::read_to_string(&path).expect("it was made");
            let whole = &text[..text.rfind('\n').map_or(0, |end| end + 1)];
            let lines: Vec<_> = whole.lines().map(|line| line.split_once(' ').expect("a time").1.to_owned()).collect();
            (lines.len() >= times).then_some(lines)
        });
        assert_eq!(lines.len(), times, "{lines:?}");
        lines
    }

    /// Connects to a replica as others do.
    fn talk(&self, replica: usize) -> Talk {
        let stream = TcpStream::connect(&self.addresses[replica]).expect("the replica listens");
        stream.set_read_timeout(Some(LONG)).expect("it is a connection");
        Talk(BufReader::new(stream))
    }
}

/// A client, with the folder of its log.
struct Client {
    program: Program,
    value: u64,
    log: TempDir,
}

impl Client {
    /// Returns how the call ended, once it has.
    #[track_caller]
    fn end(mut self) -> String {
        let status = await_some(|| self.program.0.try_wait().expect("it is ours"));
        assert!(status.success(), "{status}");
        let text = std::fs::read_to_string(self.log.path().join("log")).expect("it was made");
        let lines: Vec<_> = text.lines().map(|line| line.split_once(' ').expect("a time")).collect();
        let times: Vec<u64> = lines.iter().map(|(time, _)| time.parse().expect("nanoseconds")).collect();
        assert!(times.is_sorted(), "{text}");
        assert_eq!(lines[0].1, format!("invoke 1 propose {}", self.value));
        assert_eq!(lines.len(), 2, "{text}");
        lines[1].1.to_owned()
    }
}

/// A connection to a replica.
struct Talk(BufReader<TcpStream>);

impl Talk {
    fn say(&mut self, line: &str) {
        writeln!(self.0.get_mut(), "{}", Checked::new(line)).expect("the replica reads");
    }

    /// Returns the next line, which is empty if the replica has closed the connection.
    fn hear(&mut self) -> String {
        let mut line = String::new();
        _ = self.0.read_line(&mut line);
        line.trim_end().parse().ok().and_then(Checked::intact).unwrap_or_default()
    }

    /// Checks the answers to lines, one after the other.
    #[track_caller]
    fn check(&mut self, lines_and_answers: &[(&str, &str)]) {
        for (line, answer) in lines_and_answers {
            self.say(line);
            assert_eq!(self.hear(), *answer, "{line}");
        }
    }

    /// Checks that a replica does not answer to what was said before.
    #[track_caller]
    fn check_silence(&mut self) {
        self.0.get_mut().set_read_timeout(Some(SHORT)).expect("it is a connection");
        assert_eq!(self.hear(), "");
        self.0.get_mut().set_read_timeout(Some(LONG)).expect("it is a connection");
    }
}

/// Plays a replica that answers nobody, and returns the lines that it is sent.
fn play(address: &str) -> Receiver<String> {
    let listener = TcpListener::bind(address).expect("it is free");
    let (sender, lines) = channel();
    thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            let sender = sender.clone();
            thread::spawn(move || {
                let lines = BufReader::new(stream).lines().map_while(Result::ok);
                let mut lines = lines.map_while(|line| line.parse().ok().and_then(Checked::intact));
                lines.try_for_each(|line| sender.send(line))
            });
        }
    });
    lines
}

#[test]
fn two_clients_are_told_the_same_and_no_crash_changes_it() {
    let mut replicas = Replicas::start(None);
    let clients = [7, 8].map(|value| replicas.client(value, LONG));
    let [first, second] = clients.map(Client::end);
    assert_eq!(first, second);
    assert!(["return 1 7", "return 1 8"].contains(&first.as_str()), "{first}");
    let learn = first.replace("return", "learn");
    (0..3).for_each(|replica| assert_eq!(replicas.learned(replica, 1), [&*learn]));
    replicas.kill(0);
    assert_eq!(replicas.client(9, LONG).end(), first);
    (1..3).for_each(|replica| replicas.kill(replica));
    (0..3).for_each(|replica| replicas.restart(replica));
    assert_eq!(replicas.client(9, LONG).end(), first);
    (0..3).for_each(|replica| assert_eq!(replicas.learned(replica, 2), [&*learn; 2]));
}

#[test]
fn another_one_leads_while_the_leader_is_away_which_learns_when_it_is_back() {
    let mut replicas = Replicas::start(None);
    replicas.kill(0);
    let client = replicas.client(7, LONG);
    assert_eq!(client.end(), "return 1 7");
    replicas.restart(0);
    assert_eq!(replicas.learned(0, 1), ["learn 1 7"]);
    replicas.kill(1);
    assert_eq!(replicas.client(8, LONG).end(), "return 1 7");
}

#[test]
fn decrees_follow_each_other_while_a_leader_crashes_and_all_learn_them() {
    let mut replicas = Replicas { decrees: 5, ..Replicas::new(3, None) };
    (0..3).for_each(|replica| replicas.restart(replica));
    assert_eq!(replicas.client(5, LONG).end(), "return 1 5");
    (0..3).for_each(|replica| assert_eq!(replicas.learned(replica, 1), ["learn 1 5"]));
    replicas.kill(0);
    for (value, log) in [(6, "5,6"), (7, "5,6,7"), (8, "5,6,7,8"), (9, "5,6,7,8,9"), (4, "5,6,7,8,9"), (6, "5,6")] {
        assert_eq!(replicas.client(value, LONG).end(), format!("return 1 {log}"));
    }
    let log = std::fs::read_to_string(replicas.log(1)).expect("it was made");
    assert!(log.matches("round ").count() < 4, "a round is for more than one decree: {log}");
    replicas.restart(0);
    let again = ["learn 1 5", "learn 1 5", "learn 2 6", "learn 3 7", "learn 4 8", "learn 5 9"];
    assert_eq!(replicas.learned(0, 6), again);
}

#[test]
fn a_leader_goes_on_with_the_decrees_of_the_last_one_but_with_a_fault() {
    for (fault, expect) in [(None, "return 1 7,8,9"), (Some("promises-first-decree"), "return 1 7,9")] {
        let mut replicas = Replicas { decrees: 3, ..Replicas::new(3, fault) };
        for replica in [1, 2] {
            replicas.restart(replica);
            replicas.talk(replica).check(&[("accept 1 1 3 7", "learn 1 1 3 7")]);
        }
        replicas.talk(2).check(&[("accept 1 2 3 8", "learn 1 2 3 8")]);
        assert_eq!(replicas.client(7, LONG).end(), "return 1 7");
        if fault.is_none() {
            assert_eq!(replicas.learned(1, 2), ["learn 1 7", "learn 2 8"], "whoever proposed it is not there any more");
        }
        assert_eq!(replicas.client(9, LONG).end(), expect);
    }
}

#[test]
fn a_minority_decides_nothing_until_it_is_a_majority() {
    let mut replicas = Replicas::start(None);
    (0..2).for_each(|replica| replicas.kill(replica));
    assert_eq!(replicas.client(7, SHORT).end(), "fail 1");
    let client = replicas.client(8, LONG);
    thread::sleep(SHORT);
    replicas.restart(1);
    let end = client.end();
    assert!(["return 1 7", "return 1 8"].contains(&end.as_str()), "{end}");
}

#[test]
fn one_replica_decides_alone() {
    let mut replicas = Replicas::new(1, None);
    replicas.restart(0);
    assert_eq!(replicas.client(7, LONG).end(), "return 1 7");
    replicas.kill(0);
    replicas.restart(0);
    assert_eq!(replicas.client(8, LONG).end(), "return 1 7");
}

#[test]
fn a_promise_survives_a_crash_but_with_a_fault() {
    let both =
        [("prepare 1 4", "promise 1 4"), ("accept 2 1 4 7", "learn 2 1 4 7"), ("prepare 3 5", "promise 3 5 1 4 7")];
    for (fault, answer) in [(None, "refused 4 4 5"), (Some("forgets-promises"), "promise 4 4")] {
        let mut replicas = Replicas::new(3, fault);
        replicas.restart(2);
        replicas.talk(2).check(&both);
        replicas.kill(2);
        replicas.restart(2);
        replicas.talk(2).check(&[("prepare 4 4", answer)]);
    }
}

#[test]
fn a_replica_sends_away_who_says_what_nobody_says() {
    let mut replicas = Replicas::new(3, None);
    replicas.restart(2);
    let mut talk = replicas.talk(2);
    talk.check(&[("ping 1 1", "alive 1 none")]);
    talk.say("propose 2 7");
    talk.say("erase 3");
    assert_eq!(talk.hear(), "");
}

#[test]
fn all_clients_that_wait_are_answered_but_with_a_fault() {
    for fault in [None, Some("one-request")] {
        let mut replicas = Replicas::new(3, fault);
        replicas.restart(2);
        let mut clients = [replicas.talk(2), replicas.talk(2)];
        clients[0].say("propose 1 7");
        // It is answered after the line before it.
        clients[0].check(&[("ping 2 1", "alive 2 none")]);
        clients[1].say("propose 1 8");
        clients[1].check(&[
            ("ping 2 1", "alive 2 none"),
            ("commit 3 1 7", if fault.is_none() { "decided 1 7" } else { "committed 3" }),
        ]);
        assert_eq!(clients[0].hear(), "decided 1 7");
    }
}

#[test]
fn clients_of_the_last_leader_are_answered_but_with_a_fault() {
    for fault in [None, Some("answers-nobody")] {
        // Two of four are no majority.
        let mut replicas = Replicas::new(4, fault);
        replicas.restart(0);
        replicas.restart(3);
        let mut client = replicas.talk(3);
        client.say("propose 1 7");
        client.check(&[("ping 2 1", "alive 2 none")]);
        replicas.kill(0);
        let log = replicas.log(3);
        await_some(|| std::fs::read_to_string(&log).expect("it was made").contains("round 3\n").then_some(()));
        replicas.talk(3).check(&[("commit 1 1 8", "committed 1")]);
        match fault {
            None => assert_eq!(client.hear(), "decided 1 8"),
            Some(_) => client.check_silence(),
        }
    }
}

#[test]
fn others_than_the_leader_ask_who_is_there_but_with_a_fault() {
    for (fault, timeout, expect) in [(None, LONG, Some("ping 1 1")), (Some("detects-as-leader-only"), SHORT, None)] {
        let mut replicas = Replicas::new(2, fault);
        let lines = play(&replicas.addresses[0]);
        replicas.restart(1);
        assert_eq!(lines.recv_timeout(timeout).ok().as_deref(), expect);
    }
}

#[test]
fn a_leader_begins_a_round_after_a_crash_but_with_a_fault() {
    for (fault, expect) in [(None, "prepare 1 "), (Some("leads-after-failing"), "accept 1 ")] {
        let mut replicas = Replicas::new(2, fault);
        let lines = play(&replicas.addresses[1]);
        // Of each life, the first line to acceptors. It may take more than one round until it is killed.
        let is_first = |line: &String| !line.starts_with("ping ") && line.split(' ').nth(1) == Some("1");
        let next = |lines: &Receiver<String>| await_some(|| lines.recv_timeout(LONG).ok().filter(is_first));
        replicas.restart(0);
        replicas.talk(0).say("propose 1 7");
        assert_eq!(next(&lines), "prepare 1 2");
        replicas.kill(0);
        replicas.restart(0);
        replicas.talk(0).say("propose 1 8");
        let line = next(&lines);
        assert!(line.starts_with(expect) && line != "prepare 1 2", "{line}");
    }
}

#[test]
fn a_number_of_no_replica_is_explained() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_paxos-replica"));
    command.args(["--listen", "127.0.0.1:0", "--number", "1", "--replicas", "127.0.0.1:1", "--log"]);
    let output = command.arg(folder.path().join("log")).output().expect("the replica starts");
    assert_eq!(String::from_utf8_lossy(&output.stderr), "paxos-replica: 1 replicas have no number 1\n");
    assert!(!output.status.success());
}

#[test]
fn every_fault_has_its_implementation_file() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../implementations");
    let read = |name: &str| std::fs::read_to_string(folder.join(format!("{name}.toml"))).expect("there is such a file");
    let right = read("paxos");
    assert_eq!(folder.read_dir().expect("it is there").count(), 1 + faults::ALL.len());
    for (fault, _) in faults::ALL {
        let faulty = read(&format!("paxos-{fault}"));
        let sides = |text: &str| text.split_once("[[side]]").expect("it has sides").1.to_owned();
        // Clients decide nothing.
        assert_eq!(sides(&faulty).replacen(&format!(", \"--fault\", \"{fault}\""), "", 1), sides(&right), "{fault}");
    }
}
