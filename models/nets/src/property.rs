//! Properties of a net: what holds in all markings, and what every run comes to again and again.

use std::fmt;

use crate::net::Net;
use crate::space::{Fired, Marking, StateSpace};

/// The kind of a property.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum PropertyKind {
    /// It holds in all markings.
    Always,
    /// Every run that ends, or never ends, comes to a marking in which it holds, and again after each.
    Eventually,
}

/// A property of a net.
pub(crate) struct Property {
    pub(crate) name: String,
    pub(crate) kind: PropertyKind,
    pub(crate) holds: Box<dyn Fn(Marking<'_>) -> bool>,
}

impl fmt::Debug for Property {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, kind, .. } = self;
        formatter.debug_struct("Property").field("name", name).field("kind", kind).finish_non_exhaustive()
    }
}

/// A property, and what speaks against it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Checked {
    /// Its name.
    pub name: String,
    /// Its kind.
    pub kind: PropertyKind,
    /// The run that shows that it does not hold; `None` if it holds.
    pub witness: Option<Witness>,
}

/// A run of a net that shows something.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Witness {
    /// A shortest way to fire from the initial marking.
    pub firings: Vec<Fired>,
    /// The marking that it leads to, in words.
    pub marking: String,
    /// The firings that lead back to this marking, so that the run never ends; empty if it need not go on.
    pub cycle: Vec<Fired>,
}

impl<I: 'static, O: 'static> Net<I, O> {
    /// Adds a property that holds in all markings: an invariant.
    ///
    /// ```
    /// use simutant_nets::{Budget, Net};
    ///
    /// let mut net = Net::new("lock");
    /// let [free, held] = ["free", "held"].map(|name| net.place(name, (name == "free").then_some(())));
    /// net.transition("take", free.keep(), |()| Some(()), held.put()); // A mistake: it stays free.
    /// net.transition("give back", held.take(), |()| Some(()), ());
    /// net.always("held by one at most", move |marking| marking.count(held) <= 1);
    ///
    /// let mut space = net.explore(&Budget { markings: Some(10), bytes: None });
    /// assert!(space.is_err(), "it can be taken again and again");
    /// ```
    pub fn always(&mut self, name: impl Into<String>, holds: impl Fn(Marking<'_>) -> bool + 'static) {
        self.property(name.into(), PropertyKind::Always, Box::new(holds));
    }

    /// Adds a property that holds again and again in every run, and at the end of each that ends: "always eventually".
    ///
    /// A run that could go on does so, and nothing else is assumed: a cycle may be fired for ever, even where another
    /// transition is always enabled.
    pub fn eventually(&mut self, name: impl Into<String>, holds: impl Fn(Marking<'_>) -> bool + 'static) {
        self.property(name.into(), PropertyKind::Eventually, Box::new(holds));
    }

    fn property(&mut self, name: String, kind: PropertyKind, holds: Box<dyn Fn(Marking<'_>) -> bool>) {
        self.core.properties.push(Property { name, kind, holds });
    }
}

impl<I: 'static, O: 'static> StateSpace<I, O> {
    /// Checks the properties of the net.
    pub fn check(&mut self) -> Vec<Checked> {
        let properties = &self.net().core.properties;
        let lassos: Vec<_> = properties
            .iter()
            .map(|property| match property.kind {
                PropertyKind::Always => self.find(|marking| !(property.holds)(marking)).map(|at| (at, Vec::new())),
                PropertyKind::Eventually => self.avoiding(&property.holds).map(|lasso| (lasso.begin, lasso.cycle)),
            })
            .collect();
        let named: Vec<_> = properties.iter().map(|property| (property.name.clone(), property.kind)).collect();
        let checked = named.into_iter().zip(lassos).map(|((name, kind), lasso)| {
            let witness = lasso.map(|(begin, cycle)| self.witness(begin, &cycle));
            Checked { name, kind, witness }
        });
        checked.collect()
    }

    /// Returns a shortest run to a marking, and the cycle of arcs from there.
    pub(crate) fn witness(&mut self, marking: usize, cycle: &[(usize, usize)]) -> Witness {
        let firings = self.firings_to(marking);
        let cycle = cycle.iter().map(|&(from, arc)| self.firings(from).swap_remove(arc)).collect();
        Witness { firings, marking: self.marking(marking).to_string(), cycle }
    }
}
