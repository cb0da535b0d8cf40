//! A server of contents over HTTP/1.1: GET, HEAD, PUT and DELETE with preconditions (RFC 9110, RFC 9112).
//!
//! Contents are in memory, under one lock, so that the server is linearizable. Each change gives a content a tag of its own. It
//! is weak where the last byte of the target is odd, as that of a content is which a server compresses on the way: so it matters
//! how tags are compared, and the same requests get the same answers again.
//!
//! Each connection has a thread, which answers requests in their order, pipelined ones as well. Requests with chunks are
//! answered 411, and dates are read in the preferred format only.
//!
//! What a [`Behaviour`] decides is what the [`faults`] get wrong.

mod behaviour;
mod date;
pub mod faults;
mod message;
mod serve;
mod store;
mod tag;

pub use behaviour::{Behaviour, Correct};
pub use message::Method;
pub use serve::serve;
pub use tag::Tag;
