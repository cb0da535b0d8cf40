//! The state space of a net: all markings that it can reach, in words, and what fires.

use std::fmt;

use simutant_nets::{Budget, ExploreError, Fired, Rows, StateGraph, explore};

use crate::net::NetKind;
use crate::packed::Packed;
use crate::term::Type;
use crate::unfold::Unfolded;

/// All markings that a net can reach, by breadth first: the initial one has the number 0.
///
/// An arc is a transition with a binding: two bindings that lead to one marking are two arcs.
#[derive(Debug)]
pub struct StateSpace {
    unfolded: Unfolded,
    packed: Packed,
    rows: Rows<u8>,
    graph: StateGraph,
}

/// A marking of a net.
#[derive(Debug, Clone)]
pub struct Marking<'a> {
    net: &'a Unfolded,
    counts: Vec<u64>,
}

impl Marking<'_> {
    /// Returns the tokens: the number of the place in [`PnmlNet::places`](crate::PnmlNet::places), the colour in words,
    /// and how many of it there are.
    pub fn tokens(&self) -> impl Iterator<Item = (usize, String, u64)> {
        let marked = self.net.places.iter().zip(&self.counts).filter(|(_, count)| **count > 0);
        marked.map(|(place, &count)| {
            let colours = &self.net.net.places[place.place].colours;
            (place.place, colours.words(&self.net.net, place.colour), count)
        })
    }
}

/// The places that have tokens, with these, such as `waiting: (1, a); idle: 2 x 3`.
impl fmt::Display for Marking<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let net = &self.net.net;
        let names = net.places();
        let mut last = None;
        for (place, colour, count) in self.tokens() {
            match last.replace(place) {
                None => write!(formatter, "{}: ", names[place])?,
                Some(before) if before == place => write!(formatter, ", ")?,
                Some(_) => write!(formatter, "; {}: ", names[place])?,
            }
            match (net.kind, &net.places[place].colours, count) {
                (NetKind::PlaceTransition, Type::Dot, _) => write!(formatter, "{count}")?,
                (_, _, 1) => write!(formatter, "{colour}")?,
                _ => write!(formatter, "{count} x {colour}")?,
            }
        }
        Ok(())
    }
}

impl Unfolded {
    /// Returns all markings that the net can reach.
    ///
    /// # Errors
    /// [`ExploreError`] if the budget runs out, or if a place has more than 2^32 - 1 tokens of a colour. There is no
    /// state space of a part of the markings.
    pub fn explore(self, budget: &Budget) -> Result<StateSpace, ExploreError> {
        let mut packed = Packed::new(&self);
        packed.check_initial()?;
        loop {
            match explore(&mut packed, budget) {
                Ok((rows, graph)) => return Ok(StateSpace { unfolded: self, packed, rows, graph }),
                Err(error) if !packed.widen() => return Err(error),
                Err(_) => {}
            }
        }
    }
}

impl StateSpace {
    /// Returns the net that was explored.
    pub fn unfolded(&self) -> &Unfolded {
        &self.unfolded
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
        Marking { net: &self.unfolded, counts: self.packed.counts(self.rows.get(number)) }
    }

    /// Returns the least and the greatest number of tokens that each place has, in the order of
    /// [`PnmlNet::places`](crate::PnmlNet::places).
    pub fn bounds(&self) -> Vec<(u64, u64)> {
        self.packed.bounds(&self.rows, self.unfolded.net.places.len())
    }

    /// Returns on how many arcs each transition fires, in the order of
    /// [`PnmlNet::transitions`](crate::PnmlNet::transitions).
    pub(crate) fn fired_arcs(&mut self) -> Vec<usize> {
        let mut arcs = vec![0; self.unfolded.net.transitions.len()];
        for row in self.rows.iter() {
            let fired = self.packed.fire(row, |number, _| {
                arcs[self.unfolded.transitions[number].transition] += 1;
                Ok(())
            });
            assert_eq!(fired, Ok(()), "what is explored fits");
        }
        arcs
    }

    /// Returns how many bytes of a row hold a marking.
    pub fn marking_bytes(&self) -> usize {
        self.rows.get(0).len()
    }

    /// Returns what fires on each arc of a marking; a binding says `x = 1` of each variable.
    ///
    /// # Panics
    /// If there is no marking of this number.
    pub fn firings(&mut self, marking: usize) -> Vec<Fired> {
        let mut numbers = Vec::new();
        let fired = self.packed.fire(self.rows.get(marking), |number, _| {
            numbers.push(number);
            Ok(())
        });
        assert_eq!(fired, Ok(()), "what is explored fits");
        let names = self.unfolded.net.transitions();
        let targets = self.graph.successors(marking).iter();
        let fired = targets.zip(numbers).map(|(&target, number)| {
            let fired = &self.unfolded.transitions[number];
            let transition = names[fired.transition].to_owned();
            let binding =
                self.unfolded.binding_words(fired).into_iter().map(|(name, value)| format!("{name} = {value}"));
            Fired { transition, binding: binding.collect(), marking: target as usize }
        });
        fired.collect()
    }

    /// Returns a shortest way to fire from the initial marking to another one.
    ///
    /// # Panics
    /// If there is no marking of this number.
    pub fn firings_to(&mut self, marking: usize) -> Vec<Fired> {
        let arcs = self.graph.way_to(marking);
        arcs.into_iter().map(|(from, arc)| self.firings(from).swap_remove(arc)).collect()
    }
}
