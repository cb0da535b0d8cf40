//! The reader: from the text of a file to a net, or an error with a line.

use std::collections::{BTreeMap, BTreeSet};

use roxmltree::{Document, Node};

use crate::error::ReadError;
use crate::net::{
    Arc, Common, Constant, Declaration, Declared, Label, NetKind, PartitionElement, Place, PnmlNet, Reference,
    Transition,
};
use crate::term::{COLOURS_MAX, Comparison, Sort, Term, Type};

/// How deeply elements can be nested: terms are read and evaluated by recursion.
const DEPTH_MAX: usize = 200;

type Result<T> = std::result::Result<T, ReadError>;

impl PnmlNet {
    /// Returns the net of a PNML file.
    ///
    /// # Errors
    /// [`ReadError`] if the file is damaged, or if it has anything that would not be explored as it is meant.
    pub fn read(text: &str) -> Result<Self> {
        let damaged = |error: roxmltree::Error| ReadError::Xml { line: error.pos().row, problem: error.to_string() };
        let document = Document::parse(text).map_err(damaged)?;
        check_depth(&document)?;
        let root = document.root_element();
        if name(root) != "pnml" || root.tag_name().namespace().is_some_and(|space| space != PNML) {
            return Err(unsupported(root, "the file has to begin with `pnml`, of the name space of 2009"));
        }
        let nets = elements(root, &[])?;
        let Some((&net, others)) = nets.split_first() else { return Err(missing(root, "net")) };
        let is_net = |node: &Node<'_, '_>| name(*node) == "net";
        if let Some(other) = Some(&net).filter(|net| !is_net(net)).or(others.first()) {
            return Err(unsupported(*other, "keep one net in a file, and nothing beside it"));
        }
        Reader::new(net)?.read(net)
    }
}

/// Checks how deeply elements are nested, before terms are followed by recursion.
fn check_depth(document: &Document<'_>) -> Result<()> {
    let mut depths = Vec::new();
    for node in document.descendants() {
        let depth = node.parent().map_or(0, |parent| depths[parent.id().get_usize()] + 1);
        if depth > DEPTH_MAX {
            let problem = format!("elements are nested more than {DEPTH_MAX} deep");
            return Err(ReadError::Xml { line: line(node), problem });
        }
        depths.push(depth);
    }
    Ok(())
}

fn name<'a>(node: Node<'a, '_>) -> &'a str {
    node.tag_name().name()
}

fn line(node: Node<'_, '_>) -> u32 {
    node.document().text_pos_at(node.range().start).row
}

fn unsupported(node: Node<'_, '_>, advice: &'static str) -> ReadError {
    ReadError::Unsupported { line: line(node), element: name(node).to_owned(), advice }
}

fn missing(node: Node<'_, '_>, part: &'static str) -> ReadError {
    ReadError::Missing { line: line(node), element: name(node).to_owned(), part }
}

fn bad_value(node: Node<'_, '_>, value: &str, expected: &'static str) -> ReadError {
    ReadError::Value { line: line(node), element: name(node).to_owned(), value: value.to_owned(), expected }
}

fn bad_reference(node: Node<'_, '_>, id: &str, problem: &'static str) -> ReadError {
    ReadError::Reference { line: line(node), element: name(node).to_owned(), id: id.to_owned(), problem }
}

/// Returns the elements in a node. It has no other attributes than these, and no text beside them.
fn elements<'a, 'i>(node: Node<'a, 'i>, attributes: &[&str]) -> Result<Vec<Node<'a, 'i>>> {
    let namespace = node.document().root_element().tag_name().namespace();
    // Those of a name space, such as where a schema is, say nothing of a net.
    let own = node.attributes().filter(|attribute| attribute.namespace().is_none());
    if let Some(other) = own.map(|attribute| attribute.name()).find(|other| !attributes.contains(other)) {
        let element = format!("{} {other}=", name(node));
        let advice = "remove the attribute if the net means the same without it";
        return Err(ReadError::Unsupported { line: line(node), element, advice });
    }
    let mut all = Vec::new();
    for child in node.children() {
        if child.is_element() && child.tag_name().namespace() == namespace {
            all.push(child);
        } else if child.is_element() {
            return Err(unsupported(child, "it is of another name space; remove it, or put it into `toolspecific`"));
        } else if child.is_text() && child.text().is_some_and(|text| !text.trim().is_empty()) {
            return Err(bad_value(
                node,
                child.text().unwrap_or_default().trim(),
                "elements only, or put it into `text`",
            ));
        }
    }
    Ok(all)
}

/// Returns the only element in a node.
fn only<'a, 'i>(node: Node<'a, 'i>, attributes: &[&str], part: &'static str) -> Result<Node<'a, 'i>> {
    match elements(node, attributes)?[..] {
        [one] => Ok(one),
        [] => Err(missing(node, part)),
        [_, other, ..] => Err(unsupported(other, "only one element is expected here; remove the others")),
    }
}

/// Checks that a node has nothing but these attributes.
fn nothing_in(node: Node<'_, '_>, attributes: &[&str]) -> Result<()> {
    match elements(node, attributes)?.first() {
        Some(other) => Err(unsupported(*other, "nothing is expected here; remove it")),
        None => Ok(()),
    }
}

/// Returns the terms that an operator is applied to.
fn subterms<'a, 'i>(node: Node<'a, 'i>) -> Result<Vec<Node<'a, 'i>>> {
    let subterm = |node| match name(node) {
        "subterm" => only(node, &[], "term"),
        _ => Err(unsupported(node, "write terms of operators into `subterm`")),
    };
    let all: Vec<_> = elements(node, &[])?.into_iter().map(subterm).collect::<Result<_>>()?;
    if all.is_empty() { Err(missing(node, "subterm")) } else { Ok(all) }
}

/// Returns the two terms that an operator is applied to.
fn two<'a, 'i>(node: Node<'a, 'i>) -> Result<[Node<'a, 'i>; 2]> {
    let all = subterms(node)?;
    all[..].try_into().map_err(|_| bad_value(node, &format!("{} subterms", all.len()), "two"))
}

/// Returns the one term that an operator is applied to.
fn one<'a, 'i>(node: Node<'a, 'i>) -> Result<Node<'a, 'i>> {
    let all = subterms(node)?;
    let [one] = all[..] else { return Err(bad_value(node, &format!("{} subterms", all.len()), "one")) };
    Ok(one)
}

fn attribute<'a>(node: Node<'a, '_>, attribute: &'static str) -> Result<&'a str> {
    node.attribute(attribute).ok_or_else(|| missing(node, attribute))
}

fn number<T: std::str::FromStr>(node: Node<'_, '_>, text: &str, expected: &'static str) -> Result<T> {
    text.trim().parse().map_err(|_| bad_value(node, text, expected))
}

/// Returns the text of a `text` element.
fn text_of(node: Node<'_, '_>) -> Result<String> {
    if let Some(other) = node.children().find(Node::is_element) {
        return Err(unsupported(other, "only characters are expected in `text`"));
    }
    Ok(node.children().filter(Node::is_text).filter_map(|text| text.text()).collect())
}

/// Returns an element as text that means the same anywhere in a net.
fn kept(node: Node<'_, '_>) -> String {
    let text = &node.document().input_text()[node.range()];
    let named = text.find(|it: char| it.is_whitespace() || it == '/' || it == '>').unwrap_or(text.len());
    // What the element declares itself stands outside of the values in its tag.
    let mut quote = None;
    let mut tag = String::new();
    for it in text.chars() {
        match quote {
            Some(begun) if it == begun => quote = None,
            Some(_) => continue,
            None if it == '"' || it == '\'' => quote = Some(it),
            None if it == '>' => break,
            None => tag.push(it),
        }
    }
    let declares = |what: &str| tag.split('=').any(|part| part.split_whitespace().next_back() == Some(what));
    let mut inherited = String::new();
    let mut inherit = |attribute: &str, uri: &str| {
        if !declares(attribute) {
            inherited += &format!(" {attribute}=\"{}\"", crate::write::escape(uri));
        }
    };
    for space in node.namespaces() {
        match space.name() {
            None if space.uri() != PNML => inherit("xmlns", space.uri()),
            Some(prefix) if prefix != "xml" && text.contains(&format!("{prefix}:")) => {
                inherit(&format!("xmlns:{prefix}"), space.uri());
            }
            _ => {}
        }
    }
    if node.default_namespace().is_none() && node.tag_name().namespace().is_some() {
        inherit("xmlns", "");
    }
    format!("{}{inherited}{}", &text[..named], &text[named..])
}

/// The name space of PNML.
pub(crate) const PNML: &str = "http://www.pnml.org/version-2009/grammar/pnml";

/// Identifiers of one sort of things, each with a number.
type Ids = BTreeMap<String, usize>;

/// A term with its sort, and whether it has one token or a multiset of tokens.
struct Typed {
    term: Term,
    colours: Type,
    is_single: bool,
}

/// A node of the net.
#[derive(Clone, Copy)]
enum Vertex<'a> {
    Place(usize),
    Transition(usize),
    Reference(&'a str, bool),
}

struct Reader<'a, 'i> {
    net: PnmlNet,
    declarations: Ids,
    /// Constants of enumerations and elements of partitions: the declaration, and the colour.
    constants: BTreeMap<String, (usize, u64)>,
    /// The elements of the declarations.
    declared: Vec<Node<'a, 'i>>,
    vertices: BTreeMap<String, Vertex<'a>>,
    references: Vec<Node<'a, 'i>>,
    /// The arcs, each with its page.
    arcs: Vec<(usize, Node<'a, 'i>)>,
}

impl<'a, 'i> Reader<'a, 'i> {
    fn new(node: Node<'a, 'i>) -> Result<Self> {
        let kind = match attribute(node, "type")? {
            uri if uri == NetKind::PlaceTransition.uri() => NetKind::PlaceTransition,
            uri if uri == NetKind::Symmetric.uri() => NetKind::Symmetric,
            other => {
                return Err(bad_value(node, other, "the type of place/transition nets (ptnet) or of symmetric nets"));
            }
        };
        let net = PnmlNet {
            kind,
            net: Common { id: attribute(node, "id")?.to_owned(), page: 0, name: None, kept: Vec::new() },
            declaration: None,
            declarations: Vec::new(),
            pages: Vec::new(),
            places: Vec::new(),
            transitions: Vec::new(),
            references: Vec::new(),
            arcs: Vec::new(),
        };
        Ok(Self {
            net,
            declarations: Ids::new(),
            constants: BTreeMap::new(),
            declared: Vec::new(),
            vertices: BTreeMap::new(),
            references: Vec::new(),
            arcs: Vec::new(),
        })
    }

    fn read(mut self, node: Node<'a, 'i>) -> Result<PnmlNet> {
        self.find_declarations(node)?;
        for number in 0..self.declared.len() {
            self.resolve(number, &mut Vec::new())?;
        }
        self.read_partitions()?;
        self.page(node, None)?;
        for node in std::mem::take(&mut self.references) {
            self.resolve_reference(attribute(node, "id")?, node)?;
        }
        let mut ids = BTreeSet::new();
        for (page, node) in std::mem::take(&mut self.arcs) {
            let arc = self.arc(page, node)?;
            if !ids.insert(arc.common.id.clone()) {
                return Err(twice(node, &arc.common.id));
            }
            self.net.arcs.push(arc);
        }
        Ok(self.net)
    }

    /// Finds the declarations of the net and of its pages, and numbers what they declare.
    fn find_declarations(&mut self, node: Node<'a, 'i>) -> Result<()> {
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

    fn find_declaration(&mut self, node: Node<'a, 'i>) -> Result<()> {
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
    fn resolve(&mut self, number: usize, open: &mut Vec<usize>) -> Result<()> {
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

    fn is_resolved(&self, number: usize) -> bool {
        !matches!(&self.net.declarations[number].declared, Declared::Sort(Sort::User(sort)) if *sort == number)
    }

    /// Returns a sort, whose declarations are read.
    fn sort(&self, node: Node<'a, 'i>) -> Result<(Sort, Type)> {
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

    fn sort_number(&self, node: Node<'_, '_>) -> Result<usize> {
        let id = attribute(node, "declaration")?;
        let number = self.declarations.get(&format!("sort {id}"));
        number.copied().ok_or_else(|| bad_reference(node, id, "no declared sort"))
    }

    fn read_partitions(&mut self) -> Result<()> {
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

    /// Returns the text of a label, the only element of its structure, and what is kept.
    fn label(
        &self,
        node: Node<'a, 'i>,
        has_structure: bool,
    ) -> Result<(Option<String>, Option<Node<'a, 'i>>, Vec<String>)> {
        let (mut text, mut structure, mut all_kept) = (None, None, Vec::new());
        for child in elements(node, &[])? {
            match name(child) {
                "text" if text.is_none() => text = Some(text_of(child)?),
                "structure" if has_structure && structure.is_none() => structure = Some(only(child, &[], "term")?),
                "graphics" | "toolspecific" => all_kept.push(kept(child)),
                _ => return Err(unsupported(child, "remove it if the net means the same without it")),
            }
        }
        Ok((text, structure, all_kept))
    }

    /// Returns the term of a label.
    fn term_label(&self, node: Node<'a, 'i>, colours: &Type, is_condition: bool) -> Result<Label<Term>> {
        let (text, structure, kept) = self.label(node, true)?;
        let structure = structure.ok_or_else(|| missing(node, "structure"))?;
        let typed = if is_condition { self.single(structure)? } else { self.term(structure)? };
        check_sort(structure, &self.net, &typed.colours, colours)?;
        Ok(Label { text, value: typed.term, kept })
    }

    /// Returns the tokens of a label of a place/transition net.
    fn count_label(&self, node: Node<'a, 'i>, least: u64) -> Result<Label<Term>> {
        let (text, _, kept) = self.label(node, false)?;
        let text = text.ok_or_else(|| missing(node, "text"))?;
        let count: u64 = number(node, &text, "a number of tokens below 2^64")?;
        if count < least {
            return Err(bad_value(node, &text, "at least 1, or remove the arc"));
        }
        Ok(Label { text: None, value: Term::dots(count), kept })
    }

    fn page(&mut self, node: Node<'a, 'i>, number: Option<usize>) -> Result<()> {
        let attributes: &[&str] = if number.is_some() { &["id"] } else { &["id", "type"] };
        let (mut name_label, mut all_kept, mut pages) = (None, Vec::new(), Vec::new());
        for child in elements(node, attributes)? {
            match (name(child), number) {
                ("name", _) if name_label.is_none() => name_label = Some(self.name_label(child)?),
                ("graphics" | "toolspecific", _) => all_kept.push(kept(child)),
                ("declaration", _) => {}
                ("page", _) => pages.push(child),
                ("place", Some(page)) => self.place(page, child)?,
                ("transition", Some(page)) => self.transition(page, child)?,
                ("referencePlace" | "referenceTransition", Some(page)) => self.reference(page, child)?,
                ("arc", Some(page)) => self.arcs.push((page, child)),
                ("place" | "transition" | "arc", None) => return Err(unsupported(child, "put it on a page")),
                _ => return Err(unsupported(child, "remove it if the net means the same without it")),
            }
        }
        let common = number.map_or(&mut self.net.net, |page| &mut self.net.pages[page]);
        (common.name, common.kept) = (name_label, all_kept);
        for child in pages {
            let next = self.net.pages.len();
            let id = attribute(child, "id")?.to_owned();
            self.net.pages.push(Common { id, page: number.unwrap_or(next), name: None, kept: Vec::new() });
            self.page(child, Some(next))?;
        }
        Ok(())
    }

    fn name_label(&self, node: Node<'a, 'i>) -> Result<Label<()>> {
        let (text, _, kept) = self.label(node, false)?;
        Ok(Label { text, value: (), kept })
    }

    /// Returns what all nodes have in common, and the other elements.
    fn common(&self, page: usize, node: Node<'a, 'i>, attributes: &[&str]) -> Result<(Common, Vec<Node<'a, 'i>>)> {
        let mut common = Common { id: attribute(node, "id")?.to_owned(), page, name: None, kept: Vec::new() };
        let mut others: Vec<Node<'a, 'i>> = Vec::new();
        for child in elements(node, attributes)? {
            match name(child) {
                "name" if common.name.is_none() => common.name = Some(self.name_label(child)?),
                "graphics" | "toolspecific" => common.kept.push(kept(child)),
                other if other == "name" || others.iter().any(|before| name(*before) == other) => {
                    return Err(unsupported(child, "it is there twice; remove one"));
                }
                _ => others.push(child),
            }
        }
        Ok((common, others))
    }

    fn add_vertex(&mut self, node: Node<'a, 'i>, vertex: Vertex<'a>) -> Result<()> {
        let id = attribute(node, "id")?;
        if self.vertices.insert(id.to_owned(), vertex).is_some() { Err(twice(node, id)) } else { Ok(()) }
    }

    fn place(&mut self, page: usize, node: Node<'a, 'i>) -> Result<()> {
        let (common, others) = self.common(page, node, &["id"])?;
        let mut place = Place { common, sort: None, colours: Type::Dot, marking: None };
        let is_symmetric = self.net.kind == NetKind::Symmetric;
        if is_symmetric {
            let label = others.iter().find(|other| name(**other) == "type").ok_or_else(|| missing(node, "type"))?;
            let (text, structure, kept) = self.label(*label, true)?;
            let structure = structure.ok_or_else(|| missing(*label, "structure"))?;
            let (sort, colours) = self.sort(structure)?;
            place.sort = Some(Label { text, value: sort, kept });
            place.colours = colours;
        }
        for other in others {
            match name(other) {
                "type" if is_symmetric => {}
                "hlinitialMarking" if is_symmetric => {
                    place.marking = Some(self.term_label(other, &place.colours, false)?);
                }
                "initialMarking" if !is_symmetric => place.marking = Some(self.count_label(other, 0)?),
                _ => return Err(unsupported(other, "it is no part of a place in a net of this type; remove it")),
            }
        }
        self.add_vertex(node, Vertex::Place(self.net.places.len()))?;
        self.net.places.push(place);
        Ok(())
    }

    fn transition(&mut self, page: usize, node: Node<'a, 'i>) -> Result<()> {
        let (common, others) = self.common(page, node, &["id"])?;
        let mut transition = Transition { common, guard: None };
        for other in others {
            match name(other) {
                "condition" if self.net.kind == NetKind::Symmetric => {
                    transition.guard = Some(self.term_label(other, &Type::Bool, true)?);
                }
                _ => {
                    return Err(unsupported(
                        other,
                        "remove it from the transition: time and priorities are not explored",
                    ));
                }
            }
        }
        self.add_vertex(node, Vertex::Transition(self.net.transitions.len()))?;
        self.net.transitions.push(transition);
        Ok(())
    }

    fn reference(&mut self, page: usize, node: Node<'a, 'i>) -> Result<()> {
        let (common, others) = self.common(page, node, &["id", "ref"])?;
        if let Some(other) = others.first() {
            return Err(unsupported(*other, "a reference has a name only"));
        }
        let (target, is_place) = (attribute(node, "ref")?, name(node) == "referencePlace");
        self.add_vertex(node, Vertex::Reference(target, is_place))?;
        self.references.push(node);
        self.net.references.push(Reference { common, is_place, target: target.to_owned() });
        Ok(())
    }

    /// Returns the place or the transition that an identifier stands for.
    fn resolve_reference(&self, id: &str, node: Node<'_, '_>) -> Result<Vertex<'a>> {
        let mut at = id;
        let mut kind = None;
        for _ in 0..=self.vertices.len() {
            let is_place = match self.vertices.get(at) {
                None => return Err(bad_reference(node, at, "no place, transition or reference")),
                Some(Vertex::Reference(target, is_place)) => {
                    at = target;
                    *is_place
                }
                Some(vertex @ (Vertex::Place(_) | Vertex::Transition(_))) => {
                    let is_place = matches!(vertex, Vertex::Place(_));
                    return match kind {
                        Some(other) if other != is_place => Err(bad_reference(node, at, "of the other kind")),
                        _ => Ok(*vertex),
                    };
                }
            };
            if *kind.get_or_insert(is_place) != is_place {
                return Err(bad_reference(node, at, "of the other kind"));
            }
        }
        Err(bad_reference(node, id, "a reference to itself"))
    }

    fn arc(&self, page: usize, node: Node<'a, 'i>) -> Result<Arc> {
        let (common, others) = self.common(page, node, &["id", "source", "target"])?;
        let ends = [attribute(node, "source")?, attribute(node, "target")?];
        let (place, transition, is_input) =
            match (self.resolve_reference(ends[0], node)?, self.resolve_reference(ends[1], node)?) {
                (Vertex::Place(place), Vertex::Transition(transition)) => (place, transition, true),
                (Vertex::Transition(transition), Vertex::Place(place)) => (place, transition, false),
                _ => return Err(unsupported(node, "an arc leads from a place to a transition, or back")),
            };
        let mut inscription = None;
        for other in others {
            match (name(other), self.net.kind) {
                ("inscription", NetKind::PlaceTransition) => inscription = Some(self.count_label(other, 1)?),
                ("hlinscription", NetKind::Symmetric) => {
                    inscription = Some(self.term_label(other, &self.net.places[place].colours, false)?);
                }
                _ => {
                    return Err(unsupported(
                        other,
                        "only arcs that take and put tokens are explored; model it with these",
                    ));
                }
            }
        }
        if inscription.is_none() && self.net.kind == NetKind::Symmetric {
            return Err(missing(node, "hlinscription"));
        }
        Ok(Arc { common, ends: ends.map(str::to_owned), place, transition, is_input, inscription })
    }

    /// Returns a term that is one colour, or a condition.
    fn single(&self, node: Node<'a, 'i>) -> Result<Typed> {
        let typed = self.term(node)?;
        if typed.is_single {
            return Ok(typed);
        }
        let (found, expected) = ("a multiset".to_owned(), "one colour".to_owned());
        Err(ReadError::Sort { line: line(node), element: name(node).to_owned(), found, expected })
    }

    /// Returns a condition.
    fn condition(&self, node: Node<'a, 'i>) -> Result<Term> {
        let typed = self.single(node)?;
        check_sort(node, &self.net, &typed.colours, &Type::Bool)?;
        Ok(typed.term)
    }

    /// Returns several terms of one sort.
    fn equal_sorts(&self, nodes: &[Node<'a, 'i>]) -> Result<(Vec<Term>, Type)> {
        let first = self.term(nodes[0])?;
        let (mut terms, colours) = (vec![first.term], first.colours);
        for node in &nodes[1..] {
            let typed = self.term(*node)?;
            check_sort(*node, &self.net, &typed.colours, &colours)?;
            terms.push(typed.term);
        }
        Ok((terms, colours))
    }

    fn term(&self, node: Node<'a, 'i>) -> Result<Typed> {
        let single = |term, colours| Ok(Typed { term, colours, is_single: true });
        let multiset = |term, colours| Ok(Typed { term, colours, is_single: false });
        match name(node) {
            "dotconstant" => nothing_in(node, &[]).and_then(|()| single(Term::Dot, Type::Dot)),
            "booleanconstant" => {
                nothing_in(node, &["value"])?;
                let value = number(node, attribute(node, "value")?, "true or false")?;
                single(Term::Bool(value), Type::Bool)
            }
            "variable" => {
                nothing_in(node, &["refvariable"])?;
                let id = attribute(node, "refvariable")?;
                let declaration = self.declarations.get(&format!("variable {id}"));
                let &declaration = declaration.ok_or_else(|| bad_reference(node, id, "no declared variable"))?;
                single(Term::Variable(declaration), self.net.declarations[declaration].colours.clone())
            }
            "useroperator" => {
                nothing_in(node, &["declaration"])?;
                let id = attribute(node, "declaration")?;
                let constant = self.constants.get(id);
                let &(declaration, colour) = constant.ok_or_else(|| bad_reference(node, id, "no declared constant"))?;
                single(Term::Constant { declaration, colour }, self.net.declarations[declaration].colours.clone())
            }
            "finiteintrangeconstant" => {
                let value: i64 = number(node, attribute(node, "value")?, "an integer of 64 bits")?;
                let (sort, colours) = self.sort(only(node, &["value"], "finiteintrange")?)?;
                match colours {
                    Type::Range { start, end } if (start..=end).contains(&value) => {
                        single(Term::Integer { value, sort, colour: start.abs_diff(value) }, colours)
                    }
                    _ => Err(bad_value(node, &value.to_string(), "a number of the range that it names")),
                }
            }
            operator @ ("successor" | "predecessor") => {
                let part = one(node)?;
                let typed = self.single(part)?;
                if matches!(typed.colours, Type::Dot | Type::Bool | Type::Product { .. }) {
                    return Err(wrong_sort(part, &self.net, &typed.colours, "an enumeration or a range"));
                }
                let (of, count) = (Box::new(typed.term), typed.colours.count());
                let is_successor = operator == "successor";
                single(
                    if is_successor { Term::Successor { of, count } } else { Term::Predecessor { of, count } },
                    typed.colours,
                )
            }
            "partitionelementof" => {
                let [part] = elements(node, &["refpartition"])?[..] else { return Err(missing(node, "subterm")) };
                let id = attribute(node, "refpartition")?;
                let partition = self.declarations.get(&format!("sort {id}"));
                let &partition = partition.ok_or_else(|| bad_reference(node, id, "no declared partition"))?;
                let Declared::Partition { of, .. } = &self.net.declarations[partition].declared else {
                    return Err(bad_reference(node, id, "no partition"));
                };
                let sort = of.colours(&self.net.declarations);
                let part = if name(part) == "subterm" { only(part, &[], "term")? } else { part };
                let typed = self.single(part)?;
                check_sort(part, &self.net, &typed.colours, &sort)?;
                let term = Term::PartitionElementOf { of: Box::new(typed.term), partition };
                single(term, self.net.declarations[partition].colours.clone())
            }
            "tuple" => {
                let (mut components, mut types, mut is_single) = (Vec::new(), Vec::new(), true);
                for component in subterms(node)? {
                    let typed = self.term(component)?;
                    is_single &= typed.is_single;
                    components.push((typed.term, typed.colours.count()));
                    types.push(typed.colours);
                }
                let colours = Type::product(types);
                let colours = colours.ok_or_else(|| bad_value(node, "the tuple", "one of at most 2^64 - 1 colours"))?;
                Ok(Typed { term: Term::Tuple(components), colours, is_single })
            }
            operator @ ("and" | "or") => {
                let terms = subterms(node)?.into_iter().map(|part| self.condition(part)).collect::<Result<_>>()?;
                single(if operator == "and" { Term::And(terms) } else { Term::Or(terms) }, Type::Bool)
            }
            "not" => single(Term::Not(Box::new(self.condition(one(node)?)?)), Type::Bool),
            "imply" => {
                let [left, right] = two(node)?;
                single(Term::Imply(Box::new([self.condition(left)?, self.condition(right)?])), Type::Bool)
            }
            "equality" => self.comparison(node, Comparison::Equal),
            "inequality" => self.comparison(node, Comparison::Unequal),
            "lessthan" | "ltp" => self.comparison(node, Comparison::Less),
            "lessthanorequal" => self.comparison(node, Comparison::LessOrEqual),
            "greaterthan" | "gtp" => self.comparison(node, Comparison::Greater),
            "greaterthanorequal" => self.comparison(node, Comparison::GreaterOrEqual),
            operator @ ("all" | "empty") => {
                let (sort, colours) = self.sort(only(node, &[], "sort")?)?;
                let count = colours.count();
                multiset(if operator == "all" { Term::All { sort, count } } else { Term::Empty(sort) }, colours)
            }
            operator @ ("numberof" | "scalarproduct") => {
                let [count, of] = two(node)?;
                if name(count) != "numberconstant" {
                    return Err(unsupported(count, "write the number of tokens as `numberconstant`"));
                }
                let kind = name(only(count, &["value"], "natural or positive")?).to_owned();
                if !["natural", "positive"].contains(&kind.as_str()) {
                    return Err(unsupported(count, "a number of tokens is `natural` or `positive`"));
                }
                let count = number(count, attribute(count, "value")?, "a number of tokens below 2^64")?;
                let typed = self.term(of)?;
                let of = Box::new(typed.term);
                let is_number = operator == "numberof";
                multiset(
                    if is_number { Term::NumberOf(count, of) } else { Term::ScalarProduct(count, of) },
                    typed.colours,
                )
            }
            operator @ ("add" | "subtract") => {
                let (terms, colours) = self.equal_sorts(&subterms(node)?)?;
                multiset(if operator == "add" { Term::Add(terms) } else { Term::Subtract(terms) }, colours)
            }
            _ => Err(unsupported(node, "use terms of symmetric nets (ISO/IEC 15909-2)")),
        }
    }

    fn comparison(&self, node: Node<'a, 'i>, by: Comparison) -> Result<Typed> {
        let nodes = two(node)?;
        let [left, right] = [self.single(nodes[0])?, self.single(nodes[1])?];
        let start = |colours: &Type| match colours {
            Type::Range { start, .. } => Some(*start),
            _ => None,
        };
        let starts = match (start(&left.colours), start(&right.colours)) {
            (Some(left), Some(right)) => [left, right],
            _ => {
                check_sort(nodes[1], &self.net, &right.colours, &left.colours)?;
                [0, 0]
            }
        };
        let is_ordered = matches!(left.colours, Type::Range { .. } | Type::Listed { .. });
        if !is_ordered && !matches!(by, Comparison::Equal | Comparison::Unequal) {
            return Err(wrong_sort(nodes[0], &self.net, &left.colours, "an enumeration, a range or a partition"));
        }
        let term = Term::Compare { by, sides: Box::new([left.term, right.term]), starts };
        Ok(Typed { term, colours: Type::Bool, is_single: true })
    }
}

fn twice(node: Node<'_, '_>, id: &str) -> ReadError {
    ReadError::Twice { line: line(node), element: name(node).to_owned(), id: id.to_owned() }
}

fn leaves(colours: &Type) -> usize {
    match colours {
        Type::Product { components, .. } => components.iter().map(leaves).sum(),
        _ => 1,
    }
}

fn check_sort(node: Node<'_, '_>, net: &PnmlNet, found: &Type, expected: &Type) -> Result<()> {
    if found == expected { Ok(()) } else { Err(wrong_sort(node, net, found, &described(net, expected))) }
}

fn wrong_sort(node: Node<'_, '_>, net: &PnmlNet, found: &Type, expected: &str) -> ReadError {
    let (element, found, expected) = (name(node).to_owned(), described(net, found), expected.to_owned());
    ReadError::Sort { line: line(node), element, found, expected }
}

/// Returns a sort in words.
fn described(net: &PnmlNet, colours: &Type) -> String {
    match colours {
        Type::Dot => "of sort dot".to_owned(),
        Type::Bool => "a condition".to_owned(),
        Type::Range { start, end } => format!("of the range {start} to {end}"),
        Type::Listed { declaration, .. } => format!("of sort `{}`", net.declarations[*declaration].id),
        Type::Product { components, .. } => {
            let components: Vec<String> = components.iter().map(|component| described(net, component)).collect();
            format!("a tuple ({})", components.join(", "))
        }
    }
}
