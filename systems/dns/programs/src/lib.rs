//! The domain name system over UDP and TCP: a resolver that asks servers on behalf of its clients, and remembers what
//! they say.
//!
//! After RFC 1034, section 5.3.3, and RFC 1035: it begins at the nearest servers that it knows, those of its hints if
//! there are no others, and follows referrals and aliases until somebody knows. How much it believes whom is in RFC
//! 2181, section 5.4.1, what it remembers of absence in RFC 2308. What is lost it asks for again, of another server if
//! there is one; what is truncated it asks for by stream.
//!
//! [`Resolver`] is the algorithm, free of sockets and clocks; [`serve`] runs it, a thread for each question. What a
//! [`Behaviour`] decides is what the [`faults`] get wrong.

mod behaviour;
mod cache;
pub mod dnscache;
mod exchange;
pub mod faults;
mod hints;
mod message;
mod name;
mod resolver;
mod serve;

pub use behaviour::{Behaviour, Correct, Denial};
pub use cache::{Cache, Trust};
pub use hints::{Hints, HintsError};
pub use message::{Message, Question, Record, Type};
pub use name::{InvalidName, Name};
pub use resolver::{Answer, Asked, Network, Resolver};
pub use serve::{ServeError, serve};
