//! A function once more for each of its mutants, beside the original, so that the compiler's output can be compared.
//!
//! Only functions are copied whose machine code says all: not those that are generic, which have none of their own; not
//! those of traits and of generic types; not those with unsafe code, of which the optimiser may assume too much; and
//! not those that may call themselves, since a copy would call the original then. Which functions call which is told by
//! names: a function is taken to call all those that have a name which it mentions.
//!
//! Steps are counted in the copies as they are in the instrumented build: what takes other steps has other code. All
//! else is as in the source. An async function is copied together with one that makes its future and gives it away, so
//! that there is code for polling and for dropping it.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use proc_macro2::{Delimiter, Spacing, TokenStream, TokenTree};
use simutant_outcomes::Sites;
use syn::visit::Visit;
use syn::{Expr, FnArg};

use crate::instrument::steps;
use crate::mutation::{Candidate, Form};
use crate::specification::Specification;
use crate::syntax::parts::{has_lifetimes_only, inside, range_of};
use crate::syntax::source::{FunctionId, FunctionSource, Home};
use crate::text::edit::{CandidateId, Edit, Output, Owner, Piece, Renderer, Variant};

const CLEAN: &[Variant] = &[Variant::Clean];

/// Files with copies.
#[derive(Debug)]
pub(crate) struct Copied {
    pub(crate) outputs: Vec<Output>,
    /// The functions that are copied.
    pub(crate) functions: Vec<CopiedFunction>,
}

/// A function that is copied.
#[derive(Debug)]
pub(crate) struct CopiedFunction {
    /// The name of its copy without a change.
    pub(crate) original: String,
    /// The names of its mutants' copies, with the mutants' identities.
    pub(crate) mutants: Vec<(String, String)>,
}

/// What is not copied, since its copy does not compile.
#[derive(Debug, Default)]
pub(crate) struct LeftOut {
    /// Candidates.
    pub(crate) candidates: BTreeSet<CandidateId>,
    /// Functions.
    pub(crate) functions: BTreeSet<FunctionId>,
}

/// Which names the functions of a package mention.
#[derive(Debug, Default)]
pub(crate) struct Mentions(BTreeMap<String, BTreeSet<String>>);

impl Mentions {
    /// Adds what a file has.
    pub(crate) fn add(&mut self, file: &syn::File, text: &str) {
        Mentioned { mentions: self, text }.visit_file(file);
    }

    /// Whether what has a name may lead back to it.
    fn is_recursive(&self, name: &str) -> bool {
        let mut open = vec![name];
        let mut seen = BTreeSet::new();
        while let Some(current) = open.pop() {
            for mentioned in self.0.get(current).into_iter().flatten() {
                if mentioned == name {
                    return true;
                }
                if seen.insert(mentioned.as_str()) {
                    open.push(mentioned);
                }
            }
        }
        false
    }
}

/// Notes what the functions, constants and macros of a file mention.
struct Mentioned<'a> {
    mentions: &'a mut Mentions,
    text: &'a str,
}

impl Mentioned<'_> {
    /// `variables` has names that are those of variables where they are not called.
    fn note(&mut self, name: &syn::Ident, range: Range<usize>, variables: &Variables) {
        let mentioned = self.mentions.0.entry(name.to_string()).or_default();
        if let Ok(tokens) = self.text[range].parse() {
            add_names(tokens, variables, mentioned);
        }
    }
}

impl<'ast> Visit<'ast> for Mentioned<'_> {
    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        let mut variables = Variables::default();
        variables.visit_item_fn(item);
        self.note(&item.sig.ident, range_of(&*item.block), &variables);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        let mut variables = Variables::default();
        variables.visit_impl_item_fn(item);
        self.note(&item.sig.ident, range_of(&item.block), &variables);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        let mut variables = Variables::default();
        variables.visit_trait_item_fn(item);
        if let Some(body) = &item.default {
            self.note(&item.sig.ident, range_of(body), &variables);
        }
    }

    fn visit_item_static(&mut self, item: &'ast syn::ItemStatic) {
        self.note(&item.ident, range_of(&*item.expr), &Variables::default());
    }

    fn visit_item_const(&mut self, item: &'ast syn::ItemConst) {
        self.note(&item.ident, range_of(&*item.expr), &Variables::default());
    }

    fn visit_item_macro(&mut self, item: &'ast syn::ItemMacro) {
        if let Some(name) = &item.ident {
            let mentioned = self.mentions.0.entry(name.to_string()).or_default();
            add_names(item.mac.tokens.clone(), &Variables::default(), mentioned);
        }
    }
}

/// The names that a function binds.
#[derive(Default)]
struct Variables(BTreeSet<String>);

impl<'ast> Visit<'ast> for Variables {
    fn visit_pat_ident(&mut self, pattern: &'ast syn::PatIdent) {
        self.0.insert(pattern.ident.to_string());
        syn::visit::visit_pat_ident(self, pattern);
    }
}

/// Adds the names that may be those of functions: not those of fields, nor of variables that are not called.
fn add_names(tokens: TokenStream, variables: &Variables, names: &mut BTreeSet<String>) {
    let tokens: Vec<TokenTree> = tokens.into_iter().collect();
    let punct = |at: Option<usize>| match at.and_then(|at| tokens.get(at)) {
        Some(TokenTree::Punct(punct)) => Some((punct.as_char(), punct.spacing() == Spacing::Joint)),
        _ => None,
    };
    for (at, token) in tokens.iter().enumerate() {
        match token {
            TokenTree::Ident(name) => {
                let name = name.to_string();
                let is_called = matches!(tokens.get(at + 1), Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Parenthesis);
                let next = punct(Some(at + 1));
                // `name::<T>` and `name!`.
                let is_path = matches!(next, Some((':', true) | ('!', _)));
                // `..name` is no field.
                let dots = [at.checked_sub(1), at.checked_sub(2)].map(|at| matches!(punct(at), Some(('.', _))));
                let is_field = dots == [true, false] || matches!(next, Some((':', false)));
                if is_called || is_path || !(is_field || variables.0.contains(&name)) {
                    names.insert(name);
                }
            }
            TokenTree::Group(group) => add_names(group.stream(), variables, names),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}

/// Returns the specification's files with copies of functions. `sites` has the mutants that compile.
pub(crate) fn copy(specification: &Specification, sites: &Sites, mentions: &Mentions, left_out: &LeftOut) -> Copied {
    let numbers: BTreeMap<&str, usize> =
        sites.mutants.iter().enumerate().map(|(number, mutant)| (mutant.identity.as_str(), number)).collect();
    let mut copied = Copied { outputs: Vec::new(), functions: Vec::new() };
    for (file, source) in specification.sources.iter().enumerate() {
        let text = &source.file.text;
        let is_instrumented = |function: &&FunctionSource| {
            let span = source.span(file, &function.range);
            !sites.uninstrumented.iter().chain(&sites.left_out).any(|left| left.span == span)
        };
        // What counts steps is not const.
        let without_const: Vec<Edit> =
            source.functions.iter().filter(is_instrumented).filter_map(without_const).collect();
        let plain = Renderer::new(text, &without_const);
        let mut output = Output::default();
        let mut at = 0;
        for (index, function) in source.functions.iter().enumerate() {
            let id = FunctionId { file, index };
            let inside = inside(&function.body);
            if !is_instrumented(&function) {
                continue;
            }
            plain.range(at..inside.start, Variant::Clean, &mut output);
            plain.owned(Owner::Function(index), &mut output, |output| steps::counted(&function.body, text, output));
            plain.range(inside.end..function.range.end, Variant::Clean, &mut output);
            at = function.range.end;
            if left_out.functions.contains(&id) || !can_be_copied(function, text, mentions) {
                continue;
            }
            let of_function = specification.all_candidates().filter(|(candidate, placed)| {
                placed.function_id() == Some(id) && !left_out.candidates.contains(candidate)
            });
            let mutants: Vec<_> = of_function
                .filter_map(|(candidate, placed)| Some((candidate, placed, *numbers.get(placed.identity.as_str())?)))
                .collect();
            if mutants.is_empty() {
                continue;
            }
            let original = format!("simutant_original_{file}_{index}");
            plain.owned(Owner::Function(index), &mut output, |output| {
                one(function, text, &original, &body(function, text, None), output);
            });
            let mut names = Vec::new();
            for (candidate, placed, number) in mutants {
                let name = format!("simutant_mutant_{number}");
                plain.owned(Owner::Mutant(candidate), &mut output, |output| {
                    one(function, text, &name, &body(function, text, Some(&placed.candidate)), output);
                });
                names.push((name, placed.identity.clone()));
            }
            copied.functions.push(CopiedFunction { original, mutants: names });
        }
        plain.range(at..text.len(), Variant::Clean, &mut output);
        copied.outputs.push(output);
    }
    copied
}

/// Returns the edit that takes the word `const` from a function, if it has it.
fn without_const(function: &FunctionSource) -> Option<Edit> {
    function.constness.clone().map(|range| Edit::replace(range, CLEAN, vec!["     ".into()]))
}

/// Whether the machine code of a copy would say all about a function.
fn can_be_copied(function: &FunctionSource, text: &str, mentions: &Mentions) -> bool {
    struct Unfit(bool);
    impl<'ast> Visit<'ast> for Unfit {
        fn visit_type_impl_trait(&mut self, _: &'ast syn::TypeImplTrait) {
            self.0 = true;
        }
        fn visit_expr_unsafe(&mut self, _: &'ast syn::ExprUnsafe) {
            self.0 = true;
        }
    }
    let signature = &function.signature;
    let mut unfit = Unfit(signature.abi.is_some() || text[range_of(signature)].contains("unsafe"));
    unfit.visit_signature(signature);
    unfit.visit_block(&function.body);
    let is_fit = !unfit.0 && function.home != Home::Other && has_lifetimes_only(&signature.generics);
    is_fit && !mentions.is_recursive(&signature.ident.to_string())
}

/// Returns the inside of a function's body, with its steps, and changed if a candidate is given.
fn body(function: &FunctionSource, text: &str, candidate: Option<&Candidate>) -> String {
    let mut edits = steps::edits(&function.body);
    if let Some(candidate) = candidate {
        if let Some(arm) = candidate.point.arm {
            edits.push(Edit::insert(arm.pattern_end, CLEAN, vec![" if false".into()]));
        } else {
            let mut replacement = Output::default();
            Renderer::new(text, &edits).pieces(&candidate.pieces(), &mut replacement);
            let replacement = replacement.text;
            let range = candidate.point.range();
            let replacement = match candidate.point.form {
                Form::Expression | Form::Jump if syn::parse_str::<Expr>(&replacement).is_ok() => {
                    format!("({replacement})")
                }
                Form::Expression | Form::Jump => format!("({{ {replacement} }})"),
                Form::Statement | Form::ArmBody | Form::Arm => format!("{{ {replacement} }}"),
                Form::Block => format!("{{ ::simutant_probe::tick(); {replacement} }}"),
            };
            // What is put into the place that is replaced is in the replacement already.
            edits.retain(|edit| edit.range.start < range.start || edit.range.end > range.end);
            edits.push(Edit::replace(range, CLEAN, vec![Piece::Text(replacement)]));
        }
    }
    let mut output = Output::default();
    Renderer::new(text, &edits).range(inside(&function.body), Variant::Clean, &mut output);
    output.text
}

/// Appends a copy under a name of its own, with this body.
fn one(function: &FunctionSource, text: &str, name: &str, body: &str, output: &mut Output) {
    let signature = &function.signature;
    let ident = range_of(&signature.ident);
    let mut before = Output::default();
    Renderer::new(text, &Vec::from_iter(without_const(function))).range(
        function.range.start..ident.start,
        Variant::Clean,
        &mut before,
    );
    let (before, after) = (before.text, &text[ident.end..range_of(&function.body).start]);
    let mut push = |piece: &str| output.text.push_str(piece);
    if signature.asyncness.is_none() {
        push(&format!("\n#[inline(never)] {before}{name}{after}{{ ::simutant_probe::tick(); {body} }}"));
        return;
    }
    push(&format!("\n{before}{name}_async{after}{{ ::simutant_probe::tick(); {body} }}"));
    let mut parameters = Vec::new();
    let mut arguments = Vec::new();
    for (number, input) in signature.inputs.iter().enumerate() {
        match input {
            FnArg::Receiver(receiver) => {
                parameters.push(text[range_of(receiver)].trim_start_matches("mut ").to_owned());
                arguments.push("self".to_owned());
            }
            FnArg::Typed(typed) => {
                parameters.push(format!("p{number}: {}", &text[range_of(&*typed.ty)]));
                arguments.push(format!("p{number}"));
            }
        }
    }
    let generics = match (&signature.generics.lt_token, &signature.generics.gt_token) {
        (Some(open), Some(close)) => &text[open.spans[0].byte_range().start..close.spans[0].byte_range().end],
        _ => "",
    };
    let bounds = signature.generics.where_clause.as_ref().map_or("", |clause| &text[range_of(clause)]);
    let home = if function.home == Home::Type { "Self::" } else { "" };
    push(&format!(
        "\n#[inline(never)] fn {name}{generics}({}) {bounds} {{ let future: ::std::pin::Pin<::std::boxed::Box<dyn \
         ::std::future::Future<Output = _> + '_>> = ::std::boxed::Box::pin({home}{name}_async({})); ::std::hint::black_box(future); }}",
        parameters.join(", "),
        arguments.join(", "),
    ));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(text: &str, recursive: &[&str]) {
        let mut mentions = Mentions::default();
        mentions.add(&syn::parse_str(text).expect("the test's own source"), text);
        let found: Vec<&str> =
            mentions.0.keys().filter(|name| mentions.is_recursive(name)).map(String::as_str).collect();
        assert_eq!(found, recursive);
    }

    #[test]
    fn a_function_that_may_lead_back_to_itself_is_recursive() {
        check(
            "fn a() { b() } fn b() { self.c::<u8>() } impl D { fn c(&self) { vec![e] } } const e: fn() = a; fn f() { a() }",
            &["a", "b", "c", "e"],
        );
        check(
            "macro_rules! m { () => { g() } } fn g() { m!() } fn h() { assert!(h(1)) } fn i() { j(..i) }",
            &["g", "h", "i", "m"],
        );
    }

    #[test]
    fn variables_and_fields_are_not_called() {
        check(
            "fn sum(n: u8) { let sum = n; S { count: sum, other: self.count } } fn count() { let x = self.count + y.count; }",
            &[],
        );
        check("fn sum(sum: fn()) { sum() } fn k() { list.k.l() }", &["sum"]);
    }
}
