//! Mistakes that people make with link-state routing. `--fault NAME` makes a router behave so.
//!
//! Each passes most test cases, and each needs something of its own to fail: a topology, a path, two messages that go
//! the same way, routers that start in some order, packets that overtake each other. That is what makes the choice of
//! test inputs matter.
//!
//! Twelve have a file of their own; the others are in files by what they get wrong, each with a place where mistakes of
//! its kind were seen: an issue or pull request of a project on GitHub, or an RFC.

mod announces_too_seldom;
mod believes_the_origin;
mod counts_links;
mod exchange;
mod farthest_first;
mod flooding;
mod forwarding;
mod keeps_last_predecessor;
mod numbers;
mod one_step_back;
mod paths;
mod remembers_pairs;
mod room_for_four_messages;
mod takes_cheapest_link;
mod tells_only_of_itself;
mod two_bit_numbers;
mod two_rounds;

use super::behaviour::Behaviour;

/// Every fault by its name, sorted.
pub const ALL: [(&str, &dyn Behaviour); 51] = [
    ("adds-one-for-each-link", &paths::AddsOneForEachLink),
    ("announces-too-seldom", &announces_too_seldom::AnnouncesTooSeldom),
    ("answers-too-seldom", &exchange::AnswersTooSeldom),
    ("believes-the-exchange", &numbers::BelievesTheExchange),
    ("believes-the-origin", &believes_the_origin::BelievesTheOrigin),
    ("compares-with-the-same-neighbour", &numbers::ComparesWithTheSameNeighbour),
    ("computes-around-the-news", &paths::ComputesAroundTheNews),
    ("computes-for-neighbours", &paths::ComputesForNeighbours),
    ("computes-too-seldom", &paths::ComputesTooSeldom),
    ("costs-by-place", &flooding::CostsByPlace),
    ("costs-three-at-most", &paths::CostsThreeAtMost),
    ("counts-links", &counts_links::CountsLinks),
    ("drops-news-before-greeting", &exchange::DropsNewsBeforeGreeting),
    ("drops-news-of-the-unknown", &numbers::DropsNewsOfTheUnknown),
    ("drops-news-that-comes-soon", &numbers::DropsNewsThatComesSoon),
    ("ends-at-the-sender", &flooding::EndsAtTheSender),
    ("farthest-first", &farthest_first::FarthestFirst),
    ("filters-by-the-way-back", &forwarding::FiltersByTheWayBack),
    ("finds-the-link-by-its-cost", &forwarding::FindsTheLinkByItsCost),
    ("goes-on-from-the-echo", &numbers::GoesOnFromTheEcho),
    ("hears-on-the-way-back", &flooding::HearsOnTheWayBack),
    ("keeps-last-predecessor", &keeps_last_predecessor::KeepsLastPredecessor),
    ("keeps-the-first-path", &paths::KeepsTheFirstPath),
    ("lowest-number-first", &paths::LowestNumberFirst),
    ("numbers-are-milliseconds", &numbers::NumbersAreMilliseconds),
    ("numbers-come-round", &numbers::NumbersComeRound),
    ("one-link-for-each-cost", &flooding::OneLinkForEachCost),
    ("one-router-for-each-cost", &paths::OneRouterForEachCost),
    ("one-step-back", &one_step_back::OneStepBack),
    ("only-the-master-tells", &exchange::OnlyTheMasterTells),
    ("passes-on-from-the-origin", &flooding::PassesOnFromTheOrigin),
    ("passes-on-to-one", &flooding::PassesOnToOne),
    ("passes-on-what-changes-paths", &flooding::PassesOnWhatChangesPaths),
    ("prefers-its-own-links", &forwarding::PrefersItsOwnLinks),
    ("remembers-pairs", &remembers_pairs::RemembersPairs),
    ("room-for-four-messages", &room_for_four_messages::RoomForFourMessages),
    ("room-for-two-links", &flooding::RoomForTwoLinks),
    ("sends-five-packets", &flooding::SendsFivePackets),
    ("settles-what-is-found", &paths::SettlesWhatIsFound),
    ("skips-by-place", &flooding::SkipsByPlace),
    ("skips-who-just-came-up", &exchange::SkipsWhoJustCameUp),
    ("takes-cheapest-link", &takes_cheapest_link::TakesCheapestLink),
    ("takes-news-for-greeting", &exchange::TakesNewsForGreeting),
    ("tells-no-first-states", &exchange::TellsNoFirstStates),
    ("tells-of-the-reachable", &exchange::TellsOfTheReachable),
    ("tells-only-of-itself", &tells_only_of_itself::TellsOnlyOfItself),
    ("tells-two-neighbours", &exchange::TellsTwoNeighbours),
    ("tells-two-states", &exchange::TellsTwoStates),
    ("two-bit-numbers", &two_bit_numbers::TwoBitNumbers),
    ("two-rounds", &two_rounds::TwoRounds),
    ("waits-for-the-next-number", &numbers::WaitsForTheNextNumber),
];
