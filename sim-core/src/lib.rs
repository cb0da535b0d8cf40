//! A deterministic discrete-event engine for distributed systems: virtual time, components, channels, a faulty network,
//! and an oracle.
//!
//! A simulated system is an executable specification. Its **components** are async functions that read as the protocol
//! does: they send **messages** through **channels**, wait for answers with a timeout, and pause. The engine moves the
//! **virtual time** from event to event, and one **network** decides which packets are lost, duplicated, or late. A
//! run **passes** if the components return what is expected of them and the checks of the end state hold. The model is
//! that of Rutherford's simulation environment (Matthew J. Rutherford, PhD thesis, University of Colorado, section
//! 3.1.2).
//!
//! # A whole program
//!
//! ```
#![doc = include_str!("../examples/ping.rs")]
//! ```
//!
//! # Terms
//!
//! | term | what it is | type |
//! | --- | --- | --- |
//! | component | an async function that is given a context; it may have child tasks | [`Context`], [`Child`] |
//! | channel | a datagram socket, bound to a port of a component | [`Channel`] |
//! | stream | a connection as TCP has them: in order, without loss while it is up | [`Stream`], [`Listener`] |
//! | message | plain data; a packet carries it, and a delivery says where from | [`Message`], [`Delivery`] |
//! | network | what becomes of packets: links, a topology, partitions, rules | [`Network`] |
//! | fault | what happens to a component: a crash, a restart, a pause, a wrong clock, slowness | [`Faults`] |
//! | event | what happens at a time: a start, a timer, an arrival, a scheduled fault or partition | [`Report::events`] |
//! | expectation, check | what a component must return; what must hold at the end | [`Added::expecting`], [`Simulation::check`] |
//! | end of a run | passed, failed the oracle, hit a limit, panicked, or inconclusive | [`Ended`] |
//!
//! # Order
//!
//! - Events happen in the order of their times, and those of equal times in the order in which they were scheduled: a
//!   send schedules the arrival (both, if the packet is duplicated), the first poll of a pause or of a receive with a
//!   timeout schedules the timer, and adding a component schedules its start, once the run begins. [`TieOrder::Random`]
//!   gives up the second half of this, to find out who relies on it.
//! - Scheduled faults and partitions come before everything else of their instant: faults in the order of their list,
//!   then partitions that heal, then those that begin.
//! - An event runs the task that waits for it, up to its next await that is not ready. Tasks that were woken by others
//!   than events (a [`fifo`], a child task that is over, a new child task) run next, first woken first, before the next
//!   event.
//! - Virtual time passes between events only. Code takes none.
//! - A run ends when nothing is scheduled. Components that wait then are over, as servers are, unless a value is
//!   expected of them; [`Report::waiting`] names them, so it shows a deadlock. Before that a run ends at a
//!   [limit](Limits), or when a component panics.
//! - What is dropped is cancelled: of a task that returned, crashed or was cancelled no timer fires and no receive goes
//!   on. Dropping a receive loses no message.
//!
//! # Determinism
//!
//! The configuration and the seed fix a run on every platform with 64-bit pointers. The crate reads no clock, file,
//! environment or thread. Random numbers come from one named generator; each component has a [stream](Random::stream)
//! of its own, and so has each child task and each restart, so another component shifts no other draws. What chance
//! does to a packet is a function of the seed, of the packet's source, and of how many packets the source sent before:
//! another component shifts no other losses, and a packet that is lost with some probability is lost with any greater
//! one.
//!
//! Components must play along: no globals, no clocks, no iteration over hash maps. [`check_determinism`] runs a
//! configuration twice, and names the first event that differs if they do not. [`Report::digest`] is the same for equal
//! runs (on platforms of one byte order, since messages may hash slices): it takes in every event with its time and
//! place, what each message holds, and how far each component's stream came.
//!
//! A simulation never leaves its thread; many can run side by side on many threads, and one inside a component of
//! another.
//!
//! # Faults
//!
//! [`Faults`] and [`Network`] are values: a test case holds them, serde reads and writes them, and what cannot be is
//! refused with the way to the field. A crash stops all tasks of a component wherever they wait, and takes its state,
//! but for what it calls [durable](Context::durable); a restart calls its body again. A paused component sees its
//! timers and messages when it goes on. A wrong clock changes what a component sees of the time, and how long it waits;
//! a slow component only pauses longer. [`RandomFaults`] draws a schedule from rates.
//!
//! # Choices
//!
//! Whatever a run leaves open, which packet is lost, which of two simultaneous events comes first, what a component
//! draws, is decided by the seed, unless a [`ChoiceSource`] does: it sees each [`Choice`] by name and place, and may
//! decide otherwise. [`Simulation::record_choices`] puts them into the report, and a [`Replay`] makes them again, or
//! some of them only.
//!
//! # Traces
//!
//! [`Simulation::record_trace`] asks for a [`Trace`](trace::Trace): what was sent, lost and why, delivered, timed out,
//! crashed and so on, each with its time, as plain data for people and programs. It changes nothing else of the run.
//! [`Context::note`] adds a line, [`Context::phase`] says what a component is about. A trace also names the lines that
//! send, receive and wait; these are not in the digest. What test cases should bring about can be read off traces:
//! `simutant-system` has criteria that do.
//!
//! # Limits
//!
//! A run that passes shows that this configuration with this seed ends as it should. It does not show that others do: a
//! pass does not prove that a protocol is right. A model leaves out what its author leaves out: that computing takes
//! time, unless a component pauses; that memory ends; that bytes have formats.
//!
//! At most 2^24 events can be pending, 2^24 tasks can live, and 2^40 events can be scheduled in a run; more is a panic,
//! which makes the run [abnormal](Ended::Abnormal). Mailboxes have no limit unless [one is
//! set](Channel::set_mailbox_max). The end of time, [`VirtualTime::MAX`], never comes: what is scheduled there does not
//! happen. A component that computes without end, without an await, is never stopped.
//!
//! # What to read next
//!
//! [`Simulation`] puts a configuration together, [`Context`] is what a component has, [`Channel`] is how it talks,
//! [`Stream`] how it does so where order and arrival count, and the [`network`] module's page has all that a network
//! can do. `simutant-system` makes of a simulation with parameters something that the rest of Simutant can test with.
//! The examples are whole programs that assert their results; `cargo test` runs them:
//!
//! | example | what it shows |
//! | --- | --- |
//! | `ping` | a client and a server over a network that loses packets |
//! | `file_transfer` | stop-and-wait over a link that loses, duplicates, corrupts, reorders, and has a bandwidth |
//! | `leader_election` | elections under a partition, with checks of the end state |
//! | `crashing_store` | crashes drawn at random, restarts, a durable log; and a server that loses writes |
//! | `queue` | a model without a network: an M/M/1 queue against its formula |

mod channel;
mod child;
mod choice;
mod clock;
mod components;
mod connections;
mod context;
mod determinism;
mod digest;
mod durable;
mod ended;
mod endless;
mod event;
mod event_queue;
mod executor;
mod expectation;
mod fault;
mod fifo;
mod groups;
mod kernel;
mod limits;
mod message;
pub mod network;
mod noted_waits;
mod outlined;
mod pause;
mod ports;
mod prefetch;
mod run_clock;
mod select;
mod send_sites;
mod setup;
mod simulation;
mod stream;
mod time;
pub mod trace;
mod waker;

pub use channel::{Channel, PortInUse, Recv, RecvTimeout, TimedOut, TooLarge, Unreachable};
pub use child::{Cancelled, Child};
pub use choice::{Choice, ChoiceKind, ChoiceSource, Others, RecordedChoice, Replay};
pub use clock::Clock;
pub use context::Context;
pub use determinism::{Divergence, check_determinism};
pub use durable::Durable;
pub use ended::{CheckFailure, Ended, Panic, PanicOrigin, Undecided, Violation, Wait, WaitSubject, Waiting};
pub use expectation::Returned;
pub use fault::{ClockFault, Fault, FaultRate, Faults, InvalidFaults, RandomFaults, ScheduledFault, SlowFault};
pub use fifo::{FifoReceiver, FifoRecv, FifoSender, fifo};
pub use limits::{LimitReached, Limits};
pub use message::{Address, Delivery, Group, Message};
pub use network::{InvalidNetwork, Latency, Link, Loss, Network};
pub use pause::Pause;
pub use run_clock::RunClock;
pub use select::{Either2, Either3, Either4, Select, select};
pub use setup::{InvalidConfiguration, TieOrder};
pub use simulation::{Added, Report, Simulation};
pub use simutant_random::{InvalidProbability, Probability, Random, UniformInteger};
pub use stream::{
    Accept, Connect, ConnectError, Listener, Stream, StreamError, StreamReceiver, StreamRecv, StreamSend, StreamSender,
    StreamSettings,
};
pub use time::{VirtualDuration, VirtualTime};
