//! What a server may answer: GET, HEAD, PUT and DELETE with preconditions (RFC 9110).
//!
//! The server chooses entity tags and dates, so a state has what is known of them, in the content that they are of. What
//! is not known when it matters is open, and a search looks at both answers.

use std::collections::BTreeMap;
use std::sync::Arc;

use simutant_http_tester as http;
use simutant_http_tester::{HttpService, Random, Rule, Step};
use simutant_oracle::{Footprint, Open, Region, Session, Specification};

use crate::message::{Due, Method, Request, Response, Seen, Tags};
use crate::rules::{RULES, RuleId, RuleSet};
use crate::script;
use crate::tag::{Comparison, EntityTag, Spent, TagKnowledge};

/// Nothing was modified before 1990, in seconds since 1970: a date that is always past.
pub const LONG_AGO: u64 = 631_152_000;

/// A server: its resources, of which none has a content at first.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Service {
    /// The rules that it may break.
    waived: RuleSet,
    resources: BTreeMap<String, Resource>,
}

#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
struct Resource {
    content: Option<Content>,
    spent: Spent,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Content {
    body: Arc<str>,
    tag: TagKnowledge,
    /// It was modified between these, in seconds since 1970.
    modified: (u64, u64),
}

impl Service {
    /// Returns the content of a target.
    pub(crate) fn body(&self, path: &str) -> Option<Arc<str>> {
        Some(Arc::clone(&self.resources.get(path)?.content.as_ref()?.body))
    }

    /// Returns whether the content of a target has a tag.
    pub(crate) fn has_tag(&mut self, path: &str, tag: &EntityTag, by: Comparison, open: &mut Open<'_>) -> bool {
        let mut rules = Rules { waived: self.waived, open };
        let resource = self.resources.get_mut(path);
        resource.is_some_and(|resource| resource.has_one_of(&Tags::These(vec![tag.clone()]), by, &mut rules))
    }
}

impl HttpService for Service {
    const RULES: &'static [Rule] = RULES;

    fn draw(random: &mut Random, script: &[Step]) -> http::Request {
        script::request(3, script, random)
    }

    fn waive(&mut self, rule: usize) {
        self.waived.add(rule);
    }

    fn part(request: &Request) -> String {
        request.path.clone()
    }
}

impl Specification for Service {
    type Operation = Request;
    type Response = Response;

    fn step(&mut self, _: Session, request: &Request, open: &mut Open<'_>) -> Response {
        let mut rules = Rules { waived: self.waived, open };
        let resource = self.resources.entry(request.path.clone()).or_default();
        let due = resource.precondition(request, &mut rules).unwrap_or_else(|| resource.perform(request));
        Response::Due(due)
    }

    fn agrees(&mut self, request: &Request, due: &Response, seen: &Response, open: &mut Open<'_>) -> bool {
        let (Response::Due(due), Response::Seen(seen)) = (due, seen) else { return false };
        let mut rules = Rules { waived: self.waived, open };
        self.resources.entry(request.path.clone()).or_default().learn(request.method, *due, seen, &mut rules)
    }

    /// Reads teach something of the state, and only if they are answered.
    fn footprint(request: &Request, seen: Option<&Response>) -> Footprint {
        let region = Region::of(&request.path);
        if request.method.is_read() && seen.is_none() { Footprint::reads(region) } else { Footprint::writes(region) }
    }

    fn depends_on_session(_: &Request) -> bool {
        false
    }

    fn heap_bytes(&self) -> usize {
        let of = |resource: &Resource| 128 + resource.content.as_ref().map_or(0, |content| content.body.len());
        self.resources.values().map(of).sum()
    }
}

/// The rules that are in force, and the search that decides what is open.
struct Rules<'a, 'b> {
    waived: RuleSet,
    open: &'a mut Open<'b>,
}

impl Rules<'_, '_> {
    /// Returns whether the server keeps a rule here: if it is waived, both are possible.
    fn keeps(&mut self, rule: RuleId) -> bool {
        !self.waived.has(rule) || !self.open.maybe()
    }
}

impl Resource {
    /// Returns the response if the method is not performed (section 13.2.2).
    fn precondition(&mut self, request: &Request, rules: &mut Rules<'_, '_>) -> Option<Due> {
        use RuleId as R;
        let Request { method, conditions, .. } = request;
        let by_method = |[read, put, delete]: [R; 3]| match method {
            Method::Put => put,
            Method::Delete => delete,
            _ => read,
        };
        if *method == Method::Unknown {
            return Some(Due::Refused);
        }
        if self.content.is_none() && *method != Method::Put {
            let has_any = conditions.if_match.is_some();
            return Some(if has_any && !rules.keeps(R::AbsentFirst) { Due::Failed } else { Due::Missing });
        }
        if let Some(tags) = &conditions.if_match {
            let comparison = if rules.keeps(R::IfMatchStrong) { Comparison::Strong } else { Comparison::Weak };
            let rule = match tags {
                Tags::Any => by_method([R::IfMatchRead, R::IfMatchAnyPut, R::IfMatchDelete]),
                Tags::These(_) => by_method([R::IfMatchRead, R::IfMatchPut, R::IfMatchDelete]),
            };
            if !self.has_one_of(tags, comparison, rules) && rules.keeps(rule) {
                // What has been applied already may be confirmed (section 13.1.1).
                let is_applied = self
                    .content
                    .as_ref()
                    .is_some_and(|content| request.body.as_ref().is_some_and(|body| **body == *content.body));
                return Some(if is_applied && rules.open.maybe() { Due::Replaced } else { Due::Failed });
            }
        }
        if let Some(date) = conditions.if_unmodified_since
            && (conditions.if_match.is_none() || !rules.keeps(R::IfMatchFirst))
        {
            let rule = by_method([R::IfUnmodifiedSinceRead, R::IfUnmodifiedSincePut, R::IfUnmodifiedSinceDelete]);
            let fails = match self.is_modified_since(date, rules) {
                Some(is_modified) => is_modified && rules.keeps(rule),
                None => !rules.keeps(R::IfUnmodifiedSinceAbsent),
            };
            if fails {
                return Some(Due::Failed);
            }
        }
        if let Some(tags) = &conditions.if_none_match {
            let comparison = if rules.keeps(R::IfNoneMatchWeak) { Comparison::Weak } else { Comparison::Strong };
            let rule = match tags {
                Tags::Any => by_method([R::IfNoneMatchRead, R::IfNoneMatchAnyPut, R::IfNoneMatchDelete]),
                Tags::These(_) => by_method([R::IfNoneMatchRead, R::IfNoneMatchPut, R::IfNoneMatchDelete]),
            };
            let has_one = self.has_one_of(tags, comparison, rules);
            let date = conditions.if_modified_since.filter(|_| method.is_read() && !rules.keeps(R::IfNoneMatchFirst));
            let is_new = date.and_then(|date| self.is_modified_since(date, rules));
            if has_one && is_new != Some(true) && rules.keeps(rule) {
                return Some(if method.is_read() { Due::NotModified } else { Due::Failed });
            }
            if is_new == Some(false) && rules.open.maybe() {
                return Some(Due::NotModified);
            }
        } else if let Some(date) = conditions.if_modified_since
            && method.is_read()
        {
            // A server that sends the content all the same breaks no demand.
            let may_be_old = self.is_modified_since(date, rules) == Some(false) || !rules.keeps(R::IfModifiedSince);
            if may_be_old && rules.open.maybe() {
                return Some(Due::NotModified);
            }
        }
        None
    }

    /// Performs the method.
    fn perform(&mut self, request: &Request) -> Due {
        let before = match request.method {
            Method::Put | Method::Delete => self.content.take(),
            _ => return Due::Content,
        };
        if request.method == Method::Delete {
            return Due::Deleted;
        }
        let since = before.as_ref().map_or(LONG_AGO + 1, |content| content.modified.0);
        let body = Arc::from(request.body.as_deref().unwrap_or_default());
        self.content = Some(Content { body, tag: TagKnowledge::nothing(), modified: (since, u64::MAX) });
        if before.is_some() { Due::Replaced } else { Due::Created }
    }

    /// Learns what a response says, and returns whether it is the one that is due.
    fn learn(&mut self, method: Method, due: Due, seen: &Seen, rules: &mut Rules<'_, '_>) -> bool {
        use RuleId as R;
        let is_status = match due {
            Due::Content => seen.status == 200,
            Due::NotModified => seen.status == 304,
            Due::Created => seen.status == 201 || matches!(seen.status, 200 | 204) && !rules.keeps(R::PutCreates),
            Due::Replaced => matches!(seen.status, 200 | 204) || seen.status == 201 && !rules.keeps(R::PutReplaces),
            Due::Deleted => matches!(seen.status, 200 | 204),
            Due::Failed => return seen.status == 412,
            Due::Missing => return seen.status == 404,
            Due::Refused if seen.status == 405 => return seen.allow.is_some() || !rules.keeps(R::Allow),
            Due::Refused => return matches!(seen.status, 400 | 501),
        };
        let Some(content) = &mut self.content else { return is_status };
        let length = content.body.len() as u64;
        let is_body = match (due, method) {
            (Due::Content, Method::Get) => *seen.body == *content.body,
            (Due::Content, _) => seen.length.is_none_or(|seen| seen == length) || !rules.keeps(R::HeadLength),
            _ => true,
        };
        let is_date = match seen.modified.filter(|_| matches!(due, Due::Content | Due::NotModified)) {
            Some(date) => {
                let (from, to) = std::mem::replace(&mut content.modified, (date, date));
                (from..=to).contains(&date)
            }
            None => true,
        };
        // What a GET does not have is not there, nor is what a 304 must have.
        let says_all = match due {
            Due::Content => method == Method::Get,
            Due::NotModified => rules.keeps(R::NotModifiedTag),
            _ => false,
        };
        is_status && is_body && is_date && (seen.tag.is_none() && !says_all || self.reveal(seen.tag.as_ref(), rules))
    }

    /// Returns whether the content, if there is one, has one of some tags.
    fn has_one_of(&mut self, tags: &Tags, comparison: Comparison, rules: &mut Rules<'_, '_>) -> bool {
        match tags {
            Tags::Any => self.content.is_some(),
            Tags::These(tags) => tags.iter().any(|given| {
                let may_be_strong = self.may_be_strong(Some(given), rules);
                let Some(content) = &mut self.content else { return false };
                content.tag.matches(given, comparison, may_be_strong, rules.open)
            }),
        }
    }

    fn reveal(&mut self, said: Option<&EntityTag>, rules: &mut Rules<'_, '_>) -> bool {
        let may_be_strong = self.may_be_strong(said, rules);
        let can_be = self.content.as_mut().is_none_or(|content| content.tag.reveal(said, may_be_strong));
        self.spend();
        can_be
    }

    /// Returns whether the content may have a strong tag of this text: not where another content had it.
    fn may_be_strong(&self, tag: Option<&EntityTag>, rules: &mut Rules<'_, '_>) -> bool {
        let had = tag.and_then(|tag| self.spent.get(tag.opaque.as_str()));
        let body = self.content.as_ref().map(|content| &content.body);
        had.is_none() || had == body || !rules.keeps(RuleId::TagChanges)
    }

    /// Notes the content's tag where an answer says it, if it is strong. What comparisons showed alone goes with the content:
    /// where they left it open, states would be told apart by it for ever.
    fn spend(&mut self) {
        if let Some(Content { body, tag, .. }) = &self.content
            && let Some(strong) = tag.strong()
            && self.spent.get(strong).is_none_or(|had| had != body)
        {
            self.spent.insert(strong, body);
        }
    }

    /// Returns whether the content was modified after a date; `None` if there is none.
    fn is_modified_since(&mut self, date: u64, rules: &mut Rules<'_, '_>) -> Option<bool> {
        let (from, to) = &mut self.content.as_mut()?.modified;
        Some(if date < *from || date < *to && !rules.open.maybe() {
            *from = (*from).max(date.saturating_add(1));
            true
        } else {
            *to = (*to).min(date);
            false
        })
    }
}
