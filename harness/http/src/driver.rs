//! Makes the requests of a script, and checks each answer when it arrives.

use std::collections::{BTreeMap, VecDeque};
use std::fmt::Display;
use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::fs::FileExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{MemfdFlags, OFlags, fcntl_setfl, memfd_create};
use rustix::net::{RecvFlags, recv};
use rustix::process::{Pid, Signal, kill_process_group};
use simutant_oracle::Session;

use crate::checking::{self, Checking};
use crate::message::{Request, Response};
use crate::origin::OriginAnswer;
use crate::script::{Answers, Step, Substitute};
use crate::service::HttpService;
use crate::serving::{Received, Serving};
use crate::watch::{PendingRequest, Unsure, Wrong};
use crate::wire::{self, Malformed};

/// What is read from a connection at once.
const PIECE_BYTES: usize = 16 * 1024;

/// How long the command that resets the server may take.
const RESET_MAX: Duration = Duration::from_secs(60);

/// How long to wait before looking again whether it has ended.
const RESET_INTERVAL: Duration = Duration::from_millis(2);

/// How many steps of the specification the check at the end of a script takes at most.
const STEPS_MAX: u64 = 1_000_000;

/// How long a client that has seen enough waits for the answers that are under way.
const LEAVING: Duration = Duration::from_millis(50);

/// A request, and what became of it.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Exchange {
    pub(crate) side: Side,
    /// On which of all connections it went out; 0 of a proxy's.
    pub(crate) session: Session,
    pub(crate) request: Request,
    pub(crate) substitutes: Vec<Substitute>,
    /// The answer, and how many requests had been sent when it arrived.
    pub(crate) answer: Option<(Response, usize)>,
    /// Whether the connection was closed before the whole answer was there.
    pub(crate) is_cut: bool,
}

/// Who makes a request.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Side {
    /// A client, for the step of the script at this place.
    Client { step: usize },
    /// A proxy, to the origin server of this name.
    Origin { name: String, answer: OriginAnswer },
}

impl Exchange {
    /// Returns the place of its step in the script, if a client made it.
    pub(crate) const fn step(&self) -> Option<usize> {
        match self.side {
            Side::Client { step } => Some(step),
            Side::Origin { .. } => None,
        }
    }
}

/// The end of a script.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum End {
    /// All requests were made, and no answer is wrong.
    Over,
    /// The answer to this exchange cannot be.
    Wrong(usize),
    /// What arrived as the answer to this exchange is no response.
    Malformed(usize, String),
    /// What this origin server received is no request.
    Garbled(String, String),
    /// After the answer to this exchange so many bytes came that nobody had asked for.
    Unasked(usize, usize),
    /// This exchange was not answered in time.
    Silent(usize),
    /// The connection was closed before the answer to this exchange was there, and not because it had been used before.
    Closed(usize),
    /// No connection can be made any more.
    Gone(String),
    /// No connection can be made.
    Unreachable(String),
    /// The tester itself has failed, as it has no file descriptor left, for example.
    Failed(String),
    /// It is not known whether the answers can be.
    Undecided(String),
    /// A request cannot be sent, or the specification knows none such.
    Unspecified(String),
    /// The command that goes before a script failed.
    NotReset(String),
    /// Nobody wants to know more.
    Stopped,
}

impl End {
    /// Returns the exchange that it is about.
    pub(crate) const fn exchange(&self) -> Option<usize> {
        match self {
            Self::Wrong(at) | Self::Malformed(at, _) | Self::Unasked(at, _) | Self::Silent(at) | Self::Closed(at) => {
                Some(*at)
            }
            _ => None,
        }
    }
}

/// What was seen of a script.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Run {
    /// In the order in which requests were sent.
    pub(crate) exchanges: Vec<Exchange>,
    /// The places of exchanges in the order of their answers.
    pub(crate) answered: Vec<usize>,
    /// How many requests were lost, as the connection was closed before the answer.
    pub(crate) lost: usize,
    pub(crate) end: End,
}

impl Run {
    /// Returns how many messages were sent and received.
    pub(crate) fn messages(&self) -> usize {
        self.exchanges.len() + self.answered.len()
    }
}

/// The server, and how it is asked.
#[derive(Debug, Clone)]
pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    /// What requests call it.
    pub(crate) host: String,
    /// What all its paths begin with.
    pub(crate) base: String,
    /// The headers of requests that have none of these names.
    pub(crate) headers: BTreeMap<String, String>,
    /// How long an answer may take.
    pub(crate) patience: Duration,
    /// The command of a shell that is run before each script.
    pub(crate) reset: Option<String>,
    /// Whether nothing more is to be asked.
    pub(crate) is_stopped: Arc<AtomicBool>,
}

struct Connection {
    stream: TcpStream,
    session: Session,
    received: Vec<u8>,
    /// Whether a request was answered on it.
    is_used: bool,
    open: VecDeque<Open>,
    /// The exchange that was answered last on it.
    last: usize,
}

/// A request without an answer.
struct Open {
    exchange: usize,
    asked: PendingRequest,
    due: Instant,
}

/// What the specification looks at: where it panics, this is said.
struct LookedAt<'a> {
    request: &'a Request,
    said: &'a str,
}

impl Drop for LookedAt<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // Nobody can be told that nobody can be told.
            _ = writeln!(io::stderr(), "that was when {} was answered {}", self.request, self.said);
        }
    }
}

impl Server {
    /// Makes the requests of a script on a service that begins in a state.
    pub(crate) fn run<S: HttpService>(&self, script: &[Step], initial: &S, run: &str) -> Run {
        let mut seen = Run { exchanges: Vec::new(), answered: Vec::new(), lost: 0, end: End::Over };
        if let Err(end) = self.prepare() {
            return Run { end, ..seen };
        }
        let serving = match S::origins().map(|origins| Serving::open(origins.count, origins.answer)).transpose() {
            Ok(serving) => serving,
            Err(error) => return Run { end: End::Failed(format!("cannot open an origin server: {error}")), ..seen },
        };
        let connections = script.iter().map(|step| usize::from(step.connection) + 1).max().unwrap_or(0);
        let mut client = Client {
            server: self,
            script,
            name: run,
            checking: Checking::new(initial.clone()),
            answers: Answers::with_origins(serving.as_ref().map(Serving::names).unwrap_or_default()),
            serving,
            connections: (0..connections).map(|_| None).collect(),
            opened: 0,
        };
        if let Err(end) = client.make(&mut seen) {
            seen.end = end;
            client.leave(&seen);
        }
        seen
    }

    /// Runs the command that goes before a script.
    fn prepare(&self) -> Result<(), End> {
        if self.is_stopped.load(Ordering::SeqCst) {
            return Err(End::Stopped);
        }
        let Some(reset) = &self.reset else { return Ok(()) };
        let unable = |error: io::Error| End::Failed(format!("cannot run the command that resets the server: {error}"));
        let failed = |message: &dyn Display| End::NotReset(format!("`{reset}`: {message}"));
        // What the command leaves running, such as a server, may write there for as long as it likes.
        let errors: File = memfd_create("errors", MemfdFlags::CLOEXEC).map_err(|error| unable(error.into()))?.into();
        // Some open it anew, by the name /dev/stderr, and from its beginning.
        fcntl_setfl(&errors, OFlags::APPEND).map_err(|error| unable(error.into()))?;
        let mut command = Command::new("sh");
        command.args(["-c", reset]).stdin(Stdio::null()).stdout(Stdio::null()).process_group(0);
        command.stderr(errors.try_clone().map_err(unable)?);
        let mut shell = command.spawn().map_err(unable)?;
        let end = Instant::now() + RESET_MAX;
        let status = loop {
            if let Some(status) = shell.try_wait().map_err(unable)? {
                break status;
            }
            let is_stopped = self.is_stopped.load(Ordering::SeqCst);
            if is_stopped || Instant::now() >= end {
                // What is left of it has nothing to say.
                _ = kill_process_group(Pid::from_child(&shell), Signal::KILL);
                _ = shell.wait();
                return Err(if is_stopped { End::Stopped } else { failed(&"it takes more than a minute") });
            }
            std::thread::sleep(RESET_INTERVAL);
        };
        if status.success() {
            return Ok(());
        }
        let mut said = vec![0; errors.metadata().map_or(0, |metadata| metadata.len() as usize)];
        let length = errors.read_at(&mut said, 0).map_err(unable)?;
        let said = String::from_utf8_lossy(&said[..length]);
        match said.lines().rfind(|line| !line.trim().is_empty()) {
            Some(said) => Err(failed(&format_args!("{status}: {said}"))),
            None => Err(failed(&status)),
        }
    }

    /// Returns a request as it is sent: with the beginning of its path, and the headers that all have.
    pub(crate) fn whole(&self, request: &Request) -> Request {
        let mut whole = request.clone();
        if request.authority().is_none() {
            whole.path.insert_str(0, &self.base);
        }
        for (name, value) in self.headers.iter().filter(|(name, _)| request.get(name).is_none()) {
            whole.headers.insert(name.clone(), value.clone());
        }
        whole
    }

    /// Returns a path of the service, where a server says a whole URL of it.
    fn path<'a>(&self, place: &'a str) -> &'a str {
        let path = match place.strip_prefix("http://").map(|rest| rest.split_at(rest.find('/').unwrap_or(rest.len()))) {
            Some((authority, path)) if self.is_called(authority) => path,
            _ => place,
        };
        let inside = path.strip_prefix(&self.base).unwrap_or(path);
        [inside, path].into_iter().find(|path| path.starts_with('/')).unwrap_or(place)
    }

    /// Returns whether somebody means the server by this host and port. A server on this machine has several names.
    fn is_called(&self, authority: &str) -> bool {
        let split = |authority: &str| match authority.rsplit_once(':') {
            Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => (name.to_owned(), port.to_owned()),
            _ => (authority.to_owned(), "80".to_owned()),
        };
        let ((name, port), (own, own_port)) = (split(authority), split(&self.host));
        let is_here = |name: &str| matches!(name, "localhost" | "127.0.0.1" | "[::1]");
        port == own_port && (name.eq_ignore_ascii_case(&own) || is_here(&name) && is_here(&own))
    }

    /// Returns a response that says where something is as requests do.
    fn relative(&self, mut response: Response) -> Response {
        for name in ["location", "content-location"] {
            if let Some(place) = response.headers.get_mut(name) {
                *place = self.path(place).to_owned();
            }
        }
        response
    }
}

/// A client of a run.
struct Client<'a, S: HttpService> {
    server: &'a Server,
    script: &'a [Step],
    /// What `<run>` stands for.
    name: &'a str,
    checking: Checking<S>,
    answers: Answers,
    /// The origin servers behind a proxy.
    serving: Option<Serving>,
    connections: Vec<Option<Connection>>,
    /// How many connections there were.
    opened: u64,
}

impl<S: HttpService> Client<'_, S> {
    fn make(&mut self, run: &mut Run) -> Result<(), End> {
        let script = self.script;
        let mut left = script.iter().enumerate().peekable();
        loop {
            while let Some((place, step)) = left.next_if(|(_, step)| {
                let connection = self.connections[usize::from(step.connection)].as_ref();
                step.pipelined || connection.is_none_or(|connection| connection.open.is_empty())
            }) {
                self.send(place, step, run)?;
            }
            if self.connections.iter().flatten().all(|connection| connection.open.is_empty()) {
                return self.checking.finish(STEPS_MAX).map_err(|unsure| match unsure {
                    Unsure::Wrong(Wrong { request }) => End::Wrong(request),
                    Unsure::Exhausted(limit) => End::Undecided(format!("the check ran out of {limit}")),
                });
            }
            self.wait(Instant::now() + self.server.patience)?;
            self.serve(run)?;
            for number in 0..self.connections.len() {
                self.receive(number, run)?;
            }
        }
    }

    /// Sends the request of a step, on a new connection if the last one is gone.
    fn send(&mut self, place: usize, step: &Step, run: &mut Run) -> Result<(), End> {
        let (mut request, substitutes) = step.request(self.name, &self.answers);
        request.path = self.server.path(&request.path).to_owned();
        if let Some(mistake) = request.mistake(self.serving.is_some()) {
            let (label, path) = (step.label, &request.path);
            return Err(End::Unspecified(format!("step {label} asks for {path:?}, which cannot be sent: {mistake}")));
        }
        if self.serving.is_none() {
            checking::operation::<S>(&request)?;
        }
        let host = request.authority().unwrap_or(&self.server.host);
        let bytes = wire::bytes(&self.server.whole(&request), host);
        let was_there = !run.answered.is_empty();
        let unreachable = |error: io::Error| match is_of_server(&error) {
            true if was_there => End::Gone(error.to_string()),
            true => End::Unreachable(error.to_string()),
            false => End::Failed(format!("cannot make a connection: {error}")),
        };
        let number = usize::from(step.connection);
        let is_gone = match &mut self.connections[number] {
            None => true,
            Some(connection) => {
                // A connection that was closed meanwhile takes no request: nothing was sent on it.
                let is_ended = connection.open.is_empty() && connection.receive();
                connection.nothing_is_left(self.serving.is_some())?;
                is_ended || connection.stream.write_all(&bytes).is_err()
            }
        };
        if is_gone {
            self.lose(number, run);
            let mut stream =
                TcpStream::connect_timeout(&self.server.address, self.server.patience).map_err(unreachable)?;
            let options = stream.set_nodelay(true).and_then(|()| stream.set_write_timeout(Some(self.server.patience)));
            options.and_then(|()| stream.write_all(&bytes)).map_err(unreachable)?;
            self.opened += 1;
            let session = Session(self.opened);
            self.connections[number] = Some(Connection {
                stream,
                session,
                received: Vec::new(),
                is_used: false,
                open: VecDeque::new(),
                last: 0,
            });
        }
        let connection = self.connections[number].as_mut().expect("it was opened");
        let (side, session) = (Side::Client { step: place }, connection.session);
        let exchange = Exchange { side, session, request, substitutes, answer: None, is_cut: false };
        let asked = self.checking.begun(run.exchanges.len(), &exchange)?;
        let due = Instant::now() + self.server.patience;
        connection.open.push_back(Open { exchange: run.exchanges.len(), asked, due });
        run.exchanges.push(exchange);
        Ok(())
    }

    /// Answers what a proxy has forwarded.
    fn serve(&mut self, run: &mut Run) -> Result<(), End> {
        let Some(serving) = &mut self.serving else { return Ok(()) };
        let received = serving.serve().map_err(|error| End::Failed(format!("failed as an origin server: {error}")))?;
        for Received { origin, request } in received {
            let at = run.exchanges.len();
            let (request, answer) = request.map_err(|reason| End::Garbled(origin.clone(), reason))?;
            let response = answer.response.clone();
            let side = Side::Origin { name: origin, answer };
            let (session, answer) = (Session(0), Some((response, at + 1)));
            let exchange = Exchange { side, session, request, substitutes: Vec::new(), answer, is_cut: false };
            run.exchanges.push(exchange);
            run.answered.push(at);
            self.checking.begun(at, &run.exchanges[at])?;
        }
        Ok(())
    }

    /// Takes the answers that are there on a connection.
    fn receive(&mut self, number: usize, run: &mut Run) -> Result<(), End> {
        let Some(connection) = self.connections[number].as_mut().filter(|it| !it.open.is_empty()) else {
            return Ok(());
        };
        let is_ended = connection.receive();
        let mut closes = is_ended;
        while let Some(open) = connection.open.front() {
            let exchange = open.exchange;
            let malformed = |reason: String| End::Malformed(exchange, reason);
            let method = &run.exchanges[exchange].request.method;
            let answer = wire::response(&connection.received, method, is_ended)
                .map_err(|Malformed(reason)| malformed(reason))?;
            let Some(answer) = answer else {
                // A server may close a connection that has been used, but not in the middle of an answer; a proxy may if an
                // origin has done so.
                if is_ended && (!connection.is_used || !connection.received.is_empty()) {
                    if self.serving.is_none() {
                        return Err(End::Closed(exchange));
                    }
                    let part = wire::part(&connection.received);
                    let Open { asked, .. } = connection.open.pop_front().expect("it was looked at");
                    let sent = run.exchanges.len();
                    let seen = &mut run.exchanges[exchange];
                    (seen.answer, seen.is_cut) = (Some((part.clone(), sent)), true);
                    run.answered.push(exchange);
                    let due = self.checking.due(exchange, seen, &asked);
                    self.checking.answered(exchange, &due, part).map_err(|_| End::Closed(exchange))?;
                    break;
                }
                if !is_ended && Instant::now() >= open.due {
                    return Err(End::Silent(exchange));
                }
                break;
            };
            connection.received.drain(..answer.bytes);
            closes |= answer.closes;
            connection.is_used = true;
            let Open { asked, .. } = connection.open.pop_front().expect("it was looked at");
            connection.last = exchange;
            let (sent, response) = (run.exchanges.len(), self.server.relative(answer.response));
            let seen = &mut run.exchanges[exchange];
            seen.answer = Some((response.clone(), sent));
            run.answered.push(exchange);
            if let Some(step) = seen.step() {
                self.answers.add(&self.script[step], response.clone());
            }
            let said = response.to_string();
            let _looked_at = LookedAt { request: &seen.request, said: &said };
            let due = self.checking.due(exchange, seen, &asked);
            self.checking.answered(exchange, &due, response)?;
            if answer.closes {
                break;
            }
        }
        connection.nothing_is_left(self.serving.is_some())?;
        if closes {
            self.lose(number, run);
        }
        Ok(())
    }

    /// Gives a connection up. The requests without an answer may have been performed, or not.
    fn lose(&mut self, number: usize, run: &mut Run) {
        for Open { asked, .. } in self.connections[number].take().into_iter().flat_map(|connection| connection.open) {
            run.lost += 1;
            self.checking.lost(&asked);
        }
    }

    /// Takes what arrives soon, so that the server has nobody to complain of who left before the answer.
    fn leave(&mut self, run: &Run) {
        let until = Instant::now() + LEAVING;
        while Instant::now() < until && self.connections.iter().flatten().any(|it| !it.open.is_empty()) {
            if self.wait(until).is_err() {
                return;
            }
            if let Some(Err(_)) = self.serving.as_mut().map(Serving::serve) {
                return;
            }
            for slot in &mut self.connections {
                let Some(connection) = slot else { continue };
                let is_ended = connection.receive();
                while let Some(open) = connection.open.front()
                    && let method = &run.exchanges[open.exchange].request.method
                    && let Ok(Some(answer)) = wire::response(&connection.received, method, is_ended)
                {
                    connection.received.drain(..answer.bytes);
                    connection.open.pop_front();
                }
                if is_ended {
                    *slot = None;
                }
            }
        }
    }

    /// Waits until something arrives, or the first answer is late.
    fn wait(&self, until: Instant) -> Result<(), End> {
        let open = || self.connections.iter().flatten().filter_map(|it| Some((it, it.open.front()?)));
        let due = open().map(|(_, open)| open.due).min().map_or(until, |due| due.min(until));
        let close = self.serving.as_ref().and_then(Serving::next_close);
        let due = close.map_or(due, |close| due.min(close));
        let left = due.saturating_duration_since(Instant::now());
        let mut waiting: Vec<PollFd<'_>> = open().map(|(it, _)| PollFd::new(&it.stream, PollFlags::IN)).collect();
        waiting.extend(self.serving.iter().flat_map(Serving::waiting));
        let left =
            Timespec { tv_sec: left.as_secs().try_into().unwrap_or(i64::MAX), tv_nsec: left.subsec_nanos().into() };
        match poll(&mut waiting, Some(&left)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => Ok(()),
            Err(error) => Err(End::Failed(format!("cannot wait for answers: {error}"))),
        }
    }
}

impl Connection {
    /// Checks that a server has sent no more than the answers that it was asked for. What a proxy sends beside them is judged
    /// when somebody takes it for an answer.
    fn nothing_is_left(&self, is_proxy: bool) -> Result<(), End> {
        let is_left = !is_proxy && self.is_used && self.open.is_empty() && !self.received.is_empty();
        if is_left { Err(End::Unasked(self.last, self.received.len())) } else { Ok(()) }
    }

    /// Receives what is there, and returns whether nothing more comes.
    fn receive(&mut self) -> bool {
        receive(&self.stream, &mut self.received)
    }
}

/// Returns whether a connection that cannot be made is the server's failure, or the network's, and not the tester's.
fn is_of_server(error: &io::Error) -> bool {
    use ErrorKind as K;
    matches!(
        error.kind(),
        K::ConnectionRefused
            | K::ConnectionReset
            | K::ConnectionAborted
            | K::BrokenPipe
            | K::HostUnreachable
            | K::NetworkUnreachable
            | K::TimedOut
            | K::WouldBlock
    )
}

/// Receives what is there, and returns whether nothing more comes.
pub(crate) fn receive(stream: &TcpStream, received: &mut Vec<u8>) -> bool {
    let mut piece = [0; PIECE_BYTES];
    loop {
        match recv(stream, &mut piece, RecvFlags::DONTWAIT).map_err(io::Error::from) {
            Ok((0, _)) => return true,
            Ok((count, _)) => received.extend_from_slice(&piece[..count]),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return false,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return true,
        }
    }
}
