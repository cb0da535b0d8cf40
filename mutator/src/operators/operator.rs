//! What an operator is: what it looks at, what it may know, what it proposes.

use std::collections::BTreeSet;
use std::ops::Range;

use simutant_outcomes::{Class, Tier};
use syn::spanned::Spanned;
use syn::{Arm, Block, Expr, ExprForLoop, Signature, Stmt};

use super::pieces::{call_name, last_name};
use super::spawner::Spawner;
use crate::syntax::declarations::Scope;
use crate::syntax::names::{Kind, Names};
use crate::syntax::parts::range_of;
use crate::syntax::purity::is_pure;
use crate::syntax::types::{Types, bare};
use crate::text::edit::Piece;

/// A mutation operator.
#[derive(Debug)]
pub(crate) struct Operator {
    /// The short name that the literature uses, for example `ROR`.
    pub(crate) name: &'static str,
    /// How it is chosen.
    pub(crate) tier: Tier,
    /// What its mutants are about.
    pub(crate) class: Class,
    /// Returns the changes it makes at a place.
    pub(crate) changes: fn(Place<'_>, &Context<'_>) -> Vec<Change>,
}

/// Which replacements an operator makes where the literature has several sets of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Replacements {
    /// Only those that subsume the others.
    #[default]
    Reduced,
    /// All that the operator can make.
    All,
    /// Those of Andrews, Briand and Labiche (ICSE 2005).
    Andrews,
    /// Those of muJava's source.
    MuJava,
}

/// When a mutant has another value or effect than the original.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Infection {
    /// Whenever it is reached, or that cannot be told.
    Reached,
    /// When its value differs; original and replacement have no effects, so both can be evaluated.
    Differs,
}

/// Returns [`Infection::Differs`] if all of the expressions can be evaluated once more without effects.
pub(super) fn infection_of(expressions: &[&Expr]) -> Infection {
    if expressions.iter().all(|expression| is_pure(expression)) { Infection::Differs } else { Infection::Reached }
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
    /// Whether original and mutant have different types, so that the choice between them is made farther out: between
    /// two copies of the loop or of the chain of calls around the place.
    pub(crate) is_around: bool,
    /// Whether its value is always the opposite of the original's: where a condition is negated already, it is not made
    /// again.
    pub(crate) is_negation: bool,
}

impl Change {
    pub(crate) fn new(range: Range<usize>, replacement: Vec<Piece>, infection: Infection) -> Self {
        Self { range, replacement, infection, stands_in: false, is_around: false, is_negation: false }
    }

    /// Returns a change that infects wherever it is reached.
    pub(super) fn at(range: Range<usize>, replacement: Vec<Piece>) -> Self {
        Self::new(range, replacement, Infection::Reached)
    }

    pub(super) fn standing_in(self) -> Self {
        Self { stands_in: true, ..self }
    }

    pub(super) fn around(self) -> Self {
        Self { is_around: true, infection: Infection::Reached, ..self }
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
    /// The guard of an arm, unless it binds by `let`.
    Guard(&'a Expr),
    /// An arm without a guard, and the arm that takes everything which comes to it.
    Arm(&'a Arm, &'a Arm),
    /// A `for` loop.
    Loop(&'a ExprForLoop),
    /// An expression that the function returns.
    Value(&'a Expr),
    /// A `break` or `continue` without a value.
    Jump(&'a Expr),
}

/// What operators may know beside a place.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Context<'a> {
    /// The text of the file.
    pub(crate) text: &'a str,
    /// The signature of the function.
    pub(crate) signature: &'a Signature,
    /// What the package declares, as names in the function stand for it.
    pub(crate) scope: &'a Scope<'a>,
    /// What names are for.
    pub(crate) names: &'a Names,
    /// The types that can be read off the text.
    pub(crate) types: &'a Types<'a>,
    /// Whether the expression at the place is to be an unsigned number: it is put into, or compared or combined with,
    /// one.
    pub(crate) is_unsigned: bool,
    /// The labels of blocks that are no loops.
    pub(crate) block_labels: &'a BTreeSet<String>,
    /// How the function starts tasks, if it does.
    pub(crate) spawner: Option<&'a Spawner>,
    /// Which replacements are asked for.
    pub(crate) replacements: Replacements,
}

impl Context<'_> {
    /// Returns the text of a piece of syntax.
    pub(super) fn text_of(&self, syntax: &impl Spanned) -> &str {
        &self.text[range_of(syntax)]
    }

    /// Whether the last name in an expression has a word of this kind.
    pub(super) fn has_word(&self, kind: Kind, expression: &Expr) -> bool {
        last_name(expression).is_some_and(|name| self.names.has_word(kind, &name))
    }

    /// Whether an expression calls something of this kind.
    pub(super) fn is_call(&self, kind: Kind, expression: &Expr) -> bool {
        call_name(expression).is_some_and(|name| self.names.is(kind, &name))
    }

    /// Whether an expression is the time.
    pub(super) fn is_now(&self, expression: &Expr) -> bool {
        match expression {
            Expr::MethodCall(call) => call.args.is_empty() && self.names.is(Kind::Now, &call.method.to_string()),
            Expr::Call(call) => call.args.is_empty() && self.is_call(Kind::Now, expression),
            Expr::Path(_) | Expr::Field(_) => last_name(expression).is_some_and(|name| self.names.is(Kind::Now, &name)),
            Expr::Paren(inner) => self.is_now(&inner.expr),
            _ => false,
        }
    }

    /// Whether an expression is a length of time, by its type or its name.
    pub(super) fn is_duration(&self, expression: &Expr) -> bool {
        match expression {
            Expr::Paren(inner) => return self.is_duration(&inner.expr),
            Expr::Binary(inner) if matches!(inner.op, syn::BinOp::Sub(_)) => {
                return self.is_now(&inner.left) || self.is_now(&inner.right);
            }
            Expr::Binary(inner) if matches!(inner.op, syn::BinOp::Mul(_) | syn::BinOp::Div(_)) => {
                return self.is_duration(&inner.left) || self.is_duration(&inner.right);
            }
            _ => {}
        }
        let ty = self.types.of(expression);
        let is_known = ty.as_deref().is_some_and(|ty| bare(ty).ends_with("Duration"));
        is_known || (!matches!(expression, Expr::Call(_) | Expr::Macro(_)) && self.has_word(Kind::Duration, expression))
    }
}
