//! The rules of proxies, each with its sentence of an RFC. A rule can be waived: then the proxy may keep it or not.

use simutant_http_tester::Rule;

macro_rules! rules {
    ($($id:ident $name:literal $source:literal $sentence:literal)*) => {
        /// A rule, by its place in [`RULES`].
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub(super) enum RuleId { $($id),* }

        /// All rules.
        pub(super) const RULES: &[Rule] = &[$(Rule { name: $name, source: $source, sentence: $sentence }),*];
    };
}

rules! {
    // What several would allow is named after the first one.
    Method "method" "RFC 9110, 9.1"
        "the request method token is the primary source of request semantics; it indicates the purpose for which the client has made this request"
    Target "target" "RFC 9110, 7.7"
        "a proxy MUST NOT modify the \"absolute-path\" and \"query\" parts of the received target URI when forwarding it to the next inbound server except as required by that forwarding protocol"
    OptionsStar "options-star" "RFC 9112, 3.2.4"
        "if a proxy receives an OPTIONS request with an absolute-form of request-target in which the URI has an empty path and no query component, then the last proxy on the request chain MUST send a request-target of \"*\" when it forwards the request to the indicated origin server"
    OriginForm "origin-form" "RFC 9112, 3.2.1"
        "when making a request directly to an origin server, a client MUST send only the absolute path and query components of the target URI as the request-target"
    Host "host" "RFC 9112, 3.2.2"
        "a proxy MUST ignore the received Host header field (if any) and instead replace it with the host information of the request-target"
    RequestContent "request-content" "RFC 9110, 7.7"
        "a proxy MAY transform the content of a message that does not contain a no-transform cache directive"
    RequestFields "request-fields" "RFC 9110, 5.1"
        "a proxy MUST forward unrecognized header fields unless the field name is listed in the Connection header field or the proxy is specifically configured to block, or otherwise transform, such fields"
    RequestCacheControl "request-cache-control" "RFC 9111, 5.2"
        "a proxy, whether or not it implements a cache, MUST pass cache directives through in forwarded messages"
    RequestConnection "request-connection" "RFC 9110, 7.6.1"
        "intermediaries MUST parse a received Connection header field before a message is forwarded and, for each connection-option in this field, remove any header or trailer field(s) from the message with the same name as the connection-option"
    RequestHopByHop "request-hop-by-hop" "RFC 9110, 7.6.1"
        "intermediaries SHOULD remove or replace fields that are known to require removal before forwarding, whether or not they appear as a connection-option"
    RequestVia "request-via" "RFC 9110, 7.6.3"
        "a proxy MUST send an appropriate Via header field in each message that it forwards"
    MaxForwards "max-forwards" "RFC 9110, 7.6.2"
        "if the received Max-Forwards value is greater than zero, the intermediary MUST generate an updated Max-Forwards field in the forwarded message with a field value that is the lesser of the received value decremented by one (1) or the recipient's maximum supported value for Max-Forwards"
    MaxForwardsZero "max-forwards-zero" "RFC 9110, 7.6.2"
        "if the received value is zero (0), the intermediary MUST NOT forward the request; instead, the intermediary MUST respond as the final recipient"
    Retry "retry" "RFC 9110, 9.2.2"
        "a proxy MUST NOT automatically retry non-idempotent requests"
    Once "once" "RFC 9110, 9.2.2"
        "idempotent methods are distinguished because the request can be repeated automatically if a communication failure occurs before the client is able to read the server's response"
    NoStore "no-store" "RFC 9111, 5.2.2.5"
        "the no-store response directive indicates that a cache MUST NOT store any part of either the immediate request or the response and MUST NOT use the response to satisfy any other request"
    OwnResponse "own-response" "RFC 9112, 9.2"
        "HTTP/1.1 does not include a request identifier; it relies on the order of response arrival to correspond exactly to the order in which requests are made on the same connection"
    Unasked "unasked" "RFC 9112, 6.3"
        "a client MUST NOT process, cache, or forward such extra data as a separate response, since such behavior would be vulnerable to cache poisoning"
    Status "status" "RFC 9110, 15"
        "the status code of a response describes the result of the request and the semantics of the response"
    Incomplete "incomplete" "RFC 9112, 8"
        "a client that receives an incomplete response message MUST record the message as incomplete"
    ResponseContent "response-content" "RFC 9110, 7.7"
        "a proxy MUST NOT transform the content of a response message that contains a no-transform cache directive"
    HeadLength "head-length" "RFC 9110, 8.6"
        "a server MUST NOT send Content-Length in a response to HEAD unless its field value equals the decimal number of octets that would have been sent if the same request had used the GET method"
    Date "date" "RFC 9110, 6.6.1"
        "a recipient with a clock that receives a response message without a Date header field MUST record the time it was received and append a corresponding Date header field to the message's header section if it is cached or forwarded downstream"
    ResponseFields "response-fields" "RFC 9110, 5.1"
        "a proxy MUST forward unrecognized header fields unless the field name is listed in the Connection header field or the proxy is specifically configured to block, or otherwise transform, such fields"
    ResponseCacheControl "response-cache-control" "RFC 9111, 5.2"
        "a proxy, whether or not it implements a cache, MUST pass cache directives through in forwarded messages"
    ResponseConnection "response-connection" "RFC 9110, 7.6.1"
        "intermediaries MUST parse a received Connection header field before a message is forwarded and, for each connection-option in this field, remove any header or trailer field(s) from the message with the same name as the connection-option"
    ResponseHopByHop "response-hop-by-hop" "RFC 9110, 7.6.1"
        "intermediaries SHOULD remove or replace fields that are known to require removal before forwarding, whether or not they appear as a connection-option"
    ResponseVia "response-via" "RFC 9110, 7.6.3"
        "a proxy MUST send an appropriate Via header field in each message that it forwards"
    Forwards "forwards" "RFC 9110, 3.7"
        "a proxy is chosen by the client to receive requests and attempt to satisfy those requests via translation through the HTTP interface"
}

// A set has a bit for each.
const _: () = assert!(RULES.len() <= 32);

/// A set of rules.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub(super) struct RuleSet(u32);

impl RuleSet {
    /// Adds the rule at a place.
    pub(super) const fn add(&mut self, place: usize) {
        self.0 |= 1 << place;
    }

    /// Adds a rule if it is broken.
    pub(super) const fn add_if(&mut self, is_broken: bool, rule: RuleId) {
        if is_broken {
            self.add(rule as usize);
        }
    }

    /// Returns how many there are.
    pub(super) const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Returns whether all of it is in another set.
    pub(super) const fn is_in(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }
}
