//! The client's program: a script of calls, and a log of when each began and ended.

use std::io::{self, Write};
use std::path::PathBuf;
use std::str::FromStr;
use std::thread;
use std::time::{Duration, Instant};

use simutant_programs::{Addresses, Log, ProgramError, Unreadable};

use super::behaviour::Behaviour;
use super::message::ValueText;
use super::register::{Reads, Register, Writers};

/// What a client is to do.
#[derive(Debug, Clone)]
pub struct Session {
    /// Where the servers listen.
    pub servers: Addresses,
    /// Its number, which no other client has.
    pub number: u64,
    /// How many clients write.
    pub writers: Writers,
    /// What reads may return.
    pub reads: Reads,
    /// The calls.
    pub script: Script,
    /// How long a call may take, with all its quorum calls.
    pub timeout: Duration,
    /// The file of the log.
    pub log: PathBuf,
}

/// What a client does, one step after the other: `read,write:7,pause:20`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Script(pub Vec<Step>);

/// A step of a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Step {
    /// `read`: reads the register.
    Read,
    /// `write:VALUE`: writes a value.
    Write(u64),
    /// `pause:MILLISECONDS`: does nothing for a while.
    Pause(Duration),
}

impl FromStr for Script {
    type Err = Unreadable;

    fn from_str(text: &str) -> Result<Self, Unreadable> {
        text.split(',').map(str::parse).collect::<Result<_, _>>().map(Self)
    }
}

impl FromStr for Step {
    type Err = Unreadable;

    fn from_str(text: &str) -> Result<Self, Unreadable> {
        let number = |number: &str| number.parse().map_err(|_| Unreadable);
        match text.split_once(':') {
            None if text == "read" => Ok(Self::Read),
            Some(("write", value)) => number(value).map(Self::Write),
            Some(("pause", time)) => number(time).map(Duration::from_millis).map(Self::Pause),
            _ => Err(Unreadable),
        }
    }
}

/// Prints `ready`, and does what the script says. The client does not wait for its servers: a call to those that are
/// not there fails in time.
///
/// # Errors
/// [`ProgramError`] if the log or standard output does not work. A call that fails is no error.
pub fn run_session(session: &Session, behaviour: &'static dyn Behaviour) -> Result<(), ProgramError> {
    let (mut log, _) = Log::open(&session.log, false)?;
    let Addresses(servers) = &session.servers;
    let mut register = Register::open(servers, session.number, session.writers, session.reads, behaviour);
    let mut output = io::stdout();
    output.write_all(b"ready\n").and_then(|()| output.flush()).map_err(ProgramError::Output)?;
    let mut calls = 0_u64;
    for step in &session.script.0 {
        let what = match step {
            Step::Pause(time) => {
                thread::sleep(*time);
                continue;
            }
            Step::Read => "read".to_owned(),
            Step::Write(value) => format!("write {value}"),
        };
        calls += 1;
        log.add_now(format_args!("invoke {calls} {what}"))?;
        let deadline = Instant::now() + session.timeout;
        let result = match step {
            Step::Write(value) => register.write(*value, deadline).map(|()| "done".to_owned()),
            _ => register.read(deadline).map(|value| ValueText(value).to_string()),
        };
        match result {
            Ok(result) => log.add_now(format_args!("return {calls} {result}"))?,
            Err(_) => log.add_now(format_args!("fail {calls}"))?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_read() {
        let steps = vec![Step::Read, Step::Write(7), Step::Pause(Duration::from_millis(20))];
        assert_eq!("read,write:7,pause:20".parse(), Ok(Script(steps)));
        for text in ["", "read,", "read:1", "write", "write:", "write:x", "pause:-1", "stop"] {
            assert_eq!(text.parse::<Script>(), Err(Unreadable), "{text}");
        }
    }
}
