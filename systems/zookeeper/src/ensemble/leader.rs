//! The leader: it puts the changes that all servers were asked for in one order.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use simutant_oracle::Session;
use simutant_sim_core::{Context, Either2, FifoReceiver, FifoSender, Stream, fifo, select};
use simutant_zookeeper_histories::Operation;

use super::PEERS;
use super::election::answer;
use super::member::{Member, OTHERS_NEEDED, Role};
use super::replica::{Replica, Task, between, deliver, hear, last, serve, take, work};
use crate::messages::{Entry, Origin, PeerMessage, ZooKeeperMessage, Zxid};
use crate::prepare::AclRecord;

/// A change that a client of some server asked for.
struct Request {
    origin: Origin,
    session: Session,
    operation: Operation,
}

/// What the leader knows of the order.
struct Order {
    /// The epoch of this leader.
    epoch: u64,
    /// Whether a majority has taken over what was logged here before.
    is_established: bool,
    /// What is logged here, and what is about to be.
    proposed: Vec<Entry>,
    /// The last entry that is logged here.
    logged: Zxid,
    /// The last one that is done.
    committed: Zxid,
    followers: BTreeMap<Origin, Follower>,
    tasks: FifoSender<Task>,
}

/// A follower that has all that was proposed, or will be sent it.
struct Follower {
    messages: FifoSender<PeerMessage>,
    /// The last entry that is logged there, once it has logged what was missing.
    logged: Option<Zxid>,
}

impl Order {
    /// Sends an entry to all followers.
    fn propose(&mut self, entry: &Entry) {
        self.proposed.push(entry.clone());
        self.tell(&PeerMessage::Propose(entry.clone()));
    }

    /// Returns the last entry that enough followers have logged.
    fn logged_by_others(&self) -> Option<Zxid> {
        let mut logged: Vec<Zxid> = self.followers.values().filter_map(|follower| follower.logged).collect();
        logged.sort_unstable_by(|one, other| other.cmp(one));
        logged.get(OTHERS_NEEDED - 1).copied()
    }

    /// Does what enough servers have logged.
    fn commit(&mut self) {
        let Some(by_others) = self.logged_by_others() else { return };
        let until = self.logged.min(by_others);
        if until <= self.committed {
            return;
        }
        for entry in between(&self.proposed, self.committed, until) {
            self.tasks.send(Task::Do(entry.clone()));
        }
        self.committed = until;
        self.tell(&PeerMessage::Commit(until));
    }

    fn tell(&self, message: &PeerMessage) {
        for follower in self.followers.values() {
            follower.messages.send(message.clone());
        }
    }

    /// Sends a follower what is missing in its log, and from then on all that is proposed.
    fn follow(&mut self, origin: Origin, end: Zxid, messages: FifoSender<PeerMessage>) {
        let keep = last(between(&self.proposed, Zxid::default(), end));
        let entries = between(&self.proposed, keep, last(&self.proposed)).to_vec();
        messages.send(PeerMessage::Sync { epoch: self.epoch, keep, entries });
        if self.is_established {
            messages.send(PeerMessage::Commit(self.committed));
        }
        self.followers.insert(origin, Follower { messages, logged: None });
    }
}

/// Leads as long as there is a majority of followers.
///
/// Its epoch begins when a majority has it on disk, together with what the leader has logged. All of that is done then:
/// none of them had logged more, and none follows an older leader from then on.
pub(super) async fn lead(context: &mut Context<ZooKeeperMessage>, role: &Role) {
    let Role { member, origin, .. } = role;
    let ((requests, coming), (to_prepare, preparing), (to_log, logging), (tasks, working)) =
        (fifo(), fifo(), fifo(), fifo());
    let entries: Vec<Entry> = role.log.get().clone();
    let (epoch, end) = (next_epoch(*role.promised.get(), member), last(&entries));
    role.promised.replace(epoch);
    let order = Rc::new(RefCell::new(Order {
        epoch,
        is_established: false,
        proposed: entries.clone(),
        logged: end,
        committed: end,
        followers: BTreeMap::new(),
        tasks: tasks.clone(),
    }));
    let (acknowledged, mut acknowledgements) = fifo();
    let leader = origin.server;
    role.spawn(context, move |context| answer(context, leader));
    let shared = (role.clone(), order.clone(), to_prepare.clone(), acknowledged);
    role.spawn(context, move |context| accept(context, shared));
    let deadline = context.now() + member.patience * 2;
    while order.borrow().logged_by_others().is_none() {
        let left = deadline - context.now();
        if let Either2::Second(()) = select((acknowledgements.recv(), context.sleep(left))).await {
            return;
        }
    }

    context.phase("leading");
    role.epoch.replace(epoch);
    let done = role.replica.borrow().done;
    for entry in between(&entries, done, end) {
        role.replica.borrow_mut().apply(entry);
    }
    order.borrow_mut().is_established = true;
    order.borrow().tell(&PeerMessage::Commit(end));
    let shared = (role.clone(), order.clone());
    role.spawn(context, move |context| prepare(context, preparing, to_log, shared));
    let shared = (role.clone(), order.clone());
    role.spawn(context, move |context| log(context, logging, shared));
    let shared = role.clone();
    role.spawn(context, move |context| work(context, working, shared));
    let origin = *origin;
    role.spawn(context, move |_| {
        take(coming, tasks, move |request| {
            let (session, operation) = (request.session, request.operation.clone());
            to_prepare.send(Request { origin, session, operation });
        })
    });
    let shared = role.clone();
    role.spawn(context, move |context| serve(context, shared, requests));
    while order.borrow().followers.len() >= OTHERS_NEEDED && *role.promised.get() == epoch {
        order.borrow().tell(&PeerMessage::Heartbeat);
        context.sleep(member.patience / 2).await;
    }
}

/// Returns the next epoch after one that a server has promised. Those of a server are its own: its number, and every third one
/// from there on. Two leaders of the same epoch would not refuse each other's followers.
fn next_epoch(promised: u64, member: &Member) -> u64 {
    let servers = member.leaders.len() as u64;
    let next = promised + 1;
    next + (member.number + servers - next % servers) % servers
}

/// Takes connections of followers.
async fn accept(
    mut context: Context<ZooKeeperMessage>,
    shared: (Role, Rc<RefCell<Order>>, FifoSender<Request>, FifoSender<()>),
) {
    let mut listener = context.listen(PEERS);
    while context.running() {
        let (stream, shared) = (listener.accept().await, shared.clone());
        let role = shared.0.clone();
        role.spawn(&mut context, move |context| peer(context, stream, shared));
    }
}

/// Talks to a follower, which has logged no more than the leader.
async fn peer(
    mut context: Context<ZooKeeperMessage>,
    stream: Stream<ZooKeeperMessage>,
    (role, order, requests, acknowledged): (Role, Rc<RefCell<Order>>, FifoSender<Request>, FifoSender<()>),
) {
    let patience = role.member.patience;
    let (sender, mut receiver) = stream.split();
    let request = hear(&context, &mut receiver, patience).await;
    let Some(PeerMessage::Follow { origin, promised, epoch, last: end }) = request else { return };
    // A leader that hears of a later promise steps down: its next epoch exceeds that.
    let promised = promised.max(*role.promised.get());
    role.promised.replace(promised);
    if promised > order.borrow().epoch || (epoch, end) > (*role.epoch.get(), last(&order.borrow().proposed)) {
        return;
    }
    let (messages, outgoing) = fifo();
    role.spawn(&mut context, move |_| deliver(sender, outgoing));
    order.borrow_mut().follow(origin, end, messages);
    while let Some(message) = hear(&context, &mut receiver, patience).await {
        match message {
            PeerMessage::Forward { origin, session, operation } => {
                requests.send(Request { origin, session, operation });
            }
            PeerMessage::Logged(zxid) => {
                let mut order = order.borrow_mut();
                if let Some(follower) = order.followers.get_mut(&origin) {
                    follower.logged = Some(zxid);
                }
                order.commit();
                acknowledged.send(());
            }
            _ => {}
        }
    }
    order.borrow_mut().followers.remove(&origin);
}

/// The first stage: what a request needs is checked, on the tree as it will be.
async fn prepare(
    context: Context<ZooKeeperMessage>,
    mut requests: FifoReceiver<Request>,
    to_log: FifoSender<Entry>,
    (role, order): (Role, Rc<RefCell<Order>>),
) {
    let epoch = order.borrow().epoch;
    let mut count = 0;
    while let Some(Request { origin, session, operation }) = requests.recv().await {
        context.pause(role.member.speed.prepare).await;
        let Replica { tree, outstanding, proposed, .. } = &mut *role.replica.borrow_mut();
        let change = outstanding.prepare(tree, session, &operation, AclRecord::New).map(|(number, transaction)| {
            proposed.push_back(number);
            transaction
        });
        count += 1;
        let entry = Entry { zxid: Zxid { epoch, count }, origin, session, change };
        order.borrow_mut().propose(&entry);
        to_log.send(entry);
    }
}

/// The second stage: entries are logged.
async fn log(
    context: Context<ZooKeeperMessage>,
    mut entries: FifoReceiver<Entry>,
    (role, order): (Role, Rc<RefCell<Order>>),
) {
    while let Some(entry) = entries.recv().await {
        context.pause(role.member.speed.log).await;
        let mut order = order.borrow_mut();
        order.logged = entry.zxid;
        role.log.change().push(entry);
        order.commit();
    }
}
