//! ZooKeeper's tree of nodes, with data, permissions and versions, sequential and ephemeral ones among them (Banzai, 2018, 3.1.2, table 3.2, and 3.2.3), as release
//! 3.8.0 has it where the source says nothing or something else.
//!
//! Without the times and transactions of statistics, and lists of permissions that a creation gives.
//!
//! # Watches
//!
//! A read may leave a [watch](Operation::Watch). A change of what is watched takes the watches away, and each session that
//! had one is told an [`Event`], if it may read the node (CVE-2024-23944). Sessions are told events and answers in the
//! order in which they came about. So what a client saw of events is a part of the next answer that it got
//! ([`Response::Told`]): between an answer of a session and the next one exactly those events come that changes made which
//! were taken in between, the call's own change among them. An event that was lost, or came twice, late, or for no reason,
//! makes the answer wrong. If no answer follows, as where a connection breaks, the events are those that
//! [`Operation::Notice`] or [`Operation::Connect`] saw: others may have been on their way.
//!
//! Who records events as calls of their own could not say where they belong: the calls of a session are in the order of
//! their invocations, and an event may come after the invocation of a call and before its answer.
//!
//! Where a call is refused for several reasons, the source has the order of its table, the release has another one, and
//! the documentation has none: so each of them may be answered.

mod access;
mod calls;
#[cfg(test)]
mod tests;
mod tree;
mod watches;

use std::collections::BTreeMap;

pub use access::{Access, Permissions, Who};
pub use calls::{CreateMode, Error, Event, Operation, Owner, Response, Stat};

use simutant_oracle::specifications::Text;
use simutant_oracle::{Footprint, Open, Region, Regions, Session, Specification};

use access::allows;
use tree::{Node, Tree, parent};
use watches::{Watched, Watches};

/// A tree of nodes: at first the root and `/zookeeper`, without data, on which everybody may do everything.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct ZooKeeper {
    tree: Tree,
    /// The lists of permissions that nodes had before, if changes may still be checked against them.
    former: Option<BTreeMap<Text, Vec<Vec<Access>>>>,
    watches: Watches,
}

impl ZooKeeper {
    /// Returns a new server that checks a change of a node against any access control list that the node has had, as the
    /// fault ZOOKEEPER-2439 makes it do for a while: what this does not explain has another reason.
    pub fn with_stale_permissions() -> Self {
        Self { former: Some(BTreeMap::new()), ..Self::default() }
    }

    /// Returns whether a session may change a node so, or what is below it.
    fn may_change(
        &self,
        path: &str,
        session: Session,
        needed: Permissions,
        open: &mut Open<'_>,
    ) -> Result<bool, Error> {
        let may = self.tree.node(path)?.allows(session, needed);
        let former = self.former.as_ref().and_then(|former| former.get(&Text::from(path)));
        let differs = former.is_some_and(|lists| lists.iter().any(|acl| allows(acl, session, needed) != may));
        Ok(if differs && open.maybe() { !may } else { may })
    }

    fn take(&mut self, session: Session, operation: &Operation, open: &mut Open<'_>) -> Result<Response, Error> {
        match operation {
            Operation::Create { path, data, mode } => self.create(session, path, data.clone(), *mode, open),
            Operation::Delete { path, version } => self.delete(session, path.as_str(), *version, open),
            Operation::SetData { path, data, version } => {
                let path = path.as_str();
                let may = self.may_change(path, session, Permissions::WRITE, open)?;
                let node = self.tree.node_mut(path)?;
                refuse([(differs(node.version, *version), Error::BadVersion), (!may, Error::NoAuth)], open)?;
                node.data.clone_from(data);
                node.version += 1;
                self.watches.data_changed(path, &node.acl);
                Ok(Response::Done.with_stat(self.tree.stat(path, session)?))
            }
            Operation::SetAcl { path, acl, version } => self.set_acl(session, path, acl, *version, open),
            Operation::Close => {
                self.remove_of(session);
                Ok(Response::Done)
            }
            Operation::Check { .. } | Operation::Notice | Operation::Connect | Operation::Expire => {
                Err(Error::BadArguments)
            }
            Operation::Watch(read) => self.watch(session, read, open),
            Operation::Multi(parts) => Ok(self.multi(session, parts, open)),
            Operation::Exists { path } => match self.tree.stat(path.as_str(), session) {
                Ok(stat) => Ok(Response::Exists(true).with_stat(stat)),
                Err(_) => Ok(Response::Exists(false)),
            },
            Operation::GetChildren { path } => {
                let path = path.as_str();
                self.readable(path, session)?;
                let names = self.tree.children(path).filter_map(|child| child.rsplit('/').next()).map(Text::from);
                Ok(Response::Children(names.collect()).with_stat(self.tree.stat(path, session)?))
            }
            Operation::GetData { path } => {
                let data = self.readable(path.as_str(), session)?.data.clone();
                Ok(Response::Data(data).with_stat(self.tree.stat(path.as_str(), session)?))
            }
            Operation::GetAcl { path } => {
                let node = self.tree.node(path.as_str())?;
                let may = [Permissions::READ, Permissions::ADMINISTER].iter().any(|one| node.allows(session, *one));
                refuse([(!may, Error::NoAuth)], open)?;
                Ok(Response::Acl(node.acl.clone()).with_stat(self.tree.stat(path.as_str(), session)?))
            }
        }
    }

    /// Reads, and leaves a watch if that is not refused; one on whether a node is there in any case.
    fn watch(&mut self, session: Session, read: &Operation, open: &mut Open<'_>) -> Result<Response, Error> {
        let (path, watched) = match read {
            Operation::Exists { path } | Operation::GetData { path } => (path, Watched::Data),
            Operation::GetChildren { path } => (path, Watched::Children),
            _ => return Err(Error::BadArguments),
        };
        let response = self.take(session, read, open)?;
        self.watches.watch(session, path, watched);
        Ok(response)
    }

    /// Deletes the ephemeral nodes of a session, in an order that nobody knows.
    fn remove_of(&mut self, session: Session) {
        if !self.watches.are_none() {
            let Self { tree, watches, .. } = self;
            watches.in_any_order(|watches| {
                for (path, node) in tree.of(session) {
                    watches.deleted(path.as_str(), &node.acl, tree.acl(parent(path.as_str())));
                }
            });
        }
        self.tree.remove_of(session);
    }

    /// Ends a session of which nothing was heard: from then on all that it asks for is refused, until it connects anew.
    fn expire(&mut self, session: Session) {
        if !self.watches.is_expired(session) {
            self.watches.forget(session);
            self.remove_of(session);
            self.watches.expire(session, true);
        }
    }

    /// Makes a connection of a session: what was watched on the one before is not watched any more.
    fn connect(&mut self, session: Session) -> Response {
        let events = self.watches.untold(session).to_vec();
        self.watches.forget(session);
        if self.watches.is_expired(session) {
            self.watches.expire(session, false);
        }
        Response::Events(events)
    }

    /// Returns an answer with the events that come before it.
    fn told(&mut self, session: Session, answer: Response, open: &mut Open<'_>) -> Response {
        if self.watches.untold(session).is_empty() {
            return answer;
        }
        // Where nobody knows of an answer, the session may still be told the events.
        if open.maybe() {
            return Response::Unanswered;
        }
        answer.after(self.watches.tell(session))
    }

    /// Does all parts of a transaction, or none.
    fn multi(&mut self, session: Session, parts: &[Operation], open: &mut Open<'_>) -> Response {
        let before = self.clone();
        let mut answers = Vec::with_capacity(parts.len());
        for part in parts {
            let answer = match part {
                Operation::Check { path, version } => self.check(session, path.as_str(), *version, open),
                Operation::Create { .. } | Operation::Delete { .. } | Operation::SetData { .. } => {
                    self.take(session, part, open)
                }
                _ => Err(Error::BadArguments),
            };
            match answer {
                Ok(answer) => answers.push(answer),
                Err(error) => {
                    *self = before;
                    return Response::refused_parts(parts.len(), answers.len(), error);
                }
            }
        }
        Response::Parts(answers)
    }

    fn check(
        &self,
        session: Session,
        path: &str,
        version: Option<u32>,
        open: &mut Open<'_>,
    ) -> Result<Response, Error> {
        let may = self.may_change(path, session, Permissions::READ, open)?;
        let differs = differs(self.tree.node(path)?.version, version);
        refuse([(differs, Error::BadVersion), (!may, Error::NoAuth)], open)?;
        Ok(Response::Done)
    }

    fn create(
        &mut self,
        session: Session,
        path: &Text,
        data: Option<Text>,
        mode: CreateMode,
        open: &mut Open<'_>,
    ) -> Result<Response, Error> {
        let above = parent(path.as_str());
        let may = self.may_change(above, session, Permissions::CREATE, open)?;
        let above = self.tree.node(above)?;
        let path = if mode.is_sequential() { path.with(&format!("{:010}", above.created)) } else { path.clone() };
        let is_there = self.tree.node(path.as_str()).is_ok();
        let reasons = [
            (is_there, Error::NodeExists),
            (above.owner.is_some(), Error::NoChildrenForEphemerals),
            (!may, Error::NoAuth),
        ];
        refuse(reasons, open)?;
        let owner = mode.is_ephemeral().then_some(session);
        let node = Node { owner, ..Node::new(data) };
        if !self.watches.are_none() {
            self.watches.created(&path, &node.acl, self.tree.acl(parent(path.as_str())));
        }
        self.tree.insert(&path, node);
        Ok(Response::Created(path))
    }

    fn delete(
        &mut self,
        session: Session,
        path: &str,
        version: Option<u32>,
        open: &mut Open<'_>,
    ) -> Result<Response, Error> {
        if path == "/" {
            return Err(Error::BadArguments);
        }
        let may = self.may_change(parent(path), session, Permissions::DELETE, open)?;
        let (is_there, differs) = match self.tree.node(path) {
            Ok(node) => (true, differs(node.version, version)),
            Err(_) => (false, false),
        };
        let has_children = is_there && self.tree.children(path).next().is_some();
        let reasons = [
            (!is_there, Error::NoNode),
            (has_children, Error::NotEmpty),
            (differs, Error::BadVersion),
            (!may, Error::NoAuth),
        ];
        refuse(reasons, open)?;
        if !self.watches.are_none() {
            self.watches.deleted(path, self.tree.acl(path), self.tree.acl(parent(path)));
        }
        self.tree.remove(path);
        Ok(Response::Done)
    }

    fn set_acl(
        &mut self,
        session: Session,
        path: &Text,
        acl: &[Access],
        version: Option<u32>,
        open: &mut Open<'_>,
    ) -> Result<Response, Error> {
        if acl.is_empty() {
            return Err(Error::InvalidAcl);
        }
        let may = self.may_change(path.as_str(), session, Permissions::ADMINISTER, open)?;
        let node = self.tree.node_mut(path.as_str())?;
        refuse([(differs(node.acl_version, version), Error::BadVersion), (!may, Error::NoAuth)], open)?;
        let mut once = Vec::with_capacity(acl.len());
        for access in acl {
            if !once.contains(access) {
                once.push(*access);
            }
        }
        let before = std::mem::replace(&mut node.acl, once);
        node.acl_version += 1;
        if let Some(former) = &mut self.former {
            let lists = former.entry(path.clone()).or_default();
            if let Err(place) = lists.binary_search(&before) {
                lists.insert(place, before);
            }
        }
        Ok(Response::Done.with_stat(self.tree.stat(path.as_str(), session)?))
    }

    fn readable(&self, path: &str, session: Session) -> Result<&Node, Error> {
        let node = self.tree.node(path)?;
        if node.allows(session, Permissions::READ) { Ok(node) } else { Err(Error::NoAuth) }
    }
}

/// Returns whether a version is another one than is expected.
fn differs(version: u32, expected: Option<u32>) -> bool {
    expected.is_some_and(|expected| expected != version)
}

/// Refuses a call for one of the reasons that there are, or lets it through if there is none.
fn refuse<const N: usize>(reasons: [(bool, Error); N], open: &mut Open<'_>) -> Result<(), Error> {
    let there: Vec<Error> = reasons.into_iter().filter(|(is_there, _)| *is_there).map(|(_, reason)| reason).collect();
    match &there[..] {
        [] => Ok(()),
        [reason] => Err(*reason),
        several => Err(several[open.one_of(several.len())]),
    }
}

/// The regions of a node. Its creation and its deletion change all of them.
#[derive(Clone, Copy, Hash)]
enum Facet {
    /// Whether it is there, and whose it is.
    Existence,
    /// Its data, and their version.
    Data,
    /// Its list of permissions, its version, and the lists before it.
    Permissions,
    /// The names of its children, and how many it has had. That a child comes or goes is an update: children of several
    /// names come and go in any order.
    Children,
}

impl Facet {
    const ALL: [Self; 4] = [Self::Existence, Self::Data, Self::Permissions, Self::Children];

    fn of(self, path: &Text) -> Region {
        Region::of(&(self, path.as_str()))
    }

    fn of_parent(self, path: &Text) -> Region {
        Region::of(&(self, parent(path.as_str())))
    }
}

/// Returns the footprint of a transaction.
fn of_parts(parts: &[Operation], response: Option<&Response>) -> Footprint {
    let answers = match response {
        Some(Response::Parts(answers)) => &answers[..],
        _ => &[],
    };
    let none = Footprint::new(Regions::None, Regions::None);
    parts.iter().enumerate().fold(none, |all, (place, part)| {
        let Footprint { reads, writes, updates } = ZooKeeper::footprint(part, answers.get(place));
        Footprint {
            reads: all.reads.union(&reads),
            writes: all.writes.union(&writes),
            updates: all.updates.union(&updates),
        }
    })
}

impl Specification for ZooKeeper {
    type Operation = Operation;
    type Response = Response;

    fn step(&mut self, session: Session, operation: &Operation, open: &mut Open<'_>) -> Response {
        match operation {
            Operation::Notice => return Response::Events(self.watches.untold(session).to_vec()),
            Operation::Connect => return self.connect(session),
            Operation::Expire => {
                self.expire(session);
                return Response::Done;
            }
            _ if self.watches.is_expired(session) => return Response::Error(Error::SessionExpired),
            _ => {}
        }
        let answer = self.take(session, operation, open).unwrap_or_else(Response::Error);
        let response = self.told(session, answer, open);
        if *operation == Operation::Close {
            self.watches.forget_watches(session);
        }
        response
    }

    fn agrees(&mut self, _: &Operation, expected: &Response, observed: &Response, _: &mut Open<'_>) -> bool {
        expected.agrees_with(observed)
    }

    fn reason(&self, session: Session, operation: &Operation, _: &Response, observed: &Response) -> Option<String> {
        if self.watches.is_expired(session) {
            return Some(format!("{session} has expired"));
        }
        let untold = self.watches.untold(session);
        if !untold.is_empty() || matches!(observed, Response::Told { .. } | Response::Events(_)) {
            let events = untold.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ");
            let events = if events.is_empty() { "no event" } else { &events };
            return Some(format!(
                "the changes so far have these events for the session: {events}; the call's own change may add some"
            ));
        }
        let path = operation.path()?.as_str();
        let (Ok(node), Ok(stat)) = (self.tree.node(path), self.tree.stat(path, session)) else {
            return Some(format!("{path} is not there"));
        };
        let Stat { version, acl_version, children_version, children, .. } = stat;
        let versions =
            format!("version {version} of the data, {acl_version} of permissions, {children_version} of children");
        let data = node.data.as_ref().map_or_else(|| "no data".to_owned(), |data| format!("the data {data}"));
        let acl = node.acl.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
        Some(format!("{path} is there with {data} and {children} children ({versions}): {acl}"))
    }

    fn footprint(operation: &Operation, response: Option<&Response>) -> Footprint {
        use Facet::{Children, Data, Existence, Permissions};
        // What a session is told depends on the changes of all that it watches, and a watch that is left is looked at by
        // each of them. A history without watches has neither.
        if matches!(response, Some(Response::Told { .. } | Response::Unanswered)) {
            return Footprint::everything();
        }
        let all = |path: &Text| Facet::ALL.map(|facet| facet.of(path)).to_vec();
        // What cannot be seen without statistics does not matter to an answer without them.
        let shows_all = matches!(response, Some(Response::WithStat { .. }));
        let shown = |path: &Text, facets: &[Facet]| match shows_all {
            true => all(path),
            false => facets.iter().map(|facet| facet.of(path)).collect(),
        };
        let (reads, writes, mut updates) = match operation {
            Operation::Watch(read) if response.is_some_and(Response::is_error) => {
                return Self::footprint(read, response);
            }
            Operation::Watch(_) | Operation::Notice | Operation::Connect | Operation::Expire => {
                return Footprint::everything();
            }
            // The path depends on how many children there were.
            Operation::Create { path, mode, .. } if mode.is_sequential() => match response {
                Some(Response::Created(created)) => {
                    let above = [Permissions.of_parent(path), Children.of_parent(path)];
                    let [_, children] = above;
                    ([&[Existence.of(created)], &above[..]].concat(), all(created), vec![children])
                }
                Some(Response::Error(_)) => return Footprint::reads_everything(),
                _ => return Footprint::everything(),
            },
            Operation::Create { path, .. } => {
                let reads = vec![Existence.of(path), Permissions.of_parent(path)];
                (reads, all(path), vec![Children.of_parent(path)])
            }
            Operation::Delete { path, version } => {
                let mut reads = vec![Existence.of(path), Children.of(path), Permissions.of_parent(path)];
                reads.extend(version.map(|_| Data.of(path)));
                (reads, all(path), vec![Children.of_parent(path)])
            }
            Operation::Exists { path } => (shown(path, &[Existence]), Vec::new(), Vec::new()),
            Operation::GetData { path } => (shown(path, &[Permissions, Data]), Vec::new(), Vec::new()),
            Operation::GetAcl { path } => (shown(path, &[Permissions]), Vec::new(), Vec::new()),
            Operation::GetChildren { path } => (shown(path, &[Permissions, Children]), Vec::new(), Vec::new()),
            Operation::SetData { path, version, .. } => {
                let facets = if version.is_some() { &[Permissions, Data][..] } else { &[Permissions] };
                (shown(path, facets), vec![Data.of(path)], Vec::new())
            }
            Operation::SetAcl { path, .. } => (shown(path, &[Permissions]), vec![Permissions.of(path)], Vec::new()),
            Operation::Check { path, .. } => (vec![Permissions.of(path), Data.of(path)], Vec::new(), Vec::new()),
            Operation::Close => return Footprint::everything(),
            Operation::Multi(parts) => return of_parts(parts, response),
        };
        // If nobody saw its answer, it may have taken the events along that its session was not told yet.
        if response.is_none() {
            updates.push(Region::of(&"untold"));
        }
        if response.is_some_and(Response::is_error) {
            return Footprint::new(Regions::Some(reads), Regions::None);
        }
        let regions = |regions: Vec<Region>| if regions.is_empty() { Regions::None } else { Regions::Some(regions) };
        Footprint::new(Regions::Some(reads), regions(writes)).and_updates(regions(updates))
    }

    fn is_observable(response: &Response) -> bool {
        *response != Response::Unanswered
    }

    fn is_same(one: &Operation, other: &Operation) -> bool {
        one == other
    }

    fn heap_bytes(&self) -> usize {
        let former =
            self.former.iter().flatten().flat_map(|(_, lists)| lists).map(|acl| acl.len() * size_of::<Access>());
        self.tree.heap_bytes() + former.sum::<usize>() + self.watches.heap_bytes()
    }
}
