//! A server: it looks for a leader, leads or follows, and looks again.

use std::cell::RefCell;
use std::rc::Rc;

use simutant_sim_core::{Address, Child, Context, Durable, VirtualDuration};

use super::election::elect;
use super::follower::follow;
use super::leader::lead;
use super::replica::{Log, Replica, last};
use crate::messages::{Origin, ZooKeeperMessage, Zxid};
use crate::server::Speed;

/// How many others make a majority with a server: one, of three servers.
pub(super) const OTHERS_NEEDED: usize = 1;

/// What a server is given.
#[derive(Debug, Clone)]
pub(super) struct Member {
    pub(super) number: u64,
    /// Where servers follow a leader, in the order of their numbers.
    pub(super) leaders: Vec<Address>,
    /// Where they vote.
    pub(super) voters: Vec<Address>,
    pub(super) speed: Speed,
    /// How long it waits for another server that says nothing.
    pub(super) patience: VirtualDuration,
}

/// What a server is until it looks for a leader again.
#[derive(Clone)]
pub(super) struct Role {
    pub(super) member: Rc<Member>,
    pub(super) origin: Origin,
    /// What was logged, and in which epoch it was taken over from a leader: both survive a crash.
    pub(super) log: Log,
    pub(super) epoch: Durable<u64>,
    /// The latest epoch that this server has begun to lead or to follow, or a leader has heard of. It survives a crash.
    pub(super) promised: Durable<u64>,
    pub(super) replica: Rc<RefCell<Replica>>,
    children: Rc<RefCell<Vec<Child<()>>>>,
}

impl Role {
    /// Returns the last entry that is logged.
    pub(super) fn last(&self) -> Zxid {
        last(&self.log.get())
    }

    /// Starts a task that ends with the role.
    pub(super) fn spawn<F: Future<Output = ()> + 'static>(
        &self,
        context: &mut Context<ZooKeeperMessage>,
        body: impl FnOnce(Context<ZooKeeperMessage>) -> F,
    ) {
        let child = context.spawn(body);
        self.children.borrow_mut().push(child);
    }

    /// Ends the role: clients connect again, and ask again for what they want.
    async fn end(self) {
        let children = self.children.take();
        children.iter().for_each(Child::cancel);
        for child in children {
            let _ = child.await;
        }
        self.replica.borrow_mut().disconnect();
    }
}

/// Is a member of the ensemble. After a crash it begins here again, and finds its log.
pub(super) async fn server(mut context: Context<ZooKeeperMessage>, member: Member) {
    let (log, epoch) = (context.durable("log", Vec::new), context.durable("epoch", || 0));
    let (promised, life) = (context.durable("promised", || 0), context.durable("life", || 0));
    let (member, replica) = (Rc::new(member), Rc::default());
    while context.running() {
        // What was asked for before is not awaited any more.
        *life.change() += 1;
        let origin = Origin { server: member.number, life: *life.get() };
        let (log, epoch, promised, replica) = (log.clone(), epoch.clone(), promised.clone(), Rc::clone(&replica));
        let role = Role { member: member.clone(), origin, log, epoch, promised, replica, children: Rc::default() };
        context.phase("looking");
        let leader = elect(&context, &role).await;
        if leader == member.number {
            lead(&mut context, &role).await;
        } else {
            follow(&mut context, &role, leader).await;
        }
        role.end().await;
    }
}
