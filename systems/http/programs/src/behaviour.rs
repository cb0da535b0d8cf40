//! The decisions of a server, each in a function of its own.
//!
//! The functions as they stand here are right. A fault is a [`Behaviour`] that gets one of them wrong.

use super::message::Method;
use super::tag::Tag;

/// What a server decides in each situation.
pub trait Behaviour: std::fmt::Debug + Sync {
    /// Returns whether a request of this method is answered before it is looked at.
    fn returns_at_once(&self, _method: Method) -> bool {
        false
    }

    /// Returns the method that is performed for a request of this one.
    fn performed(&self, method: Method) -> Method {
        method
    }

    /// Returns the target of a PUT to `path`.
    fn put_target<'a>(&self, path: &'a str) -> &'a str {
        path
    }

    /// Returns what a PUT stores of its content.
    fn stored(&self, content: &[u8]) -> Vec<u8> {
        content.to_vec()
    }

    /// Returns whether a PUT replaces a content that is there.
    fn replaces(&self) -> bool {
        true
    }

    /// Returns whether a tag of If-Match is the current one.
    fn matches(&self, given: &Tag, current: &Tag) -> bool {
        given.is_strongly(current)
    }

    /// Returns whether a request is refused if no tag of If-Match is the current one.
    fn refuses_without_match(&self) -> bool {
        true
    }

    /// Returns whether a tag of If-None-Match is the current one.
    fn matches_none(&self, given: &Tag, current: &Tag) -> bool {
        given.is_weakly(current)
    }

    /// Returns the status code that is said where `due` is.
    fn status(&self, due: u16) -> u16 {
        due
    }

    /// Returns what is sent of a content.
    fn sent(&self, content: &[u8]) -> Vec<u8> {
        content.to_vec()
    }

    /// Returns whether a content is sent in chunks, and these are lost.
    fn loses_chunks(&self) -> bool {
        false
    }

    /// Returns the name of the field with the tag of a content that is sent.
    fn tag_field(&self) -> &'static str {
        "ETag"
    }
}

/// The server as it should be.
#[derive(Debug)]
pub struct Correct;

impl Behaviour for Correct {}
