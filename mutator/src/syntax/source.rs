//! A specification file: its text, its syntax, its functions.

use std::collections::BTreeSet;
use std::ops::Range;

use cargo_metadata::Edition;
use simutant_outcomes::{SourceFile, Span};
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, Block, ImplItem, Item, ItemFn, ItemMacro, ItemMod, Meta, ReturnType, Signature, TraitItem, Type};

use crate::error::MutatorError;
use crate::syntax::conditions::{Conditional, Conditions, left_out_by};
use crate::syntax::constants::{self, ConstantSource};
use crate::syntax::hidden::{Hidden, hidden};
use crate::syntax::module_files::{LeftOutModule, ModuleFile};
use crate::syntax::parts::{has_lifetimes_only, is_test, join, range_of, type_name, type_path};

/// A parsed specification file.
#[derive(Debug)]
pub(crate) struct Source {
    pub(crate) file: SourceFile,
    pub(crate) functions: Vec<FunctionSource>,
    /// Functions that are not compiled, but for tests.
    pub(crate) left_out: Vec<LeftOutFunction>,
    /// Those of modules, types and traits, and then those in functions.
    pub(crate) constants: Vec<ConstantSource>,
    /// The paths and places of definitions by `macro_rules!`, but for tests.
    pub(crate) macros: Vec<(String, Range<usize>)>,
    /// The module that the file holds, as reports have it.
    module: String,
    /// The same from the crate's name on, as declarations have it.
    pub(crate) crate_module: String,
    /// The edition that it is compiled with.
    pub(crate) edition: Edition,
    /// Byte offsets at which lines start.
    line_starts: Vec<usize>,
}

/// A function that a condition leaves out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct LeftOutFunction {
    /// Module path, type and name.
    pub(crate) path: String,
    /// From the signature to the closing brace.
    pub(crate) range: Range<usize>,
    /// Says which condition it is.
    pub(crate) reason: String,
}

/// A function of a specification, by where it is found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FunctionId {
    /// The index of its file among the specification's.
    pub(crate) file: usize,
    /// Its index among the functions of the file.
    pub(crate) index: usize,
}

/// A function with a body.
#[derive(Debug)]
pub(crate) struct FunctionSource {
    /// Module path, type and name.
    pub(crate) path: String,
    /// From the signature to the closing brace.
    pub(crate) range: Range<usize>,
    pub(crate) body: Block,
    pub(crate) signature: Signature,
    /// The type that it is a method of.
    pub(crate) self_type: Option<String>,
    /// The path of that type, as it stands there.
    pub(crate) self_path: Option<String>,
    /// The module that it is in.
    pub(crate) module: String,
    /// The names of the constants that it, or what it is in, has as parameters.
    pub(crate) const_parameters: BTreeSet<String>,
    /// Why it cannot have probes, if that can be told from its signature.
    pub(crate) obstacle: Option<&'static str>,
    /// The word that makes it a const function: one with probes is none.
    pub(crate) constness: Option<Range<usize>>,
    /// The conditions that it is under of which it is not known whether they hold, and for each what is to be said if it
    /// does not.
    pub(crate) conditions: Vec<(Meta, String)>,
    /// What it returns, if only the compiler can name the type of that.
    pub(crate) hidden: Option<Hidden>,
    /// `None` if no closure could do in its place.
    pub(crate) closure: Option<ClosureForm>,
    /// What the function belongs to.
    pub(crate) home: Home,
    /// Where an attribute can say that the compiler must not put the function in the place of its calls: where an async
    /// one begins, unless its own attributes may say otherwise. What calls it makes a future, and would be compiled
    /// again with each edit that changes the future's size.
    pub(crate) outlined_at: Option<usize>,
}

/// What a function belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Home {
    /// A module.
    Module,
    /// A type without parameters, but for lifetimes.
    Type,
    /// A type with parameters, or a trait.
    Other,
}

/// What a closure needs to do what a function does.
#[derive(Debug)]
pub(crate) struct ClosureForm {
    /// The type that it returns; `None` if that is `()`.
    pub(crate) returns: Option<Range<usize>>,
}

impl Source {
    /// Parses a file of which nothing is known but its path in its package.
    #[cfg(test)]
    pub(crate) fn parse(path: &str, text: String) -> Result<Self, MutatorError> {
        Self::parse_module(path, &module_path(path), &Conditions::default(), text)
    }

    /// Parses the file that holds a module, with the path that reports have of it.
    pub(crate) fn parse_module(
        path: &str,
        module: &str,
        conditions: &Conditions,
        text: String,
    ) -> Result<Self, MutatorError> {
        // Not `parse_file`: it strips what stands before the first item, and byte offsets would shift.
        let mut syntax: syn::File = syn::parse_str(&text).map_err(|error| MutatorError::Syntax {
            path: path.into(),
            line: error.span().start().line,
            message: error.to_string(),
        })?;
        let conditional = conditions.conditional(&syntax);
        let all = if conditional.is_empty() { Vec::new() } else { syntax.items.clone() };
        conditions.strip(&mut syntax);
        let mut constants = Vec::new();
        constants::declared(&syntax.items, module, &text, &mut constants);
        let macros = macro_definitions(&syntax, module);
        let mut functions = Vec::new();
        collect(syntax.items, module, &mut functions);
        let mut left_out = Vec::new();
        collect(all, module, &mut left_out);
        let left_out = left_out.into_iter().filter_map(|function| {
            let conditions = around(&conditional, &function.range);
            let condition = conditions.clone().find(|condition| condition.is_left_out)?;
            let is_for_tests = conditions.clone().any(Conditional::is_for_tests);
            let reason = left_out_by(&text[condition.attribute.clone()]);
            (!is_for_tests).then_some(LeftOutFunction { path: function.path, range: function.range, reason })
        });
        let left_out = left_out.collect();
        for function in &mut functions {
            let open = around(&conditional, &function.range);
            let open = open.map(|open| (open.condition.clone(), left_out_by(&text[open.attribute.clone()])));
            function.conditions = open.collect();
        }
        // A function that has one body only cannot choose.
        for (index, function) in functions.iter().enumerate().filter(|(_, function)| function.obstacle.is_none()) {
            constants::inner(index, &function.path, &function.body, &text, &mut constants);
        }
        let line_starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1)).collect();
        let (module, crate_module) = (module.to_owned(), module.to_owned());
        let file = SourceFile { path: path.into(), text };
        let edition = Edition::E2024;
        Ok(Self { file, functions, left_out, constants, macros, module, crate_module, edition, line_starts })
    }

    /// Takes in what is said where the file's module is declared.
    pub(crate) fn under(mut self, module: &ModuleFile) -> Self {
        if let Some(LeftOutModule { reason, .. }) = &module.left_out {
            let functions = self.functions.drain(..).map(|function| (function.path, function.range));
            let left_out = functions.map(|(path, range)| LeftOutFunction { path, range, reason: reason.clone() });
            self.left_out.extend(left_out);
            self.left_out.sort_by_key(|function| function.range.start);
            self.constants.clear();
            self.macros.clear();
        }
        for function in &mut self.functions {
            function.conditions.extend_from_slice(&module.conditions);
        }
        self
    }

    /// Returns the module of a function, from the crate's name on.
    pub(crate) fn crate_module(&self, function: &FunctionSource) -> String {
        let inner = function.module.strip_prefix(&self.module).unwrap_or_default();
        join(&self.crate_module, inner.trim_start_matches("::"))
    }

    /// Returns the place of a range. `file` is the index of this file.
    pub(crate) fn span(&self, file: usize, range: &Range<usize>) -> Span {
        let line_of = |offset: usize| self.line_starts.partition_point(|start| *start <= offset);
        let line = line_of(range.start);
        let column = self.file.text[self.line_starts[line - 1]..range.start].chars().count() + 1;
        let last = range.end.saturating_sub(1).max(range.start);
        Span { file, start: range.start, end: range.end, line, column, line_end: line_of(last) }
    }
}

/// Returns the conditions that a function is under.
fn around<'a>(
    conditional: &'a [Conditional],
    function: &Range<usize>,
) -> impl Iterator<Item = &'a Conditional> + Clone + use<'a> {
    let Range { start, end } = *function;
    conditional.iter().filter(move |condition| condition.range.start <= start && end <= condition.range.end)
}

/// Returns the module that a file of a package holds: `src/gbn/sender.rs` is `gbn::sender`.
pub(crate) fn module_path(path: &str) -> String {
    let path = path.strip_prefix("src/").unwrap_or(path);
    let path = path.strip_suffix(".rs").unwrap_or(path);
    let path = path.strip_suffix("/mod").unwrap_or(path);
    if matches!(path, "lib" | "main") { String::new() } else { path.replace('/', "::") }
}

/// Returns the paths and places of the definitions by `macro_rules!` in a file, those in functions included.
fn macro_definitions(file: &syn::File, module: &str) -> Vec<(String, Range<usize>)> {
    struct Finder(String, Vec<(String, Range<usize>)>);
    impl<'ast> Visit<'ast> for Finder {
        fn visit_item_mod(&mut self, item: &'ast ItemMod) {
            if !is_test(&item.attrs) {
                let around = std::mem::take(&mut self.0);
                self.0 = join(&around, &item.ident.to_string());
                visit::visit_item_mod(self, item);
                self.0 = around;
            }
        }

        fn visit_item_fn(&mut self, item: &'ast ItemFn) {
            if !is_test(&item.attrs) {
                visit::visit_item_fn(self, item);
            }
        }

        fn visit_item_macro(&mut self, item: &'ast ItemMacro) {
            if let Some(name) = &item.ident
                && item.mac.path.is_ident("macro_rules")
                && !is_test(&item.attrs)
            {
                self.1.push((join(&self.0, &format!("{name}!")), range_of(item)));
            }
        }
    }
    let mut finder = Finder(module.to_owned(), Vec::new());
    finder.visit_file(file);
    finder.1
}

fn collect(items: Vec<Item>, module: &str, functions: &mut Vec<FunctionSource>) {
    for item in items {
        match item {
            Item::Fn(item) if !is_test(&item.attrs) => {
                let outlined_at = outlined_at(&item, &item.attrs, &item.sig);
                let place = Place {
                    module,
                    path: module,
                    self_type: None,
                    self_path: None,
                    home: Home::Module,
                    generics: None,
                };
                functions.push(function(&place, outlined_at, item.sig, *item.block));
            }
            Item::Mod(item) if !is_test(&item.attrs) => {
                let module = join(module, &item.ident.to_string());
                collect(item.content.map(|(_, items)| items).unwrap_or_default(), &module, functions);
            }
            Item::Impl(item) if !is_test(&item.attrs) => {
                let self_type = type_name(&item.self_ty);
                let path = join(module, &self_type);
                let is_plain = item.trait_.is_none() && has_lifetimes_only(&item.generics);
                let home = if is_plain { Home::Type } else { Home::Other };
                let generics = Some(&item.generics);
                let self_path = type_path(&item.self_ty);
                let self_path = self_path.as_deref();
                let place = Place { module, path: &path, self_type: Some(&self_type), self_path, home, generics };
                for item in item.items {
                    if let ImplItem::Fn(item) = item
                        && !is_test(&item.attrs)
                    {
                        let outlined_at = outlined_at(&item, &item.attrs, &item.sig);
                        functions.push(function(&place, outlined_at, item.sig, item.block));
                    }
                }
            }
            Item::Trait(item) if !is_test(&item.attrs) => {
                let path = join(module, &item.ident.to_string());
                let generics = Some(&item.generics);
                let home = Home::Other;
                let place = Place { module, path: &path, self_type: None, self_path: None, home, generics };
                for item in item.items {
                    if let TraitItem::Fn(mut item) = item
                        && let Some(body) = item.default.take()
                    {
                        let outlined_at = outlined_at(&item, &item.attrs, &item.sig);
                        functions.push(function(&place, outlined_at, item.sig, body));
                    }
                }
            }
            _ => {}
        }
    }
}

/// What a function stands in.
struct Place<'a> {
    module: &'a str,
    /// The module, with the type or the trait.
    path: &'a str,
    self_type: Option<&'a str>,
    self_path: Option<&'a str>,
    home: Home,
    generics: Option<&'a syn::Generics>,
}

/// See [`FunctionSource::outlined_at`].
fn outlined_at(item: &impl Spanned, attributes: &[Attribute], signature: &Signature) -> Option<usize> {
    let says_so = |attribute: &Attribute| ["inline", "cfg_attr"].iter().any(|name| attribute.path().is_ident(name));
    (signature.asyncness.is_some() && !attributes.iter().any(says_so)).then(|| range_of(item).start)
}

fn function(place: &Place<'_>, outlined_at: Option<usize>, signature: Signature, body: Block) -> FunctionSource {
    let &Place { module, path, self_type, self_path, home, generics } = place;
    let range = range_of(&signature).start..range_of(&body).end;
    let (hidden, obstacle) = match hidden(&signature) {
        Ok(hidden) => (hidden, None),
        Err(obstacle) => (None, Some(obstacle)),
    };
    let constness = signature.constness.as_ref().map(range_of);
    let path = join(path, &signature.ident.to_string());
    let self_type = self_type.map(str::to_owned);
    let closure = match &signature.output {
        // A closure cannot wait, and the compiler does not take the type of what never returns, nor one without a name.
        _ if signature.asyncness.is_some() || hidden.is_some() => None,
        ReturnType::Type(_, never) if matches!(**never, Type::Never(_)) => None,
        ReturnType::Type(_, returns) => Some(ClosureForm { returns: Some(range_of(&**returns)) }),
        ReturnType::Default => Some(ClosureForm { returns: None }),
    };
    let parameters = generics.into_iter().chain([&signature.generics]).flat_map(syn::Generics::const_params);
    let const_parameters = parameters.map(|parameter| parameter.ident.to_string()).collect();
    FunctionSource {
        path,
        range,
        body,
        signature,
        self_type,
        self_path: self_path.map(str::to_owned),
        module: module.to_owned(),
        const_parameters,
        obstacle,
        constness,
        conditions: Vec::new(),
        hidden,
        closure,
        home,
        outlined_at,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, text: &str, expect: &[&str]) {
        let source = Source::parse(path, text.into()).expect("the test's own source");
        let paths: Vec<&str> = source.functions.iter().map(|function| function.path.as_str()).collect();
        assert_eq!(paths, expect);
    }

    #[test]
    fn functions_are_named_by_module_and_type() {
        check(
            "src/gbn/sender.rs",
            "fn a() {} impl<T> B<T> { fn c() {} } mod d { fn e() {} }",
            &["gbn::sender::a", "gbn::sender::B::c", "gbn::sender::d::e"],
        );
        check("src/lib.rs", "trait A { fn b() {} fn c(); }", &["A::b"]);
    }

    #[test]
    fn tests_are_no_specification() {
        check(
            "src/a.rs",
            "#[test] fn a() {} #[cfg(test)] mod tests { fn b() {} } #[cfg(all(test, unix))] fn c() {}",
            &[],
        );
        check("src/a.rs", "#[cfg(not(test))] fn a() {} #[cfg(any(test, unix))] fn b() {}", &["a::a", "a::b"]);
    }

    #[test]
    fn definitions_of_macros_are_listed_but_for_tests() {
        let text =
            "macro_rules! a { () => { fn b() {} } } mod c { fn d() { macro_rules! e { () => { 1 + 2 } } e!(); } }
            a!(); #[cfg(test)] mod f { macro_rules! g { () => {} } } #[cfg(test)] macro_rules! h { () => {} }";
        let source = Source::parse("src/i.rs", text.into()).expect("the test's own source");
        let found: Vec<_> = source.macros.iter().map(|(path, range)| (path.as_str(), &text[range.clone()])).collect();
        let [a, e] = ["macro_rules! a { () => { fn b() {} } }", "macro_rules! e { () => { 1 + 2 } }"];
        assert_eq!(found, [("i::a!", a), ("i::c::e!", e)]);
    }

    #[test]
    fn what_conditions_leave_out_is_listed_but_for_tests() {
        let text =
            "#[cfg(windows)] fn a() {} #[cfg(unix)] fn b() {} mod c { #![cfg(not(\nunix))] impl D { fn e() {} } }
            impl F { #[cfg(windows)] fn g() {} #[cfg(any(test, windows))] fn h() {} #[cfg(all(unix, i))] fn j() {} }
            #[cfg(test)] mod k { fn l() {} #[cfg(windows)] fn m() {} }";
        let conditions = Conditions::of_target().expect("there is a compiler").before_script();
        let source = Source::parse_module("src/a.rs", "a", &conditions, text.into()).expect("the test's own source");
        let left_out: Vec<_> =
            source.left_out.iter().map(|function| (function.path.as_str(), function.reason.as_str())).collect();
        assert_eq!(
            left_out,
            [
                ("a::a", "left out by `#[cfg(windows)]`"),
                ("a::c::D::e", "left out by `#![cfg(not( unix))]`"),
                ("a::F::g", "left out by `#[cfg(windows)]`")
            ]
        );
        let open: Vec<_> =
            source.functions.iter().map(|function| (&*function.path, function.conditions.len())).collect();
        assert_eq!(open, [("a::b", 0), ("a::F::j", 1)]);
    }

    #[test]
    fn an_async_function_is_outlined_unless_its_attributes_may_say_otherwise() {
        let text = "/// A.\npub async fn a() {} #[inline] async fn b() {} #[cfg_attr(unix, inline)] async fn c() {} fn d() {} \
                    trait E { async fn f() {} } impl G { #[allow(unused)] pub(crate) async fn h() {} }";
        let source = Source::parse("src/a.rs", text.into()).expect("the test's own source");
        let begin = ["/// A.", "async fn f", "#[allow(unused)]"].map(|begin| text.find(begin));
        let found: Vec<Option<usize>> = source.functions.iter().map(|function| function.outlined_at).collect();
        assert_eq!(found, [begin[0], None, None, None, begin[1], begin[2]]);
    }

    #[test]
    fn places_count_lines_and_characters_from_one() {
        let source = Source::parse("src/a.rs", "// é\nfn é() {\n}\n".into()).expect("the test's own source");
        let span = source.span(0, &source.functions[0].range);
        assert_eq!((span.line, span.column, span.line_end), (2, 1, 3));
    }

    #[test]
    fn a_syntax_error_names_file_and_line() {
        let message = Source::parse("src/a.rs", "fn a() {}\nfn {".into()).expect_err("it ends early").to_string();
        assert!(message.starts_with("src/a.rs:2: "), "{message}");
    }
}
