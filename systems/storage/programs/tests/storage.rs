//! Servers that are killed and started again, clients of them, and a client of servers that a test plays.

use std::io::{BufRead, BufReader, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use simutant_programs::Checked;
use simutant_storage_programs::faults;
use tempfile::TempDir;

/// Enough for what ends by itself, on a busy machine too.
const LONG: Duration = Duration::from_secs(20);

/// How long calls take that fail.
const SHORT: Duration = Duration::from_millis(400);

const CORRECT: [&str; 0] = [];

/// A program, which is killed when this is dropped.
struct Program(Child);

impl Program {
    fn kill(&mut self) {
        self.0.kill().expect("it is ours");
        self.0.wait().expect("it is ours");
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        _ = self.0.kill();
        _ = self.0.wait();
    }
}

/// Three servers in a folder.
struct Servers {
    folder: TempDir,
    addresses: [String; 3],
    programs: [Option<Program>; 3],
    fault: Option<&'static str>,
}

impl Servers {
    fn start(fault: Option<&'static str>) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let addresses = [(); 3].map(|()| "127.0.0.1:0".to_owned());
        let mut servers = Self { folder, addresses, programs: [const { None }; 3], fault };
        (0..3).for_each(|server| servers.restart(server));
        servers
    }

    fn log(&self, server: usize) -> PathBuf {
        self.folder.path().join(format!("server-{server}"))
    }

    fn restart(&mut self, server: usize) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_storage-server"));
        command.args(["--listen", &self.addresses[server], "--log"]).arg(self.log(server));
        command.args(self.fault.iter().flat_map(|fault| ["--fault", fault]));
        let mut program = Program(command.stdout(Stdio::piped()).spawn().expect("the server starts"));
        let mut lines = BufReader::new(program.0.stdout.take().expect("it is piped")).lines();
        let mut line = || lines.next().expect("a line").expect("text");
        self.addresses[server] = line();
        assert_eq!(line(), "ready");
        self.programs[server] = Some(program);
    }

    fn kill(&mut self, server: usize) {
        self.programs[server].take().expect("it runs").kill();
    }

    fn client(&self, options: &[&str], script: &str, timeout: Duration) -> Client {
        let fault = self.fault.iter().flat_map(|fault| ["--fault", fault]);
        let options: Vec<&str> = options.iter().copied().chain(fault).collect();
        Client::start(self.folder.path(), &self.addresses.join(","), &options, script, timeout)
    }

    /// Checks how the calls of a client end that has all options of its own.
    #[track_caller]
    fn check(&self, script: &str, timeout: Duration, expect: &[&str]) {
        assert_eq!(self.client(&CORRECT, script, timeout).ends(), expect);
    }
}

/// A client, with the folder of its log.
struct Client {
    program: Program,
    log: TempDir,
}

impl Client {
    /// Starts a client, which is the only writer and whose reads are atomic unless `options` say otherwise.
    fn start(folder: &Path, servers: &str, options: &[&str], script: &str, timeout: Duration) -> Self {
        let log = tempfile::tempdir_in(folder).expect("a temporary folder");
        let mut command = Command::new(env!("CARGO_BIN_EXE_storage-client"));
        command.args(options);
        for (option, value) in [("--number", "1"), ("--writers", "several"), ("--reads", "atomic")] {
            if !options.contains(&option) {
                command.args([option, value]);
            }
        }
        command.args(["--servers", servers, "--script", script, "--timeout-ms", &timeout.as_millis().to_string()]);
        command.arg("--log").arg(log.path().join("log"));
        Self { program: Program(command.stdout(Stdio::null()).spawn().expect("the client starts")), log }
    }

    /// Returns the log without its times, once the client has ended.
    #[track_caller]
    fn lines(mut self) -> Vec<String> {
        let begin = Instant::now();
        let status = loop {
            match self.program.0.try_wait().expect("it is ours") {
                Some(status) => break status,
                None if begin.elapsed() > LONG => panic!("the client hangs"),
                None => thread::sleep(Duration::from_millis(2)),
            }
        };
        assert!(status.success(), "{status}");
        let text = std::fs::read_to_string(self.log.path().join("log")).expect("it was made");
        let lines: Vec<_> = text.lines().map(|line| line.split_once(' ').expect("a time")).collect();
        let times: Vec<u64> = lines.iter().map(|(time, _)| time.parse().expect("nanoseconds")).collect();
        assert!(times.is_sorted(), "{text}");
        lines.into_iter().map(|(_, what)| what.to_owned()).collect()
    }

    /// Returns how each call ended.
    #[track_caller]
    fn ends(self) -> Vec<String> {
        let lines = self.lines();
        assert!(lines.iter().step_by(2).all(|line| line.starts_with("invoke ")), "{lines:?}");
        lines.into_iter().skip(1).step_by(2).collect()
    }
}

#[test]
fn one_server_may_be_killed_and_two_may_not_and_nothing_is_forgotten() {
    let mut servers = Servers::start(None);
    let lines = servers.client(&CORRECT, "read,write:7,pause:1,read", LONG).lines();
    let expect = ["invoke 1 read", "return 1 none", "invoke 2 write 7", "return 2 done", "invoke 3 read", "return 3 7"];
    assert_eq!(lines, expect);
    servers.kill(0);
    servers.check("read,write:8,read", LONG, &["return 1 7", "return 2 done", "return 3 8"]);
    servers.kill(1);
    let begin = Instant::now();
    servers.check("read,write:9", SHORT, &["fail 1", "fail 2"]);
    assert!(2 * SHORT <= begin.elapsed() && begin.elapsed() < LONG / 2);
    servers.kill(2);
    servers.check("read", SHORT, &["fail 1"]);
    (0..3).for_each(|server| servers.restart(server));
    servers.check("read,write:10,read", LONG, &["return 1 8", "return 2 done", "return 3 10"]);
    let log = std::fs::read_to_string(servers.log(2)).expect("it was made");
    assert!(log.starts_with("write 1 1 7\nwrite 2 1 8\n"), "{log}");
}

#[test]
fn a_call_goes_on_when_a_server_is_back_in_time() {
    let mut servers = Servers::start(None);
    servers.kill(0);
    servers.kill(1);
    let client = servers.client(&["--writers", "one", "--reads", "regular"], "write:7,read", LONG);
    thread::sleep(SHORT / 2);
    servers.restart(1);
    assert_eq!(client.ends(), ["return 1 done", "return 2 7"]);
}

#[test]
fn clients_beside_each_other_all_end() {
    let servers = Servers::start(None);
    let script =
        |client: u64| (0..20).map(|place| format!("write:{client}{place:02},read")).collect::<Vec<_>>().join(",");
    let start = |client: u64| servers.client(&["--number", &client.to_string()], &script(client), LONG);
    let clients = [1, 2, 3].map(start);
    for client in clients {
        let ends = client.ends();
        assert_eq!(ends.len(), 40);
        assert!(ends.iter().all(|line| line.starts_with("return ")), "{ends:?}");
    }
    let ends = servers.client(&CORRECT, "read,read", LONG).ends();
    let value = ends[0].strip_prefix("return 1 ").expect("a value");
    assert!(["119", "219", "319"].contains(&value), "the last write of a client is the last one: {value}");
    assert_eq!(ends[1], format!("return 2 {value}"));
}

#[test]
fn without_servers_calls_fail_at_once() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    assert_eq!(Client::start(folder.path(), "", &CORRECT, "read,write:1", LONG * 2).ends(), ["fail 1", "fail 2"]);
}

#[test]
fn a_server_that_appends_later_forgets_what_it_acknowledged() {
    let mut servers = Servers::start(Some("forgets-in-a-crash"));
    servers.check("write:7,read", LONG, &["return 1 done", "return 2 7"]);
    (0..3).for_each(|server| servers.kill(server));
    (0..3).for_each(|server| servers.restart(server));
    servers.check("read", LONG, &["return 1 none"]);
}

#[test]
fn a_read_of_the_lowest_shows_which_server_was_down() {
    for (fault, expect) in [(None, "return 1 7"), (Some("reads-lowest"), "return 1 none")] {
        let mut servers = Servers::start(fault);
        servers.kill(0);
        servers.check("write:7", LONG, &["return 1 done"]);
        servers.restart(0);
        servers.kill(1);
        servers.check("read", LONG, &[expect]);
    }
}

/// Returns the answers of a server to all that it is told on a connection.
fn answers(server: &str, lines: &[String]) -> Vec<String> {
    let mut stream = TcpStream::connect(server).expect("the server listens");
    stream.set_read_timeout(Some(LONG)).expect("it is a connection");
    stream.write_all((lines.join("\n") + "\n").as_bytes()).expect("the server reads");
    stream.shutdown(Shutdown::Write).expect("it is a connection");
    let lines = BufReader::new(stream).lines().map_while(Result::ok);
    lines.map(|line| line.parse().ok().and_then(Checked::intact).expect("it is not damaged")).collect()
}

#[test]
fn a_server_sends_away_who_is_no_client() {
    let servers = Servers::start(None);
    let lines = ["read 7", "write 8 1 2 3", "read 9", "erase 10", "read 11"].map(|line| Checked::new(line).to_string());
    let lines = answers(&servers.addresses[0], &lines);
    // What comes in one piece with it is not answered either.
    assert!(lines.is_empty() || lines == ["value 7 0 0 none", "ack 8 yes", "value 9 1 2 3"], "{lines:?}");
}

#[test]
fn a_damaged_line_closes_the_connection_but_for_a_fault() {
    let damaged = Checked::new("write 8 1 2 3").to_string().replace("2 3 ", "2 7 ");
    let lines = [damaged, Checked::new("read 9").to_string()];
    for (fault, expect) in [(None, &[][..]), (Some("trusts-damaged-lines"), &["ack 8 yes", "value 9 1 2 7"])] {
        assert_eq!(answers(&Servers::start(fault).addresses[0], &lines), expect);
    }
}

/// Starts a server that gives its answers to the words of a line after the call, and reports all lines.
fn play(answer: impl Fn(&str) -> Option<&'static str> + Send + 'static) -> (String, Receiver<String>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let address = listener.local_addr().expect("it is bound").to_string();
    let (sender, lines) = channel();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a client comes");
        for line in BufReader::new(stream.try_clone().expect("a connection")).lines().map_while(Result::ok) {
            let line: String = line.parse().ok().and_then(Checked::intact).expect("it is not damaged");
            let verb_and_call: Vec<&str> = line.split(' ').take(2).collect();
            if let Some((verb, words)) = answer(verb_and_call[0]).and_then(|answer| answer.split_once(' ')) {
                let answer = Checked::new(format!("{verb} {} {words}", verb_and_call[1]));
                writeln!(stream, "{answer}").expect("the client reads");
            }
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    (address, lines)
}

/// Checks what a client sends to a server that answers each read and each write with the same, and how its calls end.
#[track_caller]
fn check_talk(answers: [&'static str; 2], options: &[&str], script: &str, expect: [&[&str]; 2]) {
    let [value, ack] = answers;
    let answer = move |verb: &str| Some(if verb == "read" { value } else { ack }).filter(|answer| !answer.is_empty());
    let (address, lines) = play(answer);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let timeout = if ack.is_empty() { SHORT } else { LONG };
    let ends = Client::start(folder.path(), &address, options, script, timeout).ends();
    assert_eq!(lines.iter().collect::<Vec<_>>(), expect[0]);
    assert_eq!(ends, expect[1]);
}

#[test]
fn an_atomic_read_writes_back_and_a_regular_one_does_not() {
    let answers = ["value 3 2 7", "ack no"];
    check_talk(answers, &CORRECT, "read", [&["read 1", "write 2 3 2 7"], &["return 1 7"]]);
    check_talk(answers, &["--reads", "regular"], "read", [&["read 1"], &["return 1 7"]]);
    check_talk(answers, &["--fault", "skips-write-back"], "read", [&["read 1"], &["return 1 7"]]);
    check_talk(["value 0 0 none", "ack yes"], &CORRECT, "read", [&["read 1"], &["return 1 none"]]);
}

#[test]
fn one_writer_counts_and_several_ask() {
    let answers = ["value 3 2 7", "ack yes"];
    let one = ["--writers", "one", "--number", "4"];
    check_talk(
        answers,
        &one,
        "write:8,write:9",
        [&["write 1 1 4 8", "write 2 2 4 9"], &["return 1 done", "return 2 done"]],
    );
    let expect: [&[_]; 2] =
        [&["read 1", "write 2 4 4 8", "read 3", "write 4 5 4 9"], &["return 1 done", "return 2 done"]];
    // The server answers the same to the second one: nobody takes a timestamp twice.
    check_talk(answers, &["--number", "4"], "write:8,write:9", expect);
    check_talk(["", "ack no"], &one, "write:8", [&["write 1 1 4 8"], &["fail 1"]]);
}

#[test]
fn without_acknowledgement_a_write_fails_but_with_faults() {
    let one = ["--writers", "one"];
    check_talk(["", ""], &one, "write:8", [&["write 1 1 1 8"], &["fail 1"]]);
    let fault = ["--writers", "one", "--fault", "counts-without-acknowledgement"];
    check_talk(["", ""], &fault, "write:8", [&["write 1 1 1 8"], &["return 1 done"]]);
    let fault = ["--writers", "one", "--fault", "quorum-of-less"];
    check_talk(["", "ack yes"], &fault, "write:8", [&["write 1 1 1 8"], &["fail 1"]]);
}

#[test]
fn every_fault_has_its_implementation_file() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../implementations");
    let read = |name: &str| std::fs::read_to_string(folder.join(format!("{name}.toml"))).expect("there is such a file");
    let right = read("storage");
    assert_eq!(folder.read_dir().expect("it is there").count(), 1 + faults::ALL.len());
    for (fault, _) in faults::ALL {
        let faulty = read(&format!("storage-{fault}"));
        let sides = |text: &str| text.split_once("[[side]]").expect("it has sides").1.to_owned();
        assert_eq!(sides(&faulty).replace(&format!(", \"--fault\", \"{fault}\""), ""), sides(&right), "{fault}");
        assert_eq!(faulty.matches(&format!("\"--fault\", \"{fault}\"]")).count(), 2, "{fault}");
    }
}
