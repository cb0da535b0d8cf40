//! Each kind of fault, at each stage of what a component does.

use std::collections::BTreeSet;
use std::fmt;

use super::criterion::{Requirements, role};
use super::phases::Phases;
use simutant_sim_core::trace::{Action, DropReason, DurableState, Packet, ResetReason, TraceEvent};

/// Asks that each kind of fault meets each role in each of its phases.
///
/// The phases are those that components [say](simutant_sim_core::Context::phase). One that has said none since it began
/// is before its first message, after it, or after a restart. Besides, a component can be paused, down, not begun yet,
/// or at its end.
///
/// A fault of a component is a crash, a restart, a pause, a partition that names it, or the reset of a stream of its. A
/// fault of a packet (a loss, for each reason, a duplicate, a corruption) counts for the component that it is from and
/// for the one that it is for, apart.
pub fn faults_in_phases(trace: &[TraceEvent], requirements: &mut Requirements) {
    let mut phases = Phases::default();
    let mut met: BTreeSet<(&str, &str, Fault)> = BTreeSet::new();
    for event in trace {
        let mut meet = |component, fault| _ = met.insert((role(component), phases.of(component), fault));
        let of_packet = match &event.action {
            Action::Dropped { packet, reason } => Some((packet, What::Lost(*reason))),
            Action::Duplicated(packet) => Some((packet, What::Duplicated)),
            Action::Corrupted(packet) => Some((packet, What::Corrupted)),
            _ => None,
        };
        if let Some((Packet { source, destination, .. }, what)) = of_packet {
            meet(&source.component, Fault::PacketFrom(what));
            meet(&destination.component, Fault::PacketTo(what));
        }
        match &event.action {
            Action::Crashed { component } => meet(component, Fault::Crash),
            Action::Restarted { component, durable_state } => meet(component, Fault::Restart(*durable_state)),
            Action::Paused { component, .. } => meet(component, Fault::Pause),
            Action::Partitioned { groups } => {
                groups.iter().flatten().for_each(|component| meet(component, Fault::Partition));
            }
            Action::Reset { local, reason, .. } => meet(&local.component, Fault::Reset(*reason)),
            _ => {}
        }
        phases.pass(&event.action);
    }
    for (role, phase, fault) in met {
        requirements.insert(format!("{role}, {phase}: {fault}"));
    }
}

/// What happens to a component.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Fault {
    Crash,
    Restart(DurableState),
    Pause,
    Partition,
    Reset(ResetReason),
    PacketFrom(What),
    PacketTo(What),
}

/// What happens to a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum What {
    Lost(DropReason),
    Duplicated,
    Corrupted,
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Crash => formatter.write_str("crash"),
            Self::Restart(DurableState::Kept) => formatter.write_str("restart"),
            Self::Restart(DurableState::Lost) => formatter.write_str("restart without its durable state"),
            Self::Pause => formatter.write_str("pause"),
            Self::Partition => formatter.write_str("partition"),
            Self::Reset(ResetReason::Peer) => formatter.write_str("reset of a stream by the other end"),
            Self::Reset(ResetReason::TimedOut) => formatter.write_str("reset of a stream that gives up"),
            Self::PacketFrom(what) => write!(formatter, "packet from it {what}"),
            Self::PacketTo(what) => write!(formatter, "packet to it {what}"),
        }
    }
}

impl fmt::Display for What {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Lost(DropReason::Loss) => "lost by chance",
            Self::Lost(DropReason::Rule) => "lost by a rule",
            Self::Lost(DropReason::Partition) => "lost in a partition",
            Self::Lost(DropReason::NoRoute) => "lost without a route",
            Self::Lost(DropReason::QueueFull) => "lost before a full queue",
            Self::Lost(DropReason::MailboxFull) => "lost before a full mailbox",
            Self::Lost(DropReason::Checksum) => "lost by its checksum",
            Self::Lost(DropReason::Down) => "lost at a component that is down",
            Self::Duplicated => "duplicated",
            Self::Corrupted => "corrupted",
        })
    }
}
