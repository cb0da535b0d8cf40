//! Requests and responses as values.

use std::fmt::{Display, Formatter};

use serde::{Deserialize, Serialize};

use crate::tag::EntityTag;

/// The methods that are specified.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
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
}

impl Method {
    /// Returns whether it changes nothing.
    pub const fn is_read(self) -> bool {
        matches!(self, Self::Get | Self::Head)
    }
}

impl Display for Method {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Get => "GET",
            Self::Head => "HEAD",
            Self::Put => "PUT",
            Self::Delete => "DELETE",
        })
    }
}

/// A request.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
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

/// The conditions of a request (RFC 9110, section 13.1), where `T` is a tag and `D` a date in seconds since 1970.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, bound(deserialize = "T: Deserialize<'de>, D: Deserialize<'de>"))]
pub struct Conditions<T = EntityTag, D = u64> {
    /// The content has one of these tags.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub if_match: Option<Tags<T>>,
    /// It has none of these.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub if_none_match: Option<Tags<T>>,
    /// It was modified after this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub if_modified_since: Option<D>,
    /// It was not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub if_unmodified_since: Option<D>,
}

impl<T, D> Default for Conditions<T, D> {
    fn default() -> Self {
        Self { if_match: None, if_none_match: None, if_modified_since: None, if_unmodified_since: None }
    }
}

/// The tags of a condition.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tags<T = EntityTag> {
    /// `*`: any content.
    Any,
    /// One of these.
    These(Vec<T>),
}

impl<T, D> Conditions<T, D> {
    /// Returns whether there are none.
    pub const fn is_empty(&self) -> bool {
        let Self { if_match, if_none_match, if_modified_since, if_unmodified_since } = self;
        if_match.is_none() && if_none_match.is_none() && if_modified_since.is_none() && if_unmodified_since.is_none()
    }

    /// Returns the same conditions with other tags and dates.
    pub fn map<U, E>(&self, tag: &mut dyn FnMut(&T) -> U, date: &mut dyn FnMut(&D) -> E) -> Conditions<U, E> {
        let mut tags = |tags: &Tags<T>| match tags {
            Tags::Any => Tags::Any,
            Tags::These(tags) => Tags::These(tags.iter().map(&mut *tag).collect()),
        };
        Conditions {
            if_match: self.if_match.as_ref().map(&mut tags),
            if_none_match: self.if_none_match.as_ref().map(&mut tags),
            if_modified_since: self.if_modified_since.as_ref().map(&mut *date),
            if_unmodified_since: self.if_unmodified_since.as_ref().map(date),
        }
    }
}

impl Display for Tags {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Any => formatter.write_str("*"),
            Self::These(tags) => {
                formatter.write_str(&tags.iter().map(EntityTag::to_string).collect::<Vec<_>>().join(", "))
            }
        }
    }
}

/// What a client sees of a response.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Seen {
    /// The status code.
    pub status: u16,
    /// The field ETag.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tag: Option<EntityTag>,
    /// The field Last-Modified, in seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub modified: Option<u64>,
    /// The field Content-Length.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub length: Option<u64>,
    /// The content.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub body: String,
}
