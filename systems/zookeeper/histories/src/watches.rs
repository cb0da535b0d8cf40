//! Watches, what they have told, and sessions that the service has ended.

use std::sync::Arc;

use simutant_oracle::Session;
use simutant_oracle::specifications::Text;

use super::access::allows;
use super::tree::parent;
use super::{Access, Event, Permissions};

/// What a watch is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Watched {
    /// Whether the node is there, and its data.
    Data,
    /// Its children.
    Children,
}

/// What sessions watch, what they will be told, and which of them have expired. Without any of these it is nothing, so
/// that who has no watches pays nothing for them, and equal states are equal values.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(super) struct Watches(Option<Arc<Known>>);

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
struct Known {
    /// In their order.
    watches: Vec<(Text, Watched, Session)>,
    /// What each session is told before its next answer, by the numbers of sessions.
    untold: Vec<(Session, Vec<Event>)>,
    /// In their order.
    expired: Vec<Session>,
}

impl Known {
    fn tell(&mut self, session: Session, event: Event) {
        match self.untold.binary_search_by_key(&session, |(other, _)| *other) {
            Ok(place) => self.untold[place].1.push(event),
            Err(place) => self.untold.insert(place, (session, vec![event])),
        }
    }

    /// Takes the watches of a path away, and returns whose they were.
    fn take(&mut self, path: &str, watched: Watched) -> Vec<Session> {
        let is_it = |watch: &(Text, Watched, Session)| watch.0.as_str() == path && watch.1 == watched;
        self.watches.extract_if(.., |watch| is_it(watch)).map(|(_, _, session)| session).collect()
    }
}

impl Watches {
    fn change<T>(&mut self, change: impl FnOnce(&mut Known) -> T) -> T {
        let mut known = self.0.take().unwrap_or_default();
        let result = change(Arc::make_mut(&mut known));
        if *known != Known::default() {
            self.0 = Some(known);
        }
        result
    }

    /// Leaves a watch. A session has one of a kind on a path at most.
    pub(super) fn watch(&mut self, session: Session, path: &Text, watched: Watched) {
        self.change(|known| {
            let watch = (path.clone(), watched, session);
            if let Err(place) = known.watches.binary_search(&watch) {
                known.watches.insert(place, watch);
            }
        });
    }

    /// Returns the sessions that watch a path and may read the node, which get the event. All watches on the path are removed.
    fn fire(
        &mut self,
        path: &str,
        watched: Watched,
        event: &Event,
        acl: &[Access],
        except: &[Session],
    ) -> Vec<Session> {
        if self.0.is_none() {
            return Vec::new();
        }
        self.change(|known| {
            let sessions = known.take(path, watched);
            let is_told = |session: &&Session| !except.contains(session) && allows(acl, **session, Permissions::READ);
            for session in sessions.iter().filter(is_told) {
                known.tell(*session, event.clone());
            }
            sessions
        })
    }

    /// A node is there now.
    pub(super) fn created(&mut self, path: &Text, acl: &[Access], acl_above: &[Access]) {
        self.fire(path.as_str(), Watched::Data, &Event::Created(path.clone()), acl, &[]);
        self.children_changed(path.as_str(), acl_above);
    }

    /// A node is gone. Who watches its data and its children is told once.
    pub(super) fn deleted(&mut self, path: &str, acl: &[Access], acl_above: &[Access]) {
        let event = Event::Deleted(path.into());
        let told = self.fire(path, Watched::Data, &event, acl, &[]);
        self.fire(path, Watched::Children, &event, acl, &told);
        self.children_changed(path, acl_above);
    }

    /// A node has other data.
    pub(super) fn data_changed(&mut self, path: &str, acl: &[Access]) {
        self.fire(path, Watched::Data, &Event::DataChanged(path.into()), acl, &[]);
    }

    fn children_changed(&mut self, path: &str, acl_above: &[Access]) {
        let above = parent(path);
        self.fire(above, Watched::Children, &Event::ChildrenChanged(above.into()), acl_above, &[]);
    }

    /// Returns whether nobody watches anything.
    pub(super) fn are_none(&self) -> bool {
        self.0.as_ref().is_none_or(|known| known.watches.is_empty())
    }

    /// Makes several changes, of which nobody knows in which order the service makes them.
    pub(super) fn in_any_order(&mut self, change: impl FnOnce(&mut Self)) {
        let before: Vec<(Session, usize)> =
            self.0.iter().flat_map(|known| &known.untold).map(|(session, events)| (*session, events.len())).collect();
        change(self);
        if self.0.is_none() {
            return;
        }
        self.change(|known| {
            for (session, events) in &mut known.untold {
                let old = before.iter().find(|(other, _)| other == session).map_or(0, |(_, count)| *count);
                if events.len() > old + 1 {
                    let mut new = events.split_off(old);
                    new.sort_unstable();
                    events.push(Event::InAnyOrder(new));
                }
            }
        });
    }

    /// Returns what a session will be told before its next answer.
    pub(super) fn untold(&self, session: Session) -> &[Event] {
        let Some(known) = &self.0 else { return &[] };
        let place = known.untold.binary_search_by_key(&session, |(other, _)| *other);
        place.map_or(&[], |place| &known.untold[place].1)
    }

    /// Returns what a session is told now.
    pub(super) fn tell(&mut self, session: Session) -> Vec<Event> {
        self.change(|known| {
            let told: Vec<_> = known.untold.extract_if(.., |(other, _)| *other == session).collect();
            told.into_iter().flat_map(|(_, events)| events).collect()
        })
    }

    /// Forgets what a session watches, and what it would have been told.
    pub(super) fn forget(&mut self, session: Session) {
        if self.0.is_some() {
            self.change(|known| {
                known.watches.retain(|(_, _, other)| *other != session);
                known.untold.retain(|(other, _)| *other != session);
            });
        }
    }

    /// Forgets what a session watches.
    pub(super) fn forget_watches(&mut self, session: Session) {
        if self.0.is_some() {
            self.change(|known| known.watches.retain(|(_, _, other)| *other != session));
        }
    }

    /// Notes whether a session has expired.
    pub(super) fn expire(&mut self, session: Session, is_expired: bool) {
        self.change(|known| {
            known.expired.retain(|other| *other != session);
            if is_expired {
                known.expired.push(session);
                known.expired.sort_unstable();
            }
        });
    }

    pub(super) fn is_expired(&self, session: Session) -> bool {
        self.0.as_ref().is_some_and(|known| known.expired.contains(&session))
    }

    pub(super) fn heap_bytes(&self) -> usize {
        let Some(known) = self.0.as_ref().filter(|known| Arc::strong_count(known) == 1) else { return 0 };
        let Known { watches, untold, expired } = &**known;
        let events: usize = untold.iter().map(|(_, events)| size_of_val(&events[..])).sum();
        size_of::<Known>() + size_of_val(&watches[..]) + size_of_val(&untold[..]) + size_of_val(&expired[..]) + events
    }
}

#[cfg(test)]
mod tests;
