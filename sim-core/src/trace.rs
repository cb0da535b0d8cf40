//! Traces: what happened in a run, for people and for programs that draw it.

use std::borrow::Cow;
use std::fmt;
use std::panic::Location;

use serde::{Deserialize, Serialize};

use crate::{VirtualDuration, VirtualTime};

/// Everything that happened in a run, in the order in which it happened.
pub type Trace = Vec<TraceEvent>;

/// One thing that happened.
///
/// ```
/// use simutant_sim_core::VirtualTime;
/// use simutant_sim_core::trace::{Action, TraceEvent};
///
/// let json = r#"{"at_ns":2000000,"action":"phase-began","component":"a","phase":"candidate"}"#;
/// let event: TraceEvent = serde_json::from_str(json)?;
/// assert_eq!(event.at, VirtualTime::from_millis(2));
/// assert!(matches!(&event.action, Action::PhaseBegan { phase, .. } if phase == "candidate"));
/// assert_eq!(event.to_string(), r#"at 0.002 s, a began phase "candidate""#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceEvent {
    /// When.
    #[serde(rename = "at_ns")]
    pub at: VirtualTime,
    /// The action.
    #[serde(flatten)]
    pub action: Action,
}

/// The kind of an event, with its details.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "action", rename_all = "kebab-case", rename_all_fields = "snake_case")]
pub enum Action {
    /// A component began.
    Started {
        /// The component.
        component: String,
    },
    /// A component returned.
    Returned {
        /// The component.
        component: String,
        /// What it returned, as `Debug` shows it.
        value: String,
    },
    /// A component panicked: the run ends here.
    Failed {
        /// The component.
        component: String,
        /// The panic's message.
        message: String,
    },
    /// A component said something for people to read ([`Context::note`](crate::Context::note)).
    Noted {
        /// The component.
        component: String,
        /// What it said.
        text: String,
    },
    /// A component said in which phase of its protocol it is from now on ([`Context::phase`](crate::Context::phase)).
    PhaseBegan {
        /// The component.
        component: String,
        /// The phase.
        phase: String,
    },
    /// A component sent a packet.
    Sent(Packet),
    /// A packet was lost: at the time of sending, or at the time at which it would have arrived.
    Dropped {
        /// The packet.
        #[serde(flatten)]
        packet: Packet,
        /// Why.
        reason: DropReason,
    },
    /// The network made a second copy of a packet, at the time of sending.
    Duplicated(Packet),
    /// The network changed what a packet holds, at the time of sending; this is what it holds now.
    Corrupted(Packet),
    /// A packet, or a copy of it, arrived in the mailbox of a channel or stream.
    Delivered(Packet),
    /// A packet, or a copy of it, arrived where no channel is open, and is lost.
    Unreachable(Packet),
    /// A component took a message from the mailbox of a channel, or from a stream.
    Received {
        /// Where it came from.
        source: Endpoint,
        /// Where it had arrived.
        destination: Endpoint,
        /// [`Message::kind`](crate::Message::kind).
        kind: String,
        /// Where the code is that sent it.
        send_site: Site,
        /// Where the code is that received it.
        receive_site: Site,
    },
    /// A receive, or a request for a stream, ended for lack of time.
    TimedOut {
        /// The channel that was received on, or the end of the stream that was not opened.
        channel: Endpoint,
        /// Where the code is that waited. Traces of earlier releases do not say it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        site: Option<Site>,
    },
    /// A stream is open: both ends can send.
    Connected {
        /// The end that asked for it.
        client: Endpoint,
        /// The end that accepted it.
        server: Endpoint,
    },
    /// An end of a stream learned that the stream is broken.
    Reset {
        /// This end.
        local: Endpoint,
        /// The other end.
        remote: Endpoint,
        /// Why.
        reason: ResetReason,
    },
    /// A component crashed: its tasks, channels and volatile state are gone.
    Crashed {
        /// The component.
        component: String,
    },
    /// A component that had crashed began again.
    Restarted {
        /// The component.
        component: String,
        /// Whether it found its durable state.
        durable_state: DurableState,
    },
    /// A component stopped for a time, as a garbage collector makes it: what arrives waits.
    Paused {
        /// The component.
        component: String,
        /// For how long.
        #[serde(rename = "for_ns")]
        duration: VirtualDuration,
    },
    /// A paused component goes on.
    Resumed {
        /// The component.
        component: String,
    },
    /// Components were separated: packets between different groups are lost, sent or on their way.
    Partitioned {
        /// The groups. Who is in none of them is with the others that are in none.
        groups: Vec<Vec<String>>,
    },
    /// A partition is over. Others that hold still separate.
    Healed {
        /// The groups that it had separated.
        groups: Vec<Vec<String>>,
    },
}

impl Action {
    /// Returns the places in source code that it names, for those who know the files by other names.
    pub fn sites_mut(&mut self) -> impl Iterator<Item = &mut Site> {
        let sites = match self {
            Self::Received { send_site, receive_site, .. } => [Some(send_site), Some(receive_site)],
            Self::TimedOut { site, .. } => [site.as_mut(), None],
            _ => [None, None],
        };
        sites.into_iter().flatten()
    }
}

/// A place in the source code of a system: a call that sends, receives or waits.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Site {
    /// The file, as the compiler was given it.
    pub file: Cow<'static, str>,
    /// The line, from 1 on. Calls on one line are one place.
    pub line: u32,
}

impl From<&'static Location<'static>> for Site {
    fn from(location: &'static Location<'static>) -> Self {
        Self { file: Cow::Borrowed(location.file()), line: location.line() }
    }
}

/// The file and the line: `src/sender.rs:29`.
impl fmt::Display for Site {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.file, self.line)
    }
}

/// Why a packet was lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DropReason {
    /// By chance, as links lose packets.
    Loss,
    /// A rule of the network says that this packet is dropped.
    Rule,
    /// Its source and its destination are separated.
    Partition,
    /// The topology has no way from its source to its destination.
    NoRoute,
    /// The queue before a link of limited bandwidth is full.
    QueueFull,
    /// The mailbox at its destination is full.
    MailboxFull,
    /// Its checksum told that the network had changed it.
    Checksum,
    /// Its destination has crashed.
    Down,
}

/// Why a stream broke.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ResetReason {
    /// The other end was dropped with something unread, or knows nothing of this stream (it crashed, and is up again).
    Peer,
    /// Nothing was acknowledged for too long.
    TimedOut,
}

/// The part of a component's durable state that a crash leaves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DurableState {
    /// All of it.
    #[default]
    Kept,
    /// Nothing, as if the disk was replaced.
    Lost,
}

/// A packet: a message on its way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Packet {
    /// Counts the packets of the run from 0; copies have the number of the original.
    pub number: u64,
    /// Where it comes from.
    pub source: Endpoint,
    /// Where it goes to.
    pub destination: Endpoint,
    /// Whether it is a datagram or part of a stream.
    #[serde(default)]
    pub transport: Transport,
    /// [`Message::kind`](crate::Message::kind), or `SYN`, `SYN-ACK`, `ACK`, `PROBE`, `FIN`, `RST` of a stream.
    pub kind: String,
    /// The message, as `Debug` shows it; empty for the packets that only a stream itself sees.
    pub message: String,
    /// Its size on the wire, in bytes.
    #[serde(default)]
    pub bytes: u32,
}

/// The transport that a packet belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Transport {
    /// Nothing: it is alone.
    #[default]
    Datagram,
    /// A stream.
    Stream,
}

/// A port of a component.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Endpoint {
    /// The component's name.
    pub component: String,
    /// The port.
    pub port: u16,
}

/// In one line: `at 0.002 s, packet 7 from client:49152 to server:80 arrived: DAT Data(3)`.
impl fmt::Display for TraceEvent {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "at {}, {}", self.at, self.action)
    }
}

/// In one line: texts are shown as `Debug` does.
impl fmt::Display for Action {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Started { component } => write!(formatter, "{component} started"),
            Self::Returned { component, value } => write!(formatter, "{component} returned {value}"),
            Self::Failed { component, message } => write!(formatter, "{component} panicked: {message:?}"),
            Self::Noted { component, text } => write!(formatter, "{component} noted {text:?}"),
            Self::PhaseBegan { component, phase } => write!(formatter, "{component} began phase {phase:?}"),
            Self::Sent(packet) => packet.write(formatter, format_args!("was sent")),
            Self::Dropped { packet, reason } => packet.write(formatter, format_args!("was dropped ({reason})")),
            Self::Duplicated(packet) => packet.write(formatter, format_args!("was duplicated")),
            Self::Corrupted(packet) => packet.write(formatter, format_args!("was corrupted")),
            Self::Delivered(packet) => packet.write(formatter, format_args!("arrived")),
            Self::Unreachable(packet) => packet.write(formatter, format_args!("found no open channel")),
            Self::Received { source, destination, kind, send_site, receive_site } => {
                write!(
                    formatter,
                    "{kind} from {source} was received at {destination}, sent at {send_site} and received at {receive_site}"
                )
            }
            Self::TimedOut { channel, site: Some(site) } => {
                write!(formatter, "a receive at {channel} timed out, at {site}")
            }
            Self::TimedOut { channel, site: None } => write!(formatter, "a receive at {channel} timed out"),
            Self::Connected { client, server } => write!(formatter, "a stream from {client} to {server} was opened"),
            Self::Reset { local, remote, reason } => {
                write!(formatter, "{local} learned that its stream to {remote} is broken ({reason})")
            }
            Self::Crashed { component } => write!(formatter, "{component} crashed"),
            Self::Restarted { component, durable_state } => {
                write!(formatter, "{component} restarted (durable state {durable_state})")
            }
            Self::Paused { component, duration } => write!(formatter, "{component} was paused for {duration}"),
            Self::Resumed { component } => write!(formatter, "{component} went on"),
            Self::Partitioned { groups } => write!(formatter, "a partition began: {}", Groups(groups)),
            Self::Healed { groups } => write!(formatter, "a partition was healed: {}", Groups(groups)),
        }
    }
}

impl Packet {
    /// Writes what became of the packet, and what it holds.
    fn write(&self, formatter: &mut fmt::Formatter<'_>, what: fmt::Arguments<'_>) -> fmt::Result {
        let Self { number, source, destination, kind, message, .. } = self;
        write!(formatter, "packet {number} from {source} to {destination} {what}: {kind}")?;
        if message.is_empty() { Ok(()) } else { write!(formatter, " {message}") }
    }
}

/// Groups of components: `a, b | c`.
struct Groups<'a>(&'a [Vec<String>]);

impl fmt::Display for Groups<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, names) in self.0.iter().enumerate() {
            write!(formatter, "{}{}", if index == 0 { "" } else { " | " }, names.join(", "))?;
        }
        Ok(())
    }
}

/// What people call it: `queue full`.
impl fmt::Display for DropReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Loss => "loss",
            Self::Rule => "rule",
            Self::Partition => "partition",
            Self::NoRoute => "no route",
            Self::QueueFull => "queue full",
            Self::MailboxFull => "mailbox full",
            Self::Checksum => "checksum",
            Self::Down => "destination down",
        })
    }
}

/// What people call it: `by the other end`.
impl fmt::Display for ResetReason {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Peer => "by the other end",
            Self::TimedOut => "nothing acknowledged",
        })
    }
}

/// `kept` or `lost`.
impl fmt::Display for DurableState {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Kept => "kept",
            Self::Lost => "lost",
        })
    }
}

/// The component and the port: `server:80`.
impl fmt::Display for Endpoint {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}:{}", self.component, self.port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(action: Action, expect: &str) {
        let event = TraceEvent { at: VirtualTime::from_millis(2), action };
        assert_eq!(event.to_string(), format!("at 0.002 s, {expect}"));
    }

    fn packet(message: &str) -> Packet {
        let endpoint = |component: &str, port| Endpoint { component: component.to_owned(), port };
        Packet {
            number: 7,
            source: endpoint("client", 49_152),
            destination: endpoint("server", 80),
            transport: Transport::Datagram,
            kind: "DAT".to_owned(),
            message: message.to_owned(),
            bytes: 3,
        }
    }

    #[test]
    fn an_event_is_a_line_that_people_read() {
        let component = || "server".to_owned();
        let groups = || vec![vec!["a".to_owned(), "b".to_owned()], vec!["c".to_owned()]];
        let ends = || [packet("").source, packet("").destination];
        check(Action::Started { component: component() }, "server started");
        check(Action::Returned { component: component(), value: "Ok(3)".to_owned() }, "server returned Ok(3)");
        let message = "two\nlines".to_owned();
        check(Action::Failed { component: component(), message }, r#"server panicked: "two\nlines""#);
        check(Action::Noted { component: component(), text: "round 1".to_owned() }, r#"server noted "round 1""#);
        let way = "packet 7 from client:49152 to server:80";
        check(Action::Sent(packet("Data(3)")), &format!("{way} was sent: DAT Data(3)"));
        let dropped = Action::Dropped { packet: packet("Data(3)"), reason: DropReason::QueueFull };
        check(dropped, &format!("{way} was dropped (queue full): DAT Data(3)"));
        check(Action::Duplicated(packet("")), &format!("{way} was duplicated: DAT"));
        check(Action::Corrupted(packet("")), &format!("{way} was corrupted: DAT"));
        check(Action::Delivered(packet("")), &format!("{way} arrived: DAT"));
        check(Action::Unreachable(packet("")), &format!("{way} found no open channel: DAT"));
        let [client, server] = ends();
        check(Action::TimedOut { channel: server.clone(), site: None }, "a receive at server:80 timed out");
        let site = |line| Site { file: "src/a.rs".into(), line };
        check(
            Action::TimedOut { channel: server.clone(), site: Some(site(3)) },
            "a receive at server:80 timed out, at src/a.rs:3",
        );
        let phase = Action::PhaseBegan { component: "server".into(), phase: "leader".into() };
        check(phase, "server began phase \"leader\"");
        let received = Action::Received {
            source: client.clone(),
            destination: server.clone(),
            kind: "DAT".into(),
            send_site: site(3),
            receive_site: site(7),
        };
        check(
            received,
            "DAT from client:49152 was received at server:80, sent at src/a.rs:3 and received at src/a.rs:7",
        );
        check(Action::Connected { client, server }, "a stream from client:49152 to server:80 was opened");
        let [remote, local] = ends();
        check(
            Action::Reset { local, remote, reason: ResetReason::TimedOut },
            "server:80 learned that its stream to client:49152 is broken (nothing acknowledged)",
        );
        check(Action::Crashed { component: component() }, "server crashed");
        let durable_state = DurableState::Lost;
        check(Action::Restarted { component: component(), durable_state }, "server restarted (durable state lost)");
        let duration = VirtualDuration::from_millis(3);
        check(Action::Paused { component: component(), duration }, "server was paused for 3 ms");
        check(Action::Resumed { component: component() }, "server went on");
        check(Action::Partitioned { groups: groups() }, "a partition began: a, b | c");
        check(Action::Healed { groups: groups() }, "a partition was healed: a, b | c");
    }
}
