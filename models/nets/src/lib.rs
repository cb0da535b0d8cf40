//! Coloured Petri nets: typed places, transitions that are plain functions, exact state spaces, and tests.
//!
//! A [`Net`] is a specification that can be explored: [`Net::explore`] returns all markings that it can reach, and what
//! leads from one to the other. A transition names what it takes and puts; a plain function says which tokens come of which,
//! and whether the transition is enabled at all. So a net is ordinary code that a person can read and a mutator can change.
//!
//! ```
//! use simutant_nets::{Budget, Net};
//!
//! #[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
//! enum Fork { Left, Right }
//!
//! // Two philosophers: each takes the fork at the left hand first.
//! let mut net = Net::new("philosophers");
//! let forks = net.place("forks", [Fork::Left, Fork::Right]);
//! let hungry = net.place("hungry", [1, 2]);
//! let waiting = net.place::<u8>("waiting", []);
//! let eating = net.place::<u8>("eating", []);
//! fn first(who: u8, fork: Fork) -> Option<u8> {
//!     (fork == if who == 1 { Fork::Left } else { Fork::Right }).then_some(who)
//! }
//! fn both(who: u8) -> Option<(Vec<Fork>, u8)> {
//!     Some((vec![Fork::Left, Fork::Right], who))
//! }
//! net.transition("take the first fork", (hungry.take(), forks.take()), first, waiting.put());
//! net.transition("take the other fork", (waiting.take(), forks.take()), |who, _: Fork| Some(who), eating.put());
//! net.transition("put both back", eating.take(), both, (forks.put_all(), hungry.put()));
//!
//! let mut space = net.explore(&Budget::default())?;
//! let [stuck] = space.graph().dead()[..] else { panic!("each waits for the other's fork") };
//! assert_eq!(space.marking(stuck).to_string(), "waiting: 1, 2");
//! let firings: Vec<String> = space.firings_to(stuck).iter().map(ToString::to_string).collect();
//! assert_eq!(firings, ["take the first fork(1, Left)", "take the first fork(2, Right)"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Where transitions say which stimuli a tester gives and what is observed, [`StateSpace::tests`] returns test cases with
//! all outcomes that the net allows, and [`Net::simulate`] those of random runs, for nets that are too large.
//!
//! Counts are exact, or an error: nothing wraps, and a marking is compared with another one and not with its hash. Arcs
//! are counted as Jensen and Kristensen do (Coloured Petri Nets, 2009): one for each transition with what it binds.

mod arcs;
mod cases;
mod drawing;
mod driving;
mod explorer;
pub mod exploring;
mod firing;
mod graph;
mod multiset;
mod net;
mod property;
mod simulating;
mod space;

use std::fmt::Debug;
use std::hash::Hash;

pub use arcs::{Any, Body, Input, Inputs, One, Output, Outputs, Place, Put, PutAll, TakeAll, any};
pub use cases::{Calls, Event, Paths, TestCase, Tests};
pub use drawing::{ArcKind, Drawing, NetArc, Structure};
pub use driving::Driven;
pub use explorer::{Budget, Each, Explorable, ExploreError, Rows, explore};
pub use graph::{Lasso, StateGraph};
pub use net::{Added, Net, NetError};
pub use property::{Checked, PropertyKind, Witness};
pub use simulating::Choose;
pub use space::{Fired, Marking, StateSpace};

/// A value that a place can hold.
pub trait Token: Clone + Eq + Hash + Debug + 'static {}

impl<T: Clone + Eq + Hash + Debug + 'static> Token for T {}
