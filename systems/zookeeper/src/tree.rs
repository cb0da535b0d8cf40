//! The tree of nodes.

use std::collections::BTreeMap;

use simutant_oracle::Session;
use simutant_oracle::specifications::Text;
use simutant_zookeeper_histories::{Access, Owner, Permissions, Stat, Who};

use super::messages::Transaction;

/// The nodes, by their paths.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Tree {
    nodes: BTreeMap<Text, Node>,
}

/// A node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Its data.
    pub data: Option<Text>,
    /// Who may do what with it.
    pub acl: Vec<Access>,
    /// How often its data were changed.
    pub version: u32,
    /// How often its list of permissions was changed.
    pub acl_version: u32,
    /// How many children of it were created.
    pub created: u32,
    /// The session with which it ends.
    pub owner: Option<Session>,
}

impl Node {
    /// Returns a node on which everybody may do everything.
    pub fn new(data: Option<Text>) -> Self {
        let acl = vec![Access { who: Who::Anyone, permissions: Permissions::ALL }];
        Self { data, acl, version: 0, acl_version: 0, created: 0, owner: None }
    }

    /// Returns whether a session may do something with it.
    pub fn permits(&self, session: Session, needed: Permissions) -> bool {
        self.acl.iter().any(|access| {
            let is_about = match access.who {
                Who::Anyone => true,
                Who::Session(other) => other == session,
            };
            is_about && access.permissions.0 & needed.0 == needed.0
        })
    }
}

/// The root and `/zookeeper`, its first child.
impl Default for Tree {
    fn default() -> Self {
        let mut tree = Self { nodes: BTreeMap::from([("/".into(), Node::new(None))]) };
        tree.apply(&Transaction::Create { path: "/zookeeper".into(), data: None, owner: None });
        tree
    }
}

impl Tree {
    /// Returns a node.
    pub fn node(&self, path: &Text) -> Option<&Node> {
        self.nodes.get(path)
    }

    /// Returns the names of a node's children, in their order.
    pub fn children(&self, path: &Text) -> Vec<Text> {
        let is_child = |other: &&Text| other.as_str() != "/" && parent(other) == *path;
        self.nodes.keys().filter(is_child).map(|child| name(child).into()).collect()
    }

    /// Returns the ephemeral nodes of a session.
    pub fn owned(&self, session: Session) -> impl Iterator<Item = &Text> {
        self.nodes.iter().filter(move |(_, node)| node.owner == Some(session)).map(|(path, _)| path)
    }

    /// Returns a node's statistics, as a session sees them.
    pub fn stat(&self, path: &Text, session: Session) -> Option<Stat> {
        let node = self.node(path)?;
        let children = self.children(path).len() as u32;
        Some(Stat {
            version: node.version,
            acl_version: node.acl_version,
            // The created ones are there or were deleted.
            children_version: 2 * node.created as i32 - children as i32,
            children,
            data_length: node.data.as_ref().map_or(0, |data| data.as_str().len() as u32),
            owner: match node.owner {
                None => Owner::Nobody,
                Some(owner) if owner == session => Owner::Caller,
                Some(_) => Owner::Other,
            },
        })
    }

    /// Changes the tree.
    pub fn apply(&mut self, transaction: &Transaction) {
        match transaction {
            Transaction::Create { path, data, owner } => {
                self.nodes.insert(path.clone(), Node { owner: *owner, ..Node::new(data.clone()) });
                if let Some(above) = self.nodes.get_mut(&parent(path)) {
                    above.created += 1;
                }
            }
            Transaction::Delete { path } => {
                self.nodes.remove(path);
            }
            Transaction::SetData { path, data } => {
                if let Some(node) = self.nodes.get_mut(path) {
                    node.data.clone_from(data);
                    node.version += 1;
                }
            }
            Transaction::SetAcl { path, acl } => {
                if let Some(node) = self.nodes.get_mut(path) {
                    node.acl.clone_from(acl);
                    node.acl_version += 1;
                }
            }
            Transaction::Check => {}
            Transaction::Multi(parts) => parts.iter().for_each(|part| self.apply(part)),
            Transaction::Close { paths } => {
                for path in paths {
                    self.nodes.remove(path);
                }
            }
        }
    }
}

/// Returns the path of a node's parent; the root is its own.
pub(super) fn parent(path: &Text) -> Text {
    match path.as_str().rsplit_once('/') {
        Some((above, _)) if !above.is_empty() => above.into(),
        _ => "/".into(),
    }
}

/// Returns the last part of a path.
fn name(path: &Text) -> &str {
    path.as_str().rsplit('/').next().unwrap_or_default()
}
