//! The protocol: replicas that decide on some of the values that clients propose, and on their order.
//!
//! Each replica is an [acceptor], which also learns what is decided, a [proposer], and a [detector] of failures, which says
//! who leads: the first one that it does not suspect. A leader asks a majority for promises in a round of its own, which hold for all
//! decrees. Then, decree after decree, it lets a majority accept a value: that of the highest round that some of them have
//! accepted for this decree, or else a client's (Lamport, "The Part-Time Parliament", 1998; the parts are those of Wang's thesis, 2021,
//! section 3.4.2, for one decree).

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

/// The number of a decree, from 1 on. Each is one value.
pub type Decree = u32;

/// A value that a client proposes. Each proposes another one.
pub type Value = u32;

/// What is accepted for a decree, and in which round.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Vote {
    /// The decree.
    pub decree: Decree,
    /// The round.
    pub round: Round,
    /// The value.
    pub value: Value,
}

/// What is decided for a decree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Decision {
    /// The decree.
    pub decree: Decree,
    /// The value.
    pub value: Value,
}

/// What clients and replicas send to each other.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum PaxosMessage {
    /// A client proposes a value.
    Propose {
        /// The value.
        value: Value,
    },
    /// A replica tells a client what is decided.
    Decided {
        /// From the first decree on.
        values: Vec<Value>,
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
        /// What it has accepted last, for each decree.
        votes: Vec<Vote>,
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
    Commit(Decision),
    /// A replica knows it.
    Committed(Decision),
    /// A detector asks whether a replica is there, and what is decided.
    Ping {
        /// The first decree that this replica does not know.
        decree: Decree,
    },
    /// It is.
    Alive {
        /// What is decided for that decree, as far as it knows.
        decided: Option<Decision>,
    },
}

/// A damaged message is recognised by its checksum, and thrown away.
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
            Self::Commit(_) => "COMMIT",
            Self::Committed(_) => "COMMITTED",
            Self::Ping { .. } => "PING",
            Self::Alive { .. } => "ALIVE",
        }
    }
}

/// What the parts of a replica know in common, until it crashes.
#[derive(Debug)]
pub struct Common {
    /// How many decrees there are.
    decrees: usize,
    /// Who leads.
    pub leader: Cell<Replica>,
    /// What clients have proposed here, in the order in which it came.
    pub proposed: RefCell<Vec<Value>>,
    /// What is decided, from the first decree on.
    pub decided: RefCell<Vec<Value>>,
}

impl Common {
    fn new(decrees: usize) -> Self {
        Self { decrees, leader: Cell::default(), proposed: RefCell::default(), decided: RefCell::default() }
    }

    /// Returns whether all is decided, and known here.
    pub fn is_over(&self) -> bool {
        self.decided.borrow().len() == self.decrees
    }
}

/// A replica: its number, the addresses of all, and how many decrees there are. After a crash it begins here again. `learned` is
/// told what is decided, in order, once after each start.
pub async fn replica(
    mut context: Context<PaxosMessage>,
    number: Replica,
    replicas: Vec<Address>,
    decrees: usize,
    learned: impl Fn(Decision) + 'static,
) {
    let common = Rc::new(Common::new(decrees));
    let (beside, all) = (Rc::clone(&common), replicas.clone());
    context.spawn(move |context| detector::detect(context, number, all, beside));
    let (beside, all) = (Rc::clone(&common), replicas);
    context.spawn(move |context| proposer::propose(context, number, all, beside));
    acceptor::accept(context, common, learned).await;
}

/// A client: returns what is decided, from the first decree to that of its value, or all of it, if its value is not among it.
///
/// A majority has told it then.
///
/// # Errors
/// [`Incomplete`] if that takes too long.
pub async fn client(
    context: Context<PaxosMessage>,
    replicas: Vec<Address>,
    value: Value,
) -> Result<Vec<Value>, Incomplete> {
    let mut channel = context.channel();
    let patience = Patience { whole: PATIENCE, again: AGAIN };
    let call = QuorumCall { members: &replicas, request: PaxosMessage::Propose { value }, patience };
    let reply = |message: &PaxosMessage| match message {
        PaxosMessage::Decided { values } => Some(values.clone()),
        _ => None,
    };
    let quorum = majority(replicas.len());
    call.make(&context, &mut channel, reply, |told| (told.len() >= quorum).then(|| told[0].clone())).await
}

/// Returns the number of the decree after so many others.
pub fn decree_after(decided: &[Value]) -> Decree {
    decided.len() as Decree + 1
}
