//! What happens to variables in the blocks of a graph: definitions, uses, and where the probes of both go.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use super::blocks::BlockId;
use super::decision::DecisionSite;

/// An event of a [`Flow`], by its index.
pub(crate) type EventId = usize;

/// The definitions and uses of one function, in the order of evaluation.
#[derive(Debug, Clone, Default)]
pub(crate) struct Flow {
    pub(crate) variables: Vec<Variable>,
    pub(crate) events: Vec<Event>,
    /// The events of each block.
    pub(crate) blocks: Vec<Vec<EventId>>,
    /// What is bound on edges; see [`super::blocks::Edge::binding`].
    pub(crate) bindings: Vec<Vec<EventId>>,
    /// Where the probes of events go.
    pub(crate) anchors: Vec<(Anchor, Vec<EventId>)>,
    /// For each condition, `match`, `?` and loop head the branches that the uses in it are for.
    pub(crate) predicates: Vec<Vec<usize>>,
    /// The first branches of conditions, operands of `?` and heads of `for` loops: a probe stands around these, and
    /// notes the uses in them with the outcome.
    pub(crate) wrapped: BTreeMap<usize, Wrapped>,
    /// Branches to blocks for which the compiler would rather choose between values than jump.
    pub(crate) light: BTreeSet<usize>,
    /// By block that is a requirement, where its probe stands.
    pub(crate) starts: BTreeMap<BlockId, Anchor>,
    pub(crate) closures: Vec<Closure>,
    /// Struct literals.
    pub(crate) births: Vec<Birth>,
    /// Conditions of MC/DC.
    pub(crate) decisions: Vec<DecisionSite>,
    /// The type whose methods' fields are followed, if the function takes `self` by reference.
    pub(crate) receiver: Option<String>,
    /// The function's own name.
    pub(crate) name: String,
    /// The methods that it calls on `self`.
    pub(crate) callees: Vec<String>,
}

/// A variable of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Variable {
    pub(crate) name: String,
    pub(crate) kind: VariableKind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum VariableKind {
    /// A binding, made inside of so many closures.
    Local { depth: usize },
    /// A field of `self`.
    Field,
}

/// What has two ways out, with a probe around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wrapped {
    Condition,
    Attempt,
    Items,
}

/// What happens to a variable at one place.
#[derive(Debug, Clone)]
pub(crate) struct Event {
    pub(crate) action: Action,
    pub(crate) range: Range<usize>,
    /// The closures around it, as indices into [`Flow::closures`], the outermost first.
    pub(crate) closures: Vec<usize>,
    /// Whether it is a definition by a method that may have borrowed its receiver for reading: then others can hold it.
    pub(crate) by_method: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Action {
    /// The variable gets a value.
    Define(usize),
    /// Its value is used.
    Use {
        variable: usize,
        /// An index into [`Flow::predicates`] if it is a p-use.
        predicate: Option<usize>,
    },
    /// Other methods of the type can run: the place exchanges the definitions of fields with them.
    Exchange {
        /// The method that is called, as an index into [`Flow::callees`]; `None` if it can be any.
        callee: Option<usize>,
    },
    /// A struct literal makes an object: an index into [`Flow::births`].
    Birth(usize),
}

/// Where the probe of an event goes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Anchor {
    /// Between statements.
    Insert(usize),
    /// Before an expression, whose temporaries live as long as before.
    Before(Range<usize>),
    /// After an expression, whose value is handed on.
    After(Range<usize>),
    /// Before an expression that becomes the value of a block.
    Body(Range<usize>),
}

/// A closure or an `async` block.
#[derive(Debug, Clone)]
pub(crate) struct Closure {
    /// The block that makes it ...
    pub(crate) block: BlockId,
    /// ... after so many events.
    pub(crate) at: usize,
    /// The blocks of its body.
    pub(crate) body: Range<BlockId>,
}

/// A struct literal.
#[derive(Debug, Clone)]
pub(crate) struct Birth {
    pub(crate) type_name: String,
    pub(crate) fields: Vec<(String, Range<usize>)>,
}

impl Flow {
    /// Returns the variable that an event is about.
    pub(crate) fn variable_of(&self, event: EventId) -> Option<usize> {
        match self.events[event].action {
            Action::Define(variable) | Action::Use { variable, .. } => Some(variable),
            Action::Exchange { .. } | Action::Birth(_) => None,
        }
    }

    /// Returns the closures that share the variable of an event with what is around them.
    pub(crate) fn shared_by(&self, event: EventId) -> &[usize] {
        let closures = &self.events[event].closures[..];
        match self.variable_of(event).map(|variable| self.variables[variable].kind) {
            Some(VariableKind::Local { depth }) => &closures[depth.min(closures.len())..],
            Some(VariableKind::Field) => closures,
            None => &[],
        }
    }
}
