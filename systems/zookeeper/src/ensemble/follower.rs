//! A follower: it does what the leader says, and answers reads by itself.

use std::cell::RefCell;
use std::rc::Rc;

use simutant_sim_core::{Address, Context, Either2, FifoReceiver, FifoSender, Stream, VirtualDuration, fifo, select};

use super::PEERS;
use super::replica::{Connections, Log, Replica, Task, between, deliver, last, serve, take, work};
use crate::messages::{Origin, PeerMessage, ZooKeeperMessage, Zxid};
use crate::server::Speed;

/// How long a follower waits for the leader before it asks again.
const PATIENCE: VirtualDuration = VirtualDuration::from_millis(200);

/// How long it waits if the leader refuses.
const PAUSE: VirtualDuration = VirtualDuration::from_millis(10);

/// Follows the leader, whenever there is one. After a crash it begins here again.
pub(super) async fn follower(mut context: Context<ZooKeeperMessage>, number: u64, leader: Address, speed: Speed) {
    let (log, life) = (context.durable("log", Vec::new), context.durable("life", || 0));
    let replica = Rc::new(RefCell::new(Replica::default()));
    let (calls, mut called) = fifo();
    context.spawn(move |context| listen(context, calls));
    while context.running() {
        context.phase("looking");
        let Ok(stream) = context.connect(leader, PATIENCE).await else {
            context.pause(PAUSE).await;
            continue;
        };
        // What the old leader was asked for is not awaited from the new one.
        *life.change() += 1;
        let origin = Origin { server: number, life: *life.get() };
        follow(&mut context, stream, (origin, speed), &log, &replica, &mut called).await;
    }
}

/// Listens for the leader, which says when it is up again.
async fn listen(context: Context<ZooKeeperMessage>, calls: FifoSender<()>) {
    let mut listener = context.listen(PEERS);
    while context.running() {
        let mut stream = listener.accept().await;
        if let Ok(Some(ZooKeeperMessage::Peer(PeerMessage::Lead))) = stream.recv().await {
            calls.send(());
        }
    }
}

/// Follows the leader until it is gone, and serves clients meanwhile.
async fn follow(
    context: &mut Context<ZooKeeperMessage>,
    stream: Stream<ZooKeeperMessage>,
    (origin, speed): (Origin, Speed),
    log: &Log,
    replica: &Rc<RefCell<Replica>>,
    called: &mut FifoReceiver<()>,
) {
    let (sender, mut receiver) = stream.split();
    let (messages, outgoing) = fifo();
    context.spawn(move |_| deliver(sender, outgoing));
    messages.send(PeerMessage::Follow { server: origin.server, last: last(&log.get()) });
    let Ok(Some(ZooKeeperMessage::Peer(PeerMessage::Sync { keep, entries, committed }))) = receiver.recv().await else {
        return;
    };
    context.pause(speed.log).await;
    // It is known: this is the leader that called.
    while !called.is_empty() {
        called.recv().await;
    }
    let logged = log.get().len();
    log.change().retain(|entry| entry.zxid <= keep);
    let kept = log.get().len();
    if kept < logged {
        context.note(|| format!("forgets {} entries of its log", logged - kept));
    }
    log.change().extend(entries);
    messages.send(PeerMessage::Logged(last(&log.get())));

    context.phase("following");
    let ((requests, coming), (tasks, working)) = (fifo(), fifo());
    let mut done = replica.borrow().done;
    commit(log, &mut done, committed, &tasks);
    let connections = Connections::default();
    let (shared, to_leader, to_work) = (replica.clone(), messages.clone(), tasks.clone());
    let children = [
        context.spawn(move |context| work(context, working, shared, origin, speed.apply)),
        context.spawn(move |_| {
            take(coming, to_work, move |request| {
                let (session, operation) = (request.session, request.operation.clone());
                to_leader.send(PeerMessage::Forward { origin, session, operation });
            })
        }),
        context.spawn({
            let connections = connections.clone();
            move |context| serve(context, requests, connections)
        }),
    ];
    while let Either2::First(Ok(Some(ZooKeeperMessage::Peer(message)))) = select((receiver.recv(), called.recv())).await
    {
        match message {
            PeerMessage::Propose(entry) => {
                context.pause(speed.log).await;
                let zxid = entry.zxid;
                log.change().push(entry);
                messages.send(PeerMessage::Logged(zxid));
            }
            PeerMessage::Commit(until) => commit(log, &mut done, until, &tasks),
            _ => break,
        }
    }
    // Clients connect again, and ask again for what they want.
    children.iter().chain(connections.borrow().iter()).for_each(|child| child.cancel());
}

/// Has entries of the log done that are not.
fn commit(log: &Log, done: &mut Zxid, until: Zxid, tasks: &FifoSender<Task>) {
    for entry in between(&log.get(), *done, until) {
        tasks.send(Task::Do(entry.clone()));
    }
    *done = (*done).max(until);
}
