//! Files of histories: what each format means, what is refused and where, round trips, and damaged files.

mod damaged;
mod meaning;
mod refused;
mod round_trips;
