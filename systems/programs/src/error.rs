//! Why a program could not go on.

use std::convert::Infallible;
use std::error::Error;
use std::fmt::{Display, Formatter};
use std::io;

use crate::LogError;

/// Why a program could not go on; `E` is what can be wrong with this program alone.
#[derive(Debug)]
pub enum ProgramError<E = Infallible> {
    /// A log does not work.
    Log(LogError),
    /// The address cannot be listened on.
    Socket(io::Error),
    /// Nobody reads what is printed.
    Output(io::Error),
    /// What is wrong with this program alone.
    Other(E),
}

impl<E: Error> Error for ProgramError<E> {}

impl<E: Display> Display for ProgramError<E> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Log(error) => error.fmt(formatter),
            Self::Socket(error) => write!(formatter, "cannot listen: {error}"),
            Self::Output(error) => write!(formatter, "cannot print: {error}"),
            Self::Other(error) => error.fmt(formatter),
        }
    }
}

impl<E> From<LogError> for ProgramError<E> {
    fn from(error: LogError) -> Self {
        Self::Log(error)
    }
}
