//! ZooKeeper's tree of nodes, with data and permissions (Banzai, 2018, 3.1.2, table 3.2, and 3.2.3).

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Text;
use crate::{Footprint, Open, Region, Regions, Session, Specification};

/// A tree of nodes: at first the root and `/zookeeper`, without data, on which everybody may do everything.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ZooKeeper {
    /// In the order of their paths.
    nodes: Vec<(Text, Arc<Node>)>,
}

/// A node of the tree.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Node {
    data: Option<Text>,
    acl: Vec<Access>,
}

/// What somebody may do with a node: an entry of its access control list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Access {
    /// Who.
    pub who: Who,
    /// What.
    pub permissions: Permissions,
}

/// Whom an entry of an access control list is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Who {
    /// Everybody.
    Anyone,
    /// One session.
    Session(Session),
}

/// Permissions as ZooKeeper numbers them: a sum of read 1, write 2, create 4, delete 8, administer 16.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Permissions(pub u8);

impl Permissions {
    /// To read the data and the names of the children.
    pub const READ: Self = Self(1);
    /// To change the data.
    pub const WRITE: Self = Self(2);
    /// To create children.
    pub const CREATE: Self = Self(4);
    /// To delete children.
    pub const DELETE: Self = Self(8);
    /// To change the access control list.
    pub const ADMINISTER: Self = Self(16);
    /// All of them.
    pub const ALL: Self = Self(31);

    const fn include(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

/// What a client asks of ZooKeeper.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// Creates a node, on which everybody may do everything.
    Create {
        /// The node.
        path: Text,
        /// Its data.
        data: Option<Text>,
    },
    /// Deletes a node that has no children.
    Delete {
        /// The node.
        path: Text,
    },
    /// Returns whether a node is there.
    Exists {
        /// The node.
        path: Text,
    },
    /// Returns the names of a node's children.
    GetChildren {
        /// The node.
        path: Text,
    },
    /// Returns a node's data.
    GetData {
        /// The node.
        path: Text,
    },
    /// Changes a node's data.
    SetData {
        /// The node.
        path: Text,
        /// Its data from then on.
        data: Option<Text>,
    },
    /// Returns a node's access control list.
    GetAcl {
        /// The node.
        path: Text,
    },
    /// Changes a node's access control list.
    SetAcl {
        /// The node.
        path: Text,
        /// Its list from then on.
        acl: Vec<Access>,
    },
}

/// What ZooKeeper answers.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Response {
    /// It was done. The statistics of a node that a change returns are not looked at.
    Done,
    /// Whether the node is there.
    Exists(bool),
    /// The names of the children, in their order.
    Children(Vec<Text>),
    /// The data.
    Data(Option<Text>),
    /// The access control list.
    Acl(Vec<Access>),
    /// An exception.
    Error(Error),
}

/// Why ZooKeeper does not do what it is asked for. Each is about the node that the operation names, whichever node is
/// the reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Error {
    /// The node, or its parent, is not there.
    NoNode,
    /// The node is there.
    NodeExists,
    /// The node has children.
    NotEmpty,
    /// The session must not do that.
    NoAuth,
    /// The node cannot be deleted, as it is the root.
    BadArguments,
}

impl Operation {
    /// Returns the node that the operation names.
    pub const fn path(&self) -> &Text {
        match self {
            Self::Create { path, .. }
            | Self::Delete { path }
            | Self::Exists { path }
            | Self::GetChildren { path }
            | Self::GetData { path }
            | Self::SetData { path, .. }
            | Self::GetAcl { path }
            | Self::SetAcl { path, .. } => path,
        }
    }
}

/// Returns the path of a node's parent; the root is its own.
fn parent(path: &str) -> &str {
    match path.rsplit_once('/') {
        Some(("", _)) | None => "/",
        Some((parent, _)) => parent,
    }
}

impl Default for ZooKeeper {
    fn default() -> Self {
        let node = Arc::new(Node { data: None, acl: vec![Access { who: Who::Anyone, permissions: Permissions::ALL }] });
        Self { nodes: vec![("/".into(), node.clone()), ("/zookeeper".into(), node)] }
    }
}

impl ZooKeeper {
    fn place(&self, path: &str) -> Result<usize, usize> {
        self.nodes.binary_search_by(|(other, _)| other.as_str().cmp(path))
    }

    fn node(&self, path: &str) -> Result<&Node, Error> {
        self.place(path).map(|place| &*self.nodes[place].1).map_err(|_| Error::NoNode)
    }

    fn node_mut(&mut self, path: &str) -> Result<&mut Node, Error> {
        let place = self.place(path).map_err(|_| Error::NoNode)?;
        Ok(Arc::make_mut(&mut self.nodes[place].1))
    }

    fn children<'a>(&'a self, path: &'a str) -> impl Iterator<Item = &'a str> {
        let paths = self.nodes.iter().map(|(path, _)| path.as_str());
        paths.filter(move |other| *other != "/" && parent(other) == path)
    }

    fn take(&mut self, session: Session, operation: &Operation) -> Result<Response, Error> {
        let path = operation.path().as_str();
        match operation {
            Operation::Create { path: text, data } => {
                let Err(place) = self.place(path) else { return Err(Error::NodeExists) };
                self.node(parent(path))?.allows(session, Permissions::CREATE)?;
                let acl = vec![Access { who: Who::Anyone, permissions: Permissions::ALL }];
                self.nodes.insert(place, (text.clone(), Arc::new(Node { data: data.clone(), acl })));
                Ok(Response::Done)
            }
            Operation::Delete { .. } => {
                if path == "/" {
                    return Err(Error::BadArguments);
                }
                let place = self.place(path).map_err(|_| Error::NoNode)?;
                if self.children(path).next().is_some() {
                    return Err(Error::NotEmpty);
                }
                self.node(parent(path))?.allows(session, Permissions::DELETE)?;
                self.nodes.remove(place);
                Ok(Response::Done)
            }
            Operation::Exists { .. } => Ok(Response::Exists(self.place(path).is_ok())),
            Operation::GetChildren { .. } => {
                self.node(path)?.allows(session, Permissions::READ)?;
                let names = self.children(path).filter_map(|child| child.rsplit('/').next()).map(Text::from);
                Ok(Response::Children(names.collect()))
            }
            Operation::GetData { .. } => {
                let node = self.node(path)?.allows(session, Permissions::READ)?;
                Ok(Response::Data(node.data.clone()))
            }
            Operation::SetData { data, .. } => {
                self.node(path)?.allows(session, Permissions::WRITE)?;
                self.node_mut(path)?.data.clone_from(data);
                Ok(Response::Done)
            }
            Operation::GetAcl { .. } => Ok(Response::Acl(self.node(path)?.acl.clone())),
            Operation::SetAcl { acl, .. } => {
                self.node(path)?.allows(session, Permissions::ADMINISTER)?;
                self.node_mut(path)?.acl.clone_from(acl);
                Ok(Response::Done)
            }
        }
    }
}

impl Node {
    /// Returns the node, if the session may do that with it.
    fn allows(&self, session: Session, needed: Permissions) -> Result<&Self, Error> {
        let is_about = |who| matches!(who, Who::Anyone) || who == Who::Session(session);
        let allows = self.acl.iter().any(|access| is_about(access.who) && access.permissions.include(needed));
        allows.then_some(self).ok_or(Error::NoAuth)
    }
}

impl Specification for ZooKeeper {
    type Operation = Operation;
    type Response = Response;

    fn step(&mut self, session: Session, operation: &Operation, _: &mut Open<'_>) -> Response {
        self.take(session, operation).unwrap_or_else(Response::Error)
    }

    fn reason(&self, _: Session, operation: &Operation, _: &Response, _: &Response) -> Option<String> {
        let path = operation.path().as_str();
        let Ok(node) = self.node(path) else { return Some(format!("{path} is not there")) };
        let (acl, children) = (&node.acl, self.children(path).count());
        Some(format!("{path} is there with the data {:?}, {children} children, and {acl:?}", node.data))
    }

    fn footprint(operation: &Operation, response: Option<&Response>) -> Footprint {
        let path = operation.path().as_str();
        let node = |path: &str| Region::of(&("node", path));
        let children = |path: &str| Region::of(&("children", path));
        let above = parent(path);
        let (reads, writes) = match operation {
            Operation::Create { .. } => (vec![node(path), node(above)], vec![node(path), children(above)]),
            Operation::Delete { .. } => {
                (vec![node(path), children(path), node(above)], vec![node(path), children(above)])
            }
            Operation::Exists { .. } | Operation::GetData { .. } | Operation::GetAcl { .. } => {
                return Footprint::reads(node(path));
            }
            Operation::GetChildren { .. } => (vec![node(path), children(path)], Vec::new()),
            Operation::SetData { .. } | Operation::SetAcl { .. } => (vec![node(path)], vec![node(path)]),
        };
        let changes = !writes.is_empty() && !matches!(response, Some(Response::Error(_)));
        Footprint { reads: Regions::Some(reads), writes: if changes { Regions::Some(writes) } else { Regions::None } }
    }

    fn is_same(one: &Operation, other: &Operation) -> bool {
        one == other
    }

    fn heap_bytes(&self) -> usize {
        let own = self.nodes.iter().filter(|(_, node)| Arc::strong_count(node) == 1);
        let nodes = own.map(|(_, node)| size_of::<Node>() + node.acl.len() * size_of::<Access>());
        self.nodes.len() * size_of::<(Text, Arc<Node>)>() + nodes.sum::<usize>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Open;

    /// Takes operations of sessions on a fresh tree, and holds the last answer.
    #[track_caller]
    fn check(operations: &[(u64, Operation)], expect: &Response) {
        let mut tree = ZooKeeper::default();
        let answers: Vec<Response> = operations
            .iter()
            .map(|(session, operation)| tree.step(Session(*session), operation, &mut Open::first()))
            .collect();
        assert_eq!(answers.last(), Some(expect), "{operations:?}");
    }

    fn create(path: &str) -> Operation {
        Operation::Create { path: path.into(), data: None }
    }

    fn acl(path: &str, who: Who, permissions: Permissions) -> Operation {
        Operation::SetAcl { path: path.into(), acl: vec![Access { who, permissions }] }
    }

    #[test]
    fn exceptions_come_in_the_order_of_the_table() {
        let [no_node, exists, not_empty, no_auth] =
            [Error::NoNode, Error::NodeExists, Error::NotEmpty, Error::NoAuth].map(Response::Error);
        let delete = |path: &str| Operation::Delete { path: path.into() };
        check(&[(1, create("/a"))], &Response::Done);
        check(&[(1, create("/a")), (2, create("/a"))], &exists);
        check(&[(1, create("/a/b"))], &no_node);
        check(&[(1, delete("/a"))], &no_node);
        check(&[(1, create("/a")), (1, create("/a/b")), (1, delete("/a"))], &not_empty);
        check(&[(1, delete("/"))], &Response::Error(Error::BadArguments));
        let mine = acl("/a", Who::Session(Session(1)), Permissions(5));
        check(&[(1, create("/a")), (1, mine.clone()), (2, create("/a/b"))], &no_auth);
        check(&[(1, create("/a")), (1, mine.clone()), (1, create("/a/b"))], &Response::Done);
        check(&[(1, create("/a")), (1, mine.clone()), (1, create("/a/b")), (1, delete("/a/b"))], &no_auth);
        check(&[(1, create("/a")), (1, mine.clone()), (1, mine.clone())], &no_auth);
        check(&[(1, create("/a")), (1, mine.clone()), (2, Operation::GetData { path: "/a".into() })], &no_auth);
        check(&[(1, create("/a")), (1, mine), (2, Operation::Exists { path: "/a".into() })], &Response::Exists(true));
    }

    #[test]
    fn children_are_those_right_below() {
        let children = |path: &str| Operation::GetChildren { path: path.into() };
        let tree = [(1, create("/a")), (1, create("/a/b")), (1, create("/a/b/c")), (1, create("/ab"))];
        let with = |last: Operation| [tree.to_vec(), vec![(2, last)]].concat();
        check(&with(children("/")), &Response::Children(vec!["a".into(), "ab".into(), "zookeeper".into()]));
        check(&with(children("/a")), &Response::Children(vec!["b".into()]));
        check(&with(children("/ab")), &Response::Children(vec![]));
    }
}
