//! Traces and histories for people: from what the engine records ([`Trace`](simutant_sim_core::trace::Trace)) and what
//! clients see ([`History`](simutant_oracle::History)) to files that people and viewers open.
//!
//! | module | file | opened by |
//! | --- | --- | --- |
//! | [`diagram`] | a message sequence chart, as a page (HTML) or as a picture (SVG) | a browser, a printer |
//! | [`history`] | calls by session and time, with the order that explains them, as a page (HTML) or as a picture (SVG) | a browser, a printer |
//! | [`json_lines`] | JSON Lines: an event a line | `jq`, a text editor, [`json_lines::read`] |
//! | [`nets`] | a net and its state space, as a page (HTML) or as pictures (SVG) | a browser, a printer |
//! | [`pcapng`] | a packet capture | Wireshark, `tshark` |
//! | [`perfetto`] | trace-event JSON | <https://ui.perfetto.dev>, `chrome://tracing` |
//!
//! All are pure functions of the trace or the history: equal ones give equal bytes. Whatever text it holds, the files
//! are well-formed, and a page runs no code but its own.
//!
//! A trace does not say which of two copies of a packet an event is about. Here it is the one that holds what the event
//! has, or else the one that was made first; for everything else that is shown it makes no difference.
//!
//! # Example
//!
//! ```
//! use simutant_sim_core::trace::{Action, Trace, TraceEvent};
//! use simutant_sim_core::VirtualTime;
//! use simutant_traces::diagram::{self, Caption};
//!
//! let started = Action::Started { component: "server".to_owned() };
//! let trace: Trace = vec![TraceEvent { at: VirtualTime::ZERO, action: started }];
//! let picture = diagram::svg(&trace, &Caption { title: "a server".to_owned(), ..Caption::default() });
//! assert!(picture.contains("server"));
//! ```
//!
//! `examples/gallery.rs` writes all files of traces for three runs, and `examples/histories.rs` those of histories.

pub mod diagram;
pub mod history;
pub mod json_lines;
pub mod nets;
pub mod pcapng;
pub mod perfetto;

#[cfg(test)]
mod examples;
mod page;
mod script_data;
mod sequence;
mod text;
