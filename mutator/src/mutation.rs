//! Finds the places in a function where the operators apply, and settles which of the changes become mutants.

mod candidate;
mod finder;
mod settle;
mod tags;
mod temporaries;

use std::collections::BTreeSet;

use syn::visit::{self, Visit};

use crate::operators::{Context, Replacements, Selection, Spawner};
use crate::syntax::declarations::{Declarations, Scope};
use crate::syntax::names::Names;
use crate::syntax::source::{FunctionSource, Source};
use crate::syntax::types::Types;
use finder::Finder;
use settle::{Found, settle};
use temporaries::Temporaries;

pub(crate) use candidate::{ArmParts, Candidate, Form, Operation, PlacedCandidate, Point};

/// What is asked of the operators, and what they may know of the package.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Settings<'a> {
    pub(crate) selection: &'a Selection,
    pub(crate) declarations: &'a Declarations,
    pub(crate) names: &'a Names,
}

/// What the operators find in a function.
#[derive(Debug, Default)]
pub(crate) struct Candidates {
    /// In the order of their points; those of one point follow one another. No two of them make the same text but for
    /// spaces, and none makes the original's.
    pub(crate) placed: Vec<Candidate>,
    /// Those whose choices would need too much code: see [`COPIES_MAX`].
    pub(crate) too_long: Vec<Candidate>,
    /// The names that stand for several declarations, so that operators do not know which.
    pub(crate) ambiguous: BTreeSet<String>,
}

/// How many bytes of a function's source are copied so that choices end no temporary early: where the choice of a mutant
/// is farther out than its place, the mutant is a copy of all that is there.
const COPIES_MAX: usize = 1 << 18;

/// Returns the candidates in a function.
pub(crate) fn candidates(source: &Source, function: &FunctionSource, settings: &Settings<'_>) -> Candidates {
    let Settings { selection, declarations, names } = *settings;
    let text = source.file.text.as_str();
    let self_type = function.self_path.as_deref().or(function.self_type.as_deref());
    let scope = declarations.scope(&source.crate_module(function), self_type, &function.body);
    let temporaries = Temporaries::new(&function.body, source.edition);
    let found = found(&scope, function, text, selection, names).into_iter().map(|found| {
        let elsewhere = temporaries.choice(&found.candidate, text);
        Candidate { elsewhere, ..found.candidate }
    });
    let mut found: Vec<(usize, Candidate)> = found.enumerate().collect();
    // The shortest copies find room.
    found.sort_by_key(|(_, candidate)| candidate.copied_bytes());
    let mut bytes = 0;
    let mut fits = |(_, candidate): &(usize, Candidate)| {
        bytes += candidate.copied_bytes();
        bytes <= COPIES_MAX
    };
    let too_long = found.split_off(found.iter().take_while(|found| fits(found)).count());
    let [placed, too_long] = [found, too_long].map(|mut list| {
        list.sort_unstable_by_key(|(index, _)| *index);
        list.into_iter().map(|(_, candidate)| candidate).collect()
    });
    Candidates { placed, too_long, ambiguous: scope.into_ambiguous() }
}

fn found(scope: &Scope<'_>, function: &FunctionSource, text: &str, selection: &Selection, names: &Names) -> Vec<Found> {
    let types = Types::new(scope, names, &function.signature, &function.body, text);
    let mut labels = BlockLabels(BTreeSet::new());
    labels.visit_block(&function.body);
    let spawner = Spawner::of(&function.body, names);
    let context = Context {
        text,
        signature: &function.signature,
        scope,
        names,
        types: &types,
        is_unsigned: false,
        block_labels: &labels.0,
        spawner: spawner.as_ref(),
        replacements: Replacements::Reduced,
    };
    let mut finder = Finder {
        context,
        selection,
        found: Vec::new(),
        around: None,
        statement: None,
        unsigned: BTreeSet::new(),
        is_nested: false,
    };
    finder.function(&function.body);
    let mut found = finder.found;
    settle(&mut found, &function.range, text);
    found.sort_by(|left, right| {
        let order = |found: &Found| (found.candidate.point.clone(), found.candidate.change.range.start, found.rank);
        order(left).cmp(&order(right))
    });
    found
}

struct BlockLabels(BTreeSet<String>);

impl<'ast> Visit<'ast> for BlockLabels {
    fn visit_expr_block(&mut self, block: &'ast syn::ExprBlock) {
        if let Some(label) = &block.label {
            self.0.insert(label.name.ident.to_string());
        }
        visit::visit_expr_block(self, block);
    }
}

#[cfg(test)]
mod tests;
