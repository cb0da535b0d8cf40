//! What leader and followers have in common: a log, a tree, and clients that wait.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use simutant_sim_core::{Child, Context, Durable, FifoReceiver, FifoSender, StreamSender, VirtualDuration};
use simutant_zookeeper_histories::Response;

use crate::apply::{answer, carry_out};
use crate::messages::{Entry, Origin, PeerMessage, ZooKeeperMessage, Zxid};
use crate::prepare::Outstanding;
use crate::server::{PORT, Request, changes, connection};
use crate::tree::Tree;
use crate::watches::Watches;

/// What survives a crash.
pub(super) type Log = Durable<Vec<Entry>>;

/// What a server does one after the other.
pub(super) enum Task {
    /// To answer a client of its own, after all that its clients asked for before.
    Answer(Request),
    /// To do the next entry.
    Do(Entry),
}

/// The state of a server.
#[derive(Debug, Default)]
pub(super) struct Replica {
    /// What the entries that are done have made.
    pub(super) tree: Tree,
    /// The last entry that is done.
    pub(super) done: Zxid,
    /// The watches of this server's clients.
    pub(super) watches: Watches,
    /// The leader's: the tree as it will be once every proposal is applied.
    pub(super) outstanding: Outstanding,
    /// The leader's: the numbers, in `outstanding`, of the proposals that are not applied yet.
    pub(super) proposed: VecDeque<u64>,
}

impl Replica {
    /// Returns the replica that a log leads to.
    pub(super) fn of(log: &[Entry]) -> Self {
        let mut replica = Self::default();
        for entry in log {
            apply(&mut replica, entry);
        }
        replica
    }
}

/// Connections of clients.
pub(super) type Connections = Rc<RefCell<Vec<Child<()>>>>;

/// Returns the transaction id of the last entry of a log, or zero if the log is empty.
pub(super) fn last(entries: &[Entry]) -> Zxid {
    entries.last().map_or(Zxid::default(), |entry| entry.zxid)
}

/// Returns the entries of a log after one of them, up to another one.
pub(super) fn between(entries: &[Entry], after: Zxid, until: Zxid) -> &[Entry] {
    let place = |zxid| entries.partition_point(|entry| entry.zxid <= zxid);
    &entries[place(after)..place(until)]
}

/// Takes connections of clients.
pub(super) async fn serve(
    mut context: Context<ZooKeeperMessage>,
    requests: FifoSender<Request>,
    connections: Connections,
) {
    let mut listener = context.listen(PORT);
    while context.running() {
        let stream = listener.accept().await;
        let requests = requests.clone();
        let child = context.spawn(move |context| connection(context, stream, requests));
        connections.borrow_mut().push(child);
    }
}

/// Takes the requests of clients: all are answered here, and `propose` is called with those that change the tree.
pub(super) async fn take(
    mut requests: FifoReceiver<Request>,
    tasks: FifoSender<Task>,
    propose: impl Fn(&Request) + 'static,
) {
    while let Some(request) = requests.recv().await {
        if changes(&request.operation) {
            propose(&request);
        }
        tasks.send(Task::Answer(request));
    }
}

/// Does what comes. Reads are answered from what this server has done: another one may be ahead. Each request waits for
/// all that clients of this server asked for before, so that what a session asks for is answered in its order.
pub(super) async fn work(
    context: Context<ZooKeeperMessage>,
    mut tasks: FifoReceiver<Task>,
    replica: Rc<RefCell<Replica>>,
    origin: Origin,
    takes: VirtualDuration,
) {
    let mut waiting: VecDeque<Request> = VecDeque::new();
    while let Some(task) = tasks.recv().await {
        match task {
            Task::Answer(request) => waiting.push_back(request),
            Task::Do(entry) => {
                context.pause(takes).await;
                let response = apply(&mut replica.borrow_mut(), &entry);
                if entry.origin == origin
                    && let Some(Request { replies, .. }) = waiting.pop_front()
                {
                    replies.send(ZooKeeperMessage::Reply(response));
                }
            }
        }
        while let Some(request) = waiting.pop_front_if(|request| !changes(&request.operation)) {
            context.pause(takes).await;
            let Request { session, operation, replies } = request;
            let Replica { tree, watches, .. } = &mut *replica.borrow_mut();
            let response = answer(tree, watches, session, &operation, &replies);
            replies.send(ZooKeeperMessage::Reply(response));
        }
    }
}

/// Does an entry, and answers it.
fn apply(replica: &mut Replica, entry: &Entry) -> Response {
    let Replica { tree, done: last, watches, outstanding, proposed } = replica;
    *last = entry.zxid;
    match &entry.change {
        Ok(transaction) => {
            let response = carry_out(tree, watches, entry.session, transaction);
            if let Some(change) = proposed.pop_front() {
                outstanding.done(change, transaction);
            }
            response
        }
        Err(refusal) => refusal.clone(),
    }
}

/// Sends messages to another server, in their order, as long as it can be reached.
pub(super) async fn deliver(mut sender: StreamSender<ZooKeeperMessage>, mut messages: FifoReceiver<PeerMessage>) {
    while let Some(message) = messages.recv().await {
        if sender.send(ZooKeeperMessage::Peer(message)).await.is_err() {
            return;
        }
    }
}
