//! Petri nets in PNML: place/transition nets and symmetric nets, read, written, unfolded and explored exactly.
//!
//! PNML (ISO/IEC 15909-2:2011) is the file format of most tools for Petri nets, and of the Model Checking Contest. A
//! net is read from text, unfolded into one without colours, and explored; all counts are exact, or there is an error.
//!
//! ```
//! use simutant_pnml::{Budget, PnmlNet};
//!
//! let text = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/nets/philosophers.pnml"));
//! let net = PnmlNet::read(text)?;
//! let mut space = net.unfold()?.explore(&Budget::default())?;
//! assert_eq!((space.graph().markings(), space.graph().arcs()), (34, 100));
//! assert!(space.graph().dead().is_empty());
//!
//! // How do two of the four come to eat at once?
//! let eating = net.places().iter().position(|&name| name == "eating");
//! let both_eat = |&number: &usize| {
//!     let marking = space.marking(number);
//!     marking.tokens().filter(|(place, ..)| Some(*place) == eating).count() == 2
//! };
//! let number = (0..space.graph().markings()).find(both_eat).expect("those who sit opposite may");
//! assert_eq!(space.marking(number).to_string(), "thinking: 2, 4; eating: 1, 3");
//! let firings: Vec<String> = space.firings_to(number).iter().map(ToString::to_string).collect();
//! assert_eq!(firings, ["takeLeft(x = 1)", "takeLeft(x = 3)", "takeRight(x = 1)", "takeRight(x = 3)"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # What is read
//!
//! - Sorts: `dot`, `bool`, cyclic and finite enumerations, ranges of integers, products, partitions. A product of one
//!   component is that component, as in nets of the contest. `successor` and `predecessor` go round in every
//!   enumeration and range.
//! - Terms: all of symmetric nets. Tuples may have multisets as components, such as `all`.
//! - Pages and references between them, which are flattened when the net is unfolded, and written as they were.
//! - Graphics and `toolspecific`, which are kept as they are: they mean nothing here.
//!
//! Anything else is an error that names its line, such as inhibitor arcs, time or capacities: a net is explored as it
//! is meant, or not at all.
//!
//! # How it is explored
//!
//! A place has one bit of a marking at first, and more when it has more tokens ([`Unfolded::explore`]). An arc of the
//! state space is a transition with a binding, and two bindings that lead to one marking are two arcs: so it is counted
//! in the contest. All variables of a transition's guard and arcs are bound, also those that are in the guard alone.

mod error;
mod explored;
mod net;
mod packed;
mod read;
mod space;
mod term;
mod unfold;
mod write;

pub use error::{ReadError, UnfoldError};
pub use net::{NetKind, PnmlNet};
pub use simutant_nets::{Budget, ExploreError, Fired, StateGraph};
pub use space::{Marking, StateSpace};
pub use unfold::Unfolded;
