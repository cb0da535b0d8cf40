//! What a server may answer to those who ask for a part of a content: GET with Range and If-Range (RFC 9110, sections 13.1.5,
//! 14.2 and 15.3.7).
//!
//! It is a specification of its own, on top of that of whole contents: a server may always send the whole content instead.

use std::str::FromStr;

use simutant_http_tester as http;
use simutant_http_tester::{HttpService, Random, Rule, Step};
use simutant_oracle::{Footprint, Open, Session, Specification};

use crate::message::{Due, Request, Response, Seen, Unspecified};
use crate::rules::RULES;
use crate::specification::Service;
use crate::tag::{Comparison, EntityTag};

/// A server of contents and of parts of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Ranges {
    service: Service,
    /// By the places of rules in [`OWN`].
    waived: [bool; OWN.len()],
}

/// The rules of parts.
const OWN: [Rule; 4] = [
    Rule {
        name: "if-range",
        source: "RFC 9110, 13.1.5",
        sentence: "a recipient of an If-Range header field MUST ignore the Range header field if the If-Range condition evaluates as false",
    },
    Rule {
        name: "if-range-strong",
        source: "RFC 9110, 13.1.5",
        sentence: "if the entity-tag validator provided exactly matches the ETag field value for the selected representation using the strong comparison function, the condition is true",
    },
    Rule {
        name: "range-satisfiable",
        source: "RFC 9110, 15.5.17",
        sentence: "the 416 status code indicates that the set of ranges requested has been rejected due to invalid ranges or an excessive request of small or overlapping ranges",
    },
    Rule {
        name: "part-fields",
        source: "RFC 9110, 15.3.7",
        sentence: "a server that generates a 206 response MUST generate ETag if the field would have been sent in a 200 response to the same request",
    },
];

/// The rules of parts, and then those of whole contents.
const ALL: [Rule; OWN.len() + RULES.len()] = {
    let mut all = [OWN[0]; OWN.len() + RULES.len()];
    let mut place = 0;
    while place < all.len() {
        all[place] = if place < OWN.len() { OWN[place] } else { RULES[place - OWN.len()] };
        place += 1;
    }
    all
};

const IF_RANGE: usize = 0;
const IF_RANGE_STRONG: usize = 1;
const SATISFIABLE: usize = 2;
const PART_FIELDS: usize = 3;

/// A request, which may be for a part.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RangeRequest {
    request: Request,
    range: Option<Range>,
    if_range: Option<EntityTag>,
}

/// A range of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Range {
    /// From a byte to another, or to the end.
    From(usize, Option<usize>),
    /// So many bytes at the end.
    Last(usize),
}

impl FromStr for Range {
    type Err = Unspecified;

    fn from_str(text: &str) -> Result<Self, Unspecified> {
        let parse = || {
            let (first, last) = text.strip_prefix("bytes=")?.split_once('-')?;
            let last = if last.is_empty() { None } else { Some(last.parse().ok()?) };
            if first.is_empty() { last.map(Self::Last) } else { Some(Self::From(first.parse().ok()?, last)) }
        };
        parse().ok_or_else(|| Unspecified(format!("Range is {text}, and one range of bytes is known")))
    }
}

impl Range {
    /// Returns the first and the last byte of a content with so many; `None` if it has none of them.
    fn of(self, bytes: usize) -> Option<(usize, usize)> {
        let (first, last) = match self {
            Self::From(first, last) => (first, last.unwrap_or(usize::MAX)),
            Self::Last(0) => return None,
            Self::Last(count) => (bytes.saturating_sub(count), usize::MAX),
        };
        (first < bytes && first <= last).then(|| (first, last.min(bytes - 1)))
    }
}

impl TryFrom<http::Request> for RangeRequest {
    type Error = Unspecified;

    fn try_from(mut request: http::Request) -> Result<Self, Unspecified> {
        let range = request.headers.remove("Range").map(|text| text.parse()).transpose()?;
        let if_range = request.headers.remove("If-Range");
        let tag = |text: String| text.parse().map_err(|error| Unspecified(format!("If-Range is {text}: {error}")));
        Ok(Self { range, if_range: if_range.map(tag).transpose()?, request: request.try_into()? })
    }
}

impl HttpService for Ranges {
    const RULES: &'static [Rule] = &ALL;

    fn draw(random: &mut Random, script: &[Step]) -> http::Request {
        let label = script.len() + 1;
        let path = format!("/<run>-{}", random.uniform(0..2_u8));
        let mut request = match random.uniform(0..8_u8) {
            0..3 => {
                let body: String = (0..random.uniform(1..=26_u8)).map(|place| char::from(b'a' + place)).collect();
                return http::Request::new("PUT", path).body(format!("{label}{body}"));
            }
            3 => http::Request::new("GET", path),
            _ => {
                let (first, more) = (random.uniform(0..30_u8), random.uniform(0..10_u8));
                http::Request::new("GET", path).header(
                    "Range",
                    match random.uniform(0..4_u8) {
                        0 => format!("bytes={first}-"),
                        1 => format!("bytes=-{}", more + 1),
                        _ => format!("bytes={first}-{}", first + more),
                    },
                )
            }
        };
        if request.headers.contains_key("Range") && random.uniform(0..2_u8) == 0 {
            let earlier = random.uniform(label.saturating_sub(4).max(1)..=label);
            request = request.header("If-Range", format!("<{earlier}.etag|\"nobody\">"));
        }
        request
    }

    fn waive(&mut self, rule: usize) {
        match rule.checked_sub(OWN.len()) {
            None => self.waived[rule] = true,
            Some(rule) => self.service.waive(rule),
        }
    }

    fn part(request: &RangeRequest) -> String {
        request.request.path.clone()
    }
}

impl Specification for Ranges {
    type Operation = RangeRequest;
    type Response = Response;

    fn step(&mut self, session: Session, request: &RangeRequest, open: &mut Open<'_>) -> Response {
        self.service.step(session, &request.request, open)
    }

    fn agrees(&mut self, request: &RangeRequest, due: &Response, seen: &Response, open: &mut Open<'_>) -> bool {
        let RangeRequest { request, range, if_range } = request;
        let (Response::Due(Due::Content), Some(range), Response::Seen(part)) = (due, range, seen) else {
            return self.service.agrees(request, due, seen, open);
        };
        let Some(whole) = self.service.body(&request.path) else { return false };
        if part.status == 200 {
            return self.service.agrees(request, due, seen, open);
        }
        let mut breaks = |rule: usize| self.waived[rule] && open.maybe();
        let comparison = if breaks(IF_RANGE_STRONG) { Comparison::Weak } else { Comparison::Strong };
        let ignores_condition = if_range.is_none() || breaks(IF_RANGE);
        let (refuses, forgets_fields) = (breaks(SATISFIABLE), breaks(PART_FIELDS));
        let holds = |service: &mut Service, open: &mut Open<'_>| {
            let tag = if_range.as_ref();
            ignores_condition || tag.is_some_and(|tag| service.has_tag(&request.path, tag, comparison, open))
        };
        match (part.status, range.of(whole.len())) {
            (206, Some((first, last))) => {
                let says = format!("bytes {first}-{last}/{}", whole.len());
                let is_part = part.body == whole[first..=last] && part.content_range.as_ref() == Some(&says);
                // What it says beside that, it says of the whole content.
                let rest = Response::Seen(Seen { status: 200, body: whole.to_string(), ..part.clone() });
                let is_silent = part.tag.is_none() && forgets_fields;
                is_part
                    && holds(&mut self.service, open)
                    && (is_silent || self.service.agrees(request, due, &rest, open))
            }
            (416, is_there) => (is_there.is_none() || refuses) && holds(&mut self.service, open),
            _ => false,
        }
    }

    fn footprint(request: &RangeRequest, seen: Option<&Response>) -> Footprint {
        Service::footprint(&request.request, seen)
    }

    fn depends_on_session(_: &RangeRequest) -> bool {
        false
    }
}

#[cfg(test)]
mod tests {
    use simutant_http_tester::watch::Watch;

    use super::*;

    /// Returns whether answers are possible, each by its status, its body, its tag and its range.
    fn is_possible(exchanges: &[(http::Request, u16, &str, &str, &str)], waived: &[usize]) -> bool {
        let mut ranges = Ranges::default();
        waived.iter().for_each(|rule| ranges.waive(*rule));
        let mut watch = Watch::new(ranges);
        exchanges.iter().all(|(request, status, body, tag, content_range)| {
            let asked = watch.asked(Session(1), request.clone().try_into().expect("it is known"));
            let fields = [("etag", *tag), ("content-range", *content_range)];
            let headers = fields.into_iter().filter(|(_, value)| !value.is_empty());
            let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
            let response = http::Response { headers, ..http::Response::new(*status, *body) };
            watch.answered(&asked, response.try_into().expect("it is known")).is_ok()
        })
    }

    fn get(range: &str, if_range: &str) -> http::Request {
        let request = http::Request::new("GET", "/a");
        let request = if range.is_empty() { request } else { request.header("Range", range) };
        if if_range.is_empty() { request } else { request.header("If-Range", if_range) }
    }

    /// Checks an answer to a request for a part of `abcdef`, whose tag is known, and which rules would allow it if waived.
    #[track_caller]
    fn check(tag: &str, answer: (http::Request, u16, &str, &str, &str), expect: Result<(), &[usize]>) {
        let put = (http::Request::new("PUT", "/a").body("abcdef"), 201, "", "", "");
        let exchanges = [put, (get("", ""), 200, "abcdef", tag, ""), answer];
        let is_right = is_possible(&exchanges, &[]);
        let allowing: Vec<usize> = (0..ALL.len()).filter(|rule| is_possible(&exchanges, &[*rule])).collect();
        assert_eq!(if is_right { Ok(()) } else { Err(allowing.as_slice()) }, expect);
    }

    #[test]
    fn a_part_is_what_was_asked_for_or_the_whole() {
        let tag = "\"1\"";
        check(tag, (get("bytes=1-3", ""), 206, "bcd", tag, "bytes 1-3/6"), Ok(()));
        check(tag, (get("bytes=4-9", ""), 206, "ef", tag, "bytes 4-5/6"), Ok(()));
        check(tag, (get("bytes=-2", ""), 206, "ef", tag, "bytes 4-5/6"), Ok(()));
        check(tag, (get("bytes=4-", ""), 206, "ef", tag, "bytes 4-5/6"), Ok(()));
        check(tag, (get("bytes=1-3", ""), 200, "abcdef", tag, ""), Ok(()));
        check(tag, (get("bytes=6-", ""), 416, "", "", "bytes */6"), Ok(()));
        check(tag, (get("bytes=5-", ""), 416, "", "", "bytes */6"), Err(&[SATISFIABLE]));
        check(tag, (get("bytes=1-3", ""), 206, "bcd", tag, "bytes 1-4/6"), Err(&[]));
        check(tag, (get("bytes=1-3", ""), 206, "bc", tag, "bytes 1-3/6"), Err(&[]));
        check(tag, (get("bytes=1-3", ""), 206, "bcd", "\"2\"", "bytes 1-3/6"), Err(&[]));
        check(tag, (get("bytes=1-3", ""), 206, "bcd", "", "bytes 1-3/6"), Err(&[PART_FIELDS]));
        check(tag, (get("bytes=1-3", ""), 404, "", "", ""), Err(&[]));
    }

    #[test]
    fn a_part_of_another_content_is_not_sent() {
        let part = |tag, if_range| (get("bytes=1-3", if_range), 206, "bcd", tag, "bytes 1-3/6");
        check("\"1\"", part("\"1\"", "\"1\""), Ok(()));
        check("\"1\"", part("\"1\"", "\"2\""), Err(&[IF_RANGE]));
        check("W/\"1\"", part("W/\"1\"", "W/\"1\""), Err(&[IF_RANGE, IF_RANGE_STRONG]));
        check("\"1\"", (get("bytes=6-", "\"2\""), 416, "", "", "bytes */6"), Err(&[IF_RANGE]));
        check("\"1\"", (get("bytes=6-", "\"2\""), 200, "abcdef", "\"1\"", ""), Ok(()));
    }
}
