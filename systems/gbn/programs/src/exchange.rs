//! Whole transfers in virtual time: sender and receiver as their programs run them, without sockets, clocks and
//! processes, so that a busy machine changes nothing.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use super::receive::{LINGER, PATIENCE as RECEIVER_PATIENCE};
use super::send::{PATIENCE as SENDER_PATIENCE, TIMEOUT};
use super::{Behaviour, Packet, Receiver, Sender};

/// How long a datagram is on its way. None overtakes another.
const FLIGHT_TIME: Duration = Duration::from_micros(100);

/// Where a datagram goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// To the receiver.
    Forward,
    /// To the sender.
    Back,
}

/// What is on its way in one direction, with the time when it arrives.
#[derive(Default)]
struct Wire(VecDeque<(Duration, Vec<u8>)>);

impl Wire {
    fn send(&mut self, now: Duration, packet: &Packet, copies: usize) {
        self.0.extend(std::iter::repeat_n((now + FLIGHT_TIME, packet.encode()), copies));
    }

    fn next_at(&self) -> Duration {
        self.0.front().map_or(Duration::MAX, |(at, _)| *at)
    }

    fn receive(&mut self) -> Option<Packet> {
        self.0.pop_front().and_then(|(_, bytes)| Packet::decode(&bytes))
    }
}

/// Returns whether both sides succeed and the file arrives as it is. A side that panics fails.
///
/// `copies` says for each datagram how often it arrives: not at all, once or twice.
pub fn passes(behaviour: &'static dyn Behaviour, file: &[u8], copies: &mut dyn FnMut(Direction) -> usize) -> bool {
    let received = catch_unwind(AssertUnwindSafe(|| transfer(behaviour, file, copies)));
    received.is_ok_and(|received| received.as_deref() == Some(file))
}

/// Returns the received file, or `None` if a side gives up.
fn transfer(
    behaviour: &'static dyn Behaviour,
    file: &[u8],
    copies: &mut dyn FnMut(Direction) -> usize,
) -> Option<Vec<u8>> {
    let (mut there, mut back) = (Wire::default(), Wire::default());
    let mut sender = Sender::new(file.to_vec(), behaviour);
    let mut receiver = Receiver::new(behaviour);
    let (mut is_sender_there, mut is_receiver_there) = (true, true);
    let mut received = Vec::new();
    let (mut now, mut timer, mut progress_at, mut heard_at) = (Duration::ZERO, None, Duration::ZERO, Duration::ZERO);
    loop {
        while is_sender_there && let Some(packet) = sender.next_packet() {
            there.send(now, &packet, copies(Direction::Forward));
            if timer.is_none() && sender.starts_timer() {
                timer = Some(now + TIMEOUT);
            }
        }
        if is_sender_there && sender.is_over() {
            is_sender_there = false;
            (0..behaviour.goodbyes()).for_each(|_| there.send(now, &Packet::Bye, copies(Direction::Forward)));
        }
        if !is_sender_there && !is_receiver_there {
            return Some(received);
        }
        let give_up_at = progress_at + SENDER_PATIENCE;
        let sender_at = if is_sender_there { timer.unwrap_or(give_up_at) } else { Duration::MAX };
        let patience = if receiver.has_all() { LINGER } else { RECEIVER_PATIENCE };
        let receiver_at = if is_receiver_there { heard_at + patience } else { Duration::MAX };
        now = there.next_at().min(back.next_at()).min(sender_at).min(receiver_at);
        if now == there.next_at() {
            let Some(packet) = there.receive().filter(|_| is_receiver_there) else { continue };
            heard_at = now;
            if packet == Packet::Bye {
                if !receiver.has_all() {
                    return None;
                }
                is_receiver_there = false;
                continue;
            }
            let answer = receiver.take(packet);
            received.extend(answer.append);
            if let Some(reply) = answer.reply {
                back.send(now, &reply, copies(Direction::Back));
            }
            is_receiver_there = receiver.stays();
        } else if now == back.next_at() {
            match back.receive() {
                Some(Packet::Ack { next }) if is_sender_there && sender.acknowledge(next) => {
                    progress_at = now;
                    timer = sender.restarts_timer().then(|| now + TIMEOUT);
                }
                _ => {}
            }
        } else if now == sender_at {
            if now >= give_up_at {
                return None;
            }
            sender.time_out().ok()?;
            timer = None;
        } else if receiver.has_all() && !behaviour.needs_goodbye() {
            is_receiver_there = false;
        } else {
            return None;
        }
    }
}

#[cfg(test)]
mod tests {
    use simutant_sim_core::Random;

    use super::super::{Correct, faults};
    use super::*;

    /// For each fault, a length and a network with which it fails for some of the first seeds.
    const HARMFUL: [(&str, u64, f64, f64); faults::ALL.len()] = [
        ("acknowledges-packet-zero", 9_000, 0.2, 0.0),
        ("answers-end-marks-only", 4_000, 0.2, 0.0),
        ("answers-last-two-packets", 20_000, 0.2, 0.0),
        ("begins-again-at-zero-only", 335_760, 0.2, 0.0),
        ("begins-anew", 1_000, 0.0, 0.2),
        ("counts-all-timeouts", 335_760, 0.2, 0.2),
        ("counts-arrivals", 20_000, 0.2, 0.2),
        ("counts-one-segment-more", 2_798, 0.0, 0.0),
        ("counts-repeated-acks", 335_760, 0.2, 0.2),
        ("ends-three-times", 1_000, 0.2, 0.0),
        ("ends-unacknowledged", 1_000, 0.2, 0.2),
        ("fills-first-window", 1_000, 0.0, 0.0),
        ("fills-window-again", 7_000, 0.2, 0.0),
        ("four-sequence-numbers", 9_793, 0.2, 0.0),
        ("gives-up-after-four-timeouts", 335_760, 0.2, 0.2),
        ("grows-without-limit", 335_760, 0.01, 0.0),
        ("keeps-sixteen-packets", 335_760, 0.03, 0.1),
        ("learns-first-number", 9_000, 0.2, 0.0),
        ("leaves-after-end", 1_000, 0.2, 0.0),
        ("needs-goodbye", 1_000, 0.2, 0.0),
        ("notes-four-hundred-times", 335_760, 0.2, 0.2),
        ("one-packet-more", 335_760, 0.02, 0.0),
        ("opens-twice", 1_000, 0.2, 0.0),
        ("pads-short-segments", 1_409, 0.0, 0.0),
        ("refuses-early-acknowledgements", 335_760, 0.2, 0.2),
        ("repeats-last-ack-once", 1_000, 0.2, 0.0),
        ("reports-progress", 1_000, 0.0, 0.0),
        ("room-for-quarter-megabyte", 335_760, 0.0, 0.0),
        ("room-for-two-hundred-segments", 335_760, 0.0, 0.0),
        ("sends-end-mark-twice", 1_000, 0.2, 0.0),
        ("stops-timer", 20_000, 0.2, 0.0),
        // The last byte is a space.
        ("strips-white-space", 33, 0.0, 0.0),
        ("takes-any-ack-for-last", 1_000, 0.2, 0.2),
        ("takes-end-mark-early", 4_000, 0.2, 0.0),
        ("takes-far-acks-for-old", 20_000, 0.2, 0.0),
        ("takes-zero-for-nothing", 335_760, 0.2, 0.0),
        ("times-data-only", 1_000, 0.2, 0.0),
        ("times-full-windows", 1_000, 0.2, 0.0),
    ];

    fn file(bytes: u64) -> Vec<u8> {
        (0..bytes).map(|at| at as u8).collect()
    }

    /// Returns whether the transfer of a file of `bytes` bytes over such a network passes.
    fn passes_on(behaviour: &'static dyn Behaviour, bytes: u64, drop: f64, duplicate: f64, seed: u64) -> bool {
        let mut random = Random::from_seed(seed);
        let mut happens = |probability: f64| f64::from(random.uniform(0..1_000_000_u32)) < probability * 1e6;
        let mut copies = |_| if happens(drop) { 0 } else { 1 + usize::from(happens(duplicate)) };
        passes(behaviour, &file(bytes), &mut copies)
    }

    #[test]
    fn each_fault_fails_where_the_right_program_passes() {
        for ((name, behaviour), (harmful, bytes, drop, duplicate)) in faults::ALL.into_iter().zip(HARMFUL) {
            assert_eq!(name, harmful);
            let fails = |seed: &u64| !passes_on(behaviour, bytes, drop, duplicate, *seed);
            let seed = (0..500).find(fails).unwrap_or_else(|| panic!("{name} passes with {bytes} bytes"));
            assert!(passes_on(&Correct, bytes, drop, duplicate, seed), "{name}, seed {seed}");
        }
    }

    #[test]
    fn all_faults_pass_on_a_good_network() {
        for (name, behaviour) in faults::ALL {
            let is_large = ["room-for-quarter-megabyte", "room-for-two-hundred-segments"].contains(&name);
            let bytes = if is_large { 100_000 } else { 335_000 };
            assert!(passes_on(behaviour, bytes, 0.0, 0.0, 1), "{name}");
        }
    }
}
