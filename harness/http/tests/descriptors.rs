//! A tester without file descriptors, in a process of its own: the limit is the process's.

mod quiet;

use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use simutant_http_tester::script::Step;
use simutant_http_tester::{Request, Tester};

use self::quiet::Quiet;

#[test]
fn a_server_is_not_gone_where_the_tester_has_no_file_descriptor_left() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let address = listener.local_addr().expect("it listens");
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("somebody connects");
        for line in BufReader::new(stream.try_clone().expect("a descriptor")).lines() {
            if line.is_ok_and(|line| line.is_empty()) {
                let all = getrlimit(Resource::Nofile);
                setrlimit(Resource::Nofile, Rlimit { current: Some(3), ..all }).expect("less is allowed");
                stream.write_all(b"HTTP/1.1 204 No Content\r\n\r\n").expect("somebody reads");
            }
        }
    });
    let step = |label, connection| Step { label, connection, pipelined: false, request: Request::new("GET", "/") };
    let tested = Tester::new(address, Quiet, "r").run(&[step(1, 1), step(2, 1), step(3, 2)]);
    let inconclusive = tested.inconclusive.map(|it| it.to_string()).unwrap_or_default();
    assert_eq!((tested.finding, tested.responses), (None, 1));
    assert!(inconclusive.starts_with("the tester cannot make a connection: Too many open files"), "{inconclusive}");
}
