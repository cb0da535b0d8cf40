//! `simutant proxy`: a simulated network between real programs, alone.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use serde::Serialize;
use simutant_harness::{DirectionCounts, LossyProxy, ProxyConfiguration, ProxyError, RealNetwork, RealNetworkError};
use simutant_sim_core::{Network, Probability};

use crate::arguments::{Common, ProxyArguments};
use crate::exit::{BadInput, Exit};
use crate::interrupt::Interrupts;
use crate::{given, output};

/// How often Ctrl-C is looked for.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);

/// What a network did.
#[derive(Debug, Serialize)]
struct NetworkCounts {
    /// Datagrams in both directions.
    datagrams: DirectionCounts,
    /// Connections that were made.
    connections: u64,
    /// By how much the latest datagram was delivered too late, in milliseconds.
    lateness_ms: f64,
}

pub(crate) fn run(arguments: &ProxyArguments, common: &Common) -> anyhow::Result<Exit> {
    match &arguments.network {
        Some(network) => run_network(&read_network(network)?, arguments, common),
        None => run_lossy(arguments, common),
    }
}

fn run_network(network: &Network, arguments: &ProxyArguments, common: &Common) -> anyhow::Result<Exit> {
    let interrupts = Interrupts::listen()?;
    let running = RealNetwork::between(arguments.listen, arguments.forward, network, common.seed);
    let running = running.map_err(|error| match error {
        RealNetworkError::Proxy(error) => anyhow::Error::from(error),
        error => BadInput(format!("--network: {error}")).into(),
    })?;
    let address = running.entry("client", "server").unwrap_or(arguments.listen);
    for what in running.not_injected() {
        output::tell(&format!("warning: left out: {what}"));
    }
    running.begin(Instant::now());
    wait(&interrupts, &format!("listening on {address}, forwarding to {}", arguments.forward), || running.check())?;
    let (datagrams, connections) = (running.counts().forward, running.connections());
    let lateness_ms = running.lateness().as_secs_f64() * 1e3;
    output::print(&if common.json {
        output::json(&output::Versioned::new(NetworkCounts { datagrams, connections, lateness_ms }))?
    } else {
        let DirectionCounts { received, dropped, duplicated, forwarded } = datagrams;
        format!(
            "datagrams: {received} received, {dropped} dropped, {duplicated} duplicated, {forwarded} forwarded, at most \
             {lateness_ms:.1} ms late\nconnections: {connections}\n"
        )
    })?;
    Ok(Exit::Success)
}

/// Returns the network that is given as JSON, or as a file with JSON.
fn read_network(text: &str) -> anyhow::Result<Network> {
    let (text, name) = given::json_or_file("--network", text.trim(), "")?;
    let network = Network::read(&mut serde_json::Deserializer::from_str(&text));
    Ok(network.map_err(|error| BadInput(format!("{name}: {error}")))?)
}

/// Waits for Ctrl-C.
fn wait(interrupts: &Interrupts, what: &str, check: impl Fn() -> Result<(), ProxyError>) -> Result<(), ProxyError> {
    output::tell(&format!("{what}; Ctrl-C ends"));
    while !interrupts.flag().load(Ordering::SeqCst) {
        std::thread::sleep(LOOK_INTERVAL);
        check()?;
    }
    Ok(())
}

fn run_lossy(arguments: &ProxyArguments, common: &Common) -> anyhow::Result<Exit> {
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
    let what = format!("listening on {}, forwarding to {}", proxy.address(), arguments.forward);
    wait(&interrupts, &what, || proxy.check())?;
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
