//! Which constant a name is a name of.

use std::collections::BTreeMap;

use super::names::Named;
use crate::syntax::constants::{ConstantHome, ConstantSource};
use crate::syntax::source::{FunctionId, FunctionSource, Source};

/// The constants of specification files, by what they can be named as.
pub(super) struct Scopes<'a> {
    sources: &'a [Source],
    /// By file, home and name, the number of the constant; `None` if there are several.
    constants: BTreeMap<(usize, &'a ConstantHome, &'a str), Option<usize>>,
}

impl<'a> Scopes<'a> {
    /// Returns the scopes of all constants, which are numbered as they follow each other.
    pub(super) fn new(sources: &'a [Source]) -> Self {
        let mut constants = BTreeMap::new();
        let all = sources.iter().enumerate().flat_map(|(file, source)| {
            source.constants.iter().map(move |constant| (file, &constant.home, &*constant.name))
        });
        for (number, scope) in all.enumerate() {
            let known = constants.entry(scope).or_insert(Some(number));
            // Two of one name may be of two types of one name, or under conditions that are not known.
            *known = known.filter(|known| *known == number);
        }
        Self { sources, constants }
    }

    fn find(&self, file: usize, home: &ConstantHome, name: &str) -> Option<usize> {
        self.constants.get(&(file, home, name)).copied().flatten()
    }

    /// Returns the constant that a path names outside of functions.
    fn of_module(&self, file: usize, module: &str, self_type: Option<&str>, segments: &[String]) -> Option<usize> {
        match segments {
            [name] => self.find(file, &ConstantHome::Module(module.to_owned()), name),
            [this, name] if this == "self" => self.find(file, &ConstantHome::Module(module.to_owned()), name),
            [ty, name] => {
                let ty = if ty == "Self" { self_type? } else { ty };
                self.find(file, &ConstantHome::Type(module.to_owned(), ty.to_owned()), name)
            }
            _ => None,
        }
    }

    /// Returns the constant that is named in the body of a function.
    pub(super) fn in_function(&self, id: FunctionId, function: &FunctionSource, named: &Named) -> Option<usize> {
        if let [name] = &named.segments[..] {
            let of_block = |&block: &usize| self.find(id.file, &ConstantHome::Block(id.index, block), name);
            if let Some(constant) = named.blocks.iter().rev().find_map(of_block) {
                return Some(constant);
            }
            if !named.is_of_module || function.const_parameters.contains(name) {
                return None;
            }
        }
        self.of_module(id.file, &function.module, function.self_type.as_deref(), &named.segments)
    }

    /// Returns the constant that is named in the value of another one.
    pub(super) fn in_constant(&self, file: usize, constant: &ConstantSource, named: &Named) -> Option<usize> {
        match &constant.home {
            ConstantHome::Module(module) => self.of_module(file, module, None, &named.segments),
            ConstantHome::Type(module, ty) => self.of_module(file, module, Some(ty), &named.segments),
            ConstantHome::Block(function, block) => {
                let of_block = match &named.segments[..] {
                    [name] => self.find(file, &ConstantHome::Block(*function, *block), name),
                    _ => None,
                };
                of_block.or_else(|| self.around_block(FunctionId { file, index: *function }, named))
            }
            ConstantHome::Trait => None,
        }
    }

    /// Returns the constant outside of a function that is named in one of its blocks, unless something in the function
    /// may have the name.
    fn around_block(&self, FunctionId { file, index }: FunctionId, named: &Named) -> Option<usize> {
        let source = &self.sources[file];
        let function = &source.functions[index];
        if let [name] = &named.segments[..] {
            let mut others = source.constants.iter().filter(|other| other.name == *name);
            let is_of_block = others.any(|other| matches!(other.home, ConstantHome::Block(of, _) if of == index));
            if is_of_block || function.const_parameters.contains(name) {
                return None;
            }
        }
        self.of_module(file, &function.module, function.self_type.as_deref(), &named.segments)
    }
}
