//! The arguments of `simutant http`.

use std::fmt::{Display, Formatter};
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use simutant_http_tester::is_token;

use super::numbers::{count, duration};

#[derive(Debug, Args)]
pub(crate) struct HttpArguments {
    /// A service that a Cargo.toml names in [package.metadata.simutant.http]: of a package of your own, or `http`, any server
    /// of contents that can be put and deleted.
    #[arg(value_name = "SERVICE")]
    pub(crate) service: String,
    /// Where the server is that is tested, such as http://127.0.0.1:8000 or http://127.0.0.1:8000/api, if all paths begin
    /// so. It gets requests that change what it has.
    #[arg(value_name = "URL", value_parser = server)]
    pub(crate) server: ServerUrl,
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
    /// A header of all requests, such as 'Authorization: Bearer abc'.
    #[arg(long, short = 'H', value_name = "HEADER", value_parser = header)]
    pub(crate) header: Vec<(String, String)>,
    /// A command of the shell that is run before each script, such as one that empties the server's database.
    #[arg(long, value_name = "COMMAND")]
    pub(crate) reset: Option<String>,
    /// Run the scripts of findings again, in place of drawn ones: those in a file that --json has written.
    #[arg(long, value_name = "FILE")]
    pub(crate) replay: Option<PathBuf>,
}

/// Where a server is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct ServerUrl {
    /// The host and the port.
    pub(crate) host: String,
    /// What all paths begin with: nothing, or a path without a `/` at its end.
    pub(crate) base: String,
}

impl Display for ServerUrl {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "http://{}{}", self.host, self.base)
    }
}

/// Reads a time that is not 0.
fn patience(text: &str) -> Result<Duration, String> {
    duration(text).and_then(|time| if time.is_zero() { Err("it must be more than 0".to_owned()) } else { Ok(time) })
}

/// Reads a header.
fn header(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once(':').ok_or("it must have a name, a colon and a value")?;
    match () {
        () if !is_token(name) => Err(format!("{name:?} is no name of a header")),
        () if value.contains(['\r', '\n', '\0']) => Err("its value has a line break".to_owned()),
        () => Ok((name.to_owned(), value.trim().to_owned())),
    }
}

/// Reads a URL.
fn server(url: &str) -> Result<ServerUrl, String> {
    let rest = url.get(..7).filter(|begin| begin.eq_ignore_ascii_case("http://")).and_then(|_| url.get(7..));
    let rest = rest.ok_or("it must begin with http://; TLS is not supported")?;
    let (host, base) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let base = base.trim_end_matches('/').to_owned();
    if rest.contains(['?', '#']) || rest.chars().any(char::is_whitespace) {
        return Err("it must have no more than a host, a port and what all paths begin with".to_owned());
    }
    if host.contains('@') {
        return Err("it must have no user; give --header 'Authorization: …'".to_owned());
    }
    // The colons of an address in brackets are no port's.
    let after = host.rsplit_once(']').map_or(host, |(_, after)| after);
    let host = match after.rsplit_once(':') {
        _ if host.is_empty() => return Err("it has no host".to_owned()),
        None => format!("{host}:80"),
        Some((_, port)) if port.parse::<u16>().is_ok_and(|port| port > 0) => host.to_owned(),
        Some((_, port)) => return Err(format!("{port:?} is no port")),
    };
    Ok(ServerUrl { host, base })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_url_has_a_host_and_maybe_a_port_and_a_path() {
        for (url, host, base) in [
            ("http://a", "a:80", ""),
            ("HTTP://a:1/", "a:1", ""),
            ("http://[::1]", "[::1]:80", ""),
            ("http://[::1]:8/b/", "[::1]:8", "/b"),
            ("http://a/b/c", "a:80", "/b/c"),
        ] {
            assert_eq!(server(url), Ok(ServerUrl { host: host.to_owned(), base: base.to_owned() }));
        }
        for url in
            ["a:80", "https://a", "http://", "http:///b", "http://a/b?c", "http://u@a", "http://a:99999", "http://a:"]
        {
            assert!(server(url).is_err(), "{url}");
        }
    }

    #[test]
    fn a_header_has_a_name_and_a_value() {
        assert_eq!(header("A-b: c: d"), Ok(("A-b".to_owned(), "c: d".to_owned())));
        for text in ["a", ": b", "a b: c", "a: b\r\nc: d"] {
            assert!(header(text).is_err(), "{text}");
        }
    }
}
