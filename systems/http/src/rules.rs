//! The rules of the specification, each with its sentence of RFC 9110, and what lists of rules are made of. A rule can be
//! waived: then the server may keep it or not.

use simutant_http_tester::Rule;

/// Defines the list `RULES`, and the type `RuleId` of the places in it.
macro_rules! rules {
    ($($id:ident $name:literal $source:literal $sentence:literal)*) => {
        /// A rule, by its place in [`RULES`].
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(crate) enum RuleId { $($id),* }

        /// All rules.
        pub(crate) const RULES: &[Rule] = &[$(Rule { name: $name, source: $source, sentence: $sentence }),*];

        impl From<RuleId> for usize {
            fn from(rule: RuleId) -> Self {
                rule as Self
            }
        }

        // A set has a bit for each.
        const _: () = assert!(RULES.len() <= 32);
    };
}

pub(crate) use rules;

rules! {
    // Those that say more of a server come first: what several would allow is named after the first one.
    IfMatchFirst "if-match-first" "RFC 9110, 13.1.4"
        "a recipient MUST ignore If-Unmodified-Since if the request contains an If-Match header field"
    IfNoneMatchFirst "if-none-match-first" "RFC 9110, 13.1.3"
        "a recipient MUST ignore If-Modified-Since if the request contains an If-None-Match header field"
    AbsentFirst "absent-first" "RFC 9110, 13.2.1"
        "a server MUST ignore all received preconditions if its response to the same request without those conditions would have been a status code other than a 2xx or 412"
    IfUnmodifiedSinceAbsent "if-unmodified-since-absent" "RFC 9110, 13.1.4"
        "a recipient MUST ignore the If-Unmodified-Since header field if the resource does not have a modification date available"
    IfMatchStrong "if-match-strong" "RFC 9110, 13.1.1"
        "an origin server MUST use the strong comparison function when comparing entity tags for If-Match"
    IfNoneMatchWeak "if-none-match-weak" "RFC 9110, 13.1.2"
        "a recipient MUST use the weak comparison function when comparing entity tags for If-None-Match"
    IfMatchAnyPut "if-match-any-put" "RFC 9110, 13.1.1"
        "if the field value is \"*\", the condition is true if the origin server has a current representation for the target resource"
    IfNoneMatchAnyPut "if-none-match-any-put" "RFC 9110, 13.1.2"
        "if the field value is \"*\", the condition is false if the origin server has a current representation for the target resource"
    IfMatchRead "if-match-get" "RFC 9110, 13.1.1"
        "an origin server that evaluates an If-Match condition MUST NOT perform the requested method if the condition evaluates to false"
    IfMatchPut "if-match-put" "RFC 9110, 13.1.1"
        "an origin server that evaluates an If-Match condition MUST NOT perform the requested method if the condition evaluates to false"
    IfMatchDelete "if-match-delete" "RFC 9110, 13.1.1"
        "an origin server that evaluates an If-Match condition MUST NOT perform the requested method if the condition evaluates to false"
    IfNoneMatchRead "if-none-match-get" "RFC 9110, 13.1.2"
        "if the condition is false, the origin server MUST respond with the 304 (Not Modified) status code if the request method is GET or HEAD"
    IfNoneMatchPut "if-none-match-put" "RFC 9110, 13.1.2"
        "if the condition is false, the origin server MUST respond with the 412 (Precondition Failed) status code for all other request methods"
    IfNoneMatchDelete "if-none-match-delete" "RFC 9110, 13.1.2"
        "if the condition is false, the origin server MUST respond with the 412 (Precondition Failed) status code for all other request methods"
    IfModifiedSince "if-modified-since" "RFC 9110, 13.1.3"
        "if the selected representation's last modification date is earlier or equal to the date provided in the field value, the condition is false; otherwise, the condition is true"
    IfUnmodifiedSinceRead "if-unmodified-since-get" "RFC 9110, 13.1.4"
        "an origin server that evaluates an If-Unmodified-Since condition MUST NOT perform the requested method if the condition evaluates to false"
    IfUnmodifiedSincePut "if-unmodified-since-put" "RFC 9110, 13.1.4"
        "an origin server that evaluates an If-Unmodified-Since condition MUST NOT perform the requested method if the condition evaluates to false"
    IfUnmodifiedSinceDelete "if-unmodified-since-delete" "RFC 9110, 13.1.4"
        "an origin server that evaluates an If-Unmodified-Since condition MUST NOT perform the requested method if the condition evaluates to false"
    Allow "allow" "RFC 9110, 15.5.6"
        "the origin server MUST generate an Allow header field in a 405 response containing a list of the target resource's currently supported methods"
    PutCreates "put-creates" "RFC 9110, 9.3.4"
        "if the target resource does not have a current representation and the PUT successfully creates one, then the origin server MUST inform the user agent by sending a 201 (Created) response"
    PutReplaces "put-replaces" "RFC 9110, 9.3.4"
        "if the target resource does have a current representation and that is successfully modified, then the origin server MUST send either a 200 (OK) or a 204 (No Content) response"
    NotModifiedTag "not-modified-tag" "RFC 9110, 15.4.5"
        "the server generating a 304 response MUST generate an ETag header field that would have been sent in a 200 (OK) response to the same request"
    HeadLength "head-length" "RFC 9110, 8.6"
        "a server MUST NOT send Content-Length in a response to HEAD unless its field value equals the decimal number of octets that would have been sent if the same request had used the GET method"
    TagChanges "tag-changes" "RFC 9110, 8.8.1"
        "a strong validator changes value whenever a change occurs to the representation data that would be observable in the content of a 200 (OK) response to GET"
}

/// A set of rules of one list.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(crate) struct RuleSet(u32);

impl RuleSet {
    /// Adds a rule, by its place.
    pub(crate) fn add(&mut self, rule: impl Into<usize>) {
        self.0 |= 1 << rule.into();
    }

    /// Adds a rule if it is broken.
    pub(crate) fn add_if(&mut self, is_broken: bool, rule: impl Into<usize>) {
        if is_broken {
            self.add(rule);
        }
    }

    /// Returns whether a rule is in the set.
    pub(crate) fn has(self, rule: impl Into<usize>) -> bool {
        self.0 & 1 << rule.into() != 0
    }

    /// Returns how many there are.
    pub(crate) const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Returns whether all of it is in another set.
    pub(crate) const fn is_in(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }
}
