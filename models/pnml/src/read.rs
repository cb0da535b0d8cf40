//! The reader: from the text of a file to a net, or an error with a line.

mod declarations;
mod terms;
mod xml;

use std::collections::{BTreeMap, BTreeSet};

use roxmltree::{Document, Node};

use self::terms::check_sort;
use self::xml::{
    attribute, bad_reference, bad_value, elements, kept, line, missing, name, number, only, text_of, twice, unsupported,
};
use crate::error::ReadError;
use crate::net::{Arc, Common, Label, NetKind, Place, PnmlNet, Reference, Transition};
use crate::term::{Term, Type};

/// How deeply elements can be nested: terms are read and evaluated by recursion.
const DEPTH_MAX: usize = 200;

type Result<T> = std::result::Result<T, ReadError>;

impl PnmlNet {
    /// Returns the net of a PNML file.
    ///
    /// # Errors
    /// [`ReadError`] if the file is damaged, or if it has anything that would not be explored as it is meant.
    pub fn read(text: &str) -> Result<Self> {
        let damaged = |error: roxmltree::Error| {
            let line = match error {
                // They have no position.
                roxmltree::Error::UnexpectedEndOfStream | roxmltree::Error::UnclosedRootNode => {
                    text.lines().count() as u32
                }
                _ => error.pos().row,
            };
            ReadError::Xml { line: line.max(1), problem: error.to_string() }
        };
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

/// The name space of PNML.
pub(crate) const PNML: &str = "http://www.pnml.org/version-2009/grammar/pnml";

/// Identifiers of one sort of things, each with a number.
type Ids = BTreeMap<String, usize>;

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
}
