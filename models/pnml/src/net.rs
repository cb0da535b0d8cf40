//! A net as its file has it: declarations, pages, places, transitions and arcs.

use crate::term::{Sort, Term, Type};

/// The kind of a net: the type definition that its file names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NetKind {
    /// A place/transition net: tokens are all alike.
    PlaceTransition,
    /// A symmetric net: tokens have colours of finite sorts.
    Symmetric,
}

impl NetKind {
    /// Returns the name of the type definition, as files of ISO/IEC 15909-2:2011 have it.
    pub fn uri(self) -> &'static str {
        match self {
            Self::PlaceTransition => "http://www.pnml.org/version-2009/grammar/ptnet",
            Self::Symmetric => "http://www.pnml.org/version-2009/grammar/symmetricnet",
        }
    }
}

/// A net that was read from a file.
///
/// Pages and references between them are kept, and so are graphics and what tools have added (`toolspecific`):
/// [`PnmlNet::to_pnml`] writes all of it. Comments of the file are not kept.
#[derive(Debug, Clone, PartialEq)]
pub struct PnmlNet {
    pub(crate) kind: NetKind,
    pub(crate) net: Common,
    /// The labels around the declarations, as one.
    pub(crate) declaration: Option<Label<()>>,
    pub(crate) declarations: Vec<Declaration>,
    pub(crate) pages: Vec<Common>,
    pub(crate) places: Vec<Place>,
    pub(crate) transitions: Vec<Transition>,
    pub(crate) references: Vec<Reference>,
    pub(crate) arcs: Vec<Arc>,
}

/// What a net, a page, a place, a transition and an arc have in common.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Common {
    pub(crate) id: String,
    /// The page that it is on; of a page on no page and of a net, itself.
    pub(crate) page: usize,
    pub(crate) name: Option<Label<()>>,
    /// Graphics and tool-specific elements, as text.
    pub(crate) kept: Vec<String>,
}

impl Common {
    /// Returns the name, or the identifier if there is none.
    pub(crate) fn words(&self) -> &str {
        let name = self.name.as_ref().and_then(|name| name.text.as_deref()).map_or("", str::trim);
        if name.is_empty() { &self.id } else { name }
    }
}

/// A label: a value, the text that a person reads, graphics and tool-specific elements.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Label<T> {
    pub(crate) text: Option<String>,
    pub(crate) value: T,
    pub(crate) kept: Vec<String>,
}

/// A declaration of a symmetric net.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Declaration {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) declared: Declared,
    /// The colours: of a variable, those of its sort.
    pub(crate) colours: Type,
}

/// What is declared.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Declared {
    Enumeration { is_cyclic: bool, constants: Vec<Constant> },
    Sort(Sort),
    Partition { of: Sort, elements: Vec<PartitionElement>, by_colour: Vec<u64> },
    Variable(Sort),
}

impl Declared {
    /// Returns what a colour is called: a constant of an enumeration, or an element of a partition.
    pub(crate) fn constant(&self, colour: u64) -> &Constant {
        match self {
            Self::Enumeration { constants, .. } => &constants[colour as usize],
            Self::Partition { elements, .. } => &elements[colour as usize].constant,
            other => unreachable!("{other:?} lists nothing"),
        }
    }
}

/// A constant of an enumeration.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Constant {
    pub(crate) id: String,
    pub(crate) name: String,
}

/// An element of a partition: a set of colours.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PartitionElement {
    pub(crate) constant: Constant,
    pub(crate) members: Vec<Term>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Place {
    pub(crate) common: Common,
    /// The sort, which a place of a place/transition net does not have.
    pub(crate) sort: Option<Label<Sort>>,
    pub(crate) colours: Type,
    pub(crate) marking: Option<Label<Term>>,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Transition {
    pub(crate) common: Common,
    pub(crate) guard: Option<Label<Term>>,
}

/// A reference place or a reference transition, which stands on a page for a node of another page.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reference {
    pub(crate) common: Common,
    pub(crate) is_place: bool,
    pub(crate) target: String,
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Arc {
    pub(crate) common: Common,
    /// The identifiers of its ends, which may be references.
    pub(crate) ends: [String; 2],
    pub(crate) place: usize,
    pub(crate) transition: usize,
    /// Whether it leads from the place to the transition.
    pub(crate) is_input: bool,
    /// The inscription; an arc of a place/transition net without one moves one token.
    pub(crate) inscription: Option<Label<Term>>,
}

impl PnmlNet {
    /// Returns the kind.
    pub fn kind(&self) -> NetKind {
        self.kind
    }

    /// Returns the name, or the identifier if there is none.
    pub fn name(&self) -> &str {
        self.net.words()
    }

    /// Returns the names of the places, in the order of the file. A place without a name has its identifier, and so
    /// have places of equal names.
    pub fn places(&self) -> Vec<&str> {
        different(self.places.iter().map(|place| &place.common).collect())
    }

    /// Returns the names of the transitions, as [`PnmlNet::places`] those of places.
    pub fn transitions(&self) -> Vec<&str> {
        different(self.transitions.iter().map(|transition| &transition.common).collect())
    }

    /// Returns how many arcs there are.
    pub fn arcs(&self) -> usize {
        self.arcs.len()
    }
}

/// Returns names, and identifiers instead of those that are there twice.
fn different(all: Vec<&Common>) -> Vec<&str> {
    let mut names: Vec<&str> = all.iter().map(|common| common.words()).collect();
    names.sort_unstable();
    let is_twice = |name: &str| {
        let first = names.partition_point(|&other| other < name);
        names.get(first + 1) == Some(&name)
    };
    all.into_iter().map(|common| if is_twice(common.words()) { &common.id } else { common.words() }).collect()
}
