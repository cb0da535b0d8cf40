//! Adequacy criteria that look at what happens in a run: faults, timeouts, and orders of messages that a test case
//! brings about.
//!
//! Such a criterion needs no instrumented code, only a [trace](simutant_sim_core::trace). It finds its requirements by
//! itself: what at least one test case of a universe covers is what a suite must cover. A requirement is known by its
//! label alone, so a label names what is alike in all runs (roles, kinds of messages, places in the source) and nothing
//! that differs from run to run (times, ports, numbers of packets).
//!
//! | criterion | its requirements | for example |
//! | --- | --- | --- |
//! | [`message_faults`] | each kind of message lost, duplicated, corrupted, overtaken, late for a timeout | `ACK: lost` |
//! | [`timeouts`] | each place that waits, out of time | `client: src/client.rs:25` |
//! | [`send_receive_pairs`] | each place that receives what a place sends | `ACK from src/receiver.rs:25 to src/sender.rs:34` |
//! | [`interleavings`] | each two kinds of messages that a component receives one after the other | `server: GET, then PUT from the same component` |
//! | [`faults_in_phases`] | each kind of fault in each phase of a component | `server, after a restart: crash` |
//!
//! Systems whose clients are [walks](crate::Walk) of machines have [further ones](machines()).
//!
//! # A criterion of one's own
//!
//! A name and a function:
//!
//! ```
//! use simutant_sim_core::trace::{Action, TraceEvent};
//! use simutant_system::criteria::{self, Requirements, TraceCriterion};
//!
//! /// Each text that a component notes.
//! fn notes(trace: &[TraceEvent], requirements: &mut Requirements) {
//!     for event in trace {
//!         if let Action::Noted { component, text } = &event.action {
//!             requirements.insert(format!("{}: {text}", criteria::role(component)));
//!         }
//!     }
//! }
//!
//! // In the `impl System for ...`:
//! fn trace_criteria() -> Vec<TraceCriterion> {
//!     let mut criteria = criteria::built_in();
//!     criteria.push(TraceCriterion { name: "notes", requirements: notes });
//!     criteria
//! }
//! # assert_eq!(trace_criteria().len(), 6);
//! ```

mod criterion;
mod faults_in_phases;
mod interleavings;
mod machines;
mod message_faults;
mod phases;
mod send_receive_pairs;
mod timeouts;

pub use self::criterion::{Requirements, TraceCriterion, role};
pub use self::faults_in_phases::faults_in_phases;
pub use self::interleavings::interleavings;
pub use self::machines::machines;
pub use self::message_faults::message_faults;
pub use self::send_receive_pairs::send_receive_pairs;
pub use self::timeouts::timeouts;

/// Returns the criteria that every system has, unless it says otherwise.
pub fn built_in() -> Vec<TraceCriterion> {
    vec![
        TraceCriterion { name: "message-faults", requirements: message_faults },
        TraceCriterion { name: "timeouts", requirements: timeouts },
        TraceCriterion { name: "send-receive-pairs", requirements: send_receive_pairs },
        TraceCriterion { name: "interleavings", requirements: interleavings },
        TraceCriterion { name: "faults-in-phases", requirements: faults_in_phases },
    ]
}
