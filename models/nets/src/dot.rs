//! Nets and state spaces in the language of Graphviz.

use std::fmt::Write;

use crate::arcs::Source;
use crate::net::Net;
use crate::space::StateSpace;

/// Returns a text in the quotes of DOT, in which a backslash begins an escape and `\n` a line.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}

impl<I: 'static, O: 'static> Net<I, O> {
    /// Returns the net as a graph in DOT: places are ellipses with the number of their initial tokens, transitions boxes. A
    /// test arc has no head, an inhibitor arc a circle, and an arc that takes all tokens two heads.
    ///
    /// ```
    /// use simutant_nets::Net;
    ///
    /// let mut net = Net::new("relay");
    /// let from = net.place("from", [1, 2]);
    /// let to = net.place::<i32>("to", []);
    /// net.transition("move", from.take(), |token| Some(token), to.put()).unless_marked(to);
    /// let dot = net.dot();
    /// assert!(dot.contains("p0 [label=\"from\\n2\"];"), "{dot}");
    /// assert!(dot.contains("p0 -> t0;") && dot.contains("t0 -> p1;"), "{dot}");
    /// assert!(dot.contains("p1 -> t0 [arrowhead=odot];"), "{dot}");
    /// ```
    pub fn dot(&self) -> String {
        let mut dot = format!("digraph {} {{\n", quoted(self.name()));
        for (number, (place, store)) in self.core.places.iter().zip(&self.core.stores).enumerate() {
            let label = match store.multisets().size(place.initial) {
                0 => place.name.clone(),
                count => format!("{}\n{count}", place.name),
            };
            // Writing to a string does not fail.
            _ = writeln!(dot, "  p{number} [label={}];", quoted(&label));
        }
        for (number, transition) in self.core.transitions.iter().enumerate() {
            _ = writeln!(dot, "  t{number} [shape=box, label={}];", quoted(&transition.name));
            for input in &transition.inputs {
                _ = match *input {
                    Source::Taken(place) => writeln!(dot, "  p{place} -> t{number};"),
                    Source::Kept(place) => writeln!(dot, "  p{place} -> t{number} [arrowhead=none];"),
                    Source::Emptied(place) => writeln!(dot, "  p{place} -> t{number} [arrowhead=normalnormal];"),
                    Source::Free(_) => Ok(()),
                };
            }
            for place in &transition.inhibitors {
                _ = writeln!(dot, "  p{place} -> t{number} [arrowhead=odot];");
            }
            for place in &transition.outputs {
                _ = writeln!(dot, "  t{number} -> p{place};");
            }
        }
        dot.push_str("}\n");
        dot
    }
}

impl<I: 'static, O: 'static> StateSpace<I, O> {
    /// Returns the state space as a graph in DOT: a box for each marking, with its tokens, dead ones with a double line; an
    /// arc has its transition with what it binds. More than some hundred markings are not readable.
    pub fn dot(&mut self) -> String {
        let mut dot = format!("digraph {} {{\n  node [shape=box];\n", quoted(self.net().name()));
        for marking in 0..self.graph().markings() {
            let text = self.marking(marking).to_string().replace("; ", "\n");
            let dead = if self.graph().successors(marking).is_empty() { ", peripheries=2" } else { "" };
            _ = writeln!(dot, "  m{marking} [label={}{dead}];", quoted(&format!("{marking}\n{text}")));
            for fired in self.firings(marking) {
                _ = writeln!(dot, "  m{marking} -> m{} [label={}];", fired.marking, quoted(&fired.to_string()));
            }
        }
        dot.push_str("}\n");
        dot
    }
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
        let dot = net.explore(&Budget::default()).expect("it is small").dot();
        let expect = r#"digraph "\"n\"" {
  node [shape=box];
  m0 [label="0\na\\b: \"x\\\"y\""];
  m0 -> m1 [label="go(\"x\\\"y\", 1)"];
  m0 -> m2 [label="go(\"x\\\"y\", 2)"];
  m1 [label="1\nend: 1", peripheries=2];
  m2 [label="2\nend: 2", peripheries=2];
}
"#;
        assert_eq!(dot, expect);
    }
}
