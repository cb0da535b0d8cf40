//! Serves as origin servers: takes what a proxy forwards, and answers it.

use std::io::{self, ErrorKind, Write};
use std::net::{Ipv4Addr, Shutdown, TcpListener, TcpStream};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags};

use crate::driver::receive;
use crate::message::Request;
use crate::origin::{Ending, Framing, OriginAnswer};
use crate::wire::{self, Malformed};

/// How long a proxy may take to read an answer.
const PATIENCE: Duration = Duration::from_secs(1);

/// How long an origin reads on after it has said its last. What closes with something unread resets the connection, and what
/// was said is lost (RFC 9112, section 9.6).
const LINGERING: Duration = Duration::from_millis(20);

/// Origin servers of a run, which end with it.
#[derive(Debug)]
pub(crate) struct Serving {
    origins: Vec<Origin>,
    connections: Vec<Accepted>,
    answer: fn(&Request, usize) -> OriginAnswer,
    /// How many requests were received.
    received: usize,
}

#[derive(Debug)]
struct Origin {
    listener: TcpListener,
    /// Its host and port.
    name: String,
}

/// A connection of the proxy.
#[derive(Debug)]
struct Accepted {
    origin: String,
    stream: TcpStream,
    received: Vec<u8>,
    /// Until when it is read on, if the origin has said its last.
    lingers: Option<Instant>,
}

/// A request that an origin received, and what it did.
#[derive(Debug)]
pub(crate) struct Received {
    pub(crate) origin: String,
    /// What was received, or why it is no request.
    pub(crate) request: Result<(Request, OriginAnswer), String>,
}

impl Serving {
    /// Opens origins on free ports.
    pub(crate) fn open(count: u8, answer: fn(&Request, usize) -> OriginAnswer) -> io::Result<Self> {
        let open = |_| {
            let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
            listener.set_nonblocking(true)?;
            let name = listener.local_addr()?.to_string();
            Ok(Origin { listener, name })
        };
        let origins = (0..count).map(open).collect::<io::Result<_>>()?;
        Ok(Self { origins, connections: Vec::new(), answer, received: 0 })
    }

    /// Returns the hosts and ports.
    pub(crate) fn names(&self) -> Vec<String> {
        self.origins.iter().map(|origin| origin.name.clone()).collect()
    }

    /// Returns what a proxy may send something on.
    pub(crate) fn waiting(&self) -> impl Iterator<Item = PollFd<'_>> {
        let listeners = self.origins.iter().map(|origin| PollFd::new(&origin.listener, PollFlags::IN));
        listeners.chain(self.connections.iter().map(|it| PollFd::new(&it.stream, PollFlags::IN)))
    }

    /// Returns when a connection is to be closed next.
    pub(crate) fn next_close(&self) -> Option<Instant> {
        self.connections.iter().filter_map(|it| it.lingers).min()
    }

    /// Answers the requests that are there.
    ///
    /// # Errors
    /// If a connection cannot be accepted, as there is no file descriptor left, for example.
    pub(crate) fn serve(&mut self) -> io::Result<Vec<Received>> {
        for Origin { listener, name } in &self.origins {
            loop {
                let stream = match listener.accept() {
                    Ok((stream, _)) => stream,
                    Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                    // Who connected has left.
                    Err(error) if matches!(error.kind(), ErrorKind::ConnectionAborted | ErrorKind::Interrupted) => {
                        continue;
                    }
                    Err(error) => return Err(error),
                };
                // Who closes early has nothing to say.
                let options = stream.set_nonblocking(false).and_then(|()| stream.set_nodelay(true));
                if options.and_then(|()| stream.set_write_timeout(Some(PATIENCE))).is_ok() {
                    self.connections.push(Accepted {
                        origin: name.clone(),
                        stream,
                        received: Vec::new(),
                        lingers: None,
                    });
                }
            }
        }
        let mut all = Vec::new();
        for mut connection in std::mem::take(&mut self.connections) {
            let is_ended = receive(&connection.stream, &mut connection.received);
            if let Some(until) = connection.lingers {
                connection.received.clear();
                if !is_ended && Instant::now() < until {
                    self.connections.push(connection);
                }
                continue;
            }
            let is_kept = loop {
                let origin = connection.origin.clone();
                match wire::request(&connection.received) {
                    Ok(None) => break true,
                    Err(Malformed(reason)) => {
                        all.push(Received { origin, request: Err(reason) });
                        break false;
                    }
                    Ok(Some(asked)) => {
                        self.received += 1;
                        connection.received.drain(..asked.bytes);
                        let mut answer = (self.answer)(&asked.request, self.received);
                        if asked.is_old && answer.framing == Framing::Chunked {
                            answer.framing = Framing::Sized;
                        }
                        let bytes = wire::answer(&asked.request.method, &answer);
                        let is_over = connection.stream.write_all(&bytes).is_err()
                            || asked.is_last
                            || answer.ending != Ending::Kept
                            || answer.framing == Framing::Closed;
                        all.push(Received { origin, request: Ok((asked.request, answer)) });
                        if is_over {
                            break false;
                        }
                    }
                }
            };
            if is_ended {
                continue;
            }
            if !is_kept {
                _ = connection.stream.shutdown(Shutdown::Write);
                connection.lingers = Some(Instant::now() + LINGERING);
            }
            self.connections.push(connection);
        }
        Ok(all)
    }
}
