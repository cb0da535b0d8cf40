//! The first stage: what a request needs is checked, before it is done.
//!
//! Changes that were let through are not in the tree yet. So the stage notes how each node that they are about will be,
//! and checks the next requests against that.

use std::collections::{BTreeMap, BTreeSet};

use simutant_oracle::Session;
use simutant_oracle::specifications::Text;
use simutant_zookeeper_histories::{Error, Operation, Permissions, Response};

use super::messages::Transaction;
use super::tree::{Node, Tree, parent};

/// What the stage notes of a node whose permissions are to change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AclRecord {
    /// The new permissions.
    New,
    /// The old ones: the fault of ZOOKEEPER-2439.
    Old,
}

/// How nodes will be when all changes that were let through are done.
#[derive(Debug, Default)]
pub(super) struct Outstanding {
    records: BTreeMap<Text, Record>,
    /// Counts the changes.
    last: u64,
}

/// How a node will be.
#[derive(Debug, Clone)]
struct Record {
    /// The change that is the last one about the node.
    change: u64,
    /// The node; `None` if it will not be there.
    node: Option<Node>,
    /// How many children it will have.
    children: usize,
}

impl Outstanding {
    /// Makes a transaction of a request that changes the tree, with its number.
    ///
    /// # Errors
    /// What the client is answered if it cannot be done.
    pub(super) fn prepare(
        &mut self,
        tree: &Tree,
        session: Session,
        operation: &Operation,
        rule: AclRecord,
    ) -> Result<(u64, Transaction), Response> {
        self.last += 1;
        let transaction = match operation {
            Operation::Multi(parts) => self.prepare_parts(tree, session, parts, rule)?,
            Operation::Check { .. } => return Err(Response::Error(Error::BadArguments)),
            Operation::Close | Operation::Expire => self.prepare_close(tree, session),
            _ => self.prepare_one(tree, session, operation, rule).map_err(Response::Error)?,
        };
        Ok((self.last, transaction))
    }

    /// Makes one transaction of all parts, or notes nothing.
    fn prepare_parts(
        &mut self,
        tree: &Tree,
        session: Session,
        parts: &[Operation],
        rule: AclRecord,
    ) -> Result<Transaction, Response> {
        let before = self.records.clone();
        let mut prepared = Vec::new();
        for part in parts {
            let one = match part {
                Operation::Check { .. }
                | Operation::Create { .. }
                | Operation::Delete { .. }
                | Operation::SetData { .. } => self.prepare_one(tree, session, part, rule),
                _ => Err(Error::BadArguments),
            };
            match one {
                Ok(transaction) => prepared.push(transaction),
                Err(error) => {
                    self.records = before;
                    return Err(Response::refused_parts(parts.len(), prepared.len(), error));
                }
            }
        }
        Ok(Transaction::Multi(prepared))
    }

    fn prepare_one(
        &mut self,
        tree: &Tree,
        session: Session,
        operation: &Operation,
        rule: AclRecord,
    ) -> Result<Transaction, Error> {
        let asked = operation.path().ok_or(Error::BadArguments)?;
        let above = parent(asked);
        let path = match operation {
            Operation::Create { mode, .. } if mode.is_sequential() => {
                let above = self.record(tree, &above).node.ok_or(Error::NoNode)?;
                asked.with(&format!("{:010}", above.created))
            }
            _ => asked.clone(),
        };
        let mut record = self.record(tree, &path);
        let transaction = match operation {
            Operation::Create { data, mode, .. } => {
                self.check(tree, &above, session, Permissions::CREATE)?;
                if record.node.is_some() {
                    return Err(Error::NodeExists);
                }
                if self.record(tree, &above).node.is_some_and(|above| above.owner.is_some()) {
                    return Err(Error::NoChildrenForEphemerals);
                }
                let owner = mode.is_ephemeral().then_some(session);
                record.node = Some(Node { owner, ..Node::new(data.clone()) });
                Transaction::Create { path: path.clone(), data: data.clone(), owner }
            }
            Operation::Delete { version, .. } => {
                if path.as_str() == "/" {
                    return Err(Error::BadArguments);
                }
                self.check(tree, &above, session, Permissions::DELETE)?;
                let node = record.node.ok_or(Error::NoNode)?;
                expect(node.version, *version)?;
                if record.children > 0 {
                    return Err(Error::NotEmpty);
                }
                record.node = None;
                Transaction::Delete { path: path.clone() }
            }
            Operation::SetData { data, version, .. } => {
                self.check(tree, &path, session, Permissions::WRITE)?;
                let node = record.node.as_mut().ok_or(Error::NoNode)?;
                expect(node.version, *version)?;
                node.version += 1;
                Transaction::SetData { path: path.clone(), data: data.clone() }
            }
            Operation::SetAcl { acl, version, .. } => {
                self.check(tree, &path, session, Permissions::ADMINISTER)?;
                let node = record.node.as_mut().ok_or(Error::NoNode)?;
                expect(node.acl_version, *version)?;
                node.acl_version += 1;
                if rule == AclRecord::New {
                    node.acl.clone_from(acl);
                }
                Transaction::SetAcl { path: path.clone(), acl: acl.clone() }
            }
            Operation::Check { version, .. } => {
                self.check(tree, &path, session, Permissions::READ)?;
                expect(record.node.ok_or(Error::NoNode)?.version, *version)?;
                return Ok(Transaction::Check);
            }
            Operation::Exists { .. }
            | Operation::GetChildren { .. }
            | Operation::GetData { .. }
            | Operation::GetAcl { .. }
            | Operation::Watch(_)
            | Operation::Notice
            | Operation::Connect
            | Operation::Expire
            | Operation::Close
            | Operation::Multi(_) => unreachable!("a read is not prepared, and the others name no node"),
        };
        record.change = self.last;
        self.records.insert(path, record);
        match transaction {
            Transaction::Create { .. } => self.count_child(tree, above, true),
            Transaction::Delete { .. } => self.count_child(tree, above, false),
            _ => {}
        }
        Ok(transaction)
    }

    /// Makes a transaction of the end of a session.
    fn prepare_close(&mut self, tree: &Tree, session: Session) -> Transaction {
        let owns = |path: &Text| self.record(tree, path).node.is_some_and(|node| node.owner == Some(session));
        let known: BTreeSet<Text> = tree.owned(session).chain(self.records.keys()).cloned().collect();
        let paths: Vec<Text> = known.into_iter().filter(owns).collect();
        for path in &paths {
            self.records.insert(path.clone(), Record { change: self.last, node: None, children: 0 });
            self.count_child(tree, parent(path), false);
        }
        Transaction::Close { paths }
    }

    /// Forgets what was noted for a change that is done, and for none after it.
    pub(super) fn done(&mut self, change: u64, transaction: &Transaction) {
        for path in transaction.paths() {
            for path in [parent(&path), path] {
                if self.records.get(&path).is_some_and(|record| record.change == change) {
                    self.records.remove(&path);
                }
            }
        }
    }

    /// Notes that a node will have one child more, or one less.
    fn count_child(&mut self, tree: &Tree, path: Text, is_new: bool) {
        let mut record = self.record(tree, &path);
        if is_new {
            record.children += 1;
            if let Some(node) = &mut record.node {
                node.created += 1;
            }
        } else {
            record.children -= 1;
        }
        record.change = self.last;
        self.records.insert(path, record);
    }

    fn check(&self, tree: &Tree, path: &Text, session: Session, needed: Permissions) -> Result<(), Error> {
        let node = self.record(tree, path).node.ok_or(Error::NoNode)?;
        if node.permits(session, needed) { Ok(()) } else { Err(Error::NoAuth) }
    }

    /// Returns how a node will be.
    fn record(&self, tree: &Tree, path: &Text) -> Record {
        let now = || Record { change: 0, node: tree.node(path).cloned(), children: tree.children(path).len() };
        self.records.get(path).cloned().unwrap_or_else(now)
    }
}

/// Refuses a change that expects another version.
fn expect(version: u32, expected: Option<u32>) -> Result<(), Error> {
    if expected.is_none_or(|expected| expected == version) { Ok(()) } else { Err(Error::BadVersion) }
}
