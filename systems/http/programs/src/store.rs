//! Contents, and what becomes of them.

use std::collections::BTreeMap;

use super::behaviour::Behaviour;
use super::date;
use super::message::{Method, Request, Response};
use super::tag::Tag;

/// A content.
#[derive(Debug)]
struct Content {
    bytes: Vec<u8>,
    tag: Tag,
    /// When it was made, in seconds since 1970.
    modified: i64,
}

/// All contents, by target.
#[derive(Debug)]
pub(crate) struct Store {
    contents: BTreeMap<String, Content>,
    /// How many changes there were.
    changes: u64,
    behaviour: &'static dyn Behaviour,
}

impl Store {
    pub(crate) fn new(behaviour: &'static dyn Behaviour) -> Self {
        Self { contents: BTreeMap::new(), changes: 0, behaviour }
    }

    /// Performs a request.
    pub(crate) fn answer(&mut self, request: &Request) -> Response {
        let Some(method) = request.method else {
            let fields = vec![("Allow", "GET, HEAD, PUT, DELETE".to_owned())];
            return Response { fields, ..Response::empty(405) };
        };
        if self.behaviour.returns_at_once(method) {
            return Response::empty(200);
        }
        let performed = self.behaviour.performed(method);
        let path = if method == Method::Put { self.behaviour.put_target(&request.path) } else { &request.path };
        let current = self.contents.get(path);
        // Conditions are ignored where they do not matter (RFC 9110, section 13.2.1).
        if current.is_none() && performed != Method::Put {
            return Response::empty(self.behaviour.status(404));
        }
        match self.precondition(request, method, current) {
            Ok(Some(304)) => return self.content(304, method, current.expect("it is not modified")),
            Ok(Some(failed)) => return Response::empty(self.behaviour.status(failed)),
            Ok(None) => {}
            Err(status) => return Response::empty(status),
        }
        match performed {
            Method::Get | Method::Head => self.content(200, method, current.expect("it is there")),
            Method::Put => self.put(path.to_owned(), &request.content),
            Method::Delete => {
                self.contents.remove(path);
                Response::empty(204)
            }
        }
    }

    fn put(&mut self, path: String, content: &[u8]) -> Response {
        self.changes += 1;
        let is_weak = path.as_bytes().last().is_some_and(|byte| byte % 2 == 1);
        let tag = Tag { is_weak, opaque: format!("{:x}", self.changes) };
        let fields = vec![("ETag", tag.to_string())];
        let bytes = self.behaviour.stored(content);
        let is_there = self.contents.contains_key(&path);
        if !is_there || self.behaviour.replaces() {
            self.contents.insert(path, Content { bytes, tag, modified: date::now() });
        }
        Response { fields, ..Response::empty(if is_there { 204 } else { 201 }) }
    }

    /// Returns the response with a content, or that it was not modified.
    fn content(&self, due: u16, method: Method, content: &Content) -> Response {
        let fields = vec![
            (self.behaviour.tag_field(), content.tag.to_string()),
            ("Last-Modified", date::format(content.modified)),
        ];
        let status = self.behaviour.status(due);
        let mut response = Response { fields, ..Response::empty(status) };
        if status == 304 {
            return response;
        }
        if method == Method::Head {
            response.length = Some(content.bytes.len());
        } else if self.behaviour.loses_chunks() {
            response.fields.push(("Transfer-Encoding", "chunked".to_owned()));
            (response.length, response.content) = (None, b"0\r\n\r\n".to_vec());
        } else {
            response.content = self.behaviour.sent(&content.bytes);
            response.length = Some(response.content.len());
        }
        response
    }

    /// Returns the status if the method is not performed, in the order of RFC 9110, section 13.2.2, and the status for a
    /// condition that is none.
    fn precondition(&self, request: &Request, method: Method, current: Option<&Content>) -> Result<Option<u16>, u16> {
        let is_read = matches!(method, Method::Get | Method::Head);
        // What is no date is ignored (sections 13.1.3 and 13.1.4).
        let is_modified_since = |name| {
            let date = request.field(name).and_then(|value| date::parse(&value));
            date.zip(current).map(|(date, content)| content.modified > date)
        };
        let has_one_of = |tags: &str, matches: &dyn Fn(&Tag, &Tag) -> bool| match (tags, current) {
            ("*", _) => Ok(current.is_some()),
            (_, Some(content)) => Ok(Tag::list(tags).ok_or(400_u16)?.iter().any(|tag| matches(tag, &content.tag))),
            (_, None) => Tag::list(tags).map(|_| false).ok_or(400_u16),
        };
        if let Some(tags) = request.field("If-Match") {
            let is_refused = tags == "*" || self.behaviour.refuses_without_match();
            if !has_one_of(&tags, &|given, tag| self.behaviour.matches(given, tag))? && is_refused {
                return Ok(Some(412));
            }
        } else if is_modified_since("If-Unmodified-Since") == Some(true) {
            return Ok(Some(412));
        }
        if let Some(tags) = request.field("If-None-Match") {
            if has_one_of(&tags, &|given, tag| self.behaviour.matches_none(given, tag))? {
                return Ok(Some(if is_read { 304 } else { 412 }));
            }
        } else if is_read && is_modified_since("If-Modified-Since") == Some(false) {
            return Ok(Some(304));
        }
        Ok(None)
    }
}
