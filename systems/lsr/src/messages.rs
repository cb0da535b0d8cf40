//! The three messages of link-state routing.

use std::fmt;
use std::rc::Rc;

use simutant_sim_core::Message;

/// A router's number: from 1 on, without gaps.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RouterId(pub u8);

/// A greeting, on its way to a neighbour: the sender is there, and so is the link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Hello;

/// What a router tells all others of itself.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Announcement {
    /// The router.
    pub origin: RouterId,
    /// Counts the announcements of the router from 1, one for each link that it was greeted over: the greatest number
    /// is the news.
    pub sequence: u32,
    /// The links that it can send through.
    pub links: Rc<[Link]>,
}

/// One end of a link, as the router at the other end sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Link {
    /// The router that it leads to.
    pub to: RouterId,
    /// What it costs to send a message through it, at least 1.
    pub cost: u32,
}

/// A message of a client, on its way to a router. Its text is left out: a message is known by its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Publication {
    /// The message's number, from 1.
    pub number: u32,
    /// The router that the client gave it to.
    pub source: RouterId,
    /// The router that it is for.
    pub destination: RouterId,
    /// The costs of the links that it was sent through so far.
    pub path_cost: u32,
}

/// Any of them.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum LsrMessage {
    /// A greeting.
    Hello(Hello),
    /// What a router tells of itself.
    Announcement(Announcement),
    /// A message of a client.
    Publication(Publication),
}

impl fmt::Display for RouterId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "router {}", self.0)
    }
}

impl Message for LsrMessage {
    fn kind(&self) -> &'static str {
        match self {
            Self::Hello(_) => "HELLO",
            Self::Announcement(_) => "ANNOUNCEMENT",
            Self::Publication(_) => "PUBLICATION",
        }
    }
}

impl From<Hello> for LsrMessage {
    fn from(hello: Hello) -> Self {
        Self::Hello(hello)
    }
}

impl From<Announcement> for LsrMessage {
    fn from(announcement: Announcement) -> Self {
        Self::Announcement(announcement)
    }
}

impl From<Publication> for LsrMessage {
    fn from(publication: Publication) -> Self {
        Self::Publication(publication)
    }
}
