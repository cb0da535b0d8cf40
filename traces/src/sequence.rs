//! What a trace tells, put together: packets from their sending to their end, what happens to components, and how long
//! each of them lives. That a component took what had arrived is left out.

use std::collections::{BTreeMap, HashMap};

use simutant_sim_core::trace::{Action, DropReason, Endpoint, Packet, Trace};
use simutant_sim_core::{VirtualDuration, VirtualTime};

/// A trace, put together.
#[derive(Debug, Default)]
pub(crate) struct Sequence<'a> {
    /// The names of all components, in the order in which the trace first has them.
    pub(crate) components: Vec<&'a str>,
    /// When each row is. A row is an event, with what the network decides of a packet at the time of its sending.
    pub(crate) rows: Vec<VirtualTime>,
    /// The row of each event.
    pub(crate) row_of_event: Vec<usize>,
    /// The packets, each copy apart, in the order of sending.
    pub(crate) flights: Vec<Flight<'a>>,
    /// What is not a packet, in the order of the trace.
    pub(crate) marks: Vec<Mark>,
    /// What each component is from row to row. Those of one component follow each other and leave nothing out.
    pub(crate) lives: Vec<Life>,
    /// When components are separated, in order.
    pub(crate) partitions: Vec<Separation<'a>>,
}

/// A packet, or a copy of it, on its way.
#[derive(Debug)]
pub(crate) struct Flight<'a> {
    /// As it was sent.
    pub(crate) packet: &'a Packet,
    pub(crate) source: Port,
    pub(crate) destination: Port,
    pub(crate) origin: FlightOrigin,
    /// What it holds since the network changed it.
    pub(crate) corrupted: Option<&'a Packet>,
    /// The row of the sending.
    pub(crate) sent: usize,
    pub(crate) end: FlightEnd,
}

/// A port of a component.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Port {
    /// The index of the component.
    pub(crate) component: usize,
    pub(crate) number: u16,
}

/// Where a flight comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FlightOrigin {
    /// The component sent it.
    Sent,
    /// The network made it.
    Copied,
    /// The trace does not say: it is a part of one.
    Unknown,
}

/// What becomes of a flight.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FlightEnd {
    /// It arrived in this row.
    Delivered(usize),
    /// It was lost in this row.
    Dropped(usize, DropReason),
    /// It arrived in this row where no channel is open.
    Unreachable(usize),
    /// It was on its way when the trace ended.
    Never,
}

impl FlightEnd {
    /// Returns the row of the end.
    pub(crate) fn row(self) -> Option<usize> {
        match self {
            Self::Delivered(row) | Self::Dropped(row, _) | Self::Unreachable(row) => Some(row),
            Self::Never => None,
        }
    }
}

/// Something that happens to a component, or to all.
#[derive(Debug)]
pub(crate) struct Mark {
    pub(crate) row: usize,
    pub(crate) sign: Sign,
    /// The component; `None` if it concerns all.
    pub(crate) component: Option<usize>,
    /// The other end of a stream.
    pub(crate) peer: Option<usize>,
    /// What there is to read.
    pub(crate) text: String,
}

/// What a mark stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Sign {
    Started,
    Returned,
    Failed,
    Noted,
    TimedOut,
    Connected,
    Reset,
    Crashed,
    Restarted,
    Paused,
    Resumed,
    Partitioned,
    Healed,
}

impl Sign {
    /// All of them, each at the index that it is as a number.
    pub(crate) const ALL: [Self; 13] = [
        Self::Started,
        Self::Returned,
        Self::Failed,
        Self::Noted,
        Self::TimedOut,
        Self::Connected,
        Self::Reset,
        Self::Crashed,
        Self::Restarted,
        Self::Paused,
        Self::Resumed,
        Self::Partitioned,
        Self::Healed,
    ];

    /// Returns what people call it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Started => "started",
            Self::Returned => "returned",
            Self::Failed => "failed",
            Self::Noted => "note",
            Self::TimedOut => "timeout",
            Self::Connected => "connected",
            Self::Reset => "reset",
            Self::Crashed => "crashed",
            Self::Restarted => "restarted",
            Self::Paused => "paused",
            Self::Resumed => "resumed",
            Self::Partitioned => "partitioned",
            Self::Healed => "healed",
        }
    }
}

/// What a component is for some rows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Life {
    pub(crate) component: usize,
    pub(crate) state: State,
    pub(crate) from: usize,
    /// `None` if it lasts to the end of the trace.
    pub(crate) to: Option<usize>,
}

/// What a component is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum State {
    /// It did not begin yet.
    Waiting,
    /// It runs.
    Up,
    /// It stands still.
    Paused,
    /// It has crashed.
    Down,
    /// It has returned or failed.
    Over,
}

/// Components that are separated for some rows.
#[derive(Debug)]
pub(crate) struct Separation<'a> {
    pub(crate) from: usize,
    /// `None` if it lasts to the end of the trace.
    pub(crate) to: Option<usize>,
    groups: &'a [Vec<String>],
    /// The index of each component's group; `None` for those that are in none.
    pub(crate) group_of: Vec<Option<usize>>,
}

/// Returns groups of components as people read them.
fn named(groups: &[Vec<String>]) -> String {
    groups.iter().map(|names| names.join(", ")).collect::<Vec<_>>().join(" | ")
}

impl<'a> Sequence<'a> {
    /// Puts a trace together.
    pub(crate) fn new(trace: &'a Trace) -> Self {
        let mut builder = Builder::default();
        for event in trace {
            builder.add(event.at, &event.action);
        }
        builder.finish()
    }

    /// Returns how long a flight took; `None` if it did not end.
    pub(crate) fn duration(&self, flight: &Flight<'_>) -> Option<VirtualDuration> {
        Some(self.rows[flight.end.row()?].since(self.rows[flight.sent]))
    }

    /// Returns when the trace ends.
    pub(crate) fn end(&self) -> VirtualTime {
        self.rows.last().copied().unwrap_or_default()
    }
}

#[derive(Debug, Default)]
struct Builder<'a> {
    sequence: Sequence<'a>,
    /// Looked up, and never iterated.
    component_indices: HashMap<&'a str, usize>,
    /// By number, the flights that did not end.
    flying: BTreeMap<u64, Vec<usize>>,
    /// By component, what it is and since when; `None` until an event says so.
    states: Vec<Option<(State, usize)>>,
    /// The packet of the last row, if the last row is a sending.
    last_sent: Option<u64>,
}

impl<'a> Builder<'a> {
    fn add(&mut self, at: VirtualTime, action: &'a Action) {
        if let Action::Received { .. } = action {
            // It follows from the arrival, and would double the number of rows.
            return;
        }
        let of_last_sent = match action {
            Action::Dropped { packet, .. } | Action::Duplicated(packet) | Action::Corrupted(packet) => {
                self.last_sent == Some(packet.number) && self.sequence.rows.last() == Some(&at)
            }
            _ => false,
        };
        if !of_last_sent {
            self.sequence.rows.push(at);
            self.last_sent = if let Action::Sent(packet) = action { Some(packet.number) } else { None };
        }
        let row = self.sequence.rows.len() - 1;
        self.sequence.row_of_event.push(row);
        match action {
            Action::Started { component } => self.change(row, Sign::Started, component, State::Up, String::new()),
            Action::Returned { component, value } => {
                self.change(row, Sign::Returned, component, State::Over, value.clone());
            }
            Action::Failed { component, message } => {
                self.change(row, Sign::Failed, component, State::Over, message.clone());
            }
            Action::Noted { component, text } => {
                let component = self.component(component);
                self.mark(row, Sign::Noted, Some(component), None, text.clone());
            }
            Action::PhaseBegan { component, phase } => {
                let component = self.component(component);
                self.mark(row, Sign::Noted, Some(component), None, format!("phase: {phase}"));
            }
            Action::Received { .. } => unreachable!("it is no row"),
            Action::Sent(packet) => self.take_off(row, packet, FlightOrigin::Sent),
            Action::Duplicated(packet) => self.take_off(row, packet, FlightOrigin::Copied),
            Action::Corrupted(packet) => {
                let index = self.find(row, packet);
                self.sequence.flights[index].corrupted = Some(packet);
            }
            Action::Delivered(packet) => self.land(row, packet, FlightEnd::Delivered(row)),
            Action::Unreachable(packet) => self.land(row, packet, FlightEnd::Unreachable(row)),
            Action::Dropped { packet, reason } => self.land(row, packet, FlightEnd::Dropped(row, *reason)),
            Action::TimedOut { channel, .. } => {
                let port = self.port(channel);
                self.mark(row, Sign::TimedOut, Some(port.component), None, format!("port {}", port.number));
            }
            Action::Connected { client, server } => {
                let (client, server) = (self.port(client), self.port(server));
                let text = format!("port {} to port {}", client.number, server.number);
                self.mark(row, Sign::Connected, Some(client.component), Some(server.component), text);
            }
            Action::Reset { local, remote, reason } => {
                let (local, remote) = (self.port(local), self.port(remote));
                let text = format!("port {} to port {}: {reason}", local.number, remote.number);
                self.mark(row, Sign::Reset, Some(local.component), Some(remote.component), text);
            }
            Action::Crashed { component } => self.change(row, Sign::Crashed, component, State::Down, String::new()),
            Action::Restarted { component, durable_state } => {
                self.change(row, Sign::Restarted, component, State::Up, format!("durable state {durable_state}"));
            }
            Action::Paused { component, duration } => {
                self.change(row, Sign::Paused, component, State::Paused, format!("for {duration}"));
            }
            Action::Resumed { component } => self.resume(row, component),
            Action::Partitioned { groups } => self.separate(row, groups),
            Action::Healed { groups } => {
                self.end_separation(row, groups);
                self.mark(row, Sign::Healed, None, None, named(groups));
            }
        }
    }

    fn component(&mut self, name: &'a str) -> usize {
        *self.component_indices.entry(name).or_insert_with(|| {
            self.sequence.components.push(name);
            self.states.push(None);
            self.states.len() - 1
        })
    }

    fn port(&mut self, endpoint: &'a Endpoint) -> Port {
        Port { component: self.component(&endpoint.component), number: endpoint.port }
    }

    fn take_off(&mut self, row: usize, packet: &'a Packet, origin: FlightOrigin) {
        let (source, destination) = (self.port(&packet.source), self.port(&packet.destination));
        let flight = Flight { packet, source, destination, origin, corrupted: None, sent: row, end: FlightEnd::Never };
        self.flying.entry(packet.number).or_default().push(self.sequence.flights.len());
        self.sequence.flights.push(flight);
    }

    /// Returns the flight that an event is about. A trace does not say which of several copies an event is about: it is
    /// the first that holds what the event has, or else the first.
    fn find(&mut self, row: usize, packet: &'a Packet) -> usize {
        if self.flying.get(&packet.number).is_none_or(Vec::is_empty) {
            self.take_off(row, packet, FlightOrigin::Unknown);
        }
        let candidates = &self.flying[&packet.number];
        let holds = |index: &&usize| {
            let flight = &self.sequence.flights[**index];
            flight.corrupted.unwrap_or(flight.packet).message == packet.message
        };
        *candidates.iter().find(holds).unwrap_or(&candidates[0])
    }

    fn land(&mut self, row: usize, packet: &'a Packet, end: FlightEnd) {
        let index = self.find(row, packet);
        self.sequence.flights[index].end = end;
        if let Some(flying) = self.flying.get_mut(&packet.number) {
            flying.retain(|&other| other != index);
            if flying.is_empty() {
                self.flying.remove(&packet.number);
            }
        }
    }

    fn mark(&mut self, row: usize, sign: Sign, component: Option<usize>, peer: Option<usize>, text: String) {
        self.sequence.marks.push(Mark { row, sign, component, peer, text });
    }

    fn change(&mut self, row: usize, sign: Sign, component: &'a str, state: State, text: String) {
        let component = self.component(component);
        self.mark(row, sign, Some(component), None, text);
        let first = if sign == Sign::Started { State::Waiting } else { State::Up };
        self.enter(row, component, first, state);
    }

    /// A component that crashed in its pause stays down.
    fn resume(&mut self, row: usize, component: &'a str) {
        let component = self.component(component);
        self.mark(row, Sign::Resumed, Some(component), None, String::new());
        if matches!(self.states[component], Some((State::Paused, _)) | None) {
            self.enter(row, component, State::Paused, State::Up);
        }
    }

    /// `first` is what the component was until now if nothing said so before.
    fn enter(&mut self, row: usize, component: usize, first: State, state: State) {
        let (old, from) = self.states[component].unwrap_or((first, 0));
        if from < row {
            self.sequence.lives.push(Life { component, state: old, from, to: Some(row) });
        }
        self.states[component] = Some((state, row));
    }

    fn separate(&mut self, row: usize, groups: &'a [Vec<String>]) {
        let mut group_of = Vec::new();
        for (group, names) in groups.iter().enumerate() {
            for name in names {
                let component = self.component(name);
                group_of.resize(self.states.len(), None);
                group_of[component] = Some(group);
            }
        }
        self.sequence.partitions.push(Separation { from: row, to: None, groups, group_of });
        self.mark(row, Sign::Partitioned, None, None, named(groups));
    }

    /// Ends the partition into these groups that began last. Others may go on.
    fn end_separation(&mut self, row: usize, groups: &[Vec<String>]) {
        let mut open = self.sequence.partitions.iter_mut().filter(|partition| partition.to.is_none());
        if let Some(last) = open.rfind(|partition| partition.groups == groups) {
            last.to = Some(row);
        }
    }

    fn finish(mut self) -> Sequence<'a> {
        for (component, state) in self.states.iter().enumerate() {
            let (state, from) = state.unwrap_or((State::Up, 0));
            self.sequence.lives.push(Life { component, state, from, to: None });
        }
        for partition in &mut self.sequence.partitions {
            partition.group_of.resize(self.sequence.components.len(), None);
        }
        self.sequence.lives.sort_by_key(|life| (life.component, life.from));
        self.sequence
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::examples::{at, every_action, packet};

    fn ends(trace: &Trace) -> Vec<FlightEnd> {
        Sequence::new(trace).flights.iter().map(|flight| flight.end).collect()
    }

    #[test]
    fn what_the_network_decides_when_a_packet_is_sent_shares_its_row() {
        let lost = Action::Dropped { packet: packet(1, "a", "b"), reason: DropReason::Loss };
        let trace = vec![
            at(5, Action::Sent(packet(0, "a", "b"))),
            at(5, Action::Duplicated(packet(0, "a", "b"))),
            at(5, Action::Sent(packet(1, "a", "b"))),
            at(5, lost),
            at(9, Action::Delivered(packet(0, "a", "b"))),
            at(9, Action::Delivered(packet(0, "a", "b"))),
        ];
        let sequence = Sequence::new(&trace);
        assert_eq!(sequence.rows.iter().map(|at| at.as_nanos()).collect::<Vec<_>>(), [5, 5, 9, 9]);
        assert_eq!(
            ends(&trace),
            [FlightEnd::Delivered(2), FlightEnd::Delivered(3), FlightEnd::Dropped(1, DropReason::Loss)]
        );
    }

    #[test]
    fn a_loss_at_the_time_of_arrival_has_a_row() {
        let lost = Action::Dropped { packet: packet(0, "a", "b"), reason: DropReason::MailboxFull };
        let trace = vec![at(5, Action::Sent(packet(0, "a", "b"))), at(5, lost.clone()), at(6, lost)];
        let sequence = Sequence::new(&trace);
        assert_eq!(sequence.rows.len(), 2);
        assert_eq!(sequence.flights[1].origin, FlightOrigin::Unknown);
    }

    #[test]
    fn a_corrupted_copy_is_told_from_the_other_by_what_it_holds() {
        let corrupted = Packet { message: "changed".to_owned(), ..packet(0, "a", "b") };
        let trace = vec![
            at(1, Action::Sent(packet(0, "a", "b"))),
            at(1, Action::Corrupted(corrupted.clone())),
            at(1, Action::Duplicated(packet(0, "a", "b"))),
            at(2, Action::Delivered(packet(0, "a", "b"))),
            at(3, Action::Delivered(corrupted)),
        ];
        assert_eq!(ends(&trace), [FlightEnd::Delivered(2), FlightEnd::Delivered(1)]);
    }

    #[test]
    fn lives_follow_each_other_without_gaps() {
        let trace = every_action();
        let sequence = Sequence::new(&trace);
        for component in 0..sequence.components.len() {
            let lives: Vec<&Life> = sequence.lives.iter().filter(|life| life.component == component).collect();
            assert_eq!(lives[0].from, 0);
            assert_eq!(lives[lives.len() - 1].to, None);
            assert!(lives.windows(2).all(|pair| pair[0].to == Some(pair[1].from)), "{lives:?}");
        }
    }

    #[test]
    fn who_crashes_in_a_pause_stays_down() {
        let name = || "a".to_owned();
        let trace = vec![
            at(0, Action::Started { component: name() }),
            at(1, Action::Paused { component: name(), duration: VirtualDuration::from_nanos(2) }),
            at(2, Action::Crashed { component: name() }),
            at(3, Action::Resumed { component: name() }),
        ];
        let states: Vec<State> = Sequence::new(&trace).lives.iter().map(|life| life.state).collect();
        assert_eq!(states, [State::Up, State::Paused, State::Down]);
    }

    #[test]
    fn a_packet_without_a_sending_is_there() {
        let trace = vec![at(1, Action::Delivered(packet(7, "a", "b")))];
        let sequence = Sequence::new(&trace);
        assert_eq!(
            (sequence.flights[0].origin, sequence.flights[0].end),
            (FlightOrigin::Unknown, FlightEnd::Delivered(0))
        );
    }

    #[test]
    fn signs_are_at_their_numbers() {
        assert!(Sign::ALL.iter().enumerate().all(|(index, sign)| *sign as usize == index));
    }
}
