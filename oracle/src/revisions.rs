//! Revisions that contradict what else is known of a history.

use std::collections::BTreeMap;

use crate::history::end_key;
use crate::{Call, End, History, Mode, Order, Revision, Session};

/// Why a history is impossible that would be possible without its revisions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RevisionConflict {
    /// Two calls whose revisions alone contradict the rest: the first one was taken before the second one, as the order
    /// or the answers say, and has the larger revision. `None` if it takes more than two calls.
    pub calls: Option<(usize, usize)>,
}

impl Order {
    /// The same order, without that of revisions.
    #[must_use]
    pub(crate) fn without_revisions(&self) -> Self {
        Self { revisions: false, ..self.clone() }
    }

    /// Returns two calls of which the order, without that of revisions, puts the first before the second, while the
    /// first has the larger revision.
    ///
    /// Cost: O(n log n) for n calls.
    pub(crate) fn contradicting_revisions<O, R>(&self, history: &History<O, R>) -> Option<(usize, usize)> {
        let calls = history.calls();
        // Revisions order calls that are known to have happened.
        let revision = |place: usize| calls.get(place).filter(|call| happened(call)).and_then(|call| call.revision);
        let contradicts =
            |&(one, other): &(usize, usize)| revision(one).zip(revision(other)).is_some_and(|(one, other)| one > other);
        if let Some(pair) = self.pairs.iter().copied().find(contradicts) {
            return Some(pair);
        }
        let placed = || (0..).zip(calls).filter_map(|(place, call)| Some((place, call, revision(place)?)));
        if self.sessions {
            let mut largest: BTreeMap<Session, (Revision, usize)> = BTreeMap::new();
            if let Some(pair) = placed().find_map(|(place, call, revision)| {
                after(largest.entry(call.session).or_insert((revision, place)), revision, place)
            }) {
                return Some(pair);
            }
        }
        if self.synchronous {
            let mut largest = None;
            let mut synchronous = placed().filter(|(_, call, _)| call.mode == Mode::Synchronous);
            let next = |(place, _, revision)| after(largest.get_or_insert((revision, place)), revision, place);
            if let Some(pair) = synchronous.find_map(next) {
                return Some(pair);
            }
        }
        if self.real_time { by_time(&placed().collect::<Vec<_>>()) } else { None }
    }
}

/// Returns whether a call is known to have happened: only then its revision orders it.
pub(crate) fn happened<O, R>(call: &Call<O, R>) -> bool {
    matches!(call.end, End::Returned { .. })
}

/// Returns the pair that the largest revision so far makes with the next one, or notes that one.
fn after(largest: &mut (Revision, usize), revision: Revision, place: usize) -> Option<(usize, usize)> {
    if largest.0 > revision {
        return Some((largest.1, place));
    }
    *largest = (revision, place);
    None
}

/// Returns a call that was invoked when one with a larger revision had ended, and that one.
fn by_time<O, R>(calls: &[(usize, &Call<O, R>, Revision)]) -> Option<(usize, usize)> {
    let end = |call: &Call<O, R>| call.end.at().map(end_key);
    let mut ended = calls.to_vec();
    ended.sort_by_key(|&(_, call, _)| end(call));
    let mut ended = ended.into_iter().peekable();
    let mut largest: Option<(Revision, usize)> = None;
    // In the order of invocation; those before a call in the order of ends precede all that are invoked later, too.
    for &(place, call, revision) in calls {
        while let Some((other, _, its)) = ended.next_if(|(_, other, _)| other.precedes(call)) {
            largest = largest.max(Some((its, other)));
        }
        if let Some((_, other)) = largest.filter(|&(its, _)| its > revision) {
            return Some((other, place));
        }
    }
    None
}
