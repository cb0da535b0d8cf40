//! What a specification leaves open: choices that a search enumerates and a simulation draws, and values that the
//! service chose and may reveal later.

use std::fmt;

/// The choices of a step. The specification asks; the search or the simulation that takes the step answers.
///
/// A search runs the step again with every combination of answers. A step is short, so that costs less than to keep
/// what it had done.
pub struct Open<'a>(Answers<'a>);

enum Answers<'a> {
    /// Always the first option.
    First,
    /// The choices of a script, and then the first option, which is added to it.
    Enumerated { script: &'a mut Script, next: usize },
    /// Somebody decides.
    Decided(&'a mut dyn FnMut(usize) -> usize),
}

/// The choices that a step made, and how many options each of them had: the next combination is one further.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Script(Vec<Choice>);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Choice {
    chosen: usize,
    options: usize,
}

impl<'a> Open<'a> {
    /// Returns what answers every choice with the first option.
    pub const fn first() -> Self {
        Self(Answers::First)
    }

    /// Returns what asks `decide` for a number below the number of options, as a simulation asks its generator.
    ///
    /// ```
    /// use simutant_oracle::specifications::{UnorderedQueue, containers::{Operation, Response}};
    /// use simutant_oracle::{Open, Session, Specification};
    ///
    /// let mut queue = UnorderedQueue::from(vec!['a', 'b', 'c']);
    /// // Of three values, somebody decides for the last one.
    /// let mut last = |options| options - 1;
    /// let taken = queue.step(Session(1), &Operation::Take, &mut Open::decided_by(&mut last));
    /// assert_eq!(taken, Response::Value(Some('c')));
    /// ```
    pub fn decided_by(decide: &'a mut dyn FnMut(usize) -> usize) -> Self {
        Self(Answers::Decided(decide))
    }

    /// Returns what answers by a script, from its beginning.
    pub(crate) fn enumerated(script: &'a mut Script) -> Self {
        Self(Answers::Enumerated { script, next: 0 })
    }

    /// Returns one of `options` options, a number from 0.
    ///
    /// # Panics
    /// If there is no option, or who decides returns none.
    pub fn one_of(&mut self, options: usize) -> usize {
        assert!(options > 0, "a choice has at least one option");
        match &mut self.0 {
            Answers::First => 0,
            Answers::Enumerated { script, next } => {
                let at = *next;
                *next += 1;
                match script.0.get(at) {
                    Some(choice) => choice.chosen,
                    None => {
                        script.0.push(Choice { chosen: 0, options });
                        0
                    }
                }
            }
            Answers::Decided(decide) => {
                let chosen = decide(options);
                assert!(chosen < options, "a choice of {options} options was answered with {chosen}");
                chosen
            }
        }
    }

    /// Returns yes or no.
    pub fn maybe(&mut self) -> bool {
        self.one_of(2) == 1
    }
}

impl fmt::Debug for Open<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self.0 {
            Answers::First => "Open::First",
            Answers::Enumerated { .. } => "Open::Enumerated",
            Answers::Decided(_) => "Open::Decided",
        })
    }
}

impl Script {
    /// Goes to the next combination of choices, and returns whether there is one.
    pub(crate) fn advance(&mut self) -> bool {
        while let Some(choice) = self.0.last_mut() {
            choice.chosen += 1;
            if choice.chosen < choice.options {
                return true;
            }
            self.0.pop();
        }
        false
    }

    /// Goes back to the first combination.
    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}

/// A value that the service chose, and clients may not know yet: an entity tag, an identifier, an offset.
///
/// It is a name for an entry of [`Unknowns`], which is a part of the state.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Unknown(usize);

/// The knowledge of values that the service chose: a part of a specification's state.
///
/// ```
/// use simutant_oracle::{Open, Session, Specification, Unknown, Unknowns};
///
/// /// A page with a tag that the server makes up anew with each change.
/// #[derive(Debug, Clone, PartialEq, Eq, Hash)]
/// struct Page {
///     tags: Unknowns<String>,
///     tag: Unknown,
/// }
///
/// /// Changes the page if it has this tag.
/// struct ChangeIf(String);
///
/// impl Specification for Page {
///     type Operation = ChangeIf;
///     type Response = bool;
///
///     fn step(&mut self, _: Session, ChangeIf(tag): &ChangeIf, open: &mut Open<'_>) -> bool {
///         let matches = self.tags.is(self.tag, tag, open);
///         if matches {
///             self.tag = self.tags.choose();
///         }
///         matches
///     }
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Unknowns<T>(Vec<Knowledge<T>>);

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Knowledge<T> {
    /// The value is none of these, which are in order.
    Not(Vec<T>),
    Known(T),
}

impl<T> Default for Unknowns<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Clone + Ord> Unknowns<T> {
    /// Returns what knows of no value.
    pub fn new() -> Self {
        Self::default()
    }

    /// Returns a new value, of which nothing is known. It may be equal to another one.
    pub fn choose(&mut self) -> Unknown {
        self.0.push(Knowledge::Not(Vec::new()));
        Unknown(self.0.len() - 1)
    }

    /// Returns a new value that differs from all that are known. Two of which neither is known yet may turn out to be equal.
    pub fn choose_fresh(&mut self) -> Unknown {
        let mut known: Vec<T> = self.0.iter().filter_map(|entry| entry.known().cloned()).collect();
        known.sort_unstable();
        known.dedup();
        self.0.push(Knowledge::Not(known));
        Unknown(self.0.len() - 1)
    }

    /// Returns whether a value is this one. Where that is not known yet, both are possible, and what was decided holds
    /// from then on.
    pub fn is(&mut self, unknown: Unknown, value: &T, open: &mut Open<'_>) -> bool {
        let entry = &mut self.0[unknown.0];
        match entry {
            Knowledge::Known(known) => known == value,
            Knowledge::Not(excluded) => match excluded.binary_search(value) {
                Ok(_) => false,
                Err(place) if open.maybe() => {
                    excluded.insert(place, value.clone());
                    false
                }
                Err(_) => {
                    *entry = Knowledge::Known(value.clone());
                    true
                }
            },
        }
    }

    /// Learns that a value is this one, as when the service says so, and returns whether it can be.
    ///
    /// ```
    /// use simutant_oracle::Unknowns;
    ///
    /// let mut tags = Unknowns::new();
    /// let first = tags.choose();
    /// assert!(tags.reveal(first, &"a1"));
    /// assert_eq!(tags.known(first), Some(&"a1"));
    /// assert!(!tags.reveal(first, &"b2"), "it has a value already");
    /// let second = tags.choose_fresh();
    /// assert!(!tags.reveal(second, &"a1"), "it differs from what was known");
    /// ```
    pub fn reveal(&mut self, unknown: Unknown, value: &T) -> bool {
        let entry = &mut self.0[unknown.0];
        match entry {
            Knowledge::Known(known) => known == value,
            Knowledge::Not(excluded) if excluded.binary_search(value).is_ok() => false,
            Knowledge::Not(_) => {
                *entry = Knowledge::Known(value.clone());
                true
            }
        }
    }

    /// Returns the value, if it is known.
    pub fn known(&self, unknown: Unknown) -> Option<&T> {
        self.0[unknown.0].known()
    }
}

impl<T> Knowledge<T> {
    const fn known(&self) -> Option<&T> {
        match self {
            Self::Known(value) => Some(value),
            Self::Not(_) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_script_goes_through_all_combinations_once() {
        let mut script = Script::default();
        let mut combinations = Vec::new();
        loop {
            let mut open = Open::enumerated(&mut script);
            let first = open.one_of(3);
            // The second choice is asked for only where the first one was not 1.
            combinations.push((first, (first != 1).then(|| open.maybe())));
            if !script.advance() {
                break;
            }
        }
        let expect = [(0, Some(false)), (0, Some(true)), (1, None), (2, Some(false)), (2, Some(true))];
        assert_eq!(combinations, expect);
    }

    #[test]
    fn what_was_decided_of_an_unknown_value_holds() {
        for choice in [0, 1] {
            let mut decide = |_| choice;
            let mut open = Open::decided_by(&mut decide);
            let mut tags = Unknowns::new();
            let tag = tags.choose();
            let is = tags.is(tag, &"a", &mut open);
            assert_eq!(is, choice == 0);
            assert_eq!(tags.is(tag, &"a", &mut open), is);
            assert_eq!(tags.reveal(tag, &"a"), is);
            assert_eq!(tags.reveal(tag, &"b"), !is);
            assert_eq!(tags.known(tag), Some(if is { &"a" } else { &"b" }));
            let fresh = tags.choose_fresh();
            assert!(!tags.reveal(fresh, if is { &"a" } else { &"b" }));
        }
    }
}
