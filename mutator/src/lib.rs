//! Source-to-source: from the specification files of a simulation to one executable with all its mutants.
//!
//! The files are parsed by `syn`. From each function's syntax come a control-flow graph, whose blocks and branches are
//! the requirements of all-blocks and all-branches, the definitions and uses of all-uses, and the places where mutation
//! operators apply. Probes and mutants are put into a copy of the text at byte offsets, so that everything keeps its
//! file, line and column, and the copy is compiled once: every mutant is behind a number (mutant schemata; Untch,
//! Offutt and Harrold, ISSTA 1993). What does not type-check is rejected by the compiler's own messages, whose
//! positions lie in the text of a mutant. So operators need no types, and a simulation needs no annotation.
//!
//! # What becomes of a function
//!
//! ```text
//! fn f(…) -> T { BODY }      becomes
//! fn f(…) -> T { const SIMUTANT_FUNCTION: &::simutant_probe::FunctionMarks = …; match SIMUTANT_FUNCTION.is_clean() { true => {clean}
//!     false => ::simutant_probe::aside(move || -> T { match SIMUTANT_FUNCTION.body() { 1 => {mutated} 2 => {recording} _ => {covering} } }) } }
//! ```
//!
//! The closure keeps what surrounds the clean body small: a short function is one that the compiler puts in the place
//! of its calls, if it stays short. What can be no closure, async above all, has its four bodies side by side:
//! `match SIMUTANT_FUNCTION.enter() { 0 => {clean} 1 => …`, and is polled apart where others wait for it:
//! `::simutant_probe::apart(f(…)).await` (`instrument/awaits.rs`). The compiler makes both in the module that they
//! stand in, and nowhere else, so that an edit costs little. For the same end an async function has the attribute
//! `#[inline(never)]`, unless its own attributes may say otherwise. All bodies count the turns of loops and the calls
//! of closures. In the mutated one a point reads `(match ::simutant_probe::active().wrapping_sub(N) { 2.. => (a + b), 0
//! => { a - b }, 1 => { a } })`, with `::simutant_probe::hit()` in the arms of the mutants. The covering one notes
//! blocks, branches, which definition each use sees and which conditions decide; the recording one does so too, and
//! notes for each mutant whether it is reached and whether its value differs. A function without mutants has no
//! recording one.
//!
//! Where the bodies' values have types of their own, since the function returns an `impl Trait`, each value becomes one
//! of several: `::simutant_probe::Either::One(…)` (`instrument/hidden.rs`). What returns from such a function only
//! leaves its body. A function with probes is not `const`.
//!
//! Which mutant an error is about is told by its place. Where it shows elsewhere in the function, each mutant that may be
//! to blame is tried alone in the next build, in a body that nothing runs (`build/blame.rs`).
//!
//! What is noted is a mark, a byte at a place that the compiler knows. Where a use can see several definitions of a
//! variable that no closure shares, a local variable of the function keeps the number of the last one, so that the
//! compiler knows most of them, and what is left of the use is one store. What is covered whenever something else is
//! has the mark of that: a block to which nothing but one branch leads, a use that sees one definition for certain, a
//! condition that a branch shows to decide.
//!
//! A package's real programs can have mutants too ([`build_programs`]): without a worker, so with the first two bodies
//! alone and no count of steps, and the environment says which mutant is active.
//!
//! Where original and mutant have different types, as `a..b` and `a..=b` do, the choice is made between two copies of
//! the loop or of the chain of calls around them. An arm of a `match` goes by a guard that fails.
//!
//! # Which mutants
//!
//! The operators are in three tiers: those of the literature on adequacy; those of distributed systems, which go by the
//! names that a specification gives to what sends, waits, retries and draws (`syntax/names.rs`; a manifest can add
//! names); and more of them for comparison, muJava's among them. A HOM makes pairs of the others. A [`Selection`] says
//! which are applied. Two operators never make the same mutant: it has the name that says most of it. HOM makes two of
//! the others' mutants at once, in two functions; their numbers lie in the ranges of both (`instrument/numbering.rs`).
//!
//! CVR changes the value of a constant at all its uses, in as many functions as there are (`constants.rs`). The mutants
//! of constants are numbered after those of all functions, and a function knows the ranges of those that it uses.
//!
//! A comment at the spot and patterns in the manifest leave code out, with a reason (`specification/skips.rs`): it has its
//! probes, and no mutants. [`Sites::skipped`](simutant_outcomes::Sites::skipped) lists it.
//!
//! # Limits
//!
//! - A function that cannot have probes runs as it is written, and
//!   [`Sites::uninstrumented`](simutant_outcomes::Sites::uninstrumented) lists it with the reason: a `const fn` that a
//!   constant needs (others lose the `const` in the copy), one that returns an `impl Trait` which no type of the probes
//!   can stand for, and one that does not compile with probes. A function inside a function counts its steps, and is
//!   not mutated.
//! - Code under a `#[cfg(…)]` that does not hold is not looked at;
//!   [`Sites::left_out`](simutant_outcomes::Sites::left_out) lists its functions. Which features are on is taken from
//!   the workspace: another package there that turns more on makes their code count here, too. What a build script
//!   decides is known for functions once it has run. A part of a function that goes by it has no probes and no mutants.
//! - What a name stands for goes by modules and imports. Where a macro or a star import from elsewhere may bring it, it
//!   is what has the name in the package; if there are several, operators that go by types make no mutants of it, and
//!   [`Sites::ambiguous`](simutant_outcomes::Sites::ambiguous) lists it.
//! - What a `macro_rules!` defines has no probes and no mutants;
//!   [`Sites::macros`](simutant_outcomes::Sites::macros) lists the definitions of the specification.
//! - The tokens of a macro call are not looked into: an assertion is a part of the oracle and is never mutated. So an
//!   assertion keeps the value that a constant has in the original, and holds the mutants of the constant to it.
//! - A constant has mutants if a function of its module uses it where a value can be chosen while the program runs.
//!   What a `use` brings into another module is not followed there, and neither are constants of traits and of files
//!   that are no specification. [`Sites::unmutated`](simutant_outcomes::Sites::unmutated) lists the constants of the
//!   specification that have no mutants, with the reason.
//! - In the mutated body, the temporary values of an expression that can be mutated end with the expression, not with
//!   its statement. A simulation notes that only if such a value has a destructor with an effect which the rest of the
//!   statement sees.
//! - The arguments of a function that is not async are dropped in another order in its other bodies. A simulation notes
//!   that only if two of them have destructors with effects.
//! - What an expression would have done in a mutant is computed from expressions that are free of effects by their
//!   syntax (`syntax/purity.rs`). Methods are taken for free of effects by the names that the standard library gives
//!   them.
//!
//! # Where to read on
//!
//! Each room knows those above it alone, as far as it needs them; no two know each other.
//!
//! | room | what it is |
//! | --- | --- |
//! | `text` | edits to source text, and hashes that name pieces of it |
//! | `syntax` | files, functions, constants, declarations, names and types, as the text shows them |
//! | `operators` | the mutation operators, and which of them are asked for |
//! | `mutation` | where the operators apply in a function, and which of their changes become candidates |
//! | `constants` | mutants of constants, and where these are used |
//! | `specification` | all candidates of a system; what the compiler has said of them; what an edit has changed |
//! | `graph` | control-flow graphs, with definitions and uses and the places for probes: each function is lowered once |
//! | `dataflow` | which uses can see which definitions |
//! | `instrument` | what is generated: bodies, choices between mutants, probes, numbers |
//! | `package` | the manifest of a system, and the packages that are its specification |
//! | `build` | copies, the compiler and its verdicts; `build/equivalence` compares machine code |
//! | `comparison` | constants of a specification beside those of its implementations |
//! | `init` | a new package with a system |

mod build;
mod comparison;
mod constants;
mod dataflow;
mod error;
mod graph;
mod init;
mod instrument;
mod judgements;
mod mutation;
mod nearest;
mod operators;
mod package;
mod specification;
mod syntax;
#[cfg(test)]
mod test_support;
mod text;

pub use build::{
    Build, BuildEvent, BuildRequest, BuiltPrograms, Equivalence, INITIAL_LINE, NET_LINE, Named, ProgramRequest,
    ProgramsRequest, TYPE_LINE, build, build_plain, build_program, build_programs, build_testbed, build_with,
    compiler_equivalence, mutant_identities,
};
pub use comparison::{
    ConstantDifference, ConstantPlace, ConstantValue, InvalidValue, NamedConstant, differences, named_constants,
    source_files,
};
pub use error::{MutatorError, TypeTrouble};
pub use init::{EngineSource, InitError, InitRequest, Initialised, SystemTemplate, init};
pub use instrument::Probes;
pub use judgements::{JudgementsError, read_judgements, with_judgement};
pub use nearest::nearest;
pub use operators::{
    OperatorDescription, Replacements, Selection, UnknownOperator, descriptions as operator_descriptions,
};
pub use package::{EngineOrigin, EnginePackage, OtherValue, Package, Programs, ProgramsSection};
pub use specification::fingerprint::{Fingerprint, token_lines};
