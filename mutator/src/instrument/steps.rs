//! Where a function body takes steps: each turn of a loop, each call of a closure or of a function inside it.
//!
//! The call of the function itself is counted by `FunctionMarks::is_clean` of `simutant-probe`, which `enter` asks too.

use syn::visit::{self, Visit};
use syn::{Block, Expr, ExprConst, ItemConst, ItemFn, ItemStatic, Type};

use crate::syntax::parts::{inside, range_of};
use crate::text::edit::{Edit, Output, Piece, Renderer, Variant};

const TICK: &str = " ::simutant_probe::tick(); ";

/// Returns the edits that count the steps of a body.
pub(crate) fn edits(body: &Block) -> Vec<Edit> {
    let mut counter = Counter { edits: Vec::new() };
    counter.visit_block(body);
    counter.edits
}

/// Renders the inside of a function's body with nothing but the count of its steps, that of its call included.
pub(crate) fn counted(body: &Block, text: &str, output: &mut Output) {
    output.text.push_str(TICK);
    Renderer::new(text, &edits(body)).range(inside(body), Variant::Clean, output);
}

struct Counter {
    edits: Vec<Edit>,
}

impl Counter {
    fn at_start_of(&mut self, block: &Block) {
        let start = block.brace_token.span.open().byte_range().end;
        self.edits.push(Edit::insert(start, Variant::ALL, vec![TICK.into()]));
    }
}

impl<'ast> Visit<'ast> for Counter {
    fn visit_expr(&mut self, expression: &'ast Expr) {
        match expression {
            Expr::Loop(inner) => self.at_start_of(&inner.body),
            Expr::While(inner) => self.at_start_of(&inner.body),
            Expr::ForLoop(inner) => self.at_start_of(&inner.body),
            Expr::Closure(inner) => match &*inner.body {
                Expr::Block(body) if body.label.is_none() => self.at_start_of(&body.block),
                body => {
                    let before: Vec<Piece> = vec!["{".into(), TICK.into()];
                    self.edits.push(Edit::wrap(range_of(body), Variant::ALL, before, vec!["}".into()]));
                }
            },
            _ => {}
        }
        visit::visit_expr(self, expression);
    }

    /// A function inside a function has one body only, which counts its calls as well.
    fn visit_item_fn(&mut self, function: &'ast ItemFn) {
        if function.sig.constness.is_none() {
            self.at_start_of(&function.block);
            visit::visit_item_fn(self, function);
        }
    }

    fn visit_item_const(&mut self, _: &'ast ItemConst) {}

    fn visit_item_static(&mut self, _: &'ast ItemStatic) {}

    fn visit_expr_const(&mut self, _: &'ast ExprConst) {}

    fn visit_type(&mut self, _: &'ast Type) {}
}
