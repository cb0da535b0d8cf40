//! Where a function body waits for another async function: there it is polled apart, so that the compiler has what the
//! other does in the module of that one.

use std::collections::BTreeSet;

use syn::visit::{self, Visit};
use syn::{Block, Expr, ExprAwait, Item};

use crate::syntax::parts::range_of;
use crate::syntax::source::Source;
use crate::text::edit::{Edit, Variant};

/// The names of a specification's async functions. What has another name is a future of the engine, and short; one of
/// the engine that has the name of an async function is put into a box for nothing.
#[derive(Debug)]
pub(crate) struct AsyncFunctions(BTreeSet<String>);

impl AsyncFunctions {
    pub(crate) fn new(sources: &[Source]) -> Self {
        let functions = sources.iter().flat_map(|source| &source.functions);
        let waiting = functions.filter(|function| function.signature.asyncness.is_some());
        Self(waiting.map(|function| function.signature.ident.to_string()).collect())
    }

    /// Returns the edits that poll the calls of these functions apart which `body` waits for, in a box or without.
    pub(crate) fn edits(&self, body: &Block) -> Vec<Edit> {
        let mut finder = Finder { names: &self.0, edits: Vec::new() };
        finder.visit_block(body);
        finder.edits
    }
}

struct Finder<'a> {
    names: &'a BTreeSet<String>,
    edits: Vec<Edit>,
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_expr_await(&mut self, expression: &'ast ExprAwait) {
        let call = unboxed(&expression.base);
        if called(call).is_some_and(|name| self.names.contains(&name)) {
            let (before, after) = ("::simutant_probe::apart(".into(), ")".into());
            self.edits.push(Edit::wrap(range_of(call), Variant::ALL, vec![before], vec![after]));
        }
        visit::visit_expr_await(self, expression);
    }

    /// What stands in a body has one body only.
    fn visit_item(&mut self, _: &'ast Item) {}
}

/// Returns what `Box::pin` is called with, if it is.
fn unboxed(expression: &Expr) -> &Expr {
    match expression {
        Expr::Call(call) if call.args.len() == 1 => match &*call.func {
            Expr::Path(path) => {
                let mut names = path.path.segments.iter().rev().map(|segment| &segment.ident);
                let is_box =
                    names.next().is_some_and(|name| name == "pin") && names.next().is_some_and(|name| name == "Box");
                if is_box { &call.args[0] } else { expression }
            }
            _ => expression,
        },
        _ => expression,
    }
}

/// Returns the name of the function that is called.
fn called(expression: &Expr) -> Option<String> {
    match expression {
        Expr::Call(call) => match &*call.func {
            Expr::Path(path) => Some(path.path.segments.last()?.ident.to_string()),
            _ => None,
        },
        Expr::MethodCall(call) => Some(call.method.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::parts::inside;
    use crate::text::edit::{Output, Renderer};

    /// Checks what becomes of the body of an async function `f` that waits; `g` is not async.
    #[track_caller]
    fn check(body: &str, expect: &str) {
        let text = format!("fn g() {{}} async fn f() {{{body}}}");
        let sources = [Source::parse("src/a.rs", text.clone()).expect("the test's own source")];
        let function = &sources[0].functions[1].body;
        let edits = AsyncFunctions::new(&sources).edits(function);
        for variant in Variant::ALL {
            let mut output = Output::default();
            Renderer::new(&text, &edits).range(inside(function), *variant, &mut output);
            assert_eq!(output.text.replace("::simutant_probe::", ""), expect);
        }
    }

    #[test]
    fn a_call_is_apart_wherever_it_is_waited_for() {
        check("a::f(f(1).await).await;", "apart(a::f(apart(f(1)).await)).await;");
        check("f(1).await.f(2).await", "apart(apart(f(1)).await.f(2)).await");
        check("self.b.f(2).await?", "apart(self.b.f(2)).await?");
        check("async { |c| async { f(c).await } }.await", "async { |c| async { apart(f(c)).await } }.await");
    }

    #[test]
    fn a_box_is_around_it() {
        check("Box::pin(f(1)).await", "Box::pin(apart(f(1))).await");
        check("std::boxed::Box::pin(self.f(1)).await", "std::boxed::Box::pin(apart(self.f(1))).await");
        check("pin(f(1)).await; Box::new(f(1)).await", "pin(f(1)).await; Box::new(f(1)).await");
    }

    #[test]
    fn what_is_no_async_function_of_the_specification_stays() {
        for body in
            ["f(1)", "g(1).await", "recv().await", "f.await", "self.f.await", "f(1).b.await", "fn h() { f(1).await }"]
        {
            check(body, body);
        }
    }
}
