//! Servers that do one thing wrong each, on real connections.

mod quiet;

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use simutant_http_tester::script::Step;
use simutant_http_tester::{HttpService, Inconclusive, Random, Request, Response, TestedScript, Tester};
use simutant_oracle::{Open, Session, Specification};
use simutant_outcomes::Finding;

use self::quiet::Quiet;

/// A service that answers with the path.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
struct Echo;

impl Specification for Echo {
    type Operation = Request;
    type Response = Response;

    fn step(&mut self, _: Session, request: &Request, _: &mut Open<'_>) -> Response {
        Response::new(200, &*request.path)
    }

    fn agrees(&mut self, _: &Request, due: &Response, seen: &Response, _: &mut Open<'_>) -> bool {
        (due.status, &due.body) == (seen.status, &seen.body)
    }
}

impl HttpService for Echo {
    fn draw(_: &mut Random, script: &[Step]) -> Request {
        Request::new("GET", format!("/{}", script.len()))
    }
}

/// Starts a server that does something with its first connections, and later ones as well.
fn start(connections: usize, serve: impl Fn(&mut [TcpStream]) + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let address = listener.local_addr().expect("it listens");
    std::thread::spawn(move || {
        loop {
            let accept = |_| listener.accept().expect("somebody connects").0;
            serve(&mut (0..connections).map(accept).collect::<Vec<_>>());
        }
    });
    address
}

/// Reads the head of a request, and returns its path.
fn path(stream: &TcpStream) -> String {
    let mut stream = BufReader::with_capacity(1, stream);
    let mut lines = Vec::new();
    while lines.last().is_none_or(|line| line != "\r\n") {
        let mut line = String::new();
        assert!(stream.read_line(&mut line).expect("it can be read") > 0, "a request ends with an empty line");
        lines.push(line);
    }
    lines[0].split(' ').nth(1).expect("there is a path").to_owned()
}

fn answer(stream: &mut TcpStream, body: &str) {
    // Who has seen enough does not wait.
    _ = write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{body}", body.len());
}

/// Runs two requests, on two connections or pipelined on one.
fn run(address: SocketAddr, connections: u8) -> TestedScript {
    let step = |number: u8| Step {
        label: number.into(),
        connection: number.min(connections),
        pipelined: connections == 1,
        request: Request::new("GET", format!("/{number}")),
    };
    Tester::new(address, Echo, "r").patience(Duration::from_millis(300)).run(&[step(1), step(2)])
}

#[track_caller]
fn finding(tested: TestedScript) -> Finding {
    tested.finding.expect("something is wrong").0
}

#[test]
fn answers_are_in_the_order_of_requests_on_a_connection_and_in_any_on_two() {
    let in_order = start(1, |streams| {
        let paths = [path(&streams[0]), path(&streams[0])];
        paths.iter().for_each(|path| answer(&mut streams[0], path));
    });
    assert_eq!(run(in_order, 1).finding, None);
    let swapped = start(1, |streams| {
        let paths = [path(&streams[0]), path(&streams[0])];
        paths.iter().rev().for_each(|path| answer(&mut streams[0], path));
    });
    let finding = finding(run(swapped, 1));
    assert_eq!(
        finding.summary,
        "GET /1 was answered 200 \"/2\", which the specification does not allow; it allows 200 \"/1\""
    );
    let late = start(2, |streams| {
        let paths: Vec<String> = streams.iter().map(path).collect();
        for (stream, path) in streams.iter_mut().zip(&paths).rev() {
            answer(stream, path);
        }
    });
    let tested = run(late, 2);
    assert_eq!((tested.finding, tested.responses), (None, 2));
}

#[test]
fn silence_and_what_is_no_response_are_findings_of_their_own() {
    let silent = start(1, |streams| {
        path(&streams[0]);
        // Until the client has left.
        _ = streams[0].read_to_end(&mut Vec::new());
    });
    let silence = finding(run(silent, 1));
    assert_eq!((silence.kind.as_str(), silence.summary.as_str()), ("no-answer", "GET /1 was not answered in time"));
    let garbled = start(1, |streams| {
        path(&streams[0]);
        _ = streams[0].write_all(b"SMTP\r\n\r\n");
    });
    assert_eq!(finding(run(garbled, 1)).kind, "malformed");
}

#[test]
fn what_nobody_asked_for_is_a_finding_about_the_request_before() {
    let with_body = start(1, |streams| {
        for _ in 0..2 {
            path(&streams[0]);
            _ = streams[0].write_all(b"HTTP/1.1 204 No Content\r\n\r\nbody");
        }
    });
    let finding = finding(Tester::new(with_body, Quiet, "r").run(&steps(&["/1", "/2"])));
    assert_eq!(finding.kind, "more-than-an-answer");
    assert_eq!(finding.summary, "the server sent 4 bytes after its answer to GET /1, which are none of it");
}

#[test]
fn a_finding_that_is_made_smaller_stays_the_same_one() {
    // A PUT is answered 500 whatever it has, and 400 without a content.
    let server = start(1, |streams| {
        let mut head = String::new();
        let mut reader = BufReader::new(&streams[0]);
        while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head).is_ok_and(|bytes| bytes > 0) {}
        let is_put = head.starts_with("PUT") && head.contains("Content-Length: 7");
        let status = if is_put { "500 Wrong" } else { "400 Bad" };
        _ = write!(&streams[0], "HTTP/1.1 {status}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n");
    });
    let put = Step { request: Request::new("PUT", "/1").body("content"), ..steps(&["/1"])[0].clone() };
    let finding = finding(Tester::new(server, Quiet, "r").run(&[put]));
    assert!(finding.summary.contains("was answered 500"), "{}", finding.summary);
    assert!(finding.detail["commands"][0].as_str().is_some_and(|it| it.contains("content")), "{finding:?}");
}

#[test]
fn a_request_is_lost_with_its_connection_and_is_no_finding() {
    let leaving = start(1, |streams| {
        let path = path(&streams[0]);
        answer(&mut streams[0], &path);
    });
    let tested = run(leaving, 1);
    assert_eq!((tested.finding, tested.requests, tested.responses, tested.lost), (None, 2, 1, 1));
    let closing = start(1, |streams| _ = path(&streams[0]));
    assert_eq!(finding(run(closing, 1)).kind, "connection-closed");
    let cut = start(1, |streams| {
        let path = path(&streams[0]);
        answer(&mut streams[0], &path);
        _ = streams[0].write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort");
    });
    assert_eq!(finding(run(cut, 1)).kind, "connection-closed");
    let address = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|it| it.local_addr()).expect("a port");
    assert!(run(address, 1).inconclusive.expect("nobody listens").to_string().starts_with("no connection can be made"));
}

fn steps(paths: &[&str]) -> Vec<Step> {
    let step = |(place, path): (usize, &&str)| Step {
        label: place as u32 + 1,
        connection: 1,
        pipelined: false,
        request: Request::new("GET", *path),
    };
    paths.iter().enumerate().map(step).collect()
}

#[test]
fn silence_is_made_smaller_where_others_are_still_answered() {
    // A path is answered unless `/stop` came before on the connection.
    let jammed = start(1, |streams| {
        let mut is_jammed = false;
        loop {
            let mut first = [0];
            if !matches!(streams[0].peek(&mut first), Ok(1)) {
                return;
            }
            let path = path(&streams[0]);
            if !is_jammed {
                answer(&mut streams[0], &path);
            }
            is_jammed |= path == "/stop";
        }
    });
    let tester = Tester::new(jammed, Echo, "r").patience(Duration::from_millis(600));
    let silence = finding(tester.run(&steps(&["/a", "/b", "/stop", "/c", "/d"])));
    let commands = silence.detail["commands"].as_array().expect("they are told").len();
    assert_eq!((silence.kind.as_str(), commands), ("no-answer", 2), "{silence:?}");
    assert_eq!(silence.summary, "GET /c was not answered in time");
}

#[test]
fn paths_have_their_beginning_and_requests_their_headers_on_the_wire_alone() {
    let strict = start(1, |streams| {
        let mut lines = BufReader::new(&streams[0]).lines().map(|line| line.expect("it can be read"));
        let head: Vec<String> = lines.by_ref().take_while(|line| !line.is_empty()).collect();
        let is_right = head[0] == "GET /api/1 HTTP/1.1" && head.contains(&"Authorization: me".to_owned());
        answer(&mut streams[0], if is_right { "/1" } else { "wrong" });
    });
    let tester = || Tester::new(strict, Echo, "r").base("/api");
    assert_eq!(tester().header("Authorization", "me").run(&steps(&["/1"])).finding, None);
    let finding = finding(tester().run(&steps(&["/1"])));
    assert_eq!(finding.detail["commands"][0], format!("curl -si http://{strict}/api/1  # 200 \"wrong\""));
}

/// A service that says where a note is, and then has it there.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
struct Notes(Vec<String>);

impl Specification for Notes {
    type Operation = Request;
    type Response = Response;

    fn step(&mut self, _: Session, request: &Request, _: &mut Open<'_>) -> Response {
        Response::new(if self.0.contains(&request.path) { 200 } else { 201 }, "")
    }

    fn agrees(&mut self, _: &Request, due: &Response, seen: &Response, _: &mut Open<'_>) -> bool {
        self.0.extend(seen.get("location").map(str::to_owned));
        due.status == seen.status
    }
}

impl HttpService for Notes {
    fn draw(_: &mut Random, _: &[Step]) -> Request {
        Request::new("GET", "/")
    }
}

#[test]
fn a_location_is_a_path_of_the_service_however_the_server_says_it() {
    for (host, place) in [
        ("h:1", "/notes/7"),
        ("h:1", "/api/notes/7"),
        ("h:1", "http://h:1/api/notes/7"),
        ("h:80", "http://H/api/notes/7"),
        ("127.0.0.1:1", "http://localhost:1/api/notes/7"),
    ] {
        let server = start(1, move |streams| {
            let (first, second) = (path(&streams[0]), &mut streams[0]);
            assert_eq!(first, "/api/new");
            _ = write!(second, "HTTP/1.1 201 Created\r\nContent-Length: 0\r\nLocation: {place}\r\n\r\n");
            if path(second) == "/api/notes/7" {
                answer(second, "");
            }
        });
        let tester = Tester::new(server, Notes::default(), "r").base("/api").host(host);
        let tested = tester.run(&steps(&["/new", "<1.location>"]));
        assert_eq!((tested.finding, tested.responses), (None, 2), "{place}");
    }
}

#[test]
fn a_server_is_reset_before_each_script_or_none_is_run() {
    let right = start(1, |streams| {
        let path = path(&streams[0]);
        answer(&mut streams[0], &path);
    });
    let tester = Tester::new(right, Echo, "r").reset("exit 3");
    let inconclusive = tester.run(&steps(&["/1"])).inconclusive.expect("it was not run").to_string();
    assert_eq!(inconclusive, "the command that resets the server failed: `exit 3`: exit status: 3");
    let tester =
        Tester::new(right, Echo, "r").reset("echo a long line >&2; echo short >/dev/stderr; echo last >&2; exit 3");
    let inconclusive = tester.run(&steps(&["/1"])).inconclusive.expect("it was not run").to_string();
    assert!(inconclusive.ends_with("exit status: 3: last"), "{inconclusive}");
    let tested = Tester::new(right, Echo, "r").reset("true").run(&steps(&["/1"]));
    assert_eq!((tested.inconclusive, tested.responses), (None, 1));
    // The server that it starts, for example, may run on, and keep what the command had of files.
    let started = Background::new("running");
    let tested = Tester::new(right, Echo, "r").reset(started.command("true")).run(&steps(&["/1"]));
    assert_eq!((tested.inconclusive, tested.responses, started.is_running()), (None, 1, true));
    drop(started);

    let stop = Arc::new(AtomicBool::new(true));
    let tested = Tester::new(right, Echo, "r").stopped_by(stop).run(&steps(&["/1"]));
    assert_eq!((tested.inconclusive, tested.requests), (Some(Inconclusive::Stopped), 0));
}

/// What a command leaves running in the background.
struct Background(PathBuf);

impl Background {
    fn new(name: &str) -> Self {
        Self(std::env::temp_dir().join(format!("simutant-{name}-{}", std::process::id())))
    }

    /// Returns the command, which then does something else.
    fn command(&self, then: &str) -> String {
        format!("sleep 100 & echo $! >'{}'; {then}", self.0.display())
    }

    fn process(&self) -> Option<i32> {
        std::fs::read_to_string(&self.0).ok()?.trim().parse().ok()
    }

    /// Returns whether it runs. What has ended, and nobody has waited for, has no command line any more.
    fn is_running(&self) -> bool {
        let process = self.process().expect("it was started");
        std::fs::read(format!("/proc/{process}/cmdline")).is_ok_and(|line| !line.is_empty())
    }
}

impl Drop for Background {
    fn drop(&mut self) {
        _ = self.process().and_then(Pid::from_raw).map(|it| kill_process(it, Signal::KILL));
        _ = std::fs::remove_file(&self.0);
    }
}

#[test]
fn a_command_that_resets_the_server_ends_with_all_that_it_started_when_the_tests_are_stopped() {
    let started = Background::new("stopped");
    let stop = Arc::new(AtomicBool::new(false));
    let tester = Tester::new(([127, 0, 0, 1], 1).into(), Echo, "r").stopped_by(Arc::clone(&stop));
    let tester = tester.reset(started.command("wait"));
    let tested = std::thread::scope(|scope| {
        scope.spawn(|| {
            wait_for(|| started.process().is_some());
            stop.store(true, Ordering::SeqCst);
        });
        tester.run(&steps(&["/1"]))
    });
    assert_eq!(tested.inconclusive, Some(Inconclusive::Stopped));
    // It is killed, and may take a moment to end; by itself it would take much longer.
    wait_for(|| !started.is_running());
    assert!(!started.is_running());
}

/// Waits until something has happened, for a minute at most.
fn wait_for(happened: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !happened() && Instant::now() < deadline {
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A service of which each answer is another one than is due.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
struct Never;

impl Specification for Never {
    type Operation = Request;
    type Response = Response;

    fn step(&mut self, _: Session, request: &Request, _: &mut Open<'_>) -> Response {
        Response::new(if request.path == "/none" { 404 } else { 200 }, "due")
    }

    fn agrees(&mut self, _: &Request, _: &Response, _: &Response, _: &mut Open<'_>) -> bool {
        false
    }
}

impl HttpService for Never {
    fn draw(_: &mut Random, _: &[Step]) -> Request {
        Request::new("GET", "/")
    }
}

#[test]
fn findings_are_told_apart_by_what_was_due() {
    let server = start(1, |streams| {
        let body = if path(&streams[0]) == "/same" { "due" } else { "seen" };
        answer(&mut streams[0], body);
    });
    let wrong = |path: &str| Tester::new(server, Never, "r").run(&steps(&[path])).finding.expect("it is wrong");
    let [none, some, other, same] = ["/none", "/some", "/other", "/same"].map(wrong);
    assert_ne!(none.1, some.1);
    assert_eq!(some.1, other.1);
    assert!(none.0.summary.ends_with("it allows 404 \"due\""), "{}", none.0.summary);
    assert!(some.0.summary.ends_with("it allows 200 \"due\""), "{}", some.0.summary);
    assert!(same.0.summary.contains("was answered 200 \"due\""), "{}", same.0.summary);
    assert!(same.0.summary.contains("the same with other headers"), "{}", same.0.summary);
}
