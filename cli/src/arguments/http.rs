//! The arguments of `simutant http`.

use std::num::NonZeroUsize;
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
    /// The number of scripts. Each has targets of its own, if the service draws paths with `<run>`.
    #[arg(long, value_name = "N", default_value = "100", value_parser = count::<NonZeroUsize>)]
    pub(crate) scripts: NonZeroUsize,
    /// The number of requests of a script.
    #[arg(long, value_name = "N", default_value = "20", value_parser = count::<NonZeroUsize>)]
    pub(crate) requests: NonZeroUsize,
    /// The number of connections. Each makes one request after the other; 1 makes none at once.
    #[arg(long, value_name = "N", default_value = "4", value_parser = clap::value_parser!(u8).range(1..))]
    pub(crate) connections: u8,
    /// How long an answer may take.
    #[arg(long, value_name = "TIME", default_value = "5s", value_parser = patience)]
    pub(crate) timeout: Duration,
    /// Let the server break a rule that the service has a name for.
    #[arg(long, value_name = "RULE")]
    pub(crate) waive: Vec<String>,
}

/// Reads a time that is not 0.
fn patience(text: &str) -> Result<Duration, String> {
    duration(text).and_then(|time| if time.is_zero() { Err("it must be more than 0".to_owned()) } else { Ok(time) })
}

/// Returns the host and the port of a URL.
fn host(url: &str) -> Result<String, String> {
    let rest = url.get(..7).filter(|begin| begin.eq_ignore_ascii_case("http://")).and_then(|_| url.get(7..));
    let rest = rest.ok_or("it begins with http://; others are not tested")?;
    let host = rest.strip_suffix('/').unwrap_or(rest);
    if host.contains(['/', '?', '#']) {
        return Err("it has a host and a port alone: paths are the service's".to_owned());
    }
    if host.contains('@') {
        return Err("it has no user: say it in a header of each request".to_owned());
    }
    // The colons of an address in brackets are no port's.
    let after = host.rsplit_once(']').map_or(host, |(_, after)| after);
    match after.rsplit_once(':') {
        _ if host.is_empty() => Err("it has no host".to_owned()),
        None => Ok(format!("{host}:80")),
        Some((_, port)) if port.parse::<u16>().is_ok_and(|port| port > 0) => Ok(host.to_owned()),
        Some((_, port)) => Err(format!("{port:?} is no port")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_has_a_host_and_maybe_a_port() {
        for (url, expect) in
            [("http://a", "a:80"), ("HTTP://a:1/", "a:1"), ("http://[::1]", "[::1]:80"), ("http://[::1]:8", "[::1]:8")]
        {
            assert_eq!(host(url).as_deref(), Ok(expect));
        }
        for url in
            ["a:80", "https://a", "http://", "http://a/b", "http://u@a", "http://a:99999", "http://a:", "http://a:0"]
        {
            assert!(host(url).is_err(), "{url}");
        }
    }
}
