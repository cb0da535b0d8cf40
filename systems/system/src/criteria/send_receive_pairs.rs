//! Definition-use pairs across the network: the definition of a message is where it is sent, the use where it is
//! received.

use std::collections::BTreeSet;

use super::criterion::Requirements;
use simutant_sim_core::trace::{Action, Site, TraceEvent};

/// Asks that each place that receives messages receives them from each place that sends them, each kind apart.
///
/// Places are lines. A message that arrives and that nobody takes is used by nobody.
pub fn send_receive_pairs(trace: &[TraceEvent], requirements: &mut Requirements) {
    let mut pairs: BTreeSet<(&str, &Site, &Site)> = BTreeSet::new();
    for event in trace {
        if let Action::Received { kind, send_site, receive_site, .. } = &event.action {
            pairs.insert((kind, send_site, receive_site));
        }
    }
    for (kind, send_site, receive_site) in pairs {
        requirements.insert(format!("{kind} from {send_site} to {receive_site}"));
    }
}
