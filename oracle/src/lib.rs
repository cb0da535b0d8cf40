//! Could the specification have done this? Histories of what clients saw, specifications of services, and the search
//! for an order of the calls that explains them.
//!
//! A [`Specification`] says what a service may do; a [`History`] is what clients saw it do. It has their [`Call`]s in
//! the order of invocation: the [`Session`] that made each call, its operation, when it was invoked, and its [`End`]. A
//! simulation and a real program record the same history, so what judges one judges the other.
//!
//! ```
//! use simutant_oracle::{End, Recorder, Session, Time};
//!
//! #[derive(Debug, Clone)]
//! enum Operation {
//!     Write(u8),
//!     Read,
//! }
//!
//! let recorder: Recorder<Operation, Option<u8>> = Recorder::new();
//! let write = recorder.invoke(Session(1), Operation::Write(7), Time::from_nanos(10));
//! // Another client reads while the write is under way.
//! let read = recorder.invoke(Session(2), Operation::Read, Time::from_nanos(15));
//! recorder.returned(write, None, Time::from_nanos(20))?;
//! recorder.returned(read, Some(7), Time::from_nanos(30))?;
//! recorder.invoke(Session(1), Operation::Write(8), Time::from_nanos(40));
//!
//! let history = recorder.history();
//! let reads: Vec<_> = history.of(Session(2)).filter_map(|call| call.end.response()).collect();
//! assert_eq!(reads, [&Some(7)]);
//! // Nobody knows what became of the last call.
//! assert_eq!(history.calls()[2].end, End::Unknown);
//! # Ok::<(), simutant_oracle::Misuse>(())
//! ```
//!
//! A [`Check`] searches an order in which the specification gives the answers that clients had:
//!
//! ```
//! use simutant_oracle::specifications::{Queue, containers::{Operation, Response}};
//! use simutant_oracle::{Budget, Check, Order, Recorder, Session, Time, check};
//!
//! let recorder = Recorder::new();
//! let at = Time::from_nanos;
//! for (time, value) in [(0, 'a'), (10, 'b')] {
//!     let put = recorder.invoke(Session(1), Operation::Put(value), at(time));
//!     recorder.returned(put, Response::Done, at(time + 5))?;
//! }
//! let take = recorder.invoke(Session(2), Operation::Take, at(20));
//! recorder.returned(take, Response::Value(Some('b')), at(25))?;
//!
//! let (history, queue) = (recorder.history(), Queue::default());
//! assert!(!check(&history, &queue, &Order::linearizability(), Budget::default()).is_possible());
//! // Why not? Both were put before something was taken, and then 'a' is next.
//! let explanation = Check::default().explain(&history, &queue).expect("it is impossible");
//! assert_eq!(explanation.stuck, 2);
//! assert_eq!(explanation.allowed[0].response, Response::Value(Some('a')));
//! assert_eq!(explanation.allowed[0].reason.as_deref(), Some("'a' comes next, of 2 that are in it"));
//! # Ok::<(), simutant_oracle::Misuse>(())
//! ```
//!
//! # Terms
//!
//! | term | what it is | type |
//! | --- | --- | --- |
//! | session | a client, or a connection of one: what makes calls | [`Session`] |
//! | call | an operation from its invocation to its end, as its session saw it | [`Call`] |
//! | end | a response, nothing that anybody knows of, or the knowledge that the operation did not happen | [`End`] |
//! | moment | when a call was invoked or ended | [`Moment`] |
//! | history | all calls of a run | [`History`] |
//! | order | which calls the service took before which other ones, as far as clients can know | [`Order`] |
//! | specification | what a service may answer; a value is the state of the service | [`Specification`] |
//! | budget | how much a check may take: what runs out leaves the answer undecided, never a pass | [`Budget`] |
//! | core | a small part of a history that is impossible, whatever else happened | [`Explanation::core`] |
//! | recorder | what clients write a history with; clones share it | [`Recorder`] |
//! | vocabulary | what operations are called in files of other tools | [`Vocabulary`](formats::Vocabulary) |
//!
//! # Unknown, or did not happen
//!
//! A client that gives up does not know whether the service took its operation, and when: the operation may have an
//! effect at any time after the invocation, or none. Such a call is [`End::Unknown`], and so is every call that nobody
//! ended. [`End::DidNotHappen`] is a claim: the operation has no effect, as that of a request which was refused, or
//! never sent.
//!
//! # Order and time
//!
//! Times are nanoseconds since an origin that all calls of a history share, virtual or real, and come from one clock.
//! A [`Moment`] is a time and, where the recorder knows it, the place among all invocations and ends of the run. One
//! moment is before another if its time is earlier, or if the times are equal and its place is earlier. Moments of one
//! time without places have no order: a call that ends there precedes none that is invoked there
//! ([`Call::precedes`]).
//!
//! # Limits
//!
//! - The crate reads no clock and starts no thread, and no process but an SMT solver that is asked for. A history grows with its calls; nothing is dropped from it.
//! - Whether a history is linearizable is NP-complete (Gibbons and Korach, 1997), so a check ends undecided where its
//!   budget runs out. [`Answer::Undecided`] says what ran out and what was explored.
//! - A possible history is no proof that the service is right: another order may be what happened.
//! - [`Online`] judges linearizability alone.
//!
//! # What to read next
//!
//! [`Recorder`] records, and [`formats`] reads and writes files. [`specifications`] has ready-made ones, [`Check`] all
//! options of a check, [`hints`] what holds a specification's hints against brute force, and [`Online`] judges as
//! things happen. [`Check::report`] says what came of a check as plain data, and `catalogue`, which the feature of this
//! name brings, judges files by ready-made specifications that are named. [`smt`] writes a history as a formula, and asks
//! an SMT solver as a second judge.

mod budget;
mod call;
#[cfg(feature = "catalogue")]
pub mod catalogue;
mod check;
mod contradictions;
mod distinct;
mod explain;
pub mod formats;
pub mod hints;
mod history;
pub mod judging;
mod online;
mod open;
mod order;
mod recorder;
mod report;
mod revisions;
mod search;
pub mod smt;
mod specification;
pub mod specifications;
mod time;

pub use budget::{Budget, Explored, Limit};
pub use call::{Call, End, Mode, Revision, Session};
pub use check::{Answer, Check, Checked, Compared, Filter, Scope, Strategy, check};
pub use explain::{Allowed, Explanation, Known, Maximal, What};
pub use history::{EndsTooEarly, History};
pub use online::{CallNumber, Online, OnlineBudget, OnlineError};
pub use open::{Open, Unknown, Unknowns};
pub use order::Order;
pub use recorder::{CallId, Misuse, Recorder};
pub use report::{
    AllowedAnswer, CheckReport, CoreCall, Formulas, IMPOSSIBLE_HISTORY, Impossible, ReportedAnswer, ReportedCall,
    ReportedConflict, words,
};
pub use revisions::RevisionConflict;
pub use specification::{Footprint, Region, Regions, Specification, outcomes};
pub use time::{Moment, Time};
