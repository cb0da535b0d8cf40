//! Decisions made of several conditions, for MC/DC.
//!
//! The form is masking MC/DC (Chilenski, DOT/FAA/AR-01/18, 2001) with short circuits: a condition is shown to decide
//! when an evaluation in which it is true and one in which it is false each have the outcome because of it, whatever
//! the other conditions are in them. In `!`, `&&` and `||` a condition is the reason of the outcome if at each operator
//! around it the other operand, where it is evaluated, leaves the outcome to it. Then any two such evaluations with
//! different values of the condition have different outcomes, so they are an independence pair: to cover both values of
//! a condition, each for itself, is the same as to cover a pair. So every requirement is covered by a single
//! evaluation.

use std::ops::Range;

use syn::{BinOp, Expr, UnOp};

use crate::syntax::parts::range_of;
use crate::syntax::purity::is_short_circuit;

/// Decisions with more conditions are not looked at.
const CONDITIONS_MAX: usize = 10;

/// A decision.
#[derive(Debug, Clone)]
pub(crate) struct DecisionSite {
    pub(crate) range: Range<usize>,
    tree: Tree,
    pub(crate) conditions: Vec<ConditionSite>,
}

/// One of its conditions.
#[derive(Debug, Clone)]
pub(crate) struct ConditionSite {
    pub(crate) range: Range<usize>,
    expression: Expr,
    /// The branches that it takes if it is true and if it is false, once they are known.
    pub(crate) branches: Option<(usize, usize)>,
}

#[derive(Debug, Clone)]
enum Tree {
    Condition(usize),
    Not(Box<Self>),
    And(Box<Self>, Box<Self>),
    Or(Box<Self>, Box<Self>),
}

/// One way to evaluate a decision.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Evaluation {
    /// The conditions that are evaluated, with their values.
    pub(crate) values: Vec<(usize, bool)>,
    outcome: bool,
    /// Those of them that are the reason of the outcome.
    pub(crate) decisive: Vec<usize>,
}

impl DecisionSite {
    /// Returns the decision that an expression makes; `None` if it has too many conditions.
    pub(crate) fn new(condition: &Expr) -> Option<Self> {
        let mut conditions = Vec::new();
        let tree = tree(condition, &mut conditions);
        (conditions.len() <= CONDITIONS_MAX).then(|| Self { range: range_of(condition), tree, conditions })
    }

    /// Returns whether a condition occurs once more.
    pub(crate) fn is_coupled(&self, condition: usize) -> bool {
        let expression = &self.conditions[condition].expression;
        self.conditions.iter().filter(|other| other.expression == *expression).count() > 1
    }

    /// Returns, for each condition and each of its values, true first, the branch that tells whether it has decided:
    /// one that ends the evaluation wherever it is taken, and is taken in all evaluations in which that condition
    /// decides with that value, and in no others. `None` where no branch does.
    pub(crate) fn decisive_branches(&self) -> Vec<Option<usize>> {
        let evaluations = self.evaluations();
        let has = |evaluation: &Evaluation, condition, value| evaluation.values.contains(&(condition, value));
        // For each branch of a condition that ends all evaluations it is taken in, which these are.
        let mut ends: Vec<(usize, Vec<bool>)> = Vec::new();
        for (condition, site) in self.conditions.iter().enumerate() {
            let Some((holds, fails)) = site.branches else { continue };
            for (value, branch) in [(true, holds), (false, fails)] {
                let taken: Vec<bool> = evaluations.iter().map(|evaluation| has(evaluation, condition, value)).collect();
                let last = |evaluation: &Evaluation| evaluation.values.last() == Some(&(condition, value));
                if evaluations.iter().map(last).eq(taken.iter().copied()) {
                    ends.push((branch, taken));
                }
            }
        }
        let requirements = (0..self.conditions.len()).flat_map(|condition| [(condition, true), (condition, false)]);
        let branch = |(condition, value)| {
            let decides =
                |evaluation: &Evaluation| has(evaluation, condition, value) && evaluation.decisive.contains(&condition);
            let covering: Vec<bool> = evaluations.iter().map(decides).collect();
            ends.iter().find(|(_, taken)| *taken == covering).map(|(branch, _)| *branch)
        };
        requirements.map(branch).collect()
    }

    /// Returns all ways to evaluate it.
    pub(crate) fn evaluations(&self) -> Vec<Evaluation> {
        evaluations(&self.tree)
    }
}

fn tree(condition: &Expr, conditions: &mut Vec<ConditionSite>) -> Tree {
    match condition {
        Expr::Paren(inner) => tree(&inner.expr, conditions),
        Expr::Unary(inner) if matches!(inner.op, UnOp::Not(_)) => Tree::Not(Box::new(tree(&inner.expr, conditions))),
        Expr::Binary(inner) if is_short_circuit(&inner.op) => {
            let left = Box::new(tree(&inner.left, conditions));
            let right = Box::new(tree(&inner.right, conditions));
            if matches!(inner.op, BinOp::And(_)) { Tree::And(left, right) } else { Tree::Or(left, right) }
        }
        _ => {
            conditions.push(ConditionSite {
                range: range_of(condition),
                expression: condition.clone(),
                branches: None,
            });
            Tree::Condition(conditions.len() - 1)
        }
    }
}

fn evaluations(tree: &Tree) -> Vec<Evaluation> {
    match tree {
        Tree::Condition(condition) => [false, true]
            .map(|value| Evaluation { values: vec![(*condition, value)], outcome: value, decisive: vec![*condition] })
            .to_vec(),
        Tree::Not(inner) => evaluations(inner)
            .into_iter()
            .map(|evaluation| Evaluation { outcome: !evaluation.outcome, ..evaluation })
            .collect(),
        Tree::And(left, right) => short_circuit(left, right, false),
        Tree::Or(left, right) => short_circuit(left, right, true),
    }
}

/// `decided`: the value of the left operand that decides without the right one.
fn short_circuit(left: &Tree, right: &Tree, decided: bool) -> Vec<Evaluation> {
    let rights = evaluations(right);
    let mut all = Vec::new();
    for left in evaluations(left) {
        if left.outcome == decided {
            all.push(left);
            continue;
        }
        for right in &rights {
            let mut decisive = right.decisive.clone();
            if right.outcome != decided {
                decisive.extend(&left.decisive);
            }
            let values = left.values.iter().chain(&right.values).copied().collect();
            all.push(Evaluation { values, outcome: right.outcome, decisive });
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decision(source: &str) -> DecisionSite {
        let condition: Expr = syn::parse_str(source).expect("the test's own source");
        DecisionSite::new(&condition).expect("it is small")
    }

    #[track_caller]
    fn check(source: &str, expect: &[&str]) {
        let decision = decision(source);
        let shown = decision.evaluations().into_iter().map(|evaluation| {
            let value_of = |condition| evaluation.values.iter().find(|(known, _)| *known == condition);
            let values = (0..decision.conditions.len()).map(|condition| match value_of(condition) {
                Some((_, value)) if evaluation.decisive.contains(&condition) => {
                    if *value {
                        'T'
                    } else {
                        'F'
                    }
                }
                Some((_, value)) => {
                    if *value {
                        't'
                    } else {
                        'f'
                    }
                }
                None => '-',
            });
            values.collect::<String>()
        });
        assert_eq!(shown.collect::<Vec<_>>(), expect, "{source}");
    }

    #[test]
    fn capitals_decide() {
        check("a", &["F", "T"]);
        check("a && b", &["F-", "tF", "TT"]);
        check("a || !b", &["fF", "FT", "T-"]);
        check("a && (b || c)", &["F--", "tFF", "TfT", "TT-"]);
        check("(a || b) && c", &["FF-", "ftF", "fTT", "t-F", "T-T"]);
    }

    /// What the definition of masking MC/DC says, by trying all values: a condition decides in an evaluation if some
    /// values of the conditions that are not evaluated make the outcome change with it.
    #[test]
    fn what_decides_is_what_can_change_the_outcome() {
        for source in
            ["a && b", "a || b && c", "!(a && b) || c && !d", "(a || b) && (c || d)", "a && (b || c && d) || e"]
        {
            let decision = decision(source);
            let count = decision.conditions.len();
            for evaluation in decision.evaluations() {
                for &(condition, _) in &evaluation.values {
                    let can_change = (0..1_u32 << count).any(|bits| {
                        let of = |index: usize| bits >> index & 1 == 1;
                        evaluation.values.iter().all(|&(known, value)| of(known) == value)
                            && value_of(&decision.tree, bits) != value_of(&decision.tree, bits ^ 1 << condition)
                    });
                    let decides = evaluation.decisive.contains(&condition);
                    assert_eq!(decides, can_change, "{source}: {evaluation:?}, condition {condition}");
                }
            }
        }
    }

    fn value_of(tree: &Tree, bits: u32) -> bool {
        match tree {
            Tree::Condition(condition) => bits >> condition & 1 == 1,
            Tree::Not(inner) => !value_of(inner, bits),
            Tree::And(left, right) => value_of(left, bits) && value_of(right, bits),
            Tree::Or(left, right) => value_of(left, bits) || value_of(right, bits),
        }
    }

    #[test]
    fn a_branch_tells_what_decides_where_it_can() {
        // Branches are numbered by condition, true first; none of the ways through `a || b && c` tells that `a` is
        // false and decides, since two do.
        let all: &[(&str, &[Option<usize>])] = &[
            ("a", &[Some(0), Some(1)]),
            ("a && b", &[Some(2), Some(1), Some(2), Some(3)]),
            ("a || !b", &[Some(0), Some(2), Some(2), Some(3)]),
            ("a || b && c", &[Some(0), None, Some(4), Some(3), Some(4), Some(5)]),
            ("(a || b) && c", &[None, Some(3), None, Some(3), Some(4), Some(5)]),
        ];
        for (source, expect) in all {
            let mut decision = decision(source);
            for (number, condition) in decision.conditions.iter_mut().enumerate() {
                condition.branches = Some((2 * number, 2 * number + 1));
            }
            assert_eq!(decision.decisive_branches(), *expect, "{source}");
            decision.conditions[0].branches = None;
            assert!(decision.decisive_branches().iter().flatten().all(|branch| *branch > 1), "{source}");
        }
    }

    #[test]
    fn equal_conditions_are_coupled() {
        let decision = decision("a && b || !a && c");
        assert_eq!([0, 1, 2, 3].map(|condition| decision.is_coupled(condition)), [true, false, true, false]);
    }
}
