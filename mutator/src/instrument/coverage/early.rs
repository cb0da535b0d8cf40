//! Uses that are noted with the condition which leads to them, so that the compiler may do without a branch.

use std::collections::{BTreeMap, BTreeSet};

use super::Writer;
use super::numbers::LastDefinition;
use crate::graph::{Action, BlockId, EventId, Wrapped};

/// How many uses of a block are noted early: each costs a store where the block is not come to.
const EARLY_MAX: usize = 3;

/// A use that is noted with the condition which leads to it.
#[derive(Debug)]
pub(super) struct Early {
    pub(super) variable: usize,
    pub(super) place: LastDefinition,
    pub(super) event: EventId,
    /// 0 if it is reached when the condition holds, else 1.
    pub(super) way: usize,
}

impl Writer<'_> {
    /// Finds blocks that would have no probes if the uses in them were noted with the condition that leads to them:
    /// then the compiler may do without a branch, as it does in the original. Returns by the first branch of the
    /// condition how these uses are noted, if there are any.
    pub(super) fn early_uses(&mut self) -> BTreeMap<usize, Vec<Early>> {
        let mut early: BTreeMap<usize, Vec<Early>> = BTreeMap::new();
        for (block, branch) in self.branches_to.clone() {
            let wrapped = self.flow.wrapped.range(..=branch).next_back();
            let Some((&first, Wrapped::Condition)) = wrapped.filter(|(first, _)| branch - **first < 2) else {
                continue;
            };
            if !self.flow.light.contains(&branch) {
                continue;
            }
            let Some(uses) = self.only_uses_at_the_start_of(block) else { continue };
            let early = early.entry(first).or_default();
            for event in uses {
                self.early.insert(event);
                if self.same_as.contains_key(&event) {
                    continue;
                }
                let Some((variable, place)) = self.place(event) else { continue };
                early.push(Early { variable, place, event, way: branch - first });
            }
        }
        early
    }

    /// Returns the uses in a block if nothing else there needs a store: they stand where the block's probe does, and
    /// the definitions that they see are in local variables, as are those that the block makes.
    pub(super) fn only_uses_at_the_start_of(&mut self, block: BlockId) -> Option<Vec<EventId>> {
        let flow = self.flow;
        let start = flow.starts.get(&block)?;
        let at_start = flow.anchors.iter().filter(|(anchor, _)| anchor == start).flat_map(|(_, events)| events);
        let at_start: BTreeSet<EventId> = at_start.copied().collect();
        let mut uses = Vec::new();
        let mut is_defined = false;
        for &event in flow.blocks.get(block).map_or(&[][..], Vec::as_slice) {
            let place = self.place(event).map(|(_, place)| place);
            match (&flow.events[event].action, place) {
                // At the start, the block's mark stands for it; a p-use has that of a branch.
                (Action::Use { predicate, .. }, _) if !self.is_open(event) => {
                    if predicate.is_none() && !at_start.contains(&event) {
                        return None;
                    }
                }
                (Action::Define(_), Some(LastDefinition::Local(_)) | None) => is_defined = true,
                (Action::Use { .. }, None) => {}
                (Action::Use { predicate: None, .. }, Some(LastDefinition::Local(_)))
                    if at_start.contains(&event) && !is_defined =>
                {
                    uses.push(event);
                }
                _ => return None,
            }
        }
        let stores = uses.iter().filter(|event| !self.same_as.contains_key(event)).count();
        (stores <= EARLY_MAX).then_some(uses)
    }
}
