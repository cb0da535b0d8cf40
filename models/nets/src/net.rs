//! A net: places, and transitions between them.

use std::collections::BTreeSet;
use std::fmt;
use std::marker::PhantomData;
use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::Token;
use crate::arcs::{Body, Inputs, Outputs, Place, Produced, Source};
use crate::multiset::{EMPTY, Overflow, Store, TooMany, add_to};
use crate::property::Property;

/// A coloured Petri net.
///
/// Places hold multisets of tokens of one type. A transition takes tokens from places and puts others; what it puts,
/// and whether it may fire at all, says a plain function of what it took. See the [crate] for an example.
///
/// A net from which tests are generated says what is seen of a transition: stimuli, of the type `I`, that a tester gives to
/// an implementation, and observations, of the type `O`, that the implementation answers with ([`Net::with_events`]).
#[derive(Debug)]
pub struct Net<I = (), O = ()> {
    pub(crate) core: Core,
    pub(crate) events: Vec<Events<I, O>>,
}

/// A net without what is seen of it.
#[derive(Debug)]
pub(crate) struct Core {
    name: String,
    /// Tells its places from those of other nets.
    pub(crate) id: u64,
    pub(crate) places: Vec<PlaceOf>,
    pub(crate) stores: Vec<Store>,
    pub(crate) transitions: Vec<Transition>,
    pub(crate) properties: Vec<Property>,
    /// The first initial marking that does not fit.
    overflows: Option<usize>,
}

/// The functions that say what is seen of a transition.
pub(crate) struct Events<I, O> {
    pub(crate) input: Option<Box<Seen<I>>>,
    pub(crate) output: Option<Box<Seen<O>>>,
}

/// Returns what is seen when a transition fires that binds the values of these numbers.
type Seen<E> = dyn Fn(&[u32], &[Store]) -> Option<E>;

impl<I, O> fmt::Debug for Events<I, O> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { input, output } = self;
        formatter.debug_struct("Events").field("input", &input.is_some()).field("output", &output.is_some()).finish()
    }
}

/// The name and the first contents of a place.
#[derive(Debug)]
pub(crate) struct PlaceOf {
    pub(crate) name: String,
    /// The number of the initial multiset.
    pub(crate) initial: u32,
}

/// A transition of a net.
pub(crate) struct Transition {
    pub(crate) name: String,
    pub(crate) inputs: Vec<Source>,
    /// By input, the free values in words.
    pub(crate) words: Vec<Vec<String>>,
    pub(crate) outputs: Vec<usize>,
    /// Places that must be empty.
    pub(crate) inhibitors: Vec<usize>,
    pub(crate) priority: i32,
    pub(crate) fire: Box<Fire>,
    /// The nets that the places are of.
    nets: BTreeSet<u64>,
}

impl Transition {
    /// Returns whether a place has tokens that must be empty.
    pub(crate) fn is_inhibited(&self, marking: &[u32]) -> bool {
        self.inhibitors.iter().any(|&place| marking[place] != EMPTY)
    }
}

/// Calls the body with the values of numbers, and numbers what it puts.
type Fire = dyn Fn(&[u32], &mut [Store]) -> Result<Option<Produced>, Overflow>;

impl fmt::Debug for Transition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Transition").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A transition that was added to a net, to say more of it.
#[derive(Debug)]
pub struct Added<'n, Given, I, O> {
    transition: &'n mut Transition,
    events: &'n mut Events<I, O>,
    inputs: Rc<Given>,
}

impl<Given: Inputs, I: 'static, O: 'static> Added<'_, Given, I, O> {
    /// Lets the transition fire only while a place is empty: an inhibitor arc.
    pub fn unless_marked<T: Token>(self, place: Place<T>) -> Self {
        self.transition.inhibitors.push(place.number);
        self.transition.nets.insert(place.net);
        self
    }

    /// Gives the transition a priority, by default 0: where several are enabled, only those of the highest one fire.
    pub fn priority(self, priority: i32) -> Self {
        self.transition.priority = priority;
        self
    }

    /// Says which stimulus a tester gives when the transition fires, as a function of what its inputs bind; `None` if none.
    pub fn input(self, stimulus: impl Body<Given::Values, I>) -> Self {
        let inputs = Rc::clone(&self.inputs);
        self.events.input = Some(Box::new(move |numbers, places| stimulus.call(inputs.values(numbers, places))));
        self
    }

    /// Says what is observed when the transition fires, as a function of what its inputs bind; `None` if nothing.
    pub fn output(self, observation: impl Body<Given::Values, O>) -> Self {
        let inputs = Rc::clone(&self.inputs);
        self.events.output = Some(Box::new(move |numbers, places| observation.call(inputs.values(numbers, places))));
        self
    }
}

/// A mistake in a net.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NetError {
    /// Two places, transitions or properties have one name.
    #[error("net `{net}` has two {what} of the name `{name}`; a name tells which one a picture or a test is about")]
    NameTwice {
        /// The net.
        net: String,
        /// `places`, `transitions` or `properties`.
        what: &'static str,
        /// The name.
        name: String,
    },
    /// A transition has a place of another net.
    #[error(
        "net `{net}`: transition `{transition}` has a place of another net; make the place with `place` of this one"
    )]
    OtherNet {
        /// The net.
        net: String,
        /// The transition.
        transition: String,
    },
    /// A transition needs tokens of a place in which there is never one.
    #[error(
        "net `{net}`: transition `{transition}` needs a token in `{place}`, which is empty at first, and no transition puts \
         one there; plug in what puts it, or give `place` a token"
    )]
    NeverMarked {
        /// The net.
        net: String,
        /// The transition.
        transition: String,
        /// The place.
        place: String,
    },
    /// Nothing is connected with a place.
    #[error("net `{net}`: no transition has the place `{place}`; plug something in, or leave it out")]
    Unused {
        /// The net.
        net: String,
        /// The place.
        place: String,
    },
    /// A transition can have any of no values.
    #[error("net `{net}`: transition `{transition}` has `any` of no values, so it never fires")]
    NoValues {
        /// The net.
        net: String,
        /// The transition.
        transition: String,
    },
    /// A place has more than 2^32 - 1 tokens at first.
    #[error("net `{net}`: `{place}` has more tokens at first than can be counted")]
    TooManyTokens {
        /// The net.
        net: String,
        /// The place.
        place: String,
    },
}

impl Net {
    /// Returns a net without places, of which nothing is seen.
    pub fn new(name: impl Into<String>) -> Self {
        Self::with_events(name)
    }
}

impl<I: 'static, O: 'static> Net<I, O> {
    /// Returns a net without places, of which [`Added::input`] and [`Added::output`] say what is seen: see
    /// [`StateSpace::tests`](crate::StateSpace::tests).
    pub fn with_events(name: impl Into<String>) -> Self {
        static NETS: AtomicU64 = AtomicU64::new(0);
        let core = Core {
            name: name.into(),
            id: NETS.fetch_add(1, Ordering::Relaxed),
            places: Vec::new(),
            stores: Vec::new(),
            transitions: Vec::new(),
            properties: Vec::new(),
            overflows: None,
        };
        Self { core, events: Vec::new() }
    }

    /// Returns the name.
    pub fn name(&self) -> &str {
        &self.core.name
    }

    /// Adds a place with its initial tokens.
    pub fn place<T: Token>(&mut self, name: impl Into<String>, tokens: impl IntoIterator<Item = T>) -> Place<T> {
        let Core { id, places, stores, overflows, .. } = &mut self.core;
        let number = places.len();
        let mut store = Store::new::<T>();
        let initial = multiset(&mut store, tokens).unwrap_or_else(|TooMany| {
            overflows.get_or_insert(number);
            EMPTY
        });
        places.push(PlaceOf { name: name.into(), initial });
        stores.push(store);
        Place { net: *id, number, tokens: PhantomData }
    }

    /// Adds a transition. `inputs` are one of [`Place::take`], [`Place::keep`], [`Place::take_all`] and
    /// [`any`](crate::any), or a tuple of these; `body` is a function of what they bind, which returns what `outputs`
    /// put, or `None` where the transition is not enabled. The outputs are one of [`Place::put`] and
    /// [`Place::put_all`], or a tuple.
    ///
    /// The body must be a function of its arguments alone: it is not called again for tokens that it was called with.
    pub fn transition<Given: Inputs, Made: Outputs>(
        &mut self,
        name: impl Into<String>,
        inputs: Given,
        body: impl Body<Given::Values, Made::Values>,
        outputs: Made,
    ) -> Added<'_, Given, I, O> {
        let inputs = Rc::new(inputs);
        let (sources, from): (Vec<Source>, Vec<Option<u64>>) = inputs.sources().into_iter().unzip();
        let (targets, to): (Vec<usize>, Vec<u64>) = outputs.targets().into_iter().unzip();
        let given = Rc::clone(&inputs);
        let fire = move |numbers: &[u32], places: &mut [Store]| {
            let made = body.call(given.values(numbers, places));
            made.map(|made| outputs.put(made, places)).transpose()
        };
        self.core.transitions.push(Transition {
            name: name.into(),
            inputs: sources,
            words: inputs.words(),
            outputs: targets,
            inhibitors: Vec::new(),
            priority: 0,
            fire: Box::new(fire),
            nets: from.into_iter().flatten().chain(to).collect(),
        });
        self.events.push(Events { input: None, output: None });
        let transition = self.core.transitions.last_mut().expect("it was added");
        let events = self.events.last_mut().expect("it was added");
        Added { transition, events, inputs }
    }

    /// Looks for mistakes. [`Net::explore`] does so before it begins.
    ///
    /// # Errors
    /// [`NetError`] names the first one.
    pub fn check(&self) -> Result<(), NetError> {
        self.core.check_made()?;
        self.core.check_used()
    }

    /// Looks for the mistakes with which the net cannot run.
    pub(crate) fn check_made(&self) -> Result<(), NetError> {
        self.core.check_made()
    }
}

impl Core {
    fn check_made(&self) -> Result<(), NetError> {
        let net = || self.name.clone();
        let name_twice = |what, names: Vec<&String>| {
            let mut known = BTreeSet::new();
            match names.into_iter().find(|name| !known.insert(*name)) {
                Some(name) => Err(NetError::NameTwice { net: net(), what, name: name.clone() }),
                None => Ok(()),
            }
        };
        name_twice("places", self.places.iter().map(|place| &place.name).collect())?;
        name_twice("transitions", self.transitions.iter().map(|transition| &transition.name).collect())?;
        name_twice("properties", self.properties.iter().map(|property| &property.name).collect())?;
        if let Some(place) = self.overflows {
            return Err(NetError::TooManyTokens { net: net(), place: self.places[place].name.clone() });
        }
        for transition in &self.transitions {
            let name = || transition.name.clone();
            if transition.nets.iter().any(|&id| id != self.id) {
                return Err(NetError::OtherNet { net: net(), transition: name() });
            }
            if transition.inputs.contains(&Source::Free(0)) {
                return Err(NetError::NoValues { net: net(), transition: name() });
            }
        }
        Ok(())
    }

    /// Looks for places that are of no use.
    fn check_used(&self) -> Result<(), NetError> {
        let net = || self.name.clone();
        let is_fed = |place: usize| {
            self.places[place].initial != EMPTY || self.transitions.iter().any(|other| other.outputs.contains(&place))
        };
        let mut used = vec![false; self.places.len()];
        for transition in &self.transitions {
            for input in &transition.inputs {
                let Some(place) = input.place() else { continue };
                used[place] = true;
                if input.needs_token() && !is_fed(place) {
                    let (transition, place) = (transition.name.clone(), self.places[place].name.clone());
                    return Err(NetError::NeverMarked { net: net(), transition, place });
                }
            }
            transition.outputs.iter().chain(&transition.inhibitors).for_each(|&place| used[place] = true);
        }
        match used.iter().position(|used| !used) {
            Some(place) => Err(NetError::Unused { net: net(), place: self.places[place].name.clone() }),
            None => Ok(()),
        }
    }
}

/// Returns the number of a multiset of tokens.
fn multiset<T: Token>(store: &mut Store, tokens: impl IntoIterator<Item = T>) -> Result<u32, TooMany> {
    let mut numbers = Vec::new();
    for token in tokens {
        add_to(&mut numbers, store.number(token)?, 1)?;
    }
    store.multisets_mut().number(&numbers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::any;

    #[track_caller]
    fn check(build: impl FnOnce(&mut Net), expect: &str) {
        let mut net = Net::new("n");
        build(&mut net);
        let error = net.check().expect_err("it has a mistake").to_string();
        assert!(error.contains(expect), "{error}");
    }

    #[test]
    fn mistakes_are_told_before_anything_runs() {
        let same = |token: u8| Some(token);
        check(
            |net| {
                let one = net.place("p", [1]);
                let other = net.place::<u8>("p", []);
                net.transition("t", one.take(), same, other.put());
            },
            "net `n` has two places of the name `p`",
        );
        check(
            |net| {
                let place = net.place("p", [1]);
                net.transition("t", place.take(), same, place.put());
                net.transition("t", place.take(), same, place.put());
            },
            "two transitions of the name `t`",
        );
        check(
            |net| {
                let place = Net::new("other").place("p", [1]);
                net.transition("t", place.take(), same, place.put());
            },
            "transition `t` has a place of another net",
        );
        check(
            |net| {
                let (empty, out) = (net.place::<u8>("empty", []), net.place::<u8>("out", []));
                net.transition("t", empty.keep(), same, out.put());
            },
            "transition `t` needs a token in `empty`, which is empty at first, and no transition puts one there",
        );
        check(
            |net| {
                let place = net.place("p", [1]);
                net.place("alone", [1]);
                net.transition("t", place.take(), same, place.put());
            },
            "no transition has the place `alone`",
        );
        check(
            |net| {
                let place = net.place::<u8>("p", []);
                net.transition("t", any([]), same, place.put());
            },
            "transition `t` has `any` of no values",
        );
    }

    #[test]
    fn what_is_emptied_may_be_empty() {
        let mut net = Net::new("n");
        let (rest, out) = (net.place::<u8>("rest", []), net.place::<Vec<u8>>("out", []));
        net.transition("t", rest.take_all(), Some, out.put()).unless_marked(out);
        assert_eq!(net.check(), Ok(()));
        let space = net.explore(&crate::Budget::default()).expect("it is small");
        assert_eq!(
            (space.graph().markings(), space.graph().arcs(), space.marking(1).to_string().as_str()),
            (2, 1, "out: []")
        );
    }
}
