//! Runs scripts on a server.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use simutant_outcomes::Finding;

use crate::driver::{End, Run, Server};
use crate::finding::{self, Likeness, Rules, ServiceUnderTest};
use crate::script::Step;
use crate::service::HttpService;

/// A tester of a server.
#[derive(Debug)]
pub struct Tester<S> {
    server: Server,
    initial: S,
    waived: Rules,
    /// How the names of runs begin.
    prefix: String,
    runs: Cell<u64>,
    /// What was done last, once the server has answered: it may have crashed then.
    last: RefCell<Option<(Vec<Step>, Run)>>,
}

/// What came of a script.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TestedScript {
    /// What is wrong, with the fewest requests that show it, and what it has in common with others: as it was seen, and as it
    /// is shown.
    pub finding: Option<(Finding, [Likeness; 2])>,
    /// Why nothing is known, if it is not.
    pub inconclusive: Option<Inconclusive>,
    /// The waived rules that the server kept.
    pub kept: Vec<&'static str>,
    /// How many requests were sent, without those with which a finding was made smaller.
    pub requests: usize,
    /// How many responses were received.
    pub responses: usize,
    /// How many of them, by the method of the request and the status code: `GET 200`.
    pub answers: BTreeMap<String, usize>,
    /// How many requests were lost, as the connection was closed before the answer.
    pub lost: usize,
    /// How long it took, without what made the finding smaller.
    pub took: Duration,
}

/// Why nothing is known of a script.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Inconclusive {
    /// No connection can be made.
    #[error("no connection can be made: {0}")]
    Unreachable(String),
    /// The tester itself has failed: what it may have of files, ports or memory is used up, for example.
    #[error("the tester {0}")]
    Failed(String),
    /// The check of the answers ran out of something.
    #[error("{0}")]
    Undecided(String),
    /// A request cannot be sent, or the specification knows none such.
    #[error("{0}")]
    Unspecified(String),
    /// The command that goes before a script failed.
    #[error("the command that resets the server failed: {0}")]
    NotReset(String),
    /// It was not run, as the tests were ended.
    #[error("the tests were ended")]
    Stopped,
}

/// There is no rule of this name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("there is no rule {name}; {}", if .known.is_empty() { "the specification names none".to_owned() } else { format!("there are {}", .known.join(", ")) })]
pub struct NoSuchRule {
    /// The name.
    pub name: String,
    /// The names of all rules.
    pub known: Vec<&'static str>,
}

impl<S: HttpService> Tester<S> {
    /// Returns a tester of the server at an address. The names of its runs begin with `prefix`.
    pub fn new(address: SocketAddr, initial: S, prefix: impl Into<String>) -> Self {
        let (prefix, runs) = (prefix.into(), Cell::new(0));
        let server = Server {
            address,
            host: address.to_string(),
            base: String::new(),
            headers: BTreeMap::new(),
            patience: Duration::from_secs(5),
            reset: None,
            is_stopped: Arc::default(),
        };
        Self { server, initial, waived: Rules::new(), prefix, runs, last: RefCell::default() }
    }

    /// Sets what requests call the server, in place of its address.
    #[must_use]
    pub fn host(mut self, host: impl Into<String>) -> Self {
        self.server.host = host.into();
        self
    }

    /// Sets what all paths of the server begin with, such as `/api/v2`; the specification knows nothing of it.
    #[must_use]
    pub fn base(mut self, base: impl Into<String>) -> Self {
        self.server.base = base.into();
        self
    }

    /// Adds a header to all requests that have none of this name; the specification knows nothing of it.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.server.headers.insert(name.into(), value.into());
        self
    }

    /// Sets a command of a shell that is run before each script.
    #[must_use]
    pub fn reset(mut self, command: impl Into<String>) -> Self {
        self.server.reset = Some(command.into());
        self
    }

    /// Sets how long an answer may take, in place of five seconds.
    #[must_use]
    pub const fn patience(mut self, patience: Duration) -> Self {
        self.server.patience = patience;
        self
    }

    /// Sets what ends the tests: once it is set, no other script is run, and no finding is made smaller.
    #[must_use]
    pub fn stopped_by(mut self, stop: Arc<AtomicBool>) -> Self {
        self.server.is_stopped = stop;
        self
    }

    /// Lets the server break a rule.
    ///
    /// # Errors
    /// [`NoSuchRule`]
    pub fn waive(&mut self, name: &str) -> Result<(), NoSuchRule> {
        let place = S::RULES.iter().position(|rule| rule.name == name);
        let known = || S::RULES.iter().map(|rule| rule.name).collect();
        self.waived.push(place.ok_or_else(|| NoSuchRule { name: name.to_owned(), known: known() })?);
        Ok(())
    }

    /// Runs a script.
    pub fn run(&self, script: &[Step]) -> TestedScript {
        self.run_knowing(script, &|_| false)
    }

    /// Runs a script. A finding that is like a known one stays as large as it was.
    pub fn run_knowing(&self, script: &[Step], is_known: &dyn Fn(&Likeness) -> bool) -> TestedScript {
        let server = &self.server;
        let fresh = || self.fresh();
        let begun = Instant::now();
        let run = server.run(script, &finding::waiving(&self.initial, &self.waived), &fresh());
        let took = begun.elapsed();
        let mut last = self.last.borrow_mut();
        let (script, run) = match (&run.end, last.as_ref()) {
            (End::Unreachable(error), Some((script, before))) => {
                (script.clone(), Run { end: End::Gone(error.clone()), ..before.clone() })
            }
            _ => (script.to_vec(), run),
        };
        if !run.answered.is_empty() {
            *last = Some((script.clone(), run.clone()));
        }
        drop(last);
        let tested = ServiceUnderTest { server, initial: &self.initial, waived: &self.waived, fresh: &fresh, is_known };
        let finding = tested.finding(&script, &run, took.as_secs_f64());
        let inconclusive = match &run.end {
            End::Unreachable(error) => Some(Inconclusive::Unreachable(error.clone())),
            End::Failed(reason) => Some(Inconclusive::Failed(reason.clone())),
            End::Undecided(reason) => Some(Inconclusive::Undecided(reason.clone())),
            End::Unspecified(reason) => Some(Inconclusive::Unspecified(reason.clone())),
            End::NotReset(reason) => Some(Inconclusive::NotReset(reason.clone())),
            End::Stopped => Some(Inconclusive::Stopped),
            _ => None,
        };
        let is_kept = |rule: &&usize| {
            let others: Rules = self.waived.iter().copied().filter(|other| other != *rule).collect();
            run.end == End::Over && finding::is_possible(&run, finding::waiving(&self.initial, &others))
        };
        let kept = self.waived.iter().filter(is_kept).map(|rule| S::RULES[*rule].name).collect();
        let mut answers: BTreeMap<String, usize> = BTreeMap::new();
        let of_clients = || run.exchanges.iter().filter(|exchange| exchange.step().is_some());
        for exchange in of_clients().filter(|exchange| !exchange.is_cut) {
            if let Some((response, _)) = &exchange.answer {
                *answers.entry(format!("{} {}", exchange.request.method, response.status)).or_default() += 1;
            }
        }
        let (requests, others) = (of_clients().count(), run.exchanges.len() - of_clients().count());
        let responses = run.answered.len() - others;
        TestedScript { finding, inconclusive, kept, requests, responses, answers, lost: run.lost, took }
    }

    /// Returns the name of a run, which no other run has.
    fn fresh(&self) -> String {
        self.runs.set(self.runs.get() + 1);
        format!("{}{}", self.prefix, self.runs.get())
    }
}
