//! Mistakes that people make with link-state routing, one a file. `--fault NAME` makes a router behave so.
//!
//! Each passes most test cases, and each needs something of its own to fail: a topology, a path, two messages that go the same
//! way, routers that start in some order, packets that overtake each other. That is what makes the choice of test inputs matter.

mod announces_too_seldom;
mod counts_links;
mod farthest_first;
mod keeps_last_predecessor;
mod one_step_back;
mod prefers_direct_links;
mod recomputes_for_new_routers;
mod remembers_pairs;
mod room_for_four_messages;
mod room_for_two_links;
mod settles_when_found;
mod stores_old_states;
mod takes_cheapest_link;
mod tells_only_of_itself;
mod two_links_at_most;
mod two_rounds;

use super::behaviour::Behaviour;

/// Every fault by its name, sorted.
pub const ALL: [(&str, &dyn Behaviour); 16] = [
    ("announces-too-seldom", &announces_too_seldom::AnnouncesTooSeldom),
    ("counts-links", &counts_links::CountsLinks),
    ("farthest-first", &farthest_first::FarthestFirst),
    ("keeps-last-predecessor", &keeps_last_predecessor::KeepsLastPredecessor),
    ("one-step-back", &one_step_back::OneStepBack),
    ("prefers-direct-links", &prefers_direct_links::PrefersDirectLinks),
    ("recomputes-for-new-routers", &recomputes_for_new_routers::RecomputesForNewRouters),
    ("remembers-pairs", &remembers_pairs::RemembersPairs),
    ("room-for-four-messages", &room_for_four_messages::RoomForFourMessages),
    ("room-for-two-links", &room_for_two_links::RoomForTwoLinks),
    ("settles-when-found", &settles_when_found::SettlesWhenFound),
    ("stores-old-states", &stores_old_states::StoresOldStates),
    ("takes-cheapest-link", &takes_cheapest_link::TakesCheapestLink),
    ("tells-only-of-itself", &tells_only_of_itself::TellsOnlyOfItself),
    ("two-links-at-most", &two_links_at_most::TwoLinksAtMost),
    ("two-rounds", &two_rounds::TwoRounds),
];
