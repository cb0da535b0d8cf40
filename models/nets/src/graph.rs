//! The graph of a state space: markings as numbers, and the arcs between them.

use crate::explorer::ExploreError;

/// How many markings have their arcs counted from one place: so a marking takes four bytes, and not eight.
const BLOCK: usize = 1 << 10;

/// Markings as numbers from 0 on, in the order of breadth first, and the arcs that lead from one to others.
///
/// Marking 0 is the initial one. An arc is a transition with what its inputs bind: two bindings that lead to one marking are
/// two arcs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StateGraph {
    /// By arc, the marking that it leads to, those of a marking one after the other.
    targets: Vec<u32>,
    /// Where the arcs of each marking begin, and where the last ones end, from where its block begins.
    begins: Vec<u32>,
    /// Where the arcs of each block of markings begin.
    blocks: Vec<usize>,
}

/// A run that comes to a marking, and then goes round for ever, or no further.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lasso {
    /// The marking at which the cycle begins, or that is dead:
    /// [`StateSpace::firings_to`](crate::StateSpace::firings_to) says how it is reached.
    pub begin: usize,
    /// The arcs of the cycle, each as a marking and the number of one of its arcs
    /// ([`StateSpace::firings`](crate::StateSpace::firings)); empty if the marking is dead.
    pub cycle: Vec<(usize, usize)>,
}

/// No marking yet.
impl Default for StateGraph {
    fn default() -> Self {
        Self { targets: Vec::new(), begins: vec![0], blocks: vec![0] }
    }
}

impl StateGraph {
    /// Adds an arc of the marking that comes next.
    pub fn add_arc(&mut self, target: u32) {
        self.targets.push(target);
    }

    /// Ends the arcs of the marking that comes next.
    ///
    /// # Errors
    /// [`ExploreError::TooMany`] if 1,024 markings have more than 2^32 - 1 arcs.
    pub fn end_marking(&mut self) -> Result<(), ExploreError> {
        let end = self.targets.len();
        if self.begins.len().is_multiple_of(BLOCK) {
            self.blocks.push(end);
        }
        let begin = self.blocks[self.begins.len() / BLOCK];
        let too_many = |_| ExploreError::TooMany { what: "arcs of 1,024 markings".to_owned() };
        self.begins.push(u32::try_from(end - begin).map_err(too_many)?);
        Ok(())
    }

    /// Returns how many markings there are.
    pub fn markings(&self) -> usize {
        self.begins.len() - 1
    }

    /// Returns how many arcs there are.
    pub fn arcs(&self) -> usize {
        self.targets.len()
    }

    /// Returns the markings to which the arcs of a marking lead.
    pub fn successors(&self, marking: usize) -> &[u32] {
        &self.targets[self.begin(marking)..self.begin(marking + 1)]
    }

    /// Returns where the arcs of a marking begin.
    fn begin(&self, marking: usize) -> usize {
        self.blocks[marking / BLOCK] + self.begins[marking] as usize
    }

    /// Returns the markings in which no transition is enabled.
    pub fn dead(&self) -> Vec<usize> {
        (0..self.markings()).filter(|&marking| self.successors(marking).is_empty()).collect()
    }

    /// Returns the strongly connected component of each marking: no arc leads from a component to one with a greater
    /// number.
    ///
    /// Tarjan's algorithm (1972), without recursion.
    pub fn components(&self) -> Vec<u32> {
        const NEW: u32 = u32::MAX;
        let count = self.markings();
        let (mut index, mut low, mut component) = (vec![NEW; count], vec![0; count], vec![NEW; count]);
        let (mut next_index, mut next_component) = (0, 0);
        let mut stack: Vec<u32> = Vec::new();
        // A marking, and how many of its arcs have been followed.
        let mut open: Vec<(u32, usize)> = Vec::new();
        for root in (0..).take(count) {
            if index[root as usize] != NEW {
                continue;
            }
            open.push((root, 0));
            while let Some((marking, followed)) = open.last_mut() {
                let at = *marking as usize;
                if *followed == 0 {
                    (index[at], low[at]) = (next_index, next_index);
                    next_index += 1;
                    stack.push(*marking);
                }
                if let Some(&target) = self.successors(at).get(*followed) {
                    *followed += 1;
                    let to = target as usize;
                    if index[to] == NEW {
                        open.push((target, 0));
                    } else if component[to] == NEW {
                        low[at] = low[at].min(index[to]);
                    }
                    continue;
                }
                open.pop();
                if low[at] == index[at] {
                    while let Some(member) = stack.pop() {
                        component[member as usize] = next_component;
                        if member as usize == at {
                            break;
                        }
                    }
                    next_component += 1;
                }
                if let Some(&(before, _)) = open.last() {
                    low[before as usize] = low[before as usize].min(low[at]);
                }
            }
        }
        component
    }

    /// Returns the home markings, which can be reached from every marking: those of the one component that nothing leaves,
    /// or none if there are several.
    pub fn home(&self) -> Vec<usize> {
        self.components_and_home().1
    }

    /// Returns the number of strongly connected components, and the home markings.
    pub(crate) fn components_and_home(&self) -> (usize, Vec<usize>) {
        let components = self.components();
        let count = components.iter().max().map_or(0, |&last| last as usize + 1);
        let mut is_left = vec![false; count];
        for (marking, &component) in components.iter().enumerate() {
            let leaves = |&target: &u32| components[target as usize] != component;
            is_left[component as usize] |= self.successors(marking).iter().any(leaves);
        }
        let mut terminal = (0..count).filter(|&component| !is_left[component]);
        let home = match (terminal.next(), terminal.next()) {
            (Some(home), None) => (0..self.markings()).filter(|&it| components[it] as usize == home).collect(),
            _ => Vec::new(),
        };
        (count, home)
    }

    /// Returns a run that is never again in a marking of which something is true: the witness against "always eventually".
    /// `None` if every run that cannot go on, or never ends, comes to such a marking again and again.
    pub fn avoiding(&self, is_goal: impl Fn(usize) -> bool) -> Option<Lasso> {
        let avoids: Vec<bool> = (0..self.markings()).map(|number| !is_goal(number)).collect();
        let ends = |&number: &usize| avoids[number] && self.successors(number).is_empty();
        if let Some(begin) = (0..self.markings()).find(ends) {
            return Some(Lasso { begin, cycle: Vec::new() });
        }
        // Depth first, among the markings that avoid it: an arc to one that is open closes a cycle.
        let (mut is_known, mut is_open) = (vec![false; avoids.len()], vec![false; avoids.len()]);
        let mut open: Vec<(usize, usize)> = Vec::new();
        for root in (0..avoids.len()).filter(|&number| avoids[number]) {
            if !std::mem::replace(&mut is_known[root], true) {
                is_open[root] = true;
                open.push((root, 0));
            }
            while let Some((marking, followed)) = open.last_mut() {
                let Some(&target) = self.successors(*marking).get(*followed) else {
                    is_open[*marking] = false;
                    open.pop();
                    continue;
                };
                let target = target as usize;
                *followed += 1;
                if is_open[target] {
                    let at = open.iter().position(|&(marking, _)| marking == target).expect("it is open");
                    // What is open has followed the arc to the next one, and the last one that to the first.
                    let cycle = open[at..].iter().map(|&(marking, followed)| (marking, followed - 1)).collect();
                    return Some(Lasso { begin: target, cycle });
                }
                if avoids[target] && !std::mem::replace(&mut is_known[target], true) {
                    is_open[target] = true;
                    open.push((target, 0));
                }
            }
        }
        None
    }

    /// Returns the arcs of a shortest way from the initial marking to another one, each as a marking and the number of one of
    /// its arcs.
    ///
    /// # Panics
    /// If there is no marking of this number.
    pub fn way_to(&self, marking: usize) -> Vec<(usize, usize)> {
        // By breadth first, the first arc that leads to a marking is one of a shortest way.
        let mut first = vec![None; self.markings()];
        for from in 0..self.markings() {
            for (arc, &to) in self.successors(from).iter().enumerate() {
                if to != 0 {
                    first[to as usize].get_or_insert((from, arc));
                }
            }
        }
        let mut arcs = Vec::new();
        let mut at = marking;
        while let Some((from, arc)) = first[at] {
            arcs.push((from, arc));
            at = from;
        }
        arcs.reverse();
        arcs
    }

    /// Returns how many bytes it takes.
    pub fn bytes(&self) -> usize {
        4 * (self.targets.capacity() + self.begins.capacity()) + size_of::<usize>() * self.blocks.capacity()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_marking_has_its_arcs_on_both_sides_of_a_block() {
        let mut graph = StateGraph::default();
        let arcs = |marking: usize| (0..marking as u32 % 4).map(move |arc| marking as u32 + arc);
        for marking in 0..3 * BLOCK {
            arcs(marking).for_each(|target| graph.add_arc(target));
            assert_eq!(graph.end_marking(), Ok(()));
        }
        assert_eq!((graph.markings(), graph.arcs()), (3 * BLOCK, 3 * BLOCK / 4 * 6));
        for marking in 0..3 * BLOCK {
            assert_eq!(graph.successors(marking), arcs(marking).collect::<Vec<_>>());
        }
        assert_eq!(graph.dead().len(), 3 * BLOCK / 4);
    }
}
