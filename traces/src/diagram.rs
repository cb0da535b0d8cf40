//! Message sequence charts: components side by side, time downwards, packets as arrows between them.
//!
//! What happened is told by shapes and words as well as by colours: a lost packet ends in a cross that has its reason
//! beside it, a copy is dashed, a packet of a stream has a double line. A legend names what the chart has.
//!
//! [`svg()`] is a picture that is complete on its own and can be printed; an event takes a row, so long runs make long
//! pictures. [`html()`] is a page for looking around in runs of any length: it draws what is in sight, puts arrows that
//! fall together into one when it is zoomed out, and spaces rows evenly or by virtual time.

mod html;
mod look;
mod svg;
mod units;

use simutant_sim_core::trace::Trace;

use crate::sequence::Sequence;

/// What stands above a diagram.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Caption {
    /// What ran.
    pub title: String,
    /// How the run ended, in words.
    pub verdict: String,
    /// What the words mean.
    pub outcome: Outcome,
}

/// Whether a run was as it should be.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Outcome {
    /// Nothing is known.
    #[default]
    Unknown,
    /// It was.
    Passed,
    /// It was not.
    Failed,
}

impl Outcome {
    fn class(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Passed => "passed",
            Self::Failed => "failed",
        }
    }
}

/// Returns a picture of the trace, as the text of an SVG file.
///
/// The picture is 24 pixels high for every event. It is light or dark as the viewer asks, and light on paper.
pub fn svg(trace: &Trace, caption: &Caption) -> String {
    svg::picture(&Sequence::new(trace), trace.len(), caption)
}

/// Returns a page that shows the trace, as the text of an HTML file that needs nothing else.
///
/// It is made for runs of 100,000 events and more: what is not in sight costs nothing, and what falls on the same pixels is
/// drawn once.
pub fn html(trace: &Trace, caption: &Caption) -> String {
    html::page(&Sequence::new(trace), trace.len(), caption)
}

/// Returns how much the trace has of what, in words.
fn summary(sequence: &Sequence<'_>, events: usize) -> String {
    let count = |number: usize, one: &str, many: &str| format!("{number} {}", if number == 1 { one } else { many });
    format!(
        "{}, {}, {} of virtual time",
        count(events, "event", "events"),
        count(sequence.components.len(), "component", "components"),
        sequence.end()
    )
}
