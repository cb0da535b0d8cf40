//! The protocol: replicas that decide on one value of those that clients propose.
//!
//! Each replica is an [acceptor], which also learns what is decided, a [proposer], and a [detector] of failures, which says
//! who leads: the first one that nobody suspects. A leader asks a majority for promises in a round of its own, and then lets
//! a majority accept a value: that of the highest round that some of them have accepted already, or else a client's (Lamport,
//! "The Part-Time Parliament", 1998; the parts are those of Wang's thesis, 2021, section 3.4.2).

pub mod acceptor;
pub mod detector;
pub mod proposer;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use simutant_quorum_calls::{Incomplete, Patience, QuorumCall, majority};
use simutant_sim_core::{Address, Context, Message, VirtualDuration};

/// The port of replicas.
pub const PORT: u16 = 7_000;

/// How long a replica takes to write to its disk.
pub const WRITE: VirtualDuration = VirtualDuration::from_millis(2);

/// How long a phase of a leader may take.
pub const PHASE: VirtualDuration = VirtualDuration::from_millis(500);

/// How long somebody waits before it asks those again that have not replied.
pub const AGAIN: VirtualDuration = VirtualDuration::from_millis(150);

/// How long a client waits for an answer.
pub const PATIENCE: VirtualDuration = VirtualDuration::from_secs(60);

/// How often a proposer looks whether it leads.
pub const TICK: VirtualDuration = VirtualDuration::from_millis(20);

/// The number of a replica, from 0 on.
pub type Replica = usize;

/// A round. Round i is that of replica i modulo how many there are; 0 is that of nobody, before all others.
pub type Round = u64;

/// A value that a client proposes.
pub type Value = u32;

/// What is accepted, and in which round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Vote {
    /// The round.
    pub round: Round,
    /// The value.
    pub value: Value,
}

/// What clients and replicas send to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum PaxosMessage {
    /// A client proposes a value.
    Propose {
        /// The value.
        value: Value,
    },
    /// A replica tells a client what is decided.
    Decided {
        /// The value.
        value: Value,
    },
    /// A leader asks for a promise to accept nothing in earlier rounds.
    Prepare {
        /// Its round.
        round: Round,
    },
    /// An acceptor promises that.
    Promise {
        /// The leader's round.
        round: Round,
        /// What it has accepted last.
        vote: Option<Vote>,
    },
    /// A leader asks to accept a value.
    Accept(Vote),
    /// An acceptor has accepted it.
    Learn(Vote),
    /// An acceptor has promised a later round to another leader.
    Refused {
        /// The round that is refused.
        round: Round,
        /// The round that it has promised.
        promised: Round,
    },
    /// A leader tells what is decided.
    Commit {
        /// The value.
        value: Value,
    },
    /// A replica knows what is decided.
    Committed,
    /// A detector asks whether a replica is there.
    Ping,
    /// It is.
    Alive {
        /// What is decided, as far as it knows.
        decided: Option<Value>,
    },
}

impl Message for PaxosMessage {
    fn kind(&self) -> &'static str {
        match self {
            Self::Propose { .. } => "PROPOSE",
            Self::Decided { .. } => "DECIDED",
            Self::Prepare { .. } => "PREPARE",
            Self::Promise { .. } => "PROMISE",
            Self::Accept(_) => "ACCEPT",
            Self::Learn(_) => "LEARN",
            Self::Refused { .. } => "REFUSED",
            Self::Commit { .. } => "COMMIT",
            Self::Committed => "COMMITTED",
            Self::Ping => "PING",
            Self::Alive { .. } => "ALIVE",
        }
    }
}

/// What the parts of a replica know in common, until it crashes.
#[derive(Debug, Default)]
pub struct Common {
    /// Who leads.
    pub leader: Cell<Replica>,
    /// What clients have proposed here, in the order in which it came.
    pub proposed: RefCell<Vec<Value>>,
    /// What is decided.
    pub decided: Cell<Option<Value>>,
}

/// A replica: its number, and the addresses of all. After a crash it begins here again. `learned` is told what is decided, once
/// after each start.
pub async fn replica(
    mut context: Context<PaxosMessage>,
    number: Replica,
    replicas: Vec<Address>,
    learned: impl Fn(Value) + 'static,
) {
    let common = Rc::new(Common::default());
    let (beside, all) = (Rc::clone(&common), replicas.clone());
    context.spawn(move |context| detector::detect(context, number, all, beside));
    let (beside, all) = (Rc::clone(&common), replicas);
    context.spawn(move |context| proposer::propose(context, number, all, beside));
    acceptor::accept(context, common, learned).await;
}

/// A client: returns what is decided, once a majority has told it.
///
/// # Errors
/// [`Incomplete`] if that takes too long.
pub async fn client(context: Context<PaxosMessage>, replicas: Vec<Address>, value: Value) -> Result<Value, Incomplete> {
    let mut channel = context.channel();
    let patience = Patience { whole: PATIENCE, again: AGAIN };
    let call = QuorumCall { members: &replicas, request: PaxosMessage::Propose { value }, patience };
    let reply = |message: &PaxosMessage| match message {
        PaxosMessage::Decided { value } => Some(*value),
        _ => None,
    };
    let quorum = majority(replicas.len());
    call.make(&context, &mut channel, reply, |values| (values.len() >= quorum).then(|| values[0])).await
}
