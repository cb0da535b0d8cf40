//! Edits to source text: what is put before, after and around pieces of it, and the rendering of a range with them.
//!
//! Edits name byte ranges of the original text and never see each other's output. Ranges that belong to syntax trees
//! nest, so a rendering needs no more than an order for edits that meet at one byte.

use std::ops::Range;

/// Which of a function's bodies a text is rendered for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Variant {
    /// The original, which counts its steps.
    Clean,
    /// Each mutation point chooses between the original and its mutants.
    Mutated,
    /// The original, which records what it covers, reaches and infects.
    Recording,
    /// The original, which records what it covers.
    Covering,
}

impl Variant {
    /// All of them.
    pub(crate) const ALL: &'static [Self] = &[Self::Clean, Self::Mutated, Self::Recording, Self::Covering];
}

/// The variants that record coverage.
pub(crate) const COVERING: &[Variant] = &[Variant::Recording, Variant::Covering];

/// A candidate for a mutant, by its index among those of its kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum CandidateId {
    /// In the body of a function.
    Function(usize),
    /// In the value of a constant.
    Constant(usize),
}

/// What a stretch of output is there for: where the compiler's complaint about it belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    /// The code of a mutant.
    Mutant(CandidateId),
    /// The value of a mutant in the recording body, where it is compared with the original's.
    Comparison(CandidateId),
    /// The comparison of all mutants of a point: the first of them, and the last, among those in functions.
    Comparisons(usize, usize),
    /// The recording bodies of a function of the file, by its index there.
    Recording(usize),
    /// A function of the file, by its index there.
    Function(usize),
}

/// A piece of generated text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    /// As it is.
    Text(String),
    /// A range of the original, rendered as [`Variant::Clean`].
    Source(Range<usize>),
    /// Pieces that belong to a mutant.
    Owned(Owner, Vec<Piece>),
}

impl From<&str> for Piece {
    fn from(text: &str) -> Self {
        Self::Text(text.into())
    }
}

impl From<String> for Piece {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

/// Returns the text that pieces make from the original source, without any edits.
pub(crate) fn plain_text(pieces: &[Piece], source: &str) -> String {
    let mut text = String::new();
    for piece in pieces {
        match piece {
            Piece::Text(piece) => text.push_str(piece),
            Piece::Source(range) => text.push_str(&source[range.clone()]),
            Piece::Owned(_, pieces) => text.push_str(&plain_text(pieces, source)),
        }
    }
    text
}

/// One edit.
#[derive(Debug, Clone)]
pub(crate) struct Edit {
    /// The range of the original that it is about; empty for [`EditAction::Insert`].
    pub(crate) range: Range<usize>,
    /// The variants that it is for.
    pub(crate) variants: &'static [Variant],
    /// What it does.
    pub(crate) action: EditAction,
}

/// What an edit does with its range.
#[derive(Debug, Clone)]
pub(crate) enum EditAction {
    /// Puts pieces at the (empty) range: after what ends there, before what starts there.
    Insert(Vec<Piece>),
    /// Puts pieces before and after the range. Of two with the same range, the one that was made first is outside.
    Wrap(Vec<Piece>, Vec<Piece>),
    /// Puts pieces in the place of the range.
    Replace(Vec<Piece>),
}

impl Edit {
    pub(crate) fn insert(at: usize, variants: &'static [Variant], pieces: Vec<Piece>) -> Self {
        Self { range: at..at, variants, action: EditAction::Insert(pieces) }
    }

    pub(crate) fn wrap(
        range: Range<usize>,
        variants: &'static [Variant],
        before: Vec<Piece>,
        after: Vec<Piece>,
    ) -> Self {
        Self { range, variants, action: EditAction::Wrap(before, after) }
    }

    pub(crate) fn replace(range: Range<usize>, variants: &'static [Variant], pieces: Vec<Piece>) -> Self {
        Self { range, variants, action: EditAction::Replace(pieces) }
    }
}

/// Text that has been rendered, with the owners of its parts and where its lines come from.
#[derive(Debug, Default)]
pub(crate) struct Output {
    pub(crate) text: String,
    /// Ranges of `text` with their owners; an inner range comes before the ranges around it.
    pub(crate) owners: Vec<(Range<usize>, Owner)>,
    /// `(offset in text, line of the original)`, ascending: from this offset on, text belongs to that line, and each
    /// line feed goes one further.
    lines: Vec<(usize, usize)>,
}

impl Output {
    /// Returns, for each line of the text, the line of the original that it stands for (both from 1).
    pub(crate) fn original_lines(&self) -> Vec<u32> {
        let mut lines = Vec::new();
        let mut marks = self.lines.iter().peekable();
        let mut current = 1;
        let mut offset = 0;
        for line in self.text.split_inclusive('\n') {
            offset += line.len();
            if let Some((_, original)) = marks.next_if(|(at, _)| *at < offset) {
                current = *original;
            }
            lines.push(current as u32);
            while let Some((_, original)) = marks.next_if(|(at, _)| *at < offset) {
                current = *original;
            }
            current += 1;
        }
        lines
    }
}

/// Renders ranges of one source text with one set of edits.
#[derive(Debug)]
pub(crate) struct Renderer<'a> {
    source: &'a str,
    /// In the order in which they are applied at one byte.
    edits: Vec<&'a Edit>,
}

impl<'a> Renderer<'a> {
    pub(crate) fn new(source: &'a str, edits: impl IntoIterator<Item = &'a Edit>) -> Self {
        Self { source, edits: edits.into_iter().collect() }
    }

    /// Appends the given range of the source, as `variant` has it.
    pub(crate) fn range(&self, range: Range<usize>, variant: Variant, output: &mut Output) {
        /// What happens at one byte, in this order.
        #[derive(PartialEq, Eq, PartialOrd, Ord)]
        enum Turn {
            /// Innermost first: the larger start, then the later edit.
            Close(std::cmp::Reverse<usize>, std::cmp::Reverse<usize>),
            Insert(usize),
            /// Outermost first: the larger end, then the earlier edit.
            Open(std::cmp::Reverse<usize>, usize),
            Replace,
        }
        let mut turns: Vec<(usize, Turn, &[Piece], usize)> = Vec::new();
        for (index, edit) in self.edits.iter().enumerate() {
            let Range { start, end } = edit.range;
            if !edit.variants.contains(&variant) || start < range.start || end > range.end {
                continue;
            }
            match &edit.action {
                EditAction::Insert(pieces) => turns.push((start, Turn::Insert(index), pieces, start)),
                EditAction::Wrap(before, after) => {
                    turns.push((start, Turn::Open(std::cmp::Reverse(end), index), before, start));
                    let close = Turn::Close(std::cmp::Reverse(start), std::cmp::Reverse(index));
                    turns.push((end, close, after, end));
                }
                EditAction::Replace(pieces) => turns.push((start, Turn::Replace, pieces, end)),
            }
        }
        turns.sort_by(|left, right| (left.0, &left.1).cmp(&(right.0, &right.1)));
        let mut at = range.start;
        for (offset, _, pieces, resume_at) in turns {
            assert!(offset >= at, "edits overlap at byte {offset}");
            self.verbatim(at..offset, output);
            self.pieces(pieces, output);
            at = resume_at;
        }
        self.verbatim(at..range.end, output);
    }

    /// Appends a range of the source as it is.
    pub(crate) fn verbatim(&self, range: Range<usize>, output: &mut Output) {
        if !range.is_empty() {
            let line = self.source[..range.start].matches('\n').count() + 1;
            output.lines.push((output.text.len(), line));
            output.text.push_str(&self.source[range]);
        }
    }

    /// Appends generated text.
    pub(crate) fn pieces(&self, pieces: &[Piece], output: &mut Output) {
        for piece in pieces {
            match piece {
                Piece::Text(text) => output.text.push_str(text),
                Piece::Source(range) => self.range(range.clone(), Variant::Clean, output),
                Piece::Owned(owner, pieces) => self.owned(*owner, output, |output| self.pieces(pieces, output)),
            }
        }
    }

    /// Appends what `render` appends, and notes whose it is.
    pub(crate) fn owned(&self, owner: Owner, output: &mut Output, render: impl FnOnce(&mut Output)) {
        let start = output.text.len();
        render(output);
        output.owners.push((start..output.text.len(), owner));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CLEAN: &[Variant] = &[Variant::Clean];

    #[track_caller]
    fn check(source: &str, edits: &[Edit], expect: &str) {
        let mut output = Output::default();
        Renderer::new(source, edits).range(0..source.len(), Variant::Clean, &mut output);
        assert_eq!(output.text, expect);
    }

    fn wrap(range: Range<usize>, before: &str, after: &str) -> Edit {
        Edit::wrap(range, CLEAN, vec![before.into()], vec![after.into()])
    }

    #[test]
    fn wraps_nest_by_range_and_then_by_order() {
        check("abc", &[wrap(0..1, "(", ")"), wrap(0..3, "<", ">"), wrap(0..1, "[", "]")], "<([a])bc>");
        check("abc", &[wrap(2..3, "(", ")"), wrap(0..3, "<", ">"), wrap(0..2, "[", "]")], "<[ab](c)>");
    }

    #[test]
    fn an_insertion_stands_between_what_ends_and_what_starts() {
        let edits = [wrap(0..1, "(", ")"), wrap(1..2, "[", "]"), Edit::insert(1, CLEAN, vec!["|".into()])];
        check("ab", &edits, "(a)|[b]");
    }

    #[test]
    fn a_replacement_can_hold_source_with_its_own_edits() {
        let swap = vec![Piece::Source(2..3), "-".into(), Piece::Source(0..1)];
        let source = "a+b";
        let edits = [wrap(0..1, "(", ")")];
        let mut output = Output::default();
        Renderer::new(source, &edits).pieces(&swap, &mut output);
        assert_eq!(output.text, "b-(a)");
        assert_eq!(plain_text(&swap, source), "b-a");
        check(source, &[Edit::replace(0..2, CLEAN, vec!["x".into()])], "xb");
    }

    #[test]
    fn lines_are_traced_back_to_the_original() {
        let source = "one\ntwo\nthree\n";
        let edits = [Edit::insert(4, CLEAN, vec!["{".into(), Piece::Source(0..3), "\n}".into()])];
        let mut output = Output::default();
        Renderer::new(source, &edits).range(0..source.len(), Variant::Clean, &mut output);
        assert_eq!(output.text, "one\n{one\n}two\nthree\n");
        assert_eq!(output.original_lines(), [1, 1, 2, 3]);
    }
}
