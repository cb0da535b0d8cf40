//! The mutation operators. Each stands in a file of its own, with its definition and its source.
//!
//! An operator looks at one expression or statement and proposes changes. It needs no types: what does not type-check
//! is rejected by the compiler later. A new operator is one file and one line in [`all`].

mod arithmetic;
mod assignment;
mod conditional;
mod deletion;
mod literal;
mod negation;
mod relational;

use std::fmt::Debug;
use std::ops::Range;

use syn::spanned::Spanned;
use syn::{Block, Expr, Stmt};

pub(crate) use conditional::binds;

use crate::edit::Piece;

/// How many replacements an operator makes where it knows a smaller set that does as well.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Replacements {
    /// Only those that the others are subsumed by.
    #[default]
    Reduced,
    /// All that the operator defines.
    All,
}

/// When a mutant has another value or effect than the original.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Infection {
    /// Whenever it is reached, or that cannot be told.
    Reached,
    /// When its value differs; original and replacement have no effects, so both can be evaluated.
    Differs,
}

/// One proposed change.
#[derive(Debug, Clone)]
pub(crate) struct Change {
    /// What is replaced.
    pub(crate) range: Range<usize>,
    /// What stands there instead.
    pub(crate) replacement: Vec<Piece>,
    /// When it infects.
    pub(crate) infection: Infection,
    /// Whether it is made only if another change of the same operator and place does not compile.
    pub(crate) stands_in: bool,
}

impl Change {
    fn new(range: Range<usize>, replacement: Vec<Piece>, infection: Infection) -> Self {
        Self { range, replacement, infection, stands_in: false }
    }
}

/// A place that operators look at.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Place<'a> {
    /// An expression that is used for its value.
    Expression(&'a Expr),
    /// A condition of an `if`, `while` or guard that is neither a relation nor made of other conditions.
    Condition(&'a Expr),
    /// A statement in a block.
    Statement(&'a Stmt),
    /// The body of an arm, a branch or a loop, if it is a block.
    Body(&'a Block),
    /// The body of an arm, if it is not a block.
    ArmBody(&'a Expr),
    /// The whole condition of an `if` or a `while`, unless it binds by `let`.
    Decision(&'a Expr),
}

/// A mutation operator.
pub(crate) trait Operator: Debug + Sync {
    /// The short name that the literature uses, for example `ROR`.
    fn name(&self) -> &'static str;

    /// Returns the changes it makes at this place.
    fn changes(&self, place: Place<'_>, replacements: Replacements) -> Vec<Change>;
}

/// Returns all operators.
pub(crate) fn all() -> &'static [&'static dyn Operator] {
    &[
        &arithmetic::ArithmeticOperatorReplacement,
        &relational::RelationalOperatorReplacement,
        &conditional::ConditionalOperatorReplacement,
        &negation::ConditionNegation,
        &literal::LiteralValueReplacement,
        &deletion::StatementDeletion,
        &assignment::AssignmentOperatorReplacement,
    ]
}

/// Returns the bytes of a piece of syntax.
pub(crate) fn range_of(syntax: &impl Spanned) -> Range<usize> {
    syntax.span().byte_range()
}

/// Returns the expression as an operand: in parentheses, unless it binds tighter than every operator.
fn operand(expression: &Expr) -> Vec<Piece> {
    let source = Piece::Source(range_of(expression));
    let is_atom = matches!(
        expression,
        Expr::Path(_)
            | Expr::Lit(_)
            | Expr::Call(_)
            | Expr::MethodCall(_)
            | Expr::Field(_)
            | Expr::Index(_)
            | Expr::Paren(_)
            | Expr::Await(_)
            | Expr::Try(_)
            | Expr::Macro(_)
            | Expr::Tuple(_)
    );
    if is_atom { vec![source] } else { vec!["(".into(), source, ")".into()] }
}

/// Returns `left operator right`.
fn binary(left: &Expr, operator: &str, right: &Expr) -> Vec<Piece> {
    let mut pieces = operand(left);
    pieces.push(format!(" {operator} ").into());
    pieces.extend(operand(right));
    pieces
}

/// Returns [`Infection::Differs`] if all of the expressions can be evaluated once more without effects.
fn infection_of(expressions: &[&Expr]) -> Infection {
    if expressions.iter().all(|expression| crate::purity::is_pure(expression)) {
        Infection::Differs
    } else {
        Infection::Reached
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::Replacements;
    use crate::test_support::mutants;

    #[test]
    fn aor() {
        assert_snapshot!(mutants("fn f() { a + b * (c - d) / e % g(); }", Replacements::Reduced));
        assert_snapshot!(mutants("fn f() -> u32 { a + b }", Replacements::All));
    }

    #[test]
    fn ror() {
        assert_snapshot!(mutants("fn f() -> bool { a < b }", Replacements::Reduced));
        assert_snapshot!(mutants("fn f() -> bool { a == b + c }", Replacements::All));
    }

    #[test]
    fn cor_and_coi() {
        assert_snapshot!(mutants("fn f() { if a && !b.is_empty() || c(d) { return; } }", Replacements::Reduced));
        assert_snapshot!(mutants("fn f() { match x { y if z => (), _ => () } while !done {} }", Replacements::Reduced));
    }

    #[test]
    fn lvr() {
        assert_snapshot!(mutants("fn f() { g(0, 1u8, 7, true, 2.5, \"text\", [3; 9]); }", Replacements::Reduced));
    }

    #[test]
    fn sdl() {
        assert_snapshot!(mutants(
            "fn f() { a(); b.await; let c = d; if e { g(); h() } else { i(); j(); } for k in l { m(); } n = o; assert!(p); return; }",
            Replacements::Reduced
        ));
    }

    #[test]
    fn asr() {
        assert_snapshot!(mutants("fn f() { a += b; c &= d; e <<= g; h -= 1; }", Replacements::Reduced));
    }

    #[test]
    fn nothing_is_mutated_in_patterns_types_constants_and_macros() {
        assert_snapshot!(mutants(
            "fn f() { let a: [u8; 3] = b; match c { 1 => d, _ => e }; const G: u32 = 1 + 2; assert!(h < i); let j = |k: [u8; 4]| k; }",
            Replacements::Reduced
        ));
    }
}
