//! Why a program could not go on.

use std::fmt::{Display, Formatter};
use std::io;

use simutant_programs::LogError;

/// Why a replica or a client could not go on.
#[derive(Debug)]
pub enum ProgramError {
    /// The log does not work.
    Log(LogError),
    /// The address cannot be listened on.
    Socket(io::Error),
    /// Nobody reads what is printed.
    Output(io::Error),
    /// No replica has this number, from 0 on, where there are so many.
    Number(usize, usize),
}

impl std::error::Error for ProgramError {}

impl Display for ProgramError {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Log(error) => error.fmt(formatter),
            Self::Socket(error) => write!(formatter, "cannot listen: {error}"),
            Self::Output(error) => write!(formatter, "cannot print: {error}"),
            Self::Number(number, replicas) => write!(formatter, "{replicas} replicas have no number {number}"),
        }
    }
}

impl From<LogError> for ProgramError {
    fn from(error: LogError) -> Self {
        Self::Log(error)
    }
}
