//! A server of contents with entity tags: what mutants are made of.
//!
//! Its tags are weak for a while, as those of files are: until then, a content may change without another date.

use std::collections::BTreeMap;

use simutant_sim_core::{Context, VirtualDuration, VirtualTime};

use crate::HttpMessage;
use crate::message::{Conditions, Method, Request, Seen, Tags};
use crate::tag::{Comparison, EntityTag};

/// The port of the server.
pub const PORT: u16 = 80;

/// How long a request takes.
pub const WORK: VirtualDuration = VirtualDuration::from_millis(1);

/// How old a content is when its tag becomes strong.
pub const SETTLED: VirtualDuration = VirtualDuration::from_millis(40);

/// When simulated time begins: 2020, in seconds since 1970.
pub const EPOCH: u64 = 1_577_836_800;

/// A content.
#[derive(Debug, Clone)]
struct Content {
    body: String,
    /// The number of the change that made it, of which there is one only.
    change: u64,
    at: VirtualTime,
}

impl Content {
    fn tag(&self, now: VirtualTime) -> EntityTag {
        EntityTag { is_weak: now < self.at + SETTLED, opaque: format!("{:x}", self.change) }
    }

    fn modified(&self) -> u64 {
        EPOCH + self.at.as_nanos() / 1_000_000_000
    }
}

/// Answers requests, one after the other.
pub async fn server(context: Context<HttpMessage>) {
    let mut channel = context.channel_at(PORT);
    let mut contents = BTreeMap::new();
    let mut changes = 0;
    while context.running() {
        let delivery = channel.recv().await;
        if let HttpMessage::Request(label, request) = delivery.message {
            context.pause(WORK).await;
            let seen = answer(&mut contents, &mut changes, &request, context.now());
            channel.send(delivery.source, HttpMessage::Response(label, seen));
        }
    }
}

fn answer(contents: &mut BTreeMap<String, Content>, changes: &mut u64, request: &Request, now: VirtualTime) -> Seen {
    if request.method == Method::Unknown {
        return Seen { allow: Some("GET, HEAD, PUT, DELETE".to_owned()), ..status(405) };
    }
    let current = contents.get(&request.path);
    if current.is_none() && request.method != Method::Put {
        return status(404);
    }
    if let Some(failed) = precondition(&request.conditions, request.method, current, now) {
        let seen = status(failed);
        return match current {
            Some(content) if failed == 304 => with_fields(seen, content, now),
            _ => seen,
        };
    }
    match request.method {
        Method::Get | Method::Head | Method::Unknown => {
            let content = current.expect("it is there").clone();
            let body = if request.method == Method::Get { content.body.clone() } else { String::new() };
            let length = Some(content.body.len() as u64);
            with_fields(Seen { body, length, ..status(200) }, &content, now)
        }
        Method::Put => {
            let is_new = current.is_none();
            *changes += 1;
            let body = request.body.clone().unwrap_or_default();
            let content = Content { body, change: *changes, at: now };
            let seen = Seen { tag: Some(content.tag(now)), ..status(if is_new { 201 } else { 204 }) };
            contents.insert(request.path.clone(), content);
            seen
        }
        Method::Delete => {
            contents.remove(&request.path);
            status(204)
        }
    }
}

/// Returns the status if the method is not performed (RFC 9110, section 13.2.2).
fn precondition(conditions: &Conditions, method: Method, current: Option<&Content>, now: VirtualTime) -> Option<u16> {
    let is_read = method.is_read();
    let modified = current.map(Content::modified);
    if let Some(tags) = &conditions.if_match {
        if !has_one_of(current, tags, Comparison::Strong, now) {
            return Some(412);
        }
    } else if let (Some(date), Some(modified)) = (conditions.if_unmodified_since, modified)
        && modified > date
    {
        return Some(412);
    }
    if let Some(tags) = &conditions.if_none_match {
        if has_one_of(current, tags, Comparison::Weak, now) {
            return Some(if is_read { 304 } else { 412 });
        }
    } else if let (Some(date), Some(modified)) = (conditions.if_modified_since, modified)
        && is_read
        && modified <= date
    {
        return Some(304);
    }
    None
}

fn has_one_of(current: Option<&Content>, tags: &Tags, comparison: Comparison, now: VirtualTime) -> bool {
    let Some(content) = current else { return false };
    match tags {
        Tags::Any => true,
        Tags::These(tags) => tags.iter().any(|tag| tag.matches(&content.tag(now), comparison)),
    }
}

fn with_fields(seen: Seen, content: &Content, now: VirtualTime) -> Seen {
    Seen { tag: Some(content.tag(now)), modified: Some(content.modified()), ..seen }
}

fn status(status: u16) -> Seen {
    Seen { status, ..Seen::default() }
}
