//! Requests and responses as the specification knows them.

use std::str::FromStr;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use serde::Serialize;
use simutant_http_tester as http;

use crate::tag::{EntityTag, NoTag};

/// The methods.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "UPPERCASE")]
pub enum Method {
    /// Asks for a content.
    Get,
    /// Asks for what is known of a content.
    Head,
    /// Replaces a content.
    Put,
    /// Removes a content.
    Delete,
    /// One that no server has.
    Unknown,
}

impl Method {
    /// Returns whether it changes nothing.
    pub const fn is_read(self) -> bool {
        matches!(self, Self::Get | Self::Head | Self::Unknown)
    }
}

/// A request.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Request {
    /// What is to be done.
    pub method: Method,
    /// The target.
    pub path: String,
    /// The content of a PUT.
    pub body: Option<String>,
    /// What must hold.
    pub conditions: Conditions,
}

/// The conditions of a request (RFC 9110, section 13.1), with dates in seconds since 1970.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize)]
pub struct Conditions {
    /// The content has one of these tags.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub if_match: Option<Tags>,
    /// It has none of these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub if_none_match: Option<Tags>,
    /// It was modified after this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub if_modified_since: Option<u64>,
    /// It was not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub if_unmodified_since: Option<u64>,
}

/// The tags of a condition.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tags {
    /// `*`: any content.
    Any,
    /// One of these.
    These(Vec<EntityTag>),
}

/// A text is no list of entity tags.
impl FromStr for Tags {
    type Err = NoTag;

    fn from_str(text: &str) -> Result<Self, NoTag> {
        if text.trim() == "*" {
            return Ok(Self::Any);
        }
        let mut tags = Vec::new();
        let mut rest = text.trim();
        while !rest.is_empty() {
            // The second quote ends a tag: there may be commas before it.
            let (end, _) = rest.match_indices('"').nth(1).ok_or(NoTag)?;
            let (tag, after) = rest.split_at(end + 1);
            tags.push(tag.parse()?);
            rest = after.trim_start();
            rest = rest.strip_prefix(',').map_or(rest, str::trim_start);
        }
        if tags.is_empty() { Err(NoTag) } else { Ok(Self::These(tags)) }
    }
}

/// A response, as the specification demands it or as a client sees it.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Response {
    /// One that is demanded.
    Due(Due),
    /// One that was seen.
    Seen(Seen),
}

/// A kind of response that is demanded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Due {
    /// The content.
    Content,
    /// The client has the content.
    NotModified,
    /// A content was created.
    Created,
    /// A content was replaced.
    Replaced,
    /// A content was removed.
    Deleted,
    /// A condition does not hold.
    Failed,
    /// There is no content.
    Missing,
    /// There is no such method.
    Refused,
}

/// The status code, with what it stands for.
impl std::fmt::Display for Response {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Seen(seen) => return write!(formatter, "{}", seen.status),
            Self::Due(Due::Content) => "200 with the content",
            Self::Due(Due::NotModified) => "304",
            Self::Due(Due::Created) => "201",
            Self::Due(Due::Replaced | Due::Deleted) => "200 or 204",
            Self::Due(Due::Failed) => "412",
            Self::Due(Due::Missing) => "404",
            Self::Due(Due::Refused) => "405 or 501",
        })
    }
}

/// What a client sees of a response.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Serialize)]
pub struct Seen {
    /// The status code.
    pub status: u16,
    /// The field ETag.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tag: Option<EntityTag>,
    /// The field Last-Modified, in seconds since 1970.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub modified: Option<u64>,
    /// The field Content-Length.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub length: Option<u64>,
    /// The field Content-Range.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_range: Option<String>,
    /// The field Allow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow: Option<String>,
    /// The content.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub body: String,
}

/// A message is none that the specification knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unspecified(pub(crate) String);

impl std::fmt::Display for Unspecified {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for Unspecified {}

fn tags(name: &str, text: &str) -> Result<Tags, Unspecified> {
    text.parse().map_err(|error| Unspecified(format!("{name} is {text}: {error}")))
}

fn date(name: &str, text: &str) -> Result<u64, Unspecified> {
    let date =
        httpdate::parse_http_date(text).map_err(|_| Unspecified(format!("{name} is {text}, which is no date")))?;
    Ok(date.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs())
}

/// Returns the text of a date.
fn date_text(seconds: u64) -> String {
    let date = UNIX_EPOCH.checked_add(Duration::from_secs(seconds));
    httpdate::fmt_http_date(date.unwrap_or(SystemTime::UNIX_EPOCH))
}

impl TryFrom<http::Request> for Request {
    type Error = Unspecified;

    fn try_from(request: http::Request) -> Result<Self, Unspecified> {
        let http::Request { method, path, headers, body } = request;
        let method = match method.as_str() {
            "GET" => Method::Get,
            "HEAD" => Method::Head,
            "PUT" => Method::Put,
            "DELETE" => Method::Delete,
            UNKNOWN_METHOD => Method::Unknown,
            other => return Err(Unspecified(format!("the method {other}"))),
        };
        let mut conditions = Conditions::default();
        for (name, value) in headers {
            match name.to_ascii_lowercase().as_str() {
                "if-match" => conditions.if_match = Some(tags(&name, &value)?),
                "if-none-match" => conditions.if_none_match = Some(tags(&name, &value)?),
                "if-modified-since" => conditions.if_modified_since = Some(date(&name, &value)?),
                "if-unmodified-since" => conditions.if_unmodified_since = Some(date(&name, &value)?),
                _ => return Err(Unspecified(format!("the field {name}"))),
            }
        }
        Ok(Self { method, path, body, conditions })
    }
}

/// The name of a method that no server has (RFC 2324 has one of coffee pots).
pub const UNKNOWN_METHOD: &str = "BREW";

impl TryFrom<http::Response> for Seen {
    type Error = Unspecified;

    fn try_from(response: http::Response) -> Result<Self, Unspecified> {
        let tag = |text: &str| text.parse().map_err(|error| Unspecified(format!("ETag is {text}: {error}")));
        Ok(Self {
            status: response.status,
            tag: response.get("etag").map(tag).transpose()?,
            modified: response.get("last-modified").map(|text| date("Last-Modified", text)).transpose()?,
            length: response.get("content-length").and_then(|text| text.parse().ok()),
            content_range: response.get("content-range").map(str::to_owned),
            allow: response.get("allow").map(str::to_owned),
            body: response.body,
        })
    }
}

impl TryFrom<http::Response> for Response {
    type Error = Unspecified;

    fn try_from(response: http::Response) -> Result<Self, Unspecified> {
        response.try_into().map(Self::Seen)
    }
}

impl From<&Seen> for http::Response {
    fn from(seen: &Seen) -> Self {
        let fields = [
            ("etag", seen.tag.as_ref().map(ToString::to_string)),
            ("last-modified", seen.modified.map(date_text)),
            ("content-length", seen.length.map(|length| length.to_string())),
            ("content-range", seen.content_range.clone()),
            ("allow", seen.allow.clone()),
        ];
        let headers = fields.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?))).collect();
        Self { status: seen.status, headers, body: seen.body.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tags_are_read_with_what_their_quotes_have() {
        let these = |tags: &[EntityTag]| Ok(Tags::These(tags.to_vec()));
        let [one, other] = [EntityTag::strong("1"), EntityTag::weak("a,b")];
        assert_eq!(" * ".parse(), Ok(Tags::Any));
        assert_eq!("\"1\"".parse(), these(std::slice::from_ref(&one)));
        assert_eq!("\"1\" , W/\"a,b\"".parse(), these(&[one, other]));
        for text in ["", "1", "\"1", "\"1\", 2", "W/1", "\"1\", *"] {
            assert_eq!(text.parse::<Tags>(), Err(NoTag), "{text}");
        }
    }

    #[test]
    fn what_a_client_sees_is_what_the_server_said() {
        let tag = Some(EntityTag::weak("1"));
        let modified = Some(1_577_836_800);
        let [content_range, allow] = ["bytes 0-0/1", "GET"].map(|text| Some(text.to_owned()));
        let seen = Seen { status: 206, tag, modified, length: Some(1), content_range, allow, body: "x".into() };
        assert_eq!(Seen::try_from(http::Response::from(&seen)), Ok(seen));
        let wrong = http::Response { headers: [("etag".into(), "1".into())].into(), ..http::Response::new(200, "") };
        let error = Seen::try_from(wrong).expect_err("no tag").to_string();
        assert_eq!(error, "ETag is 1: an entity tag is a text in quotes, maybe after W/");
    }
}
