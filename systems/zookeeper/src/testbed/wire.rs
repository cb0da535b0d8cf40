//! ZooKeeper's wire protocol: what is sent and what is answered, as bytes (`zookeeper.jute` of the release).
//!
//! A message is a length of four bytes and as many bytes. Numbers are big-endian; texts, data and lists come with their
//! lengths; data of length -1 are null. Nothing here reads a length without a bound: a list has no more members than its
//! message has bytes, and a message has at most [`LENGTH_MAX`].

#[cfg(test)]
mod tests;

use base64::Engine as _;
use sha1::{Digest as _, Sha1};
use simutant_oracle::Session;
use simutant_oracle::specifications::Text;
use simutant_zookeeper_histories::{Access, Error, Event, Operation, Owner, Permissions, Response, Stat, Who};

/// How many bytes a message may have: `jute.maxbuffer` of the release, and what it adds for headers.
pub(super) const LENGTH_MAX: usize = (1 << 20) + 1_024;

/// How many bytes the length of a message has.
const PREFIX: usize = 4;

/// The numbers of requests that are not calls.
pub(super) mod xids {
    /// A watch was triggered.
    pub(in super::super) const NOTIFICATION: i32 = -1;
    /// The client is alive.
    pub(in super::super) const PING: i32 = -2;
    /// Who the client is.
    pub(in super::super) const AUTHENTICATION: i32 = -4;
}

/// The numbers of kinds of requests.
mod kinds {
    pub(super) const CREATE: i32 = 1;
    pub(super) const DELETE: i32 = 2;
    pub(super) const EXISTS: i32 = 3;
    pub(super) const GET_DATA: i32 = 4;
    pub(super) const SET_DATA: i32 = 5;
    pub(super) const GET_ACL: i32 = 6;
    pub(super) const SET_ACL: i32 = 7;
    pub(super) const GET_CHILDREN: i32 = 12;
    pub(super) const PING: i32 = 11;
    pub(super) const CHECK: i32 = 13;
    pub(super) const MULTI: i32 = 14;
    /// Of an answer to a part of a transaction.
    pub(super) const ERROR: i32 = -1;
    pub(super) const AUTHENTICATION: i32 = 100;
    pub(super) const CLOSE_SESSION: i32 = -11;
}

/// Any version of a node.
const ANY_VERSION: i32 = -1;

/// Bytes are no message of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// They end too early.
    #[error("the message ends within its {0}")]
    Short(&'static str),
    /// There are more of them.
    #[error("the message has {0} bytes too many")]
    Long(usize),
    /// A length is negative, or larger than a message may be.
    #[error("{length} is no length of {what}")]
    Length {
        /// Of what.
        what: &'static str,
        /// The length.
        length: i32,
    },
    /// A text is not one.
    #[error("the text is not in UTF-8")]
    Text,
    /// An entry of an access control list is about somebody who is no session of these tests.
    #[error("an access control list names a stranger")]
    Stranger,
    /// A number counts something, and is negative.
    #[error("{number} is no number of {what}")]
    Negative {
        /// What it counts.
        what: &'static str,
        /// The number.
        number: i32,
    },
    /// A part of a transaction is answered by what the specification does not have.
    #[error("a part of a transaction is answered by {0}, which is no kind of part and no error that is specified")]
    Part(i32),
    /// A node was created elsewhere than it should be.
    #[error("a node was created that is not below the client's root")]
    Elsewhere,
    /// A session is told of something that is no change of a node.
    #[error("{0} is no kind of event that is specified")]
    Event(i32),
    /// Permissions are not a sum of 1, 2, 4, 8 and 16.
    #[error("{0} is no sum of permissions")]
    Permissions(i32),
}

/// A message that is written.
#[derive(Debug)]
struct Writer<'a>(&'a mut Vec<u8>);

impl Writer<'_> {
    fn bool(&mut self, value: bool) {
        self.0.push(u8::from(value));
    }

    fn int(&mut self, value: i32) {
        self.0.extend(value.to_be_bytes());
    }

    fn long(&mut self, value: i64) {
        self.0.extend(value.to_be_bytes());
    }

    fn length(&mut self, length: usize) {
        self.int(i32::try_from(length).unwrap_or(i32::MAX));
    }

    fn data(&mut self, data: Option<&[u8]>) {
        match data {
            None => self.int(-1),
            Some(bytes) => {
                self.length(bytes.len());
                self.0.extend(bytes);
            }
        }
    }

    fn text(&mut self, text: &str) {
        self.data(Some(text.as_bytes()));
    }

    /// Adds what comes before each part of a transaction, and at its end.
    fn part(&mut self, kind: i32, is_end: bool) {
        self.int(kind);
        self.bool(is_end);
        self.int(-1);
    }

    fn version(&mut self, version: Option<u32>) {
        self.int(version.map_or(ANY_VERSION, |version| i32::try_from(version).unwrap_or(i32::MAX)));
    }

    fn acl(&mut self, acl: &[Access]) {
        self.length(acl.len());
        for Access { who, permissions } in acl {
            self.int(permissions.0.into());
            match who {
                Who::Anyone => {
                    self.text("world");
                    self.text("anyone");
                }
                Who::Session(session) => {
                    self.text("digest");
                    self.text(&digest(*session));
                }
            }
        }
    }
}

/// Returns the text by which a session says who it is, and whose digest is in access control lists.
fn secret(session: Session) -> String {
    format!("{}:secret", name(session))
}

fn name(session: Session) -> String {
    format!("s{}", session.0)
}

/// Returns how access control lists name a session: the name of the user, and the digest of its name and password.
pub(super) fn digest(session: Session) -> String {
    let hash = Sha1::digest(secret(session));
    format!("{}:{}", name(session), base64::engine::general_purpose::STANDARD.encode(hash))
}

/// Adds a message, with its length in front.
fn message(out: &mut Vec<u8>, write: impl FnOnce(&mut Writer<'_>)) {
    let start = out.len();
    out.extend([0; PREFIX]);
    write(&mut Writer(out));
    let length = u32::try_from(out.len() - start - PREFIX).unwrap_or(u32::MAX);
    out[start..start + PREFIX].copy_from_slice(&length.to_be_bytes());
}

/// Adds the request for a session, which ends if nothing is heard of it for as long as `timeout_ms`: for a new one, or for
/// one that a server has granted.
pub(super) fn connect(out: &mut Vec<u8>, timeout_ms: i32, known: Option<&Credential>, seen: i64) {
    message(out, |writer| {
        writer.int(0); // The version of the protocol.
        writer.long(seen); // The last transaction that the client has seen.
        writer.int(timeout_ms);
        // Without a session, all is 0.
        writer.long(known.map_or(0, |known| known.session));
        writer.data(Some(known.map_or(&[0; 16], |known| &known.password)));
        writer.bool(false); // A server that can only read is of no use.
    });
}

/// Adds the request that makes a connection that of a session of the tests.
pub(super) fn authenticate(out: &mut Vec<u8>, session: Session) {
    message(out, |writer| {
        writer.int(xids::AUTHENTICATION);
        writer.int(kinds::AUTHENTICATION);
        writer.int(0);
        writer.text("digest");
        writer.text(&secret(session));
    });
}

/// Adds a sign of life.
pub(super) fn ping(out: &mut Vec<u8>) {
    message(out, |writer| {
        writer.int(xids::PING);
        writer.int(kinds::PING);
    });
}

/// Adds a call. `place` says where its node, and those of its parts, are in the server's tree.
///
/// # Panics
/// If no server can be asked for it.
pub(super) fn call(out: &mut Vec<u8>, xid: i32, operation: &Operation, place: impl Fn(&Operation) -> String) {
    message(out, |writer| {
        writer.int(xid);
        writer.int(kind(operation));
        let Operation::Multi(parts) = operation else { return body(writer, operation, false, &place(operation)) };
        for part in parts {
            writer.part(kind(part), false);
            body(writer, part, false, &place(part));
        }
        writer.part(kinds::ERROR, true);
    });
}

/// Adds what a call asks for.
fn body(writer: &mut Writer<'_>, operation: &Operation, is_watched: bool, path: &str) {
    if let Operation::Watch(read) = operation {
        return body(writer, read, true, path);
    }
    if *operation != Operation::Close {
        writer.text(path);
    }
    let bytes = |data: &Option<Text>| data.as_ref().map(|text| text.as_str().as_bytes().to_vec());
    match operation {
        Operation::Create { data, mode, .. } => {
            writer.data(bytes(data).as_deref());
            writer.acl(&[Access { who: Who::Anyone, permissions: Permissions::ALL }]);
            writer.int(i32::from(mode.is_ephemeral()) + 2 * i32::from(mode.is_sequential()));
        }
        Operation::Delete { version, .. } | Operation::Check { version, .. } => writer.version(*version),
        Operation::Exists { .. } | Operation::GetChildren { .. } | Operation::GetData { .. } => writer.bool(is_watched),
        Operation::SetData { data, version, .. } => {
            writer.data(bytes(data).as_deref());
            writer.version(*version);
        }
        Operation::GetAcl { .. } | Operation::Close | Operation::Multi(_) => {}
        Operation::Watch(_) | Operation::Notice | Operation::Connect | Operation::Expire => {}
        Operation::SetAcl { acl, version, .. } => {
            writer.acl(acl);
            writer.version(*version);
        }
    }
}

fn kind(operation: &Operation) -> i32 {
    match operation {
        Operation::Create { .. } => kinds::CREATE,
        Operation::Delete { .. } => kinds::DELETE,
        Operation::Exists { .. } => kinds::EXISTS,
        Operation::GetChildren { .. } => kinds::GET_CHILDREN,
        Operation::GetData { .. } => kinds::GET_DATA,
        Operation::SetData { .. } => kinds::SET_DATA,
        Operation::GetAcl { .. } => kinds::GET_ACL,
        Operation::SetAcl { .. } => kinds::SET_ACL,
        Operation::Close => kinds::CLOSE_SESSION,
        Operation::Check { .. } => kinds::CHECK,
        Operation::Multi(_) => kinds::MULTI,
        Operation::Watch(read) => kind(read),
        Operation::Notice | Operation::Connect | Operation::Expire => unreachable!("no server is asked for it"),
    }
}

/// What a call asks for, as far as its answer depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Asked {
    /// Whether a node is there.
    Exists,
    /// Names of children.
    Children,
    /// Data.
    Data,
    /// An access control list.
    Acl,
    /// A new node, of which the path is told.
    Create,
    /// A change, of which the node's statistics are told.
    Change,
    /// Nothing more than that it was done.
    Nothing,
    /// The end of the session.
    Close,
    /// All parts of a transaction.
    Multi,
}

impl Asked {
    /// Returns what an operation asks for.
    pub(super) fn of(operation: &Operation) -> Self {
        match operation {
            Operation::Create { .. } => Self::Create,
            Operation::Delete { .. } | Operation::Check { .. } => Self::Nothing,
            Operation::Multi(_) => Self::Multi,
            Operation::Close => Self::Close,
            Operation::Exists { .. } => Self::Exists,
            Operation::GetChildren { .. } => Self::Children,
            Operation::GetData { .. } => Self::Data,
            Operation::GetAcl { .. } => Self::Acl,
            Operation::SetData { .. } | Operation::SetAcl { .. } => Self::Change,
            Operation::Watch(read) => Self::of(read),
            Operation::Notice | Operation::Connect | Operation::Expire => Self::Nothing,
        }
    }
}

/// Returns the first message of what has come, if all of it is there.
///
/// # Errors
/// [`Malformed::Length`] if it says that it is longer than any may be.
pub(super) fn first_message(bytes: &[u8]) -> Result<Option<&[u8]>, Malformed> {
    let Some(prefix) = bytes.first_chunk::<PREFIX>() else { return Ok(None) };
    let length = i32::from_be_bytes(*prefix);
    let whole = usize::try_from(length).ok().filter(|whole| *whole <= LENGTH_MAX);
    let whole = whole.ok_or(Malformed::Length { what: "a message", length })?;
    Ok(bytes.get(PREFIX..PREFIX + whole))
}

/// Returns how many bytes a message has with its length.
pub(super) const fn whole(message: &[u8]) -> usize {
    PREFIX + message.len()
}

/// A message that is read.
#[derive(Debug)]
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn bytes(&mut self, count: usize, what: &'static str) -> Result<&'a [u8], Malformed> {
        let (bytes, rest) = self.0.split_at_checked(count).ok_or(Malformed::Short(what))?;
        self.0 = rest;
        Ok(bytes)
    }

    fn chunk<const N: usize>(&mut self, what: &'static str) -> Result<[u8; N], Malformed> {
        let (chunk, rest) = self.0.split_first_chunk::<N>().ok_or(Malformed::Short(what))?;
        self.0 = rest;
        Ok(*chunk)
    }

    fn int(&mut self, what: &'static str) -> Result<i32, Malformed> {
        self.chunk(what).map(i32::from_be_bytes)
    }

    fn long(&mut self, what: &'static str) -> Result<i64, Malformed> {
        self.chunk(what).map(i64::from_be_bytes)
    }

    fn data(&mut self, what: &'static str) -> Result<Option<&'a [u8]>, Malformed> {
        match self.int(what)? {
            -1 => Ok(None),
            length => {
                let count = usize::try_from(length).map_err(|_| Malformed::Length { what, length })?;
                self.bytes(count, what).map(Some)
            }
        }
    }

    fn text(&mut self, what: &'static str) -> Result<&'a str, Malformed> {
        std::str::from_utf8(self.data(what)?.unwrap_or_default()).map_err(|_| Malformed::Text)
    }

    /// Returns the members of a list. Each has a byte at least, so there cannot be more of them than bytes.
    fn list<T>(
        &mut self,
        what: &'static str,
        mut member: impl FnMut(&mut Self) -> Result<T, Malformed>,
    ) -> Result<Vec<T>, Malformed> {
        let length = self.int(what)?;
        let count = match length {
            -1 => 0,
            length => usize::try_from(length).map_err(|_| Malformed::Length { what, length })?,
        };
        if count > self.0.len() {
            return Err(Malformed::Short(what));
        }
        // Not `with_capacity`: a member may have fewer bytes here than there.
        (0..count).map(|_| member(self)).collect()
    }

    fn access(&mut self) -> Result<Access, Malformed> {
        let bits = self.int("permissions")?;
        let permissions = u8::try_from(bits).ok().filter(|bits| *bits <= Permissions::ALL.0);
        let permissions = Permissions(permissions.ok_or(Malformed::Permissions(bits))?);
        let who = match (self.text("scheme")?, self.text("identity")?) {
            ("world", "anyone") => Who::Anyone,
            ("digest", identity) => Who::Session(session(identity).ok_or(Malformed::Stranger)?),
            _ => return Err(Malformed::Stranger),
        };
        Ok(Access { who, permissions })
    }

    fn count(&mut self, what: &'static str) -> Result<u32, Malformed> {
        let number = self.int(what)?;
        u32::try_from(number).map_err(|_| Malformed::Negative { what, number })
    }

    /// Returns the statistics of a node, as a session sees them. Its transactions and times are passed over.
    fn stat(&mut self, session: i64) -> Result<Stat, Malformed> {
        for _ in 0..4 {
            self.long("transactions and times")?;
        }
        let version = self.count("version")?;
        let children_version = self.int("version of the children")?;
        let acl_version = self.count("version of the access control list")?;
        let owner = match self.long("owner")? {
            0 => Owner::Nobody,
            number if number == session => Owner::Caller,
            _ => Owner::Other,
        };
        let data_length = self.count("bytes of data")?;
        let children = self.count("children")?;
        self.long("transaction of the children")?;
        Ok(Stat { version, acl_version, children_version, children, data_length, owner })
    }

    /// Returns the answers to the parts of a transaction.
    fn parts(&mut self, session: i64) -> Result<Vec<Response>, Malformed> {
        let mut parts = Vec::new();
        loop {
            let kind = self.int("part")?;
            let is_end = self.bytes(1, "part")? != [0];
            self.int("part")?;
            parts.push(match kind {
                _ if is_end => return Ok(parts),
                kinds::CREATE => Response::Created(self.text("path")?.into()),
                kinds::SET_DATA => Response::Done.with_stat(self.stat(session)?),
                kinds::DELETE | kinds::CHECK => Response::Done,
                kinds::ERROR => Response::Error(match self.int("error")? {
                    0 => Error::Undone,
                    -2 => Error::RuntimeInconsistency,
                    number => error(number).ok_or(Malformed::Part(number))?,
                }),
                other => return Err(Malformed::Part(other)),
            });
        }
    }

    fn end(&self) -> Result<(), Malformed> {
        match self.0.len() {
            0 => Ok(()),
            more => Err(Malformed::Long(more)),
        }
    }
}

/// Returns the session that an identity in an access control list names. Who may not change the list is shown an `x` in
/// the place of the digest.
fn session(identity: &str) -> Option<Session> {
    let (user, shown) = identity.split_once(':')?;
    let session = Session(user.strip_prefix('s')?.parse().ok()?);
    let is_it = name(session) == user && (shown == "x" || identity == digest(session));
    is_it.then_some(session)
}

/// What a server grants.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Granted {
    /// After how long without a sign of life the session ends; none if there is no session.
    pub(super) timeout_ms: i32,
    /// How the server knows the session.
    pub(super) credential: Credential,
}

/// How a server knows a session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Credential {
    /// The server's number of the session.
    pub(super) session: i64,
    /// What a client has to know to go on with it.
    pub(super) password: Vec<u8>,
}

/// Reads the answer to [`connect`].
pub(super) fn granted(message: &[u8]) -> Result<Granted, Malformed> {
    let mut reader = Reader(message);
    reader.int("version")?;
    let (timeout_ms, session) = (reader.int("timeout")?, reader.long("session")?);
    let password = reader.data("password")?.unwrap_or_default().to_vec();
    // Servers before 3.4 say nothing of whether they can only read.
    if !reader.0.is_empty() {
        reader.bytes(1, "mode")?;
    }
    reader.end()?;
    Ok(Granted { timeout_ms, credential: Credential { session, password } })
}

/// How each answer begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Header {
    /// The number of the request.
    pub(super) xid: i32,
    /// The transaction of the request; of one that reads, the last transaction before.
    pub(super) zxid: i64,
    /// 0 if it was done.
    pub(super) error: i32,
}

/// Reads how an answer begins; returns the rest of it, too.
pub(super) fn header(message: &[u8]) -> Result<(Header, &[u8]), Malformed> {
    let mut reader = Reader(message);
    let header = Header { xid: reader.int("number")?, zxid: reader.long("transaction")?, error: reader.int("error")? };
    Ok((header, reader.0))
}

/// Returns what an answer's error means in the specification; `None` if that has no such error.
pub(super) const fn error(number: i32) -> Option<Error> {
    Some(match number {
        -8 => Error::BadArguments,
        -114 => Error::InvalidAcl,
        -101 => Error::NoNode,
        -102 => Error::NoAuth,
        -110 => Error::NodeExists,
        -103 => Error::BadVersion,
        -108 => Error::NoChildrenForEphemerals,
        -111 => Error::NotEmpty,
        -112 => Error::SessionExpired,
        _ => return None,
    })
}

/// Reads what a notification has behind its header.
pub(super) fn event(body: &[u8]) -> Result<Event, Malformed> {
    let mut reader = Reader(body);
    let kind = reader.int("kind of event")?;
    reader.int("state of the session")?;
    let path = reader.text("path")?.into();
    reader.end()?;
    match kind {
        1 => Ok(Event::Created(path)),
        2 => Ok(Event::Deleted(path)),
        3 => Ok(Event::DataChanged(path)),
        4 => Ok(Event::ChildrenChanged(path)),
        other => Err(Malformed::Event(other)),
    }
}

/// Reads what an answer without an error has behind its header. The session is the server's number of it.
pub(super) fn response(asked: Asked, session: i64, body: &[u8]) -> Result<Response, Malformed> {
    let mut reader = Reader(body);
    let response = match asked {
        Asked::Nothing | Asked::Close => Response::Done,
        Asked::Create => Response::Created(reader.text("path")?.into()),
        Asked::Multi => Response::Parts(reader.parts(session)?),
        Asked::Change => Response::Done.with_stat(reader.stat(session)?),
        Asked::Exists => Response::Exists(true).with_stat(reader.stat(session)?),
        Asked::Children => {
            let mut names: Vec<&str> = reader.list("children", |reader| reader.text("child"))?;
            // The server's order is that of a table of hashes.
            names.sort_unstable();
            Response::Children(names.into_iter().map(Text::from).collect()).with_stat(reader.stat(session)?)
        }
        Asked::Data => {
            let data = reader.data("data")?;
            let text = data.map(|bytes| std::str::from_utf8(bytes).map_err(|_| Malformed::Text)).transpose()?;
            Response::Data(text.map(Text::from)).with_stat(reader.stat(session)?)
        }
        Asked::Acl => {
            Response::Acl(reader.list("access control list", Reader::access)?).with_stat(reader.stat(session)?)
        }
    };
    reader.end()?;
    Ok(response)
}
