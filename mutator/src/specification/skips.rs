//! Code that is left out of mutation: comments at the spot, and patterns in the manifest, both with a reason.
//!
//! ```text
//! // simutant: skip: REASON
//! // simutant: skip ROR, LVR: REASON
//! ```
//!
//! A comment is about the piece of code below it. What is left out keeps its requirements: it has probes as before.
//! Candidates are taken away when all have their identities, so that the others keep theirs.

mod pattern;

use std::ops::Range;
use std::path::Path;

use simutant_outcomes::SkippedCode;

use super::Specification;
use crate::error::MutatorError;
use crate::mutation::PlacedCandidate;
use crate::operators::Selection;
use crate::syntax::comments::{Comment, Comments};
use crate::syntax::source::Source;
use pattern::line_of;

pub(crate) use pattern::SkipPattern;

/// What comments that are meant for the mutator begin with.
const MARK: &str = "simutant:";

/// The form of such a comment.
const FORM: &str = "`// simutant: skip: REASON`, or `// simutant: skip OPERATORS: REASON`";

/// A piece of code that is left out.
#[derive(Debug)]
struct Skip {
    file: usize,
    range: Range<usize>,
    path: String,
    /// The operators, and the list of them as it is written.
    operators: Option<(Selection, String)>,
    reason: String,
}

impl Skip {
    fn holds(&self, placed: &PlacedCandidate) -> bool {
        let range = placed.candidate.range();
        let is_inside = self.file == placed.file && self.range.start <= range.start && range.end <= self.range.end;
        let is_of = |(selection, _): &(Selection, String)| selection.replacements(placed.candidate.operator).is_some();
        is_inside && self.operators.as_ref().is_none_or(is_of)
    }
}

impl Specification {
    /// Takes away the candidates that comments and the patterns of a manifest leave out.
    ///
    /// # Errors
    /// [`MutatorError::Skip`] for a comment or an entry of the manifest that has no reason, or is about nothing.
    pub(crate) fn leave_out(&mut self, patterns: &[SkipPattern], manifest: &Path) -> Result<(), MutatorError> {
        let mut of_comments = Vec::new();
        for (file, source) in self.sources.iter().enumerate().filter(|(_, source)| source.file.text.contains(MARK)) {
            add_comments(file, source, &mut of_comments)?;
        }
        let comments = self.take_away(&of_comments);
        self.skipped.extend(comments);
        for (number, pattern) in patterns.iter().enumerate() {
            let found = pattern.skips(&self.sources).map_err(|message| MutatorError::Skip {
                path: manifest.display().to_string(),
                line: line_of(manifest, &self.system, number),
                message,
            })?;
            let mut skipped = self.take_away(&found);
            // A name that many functions have is listed where it leaves something out.
            if skipped.iter().any(|skipped| skipped.mutants > 0) {
                skipped.retain(|skipped| skipped.mutants > 0);
            }
            self.skipped.extend(skipped);
        }
        Ok(())
    }

    /// Takes away what is left out, and returns how many candidates that is for each.
    fn take_away(&mut self, skips: &[Skip]) -> Vec<SkippedCode> {
        let mut mutants = vec![0; skips.len()];
        let mut stays = |placed: &PlacedCandidate| {
            let Some(skip) = skips.iter().position(|skip| skip.holds(placed)) else { return true };
            mutants[skip] += usize::from(!placed.candidate.change.stands_in);
            false
        };
        self.candidates.retain(&mut stays);
        self.too_long.retain(&mut stays);
        self.constants.retain(&mut stays);
        let listed = skips.iter().zip(mutants).map(|(skip, mutants)| SkippedCode {
            path: skip.path.clone(),
            span: self.sources[skip.file].span(skip.file, &skip.range),
            operators: skip.operators.as_ref().map(|(_, list)| list.clone()),
            mutants,
            reason: skip.reason.clone(),
        });
        listed.collect()
    }
}

/// Adds what the comments of a file leave out.
fn add_comments(file: usize, source: &Source, skips: &mut Vec<Skip>) -> Result<(), MutatorError> {
    let text = source.file.text.as_str();
    let comments = Comments::new(text);
    for comment in comments.all() {
        let Some(said) = comment.text.strip_prefix(MARK) else { continue };
        let refuse = |message: String| MutatorError::Skip {
            path: source.file.path.clone(),
            line: Some(source.span(file, &(comment.start..comment.start)).line),
            message,
        };
        let (operators, reason) = read(said).map_err(refuse)?;
        check_place(&comment).map_err(|message| refuse(message.to_owned()))?;
        // It was parsed before.
        let syntax = syn::parse_str(text).ok();
        let code = comment.next_token.zip(syntax.as_ref());
        let range = code.and_then(|(token, syntax)| comments.beginning_with(token, syntax)).ok_or_else(|| {
            refuse(
                "below it begins no item, statement, arm, field or expression that could be left out; \
                 `skip` in the manifest leaves out whole files"
                    .to_owned(),
            )
        })?;
        let path = path_of(&range, source);
        skips.push(Skip { file, range, path, operators, reason });
    }
    Ok(())
}

/// Returns the path of the one function that code is, or is in; that of the file if there is none.
fn path_of(code: &Range<usize>, source: &Source) -> String {
    let is_in = |inner: &Range<usize>, outer: &Range<usize>| outer.start <= inner.start && inner.end <= outer.end;
    let mut related =
        source.functions.iter().filter(|function| is_in(&function.range, code) || is_in(code, &function.range));
    match (related.next(), related.next()) {
        (Some(function), None) => function.path.clone(),
        _ => source.file.path.clone(),
    }
}

/// The operators of a comment, with the list of them, and its reason.
type Said = (Option<(Selection, String)>, String);

/// Reads what a comment says behind its mark.
fn read(said: &str) -> Result<Said, String> {
    let unknown = || format!("a comment that begins with `{MARK}` has the form {FORM}");
    let said = said.trim().strip_prefix("skip").ok_or_else(unknown)?;
    if said.starts_with(|next: char| next.is_alphanumeric() || matches!(next, '_' | '-')) {
        return Err(unknown());
    }
    let (operators, reason) = said.split_once(':').unwrap_or((said, ""));
    let (operators, reason) = (operators.trim(), reason.trim());
    if reason.is_empty() {
        return Err(format!("this skip has no reason: its form is {FORM}"));
    }
    Ok((selection(operators)?, reason.to_owned()))
}

/// Reads a list of operators; nothing stands for all.
fn selection(list: &str) -> Result<Option<(Selection, String)>, String> {
    if list.is_empty() {
        return Ok(None);
    }
    let selection = Selection::parse(list).map_err(|error| error.to_string())?;
    Ok(Some((selection, list.to_owned())))
}

fn check_place(comment: &Comment<'_>) -> Result<(), &'static str> {
    if comment.is_documentation {
        Err("documentation leaves nothing out: write `//` in place of `///` or `//!`")
    } else if comment.is_behind_code {
        Err("it stands behind code: write it on a line of its own, above the code that it is about")
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
