//! Traces for the tests.

use proptest::prelude::*;
use serde_json::Value;
use simutant_sim_core::trace::{
    Action, DropReason, DurableState, Endpoint, Packet, ResetReason, Site, Trace, TraceEvent, Transport,
};
use simutant_sim_core::{VirtualDuration, VirtualTime};

use crate::json_lines;

/// Returns a trace made by hand that has every action.
pub(crate) fn every_action() -> Trace {
    json_lines::read(include_str!("../examples/every_action.jsonl").as_bytes()).expect("it is a trace")
}

pub(crate) fn at(nanos: u64, action: Action) -> TraceEvent {
    TraceEvent { at: VirtualTime::from_nanos(nanos), action }
}

pub(crate) fn packet(number: u64, source: &str, destination: &str) -> Packet {
    Packet {
        number,
        source: Endpoint { component: source.to_owned(), port: 1 },
        destination: Endpoint { component: destination.to_owned(), port: 2 },
        transport: Transport::Datagram,
        kind: "DAT".to_owned(),
        message: "Dat".to_owned(),
        bytes: 8,
    }
}

/// Any trace, also such as no run leaves: of few packets and components, so that they meet again.
pub(crate) fn any_trace() -> impl Strategy<Value = Trace> {
    proptest::collection::vec((any_step(), any_action()), 0..60).prop_map(|steps| {
        let mut now = VirtualTime::ZERO;
        let next = |(step, action)| {
            now += VirtualDuration::from_nanos(step);
            TraceEvent { at: now, action }
        };
        steps.into_iter().map(next).collect()
    })
}

fn any_step() -> impl Strategy<Value = u64> {
    prop_oneof![4 => Just(0), 4 => 0..5_000_000_u64, 1 => any::<u64>()]
}

/// Text with what is special in XML, HTML, JSON and JavaScript, and with what cannot be seen.
pub(crate) fn any_text() -> impl Strategy<Value = String> {
    let special = ["</script>", "<!--", "]]>", "&amp;", "\"'`${x}\\", "\u{2028}\0\u{1b}\r\n", "\u{ffff}", "", "日本 ü"];
    prop_oneof![proptest::sample::select(special.to_vec()).prop_map(str::to_owned), any::<String>()]
}

fn any_name() -> impl Strategy<Value = String> {
    prop_oneof![8 => proptest::sample::select(vec!["a", "b", "c", "<d & \"e\">"]).prop_map(str::to_owned), 1 => any_text()]
}

fn any_groups() -> impl Strategy<Value = Vec<Vec<String>>> {
    proptest::collection::vec(proptest::collection::vec(any_name(), 0..3), 0..3)
}

fn any_endpoint() -> impl Strategy<Value = Endpoint> {
    (any_name(), any::<u16>()).prop_map(|(component, port)| Endpoint { component, port })
}

fn any_site() -> impl Strategy<Value = Site> {
    (any_text(), any::<u32>()).prop_map(|(file, line)| Site { file: file.into(), line })
}

fn any_packet() -> impl Strategy<Value = Packet> {
    let transport = prop_oneof![Just(Transport::Datagram), Just(Transport::Stream)];
    (0..6_u64, any_endpoint(), any_endpoint(), transport, any_text(), any_text(), any::<u32>()).prop_map(
        |(number, source, destination, transport, kind, message, bytes)| Packet {
            number,
            source,
            destination,
            transport,
            kind,
            message,
            bytes,
        },
    )
}

fn any_drop_reason() -> impl Strategy<Value = DropReason> {
    proptest::sample::select(vec![
        DropReason::Loss,
        DropReason::Rule,
        DropReason::Partition,
        DropReason::NoRoute,
        DropReason::QueueFull,
        DropReason::MailboxFull,
        DropReason::Checksum,
        DropReason::Down,
    ])
}

fn any_action() -> impl Strategy<Value = Action> {
    let of_packets = prop_oneof![
        4 => any_packet().prop_map(Action::Sent),
        2 => (any_packet(), any_drop_reason()).prop_map(|(packet, reason)| Action::Dropped { packet, reason }),
        1 => any_packet().prop_map(Action::Duplicated),
        1 => any_packet().prop_map(Action::Corrupted),
        4 => any_packet().prop_map(Action::Delivered),
        1 => any_packet().prop_map(Action::Unreachable),
    ];
    let of_components = prop_oneof![
        any_name().prop_map(|component| Action::Started { component }),
        (any_name(), any_text()).prop_map(|(component, value)| Action::Returned { component, value }),
        (any_name(), any_text()).prop_map(|(component, message)| Action::Failed { component, message }),
        (any_name(), any_text()).prop_map(|(component, text)| Action::Noted { component, text }),
        (any_name(), any_text()).prop_map(|(component, phase)| Action::PhaseBegan { component, phase }),
        (any_endpoint(), proptest::option::of(any_site()))
            .prop_map(|(channel, site)| Action::TimedOut { channel, site }),
        (any_endpoint(), any_endpoint(), any_text(), any_site(), any_site()).prop_map(
            |(source, destination, kind, send_site, receive_site)| Action::Received {
                source,
                destination,
                kind,
                send_site,
                receive_site
            }
        ),
    ];
    let reset_reason = prop_oneof![Just(ResetReason::Peer), Just(ResetReason::TimedOut)];
    let durable_state = prop_oneof![Just(DurableState::Kept), Just(DurableState::Lost)];
    let of_streams = prop_oneof![
        (any_endpoint(), any_endpoint()).prop_map(|(client, server)| Action::Connected { client, server }),
        (any_endpoint(), any_endpoint(), reset_reason).prop_map(|(local, remote, reason)| Action::Reset {
            local,
            remote,
            reason
        }),
    ];
    let faults = prop_oneof![
        any_name().prop_map(|component| Action::Crashed { component }),
        (any_name(), durable_state)
            .prop_map(|(component, durable_state)| Action::Restarted { component, durable_state }),
        (any_name(), any::<u64>())
            .prop_map(|(component, nanos)| Action::Paused { component, duration: VirtualDuration::from_nanos(nanos) }),
        any_name().prop_map(|component| Action::Resumed { component }),
        any_groups().prop_map(|groups| Action::Partitioned { groups }),
        any_groups().prop_map(|groups| Action::Healed { groups }),
    ];
    prop_oneof![4 => of_packets, 1 => of_components, 1 => of_streams, 1 => faults]
}

/// Returns an attribute of a picture that should be a place or a length and has something that is no number.
pub(crate) fn place_without_number(picture: &roxmltree::Document<'_>) -> Option<String> {
    const PLACES: [&str; 17] = [
        "cx",
        "cy",
        "d",
        "height",
        "points",
        "r",
        "rx",
        "ry",
        "transform",
        "viewBox",
        "width",
        "x",
        "x1",
        "x2",
        "y",
        "y1",
        "y2",
    ];
    let mut places =
        picture.descendants().flat_map(|node| node.attributes()).filter(|place| PLACES.contains(&place.name()));
    let is_wrong = |value: &str| value.contains("NaN") || value.contains("inf");
    places.find(|place| is_wrong(place.value())).map(|place| format!("{}: {}", place.name(), place.value()))
}

/// Returns the data of a page, read as a browser does: up to the first `</script`.
pub(crate) fn page_data(page: &str) -> Value {
    let (_, rest) = page.split_once("type=\"application/json\">").expect("the page has data");
    let (data, _) = rest.split_once("</script").expect("the data ends");
    serde_json::from_str(data).expect("JSON")
}
