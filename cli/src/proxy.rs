//! `simutant proxy`: the lossy network alone.

use std::sync::atomic::Ordering;
use std::time::Duration;

use simutant_harness::{LossyProxy, ProxyConfiguration};
use simutant_sim_core::Probability;

use crate::arguments::{Common, ProxyArguments};
use crate::exit::{BadInput, Exit};
use crate::interrupt::Interrupts;
use crate::output;

/// How often Ctrl-C is looked for.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);

pub(crate) fn run(arguments: &ProxyArguments, common: &Common) -> anyhow::Result<Exit> {
    let probability = |name: &str, value: f64| {
        Probability::new(value).map_err(|error| BadInput(format!("--{name} is {value}: {error}")))
    };
    let configuration = ProxyConfiguration {
        listen: arguments.listen,
        forward: arguments.forward,
        drop: probability("drop", arguments.drop)?,
        duplicate: probability("duplicate", arguments.duplicate)?,
        seed: common.seed,
    };
    let interrupts = Interrupts::listen()?;
    let proxy = LossyProxy::start(&configuration)?;
    output::tell(&format!("listening on {}, forwarding to {}; Ctrl-C ends", proxy.address(), arguments.forward));
    while !interrupts.flag().load(Ordering::SeqCst) {
        std::thread::sleep(LOOK_INTERVAL);
        proxy.check()?;
    }
    let counts = proxy.stop();
    if common.json {
        output::print(&output::json(&output::Versioned::new(counts))?)?;
    } else {
        for (name, counts) in [("forward", counts.forward), ("back", counts.back)] {
            output::print(&format!(
                "{name:>8}: {} received, {} dropped, {} duplicated, {} forwarded\n",
                counts.received, counts.dropped, counts.duplicated, counts.forwarded
            ))?;
        }
    }
    Ok(Exit::Success)
}
