//! Constants of the specification: what they are in mutants, and where these are used.
//!
//! A constant cannot be chosen while a program runs, but each use of it can. So every mutant of a constant is one more
//! constant beside it, with its visibility and type, and a use in a function chooses between them:
//!
//! ```text
//! const TRIES: u32 = 3; const TRIES_SIMUTANT_0: u32 = 4; const TRIES_SIMUTANT_1: u32 = 2; …
//! for _ in 0..(match ::simutant_probe::active().wrapping_sub(N) { 4.. => (TRIES), 0 => { …; TRIES_SIMUTANT_0 } … })
//! ```
//!
//! A constant whose value names another one changes with it: each mutant of the other has one more of it, too. What is
//! a use of which constant is told by names, within a module: `LIMIT`, `self::LIMIT`, `Self::LIMIT` and `Type::LIMIT`.
//! A use stays as it is where no value can be chosen: in a pattern, the length of an array, an argument of a type, an
//! item; and in the tokens of a macro, an assertion above all, which are never looked into.

mod edits;
mod names;
mod scopes;
mod values;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use simutant_outcomes::{Class, MutantNumber};
use syn::visit::Visit;

use crate::mutation::{Candidate, Form, PlacedCandidate, Point, Settings};
use crate::operators::{CONSTANT, Change, Infection, Replacements};
use crate::syntax::constants::{ConstantSource, is_time};
use crate::syntax::names::Kind;
use crate::syntax::source::{FunctionId, Source};
use crate::syntax::types::bare;
use crate::text::identity::Identities;
use names::{NameFinder, Named};
use scopes::Scopes;

/// The constants of all specification files, with their mutants.
#[derive(Debug, Default)]
pub(crate) struct Constants {
    constants: Vec<Constant>,
    /// All candidates, in the order of constants.
    candidates: Vec<PlacedCandidate>,
    /// The uses in each function.
    uses: BTreeMap<FunctionId, Vec<ConstantUse>>,
}

/// A constant, and what it depends on.
#[derive(Debug, Default)]
struct Constant {
    file: usize,
    /// Its index in its file.
    index: usize,
    /// Its own candidates.
    candidates: Range<usize>,
    /// The constants that its value names, each with the place of the name.
    names: Vec<(usize, Range<usize>)>,
    /// The constants that it changes with: itself, those that its value names, those that theirs name.
    bases: BTreeSet<usize>,
    /// Whether all of its own candidates are left out.
    is_skipped: bool,
}

/// A use of a constant in a function that can choose its value.
#[derive(Debug)]
struct ConstantUse {
    constant: usize,
    named: Named,
}

/// One of the mutants of a constant in a build.
#[derive(Debug, Clone, Copy)]
pub(crate) struct NumberedCandidate {
    /// Its index among the candidates in constants.
    pub(crate) candidate: usize,
    /// Its number in generated code.
    pub(crate) number: MutantNumber,
}

impl Constants {
    /// Finds the constants of specification files, their uses, and if they are asked for, their mutants.
    pub(crate) fn new(sources: &[Source], settings: &Settings<'_>, identities: &mut Identities) -> Self {
        let Some(replacements) = settings.selection.replacements(CONSTANT.name) else { return Self::default() };
        let mut all = Self::default();
        for (file, source) in sources.iter().enumerate() {
            let constants = (0..source.constants.len()).map(|index| Constant { file, index, ..Constant::default() });
            all.constants.extend(constants);
        }
        let scopes = Scopes::new(sources);
        all.find_names(sources, settings, &scopes);
        all.find_bases();
        all.find_candidates(sources, settings, replacements, identities);
        all.find_uses(sources, settings, &scopes);
        all
    }

    /// Finds the constants that the values of others name.
    fn find_names(&mut self, sources: &[Source], settings: &Settings<'_>, scopes: &Scopes<'_>) {
        for known in &mut self.constants {
            let constant = &sources[known.file].constants[known.index];
            if constant.obstacle.is_none() {
                let found = NameFinder::found(settings.names, |finder| finder.visit_expr(&constant.value)).into_iter();
                let resolved =
                    found.filter_map(|named| Some((scopes.in_constant(known.file, constant, &named)?, named.last)));
                known.names = resolved.collect();
            }
        }
    }

    /// Finds the constants that each changes with.
    fn find_bases(&mut self) {
        for number in 0..self.constants.len() {
            let mut bases = BTreeSet::from([number]);
            let mut open = vec![number];
            while let Some(constant) = open.pop() {
                let names = &self.constants[constant].names;
                open.extend(names.iter().map(|(named, _)| *named).filter(|named| bases.insert(*named)));
            }
            self.constants[number].bases = bases;
        }
    }

    /// Finds the mutants of each.
    fn find_candidates(
        &mut self,
        sources: &[Source],
        settings: &Settings<'_>,
        replacements: Replacements,
        identities: &mut Identities,
    ) {
        for number in 0..self.constants.len() {
            let start = self.candidates.len();
            let Constant { file, index, .. } = self.constants[number];
            let (source, constant) = (&sources[file], &sources[file].constants[index]);
            for (range, replacement) in self.changes(sources, number, replacements) {
                let original = &source.file.text[range.clone()];
                let identity = identities.next(&constant.path, original, CONSTANT.name, &replacement);
                let is_duration = settings.names.has_word(Kind::Duration, &constant.name);
                let class = if is_duration || is_time(bare(&constant.ty_text)) { Class::Time } else { Class::General };
                let point = Point::new(&range, Form::Expression);
                let change = Change::new(range, vec![replacement.into()], Infection::Reached);
                let candidate = Candidate {
                    operator: CONSTANT.name,
                    tier: CONSTANT.tier,
                    class,
                    tag: None,
                    change,
                    point,
                    elsewhere: None,
                };
                self.candidates.push(PlacedCandidate { file, function: None, candidate, identity });
            }
            self.constants[number].candidates = start..self.candidates.len();
        }
    }

    /// Finds the uses in functions that can choose.
    fn find_uses(&mut self, sources: &[Source], settings: &Settings<'_>, scopes: &Scopes<'_>) {
        for (file, source) in sources.iter().enumerate() {
            let with_bodies = source.functions.iter().enumerate().filter(|(_, function)| function.obstacle.is_none());
            for (index, function) in with_bodies {
                let id = FunctionId { file, index };
                let found = NameFinder::found(settings.names, |finder| finder.visit_block(&function.body)).into_iter();
                let uses = found.filter_map(|named| {
                    let constant = scopes.in_function(id, function, &named)?;
                    Some(ConstantUse { constant, named })
                });
                self.uses.insert(id, uses.collect());
            }
        }
    }

    /// Keeps the candidates that `stays` says, in the order in which they were.
    pub(crate) fn retain(&mut self, stays: &mut dyn FnMut(&PlacedCandidate) -> bool) {
        let mut before = std::mem::take(&mut self.candidates).into_iter();
        for constant in &mut self.constants {
            let (start, count) = (self.candidates.len(), constant.candidates.len());
            self.candidates.extend(before.by_ref().take(count).filter(&mut *stays));
            constant.candidates = start..self.candidates.len();
            constant.is_skipped = count > 0 && constant.candidates.is_empty();
        }
    }

    /// Returns all candidates, which are numbered after those of functions.
    pub(crate) fn candidates(&self) -> &[PlacedCandidate] {
        &self.candidates
    }

    /// Returns the constants, each with its file, its source and its candidates.
    pub(crate) fn all<'a>(
        &'a self,
        sources: &'a [Source],
    ) -> impl Iterator<Item = (usize, &'a ConstantSource, Range<usize>)> {
        self.constants.iter().map(|constant| {
            let Constant { file, index, ref candidates, .. } = *constant;
            (file, &sources[file].constants[index], candidates.clone())
        })
    }

    /// Returns why a constant has no mutants, where no use of it is in a function that is instrumented if `is_used` is
    /// false; `None` if it has some, or changes with others.
    pub(crate) fn reason(&self, sources: &[Source], number: usize, is_used: bool) -> Option<&'static str> {
        let constant = &self.constants[number];
        let obstacle = sources[constant.file].constants[constant.index].obstacle;
        let has_none = constant.candidates.is_empty() && constant.bases.len() == 1;
        let skipped = constant.is_skipped.then_some("a comment or the manifest leaves it out");
        obstacle
            .or(skipped)
            .or(has_none.then_some("its value is neither a number nor a truth value, nor made of one by calls"))
            .or((!is_used).then_some(
                "it is used in patterns, types, macros and other constants alone, in other files, or not at all",
            ))
    }

    /// Returns the constants whose mutants show in a function, in ascending order.
    pub(crate) fn used_in(&self, function: FunctionId) -> BTreeSet<usize> {
        let uses = self.uses.get(&function).into_iter().flatten();
        uses.flat_map(|of_constant| self.constants[of_constant.constant].bases.iter().copied()).collect()
    }

    /// Returns the places in a function where a candidate shows.
    pub(crate) fn places_of(&self, candidate: usize, function: FunctionId) -> Vec<Range<usize>> {
        let uses = self.uses.get(&function).into_iter().flatten();
        let shows = |of_constant: &&ConstantUse| {
            let mut bases = self.constants[of_constant.constant].bases.iter();
            bases.any(|&base| self.constants[base].candidates.contains(&candidate))
        };
        uses.filter(shows).map(|of_constant| of_constant.named.range.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operators::Selection;
    use crate::specification::Specification;
    use crate::syntax::declarations::Declarations;

    /// Returns the mutants of constants in `text`, a line each, with the places where they show.
    fn mutants(text: &str) -> String {
        let source = Source::parse("src/a.rs", text.into()).expect("the test's own source");
        let settings = Settings {
            selection: &Selection::parse(CONSTANT.name).expect("a known operator"),
            declarations: &Declarations::default(),
            names: &crate::syntax::names::Names::default(),
        };
        let specification = Specification::new("a", "a", vec![source], &settings);
        let constants = &specification.constants;
        let mut lines = String::new();
        for (number, placed) in constants.candidates().iter().enumerate() {
            let original = &text[placed.candidate.range().clone()];
            let replacement = crate::text::edit::plain_text(&placed.candidate.change.replacement, text);
            let count: usize = (0..specification.sources[0].functions.len())
                .map(|function| constants.places_of(number, FunctionId { file: 0, index: function }).len())
                .sum();
            lines.push_str(&format!("{original} -> {replacement} in {count}\n"));
        }
        lines
    }

    #[track_caller]
    fn check(text: &str, expect: &[&str]) {
        let mutants = mutants(text);
        assert_eq!(mutants.lines().collect::<Vec<_>>(), expect, "{text}");
    }

    #[test]
    fn cvr() {
        insta::assert_snapshot!(mutants(
            "const A: u32 = 16; pub(crate) static B: bool = true; const C: Duration = Duration::from_millis(25);
             const D: f64 = 0.05; const E: usize = 4 * (1 << 3) - 2; const F: u8 = A as u8 + 1; const G: i8 = -1;
             const H: Rate = Rate::new(0.5, 3); const I: u64 = u64::MAX / 2; const J: u32 = (A + 4) * A;
             const K: Option<u16> = Some(7); impl L { const M: u16 = 0; }
             impl L { fn f(&self) { g(A, B, C, D, E, F, G, H, I, J, K, Self::M, L::M); } }"
        ));
    }

    #[test]
    fn what_is_no_number_or_has_no_use_that_can_choose_has_no_mutants() {
        for value in ["\"text\"", "'c'", "[1, 2]", "Partitions { bytes: 4 }", "2..=5", "g!(3)", "RouterId", "|| 3"] {
            check(&format!("const A: T = {value}; fn f() {{ g(A); }}"), &[]);
        }
        for uses in [
            "fn f(a: [u8; A]) { let b: [u8; A] = [0; A]; g::<A>(b); }",
            "fn f() { match a { A => 1, B..=A => 2, _ => 3 } if let A = b {} }",
            "fn f() { assert!(a < A); g!(A); const { A } #[h(A)] i(); }",
            "fn g() -> impl H { A } fn h() -> (impl I, u8) { (A, A) } const B: [u8; A] = [0; A];",
            "fn f() { fn g() -> u32 { A } let a = |b: [u8; A]| b; S { A }; }",
            "fn f() { context.phase(A); self.log(A + 1); }",
            "fn f<const A: u32>() -> u32 { A } impl<const A: u32> S<A> { fn g() -> u32 { A } }",
            "fn f() { use b::A; g(A); } fn g() { fn A() {} h(A); } fn h() { const A: &str = \"other\"; g(A); }",
            "mod b { fn f() { g(A); } } fn f() { b::A; Self::A; S::A; <S as T>::A; ::A; A::<u8>; }",
            "fn f() { A(3); }",
            "fn f() -> &'static [u32] { &[A, 3] } fn g() { h(&(1, -A), &(A + 1), &[A; 4], &[[A]]); }",
        ] {
            let found = mutants(&format!("const A: u32 = 5; {uses}"));
            let counts: Vec<&str> = found.lines().filter(|line| !line.ends_with(" in 0")).collect();
            assert_eq!(counts, [""; 0], "{uses}");
        }
        check(
            "trait T { const A: u32 = 5; fn f() { g(Self::A); } } impl T for S { const A: u32 = 6; fn h() { g(Self::A) } }",
            &[],
        );
        check("static A: AtomicU32 = AtomicU32::new(5); fn f() { g(&A); }", &[]);
        check("static mut A: u32 = 5; fn f() { unsafe { g(A); } }", &[]);
        let two = mutants("#[cfg(unknown)] const A: u8 = 5; #[cfg(not(unknown))] const A: u8 = 6; fn f() { g(A); }");
        assert!(two.lines().all(|line| line.ends_with(" in 0")), "{two}");
    }

    #[test]
    fn a_const_function_and_one_whose_result_has_no_name_can_choose() {
        check(
            "const A: u8 = 0; const fn f() -> u8 { A } fn g() -> impl Iterator<Item = u8> { 0..A }",
            &["0 -> 1 in 2"],
        );
    }

    #[test]
    fn a_use_beside_what_no_static_can_hold_can_choose() {
        check(
            "const A: u8 = 0; fn f(a: u8) { g(&[A, a], &(A, h()), &A, [A], A.pow(2), &A.pow(a), &mut [A]); }",
            &["0 -> 1 in 7"],
        );
    }

    #[test]
    fn a_constant_shows_where_others_do_whose_values_name_it() {
        check(
            "const A: u32 = 1; const B: u32 = A; const C: [u32; 2] = [B, g!(A)]; fn f() { g(A, C[0]); } fn h() { g(B); }",
            &["1 -> 2 in 3", "1 -> 0 in 3"],
        );
        check("const A: bool = false; fn f() { const B: bool = !A; if B {} }", &["false -> true in 1"]);
        check(
            "fn f() { const A: bool = false; { const A: bool = true; if A {} } if A {} }",
            &["false -> true in 1", "true -> false in 1"],
        );
    }

    #[test]
    fn no_mutant_is_the_original() {
        let mut values: Vec<String> = (0..=130).map(|value: i32| value.to_string()).collect();
        values
            .extend(["-1", "-2", "1 + 1", "0 * 4", "3 - 3", "1 << 4", "7 % 4", "9 / 2", "-(2 * 3)"].map(str::to_owned));
        for value in values {
            let found = mutants(&format!("const A: i64 = {value}; fn f() {{ g(A); }}"));
            assert!(!found.is_empty(), "{value}");
            let mut others = BTreeSet::new();
            for line in found.lines() {
                let (original, other) = line.trim_end_matches(" in 1").split_once(" -> ").expect("a change");
                assert!(original == value && original != other && others.insert(other), "{line}");
            }
        }
    }
}
