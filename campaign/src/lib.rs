//! Runs test cases on the original and on the mutants in worker processes, and keeps the journal.
//!
//! ```no_run
//! # fn example(build: simutant_mutator::Build, plain: std::path::PathBuf) -> Result<(), simutant_campaign::CampaignError> {
//! use simutant_campaign::{Bounds, Campaign, CampaignPlan, Existing, Pruning};
//! use simutant_outcomes::InputSource;
//!
//! let (input_source, pruning) = (InputSource::Uniform, Pruning::Infected);
//! let reseedings = std::num::NonZeroU8::MIN;
//! let bounds = Bounds::default();
//! let plan = CampaignPlan { build, seed: 1, input_source, cases: 2500, given: Vec::new(), reseedings, pruning, bounds };
//! let mut campaign = Campaign::open("out".as_ref(), plan, Existing::Continue)?;
//! let jobs = std::thread::available_parallelism().unwrap_or(std::num::NonZeroUsize::MIN);
//! let stop = std::sync::atomic::AtomicBool::new(false);
//! campaign.run(&plain, jobs, &mut |_progress| {}, &stop)?;
//! let outcomes = campaign.outcomes()?;
//! # let _ = outcomes;
//! # Ok(())
//! # }
//! ```
//!
//! # How it goes
//!
//! Before there is an instrumented build, [`PlainCheck`] runs the universe with its re-seedings on the package as it is
//! written, and says how many test cases fail or do not repeat.
//!
//! 1. **Universe.** The test cases are drawn from the seed and written down. For a source that learns, each is run on
//!    the original first, recorded as in the baseline, one after the other; the baseline runs it again. A run that fails,
//!    hangs or ends its worker is something to learn, and no error before the baseline.
//! 2. **Baseline.** Each test case is run on the original twice, once with the probes recording what it covers and
//!    which mutants it reaches and infects, and once on the package as it is written. A test case that fails, or whose
//!    runs differ, ends the campaign: nothing that followed would mean anything.
//! 3. **Mutants.** Each test case is run on every mutant that it infects. A mutant that it does not infect would repeat
//!    the run of the original, so that pair is not run ([`Pruning`]), but for a random sample that must do so. A run
//!    may take three times the steps, events, virtual time and memory of the run of the original that took most of it
//!    (Rutherford, PhD thesis, section 4.2.1, has it for time); what it does to its process, the next one does not
//!    suffer from.
//! 4. **Re-seedings.** If there are several, the universe runs again, round by round, with the chance of each
//!    test case drawn anew, on the original and then on the mutants of the pairs that are open (`reseeding.rs`). Of
//!    that come the probabilities with which a test case kills a mutant, and covers a requirement. What the universe
//!    itself does on the mutants is the same for any number of re-seedings.
//!
//! # What can be relied on
//!
//! - Outcomes depend on the build, the seed and the number of test cases alone: not on the number of workers, on the
//!   order in which they finish, on interruptions, or on load. The one clock is that of [`Bounds::hang`], for runs that
//!   come to no limit; they are tried twice.
//! - The unit of work is a test case. It is in the journal as a whole or not at all; a campaign that was killed goes on
//!   with those that are missing.
//! - After an edit of the source the outcomes are those of a new campaign: a run or a recording is kept only if it
//!   called no function whose body has changed (`edit.rs`). The universe is drawn anew, and pairs that are pruned are
//!   sampled anew: what is not checked again is that what is kept was right when it was made. A random sample of it is
//!   made again, and must be what is kept.
//! - No error of ours is a kill. A worker that someone kills is replaced and its run repeated; each run says whether it
//!   reached its mutant, and if that is not what the recorded run says, the campaign ends with an error. So it does if
//!   a pair of the sample of those that are pruned does not end as the original, if one of the sample of those that are
//!   kept is another one, or if the original does not do the same as the package without instrumentation.
//!
//! # Where to read on
//!
//! `campaign.rs` for the phases, `executor.rs` for what happens when workers die, `plain.rs` and `checks.rs` for what
//! is checked, `edit.rs` for what is kept, `journal/schema.sql` for the tables.

mod bits;
mod campaign;
mod cases;
mod checks;
mod cost;
mod crew;
mod edit;
mod error;
mod executor;
mod journal;
mod labels;
mod lock;
mod outcomes;
mod plain;
mod plan;
mod pool;
mod reseeding;
mod sample;
mod shards;
pub mod shrink;
mod simulator;
mod traced;
mod white_box;
mod worker;

pub use campaign::Campaign;
pub use error::{CampaignError, Share};
pub use journal::RunForm;
pub use outcomes::{
    CampaignUniverse, copy_campaign, read_case, read_cases, read_limits, read_outcomes, read_outcomes_of,
    read_reseedings, read_sites, read_universe,
};
pub use plain::PlainCheck;
pub use plan::{Bounds, CampaignPlan, Existing, Phase, Progress, Pruning, SessionEnd, Statistics};
pub use shards::{
    Bundle, Machine, Merged, NoShard, OtherRun, Shard, ShardError, ShardRun, TimeTrial, merge, merge_usable,
};
pub use simulator::Simulator;
pub use simutant_protocol::{
    ChoiceRecording, Choosing, RunLimits, Simulated, TRACE_EVENTS_MAX, TraceRecording, TraceText,
};
