//! The client's side of the protocol: reads and writes of quorum calls.

use std::net::SocketAddr;
use std::str::FromStr;
use std::time::Instant;

use simutant_programs::Unreadable;
use simutant_programs::quorum::{CallError, Configuration, majority};

use super::behaviour::Behaviour;
use super::message::{Acknowledgement, Content, Request, Timestamp, Write};

/// How many clients write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writers {
    /// `one`: this client alone, which so knows the last timestamp.
    One,
    /// `several`: a writer asks for the last timestamp first.
    Several,
}

/// What reads that follow each other may return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reads {
    /// `regular`: beside a write, the new value and then the old one.
    Regular,
    /// `atomic`: never an older value than the one before.
    Atomic,
}

impl FromStr for Writers {
    type Err = Unreadable;

    fn from_str(text: &str) -> Result<Self, Unreadable> {
        match text {
            "one" => Ok(Self::One),
            "several" => Ok(Self::Several),
            _ => Err(Unreadable),
        }
    }
}

impl FromStr for Reads {
    type Err = Unreadable;

    fn from_str(text: &str) -> Result<Self, Unreadable> {
        match text {
            "regular" => Ok(Self::Regular),
            "atomic" => Ok(Self::Atomic),
            _ => Err(Unreadable),
        }
    }
}

/// Which answers to a write count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Counts {
    /// Those of servers that have stored it.
    Yes,
    /// All of them.
    Any,
}

/// The register, as a client sees it.
#[derive(Debug)]
pub(crate) struct Register {
    configuration: Configuration,
    servers: usize,
    /// The number of this client among the writers.
    writer: u64,
    writers: Writers,
    reads: Reads,
    behaviour: &'static dyn Behaviour,
    /// The number of the last timestamp that this client has made.
    last: u64,
}

impl Register {
    pub(crate) fn open(
        servers: &[SocketAddr],
        writer: u64,
        writers: Writers,
        reads: Reads,
        behaviour: &'static dyn Behaviour,
    ) -> Self {
        let configuration = Configuration::open_with(servers, behaviour.damaged());
        Self { configuration, servers: servers.len(), writer, writers, reads, behaviour, last: 0 }
    }

    /// Returns the value of the register.
    pub(crate) fn read(&mut self, deadline: Instant) -> Result<Option<u64>, CallError> {
        let Content { timestamp, value } = self.collect(deadline)?;
        // Every server has at least what nobody has written.
        if let Some(value) = value
            && self.reads == Reads::Atomic
            && self.behaviour.writes_back()
        {
            self.spread(Write { timestamp, value }, Counts::Any, deadline)?;
        }
        Ok(value)
    }

    /// Writes a value.
    pub(crate) fn write(&mut self, value: u64, deadline: Instant) -> Result<(), CallError> {
        let (known, counts) = match self.writers {
            // No other client writes, so each server that gets this has nothing newer.
            Writers::One => (0, Counts::Yes),
            Writers::Several => (self.collect(deadline)?.timestamp.number, Counts::Any),
        };
        // A write of this client that failed may be on servers that have not been asked. If its timestamp came again,
        // with another value, they would acknowledge this write and keep that one.
        self.last = self.last.max(known) + 1;
        let timestamp = Timestamp { number: self.last, writer: self.writer };
        self.spread(Write { timestamp, value }, counts, deadline)
    }

    /// Returns the newest content of a quorum.
    fn collect(&mut self, deadline: Instant) -> Result<Content, CallError> {
        let (behaviour, servers) = (self.behaviour, self.servers);
        let quorum_function = |replies: &[Content]| behaviour.reads(replies, servers);
        self.configuration.call(&Request::Read.to_string(), deadline, quorum_function)
    }

    /// Sees to it that a quorum has a write, or something newer.
    ///
    /// Of several writers, or of readers that write back, any answer counts. A server that says no has a larger
    /// timestamp, so with a majority of answers a majority has this timestamp or a larger one: no read that begins now
    /// returns anything older. The other write was not over when this one began, or its timestamp would have been seen,
    /// so this one may be taken for the earlier of both.
    fn spread(&mut self, write: Write, counts: Counts, deadline: Instant) -> Result<(), CallError> {
        let (behaviour, servers) = (self.behaviour, self.servers);
        let request = Request::Write(write).to_string();
        if !behaviour.awaits_acknowledgements() {
            return self.configuration.multicast(&request, deadline, majority(servers));
        }
        let does_count = |reply: &&Acknowledgement| counts == Counts::Any || **reply == Acknowledgement::Yes;
        let quorum_function =
            |replies: &[Acknowledgement]| behaviour.writes(replies.iter().filter(does_count).count(), servers);
        self.configuration.call(&request, deadline, quorum_function)
    }
}
