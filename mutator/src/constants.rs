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
//! A constant whose value names another one changes with it: each mutant of the other has one more of it, too. What is a
//! use of which constant is told by names, within a module: `LIMIT`, `self::LIMIT`, `Self::LIMIT` and `Type::LIMIT`. A use
//! stays as it is where no value can be chosen: in a pattern, the length of an array, an argument of a type, an item; and
//! in the tokens of a macro, an assertion above all, which are never looked into.

mod names;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use simutant_outcomes::{Class, MutantNumber};
use syn::visit::Visit;
use syn::{BinOp, Expr, ExprLit, Lit, UnOp};

use crate::mutation::{Candidate, Form, PlacedCandidate, Point, Settings};
use crate::operators::{CONSTANT, Change, Infection, Replacements, integers, values};
use crate::syntax::constants::{ConstantHome, ConstantSource, is_plain, is_time};
use crate::syntax::names::Kind;
use crate::syntax::parts::{peeled, range_of};
use crate::syntax::source::{FunctionId, FunctionSource, Source};
use crate::syntax::types::{bare, is_integer};
use crate::text::edit::{CandidateId, Edit, Owner, Piece, Variant};
use crate::text::identity::Identities;
use names::{NameFinder, Named, UsedAs};

/// The constants of all specification files, with their mutants.
#[derive(Debug, Default)]
pub(crate) struct Constants {
    constants: Vec<Constant>,
    /// All candidates, in the order of constants.
    candidates: Vec<PlacedCandidate>,
    /// The uses in each function, by file and index there.
    uses: BTreeMap<FunctionId, Vec<ConstantUse>>,
}

/// A constant, and what it depends on.
#[derive(Debug)]
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
        let mut scopes: BTreeMap<(usize, &ConstantHome, &str), Option<usize>> = BTreeMap::new();
        for (file, source) in sources.iter().enumerate() {
            for (index, constant) in source.constants.iter().enumerate() {
                let number = all.constants.len();
                let known = scopes.entry((file, &constant.home, &constant.name)).or_insert(Some(number));
                // Two of one name may be of two types of one name, or under conditions that are not known.
                *known = known.filter(|known| *known == number);
                let (names, bases) = Default::default();
                all.constants.push(Constant { file, index, candidates: 0..0, names, bases });
            }
        }
        let find = |file: usize, home: ConstantHome, name: &str| scopes.get(&(file, &home, name)).copied().flatten();
        let of_module = |file: usize, module: &str, self_type: Option<&str>, segments: &[String]| match segments {
            [name] => find(file, ConstantHome::Module(module.to_owned()), name),
            [this, name] if this == "self" => find(file, ConstantHome::Module(module.to_owned()), name),
            [ty, name] => {
                let ty = if ty == "Self" { self_type? } else { ty };
                find(file, ConstantHome::Type(module.to_owned(), ty.to_owned()), name)
            }
            _ => None,
        };
        let resolve = |FunctionId { file, index }: FunctionId, function: &FunctionSource, named: &Named| {
            if let [name] = &named.segments[..] {
                let of_block = |&block: &usize| find(file, ConstantHome::Block(index, block), name);
                if let Some(constant) = named.blocks.iter().rev().find_map(of_block) {
                    return Some(constant);
                }
                if !named.is_of_module || function.const_parameters.contains(name) {
                    return None;
                }
            }
            of_module(file, &function.module, function.self_type.as_deref(), &named.segments)
        };
        for number in 0..all.constants.len() {
            let Constant { file, index, .. } = all.constants[number];
            let constant = &sources[file].constants[index];
            if constant.obstacle.is_some() {
                continue;
            }
            let found = NameFinder::found(settings.names, |finder| finder.visit_expr(&constant.value)).into_iter();
            let names = found.filter_map(|named| {
                let found = match &constant.home {
                    ConstantHome::Module(module) => of_module(file, module, None, &named.segments),
                    ConstantHome::Type(module, ty) => of_module(file, module, Some(ty), &named.segments),
                    ConstantHome::Block(function, block) => {
                        let of_block = match &named.segments[..] {
                            [name] => find(file, ConstantHome::Block(*function, *block), name),
                            _ => None,
                        };
                        let is_of_block = |name: &String| {
                            let mut others = sources[file].constants.iter().filter(|other| other.name == *name);
                            others.any(|other| matches!(other.home, ConstantHome::Block(of, _) if of == *function))
                        };
                        let function = &sources[file].functions[*function];
                        let hidden = matches!(&named.segments[..], [name] if is_of_block(name) || function.const_parameters.contains(name));
                        of_block.or_else(|| {
                            let self_type = function.self_type.as_deref();
                            of_module(file, &function.module, self_type, &named.segments).filter(|_| !hidden)
                        })
                    }
                    ConstantHome::Trait => None,
                };
                Some((found?, named.last))
            });
            all.constants[number].names = names.collect();
        }
        for number in 0..all.constants.len() {
            let mut bases = BTreeSet::from([number]);
            let mut open = vec![number];
            while let Some(constant) = open.pop() {
                let names = &all.constants[constant].names;
                open.extend(names.iter().map(|(named, _)| *named).filter(|named| bases.insert(*named)));
            }
            all.constants[number].bases = bases;
        }
        for number in 0..all.constants.len() {
            let start = all.candidates.len();
            let Constant { file, index, .. } = all.constants[number];
            let (source, constant) = (&sources[file], &sources[file].constants[index]);
            for (range, replacement) in all.changes(sources, number, replacements) {
                let original = &source.file.text[range.clone()];
                let identity = identities.next(&constant.path, original, CONSTANT.name, &replacement);
                let is_duration = settings.names.has_word(Kind::Duration, &constant.name);
                let class = if is_duration || is_time(bare(&constant.ty_text)) { Class::Time } else { Class::General };
                let point = Point::new(&range, Form::Expression);
                let change = Change::new(range, vec![replacement.into()], Infection::Reached);
                let candidate =
                    Candidate { operator: CONSTANT.name, tier: CONSTANT.tier, class, tag: None, change, point };
                all.candidates.push(PlacedCandidate { file, function: None, candidate, identity });
            }
            all.constants[number].candidates = start..all.candidates.len();
        }
        for (file, source) in sources.iter().enumerate() {
            let with_bodies = source.functions.iter().enumerate().filter(|(_, function)| function.obstacle.is_none());
            for (index, function) in with_bodies {
                let id = FunctionId { file, index };
                let found = NameFinder::found(settings.names, |finder| finder.visit_block(&function.body)).into_iter();
                let uses = found.filter_map(|named| {
                    let constant = resolve(id, function, &named)?;
                    Some(ConstantUse { constant, named })
                });
                all.uses.insert(id, uses.collect());
            }
        }
        all
    }

    /// Returns the places in the value of a constant with what stands there instead.
    fn changes(&self, sources: &[Source], number: usize, replacements: Replacements) -> Vec<(Range<usize>, String)> {
        let Constant { file, index, .. } = self.constants[number];
        let constant = &sources[file].constants[index];
        if constant.obstacle.is_some() {
            return Vec::new();
        }
        let ty = Some(&*constant.ty_text);
        let value = peeled(&constant.value);
        if is_literal(value) {
            return values(value, ty, replacements).into_iter().map(|other| (range_of(value), other)).collect();
        }
        let is_computed = matches!(value, Expr::Binary(_) | Expr::Unary(_));
        if is_computed
            && is_integer(&constant.ty_text)
            && let Some(known) = self.evaluate(sources, number, value)
        {
            let others = integers(known, ty, replacements).into_iter();
            return others.map(|other| (range_of(value), other.to_string())).collect();
        }
        let mut literals = Vec::new();
        add_literals(value, &mut literals);
        let others = literals.into_iter().flat_map(|literal| {
            values(literal, None, replacements).into_iter().map(move |other| (range_of(literal), other))
        });
        others.collect()
    }

    /// Returns the value of a part of a constant's value, if that follows from literals alone.
    fn evaluate(&self, sources: &[Source], number: usize, expression: &Expr) -> Option<i128> {
        let part = |expression: &Expr| self.evaluate(sources, number, expression);
        match expression {
            Expr::Paren(inner) => part(&inner.expr),
            Expr::Lit(ExprLit { lit: Lit::Int(literal), .. }) => literal.base10_parse().ok(),
            Expr::Unary(inner) if matches!(inner.op, UnOp::Neg(_)) => part(&inner.expr)?.checked_neg(),
            Expr::Path(path) => {
                let range = range_of(&path.path.segments.last()?.ident);
                let &(named, _) = self.constants[number].names.iter().find(|(_, last)| *last == range)?;
                let Constant { file, index, ref bases, .. } = self.constants[named];
                let value = peeled(&sources[file].constants[index].value);
                // What names itself does not compile.
                if bases.contains(&number) { None } else { self.evaluate(sources, named, value) }
            }
            Expr::Binary(inner) => {
                let (left, right) = (part(&inner.left)?, part(&inner.right)?);
                match inner.op {
                    BinOp::Add(_) => left.checked_add(right),
                    BinOp::Sub(_) => left.checked_sub(right),
                    BinOp::Mul(_) => left.checked_mul(right),
                    BinOp::Div(_) => left.checked_div(right),
                    BinOp::Rem(_) => left.checked_rem(right),
                    BinOp::Shl(_) => left.checked_mul(1_i128.checked_shl(u32::try_from(right).ok()?)?),
                    BinOp::Shr(_) => left.checked_shr(u32::try_from(right).ok()?),
                    _ => None,
                }
            }
            _ => None,
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
        obstacle.or(has_none.then_some("its value is neither a number nor a truth value, nor made of one by calls")).or(
            (!is_used).then_some(
                "it is used in patterns, types, macros and other constants alone, in other files, or not at all",
            ),
        )
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

    /// Returns the name that constant `number` has in a mutant of constant `base`.
    fn name(&self, sources: &[Source], number: usize, base: usize, candidate: usize) -> String {
        let name = |number: usize| {
            let Constant { file, index, .. } = self.constants[number];
            &sources[file].constants[index].name
        };
        // Numbered by itself, so that what the compiler rejects changes no other's name.
        let ordinal = candidate - self.constants[base].candidates.start;
        if number == base {
            format!("{}_SIMUTANT_{ordinal}", name(number))
        } else {
            format!("{}_SIMUTANT_{}_{ordinal}", name(number), name(base))
        }
    }

    /// Returns the edits that declare what constants are in mutants: in a file outside of functions, or in one function
    /// of it. `numbered` has the mutants of a constant.
    pub(crate) fn declarations<'n>(
        &self,
        sources: &[Source],
        (file, function): (usize, Option<usize>),
        numbered: &dyn Fn(usize) -> &'n [NumberedCandidate],
    ) -> Vec<Edit> {
        let mut edits = Vec::new();
        for (number, constant) in self.constants.iter().enumerate().filter(|(_, constant)| constant.file == file) {
            let source = &sources[file].constants[constant.index];
            let of_function = match source.home {
                ConstantHome::Block(function, _) => Some(function),
                ConstantHome::Module(_) | ConstantHome::Type(..) => None,
                ConstantHome::Trait => continue,
            };
            if of_function != function {
                continue;
            }
            let mut pieces = Vec::new();
            for &base in &constant.bases {
                for &NumberedCandidate { candidate, .. } in numbered(base) {
                    let pieces_of_one = self.declaration(sources, (number, source), base, candidate);
                    pieces.push(Piece::Owned(Owner::Mutant(CandidateId::Constant(candidate)), pieces_of_one));
                }
            }
            edits.push(Edit::insert(source.range.end - 1, &[Variant::Mutated], pieces));
        }
        edits
    }

    /// Returns the declaration of constant `number` in a mutant of `base`.
    fn declaration(
        &self,
        sources: &[Source],
        (number, source): (usize, &ConstantSource),
        base: usize,
        candidate: usize,
    ) -> Vec<Piece> {
        // Before the semicolon of the constant itself, which ends the last of them.
        let mut pieces: Vec<Piece> = vec!["; ".into()];
        for range in source.conditions.iter().chain(&source.visibility) {
            pieces.extend([Piece::Source(range.clone()), " ".into()]);
        }
        pieces.push(format!("const {}: ", self.name(sources, number, base, candidate)).into());
        pieces.extend([Piece::Source(source.ty.clone()), " = ".into()]);
        let mut changes: Vec<(Range<usize>, String)> = Vec::new();
        if number == base {
            let Change { range, replacement, .. } = &self.candidates[candidate].candidate.change;
            changes.push((range.clone(), crate::text::edit::plain_text(replacement, "")));
        }
        for (named, last) in &self.constants[number].names {
            let is_changed = self.constants[*named].bases.contains(&base);
            if is_changed && !changes.iter().any(|(range, _)| range.start <= last.start && last.end <= range.end) {
                changes.push((last.clone(), self.name(sources, *named, base, candidate)));
            }
        }
        changes.sort_by_key(|(range, _)| range.start);
        let value = range_of(&source.value);
        let mut at = value.start;
        for (range, other) in changes {
            pieces.extend([Piece::Source(at..range.start), other.into()]);
            at = range.end;
        }
        pieces.push(Piece::Source(at..value.end));
        pieces
    }

    /// Returns the edits that let the uses of constants in a function choose between the original and its mutants, and
    /// that note where these are reached; arguments as for [`Constants::declarations`].
    pub(crate) fn points<'n>(
        &self,
        sources: &[Source],
        function: FunctionId,
        numbered: &dyn Fn(usize) -> &'n [NumberedCandidate],
    ) -> Vec<Edit> {
        let mut edits = Vec::new();
        for ConstantUse { constant, named } in self.uses.get(&function).into_iter().flatten() {
            let of_file = &self.constants[*constant];
            let source = &sources[of_file.file].constants[of_file.index];
            for &base in &of_file.bases {
                let mutants = numbered(base);
                let Some(&NumberedCandidate { number: first, .. }) = mutants.first() else { continue };
                let is_place = match named.is_used_as {
                    UsedAs::Value => false,
                    UsedAs::Part => !is_plain(&source.ty_text),
                    UsedAs::Place => true,
                };
                let (place, reference) = if is_place { ("*", "&") } else { ("", "") };
                let path: Piece = Piece::Source(named.range.start..named.last.start);
                let before = format!(
                    "({place}match ::simutant_probe::active().wrapping_sub({first}) {{ {}.. => {reference}(",
                    mutants.len(),
                );
                let mut after: Vec<Piece> = vec!["),".into()];
                for (offset, &NumberedCandidate { candidate, .. }) in mutants.iter().enumerate() {
                    let name = self.name(sources, *constant, base, candidate);
                    after.push(format!(" {offset} => {{ ::simutant_probe::hit(); {reference}").into());
                    after.push(Piece::Owned(
                        Owner::Mutant(CandidateId::Constant(candidate)),
                        vec![path.clone(), name.into()],
                    ));
                    after.push(" }".into());
                }
                after.push(" })".into());
                edits.push(Edit::wrap(named.range.clone(), &[Variant::Mutated], vec![before.into()], after));
                let notes: Vec<String> = mutants
                    .chunks(64)
                    .map(|part| {
                        let certain = u64::MAX >> (64 - part.len());
                        format!("::simutant_probe::point({}, {}, {certain:#x})", part[0].number, part.len())
                    })
                    .collect();
                let before = format!("({place}({}, {reference}", notes.join(", "));
                let after = format!(").{})", notes.len());
                edits.push(Edit::wrap(
                    named.range.clone(),
                    &[Variant::Recording],
                    vec![before.into()],
                    vec![after.into()],
                ));
            }
        }
        edits
    }
}

/// Whether an expression is a literal, with a sign or without.
fn is_literal(expression: &Expr) -> bool {
    match expression {
        Expr::Lit(_) => true,
        Expr::Unary(inner) => matches!(inner.op, UnOp::Neg(_)) && matches!(&*inner.expr, Expr::Lit(_)),
        _ => false,
    }
}

/// Adds the literals that a value is made of by calls, casts and operators.
fn add_literals<'e>(expression: &'e Expr, literals: &mut Vec<&'e Expr>) {
    match expression {
        _ if is_literal(expression) => literals.push(expression),
        Expr::Paren(inner) => add_literals(&inner.expr, literals),
        Expr::Group(inner) => add_literals(&inner.expr, literals),
        Expr::Cast(inner) => add_literals(&inner.expr, literals),
        Expr::Unary(inner) => add_literals(&inner.expr, literals),
        Expr::Call(call) => call.args.iter().for_each(|argument| add_literals(argument, literals)),
        Expr::MethodCall(call) => {
            add_literals(&call.receiver, literals);
            call.args.iter().for_each(|argument| add_literals(argument, literals));
        }
        Expr::Binary(inner) => {
            add_literals(&inner.left, literals);
            add_literals(&inner.right, literals);
        }
        _ => {}
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
            "const fn f() -> u32 { A } fn g() -> impl H { A } const B: [u8; A] = [0; A];",
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
