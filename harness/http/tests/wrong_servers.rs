//! Servers that do one thing wrong each, on real connections.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::time::Duration;

use simutant_http_tester::script::Step;
use simutant_http_tester::{HttpService, Random, Request, Response, TestedScript, Tester};
use simutant_oracle::{Open, Session, Specification};
use simutant_outcomes::Finding;

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
