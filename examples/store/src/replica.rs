//! Replicas: one of them is the primary, and the others follow it.
//!
//! A replica that hears of no primary asks the others to follow it. Whoever agrees follows no other one for the time of a
//! lease, and tells what it has stored. With a majority the replica is the primary: the latest of what it was told has
//! all changes that clients know of. It answers once a majority has stored that, too.
//!
//! The lease lasts from when the primary asked for it, by its own clock, less what the clocks of two replicas may
//! differ by in that time. Each message that a majority stores prolongs it. While it holds, no other primary can change
//! anything, so reads need nobody else (Gray and Cheriton, 1989).

use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

use simutant_oracle::specifications::store::{Operation, Response};
use simutant_sim_core::{Address, Channel, Context, Durable, VirtualDuration, VirtualTime};

use crate::messages::StoreMessage;
use crate::state::{Ballot, State};

/// The port of replicas.
pub const PORT: u16 = 7_000;

/// How long a replica that follows another one follows no third one.
pub const LEASE: VirtualDuration = VirtualDuration::from_millis(200);

/// What the clocks of two replicas may differ by at the end of a lease: with clocks that are at most 4 % too fast or
/// too slow, a lease of 184 ms by the slowest is over before one of 200 ms by the fastest.
pub const UNCERTAINTY: VirtualDuration = VirtualDuration::from_millis(16);

/// How often a primary prolongs its lease.
pub const HEARTBEAT: VirtualDuration = VirtualDuration::from_millis(50);

/// How long a replica waits for others to follow it before it asks again.
pub const ELECTION: VirtualDuration = VirtualDuration::from_millis(100);

/// How much later each replica begins an election than the one before it.
pub const STAGGER: VirtualDuration = VirtualDuration::from_millis(45);

/// How long it takes to write to a disk.
pub const WRITE: VirtualDuration = VirtualDuration::from_millis(2);

/// What a replica is.
#[derive(Debug, Clone)]
pub struct Replica {
    /// Its number, from 1.
    pub number: usize,
    /// The addresses of all replicas, number 1 first.
    pub addresses: Vec<Address>,
    /// How many clients are not done yet: it stops when all are.
    pub clients: Rc<Cell<usize>>,
    /// When it stops in any case.
    pub until: VirtualTime,
}

/// What survives a crash.
#[derive(Debug, Clone, Default)]
struct Disk {
    /// The largest ballot that it follows: it stores nothing for smaller ones.
    followed: Ballot,
    state: State,
}

/// What a replica is at a time.
#[derive(Debug)]
enum Role {
    Follower,
    Candidate(Candidate),
    Primary(Primary),
}

#[derive(Debug)]
struct Candidate {
    ballot: Ballot,
    asked_at: VirtualTime,
    /// What those have stored that follow it, by number.
    states: BTreeMap<usize, State>,
}

#[derive(Debug)]
struct Primary {
    ballot: Ballot,
    lease_until: VirtualTime,
    /// The last message to the others, and what became of all that are not answered yet: when they were sent, and the
    /// version that they had.
    round: u64,
    rounds: BTreeMap<u64, (VirtualTime, (Ballot, u64))>,
    /// The version that each other replica has stored, by number.
    stored: BTreeMap<usize, (Ballot, u64)>,
    /// What a majority has stored, once it is known that one has.
    committed: Option<State>,
    /// Who is answered when a majority has stored the last change: a client, and its request.
    waiting: Option<(Address, u64)>,
    heartbeat_at: VirtualTime,
}

/// A replica while it runs.
struct Member {
    context: Context<StoreMessage>,
    channel: Channel<StoreMessage>,
    disk: Durable<Disk>,
    replica: Replica,
    role: Role,
    /// Until when it follows no other one than now.
    follows_until: VirtualTime,
    election_at: VirtualTime,
}

/// Stores what clients ask for until its time is over. After a crash it begins here again, and finds its disk.
pub async fn replica(context: Context<StoreMessage>, replica: Replica) {
    let channel = context.channel_at(PORT);
    let disk = context.durable("disk", Disk::default);
    // It may have agreed to follow another one just before a crash.
    let follows_until = context.now() + LEASE;
    let mut member =
        Member { context, channel, disk, replica, role: Role::Follower, follows_until, election_at: follows_until };
    member.put_off_election();
    while member.replica.clients.get() > 0 && member.context.now() < member.replica.until {
        let wait = member.wakes_at().since(member.context.now());
        match member.channel.recv_timeout(wait).await {
            Ok(delivery) => member.receive(delivery.source, delivery.message).await,
            Err(_) => member.wake().await,
        }
    }
}

impl Member {
    fn majority(&self) -> usize {
        self.replica.addresses.len() / 2 + 1
    }

    fn number_of(&self, address: Address) -> usize {
        let place = self.replica.addresses.iter().position(|&other| other == address);
        place.expect("only replicas send such messages") + 1
    }

    fn send_to_others(&self, message: &StoreMessage) {
        for (number, &address) in (1..).zip(&self.replica.addresses) {
            if number != self.replica.number {
                self.channel.send(address, message.clone());
            }
        }
    }

    fn put_off_election(&mut self) {
        self.election_at = self.follows_until + STAGGER * self.replica.number as u64;
    }

    fn follow(&mut self) {
        self.context.phase("following");
        self.role = Role::Follower;
        self.follows_until = self.context.now() + LEASE;
        self.put_off_election();
    }

    async fn write(&self, change: impl FnOnce(&mut Disk)) {
        self.context.pause(WRITE).await;
        change(&mut self.disk.change());
    }

    fn wakes_at(&self) -> VirtualTime {
        match &self.role {
            Role::Primary(primary) => primary.heartbeat_at,
            Role::Follower | Role::Candidate(_) => self.election_at,
        }
    }

    async fn wake(&mut self) {
        match &self.role {
            Role::Primary(_) => self.replicate(),
            Role::Follower | Role::Candidate(_) => self.stand().await,
        }
    }

    /// Asks the others to follow it.
    async fn stand(&mut self) {
        self.context.phase("standing");
        let ballot = self.disk.get().followed.next(self.replica.number);
        self.write(|disk| disk.followed = ballot).await;
        let asked_at = self.context.now();
        let states = BTreeMap::from([(self.replica.number, self.disk.get().state.clone())]);
        self.role = Role::Candidate(Candidate { ballot, asked_at, states });
        self.election_at = asked_at + ELECTION + STAGGER * self.replica.number as u64;
        self.send_to_others(&StoreMessage::Elect { ballot });
    }

    async fn receive(&mut self, source: Address, message: StoreMessage) {
        match message {
            StoreMessage::Ask { client, request, operation } => self.asked(source, client, request, operation).await,
            StoreMessage::Elect { ballot } => self.elect(source, ballot).await,
            StoreMessage::Elected { ballot, state } => self.elected(source, ballot, state).await,
            StoreMessage::Replicate { ballot, round, state } => self.store(source, ballot, round, state).await,
            StoreMessage::Stored { ballot, round } => self.stored(source, ballot, round),
            other => panic!("a replica was sent {other:?}"),
        }
        // Messages that come all the time do not keep it from what is due.
        if self.context.now() >= self.wakes_at() {
            self.wake().await;
        }
    }

    async fn elect(&mut self, source: Address, ballot: Ballot) {
        let bound = match &self.role {
            Role::Primary(primary) => primary.lease_until,
            Role::Follower | Role::Candidate(_) => self.follows_until,
        };
        if self.context.now() < bound || ballot <= self.disk.get().followed {
            return;
        }
        self.write(|disk| disk.followed = ballot).await;
        self.follow();
        let state = self.disk.get().state.clone();
        self.channel.send(source, StoreMessage::Elected { ballot, state });
    }

    async fn elected(&mut self, source: Address, ballot: Ballot, state: State) {
        let (number, majority) = (self.number_of(source), self.majority());
        let Role::Candidate(candidate) = &mut self.role else { return };
        if candidate.ballot != ballot {
            return;
        }
        candidate.states.insert(number, state);
        if candidate.states.len() < majority {
            return;
        }
        let asked_at = candidate.asked_at;
        let latest = candidate.states.values().max_by_key(|state| state.version);
        let mut state = latest.expect("its own is one of them").clone();
        state.version.0 = ballot;
        self.write(|disk| disk.state = state).await;
        self.context.phase("primary");
        self.role = Role::Primary(Primary {
            ballot,
            lease_until: asked_at + LEASE - UNCERTAINTY,
            round: 0,
            rounds: BTreeMap::new(),
            stored: BTreeMap::new(),
            committed: None,
            waiting: None,
            heartbeat_at: self.context.now(),
        });
        self.replicate();
    }

    /// Has the others store what it has stored.
    fn replicate(&mut self) {
        let now = self.context.now();
        let Role::Primary(primary) = &mut self.role else { return };
        let state = self.disk.get().state.clone();
        primary.round += 1;
        primary.rounds.insert(primary.round, (now, state.version));
        primary.heartbeat_at = now + HEARTBEAT;
        let message = StoreMessage::Replicate { ballot: primary.ballot, round: primary.round, state };
        self.send_to_others(&message);
    }

    async fn store(&mut self, source: Address, ballot: Ballot, round: u64, state: State) {
        let (followed, version) = {
            let disk = self.disk.get();
            (disk.followed, disk.state.version)
        };
        if ballot < followed {
            return;
        }
        if ballot > followed || state.version > version {
            self.write(|disk| {
                disk.followed = ballot;
                // What was sent earlier may come later.
                if state.version > version {
                    disk.state = state;
                }
            })
            .await;
        }
        self.follow();
        self.channel.send(source, StoreMessage::Stored { ballot, round });
    }

    fn stored(&mut self, source: Address, ballot: Ballot, round: u64) {
        let (number, majority) = (self.number_of(source), self.majority());
        let Role::Primary(primary) = &mut self.role else { return };
        let Some(&(sent_at, version)) = primary.rounds.get(&round).filter(|_| primary.ballot == ballot) else { return };
        // With itself, one other replica is a majority of three.
        primary.lease_until = primary.lease_until.max(sent_at + LEASE - UNCERTAINTY);
        let known = primary.stored.entry(number).or_insert(version);
        *known = version.max(*known);
        let disk = self.disk.get();
        let count = 1 + primary.stored.values().filter(|&&stored| stored == disk.state.version).count();
        if count >= majority {
            primary.committed = Some(disk.state.clone());
            if let Some((client, request)) = primary.waiting.take() {
                self.channel.send(client, StoreMessage::Answer { request, response: Response::Done });
            }
        }
    }

    async fn asked(&mut self, source: Address, client: u64, request: u64, operation: Operation) {
        match self.decide(source, client, request, &operation) {
            Decision::Answer(response) => self.channel.send(source, StoreMessage::Answer { request, response }),
            Decision::Refuse => self.channel.send(source, StoreMessage::Refuse { request }),
            Decision::Nothing => {}
            Decision::Change(state) => {
                self.write(|disk| disk.state = state).await;
                self.replicate();
            }
        }
    }

    fn decide(&mut self, source: Address, client: u64, request: u64, operation: &Operation) -> Decision {
        let now = self.context.now();
        let Role::Primary(primary) = &mut self.role else { return Decision::Refuse };
        let Some(committed) = &primary.committed else { return Decision::Refuse };
        if let Operation::Get { key } = operation {
            return if now < primary.lease_until { Decision::Answer(committed.get(key)) } else { Decision::Refuse };
        }
        match committed.answered.get(&client) {
            Some((known, response)) if *known == request => return Decision::Answer(response.clone()),
            // A client goes on when it is answered.
            Some((known, _)) if *known > request => return Decision::Nothing,
            _ => {}
        }
        if primary.waiting.is_some() {
            return Decision::Refuse;
        }
        primary.waiting = Some((source, request));
        Decision::Change(committed.after(primary.ballot, client, request, operation))
    }
}

/// What a replica does when a client asks.
enum Decision {
    Answer(Response),
    Refuse,
    Nothing,
    Change(State),
}
