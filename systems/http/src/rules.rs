//! The rules of the specification, each with its sentence of RFC 9110. A rule can be waived: then the server may keep it or
//! not.

use std::fmt::{Debug, Formatter};

use simutant_http_tester::Rule;

macro_rules! rules {
    ($($id:ident $name:literal $section:literal $sentence:literal)*) => {
        /// A rule, by its place in [`RULES`].
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[expect(missing_docs, reason = "each has a sentence")]
        pub enum RuleId { $($id),* }

        /// All rules.
        pub const RULES: &[Rule] = &[$(Rule { name: $name, source: concat!("RFC 9110, ", $section), sentence: $sentence }),*];

        const IDS: &[RuleId] = &[$(RuleId::$id),*];
    };
}

rules! {
    // Those that say more of a server come first: what several would allow is named after the first one.
    IfMatchFirst "if-match-first" "13.1.4"
        "a recipient MUST ignore If-Unmodified-Since if the request contains an If-Match header field"
    IfNoneMatchFirst "if-none-match-first" "13.1.3"
        "a recipient MUST ignore If-Modified-Since if the request contains an If-None-Match header field"
    AbsentFirst "absent-first" "13.2.1"
        "a server MUST ignore all received preconditions if its response to the same request without those conditions would have been a status code other than a 2xx or 412"
    IfUnmodifiedSinceAbsent "if-unmodified-since-absent" "13.1.4"
        "a recipient MUST ignore the If-Unmodified-Since header field if the resource does not have a modification date available"
    IfMatchStrong "if-match-strong" "13.1.1"
        "an origin server MUST use the strong comparison function when comparing entity tags for If-Match"
    IfNoneMatchWeak "if-none-match-weak" "13.1.2"
        "a recipient MUST use the weak comparison function when comparing entity tags for If-None-Match"
    IfMatchAnyPut "if-match-any-put" "13.1.1"
        "if the field value is \"*\", the condition is true if the origin server has a current representation for the target resource"
    IfNoneMatchAnyPut "if-none-match-any-put" "13.1.2"
        "if the field value is \"*\", the condition is false if the origin server has a current representation for the target resource"
    IfMatchRead "if-match-get" "13.1.1"
        "an origin server that evaluates an If-Match condition MUST NOT perform the requested method if the condition evaluates to false"
    IfMatchPut "if-match-put" "13.1.1"
        "an origin server that evaluates an If-Match condition MUST NOT perform the requested method if the condition evaluates to false"
    IfMatchDelete "if-match-delete" "13.1.1"
        "an origin server that evaluates an If-Match condition MUST NOT perform the requested method if the condition evaluates to false"
    IfNoneMatchRead "if-none-match-get" "13.1.2"
        "if the condition is false, the origin server MUST respond with the 304 (Not Modified) status code if the request method is GET or HEAD"
    IfNoneMatchPut "if-none-match-put" "13.1.2"
        "if the condition is false, the origin server MUST respond with the 412 (Precondition Failed) status code for all other request methods"
    IfNoneMatchDelete "if-none-match-delete" "13.1.2"
        "if the condition is false, the origin server MUST respond with the 412 (Precondition Failed) status code for all other request methods"
    IfModifiedSince "if-modified-since" "13.1.3"
        "if the selected representation's last modification date is earlier or equal to the date provided in the field value, the condition is false; otherwise, the condition is true"
    IfUnmodifiedSinceRead "if-unmodified-since-get" "13.1.4"
        "an origin server that evaluates an If-Unmodified-Since condition MUST NOT perform the requested method if the condition evaluates to false"
    IfUnmodifiedSincePut "if-unmodified-since-put" "13.1.4"
        "an origin server that evaluates an If-Unmodified-Since condition MUST NOT perform the requested method if the condition evaluates to false"
    IfUnmodifiedSinceDelete "if-unmodified-since-delete" "13.1.4"
        "an origin server that evaluates an If-Unmodified-Since condition MUST NOT perform the requested method if the condition evaluates to false"
    Allow "allow" "15.5.6"
        "the origin server MUST generate an Allow header field in a 405 response containing a list of the target resource's currently supported methods"
    PutCreates "put-creates" "9.3.4"
        "if the target resource does not have a current representation and the PUT successfully creates one, then the origin server MUST inform the user agent by sending a 201 (Created) response"
    PutReplaces "put-replaces" "9.3.4"
        "if the target resource does have a current representation and that is successfully modified, then the origin server MUST send either a 200 (OK) or a 204 (No Content) response"
    NotModifiedTag "not-modified-tag" "15.4.5"
        "the server generating a 304 response MUST generate an ETag header field that would have been sent in a 200 (OK) response to the same request"
    HeadLength "head-length" "8.6"
        "a server MUST NOT send Content-Length in a response to HEAD unless its field value equals the decimal number of octets that would have been sent if the same request had used the GET method"
    TagChanges "tag-changes" "8.8.1"
        "a strong validator changes value whenever a change occurs to the representation data that would be observable in the content of a 200 (OK) response to GET"
}

impl RuleId {
    /// Returns all of them, in the order of [`RULES`].
    pub fn all() -> impl Iterator<Item = Self> {
        IDS.iter().copied()
    }

    /// Returns the rule of this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::all().find(|id| id.rule().name == name)
    }

    /// Returns the rule.
    pub const fn rule(self) -> &'static Rule {
        &RULES[self as usize]
    }
}

/// A set of rules.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct RuleSet(u32);

impl RuleSet {
    /// No rule.
    pub const NONE: Self = Self(0);

    /// Returns whether a rule is in the set.
    pub const fn has(self, id: RuleId) -> bool {
        self.0 & 1 << id as u32 != 0
    }

    /// Returns the set with a rule.
    #[must_use]
    pub const fn with(self, id: RuleId) -> Self {
        Self(self.0 | 1 << id as u32)
    }

    /// Returns the set without a rule.
    #[must_use]
    pub const fn without(self, id: RuleId) -> Self {
        Self(self.0 & !(1 << id as u32))
    }
}

impl FromIterator<RuleId> for RuleSet {
    fn from_iter<I: IntoIterator<Item = RuleId>>(ids: I) -> Self {
        ids.into_iter().fold(Self::NONE, Self::with)
    }
}

impl Debug for RuleSet {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        formatter.debug_set().entries(RuleId::all().filter(|id| self.has(*id))).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_have_names_of_their_own_and_fit_into_a_set() {
        let all: RuleSet = RuleId::all().collect();
        for id in RuleId::all() {
            assert_eq!(RuleId::named(id.rule().name), Some(id));
            assert!(all.has(id) && !all.without(id).has(id) && RuleSet::NONE.with(id).has(id));
        }
        assert!(RULES.len() <= 32);
    }
}
