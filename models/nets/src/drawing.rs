//! Nets and state spaces as what can be drawn.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

use crate::arcs::Source;
use crate::net::Net;
use crate::space::{Fired, StateSpace};

/// A state space that can be drawn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drawing {
    /// The name of the net.
    pub net: String,
    /// The markings, in words.
    pub markings: Vec<String>,
    /// The arcs: from a marking to another one, and what fires.
    pub arcs: Vec<(usize, usize, String)>,
}

/// A net that can be drawn.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Structure {
    /// The name of the net.
    pub net: String,
    /// The places, with how many tokens they have at first.
    pub places: Vec<(String, u64)>,
    /// The transitions.
    pub transitions: Vec<String>,
    /// The arcs.
    pub arcs: Vec<NetArc>,
}

/// An arc between a place and a transition.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetArc {
    /// The number of the place.
    pub place: usize,
    /// The number of the transition.
    pub transition: usize,
    /// The kind.
    pub kind: ArcKind,
}

/// The kind of an arc of a net.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ArcKind {
    /// The transition takes a token.
    Take,
    /// The transition needs a token, which stays.
    Test,
    /// The transition takes all tokens.
    TakeAll,
    /// The transition fires only while the place is empty.
    Inhibitor,
    /// The transition puts tokens.
    Put,
}

impl<I: 'static, O: 'static> Net<I, O> {
    /// Returns the places, the transitions, and the arcs between them.
    ///
    /// ```
    /// use simutant_nets::Net;
    ///
    /// let mut net = Net::new("relay");
    /// let from = net.place("from", [1, 2]);
    /// let to = net.place::<i32>("to", []);
    /// net.transition("move", from.take(), |token| Some(token), to.put()).unless_marked(to);
    /// let dot = net.structure().dot();
    /// assert!(dot.contains("p0 [label=\"from\\n2\"];"), "{dot}");
    /// assert!(dot.contains("p0 -> t0;") && dot.contains("t0 -> p1;"), "{dot}");
    /// assert!(dot.contains("p1 -> t0 [arrowhead=odot];"), "{dot}");
    /// ```
    pub fn structure(&self) -> Structure {
        let core = &self.core;
        let tokens = core.places.iter().zip(&core.stores);
        let places = tokens.map(|(place, store)| (place.name.clone(), store.multisets().size(place.initial))).collect();
        let mut arcs = Vec::new();
        for (transition, it) in core.transitions.iter().enumerate() {
            let mut arc = |place, kind| arcs.push(NetArc { place, transition, kind });
            for input in &it.inputs {
                match *input {
                    Source::Taken(place) => arc(place, ArcKind::Take),
                    Source::Kept(place) => arc(place, ArcKind::Test),
                    Source::Emptied(place) => arc(place, ArcKind::TakeAll),
                    Source::Free(_) => {}
                }
            }
            it.inhibitors.iter().for_each(|&place| arc(place, ArcKind::Inhibitor));
            it.outputs.iter().for_each(|&place| arc(place, ArcKind::Put));
        }
        let transitions = core.transitions.iter().map(|transition| transition.name.clone()).collect();
        Structure { net: self.name().to_owned(), places, transitions, arcs }
    }
}

impl<I: 'static, O: 'static> StateSpace<I, O> {
    /// Returns all markings and arcs in words. More than some hundred markings are not readable.
    pub fn drawing(&mut self) -> Drawing {
        let markings = (0..self.graph().markings()).map(|number| self.marking(number).to_string()).collect();
        Drawing::new(self.net().name().to_owned(), markings, |marking| self.firings(marking))
    }
}

impl Drawing {
    /// Returns the drawing of markings, and of what fires at each of them.
    pub fn new(net: String, markings: Vec<String>, mut firings: impl FnMut(usize) -> Vec<Fired>) -> Self {
        let mut arcs = Vec::new();
        for marking in 0..markings.len() {
            arcs.extend(firings(marking).iter().map(|fired| (marking, fired.marking, fired.to_string())));
        }
        Self { net, markings, arcs }
    }
}

impl Structure {
    /// Returns the net as a graph for Graphviz: places are ellipses with the number of their initial tokens, transitions
    /// boxes. A test arc has no head, an inhibitor arc a circle, and an arc that takes all tokens two heads.
    pub fn dot(&self) -> String {
        let mut dot = format!("digraph {} {{\n", quoted(&self.net));
        // Writing to a string does not fail.
        for (number, (name, tokens)) in self.places.iter().enumerate() {
            let label = if *tokens == 0 { name.clone() } else { format!("{name}\n{tokens}") };
            _ = writeln!(dot, "  p{number} [label={}];", quoted(&label));
        }
        for (number, name) in self.transitions.iter().enumerate() {
            _ = writeln!(dot, "  t{number} [shape=box, label={}];", quoted(name));
        }
        for NetArc { place, transition, kind } in &self.arcs {
            _ = match kind {
                ArcKind::Take => writeln!(dot, "  p{place} -> t{transition};"),
                ArcKind::Test => writeln!(dot, "  p{place} -> t{transition} [arrowhead=none];"),
                ArcKind::TakeAll => writeln!(dot, "  p{place} -> t{transition} [arrowhead=normalnormal];"),
                ArcKind::Inhibitor => writeln!(dot, "  p{place} -> t{transition} [arrowhead=odot];"),
                ArcKind::Put => writeln!(dot, "  t{transition} -> p{place};"),
            };
        }
        dot.push_str("}\n");
        dot
    }
}

impl Drawing {
    /// Returns the state space as a graph for Graphviz: a box for each marking, with its tokens, dead ones with a double
    /// line; an arc has its transition with what it binds.
    pub fn dot(&self) -> String {
        let mut dot = format!("digraph {} {{\n  node [shape=box];\n", quoted(&self.net));
        let mut is_dead = vec![true; self.markings.len()];
        self.arcs.iter().for_each(|&(from, _, _)| is_dead[from] = false);
        for (number, (marking, is_dead)) in self.markings.iter().zip(is_dead).enumerate() {
            let dead = if is_dead { ", peripheries=2" } else { "" };
            let label = quoted(&format!("{number}\n{}", marking.replace("; ", "\n")));
            _ = writeln!(dot, "  m{number} [label={label}{dead}];");
        }
        for (from, to, fired) in &self.arcs {
            _ = writeln!(dot, "  m{from} -> m{to} [label={}];", quoted(fired));
        }
        dot.push_str("}\n");
        dot
    }
}

/// Returns a text in the quotes of DOT, in which a backslash begins an escape and `\n` a line.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

#[cfg(test)]
mod tests {
    use crate::{Budget, Net, any};

    #[test]
    fn a_state_space_is_drawn_with_names_that_have_quotes() {
        let mut net = Net::new("\"n\"");
        let place = net.place("a\\b", ["x\"y"]);
        let end = net.place::<u8>("end", []);
        net.transition("go", (place.take(), any([1, 2])), |_, number| Some(number), end.put());
        let dot = net.explore(&Budget::default()).expect("it is small").drawing().dot();
        let expect = r#"digraph "\"n\"" {
  node [shape=box];
  m0 [label="0\na\\b: \"x\\\"y\""];
  m1 [label="1\nend: 1", peripheries=2];
  m2 [label="2\nend: 2", peripheries=2];
  m0 -> m1 [label="go(\"x\\\"y\", 1)"];
  m0 -> m2 [label="go(\"x\\\"y\", 2)"];
}
"#;
        assert_eq!(dot, expect);
    }
}
