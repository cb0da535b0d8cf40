//! The link-state database: what a router knows of the network.

use std::collections::BTreeMap;
use std::collections::btree_map::Values;

use super::{Announcement, Link, RouterId};

/// The newest announcement of each router that was heard of.
#[derive(Debug, Default)]
pub(super) struct Database {
    announcements: BTreeMap<RouterId, Announcement>,
}

impl Database {
    /// Takes an announcement in, and returns whether it is news: the newest of its router so far.
    pub(super) fn update(&mut self, announcement: &Announcement) -> bool {
        let Announcement { origin, sequence, links } = announcement;
        if let Some(known) = self.announcements.get(origin)
            && *sequence <= known.sequence
        {
            assert!(
                *sequence < known.sequence || links == &known.links,
                "announcement {sequence} of {origin} is there in two versions"
            );
            return false;
        }
        assert_eq!(*sequence as usize, links.len(), "the links of announcement {sequence} of {origin}");
        assert!(links.iter().all(|link| link.cost >= 1), "announcement {sequence} of {origin} has a link for nothing");
        self.announcements.insert(*origin, announcement.clone());
        true
    }

    /// Returns the newest announcement of each router, in the order of their numbers.
    pub(super) fn announcements(&self) -> Values<'_, RouterId, Announcement> {
        self.announcements.values()
    }

    /// Returns the links that a router announced, and that the routers at their other ends announced as well (RFC 2328,
    /// section 16.1, step 2b).
    pub(super) fn links(&self, router: RouterId) -> Vec<Link> {
        let leads_back = |link: &Link| self.announced(link.to).iter().any(|back| back.to == router);
        self.announced(router).iter().copied().filter(leads_back).collect()
    }

    /// Returns the links that a router announced.
    fn announced(&self, router: RouterId) -> &[Link] {
        match self.announcements.get(&router) {
            Some(announcement) => &announcement.links,
            None => &[],
        }
    }
}
