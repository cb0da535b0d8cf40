//! A deterministic discrete-event engine for distributed systems: virtual time, components, channels, a faulty network, and
//! an oracle.
//!
//! A simulated system is an executable specification. Its **components** are async functions that read as the protocol does:
//! they send **messages** through **channels**, wait for answers with a timeout, and pause. The engine moves the **virtual
//! time** from event to event, and one **network** decides which packets are lost, duplicated, or late. What is expected of
//! components, and checks of the end state, make of each run a **verdict**. The model is that of Rutherford's simulation
//! environment (Matthew J. Rutherford, PhD thesis, University of Colorado, section 3.1.2).
//!
//! # A whole program
//!
//! ```
#![doc = include_str!("../examples/ping.rs")]
//! ```
//!
//! # Order
//!
//! - Events happen in the order of their times, and those of equal times in the order in which they were scheduled: a send
//!   schedules the arrival (both, if the packet is duplicated), the first poll of a pause or of a receive with a timeout
//!   schedules the timer, and adding a component schedules its start, once the run begins.
//! - An event runs the component that waits for it, up to its next await that is not ready. Components that were woken by others
//!   than events (a waker that one component keeps of another) run next, first woken first, before the next event.
//! - Virtual time passes between events only. Code takes none.
//! - A run ends when nothing is scheduled. Components that wait then are over, as servers are, unless a value is expected of
//!   them. Before that it ends at a [limit](Limits), or when a component panics.
//!
//! # Determinism
//!
//! The configuration and the seed fix a run, bit for bit, on every platform with 64-bit pointers. The crate reads no clock, file,
//! environment or thread. Random numbers come from one named generator; each component has a [stream](Random::stream) of its
//! own, and the network has one, so another component shifts nobody's draws. Components must play along: no globals, no
//! clocks, no iteration over hash maps. [`Report::digest`] tells whether two runs had
//! the same events at the same times between the same components; what messages hold, only a [trace](trace) tells.
//!
//! A simulation never leaves its thread; many can run side by side on many threads, and one inside a component of another.
//!
//! # Limits
//!
//! A reasonable run shows that this configuration with this seed ends as it should. It does not show that others do.
//! At most 2^24 events can be pending, and 2^40 can be scheduled in a run; both panic, which makes the run
//! [abnormal](Verdict::Abnormal). Mailboxes have no limit of their own. A component that computes without end, without an await,
//! is never stopped.
//!
//! # What to read next
//!
//! [`Simulation`] puts a configuration together, [`Context`] is what a component has, [`Channel`] is how it talks. [`System`]
//! makes of a simulation with parameters something that the rest of Simutant can test with.

mod channel;
mod child;
mod choice;
mod clock;
mod components;
mod context;
mod determinism;
mod digest;
mod durable;
mod event;
mod event_queue;
mod executor;
mod expectation;
mod fault;
mod fifo;
mod kernel;
mod limits;
mod message;
pub mod network;
mod pause;
mod portable;
mod ports;
mod prefetch;
mod probability;
mod random;
mod select;
mod simulation;
mod system;
mod time;
pub mod trace;
mod verdict;
mod waker;

pub use channel::{Channel, PortInUse, Recv, RecvTimeout, TimedOut, TooLarge, Unreachable};
pub use child::{Cancelled, Child};
pub use choice::{Choice, ChoiceKind, ChoiceSource, RecordedChoice, Replay};
pub use clock::Clock;
pub use context::Context;
pub use determinism::{Divergence, check_determinism};
pub use durable::Durable;
pub use expectation::Returned;
pub use fault::{ClockFault, Fault, FaultRate, Faults, InvalidFaults, RandomFaults, ScheduledFault, SlowFault};
pub use fifo::{FifoReceiver, FifoRecv, FifoSender, fifo};
pub use limits::{LimitReached, Limits};
pub use message::{Address, Delivery, Group, Message};
pub use network::{InvalidNetwork, Latency, Link, Loss, Network};
pub use pause::Pause;
pub use probability::{InvalidProbability, Probability};
pub use random::{Random, UniformInteger};
pub use select::{Either2, Either3, Either4, Select, select};
pub use simulation::{Added, InvalidConfiguration, Report, Simulation, TieOrder};
pub use system::{BlackBoxCriterion, InvalidTestCase, Quota, System, universe};
pub use time::{VirtualDuration, VirtualTime};
pub use verdict::{CheckFailure, Failure, Origin, Verdict, Violation, Wait, WaitSubject, Waiting};
