//! ZooKeeper's tree of nodes, with data and permissions (Banzai, 2018, 3.1.2, table 3.2, and 3.2.3), as release 3.8.0 has
//! it where the source says nothing or something else.
//!
//! Where a call is refused for several reasons, the source has the order of its table, the release has another one, and
//! the documentation has none: so each of them may be answered.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::Text;
use crate::{Footprint, Open, Region, Regions, Session, Specification};

/// A tree of nodes: at first the root and `/zookeeper`, without data, on which everybody may do everything.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct ZooKeeper {
    /// In the order of their paths.
    nodes: Vec<(Text, Arc<Node>)>,
    /// The lists of permissions that nodes had before, if changes may still be checked against them.
    former: Option<BTreeMap<Text, Vec<Vec<Access>>>>,
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
    /// Returns a node's access control list. Who may neither read nor administer the node is refused it since releases
    /// 3.4.14 and 3.5.5 (CVE-2019-0201), and was shown it before.
    GetAcl {
        /// The node.
        path: Text,
    },
    /// Changes a node's access control list. What stands in it twice is kept once.
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
    /// The access control list is empty.
    InvalidAcl,
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
        Self { nodes: vec![("/".into(), node.clone()), ("/zookeeper".into(), node)], former: None }
    }
}

impl ZooKeeper {
    /// Returns a new server that checks a change of a node against any access control list that the node has had, as the
    /// fault ZOOKEEPER-2439 makes it do for a while: what this does not explain has another reason.
    pub fn with_stale_permissions() -> Self {
        Self { former: Some(BTreeMap::new()), ..Self::default() }
    }

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

    /// Returns whether a session may change a node so, or what is below it.
    fn may_change(
        &self,
        path: &str,
        session: Session,
        needed: Permissions,
        open: &mut Open<'_>,
    ) -> Result<bool, Error> {
        let may = self.node(path)?.allows(session, needed);
        let former = self.former.as_ref().and_then(|former| former.get(&Text::from(path)));
        let differs = former.is_some_and(|lists| lists.iter().any(|acl| allows(acl, session, needed) != may));
        Ok(if differs && open.maybe() { !may } else { may })
    }

    fn take(&mut self, session: Session, operation: &Operation, open: &mut Open<'_>) -> Result<Response, Error> {
        let path = operation.path().as_str();
        match operation {
            Operation::Create { path: text, data } => {
                let may = self.may_change(parent(path), session, Permissions::CREATE, open)?;
                let place = match self.place(path) {
                    Ok(_) => return Err(refused(Some(Error::NodeExists), may, open)),
                    Err(place) if may => place,
                    Err(_) => return Err(Error::NoAuth),
                };
                let acl = vec![Access { who: Who::Anyone, permissions: Permissions::ALL }];
                self.nodes.insert(place, (text.clone(), Arc::new(Node { data: data.clone(), acl })));
                Ok(Response::Done)
            }
            Operation::Delete { .. } => {
                if path == "/" {
                    return Err(Error::BadArguments);
                }
                let may = self.may_change(parent(path), session, Permissions::DELETE, open)?;
                let place = self.place(path);
                let reason = match place {
                    Err(_) => Some(Error::NoNode),
                    Ok(_) => self.children(path).next().map(|_| Error::NotEmpty),
                };
                match place {
                    Ok(place) if may && reason.is_none() => {
                        self.nodes.remove(place);
                        Ok(Response::Done)
                    }
                    _ => Err(refused(reason, may, open)),
                }
            }
            Operation::Exists { .. } => Ok(Response::Exists(self.place(path).is_ok())),
            Operation::GetChildren { .. } => {
                self.readable(path, session)?;
                let names = self.children(path).filter_map(|child| child.rsplit('/').next()).map(Text::from);
                Ok(Response::Children(names.collect()))
            }
            Operation::GetData { .. } => Ok(Response::Data(self.readable(path, session)?.data.clone())),
            Operation::SetData { data, .. } => {
                if !self.may_change(path, session, Permissions::WRITE, open)? {
                    return Err(Error::NoAuth);
                }
                self.node_mut(path)?.data.clone_from(data);
                Ok(Response::Done)
            }
            Operation::GetAcl { .. } => {
                let node = self.node(path)?;
                let may = [Permissions::READ, Permissions::ADMINISTER].iter().any(|one| node.allows(session, *one));
                if !may && open.maybe() { Err(Error::NoAuth) } else { Ok(Response::Acl(node.acl.clone())) }
            }
            Operation::SetAcl { path: text, acl } => {
                if acl.is_empty() {
                    return Err(Error::InvalidAcl);
                }
                if !self.may_change(path, session, Permissions::ADMINISTER, open)? {
                    return Err(Error::NoAuth);
                }
                let mut once = Vec::with_capacity(acl.len());
                for access in acl {
                    if !once.contains(access) {
                        once.push(*access);
                    }
                }
                let before = std::mem::replace(&mut self.node_mut(path)?.acl, once);
                if let Some(former) = &mut self.former {
                    let lists = former.entry(text.clone()).or_default();
                    if let Err(place) = lists.binary_search(&before) {
                        lists.insert(place, before);
                    }
                }
                Ok(Response::Done)
            }
        }
    }

    fn readable(&self, path: &str, session: Session) -> Result<&Node, Error> {
        let node = self.node(path)?;
        if node.allows(session, Permissions::READ) { Ok(node) } else { Err(Error::NoAuth) }
    }
}

/// Returns an answer to a call that cannot be done for a reason, or as the session may not do it, or both.
fn refused(reason: Option<Error>, may: bool, open: &mut Open<'_>) -> Error {
    match reason {
        Some(reason) if may || !open.maybe() => reason,
        _ => Error::NoAuth,
    }
}

fn allows(acl: &[Access], session: Session, needed: Permissions) -> bool {
    let is_about = |who| matches!(who, Who::Anyone) || who == Who::Session(session);
    acl.iter().any(|access| is_about(access.who) && access.permissions.include(needed))
}

impl Node {
    /// Returns whether the session may do that with the node.
    fn allows(&self, session: Session, needed: Permissions) -> bool {
        allows(&self.acl, session, needed)
    }
}

impl Specification for ZooKeeper {
    type Operation = Operation;
    type Response = Response;

    fn step(&mut self, session: Session, operation: &Operation, open: &mut Open<'_>) -> Response {
        self.take(session, operation, open).unwrap_or_else(Response::Error)
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
        let former =
            self.former.iter().flatten().flat_map(|(_, lists)| lists).map(|acl| acl.len() * size_of::<Access>());
        self.nodes.len() * size_of::<(Text, Arc<Node>)>() + nodes.sum::<usize>() + former.sum::<usize>()
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

    /// Returns all answers to the last of some operations.
    fn answers(tree: ZooKeeper, operations: &[(u64, Operation)]) -> Vec<Response> {
        let ((session, last), before) = operations.split_last().expect("there are some");
        let answer = |choices: &[usize]| {
            let mut tree = tree.clone();
            for (session, operation) in before {
                tree.step(Session(*session), operation, &mut Open::first());
            }
            let mut choices = choices.iter().copied();
            tree.step(Session(*session), last, &mut Open::decided_by(&mut |_| choices.next().unwrap_or_default()))
        };
        let mut all = vec![answer(&[0]), answer(&[1]), answer(&[0, 1]), answer(&[1, 1])];
        all.dedup();
        all
    }

    #[test]
    fn of_several_reasons_each_may_be_answered() {
        let [no_node, exists, not_empty, no_auth, invalid] =
            [Error::NoNode, Error::NodeExists, Error::NotEmpty, Error::NoAuth, Error::InvalidAcl].map(Response::Error);
        let check = |operations: &[(u64, Operation)], expect: &[&Response]| {
            let found = answers(ZooKeeper::default(), operations);
            assert!(expect.iter().all(|answer| found.contains(answer)), "{operations:?}: {found:?}");
            assert!(found.iter().all(|answer| expect.contains(&answer)), "{operations:?}: {found:?}");
        };
        let delete = |path: &str| Operation::Delete { path: path.into() };
        let shut = (1, acl("/", Who::Session(Session(1)), Permissions::READ));
        check(&[(1, create("/a")), shut.clone(), (1, create("/a"))], &[&exists, &no_auth]);
        check(&[(1, create("/a")), (1, create("/a/b")), shut.clone(), (1, delete("/a"))], &[&not_empty, &no_auth]);
        check(&[shut.clone(), (1, delete("/a"))], &[&no_node, &no_auth]);
        check(&[shut.clone(), (1, create("/a"))], &[&no_auth]);
        check(&[shut.clone(), (1, create("/a/b"))], &[&no_node]);
        let list = Response::Acl(vec![Access { who: Who::Session(Session(1)), permissions: Permissions::READ }]);
        check(&[shut.clone(), (2, Operation::GetAcl { path: "/".into() })], &[&list, &no_auth]);
        check(&[shut, (1, Operation::GetAcl { path: "/".into() })], &[&list]);
        check(&[(1, Operation::SetAcl { path: "/none".into(), acl: vec![] })], &[&invalid]);
    }

    #[test]
    fn stale_permissions_are_for_changes_alone() {
        let shut = [(1, create("/a")), (1, acl("/a", Who::Session(Session(1)), Permissions(0)))];
        let check = |last: Operation, expect: &[Response]| {
            let operations = [&shut[..], &[(1, last)]].concat();
            assert_eq!(answers(ZooKeeper::with_stale_permissions(), &operations)[..expect.len()], *expect);
            assert_eq!(answers(ZooKeeper::default(), &operations)[..], expect[..1]);
        };
        let no_auth = Response::Error(Error::NoAuth);
        check(Operation::SetData { path: "/a".into(), data: None }, &[no_auth.clone(), Response::Done]);
        check(create("/a/b"), &[no_auth.clone(), Response::Done]);
        check(Operation::GetData { path: "/a".into() }, &[no_auth]);
    }

    #[test]
    fn what_stands_twice_in_a_list_is_kept_once() {
        let access = Access { who: Who::Anyone, permissions: Permissions::READ };
        let twice = Operation::SetAcl { path: "/".into(), acl: vec![access, access] };
        check(&[(1, twice), (1, Operation::GetAcl { path: "/".into() })], &Response::Acl(vec![access]));
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
