//! What the transitions of a net do to a marking.

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use simutant_random::Random;

use crate::arcs::Source;
use crate::multiset::{EMPTY, Overflow, Store, TooMany, hasher};
use crate::net::{Core, Transition};

/// Effects of a transition are remembered no longer when under half of so many look-ups found one.
const TRIAL: u32 = 20_000;

/// How often a binding is drawn before all are looked at.
const TRIES: usize = 100;

/// A way in which a transition fires.
#[derive(Debug, Clone)]
pub(crate) struct Effect {
    /// The number of what each input binds.
    pub(crate) binding: Box<[u32]>,
    /// The multisets that stay in the places which it takes from.
    left: Box<[(usize, u32)]>,
    /// The multisets that it puts.
    put: Box<[(usize, u32)]>,
}

impl Effect {
    /// Writes the marking after it.
    fn apply(&self, marking: &[u32], stores: &mut [Store], row: &mut Vec<u32>) -> Result<(), Overflow> {
        row.clear();
        row.extend_from_slice(marking);
        self.left.iter().for_each(|&(place, left)| row[place] = left);
        for &(place, put) in &self.put {
            let sum = stores[place].multisets_mut().add(row[place], put);
            row[place] = sum.map_err(|TooMany| Overflow { place })?;
        }
        Ok(())
    }
}

/// The transitions of a net, with what is known of their effects.
///
/// An effect depends on the multisets of the places that a transition takes from or needs, and on nothing else of a
/// marking.
#[derive(Debug)]
pub(crate) struct Firing {
    /// By transition, those of the highest priority first.
    memories: Vec<Memory>,
    row: Vec<u32>,
}

#[derive(Debug)]
struct Memory {
    transition: usize,
    /// The places that its effects depend on.
    places: Vec<usize>,
    /// Those of them that must not be empty.
    needed: Vec<usize>,
    known: HashMap<Box<[u32]>, Box<[Effect]>, FixedState>,
    /// How many effects are known.
    effects: usize,
    asked: u32,
    found: u32,
    is_on: bool,
    key: Vec<u32>,
}

/// A function that is called with each effect.
type Apply<'a, E> = dyn FnMut(&Effect, &mut [Store]) -> Result<(), E> + 'a;

impl Firing {
    pub(crate) fn new(net: &Core) -> Self {
        let mut order: Vec<usize> = (0..net.transitions.len()).collect();
        order.sort_by_key(|&transition| std::cmp::Reverse(net.transitions[transition].priority));
        let memories = order.into_iter().map(|number| Memory::new(number, &net.transitions[number])).collect();
        Self { memories, row: Vec::new() }
    }

    /// Calls `each` with every way to fire at a marking: the transition, what it binds, and the marking after it.
    pub(crate) fn successors<E: From<Overflow>>(
        &mut self,
        net: &mut Core,
        marking: &[u32],
        mut each: impl FnMut(usize, &Effect, &[u32]) -> Result<(), E>,
    ) -> Result<(), E> {
        let Self { memories, row } = self;
        let Core { transitions, stores, .. } = net;
        let mut fired = None;
        for memory in memories {
            let number = memory.transition;
            let transition = &transitions[number];
            if fired.is_some_and(|priority| priority > transition.priority) {
                break;
            }
            if transition.is_inhibited(marking) {
                continue;
            }
            let mut apply = |effect: &Effect, stores: &mut [Store]| -> Result<(), E> {
                effect.apply(marking, stores, row)?;
                fired = Some(transition.priority);
                each(number, effect, row)
            };
            memory.with(transition, marking, stores, &mut apply)?;
        }
        Ok(())
    }

    /// Returns one of the ways to fire at a marking, all equally likely, with the transition and the marking after it;
    /// `None` if there is none.
    ///
    /// Inputs are bound at random, and again where the transition is not enabled with them: so a step does not take the
    /// time that all ways take. Where that finds nothing, all are looked at.
    pub(crate) fn sample(
        &mut self,
        net: &mut Core,
        marking: &[u32],
        random: &mut Random,
    ) -> Result<Option<(usize, Effect, Vec<u32>)>, Overflow> {
        let Core { transitions, stores, .. } = &mut *net;
        let highest = self.memories.iter().map(|memory| transitions[memory.transition].priority).max();
        let of_class =
            self.memories.iter().take_while(|memory| Some(transitions[memory.transition].priority) == highest);
        let counted =
            of_class.map(|memory| Some((memory, memory.candidates(&transitions[memory.transition], marking, stores)?)));
        // Too many to be counted: then all are looked at.
        let candidates: Vec<(&Memory, u64)> = counted.collect::<Option<_>>().unwrap_or_default();
        let total = candidates.iter().try_fold(0_u64, |sum, (_, count)| sum.checked_add(*count)).unwrap_or(0);
        let tries = if total == 0 { 0 } else { TRIES };
        for _ in 0..tries {
            let mut at = random.uniform(0..total);
            let found = candidates.iter().find(|(_, count)| {
                let is_it = at < *count;
                at -= if is_it { 0 } else { *count };
                is_it
            });
            let (memory, _) = found.expect("it is below the sum");
            let transition = &transitions[memory.transition];
            if let Some(effect) = enabled(transition, &memory.places, at, marking, stores)? {
                let mut row = Vec::new();
                effect.apply(marking, stores, &mut row)?;
                return Ok(Some((memory.transition, effect, row)));
            }
        }
        let (mut chosen, mut count) = (None, 0_u64);
        self.successors(net, marking, |transition, effect, after| {
            // The last of those that replaced the one before it, each with one chance in as many as there are so far.
            count += 1;
            if random.uniform(0..count) == 0 {
                chosen = Some((transition, effect.clone(), after.to_vec()));
            }
            Ok::<(), Overflow>(())
        })?;
        Ok(chosen)
    }

    /// Returns about how many bytes it takes.
    pub(crate) fn bytes(&self) -> usize {
        let of_memory = |memory: &Memory| {
            let of_effect = size_of::<Effect>() + 16 + 16 * memory.places.len();
            memory.known.capacity() * (48 + 4 * memory.places.len()) + memory.effects * of_effect
        };
        self.memories.iter().map(of_memory).sum()
    }
}

impl Memory {
    fn new(number: usize, transition: &Transition) -> Self {
        let mut places: Vec<usize> = transition.inputs.iter().filter_map(|input| input.place()).collect();
        let needed = transition.inputs.iter().filter(|input| input.needs_token()).filter_map(|input| input.place());
        let needed = needed.collect();
        places.sort_unstable();
        places.dedup();
        let known = HashMap::with_hasher(hasher());
        Self { transition: number, places, needed, known, effects: 0, asked: 0, found: 0, is_on: true, key: Vec::new() }
    }

    /// Calls `apply` with the effects at a marking.
    fn with<E: From<Overflow>>(
        &mut self,
        transition: &Transition,
        marking: &[u32],
        stores: &mut [Store],
        apply: &mut Apply<'_, E>,
    ) -> Result<(), E> {
        let is_short = |&place: &usize| marking[place] == EMPTY;
        if self.needed.iter().any(is_short) {
            return Ok(());
        }
        if !self.is_on {
            let effects = effects(transition, &self.places, marking, stores)?;
            return effects.iter().try_for_each(|effect| apply(effect, stores));
        }
        self.key.clear();
        self.key.extend(self.places.iter().map(|&place| marking[place]));
        self.asked += 1;
        if let Some(known) = self.known.get(self.key.as_slice()) {
            self.found += 1;
            return known.iter().try_for_each(|effect| apply(effect, stores));
        }
        let effects = effects(transition, &self.places, marking, stores)?;
        effects.iter().try_for_each(|effect| apply(effect, stores))?;
        self.effects += effects.len();
        self.known.insert(self.key.as_slice().into(), effects);
        if self.asked >= TRIAL {
            self.is_on = self.found >= self.asked / 2;
            (self.asked, self.found) = (0, 0);
            if !self.is_on {
                (self.known, self.effects) = (HashMap::with_hasher(hasher()), 0);
            }
        }
        Ok(())
    }

    /// Returns how many bindings there may be at a marking; `None` if they cannot be counted.
    fn candidates(&self, transition: &Transition, marking: &[u32], stores: &[Store]) -> Option<u64> {
        if transition.is_inhibited(marking) {
            return Some(0);
        }
        let options = |input: &Source| options(*input, marking, stores);
        transition.inputs.iter().map(options).try_fold(1_u64, |product, count| product.checked_mul(count))
    }
}

/// Returns how many values an input may bind at a marking, whatever others bind.
fn options(input: Source, marking: &[u32], stores: &[Store]) -> u64 {
    match input {
        Source::Taken(place) | Source::Kept(place) => stores[place].multisets().get(marking[place]).len() as u64,
        Source::Emptied(_) => 1,
        Source::Free(values) => values as u64,
    }
}

/// Returns the effect of a transition with one of its possible bindings; `None` if it is not enabled with it.
fn enabled(
    transition: &Transition,
    places: &[usize],
    mut candidate: u64,
    marking: &[u32],
    stores: &mut [Store],
) -> Result<Option<Effect>, Overflow> {
    let mut one = Enumeration::new(transition, places, marking, stores);
    for &input in &transition.inputs {
        let count = options(input, marking, stores);
        let option = (candidate % count) as usize;
        candidate /= count;
        match input {
            Source::Free(_) => one.binding.push(option as u32),
            Source::Emptied(place) => {
                let at = one.at(place);
                let number = one.rest(at, stores)?;
                one.left[at].iter_mut().for_each(|entry| entry.1 = 0);
                one.binding.push(number);
            }
            Source::Taken(place) | Source::Kept(place) => {
                let at = one.at(place);
                let (token, count) = &mut one.left[at][option];
                // Another input may have taken the only one.
                let Some(fewer) = count.checked_sub(1) else { return Ok(None) };
                *count = fewer;
                one.binding.push(*token);
            }
        }
    }
    one.fire(stores)?;
    Ok(one.effects.pop())
}

/// Returns the effects of a transition at a marking, of which only the multisets of `places` matter.
fn effects(
    transition: &Transition,
    places: &[usize],
    marking: &[u32],
    stores: &mut [Store],
) -> Result<Box<[Effect]>, Overflow> {
    let mut enumeration = Enumeration::new(transition, places, marking, stores);
    enumeration.bind(stores)?;
    Ok(enumeration.effects.into())
}

/// The bindings of a transition's inputs, one input after the other.
struct Enumeration<'a> {
    transition: &'a Transition,
    places: &'a [usize],
    /// The tokens that no input has bound yet, by place.
    left: Vec<Vec<(u32, u32)>>,
    binding: Vec<u32>,
    effects: Vec<Effect>,
}

impl<'a> Enumeration<'a> {
    fn new(transition: &'a Transition, places: &'a [usize], marking: &[u32], stores: &[Store]) -> Self {
        let left = places.iter().map(|&place| stores[place].multisets().get(marking[place]).to_vec()).collect();
        Self { transition, places, left, binding: Vec::new(), effects: Vec::new() }
    }

    fn bind(&mut self, stores: &mut [Store]) -> Result<(), Overflow> {
        match self.transition.inputs.get(self.binding.len()) {
            None => self.fire(stores),
            Some(&Source::Free(values)) => {
                for value in 0..u32::try_from(values).unwrap_or(u32::MAX) {
                    self.binding.push(value);
                    self.bind(stores)?;
                    self.binding.pop();
                }
                Ok(())
            }
            Some(&Source::Emptied(place)) => self.bind_all(place, stores),
            Some(&(Source::Taken(place) | Source::Kept(place))) => {
                let at = self.at(place);
                for entry in 0..self.left[at].len() {
                    let (token, count) = self.left[at][entry];
                    if count == 0 {
                        continue;
                    }
                    self.left[at][entry].1 -= 1;
                    self.binding.push(token);
                    self.bind(stores)?;
                    self.binding.pop();
                    self.left[at][entry].1 += 1;
                }
                Ok(())
            }
        }
    }

    /// Binds all tokens of a place that no input has bound yet.
    fn bind_all(&mut self, place: usize, stores: &mut [Store]) -> Result<(), Overflow> {
        let at = self.at(place);
        let number = self.rest(at, stores)?;
        let none = self.left[at].iter().map(|&(token, _)| (token, 0)).collect();
        let rest = std::mem::replace(&mut self.left[at], none);
        self.binding.push(number);
        self.bind(stores)?;
        self.binding.pop();
        self.left[at] = rest;
        Ok(())
    }

    /// Returns the number of what no input has bound yet of a place.
    fn rest(&self, at: usize, stores: &mut [Store]) -> Result<u32, Overflow> {
        let place = self.places[at];
        let tokens: Vec<(u32, u32)> = self.left[at].iter().copied().filter(|entry| entry.1 > 0).collect();
        stores[place].multisets_mut().number(&tokens).map_err(|TooMany| Overflow { place })
    }

    /// Returns where a place is among those of the transition.
    fn at(&self, place: usize) -> usize {
        self.places.binary_search(&place).expect("they are the places of the inputs")
    }

    /// Notes the effect of a whole binding, if the transition is enabled with it.
    fn fire(&mut self, stores: &mut [Store]) -> Result<(), Overflow> {
        let transition = self.transition;
        let Some(produced) = (transition.fire)(&self.binding, stores)? else { return Ok(()) };
        let mut left = Vec::new();
        for (at, &place) in self.places.iter().enumerate() {
            let mut rest: Vec<(u32, u32)> = self.left[at].clone();
            for (input, &token) in transition.inputs.iter().zip(&self.binding) {
                if *input == Source::Kept(place) {
                    let entry = rest.iter_mut().find(|entry| entry.0 == token).expect("it was taken from these");
                    entry.1 += 1;
                }
            }
            rest.retain(|entry| entry.1 > 0);
            let number = stores[place].multisets_mut().number(&rest).map_err(|TooMany| Overflow { place })?;
            left.push((place, number));
        }
        let mut put = Vec::new();
        for (place, tokens) in produced {
            let number = stores[place].multisets_mut().number(&tokens).map_err(|TooMany| Overflow { place })?;
            put.push((place, number));
        }
        self.effects.push(Effect { binding: self.binding.as_slice().into(), left: left.into(), put: put.into() });
        Ok(())
    }
}
