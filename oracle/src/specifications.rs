//! Specifications of services that many systems have.
//!
//! | specification | operations |
//! | --- | --- |
//! | [`Register`] | read, write, compare and set |
//! | [`KeyValueStore`] | get, put, append, compare and set, delete |
//! | [`Mutex`] | acquire, release |
//! | [`Lease`] | acquire, renew, release; it runs out when the service says so |
//! | [`Counter`] | add, add and get, read |
//! | [`Set`] | add, remove, contains, read |
//! | [`Queue`], [`Stack`], [`PriorityQueue`], [`UnorderedQueue`] | put, take |
//! | [`Log`] | append, read, offsets that grow |
//! | [`UniqueIds`] | next |
//! | [`Bank`] | transfer, read |
//! | [`Keyed`] | those of another specification, of a service for each key |
//!
//! Values are of any type that can be compared. Each module has the operations and responses, whose form in JSON is
//! that of serde: `{"write":7}`.

pub mod bank;
pub mod containers;
pub mod counter;
pub mod ids;
pub mod keyed;
pub mod lock;
pub mod log;
pub mod register;
pub mod set;
pub mod store;
mod text;

pub use bank::Bank;
pub use containers::{PriorityQueue, Queue, Stack, UnorderedQueue};
pub use counter::Counter;
pub use ids::UniqueIds;
pub use keyed::Keyed;
pub use lock::{Lease, Mutex};
pub use log::Log;
pub use register::Register;
pub use set::Set;
pub use store::KeyValueStore;
pub use text::Text;
