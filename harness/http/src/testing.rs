//! Tests a server as often as one asks for, in a process of its own: a program of a specification that `simutant http` builds.

use std::collections::BTreeMap;
use std::io::{self, BufRead, Write};
use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::os::unix::process::parent_id;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};

use serde::{Deserialize, Serialize};
use simutant_outcomes::Finding;
use simutant_random::Random;

use crate::finding::Likeness;
use crate::script::{Step, draw};
use crate::service::HttpService;
use crate::tester::{Inconclusive, Tester};

/// What is asked of the program.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TestingRequest {
    /// The host and the port.
    pub host: String,
    /// What all paths begin with.
    pub base: String,
    /// The headers of requests that have none of these names.
    pub headers: BTreeMap<String, String>,
    /// The command of a shell that is run before each script.
    pub reset: Option<String>,
    /// Fixes the scripts.
    pub seed: u64,
    /// How many scripts are run.
    pub scripts: usize,
    /// The scripts that are run in turn, in place of drawn ones.
    pub given: Vec<Vec<Step>>,
    /// How many requests a script has.
    pub steps: usize,
    /// On how many connections, from 1 to 255.
    pub connections: u8,
    /// How long an answer may take.
    pub patience: Duration,
    /// The names of rules that the service may break.
    pub waived: Vec<String>,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub enum TestingReply {
    /// The server was tested.
    Tested(TestingReport),
    /// It cannot be reached.
    Unreachable {
        /// Why.
        message: String,
    },
    /// The tester itself has failed, or knows no such host, before it found anything.
    Failed {
        /// What the tester could not do.
        message: String,
    },
    /// Something that was asked for does not fit the specification.
    Mistake {
        /// What.
        message: String,
    },
}

/// What the tests of a server came to.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TestingReport {
    /// How many scripts were run.
    pub scripts: usize,
    /// How many requests were sent, without those with which findings were made smaller.
    pub requests: usize,
    /// How many answers there were, by the method of the request and the status code: `GET 200`.
    pub answers: BTreeMap<String, usize>,
    /// How many of them were lost with their connections.
    pub lost: usize,
    /// How many seconds it took, with what made findings smaller.
    pub seconds: f64,
    /// What is wrong.
    pub findings: Vec<Found>,
    /// How many scripts were inconclusive, by the reason.
    pub inconclusive: BTreeMap<String, usize>,
    /// Why it ended before all scripts were run, if it did.
    pub stopped: Option<String>,
    /// In how many scripts the service kept each of the waived rules.
    pub kept: BTreeMap<String, usize>,
}

/// A finding, for all those that are like it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// The first of them, with the fewest requests that show it.
    #[serde(flatten)]
    pub finding: Finding,
    /// In how many scripts there was one.
    pub scripts: usize,
    /// How many requests and answers there were up to the first of them.
    pub messages: usize,
    /// How many seconds that took, without what made other findings smaller.
    pub seconds: f64,
}

/// How long to wait before looking again whether the command has ended.
const PAUSE: Duration = Duration::from_millis(50);

/// Tests a service that begins in a state, and writes a line with the reply. The first line of `from` is the request, as JSON; when
/// `from` ends, nothing more is tested, and when the parent process ends as well, this one does.
///
/// # Errors
/// If the request is none, or the reply cannot be written.
pub fn serve<S: HttpService>(
    initial: &S,
    mut from: impl BufRead + Send + 'static,
    to: &mut dyn Write,
) -> io::Result<()> {
    let mut line = String::new();
    from.read_line(&mut line)?;
    let request: TestingRequest = serde_json::from_str(&line)?;
    let stop = Arc::new(AtomicBool::new(false));
    let (heard, parent) = (Arc::clone(&stop), parent_id());
    std::thread::spawn(move || {
        // However it ends, nobody waits for more.
        _ = io::copy(&mut from, &mut io::sink());
        heard.store(true, Ordering::SeqCst);
        // Once the command has ended, nobody waits for the reply either. What resets the server has a pause to be ended in.
        loop {
            std::thread::sleep(PAUSE);
            if parent_id() != parent {
                std::process::exit(1);
            }
        }
    });
    writeln!(to, "{}", serde_json::to_string(&tested(initial, &request, stop))?)
}

/// How many scripts may end in silence before the server is given up.
const SILENT_MAX: usize = 3;

fn tested<S: HttpService>(initial: &S, request: &TestingRequest, stop: Arc<AtomicBool>) -> TestingReply {
    let TestingRequest { host, seed, scripts, given, steps, connections, patience, waived, .. } = request;
    if S::origins().is_some() && !request.base.is_empty() {
        return TestingReply::Mistake {
            message: format!("a proxy has no paths, and so none begins with {}", request.base),
        };
    }
    let addresses: Vec<SocketAddr> = match host.to_socket_addrs() {
        Ok(addresses) => addresses.collect(),
        Err(error) => return TestingReply::Failed { message: format!("{host} is not known: {error}") },
    };
    // A name may have an address of each kind, and the server listen at one of them.
    let there = addresses.iter().find(|address| TcpStream::connect_timeout(address, *patience).is_ok());
    let Some(&address) = there.or(addresses.first()) else {
        return TestingReply::Unreachable { message: "the host has no address".to_owned() };
    };
    // The server may know what an earlier call of the command has put there.
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_millis();
    let mut tester = Tester::new(address, initial.clone(), format!("{now:x}-")).host(host).patience(*patience);
    tester = tester.base(&request.base).stopped_by(stop);
    for (name, value) in &request.headers {
        tester = tester.header(name, value);
    }
    if let Some(reset) = &request.reset {
        tester = tester.reset(reset);
    }
    for rule in waived {
        if let Err(error) = tester.waive(rule) {
            return TestingReply::Mistake { message: error.to_string() };
        }
    }
    let begun = Instant::now();
    let mut tested = TestingReport::default();
    let mut silent = 0;
    let (mut messages, mut took) = (0, Duration::ZERO);
    let mut known: BTreeMap<Likeness, usize> = BTreeMap::new();
    for number in 0..*scripts {
        let drawn =
            || draw::<S>(*steps, *connections, &mut Random::from_seed(*seed).stream(&format!("script {number}")));
        let script = given.get(number % given.len().max(1)).cloned().unwrap_or_else(drawn);
        let came = tester.run_knowing(&script, &|likeness| known.contains_key(likeness));
        if came.inconclusive == Some(Inconclusive::Stopped) {
            tested.stopped = Some("interrupted".to_owned());
            break;
        }
        tested.scripts += 1;
        tested.requests += came.requests;
        tested.lost += came.lost;
        messages += came.requests + came.responses;
        took += came.took;
        for (answer, count) in came.answers {
            *tested.answers.entry(answer).or_default() += count;
        }
        for rule in came.kept {
            *tested.kept.entry(rule.to_owned()).or_default() += 1;
        }
        match came.inconclusive {
            Some(Inconclusive::Unreachable(message)) => return TestingReply::Unreachable { message },
            Some(failed @ Inconclusive::Failed(_)) if tested.findings.is_empty() => {
                return TestingReply::Failed { message: failed.to_string() };
            }
            Some(failed @ Inconclusive::Failed(_)) => {
                tested.stopped = Some(failed.to_string());
                break;
            }
            Some(failed @ Inconclusive::NotReset(_)) if number > 0 => {
                // What was found stays found: a server that is gone cannot be reset.
                tested.stopped = Some(failed.to_string());
                *tested.inconclusive.entry("nothing was asked".to_owned()).or_default() += 1;
                break;
            }
            Some(mistake @ (Inconclusive::Unspecified(_) | Inconclusive::NotReset(_))) => {
                return TestingReply::Mistake { message: mistake.to_string() };
            }
            Some(Inconclusive::Undecided(reason)) => *tested.inconclusive.entry(reason).or_default() += 1,
            Some(Inconclusive::Stopped) | None => {}
        }
        let kind = came.finding.as_ref().map(|(finding, _)| finding.kind.clone());
        silent += usize::from(kind.as_deref() == Some("no-answer"));
        tested.stopped = match kind.as_deref() {
            Some("server-gone") => Some("the server is gone".to_owned()),
            _ if silent == SILENT_MAX => Some(format!("{silent} scripts had no answer in time")),
            _ => None,
        };
        if let Some((finding, likenesses)) = came.finding {
            let place = likenesses.iter().find_map(|likeness| known.get(likeness).copied());
            let place = place.unwrap_or(tested.findings.len());
            known.extend(likenesses.map(|likeness| (likeness, place)));
            match tested.findings.get_mut(place) {
                Some(found) => found.scripts += 1,
                None => {
                    tested.findings.push(Found { finding, scripts: 1, messages, seconds: took.as_secs_f64() });
                }
            }
        }
        if tested.stopped.is_some() {
            break;
        }
    }
    tested.seconds = begun.elapsed().as_secs_f64();
    TestingReply::Tested(tested)
}
