//! The mutation operators. Each stands in a file of its own, with its definition and its source.
//!
//! An operator looks at one place in a function and proposes changes. It needs no types: what does not type-check is
//! rejected by the compiler later. What it may know beside the place is in the [`Context`]: the signature, what the
//! package declares, and what names are for. A new operator is one file and one line in [`all`].
//! Two make no changes at a place: HOM takes those of others, and CVR, which is about constants, shows at many places.
//!
//! Operators of tier A are those of the literature on adequacy. Those of tier B make the faults that distributed
//! systems have, where the names of a specification show what code is for. Those of tier C are made when they are asked
//! for.

mod argument;
mod arithmetic;
mod arm;
mod assignment;
mod await_deletion;
mod await_timeout;
mod call;
mod capacity;
mod conditional;
mod constant;
mod delay;
mod deletion;
mod higher_order;
mod increment;
mod jump;
mod literal;
mod lock;
mod logical;
mod message_deletion;
mod message_duplication;
mod message_target;
mod message_variant;
mod negation;
mod operand_deletion;
mod operator_deletion;
mod petri_net;
mod probability;
mod race;
mod range;
mod relational;
mod retry;
mod returned;
mod selection;
mod shift;
mod state;
mod tie;
mod timer_arming;
mod timer_cancelling;
mod unary_insertion;

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::ops::Range;

use simutant_outcomes::{Class, Tier};
use syn::spanned::Spanned;
use syn::{Arm, Block, Expr, ExprForLoop, Member, Signature, Stmt};

use crate::syntax::declarations::Declarations;
use crate::syntax::names::{Kind, Names};
use crate::syntax::parts::range_of;
use crate::syntax::types::Types;
use crate::text::edit::Piece;

pub(crate) use await_deletion::Spawner;
pub(crate) use constant::{CONSTANT, integers, values};
pub(crate) use higher_order::{HIGHER_ORDER, partner};
pub use selection::{Selection, UnknownOperator};

/// Which replacements an operator makes where the literature has several sets of them.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Definition {
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
    fn at(range: Range<usize>, replacement: Vec<Piece>) -> Self {
        Self::new(range, replacement, Infection::Reached)
    }

    fn standing_in(self) -> Self {
        Self { stands_in: true, ..self }
    }

    fn around(self) -> Self {
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
    /// What the package declares.
    pub(crate) declarations: &'a Declarations,
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
    pub(crate) definition: Definition,
}

impl Context<'_> {
    /// Returns the text of a piece of syntax.
    fn text_of(&self, syntax: &impl Spanned) -> &str {
        &self.text[range_of(syntax)]
    }

    /// Whether the last name in an expression has a word of this kind.
    fn has_word(&self, kind: Kind, expression: &Expr) -> bool {
        last_name(expression).is_some_and(|name| self.names.has_word(kind, &name))
    }

    /// Whether an expression calls something of this kind.
    fn is_call(&self, kind: Kind, expression: &Expr) -> bool {
        call_name(expression).is_some_and(|name| self.names.is(kind, &name))
    }

    /// Whether an expression is the time.
    fn is_now(&self, expression: &Expr) -> bool {
        match expression {
            Expr::MethodCall(call) => call.args.is_empty() && self.names.is(Kind::Now, &call.method.to_string()),
            Expr::Call(call) => call.args.is_empty() && self.is_call(Kind::Now, expression),
            Expr::Path(_) | Expr::Field(_) => last_name(expression).is_some_and(|name| self.names.is(Kind::Now, &name)),
            Expr::Paren(inner) => self.is_now(&inner.expr),
            _ => false,
        }
    }

    /// Whether an expression is a length of time, by its type or its name.
    fn is_duration(&self, expression: &Expr) -> bool {
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
        let is_known = ty.as_deref().is_some_and(|ty| crate::syntax::types::bare(ty).ends_with("Duration"));
        is_known || (!matches!(expression, Expr::Call(_) | Expr::Macro(_)) && self.has_word(Kind::Duration, expression))
    }
}

/// A mutation operator.
pub(crate) trait Operator: Debug + Sync {
    /// The short name that the literature uses, for example `ROR`.
    fn name(&self) -> &'static str;

    /// How it is chosen.
    fn tier(&self) -> Tier {
        Tier::A
    }

    /// What its mutants are about.
    fn class(&self) -> Class {
        Class::General
    }

    /// Returns the changes it makes at this place.
    fn changes(&self, place: Place<'_>, context: &Context<'_>) -> Vec<Change>;
}

/// Returns all operators. Of two that make the same mutant, the one of tier B is the more telling, and that of tier C
/// the less; among equals it is the one that stands first.
pub(crate) fn all() -> &'static [&'static dyn Operator] {
    &[
        &arithmetic::ArithmeticOperatorReplacement,
        &relational::RelationalOperatorReplacement,
        &conditional::ConditionalOperatorReplacement,
        &negation::ConditionNegation,
        &logical::LogicalOperatorReplacement,
        &shift::ShiftOperatorReplacement,
        &literal::LiteralValueReplacement,
        &deletion::StatementDeletion,
        &assignment::AssignmentOperatorReplacement,
        &returned::ReturnValueReplacement,
        &arm::MatchArmDeletion,
        &jump::BreakContinueReplacement,
        &range::RangeReplacement,
        &message_deletion::MessageDeletion,
        &message_duplication::MessageDuplication,
        &message_target::MessageTargetReplacement,
        &message_variant::MessageVariantReplacement,
        &timer_arming::TimerArmingDeletion,
        &timer_cancelling::TimerCancellingDeletion,
        &retry::RetryReplacement,
        &delay::DelayReplacement,
        &await_timeout::AwaitTimeoutReplacement,
        &await_deletion::AwaitDeletion,
        &race::RaceReplacement,
        &tie::TieReversal,
        &probability::ProbabilityReplacement,
        &state::StateReplacement,
        &call::CallReplacement,
        &argument::ArgumentSwap,
        &operand_deletion::OperandDeletion,
        &operand_deletion::VariableDeletion,
        &operand_deletion::ConstantDeletion,
        &unary_insertion::UnaryOperatorInsertion,
        &increment::IncrementInsertion,
        &unary_insertion::NegationInsertion,
        &unary_insertion::ComplementInsertion,
        &operator_deletion::ConditionalOperatorDeletion,
        &operator_deletion::LogicalOperatorDeletion,
        &operator_deletion::ArithmeticOperatorDeletion,
        &arithmetic::BinaryArithmeticReplacement,
        &assignment::ShortcutAssignmentReplacement,
        &capacity::CapacityReplacement,
        &lock::LockReplacement,
        &petri_net::PetriNetReplacement,
        &constant::ConstantValueReplacement,
        &higher_order::HigherOrder,
    ]
}

/// Returns an expression without the parentheses around it.
fn peeled(expression: &Expr) -> &Expr {
    match expression {
        Expr::Paren(inner) => peeled(&inner.expr),
        Expr::Group(inner) => peeled(&inner.expr),
        _ => expression,
    }
}

/// Whether an expression puts something back to how it began: a count to 0, a collection to empty, an option to
/// nothing.
pub(crate) fn is_reset(expression: &Expr) -> bool {
    match expression {
        Expr::Assign(assign) => match peeled(&assign.right) {
            Expr::Lit(literal) => match &literal.lit {
                syn::Lit::Int(literal) => literal.base10_digits() == "0",
                syn::Lit::Bool(literal) => !literal.value,
                _ => false,
            },
            Expr::Path(path) => path.path.is_ident("None"),
            value @ Expr::Call(_) => {
                matches!(call_name(value).as_deref(), Some("new" | "default")) && arguments(value).is_empty()
            }
            _ => false,
        },
        Expr::MethodCall(call) => call.args.is_empty() && (call.method == "clear" || call.method == "reset"),
        _ => false,
    }
}

/// Returns the last name in a path, or the name of a field.
pub(crate) fn last_name(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Path(path) => path.path.segments.last().map(|segment| segment.ident.to_string()),
        Expr::Field(field) => match &field.member {
            Member::Named(name) => Some(name.to_string()),
            Member::Unnamed(_) => None,
        },
        Expr::Reference(inner) => last_name(&inner.expr),
        Expr::Unary(inner) => last_name(&inner.expr),
        Expr::Paren(inner) => last_name(&inner.expr),
        Expr::Cast(inner) => last_name(&inner.expr),
        _ => None,
    }
}

/// Returns the name of what is called: a method, or the last one in a path.
fn call_name(expression: &Expr) -> Option<String> {
    match expression {
        Expr::MethodCall(call) => Some(call.method.to_string()),
        Expr::Call(call) => last_name(&call.func),
        _ => None,
    }
}

/// Returns the arguments of a call.
fn arguments(expression: &Expr) -> Vec<&Expr> {
    match expression {
        Expr::MethodCall(call) => call.args.iter().collect(),
        Expr::Call(call) => call.args.iter().collect(),
        _ => Vec::new(),
    }
}

/// Returns what a statement does for its effect alone: its expression, without what is done with the result.
fn effect(statement: &Stmt) -> Option<&Expr> {
    let expression = match statement {
        Stmt::Expr(Expr::Assign(assign), Some(_)) if matches!(&*assign.left, Expr::Infer(_)) => &*assign.right,
        Stmt::Expr(expression, Some(_)) => expression,
        Stmt::Local(local) if matches!(local.pat, syn::Pat::Wild(_)) => match &local.init {
            Some(init) if init.diverge.is_none() => &init.expr,
            _ => return None,
        },
        _ => return None,
    };
    Some(expression)
}

/// Returns the call in an expression that awaits it, or hands its failure on, or both.
fn called(expression: &Expr) -> &Expr {
    match expression {
        Expr::Await(inner) => called(&inner.base),
        Expr::Try(inner) => called(&inner.expr),
        Expr::Paren(inner) => called(&inner.expr),
        Expr::MethodCall(call) if call.method == "unwrap" || call.method == "expect" || call.method == "ok" => {
            called(&call.receiver)
        }
        _ => expression,
    }
}

/// Returns the source of a piece of syntax.
fn source(syntax: &impl Spanned) -> Piece {
    Piece::Source(range_of(syntax))
}

/// Returns what stands before a part of a whole, a replacement, and what stands behind.
fn replaced(whole: &Range<usize>, part: &Range<usize>, replacement: Vec<Piece>) -> Vec<Piece> {
    let mut pieces = vec![Piece::Source(whole.start..part.start)];
    pieces.extend(replacement);
    pieces.push(Piece::Source(part.end..whole.end));
    pieces
}

/// Returns a whole in which two parts that do not overlap stand at each other's place; the first one stands first.
fn swapped(whole: &Range<usize>, first: &Range<usize>, second: &Range<usize>) -> Vec<Piece> {
    [whole.start..first.start, second.clone(), first.end..second.start, first.clone(), second.end..whole.end]
        .map(Piece::Source)
        .into()
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
    if expressions.iter().all(|expression| crate::syntax::purity::is_pure(expression)) {
        Infection::Differs
    } else {
        Infection::Reached
    }
}

#[cfg(test)]
mod tests;
