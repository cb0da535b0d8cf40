//! What leader and followers have in common: a log, a tree, and clients that wait.

use std::collections::VecDeque;

use simutant_sim_core::{
    Context, Durable, Either2, FifoReceiver, FifoSender, StreamReceiver, StreamSender, VirtualDuration, select,
};
use simutant_zookeeper_histories::Response;

use super::member::Role;
use crate::apply::{answer, carry_out};
use crate::messages::{Entry, PeerMessage, ZooKeeperMessage, Zxid};
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
    /// Forgets what clients of this server watch, and what is not done.
    pub(super) fn disconnect(&mut self) {
        *self = Self { tree: std::mem::take(&mut self.tree), done: self.done, ..Self::default() };
    }

    /// Does an entry, and answers it.
    pub(super) fn apply(&mut self, entry: &Entry) -> Response {
        self.done = entry.zxid;
        match &entry.change {
            Ok(transaction) => {
                let response = carry_out(&mut self.tree, &mut self.watches, entry.session, transaction);
                if let Some(change) = self.proposed.pop_front() {
                    self.outstanding.done(change, transaction);
                }
                response
            }
            Err(refusal) => refusal.clone(),
        }
    }
}

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
pub(super) async fn serve(mut context: Context<ZooKeeperMessage>, role: Role, requests: FifoSender<Request>) {
    let mut listener = context.listen(PORT);
    while context.running() {
        let stream = listener.accept().await;
        let requests = requests.clone();
        role.spawn(&mut context, move |context| connection(context, stream, requests));
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
    Role { member, origin, replica, .. }: Role,
) {
    let takes = member.speed.apply;
    let mut waiting: VecDeque<Request> = VecDeque::new();
    while let Some(task) = tasks.recv().await {
        match task {
            Task::Answer(request) => waiting.push_back(request),
            Task::Do(entry) => {
                context.pause(takes).await;
                let response = replica.borrow_mut().apply(&entry);
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

/// Returns the next message of another server, unless it is silent for too long, or gone.
pub(super) async fn hear(
    context: &Context<ZooKeeperMessage>,
    receiver: &mut StreamReceiver<ZooKeeperMessage>,
    patience: VirtualDuration,
) -> Option<PeerMessage> {
    match select((receiver.recv(), context.sleep(patience))).await {
        Either2::First(Ok(Some(ZooKeeperMessage::Peer(message)))) => Some(message),
        _ => None,
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
