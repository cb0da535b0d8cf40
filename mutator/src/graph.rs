//! Control-flow graphs of functions, and the probes that measure their blocks and branches.
//!
//! A graph is made from syntax alone: short circuits, `match` arms and guards, `?`, loops with labels, early exits and
//! await points end basic blocks. Joins without code of their own are left out, so every block has code that a report
//! can show. The requirements of all-blocks are the blocks; those of all-branches are the edges that leave a decision
//! (Frankl and Weyuker, IEEE TSE 1988). The body of a closure or `async` block is a part of its function's graph,
//! entered from the block that makes it.
//!
//! Departures, each because the syntax leaves no place for a probe: in a condition that chains several `let`s, the
//! failures of the single patterns are one branch, that of the whole chain; code after a `return`, `break` or
//! `continue` in the same block is not a requirement.

mod bindings;
mod blocks;
mod decision;
mod events;
mod lower;
mod sites;
mod walk;

pub(crate) use bindings::bindings;
pub(crate) use blocks::{BlockId, Edge, Graph};
pub(crate) use events::{Action, Anchor, Birth, EventId, Flow, VariableKind, Wrapped};
pub(crate) use lower::{Lowered, lower};
pub(crate) use sites::{ProbeSite, Side};
#[cfg(test)]
pub(crate) use {
    blocks::BasicBlock,
    events::{Event, Variable},
};

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use crate::test_support::requirements;

    #[test]
    fn a_join_without_code_is_no_block() {
        assert_snapshot!(requirements("fn f() { while a { if b { c(); } } }"));
    }

    #[test]
    fn short_circuits_are_decisions() {
        assert_snapshot!(requirements("fn f() { if a && !(b || c) { d(); } else if e { g() } let h = a || b; }"));
    }

    #[test]
    fn arms_guards_and_patterns_are_decisions() {
        assert_snapshot!(requirements(
            "fn f() { match a { X => b(), Y if c => {} _ => { d(); e() } } if let Some(g) = h { i() } match j { k => l } }"
        ));
    }

    #[test]
    fn loops_have_heads_and_ways_out() {
        assert_snapshot!(requirements(
            "fn f() { 'a: loop { for b in c { if d { continue 'a; } if e { break; } g() } if h { break; } } while let Some(i) = j() { k() } }"
        ));
    }

    #[test]
    fn question_marks_awaits_and_early_returns_end_blocks() {
        assert_snapshot!(requirements(
            "async fn f() { let a = b()?; c(d().await, e); let Some(g) = h else { return 1; }; if i { return 2; } j(); return 3; k() }"
        ));
    }

    #[test]
    fn closures_and_chains_of_patterns() {
        assert_snapshot!(requirements(
            "fn f() { a.map(|b| b + 1); if let Some(c) = d && e && let Some(g) = h() { i } else { j } }"
        ));
    }
}
