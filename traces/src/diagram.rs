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
pub(crate) mod units;

use simutant_sim_core::trace::{Action, Trace};

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

/// Whether a run passed.
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
    pub(crate) fn class(self) -> &'static str {
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
    let sequence = Sequence::new(trace);
    svg::picture(&sequence, &summary(&sequence, trace.len()), caption, None)
}

/// Returns a picture of the events around one, which is marked: where two runs part, for example.
///
/// It has the starts of the components too (the first [`EXCERPT_STARTS`] of them), so that equal components have equal
/// places in the pictures of two runs. If `event` is the number of events of the trace, its end is marked.
pub fn excerpt(trace: &Trace, event: usize, caption: &Caption) -> String {
    let event = event.min(trace.len());
    let (first, last) = (event.saturating_sub(EXCERPT_BEFORE), trace.len().min(event + EXCERPT_AFTER));
    let starts = trace[..first].iter().filter(|event| matches!(event.action, Action::Started { .. }));
    let mut part: Trace = starts.take(EXCERPT_STARTS).cloned().collect();
    let marked = part.len() + event - first;
    part.extend_from_slice(&trace[first..last]);
    let sequence = Sequence::new(&part);
    let row = sequence.row_of_event.get(marked).copied().unwrap_or(sequence.rows.len());
    svg::picture(&sequence, &format!("events {first} to {last} of {}", trace.len()), caption, Some(row))
}

/// How many events an excerpt shows before the one that it is about.
const EXCERPT_BEFORE: usize = 12;
/// How many events an excerpt shows from the one on that it is about.
const EXCERPT_AFTER: usize = 24;
/// How many starts of components an excerpt shows beside them.
pub const EXCERPT_STARTS: usize = 12;

/// Returns a page that shows the trace, as the text of an HTML file that needs nothing else.
///
/// It is made for runs of 100,000 events and more: what is not in sight costs nothing, and what falls on the same
/// pixels is drawn once.
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

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use roxmltree::Document;

    use super::*;
    use crate::examples::{any_trace, every_action};

    /// Returns where the row that stands out is.
    fn marked(picture: &str) -> f64 {
        let document = Document::parse(picture).expect("well-formed XML");
        let mut marked = document.descendants().filter(|node| node.attribute("class") == Some("marked"));
        let y = marked.next().and_then(|node| node.attribute("y")).expect("a row stands out");
        assert_eq!(marked.count(), 0, "one row");
        y.parse().expect("a number")
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(50))]

        #[test]
        fn an_excerpt_of_any_trace_is_well_formed_and_marks_one_row(trace in any_trace(), event in 0..70_usize) {
            marked(&excerpt(&trace, event, &Caption::default()));
        }
    }

    #[test]
    fn an_excerpt_shows_the_events_around_one_and_the_components_in_their_places() {
        let trace: Trace = every_action().into_iter().cycle().take(200).collect();
        let picture = excerpt(&trace, 100, &Caption::default());
        assert!(picture.contains("events 88 to 124 of 200"), "{picture}");
        assert!(marked(&picture) > marked(&excerpt(&trace, 3, &Caption::default())));
        assert!(excerpt(&trace, 500, &Caption::default()).contains("events 188 to 200 of 200"));
        assert!(excerpt(&Trace::new(), 0, &Caption::default()).contains("events 0 to 0 of 0"));
    }
}
