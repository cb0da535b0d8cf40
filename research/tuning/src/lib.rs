//! Rewards of the bandit that decides walks, tuned on machines; and strategies, compared on machines.
//!
//! A [`Bandit`](simutant_models::Bandit) has eight rewards. [`tune`] searches for rewards that no others dominate, on
//! several [subjects](Subject) at once: by [`Nsga2`], with the objectives of Wang, Artho, Kristensen and Stolz (2020,
//! "Multi-objective search for model-based testing"). It returns a Pareto set of rewards with the [`Front`] of their
//! scores, as JSON, CSV, or a picture. [`compare`] measures strategies on subjects, with intervals.
//!
//! ```
//! use simutant_models::{Limits, Machine, Step, skip, transition};
//! use simutant_tuning::{MachineSubject, Nsga2, Tuning, tune};
//!
//! fn counter() -> Machine<u32> {
//!     let count = async |count: &mut u32, step: &mut Step<'_>| {
//!         *count += 1;
//!         step.assert(*count < 9, "the counter stays small")
//!     };
//!     let transitions = [transition("counting -> counting", count), skip("counting -> done")];
//!     Machine::new("counter", ["counting", "done"], transitions).expect("it is a machine")
//! }
//!
//! let subject = MachineSubject::new("counter", Limits::default(), || counter().with(0));
//! let search = Nsga2 { population: 8, generations: 4, ..Nsga2::default() };
//! let front = tune(&[&subject], &Tuning { tests: 10, seeds: 5, search, ..Tuning::default() });
//! let best = &front.candidates[0];
//! assert!(best.scores.iter().all(|score| (0.0..=100.0).contains(score)));
//! assert!(front.to_csv().lines().count() == front.candidates.len() + 1);
//! ```
//!
//! A seed fixes the result, on however many threads it was computed. Subjects of ours are in `research/subjects`; `cargo
//! run --release -p simutant-tuning --example tuning` tunes on some of them, and compares strategies on these and on
//! others, simulated ZooKeeper among them.

mod compare;
mod front;
mod nsga2;
mod parallel;
mod subject;
mod tune;

pub use compare::{Contender, Estimate, Row, compare};
pub use nsga2::{Individual, Nsga2, dominates};
pub use subject::{MachineSubject, Measured, Subject};
pub use tune::{Candidate, Front, REWARDS, Tradeoff, Tuning, tune};
