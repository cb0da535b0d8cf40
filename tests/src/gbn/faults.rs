//! Mistakes that people make with go-back-n, one a file. `--fault NAME` makes a program behave so.
//!
//! Each passes most test cases, and each needs something of its own to fail: the loss of a certain packet, several
//! losses together, a large or a small file. That is what makes the choice of test inputs matter.

mod counts_all_timeouts;
mod ends_unacknowledged;
mod fills_first_window;
mod four_sequence_numbers;
mod gives_up_after_four_timeouts;
mod keeps_sixteen_packets;
mod learns_first_number;
mod leaves_after_end;
mod refuses_early_acknowledgements;
mod repeats_last_ack_once;

use super::behaviour::Behaviour;

/// Every fault by its name, sorted.
pub const ALL: [(&str, &dyn Behaviour); 10] = [
    ("counts-all-timeouts", &counts_all_timeouts::CountsAllTimeouts),
    ("ends-unacknowledged", &ends_unacknowledged::EndsUnacknowledged),
    ("fills-first-window", &fills_first_window::FillsFirstWindow),
    ("four-sequence-numbers", &four_sequence_numbers::FourSequenceNumbers),
    ("gives-up-after-four-timeouts", &gives_up_after_four_timeouts::GivesUpAfterFourTimeouts),
    ("keeps-sixteen-packets", &keeps_sixteen_packets::KeepsSixteenPackets),
    ("learns-first-number", &learns_first_number::LearnsFirstNumber),
    ("leaves-after-end", &leaves_after_end::LeavesAfterEnd),
    ("refuses-early-acknowledgements", &refuses_early_acknowledgements::RefusesEarlyAcknowledgements),
    ("repeats-last-ack-once", &repeats_last_ack_once::RepeatsLastAckOnce),
];
