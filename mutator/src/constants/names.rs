//! Where names of constants stand, and another value could.

use std::collections::BTreeSet;
use std::ops::Range;

use syn::visit::{self, Visit};
use syn::{Attribute, Block, Expr, Item, Stmt, Type, UnOp, UseTree};

use crate::syntax::names::{Kind, Names};
use crate::syntax::parts::range_of;

/// A name that may be that of a constant, where its value is asked for.
#[derive(Debug)]
pub(super) struct Named {
    pub(super) range: Range<usize>,
    /// The last name of its path.
    pub(super) last: Range<usize>,
    pub(super) segments: Vec<String>,
    pub(super) is_used_as: UsedAs,
    /// The first bytes of the blocks around it that may declare it, the outermost first.
    pub(super) blocks: Vec<usize>,
    /// Whether a module may declare it.
    pub(super) is_of_module: bool,
}

/// What is used of a constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum UsedAs {
    /// Its value.
    Value,
    /// Its place, unless its type is a plain one: a method, a field or an element of it is asked for.
    Part,
    /// Its place, which may have to outlive the expression.
    Place,
}

/// Finds names of constants where another value can stand.
pub(super) struct NameFinder<'a> {
    names: &'a Names,
    found: Vec<Named>,
    /// The blocks around: the first byte, and the names that other items than constants have.
    blocks: Vec<(usize, BTreeSet<String>)>,
}

impl<'a> NameFinder<'a> {
    /// Returns what `visit` finds.
    pub(super) fn found(names: &'a Names, visit: impl FnOnce(&mut Self)) -> Vec<Named> {
        let mut finder = Self { names, found: Vec::new(), blocks: Vec::new() };
        visit(&mut finder);
        finder.found
    }

    fn path(&mut self, path: &syn::ExprPath, is_used_as: UsedAs) {
        let Some(last) = path.path.segments.last() else { return };
        let has_arguments = path.path.segments.iter().any(|segment| !segment.arguments.is_none());
        if path.qself.is_some() || path.path.leading_colon.is_some() || has_arguments {
            return;
        }
        let segments: Vec<String> = path.path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        let hidden = self.blocks.iter().rposition(|(_, hidden)| segments.len() == 1 && hidden.contains(&segments[0]));
        let blocks = self.blocks[hidden.unwrap_or(0)..].iter().map(|(start, _)| *start).collect();
        let last = range_of(&last.ident);
        self.found.push(Named {
            range: range_of(path),
            last,
            segments,
            is_used_as,
            blocks,
            is_of_module: hidden.is_none(),
        });
    }

    /// Looks at an expression whose place is used, or a part of it.
    fn place(&mut self, expression: &Expr, is_used_as: UsedAs) {
        match expression {
            Expr::Path(path) => self.path(path, is_used_as),
            Expr::Paren(inner) => self.place(&inner.expr, is_used_as),
            Expr::Field(inner) => self.place(&inner.base, is_used_as),
            Expr::Index(inner) => {
                self.place(&inner.expr, is_used_as);
                self.visit_expr(&inner.index);
            }
            _ => self.visit_expr(expression),
        }
    }
}

impl<'ast> Visit<'ast> for NameFinder<'_> {
    fn visit_block(&mut self, block: &'ast Block) {
        let items = block.stmts.iter().filter_map(|statement| match statement {
            Stmt::Item(item) => Some(item),
            _ => None,
        });
        let mut hidden = BTreeSet::new();
        items.for_each(|item| add_hidden(item, &mut hidden));
        self.blocks.push((range_of(block).start, hidden));
        visit::visit_block(self, block);
        self.blocks.pop();
    }

    fn visit_expr(&mut self, expression: &'ast Expr) {
        match expression {
            Expr::Path(path) => self.path(path, UsedAs::Value),
            // It may be a static of its own, which no choice can be.
            Expr::Reference(inner) if inner.mutability.is_none() && is_made_of_constants(&inner.expr) => {}
            Expr::Reference(inner) if inner.mutability.is_none() => self.place(&inner.expr, UsedAs::Place),
            Expr::Field(_) | Expr::Index(_) => self.place(expression, UsedAs::Part),
            Expr::MethodCall(call) => {
                if !self.names.is(Kind::Tell, &call.method.to_string()) {
                    self.place(&call.receiver, UsedAs::Part);
                    call.args.iter().for_each(|argument| self.visit_expr(argument));
                }
            }
            Expr::Call(call) => {
                if !matches!(&*call.func, Expr::Path(_)) {
                    self.visit_expr(&call.func);
                }
                call.args.iter().for_each(|argument| self.visit_expr(argument));
            }
            Expr::Assign(inner) => {
                if !matches!(&*inner.left, Expr::Path(_)) {
                    self.visit_expr(&inner.left);
                }
                self.visit_expr(&inner.right);
            }
            Expr::Repeat(inner) => self.visit_expr(&inner.expr),
            Expr::Macro(_) | Expr::Const(_) => {}
            _ => visit::visit_expr(self, expression),
        }
    }

    fn visit_field_value(&mut self, field: &'ast syn::FieldValue) {
        if field.colon_token.is_some() {
            self.visit_expr(&field.expr);
        }
    }

    fn visit_pat(&mut self, pattern: &'ast syn::Pat) {
        // A guard is a part of the pattern.
        if let syn::Pat::Guard(guarded) = pattern {
            self.visit_expr(&guarded.guard);
        }
    }

    fn visit_type(&mut self, _: &'ast Type) {}

    fn visit_generic_argument(&mut self, _: &'ast syn::GenericArgument) {}

    fn visit_item(&mut self, _: &'ast Item) {}

    fn visit_attribute(&mut self, _: &'ast Attribute) {}
}

/// Whether an expression is made of literals and constants, and is more than one of them.
fn is_made_of_constants(expression: &Expr) -> bool {
    fn is_constant(expression: &Expr) -> bool {
        match expression {
            Expr::Lit(_) => true,
            Expr::Path(path) => path.path.segments.last().is_some_and(|last| {
                let name = last.ident.to_string();
                !name.contains(char::is_lowercase)
            }),
            Expr::Paren(inner) => is_constant(&inner.expr),
            Expr::Reference(inner) => inner.mutability.is_none() && is_constant(&inner.expr),
            _ => is_made_of_constants(expression),
        }
    }
    match expression {
        Expr::Array(inner) => inner.elems.iter().all(is_constant),
        Expr::Tuple(inner) => inner.elems.iter().all(is_constant),
        Expr::Paren(inner) => is_made_of_constants(&inner.expr),
        Expr::Unary(inner) => !matches!(inner.op, UnOp::Deref(_)) && is_constant(&inner.expr),
        Expr::Binary(inner) => is_constant(&inner.left) && is_constant(&inner.right),
        Expr::Cast(inner) => is_constant(&inner.expr),
        Expr::Repeat(inner) => is_constant(&inner.expr),
        _ => false,
    }
}

/// Adds the names that an item of a block gives to something else than a constant of its own.
fn add_hidden(item: &Item, hidden: &mut BTreeSet<String>) {
    fn of_tree(tree: &UseTree, hidden: &mut BTreeSet<String>) {
        match tree {
            UseTree::Path(inner) => of_tree(&inner.tree, hidden),
            UseTree::Name(inner) => _ = hidden.insert(inner.ident.to_string()),
            UseTree::Rename(inner) => _ = hidden.insert(inner.rename.to_string()),
            UseTree::Group(inner) => inner.items.iter().for_each(|tree| of_tree(tree, hidden)),
            UseTree::Glob(_) => {}
        }
    }
    match item {
        Item::Use(item) => of_tree(&item.tree, hidden),
        Item::Fn(item) => _ = hidden.insert(item.sig.ident.to_string()),
        Item::Struct(item) => _ = hidden.insert(item.ident.to_string()),
        Item::Static(item) => _ = hidden.insert(item.ident.to_string()),
        Item::Const(item) => _ = hidden.insert(item.ident.to_string()),
        _ => {}
    }
}
