//! Mistakes that people make with link-state routing, one a file. `--fault NAME` makes a router behave so.
//!
//! Each passes most test cases, and each needs something of its own to fail: a topology, a path, two messages that go
//! the same way, routers that start in some order, packets that overtake each other. That is what makes the choice of
//! test inputs matter.

mod announces_too_seldom;
mod believes_the_origin;
mod counts_links;
mod farthest_first;
mod keeps_last_predecessor;
mod one_step_back;
mod remembers_pairs;
mod room_for_four_messages;
mod takes_cheapest_link;
mod tells_only_of_itself;
mod two_bit_numbers;
mod two_rounds;

use super::behaviour::Behaviour;

/// Every fault by its name, sorted.
pub const ALL: [(&str, &dyn Behaviour); 12] = [
    ("announces-too-seldom", &announces_too_seldom::AnnouncesTooSeldom),
    ("believes-the-origin", &believes_the_origin::BelievesTheOrigin),
    ("counts-links", &counts_links::CountsLinks),
    ("farthest-first", &farthest_first::FarthestFirst),
    ("keeps-last-predecessor", &keeps_last_predecessor::KeepsLastPredecessor),
    ("one-step-back", &one_step_back::OneStepBack),
    ("remembers-pairs", &remembers_pairs::RemembersPairs),
    ("room-for-four-messages", &room_for_four_messages::RoomForFourMessages),
    ("takes-cheapest-link", &takes_cheapest_link::TakesCheapestLink),
    ("tells-only-of-itself", &tells_only_of_itself::TellsOnlyOfItself),
    ("two-bit-numbers", &two_bit_numbers::TwoBitNumbers),
    ("two-rounds", &two_rounds::TwoRounds),
];
