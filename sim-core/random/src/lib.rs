//! Random numbers that are the same on every platform and in every version: a named generator, [`Random`], with a
//! stream of its own for each who draws.
//!
//! ```
//! use simutant_random::Random;
//!
//! let mut client = Random::from_seed(42).stream("client");
//! assert_eq!(client.uniform(1..=6), 3);
//! // Another stream shifts no other draws.
//! let mut server = Random::from_seed(42).stream("server");
//! assert_eq!(server.uniform(1..=6), 5);
//! ```
//!
//! All of Simutant draws from here: the engine, the universes of systems, campaigns and the analysis.
//!
//! # Interceptors
//!
//! What a stream draws can be decided by somebody else: the engine replays the draws of a run, and a source of test
//! cases places them evenly. Both are an [`Interceptor`] of the thread; where there is none a draw pays for one look at
//! a flag.

mod interceptor;
pub mod portable;
mod probability;
mod stream;

pub use interceptor::{Interception, Interceptor, is_intercepted};
pub use probability::{InvalidProbability, Probability};
pub use stream::{Draw, Random, Scale, UniformInteger, mix};
