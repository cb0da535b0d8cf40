//! Requests and responses as values.

use std::collections::BTreeMap;
use std::fmt::{Display, Formatter};

use serde::{Deserialize, Serialize};

/// Returns whether a text is a token, as methods and the names of headers are (RFC 9110, section 5.6.2).
pub fn is_token(text: &str) -> bool {
    let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_part)
}

/// A request. In a script its texts may have [terms](crate::script), as in `If-Match: <3.etag>`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Request {
    /// The method, such as `GET`.
    pub method: String,
    /// The path, with the query if there is one; the whole URL in a request to a proxy.
    pub path: String,
    /// The headers, beside those that say where the request goes and how long it is.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// The body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
}

impl Request {
    /// Returns a request without headers and body.
    ///
    /// ```
    /// use simutant_http_tester::Request;
    ///
    /// let put = Request::new("PUT", "/notes/1").header("If-Match", "\"a1\"").body("milk");
    /// assert_eq!(put.to_string(), "PUT /notes/1 with If-Match: \"a1\"");
    /// ```
    pub fn new(method: impl Into<String>, path: impl Into<String>) -> Self {
        Self { method: method.into(), path: path.into(), ..Self::default() }
    }

    /// Adds a header, or replaces it.
    #[must_use]
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.headers.insert(name.into(), value.into());
        self
    }

    /// Adds a body, or replaces it.
    #[must_use]
    pub fn body(mut self, body: impl Into<String>) -> Self {
        self.body = Some(body.into());
        self
    }
}

impl Request {
    /// Returns what is wrong with a request that cannot be sent, if something is. A proxy gets whole URLs.
    #[cfg(feature = "client")]
    pub(crate) fn mistake(&self, is_to_proxy: bool) -> Option<&'static str> {
        match () {
            () if !is_token(&self.method) => Some("the method is no word"),
            () if !(self.path.starts_with('/') || is_to_proxy && self.authority().is_some()) => {
                Some("the path does not begin with /")
            }
            () if self
                .path
                .chars()
                .any(|letter| letter.is_whitespace() || letter.is_control() || "<>\"".contains(letter)) =>
            {
                Some("the path has a character that no path has; is it a term that nobody knows?")
            }
            () if !self.headers.keys().all(|name| is_token(name)) => Some("the name of a header is no word"),
            () if self.headers.values().any(|value| value.contains(['\r', '\n', '\0'])) => {
                Some("a header has a line break")
            }
            () => None,
        }
    }

    /// Returns the host and the port that a whole URL names.
    ///
    /// ```
    /// use simutant_http_tester::Request;
    ///
    /// assert_eq!(Request::new("GET", "http://a:80/b").authority(), Some("a:80"));
    /// assert_eq!(Request::new("GET", "/b").authority(), None);
    /// ```
    pub fn authority(&self) -> Option<&str> {
        let rest = self.path.strip_prefix("http://")?;
        Some(rest.find(['/', '?']).map_or(rest, |end| &rest[..end]))
    }

    /// Returns a header, by its name in any case.
    pub fn get(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(other, _)| other.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}

/// The method, the path and the headers.
impl Display for Request {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} {}", self.method, self.path)?;
        for (number, (name, value)) in self.headers.iter().enumerate() {
            write!(formatter, " {} {name}: {value}", if number == 0 { "with" } else { "and" })?;
        }
        Ok(())
    }
}

/// A response.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The headers, their names in lower case. One that comes more than once has its values with commas between them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// The body. What is no UTF-8 in it is replaced.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub body: String,
}

impl Response {
    /// Returns a response without headers.
    pub fn new(status: u16, body: impl Into<String>) -> Self {
        Self { status, body: body.into(), ..Self::default() }
    }

    /// Returns a header, by its name in any case.
    pub fn get(&self, name: &str) -> Option<&str> {
        self.headers.get(&name.to_ascii_lowercase()).map(String::as_str)
    }
}

/// How much of a body is shown.
const SHOWN_MAX: usize = 60;

/// The status code and the beginning of the body.
impl Display for Response {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        let Self { status, body, .. } = self;
        let begin: String = body.chars().take(SHOWN_MAX).collect();
        match () {
            () if body.is_empty() => write!(formatter, "{status}"),
            () if begin.len() < body.len() => write!(formatter, "{status} {begin:?}…"),
            () => write!(formatter, "{status} {begin:?}"),
        }
    }
}
