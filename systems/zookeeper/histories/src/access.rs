//! Who may do what with a node.

use std::fmt;

use serde::{Deserialize, Serialize};
use simutant_oracle::Session;

/// What somebody may do with a node: an entry of its access control list.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Access {
    /// Who.
    pub who: Who,
    /// What.
    pub permissions: Permissions,
}

/// Whom an entry of an access control list is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Who {
    /// Everybody.
    Anyone,
    /// One session.
    Session(Session),
}

/// Permissions as ZooKeeper numbers them: a sum of read 1, write 2, create 4, delete 8, administer 16.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Permissions(pub u8);

impl Permissions {
    /// To read the data and the names of the children.
    pub const READ: Self = Self(1);
    /// To change the data.
    pub const WRITE: Self = Self(2);
    /// To create children.
    pub const CREATE: Self = Self(4);
    /// To delete children.
    pub const DELETE: Self = Self(8);
    /// To change the access control list.
    pub const ADMINISTER: Self = Self(16);
    /// All of them.
    pub const ALL: Self = Self(31);

    pub(super) const fn include(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }
}

impl fmt::Display for Access {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.who {
            Who::Anyone => formatter.write_str("anyone")?,
            Who::Session(session) => write!(formatter, "{session}")?,
        }
        write!(formatter, " may {}", self.permissions)
    }
}

impl fmt::Display for Permissions {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let named = [
            (Self::READ, "read"),
            (Self::WRITE, "write"),
            (Self::CREATE, "create"),
            (Self::DELETE, "delete"),
            (Self::ADMINISTER, "administer"),
        ];
        let names: Vec<&str> = named.iter().filter(|(one, _)| self.include(*one)).map(|(_, name)| *name).collect();
        formatter.write_str(&if names.is_empty() { "do nothing".to_owned() } else { names.join(", ") })
    }
}

/// Returns whether a list lets a session do something.
pub(super) fn allows(acl: &[Access], session: Session, needed: Permissions) -> bool {
    let is_about = |who| matches!(who, Who::Anyone) || who == Who::Session(session);
    acl.iter().any(|access| is_about(access.who) && access.permissions.include(needed))
}
