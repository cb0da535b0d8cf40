//! The leader: it puts the changes that all servers were asked for in one order.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use simutant_oracle::Session;
use simutant_sim_core::{Address, Context, FifoReceiver, FifoSender, Stream, VirtualDuration, fifo};
use simutant_zookeeper_histories::Operation;

use super::PEERS;
use super::replica::{Connections, Log, Replica, Task, between, deliver, last, serve, take, work};
use crate::messages::{Entry, Origin, PeerMessage, ZooKeeperMessage, Zxid};
use crate::prepare::AclRecord;
use crate::server::Speed;

/// How many of the followers must have logged an entry: with the leader, that is most of three servers.
const FOLLOWERS_NEEDED: usize = 1;

/// How long the leader tries to reach a follower that does not know that it is up again.
const CALL: VirtualDuration = VirtualDuration::from_millis(50);

/// A change that a client of some server asked for.
struct Request {
    origin: Origin,
    session: Session,
    operation: Operation,
}

/// What the leader knows of the order.
struct Order {
    /// What is logged here, and what is about to be.
    proposed: Vec<Entry>,
    /// The last entry that is logged here.
    logged: Zxid,
    /// The last one that is done.
    committed: Zxid,
    followers: BTreeMap<u64, Follower>,
    tasks: FifoSender<Task>,
}

/// A follower that has all that was proposed, or will be sent it.
struct Follower {
    messages: FifoSender<PeerMessage>,
    /// The last entry that is logged there.
    logged: Zxid,
}

impl Order {
    /// Sends an entry to all followers.
    fn propose(&mut self, entry: &Entry) {
        self.proposed.push(entry.clone());
        self.tell(&PeerMessage::Propose(entry.clone()));
    }

    /// Does what enough servers have logged.
    fn commit(&mut self) {
        let mut logged: Vec<Zxid> = self.followers.values().map(|follower| follower.logged).collect();
        logged.sort_unstable_by(|one, other| other.cmp(one));
        let Some(by_followers) = logged.get(FOLLOWERS_NEEDED - 1) else { return };
        let until = self.logged.min(*by_followers);
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
    fn follow(&mut self, server: u64, end: Zxid, messages: FifoSender<PeerMessage>) {
        let keep = last(between(&self.proposed, Zxid::default(), end));
        let entries = between(&self.proposed, keep, last(&self.proposed)).to_vec();
        messages.send(PeerMessage::Sync { keep, entries, committed: self.committed });
        self.followers.insert(server, Follower { messages, logged: Zxid::default() });
    }
}

/// Serves clients and followers. After a crash it begins here again: what its log has is done, since nobody else can
/// say what is not.
pub(super) async fn leader(
    mut context: Context<ZooKeeperMessage>,
    number: u64,
    followers: Vec<Address>,
    speed: Speed,
    rule: AclRecord,
) {
    let (disk, epoch) = (context.durable("log", Vec::new), context.durable("epoch", || 0));
    *epoch.change() += 1;
    let epoch = *epoch.get();
    let origin = Origin { server: number, life: epoch };
    let ((requests, coming), (to_prepare, preparing), (to_log, logging), (tasks, working)) =
        (fifo(), fifo(), fifo(), fifo());

    let entries: Vec<Entry> = disk.get().clone();
    let (replica, end) = (Replica::of(&entries), last(&entries));
    let order =
        Order { proposed: entries, logged: end, committed: end, followers: BTreeMap::new(), tasks: tasks.clone() };
    let (order, replica) = (Rc::new(RefCell::new(order)), Rc::new(RefCell::new(replica)));

    // At the beginning all ask by themselves.
    if epoch > 1 {
        for follower in followers {
            context.spawn(move |context| call(context, follower));
        }
    }
    let shared = (replica.clone(), order.clone());
    context.spawn(move |context| prepare(context, preparing, to_log, shared, epoch, (speed.prepare, rule)));
    let shared = order.clone();
    context.spawn(move |context| log(context, logging, disk, shared, speed.log));
    context.spawn(move |context| work(context, working, replica, origin, speed.apply));
    let to_prepare_own = to_prepare.clone();
    context.spawn(move |_| {
        take(coming, tasks, move |request| {
            let (session, operation) = (request.session, request.operation.clone());
            to_prepare_own.send(Request { origin, session, operation });
        })
    });
    context.spawn(move |context| serve(context, requests, Connections::default()));

    let mut listener = context.listen(PEERS);
    while context.running() {
        let stream = listener.accept().await;
        let (order, requests) = (order.clone(), to_prepare.clone());
        context.spawn(move |context| peer(context, stream, order, requests));
    }
}

/// Tells a follower that the leader is up: it may still wait for one that is not.
async fn call(context: Context<ZooKeeperMessage>, follower: Address) {
    if let Ok(mut stream) = context.connect(follower, CALL).await {
        // A follower that is down asks by itself when it is up.
        let _ = stream.send(ZooKeeperMessage::Peer(PeerMessage::Lead)).await;
    }
}

/// Talks to a follower.
async fn peer(
    mut context: Context<ZooKeeperMessage>,
    stream: Stream<ZooKeeperMessage>,
    order: Rc<RefCell<Order>>,
    requests: FifoSender<Request>,
) {
    let (sender, mut receiver) = stream.split();
    let Ok(Some(ZooKeeperMessage::Peer(PeerMessage::Follow { server, last }))) = receiver.recv().await else { return };
    let (messages, outgoing) = fifo();
    context.spawn(move |_| deliver(sender, outgoing));
    order.borrow_mut().follow(server, last, messages);
    while let Ok(Some(ZooKeeperMessage::Peer(message))) = receiver.recv().await {
        match message {
            PeerMessage::Forward { origin, session, operation } => {
                requests.send(Request { origin, session, operation });
            }
            PeerMessage::Logged(zxid) => {
                let mut order = order.borrow_mut();
                if let Some(follower) = order.followers.get_mut(&server) {
                    follower.logged = zxid;
                }
                order.commit();
            }
            _ => return,
        }
    }
}

/// The first stage: what a request needs is checked, on the tree as it will be.
async fn prepare(
    context: Context<ZooKeeperMessage>,
    mut requests: FifoReceiver<Request>,
    to_log: FifoSender<Entry>,
    (replica, order): (Rc<RefCell<Replica>>, Rc<RefCell<Order>>),
    epoch: u64,
    (takes, rule): (VirtualDuration, AclRecord),
) {
    let mut count = 0;
    while let Some(Request { origin, session, operation }) = requests.recv().await {
        context.pause(takes).await;
        let Replica { tree, outstanding, proposed, .. } = &mut *replica.borrow_mut();
        let change = outstanding.prepare(tree, session, &operation, rule).map(|(number, transaction)| {
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
    disk: Log,
    order: Rc<RefCell<Order>>,
    takes: VirtualDuration,
) {
    while let Some(entry) = entries.recv().await {
        context.pause(takes).await;
        let mut order = order.borrow_mut();
        order.logged = entry.zxid;
        disk.change().push(entry);
        order.commit();
    }
}
