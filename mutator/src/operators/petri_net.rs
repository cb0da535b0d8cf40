//! PET, Petri net replacement: an arc is missing, goes the other way, or has a weight of one more or less; an inhibitor
//! arc is missing; a guard asks for, or a firing moves, one token more or less.
//!
//! A net is known by the names of the calls that build it (`input_arc(place, transition, weight)`), or, where it is
//! written out as code, by the names of what counts its tokens: `if self.tokens[ready] >= need`,
//! `marking[done] += made`. There an inhibitor is a test for no tokens. A call of the user's own with one of these
//! names in a manifest counts as well. Source: the operators for Petri nets of Fabbri and others (SBES 1995), those of
//! arcs, weights and inhibitors.

use simutant_outcomes::{Class, Tier};
use syn::{BinOp, Expr, ExprBinary, Lit};

use super::operator::{Change, Context, Operator, Place, infection_of};
use super::pieces::{arguments, call_name, effect, last_name, operand, replaced};
use crate::syntax::names::Kind;
use crate::syntax::parts::{peeled, range_of};

/// Calls that add an arc from a place, and those that add one from a transition, as they go together.
const OPPOSITES: [(&str, &str); 7] = [
    ("input_arc", "output_arc"),
    ("add_input", "add_output"),
    ("add_input_arc", "add_output_arc"),
    ("arc_in", "arc_out"),
    ("arc_from_place", "arc_to_place"),
    ("consumes", "produces"),
    ("pre", "post"),
];

pub(super) const PETRI_NET_REPLACEMENT: Operator =
    Operator { name: "PET", tier: Tier::C, class: Class::State, changes };

fn changes(place: Place<'_>, context: &Context<'_>) -> Vec<Change> {
    match place {
        Place::Statement(statement) => {
            let is_arc = |kind| effect(statement).is_some_and(|call| context.is_call(kind, call));
            if [Kind::InputArc, Kind::OutputArc, Kind::Inhibitor].into_iter().any(is_arc) {
                vec![Change::at(range_of(statement), vec!["".into()])]
            } else {
                Vec::new()
            }
        }
        Place::Expression(Expr::Binary(binary)) => tokens(binary, context),
        Place::Expression(call @ (Expr::MethodCall(_) | Expr::Call(_))) => arc(call, context),
        _ => Vec::new(),
    }
}

/// Returns the changes of a call that adds an arc: its other direction, and its weight.
fn arc(call: &Expr, context: &Context<'_>) -> Vec<Change> {
    let Some(name) = call_name(call) else { return Vec::new() };
    let is_input = context.names.is(Kind::InputArc, &name);
    if !is_input && !context.names.is(Kind::OutputArc, &name) {
        return Vec::new();
    }
    let arguments = arguments(call);
    // Place and transition, and the weight if the net has weights.
    let mut changes = match arguments[..] {
        [_, _, weight] => one_more_or_less(weight),
        _ => Vec::new(),
    };
    let opposite = OPPOSITES.iter().find_map(|&(input, output)| match name.as_str() {
        name if name == input => Some(output),
        name if name == output => Some(input),
        _ => None,
    });
    let Some(opposite) = opposite else { return changes };
    let named = match call {
        Expr::MethodCall(call) => range_of(&call.method),
        Expr::Call(call) => match peeled(&call.func) {
            Expr::Path(path) => path.path.segments.last().map(|segment| range_of(&segment.ident)).unwrap_or_default(),
            _ => return changes,
        },
        _ => return changes,
    };
    let whole = range_of(call);
    changes.push(Change::at(whole.clone(), replaced(&whole, &named, vec![opposite.into()])));
    changes
}

/// Returns the changes of a comparison or a change of a number of tokens.
fn tokens(binary: &ExprBinary, context: &Context<'_>) -> Vec<Change> {
    let (tokens, weight) = match (&binary.op, counts_tokens(&binary.left, context)) {
        (_, true) => (&binary.left, &binary.right),
        // `2 <= tokens`.
        (operator, false) if is_relation(operator) && counts_tokens(&binary.right, context) => {
            (&binary.right, &binary.left)
        }
        _ => return Vec::new(),
    };
    let is_move = matches!(binary.op, BinOp::AddAssign(_) | BinOp::SubAssign(_));
    if is_zero(weight) && matches!(binary.op, BinOp::Eq(_)) {
        let infection = infection_of(&[tokens]);
        return vec![Change::new(range_of(binary), vec!["true".into()], infection)];
    }
    if is_move || is_relation(&binary.op) { one_more_or_less(weight) } else { Vec::new() }
}

fn is_relation(operator: &BinOp) -> bool {
    matches!(operator, BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_) | BinOp::Eq(_) | BinOp::Ne(_))
}

/// Whether an expression is a number of tokens, by its name: `tokens`, `self.marking[place]`.
fn counts_tokens(expression: &Expr, context: &Context<'_>) -> bool {
    match peeled(expression) {
        Expr::Index(index) => counts_tokens(&index.expr, context),
        Expr::Unary(unary) => counts_tokens(&unary.expr, context),
        expression => last_name(expression).is_some_and(|name| context.names.has_word(Kind::Token, &name)),
    }
}

fn is_zero(expression: &Expr) -> bool {
    matches!(peeled(expression), Expr::Lit(literal) if matches!(&literal.lit, Lit::Int(int) if int.base10_digits() == "0"))
}

/// Returns the changes of a weight. Those of a literal are LVR's as well, and have its name where both are made.
fn one_more_or_less(weight: &Expr) -> Vec<Change> {
    let range = range_of(weight);
    if let Expr::Lit(literal) = weight {
        let Lit::Int(int) = &literal.lit else { return Vec::new() };
        let Ok(value) = int.base10_parse::<i128>() else { return Vec::new() };
        let other = |other: i128| Change::at(range.clone(), vec![format!("{other}{}", int.suffix()).into()]);
        return std::iter::once(value.saturating_add(1)).chain((value > 0).then_some(value - 1)).map(other).collect();
    }
    let with = |text: &str| operand(weight).into_iter().chain([text.to_owned().into()]).collect();
    [" + 1", " - 1"].map(|text| Change::new(range.clone(), with(text), infection_of(&[weight]))).into()
}
