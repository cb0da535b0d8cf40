//! What a router delivers.

use simutant_oracle::Session;
use simutant_sim_core::CheckFailure;
use simutant_system::Observer;

use super::{Publication, RouterId};

/// The messages that were delivered at a router. Clones are the same inbox.
#[derive(Debug, Clone)]
pub struct Inbox {
    router: Session,
    delivered: Observer<Publication, ()>,
}

impl Inbox {
    /// Returns the inbox of a router, whose deliveries are that router's calls in the history of `delivered`. Other
    /// routers may share it.
    pub fn new(router: RouterId, delivered: Observer<Publication, ()>) -> Self {
        Self { router: Session(router.0.into()), delivered }
    }

    /// Adds a message.
    pub fn deliver(&self, publication: Publication) {
        self.delivered.observed(self.router, publication, ());
    }

    /// Checks that each of `expected` was delivered once, and nothing else, in any order.
    ///
    /// # Errors
    /// What was delivered wrongly first, or else what was not delivered first.
    pub fn check(&self, expected: &[Publication]) -> Result<(), CheckFailure> {
        let delivered: Vec<Publication> =
            self.delivered.recorder().with(|history| history.of(self.router).map(|call| call.operation).collect());
        for (index, publication) in delivered.iter().enumerate() {
            let &Publication { number, path_cost, .. } = publication;
            let Some(right) = expected.iter().find(|right| right.number == number) else {
                return Err(CheckFailure::new(format!("message {number} was delivered here, and is not for here")));
            };
            if path_cost != right.path_cost {
                let shortest = right.path_cost;
                let failure =
                    format!("message {number} came at a cost of {path_cost}, the shortest path costs {shortest}");
                return Err(CheckFailure::new(failure));
            }
            if publication != right {
                return Err(CheckFailure::new(format!("message {number} was {right:?}, and came as {publication:?}")));
            }
            if delivered[..index].contains(publication) {
                return Err(CheckFailure::new(format!("message {number} was delivered twice")));
            }
        }
        match expected.iter().find(|publication| !delivered.contains(publication)) {
            Some(missing) => Err(CheckFailure::new(format!("message {} was not delivered", missing.number))),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the inbox of router 2, and that of another router in the same history.
    fn inboxes() -> (Inbox, Inbox) {
        let delivered = Observer::without_clock();
        (Inbox::new(RouterId(2), delivered.clone()), Inbox::new(RouterId(3), delivered))
    }

    fn publication(number: u32, path_cost: u32) -> Publication {
        Publication { number, source: RouterId(1), destination: RouterId(2), path_cost }
    }

    #[track_caller]
    fn check(delivered: &[Publication], expect: Result<(), &str>) {
        let (inbox, other) = inboxes();
        other.deliver(publication(1, 4));
        delivered.iter().for_each(|&publication| inbox.deliver(publication));
        let found = inbox.check(&[publication(1, 4), publication(3, 4)]).map_err(|failure| failure.to_string());
        assert_eq!(found.as_ref().map_err(String::as_str).copied(), expect);
    }

    #[test]
    fn each_message_comes_once_at_the_right_cost_in_any_order() {
        check(&[publication(1, 4), publication(3, 4)], Ok(()));
        check(&[publication(3, 4), publication(1, 4)], Ok(()));
        check(&[publication(3, 4)], Err("message 1 was not delivered"));
        check(&[], Err("message 1 was not delivered"));
        check(&[publication(1, 4), publication(3, 4), publication(1, 4)], Err("message 1 was delivered twice"));
        check(&[publication(1, 4), publication(2, 4)], Err("message 2 was delivered here, and is not for here"));
        check(&[publication(3, 5)], Err("message 3 came at a cost of 5, the shortest path costs 4"));
    }

    #[test]
    fn a_message_comes_as_it_was_sent() {
        let (inbox, _) = inboxes();
        inbox.deliver(Publication { source: RouterId(3), ..publication(1, 4) });
        let failure = inbox.check(&[publication(1, 4)]).expect_err("the source is another").to_string();
        assert!(failure.starts_with("message 1 was Publication {"), "{failure}");
    }
}
