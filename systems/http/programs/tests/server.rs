//! The server's program, with clients that a test plays.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// A server; it is killed when this is dropped.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start() -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_http-server"));
        let mut child =
            command.args(["--listen", "127.0.0.1:0"]).stdout(Stdio::piped()).spawn().expect("the server starts");
        let mut lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
        let address = lines.next().expect("its address").expect("text");
        Self { child, address }
    }

    /// Returns what is answered to some bytes on a connection of their own, until the server closes it.
    fn answers(&self, bytes: &str) -> String {
        let mut stream = TcpStream::connect(&self.address).expect("the server listens");
        stream.set_read_timeout(Some(Duration::from_secs(20))).expect("it is a connection");
        stream.write_all(bytes.as_bytes()).expect("the server reads");
        let mut text = String::new();
        stream.read_to_string(&mut text).expect("the server answers and closes");
        text
    }

    /// Makes requests at once, each a line with method, target and fields, and returns the status of each answer.
    fn statuses(&self, requests: &[&str]) -> Vec<u16> {
        let mut bytes = String::new();
        for request in requests {
            let (method, rest) = request.split_once(' ').expect("a target");
            let (path, fields) = rest.split_once(' ').unwrap_or((rest, "A: b"));
            let fields = fields.replace("; ", "\r\n");
            bytes += &format!("{method} {path} HTTP/1.1\r\nHost: b\r\n{fields}\r\nContent-Length: 3\r\n\r\nabc");
        }
        let answers = self.answers(&(bytes + "HEAD / HTTP/1.0\r\n\r\n"));
        let status = |line: &str| line.strip_prefix("HTTP/1.1 ").map(|rest| rest.trim().parse().expect("a number"));
        let mut statuses: Vec<u16> =
            answers.lines().filter_map(|line| status(line.trim_start_matches("abc"))).collect();
        assert_eq!(statuses.pop(), Some(404), "{answers}");
        statuses
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

#[test]
fn pipelined_requests_are_answered_in_their_order() {
    let requests =
        ["GET", "PUT", "PUT", "GET", "HEAD", "DELETE", "DELETE", "HEAD", "PATCH"].map(|it| format!("{it} /0"));
    let requests = requests.each_ref().map(String::as_str);
    assert_eq!(Server::start().statuses(&requests), [404, 201, 204, 200, 200, 204, 404, 404, 405]);
}

#[test]
fn preconditions_are_evaluated_in_their_order() {
    let server = Server::start();
    let [past, future] = ["Mon, 01 Jan 1990 00:00:00 GMT", "Fri, 01 Jan 2100 00:00:00 GMT"];
    let check = |request: &str, expect: u16| assert_eq!(server.statuses(&[request]), [expect], "{request}");
    check("GET /0 If-Match: \"1\"", 404);
    check("PUT /0 If-Match: *", 412);
    check(&format!("PUT /0 If-None-Match: *; If-Unmodified-Since: {past}"), 201);
    // The tag is strong.
    check("GET /0 If-Match: \"0\", \"1\"", 200);
    check("GET /0 If-Match: \"0\"; If-Match: \"1\"", 200);
    check("GET /0 If-Match: W/\"1\"", 412);
    check("GET /0 If-Match: 1", 400);
    check("GET /0 If-None-Match: W/\"1\"", 304);
    check("DELETE /0 If-None-Match: W/\"1\"", 412);
    check("PUT /0 If-None-Match: *", 412);
    check(&format!("GET /0 If-Unmodified-Since: {past}"), 412);
    check(&format!("GET /0 If-Unmodified-Since: {future}"), 200);
    check(&format!("GET /0 If-Match: *; If-Unmodified-Since: {past}"), 200);
    check(&format!("GET /0 If-Modified-Since: {past}"), 200);
    check(&format!("GET /0 If-Modified-Since: {future}"), 304);
    check(&format!("GET /0 If-None-Match: \"0\"; If-Modified-Since: {future}"), 200);
    check(&format!("GET /0 If-None-Match: *; If-Modified-Since: {past}"), 304);
    check("GET /0 If-Modified-Since: tomorrow", 200);
    check("GET /0 If-Match: \"1\"; If-None-Match: \"1\"", 304);
    check(&format!("PUT /0 If-Modified-Since: {future}"), 204);
    check("GET /0 If-Match: \"1\"", 412);
    // This one is weak.
    check("PUT /1", 201);
    check("GET /1 If-Match: W/\"3\"", 412);
    check("GET /1 If-Match: \"3\"", 412);
    check("GET /1 If-None-Match: \"3\"", 304);
}

#[test]
fn what_is_no_request_is_answered_and_the_connection_closed() {
    let server = Server::start();
    for (bytes, expect) in [
        ("hello\r\n\r\n", 400),
        ("GET /a HTTP/1.1\r\n\r\n", 400),
        ("GET a HTTP/1.1\r\nHost: b\r\n\r\n", 400),
        ("GET /a HTTP/2\r\nHost: b\r\n\r\n", 400),
        ("GET /a HTTP/1.1\r\nHost: b\r\nno field\r\n\r\n", 400),
        ("GET /a HTTP/1.1\r\nHost: b\r\nContent-Length: many\r\n\r\n", 400),
        ("PUT /a HTTP/1.1\r\nHost: b\r\nTransfer-Encoding: chunked\r\n\r\n", 411),
        ("GET http://b/a HTTP/1.1\r\nHost: b\r\nConnection: close\r\n\r\n", 404),
    ] {
        let answer = server.answers(bytes);
        assert!(answer.starts_with(&format!("HTTP/1.1 {expect} ")), "{bytes}: {answer}");
    }
    let answer = server.answers("POST /a HTTP/1.1\r\nHost: b\r\nConnection: close\r\n\r\n");
    assert!(answer.contains("\r\nAllow: GET, HEAD, PUT, DELETE\r\n"), "{answer}");
}
