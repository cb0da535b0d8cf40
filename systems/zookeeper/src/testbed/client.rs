//! A client of ZooKeeper without a thread: its caller says what is sent when, and when it waits.

use std::collections::VecDeque;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use simutant_oracle::specifications::Text;
use simutant_oracle::{Revision, Session};
use simutant_zookeeper_histories::{CreateMode, Error, Event, Operation, Response};

use super::wire::{self, Asked, Credential, Header, Malformed, xids};

/// For how long nothing may be heard of a session.
pub(super) const SESSION_TIMEOUT: Duration = Duration::from_secs(40);

/// How long a client waits for a session before it tries again: a server that is just starting may never answer a
/// connection (ZOOKEEPER-5051).
const ATTEMPT: Duration = Duration::from_secs(1);

/// How long a client waits before it tries to connect again.
const PAUSE: Duration = Duration::from_millis(20);

/// The number of a call in its session: calls are answered in the order of their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Xid(i32);

/// An answer to a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// Which call.
    pub xid: Xid,
    /// The transaction of the call; of one that reads or fails, the last transaction that its server had done.
    pub transaction: Revision,
    /// What the server answers, after the events that came before it.
    pub response: Response,
}

/// Why a client has no answer.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// The server did not take the connection, or gave no session, in time.
    #[error("no session of the server at {address} in time{}", last.as_ref().map(|error| format!(": {error}")).unwrap_or_default())]
    NoSession {
        /// Where it was sought.
        address: SocketAddr,
        /// Why the last attempt failed.
        last: Option<io::Error>,
    },
    /// A node of the tree of a test case was not created.
    #[error("the answer to the creation of {path} is {answer:?}")]
    NoTree {
        /// The node.
        path: String,
        /// What the server answered.
        answer: Response,
    },
    /// No answer came in time.
    #[error("no answer came in time")]
    Late,
    /// The connection broke.
    #[error("the connection broke: {0}")]
    Broken(#[from] io::Error),
    /// What came is no answer.
    #[error("what came is no answer: {0}")]
    Malformed(#[from] Malformed),
    /// An answer came that is not the next call's.
    #[error("the answer is to call {found}, and the next one is call {expected}")]
    OutOfOrder {
        /// The number of the next call; 0 if none is open.
        expected: i32,
        /// The number in the answer.
        found: i32,
    },
    /// The server answered an error that the specification does not have.
    #[error("the server answered error {0}, which the specification does not have")]
    Unspecified(i32),
}

impl ClientError {
    /// Returns whether waiting longer may help.
    pub const fn is_late(&self) -> bool {
        matches!(self, Self::Late)
    }
}

/// A session of a server, over one connection.
///
/// [`Client::send`] keeps calls until [`Client::flush`], or until an answer is waited for: so the caller decides which
/// calls leave together. The session is the identity `sN:secret` of the scheme `digest` where the specification says
/// [`Who::Session`](simutant_zookeeper_histories::Who::Session).
///
/// All paths are below the client's root, so that many trees fit into one server. The root of the tree is the node
/// that the root names, but for its deletion: that is asked of the server's own root, which is the one that cannot be
/// deleted.
#[derive(Debug)]
pub struct Client {
    address: SocketAddr,
    stream: TcpStream,
    root: String,
    /// What is not sent yet.
    outgoing: Vec<u8>,
    /// What has come and is not read yet.
    incoming: Vec<u8>,
    /// The calls without an answer, in their order.
    open: VecDeque<(Xid, Asked)>,
    /// The events that have come since the last answer.
    events: Vec<Event>,
    last: i32,
    /// The last transaction that it has seen: no server that is behind it may go on with the session.
    seen: i64,
    credential: Credential,
    /// Whether the session was ended by a call.
    is_closed: bool,
}

impl Client {
    /// Connects as a session of the tests. A server that is not there yet is tried again until the deadline.
    ///
    /// # Errors
    /// [`ClientError::NoSession`] at the deadline; another one if the server talks another protocol.
    pub fn connect(address: SocketAddr, session: Session, deadline: Instant) -> Result<Self, ClientError> {
        let mut last = None;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(ClientError::NoSession { address, last });
            }
            let refused = || io::Error::from(ErrorKind::ConnectionRefused);
            match Self::try_connect(address, session, (SESSION_TIMEOUT, None, 0), deadline) {
                Ok(Some(client)) => return Ok(client),
                Ok(None) => last = Some(refused()),
                Err(ClientError::Broken(error)) => last = Some(error),
                Err(ClientError::Late) => {}
                Err(error) => return Err(error),
            }
            std::thread::sleep(PAUSE.min(left));
        }
    }

    /// Goes on with the session of a client, over another connection. From then on it ends if nothing is heard of it for
    /// as long as the timeout. Returns whether it is still there. Events that came before are not lost; calls without an
    /// answer get none.
    ///
    /// # Errors
    /// [`ClientError`]. The session may be there all the same.
    pub fn again(&mut self, session: Session, timeout: Duration, deadline: Instant) -> Result<bool, ClientError> {
        // It may have broken.
        let _ = self.stream.shutdown(Shutdown::Both);
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let known = (timeout, Some(&self.credential), self.seen);
            match Self::try_connect(self.address, session, known, deadline) {
                // The server may be down. And a session that ends at this very moment may lose a connection that it has just
                // been granted.
                Err(ClientError::Broken(_) | ClientError::Late) if !left.is_zero() => {
                    std::thread::sleep(PAUSE.min(left))
                }
                Err(error) => return Err(error),
                Ok(None) => return Ok(false),
                Ok(Some(client)) => {
                    let (root, events) = (std::mem::take(&mut self.root), self.events());
                    *self = Self { root, events, ..client };
                    return Ok(true);
                }
            }
        }
    }

    /// Returns no client if the session that is asked for has ended.
    fn try_connect(
        address: SocketAddr,
        session: Session,
        (timeout, known, seen): (Duration, Option<&Credential>, i64),
        deadline: Instant,
    ) -> Result<Option<Self>, ClientError> {
        let deadline = deadline.min(Instant::now() + ATTEMPT);
        // A timeout of zero is refused.
        let left = deadline.saturating_duration_since(Instant::now()).max(Duration::from_millis(1));
        let stream = TcpStream::connect_timeout(&address, left)?;
        stream.set_nodelay(true)?;
        let mut client = Self {
            address,
            stream,
            root: String::new(),
            outgoing: Vec::new(),
            incoming: Vec::new(),
            open: VecDeque::new(),
            events: Vec::new(),
            last: 0,
            seen,
            credential: Credential { session: 0, password: Vec::new() },
            is_closed: false,
        };
        wire::connect(&mut client.outgoing, i32::try_from(timeout.as_millis()).unwrap_or(i32::MAX), known, seen);
        client.flush()?;
        let granted = client.message(deadline, wire::granted)?;
        if granted.timeout_ms <= 0 {
            return Ok(None);
        }
        client.credential = granted.credential;
        wire::authenticate(&mut client.outgoing, session);
        client.flush()?;
        let header = client.message(deadline, |bytes| wire::header(bytes).map(|(header, _)| header))?;
        match header {
            Header { xid: xids::AUTHENTICATION, error: 0, .. } => Ok(Some(client)),
            Header { xid: xids::AUTHENTICATION, error, .. } => Err(ClientError::Unspecified(error)),
            Header { xid: found, .. } => Err(ClientError::OutOfOrder { expected: xids::AUTHENTICATION, found }),
        }
    }

    /// Takes the events that have come since the last answer.
    pub fn events(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.events)
    }

    /// Returns whether the session was ended by a call that was answered.
    pub const fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Makes a node the root of all paths from now on: `""`, which it is at first, or an absolute path.
    pub fn set_root(&mut self, root: impl Into<String>) {
        self.root = root.into();
    }

    /// Makes a tree as that of a new server, with a node `/zookeeper` and nothing else, below a node, which becomes the
    /// root of all paths; what is there already is left as it is. No call may be open.
    ///
    /// # Errors
    /// Those of [`Client::receive`].
    pub fn make_tree(&mut self, root: &str, deadline: Instant) -> Result<(), ClientError> {
        self.set_root("");
        let nodes = [root.to_owned(), format!("{root}/zookeeper")];
        for path in &nodes {
            self.send(&Operation::Create { path: path.as_str().into(), data: None, mode: CreateMode::Persistent });
        }
        for path in &nodes {
            let answer = self.receive(deadline)?.response;
            let is_made = *answer.without_stat() == Response::Created(path.as_str().into());
            if !is_made && answer != Response::Error(Error::NodeExists) {
                return Err(ClientError::NoTree { path: path.clone(), answer });
            }
        }
        self.set_root(root);
        Ok(())
    }

    /// Waits until the session's server knows the tree that another session has [made](Client::make_tree): a server of an
    /// ensemble may be behind the others. The tree is the [root](Client::set_root), and no call may be without an answer.
    ///
    /// # Errors
    /// [`ClientError`].
    pub fn await_tree(&mut self, deadline: Instant) -> Result<(), ClientError> {
        loop {
            // It was made last.
            self.send(&Operation::Exists { path: "/zookeeper".into() });
            if *self.receive(deadline)?.response.without_stat() == Response::Exists(true) {
                return Ok(());
            }
            if Instant::now() >= deadline {
                return Err(ClientError::Late);
            }
            std::thread::sleep(PAUSE);
        }
    }

    /// Returns how many calls have no answer yet.
    pub fn open_count(&self) -> usize {
        self.open.len()
    }

    /// Adds a call to what is sent next.
    pub fn send(&mut self, operation: &Operation) -> Xid {
        // 0 and below are not calls.
        self.last = self.last.checked_add(1).unwrap_or(1);
        let root = &self.root;
        wire::call(&mut self.outgoing, self.last, operation, |operation| {
            let path = operation.path().map_or("", Text::as_str);
            let is_below = !root.is_empty() && path != "/";
            match operation {
                Operation::Create { mode, .. } if mode.is_sequential() => [root, path].concat(),
                Operation::Delete { .. } if path == "/" => "/".to_owned(),
                _ if is_below => [root, path].concat(),
                _ if root.is_empty() => path.to_owned(),
                _ => root.clone(),
            }
        });
        let xid = Xid(self.last);
        self.open.push_back((xid, Asked::of(operation)));
        xid
    }

    /// Sends what is kept.
    ///
    /// # Errors
    /// [`ClientError::Broken`].
    pub fn flush(&mut self) -> Result<(), ClientError> {
        let sent = self.stream.write_all(&self.outgoing);
        self.outgoing.clear();
        Ok(sent?)
    }

    /// Returns the answer to the first call that has none yet; sends what is kept before.
    ///
    /// # Errors
    /// [`ClientError::Late`] at the deadline: the answer may still come. All other errors end the session.
    pub fn receive(&mut self, deadline: Instant) -> Result<Reply, ClientError> {
        self.flush()?;
        loop {
            let asked = self.open.front().copied();
            let expected = asked.map_or(0, |(Xid(number), _)| number);
            let session = self.credential.session;
            let read = self.message(deadline, |bytes| {
                let (header, body) = wire::header(bytes)?;
                let is_next = asked.filter(|(xid, _)| *xid == Xid(header.xid) && header.error == 0);
                let response = is_next.map(|(_, asked)| wire::response(asked, session, body)).transpose()?;
                let event = (header.xid == xids::NOTIFICATION).then(|| wire::event(body)).transpose()?;
                Ok((header, response, event))
            })?;
            let (header, response, event) = read;
            if let Some(event) = event {
                self.events.extend(self.event_below_root(event));
                continue;
            }
            if header.xid == xids::PING {
                continue;
            }
            let Some((xid, asked)) = asked.filter(|(Xid(number), _)| *number == header.xid) else {
                return Err(ClientError::OutOfOrder { expected, found: header.xid });
            };
            self.open.pop_front();
            self.seen = self.seen.max(header.zxid);
            self.is_closed |= asked == Asked::Close;
            let response = match (response, wire::error(header.error)) {
                (Some(response), _) => self.below_root(response)?,
                (None, Some(Error::NoNode)) if asked == Asked::Exists => Response::Exists(false),
                (None, Some(error)) => Response::Error(error),
                (None, None) => return Err(ClientError::Unspecified(header.error)),
            };
            let transaction = Revision(u64::try_from(header.zxid).unwrap_or_default());
            return Ok(Reply { xid, transaction, response: response.after(self.events()) });
        }
    }

    /// Takes the client's root off the path of an event. What is elsewhere was watched when the root was another one, and
    /// nobody minds it.
    fn event_below_root(&self, event: Event) -> Option<Event> {
        let below = |path: &Text| {
            let below = path.as_str().strip_prefix(&self.root)?;
            match below {
                "" => Some("/".into()),
                below => below.starts_with('/').then(|| Text::from(below)),
            }
        };
        Some(match event {
            Event::Created(path) => Event::Created(below(&path)?),
            Event::Deleted(path) => Event::Deleted(below(&path)?),
            Event::DataChanged(path) => Event::DataChanged(below(&path)?),
            Event::ChildrenChanged(path) => Event::ChildrenChanged(below(&path)?),
            Event::InAnyOrder(_) => return None,
        })
    }

    /// Takes the client's root off the paths of nodes that were created.
    fn below_root(&self, response: Response) -> Result<Response, Malformed> {
        match response {
            Response::Created(path) => {
                let below = path.as_str().strip_prefix(&self.root).ok_or(Malformed::Elsewhere)?;
                Ok(Response::Created(below.into()))
            }
            Response::Parts(parts) => {
                parts.into_iter().map(|part| self.below_root(part)).collect::<Result<_, _>>().map(Response::Parts)
            }
            other => Ok(other),
        }
    }

    /// Makes a call and waits for its answer. No other call may be open.
    ///
    /// # Errors
    /// Those of [`Client::receive`].
    pub fn call(&mut self, operation: &Operation, deadline: Instant) -> Result<Reply, ClientError> {
        let xid = self.send(operation);
        let reply = self.receive(deadline)?;
        if reply.xid == xid { Ok(reply) } else { Err(ClientError::OutOfOrder { expected: xid.0, found: reply.xid.0 }) }
    }

    /// Tells the server that the session is alive. The answer is passed over when others are received.
    ///
    /// # Errors
    /// [`ClientError::Broken`].
    pub fn ping(&mut self) -> Result<(), ClientError> {
        wire::ping(&mut self.outgoing);
        self.flush()
    }

    /// Ends the session, and waits until the server has ended it. What is open is answered, and lost.
    ///
    /// # Errors
    /// [`ClientError::Late`], [`ClientError::Broken`] or [`ClientError::Malformed`].
    pub fn close(mut self, deadline: Instant) -> Result<(), ClientError> {
        if self.is_closed {
            return Ok(());
        }
        self.send(&Operation::Close);
        self.flush()?;
        loop {
            let (header, _) = self.message(deadline, |bytes| wire::header(bytes).map(|(header, _)| (header, ())))?;
            if header.xid == self.last {
                return Ok(());
            }
        }
    }

    /// Waits for a message, reads it and takes it away.
    fn message<T>(
        &mut self,
        deadline: Instant,
        read: impl FnOnce(&[u8]) -> Result<T, Malformed>,
    ) -> Result<T, ClientError> {
        while wire::first_message(&self.incoming)?.is_none() {
            self.wait(deadline)?;
        }
        let message = wire::first_message(&self.incoming)?.unwrap_or_default();
        let (read, end) = (read(message), wire::whole(message));
        self.incoming.drain(..end);
        Ok(read?)
    }

    /// Waits for bytes. No more than a message and a buffer of them are kept, since no more are asked for.
    fn wait(&mut self, deadline: Instant) -> Result<(), ClientError> {
        let mut buffer = [0; 1 << 14];
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Err(ClientError::Late);
        }
        self.stream.set_read_timeout(Some(left))?;
        match self.stream.read(&mut buffer) {
            Ok(0) => Err(io::Error::from(ErrorKind::UnexpectedEof).into()),
            Ok(count) => {
                self.incoming.extend_from_slice(&buffer[..count]);
                Ok(())
            }
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => Err(ClientError::Late),
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}
