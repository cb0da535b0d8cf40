//! The arguments of `simutant http`.

use std::num::{NonZeroU8, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;

use super::numbers::{count, duration};

#[derive(Debug, Args)]
pub(crate) struct HttpArguments {
    /// A service that a Cargo.toml names in [package.metadata.simutant.http]: of a package of your own, or `http`, any server
    /// of contents that can be put and deleted.
    #[arg(value_name = "SERVICE")]
    pub(crate) service: String,
    /// Where the server is that is tested, such as http://127.0.0.1:8000. It gets requests that change what it has.
    #[arg(value_name = "URL", value_parser = host)]
    pub(crate) host: String,
    /// The Cargo.toml of the package or workspace that has the service [default: the one of this folder, if it has it].
    #[arg(long, value_name = "FILE")]
    pub(crate) manifest_path: Option<PathBuf>,
    /// The number of scripts. Each has targets of its own, if the service draws paths with <run>.
    #[arg(long, value_name = "N", default_value = "100", value_parser = count::<NonZeroUsize>)]
    pub(crate) scripts: NonZeroUsize,
    /// The number of requests of a script.
    #[arg(long, value_name = "N", default_value = "20", value_parser = count::<NonZeroUsize>)]
    pub(crate) requests: NonZeroUsize,
    /// The number of connections. Each makes one request after the other; 1 makes none at once.
    #[arg(long, value_name = "N", default_value = "4", value_parser = count::<NonZeroU8>)]
    pub(crate) connections: NonZeroU8,
    /// How long an answer may take.
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = duration)]
    pub(crate) timeout: Duration,
    /// Let the server break a rule that the service has a name for.
    #[arg(long, value_name = "RULE")]
    pub(crate) waive: Vec<String>,
}

/// Returns the host and the port of a URL.
fn host(url: &str) -> Result<String, String> {
    let rest = url.strip_prefix("http://").ok_or("it begins with http://")?;
    let host = rest.strip_suffix('/').unwrap_or(rest);
    if host.is_empty() || host.contains(['/', '?', '#', '@']) {
        return Err("it has a host and a port alone: paths are the service's".to_owned());
    }
    let has_port = host.rsplit_once(':').is_some_and(|(_, port)| port.parse::<u16>().is_ok());
    Ok(if has_port { host.to_owned() } else { format!("{host}:80") })
}
