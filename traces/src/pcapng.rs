//! Traces as packet captures in the PCAP-NG format (IETF draft-ietf-opsawg-pcapng), which Wireshark and `tshark` open.
//!
//! The capture has two interfaces, as if there was a listener at each end of the network. `sent` has every packet at
//! the time at which its component sent it, lost ones too. `delivered` has every packet and copy that arrived. Comments
//! tell what the network did: "dropped: loss", "duplicated". Display filters of Wireshark that help:
//! `frame.interface_name == "delivered"`, `frame.comment contains "dropped"`, `udp.port == 80`.
//!
//! A packet is IPv4 and UDP with right checksums. The n-th component of the trace has the n-th address after 10.0.0.0,
//! the ports are those of the channels, and the contents are the kind and the message as `Debug` shows it, not what
//! real programs would send. Streams are UDP too: a trace knows no sequence numbers of bytes, and invented ones would
//! let a viewer find retransmissions and losses that never were. What is no packet (timeouts, faults, notes) is not in
//! the file.

mod block;
mod datagram;

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use simutant_sim_core::trace::{Packet, Trace, Transport};

use crate::pcapng::block::{Block, Interface};
use crate::pcapng::datagram::Datagram;
use crate::sequence::{Flight, FlightEnd, FlightOrigin, Sequence};

/// How many components have an address of their own: those that 10.0.0.0/8 has, without its first and last.
const ADDRESSES: usize = (1 << 24) - 2;

/// Returns the trace as the bytes of a PCAP-NG file.
///
/// # Panics
/// If the trace has more components than the network 10.0.0.0/8 has addresses.
pub fn write(trace: &Trace) -> Vec<u8> {
    let sequence = Sequence::new(trace);
    let mut file = Vec::new();
    block::section_header().write(&mut file);
    block::interface("sent", "where components send").write(&mut file);
    block::interface("delivered", "where packets arrive").write(&mut file);
    let names = sequence.components.iter().enumerate().map(|(component, name)| (address(component), *name));
    block::name_resolution(names).write(&mut file);

    let mut frames = frames(&sequence);
    frames.sort_by_key(|frame| frame.row);
    for frame in frames {
        frame.block(&sequence).write(&mut file);
    }
    file
}

/// A packet as one of the interfaces sees it.
struct Frame<'a> {
    row: usize,
    interface: Interface,
    flight: &'a Flight<'a>,
    /// What it holds here.
    packet: &'a Packet,
    comments: Vec<String>,
}

/// Returns what the interfaces see: first all that is sent, then all that arrives, each in the order of sending.
fn frames<'a>(sequence: &'a Sequence<'a>) -> Vec<Frame<'a>> {
    let mut sent: Vec<Frame<'_>> = Vec::new();
    let mut delivered = Vec::new();
    // By number, the index of the latest frame with it: copies have no sending of their own.
    let mut sent_by_number: BTreeMap<u64, usize> = BTreeMap::new();
    for flight in &sequence.flights {
        let number = flight.packet.number;
        let arrival = arrival(sequence, flight);
        let original = sent_by_number.get(&number).filter(|_| flight.origin == FlightOrigin::Copied);
        if let Some(&index) = original {
            sent[index].comments.push(format!("duplicated; the copy: {}", fate(sequence, flight)));
        } else if flight.origin != FlightOrigin::Unknown || arrival.is_none() {
            let comments = vec![name(flight), fate(sequence, flight)];
            sent_by_number.insert(number, sent.len());
            sent.push(Frame { row: flight.sent, interface: Interface::Sent, flight, packet: flight.packet, comments });
        }
        delivered.extend(arrival);
    }
    sent.append(&mut delivered);
    sent
}

fn arrival<'a>(sequence: &Sequence<'_>, flight: &'a Flight<'a>) -> Option<Frame<'a>> {
    let (FlightEnd::Delivered(row) | FlightEnd::Unreachable(row)) = flight.end else { return None };
    let comments = vec![name(flight), fate(sequence, flight)];
    let packet = flight.corrupted.unwrap_or(flight.packet);
    Some(Frame { row, interface: Interface::Delivered, flight, packet, comments })
}

fn name(flight: &Flight<'_>) -> String {
    let what = if flight.origin == FlightOrigin::Copied { "copy of packet" } else { "packet" };
    let stream = if flight.packet.transport == Transport::Stream { ", of a stream" } else { "" };
    format!("{what} {}{stream}", flight.packet.number)
}

fn fate(sequence: &Sequence<'_>, flight: &Flight<'_>) -> String {
    let after = match sequence.duration(flight) {
        Some(duration) if flight.end.row() != Some(flight.sent) => format!(" after {duration}"),
        _ => String::new(),
    };
    let fate = match flight.end {
        FlightEnd::Delivered(_) => format!("delivered{after}"),
        FlightEnd::Unreachable(_) => format!("unreachable{after}: no channel is open at the port"),
        FlightEnd::Dropped(_, reason) => format!("dropped: {}{after}", reason),
        FlightEnd::Never => "on its way when the trace ends".to_owned(),
    };
    if flight.corrupted.is_some() { format!("corrupted, {fate}") } else { fate }
}

impl Frame<'_> {
    fn block(&self, sequence: &Sequence<'_>) -> Block {
        let Self { flight, packet, .. } = self;
        let datagram = Datagram {
            source: (address(flight.source.component), flight.source.number),
            destination: (address(flight.destination.component), flight.destination.number),
            // The field has 16 bits; it is there to recognise copies by.
            identification: packet.number as u16,
            contents: if packet.message.is_empty() {
                packet.kind.clone()
            } else {
                format!("{} {}", packet.kind, packet.message)
            },
        };
        block::packet(self.interface, sequence.rows[self.row], &datagram.bytes(), &self.comments)
    }
}

/// Returns the address of a component.
fn address(component: usize) -> Ipv4Addr {
    assert!(component < ADDRESSES, "component {component} has no address");
    let number = u32::try_from(component + 1).expect("there are fewer addresses than that");
    Ipv4Addr::from_bits(Ipv4Addr::new(10, 0, 0, 0).to_bits() + number)
}

#[cfg(test)]
mod reader;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::reader::{Capture, Read, read};
    use super::*;
    use crate::examples::{any_trace, at, every_action, packet};
    use simutant_sim_core::trace::{Action, DropReason};

    fn capture(trace: &Trace) -> Capture {
        read(&write(trace))
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(50))]

        /// The reader checks lengths and checksums on its way.
        #[test]
        fn any_trace_is_read_back(trace in any_trace()) {
            let sequence = Sequence::new(&trace);
            let capture = capture(&trace);
            let identifications: Vec<u16> = capture.packets.iter().map(|packet| packet.identification).collect();
            for flight in &sequence.flights {
                prop_assert!(identifications.contains(&(flight.packet.number as u16)));
            }
            let arrivals = |flight: &&Flight<'_>| matches!(flight.end, FlightEnd::Delivered(_) | FlightEnd::Unreachable(_));
            let delivered = capture.packets.iter().filter(|packet| packet.interface == 1).count();
            prop_assert_eq!(delivered, sequence.flights.iter().filter(arrivals).count());
            prop_assert!(capture.packets.is_sorted_by_key(|packet| packet.at_ns));
        }
    }

    #[test]
    fn a_packet_is_there_at_both_ends() {
        let trace = vec![
            at(5, Action::Sent(packet(3, "a", "b"))),
            at(5, Action::Duplicated(packet(3, "a", "b"))),
            at(9, Action::Delivered(packet(3, "a", "b"))),
            at(12, Action::Delivered(packet(3, "a", "b"))),
        ];
        let capture = capture(&trace);
        assert_eq!(capture.interfaces, ["sent", "delivered"]);
        let expect = |interface, at_ns, comments: &[&str]| Read {
            interface,
            at_ns,
            source: "10.0.0.1:1".parse().expect("an address"),
            destination: "10.0.0.2:2".parse().expect("an address"),
            identification: 3,
            contents: b"DAT Dat".to_vec(),
            comments: comments.iter().map(|comment| (*comment).to_owned()).collect(),
        };
        let sent = ["packet 3", "delivered after 4 ns", "duplicated; the copy: delivered after 7 ns"];
        let expected = [
            expect(0, 5, &sent),
            expect(1, 9, &["packet 3", "delivered after 4 ns"]),
            expect(1, 12, &["copy of packet 3", "delivered after 7 ns"]),
        ];
        assert_eq!(capture.packets, expected);
    }

    #[test]
    fn a_lost_packet_is_only_sent_and_says_why() {
        let lost = Action::Dropped { packet: packet(0, "a", "b"), reason: DropReason::QueueFull };
        let capture = capture(&vec![at(5, Action::Sent(packet(0, "a", "b"))), at(5, lost)]);
        let [read] = &capture.packets[..] else { panic!("one packet: {:?}", capture.packets) };
        assert_eq!((read.interface, read.comments[1].as_str()), (0, "dropped: queue full"));
    }

    #[test]
    fn what_the_network_changed_arrives_changed() {
        let capture = capture(&every_action());
        let acks: Vec<&[u8]> = capture
            .packets
            .iter()
            .map(|packet| &packet.contents[..])
            .filter(|contents| contents.starts_with(b"ACK"))
            .collect();
        assert_eq!(acks, [&b"ACK Ack { index: 1 }"[..], b"ACK Ack { index: 4097 }"]);
    }

    #[test]
    fn components_have_names() {
        let capture = capture(&every_action());
        let names: Vec<(String, &str)> =
            capture.names.iter().map(|(address, name)| (address.to_string(), name.as_str())).collect();
        let expected = [("10.0.0.1", "client"), ("10.0.0.2", "primary"), ("10.0.0.3", "replica")];
        assert_eq!(names, expected.map(|(address, name)| (address.to_owned(), name)));
    }

    #[test]
    fn contents_are_cut_where_a_datagram_ends() {
        let long = Packet { message: "x".repeat(70_000), ..packet(0, "a", "b") };
        let capture = capture(&vec![at(5, Action::Sent(long))]);
        assert_eq!(capture.packets[0].contents.len(), 65_507);
    }
}
