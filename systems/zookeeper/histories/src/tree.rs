//! The nodes of the tree.

use std::sync::Arc;

use simutant_oracle::Session;
use simutant_oracle::specifications::Text;

use super::access::allows;
use super::{Access, Error, Owner, Permissions, Stat, Who};

/// Nodes, in the order of their paths.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Tree(Vec<(Text, Arc<Node>)>);

/// A node of the tree.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Node {
    pub(super) data: Option<Text>,
    pub(super) acl: Vec<Access>,
    /// How often the data were changed.
    pub(super) version: u32,
    /// How often the list was changed.
    pub(super) acl_version: u32,
    /// How many children were created.
    pub(super) created: u32,
    /// The session with which it ends.
    pub(super) owner: Option<Session>,
}

impl Node {
    /// Returns a new node, on which everybody may do everything.
    pub(super) fn new(data: Option<Text>) -> Self {
        let acl = vec![Access { who: Who::Anyone, permissions: Permissions::ALL }];
        Self { data, acl, version: 0, acl_version: 0, created: 0, owner: None }
    }

    /// Returns whether the session may do that with the node.
    pub(super) fn allows(&self, session: Session, needed: Permissions) -> bool {
        allows(&self.acl, session, needed)
    }
}

/// The root and `/zookeeper`, its only child so far.
impl Default for Tree {
    fn default() -> Self {
        let root = Node { created: 1, ..Node::new(None) };
        Self(vec![("/".into(), Arc::new(root)), ("/zookeeper".into(), Arc::new(Node::new(None)))])
    }
}

impl Tree {
    fn place(&self, path: &str) -> Result<usize, usize> {
        self.0.binary_search_by(|(other, _)| other.as_str().cmp(path))
    }

    pub(super) fn node(&self, path: &str) -> Result<&Node, Error> {
        self.place(path).map(|place| &*self.0[place].1).map_err(|_| Error::NoNode)
    }

    pub(super) fn node_mut(&mut self, path: &str) -> Result<&mut Node, Error> {
        let place = self.place(path).map_err(|_| Error::NoNode)?;
        Ok(Arc::make_mut(&mut self.0[place].1))
    }

    /// Adds a node that is not there, and counts it at its parent.
    pub(super) fn insert(&mut self, path: &Text, node: Node) {
        if let Err(place) = self.place(path.as_str()) {
            self.0.insert(place, (path.clone(), Arc::new(node)));
        }
        if let Ok(above) = self.node_mut(parent(path.as_str())) {
            above.created += 1;
        }
    }

    pub(super) fn remove(&mut self, path: &str) {
        if let Ok(place) = self.place(path) {
            self.0.remove(place);
        }
    }

    pub(super) fn children<'a>(&'a self, path: &'a str) -> impl Iterator<Item = &'a str> {
        let paths = self.0.iter().map(|(path, _)| path.as_str());
        paths.filter(move |other| *other != "/" && parent(other) == path)
    }

    /// Returns the access control list of a node; none if it is not there.
    pub(super) fn acl(&self, path: &str) -> &[Access] {
        self.node(path).map_or(&[], |node| &node.acl)
    }

    /// Returns the ephemeral nodes of a session.
    pub(super) fn of(&self, session: Session) -> impl Iterator<Item = (&Text, &Node)> {
        let nodes = self.0.iter().map(|(path, node)| (path, &**node));
        nodes.filter(move |(_, node)| node.owner == Some(session))
    }

    /// Deletes the ephemeral nodes of a session.
    pub(super) fn remove_of(&mut self, session: Session) {
        self.0.retain(|(_, node)| node.owner != Some(session));
    }

    /// Returns a node's statistics, as a session sees them.
    pub(super) fn stat(&self, path: &str, session: Session) -> Result<Stat, Error> {
        let node = self.node(path)?;
        let children = number(self.children(path).count());
        Ok(Stat {
            version: node.version,
            acl_version: node.acl_version,
            // Those that are gone were deleted.
            children_version: i32::try_from(2 * i64::from(node.created) - i64::from(children)).unwrap_or(i32::MAX),
            children,
            data_length: number(node.data.as_ref().map_or(0, |data| data.as_str().len())),
            owner: match node.owner {
                None => Owner::Nobody,
                Some(owner) if owner == session => Owner::Caller,
                Some(_) => Owner::Other,
            },
        })
    }

    pub(super) fn heap_bytes(&self) -> usize {
        let own = self.0.iter().filter(|(_, node)| Arc::strong_count(node) == 1);
        let nodes = own.map(|(_, node)| size_of::<Node>() + node.acl.len() * size_of::<Access>());
        self.0.len() * size_of::<(Text, Arc<Node>)>() + nodes.sum::<usize>()
    }
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Returns the path of a node's parent; the root is its own.
pub(super) fn parent(path: &str) -> &str {
    match path.rsplit_once('/') {
        Some(("", _)) | None => "/",
        Some((parent, _)) => parent,
    }
}
