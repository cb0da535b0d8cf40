//! HTTP/1.1 as bytes: requests and responses, as they are sent and as they arrive in pieces.

use std::collections::BTreeMap;
use std::fmt::Write;

use httparse::{Header, Status};

use crate::message::{Request, Response};
use crate::origin::{Ending, Framing, OriginAnswer};

/// How many headers a message has at most.
const HEADERS_MAX: usize = 64;

/// How long a message is at most.
const BYTES_MAX: usize = 1 << 20;

/// Why bytes are no message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Malformed(pub(crate) String);

/// How long a chunk is that is sent.
const CHUNK_BYTES: usize = 1000;

/// Returns the bytes of a request.
pub(crate) fn bytes(request: &Request, host: &str) -> Vec<u8> {
    let Request { method, path, headers, body } = request;
    let mut text = format!("{method} {path} HTTP/1.1\r\nHost: {}\r\n", request.get("Host").unwrap_or(host));
    // Writing to a string does not fail.
    for (name, value) in headers.iter().filter(|(name, _)| !name.eq_ignore_ascii_case("Host")) {
        let _ = write!(text, "{name}: {value}\r\n");
    }
    match body {
        Some(body) if is_chunked(request.get("Transfer-Encoding")) => {
            return [text.as_bytes(), b"\r\n", &chunked(body.as_bytes())].concat();
        }
        Some(body) => _ = write!(text, "Content-Length: {}\r\n\r\n{body}", body.len()),
        // A server may ask for a length (RFC 9110, section 8.6).
        None if matches!(method.as_str(), "POST" | "PUT" | "PATCH") => text.push_str("Content-Length: 0\r\n\r\n"),
        None => text.push_str("\r\n"),
    }
    text.into_bytes()
}

/// A response, and what it says of the connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Answer {
    pub(crate) response: Response,
    /// How many bytes it has.
    pub(crate) bytes: usize,
    /// Whether the server closes the connection after it.
    pub(crate) closes: bool,
}

/// Reads the response to a request of this method at the beginning of `bytes`; `None` if it is not there as a whole.
/// `is_ended` says that no more bytes come.
pub(crate) fn response(bytes: &[u8], method: &str, is_ended: bool) -> Result<Option<Answer>, Malformed> {
    let malformed = |error: httparse::Error| Malformed(error.to_string());
    if bytes.len() > BYTES_MAX {
        return Err(Malformed(format!("it has more than {BYTES_MAX} bytes")));
    }
    let mut parsed = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut head = httparse::Response::new(&mut parsed);
    let Status::Complete(begin) = head.parse(bytes).map_err(malformed)? else { return Ok(None) };
    let status = head.code.unwrap_or_default();
    let is_old = head.version == Some(0);
    if (100..200).contains(&status) {
        let rest = response(&bytes[begin..], method, is_ended)?;
        return Ok(rest.map(|answer| Answer { bytes: answer.bytes + begin, ..answer }));
    }
    let headers = texts(head.headers)?;
    let header = |name: &str| headers.get(name).map_or("", String::as_str);
    let length = length(&headers)?;
    let has_no_body = method == "HEAD" || matches!(status, 204 | 304);
    let rest = &bytes[begin..];
    let (body, used) = if has_no_body {
        (Vec::new(), 0)
    } else if is_chunked(Some(header("transfer-encoding"))) {
        let Some(found) = chunks(rest)? else { return Ok(None) };
        found
    } else if let Some(length) = length {
        let Some(body) = rest.get(..length) else { return Ok(None) };
        (body.to_vec(), length)
    } else if is_ended {
        (rest.to_vec(), rest.len())
    } else {
        return Ok(None);
    };
    let closes = closes(header("connection"), is_old);
    let body = String::from_utf8_lossy(&body).into_owned();
    Ok(Some(Answer { response: Response { status, headers, body }, bytes: begin + used, closes }))
}

/// Returns what of a response to GET is there.
pub(crate) fn part(bytes: &[u8]) -> Response {
    let mut parsed = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut head = httparse::Response::new(&mut parsed);
    let Ok(Status::Complete(begin)) = head.parse(bytes) else { return Response::default() };
    let headers = texts(head.headers).unwrap_or_default();
    let mut rest = &bytes[begin..];
    let mut body = Vec::new();
    if is_chunked(headers.get("transfer-encoding").map(String::as_str)) {
        while let Ok(Status::Complete((begin, size))) = httparse::parse_chunk_size(rest) {
            let end = begin.saturating_add(usize::try_from(size).unwrap_or(usize::MAX)).min(rest.len());
            body.extend_from_slice(&rest[begin..end]);
            // What comes after the last chunk is no content.
            rest = if size == 0 { &[] } else { rest.get(end + 2..).unwrap_or_default() };
        }
    } else {
        body = rest.to_vec();
    }
    let body = String::from_utf8_lossy(&body).into_owned();
    Response { status: head.code.unwrap_or_default(), headers, body }
}

/// A request that was received.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Arrived {
    /// Its headers have names in lower case, as those of responses have.
    pub(crate) request: Request,
    /// How many bytes it has.
    pub(crate) bytes: usize,
    /// Whether it is one of HTTP/1.0.
    pub(crate) is_old: bool,
    /// Whether it is the last one on its connection (RFC 9112, section 9.3).
    pub(crate) is_last: bool,
}

/// Reads the request at the beginning of `bytes`; `None` if it is not there as a whole.
pub(crate) fn request(bytes: &[u8]) -> Result<Option<Arrived>, Malformed> {
    let malformed = |error: httparse::Error| Malformed(error.to_string());
    if bytes.len() > BYTES_MAX {
        return Err(Malformed(format!("it has more than {BYTES_MAX} bytes")));
    }
    let mut parsed = [httparse::EMPTY_HEADER; HEADERS_MAX];
    let mut head = httparse::Request::new(&mut parsed);
    let Status::Complete(begin) = head.parse(bytes).map_err(malformed)? else { return Ok(None) };
    let headers = texts(head.headers)?;
    let rest = &bytes[begin..];
    let (body, used) = if is_chunked(headers.get("transfer-encoding").map(String::as_str)) {
        let Some((body, used)) = chunks(rest)? else { return Ok(None) };
        (Some(body), used)
    } else if let Some(length) = length(&headers)? {
        let Some(body) = rest.get(..length) else { return Ok(None) };
        (Some(body.to_vec()), length)
    } else {
        (None, 0)
    };
    let [method, path] = [head.method, head.path].map(|text| text.unwrap_or_default().to_owned());
    let body = body.map(|body| String::from_utf8_lossy(&body).into_owned());
    let is_old = head.version == Some(0);
    let is_last = closes(headers.get("connection").map_or("", String::as_str), is_old);
    let request = Request { method, path, headers, body };
    Ok(Some(Arrived { request, bytes: begin + used, is_old, is_last }))
}

/// Returns the bytes with which an origin answers a request of this method.
pub(crate) fn answer(method: &str, answer: &OriginAnswer) -> Vec<u8> {
    let OriginAnswer { response: Response { status, headers, body }, framing, ending } = answer;
    let mut head = format!("HTTP/1.1 {status} {}\r\n", if *status < 400 { "Fine" } else { "Wrong" });
    for (name, value) in headers {
        let _ = write!(head, "{name}: {value}\r\n");
    }
    let has_no_body = matches!(status, 204 | 304);
    match framing {
        Framing::Sized if !has_no_body => _ = write!(head, "content-length: {}\r\n", body.len()),
        Framing::Chunked if !has_no_body => head.push_str("transfer-encoding: chunked\r\n"),
        _ => {}
    }
    head.push_str("\r\n");
    let sent = match ending {
        Ending::Nothing => return Vec::new(),
        Ending::Cut(bytes) => body.as_bytes().get(..*bytes).unwrap_or(body.as_bytes()),
        Ending::Kept | Ending::Closed | Ending::More => body.as_bytes(),
    };
    let mut bytes = head.into_bytes();
    if method != "HEAD" && !has_no_body {
        if *framing == Framing::Chunked {
            bytes.extend(chunked(sent));
            if !answer.is_whole() {
                bytes.truncate(bytes.len() - LAST_CHUNK.len());
            }
        } else {
            bytes.extend_from_slice(sent);
        }
    }
    if *ending == Ending::More {
        bytes.extend_from_slice(UNASKED);
    }
    bytes
}

/// A response that nobody has asked for.
const UNASKED: &[u8] = b"HTTP/1.1 200 Fine\r\nunasked: yes\r\ncontent-length: 0\r\n\r\n";

/// What ends a content in chunks.
const LAST_CHUNK: &[u8] = b"0\r\n\r\n";

/// Returns a content in chunks.
fn chunked(body: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for chunk in body.chunks(CHUNK_BYTES) {
        bytes.extend_from_slice(format!("{:x}\r\n", chunk.len()).as_bytes());
        bytes.extend_from_slice(chunk);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes.extend_from_slice(LAST_CHUNK);
    bytes
}

/// Returns whether a field Transfer-Encoding says that a content is in chunks.
fn is_chunked(encoding: Option<&str>) -> bool {
    encoding.is_some_and(|encoding| encoding.eq_ignore_ascii_case("chunked"))
}

/// Returns whether a message says that its connection ends with it.
fn closes(connection: &str, is_old: bool) -> bool {
    let has = |wanted: &str| connection.split(',').any(|option| option.trim().eq_ignore_ascii_case(wanted));
    has("close") || is_old && !has("keep-alive")
}

/// Returns the length that headers say.
fn length(headers: &BTreeMap<String, String>) -> Result<Option<usize>, Malformed> {
    let Some(text) = headers.get("content-length") else { return Ok(None) };
    text.trim().parse().map(Some).map_err(|_| Malformed(format!("Content-Length is {text}")))
}

/// Returns headers by their names in lower case.
fn texts(headers: &[Header<'_>]) -> Result<BTreeMap<String, String>, Malformed> {
    let mut texts: BTreeMap<String, String> = BTreeMap::new();
    for Header { name, value } in headers {
        let value = std::str::from_utf8(value).map_err(|_| Malformed(format!("{name} is no text")))?;
        let both = |text: &mut String| *text = format!("{text}, {value}");
        texts.entry(name.to_ascii_lowercase()).and_modify(both).or_insert_with(|| value.to_owned());
    }
    Ok(texts)
}

/// Reads a content in chunks (RFC 9112, section 7.1), with how many bytes it takes; `None` if it is not there as a whole. The fields
/// of its trailer section are discarded, as a recipient may (section 7.1.2).
fn chunks(bytes: &[u8]) -> Result<Option<(Vec<u8>, usize)>, Malformed> {
    let (mut body, mut at) = (Vec::new(), 0);
    loop {
        let size = httparse::parse_chunk_size(&bytes[at..]).map_err(|_| Malformed("a chunk has no size".to_owned()))?;
        let Status::Complete((begin, size)) = size else { return Ok(None) };
        at += begin;
        if size == 0 {
            let mut trailers = [httparse::EMPTY_HEADER; HEADERS_MAX];
            let trailers = httparse::parse_headers(&bytes[at..], &mut trailers);
            return Ok(match trailers.map_err(|error| Malformed(format!("a trailer is no field: {error}")))? {
                Status::Complete((used, _)) => Some((body, at + used)),
                Status::Partial => None,
            });
        }
        let size = usize::try_from(size).unwrap_or(usize::MAX);
        let Some(chunk) = bytes[at..].get(..size) else { return Ok(None) };
        body.extend_from_slice(chunk);
        at += size;
        match bytes[at..].get(..2) {
            Some(b"\r\n") => at += 2,
            Some(_) => return Err(Malformed("a chunk is longer than it says".to_owned())),
            None => return Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(rest: &str, method: &str) -> Answer {
        let text = format!("HTTP/1.1 200 OK\r\nETag: W/\"a\"\r\n{rest}");
        // No beginning of it is a response.
        let whole = response(text.as_bytes(), method, false).expect("it is well-formed").expect("it is whole");
        for end in 0..whole.bytes {
            assert_eq!(response(&text.as_bytes()[..end], method, false), Ok(None), "{end}");
        }
        assert!(["", "HTTP/1.1"].contains(&&text[whole.bytes..]), "the next one follows");
        whole
    }

    #[test]
    fn responses_are_read_however_they_say_where_they_end() {
        let content = "some content";
        let sized = read("Content-Length: 12\r\n\r\nsome contentHTTP/1.1", "GET").response;
        assert_eq!((sized.body.as_str(), sized.get("etag")), (content, Some("W/\"a\"")));
        let chunked = read("Transfer-Encoding: chunked\r\n\r\n5\r\nsome \r\n7\r\ncontent\r\n0\r\n\r\n", "GET");
        assert_eq!(chunked.response.body, content);
        let trailers = "5;a=b\r\nsome \r\n7\r\ncontent\r\n0\r\nETag: \"b\"\r\nExpires: 0\r\n\r\nHTTP/1.1";
        let trailed = read(&format!("Transfer-Encoding: chunked\r\n\r\n{trailers}"), "GET");
        assert_eq!((trailed.response.body.as_str(), trailed.response.get("etag")), (content, Some("W/\"a\"")));
        assert_eq!(trailed.response.get("expires"), None);
        assert_eq!(read("Content-Length: 12\r\n\r\n", "HEAD").response.body, "");
        assert_eq!(read("Allow: GET\r\nAllow: PUT\r\n\r\n", "HEAD").response.get("allow"), Some("GET, PUT"));
        let text = b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\nsome content";
        assert_eq!(response(text, "GET", false), Ok(None));
        let ended = response(text, "GET", true).expect("it is well-formed").expect("it is whole");
        assert_eq!((ended.response.body.as_str(), ended.closes), (content, true));
    }

    #[test]
    fn what_is_no_response_is_told() {
        for (rest, expect) in [
            ("Content-Length: x\r\n\r\n", "Content-Length is x"),
            ("Transfer-Encoding: chunked\r\n\r\n1\r\nabc", "a chunk is longer than it says"),
            ("Transfer-Encoding: chunked\r\n\r\n0\r\nno field\r\n\r\n", "a trailer is no field"),
            ("Transfer-Encoding: chunked\r\n\r\nabc\r\n", ""),
            ("no field\r\n\r\n", "invalid header name"),
        ] {
            let text = format!("HTTP/1.1 200 OK\r\n{rest}");
            match response(text.as_bytes(), "GET", true) {
                Err(Malformed(reason)) => assert!(!expect.is_empty() && reason.contains(expect), "{reason}"),
                Ok(answer) => assert!(expect.is_empty() && answer.is_none(), "{rest}"),
            }
        }
        assert!(response(b"SMTP", "GET", false).is_err());
    }

    #[test]
    fn requests_say_how_long_they_are() {
        let text = |request: &Request| String::from_utf8(bytes(request, "h:1")).expect("text");
        let put = Request::new("PUT", "/a").header("If-Match", "*").body("é");
        assert_eq!(text(&put), "PUT /a HTTP/1.1\r\nHost: h:1\r\nIf-Match: *\r\nContent-Length: 2\r\n\r\né");
        assert!(text(&Request::new("POST", "/a")).ends_with("Content-Length: 0\r\n\r\n"));
        assert!(text(&Request::new("GET", "/a")).ends_with("Host: h:1\r\n\r\n"));
    }

    #[test]
    fn requests_are_read_as_they_are_sent() {
        let put = Request::new("PUT", "http://h:1/a").header("If-Match", "*").body("some content");
        for request in [put.clone(), put.clone().header("Transfer-Encoding", "chunked"), Request::new("GET", "/a")] {
            let bytes = bytes(&request, "h:1");
            let arrived =
                super::request(&[&bytes[..], b"GET"].concat()).expect("it is well-formed").expect("it is whole");
            assert_eq!(arrived.bytes, bytes.len());
            assert_eq!((&arrived.request.path, &arrived.request.body), (&request.path, &request.body));
            assert_eq!((arrived.request.get("host"), arrived.is_last), (Some("h:1"), false));
            for end in 0..bytes.len() {
                assert_eq!(super::request(&bytes[..end]), Ok(None), "{end}");
            }
        }
        let old = request(b"GET / HTTP/1.0\r\n\r\n").expect("it is well-formed").expect("it is whole");
        assert!(old.is_old && old.is_last);
    }

    #[test]
    fn answers_of_origins_are_read_as_they_are_sent_and_those_that_are_cut_are_not_whole() {
        let content = ".".repeat(2 * CHUNK_BYTES + 1);
        for framing in [Framing::Sized, Framing::Chunked, Framing::Closed] {
            let whole = OriginAnswer { response: Response::new(200, &*content), framing, ending: Ending::Kept };
            let is_ended = framing == Framing::Closed;
            let bytes = answer("GET", &whole);
            let read = response(&bytes, "GET", is_ended).expect("it is well-formed").expect("it is whole");
            assert_eq!((read.response.body, read.bytes), (content.clone(), bytes.len()));
            let head = answer("HEAD", &whole);
            assert_eq!(head, bytes[..head.len()]);
        }
        for framing in [Framing::Sized, Framing::Chunked] {
            let cut = OriginAnswer { response: Response::new(200, &*content), framing, ending: Ending::Cut(1_500) };
            let bytes = answer("GET", &cut);
            assert_eq!(response(&bytes, "GET", true), Ok(None));
            assert_eq!(part(&bytes).body, cut.sent().expect("it is some").body);
        }
        let nothing =
            OriginAnswer { response: Response::new(200, ""), framing: Framing::Sized, ending: Ending::Nothing };
        assert_eq!((answer("GET", &nothing), part(b"HTTP/1.1 2")), (Vec::new(), Response::default()));
    }
}
