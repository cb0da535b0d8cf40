//! The proposer, which leads while the detector says so.

use std::rc::Rc;

use simutant_quorum_calls::{Incomplete, Patience, QuorumCall, majority};
use simutant_sim_core::{Address, Channel, Context, VirtualDuration};

use super::{AGAIN, Common, PHASE, PaxosMessage, Replica, Round, TICK, Value, Vote, WRITE};

/// An acceptor's reply: what it grants, or the later round that it has promised to another leader.
pub type Reply<T> = Result<T, Round>;

/// Leads while this replica is the leader and a client has proposed something, until a value is decided.
pub async fn propose(mut context: Context<PaxosMessage>, number: Replica, replicas: Vec<Address>, common: Rc<Common>) {
    let mut channel = context.channel();
    let last = context.durable("proposer", || 0);
    let mut highest: Round = *last.get();
    while common.decided.get().is_none() {
        context.pause(TICK).await;
        let first = common.proposed.borrow().first().copied();
        let Some(value) = first.filter(|_| common.leader.get() == number) else { continue };
        let round = next_round(highest, number, replicas.len());
        // After a crash no other value is proposed in the same round.
        context.pause(WRITE).await;
        last.replace(round);
        highest = round;
        let phases = phases(&context, &mut channel, &replicas, round, value).await;
        if let Err(Failed::Later(promised)) = phases {
            highest = highest.max(promised);
            // Two that lead at a time do not hinder each other for ever.
            let wait = context.random().uniform(1..=PHASE.as_nanos());
            context.pause(VirtualDuration::from_nanos(wait)).await;
        }
    }
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

/// Goes through the phases of a round.
async fn phases(
    context: &Context<PaxosMessage>,
    channel: &mut Channel<PaxosMessage>,
    replicas: &[Address],
    round: Round,
    value: Value,
) -> Result<(), Failed> {
    let quorum = majority(replicas.len());
    let patience = Patience { whole: PHASE, again: AGAIN };
    let call = |request| QuorumCall { members: replicas, request, patience };

    context.phase("preparing");
    let promise = |message: &PaxosMessage| match *message {
        PaxosMessage::Promise { round: of, vote } if of == round => Some(Ok(vote)),
        PaxosMessage::Refused { round: of, promised } if of == round => Some(Err(promised)),
        _ => None,
    };
    let request = PaxosMessage::Prepare { round };
    let promised = call(request).make(context, channel, promise, |replies| promised(replies, quorum)).await?;
    let value = promised.map_err(Failed::Later)?.map_or(value, |vote| vote.value);

    context.phase("accepting");
    let vote = Vote { round, value };
    let accept = |message: &PaxosMessage| match *message {
        PaxosMessage::Learn(of) if of == vote => Some(Ok(())),
        PaxosMessage::Refused { round: of, promised } if of == round => Some(Err(promised)),
        _ => None,
    };
    let request = PaxosMessage::Accept(vote);
    let accepted = call(request).make(context, channel, accept, |replies| accepted(replies, quorum)).await?;
    accepted.map_err(Failed::Later)?;

    context.phase("committing");
    let committed = |message: &PaxosMessage| (*message == PaxosMessage::Committed).then_some(());
    let request = PaxosMessage::Commit { value };
    call(request).make(context, channel, committed, |replies| (replies.len() >= quorum).then_some(())).await?;
    Ok(())
}

/// The quorum function of promises: returns what was accepted in the highest round, if anything was, once enough have promised.
pub fn promised(replies: &[Reply<Option<Vote>>], quorum: usize) -> Option<Reply<Option<Vote>>> {
    if let Some(later) = replies.iter().filter_map(|reply| reply.err()).max() {
        return Some(Err(later));
    }
    let votes = replies.iter().flatten().flatten();
    (replies.len() >= quorum).then(|| Ok(votes.max_by_key(|vote| vote.round).copied()))
}

/// The quorum function of votes: returns once enough have accepted.
pub fn accepted(replies: &[Reply<()>], quorum: usize) -> Option<Reply<()>> {
    if let Some(later) = replies.iter().filter_map(|reply| reply.err()).max() {
        return Some(Err(later));
    }
    (replies.len() >= quorum).then_some(Ok(()))
}
