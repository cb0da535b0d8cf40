//! Five servers elect a leader, another one when a partition cuts the first one off, and none where nobody has a
//! majority.
//!
//! The rules are those of Raft's elections (Ongaro and Ousterhout, "In search of an understandable consensus
//! algorithm", USENIX ATC 2014, section 5.2): time is cut into terms, a server has one vote a term, and a majority of
//! votes makes a leader. While the network is cut the old leader does not know that it is one no more, so there are
//! two; but never two of one term. When the network heals, all follow the newer one.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::rc::Rc;

use simutant_sim_core::network::ScheduledPartition;
use simutant_sim_core::{Address, CheckFailure, Context, Message, Network, Simulation, VirtualDuration, VirtualTime};

const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];
const PORT: u16 = 1;
const HEARTBEAT: VirtualDuration = VirtualDuration::from_millis(50);
const LATENCY: VirtualDuration = VirtualDuration::from_millis(5);
/// When the network is cut in two, and then in three.
const CUT_IN_TWO: Range<VirtualTime> = VirtualTime::from_secs(2)..VirtualTime::from_secs(4);
const CUT_IN_THREE: Range<VirtualTime> = VirtualTime::from_secs(6)..VirtualTime::from_secs(8);
const END: VirtualTime = VirtualTime::from_secs(10);

/// Everything that servers say names the term that they are in.
#[derive(Debug, Clone, Copy, Hash)]
struct ElectionMessage {
    term: u64,
    content: Content,
}

#[derive(Debug, Clone, Copy, Hash)]
enum Content {
    RequestVote,
    Vote,
    Heartbeat,
}

impl Message for ElectionMessage {
    fn kind(&self) -> &'static str {
        match self.content {
            Content::RequestVote => "REQUEST-VOTE",
            Content::Vote => "VOTE",
            Content::Heartbeat => "HEARTBEAT",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Role {
    Follower { leader: Option<Address> },
    Candidate { votes: BTreeSet<Address> },
    Leader,
}

/// Who was elected, by term, and when.
type Elected = Rc<RefCell<BTreeMap<u64, Vec<(String, VirtualTime)>>>>;

/// Takes part in elections until the end, and returns the term that it is in then, and the term's leader as far as it
/// knows.
async fn server(mut context: Context<ElectionMessage>, elected: Elected) -> (u64, Option<Address>) {
    let mut channel = context.channel_at(PORT);
    let (mine, others) = (channel.address(), context.broadcast(PORT));
    let (mut term, mut voted_for, mut role) = (0, None, Role::Follower { leader: None });
    // The first two stand at once, and against each other.
    let mut deadline = if NAMES[..2].contains(&context.name()) { context.now() } else { next_election(&mut context) };
    while context.now() < END {
        let Ok(delivery) = channel.recv_timeout(deadline.since(context.now())).await else {
            let content = if role == Role::Leader {
                deadline = context.now() + HEARTBEAT;
                Content::Heartbeat
            } else {
                // No leader was heard of, or nobody won: stand for election.
                (term, voted_for, role) = (term + 1, Some(mine), Role::Candidate { votes: BTreeSet::from([mine]) });
                deadline = next_election(&mut context);
                Content::RequestVote
            };
            channel.send(others, ElectionMessage { term, content });
            continue;
        };
        let ElectionMessage { term: term_there, content } = delivery.message;
        if term_there < term {
            continue;
        }
        if term_there > term {
            (term, voted_for, role) = (term_there, None, Role::Follower { leader: None });
            deadline = next_election(&mut context);
        }
        match content {
            Content::RequestVote if voted_for.is_none() => {
                voted_for = Some(delivery.source);
                channel.send(delivery.source, ElectionMessage { term, content: Content::Vote });
            }
            Content::RequestVote => {}
            Content::Vote => {
                let Role::Candidate { votes } = &mut role else { continue };
                votes.insert(delivery.source);
                if votes.len() > NAMES.len() / 2 {
                    role = Role::Leader;
                    deadline = context.now() + HEARTBEAT;
                    elected.borrow_mut().entry(term).or_default().push((context.name().to_owned(), context.now()));
                    channel.send(others, ElectionMessage { term, content: Content::Heartbeat });
                }
            }
            Content::Heartbeat => {
                assert_ne!(role, Role::Leader, "{} and another lead term {term}", context.name());
                role = Role::Follower { leader: Some(delivery.source) };
                deadline = next_election(&mut context);
            }
        }
    }
    let leader = match role {
        Role::Leader => Some(mine),
        Role::Follower { leader } => leader,
        Role::Candidate { .. } => None,
    };
    (term, leader)
}

/// Returns when a server stands for election unless it hears of a leader: at random, so that one is the first as a
/// rule.
fn next_election(context: &mut Context<ElectionMessage>) -> VirtualTime {
    context.now() + VirtualDuration::from_millis(context.random().uniform(150..300))
}

fn main() {
    let mut simulation = Simulation::new(5);
    let cut = |Range { start, end }, groups: &[[&str; 2]]| {
        let groups = groups.iter().map(|group| group.map(str::to_owned).to_vec()).collect();
        ScheduledPartition { from: start, until: Some(end), groups }
    };
    let partitions = vec![cut(CUT_IN_TWO, &[["a", "b"]]), cut(CUT_IN_THREE, &[["a", "b"], ["c", "d"]])];
    simulation.network(Network { partitions, ..Network::constant(LATENCY) });
    let elected = Elected::default();
    let mut views = Vec::new();
    for name in NAMES {
        let elected = elected.clone();
        views.push(simulation.add(name, |context| server(context, elected)).returned());
    }
    let all_elected = elected.clone();
    simulation.check("a term has one leader", move || {
        let twice = all_elected.borrow().iter().find_map(|(term, leaders)| (leaders.len() > 1).then_some(*term));
        twice.map_or(Ok(()), |term| Err(CheckFailure::new(format!("term {term} has two"))))
    });
    simulation.check("all servers know the same leader at last", move || {
        let views: BTreeSet<_> = views.iter().filter_map(|view| view.get().map(|view| *view)).collect();
        match views.first() {
            Some((_, Some(_))) if views.len() == 1 => Ok(()),
            _ => Err(CheckFailure::new(format!("they know of {views:?}"))),
        }
    });

    let report = simulation.run();
    assert!(report.ended.passed(), "{}", report.ended);
    let elected = elected.borrow();
    let leaders: Vec<&(String, VirtualTime)> = elected.values().flatten().collect();
    // Both candidates voted for themselves; the request of the first came first to the others.
    let (first, at) = leaders[0];
    assert!(first == "a" && *at == VirtualTime::ZERO + LATENCY * 2, "{leaders:?}");
    let successor = leaders.iter().find(|(_, at)| CUT_IN_TWO.contains(at));
    assert!(successor.is_some_and(|(name, _)| ["c", "d", "e"].contains(&name.as_str())), "{leaders:?}");
    // Votes that were on their way when the network was cut do not count: they are lost.
    assert!(!leaders.iter().any(|(_, at)| CUT_IN_THREE.contains(at)), "{leaders:?}");
}
