//! A validator of an HTTP server that is written by hand: figure 1.1 of Li, "Testing by Dualization" (PhD thesis, University
//! of Pennsylvania, 2022), completed so that it judges as the specification does.
//!
//! It judges GET and PUT with at most one tag in If-Match or If-None-Match, one after the other, where no PUT has the content
//! that is there already, and no answer has a date. One possibility is then all that it has to keep.
//!
//! The figure accepts a tag that contradicts what it knows, and forgets whether a tag is weak. There a condition is If-Match
//! of a PUT or If-None-Match of a GET, each resource has a content, and a strong tag may come again with another one.

use std::collections::HashMap;

use simutant_http::message::{Method, Request, Seen, Tags};
use simutant_http::tag::EntityTag;

/// What is known of a server.
#[derive(Debug, Default)]
pub struct Validator(HashMap<String, Resource>);

#[derive(Debug, Default)]
struct Resource {
    data: Option<String>,
    tag: Tag,
    /// The contents that strong tags stood for.
    spent: HashMap<String, String>,
}

#[derive(Debug)]
enum Tag {
    /// It has none of these texts, or there is none.
    IsNot(Vec<String>),
    Missing,
    /// It was weak, and may have become strong.
    Weak(String),
    Strong(String),
}

impl Default for Tag {
    fn default() -> Self {
        Self::IsNot(Vec::new())
    }
}

impl Validator {
    /// Returns whether the server can have answered so after all that it has answered before.
    pub fn accepts(&mut self, request: &Request, seen: &Seen) -> bool {
        if !self.0.contains_key(&request.path) {
            self.0.insert(request.path.clone(), Resource::default());
        }
        let resource = self.0.get_mut(&request.path).expect("it was inserted");
        let is_put = request.method == Method::Put;
        let [if_match, if_none_match] = [&request.conditions.if_match, &request.conditions.if_none_match].map(one);
        let is_new = resource.data.is_none();
        if is_new && (!is_put || if_match.is_some()) {
            return seen.status == if is_put { 412 } else { 404 };
        }
        if let Some(tag) = if_match {
            if seen.status == 412 {
                // That says nothing of the text: a weak tag does not match, and may do so when it has become strong.
                return tag.is_weak || !matches!(&resource.tag, Tag::Strong(text) if *text == tag.opaque);
            }
            if tag.is_weak || !resource.has(tag) {
                return false;
            }
        }
        if let Some(tag) = if_none_match.filter(|_| !is_new) {
            if seen.status == if is_put { 412 } else { 304 } {
                return resource.has_text(&tag.opaque) && (is_put || resource.shows(seen));
            }
            match &mut resource.tag {
                Tag::IsNot(texts) => texts.push(tag.opaque.clone()),
                Tag::Weak(text) | Tag::Strong(text) if *text == tag.opaque => return false,
                _ => {}
            }
        }
        if !is_put {
            return seen.status == 200 && resource.data.as_ref() == Some(&seen.body) && resource.shows(seen);
        }
        (resource.data, resource.tag) = (request.body.clone(), Tag::default());
        let is_status = if is_new { seen.status == 201 } else { matches!(seen.status, 200 | 204) };
        is_status && seen.tag.as_ref().is_none_or(|tag| resource.has(tag))
    }
}

impl Resource {
    /// Learns the tag in an answer that would have it, if there were one.
    fn shows(&mut self, seen: &Seen) -> bool {
        let Some(tag) = &seen.tag else {
            let may_be_missing = matches!(self.tag, Tag::IsNot(_) | Tag::Missing);
            self.tag = Tag::Missing;
            return may_be_missing;
        };
        self.has(tag)
    }

    /// Learns that the content has a tag of this text, and returns whether it can have one.
    fn has_text(&mut self, opaque: &str) -> bool {
        match &self.tag {
            Tag::IsNot(texts) => {
                let can_be = texts.iter().all(|text| text != opaque);
                self.tag = Tag::Weak(opaque.to_owned());
                can_be
            }
            Tag::Missing => false,
            Tag::Weak(text) | Tag::Strong(text) => text == opaque,
        }
    }

    /// Learns that the content has this tag, and returns whether it can have it.
    fn has(&mut self, tag: &EntityTag) -> bool {
        if !self.has_text(&tag.opaque) {
            return false;
        }
        if tag.is_weak {
            return matches!(self.tag, Tag::Weak(_));
        }
        if matches!(self.tag, Tag::Weak(_)) {
            self.tag = Tag::Strong(tag.opaque.clone());
        }
        let data = self.data.as_deref().unwrap_or_default();
        self.spent.entry(tag.opaque.clone()).or_insert_with(|| data.to_owned()) == data
    }
}

/// Returns the tag of a condition.
fn one(tags: &Option<Tags>) -> Option<&EntityTag> {
    match tags {
        Some(Tags::These(tags)) => tags.first(),
        _ => None,
    }
}
