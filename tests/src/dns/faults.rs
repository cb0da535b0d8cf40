//! Mistakes that people make with resolvers, one a file. `--fault NAME` makes the resolver behave so.
//!
//! Each passes most test cases, and each needs something of its own to fail: an alias of a certain kind, a name that is asked for twice,
//! records of a certain length or time to live, packets that are lost or doubled. That is what makes the choice of test inputs matter.

mod adds_to_what_it_knows;
mod chain_of_two;
mod denies_all_types;
mod drops_aliases_of_nobody;
mod forgets_aliases_of_nothing;
mod ids_begin_anew;
mod looks_up_no_servers;
mod name_error_of_silence;
mod negative_for_minimum;
mod one_time_for_all;
mod rcode_of_first_name;
mod room_for_two;
mod sees_loops;
mod shows_no_aliases_of_no_time;
mod takes_truncated;

use super::behaviour::Behaviour;

/// Every fault by its name, sorted.
pub const ALL: [(&str, &dyn Behaviour); 15] = [
    ("adds-to-what-it-knows", &adds_to_what_it_knows::AddsToWhatItKnows),
    ("chain-of-two", &chain_of_two::ChainOfTwo),
    ("denies-all-types", &denies_all_types::DeniesAllTypes),
    ("drops-aliases-of-nobody", &drops_aliases_of_nobody::DropsAliasesOfNobody),
    ("forgets-aliases-of-nothing", &forgets_aliases_of_nothing::ForgetsAliasesOfNothing),
    ("ids-begin-anew", &ids_begin_anew::IdsBeginAnew),
    ("looks-up-no-servers", &looks_up_no_servers::LooksUpNoServers),
    ("name-error-of-silence", &name_error_of_silence::NameErrorOfSilence),
    ("negative-for-minimum", &negative_for_minimum::NegativeForMinimum),
    ("one-time-for-all", &one_time_for_all::OneTimeForAll),
    ("rcode-of-first-name", &rcode_of_first_name::RcodeOfFirstName),
    ("room-for-two", &room_for_two::RoomForTwo),
    ("sees-loops", &sees_loops::SeesLoops),
    ("shows-no-aliases-of-no-time", &shows_no_aliases_of_no_time::ShowsNoAliasesOfNoTime),
    ("takes-truncated", &takes_truncated::TakesTruncated),
];
