//! Quorum calls of simulated components.
//!
//! A quorum call sends a request to all members of a configuration. After each reply, a *quorum function* gets the replies
//! so far: it returns what they come to, once they are enough. The caller sees no single reply. After Gorums (Lea, Jehl and
//! Meling, ICDCS 2017), as Wang's thesis describes it (2021, section 1.1.3).
//!
//! ```
//! use simutant_quorum_calls::{Patience, QuorumCall, majority};
//! use simutant_sim_core::{Message, Simulation, VirtualDuration};
//!
//! #[derive(Debug, Clone, Hash)]
//! enum Count {
//!     Ask,
//!     Says(u8),
//! }
//!
//! impl Message for Count {
//!     fn kind(&self) -> &'static str {
//!         match self {
//!             Self::Ask => "ASK",
//!             Self::Says(_) => "SAYS",
//!         }
//!     }
//! }
//!
//! let mut simulation = Simulation::new(1);
//! let members: Vec<_> = (0..3).map(|number| simulation.address(&format!("member-{number}"), 7)).collect();
//! // The third one answers nobody.
//! for number in 0..2 {
//!     simulation.add(&format!("member-{number}"), move |context| async move {
//!         let mut channel = context.channel_at(7);
//!         let source = channel.recv().await.source;
//!         channel.send(source, Count::Says(number + 1));
//!     });
//! }
//! let patience = Patience { whole: VirtualDuration::from_secs(1), again: VirtualDuration::from_millis(100) };
//! simulation
//!     .add("client", move |context| async move {
//!         let mut channel = context.channel();
//!         let call = QuorumCall { members: &members, request: Count::Ask, patience };
//!         let reply = |message: &Count| if let Count::Says(count) = message { Some(*count) } else { None };
//!         let most = |counts: &[u8]| if counts.len() >= majority(3) { counts.iter().max().copied() } else { None };
//!         call.make(&context, &mut channel, reply, most).await
//!     })
//!     .expecting(Ok(2));
//! assert!(simulation.run().ended.passed());
//! ```

use simutant_sim_core::{Address, Channel, Context, Message, VirtualDuration};

/// A request to all members of a configuration.
#[derive(Debug, Clone)]
pub struct QuorumCall<'a, M> {
    /// The members.
    pub members: &'a [Address],
    /// What each of them is sent. It is sent again, so it must have no other effect when it comes twice.
    pub request: M,
    /// How long replies are waited for.
    pub patience: Patience,
}

/// How long replies are waited for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// In all.
    pub whole: VirtualDuration,
    /// Until those that have not replied are asked again: more than 0.
    pub again: VirtualDuration,
}

/// No quorum is possible any more: all members have replied, or time is up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{replies} of {members} have replied, which is no quorum")]
pub struct Incomplete {
    /// How many have replied.
    pub replies: usize,
    /// How many there are.
    pub members: usize,
}

/// Returns how many of so many members are more than half of them: two such groups have a member in common.
pub const fn majority(members: usize) -> usize {
    members / 2 + 1
}

impl<M: Message> QuorumCall<'_, M> {
    /// Makes the call. `reply` returns what a message replies to it, if it does; of a member, the first reply counts.
    /// `quorum` gets the replies so far, in the order of their arrival, and returns what they come to, if they are enough.
    ///
    /// # Errors
    /// [`Incomplete`] if they are not enough in time; at once if there are no members.
    pub async fn make<R, C>(
        &self,
        context: &Context<M>,
        channel: &mut Channel<M>,
        reply: impl Fn(&M) -> Option<R>,
        mut quorum: impl FnMut(&[R]) -> Option<C>,
    ) -> Result<C, Incomplete> {
        let Self { members, request, patience } = self;
        let end = context.now() + patience.whole;
        let mut open = members.to_vec();
        let mut replies = Vec::new();
        while !open.is_empty() && context.now() < end {
            for member in &open {
                channel.send(*member, request.clone());
            }
            let again = end.min(context.now() + patience.again);
            while !open.is_empty() && context.now() < again {
                let Ok(delivery) = channel.recv_timeout(again - context.now()).await else { break };
                let (Some(place), Some(reply)) =
                    (open.iter().position(|member| *member == delivery.source), reply(&delivery.message))
                else {
                    // It replies to another call, or for the second time.
                    continue;
                };
                open.remove(place);
                replies.push(reply);
                if let Some(combined) = quorum(&replies) {
                    return Ok(combined);
                }
            }
        }
        Err(Incomplete { replies: replies.len(), members: members.len() })
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use simutant_sim_core::network::ScheduledPartition;
    use simutant_sim_core::{Link, Network, Simulation, VirtualTime};

    use super::*;

    #[derive(Debug, Clone, Hash)]
    enum Note {
        Ask(u32),
        Reply(u32, usize),
    }

    impl Message for Note {
        fn kind(&self) -> &'static str {
            match self {
                Self::Ask(_) => "ASK",
                Self::Reply(..) => "REPLY",
            }
        }
    }

    const PATIENCE: Patience =
        Patience { whole: VirtualDuration::from_millis(500), again: VirtualDuration::from_millis(50) };

    /// What two calls, one after the other, come to, and what their quorum functions were given.
    #[derive(Debug, Default, Clone, PartialEq)]
    struct Made {
        results: Vec<Result<usize, Incomplete>>,
        given: Vec<Vec<usize>>,
    }

    /// Makes two calls to so many members, of which some reply, to each request; `enough` replies are a quorum.
    fn made(members: usize, replying: &[usize], enough: usize, network: Network) -> Made {
        let mut simulation = Simulation::new(1);
        simulation.network(network);
        let addresses: Vec<_> = (0..members).map(|number| simulation.address(&format!("m{number}"), 7)).collect();
        for number in 0..members {
            let replies = replying.contains(&number);
            simulation.add(&format!("m{number}"), move |context| async move {
                let mut channel = context.channel_at(7);
                // Until the run is over.
                while context.now() < VirtualTime::from_secs(3) {
                    let left = VirtualTime::from_secs(3) - context.now();
                    let Ok(delivery) = channel.recv_timeout(left).await else { return };
                    if let (Note::Ask(call), true) = (delivery.message, replies) {
                        // Twice, of which one is too many.
                        channel.send(delivery.source, Note::Reply(call, number));
                        channel.send(delivery.source, Note::Reply(call, number));
                    }
                }
            });
        }
        let made = Rc::new(RefCell::new(Made::default()));
        let result = Rc::clone(&made);
        simulation.add("client", move |context| async move {
            let mut channel = context.channel();
            for number in 0..2 {
                let call = QuorumCall { members: &addresses, request: Note::Ask(number), patience: PATIENCE };
                let reply = |note: &Note| match note {
                    Note::Reply(of, member) if *of == number => Some(*member),
                    _ => None,
                };
                let quorum = |replies: &[usize]| {
                    made.borrow_mut().given.push(replies.to_vec());
                    (replies.len() >= enough).then(|| replies.iter().sum())
                };
                let result = call.make(&context, &mut channel, reply, quorum).await;
                made.borrow_mut().results.push(result);
            }
        });
        assert!(simulation.run().ended.passed());
        result.take()
    }

    #[test]
    fn a_call_is_complete_where_enough_reply_and_not_otherwise() {
        for members in 0..=4 {
            for replying in 0..1_usize << members {
                let replying: Vec<usize> = (0..members).filter(|number| replying & (1 << number) != 0).collect();
                for enough in 1..=members + 1 {
                    let Made { results, given } = made(members, &replying, enough, Network::default());
                    let first: usize = replying.iter().take(enough).sum();
                    let expected = match replying.len() >= enough {
                        true => Ok(first),
                        false => Err(Incomplete { replies: replying.len(), members }),
                    };
                    assert_eq!(
                        results,
                        [expected, expected],
                        "{members} members, {replying:?} reply, {enough} are enough"
                    );
                    // After each reply, with one more.
                    let lengths: Vec<usize> = given.iter().map(Vec::len).collect();
                    let each: Vec<usize> = (1..=replying.len().min(enough)).collect();
                    assert_eq!(lengths, [&each[..], &each[..]].concat());
                }
            }
        }
    }

    #[test]
    fn who_does_not_reply_is_asked_again_until_time_is_up() {
        let until = |ms| {
            let groups = vec![vec!["client".to_owned()]];
            let partition =
                ScheduledPartition { from: VirtualTime::ZERO, until: Some(VirtualTime::from_millis(ms)), groups };
            let link = Link::constant(VirtualDuration::from_millis(1));
            made(3, &[0, 1, 2], 2, Network { partitions: vec![partition], link, ..Network::default() }).results
        };
        assert_eq!(until(400), [Ok(1), Ok(1)]);
        assert_eq!(until(600), [Err(Incomplete { replies: 0, members: 3 }), Ok(1)]);
    }

    #[test]
    fn majorities_have_a_member_in_common() {
        for members in 1..20 {
            assert!(2 * majority(members) > members && 2 * (majority(members) - 1) <= members);
        }
    }
}
