//! `simutant proxy`: a simulated network between real programs, alone.

use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use serde::Serialize;
use simutant_harness::{CLIENTS_MAX, DirectionCounts, ProxyCounts, ProxyError, RealNetwork, RealNetworkError};
use simutant_sim_core::{Link, Network, Probability};

use crate::arguments::{Common, ProxyArguments};
use crate::exit::{BadInput, Exit};
use crate::interrupt::Interrupts;
use crate::{given, output};

/// How often Ctrl-C is looked for.
const LOOK_INTERVAL: Duration = Duration::from_millis(50);

/// What a network did.
#[derive(Debug, Serialize)]
struct NetworkCounts {
    /// Datagrams from clients to the server.
    forward: DirectionCounts,
    /// Datagrams from the server to clients.
    back: DirectionCounts,
    /// Connections that were made.
    connections: u64,
    /// By how much the latest datagram was delivered too late, in milliseconds.
    lateness_ms: f64,
}

pub(crate) fn run(arguments: &ProxyArguments, common: &Common) -> anyhow::Result<Exit> {
    let network = match &arguments.network {
        Some(network) => read_network(network)?,
        None => lossy(arguments)?,
    };
    let interrupts = Interrupts::listen()?;
    let running = RealNetwork::between(arguments.listen, arguments.forward, &network, common.seed);
    let running = running.map_err(|error| match error {
        RealNetworkError::Proxy(error @ ProxyError::Forward { .. }) => BadInput(format!("--forward: {error}")).into(),
        RealNetworkError::Proxy(error) => anyhow::Error::from(error),
        error => BadInput(format!("--network: {error}")).into(),
    })?;
    let address = running.entry("client", "server").unwrap_or(arguments.listen);
    for what in running.not_injected() {
        output::tell(&format!("warning: left out: {what}"));
    }
    running.begin(Instant::now());
    output::tell(&format!("listening on {address}, forwarding to {}; Ctrl-C ends", arguments.forward));
    wait(&interrupts, &running)?;
    let ProxyCounts { forward, back, connections } = running.counts();
    let lateness_ms = running.lateness().as_secs_f64() * 1e3;
    let counts = NetworkCounts { forward, back, connections, lateness_ms };
    output::print(&if common.json { output::json(&output::Versioned::new(counts))? } else { text(&counts) })?;
    Ok(Exit::Success)
}

/// Returns the network that loses and doubles datagrams at once.
fn lossy(arguments: &ProxyArguments) -> Result<Network, BadInput> {
    let probability = |name: &str, value: f64| {
        Probability::new(value).map_err(|error| BadInput(format!("--{name} is {value}: {error}")))
    };
    let (drop, duplicate) = (arguments.drop, arguments.duplicate);
    let (drop, duplicate) = (probability("drop", drop)?.into(), probability("duplicate", duplicate)?);
    Ok(Link { drop, duplicate, ..Link::default() }.into())
}

/// Returns the network that is given as JSON, or as a file with JSON.
fn read_network(text: &str) -> anyhow::Result<Network> {
    let (text, name) = given::json_or_file("--network", text.trim(), "")?;
    let network = Network::read(&mut serde_json::Deserializer::from_str(&text));
    Ok(network.map_err(|error| BadInput(format!("{name}: {error}")))?)
}

/// Waits for Ctrl-C. Says so at once when a datagram cannot be sent, or a client was forgotten.
fn wait(interrupts: &Interrupts, running: &RealNetwork) -> Result<(), ProxyError> {
    let mut is_told = [false; 2];
    loop {
        let unsent = running.unsent().map(|unsent| format!("{unsent}; the result counts such datagrams"));
        let forgotten = (running.forgotten() > 0).then(|| {
            format!(
                "more than {CLIENTS_MAX} clients send at one time: those that are silent for longest are forgotten, and their \
                 answers are lost; the result counts such clients"
            )
        });
        for (warning, is_told) in [unsent, forgotten].into_iter().zip(&mut is_told) {
            if let (Some(warning), false) = (warning, *is_told) {
                output::tell(&format!("warning: {warning}"));
                *is_told = true;
            }
        }
        if interrupts.flag().load(Ordering::SeqCst) {
            return Ok(());
        }
        std::thread::sleep(LOOK_INTERVAL);
        running.check()?;
    }
}

fn text(counts: &NetworkCounts) -> String {
    let direction = |name: &str, counts: DirectionCounts| {
        let DirectionCounts { received, dropped, duplicated, forwarded, unsent, forgotten } = counts;
        let trouble = |count: u64, what: &str| if count > 0 { format!(", {count} {what}") } else { String::new() };
        let (unsent, forgotten) = (trouble(unsent, "not sent"), trouble(forgotten, "clients forgotten"));
        format!(
            "{name:>8}: {received} received, {dropped} dropped, {duplicated} duplicated, {forwarded} forwarded\
             {unsent}{forgotten}\n"
        )
    };
    let NetworkCounts { forward, back, connections, lateness_ms } = *counts;
    let (forward, back) = (direction("forward", forward), direction("back", back));
    format!("{forward}{back}at most {lateness_ms:.1} ms late; connections: {connections}\n")
}
