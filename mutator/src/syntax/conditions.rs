//! Conditional compilation: which code is there at all in the build that is instrumented.
//!
//! Code that is not compiled has no requirements and no mutants: they would be listed as never reached, and say
//! nothing. So items whose `#[cfg(…)]` certainly does not hold are taken out of the syntax tree, and statements, arms and
//! fields whose `#[cfg(…)]` does not certainly hold. The text stays as it is, so that byte offsets do not shift.

use std::collections::BTreeSet;
use std::ops::Range;
use std::process::Command;

use cargo_metadata::{Package, TargetKind};
use syn::punctuated::Punctuated;
use syn::visit::{self, Visit};
use syn::visit_mut::{VisitMut, visit_block_mut, visit_expr_match_mut, visit_expr_struct_mut, visit_file_mut};
use syn::visit_mut::{visit_item_impl_mut, visit_item_mod_mut, visit_item_trait_mut};
use syn::{Attribute, Expr, ExprLit, ImplItem, Item, Lit, Meta, MetaNameValue, Stmt, Token, TraitItem};

use crate::error::MutatorError;
use crate::syntax::parts::range_of;

/// What holds when a package is compiled.
#[derive(Debug, Clone, Default)]
pub(crate) struct Conditions {
    /// What the compiler says of the target, one condition a line, for example `target_os="linux"`; and what the
    /// package's build script adds, once that is known.
    target: BTreeSet<String>,
    /// Whether the compiler has said it.
    is_target_known: bool,
    /// The package's features that are on.
    features: BTreeSet<String>,
    /// All features that the package has.
    declared: BTreeSet<String>,
    /// Whether nothing else can hold: a build script can add conditions, which are not known before it has run.
    are_complete: bool,
}

/// An item, a method or a function of a trait that is not certain to be compiled.
#[derive(Debug, Clone)]
pub(crate) struct Conditional {
    /// Where it stands.
    pub(crate) range: Range<usize>,
    /// The attribute that has the condition.
    pub(crate) attribute: Range<usize>,
    /// The condition.
    pub(crate) condition: Meta,
    /// Whether it is certain not to be compiled.
    pub(crate) is_left_out: bool,
}

impl Conditional {
    /// Whether it is there for tests.
    pub(crate) fn is_for_tests(&self) -> bool {
        is_for_tests(&self.condition)
    }
}

/// Returns whether code under a condition is there for tests.
pub(crate) fn is_for_tests(condition: &Meta) -> bool {
    match condition {
        Meta::Path(path) => path.is_ident("test"),
        Meta::List(list) if list.path.is_ident("not") => false,
        Meta::List(list) => list
            .parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated)
            .is_ok_and(|parts| parts.iter().any(is_for_tests)),
        Meta::NameValue(_) => false,
    }
}

/// Conditions that nothing but the compiler's target and what cargo compiles for decide.
const OF_TARGET: [&str; 6] = ["doc", "doctest", "panic", "proc_macro", "unix", "windows"];

impl Conditions {
    /// Returns the conditions of the target that the compiler builds for, with the user's flags.
    pub(crate) fn of_target() -> Result<Self, MutatorError> {
        let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
        let flags = match (std::env::var("CARGO_ENCODED_RUSTFLAGS"), std::env::var("RUSTFLAGS")) {
            (Ok(flags), _) => flags.split('\u{1f}').map(str::to_owned).collect(),
            (_, Ok(flags)) => flags.split_whitespace().map(str::to_owned).collect(),
            _ => Vec::new(),
        };
        let flags = flags.into_iter().filter(|flag: &String| !flag.is_empty());
        let output = Command::new(compiler).args(["--print", "cfg"]).args(flags).output();
        let output = output.map_err(MutatorError::NoCargo)?;
        let lines = String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect();
        // Flags that `--print` does not take: then nothing is known, and all code is taken for compiled.
        let is_known = output.status.success();
        Ok(Self { target: lines, is_target_known: is_known, are_complete: is_known, ..Self::default() })
    }

    /// Returns the conditions of a package with these features.
    pub(crate) fn of(&self, package: &Package, features: BTreeSet<String>) -> Self {
        // A script may add conditions.
        let has_build_script = package.targets.iter().any(|target| target.kind.contains(&TargetKind::CustomBuild));
        let declared = package.features.keys().cloned().collect();
        let known = if has_build_script { self.before_script() } else { self.clone() };
        Self { features, declared, ..known }
    }

    /// Returns the conditions of a package whose build script has not run yet.
    pub(crate) fn before_script(&self) -> Self {
        Self { are_complete: false, ..self.clone() }
    }

    /// Returns the conditions with those that the package's build script adds.
    pub(crate) fn with_script(&self, added: &[String]) -> Self {
        let target = self.target.iter().chain(added).cloned().collect();
        Self { target, are_complete: self.is_target_known, ..self.clone() }
    }

    /// Returns the code of a file, outside of functions, that is not certain to be compiled; what is around other code
    /// comes first.
    pub(crate) fn conditional(&self, file: &syn::File) -> Vec<Conditional> {
        let mut finder = ConditionFinder { conditions: self, found: Vec::new() };
        finder.note(range_of(file), &file.attrs);
        finder.visit_file(file);
        finder.found
    }

    /// Takes code out of a file that is certainly not compiled.
    pub(crate) fn strip(&self, file: &mut syn::File) {
        Stripper(self).visit_file_mut(file);
    }

    /// Returns the conditions among attributes that are not certain to hold.
    pub(crate) fn doubtful<'t>(&self, attributes: &'t [Attribute]) -> impl Iterator<Item = (&'t Attribute, Meta)> {
        conditions_of(attributes).filter(|(_, condition)| self.holds(condition) != Some(true))
    }

    /// Whether code with these attributes is there; what is not known counts as there.
    fn keep(&self, attributes: &[Attribute]) -> bool {
        conditions_of(attributes).all(|(_, condition)| self.holds(&condition) != Some(false))
    }

    /// Whether a part of a function with these attributes is certain to be there. What is not has no probes and no
    /// mutants: the compiler would not take the attribute inside of other code.
    fn is_certain(&self, attributes: &[Attribute]) -> bool {
        conditions_of(attributes).all(|(_, condition)| self.holds(&condition) == Some(true))
    }

    /// Whether a condition holds, as far as that is known.
    pub(crate) fn holds(&self, condition: &Meta) -> Option<bool> {
        match condition {
            Meta::Path(path) if path.is_ident("test") => Some(false),
            // The generated workspace's profile has them on.
            Meta::Path(path) if path.is_ident("debug_assertions") => Some(true),
            Meta::Path(path) => self.is_in_target(&path.get_ident()?.to_string()),
            Meta::NameValue(MetaNameValue { path, value: Expr::Lit(ExprLit { lit: Lit::Str(value), .. }), .. }) => {
                if path.is_ident("feature") {
                    let (name, is_known) = (value.value(), self.are_complete);
                    let is_known = is_known || self.declared.contains(&name);
                    return is_known.then(|| self.features.contains(&name));
                }
                self.is_in_target(&format!("{}={:?}", path.get_ident()?, value.value()))
            }
            Meta::List(list) => {
                let parts = list.parse_args_with(Punctuated::<Meta, Token![,]>::parse_terminated).ok()?;
                let parts: Vec<Option<bool>> = parts.iter().map(|part| self.holds(part)).collect();
                let one_is = |value| parts.contains(&Some(value));
                let is_known = !parts.contains(&None);
                if list.path.is_ident("any") {
                    if one_is(true) { Some(true) } else { is_known.then_some(false) }
                } else if list.path.is_ident("all") {
                    if one_is(false) { Some(false) } else { is_known.then_some(true) }
                } else if list.path.is_ident("not") {
                    parts.first().copied().flatten().map(|holds| !holds)
                } else {
                    None
                }
            }
            Meta::NameValue(_) => None,
        }
    }

    fn is_in_target(&self, condition: &str) -> Option<bool> {
        let name = condition.split('=').next().unwrap_or_default();
        let is_of_target = self.is_target_known && (name.starts_with("target_") || OF_TARGET.contains(&name));
        if self.target.contains(condition) { Some(true) } else { (self.are_complete || is_of_target).then_some(false) }
    }
}

/// Returns the conditions among attributes.
fn conditions_of(attributes: &[Attribute]) -> impl Iterator<Item = (&Attribute, Meta)> {
    attributes.iter().filter_map(|attribute| match &attribute.meta {
        Meta::List(list) if list.path.is_ident("cfg") => Some((attribute, list.parse_args().ok()?)),
        _ => None,
    })
}

struct ConditionFinder<'a> {
    conditions: &'a Conditions,
    found: Vec<Conditional>,
}

impl ConditionFinder<'_> {
    fn note(&mut self, range: Range<usize>, attributes: &[Attribute]) {
        for (attribute, condition) in self.conditions.doubtful(attributes) {
            let (range, attribute) = (range.clone(), range_of(attribute));
            let is_left_out = self.conditions.holds(&condition) == Some(false);
            self.found.push(Conditional { range, attribute, condition, is_left_out });
        }
    }
}

impl<'ast> Visit<'ast> for ConditionFinder<'_> {
    fn visit_item(&mut self, item: &'ast Item) {
        self.note(range_of(item), item_attributes(item));
        visit::visit_item(self, item);
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        self.note(range_of(item), &item.attrs);
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        self.note(range_of(item), &item.attrs);
    }

    fn visit_block(&mut self, _: &'ast syn::Block) {}
}

struct Stripper<'a>(&'a Conditions);

impl VisitMut for Stripper<'_> {
    fn visit_file_mut(&mut self, file: &mut syn::File) {
        let is_there = self.0.keep(&file.attrs);
        file.items.retain(|item| is_there && self.0.keep(item_attributes(item)));
        visit_file_mut(self, file);
    }

    fn visit_item_mod_mut(&mut self, module: &mut syn::ItemMod) {
        if let Some((_, items)) = &mut module.content {
            items.retain(|item| self.0.keep(item_attributes(item)));
        }
        visit_item_mod_mut(self, module);
    }

    fn visit_item_impl_mut(&mut self, block: &mut syn::ItemImpl) {
        block.items.retain(|item| match item {
            ImplItem::Fn(item) => self.0.keep(&item.attrs),
            _ => true,
        });
        visit_item_impl_mut(self, block);
    }

    fn visit_item_trait_mut(&mut self, item: &mut syn::ItemTrait) {
        item.items.retain(|item| match item {
            TraitItem::Fn(item) => self.0.keep(&item.attrs),
            _ => true,
        });
        visit_item_trait_mut(self, item);
    }

    fn visit_block_mut(&mut self, block: &mut syn::Block) {
        block.stmts.retain(|statement| match statement {
            Stmt::Local(local) => self.0.is_certain(&local.attrs),
            Stmt::Item(item) => self.0.keep(item_attributes(item)),
            Stmt::Expr(expression, _) => self.0.is_certain(expression_attributes(expression)),
            Stmt::Macro(call) => self.0.is_certain(&call.attrs),
        });
        visit_block_mut(self, block);
    }

    fn visit_expr_match_mut(&mut self, expression: &mut syn::ExprMatch) {
        expression.arms.retain(|arm| self.0.is_certain(&arm.attrs));
        visit_expr_match_mut(self, expression);
    }

    fn visit_expr_struct_mut(&mut self, expression: &mut syn::ExprStruct) {
        let fields = std::mem::take(&mut expression.fields);
        expression.fields = fields.into_iter().filter(|field| self.0.is_certain(&field.attrs)).collect();
        visit_expr_struct_mut(self, expression);
    }
}

/// Returns the attributes of an item.
pub(crate) fn item_attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::ExternCrate(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::ForeignMod(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::TraitAlias(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Union(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// The attributes of an expression that can be a statement with an attribute of its own.
fn expression_attributes(expression: &Expr) -> &[Attribute] {
    match expression {
        Expr::Assign(expression) => &expression.attrs,
        Expr::Binary(expression) => &expression.attrs,
        Expr::Block(expression) => &expression.attrs,
        Expr::Break(expression) => &expression.attrs,
        Expr::Call(expression) => &expression.attrs,
        Expr::Continue(expression) => &expression.attrs,
        Expr::ForLoop(expression) => &expression.attrs,
        Expr::If(expression) => &expression.attrs,
        Expr::Loop(expression) => &expression.attrs,
        Expr::Match(expression) => &expression.attrs,
        Expr::MethodCall(expression) => &expression.attrs,
        Expr::Return(expression) => &expression.attrs,
        Expr::Unsafe(expression) => &expression.attrs,
        Expr::While(expression) => &expression.attrs,
        _ => &[],
    }
}

/// Says which attribute leaves code out.
pub(crate) fn left_out_by(attribute: &str) -> String {
    format!("left out by `{}`", attribute.split_whitespace().collect::<Vec<_>>().join(" "))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of the functions that are called, in order.
    struct Calls(Vec<String>);

    impl Visit<'_> for Calls {
        fn visit_expr_call(&mut self, call: &syn::ExprCall) {
            if let Expr::Path(path) = &*call.func {
                self.0.push(path.path.get_ident().expect("the tests call by name").to_string());
            }
        }
    }

    fn conditions(are_complete: bool) -> Conditions {
        let target = ["unix", "target_os=\"linux\""].map(str::to_owned).into();
        let declared = ["fast", "slow"].map(str::to_owned).into();
        Conditions { target, is_target_known: true, features: ["fast".to_owned()].into(), declared, are_complete }
    }

    #[track_caller]
    fn check(condition: &str, expect: Option<bool>, expect_incomplete: Option<bool>) {
        let condition: Meta = syn::parse_str(condition).expect("the test's own condition");
        assert_eq!(conditions(true).holds(&condition), expect);
        assert_eq!(conditions(false).holds(&condition), expect_incomplete, "with a build script");
    }

    #[test]
    fn conditions_are_evaluated_as_far_as_they_are_known() {
        check("test", Some(false), Some(false));
        check("debug_assertions", Some(true), Some(true));
        check("unix", Some(true), Some(true));
        check("windows", Some(false), Some(false));
        check("target_os = \"linux\"", Some(true), Some(true));
        check("target_os = \"macos\"", Some(false), Some(false));
        check("feature = \"fast\"", Some(true), Some(true));
        check("feature = \"slow\"", Some(false), Some(false));
        check("feature = \"odd\"", Some(false), None);
        check("not(feature = \"slow\")", Some(true), Some(true));
        check("has_more", Some(false), None);
        check("any(windows, unix)", Some(true), Some(true));
        check("any(has_more, test)", Some(false), None);
        check("all(has_more, unix)", Some(false), None);
        check("all(test, windows)", Some(false), Some(false));
        check("made_up(unix)", None, None);
    }

    #[test]
    fn what_is_not_compiled_is_taken_out_wherever_it_stands() {
        let text = r#"
            #[cfg(windows)] fn a() { one() }
            #[cfg(unix)] fn a() {
                #[cfg(feature = "slow")] two();
                #[cfg(feature = "slow")] let x = three();
                #[cfg(feature = "slow")] { four() }
                let s = S { #[cfg(feature = "slow")] f: five(), g: six() };
                match s { #[cfg(windows)] _ => seven(), _ => eight() }
            }
            mod m { #[cfg(test)] fn b() { nine() } }
            impl S { #[cfg(not(unix))] fn c() { ten() } fn d() { eleven() } }
            trait T { #[cfg(windows)] fn c() { twelve() } }
        "#;
        let mut file = syn::parse_str(text).expect("the test's own source");
        conditions(true).strip(&mut file);
        let mut calls = Calls(Vec::new());
        calls.visit_file(&file);
        assert_eq!(calls.0, ["six", "eight", "eleven"]);
    }

    #[test]
    fn a_file_can_be_taken_out_as_a_whole() {
        let mut file = syn::parse_str("#![cfg(windows)] fn a() {}").expect("the test's own source");
        conditions(true).strip(&mut file);
        assert_eq!(file.items, []);
    }

    #[test]
    fn the_compiler_says_what_the_target_is() {
        let target = Conditions::of_target().expect("there is a compiler");
        let condition = syn::parse_str("any(unix, windows)").expect("the test's own condition");
        assert_eq!(target.holds(&condition), Some(true));
        assert!(target.are_complete);
    }

    #[test]
    fn what_a_build_script_adds_is_known_once_it_has_run() {
        let condition: Meta = syn::parse_str("any(has_more, kind = \"a\")").expect("the test's own condition");
        let before = conditions(false);
        assert_eq!(before.holds(&condition), None);
        assert_eq!(before.with_script(&[]).holds(&condition), Some(false));
        assert_eq!(before.with_script(&["has_more".to_owned()]).holds(&condition), Some(true));
        assert_eq!(before.with_script(&["kind=\"a\"".to_owned()]).holds(&condition), Some(true));
    }

    #[test]
    fn parts_of_functions_under_conditions_that_are_not_known_are_taken_out() {
        let text = "#[cfg(has_more)] fn a() { #[cfg(has_more)] one(); #[cfg(unix)] two(); match b { #[cfg(has_more)] _ => three(), _ => {} } }";
        let mut file = syn::parse_str(text).expect("the test's own source");
        conditions(false).strip(&mut file);
        let mut calls = Calls(Vec::new());
        calls.visit_file(&file);
        assert_eq!(calls.0, ["two"]);
    }
}
