//! Scripts: calls of several sessions, in the order in which one thread makes them.
//!
//! As no two calls are made at once, synchronous calls have one order, whichever session makes them, as with Modbat
//! (Artho et al., "Model-based API testing of Apache ZooKeeper", ICST 2017, IV-A). What is concurrent is what
//! asynchronous calls leave in flight.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::ops::Range;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use simutant_oracle::specifications::Text;
use simutant_oracle::{CallId, History, Mode, Recorder, Session, Time};
use simutant_sim_core::Random;
use simutant_zookeeper_histories::{Access, CreateMode, Operation, Permissions, Response, Who};

use super::{Client, ClientError};

/// What clients ask of ZooKeeper and are answered.
pub type ZooKeeperHistory = History<Operation, Response>;

/// Calls in the order in which they are made.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallScript {
    /// The calls.
    pub calls: Vec<ScriptedCall>,
}

/// A call of a script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptedCall {
    /// Who makes it, from 1.
    pub session: Session,
    /// What is asked for.
    pub operation: Operation,
    /// Whether its answer is waited for.
    pub mode: Mode,
}

/// Which scripts are drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScriptDomain {
    /// How many sessions there are at most.
    pub sessions_max: u64,
    /// How many calls each session makes at most.
    pub calls_max: u64,
    /// Of ten calls, how many are asynchronous.
    pub asynchronous_of_ten: u32,
    /// Whether lists of permissions are changed.
    pub changes_acls: bool,
    /// Whether half of the reads that can leave a watch do.
    pub watches: bool,
}

/// The nodes that calls are about.
const PATHS: [&str; 7] = ["/a", "/b", "/a/a", "/a/b", "/a/a/a", "/zookeeper", "/"];

/// What data there is.
const DATA: [Option<&str>; 4] = [None, Some(""), Some("x"), Some("yy")];

impl CallScript {
    /// Draws a script.
    pub fn draw(domain: &ScriptDomain, random: &mut Random) -> Self {
        let sessions = random.uniform(1..=domain.sessions_max);
        // Which session has how many calls left.
        let mut left: Vec<(Session, u64)> =
            (1..=sessions).map(|number| (Session(number), random.uniform(1..=domain.calls_max))).collect();
        let mut calls = Vec::new();
        while !left.is_empty() {
            let place = random.uniform(0..left.len());
            let (session, count) = &mut left[place];
            *count -= 1;
            let mode = match random.uniform(0..10_u32) < domain.asynchronous_of_ten {
                true => Mode::Asynchronous,
                false => Mode::Synchronous,
            };
            let mut operation = operation(domain.changes_acls, sessions, random);
            if domain.watches && can_watch(&operation) && random.uniform(0..2_u8) == 0 {
                operation = operation.and_watch();
            }
            calls.push(ScriptedCall { session: *session, operation, mode });
            if *count == 0 {
                left.remove(place);
            }
        }
        Self { calls }
    }

    /// Returns the scripts with one call less, the first call first.
    pub fn shorter(&self) -> Vec<Self> {
        let without = (0..self.calls.len()).map(|place| {
            let mut calls = self.calls.clone();
            calls.remove(place);
            Self { calls }
        });
        without.collect()
    }
}

fn operation(changes_acls: bool, sessions: u64, random: &mut Random) -> Operation {
    let path: Text = one_of(&PATHS, random).into();
    let kinds = if changes_acls { 10 } else { 8_u32 };
    // Rare, since much is over then.
    if random.uniform(0..20_u8) == 0 {
        return Operation::Close;
    }
    if random.uniform(0..8_u8) == 0 {
        return Operation::Multi((0..random.uniform(0..4_u8)).map(|_| part(random)).collect());
    }
    match random.uniform(0..kinds) {
        0 | 1 => Operation::Create { path, data: one_of(&DATA, random).map(Text::from), mode: mode(random) },
        2 => Operation::Delete { path, version: version(random) },
        3 => Operation::Exists { path },
        4 => Operation::GetChildren { path },
        5 => Operation::GetData { path },
        6 => Operation::SetData { path, data: one_of(&DATA, random).map(Text::from), version: version(random) },
        7 => Operation::GetAcl { path },
        _ => Operation::SetAcl { path, acl: acl(sessions, random), version: version(random) },
    }
}

/// Returns whether it is a read that can leave a watch.
const fn can_watch(operation: &Operation) -> bool {
    matches!(operation, Operation::Exists { .. } | Operation::GetData { .. } | Operation::GetChildren { .. })
}

/// Draws a part of a transaction.
fn part(random: &mut Random) -> Operation {
    let path: Text = one_of(&PATHS, random).into();
    match random.uniform(0..5_u8) {
        0 => Operation::Check { path, version: version(random) },
        1 => Operation::Delete { path, version: version(random) },
        2 => Operation::SetData { path, data: one_of(&DATA, random).map(Text::from), version: version(random) },
        _ => Operation::Create { path, data: one_of(&DATA, random).map(Text::from), mode: mode(random) },
    }
}

fn mode(random: &mut Random) -> CreateMode {
    match random.uniform(0..6_u8) {
        0 => CreateMode::Ephemeral,
        1 => CreateMode::PersistentSequential,
        2 => CreateMode::EphemeralSequential,
        _ => CreateMode::Persistent,
    }
}

/// Draws the version that a change expects: mostly any, and else one that a node may have.
fn version(random: &mut Random) -> Option<u32> {
    (random.uniform(0..2_u8) == 0).then(|| random.uniform(0..4_u32))
}

fn acl(sessions: u64, random: &mut Random) -> Vec<Access> {
    let count = random.uniform(0..=3_u8);
    let access = |_| {
        let who = match random.uniform(0..3_u8) {
            0 => Who::Anyone,
            _ => Who::Session(Session(random.uniform(1..=sessions))),
        };
        // Half of the lists allow much, or nothing would be left to do.
        let permissions = match random.uniform(0..2_u8) {
            0 => Permissions::ALL,
            _ => Permissions(random.uniform(0..=Permissions::ALL.0)),
        };
        Access { who, permissions }
    };
    (0..count).map(access).collect()
}

fn one_of<T: Copy>(items: &[T], random: &mut Random) -> T {
    items[random.uniform(0..items.len())]
}

/// Sessions of a server, which scripts are run on one after the other.
#[derive(Debug)]
pub struct Sessions {
    /// Where each of them is connected.
    addresses: Vec<SocketAddr>,
    /// The first one is session 1.
    clients: Vec<Client>,
    /// How the roots of the scripts' trees begin.
    name: String,
    /// How many scripts were run.
    count: u64,
    /// How long an answer may take.
    timeout: Duration,
}

impl Sessions {
    /// Connects as many sessions with servers, the first one with the first server. `name` is part of the names of the
    /// trees that they make: it must differ from those of all others on these servers.
    ///
    /// # Errors
    /// Those of [`Client::connect`].
    pub fn connect(addresses: &[SocketAddr], count: u64, name: &str, timeout: Duration) -> Result<Self, ClientError> {
        let deadline = Instant::now() + timeout;
        let addresses: Vec<SocketAddr> =
            (1..=count).zip(addresses.iter().cycle()).map(|(_, address)| *address).collect();
        let clients = (1..).zip(&addresses);
        let clients = clients.map(|(number, address)| Client::connect(*address, Session(number), deadline));
        let clients = clients.collect::<Result<_, _>>()?;
        Ok(Self { addresses, clients, name: name.to_owned(), count: 0, timeout })
    }

    /// Gives the sessions a tree of their own, as that of a new server: with a node `/zookeeper`, and nothing else. Returns
    /// the node that is its root.
    ///
    /// # Errors
    /// [`ClientError`].
    pub fn begin(&mut self) -> Result<String, ClientError> {
        let root = format!("/{}-{}", self.name, self.count);
        self.count += 1;
        let deadline = Instant::now() + self.timeout;
        for place in 0..self.clients.len() {
            self.reopen(place, "", deadline)?;
        }
        let [first, ..] = &mut self.clients[..] else { return Ok(root) };
        first.make_tree(&root, deadline)?;
        for client in &mut self.clients {
            client.set_root(root.as_str());
            client.await_tree(deadline)?;
        }
        Ok(root)
    }

    /// Connects a session again that a call has ended.
    fn reopen(&mut self, place: usize, root: &str, deadline: Instant) -> Result<(), ClientError> {
        let client = &mut self.clients[place];
        if client.is_closed() {
            let number = u64::try_from(place).unwrap_or(u64::MAX).saturating_add(1);
            *client = Client::connect(self.addresses[place], Session(number), deadline)?;
            client.set_root(root);
        }
        Ok(())
    }

    /// Runs a script on a tree of its own, and returns what the sessions saw. A session that has left a watch reads once
    /// more at the end, as all that it is told comes before the answer.
    ///
    /// # Errors
    /// [`ClientError`] if an answer is not there in time, or none: then the sessions are of no more use.
    ///
    /// # Panics
    /// If a call of the script is of a session that is not connected.
    pub fn run(&mut self, script: &CallScript) -> Result<ZooKeeperHistory, ClientError> {
        self.run_by(script, Client::flush)
    }

    /// The same, where asynchronous calls of a session leave together: when it makes a synchronous call, or at the end.
    ///
    /// # Errors
    /// As [`Sessions::run`].
    ///
    /// # Panics
    /// As [`Sessions::run`].
    pub fn run_together(&mut self, script: &CallScript) -> Result<ZooKeeperHistory, ClientError> {
        self.run_by(script, |_| Ok(()))
    }

    fn run_by(
        &mut self,
        script: &CallScript,
        sent: fn(&mut Client) -> Result<(), ClientError>,
    ) -> Result<ZooKeeperHistory, ClientError> {
        let root = self.begin()?;
        // Whether the last call of a session ends it.
        let mut ends = vec![false; self.clients.len()];
        let mut run = Run {
            deadline: Instant::now() + self.timeout,
            start: Instant::now(),
            recorder: Recorder::in_order(),
            open: vec![VecDeque::new(); self.clients.len()],
        };
        let place = |session: Session| usize::try_from(session.0).ok().and_then(|number| number.checked_sub(1));
        for ScriptedCall { session, operation, mode } in &script.calls {
            let place = place(*session).filter(|place| *place < self.clients.len());
            let place = place.expect("the sessions of a script are connected");
            if ends[place] {
                // The next call of the session's name is a new session's.
                run.receive(place..place + 1, &mut self.clients)?;
                self.reopen(place, &root, run.deadline)?;
            }
            ends[place] = *operation == Operation::Close;
            let client = &mut self.clients[place];
            let now = run.now();
            let call = match mode {
                Mode::Synchronous => run.recorder.invoke(*session, operation.clone(), now),
                Mode::Asynchronous => run.recorder.invoke_asynchronous(*session, operation.clone(), now),
            };
            run.open[place].push_back(call);
            client.send(operation);
            match mode {
                Mode::Synchronous => run.receive(place..place + 1, &mut self.clients)?,
                Mode::Asynchronous => sent(client)?,
            }
        }
        run.receive(0..self.clients.len(), &mut self.clients)?;
        for (number, client) in (1..).zip(&mut self.clients) {
            let session = Session(number);
            let left = |call: &ScriptedCall| call.session == session && matches!(call.operation, Operation::Watch(_));
            if !client.is_closed() && script.calls.iter().any(left) {
                let operation = Operation::Exists { path: "/".into() };
                let call = run.recorder.invoke(session, operation.clone(), run.now());
                let reply = client.call(&operation, run.deadline)?;
                run.returned(call, reply.response);
            }
        }
        Ok(run.recorder.history())
    }
}

/// A script that runs.
#[derive(Debug)]
struct Run {
    deadline: Instant,
    start: Instant,
    recorder: Recorder<Operation, Response>,
    /// The calls of each session that have no answer yet.
    open: Vec<VecDeque<CallId>>,
}

impl Run {
    fn now(&self) -> Time {
        Time::from_nanos(u64::try_from(self.start.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    /// Waits for all answers to some of the sessions.
    fn receive(&mut self, places: Range<usize>, clients: &mut [Client]) -> Result<(), ClientError> {
        for place in places {
            while let Some(call) = self.open[place].pop_front() {
                let reply = clients[place].receive(self.deadline)?;
                self.returned(call, reply.response);
            }
        }
        Ok(())
    }

    fn returned(&self, call: CallId, response: Response) {
        let ended = self.recorder.returned(call, response, self.now());
        debug_assert!(ended.is_ok(), "each call is ended once");
    }
}
