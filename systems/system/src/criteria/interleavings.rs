//! The orders in which messages come.

use std::collections::{BTreeMap, BTreeSet};

use super::criterion::{Requirements, role};
use simutant_sim_core::trace::{Action, TraceEvent};

/// Asks that each role receives each kind of message right after each other kind, once from the component that the one
/// before came from and once from another.
///
/// The order is that in which the component takes the messages, from whichever channel or stream. A component that
/// begins again has received nothing yet.
///
/// ```
/// use simutant_sim_core::{Message, Simulation};
/// use simutant_system::criteria::{Requirements, interleavings};
/// # #[derive(Debug, Clone, PartialEq, Hash)]
/// # enum Request {
/// #     Get,
/// #     Put,
/// # }
/// # impl Message for Request {
/// #     fn kind(&self) -> &'static str { if matches!(self, Self::Get) { "GET" } else { "PUT" } }
/// # }
///
/// let mut simulation = Simulation::<Request>::new(1);
/// simulation.record_trace();
/// let server = simulation.address("server", 7);
/// simulation.add("server", |context| async move {
///     let mut channel = context.channel_at(7);
///     (channel.recv().await, channel.recv().await)
/// });
/// simulation.add("client", move |context| async move {
///     let channel = context.channel();
///     channel.send(server, Request::Put);
///     channel.send(server, Request::Get);
/// });
/// let mut requirements = Requirements::default();
/// interleavings(&simulation.run().trace.expect("it is recorded"), &mut requirements);
/// assert_eq!(requirements.labels().collect::<Vec<_>>(), ["server: PUT, then GET from the same component"]);
/// ```
pub fn interleavings(trace: &[TraceEvent], requirements: &mut Requirements) {
    let mut last: BTreeMap<&str, Last<'_>> = BTreeMap::new();
    let mut orders: BTreeSet<(&str, &str, &str, Sender)> = BTreeSet::new();
    for event in trace {
        match &event.action {
            Action::Received { source, destination, kind, .. } => {
                let component = destination.component.as_str();
                let this = Last { kind, source: &source.component };
                if let Some(last) = last.insert(component, this) {
                    let sender = if last.source == source.component { Sender::Same } else { Sender::Other };
                    orders.insert((role(component), last.kind, kind, sender));
                }
            }
            Action::Restarted { component, .. } => _ = last.remove(component.as_str()),
            _ => {}
        }
    }
    for (role, first, second, sender) in orders {
        let sender = match sender {
            Sender::Same => "the same component",
            Sender::Other => "another component",
        };
        requirements.insert(format!("{role}: {first}, then {second} from {sender}"));
    }
}

/// What a component received last.
struct Last<'a> {
    kind: &'a str,
    source: &'a str,
}

/// Who sent the second of two messages.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Sender {
    Same,
    Other,
}
