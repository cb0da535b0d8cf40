//! Why a network is refused.

use std::fmt::{self, Display};

/// A network that cannot be: the field as the network's JSON has it, its value, and what is allowed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum InvalidNetwork {
    /// A field has a value that it cannot have; give it an allowed one.
    #[error("{field} is {value}: it must be {allowed}")]
    Value {
        /// The way to the field, for example `links[2].link.latency.uniform.min_ns`.
        field: String,
        /// Its value.
        value: String,
        /// What it may be, for example `from 1 to 5`.
        allowed: String,
    },
    /// The text of a network cannot be read ([`Network::read`](crate::Network::read)); fix it at this place.
    #[error("{field}: {reason}")]
    Unreadable {
        /// The way to the field, for example `links[2].link.drop.gilbert_elliott.drop_bad`.
        field: String,
        /// What is wrong, with the value.
        reason: String,
    },
}

/// The way to a field, written only if it is asked for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Field<'a> {
    parent: Option<&'a Field<'a>>,
    name: &'a str,
    /// Of lists, the index in each.
    indices: [Option<usize>; 2],
}

impl<'a> Field<'a> {
    /// Returns the way to a field of the network itself.
    pub(super) const fn root(name: &'a str) -> Self {
        Self { parent: None, name, indices: [None; 2] }
    }

    /// Returns the way to a field of this one.
    pub(super) const fn child(&'a self, name: &'a str) -> Self {
        Self { parent: Some(self), name, indices: [None; 2] }
    }

    /// Returns the way to an element of this list, which may be one of lists.
    pub(super) const fn element(self, index: usize) -> Self {
        let indices = match self.indices {
            [None, _] => [Some(index), None],
            [outer, _] => [outer, Some(index)],
        };
        Self { indices, ..self }
    }

    /// Returns the error of a value that this field cannot have.
    pub(super) fn refuse(&self, value: impl Display, allowed: impl Display) -> InvalidNetwork {
        let (value, allowed) = (value.to_string(), allowed.to_string());
        InvalidNetwork::Value { field: self.to_string(), value, allowed }
    }
}

impl Display for Field<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(parent) = self.parent {
            write!(formatter, "{parent}.")?;
        }
        formatter.write_str(self.name)?;
        self.indices.iter().flatten().try_for_each(|index| write!(formatter, "[{index}]"))
    }
}
