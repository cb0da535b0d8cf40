//! Where constants are declared.

use std::ops::Range;

use syn::visit::{self, Visit};
use syn::{Attribute, Block, Expr, Ident, ImplItem, Item, Stmt, TraitItem, Type, Visibility};

use crate::syntax::declarations::type_text;
use crate::syntax::parts::{is_test, join, range_of, type_name};
use crate::syntax::types::{bare, is_float, is_integer};

/// A constant that a specification file declares.
#[derive(Debug)]
pub(crate) struct ConstantSource {
    /// Module path, type and name.
    pub(crate) path: String,
    /// From its visibility to its semicolon.
    pub(crate) range: Range<usize>,
    pub(crate) name: String,
    pub(crate) home: ConstantHome,
    /// The conditions under which it is compiled.
    pub(crate) conditions: Vec<Range<usize>>,
    pub(crate) visibility: Option<Range<usize>>,
    pub(crate) ty: Range<usize>,
    /// The type's text without spaces.
    pub(crate) ty_text: String,
    pub(crate) value: Expr,
    /// Why it has no mutants, if that can be told without its value.
    pub(crate) obstacle: Option<&'static str>,
}

/// Where a constant can be named without a path.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum ConstantHome {
    Module(String),
    /// A type in a module, by its name.
    Type(String, String),
    /// A block of a function, by its first byte.
    Block(usize, usize),
    Trait,
}

/// What all kinds of declarations have.
struct Declared<'a> {
    attributes: &'a [Attribute],
    visibility: &'a Visibility,
    name: &'a Ident,
    ty: &'a Type,
    value: &'a Expr,
    /// Where it begins without attributes and visibility, and where it ends.
    range: Range<usize>,
    is_static: bool,
}

impl<'a> Declared<'a> {
    fn of(item: &'a Item) -> Option<Self> {
        match item {
            Item::Const(item) => Some(Self {
                attributes: &item.attrs,
                visibility: &item.vis,
                name: &item.ident,
                ty: &item.ty,
                value: &item.expr,
                range: range_of(&item.const_token).start..range_of(&item.semi_token).end,
                is_static: false,
            }),
            Item::Static(item) if matches!(item.mutability, syn::StaticMutability::None) => Some(Self {
                attributes: &item.attrs,
                visibility: &item.vis,
                name: &item.ident,
                ty: &item.ty,
                value: &item.expr,
                range: range_of(&item.static_token).start..range_of(&item.semi_token).end,
                is_static: true,
            }),
            _ => None,
        }
    }

    fn of_impl(item: &'a ImplItem) -> Option<Self> {
        let ImplItem::Const(item) = item else { return None };
        Some(Self {
            attributes: &item.attrs,
            visibility: &item.vis,
            name: &item.ident,
            ty: &item.ty,
            value: &item.expr,
            range: range_of(&item.const_token).start..range_of(&item.semi_token).end,
            is_static: false,
        })
    }

    /// Returns the constant, `path` being that of what it is in; `None` if nobody can name it.
    fn constant(&self, path: &str, home: ConstantHome, text: &str) -> Option<ConstantSource> {
        let name = self.name.to_string();
        if name == "_" || is_test(self.attributes) {
            return None;
        }
        let visibility = (!matches!(self.visibility, Visibility::Inherited)).then(|| range_of(self.visibility));
        let ty_text = type_text(self.ty, text);
        let obstacle = if home == ConstantHome::Trait {
            Some("it belongs to a trait, or to a type by a trait")
        } else if self.is_static && !is_plain(&ty_text) {
            Some("a static of such a type may change while the program runs")
        } else {
            None
        };
        let conditions = self.attributes.iter().filter(|attribute| attribute.path().is_ident("cfg")).map(range_of);
        Some(ConstantSource {
            path: join(path, &name),
            range: visibility.as_ref().map_or(self.range.start, |range| range.start)..self.range.end,
            name,
            home,
            conditions: conditions.collect(),
            visibility,
            ty: range_of(self.ty),
            ty_text,
            value: self.value.clone(),
            obstacle,
        })
    }
}

/// Whether values of a type have no parts that could change, as far as its name says.
pub(crate) fn is_plain(ty: &str) -> bool {
    let ty = bare(ty);
    is_integer(ty) || is_float(ty) || ty == "bool" || is_time(ty)
}

/// Whether values of a type are times or lengths of time, as far as its name says.
pub(crate) fn is_time(ty: &str) -> bool {
    ty.ends_with("Duration") || ty.ends_with("Time")
}

/// Adds the constants of the modules, types and traits in a file.
pub(crate) fn declared(items: &[Item], module: &str, text: &str, constants: &mut Vec<ConstantSource>) {
    for item in items {
        match item {
            Item::Mod(item) if !is_test(&item.attrs) => {
                let items = item.content.as_ref().map(|(_, items)| &items[..]).unwrap_or_default();
                declared(items, &join(module, &item.ident.to_string()), text, constants);
            }
            Item::Impl(item) if !is_test(&item.attrs) => {
                let ty = type_name(&item.self_ty);
                let path = join(module, &ty);
                let home = match item.trait_ {
                    None => ConstantHome::Type(module.to_owned(), ty),
                    Some(_) => ConstantHome::Trait,
                };
                let of_type = item.items.iter().filter_map(Declared::of_impl);
                constants.extend(of_type.filter_map(|declared| declared.constant(&path, home.clone(), text)));
            }
            Item::Trait(item) if !is_test(&item.attrs) => {
                let path = join(module, &item.ident.to_string());
                for item in &item.items {
                    let TraitItem::Const(item) = item else { continue };
                    let Some((_, value)) = &item.default else { continue };
                    let declared = Declared {
                        attributes: &item.attrs,
                        visibility: &Visibility::Inherited,
                        name: &item.ident,
                        ty: &item.ty,
                        value,
                        range: range_of(&item.const_token).start..range_of(&item.semi_token).end,
                        is_static: false,
                    };
                    constants.extend(declared.constant(&path, ConstantHome::Trait, text));
                }
            }
            item => {
                let declared = Declared::of(item);
                let home = || ConstantHome::Module(module.to_owned());
                constants.extend(declared.and_then(|declared| declared.constant(module, home(), text)));
            }
        }
    }
}

/// Adds the constants in the body of the function with this index and path.
pub(crate) fn inner(index: usize, path: &str, body: &Block, text: &str, constants: &mut Vec<ConstantSource>) {
    struct Finder<'a> {
        index: usize,
        path: &'a str,
        text: &'a str,
        constants: &'a mut Vec<ConstantSource>,
    }
    impl<'ast> Visit<'ast> for Finder<'_> {
        fn visit_block(&mut self, block: &'ast Block) {
            let home = || ConstantHome::Block(self.index, range_of(block).start);
            for statement in &block.stmts {
                let Stmt::Item(item) = statement else { continue };
                let declared = Declared::of(item);
                let constant = declared.and_then(|declared| declared.constant(self.path, home(), self.text));
                self.constants.extend(constant);
            }
            visit::visit_block(self, block);
        }

        fn visit_item(&mut self, _: &'ast Item) {}

        fn visit_expr_const(&mut self, _: &'ast syn::ExprConst) {}

        fn visit_type(&mut self, _: &'ast Type) {}
    }
    Finder { index, path, text, constants }.visit_block(body);
}
