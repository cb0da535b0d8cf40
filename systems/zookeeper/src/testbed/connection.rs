//! A session of a real server, as the machine has it: the counterpart of the simulation's connection.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;
use simutant_harness::{Finding, FindingClass, Inconclusive, Verdict};
use simutant_oracle::{Session, Time};
use simutant_zookeeper_histories::{Error, Event, Operation, Response};

use super::client::SESSION_TIMEOUT;
use super::{Client, ClientError};
use crate::machine::{Lost, Service};

/// After how long a silent client's session ends: what the servers' settings allow.
const SILENCE: Duration = Duration::from_millis(200);

/// How long a server that crashed may take to serve again: seconds, and more on a busy machine.
const COMING_BACK_MAX: Duration = Duration::from_secs(20);

/// The first thing that went wrong, beside what the clients saw.
pub(super) type Problem = Arc<Mutex<Option<Verdict>>>;

/// Clients whose walks are over. Their sessions end when those of all are: nobody asked for their ends, which would delete
/// nodes that others see.
pub(super) type Ended = Arc<Mutex<Vec<Client>>>;

pub(super) fn note(problem: &Problem, verdict: Verdict) {
    problem.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(verdict);
}

/// Returns what the end of a session for this reason means.
pub(super) fn verdict_of(error: &ClientError) -> Verdict {
    let (class, kind) = match error {
        ClientError::NoSession { .. } | ClientError::NoTree { .. } => {
            return Verdict::Inconclusive(Inconclusive { reason: error.to_string() });
        }
        ClientError::Late => (FindingClass::NotTerminated, "no-answer"),
        ClientError::Broken(_) => (FindingClass::Abnormal, "connection-broke"),
        ClientError::Malformed(_) => (FindingClass::WrongResult, "malformed"),
        ClientError::OutOfOrder { .. } => (FindingClass::WrongResult, "out-of-order"),
        ClientError::Unspecified(_) => (FindingClass::WrongResult, "unspecified-error"),
    };
    Verdict::Fail(Finding { class, kind: kind.into(), summary: error.to_string(), detail: Value::Null })
}

/// A session of the server, as the machine has it.
pub(super) struct Connection {
    pub(super) address: SocketAddr,
    pub(super) session: Session,
    /// The root of the test case's tree.
    pub(super) root: String,
    /// Whether connections may break.
    pub(super) may_break: bool,
    /// How long it waits for an answer before it looks. A real server answers sooner than the simulated one, and faults
    /// would come when all is over.
    pub(super) pace: Duration,
    /// None before there is a session.
    pub(super) client: Option<Client>,
    /// Whether the connection is there, as far as is known.
    pub(super) is_connected: bool,
    /// Whether the session has ended, as the client was silent.
    pub(super) is_expired: bool,
    /// Whether the session has asked for its end.
    pub(super) is_closing: bool,
    pub(super) ended: Ended,
    pub(super) clock: Instant,
    pub(super) deadline: Instant,
    pub(super) problem: Problem,
}

impl Connection {
    fn with<T>(&mut self, act: impl FnOnce(&mut Client) -> Result<T, ClientError>) -> Result<T, Lost> {
        let is_connected = self.is_connected;
        let client = self.client.as_mut().filter(|_| is_connected).ok_or(Lost)?;
        let acted = act(client);
        acted.map_err(|error| self.lose(&error))
    }

    fn lose(&mut self, error: &ClientError) -> Lost {
        if !(self.may_break && matches!(error, ClientError::Broken(_))) {
            note(&self.problem, verdict_of(error));
        }
        self.is_connected = false;
        Lost
    }

    /// Goes on with the session over another connection, and returns whether it has ended.
    fn again(&mut self, timeout: Duration) -> Result<bool, Lost> {
        let (session, deadline) = (self.session, self.deadline);
        let client = self.client.as_mut().ok_or(Lost)?;
        match client.again(session, timeout, deadline) {
            Ok(is_there) => {
                self.is_connected = is_there;
                Ok(!is_there)
            }
            Err(error) => {
                // It was tried until the deadline: that is no connection which breaks.
                let is_short = deadline.saturating_duration_since(self.clock) < COMING_BACK_MAX;
                let verdict = match &error {
                    ClientError::Broken(_) | ClientError::Late if is_short => Verdict::Inconclusive(Inconclusive {
                        reason: format!("servers took too long to start for one to come back in time: {error}"),
                    }),
                    error => verdict_of(error),
                };
                note(&self.problem, verdict);
                Err(self.lose(&error))
            }
        }
    }

    fn new_session(&self) -> Result<Client, ClientError> {
        let mut client = Client::connect(self.address, self.session, self.deadline)?;
        client.set_root(self.root.as_str());
        Ok(client)
    }
}

impl Service for Connection {
    async fn connect(&mut self) -> Result<(), Lost> {
        if self.client.is_some() && !self.is_expired {
            match self.again(SESSION_TIMEOUT)? {
                false => return Ok(()),
                // Nobody knew whether it was closed before the connection broke.
                true if self.is_closing => {}
                true => {
                    let summary = format!("{} has ended before its time", self.session);
                    note(&self.problem, Verdict::Fail(Finding::wrong_result("session-lost", summary)));
                    return Err(Lost);
                }
            }
        }
        (self.client, self.is_expired, self.is_closing) = (None, false, false);
        let client = self.new_session().map_err(|error| self.lose(&error))?;
        (self.client, self.is_connected) = (Some(client), true);
        Ok(())
    }

    async fn send(&mut self, operation: &Operation) -> Result<(), Lost> {
        if self.is_expired {
            return Ok(());
        }
        self.is_closing |= *operation == Operation::Close;
        self.with(|client| {
            client.send(operation);
            client.flush()
        })
    }

    async fn receive(&mut self) -> Result<Response, Lost> {
        if self.is_expired {
            // No connection is there on which the server could say so.
            return Ok(Response::Error(Error::SessionExpired));
        }
        let deadline = self.deadline;
        std::thread::sleep(self.pace);
        self.with(|client| client.receive(deadline)).map(|reply| reply.response)
    }

    fn events(&mut self) -> Vec<Event> {
        self.client.as_mut().map(Client::events).unwrap_or_default()
    }

    fn timeout(&self) -> Duration {
        SILENCE
    }

    async fn fall_silent(&mut self, halves: u32) -> Result<bool, Lost> {
        self.is_expired = self.again(SILENCE)?;
        if !self.is_expired {
            std::thread::sleep(SILENCE / 2 * halves);
            self.is_expired = self.again(SESSION_TIMEOUT)?;
        }
        Ok(self.is_expired)
    }

    fn now(&self) -> Time {
        Time::from_nanos(u64::try_from(self.clock.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Some(client) = self.client.take() {
            self.ended.lock().unwrap_or_else(PoisonError::into_inner).push(client);
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::io::Write;
    use std::net::{TcpListener, TcpStream};
    use std::pin::pin;
    use std::task::{Context, Poll, Waker};

    use super::*;

    /// Is a server that gives one session; returns the connection.
    pub(in super::super) fn give_a_session(listener: &TcpListener) -> TcpStream {
        let (mut stream, _) = listener.accept().expect("somebody connects");
        let granted = [&[0; 4][..], &40_000_i32.to_be_bytes(), &7_i64.to_be_bytes(), &16_i32.to_be_bytes(), &[0; 17]];
        let authenticated = [&(-4_i32).to_be_bytes()[..], &[0; 12]];
        for message in [granted.concat(), authenticated.concat()] {
            let length = u32::try_from(message.len()).expect("it is short").to_be_bytes();
            stream.write_all(&[&length, &message[..]].concat()).expect("the client is there");
        }
        stream
    }

    /// Returns what is noted where a server is gone for ever, or is there and answers nothing, and clients have begun so long
    /// before the time limit.
    #[track_caller]
    fn verdict_after(time: Duration, is_silent: bool) -> Verdict {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
        let address = listener.local_addr().expect("it is bound");
        let server = std::thread::spawn(move || (give_a_session(&listener), is_silent.then_some(listener)));
        let limit = Instant::now() + Duration::from_secs(30);
        let client = Client::connect(address, Session(1), limit).expect("there is a server");
        let (stream, _silent) = server.join().expect("it ends");
        drop(stream);
        let deadline = Instant::now() + Duration::from_millis(50);
        let mut connection = Connection {
            address,
            session: Session(1),
            root: String::new(),
            may_break: true,
            pace: Duration::ZERO,
            client: Some(client),
            is_connected: false,
            is_expired: false,
            is_closing: false,
            ended: Ended::default(),
            clock: deadline.checked_sub(time).expect("the machine has run for longer"),
            deadline,
            problem: Problem::default(),
        };
        let connected = pin!(connection.connect()).poll(&mut Context::from_waker(Waker::noop()));
        assert_eq!(connected, Poll::Ready(Err(Lost)));
        let problem = connection.problem.lock().expect("nobody panics").clone();
        problem.expect("it is noted")
    }

    #[test]
    fn a_server_that_does_not_come_back_is_a_failure_if_there_was_time() {
        for (is_silent, kind) in [(false, "connection-broke"), (true, "no-answer")] {
            let verdict = verdict_after(COMING_BACK_MAX, is_silent);
            assert_eq!(verdict.finding().map(|finding| &*finding.kind), Some(kind));
            let verdict = verdict_after(COMING_BACK_MAX / 2, is_silent);
            assert!(matches!(verdict, Verdict::Inconclusive(_)), "{verdict:?}");
        }
    }
}
