//! The data that flows between the parts of Simutant.
//!
//! The mutator finds [`Sites`] in the source of a simulation: requirements to be covered and mutants. A campaign runs
//! test cases on the original and on the mutants and leaves [`Outcomes`]. The analysis reads those and chooses a
//! [`Suite`], which a harness runs on a real implementation. This crate holds these types and nothing that acts: it is
//! the only thing that producers and consumers share, so that `analysis` can stay a pure function of outcomes.
//!
//! Everything here is plain data: public fields, serde, `validate` where a file made by hand can be wrong.

mod cause;
mod chance;
mod compiled;
mod cost;
mod coverage;
mod input_source;
mod judgement;
mod outcome;
mod shell;
mod simulated;
mod sites;
mod suite;
mod test_time;
mod trials;
mod verdict;

pub use fixedbitset::FixedBitSet as BitSet;

pub use cause::Cause;
pub use chance::differences;
pub use compiled::Compiled;
pub use cost::{CostBounds, CostKills, CostMeasure, CostOracle, CostOracleError, CostRole, RunCost};
pub use coverage::Coverage;
pub use input_source::InputSource;
pub use judgement::{Judged, Judgement};
pub use outcome::{
    CaseOutcome, Criterion, CriterionKind, Execution, Outcomes, Quota, ReasonCount, Reseeded, RunEnd, VerdictCounts,
    is_zero,
};
pub use shell::quoted;
pub use simulated::{SimulatedCase, SimulatedSuite, SimulatedValue};
pub use sites::{
    AmbiguousName, Block, Branch, BranchOutcome, Class, Condition, Definition, Function, MacroDefinition, Mutant,
    MutantNumber, Pair, RejectedMutant, Sites, SkippedCode, SourceFile, Span, Tier, UninstrumentedFunction,
    UnmutatedConstant,
};
pub use suite::{FORMAT_VERSION, Suite, SuiteCase, SuiteError};
pub use test_time::{TestTime, TestTimeSource};
pub use trials::{LeftOut, Origin, Subject, Trials};
pub use verdict::{Finding, FindingClass, Inconclusive, Verdict};
