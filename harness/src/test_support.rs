//! Systems for this crate's own tests: `copy`, whose programs copy a file, and `mesh`, which may be cut into sides in
//! two ways.

use std::net::{SocketAddr, UdpSocket};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};
use simutant_outcomes::{Finding, Verdict};

use crate::error::HarnessError;
use crate::implementation::Implementation;
use crate::proxy::ProxyCounts;
use crate::report::CaseResult;
use crate::side::Ready;
use crate::testbed::{
    Conclusion, Environment, InvalidCase, Left, Placeholders, Process, Role, Setup, Testbed, Testbeds,
};

const COPY_ROLES: [Role; 2] = [
    Role { name: "receiver", placeholders: &["listen", "host", "port", "output", "seed"], listens: true },
    Role { name: "sender", placeholders: &["peer", "peer_host", "peer_port", "input", "seed"], listens: false },
];

const MESH_ROLES: [Role; 2] = [
    Role { name: "router", placeholders: &["output"], listens: true },
    Role { name: "client", placeholders: &[], listens: false },
];

const WHOLE_MESH_ROLES: [Role; 1] = [Role { name: "network", placeholders: &["output"], listens: false }];

struct Copying {
    system: &'static str,
    implemented_as: &'static str,
    roles: &'static [Role],
}

const COPY: Copying = Copying { system: "copy", implemented_as: "copy", roles: &COPY_ROLES };
/// Has the inputs of `copy`.
const COPY_AGAIN: Copying = Copying { system: "copy-again", ..COPY };
const MESH: Copying = Copying { system: "mesh", implemented_as: "mesh", roles: &MESH_ROLES };
const WHOLE_MESH: Copying = Copying { roles: &WHOLE_MESH_ROLES, ..MESH };

pub(crate) const TESTBEDS: Testbeds = Testbeds::new(&[&COPY, &COPY_AGAIN, &MESH, &WHOLE_MESH]);

impl Testbed for Copying {
    fn system(&self) -> &str {
        self.system
    }

    fn implemented_as(&self) -> &str {
        self.implemented_as
    }

    fn roles(&self) -> &[Role] {
        self.roles
    }

    fn check(&self, case: &Value) -> Result<(), InvalidCase> {
        match case["text"].is_string() {
            true => Ok(()),
            false => Err(InvalidCase::outside_domain("`text` is no text")),
        }
    }

    fn set_up(&self, setup: &Setup<'_>) -> Result<Box<dyn Environment>, HarnessError> {
        let copies = Copies { input: setup.folder.join("input"), output: setup.folder.join("output") };
        let text = setup.case["text"].as_str().expect("the case was checked");
        std::fs::write(&copies.input, text).map_err(HarnessError::file("write", &copies.input))?;
        Ok(Box::new(copies))
    }
}

struct Copies {
    input: PathBuf,
    output: PathBuf,
}

impl Environment for Copies {
    fn processes(&self, role: &str) -> Vec<Process> {
        let placeholders = Placeholders::from([
            ("input", self.input.clone().into()),
            ("output", self.output.clone().into()),
            ("seed", "1".into()),
        ]);
        vec![Process { name: role.into(), placeholders, port: None, start: Duration::ZERO }]
    }

    fn judge(&self, _left: &Left<'_>) -> Result<Conclusion, HarnessError> {
        let read = |path: &PathBuf| std::fs::read_to_string(path).unwrap_or_default();
        let is_copy = read(&self.input) == read(&self.output);
        let verdict =
            if is_copy { Verdict::Pass } else { Verdict::Fail(Finding::wrong_result("differs", "it differs")) };
        Ok(verdict.into())
    }
}

/// Returns an implementation of `copy` called `one`, whose sides are these shell scripts.
pub(crate) fn copying(receiver: &str, sender: &str) -> Implementation {
    let side =
        |name: &str, script: &str| format!("[[side]]\nname = '{name}'\ncommand = ['sh', '-c', '''{script}''']\n");
    parse_with(TESTBEDS, "copy", &(side("receiver", receiver) + &side("sender", sender)))
}

/// Returns an implementation called `one` with these sides.
pub(crate) fn parse_with(testbeds: Testbeds, system: &str, sides: &str) -> Implementation {
    let text = format!("name = 'one'\nsystem = '{system}'\ndescription = 'd'\n{sides}");
    testbeds.parse(&text, Path::new("one.toml"), Path::new("/")).expect("a good file")
}

impl Implementation {
    /// Makes the receiver ready by its port.
    pub(crate) fn ready_by_port(mut self) -> Self {
        self.sides[0].ready = Ready::Port;
        self
    }
}

/// Waits for a datagram, and returns it with where it came from.
pub(crate) fn received(socket: &UdpSocket) -> (String, SocketAddr) {
    let mut buffer = [0; 100];
    let (length, source) = socket.recv_from(&mut buffer).expect("a datagram comes");
    (String::from_utf8_lossy(&buffer[..length]).into_owned(), source)
}

/// Returns the result of the first run of a test case, which passes or leaves no output.
pub(crate) fn result(name: &str, passes: bool) -> CaseResult {
    let verdict = match passes {
        true => Verdict::Pass,
        false => Verdict::Fail(Finding::wrong_result("no-output", "there is no output file")),
    };
    CaseResult {
        name: name.into(),
        case: json!({ "n": 1 }),
        repetition: 1,
        verdict,
        not_injected: Vec::new(),
        late_faults: Vec::new(),
        notes: Vec::new(),
        kept: Vec::new(),
        processes: Vec::new(),
        network: ProxyCounts::default(),
        duration_ms: 5,
        mutant_reached: None,
        folder: None,
        log: None,
    }
}
