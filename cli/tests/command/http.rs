//! `simutant http`: servers of a user's own service, in another language.

use std::io::{BufRead, BufReader, Read};
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rustix::process::Signal;
use serde_json::Value;

use crate::init::UserPackage;
use crate::processes::send;
use crate::support::{assert_exit, stderr, stdout, text};

/// A server that runs, and ends with the test: it reads its standard input to the end first.
struct Server {
    process: Child,
    url: String,
}

impl Server {
    fn start(package: &UserPackage, arguments: &[&str]) -> Self {
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).and_then(|it| it.local_addr()).expect("a port").port();
        // The shell ends the server when this process has ended, however it did.
        let script = "python3 \"$@\" & server=$!; cat >&2; kill $server";
        let mut command = Command::new("sh");
        command.args(["-c", script, "sh", &text(&package.path("implementations/store/server.py")), &port.to_string()]);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let process = command.spawn().expect("python3 is installed");
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            std::thread::yield_now();
        }
        Self { process, url: format!("http://127.0.0.1:{port}") }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        _ = self.process.wait();
    }
}

#[test]
fn a_new_service_is_tested_in_another_language() {
    let package = UserPackage::new("--lib");
    let output = package.simutant(&["init", "--http", "--no-vendor"]);
    assert_exit(&output, 0);
    assert!(stdout(&output).contains("http store http://127.0.0.1:8000 finds what is wrong"), "{}", stdout(&output));
    package.check_refused(&["--http", "--no-vendor"], "[package.metadata.simutant.http.store] is there already");
    let format = package.run("cargo", &["fmt", "--check"]);
    assert!(format.status.success(), "{}", stdout(&format));

    let server = Server::start(&package, &[]);
    let output = package.simutant(&["http", "store", &server.url]);
    assert_exit(&output, 1);
    let said = stdout(&output);
    assert!(
        said.starts_with("FAILED in ") && said.contains(", which the specification does not allow; it allows "),
        "{said}"
    );
    // Two requests at once.
    let posts = said.lines().filter(|line| line.starts_with("  $ curl -si -X POST "));
    let commands: Vec<&str> = posts.map(|line| line.split("  # 200 ").next().expect("there is a beginning")).collect();
    assert!(commands.windows(2).any(|pair| pair[0].strip_suffix(" &") == Some(pair[1])), "{said}");

    let output = package.simutant(&["http", "store", &server.url, "--json", "--connections", "1"]);
    assert_exit(&output, 0);
    let tested: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    assert_eq!((&tested["scripts"], &tested["requests"]), (&100.into(), &2000.into()));
    let output = package.simutant(&["http", "store", &server.url, "--json"]);
    let found = package.path("found.json");
    std::fs::write(&found, stdout(&output)).expect("it can be written");
    let again = ["--replay", &text(&found), "--scripts", "7"];
    let output = package.simutant(&[&["http", "store", &server.url], &again[..]].concat());
    assert_exit(&output, 1);
    assert!(stdout(&output).contains(" of 7 scripts: "), "{}", stdout(&output));
    drop(server);

    let right = Server::start(&package, &["--right"]);
    let output = package.simutant(&["http", "store", &right.url, "--scripts", "20"]);
    assert_exit(&output, 0);
    assert!(stdout(&output).ends_with("s, no answer was wrong\n"), "{}", stdout(&output));
    let output = package.simutant(&["http", "store", &right.url, "--waive", "some"]);
    assert_exit(&output, 3);
    assert!(stderr(&output).contains("there is no rule some; the specification names none"), "{}", stderr(&output));
    let output = package.simutant(&[&["http", "store", &right.url], &again[..]].concat());
    assert_exit(&output, 0);
    let output = package.simutant(&["http", "store", &right.url, "--replay", &text(&package.path("Cargo.toml"))]);
    assert_exit(&output, 3);
    assert!(stderr(&output).contains("Cargo.toml: "), "{}", stderr(&output));
    let reset = ["--scripts", "2", "--reset", "echo reset >> resets; test $(wc -l < resets) -lt 2"];
    let output = package.simutant(&[&["http", "store", &right.url], &reset[..]].concat());
    assert_exit(&output, 7);
    let stopped = "stopped after 2 scripts: the command that resets the server failed: `echo reset";
    assert!(stdout(&output).contains(stopped), "{}", stdout(&output));
    let output = package.simutant(&["http", "store", &right.url, "--reset", "echo no >&2; exit 5"]);
    assert_exit(&output, 3);
    assert!(stderr(&output).contains("exit status: 5: no"), "{}", stderr(&output));
    check_second_interrupt(&package);
    let url = right.url.clone();
    drop(right);
    let output = package.simutant(&["http", "store", &url]);
    assert_exit(&output, 4);
    assert!(stderr(&output).contains("start the server first"), "{}", stderr(&output));

    let output = package.simutant(&["http", "stores", &url]);
    assert_exit(&output, 3);
    assert!(stderr(&output).contains("known HTTP services: store; Simutant has http"), "{}", stderr(&output));
    let output = package.simutant(&["http", "store", "127.0.0.1:80"]);
    assert_exit(&output, 2);
}

/// Checks that a second Ctrl-C ends the command, and the tester that waits for an answer.
fn check_second_interrupt(package: &UserPackage) {
    let silent = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let url = format!("http://{}", silent.local_addr().expect("it listens"));
    let mut command = package.command(env!("CARGO_BIN_EXE_simutant"), &["http", "store", &url, "--timeout", "1000s"]);
    let mut interrupted = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("it can be started");
    // The first connection only looks whether the server is there.
    let [_, (mut tester, _)] = [(); 2].map(|()| silent.accept().expect("the tester connects"));
    send(&interrupted, Signal::INT);
    let mut said = String::new();
    let mut errors = BufReader::new(interrupted.stderr.take().expect("it is piped"));
    while !said.contains("once more to stop at once") {
        assert!(errors.read_line(&mut said).expect("text") > 0, "{said}");
    }
    send(&interrupted, Signal::INT);
    assert_eq!(interrupted.wait().expect("it ends").code(), Some(130));
    // The tester ends, and its connection with it.
    tester.set_read_timeout(Some(Duration::from_secs(60))).expect("it is no zero");
    tester.read_to_end(&mut Vec::new()).expect("the tester ends");
}
