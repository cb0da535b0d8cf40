//! The engine, through its public interface.

mod channels;
mod children;
mod choices;
mod determinism;
mod divergence;
mod ended;
mod faults;
mod groups;
mod network;
mod properties;
mod reports;
mod statistics;
mod streams;

use simutant_sim_core::{Message, VirtualDuration, VirtualTime};

/// A message that has nothing but a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct Number(u32);

impl Message for Number {
    fn kind(&self) -> &'static str {
        "NUMBER"
    }
}

const fn ms(millis: u64) -> VirtualDuration {
    VirtualDuration::from_millis(millis)
}

const fn at_ms(millis: u64) -> VirtualTime {
    VirtualTime::from_millis(millis)
}
