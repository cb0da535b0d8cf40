//! MSG-T, message target replacement: a message goes to, or says that it comes from, somebody else; of many receivers
//! the first or the last is left out.
//!
//! The destination of a send becomes another address that is known here; a pair of fields like `from` and `to` is
//! exchanged; a loop that sends to each leaves one out. Source: event-exchanged of Fabbri, Delamaro, Maldonado and
//! Masiero (ISSRE 1994), in terms of who is spoken to.

use simutant_outcomes::{Class, Tier};
use syn::visit::{self, Visit};
use syn::{Expr, Member, Stmt};

use super::operator::{Change, Context, Operator, Place};
use super::pieces::{arguments, operand, source, swapped};
use crate::syntax::declarations::bound_name;
use crate::syntax::names::Kind;
use crate::syntax::parts::{peeled, range_of};
use crate::text::edit::Piece;

pub(super) const MESSAGE_TARGET_REPLACEMENT: Operator =
    Operator { name: "MSG-T", tier: Tier::B, class: Class::Message, changes };

fn changes(place: Place<'_>, context: &Context<'_>) -> Vec<Change> {
    match place {
        Place::Expression(call @ (Expr::MethodCall(_) | Expr::Call(_))) if context.is_call(Kind::Send, call) => {
            other_targets(call, context)
        }
        Place::Expression(expression @ Expr::Struct(_)) => exchanged_ends(expression, context),
        Place::Loop(for_loop) if sends_by(&for_loop.body.stmts, &for_loop.pat, context) => {
            let mut but_first = operand(&for_loop.expr);
            but_first.push(".into_iter().skip(1)".into());
            let mut but_last: Vec<Piece> = vec!["{ let mut simutant_receivers: Vec<_> = ".into()];
            but_last.extend(operand(&for_loop.expr));
            but_last.push(".into_iter().collect(); simutant_receivers.pop(); simutant_receivers }".into());
            let range = range_of(&*for_loop.expr);
            [but_first, but_last].map(|replacement| Change::at(range.clone(), replacement).around()).into()
        }
        _ => Vec::new(),
    }
}

/// Returns changes of a send's first argument to what else is an address here.
fn other_targets(call: &Expr, context: &Context<'_>) -> Vec<Change> {
    let arguments = arguments(call);
    let [target, _, ..] = &arguments[..] else { return Vec::new() };
    let change = |other: &str| Change::at(range_of(*target), vec![other.to_owned().into()]);
    if let Expr::Field(field) = peeled(target)
        && let Member::Named(member) = &field.member
    {
        // A delivery has both ends of its way.
        let other = match member.to_string().as_str() {
            "source" => "destination",
            "src" => "dst",
            "from" => "to",
            "sender" => "receiver",
            _ => "",
        };
        let base = context.types.of(&field.base);
        let is_known = base.and_then(|base| context.scope.fields(&base));
        let has_other = is_known.is_none_or(|fields| fields.iter().any(|field| field.name == other));
        if !other.is_empty() && has_other {
            return vec![change(&format!("{}.{other}", context.text_of(&field.base)))];
        }
    }
    let Some(ty) = context.types.of(target) else { return Vec::new() };
    let is_address = ty.contains("Addr") || ty.ends_with("Id") || context.has_word(Kind::Address, target);
    if !is_address || crate::syntax::types::is_integer(&ty) && !context.has_word(Kind::Address, target) {
        return Vec::new();
    }
    let text = context.text_of(*target);
    let others = context.types.locals_of(&ty).filter(|other| *other != text);
    others.take(2).map(change).collect()
}

/// Returns the exchange of the values of two fields that say where a message comes from and where it goes.
fn exchanged_ends(expression: &Expr, context: &Context<'_>) -> Vec<Change> {
    const ENDS: [(&str, &str); 6] = [
        ("from", "to"),
        ("source", "destination"),
        ("src", "dst"),
        ("src", "dest"),
        ("sender", "receiver"),
        ("origin", "target"),
    ];
    let Expr::Struct(literal) = expression else { return Vec::new() };
    let field = |name: &str| {
        literal.fields.iter().find(|field| matches!(&field.member, Member::Named(member) if member == name))
    };
    let both = ENDS.iter().find_map(|(one, other)| Some((field(one)?, field(other)?)));
    let Some((one, other)) = both else { return Vec::new() };
    let whole = range_of(expression);
    let (first, second) = if range_of(one).start < range_of(other).start { (one, other) } else { (other, one) };
    if context.text_of(&first.expr) == context.text_of(&second.expr) {
        return Vec::new();
    }
    vec![Change::at(whole.clone(), exchange_fields(&whole, first, second))]
}

/// Returns a struct literal in which two fields have each other's values; the first one stands first.
pub(super) fn exchange_fields(
    whole: &std::ops::Range<usize>,
    first: &syn::FieldValue,
    second: &syn::FieldValue,
) -> Vec<Piece> {
    if first.colon_token.is_some() && second.colon_token.is_some() {
        return swapped(whole, &range_of(&first.expr), &range_of(&second.expr));
    }
    let (one, other) = (range_of(first), range_of(second));
    let with =
        |name: &syn::FieldValue, value: &syn::FieldValue| vec![source(&name.member), ": ".into(), source(&value.expr)];
    let mut pieces = vec![Piece::Source(whole.start..one.start)];
    pieces.extend(with(first, second));
    pieces.push(Piece::Source(one.end..other.start));
    pieces.extend(with(second, first));
    pieces.push(Piece::Source(other.end..whole.end));
    pieces
}

/// Whether the statements of a loop send to what the loop's pattern binds.
fn sends_by(statements: &[Stmt], pattern: &syn::Pat, context: &Context<'_>) -> bool {
    struct Finder<'a> {
        name: String,
        context: &'a Context<'a>,
        sends: bool,
    }
    impl<'ast> Visit<'ast> for Finder<'_> {
        fn visit_expr(&mut self, expression: &'ast Expr) {
            if self.context.is_call(Kind::Send, expression)
                && let [target, ..] = &arguments(expression)[..]
            {
                let text = self.context.text_of(*target);
                let is_of = |word: &str| word == self.name;
                self.sends |= text.split(|letter: char| !letter.is_alphanumeric() && letter != '_').any(is_of);
            }
            visit::visit_expr(self, expression);
        }
    }
    let Some(name) = bound_name(pattern).or_else(|| reference_name(pattern)) else { return false };
    let mut finder = Finder { name, context, sends: false };
    statements.iter().for_each(|statement| finder.visit_stmt(statement));
    finder.sends
}

fn reference_name(pattern: &syn::Pat) -> Option<String> {
    match pattern {
        syn::Pat::Reference(inner) => bound_name(&inner.pat),
        _ => None,
    }
}
