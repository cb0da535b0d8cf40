//! Mistakes that people make with resolvers, one a file. `--fault NAME` makes the resolver behave so.
//!
//! Each passes most test cases, and each needs something of its own to fail: an alias of a certain kind, a name that is
//! asked for twice, records of a certain length or time to live, packets that are lost or doubled. That is what makes
//! the choice of test inputs matter.

mod adds_to_what_it_knows;
mod aliases_stay_young;
mod denies_all_types;
mod drops_aliases_of_nobody;
mod follows_one_alias;
mod forgets_aliases_of_nothing;
mod ids_begin_anew;
mod looks_up_no_servers;
mod name_error_of_silence;
mod negative_for_minimum;
mod new_when_used;
mod one_time_for_all;
mod room_for_two;
mod sees_loops;
mod shows_no_aliases_of_no_time;
mod takes_truncated;

use super::behaviour::Behaviour;

/// Every fault by its name, sorted.
pub const ALL: [(&str, &dyn Behaviour); 16] = [
    ("adds-to-what-it-knows", &adds_to_what_it_knows::AddsToWhatItKnows),
    ("aliases-stay-young", &aliases_stay_young::AliasesStayYoung),
    ("denies-all-types", &denies_all_types::DeniesAllTypes),
    ("drops-aliases-of-nobody", &drops_aliases_of_nobody::DropsAliasesOfNobody),
    ("follows-one-alias", &follows_one_alias::FollowsOneAlias),
    ("forgets-aliases-of-nothing", &forgets_aliases_of_nothing::ForgetsAliasesOfNothing),
    ("ids-begin-anew", &ids_begin_anew::IdsBeginAnew),
    ("looks-up-no-servers", &looks_up_no_servers::LooksUpNoServers),
    ("name-error-of-silence", &name_error_of_silence::NameErrorOfSilence),
    ("negative-for-minimum", &negative_for_minimum::NegativeForMinimum),
    ("new-when-used", &new_when_used::NewWhenUsed),
    ("one-time-for-all", &one_time_for_all::OneTimeForAll),
    ("room-for-two", &room_for_two::RoomForTwo),
    ("sees-loops", &sees_loops::SeesLoops),
    ("shows-no-aliases-of-no-time", &shows_no_aliases_of_no_time::ShowsNoAliasesOfNoTime),
    ("takes-truncated", &takes_truncated::TakesTruncated),
];
