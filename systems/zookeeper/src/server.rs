//! The server: connections, and the stages that requests go through.

use std::cell::RefCell;
use std::rc::Rc;

use simutant_oracle::Session;
use simutant_sim_core::{
    Context, Either2, FifoReceiver, FifoSender, Stream, StreamReceiver, StreamSender, VirtualDuration, fifo, select,
};
use simutant_zookeeper_histories::{Error, Operation, Response};

use super::apply::apply;
use super::log::{log, replay};
use super::messages::{Transaction, ZooKeeperMessage};
use super::prepare::{AclRecord, Outstanding};
use super::tree::Tree;
use super::watches::{Replies, Watches};

/// The port for clients.
pub const PORT: u16 = 2_181;

/// How long each stage takes for a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Speed {
    /// To prepare it.
    pub prepare: VirtualDuration,
    /// To log it, if it is a change.
    pub log: VirtualDuration,
    /// To do it.
    pub apply: VirtualDuration,
}

/// What the first and the last stage share.
#[derive(Debug)]
pub(super) struct State {
    pub(super) tree: Tree,
    pub(super) outstanding: Outstanding,
    pub(super) watches: Watches,
}

/// A request as it came.
pub(super) struct Request {
    pub(super) session: Session,
    pub(super) operation: Operation,
    pub(super) replies: Replies,
}

/// A request between two stages.
pub(super) struct Prepared {
    pub(super) session: Session,
    pub(super) operation: Operation,
    /// A change with its number, or why there is none: it is refused, or it is a read.
    pub(super) work: Result<(u64, Transaction), Option<Response>>,
    pub(super) replies: Replies,
}

/// Serves clients. After a crash it begins here again, and finds its log.
pub async fn server(mut context: Context<ZooKeeperMessage>, speed: Speed, rule: AclRecord) {
    let disk = context.durable("log", Vec::new);
    let state = State { tree: replay(&disk), outstanding: Outstanding::default(), watches: Watches::default() };
    let state = Rc::new(RefCell::new(state));
    let ((requests, coming), (prepared, to_log), (logged, to_apply)) = (fifo(), fifo(), fifo());
    let shared = state.clone();
    context.spawn(move |context| prepare(context, coming, prepared, shared, (speed.prepare, rule)));
    context.spawn(move |context| log(context, to_log, logged, disk, speed.log));
    context.spawn(move |context| apply(context, to_apply, state, speed.apply));

    let mut listener = context.listen(PORT);
    while context.running() {
        let stream = listener.accept().await;
        let requests = requests.clone();
        context.spawn(move |context| connection(context, stream, requests));
    }
}

/// Takes the requests of a client, and sends it the replies.
pub(super) async fn connection(
    mut context: Context<ZooKeeperMessage>,
    stream: Stream<ZooKeeperMessage>,
    requests: FifoSender<Request>,
) {
    let (sender, mut receiver) = stream.split();
    let Ok(Some(ZooKeeperMessage::Open { session, timeout })) = receiver.recv().await else { return };
    let (replies, answers) = fifo();
    context.spawn(move |_| reply(sender, answers));
    if let Some(timeout) = timeout
        && !is_alive(&context, &mut receiver, timeout, &replies).await
    {
        return expire(session, &mut receiver, &requests, &replies).await;
    }
    while let Ok(Some(ZooKeeperMessage::Request(operation))) = receiver.recv().await {
        requests.send(Request { session, operation, replies: replies.clone() });
    }
}

/// Waits for a sign of life, and returns whether it comes in time. A connection that is closed is none.
async fn is_alive(
    context: &Context<ZooKeeperMessage>,
    receiver: &mut StreamReceiver<ZooKeeperMessage>,
    timeout: VirtualDuration,
    replies: &Replies,
) -> bool {
    let begun = context.now();
    match select((receiver.recv(), context.sleep(timeout))).await {
        Either2::First(Ok(Some(_))) => {
            replies.send(ZooKeeperMessage::Reply(Response::Done));
            true
        }
        Either2::First(_) => {
            context.sleep((begun + timeout) - context.now()).await;
            false
        }
        Either2::Second(()) => false,
    }
}

/// Ends a session, and refuses what it asks for later.
async fn expire(
    session: Session,
    receiver: &mut StreamReceiver<ZooKeeperMessage>,
    requests: &FifoSender<Request>,
    replies: &Replies,
) {
    let (ended, mut end) = fifo();
    requests.send(Request { session, operation: Operation::Expire, replies: ended });
    end.recv().await;
    while let Ok(Some(_)) = receiver.recv().await {
        replies.send(ZooKeeperMessage::Reply(Response::Error(Error::SessionExpired)));
    }
}

async fn reply(mut sender: StreamSender<ZooKeeperMessage>, mut answers: FifoReceiver<ZooKeeperMessage>) {
    while let Some(message) = answers.recv().await {
        if sender.send(message).await.is_err() {
            return;
        }
    }
}

/// The first stage.
async fn prepare(
    context: Context<ZooKeeperMessage>,
    mut coming: FifoReceiver<Request>,
    prepared: FifoSender<Prepared>,
    state: Rc<RefCell<State>>,
    (takes, rule): (VirtualDuration, AclRecord),
) {
    while let Some(Request { session, operation, replies }) = coming.recv().await {
        context.pause(takes).await;
        let work = if changes(&operation) {
            let State { tree, outstanding, .. } = &mut *state.borrow_mut();
            outstanding.prepare(tree, session, &operation, rule).map_err(Some)
        } else {
            Err(None)
        };
        prepared.send(Prepared { session, operation, work, replies });
    }
}

/// Returns whether an operation changes the tree.
pub(super) fn changes(operation: &Operation) -> bool {
    match operation {
        Operation::Create { .. }
        | Operation::Delete { .. }
        | Operation::SetData { .. }
        | Operation::SetAcl { .. }
        | Operation::Check { .. }
        | Operation::Multi(_)
        | Operation::Expire
        | Operation::Close => true,
        Operation::Exists { .. }
        | Operation::GetChildren { .. }
        | Operation::GetData { .. }
        | Operation::GetAcl { .. }
        | Operation::Watch(_)
        | Operation::Notice
        | Operation::Connect => false,
    }
}
