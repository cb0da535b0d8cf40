//! State machines that tests are generated from.
//!
//! A [`Machine`] is an extended finite state machine: states, and transitions whose actions do something to the system
//! under test and check what comes of it. A [`Walker`] takes transitions until no one is left to take: a walk is a test
//! case. What a walk has done is a [`Path`], which replays, shrinks, and is covered.
//!
//! ```
//! use simutant_models::{Machine, Step, Walker, skip, transition};
//!
//! let counter = Machine::new(
//!     "counter",
//!     ["counting", "done"],
//!     [
//!         transition("counting -> counting", async |count: &mut u32, step: &mut Step<'_>| {
//!             *count += step.choose(1..=3);
//!             step.assert(*count < 1_000, "the counter stays small")
//!         })
//!         .weight(3.0),
//!         skip("counting -> done"),
//!     ],
//! )?;
//!
//! let mut walker = Walker::new();
//! let path = walker.run(counter.with(0), 7);
//! assert!(path.verdict().passes());
//! assert_eq!(walker.coverage().states(), (2, 2));
//! # Ok::<(), simutant_models::MachineError>(())
//! ```
//!
//! Actions are async and ask nothing of an executor, so that one machine drives a simulated service in virtual time and
//! a real one in real time: [`Walker::walk`] is a future, and [`Clock`] says what time is. The machines are those of
//! Modbat (Artho et al., 2013: Modbat, a model-based API tester for event-driven systems).

mod choices;
mod clock;
mod coverage;
mod explore;
mod graph;
mod instance;
mod machine;
mod net_walk;
mod path;
mod rank;
mod script;
mod shrink;
mod step;
mod strategy;
mod transition;
mod trie;
mod walk;

pub use clock::{Clock, RealClock, VirtualClock};
pub use coverage::Coverage;
pub use explore::{FailedArc, MachineSpace, TakenArc};
pub use graph::{Abstractions, Choices, Edge, Graph, GraphMetrics, Kind, Node, NodeKind, Selection, Style};
pub use instance::Instance;
pub use machine::{Machine, MachineError, Shape, TransitionShape};
pub use net_walk::simulate_net;
pub use path::{End, InstanceId, Path, StepResult, Taken};
pub use script::Script;
pub use shrink::shrink;
pub use step::{Evaluated, Exception, Step, Stop};
pub use strategy::{Bandit, CoverageGuided, Learned, Open, Rewards, Strategy, Uniform, Weighted};
pub use transition::{Transition, skip, transition};
pub use trie::{Choice, PathMetrics, PathTrie, Prefixes, Sharing, TrieNode};
pub use walk::{Limits, Observed, Walker};
