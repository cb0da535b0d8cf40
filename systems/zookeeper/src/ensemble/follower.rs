//! A follower: it does what the leader says, and answers reads by itself.

use simutant_sim_core::{Address, ConnectError, Context, FifoSender, Stream, VirtualDuration, fifo};

use super::member::Role;
use super::replica::{Log, Task, between, deliver, hear, serve, take, work};
use crate::messages::{PeerMessage, ZooKeeperMessage, Zxid};

/// How long it waits if the leader refuses: it may not know yet that it leads.
const PAUSE: VirtualDuration = VirtualDuration::from_millis(10);

/// Follows a leader until it is gone, and serves clients meanwhile.
pub(super) async fn follow(context: &mut Context<ZooKeeperMessage>, role: &Role, leader: u64) {
    let Role { member, log, origin, .. } = role;
    let Some(stream) = reach(context, member.leaders[leader as usize - 1], member.patience).await else { return };
    let (sender, mut receiver) = stream.split();
    let (messages, outgoing) = fifo();
    role.spawn(context, move |_| deliver(sender, outgoing));
    let (promised, epoch) = (*role.promised.get(), *role.epoch.get());
    messages.send(PeerMessage::Follow { origin: *origin, promised, epoch, last: role.last() });
    let Some(PeerMessage::Sync { epoch, keep, entries }) = hear(context, &mut receiver, member.patience).await else {
        return context.sleep(PAUSE).await;
    };
    context.pause(member.speed.log).await;
    let logged = log.get().len();
    log.change().retain(|entry| entry.zxid <= keep);
    let kept = log.get().len();
    if kept < logged {
        context.note(|| format!("forgets {} entries of its log", logged - kept));
    }
    log.change().extend(entries);
    role.epoch.replace(epoch);
    role.promised.replace(epoch);
    messages.send(PeerMessage::Logged(role.last()));
    let Some(PeerMessage::Commit(committed)) = hear(context, &mut receiver, member.patience).await else { return };

    context.phase("following");
    let ((requests, coming), (tasks, working)) = (fifo(), fifo());
    let mut done = role.replica.borrow().done;
    commit(log, &mut done, committed, &tasks);
    let (shared, to_leader, to_work, origin) = (role.clone(), messages.clone(), tasks.clone(), *origin);
    role.spawn(context, move |context| work(context, working, shared));
    role.spawn(context, move |_| {
        take(coming, to_work, move |request| {
            let (session, operation) = (request.session, request.operation.clone());
            to_leader.send(PeerMessage::Forward { origin, session, operation });
        })
    });
    let shared = role.clone();
    role.spawn(context, move |context| serve(context, shared, requests));
    while let Some(message) = hear(context, &mut receiver, member.patience).await {
        match message {
            PeerMessage::Propose(entry) => {
                context.pause(member.speed.log).await;
                let zxid = entry.zxid;
                log.change().push(entry);
                messages.send(PeerMessage::Logged(zxid));
            }
            PeerMessage::Commit(until) => commit(log, &mut done, until, &tasks),
            _ => messages.send(PeerMessage::Heartbeat),
        }
    }
}

/// Connects with a server that leads, or will soon.
async fn reach(
    context: &Context<ZooKeeperMessage>,
    leader: Address,
    patience: VirtualDuration,
) -> Option<Stream<ZooKeeperMessage>> {
    let deadline = context.now() + patience;
    loop {
        match context.connect(leader, patience).await {
            Ok(stream) => return Some(stream),
            Err(ConnectError::Refused) if context.now() < deadline => context.sleep(PAUSE).await,
            Err(_) => return None,
        }
    }
}

/// Has entries of the log done that are not.
fn commit(log: &Log, done: &mut Zxid, until: Zxid, tasks: &FifoSender<Task>) {
    for entry in between(&log.get(), *done, until) {
        tasks.send(Task::Do(entry.clone()));
    }
    *done = (*done).max(until);
}
