//! The state space of a net: all markings that it can reach, and how.

use std::fmt;

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use crate::Token;
use crate::arcs::{Place, Source};
use crate::firing::{Effect, Firing};
use crate::multiset::{Overflow, hasher, table_bytes};
use crate::net::{Core, Net, NetError};

/// The limits of an exploration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// The greatest number of markings.
    pub markings: Option<usize>,
    /// The greatest number of bytes.
    pub bytes: Option<usize>,
}

/// A gibibyte, and as many markings as fit.
impl Default for Budget {
    fn default() -> Self {
        Self { markings: None, bytes: Some(1 << 30) }
    }
}

/// Why there is no state space.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExploreError {
    /// The net has a mistake.
    #[error(transparent)]
    Net(#[from] NetError),
    /// The budget ran out.
    #[error(
        "after {markings} markings the budget of {limit} ran out; the place `{place}` has had {contents} different contents, \
         of up to {tokens} tokens: bound it, or raise the budget"
    )]
    Exhausted {
        /// The limit that was reached, in words.
        limit: String,
        /// The number of markings so far.
        markings: usize,
        /// The place that has had most different contents.
        place: String,
        /// The number of these contents.
        contents: usize,
        /// The number of tokens of the largest one.
        tokens: u64,
    },
    /// There are more than 2^32 - 1 markings, or contents or tokens of a place.
    #[error("the net has more {what} than 2^32 - 1, and none is counted wrongly: bound it")]
    TooMany {
        /// The things of which there are too many, in words.
        what: String,
    },
}

/// The reason why an exploration ends early.
enum Stop {
    Overflow(Overflow),
    Markings,
    Budget(String),
}

impl From<Overflow> for Stop {
    fn from(overflow: Overflow) -> Self {
        Self::Overflow(overflow)
    }
}

/// All markings that a net can reach, by breadth first: the initial one has the number 0.
///
/// An arc is a transition with what its inputs bind: two bindings that lead to one marking are two arcs.
#[derive(Debug)]
pub struct StateSpace<I = (), O = ()> {
    net: Net<I, O>,
    firing: Firing,
    /// By marking, the number of the multiset of each place.
    rows: Vec<u32>,
    /// By arc, the marking that it leads to, those of a marking one after the other.
    targets: Vec<u32>,
    /// Where the arcs of each marking begin, and where the last ones end.
    begins: Vec<usize>,
}

/// A transition that fired.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fired {
    /// Its name.
    pub transition: String,
    /// The values that its inputs bound, in words.
    pub binding: Vec<String>,
    /// The number of the marking after it.
    pub marking: usize,
}

impl fmt::Display for Fired {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}({})", self.transition, self.binding.join(", "))
    }
}

/// A run that comes to a marking, and then goes round for ever, or no further.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lasso {
    /// The marking at which the cycle begins, or that is dead: [`StateSpace::firings_to`] says how it is reached.
    pub begin: usize,
    /// The arcs of the cycle, each as a marking and the number of one of its arcs ([`StateSpace::firings`]); empty if the
    /// marking is dead.
    pub cycle: Vec<(usize, usize)>,
}

/// A marking of a net.
#[derive(Debug, Clone, Copy)]
pub struct Marking<'a> {
    net: &'a Core,
    row: &'a [u32],
}

impl<'a> Marking<'a> {
    /// Returns the tokens of a place, each with how often it is there.
    ///
    /// # Panics
    /// If the place is one of another net.
    pub fn tokens<T: Token>(self, place: Place<T>) -> impl Iterator<Item = (&'a T, u32)> {
        assert_eq!(place.net, self.net.id, "the place is one of another net");
        let store = &self.net.stores[place.number];
        let numbers = store.multisets().get(self.row[place.number]);
        numbers.iter().map(move |&(number, count)| (store.token(number), count))
    }

    /// Returns how many tokens a place has.
    ///
    /// # Panics
    /// If the place is one of another net.
    pub fn count<T: Token>(self, place: Place<T>) -> u64 {
        self.tokens(place).map(|(_, count)| u64::from(count)).sum()
    }
}

/// The places that have tokens, with these.
impl fmt::Display for Marking<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut is_first = true;
        for ((place, store), &multiset) in self.net.places.iter().zip(&self.net.stores).zip(self.row) {
            let tokens = store.multisets().get(multiset).iter().map(|&(token, count)| match count {
                1 => store.words(token),
                _ => format!("{count} x {}", store.words(token)),
            });
            let tokens: Vec<String> = tokens.collect();
            if !tokens.is_empty() {
                let between = if std::mem::take(&mut is_first) { "" } else { "; " };
                write!(formatter, "{between}{}: {}", place.name, tokens.join(", "))?;
            }
        }
        Ok(())
    }
}

impl<I: 'static, O: 'static> Net<I, O> {
    /// Returns all markings that the net can reach.
    ///
    /// # Errors
    /// [`ExploreError`] if the net has a mistake, if the budget runs out, or if something does not fit into 32 bits. There
    /// is no state space of a part of the markings.
    pub fn explore(mut self, budget: &Budget) -> Result<StateSpace<I, O>, ExploreError> {
        self.check()?;
        let core = &mut self.core;
        let mut firing = Firing::new(core);
        let mut explorer = Explorer {
            width: core.places.len(),
            rows: Vec::new(),
            markings: 0,
            numbers: HashTable::new(),
            targets: Vec::new(),
            begins: vec![0],
        };
        let explored = explorer.run(core, &mut firing, budget);
        let Explorer { rows, targets, begins, markings, .. } = explorer;
        match explored {
            Ok(()) => Ok(StateSpace { net: self, firing, rows, targets, begins }),
            Err(stop) => Err(core.error(stop, markings as usize)),
        }
    }
}

impl Core {
    pub(crate) fn too_many(&self, Overflow { place }: Overflow) -> ExploreError {
        ExploreError::TooMany { what: format!("tokens, or contents, of `{}`", self.places[place].name) }
    }

    fn error(&self, stop: Stop, markings: usize) -> ExploreError {
        match stop {
            Stop::Markings => ExploreError::TooMany { what: "markings".to_owned() },
            Stop::Overflow(overflow) => self.too_many(overflow),
            Stop::Budget(limit) => {
                let contents = |place: &usize| self.stores[*place].multisets().len();
                let place = (0..self.places.len()).max_by_key(contents).unwrap_or(0);
                let multisets = self.stores[place].multisets();
                let tokens = (0..).take(multisets.len()).map(|number| multisets.size(number)).max().unwrap_or(0);
                let (contents, place) = (multisets.len(), self.places[place].name.clone());
                ExploreError::Exhausted { limit, markings, place, contents, tokens }
            }
        }
    }
}

struct Explorer {
    width: usize,
    rows: Vec<u32>,
    markings: u32,
    numbers: HashTable<u32>,
    targets: Vec<u32>,
    begins: Vec<usize>,
}

impl Explorer {
    fn run(&mut self, net: &mut Core, firing: &mut Firing, budget: &Budget) -> Result<(), Stop> {
        let mut next = 0;
        let mut marking: Vec<u32> = net.places.iter().map(|place| place.initial).collect();
        self.number(&marking)?;
        while next < self.markings {
            marking.clear();
            marking.extend_from_slice(row(&self.rows, self.width, next));
            firing.successors(net, &marking, |_, _, after| {
                let target = self.number(after)?;
                self.targets.push(target);
                Ok::<(), Stop>(())
            })?;
            self.begins.push(self.targets.len());
            next += 1;
            if let Some(most) = budget.markings.filter(|&most| self.markings as usize > most) {
                return Err(Stop::Budget(format!("{most} markings")));
            }
            // To add up what everything takes is not for each marking.
            if next.is_multiple_of(1 << 10)
                && let Some(most) = budget.bytes.filter(|&most| self.bytes(net, firing) > most)
            {
                return Err(Stop::Budget(format!("{most} bytes")));
            }
        }
        Ok(())
    }

    /// Returns the number of a marking, and keeps it if it is new.
    fn number(&mut self, marking: &[u32]) -> Result<u32, Stop> {
        let Self { width, rows, markings, numbers, .. } = self;
        let is_it = |&number: &u32| row(rows, *width, number) == marking;
        match numbers.entry(hash(marking), is_it, |&number| hash(row(rows, *width, number))) {
            Entry::Occupied(known) => Ok(*known.get()),
            Entry::Vacant(vacant) => {
                let number = *markings;
                *markings = number.checked_add(1).ok_or(Stop::Markings)?;
                vacant.insert(number);
                rows.extend_from_slice(marking);
                Ok(number)
            }
        }
    }

    fn bytes(&self, net: &Core, firing: &Firing) -> usize {
        4 * (self.rows.capacity() + self.targets.capacity())
            + size_of::<usize>() * self.begins.capacity()
            + table_bytes(&self.numbers)
            + net.stores.iter().map(|store| store.bytes()).sum::<usize>()
            + firing.bytes()
    }
}

fn row(rows: &[u32], width: usize, number: u32) -> &[u32] {
    &rows[number as usize * width..][..width]
}

fn hash(row: &[u32]) -> u64 {
    use std::hash::BuildHasher;
    hasher().hash_one(row)
}

impl<I: 'static, O: 'static> StateSpace<I, O> {
    /// Returns the net.
    pub fn net(&self) -> &Net<I, O> {
        &self.net
    }

    /// Returns how many markings there are.
    pub fn markings(&self) -> usize {
        self.begins.len() - 1
    }

    /// Returns how many arcs there are.
    pub fn arcs(&self) -> usize {
        self.targets.len()
    }

    /// Returns a marking by its number.
    ///
    /// # Panics
    /// If there are not so many.
    pub fn marking(&self, number: usize) -> Marking<'_> {
        let width = self.net.core.places.len();
        Marking { net: &self.net.core, row: &self.rows[number * width..][..width] }
    }

    /// Returns the markings to which the arcs of a marking lead.
    pub fn successors(&self, marking: usize) -> &[u32] {
        &self.targets[self.begins[marking]..self.begins[marking + 1]]
    }

    /// Returns the markings in which no transition is enabled.
    pub fn dead(&self) -> Vec<usize> {
        (0..self.markings()).filter(|&marking| self.successors(marking).is_empty()).collect()
    }

    /// Returns the first marking, nearest to the initial one, of which something is true: the witness against an invariant.
    /// [`StateSpace::firings_to`] says how it is reached.
    pub fn find(&self, is_it: impl Fn(Marking<'_>) -> bool) -> Option<usize> {
        (0..self.markings()).find(|&marking| is_it(self.marking(marking)))
    }

    /// Returns the least and the greatest number of tokens that a place has.
    ///
    /// # Panics
    /// If the place is one of another net.
    pub fn bounds<T: Token>(&self, place: Place<T>) -> (u64, u64) {
        assert_eq!(place.net, self.net.core.id, "the place is one of another net");
        let width = self.net.core.places.len();
        let mut is_used = vec![false; self.net.core.stores[place.number].multisets().len()];
        self.rows.iter().skip(place.number).step_by(width).for_each(|&multiset| is_used[multiset as usize] = true);
        let multisets = self.net.core.stores[place.number].multisets();
        let sizes = (0..).zip(&is_used).filter(|(_, used)| **used).map(|(number, _)| multisets.size(number));
        sizes.fold((u64::MAX, 0), |(least, most), size| (least.min(size), most.max(size)))
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
        let components = self.components();
        let count = components.iter().max().map_or(0, |&last| last as usize + 1);
        let mut is_left = vec![false; count];
        for (marking, &component) in components.iter().enumerate() {
            let leaves = |&target: &u32| components[target as usize] != component;
            is_left[component as usize] |= self.successors(marking).iter().any(leaves);
        }
        let mut terminal = (0..count).filter(|&component| !is_left[component]);
        match (terminal.next(), terminal.next()) {
            (Some(home), None) => (0..self.markings()).filter(|&it| components[it] as usize == home).collect(),
            _ => Vec::new(),
        }
    }

    /// Returns a run that is never again in a marking of which something is true: the witness against "always eventually".
    /// `None` if every run that cannot go on, or never ends, comes to such a marking again and again.
    pub fn avoiding(&self, is_goal: impl Fn(Marking<'_>) -> bool) -> Option<Lasso> {
        let avoids: Vec<bool> = (0..self.markings()).map(|number| !is_goal(self.marking(number))).collect();
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

    /// Returns a shortest way to fire from the initial marking to another one.
    ///
    /// # Panics
    /// If there is no marking of this number.
    pub fn firings_to(&mut self, marking: usize) -> Vec<Fired> {
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
        arcs.into_iter().map(|(from, arc)| self.firings(from).swap_remove(arc)).collect()
    }

    /// Returns what fires on each arc of a marking.
    ///
    /// # Panics
    /// If there is no marking of this number.
    pub fn firings(&mut self, marking: usize) -> Vec<Fired> {
        let fired = self.fired_at(marking);
        let targets = self.successors(marking).iter();
        targets.zip(fired).map(|(&target, fired)| self.fired(fired, target as usize)).collect()
    }

    fn fired(&self, (transition, binding): (usize, Box<[u32]>), marking: usize) -> Fired {
        let core = &self.net.core;
        let transition = &core.transitions[transition];
        let words = |((&input, free), &number): ((&Source, &Vec<String>), &u32)| match input {
            Source::Taken(place) | Source::Kept(place) => core.stores[place].words(number),
            Source::Emptied(place) => {
                let store = &core.stores[place];
                let tokens = store.multisets().get(number).iter();
                let words = tokens.flat_map(|&(token, count)| std::iter::repeat_n(store.words(token), count as usize));
                format!("[{}]", words.collect::<Vec<_>>().join(", "))
            }
            Source::Free(_) => free[number as usize].clone(),
        };
        let binding = transition.inputs.iter().zip(&transition.words).zip(&binding).map(words).collect();
        Fired { transition: transition.name.clone(), binding, marking }
    }

    /// Returns the transition of each arc of a marking, with what it binds.
    pub(crate) fn fired_at(&mut self, marking: usize) -> Vec<(usize, Box<[u32]>)> {
        let width = self.net.core.places.len();
        let row = &self.rows[marking * width..][..width];
        let mut fired = Vec::with_capacity(self.begins[marking + 1] - self.begins[marking]);
        let seen = self.firing.successors(&mut self.net.core, row, |transition, effect: &Effect, _| {
            fired.push((transition, effect.binding.clone()));
            Ok::<(), Overflow>(())
        });
        assert!(seen.is_ok(), "what is explored fits");
        fired
    }
}
