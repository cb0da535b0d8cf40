//! HTTP/1.1 as bytes: requests, and responses that arrive in pieces.

use std::fmt::Write;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use httparse::{Header, Status};

use crate::message::{Method, Request, Seen};

/// How many fields a response has at most.
const FIELDS_MAX: usize = 64;

/// How long a response is at most.
const BYTES_MAX: usize = 1 << 20;

/// Why bytes are no response.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Malformed(pub(super) String);

/// Returns the bytes of a request.
pub(super) fn bytes(request: &Request, host: &str) -> Vec<u8> {
    let mut text = format!("{} {} HTTP/1.1\r\nHost: {host}\r\n", request.method, request.path);
    // Writing to a string does not fail.
    for (name, value) in fields(request) {
        let _ = write!(text, "{name}: {value}\r\n");
    }
    if let Some(body) = &request.body {
        let _ = write!(text, "Content-Length: {}\r\n\r\n{body}", body.len());
    } else {
        text.push_str("\r\n");
    }
    text.into_bytes()
}

/// Returns the conditions of a request as fields.
pub(super) fn fields(request: &Request) -> Vec<(&'static str, String)> {
    let conditions = &request.conditions;
    let date = |seconds: u64| httpdate::fmt_http_date(UNIX_EPOCH + Duration::from_secs(seconds));
    let fields = [
        ("If-Match", conditions.if_match.as_ref().map(ToString::to_string)),
        ("If-None-Match", conditions.if_none_match.as_ref().map(ToString::to_string)),
        ("If-Modified-Since", conditions.if_modified_since.map(date)),
        ("If-Unmodified-Since", conditions.if_unmodified_since.map(date)),
    ];
    fields.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
}

/// A response, and what it says of the connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Answer {
    pub(super) seen: Seen,
    /// How many bytes it has.
    pub(super) bytes: usize,
    /// Whether the server closes the connection after it.
    pub(super) closes: bool,
}

/// Reads the response to a request of this method at the beginning of `bytes`; `None` if it is not there as a whole.
/// `is_ended` says that no more bytes come.
pub(super) fn response(bytes: &[u8], method: Method, is_ended: bool) -> Result<Option<Answer>, Malformed> {
    let malformed = |error: httparse::Error| Malformed(error.to_string());
    if bytes.len() > BYTES_MAX {
        return Err(Malformed(format!("it has more than {BYTES_MAX} bytes")));
    }
    let mut fields = [httparse::EMPTY_HEADER; FIELDS_MAX];
    let mut head = httparse::Response::new(&mut fields);
    let Status::Complete(begin) = head.parse(bytes).map_err(malformed)? else { return Ok(None) };
    let status = head.code.unwrap_or_default();
    let is_old = head.version == Some(0);
    let fields: &[Header<'_>] = head.headers;
    if (100..200).contains(&status) {
        let rest = response(&bytes[begin..], method, is_ended)?;
        return Ok(rest.map(|answer| Answer { bytes: answer.bytes + begin, ..answer }));
    }
    let field = |name: &str| -> Result<Option<&str>, Malformed> {
        let found = fields.iter().find(|field| field.name.eq_ignore_ascii_case(name));
        let text = found.map(|field| std::str::from_utf8(field.value)).transpose();
        text.map_err(|_| Malformed(format!("{name} is no text")))
    };
    let length: Option<u64> = match field("Content-Length")? {
        Some(text) => Some(text.trim().parse().map_err(|_| Malformed(format!("Content-Length is {text}")))?),
        None => None,
    };
    let has_no_body = method == Method::Head || matches!(status, 204 | 304);
    let is_chunked = field("Transfer-Encoding")?.is_some_and(|coding| coding.eq_ignore_ascii_case("chunked"));
    let rest = &bytes[begin..];
    let (body, used) = if has_no_body {
        (Vec::new(), 0)
    } else if is_chunked {
        let Some(found) = chunks(rest)? else { return Ok(None) };
        found
    } else if let Some(length) = length {
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        let Some(body) = rest.get(..length) else { return Ok(None) };
        (body.to_vec(), length)
    } else if is_ended {
        (rest.to_vec(), rest.len())
    } else {
        return Ok(None);
    };
    let tag = field("ETag")?.map(|text| text.parse().map_err(|error| Malformed(format!("ETag is {text}: {error}"))));
    let modified = field("Last-Modified")?.map(|text| {
        let date = httpdate::parse_http_date(text).map_err(|_| Malformed(format!("Last-Modified is {text}")))?;
        Ok(seconds(date))
    });
    let connection = field("Connection")?.unwrap_or_default();
    let closes = connection.eq_ignore_ascii_case("close") || is_old && !connection.eq_ignore_ascii_case("keep-alive");
    let body = String::from_utf8_lossy(&body).into_owned();
    let seen = Seen { status, tag: tag.transpose()?, modified: modified.transpose()?, length, body };
    Ok(Some(Answer { seen, bytes: begin + used, closes }))
}

fn seconds(date: SystemTime) -> u64 {
    date.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs()
}

/// Reads a content in chunks (RFC 9112, section 7.1), with how many bytes it takes; `None` if it is not there as a whole.
fn chunks(bytes: &[u8]) -> Result<Option<(Vec<u8>, usize)>, Malformed> {
    let (mut body, mut at) = (Vec::new(), 0);
    loop {
        let size = httparse::parse_chunk_size(&bytes[at..]).map_err(|_| Malformed("a chunk has no size".to_owned()))?;
        let Status::Complete((begin, size)) = size else { return Ok(None) };
        at += begin;
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        let Some(chunk) = bytes[at..].get(..size) else { return Ok(None) };
        body.extend_from_slice(chunk);
        at += size;
        // After the last chunk there are no trailers, and each ends with a line.
        match bytes[at..].get(..2) {
            Some(b"\r\n") => at += 2,
            Some(_) => return Err(Malformed("a chunk is longer than it says".to_owned())),
            None => return Ok(None),
        }
        if size == 0 {
            return Ok(Some((body, at)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tag::EntityTag;

    const RESPONSE: &str = "HTTP/1.1 200 OK\r\nETag: W/\"a\"\r\nLast-Modified: Mon, 01 Jan 1990 00:00:00 GMT\r\n";

    fn read(rest: &str, method: Method) -> Answer {
        let text = format!("{RESPONSE}{rest}");
        // No beginning of it is a response.
        let whole = response(text.as_bytes(), method, false).expect("it is well-formed").expect("it is whole");
        for end in 0..whole.bytes {
            assert_eq!(response(&text.as_bytes()[..end], method, false), Ok(None), "{end}");
        }
        whole
    }

    #[test]
    fn responses_are_read_however_they_say_where_they_end() {
        let expect = Seen {
            status: 200,
            tag: Some(EntityTag::weak("a")),
            modified: Some(crate::specification::LONG_AGO),
            length: None,
            body: "some content".into(),
        };
        let sized = read("Content-Length: 12\r\n\r\nsome contentHTTP/1.1", Method::Get);
        assert_eq!(sized.seen, Seen { length: Some(12), ..expect.clone() });
        let chunked = read("Transfer-Encoding: chunked\r\n\r\n5\r\nsome \r\n7\r\ncontent\r\n0\r\n\r\n", Method::Get);
        assert_eq!(chunked.seen, expect);
        let head = read("Content-Length: 12\r\n\r\n", Method::Head);
        assert_eq!(head.seen, Seen { length: Some(12), body: String::new(), ..expect.clone() });
        let text = format!("{RESPONSE}Connection: close\r\n\r\nsome content");
        assert_eq!(response(text.as_bytes(), Method::Get, false), Ok(None));
        let ended = response(text.as_bytes(), Method::Get, true).expect("it is well-formed").expect("it is whole");
        assert_eq!((ended.seen, ended.closes), (expect, true));
    }

    #[test]
    fn what_is_no_response_is_told() {
        for (rest, expect) in [
            ("Content-Length: x\r\n\r\n", "Content-Length is x"),
            ("Last-Modified: today\r\n\r\n", "Last-Modified is today"),
            ("ETag: a\r\nContent-Length: 0\r\n\r\n", "ETag is a: an entity tag is a text in quotes"),
            ("Transfer-Encoding: chunked\r\n\r\n1\r\nabc", "a chunk is longer than it says"),
            ("Transfer-Encoding: chunked\r\n\r\nabc\r\n", ""),
            ("no field\r\n\r\n", "invalid header name"),
        ] {
            let text = format!("HTTP/1.1 200 OK\r\n{rest}");
            match response(text.as_bytes(), Method::Get, true) {
                Err(Malformed(reason)) => assert!(!expect.is_empty() && reason.contains(expect), "{reason}"),
                Ok(answer) => assert!(expect.is_empty() && answer.is_none(), "{rest}"),
            }
        }
        assert!(response(b"SMTP", Method::Get, false).is_err());
    }
}
