//! Traces as Chrome's trace-event JSON, which <https://ui.perfetto.dev> and `chrome://tracing` open.
//!
//! Each component is a process with a track of its events. A packet is a slice where it is sent and a slice where it
//! arrives, an arrow (a flow) from the one to the other, and a span "in flight" on a track below the sender's events.
//! Pauses and down times are spans too; losses, timeouts and faults are instants. The format has microseconds as
//! floating-point numbers: times are exact to the nanosecond for the first 104 days.
//!
//! ```
//! let text = simutant_traces::perfetto::write(&Vec::new());
//! assert!(text.starts_with("{\"displayTimeUnit\":\"ns\",\"traceEvents\":["));
//! ```

use serde::Serialize;
use serde_json::{Value, json};
use simutant_sim_core::VirtualTime;
use simutant_sim_core::trace::{Trace, Transport};

use crate::sequence::{Flight, FlightEnd, FlightOrigin, Life, Mark, Port, Sequence, State};

/// The one thread that each process has.
const THREAD: u32 = 1;

/// An event of the format. Fields that are `None` are left out.
#[derive(Debug, Default, Serialize)]
struct Event {
    #[serde(rename = "ph")]
    phase: &'static str,
    name: String,
    #[serde(rename = "cat")]
    category: &'static str,
    /// In microseconds.
    ts: f64,
    pid: usize,
    tid: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    dur: Option<f64>,
    /// Joins the two ends of a span.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    /// Joins the two slices of a flow.
    #[serde(skip_serializing_if = "Option::is_none")]
    bind_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    flow_out: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    flow_in: Option<bool>,
    /// How far an instant reaches: a thread, a process, or all.
    #[serde(rename = "s", skip_serializing_if = "Option::is_none")]
    scope: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    args: Option<Value>,
}

/// Returns the trace as the text of a trace-event file, an event a line.
pub fn write(trace: &Trace) -> String {
    let sequence = Sequence::new(trace);
    let mut writer = Writer { sequence: &sequence, events: Vec::new() };
    sequence.flights.iter().enumerate().for_each(|(index, flight)| writer.flight(index, flight));
    sequence.marks.iter().for_each(|mark| writer.mark(mark));
    sequence.lives.iter().enumerate().for_each(|(index, life)| writer.life(index, life));
    // Viewers join the ends of flows and spans in the order of the file. Sorting is stable: a flow that takes no time
    // begins before it ends.
    writer.events.sort_by_key(|(row, _)| *row);

    let names = (0..sequence.components.len()).flat_map(|component| writer.names(component)).collect::<Vec<_>>();
    let events = names.iter().chain(writer.events.iter().map(|(_, event)| event));
    let lines: Vec<String> =
        events.map(|event| serde_json::to_string(event).expect("events are plain data with text as keys")).collect();
    format!("{{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n{}\n]}}\n", lines.join(",\n"))
}

struct Writer<'a> {
    sequence: &'a Sequence<'a>,
    /// Each with its row.
    events: Vec<(usize, Event)>,
}

impl Writer<'_> {
    fn names(&self, component: usize) -> [Event; 3] {
        let event = |name: &str, args| Event {
            phase: "M",
            name: name.to_owned(),
            category: "__metadata",
            pid: process(component),
            tid: THREAD,
            args: Some(args),
            ..Event::default()
        };
        [
            event("process_name", json!({"name": self.sequence.components[component]})),
            event("process_sort_index", json!({"sort_index": component})),
            event("thread_name", json!({"name": "events"})),
        ]
    }

    fn add(&mut self, row: usize, event: Event) {
        let ts = micros(self.sequence.rows[row]);
        self.events.push((row, Event { ts, tid: THREAD, ..event }));
    }

    fn flight(&mut self, index: usize, flight: &Flight<'_>) {
        let args = self.describe(flight);
        let id = format!("0x{index:x}");
        let source = process(flight.source.component);
        let category = match flight.packet.transport {
            Transport::Datagram => "datagram",
            Transport::Stream => "stream",
        };
        let event = |phase, name: String, pid| Event {
            phase,
            name,
            category,
            pid,
            args: Some(args.clone()),
            ..Event::default()
        };
        let slice = |name, pid| Event { dur: Some(0.0), ..event("X", name, pid) };
        let kind = &flight.packet.kind;

        if flight.origin != FlightOrigin::Unknown {
            let what = if flight.origin == FlightOrigin::Copied { "copy of" } else { "send" };
            let is_arriving = matches!(flight.end, FlightEnd::Delivered(_) | FlightEnd::Unreachable(_));
            let sending = slice(format!("{what} {kind}"), source);
            let flow = is_arriving.then(|| id.clone());
            self.add(flight.sent, Event { flow_out: flow.is_some().then_some(true), bind_id: flow, ..sending });
            if let Some(row) = flight.end.row().filter(|row| *row != flight.sent) {
                self.add(
                    flight.sent,
                    Event { id: Some(id.clone()), ..event("b", format!("{kind} in flight"), source) },
                );
                self.add(
                    row,
                    Event { id: Some(id.clone()), args: None, ..event("e", format!("{kind} in flight"), source) },
                );
            }
        }
        if flight.corrupted.is_some() {
            self.add(flight.sent, Event { scope: Some("t"), ..event("i", format!("corrupted {kind}"), source) });
        }
        let flow = (flight.origin != FlightOrigin::Unknown).then_some(id);
        let destination = process(flight.destination.component);
        match flight.end {
            FlightEnd::Delivered(row) | FlightEnd::Unreachable(row) => {
                let what = if matches!(flight.end, FlightEnd::Delivered(_)) { "receive" } else { "unreachable" };
                let arrival = slice(format!("{what} {kind}"), destination);
                self.add(row, Event { flow_in: flow.is_some().then_some(true), bind_id: flow, ..arrival });
            }
            FlightEnd::Dropped(row, reason) => {
                let name = format!("dropped {kind}: {}", reason);
                self.add(row, Event { scope: Some("t"), ..event("i", name, source) });
            }
            FlightEnd::Never => {}
        }
    }

    fn describe(&self, flight: &Flight<'_>) -> Value {
        let Self { sequence, .. } = self;
        let packet = flight.packet;
        let end = |port: Port| format!("{}:{}", sequence.components[port.component], port.number);
        let mut args = json!({
            "packet": packet.number,
            "from": end(flight.source),
            "to": end(flight.destination),
            "bytes": packet.bytes,
            "message": packet.message,
        });
        if let Some(corrupted) = flight.corrupted {
            args["corrupted"] = json!(corrupted.message);
        }
        if let Some(duration) = sequence.duration(flight) {
            args["in flight"] = json!(duration.to_string());
        }
        args
    }

    fn mark(&mut self, mark: &Mark) {
        let name = match mark.text.as_str() {
            "" => mark.sign.name().to_owned(),
            text => format!("{}: {text}", mark.sign.name()),
        };
        let (scope, component) = mark.component.map_or(("g", 0), |component| ("t", component));
        let instant = Event { phase: "i", name, category: "event", pid: process(component), ..Event::default() };
        self.add(mark.row, Event { scope: Some(scope), ..instant });
    }

    /// Spans for what a component is when it is not up.
    fn life(&mut self, index: usize, life: &Life) {
        let name = match life.state {
            State::Paused => "paused",
            State::Down => "down",
            State::Waiting | State::Up | State::Over => return,
        };
        let event = |phase| Event {
            phase,
            name: name.to_owned(),
            category: "state",
            pid: process(life.component),
            id: Some(format!("life-{index:x}")),
            ..Event::default()
        };
        self.add(life.from, event("b"));
        self.add(life.to.unwrap_or(self.sequence.rows.len() - 1), event("e"));
    }
}

/// Returns the process of a component: 0 is special to some viewers.
fn process(component: usize) -> usize {
    component + 1
}

fn micros(at: VirtualTime) -> f64 {
    at.as_nanos() as f64 / 1e3
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;
    use crate::examples::{any_trace, every_action};

    fn events(trace: &Trace) -> Vec<Value> {
        let file: Value = serde_json::from_str(&write(trace)).expect("JSON");
        file["traceEvents"].as_array().expect("events").clone()
    }

    fn names(events: &[Value], phase: &str) -> Vec<String> {
        let of_phase = events.iter().filter(|event| event["ph"] == phase);
        of_phase.map(|event| event["name"].as_str().expect("a name").to_owned()).collect()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(50))]

        #[test]
        fn spans_and_flows_have_two_ends_in_order(trace in any_trace()) {
            let mut open: BTreeMap<String, f64> = BTreeMap::new();
            let mut flows: BTreeMap<String, f64> = BTreeMap::new();
            for event in events(&trace) {
                let ts = event["ts"].as_f64().expect("a time");
                let id = event["id"].as_str().unwrap_or_default().to_owned();
                match event["ph"].as_str() {
                    Some("b") => prop_assert_eq!(open.insert(id, ts), None),
                    Some("e") => prop_assert!(open.remove(&id).is_some_and(|begin| begin <= ts)),
                    _ => {}
                }
                let flow = event["bind_id"].as_str().unwrap_or_default().to_owned();
                if event["flow_out"] == true {
                    prop_assert_eq!(flows.insert(flow, ts), None);
                } else if event["flow_in"] == true {
                    prop_assert!(flows.remove(&flow).is_some_and(|begin| begin <= ts));
                }
            }
            prop_assert!(open.is_empty() && flows.is_empty(), "{open:?} {flows:?}");
        }

        #[test]
        fn every_packet_is_there(trace in any_trace()) {
            let file = events(&trace);
            let slices = file.iter().filter(|event| matches!(event["ph"].as_str(), Some("X" | "i")));
            let numbers: Vec<u64> = slices.filter_map(|event| event["args"]["packet"].as_u64()).collect();
            for flight in Sequence::new(&trace).flights {
                prop_assert!(numbers.contains(&flight.packet.number));
            }
        }
    }

    #[test]
    fn every_component_has_a_track() {
        let events = events(&every_action());
        let tracks: Vec<&Value> = events.iter().filter(|event| event["name"] == "process_name").collect();
        assert_eq!(tracks.len(), 3);
        assert_eq!(tracks[1]["args"]["name"], "primary");
    }

    #[test]
    fn faults_are_instants_and_spans() {
        let events = events(&every_action());
        let instants = names(&events, "i");
        for name in [
            "timeout: port 50001",
            "crashed",
            "restarted: durable state lost",
            "dropped APPEND: loss",
            "corrupted ACK",
            "healed: client, primary | replica",
        ] {
            assert!(instants.iter().any(|instant| instant == name), "{name} is not among {instants:?}");
        }
        let spans = names(&events, "b");
        assert!(spans.iter().any(|span| span == "paused"));
        assert!(spans.iter().any(|span| span == "down"));
    }

    #[test]
    fn times_are_microseconds() {
        let events = events(&every_action());
        let note = events.iter().find(|event| event["name"] == "note: asks for a stream to the primary");
        assert_eq!(note.expect("it is in the trace")["ts"], 200.0);
    }
}
