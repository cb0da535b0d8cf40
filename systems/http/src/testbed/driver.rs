//! Makes the requests of a script on a real server, and checks each answer when it arrives.

use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use simutant_oracle::{OnlineError, Session};

use super::wire::{self, Malformed};
use crate::message::{Method, Request, Seen};
use crate::script::{Answers, Step};
use crate::specification::Service;
use crate::watch::{Asked, Watch};

/// What is read from a connection at once.
const PIECE_BYTES: usize = 16 * 1024;

/// A request, and what became of it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Exchange {
    /// The place of the step in the script.
    pub(super) step: usize,
    pub(super) request: Request,
    /// The answer, and how many requests had been sent when it arrived.
    pub(super) answer: Option<(Seen, usize)>,
}

/// The end of a script.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum End {
    /// All requests were made, and no answer is wrong.
    Over,
    /// The answer to this exchange cannot be.
    Wrong(usize),
    /// What arrived as the answer to this exchange is no response.
    Malformed(usize, String),
    /// This exchange was not answered in time.
    Silent(usize),
    /// No connection can be made.
    Unreachable(String),
    /// It is not known whether the answers can be.
    Undecided(String),
}

/// What was seen of a script.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Run {
    /// In the order in which requests were sent.
    pub(super) exchanges: Vec<Exchange>,
    /// The places of exchanges in the order of their answers.
    pub(super) answered: Vec<usize>,
    /// How many connections were closed before an answer.
    pub(super) lost: usize,
    pub(super) end: End,
}

impl Run {
    /// Returns how many messages were sent and received.
    pub(super) fn messages(&self) -> usize {
        self.exchanges.len() + self.answered.len()
    }
}

/// The server, and what is expected of it.
#[derive(Debug, Clone)]
pub(super) struct Target {
    pub(super) address: SocketAddr,
    /// How the paths of the script begin.
    pub(super) prefix: String,
    pub(super) service: Service,
    /// How long an answer may take.
    pub(super) patience: Duration,
}

struct Connection {
    stream: TcpStream,
    received: Vec<u8>,
    open: Option<Open>,
}

/// A request without an answer.
struct Open {
    exchange: usize,
    method: Method,
    asked: Asked,
    due: Instant,
}

impl Target {
    /// Makes the requests of a script.
    pub(super) fn run(&self, script: &[Step]) -> Run {
        let mut run = Run { exchanges: Vec::new(), answered: Vec::new(), lost: 0, end: End::Over };
        if let Err(end) = self.make(script, &mut run) {
            run.end = end;
        }
        run
    }

    fn make(&self, script: &[Step], run: &mut Run) -> Result<(), End> {
        let mut watch = Watch::new(self.service.clone());
        let mut answers = Answers::default();
        let highest = script.iter().map(|step| step.connection).max().unwrap_or_default();
        let mut connections: Vec<Option<Connection>> = (0..=highest).map(|_| None).collect();
        let mut left = script.iter().enumerate().peekable();
        loop {
            while let Some((place, step)) = left.next_if(|(_, step)| {
                connections[usize::from(step.connection)].as_ref().is_none_or(|connection| connection.open.is_none())
            }) {
                let request = step.request(&self.prefix, &answers);
                let session = Session(step.connection.into());
                let asked = watch.asked(session, request.clone());
                let (exchange, method) = (run.exchanges.len(), step.method);
                let bytes = wire::bytes(&request, &self.address.to_string());
                run.exchanges.push(Exchange { step: place, request, answer: None });
                let connection = &mut connections[usize::from(step.connection)];
                let open = Open { exchange, method, asked, due: Instant::now() + self.patience };
                self.send(connection, &bytes)?.open = Some(open);
            }
            if connections.iter().flatten().all(|connection| connection.open.is_none()) {
                return Ok(());
            }
            self.wait(&mut connections)?;
            for slot in &mut connections {
                let Some(connection) = slot.as_mut().filter(|connection| connection.open.is_some()) else { continue };
                let is_ended = connection.receive();
                let open = connection.open.as_ref().expect("it was looked at");
                let exchange = open.exchange;
                let answer = wire::response(&connection.received, open.method, is_ended)
                    .map_err(|Malformed(reason)| End::Malformed(exchange, reason))?;
                let Some(answer) = answer else {
                    if is_ended {
                        // The request may have been performed, or not.
                        run.lost += 1;
                        watch.lost(&open.asked);
                        *slot = None;
                    } else if Instant::now() >= open.due {
                        return Err(End::Silent(exchange));
                    }
                    continue;
                };
                connection.received.drain(..answer.bytes);
                let Open { asked, .. } = connection.open.take().expect("it was looked at");
                if answer.closes || is_ended {
                    *slot = None;
                }
                let (step, sent) = (&script[run.exchanges[exchange].step], run.exchanges.len());
                answers.add(step, &answer.seen);
                run.exchanges[exchange].answer = Some((answer.seen.clone(), sent));
                run.answered.push(exchange);
                match watch.answered(&asked, answer.seen) {
                    Ok(_) => {}
                    Err(OnlineError::Impossible { .. }) => return Err(End::Wrong(exchange)),
                    Err(error) => return Err(End::Undecided(error.to_string())),
                }
            }
        }
    }

    /// Sends a request, on a new connection if the last one is gone.
    fn send<'a>(&self, slot: &'a mut Option<Connection>, bytes: &[u8]) -> Result<&'a mut Connection, End> {
        // A connection that was closed meanwhile takes no request: nothing was sent on it.
        if slot.as_mut().is_some_and(|connection| connection.receive() || connection.stream.write_all(bytes).is_err()) {
            *slot = None;
        } else if let Some(connection) = slot {
            return Ok(connection);
        }
        let connect = || {
            let mut stream = TcpStream::connect_timeout(&self.address, self.patience)?;
            stream.set_nodelay(true)?;
            stream.set_nonblocking(true)?;
            stream.write_all(bytes)?;
            Ok(Connection { stream, received: Vec::new(), open: None })
        };
        let connection = connect().map_err(|error: std::io::Error| End::Unreachable(error.to_string()))?;
        Ok(slot.insert(connection))
    }

    /// Waits until something arrives, or an answer is late.
    fn wait(&self, connections: &mut [Option<Connection>]) -> Result<(), End> {
        let open = || connections.iter().flatten().filter_map(|it| Some((it, it.open.as_ref()?)));
        let due = open().map(|(_, open)| open.due).min();
        let left = due.map_or(self.patience, |due| due.saturating_duration_since(Instant::now()));
        let mut waiting: Vec<PollFd<'_>> = open().map(|(it, _)| PollFd::new(&it.stream, PollFlags::IN)).collect();
        let left =
            Timespec { tv_sec: left.as_secs().try_into().unwrap_or(i64::MAX), tv_nsec: left.subsec_nanos().into() };
        match poll(&mut waiting, Some(&left)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(End::Unreachable(error.to_string())),
        }
    }
}

impl Connection {
    /// Receives what is there, and returns whether nothing more comes.
    fn receive(&mut self) -> bool {
        let mut piece = [0; PIECE_BYTES];
        loop {
            match self.stream.read(&mut piece) {
                Ok(0) => return true,
                Ok(count) => self.received.extend_from_slice(&piece[..count]),
                Err(error) if error.kind() == ErrorKind::WouldBlock => return false,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(_) => return true,
            }
        }
    }
}
