//! Watches: who is told of a change.

use std::collections::BTreeMap;

use simutant_oracle::Session;
use simutant_oracle::specifications::Text;
use simutant_sim_core::FifoSender;
use simutant_zookeeper_histories::{Event, Operation, Permissions};

use super::messages::{Transaction, ZooKeeperMessage};
use super::tree::{Node, Tree, parent};

/// Where the messages to a session go, in their order.
pub(super) type Replies = FifoSender<ZooKeeperMessage>;

/// What the sessions of a server watch. Each watch fires once.
#[derive(Debug, Default)]
pub(super) struct Watches {
    /// Who is told of a node that is created, changed or deleted.
    data: Table,
    /// Who is told of a node whose children are created or deleted, or that is deleted itself.
    children: Table,
}

/// Sessions by the paths that they watch.
type Table = BTreeMap<Text, BTreeMap<Session, Replies>>;

impl Watches {
    /// Leaves the watch of a read. A session has one on a path at most; what it left on a connection before is told
    /// to nobody.
    pub(super) fn watch(&mut self, session: Session, read: &Operation, replies: &Replies) {
        let Some(path) = read.path() else { return };
        let table = match read {
            Operation::GetChildren { .. } => &mut self.children,
            _ => &mut self.data,
        };
        table.entry(path.clone()).or_default().insert(session, replies.clone());
    }

    /// Tells of a change that is about to be made to a tree.
    pub(super) fn fire(&mut self, tree: &Tree, transaction: &Transaction) {
        match transaction {
            Transaction::Create { path, .. } => {
                fire(&mut self.data, path, Some(&Node::new(None)), &Event::Created(path.clone()));
                self.fire_above(tree, path);
            }
            Transaction::Delete { path } => self.fire_deleted(tree, path),
            Transaction::SetData { path, .. } => {
                fire(&mut self.data, path, tree.node(path), &Event::DataChanged(path.clone()));
            }
            Transaction::Close { paths } => {
                for path in paths {
                    self.fire_deleted(tree, path);
                }
            }
            // The parts of a transaction are made one after the other, each with its own events.
            Transaction::SetAcl { .. } | Transaction::Check | Transaction::Multi(_) => {}
        }
    }

    /// Tells of a node that is deleted: once who watches its data and its children.
    fn fire_deleted(&mut self, tree: &Tree, path: &Text) {
        if let Some(watchers) = self.children.remove(path) {
            self.data.entry(path.clone()).or_default().extend(watchers);
        }
        fire(&mut self.data, path, tree.node(path), &Event::Deleted(path.clone()));
        self.fire_above(tree, path);
    }

    fn fire_above(&mut self, tree: &Tree, path: &Text) {
        let above = parent(path);
        fire(&mut self.children, &above, tree.node(&above), &Event::ChildrenChanged(above.clone()));
    }
}

/// Fires the watches of a path: sessions that may read the node are told.
fn fire(table: &mut Table, path: &Text, node: Option<&Node>, event: &Event) {
    let Some(watchers) = table.remove(path) else { return };
    for (session, replies) in watchers {
        if node.is_some_and(|node| node.permits(session, Permissions::READ)) {
            replies.send(ZooKeeperMessage::Event(event.clone()));
        }
    }
}
