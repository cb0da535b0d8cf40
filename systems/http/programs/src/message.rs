//! Requests and responses as bytes (RFC 9112).

use super::date;

/// How long the head of a request is at most, and how long its content is.
const BYTES_MAX: usize = 1 << 20;

/// The methods that are performed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Asks for a content.
    Get,
    /// Asks for what is known of a content.
    Head,
    /// Replaces a content.
    Put,
    /// Removes a content.
    Delete,
}

/// A request.
#[derive(Debug)]
pub(crate) struct Request {
    /// `None` stands for one that is not performed.
    pub(crate) method: Option<Method>,
    pub(crate) path: String,
    fields: Vec<(String, String)>,
    pub(crate) content: Vec<u8>,
    /// Whether the connection ends after it.
    pub(crate) is_last: bool,
}

impl Request {
    /// Returns the request that `bytes` begin with, and its length; `None` if it is not there as a whole, and the status of
    /// the answer if it is none.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Option<(Self, usize)>, u16> {
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
            return if bytes.len() > BYTES_MAX { Err(431) } else { Ok(None) };
        };
        let mut lines = str::from_utf8(&bytes[..end]).map_err(|_| 400_u16)?.split("\r\n");
        let [method, target, version] = lines.next().unwrap_or_default().split(' ').collect::<Vec<_>>()[..] else {
            return Err(400);
        };
        let field = |line: &str| {
            let (name, value) = line.split_once(':')?;
            let is_name = !name.is_empty() && name.chars().all(|c| c.is_ascii_graphic());
            is_name.then(|| (name.to_owned(), value.trim().to_owned()))
        };
        let fields: Vec<_> = lines.map(field).collect::<Option<_>>().ok_or(400_u16)?;
        let path = match target.strip_prefix("http://") {
            Some(rest) => rest.find('/').map_or("/", |at| &rest[at..]),
            None => target,
        };
        let mut request =
            Self { method: None, path: path.to_owned(), fields, content: Vec::new(), is_last: version != "HTTP/1.1" };
        let hosts = request.fields.iter().filter(|(name, _)| name.eq_ignore_ascii_case("Host")).count();
        if !path.starts_with('/') || !version.starts_with("HTTP/1.") || hosts > 1 || hosts == 0 && !request.is_last {
            return Err(400);
        }
        if request.field("Transfer-Encoding").is_some() {
            return Err(411);
        }
        let length: usize = request.field("Content-Length").map_or(Ok(0), |text| text.parse().map_err(|_| 400_u16))?;
        if length > BYTES_MAX {
            return Err(413);
        }
        let begin = end + 4;
        let Some(content) = bytes[begin..].get(..length) else { return Ok(None) };
        request.content = content.to_vec();
        request.is_last |= request.field("Connection").is_some_and(|value| value.eq_ignore_ascii_case("close"));
        request.method = match method {
            "GET" => Some(Method::Get),
            "HEAD" => Some(Method::Head),
            "PUT" => Some(Method::Put),
            "DELETE" => Some(Method::Delete),
            _ => None,
        };
        Ok(Some((request, begin + length)))
    }

    /// Returns the value of a field, in which those of several with this name are listed.
    pub(crate) fn field(&self, name: &str) -> Option<String> {
        let values = self.fields.iter().filter(|(other, _)| other.eq_ignore_ascii_case(name));
        values.map(|(_, value)| value.clone()).reduce(|list, value| format!("{list}, {value}"))
    }
}

/// A response.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) fields: Vec<(&'static str, String)>,
    /// The length of the content, where it is said.
    pub(crate) length: Option<usize>,
    pub(crate) content: Vec<u8>,
}

impl Response {
    /// Returns a response without content.
    pub(crate) fn empty(status: u16) -> Self {
        let length = if matches!(status, 204 | 304) { None } else { Some(0) };
        Self { status, fields: Vec::new(), length, content: Vec::new() }
    }

    /// Returns its bytes. Clients ignore what a status is called.
    pub(crate) fn bytes(&self, is_last: bool) -> Vec<u8> {
        let mut text = format!("HTTP/1.1 {} \r\nDate: {}\r\n", self.status, date::format(date::now()));
        let length = self.length.map(|length| ("Content-Length", length.to_string()));
        let close = is_last.then(|| ("Connection", "close".to_owned()));
        for (name, value) in self.fields.iter().cloned().chain(length).chain(close) {
            text.extend([name, ": ", &value, "\r\n"]);
        }
        text.push_str("\r\n");
        [text.as_bytes(), &self.content].concat()
    }
}
