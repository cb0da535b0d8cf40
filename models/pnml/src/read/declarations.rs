//! The reader of declarations: sorts, partitions and variables.

use roxmltree::Node;

use super::terms::{check_sort, leaves};
use super::xml::{
    attribute, bad_reference, bad_value, elements, missing, name, nothing_in, number, only, twice, unsupported,
};
use super::{DEPTH_MAX, Reader, Result};
use crate::net::{Constant, Declaration, Declared, Label, NetKind, PartitionElement};
use crate::term::{COLOURS_MAX, Sort, Type};

impl<'a, 'i> Reader<'a, 'i> {
    /// Finds the declarations of the net and of its pages, and numbers what they declare.
    pub(super) fn find_declarations(&mut self, node: Node<'a, 'i>) -> Result<()> {
        for child in node.children().filter(Node::is_element) {
            match name(child) {
                "page" => self.find_declarations(child)?,
                "declaration" => {
                    let (text, structure, mut kept) = self.label(child, true)?;
                    if self.net.kind == NetKind::PlaceTransition {
                        return Err(unsupported(child, "a place/transition net declares nothing; use a symmetric net"));
                    }
                    let Some(structure) = structure else { return Err(missing(child, "structure")) };
                    let label = self.net.declaration.get_or_insert(Label { text: None, value: (), kept: Vec::new() });
                    label.kept.append(&mut kept);
                    label.text = match (label.text.take(), text) {
                        (Some(before), Some(text)) => Some(format!("{before}\n{text}")),
                        (before, text) => before.or(text),
                    };
                    if name(structure) != "declarations" {
                        return Err(unsupported(structure, "write `declarations` into the structure"));
                    }
                    for declared in elements(structure, &[])? {
                        self.find_declaration(declared)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    pub(super) fn find_declaration(&mut self, node: Node<'a, 'i>) -> Result<()> {
        let number = self.declared.len();
        let id = attribute(node, "id")?;
        let constants = match name(node) {
            "namedsort" => match only(node, &["id", "name"], "sort")? {
                sort if ["cyclicenumeration", "finiteenumeration"].contains(&name(sort)) => elements(sort, &[])?,
                _ => Vec::new(),
            },
            "partition" => elements(node, &["id", "name"])?.into_iter().skip(1).collect(),
            "variabledecl" => Vec::new(),
            _ => return Err(unsupported(node, "declare named sorts, partitions and variables only")),
        };
        for (colour, constant) in (0..).zip(constants) {
            let id = attribute(constant, "id")?;
            if self.constants.insert(id.to_owned(), (number, colour)).is_some() {
                return Err(twice(constant, id));
            }
        }
        // Sorts and variables are told apart by the element that refers to them.
        let key = format!("{}{id}", if name(node) == "variabledecl" { "variable " } else { "sort " });
        if self.declarations.insert(key, number).is_some() {
            return Err(twice(node, id));
        }
        self.declared.push(node);
        self.net.declarations.push(Declaration {
            id: id.to_owned(),
            name: node.attribute("name").unwrap_or_default().to_owned(),
            declared: Declared::Sort(Sort::User(number)),
            colours: Type::Product { components: Vec::new(), count: 0 },
        });
        Ok(())
    }

    /// Reads a declaration, after those that it refers to. Partitions have their elements read later.
    pub(super) fn resolve(&mut self, number: usize, open: &mut Vec<usize>) -> Result<()> {
        let node = self.declared[number];
        if self.is_resolved(number) {
            return Ok(());
        }
        if open.contains(&number) {
            return Err(bad_reference(node, attribute(node, "id")?, "declared by itself"));
        }
        open.push(number);
        let sort_node = match name(node) {
            "variabledecl" => only(node, &["id", "name"], "sort")?,
            _ => *elements(node, &["id", "name"])?.first().ok_or_else(|| missing(node, "sort"))?,
        };
        for user in sort_node.descendants().filter(|user| name(*user) == "usersort") {
            self.resolve(self.sort_number(user)?, open)?;
        }
        let constant = |node: Node<'_, '_>| {
            let name = node.attribute("name").unwrap_or_default().to_owned();
            Ok(Constant { id: attribute(node, "id")?.to_owned(), name })
        };
        let (declared, colours) = match (name(node), name(sort_node)) {
            ("namedsort", kind @ ("cyclicenumeration" | "finiteenumeration")) => {
                let mut constants = Vec::new();
                for node in elements(sort_node, &[])? {
                    if name(node) != "feconstant" {
                        return Err(unsupported(node, "an enumeration has `feconstant` only"));
                    }
                    nothing_in(node, &["id", "name"])?;
                    constants.push(constant(node)?);
                }
                if constants.is_empty() {
                    return Err(missing(sort_node, "constant"));
                }
                let colours = Type::Listed { declaration: number, count: constants.len() as u64 };
                (Declared::Enumeration { is_cyclic: kind == "cyclicenumeration", constants }, colours)
            }
            ("partition", _) => {
                let (of, _) = self.sort(sort_node)?;
                let mut parts = Vec::new();
                for node in elements(node, &["id", "name"])?.into_iter().skip(1) {
                    if name(node) != "partitionelement" {
                        return Err(unsupported(node, "a partition has one sort, then `partitionelement` only"));
                    }
                    parts.push(PartitionElement { constant: constant(node)?, members: Vec::new() });
                }
                if parts.is_empty() {
                    return Err(missing(node, "partitionelement"));
                }
                let colours = Type::Listed { declaration: number, count: parts.len() as u64 };
                (Declared::Partition { of, elements: parts, by_colour: Vec::new() }, colours)
            }
            (kind, _) => {
                let (sort, colours) = self.sort(sort_node)?;
                (if kind == "namedsort" { Declared::Sort(sort) } else { Declared::Variable(sort) }, colours)
            }
        };
        open.pop();
        self.net.declarations[number].declared = declared;
        self.net.declarations[number].colours = colours;
        Ok(())
    }

    pub(super) fn is_resolved(&self, number: usize) -> bool {
        !matches!(&self.net.declarations[number].declared, Declared::Sort(Sort::User(sort)) if *sort == number)
    }

    /// Returns a sort, whose declarations are read.
    pub(super) fn sort(&self, node: Node<'a, 'i>) -> Result<(Sort, Type)> {
        match name(node) {
            "usersort" => {
                nothing_in(node, &["declaration"])?;
                let declaration = self.sort_number(node)?;
                Ok((Sort::User(declaration), self.net.declarations[declaration].colours.clone()))
            }
            "productsort" => {
                let components = elements(node, &[])?.into_iter().map(|component| self.sort(component));
                let (sorts, types): (Vec<Sort>, Vec<Type>) =
                    components.collect::<Result<Vec<_>>>()?.into_iter().unzip();
                let leaves: usize = types.iter().map(leaves).sum();
                if types.is_empty() || leaves > DEPTH_MAX {
                    return Err(bad_value(node, &format!("{leaves} components"), "1 to 200 components"));
                }
                let colours = Type::product(types);
                let colours =
                    colours.ok_or_else(|| bad_value(node, "the product", "one of at most 2^64 - 1 colours"))?;
                Ok((Sort::Product(sorts), colours))
            }
            "dot" => nothing_in(node, &[]).map(|()| (Sort::Dot, Type::Dot)),
            "bool" => nothing_in(node, &[]).map(|()| (Sort::Bool, Type::Bool)),
            "finiteintrange" => {
                nothing_in(node, &["start", "end"])?;
                let bound = |which| number(node, attribute(node, which)?, "an integer of 64 bits");
                let (start, end): (i64, i64) = (bound("start")?, bound("end")?);
                if start > end || start.abs_diff(end) >= 1 << 32 {
                    return Err(bad_value(node, &format!("{start} to {end}"), "1 to 2^32 numbers, the least first"));
                }
                Ok((Sort::Range { start, end }, Type::Range { start, end }))
            }
            "cyclicenumeration" | "finiteenumeration" => {
                Err(unsupported(node, "give the enumeration a name with `namedsort`"))
            }
            _ => Err(unsupported(node, "use sorts of symmetric nets: dot, bool, enumerations, ranges, products")),
        }
    }

    pub(super) fn sort_number(&self, node: Node<'_, '_>) -> Result<usize> {
        let id = attribute(node, "declaration")?;
        let number = self.declarations.get(&format!("sort {id}"));
        number.copied().ok_or_else(|| bad_reference(node, id, "no declared sort"))
    }

    pub(super) fn read_partitions(&mut self) -> Result<()> {
        for number in 0..self.declared.len() {
            let Declared::Partition { of, .. } = &self.net.declarations[number].declared else { continue };
            let of = of.colours(&self.net.declarations);
            let node = self.declared[number];
            if of.count() > COLOURS_MAX {
                return Err(bad_value(node, &format!("{} colours", of.count()), "at most 2^24"));
            }
            let mut by_colour = vec![None; of.count() as usize];
            let mut parts = Vec::new();
            for (part, node) in (0..).zip(elements(node, &["id", "name"])?.into_iter().skip(1)) {
                let mut members = Vec::new();
                for member in elements(node, &["id", "name"])? {
                    let typed = self.single(member)?;
                    check_sort(member, &self.net, &typed.colours, &of)?;
                    let nothing = vec![None; self.declared.len()];
                    let Some(colour) = typed.term.colour(&self.net, &nothing) else {
                        return Err(unsupported(member, "list the colours of the part as constants"));
                    };
                    if by_colour[colour as usize].replace(part).is_some() {
                        return Err(bad_value(member, &of.words(&self.net, colour), "each colour in one part only"));
                    }
                    members.push(typed.term);
                }
                parts.push(members);
            }
            if let Some(colour) = (0..).zip(&by_colour).find(|(_, part)| part.is_none()).map(|(colour, _)| colour) {
                return Err(bad_value(node, &of.words(&self.net, colour), "a partition with each colour in a part"));
            }
            if let Declared::Partition { elements, by_colour: known, .. } = &mut self.net.declarations[number].declared
            {
                elements.iter_mut().zip(parts).for_each(|(element, members)| element.members = members);
                *known = by_colour.into_iter().flatten().collect();
            }
        }
        Ok(())
    }
}
