//! Unfolding: a place for each place with a colour, a transition for each transition with a binding.
//!
//! First a fixpoint says which colours each place can ever have, if counts do not matter. A binding is found by
//! matching what input arcs take against these colours, and by the equalities of the guard; only variables that neither
//! binds take all values of their sorts. So the work grows with the bindings that may fire, and not with the product of
//! all sorts.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use crate::error::UnfoldError;
use crate::net::{Arc, Common, Label, NetKind, Place, PnmlNet, Transition};
use crate::term::{COLOURS_MAX, Comparison, NoTokens, Term, Tokens, Type, add};

/// How many partial bindings of a transition are tried.
const BINDINGS_MAX: u64 = 1 << 28;

/// A net without colours, that has the same state space as a coloured one.
///
/// Places that are never marked, and transitions that can never fire, are left out.
#[derive(Debug, Clone, PartialEq)]
pub struct Unfolded {
    pub(crate) net: PnmlNet,
    pub(crate) places: Vec<UnfoldedPlace>,
    pub(crate) transitions: Vec<UnfoldedTransition>,
}

/// A place with one of its colours.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct UnfoldedPlace {
    pub(crate) place: usize,
    pub(crate) colour: u64,
    pub(crate) initial: u64,
}

/// A transition with a binding.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct UnfoldedTransition {
    pub(crate) transition: usize,
    /// Variables, by the numbers of their declarations, with their colours.
    pub(crate) binding: Box<[(usize, u64)]>,
    /// What is taken of which places.
    pub(crate) inputs: Box<[(usize, u64)]>,
    /// What is put into which places.
    pub(crate) outputs: Box<[(usize, u64)]>,
}

impl PnmlNet {
    /// Returns the net without colours.
    ///
    /// A binding for which a term subtracts tokens that are not there is not enabled. A variable that is in the guard
    /// alone is a part of the binding as all others.
    ///
    /// # Errors
    /// [`UnfoldError`] if an initial marking subtracts what is not there, or if something is too large.
    pub fn unfold(&self) -> Result<Unfolded, UnfoldError> {
        let one = Term::dots(1);
        let mut initial = Vec::new();
        for place in &self.places {
            let nothing = vec![None; self.declarations.len()];
            let tokens = place.marking.as_ref().map_or(Ok(Tokens::new()), |label| label.value.tokens(self, &nothing));
            let name = place.common.words();
            initial.push(tokens.map_err(|error| {
                failed(error, name).unwrap_or_else(|| UnfoldError::NegativeMarking { place: name.to_owned() })
            })?);
        }
        let mut possible: Vec<BTreeSet<u64>> = initial.iter().map(|tokens| tokens.keys().copied().collect()).collect();
        let mut arcs = vec![Vec::new(); self.transitions.len()];
        self.arcs.iter().for_each(|arc| arcs[arc.transition].push(arc));
        let firings =
            self.transitions.iter().zip(&arcs).map(|(transition, arcs)| Firing::new(self, transition, arcs, &one));
        let firings: Vec<Firing<'_>> = firings.collect();
        let mut consumers = vec![BTreeSet::new(); self.places.len()];
        let inputs = self.arcs.iter().filter(|arc| arc.is_input);
        inputs.for_each(|arc| _ = consumers[arc.place].insert(arc.transition));

        // The colours of each place in the order in which they were found, and how many of them a firing has seen.
        let mut found: Vec<Vec<u64>> = possible.iter().map(|colours| colours.iter().copied().collect()).collect();
        let mut seen: Vec<Option<Vec<usize>>> = vec![None; firings.len()];
        let mut is_due = vec![true; firings.len()];
        while is_due.contains(&true) {
            for (number, firing) in firings.iter().enumerate() {
                if !std::mem::take(&mut is_due[number]) {
                    continue;
                }
                let mut fresh = BTreeSet::new();
                let mut put = |_: &[Option<u64>], _: &Effect, outputs: &Effect| {
                    let new = outputs.keys().filter(|(place, colour)| !possible[*place].contains(colour));
                    fresh.extend(new.copied());
                };
                let now = firing.patterns.iter().map(|&(place, _)| found[place].len()).collect();
                match seen[number].replace(now) {
                    // A new binding takes a token that is new.
                    Some(before) if firing.is_covered => {
                        for (pattern, (seen, &(place, _))) in before.into_iter().zip(&firing.patterns).enumerate() {
                            firing.each(&possible, Some((pattern, &found[place][seen..])), &mut put)?;
                        }
                    }
                    _ => firing.each(&possible, None, &mut put)?,
                }
                for (place, colour) in fresh {
                    possible[place].insert(colour);
                    found[place].push(colour);
                    consumers[place].iter().for_each(|&consumer| is_due[consumer] = true);
                }
            }
        }

        let mut places = Vec::new();
        let mut numbers = BTreeMap::new();
        for (place, colours) in possible.iter().enumerate() {
            for &colour in colours {
                numbers.insert((place, colour), places.len());
                let initial = initial[place].get(&colour).copied().unwrap_or(0);
                places.push(UnfoldedPlace { place, colour, initial });
            }
        }
        if u32::try_from(places.len()).is_err() {
            return Err(UnfoldError::TooManyPlaces);
        }
        let numbered = |tokens: &Effect| tokens.iter().map(|(token, &count)| (numbers[token], count)).collect();
        let mut transitions = Vec::new();
        for (transition, firing) in firings.iter().enumerate() {
            firing.each(&possible, None, &mut |binding, inputs, outputs| {
                let bound = |&variable: &usize| (variable, binding[variable].expect("all variables are bound"));
                let binding = firing.variables.iter().map(bound).collect();
                let (inputs, outputs) = (numbered(inputs), numbered(outputs));
                transitions.push(UnfoldedTransition { transition, binding, inputs, outputs });
            })?;
        }
        Ok(Unfolded { net: self.clone(), places, transitions })
    }
}

impl Unfolded {
    /// Returns the net that was unfolded.
    pub fn net(&self) -> &PnmlNet {
        &self.net
    }

    /// Returns how many places there are.
    pub fn places(&self) -> usize {
        self.places.len()
    }

    /// Returns how many places there would be with those that are never marked, or 2^64 - 1 if they are more.
    pub fn places_with_unmarked(&self) -> u64 {
        self.net.places.iter().fold(0, |sum, place| place.colours.count().saturating_add(sum))
    }

    /// Returns how many transitions there are.
    pub fn transitions(&self) -> usize {
        self.transitions.len()
    }

    /// Returns a place/transition net with the same state space, in which names say colours and bindings.
    pub fn to_net(&self) -> PnmlNet {
        let mut net = PnmlNet {
            kind: NetKind::PlaceTransition,
            net: Common { kept: Vec::new(), ..self.net.net.clone() },
            declaration: None,
            declarations: Vec::new(),
            pages: vec![common("page".to_owned(), None)],
            places: Vec::new(),
            transitions: Vec::new(),
            references: Vec::new(),
            arcs: Vec::new(),
        };
        for (number, place) in self.places.iter().enumerate() {
            let common = common(format!("p{number}"), Some(self.place_words(place)));
            let marking = Some(weight(place.initial));
            net.places.push(Place { common, sort: None, colours: Type::Dot, marking });
        }
        for (number, fired) in self.transitions.iter().enumerate() {
            let id = format!("t{number}");
            let sides = [(&fired.inputs, true), (&fired.outputs, false)];
            for (tokens, is_input) in sides {
                for &(place, count) in tokens {
                    let arc = common(format!("a{}", net.arcs.len()), None);
                    let mut ends = [format!("p{place}"), id.clone()];
                    if !is_input {
                        ends.reverse();
                    }
                    let inscription = Some(weight(count));
                    net.arcs.push(Arc { common: arc, ends, place, transition: number, is_input, inscription });
                }
            }
            net.transitions.push(Transition { common: common(id, Some(self.transition_words(fired))), guard: None });
        }
        net
    }

    fn place_words(&self, place: &UnfoldedPlace) -> String {
        let Place { common, colours, .. } = &self.net.places[place.place];
        match colours {
            Type::Dot => common.words().to_owned(),
            _ => format!("{}: {}", common.words(), colours.words(&self.net, place.colour)),
        }
    }

    fn transition_words(&self, fired: &UnfoldedTransition) -> String {
        let name = self.net.transitions[fired.transition].common.words();
        let binding: Vec<String> =
            self.binding_words(fired).into_iter().map(|(variable, value)| format!("{variable} = {value}")).collect();
        if binding.is_empty() { name.to_owned() } else { format!("{name}({})", binding.join(", ")) }
    }

    /// Returns the variables of a binding with their values, in words.
    pub(crate) fn binding_words(&self, fired: &UnfoldedTransition) -> Vec<(String, String)> {
        let words = |&(variable, colour): &(usize, u64)| {
            let declaration = &self.net.declarations[variable];
            let name = if declaration.name.is_empty() { &declaration.id } else { &declaration.name };
            (name.clone(), declaration.colours.words(&self.net, colour))
        };
        fired.binding.iter().map(words).collect()
    }
}

fn common(id: String, name: Option<String>) -> Common {
    let name = name.map(|name| Label { text: Some(name), value: (), kept: Vec::new() });
    Common { id, page: 0, name, kept: Vec::new() }
}

fn weight(count: u64) -> Label<Term> {
    Label { text: None, value: Term::dots(count), kept: Vec::new() }
}

/// Returns why unfolding ends; `None` where a term subtracts what is not there.
fn failed(error: NoTokens, element: &str) -> Option<UnfoldError> {
    let element = element.to_owned();
    match error {
        NoTokens::Negative => None,
        NoTokens::TooManyTokens => Some(UnfoldError::TooManyTokens { element }),
        NoTokens::TooManyColours => Some(UnfoldError::TooManyColours { element, limit: COLOURS_MAX }),
    }
}

/// Tokens of places: the place, the colour, and how many.
type Effect = BTreeMap<(usize, u64), u64>;

/// A function that is called with a binding, what it takes and what it puts.
type EachFiring<'f> = dyn FnMut(&[Option<u64>], &Effect, &Effect) + 'f;

/// A function that is called with a binding.
type EachBinding<'f> = dyn FnMut(&[Option<u64>]) -> Result<(), UnfoldError> + 'f;

/// What a transition needs to fire.
struct Firing<'a> {
    net: &'a PnmlNet,
    name: &'a str,
    variables: Vec<usize>,
    /// The guard, as conditions that must all hold.
    conditions: Vec<&'a Term>,
    inputs: Vec<(usize, &'a Term)>,
    outputs: Vec<(usize, &'a Term)>,
    /// Terms of which a place must have a token.
    patterns: Vec<(usize, &'a Term)>,
    /// Whether all that is taken are tokens of these.
    is_covered: bool,
}

/// The number of a pattern, and the colours that it has here.
type Restricted<'d> = Option<(usize, &'d [u64])>;

/// A step in the search for bindings. It binds some variables.
struct Step<'a> {
    binds: Vec<usize>,
    find: Find<'a>,
}

enum Find<'a> {
    /// A token of a place: by the components that are known before, the colours.
    ///
    /// Unless the pattern is exact, several tokens can bind the variables in one way.
    Token { pattern: &'a Term, is_exact: bool, known: Vec<&'a Term>, colours: BTreeMap<Vec<u64>, Vec<u64>> },
    /// The colour of another term.
    Equal { pattern: &'a Term, to: &'a Term },
    /// Any colour of so many.
    Any(u64),
}

impl<'a> Firing<'a> {
    fn new(net: &'a PnmlNet, transition: &'a Transition, arcs: &[&'a Arc], one: &'a Term) -> Self {
        let arcs = |is_input| -> Vec<(usize, &'a Term)> {
            let arcs = arcs.iter().filter(|arc| arc.is_input == is_input);
            arcs.map(|arc| (arc.place, arc.inscription.as_ref().map_or(one, |label| &label.value))).collect()
        };
        let (inputs, outputs) = (arcs(true), arcs(false));
        let (mut conditions, mut patterns) = (Vec::new(), Vec::new());
        if let Some(guard) = &transition.guard {
            conjuncts(&guard.value, &mut conditions);
        }
        for &(place, term) in &inputs {
            needed(term, &mut |pattern| patterns.push((place, pattern)));
        }
        let mut variables = BTreeSet::new();
        for term in conditions.iter().chain(inputs.iter().chain(&outputs).map(|(_, term)| term)) {
            term.variables(&mut |variable| _ = variables.insert(variable));
        }
        let name = transition.common.words();
        let is_covered = inputs.iter().all(|(_, term)| is_covered(term));
        Self {
            is_covered,
            net,
            name,
            variables: variables.into_iter().collect(),
            conditions,
            inputs,
            outputs,
            patterns,
        }
    }

    /// Calls `each` with every binding that can be enabled when places have some of these colours.
    fn each(
        &self,
        possible: &[BTreeSet<u64>],
        restricted: Restricted<'_>,
        each: &mut EachFiring<'_>,
    ) -> Result<(), UnfoldError> {
        if restricted.is_some_and(|(_, colours)| colours.is_empty()) {
            return Ok(());
        }
        let steps = self.plan(possible, restricted);
        let mut binding = vec![None; self.net.declarations.len()];
        let tried = Cell::new(0);
        self.search(&steps, &tried, &mut binding, &mut |binding| {
            let (Some(inputs), Some(outputs)) =
                (self.effect(&self.inputs, binding)?, self.effect(&self.outputs, binding)?)
            else {
                return Ok(());
            };
            if inputs.keys().all(|(place, colour)| possible[*place].contains(colour)) {
                each(binding, &inputs, &outputs);
            }
            Ok(())
        })
    }

    /// Returns the tokens on arcs; `None` if one subtracts what is not there.
    fn effect(&self, arcs: &[(usize, &Term)], binding: &[Option<u64>]) -> Result<Option<Effect>, UnfoldError> {
        let mut places: BTreeMap<usize, Tokens> = BTreeMap::new();
        for &(place, term) in arcs {
            let tokens = term.tokens(self.net, binding);
            match tokens.and_then(|tokens| add(places.entry(place).or_default(), tokens)) {
                Ok(()) => {}
                Err(error) => return failed(error, self.name).map_or(Ok(None), Err),
            }
        }
        let tokens = places
            .into_iter()
            .flat_map(|(place, tokens)| tokens.into_iter().map(move |(colour, count)| ((place, colour), count)));
        Ok(Some(tokens.collect()))
    }

    /// Returns the steps that bind all variables: each time the one with the fewest candidates, as far as can be said.
    fn plan(&self, possible: &[BTreeSet<u64>], restricted: Restricted<'_>) -> Vec<Step<'a>> {
        let mut bound = BTreeSet::new();
        let mut steps = Vec::new();
        let mut patterns: Vec<usize> = (0..self.patterns.len()).collect();
        let only = |number: usize| restricted.and_then(|(pattern, colours)| (pattern == number).then_some(colours));
        loop {
            let free = |term: &Term, bound: &BTreeSet<usize>| {
                let mut free = BTreeSet::new();
                term.variables(&mut |variable| _ = free.insert(variable));
                free.difference(bound).copied().collect::<Vec<usize>>()
            };
            let equality = self.conditions.iter().find_map(|condition| match condition {
                Term::Compare { by: Comparison::Equal, sides, starts } if starts[0] == starts[1] => {
                    [(&sides[0], &sides[1]), (&sides[1], &sides[0])].into_iter().find(|(pattern, to)| {
                        free(to, &bound).is_empty() && !free(pattern, &bound).is_empty() && binds_all(pattern)
                    })
                }
                _ => None,
            });
            let step = if let Some((pattern, to)) = equality {
                Step { binds: free(pattern, &bound), find: Find::Equal { pattern, to } }
            } else if !patterns.is_empty() {
                let candidates = |number: usize| {
                    let (place, pattern) = self.patterns[number];
                    let all = only(number).map_or(possible[place].len(), <[u64]>::len) as u64;
                    let parts = components(pattern).into_iter();
                    let known = parts.filter(|(part, _)| is_one(part) && free(part, &bound).is_empty());
                    known.fold(all, |left, (_, count)| left / count.max(1))
                };
                let best = (0..patterns.len()).min_by_key(|&at| candidates(patterns[at])).expect("there are some");
                let number = patterns.swap_remove(best);
                let (place, pattern) = self.patterns[number];
                let parts = components(pattern);
                let is_known: Vec<bool> =
                    parts.iter().map(|(part, _)| is_one(part) && free(part, &bound).is_empty()).collect();
                let mut colours: BTreeMap<Vec<u64>, Vec<u64>> = BTreeMap::new();
                let of_place = || possible[place].iter().copied().collect::<Vec<u64>>();
                for colour in only(number).map_or_else(of_place, <[u64]>::to_vec) {
                    let digits = digits(colour, &parts).into_iter().zip(&is_known);
                    let key = digits.filter(|(_, is_known)| **is_known).map(|(digit, _)| digit).collect();
                    colours.entry(key).or_default().push(colour);
                }
                let is_exact = parts.iter().zip(&is_known).all(|((part, _), is_known)| *is_known || binds_all(part));
                let known = parts.iter().zip(&is_known).filter(|(_, is_known)| **is_known).map(|(part, _)| part.0);
                let find = Find::Token { pattern, is_exact, known: known.collect(), colours };
                let mut binds = Vec::new();
                matched(pattern, &mut |variable| binds.push(variable));
                binds.retain(|variable| !bound.contains(variable));
                Step { binds, find }
            } else {
                let rest = self.variables.iter().copied().filter(|variable| !bound.contains(variable));
                let count = |variable: &usize| self.net.declarations[*variable].colours.count();
                let Some(variable) = rest.min_by_key(count) else { return steps };
                Step { binds: vec![variable], find: Find::Any(count(&variable)) }
            };
            bound.extend(step.binds.iter().copied());
            steps.push(step);
        }
    }

    /// Calls `each` with every binding that the steps find, and for which the guard holds.
    fn search(
        &self,
        steps: &[Step<'a>],
        tried: &Cell<u64>,
        binding: &mut [Option<u64>],
        each: &mut EachBinding<'_>,
    ) -> Result<(), UnfoldError> {
        if tried.replace(tried.get() + 1) == BINDINGS_MAX {
            return Err(UnfoldError::TooManyBindings { transition: self.name.to_owned(), limit: BINDINGS_MAX });
        }
        if self.conditions.iter().any(|condition| condition.holds(self.net, binding) == Some(false)) {
            return Ok(());
        }
        let Some((step, rest)) = steps.split_first() else { return each(binding) };
        match &step.find {
            Find::Token { pattern, is_exact, known, colours } => {
                let colour = |part: &&Term| part.colour(self.net, binding).expect("it is known");
                let key: Vec<u64> = known.iter().map(colour).collect();
                let mut bound = BTreeSet::new();
                for &colour in colours.get(&key).into_iter().flatten() {
                    let is_match = matches(self.net, pattern, colour, binding);
                    let mut is_new = || bound.insert(step.binds.iter().map(|&it| binding[it]).collect::<Vec<_>>());
                    if is_match && (*is_exact || is_new()) {
                        self.search(rest, tried, binding, each)?;
                    }
                    step.binds.iter().for_each(|&variable| binding[variable] = None);
                }
            }
            Find::Equal { pattern, to } => {
                let colour = to.colour(self.net, binding).expect("it is known");
                if matches(self.net, pattern, colour, binding) {
                    self.search(rest, tried, binding, each)?;
                }
                step.binds.iter().for_each(|&variable| binding[variable] = None);
            }
            Find::Any(count) => {
                for colour in 0..*count {
                    binding[step.binds[0]] = Some(colour);
                    self.search(rest, tried, binding, each)?;
                }
                binding[step.binds[0]] = None;
            }
        }
        Ok(())
    }
}

/// Collects the conditions of which a guard is the conjunction.
fn conjuncts<'a>(guard: &'a Term, all: &mut Vec<&'a Term>) {
    match guard {
        Term::And(terms) => terms.iter().for_each(|term| conjuncts(term, all)),
        _ => all.push(guard),
    }
}

/// Calls `each` with terms of one colour that a multiset has for sure.
fn needed<'a>(term: &'a Term, each: &mut dyn FnMut(&'a Term)) {
    match term {
        Term::Add(terms) => terms.iter().for_each(|term| needed(term, each)),
        Term::NumberOf(count, of) | Term::ScalarProduct(count, of) if *count > 0 => needed(of, each),
        Term::Tuple(_) if has_tokens(term) => each(term),
        _ if is_one(term) => each(term),
        _ => {}
    }
}

/// Returns whether all tokens of a term are those of the terms that [`needed`] finds.
fn is_covered(term: &Term) -> bool {
    match term {
        Term::Add(terms) => terms.iter().all(is_covered),
        Term::NumberOf(count, of) | Term::ScalarProduct(count, of) => *count == 0 || is_covered(of),
        Term::Empty(_) => true,
        _ => is_one(term),
    }
}

/// Returns whether a term has tokens for sure: what is subtracted may be all that there is.
fn has_tokens(term: &Term) -> bool {
    match term {
        Term::Empty(_) | Term::Subtract(_) => false,
        Term::NumberOf(count, of) | Term::ScalarProduct(count, of) => *count > 0 && has_tokens(of),
        Term::Add(terms) => terms.iter().any(has_tokens),
        Term::Tuple(components) => components.iter().all(|(component, _)| has_tokens(component)),
        _ => true,
    }
}

/// Returns whether a term has one colour.
fn is_one(term: &Term) -> bool {
    match term {
        Term::All { .. } | Term::Empty(_) | Term::NumberOf(..) | Term::ScalarProduct(..) => false,
        Term::Add(_) | Term::Subtract(_) => false,
        Term::Tuple(components) => components.iter().all(|(component, _)| is_one(component)),
        _ => true,
    }
}

/// Calls `each` with the variables that [`matches`] binds.
fn matched(pattern: &Term, each: &mut dyn FnMut(usize)) {
    match pattern {
        Term::Variable(variable) => each(*variable),
        Term::Successor { of, .. } | Term::Predecessor { of, .. } => matched(of, each),
        Term::Tuple(components) => components.iter().for_each(|(component, _)| matched(component, each)),
        _ => {}
    }
}

/// Returns whether [`matches`] binds all variables of a term of one colour.
fn binds_all(pattern: &Term) -> bool {
    match pattern {
        Term::Variable(_) => true,
        Term::Successor { of, .. } | Term::Predecessor { of, .. } => binds_all(of),
        Term::Tuple(components) => components.iter().all(|(component, _)| binds_all(component)),
        _ => false,
    }
}

/// Returns whether a term can have a colour. Variables are bound so that it has.
fn matches(net: &PnmlNet, pattern: &Term, colour: u64, binding: &mut [Option<u64>]) -> bool {
    match pattern {
        // It may be compared with a colour of a longer range.
        Term::Variable(variable) => {
            colour < net.declarations[*variable].colours.count() && *binding[*variable].get_or_insert(colour) == colour
        }
        Term::Successor { count, .. } | Term::Predecessor { count, .. } if colour >= *count => false,
        Term::Successor { of, count } => matches(net, of, (colour + count - 1) % count, binding),
        Term::Predecessor { of, count } => matches(net, of, (colour + 1) % count, binding),
        Term::Tuple(parts) => {
            let digits = digits(colour, &components(pattern));
            parts.iter().zip(digits).all(|((part, _), digit)| matches(net, part, digit, binding))
        }
        // Other terms are looked at when all is bound.
        _ => pattern.colour(net, binding).is_none_or(|known| known == colour),
    }
}

/// Returns the components of a tuple with their sizes; another term is a tuple of itself.
fn components(pattern: &Term) -> Vec<(&Term, u64)> {
    match pattern {
        Term::Tuple(components) => components.iter().map(|(component, count)| (component, *count)).collect(),
        _ => vec![(pattern, u64::MAX)],
    }
}

/// Returns the colours of components.
fn digits(colour: u64, components: &[(&Term, u64)]) -> Vec<u64> {
    let mut rest = colour;
    let mut digits = vec![0; components.len()];
    for (digit, (_, count)) in digits.iter_mut().zip(components).rev() {
        *digit = rest % count;
        rest /= count;
    }
    digits
}
