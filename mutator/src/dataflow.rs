//! Data flow: where variables get their values, where the values are used, and which uses can see which definitions.
//!
//! The requirements of all-defs, all-uses and all-p-uses (Rapps and Weyuker, IEEE TSE 1985; Frankl and Weyuker, IEEE
//! TSE 1988) come from reaching definitions over the control-flow graphs. A use in a condition, a `match`, the operand
//! of `?` or the head of a `for` loop is a p-use: it makes a pair for each way that the decision can go.
//!
//! # Variables
//!
//! Variables are bindings, not names: parameters, and what patterns bind. The fields of `self` are variables of their
//! type, across its methods: what reaches the end of a method, or a call or `await` inside it, reaches the beginning of
//! every method and the way back from every call. `self.a.b` is a use of `self.a`. The fields of a struct literal are
//! defined by it.
//!
//! # What defines
//!
//! An assignment defines the variable that its place begins with, so does one to an element or a field of it. The call
//! of a method defines its receiver unless its name is known to be harmless, since nothing is known of its body (the
//! same as in Rutherford's thesis, section 3.2); an argument `&mut x` defines `x` when the call returns, and `&mut x`
//! elsewhere does so at once.
//!
//! # Limits
//!
//! - A use counts where a probe can stand: before the statement that it is in, or after the last call before it. The
//!   scrutinee of a `let` in a chain has no such place if it is a variable itself, and is left out. In a chain, uses in
//!   a `let` make pairs with its success only.
//! - Of macros, only the common ones of the standard library are looked into; of assertions, only what is asserted.
//! - A closure or `async` block that is not `move` shares variables with its function. As the compiler has it, no
//!   assignment to one of them stands between its making and a later call; a method call that counts as a definition
//!   can, and so can one of a field.
//! - A variable is not followed through references to it. A field that is assigned from outside of its type's methods
//!   is not defined by that, the variable that holds the object is.
//! - A `self` that is taken by value is a variable as others are.

mod certain;
mod decision;
mod names;
mod numbers;
mod probes;
mod reaching;
mod walk;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use crate::graph::BlockId;

pub(crate) use decision::DecisionSite;
pub(crate) use names::Signature;
pub(crate) use numbers::Numbers;
pub(crate) use probes::{NO_MARK, OutcomeProbes, Probes, Wrap, pair_from};
pub(crate) use reaching::{Analysis, analyse};
pub(crate) use walk::{Walk, literal_fields};

/// An event of a [`Flow`], by its index.
pub(crate) type EventId = usize;

/// The definitions and uses of one function, in the order of evaluation.
#[derive(Debug, Default)]
pub(crate) struct Flow {
    pub(crate) variables: Vec<Variable>,
    pub(crate) events: Vec<Event>,
    /// The events of each block.
    pub(crate) blocks: Vec<Vec<EventId>>,
    /// What is bound on edges; see [`crate::graph::Edge::binding`].
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

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use crate::test_support::pairs;

    #[test]
    fn uses_in_conditions_make_a_pair_for_each_way_out() {
        assert_snapshot!(pairs(
            "fn f(a: u32) -> u32 {
    let mut b = 0;
    if a > 1 {
        b = a;
    }
    while b < 9 { b += 1; }
    b
}"
        ));
    }

    #[test]
    fn a_name_is_a_binding() {
        assert_snapshot!(pairs(
            "fn f(a: u32) -> u32 {
    let b = a;
    { let a = b; g(a); }
    let a = a + b;
    a
}"
        ));
    }

    #[test]
    fn patterns_define_where_they_match() {
        assert_snapshot!(pairs(
            "fn f(a: Option<u32>, b: Vec<u32>) {
    let Some(c) = a else { return };
    match a {
        Some(d) if d > c => g(d),
        Some(d) => h(d),
        NONE => {}
    }
    for e in b { g(e); }
    while let Some(k) = g(c) && k > 1 { h(k); }
}"
        ));
    }

    #[test]
    fn calls_of_methods_define_their_receiver_and_borrowed_arguments() {
        assert_snapshot!(pairs(
            "fn f(mut a: Vec<u32>, mut b: u32) {
    a.push(1);
    a.len();
    g(&mut b, a);
    h(b);
    a[b] = 2;
    let c = &mut a;
    *c = b?;
    g(c);
}"
        ));
    }

    #[test]
    fn fields_connect_the_methods_of_a_type() {
        assert_snapshot!(pairs(
            "struct S { a: u32, b: u32 }
impl S {
    fn new(b: u32) -> Self {
        Self { a: 0, b }
    }
    fn grow(&mut self) {
        self.a += self.b;
        self.check();
        g(self.a);
        self.a = 1;
    }
    fn check(&self) {
        assert!(self.a > self.b, \"{}\", self.a);
    }
}"
        ));
    }

    #[test]
    fn closures_share_or_capture() {
        assert_snapshot!(pairs(
            "fn f(mut a: u32, mut b: u32) {
    a = 1;
    let mut c = || { a += 2; };
    c();
    let d = move || b;
    b = 3;
    g(a, b, d);
}"
        ));
    }

    #[test]
    fn the_arguments_of_known_macros_are_used() {
        assert_snapshot!(pairs(
            "fn f(a: u32, b: u32, c: u32) {
    assert_eq!(a, b, \"{c}\");
    println!(\"{a} {}\", b);
    unknown!(c);
}"
        ));
    }
}
