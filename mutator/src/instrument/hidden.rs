//! The bodies of a function that returns an `impl Trait`: their values become one of a type that all of them have.
//!
//! ```text
//! match SIMUTANT_FUNCTION.enter() {
//!     0 => {::simutant_probe::Either::One({clean})}
//!     _ => {::simutant_probe::Either::Other('simutant_body: {covering})}
//! }
//! ```

use syn::visit::{self, Visit};
use syn::{Block, Expr, ExprReturn, Item};

use crate::syntax::hidden::{Hidden, HiddenKind};
use crate::syntax::parts::range_of;
use crate::text::edit::{Edit, Variant};

/// What leaves a body whose value is still to become another one.
const LEAVE: &str = "break 'simutant_body";

/// Returns what stands before and after the body with this number of `count`; `text` is that of the file.
pub(super) fn around(hidden: &Hidden, body: &Block, number: usize, count: usize, text: &str) -> (String, String) {
    let (mut before, mut after) = (String::new(), String::new());
    let mut call = |function: &str, end: &str| {
        before.push_str(function);
        before.push('(');
        after.insert_str(0, end);
    };
    let cast;
    if let HiddenKind::Function(bounds) = &hidden.kind {
        cast = format!(") as ::std::boxed::Box<dyn {}>", &text[bounds.clone()]);
        call("::std::boxed::Box::new", &cast);
    } else {
        (0..number).for_each(|_| call("::simutant_probe::Either::Other", ")"));
        if number + 1 < count {
            call("::simutant_probe::Either::One", ")");
        }
        match hidden.kind {
            HiddenKind::Future => call("::std::boxed::Box::pin", ")"),
            HiddenKind::Iterable => call("::std::iter::IntoIterator::into_iter", ")"),
            HiddenKind::Value | HiddenKind::Function(_) => {}
        }
    }
    let label = if returns(body).is_empty() { "" } else { "'simutant_body: " };
    if hidden.is_inside {
        let end = format!("}}).map(|simutant_value| {before}simutant_value{after})");
        return (format!("({label}{{"), end);
    }
    before.push_str(&format!("{label}{{"));
    (before, format!("}}{after}"))
}

/// Returns the edits by which what returns from the function only leaves its body.
pub(super) fn edits(body: &Block) -> Vec<Edit> {
    returns(body).into_iter().map(|at| Edit::replace(at, Variant::ALL, vec![LEAVE.into()])).collect()
}

/// Returns the places of the word `return` where it is the function that returns.
fn returns(body: &Block) -> Vec<std::ops::Range<usize>> {
    #[derive(Default)]
    struct Finder(Vec<std::ops::Range<usize>>);
    impl<'ast> Visit<'ast> for Finder {
        fn visit_expr_return(&mut self, expression: &'ast ExprReturn) {
            self.0.push(range_of(&expression.return_token));
            visit::visit_expr_return(self, expression);
        }

        fn visit_expr(&mut self, expression: &'ast Expr) {
            if !matches!(expression, Expr::Closure(_) | Expr::Async(_)) {
                visit::visit_expr(self, expression);
            }
        }

        fn visit_item(&mut self, _: &'ast Item) {}
    }
    let mut finder = Finder::default();
    finder.visit_block(body);
    finder.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::syntax::parts::inside;
    use crate::syntax::source::Source;
    use crate::text::edit::{Output, Renderer};

    /// Checks what becomes of the second of three bodies.
    #[track_caller]
    fn check(function: &str, expect: &str) {
        let source = Source::parse("src/a.rs", function.into()).expect("the test's own source");
        let function = &source.functions[0];
        let hidden = function.hidden.as_ref().expect("it returns an `impl Trait`");
        let (before, after) = around(hidden, &function.body, 1, 3, &source.file.text);
        let edits = edits(&function.body);
        let mut output = Output::default();
        output.text = before;
        Renderer::new(&source.file.text, &edits).range(inside(&function.body), Variant::Mutated, &mut output);
        let text = output.text + &after;
        assert_eq!(text.replace("::simutant_probe::Either::", "").replace("::std::", ""), expect);
    }

    #[test]
    fn a_body_becomes_one_of_several() {
        check("fn f() -> impl Iterator<Item = u8> { a.b() }", "Other(One({ a.b() }))");
        check("async fn f() -> impl Future { a }", "Other(One(boxed::Box::pin({ a })))");
        check("fn f() -> impl IntoIterator<Item = u8> { a }", "Other(One(iter::IntoIterator::into_iter({ a })))");
        check("fn f() -> impl Fn(u8) -> u8 + '_ { a }", "boxed::Box::new({ a }) as boxed::Box<dyn Fn(u8) -> u8 + '_>");
        check(
            "fn f() -> Option<impl Display> { Some(a?) }",
            "({ Some(a?) }).map(|simutant_value| Other(One(simutant_value)))",
        );
    }

    #[test]
    fn what_returns_leaves_the_body_alone() {
        check(
            "fn f() -> impl Iterator<Item = u8> { if a { return b; } c(|| return d, async { return e }) }",
            "Other(One('simutant_body: { if a { break 'simutant_body b; } c(|| return d, async { return e }) }))",
        );
    }
}
