//! Each wait that ends for lack of time.

use std::collections::BTreeSet;

use super::criterion::{Requirements, role};
use simutant_sim_core::trace::{Action, Endpoint, ResetReason, Site, TraceEvent};

/// Asks that each timeout fires: of each place that receives or connects with one, and of each stream that gives up.
///
/// A place counts once for each role that is there out of time.
pub fn timeouts(trace: &[TraceEvent], requirements: &mut Requirements) {
    let mut fired: BTreeSet<(&str, Fired<'_>)> = BTreeSet::new();
    for event in trace {
        match &event.action {
            Action::TimedOut { channel, site } => {
                _ = fired.insert((role(&channel.component), Fired::Wait(site.as_ref())))
            }
            Action::Reset { local, remote, reason: ResetReason::TimedOut } => {
                let Endpoint { component: remote, .. } = remote;
                fired.insert((role(&local.component), Fired::Stream(role(remote))));
            }
            _ => {}
        }
    }
    for (role, fired) in fired {
        requirements.insert(match fired {
            Fired::Wait(Some(site)) => format!("{role}: {site}"),
            Fired::Wait(None) => format!("{role}: a receive"),
            Fired::Stream(remote) => format!("{role}: a stream to {remote}"),
        });
    }
}

/// What had waited for too long.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Fired<'a> {
    Wait(Option<&'a Site>),
    Stream(&'a str),
}
