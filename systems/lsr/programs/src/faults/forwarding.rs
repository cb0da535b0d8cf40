//! Mistakes with messages on their way.

use crate::behaviour::{Behaviour, Correct};
use crate::packet::{Message, RouterNumber};
use crate::router::Router;

/// A message is sent over the first link that costs as much as the one that it should take.
///
/// Seen in: FRRouting/frr pull request 22331, a next hop with the interface of another link.
#[derive(Debug)]
pub(super) struct FindsTheLinkByItsCost;

impl Behaviour for FindsTheLinkByItsCost {
    fn next_hop(&self, router: &Router, destination: RouterNumber) -> RouterNumber {
        let next = Correct.next_hop(router, destination);
        let cost = router.up.iter().find(|link| link.to == next).map(|link| link.cost);
        router.up.iter().find(|link| Some(link.cost) == cost).map_or(next, |link| link.to)
    }
}

/// A message has to come from the neighbour that messages for its source go to. Shows where two paths cost the same, and
/// routers choose different ones.
///
/// Seen in: RFC 3704, strict reverse path forwarding where routing is asymmetric.
#[derive(Debug)]
pub(super) struct FiltersByTheWayBack;

impl Behaviour for FiltersByTheWayBack {
    fn admits(&self, router: &Router, message: &Message, from: Option<RouterNumber>) -> bool {
        let has_path = message.source != router.number && router.paths.contains_key(&message.source);
        from.is_none_or(|from| has_path && Correct.next_hop(router, message.source) == from)
    }
}

/// A message for a neighbour takes the link to it, also where the way round is cheaper.
///
/// Seen in: FRRouting/frr pull request 11885, routes that were taken for directly connected ones.
#[derive(Debug)]
pub(super) struct PrefersItsOwnLinks;

impl Behaviour for PrefersItsOwnLinks {
    fn next_hop(&self, router: &Router, destination: RouterNumber) -> RouterNumber {
        if router.is_up(destination) { destination } else { Correct.next_hop(router, destination) }
    }
}
