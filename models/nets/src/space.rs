//! The state space of a net: all markings that it can reach, and how.

use std::fmt;

use crate::Token;
use crate::arcs::{Place, Source};
use crate::explorer::{self, Budget, Each, Explorable, ExploreError, Rows};
use crate::firing::{Effect, Firing};
use crate::graph::{Lasso, StateGraph};
use crate::multiset::{Overflow, Store};
use crate::net::{Core, Net};

/// All markings that a net can reach, by breadth first: the initial one has the number 0.
///
/// An arc is a transition with what its inputs bind: two bindings that lead to one marking are two arcs.
#[derive(Debug)]
pub struct StateSpace<I = (), O = ()> {
    net: Net<I, O>,
    firing: Firing,
    /// By marking, the number of the multiset of each place.
    rows: Rows<u32>,
    graph: StateGraph,
    budget: Budget,
}

/// A transition that fired.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Fired {
    /// Its name.
    pub transition: String,
    /// The values that its inputs bound, in words.
    pub binding: Vec<String>,
    /// The number of the marking after it.
    pub marking: usize,
}

/// The transition with what it binds; tokens without a value, of type `()`, are left out.
impl fmt::Display for Fired {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let binding: Vec<&str> = self.binding.iter().map(String::as_str).filter(|word| *word != "()").collect();
        match &binding[..] {
            [] => formatter.write_str(&self.transition),
            binding => write!(formatter, "{}({})", self.transition, binding.join(", ")),
        }
    }
}

/// A marking of a net.
#[derive(Debug, Clone, Copy)]
pub struct Marking<'a> {
    pub(crate) net: &'a Core,
    pub(crate) row: &'a [u32],
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
        let mut firing = Firing::new(&self.core);
        let (rows, graph) = explorer::explore(&mut Numbered { core: &mut self.core, firing: &mut firing }, budget)?;
        Ok(StateSpace { net: self, firing, rows, graph, budget: *budget })
    }
}

impl Core {
    /// Returns about how many bytes the tokens and the contents of places take.
    fn bytes(&self) -> usize {
        self.stores.iter().map(Store::bytes).sum()
    }

    pub(crate) fn too_many(&self, Overflow { place }: Overflow) -> ExploreError {
        ExploreError::TooMany { what: format!("tokens, or contents, of `{}`", self.places[place].name) }
    }
}

/// A net whose markings are rows with the number of a multiset for each place.
struct Numbered<'a> {
    core: &'a mut Core,
    firing: &'a mut Firing,
}

/// The reason why an exploration ends early.
enum Stop {
    Overflow(Overflow),
    Other(ExploreError),
}

impl From<Overflow> for Stop {
    fn from(overflow: Overflow) -> Self {
        Self::Overflow(overflow)
    }
}

impl Explorable for Numbered<'_> {
    type Cell = u32;

    fn initial(&self) -> Vec<u32> {
        self.core.places.iter().map(|place| place.initial).collect()
    }

    fn successors(&mut self, marking: &[u32], each: &mut Each<'_, u32>) -> Result<(), ExploreError> {
        let explored = self.firing.successors(self.core, marking, |_, _, after| each(after).map_err(Stop::Other));
        explored.map_err(|stop| match stop {
            Stop::Overflow(overflow) => self.core.too_many(overflow),
            Stop::Other(error) => error,
        })
    }

    fn bytes(&self) -> usize {
        self.core.bytes() + self.firing.bytes()
    }

    fn grows(&self, _: &Rows<u32>) -> String {
        let contents = |place: &usize| self.core.stores[*place].multisets().len();
        let place = (0..self.core.places.len()).max_by_key(contents).unwrap_or(0);
        let multisets = self.core.stores[place].multisets();
        let tokens = (0..).take(multisets.len()).map(|number| multisets.size(number)).max().unwrap_or(0);
        let (contents, name) = (multisets.len(), &self.core.places[place].name);
        format!("the place `{name}` has had {contents} different contents, of up to {tokens} tokens")
    }
}

impl<I: 'static, O: 'static> StateSpace<I, O> {
    /// Returns the limit that is exceeded with so many bytes more, in words.
    pub(crate) fn limit_with(&self, bytes: usize) -> Option<String> {
        let own = self.net.core.bytes() + self.firing.bytes() + self.rows.bytes() + self.graph.bytes();
        self.budget.limit_of(self.graph.markings(), own + bytes)
    }

    /// Returns the net.
    pub fn net(&self) -> &Net<I, O> {
        &self.net
    }

    /// Returns the markings as numbers, and the arcs between them.
    pub fn graph(&self) -> &StateGraph {
        &self.graph
    }

    /// Returns a marking by its number.
    ///
    /// # Panics
    /// If there are not so many.
    pub fn marking(&self, number: usize) -> Marking<'_> {
        Marking { net: &self.net.core, row: self.rows.get(number) }
    }

    /// Returns the first marking, nearest to the initial one, of which something is true: the witness against an invariant.
    /// [`StateSpace::firings_to`] says how it is reached.
    pub fn find(&self, is_it: impl Fn(Marking<'_>) -> bool) -> Option<usize> {
        (0..self.graph.markings()).find(|&marking| is_it(self.marking(marking)))
    }

    /// Returns the least and the greatest number of tokens that a place has.
    ///
    /// # Panics
    /// If the place is one of another net.
    pub fn bounds<T: Token>(&self, place: Place<T>) -> (u64, u64) {
        assert_eq!(place.net, self.net.core.id, "the place is one of another net");
        self.bounds_of(place.number)
    }

    /// Returns the least and the greatest number of tokens of a place.
    pub(crate) fn bounds_of(&self, place: usize) -> (u64, u64) {
        let multisets = self.net.core.stores[place].multisets();
        let mut is_used = vec![false; multisets.len()];
        self.rows.iter().for_each(|row| is_used[row[place] as usize] = true);
        let sizes = (0..).zip(&is_used).filter(|(_, used)| **used).map(|(number, _)| multisets.size(number));
        sizes.fold((u64::MAX, 0), |(least, most), size| (least.min(size), most.max(size)))
    }

    /// Returns a run that is never again in a marking of which something is true: the witness against "always eventually".
    /// `None` if every run that cannot go on, or never ends, comes to such a marking again and again.
    pub fn avoiding(&self, is_goal: impl Fn(Marking<'_>) -> bool) -> Option<Lasso> {
        self.graph.avoiding(|number| is_goal(self.marking(number)))
    }

    /// Returns a shortest way to fire from the initial marking to another one.
    ///
    /// # Panics
    /// If there is no marking of this number.
    pub fn firings_to(&mut self, marking: usize) -> Vec<Fired> {
        let arcs = self.graph.way_to(marking);
        arcs.into_iter().map(|(from, arc)| self.firings(from).swap_remove(arc)).collect()
    }

    /// Returns what fires on each arc of a marking.
    ///
    /// # Panics
    /// If there is no marking of this number.
    pub fn firings(&mut self, marking: usize) -> Vec<Fired> {
        let all = self.fired_at(marking);
        let targets = self.graph.successors(marking).iter();
        let named = |(&target, (transition, binding)): (&u32, (usize, Box<[u32]>))| {
            fired(&self.net.core, transition, &binding, target as usize)
        };
        targets.zip(all).map(named).collect()
    }

    /// Returns the transition of each arc of a marking, with what it binds.
    pub(crate) fn fired_at(&mut self, marking: usize) -> Vec<(usize, Box<[u32]>)> {
        let row = self.rows.get(marking);
        let mut fired = Vec::with_capacity(self.graph.successors(marking).len());
        let seen = self.firing.successors(&mut self.net.core, row, |transition, effect: &Effect, _| {
            fired.push((transition, effect.binding.clone()));
            Ok::<(), Overflow>(())
        });
        assert!(seen.is_ok(), "what is explored fits");
        fired
    }
}

/// Returns a transition that fired, and led to a marking of this number, in words.
pub(crate) fn fired(core: &Core, transition: usize, binding: &[u32], marking: usize) -> Fired {
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
    let binding = transition.inputs.iter().zip(&transition.words).zip(binding).map(words).collect();
    Fired { transition: transition.name.clone(), binding, marking }
}
