//! The page: the sequence as data, and the script that draws what is in sight of it.

use maud::{Markup, PreEscaped, html};
use serde::{Serialize, Serializer};
use simutant_sim_core::VirtualTime;
use simutant_sim_core::trace::DropReason;

use super::look::{self, Feature, Symbol};
use super::{Caption, summary};
use crate::script_data::{self, Exact, Texts, or_none};
use crate::sequence::{FlightEnd, FlightOrigin, Sequence, Sign, State};
use crate::text::lines;

const STYLE: &str = include_str!("page/style.css");

/// The parts of the script, which share one scope that nothing else sees.
const SCRIPT: &str = concat!(
    "(() => {\n\"use strict\";\n",
    include_str!("../page/words.js"),
    include_str!("page/run.js"),
    include_str!("page/colours.js"),
    include_str!("page/view.js"),
    include_str!("page/drawing.js"),
    include_str!("page/frame.js"),
    include_str!("page/picture.js"),
    include_str!("page/map.js"),
    include_str!("page/schedule.js"),
    include_str!("page/details.js"),
    include_str!("../page/pointers.js"),
    include_str!("page/input.js"),
    include_str!("page/find.js"),
    include_str!("../page/keys.js"),
    "})();\n",
);

/// Returns the page of a sequence.
pub(super) fn page(sequence: &Sequence<'_>, events: usize, caption: &Caption) -> String {
    let content = html! {
        (toolbar())
        ul #legend aria-label="Legend: choose what to look for" {}
        noscript { p { "This page draws with JavaScript. The same diagram as an SVG file does without." } }
        main {
            canvas #chart tabindex="0" role="application" aria-label="Message sequence chart" aria-describedby="keys" {}
            canvas #map aria-hidden="true" {}
            aside #details aria-live="polite" hidden {}
            div #hint role="presentation" hidden {}
        }
        footer {
            span #keys {
                kbd { "↑" } kbd { "↓" } " event by event, " kbd { "PgUp" } kbd { "PgDn" } " scroll, " kbd { "+" } kbd { "−" }
                " or Ctrl and wheel: zoom, " kbd { "0" } " all, " kbd { "/" } " find, " kbd { "Esc" } " close"
            }
            output #place {}
        }
        script #trace type="application/json" { (PreEscaped(script_data::json(&Data::new(sequence)))) }
        script { (PreEscaped(SCRIPT)) }
    };
    crate::page::page(STYLE, caption, &summary(sequence, events), &content)
}

fn toolbar() -> Markup {
    html! {
        form #tools {
            fieldset {
                legend { "Rows" }
                label { input type="radio" name="layout" value="even" checked; " evenly spaced" }
                label { input type="radio" name="layout" value="time"; " by virtual time" }
            }
            fieldset {
                legend { "Zoom" }
                button #out type="button" title="Smaller (−)" aria-label="Smaller" { "−" }
                button #in type="button" title="Larger (+)" aria-label="Larger" { "+" }
                button #all type="button" title="The whole run (0)" { "all" }
                button #rows type="button" title="Rows that can be read (1)" { "rows" }
            }
            fieldset.find {
                legend { "Find" }
                input #find type="search" placeholder="component, kind, contents, #packet" aria-label="Find components, kinds, contents, #packet" spellcheck="false" autocomplete="off";
                button #previous type="button" title="The one before (Shift and Enter)" aria-label="The one before" { "↑" }
                button #next type="button" title="The next one (Enter)" aria-label="The next one" { "↓" }
                label { input #only type="checkbox"; " hide the others" }
                output #found {}
            }
        }
    }
}

/// Writes the reasons of losses as people call them.
fn as_texts<S: Serializer>(reasons: &[DropReason], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(reasons.iter().map(ToString::to_string))
}

/// The sequence by columns, so that it is small and quickly read. Rows, components and texts are indices; -1 is none.
#[derive(Debug, Default, Serialize)]
struct Data {
    components: Vec<String>,
    rows: Vec<Exact>,
    flights: Flights,
    marks: Marks,
    lives: Lives,
    partitions: Vec<Partition>,
    features: Vec<Entry>,
    signs: Vec<Entry>,
    #[serde(serialize_with = "as_texts")]
    reasons: Vec<DropReason>,
    texts: Vec<String>,
}

#[derive(Debug, Default, Serialize)]
struct Flights {
    number: Vec<Exact>,
    kind: Vec<usize>,
    message: Vec<usize>,
    corrupted: Vec<isize>,
    bytes: Vec<u32>,
    source: Vec<usize>,
    source_port: Vec<u16>,
    destination: Vec<usize>,
    destination_port: Vec<u16>,
    origin: Vec<u8>,
    sent: Vec<usize>,
    end: Vec<isize>,
    /// The index of the reason of its loss.
    reason: Vec<isize>,
    /// A bit for each feature, the first the lowest.
    features: Vec<u32>,
    /// The feature that gives the line its colour.
    look: Vec<usize>,
}

#[derive(Debug, Default, Serialize)]
struct Marks {
    sign: Vec<usize>,
    component: Vec<isize>,
    peer: Vec<isize>,
    row: Vec<usize>,
    text: Vec<usize>,
}

#[derive(Debug, Default, Serialize)]
struct Lives {
    component: Vec<usize>,
    state: Vec<u8>,
    from: Vec<usize>,
    to: Vec<isize>,
}

#[derive(Debug, Serialize)]
struct Partition {
    from: usize,
    to: isize,
    groups: Vec<isize>,
}

/// A line of the legend.
#[derive(Debug, Serialize)]
struct Entry {
    name: &'static str,
    #[serde(flatten)]
    symbol: Symbol,
}

impl Data {
    fn new(sequence: &Sequence<'_>) -> Self {
        let mut data = Self {
            components: sequence.components.iter().map(|name| lines(name)).collect(),
            rows: sequence.rows.iter().map(|at: &VirtualTime| Exact(at.as_nanos())).collect(),
            features: Feature::ALL.map(|feature| Entry { name: feature.name(), symbol: feature.symbol() }).into(),
            signs: Sign::ALL.map(|sign| Entry { name: sign.name(), symbol: look::sign(sign) }).into(),
            ..Self::default()
        };
        let mut texts = Texts::default();
        data.add_flights(sequence, &mut texts);
        for mark in &sequence.marks {
            data.marks.sign.push(mark.sign as usize);
            data.marks.component.push(or_none(mark.component));
            data.marks.peer.push(or_none(mark.peer));
            data.marks.row.push(mark.row);
            data.marks.text.push(texts.index(&mark.text));
        }
        for life in &sequence.lives {
            data.lives.component.push(life.component);
            data.lives.state.push(match life.state {
                State::Waiting => 0,
                State::Up => 1,
                State::Paused => 2,
                State::Down => 3,
                State::Over => 4,
            });
            data.lives.from.push(life.from);
            data.lives.to.push(or_none(life.to));
        }
        data.partitions = sequence
            .partitions
            .iter()
            .map(|partition| Partition {
                from: partition.from,
                to: or_none(partition.to),
                groups: partition.group_of.iter().copied().map(or_none).collect(),
            })
            .collect();
        data.texts = texts.texts;
        data
    }

    fn add_flights(&mut self, sequence: &Sequence<'_>, texts: &mut Texts) {
        let Self { flights, reasons, .. } = self;
        for flight in &sequence.flights {
            let packet = flight.packet;
            flights.number.push(Exact(packet.number));
            flights.kind.push(texts.index(&packet.kind));
            flights.message.push(texts.index(&packet.message));
            flights.corrupted.push(or_none(flight.corrupted.map(|corrupted| texts.index(&corrupted.message))));
            flights.bytes.push(packet.bytes);
            flights.source.push(flight.source.component);
            flights.source_port.push(flight.source.number);
            flights.destination.push(flight.destination.component);
            flights.destination_port.push(flight.destination.number);
            flights.origin.push(match flight.origin {
                FlightOrigin::Sent => 0,
                FlightOrigin::Copied => 1,
                FlightOrigin::Unknown => 2,
            });
            flights.sent.push(flight.sent);
            flights.end.push(or_none(flight.end.row()));
            let reason = if let FlightEnd::Dropped(_, reason) = flight.end { Some(reason) } else { None };
            flights.reason.push(or_none(reason.map(|reason| {
                reasons.iter().position(|known| *known == reason).unwrap_or_else(|| {
                    reasons.push(reason);
                    reasons.len() - 1
                })
            })));
            let bits = Feature::ALL.iter().enumerate().filter(|(_, feature)| feature.has(flight));
            flights.features.push(bits.map(|(bit, _)| 1 << bit).sum());
            flights.look.push(look::colour(flight) as usize);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;
    use simutant_sim_core::trace::{Action, Packet, Trace};

    use crate::diagram::{Caption, Outcome, html};
    use crate::examples::{any_trace, at, every_action, packet, page_data};
    use crate::sequence::Sequence;

    fn strings(values: &Value) -> Vec<String> {
        values
            .as_array()
            .expect("a column")
            .iter()
            .map(|value| value.to_string().trim_matches('"').to_owned())
            .collect()
    }

    fn page(trace: &Trace) -> String {
        html(trace, &Caption::default())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(50))]

        #[test]
        fn every_packet_and_mark_is_there(trace in any_trace()) {
            let sequence = Sequence::new(&trace);
            let data = page_data(&page(&trace));
            let numbers: Vec<String> = sequence.flights.iter().map(|flight| flight.packet.number.to_string()).collect();
            prop_assert_eq!(strings(&data["flights"]["number"]), numbers);
            let rows: Vec<String> = sequence.marks.iter().map(|mark| mark.row.to_string()).collect();
            prop_assert_eq!(strings(&data["marks"]["row"]), rows);
            let times: Vec<String> = sequence.rows.iter().map(|at| at.as_nanos().to_string()).collect();
            prop_assert_eq!(strings(&data["rows"]), times);
        }

        #[test]
        fn columns_are_equally_long_and_indices_are_inside(trace in any_trace()) {
            let data = page_data(&page(&trace));
            let column = |table: &str, name: &str| -> Vec<i64> {
                let values = data[table][name].as_array().expect("a column");
                values.iter().map(|value| value.as_i64().expect("a number")).collect()
            };
            let length = |name: &str| data[name].as_array().expect("an array").len() as i64;
            let inside = |values: Vec<i64>, many: i64| values.iter().all(|value| (-1..many).contains(value));
            for (name, many) in [("kind", "texts"), ("message", "texts"), ("source", "components"), ("look", "features"), ("end", "rows"), ("reason", "reasons")] {
                prop_assert!(inside(column("flights", name), length(many)), "{name}");
            }
            for (name, many) in [("sign", "signs"), ("component", "components"), ("peer", "components"), ("text", "texts")] {
                prop_assert!(inside(column("marks", name), length(many)), "{name}");
            }
            for table in ["flights", "marks", "lives"] {
                let columns = data[table].as_object().expect("columns");
                let lengths: Vec<usize> = columns.values().map(|column| column.as_array().map_or(0, Vec::len)).collect();
                prop_assert!(lengths.windows(2).all(|pair| pair[0] == pair[1]), "{table}: {lengths:?}");
            }
        }

        /// What ends an element of the page is only what the page has itself, whatever the trace says.
        #[test]
        fn no_text_of_a_trace_is_markup(trace in any_trace()) {
            let (page, empty) = (page(&trace), page(&Trace::new()));
            prop_assert_eq!(page.matches('<').count(), empty.matches('<').count());
        }
    }

    #[test]
    fn the_page_needs_nothing_from_outside() {
        let page = page(&every_action());
        // The namespace is a name: nothing is fetched from there.
        let page = page.replace("http://www.w3.org/2000/svg", "");
        for outside in ["http://", "https://", " src=", "@import", "url(", "fetch(", "import("] {
            assert!(!page.contains(outside), "the page has `{outside}`");
        }
    }

    #[test]
    fn titles_and_verdicts_are_escaped() {
        let caption = Caption { title: "<b>&".to_owned(), verdict: "\"<i>\"".to_owned(), outcome: Outcome::Failed };
        let page = html(&every_action(), &caption);
        assert!(page.contains("<title>&lt;b&gt;&amp;</title>"));
        assert!(page.contains("<b class=\"verdict failed\">&quot;&lt;i&gt;&quot;</b>"));
    }

    #[test]
    fn numbers_that_javascript_cannot_hold_are_text() {
        let trace = vec![
            at(u64::MAX, Action::Sent(Packet { number: 1 << 53, ..packet(0, "a", "b") })),
            at(u64::MAX, Action::Sent(packet((1 << 53) - 1, "a", "b"))),
        ];
        let data = page_data(&page(&trace));
        assert_eq!(data["rows"][0], "18446744073709551615");
        assert_eq!(data["flights"]["number"], serde_json::json!(["9007199254740992", 9_007_199_254_740_991_u64]));
    }

    #[test]
    fn equal_traces_give_equal_bytes() {
        assert_eq!(page(&every_action()), page(&every_action()));
    }
}
