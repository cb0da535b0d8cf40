//! The router: gets to know the network, and forwards messages through it.

use simutant_sim_core::{Address, Channel, Context};

use super::forwarding::ForwardingTable;
use super::link_state::Database;
use super::{Announcement, Hello, Inbox, Link, LsrMessage, Publication, RouterId};

/// A router at the other end of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Neighbour {
    /// The link to it.
    pub link: Link,
    /// Where it receives.
    pub address: Address,
}

/// Routes messages as router `id`, which has these neighbours; those for itself go to `inbox`.
pub async fn router(context: Context<LsrMessage>, port: u16, id: RouterId, neighbours: Vec<Neighbour>, inbox: Inbox) {
    let database = Database::default();
    let table = ForwardingTable::new(&database, id);
    let channel = context.channel_at(port);
    let mut router = Router { id, channel, neighbours, up: Vec::new(), sequence: 0, database, table, inbox };
    for neighbour in &router.neighbours {
        router.channel.send(neighbour.address, Hello);
    }
    while context.running() {
        let delivery = router.channel.recv().await;
        match delivery.message {
            LsrMessage::Hello(Hello) => router.greeted(delivery.source),
            LsrMessage::Announcement(announcement) => router.told(delivery.source, &announcement),
            LsrMessage::Publication(publication) => router.forward(publication),
        }
    }
}

struct Router {
    id: RouterId,
    channel: Channel<LsrMessage>,
    neighbours: Vec<Neighbour>,
    /// The neighbours that have greeted, in the order in which they did: they receive what is sent to them.
    up: Vec<Neighbour>,
    /// The number of the last announcement.
    sequence: u32,
    database: Database,
    table: ForwardingTable,
    inbox: Inbox,
}

impl Router {
    /// Notes that a neighbour is there, and tells it all that it missed before it was.
    fn greeted(&mut self, source: Address) {
        if self.up.iter().any(|neighbour| neighbour.address == source) {
            return;
        }
        let found = self.neighbours.iter().find(|neighbour| neighbour.address == source);
        let neighbour = *found.expect("only neighbours greet");
        // It may have started after the first greeting.
        self.channel.send(source, Hello);
        for announcement in self.database.announcements() {
            self.channel.send(source, announcement.clone());
        }
        self.up.push(neighbour);
        self.announce();
    }

    /// Tells all routers which links there are.
    fn announce(&mut self) {
        self.sequence += 1;
        let links = self.up.iter().map(|neighbour| neighbour.link).collect();
        let announcement = Announcement { origin: self.id, sequence: self.sequence, links };
        let is_news = self.database.update(&announcement);
        assert!(is_news, "{} knows announcement {} of its own already", self.id, self.sequence);
        self.flood(None, &announcement);
        self.table = ForwardingTable::new(&self.database, self.id);
    }

    /// Hears what a router tells of itself, and passes it on if it is news.
    fn told(&mut self, source: Address, announcement: &Announcement) {
        assert!(self.neighbours.iter().any(|neighbour| neighbour.address == source), "{source} is no neighbour");
        if self.database.update(announcement) {
            assert_ne!(announcement.origin, self.id, "announcement {} was never made", announcement.sequence);
            self.flood(Some(source), announcement);
            self.table = ForwardingTable::new(&self.database, self.id);
        }
    }

    /// Sends an announcement to all neighbours but the one that it came from, if it came from one.
    fn flood(&self, from: Option<Address>, announcement: &Announcement) {
        for neighbour in &self.up {
            if from != Some(neighbour.address) {
                self.channel.send(neighbour.address, announcement.clone());
            }
        }
    }

    /// Sends a message on its way, or delivers it.
    fn forward(&self, mut publication: Publication) {
        // Links cost the same both ways, and the way so far is a shortest path too, being part of one.
        let cost = self.table.cost(publication.source);
        assert_eq!(publication.path_cost, cost, "message {} is not on a shortest path", publication.number);
        if publication.destination == self.id {
            self.inbox.deliver(publication);
            return;
        }
        let next = self.table.next(publication.destination);
        let found = self.up.iter().find(|neighbour| neighbour.link.to == next);
        let neighbour = found.expect("a path begins with a neighbour");
        publication.path_cost += neighbour.link.cost;
        self.channel.send(neighbour.address, publication);
    }
}
