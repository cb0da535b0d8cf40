//! The proposer, which leads while the detector says so.

use std::collections::BTreeMap;
use std::rc::Rc;

use simutant_quorum_calls::{Incomplete, Patience, QuorumCall, majority};
use simutant_sim_core::{Address, Channel, Context, VirtualDuration};

use super::{
    AGAIN, Common, Decision, Decree, PHASE, PaxosMessage, Replica, Round, TICK, Value, Vote, WRITE, decree_after,
};

/// An acceptor's reply: what it grants, or the later round that it has promised to another leader.
pub type Reply<T> = Result<T, Round>;

/// Leads while this replica is the leader and clients have proposed something, until all is decided.
pub async fn propose(mut context: Context<PaxosMessage>, number: Replica, replicas: Vec<Address>, common: Rc<Common>) {
    let mut channel = context.channel();
    let last = context.durable("proposer", || 0);
    let mut highest: Round = *last.get();
    while !common.is_over() {
        context.pause(TICK).await;
        let is_asked = waiting(&common, &common.decided.borrow()).is_some();
        if common.leader.get() != number || !is_asked {
            continue;
        }
        let round = next_round(highest, number, replicas.len());
        // After a crash no other value is proposed in the same round.
        context.pause(WRITE).await;
        last.replace(round);
        highest = round;
        let led = lead(&context, &mut channel, number, &replicas, round, &common).await;
        if let Err(Failed::Later(promised)) = led {
            highest = highest.max(promised);
            // Two that lead at a time do not hinder each other for ever.
            let wait = context.random().uniform(1..=PHASE.as_nanos());
            context.pause(VirtualDuration::from_nanos(wait)).await;
        }
    }
}

/// Returns the first value that a client has proposed and that is not decided.
fn waiting(common: &Common, decided: &[Value]) -> Option<Value> {
    common.proposed.borrow().iter().find(|value| !decided.contains(value)).copied()
}

/// Returns the next round after another one that is this replica's.
pub fn next_round(after: Round, number: Replica, replicas: usize) -> Round {
    let (number, replicas) = (number as Round, replicas as Round);
    let next = after / replicas * replicas + number;
    if next > after { next } else { next + replicas }
}

/// Why a leader did not finish its phases.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Failed {
    /// An acceptor has promised a later round to another leader.
    Later(Round),
    /// Too few have replied.
    Silence,
}

impl From<Incomplete> for Failed {
    fn from(_: Incomplete) -> Self {
        Self::Silence
    }
}

/// Leads in a round: has it promised once, and then decides decree after decree, until another one leads or all is decided.
///
/// So a decree is begun only when those before are decided, and no value is decided twice.
async fn lead(
    context: &Context<PaxosMessage>,
    channel: &mut Channel<PaxosMessage>,
    number: Replica,
    replicas: &[Address],
    round: Round,
    common: &Common,
) -> Result<(), Failed> {
    context.phase("preparing");
    let quorum = majority(replicas.len());
    let promise = |message: &PaxosMessage| match message {
        PaxosMessage::Promise { round: of, votes } if *of == round => Some(Ok(votes.clone())),
        PaxosMessage::Refused { round: of, promised } if *of == round => Some(Err(*promised)),
        _ => None,
    };
    let call = call(replicas, PaxosMessage::Prepare { round });
    let promised = call.make(context, channel, promise, |replies| promised(replies, quorum)).await?;
    let votes = promised.map_err(Failed::Later)?;
    let mut decided = Vec::new();
    loop {
        // Others may have decided more, and what is decided here may not be known here yet.
        if common.decided.borrow().len() > decided.len() {
            decided = common.decided.borrow().clone();
        }
        if decided.len() == common.decrees {
            return Ok(());
        }
        let decree = decree_after(&decided);
        let accepted = votes.get(&decree).map(|vote| vote.value);
        match accepted.or_else(|| waiting(common, &decided)) {
            Some(value) => {
                decide(context, channel, replicas, Vote { decree, round, value }).await?;
                decided.push(value);
            }
            None => context.pause(TICK).await,
        }
        if common.leader.get() != number {
            return Ok(());
        }
    }
}

/// Has a value accepted, and tells it.
async fn decide(
    context: &Context<PaxosMessage>,
    channel: &mut Channel<PaxosMessage>,
    replicas: &[Address],
    vote: Vote,
) -> Result<(), Failed> {
    context.phase("accepting");
    let quorum = majority(replicas.len());
    let Vote { decree, round, value } = vote;
    let accept = |message: &PaxosMessage| match *message {
        PaxosMessage::Learn(of) if of == vote => Some(Ok(())),
        PaxosMessage::Refused { round: of, promised } if of == round => Some(Err(promised)),
        _ => None,
    };
    let accepting = call(replicas, PaxosMessage::Accept(vote));
    let accepted = accepting.make(context, channel, accept, |replies| accepted(replies, quorum)).await?;
    accepted.map_err(Failed::Later)?;

    context.phase("committing");
    let decision = Decision { decree, value };
    let committed = |message: &PaxosMessage| (*message == PaxosMessage::Committed(decision)).then_some(());
    let committing = call(replicas, PaxosMessage::Commit(decision));
    committing.make(context, channel, committed, |replies| (replies.len() >= quorum).then_some(())).await?;
    Ok(())
}

fn call(members: &[Address], request: PaxosMessage) -> QuorumCall<'_, PaxosMessage> {
    QuorumCall { members, request, patience: Patience { whole: PHASE, again: AGAIN } }
}

/// The quorum function of promises: returns what was accepted in the highest round, for each decree for which anything was, once
/// enough have promised.
pub fn promised(replies: &[Reply<Vec<Vote>>], quorum: usize) -> Option<Reply<BTreeMap<Decree, Vote>>> {
    if let Some(later) = replies.iter().filter_map(|reply| reply.as_ref().err()).max() {
        return Some(Err(*later));
    }
    let mut highest = BTreeMap::new();
    for vote in replies.iter().flatten().flatten() {
        let known = highest.entry(vote.decree).or_insert(*vote);
        if vote.round > known.round {
            *known = *vote;
        }
    }
    (replies.len() >= quorum).then_some(Ok(highest))
}

/// The quorum function of votes: returns once enough have accepted.
pub fn accepted(replies: &[Reply<()>], quorum: usize) -> Option<Reply<()>> {
    if let Some(later) = replies.iter().filter_map(|reply| reply.err()).max() {
        return Some(Err(later));
    }
    (replies.len() >= quorum).then_some(Ok(()))
}
