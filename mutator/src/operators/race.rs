//! SEL, selection replacement: of several futures that are raced or joined one is left out, or two change their rank,
//! or they wait for one another.
//!
//! `select((a, b)).await` and arrays of futures, and the macros `select!` and `join!` by their tokens. A branch that is
//! left out never becomes ready; a join becomes a sequence. Source: ours; RXO of ConMAn, which replaces a mechanism of
//! concurrency (Bradbury, Cordy and Dingel, Mutation 2006), is the nearest.

use std::ops::Range;

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use simutant_outcomes::{Class, Tier};
use syn::{Expr, Macro, Stmt};

use super::operator::{Change, Context, Operator, Place};
use super::pieces::{arguments, operand, replaced, swapped};
use crate::syntax::names::Kind;
use crate::syntax::parts::{peeled, range_of};
use crate::text::edit::Piece;

pub(super) const RACE_REPLACEMENT: Operator = Operator { name: "SEL", tier: Tier::B, class: Class::Async, changes };

fn changes(place: Place<'_>, context: &Context<'_>) -> Vec<Change> {
    match place {
        Place::Expression(waits @ Expr::Await(inner)) => {
            let is_race = context.is_call(Kind::Select, &inner.base);
            let is_join = context.is_call(Kind::Join, &inner.base);
            let whole = range_of(waits);
            match arguments(&inner.base)[..] {
                [futures] if is_race => raced(&whole, peeled(futures)),
                [futures] if is_join => joined(&whole, peeled(futures)),
                [one, other] if is_join => vec![sequence(&whole, &[one, other])],
                _ => Vec::new(),
            }
        }
        Place::Expression(expression @ Expr::Macro(inner)) => {
            of_macro(&inner.mac, &range_of(expression), None, context)
        }
        Place::Statement(statement @ Stmt::Macro(inner)) => {
            of_macro(&inner.mac, &range_of(statement), inner.semi_token.map(|semicolon| range_of(&semicolon)), context)
        }
        _ => Vec::new(),
    }
}

/// Returns a race in which each future in turn is left out, and those in which the first two change their rank.
fn raced(whole: &Range<usize>, futures: &Expr) -> Vec<Change> {
    const NEVER: &str = "std::future::pending()";
    match futures {
        Expr::Tuple(tuple) => {
            let without = tuple.elems.iter().map(|future| replaced(whole, &range_of(future), vec![NEVER.into()]));
            let mut changes: Vec<Change> = without.map(|replacement| Change::at(whole.clone(), replacement)).collect();
            if let [one, other] = tuple.elems.iter().collect::<Vec<_>>()[..] {
                // What was first is told as what was second, so the value is of the same type.
                let mut turned: Vec<Piece> = vec!["match ".into()];
                turned.extend(swapped(whole, &range_of(one), &range_of(other)));
                turned.push(
                    " { Either2::First(simutant_value) => Either2::Second(simutant_value), \
                     Either2::Second(simutant_value) => Either2::First(simutant_value) }"
                        .into(),
                );
                changes.push(Change::at(whole.clone(), turned));
            }
            changes
        }
        Expr::Array(array) => {
            let elements: Vec<&Expr> = array.elems.iter().collect();
            let neighbours = elements.windows(2).map(|pair| {
                let (one, other) = (range_of(pair[0]), range_of(pair[1]));
                Change::at(whole.clone(), swapped(whole, &one, &other))
            });
            neighbours.take(1).collect()
        }
        _ => Vec::new(),
    }
}

fn joined(whole: &Range<usize>, futures: &Expr) -> Vec<Change> {
    match futures {
        Expr::Tuple(tuple) if tuple.elems.len() > 1 => {
            vec![sequence(whole, &tuple.elems.iter().collect::<Vec<_>>())]
        }
        _ => Vec::new(),
    }
}

/// Returns a join in which each future is waited for before the next one is.
fn sequence(whole: &Range<usize>, futures: &[&Expr]) -> Change {
    let mut pieces: Vec<Piece> = vec!["(".into()];
    for future in futures {
        pieces.extend(operand(future));
        pieces.push(".await, ".into());
    }
    pieces.push(")".into());
    Change::at(whole.clone(), pieces)
}

/// Returns the changes of a macro that races or joins; `whole` is the expression or the statement that it is.
fn of_macro(mac: &Macro, whole: &Range<usize>, semicolon: Option<Range<usize>>, context: &Context<'_>) -> Vec<Change> {
    let Some(name) = mac.path.segments.last().map(|segment| segment.ident.to_string()) else { return Vec::new() };
    let branches = branches(mac.tokens.clone());
    if context.names.is(Kind::Select, &name) {
        let branches: Vec<&Branch> = branches.iter().filter(|branch| branch.is_arm).collect();
        if branches.len() < 2 {
            return Vec::new();
        }
        let without = branches.iter().map(|branch| replaced(whole, &branch.range, Vec::new()));
        let mut replacements: Vec<Vec<Piece>> = without.collect();
        let (first, second) = (branches[0], branches[1]);
        if first.has_comma && second.has_comma && !first.is_else && !second.is_else {
            replacements.push(swapped(whole, &first.range, &second.range));
        }
        return replacements.into_iter().map(|replacement| Change::at(whole.clone(), replacement)).collect();
    }
    if name == "join" && branches.len() > 1 && context.names.is(Kind::Join, &name) {
        let mut pieces: Vec<Piece> = vec!["(".into()];
        for branch in &branches {
            pieces.extend(["(".into(), Piece::Source(branch.without_comma.clone()), ").await, ".into()]);
        }
        pieces.push(")".into());
        if let Some(semicolon) = semicolon {
            pieces.push(Piece::Source(semicolon));
        }
        return vec![Change::at(whole.clone(), pieces)];
    }
    Vec::new()
}

/// A part of a macro's tokens: up to a comma, or to a block behind an arrow.
struct Branch {
    range: Range<usize>,
    without_comma: Range<usize>,
    has_comma: bool,
    /// Whether it has an arrow.
    is_arm: bool,
    is_else: bool,
}

fn branches(tokens: TokenStream) -> Vec<Branch> {
    let mut branches = Vec::new();
    let mut current: Option<Branch> = None;
    let mut is_after_arrow = false;
    let mut before = ' ';
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        let range = token.span().byte_range();
        let is_comma = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == ',');
        let is_semicolon = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == ';');
        let is_arrow = matches!(&token, TokenTree::Punct(punct) if punct.as_char() == '>') && before == '=';
        before = match &token {
            TokenTree::Punct(punct) => punct.as_char(),
            _ => ' ',
        };
        if is_semicolon {
            // `biased;` is no branch.
            current = None;
            is_after_arrow = false;
            continue;
        }
        if is_comma && current.is_none() {
            continue;
        }
        // A precondition belongs to its branch.
        let is_before_if = is_comma && matches!(tokens.peek(), Some(TokenTree::Ident(ident)) if ident == "if");
        if is_before_if && current.as_ref().is_some_and(|branch| !branch.is_arm) {
            continue;
        }
        let is_else =
            matches!(&token, TokenTree::Ident(ident) if ident == "else" || ident == "default" || ident == "complete");
        let branch = current.get_or_insert_with(|| Branch {
            range: range.clone(),
            without_comma: range.clone(),
            has_comma: false,
            is_arm: false,
            is_else,
        });
        branch.range.end = range.end;
        branch.has_comma |= is_comma;
        branch.is_arm |= is_arrow;
        if !is_comma {
            branch.without_comma.end = range.end;
        }
        let is_block = matches!(&token, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace);
        if is_comma {
            is_after_arrow = false;
            branches.extend(current.take());
        } else if is_block && is_after_arrow {
            // The comma behind a block is a part of the branch, if there is one.
            if let Some(comma) =
                tokens.next_if(|next| matches!(next, TokenTree::Punct(punct) if punct.as_char() == ','))
            {
                branch.range.end = comma.span().byte_range().end;
            }
            branch.has_comma = true;
            is_after_arrow = false;
            branches.extend(current.take());
        } else {
            is_after_arrow = is_arrow;
        }
    }
    branches.extend(current);
    branches
}
