//! The storage as a coloured Petri net: what tests of quorum functions and of calls are generated from.
//!
//! One client writes, others read, as a [`Driver`] says; servers answer requests in any order, and what a server says may
//! arrive late (Wang, Kristensen, Meling and Stolz, "Model-based testing of the Gorums framework for fault-tolerant distributed
//! systems", ToPNoC 2018; the figures are those of Wang's thesis, 2021, section 3.4.1).

use serde::{Deserialize, Serialize};
use simutant_nets::{Net, Place};
use simutant_system::{NetModel, NetSystem};

/// The number of a server, from 1 on.
pub type Server = u8;

/// The number of a call, from 1 on.
pub type Call = u8;

/// What is called, and in which order: the drivers S1 to S6, and one with failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Driver {
    /// S1: a read.
    Read,
    /// S2: a write.
    Write,
    /// S3: a read, and then a write.
    ReadThenWrite,
    /// S4: a write, and then a read.
    WriteThenRead,
    /// S5: a write, and a read at the same time.
    WriteBesideRead,
    /// S6: the same, and then a read.
    WriteBesideReadThenRead,
    /// S6, then so many servers fail, and S6 again.
    WithFailures(Server),
}

impl Driver {
    /// Returns how many stages come before that of a call.
    pub fn stage(self, call: Call) -> usize {
        let mut first = 1;
        let stages = stages(self);
        let is_over = |stage: &&Stage| {
            first += stage.calls();
            first <= usize::from(call)
        };
        stages.iter().take_while(is_over).count()
    }
}

/// What a driver does before it goes on: it waits until all of it is over.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Stage {
    Calls(Vec<Operation>),
    Failures(Server),
}

impl Stage {
    fn calls(&self) -> usize {
        if let Self::Calls(calls) = self { calls.len() } else { 0 }
    }
}

/// An operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Operation {
    /// It reads.
    Read,
    /// It writes a value.
    Write(u8),
}

/// A value with the number of its write; 0 is the value that is there at first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Version {
    /// The number of the write.
    pub timestamp: u8,
    /// The value.
    pub value: u8,
}

/// What a server replies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reply {
    /// What it holds.
    Holds(Version),
    /// It holds what it was given.
    Written,
}

/// What a quorum function returns, or a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Combined {
    /// A read has this value.
    Value(u8),
    /// A write is over.
    Done,
}

/// What a tester does.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stimulus {
    /// It makes a call.
    Invoke {
        /// Its number.
        call: Call,
        /// What is called.
        operation: Operation,
    },
    /// It kills a server.
    Kill {
        /// The server.
        server: Server,
    },
    /// It gives a quorum function the replies so far.
    Replies(Vec<Reply>),
}

/// What a tester observes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Observation {
    /// A call returns.
    Returned {
        /// Its number.
        call: Call,
        /// What it returns; `None` if no quorum is possible.
        result: Option<Combined>,
    },
    /// A quorum function returns; `None` if the replies are not enough.
    Combined(Option<Combined>),
}

/// What tests are of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Calls of clients.
    Calls,
    /// Calls of quorum functions.
    QuorumFunctions,
}

/// The net as a system, whose mutants are faulty storages.
pub type StorageNet = NetSystem<Quorums>;

/// The net of three servers, for each driver.
#[derive(Debug)]
pub struct Quorums;

impl NetModel for Quorums {
    const NAME: &'static str = "storage-net";

    type Arguments = (Server, Driver);
    type Input = Stimulus;
    type Output = Observation;

    fn arguments() -> Vec<(Server, Driver)> {
        use Driver as D;
        [D::Read, D::Write, D::ReadThenWrite, D::WriteThenRead, D::WriteBesideRead, D::WriteBesideReadThenRead]
            .map(|driver| (3, driver))
            .to_vec()
    }

    fn net((servers, driver): &(Server, Driver)) -> Net<Stimulus, Observation> {
        storage(*servers, *driver, Level::Calls)
    }
}

/// Something of a call.
type Of<T> = (Call, T);

/// A server's.
type At<T> = (Server, T);

/// How far the driver is: the number of stages that have begun, and how much of the last one is not over.
type Progress = (usize, usize);

/// Places that clients and servers have in common.
#[derive(Debug, Clone, Copy)]
struct Channels {
    calls: Place<Of<Operation>>,
    requests: Place<At<Of<Option<Version>>>>,
    replies: Place<Of<Reply>>,
    running: Place<Server>,
    failed: Place<Server>,
}

/// Returns the net for so many servers.
pub fn storage(servers: Server, driver: Driver, level: Level) -> Net<Stimulus, Observation> {
    let mut net = Net::with_events("storage");
    let channels = Channels {
        calls: net.place("calls", []),
        requests: net.place("requests", []),
        replies: net.place("replies", []),
        running: net.place("running", 1..=servers),
        failed: net.place("failed", []),
    };
    let progress = net.place("progress", [(0, 0)]);
    self::driver(&mut net, stages(driver), progress, channels);
    clients(&mut net, servers, level, progress, channels);
    self::servers(&mut net, servers, channels);
    let count = stages(driver).len();
    net.eventually("all calls end", move |marking| {
        marking.tokens(progress).any(|(progress, _)| *progress == (count, 0))
    });
    net
}

/// Returns what a driver does.
fn stages(driver: Driver) -> Vec<Stage> {
    let (read, write) = (Operation::Read, Operation::Write(42));
    let calls = |stages: &[&[Operation]]| stages.iter().map(|calls| Stage::Calls(calls.to_vec())).collect();
    match driver {
        Driver::Read => calls(&[&[read]]),
        Driver::Write => calls(&[&[write]]),
        Driver::ReadThenWrite => calls(&[&[read], &[write]]),
        Driver::WriteThenRead => calls(&[&[write], &[read]]),
        Driver::WriteBesideRead => calls(&[&[write, read]]),
        Driver::WriteBesideReadThenRead => calls(&[&[write, read], &[read]]),
        Driver::WithFailures(count) => {
            let before: Vec<Stage> = calls(&[&[write, read], &[read]]);
            let after = calls(&[&[Operation::Write(7), read], &[read]]);
            [before, vec![Stage::Failures(count)], after].concat()
        }
    }
}

/// Adds the driver, which begins a stage when the one before is over.
fn driver(net: &mut Net<Stimulus, Observation>, stages: Vec<Stage>, progress: Place<Progress>, channels: Channels) {
    let failures = net.place::<()>("failures", []);
    let next = move |(begun, open): Progress| {
        let stage = stages.get(begun).filter(|_| open == 0)?;
        let first = 1 + stages[..begun].iter().map(Stage::calls).sum::<usize>() as Call;
        Some(match stage {
            Stage::Calls(calls) => {
                ((begun + 1, calls.len()), (first..).zip(calls.iter().copied()).collect(), Vec::new())
            }
            Stage::Failures(count) => ((begun + 1, usize::from(*count)), Vec::new(), vec![(); usize::from(*count)]),
        })
    };
    net.transition(
        "begin a stage",
        progress.take(),
        next,
        (progress.put(), channels.calls.put_all(), failures.put_all()),
    );
    net.transition(
        "a server fails",
        (failures.take(), channels.running.take(), progress.take()),
        |(), server, (begun, open): Progress| Some((server, (begun, open - 1))),
        (channels.failed.put(), progress.put()),
    )
    .input(|(), server, _| Some(Stimulus::Kill { server }))
    // Before that, all comes to rest.
    .unless_marked(channels.requests);
    net.transition(
        "a request is lost",
        (channels.requests.take(), channels.failed.keep()),
        |(to, _): At<Of<Option<Version>>>, failed: Server| (to == failed).then_some(()),
        (),
    )
    .priority(1);
}

/// Adds the clients, each with one call.
fn clients(
    net: &mut Net<Stimulus, Observation>,
    servers: Server,
    level: Level,
    progress: Place<Progress>,
    channels: Channels,
) {
    let quorum = usize::from(servers / 2 + 1);
    let written = net.place("last write", [0]);
    let received = net.place::<Of<Vec<Reply>>>("received", []);
    let waiting = net.place::<Call>("waiting", []);
    let returned = net.place::<Of<Option<Combined>>>("returned", []);
    let invoke = move |(call, operation): Of<Operation>, last: u8| {
        let version = match operation {
            Operation::Read => None,
            Operation::Write(value) => Some(Version { timestamp: last + 1, value }),
        };
        let requests = (1..=servers).map(|server| (server, (call, version))).collect();
        Some((version.map_or(last, |version| version.timestamp), requests, call, (call, Vec::new())))
    };
    let invoked = net.transition(
        "invoke a call",
        (channels.calls.take(), written.take()),
        invoke,
        (written.put(), channels.requests.put_all(), waiting.put(), received.put()),
    );
    if level == Level::Calls {
        invoked.input(|(call, operation), _| Some(Stimulus::Invoke { call, operation }));
    }
    // Tests of quorum functions are of replies in their order, and of those that come when the call is over, too.
    let apply = move |(of, reply): Of<Reply>, (call, replies): Of<Vec<Reply>>, waiting: Vec<Call>| {
        let mut replies = (of == call).then(|| with(replies, reply))?;
        let result = combined(&replies, quorum).filter(|_| waiting.contains(&call));
        let (still, over): (Vec<Call>, Vec<Call>) =
            waiting.iter().partition(|other| **other != call || result.is_none());
        let is_kept = level == Level::QuorumFunctions || result.is_none();
        if level == Level::Calls {
            replies.sort_unstable();
        }
        let received = is_kept.then_some((call, replies)).into_iter().collect();
        Some((received, still, over.into_iter().map(|call| (call, result)).collect()))
    };
    let applied = net.transition(
        "apply the quorum function",
        (channels.replies.take(), received.take(), waiting.take_all()),
        apply,
        (received.put_all(), waiting.put_all(), returned.put_all()),
    );
    if level == Level::QuorumFunctions {
        applied
            .input(|(of, reply), (call, replies), _| (of == call).then(|| Stimulus::Replies(with(replies, reply))))
            .output(move |(_, reply), (_, replies), _| {
                Some(Observation::Combined(combined(&with(replies, reply), quorum)))
            });
    }
    net.transition(
        "ignore a late reply",
        (channels.replies.take(), received.take_all()),
        |(of, _): Of<Reply>, received: Vec<Of<Vec<Reply>>>| {
            received.iter().all(|(call, _)| *call != of).then_some(received)
        },
        received.put_all(),
    )
    .priority(1);
    net.transition(
        "ignore a late request to read",
        (channels.requests.take(), received.take_all()),
        |(_, (of, version)): At<Of<Option<Version>>>, received: Vec<Of<Vec<Reply>>>| {
            (version.is_none() && received.iter().all(|(call, _)| *call != of)).then_some(received)
        },
        received.put_all(),
    )
    .priority(1);
    net.transition(
        "give up",
        (waiting.take(), received.take(), channels.failed.take_all()),
        move |waiting: Call, (call, replies): Of<Vec<Reply>>, failed: Vec<Server>| {
            let all_replied = replies.len() + failed.len() >= usize::from(servers);
            (waiting == call && all_replied).then_some(((call, None), failed))
        },
        (returned.put(), channels.failed.put_all()),
    );
    let ended = net.transition(
        "return",
        (returned.take(), progress.take()),
        |_: Of<Option<Combined>>, (begun, open): Progress| Some((begun, open - 1)),
        progress.put(),
    );
    if level == Level::Calls {
        ended.output(|(call, result), _| Some(Observation::Returned { call, result }));
    }
}

/// Adds the servers.
fn servers(net: &mut Net<Stimulus, Observation>, servers: Server, channels: Channels) {
    let holds = net.place("holds", (1..=servers).map(|server| (server, Version { timestamp: 0, value: 0 })));
    net.transition(
        "handle a request",
        (channels.requests.take(), holds.take(), channels.running.keep()),
        |(to, (call, request)): At<Of<Option<Version>>>, (server, held): At<Version>, running: Server| {
            (to == server && running == server).then(|| {
                let (held, reply) = handled(held, request);
                ((server, held), (call, reply))
            })
        },
        (holds.put(), channels.replies.put()),
    );
}

/// Returns what a server holds after a request to read, or to write a version, and what it replies.
fn handled(held: Version, request: Option<Version>) -> (Version, Reply) {
    match request {
        None => (held, Reply::Holds(held)),
        Some(version) if version.timestamp > held.timestamp => (version, Reply::Written),
        Some(_) => (held, Reply::Written),
    }
}

fn with(mut replies: Vec<Reply>, reply: Reply) -> Vec<Reply> {
    replies.push(reply);
    replies
}

/// The quorum functions: returns what the replies to a read or a write come to, once they are enough.
pub fn combined(replies: &[Reply], quorum: usize) -> Option<Combined> {
    if replies.len() < quorum {
        return None;
    }
    let version = |reply: &Reply| if let Reply::Holds(version) = reply { Some(*version) } else { None };
    let newest = replies.iter().filter_map(version).max_by_key(|version| version.timestamp);
    Some(newest.map_or(Combined::Done, |version| Combined::Value(version.value)))
}
