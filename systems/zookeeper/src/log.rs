//! The second stage: changes are logged, so that they survive a crash.

use simutant_sim_core::{Context, Durable, FifoReceiver, FifoSender, VirtualDuration};

use super::messages::{Transaction, ZooKeeperMessage};
use super::server::Prepared;
use super::tree::Tree;

/// Logs changes, each of which takes some time. All else passes, in its order.
pub(super) async fn log(
    context: Context<ZooKeeperMessage>,
    mut prepared: FifoReceiver<Prepared>,
    logged: FifoSender<Prepared>,
    disk: Durable<Vec<Transaction>>,
    takes: VirtualDuration,
) {
    while let Some(next) = prepared.recv().await {
        if let Ok((_, transaction)) = &next.work {
            context.pause(takes).await;
            disk.change().push(transaction.clone());
        }
        logged.send(next);
    }
}

/// Returns the tree that a log makes.
pub(super) fn replay(disk: &Durable<Vec<Transaction>>) -> Tree {
    let mut tree = Tree::default();
    for transaction in disk.get().iter() {
        tree.apply(transaction);
    }
    tree
}
