//! The probes of blocks and branches.

use std::ops::Range;

use super::outcomes::{OutcomeProbes, Wrap};
use crate::graph::{Anchor, ProbeSite, Side, Wrapped};
use crate::text::edit::{COVERING, Edit, Piece};

/// Returns the edits that measure the blocks and branches of a function.
pub(super) fn edits(sites: &[ProbeSite], outcomes: &OutcomeProbes) -> Vec<Edit> {
    let mut edits = Vec::new();
    let mut blocks = outcomes.blocks.iter();
    for site in sites {
        match site {
            ProbeSite::Block(anchor) => {
                let mark = *blocks.next().expect("every block that is a requirement has an entry");
                edits.extend(mark.map(|mark| block(anchor.clone(), mark)));
            }
            ProbeSite::Branches(side, branches) => add_branches(side.clone(), noting(branches, outcomes), &mut edits),
            ProbeSite::Wrap { wrapped, first, range } => edits.push(wrap(*wrapped, *first, range.clone(), outcomes)),
        }
    }
    edits
}

/// Returns the probe that sets the mark of a block.
fn block(anchor: Anchor, mark: usize) -> Edit {
    match anchor {
        Anchor::Insert(at) => Edit::insert(at, COVERING, vec![format!(" ::simutant_probe::mark({mark}); ").into()]),
        Anchor::Before(range) => {
            Edit::wrap(range, COVERING, vec![format!("(::simutant_probe::mark({mark}), ").into()], vec![").1".into()])
        }
        Anchor::Body(range) => {
            Edit::wrap(range, COVERING, vec![format!("{{ ::simutant_probe::mark({mark}); ").into()], vec![" }".into()])
        }
        Anchor::After(range) => {
            Edit::wrap(range, COVERING, vec![format!("::simutant_probe::pass({mark}, ").into()], vec![")".into()])
        }
    }
}

/// Adds the probes that note branches where a side begins.
fn add_branches(side: Side, noting: Piece, edits: &mut Vec<Edit>) {
    match side {
        Side::Insert(at) => edits.push(Edit::insert(at, COVERING, vec![noting])),
        Side::Operand(range) => {
            edits.push(Edit::wrap(range, COVERING, vec!["({".into(), noting], vec!["})".into()]));
        }
        Side::Body(range) => edits.push(Edit::wrap(range, COVERING, vec!["{".into(), noting], vec!["}".into()])),
        Side::Else(range) => {
            edits.push(Edit::wrap(range, COVERING, Vec::new(), vec![" else {".into(), noting, "}".into()]));
        }
        Side::LoopElse { keyword, range } => {
            edits.push(Edit::replace(keyword.clone(), COVERING, vec!["loop {".into()]));
            edits.push(Edit::insert(keyword.end, COVERING, vec![" if".into()]));
            edits.push(Edit::wrap(range, COVERING, Vec::new(), vec![" else {".into(), noting, "break; } }".into()]));
        }
    }
}

/// Returns the statements that note branches.
fn noting(branches: &[usize], outcomes: &OutcomeProbes) -> Piece {
    let mut text = String::new();
    for branch in branches {
        text.push_str(&format!(" ::simutant_probe::mark({}); ", outcomes.first_branch + branch));
        text.push_str(outcomes.notes.get(branch).map_or("", String::as_str));
    }
    text.into()
}

/// Returns the probe around what has two ways out, of which `first` is the first.
fn wrap(wrapped: Wrapped, first: usize, range: Range<usize>, outcomes: &OutcomeProbes) -> Edit {
    let none = Wrap::default();
    let Wrap { held, is_selection, decision: (before, after) } = outcomes.wraps.get(&first).unwrap_or(&none);
    let first = outcomes.first_branch + first;
    let (count, held) = (held.len(), held.join(", "));
    let (before, after) = match wrapped {
        Wrapped::Condition => {
            let function = if *is_selection { "select" } else { "branch" };
            (format!("::simutant_probe::{function}({before}"), format!("{after}, {first}, [{held}])"))
        }
        Wrapped::Attempt => ("::simutant_probe::question(".to_owned(), format!(", {first}, [{held}])")),
        Wrapped::Items => (format!("::simutant_probe::iterate::<{first}, {count}, _>("), format!(", [{held}])")),
    };
    Edit::wrap(range, COVERING, vec![before.into()], vec![after.into()])
}
