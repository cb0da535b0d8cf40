//! What a forward proxy may do: which requests it forwards, and which answers it relays (RFC 9110, section 7.6; Li, "Testing by
//! Dualization", PhD thesis, University of Pennsylvania, 2022, section 6.1).
//!
//! The tester is the clients and the origin servers. Of what an origin receives nobody says for which client it is, so each
//! request that it may be is tried; answers differ in a number, so that it shows which one was relayed.

mod rules;

use std::convert::identity;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use simutant_http_tester::{
    Ending, Framing, HttpService, OriginAnswer, Origins, ProxyEvent, Random, Request, Response, Rule, Step,
};
use simutant_oracle::{Open, Session, Specification};

use self::rules::{RULES, RuleId};
use crate::rules::RuleSet;

/// A proxy: what clients have asked of it, and what it has forwarded.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Proxy {
    waived: RuleSet,
    /// Whether a client got what nobody asked for, since that is waived.
    is_split: bool,
    requests: Vec<ClientRequest>,
    forwarded: Vec<Forwarded>,
}

/// A request of a client.
#[derive(Debug, Clone, PartialEq, Eq)]
struct ClientRequest {
    exchange: usize,
    request: Arc<Request>,
    /// Whether the client got an answer, or what there was of one.
    is_over: bool,
}

/// A request that an origin received.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Forwarded {
    /// The place of the client's request.
    of: usize,
    answer: Arc<OriginAnswer>,
}

// States differ in what became of messages, and have the same messages: to hash their contents each time takes longer than all
// else.
impl Hash for ClientRequest {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        (self.exchange, self.is_over).hash(hasher);
    }
}

impl Hash for Forwarded {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.of.hash(hasher);
    }
}

/// Fields that are for one connection alone, whether or not Connection names them (RFC 9110, section 7.6.1).
const HOP_BY_HOP: [&str; 5] = ["proxy-connection", "keep-alive", "te", "transfer-encoding", "upgrade"];

/// Fields that have rules of their own, or say how long a message is.
const OTHERS: [&str; 6] = ["connection", "host", "content-length", "via", "max-forwards", "cache-control"];

/// Fields that are drawn, each for one of so many requests. Those that begin with Answer ask it of the origin.
const FIELDS: &[(&str, &[&str], u8)] = &[
    ("Unknown", &["it is"], 4),
    ("Via", &["1.0 before"], 8),
    ("Connection", &["Private", "keep-alive, pRIVATE", "Nothing ,Private"], 6),
    ("Keep-Alive", &["timeout=7"], 12),
    ("Proxy-Connection", &["keep-alive"], 12),
    ("TE", &["trailers"], 12),
    ("Upgrade", &["other/1"], 12),
    ("Host", &["other.example"], 16),
    ("Transfer-Encoding", &["chunked"], 3),
    ("Max-Forwards", &["0", "1", "2"], 2),
    ("Answer-Status", &["201", "204", "299", "404", "503"], 4),
    ("Answer-Length", &["0", "1000", "5000", "70000"], 3),
    ("Answer-Framing", &["chunked", "chunked", "closed"], 3),
    ("Answer-Ending", &["closed", "closed", "more", "nothing", "1", "999"], 6),
    ("Answer-Private", &["Private", "keep-alive, pRIVATE", "Nothing ,Private"], 6),
    ("Answer-Via", &["1.0 behind"], 12),
    ("Answer-Keep-Alive", &["timeout=7"], 12),
    ("Answer-Upgrade", &["other/1"], 12),
];

/// How many rules may be waived so that each explanation is looked at.
const WAIVED_MAX: usize = RULES.len() / 2;

/// The field with the number of an answer.
const NUMBER: &str = "answer-number";

impl HttpService for Proxy {
    const RULES: &'static [Rule] = RULES;

    fn draw(random: &mut Random, script: &[Step]) -> Request {
        let label = script.len() + 1;
        let methods = ["GET", "GET", "GET", "HEAD", "PUT", "POST", "POST", "DELETE", "OPTIONS"];
        let method = methods[random.uniform(0..methods.len())];
        let origin = if random.uniform(0..3_u8) == 0 { "<origin:2>" } else { "<origin>" };
        let target = random.uniform(0..2_u8);
        let path = match random.uniform(0..12_u8) {
            0 | 1 => format!("/<run>-{target}?q={label}%20+&r"),
            2 => format!("/<run>-{target}/b//c;d=%7e%2F"),
            3 => format!("/<run>-{target}/./b/../c"),
            4..8 if method == "OPTIONS" => String::new(),
            _ => format!("/<run>-{target}"),
        };
        let mut request = Request::new(method, format!("http://{origin}{path}"));
        if matches!(method, "PUT" | "POST") {
            let more = [0, 0, 3_000, 20_000][random.uniform(0..4)];
            let body = format!("content {label}{}", ".".repeat(more));
            request = request.header("Cache-Control", "no-transform").body(body);
        }
        for (name, values, of) in FIELDS {
            let is_possible = match *name {
                "Transfer-Encoding" => request.body.is_some(),
                "Max-Forwards" => method == "OPTIONS",
                _ => true,
            };
            if is_possible && random.uniform(0..*of) == 0 {
                request = request.header(*name, values[random.uniform(0..values.len())]);
            }
        }
        if request.get("Connection").is_some() {
            request = request.header("Private", "client");
        }
        request
    }

    fn waive(&mut self, rule: usize) {
        self.waived.add(rule);
    }

    fn origins() -> Option<Origins<ProxyEvent>> {
        Some(Origins { count: 2, answer, operation: identity })
    }
}

/// Returns what an origin does with a request: what the fields that begin with Answer say.
fn answer(request: &Request, number: usize) -> OriginAnswer {
    let wish = |name: &str| request.get(name);
    let status = wish("Answer-Status").and_then(|status| status.parse().ok()).unwrap_or(200);
    let length = wish("Answer-Length").and_then(|length| length.parse::<usize>().ok());
    let mut body = format!("answer {number}");
    if let Some(length) = length {
        body.push_str(&".".repeat(length.saturating_sub(body.len())));
        body.truncate(length);
    }
    if status == 204 {
        body.clear();
    }
    let has_no_body = body.is_empty();
    let framing = match wish("Answer-Framing") {
        Some("chunked") if !has_no_body => Framing::Chunked,
        Some("closed") if !has_no_body => Framing::Closed,
        _ => Framing::Sized,
    };
    let ending = match wish("Answer-Ending") {
        Some("nothing") => Ending::Nothing,
        Some("closed") => Ending::Closed,
        // What ends with its connection has no end before it.
        Some("more") if framing != Framing::Closed => Ending::More,
        Some(bytes) => match bytes.parse() {
            // What ends with its connection is never cut, and neither is what is not sent.
            Ok(bytes) if bytes < body.len() && framing != Framing::Closed && request.method != "HEAD" => {
                Ending::Cut(bytes)
            }
            _ => Ending::Kept,
        },
        None => Ending::Kept,
    };
    let mut response = Response::new(status, body);
    let mut add = |name: &str, value: &str| _ = response.headers.insert(name.to_owned(), value.to_owned());
    add("cache-control", "no-store, no-transform");
    add(NUMBER, &number.to_string());
    let closes = !matches!(ending, Ending::Kept | Ending::More) || framing == Framing::Closed;
    let options = [wish("Answer-Private"), closes.then_some("close")];
    if options != [None; 2] {
        add("connection", &options.into_iter().flatten().collect::<Vec<_>>().join(", "));
    }
    let private = wish("Answer-Private").map(|_| "origin");
    for (name, value) in [
        ("private", private),
        ("via", wish("Answer-Via")),
        ("keep-alive", wish("Answer-Keep-Alive")),
        ("upgrade", wish("Answer-Upgrade")),
    ] {
        value.into_iter().for_each(|value| add(name, value));
    }
    OriginAnswer { response, framing, ending }
}

impl Specification for Proxy {
    type Operation = ProxyEvent;
    type Response = Response;

    /// Takes note of what a client sends. Nothing else can be said before it is seen.
    fn step(&mut self, _: Session, event: &ProxyEvent, _: &mut Open<'_>) -> Response {
        if let ProxyEvent::Sent { exchange, request } = event {
            self.requests.push(ClientRequest {
                exchange: *exchange,
                request: Arc::new(request.clone()),
                is_over: false,
            });
        }
        Response::default()
    }

    fn agrees(&mut self, event: &ProxyEvent, _: &Response, seen: &Response, open: &mut Open<'_>) -> bool {
        use RuleId as R;
        match event {
            ProxyEvent::Sent { .. } => true,
            ProxyEvent::Received { origin, request, answer, .. } => {
                let candidates = (0..self.requests.len()).map(|of| (self.broken_by_request(of, origin, request), of));
                let Some(of) = self.choose(candidates.collect(), open) else { return false };
                self.forwarded.push(Forwarded { of, answer: Arc::new(answer.clone()) });
                true
            }
            ProxyEvent::Got { exchange } => self.place(*exchange).is_some_and(|of| {
                self.requests[of].is_over = true;
                let is_possible = self.choose(self.broken_by_response(of, seen), open).is_some();
                self.is_split |= is_unasked(seen);
                if is_unasked(seen) {
                    // The answers to what follows on the connection come one later, and nobody knows whose each is.
                    for rule in [R::Once, R::Retry, R::NoStore, R::OwnResponse, R::Forwards, R::Unasked] {
                        self.waived.add(rule);
                    }
                }
                is_possible
            }),
            ProxyEvent::Ended { exchange } => self.place(*exchange).is_some_and(|of| {
                self.requests[of].is_over = true;
                if self.is_split {
                    return true;
                }
                let is_it = |answer: &OriginAnswer| {
                    let Response { status, body, .. } = &answer.response;
                    !answer.is_whole()
                        && (seen.status == 0 || seen.status == *status && body.starts_with(seen.body.as_str()))
                };
                self.forwarded.iter().any(|forwarded| forwarded.of == of && is_it(&forwarded.answer))
            }),
        }
    }
}

impl Proxy {
    /// Returns the place of a client's request.
    fn place(&self, exchange: usize) -> Option<usize> {
        self.requests.iter().position(|asked| asked.exchange == exchange)
    }

    /// Returns one of some explanations, of which each breaks rules: one that breaks waived rules alone.
    fn choose<T: Copy>(&self, candidates: Vec<(RuleSet, T)>, open: &mut Open<'_>) -> Option<T> {
        let allowed: Vec<(RuleSet, T)> =
            candidates.into_iter().filter(|(broken, _)| broken.is_in(self.waived)).collect();
        // Where most rules are waived, to see whether any explains what was seen, anything may be anything: what breaks more
        // than another explanation is left out then. With 16 rules waived, all explanations take hundreds of times as long as
        // with none.
        let is_lax = self.waived.len() as usize > WAIVED_MAX;
        let is_more = |broken: RuleSet| allowed.iter().any(|(other, _)| *other != broken && other.is_in(broken));
        let least: Vec<T> = allowed.iter().filter(|it| !is_lax || !is_more(it.0)).map(|it| it.1).collect();
        match least.len() {
            0 => None,
            1 => Some(least[0]),
            count => Some(least[open.one_of(count)]),
        }
    }

    /// Returns the rules that are broken if what an origin received is the request of a client.
    fn broken_by_request(&self, of: usize, origin: &str, received: &Request) -> RuleSet {
        use RuleId as R;
        let ClientRequest { request, is_over, .. } = &self.requests[of];
        let mut broken = RuleSet::default();
        broken.add_if(received.method != request.method, R::Method);
        let authority = request.authority().unwrap_or_default();
        let (form, path) = match received.authority() {
            Some(authority) => (true, &received.path["http://".len() + authority.len()..]),
            None => (false, received.path.as_str()),
        };
        broken.add_if(form, R::OriginForm);
        match request.path.get("http://".len() + authority.len()..).unwrap_or_default() {
            "" => broken.add_if(path != "*", R::OptionsStar),
            wanted => broken.add_if(wanted != path, R::Target),
        }
        broken.add_if(origin != authority, R::Target);
        broken.add_if(received.get("host") != Some(authority), R::Host);
        let is_fixed = has_directives(received, Some("no-transform")) || has_directives(request, Some("no-transform"));
        let [content, wanted] = [received, request].map(|request| request.body.as_deref().unwrap_or_default());
        broken.add_if(is_fixed && content != wanted, R::RequestContent);
        broken.add_if(!has_directives(received, request.get("cache-control")), R::RequestCacheControl);
        let fields = request.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
        let fields = Fields::of(fields, &|name| request.get(name), &|name| received.get(name));
        broken.add_if(!fields.are_forwarded, R::RequestFields);
        broken.add_if(fields.is_named_forwarded, R::RequestConnection);
        broken.add_if(fields.is_hop_forwarded, R::RequestHopByHop);
        broken.add_if(!fields.is_via_added, R::RequestVia);
        let before = self.forwarded.iter().rev().find(|forwarded| forwarded.of == of);
        let is_again = *is_over || before.is_some();
        let is_failed = !is_over && before.is_some_and(|before| !before.answer.is_whole());
        let is_idempotent = matches!(request.method.as_str(), "GET" | "HEAD" | "PUT" | "DELETE" | "OPTIONS");
        broken.add_if(is_again && !is_idempotent, R::Retry);
        broken.add_if(is_again && is_idempotent && !is_failed, R::Once);
        if let Some(max) = max_forwards(request) {
            broken.add_if(max == 0, R::MaxForwardsZero);
            let updated = received.get("max-forwards").and_then(|max| max.parse::<u64>().ok());
            broken.add_if(max > 0 && updated.is_none_or(|updated| updated >= max), R::MaxForwards);
        }
        broken
    }

    /// Returns what a response to a client can be, and the rules that are broken then.
    fn broken_by_response(&self, of: usize, seen: &Response) -> Vec<(RuleSet, ())> {
        use RuleId as R;
        let request = &self.requests[of].request;
        let mut candidates = Vec::new();
        let own = || self.forwarded.iter().filter(|forwarded| forwarded.of == of);
        // An error of the proxy's own, since an origin gave no whole answer, or since it must not ask one.
        if seen.get(NUMBER).is_none() {
            let has_failed = own().next_back().is_some_and(|last| !last.answer.is_whole());
            let is_asked = max_forwards(request) == Some(0);
            let mut broken = RuleSet::default();
            broken.add_if(!(is_asked || has_failed && matches!(seen.status, 500 | 502..=504)), R::Forwards);
            candidates.push((broken, ()));
        }
        if is_unasked(seen) {
            let mut broken = RuleSet::default();
            broken.add_if(true, R::Unasked);
            return vec![(broken, ())];
        }
        for Forwarded { of: asked, answer } in &self.forwarded {
            let Some(sent) = answer.sent() else { continue };
            let is_own = *asked == of;
            let is_it = seen.get(NUMBER) == sent.get(NUMBER) || !sent.body.is_empty() && seen.body == sent.body;
            if !is_own && !is_it {
                continue;
            }
            let mut broken = RuleSet::default();
            broken.add_if(!is_own && own().next().is_none(), R::NoStore);
            broken.add_if(!is_own && own().next().is_some(), R::OwnResponse);
            broken.add_if(seen.status != sent.status, R::Status);
            broken.add_if(!answer.is_whole(), R::Incomplete);
            broken.add_if(request.method != "HEAD" && seen.body != sent.body, R::ResponseContent);
            let is_length = |length: &str| length.parse() == Ok(sent.body.len());
            let is_head = request.method == "HEAD" && sent.status != 204;
            broken.add_if(is_head && !seen.get("content-length").is_none_or(is_length), R::HeadLength);
            broken.add_if(seen.get("date").is_none(), R::Date);
            let is_passed = directives(sent.get("cache-control")).all(|directive| {
                directives(seen.get("cache-control")).any(|other| other.eq_ignore_ascii_case(directive))
            });
            broken.add_if(!is_passed, R::ResponseCacheControl);
            let fields = sent.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()));
            let fields = Fields::of(fields, &|name| sent.get(name), &|name| seen.get(name));
            broken.add_if(!fields.are_forwarded, R::ResponseFields);
            broken.add_if(fields.is_named_forwarded, R::ResponseConnection);
            broken.add_if(fields.is_hop_forwarded, R::ResponseHopByHop);
            broken.add_if(!fields.is_via_added, R::ResponseVia);
            candidates.push((broken, ()));
        }
        candidates
    }
}

/// What became of the fields of a message.
struct Fields {
    /// Whether those that no proxy knows are there.
    are_forwarded: bool,
    /// Whether one is there that Connection names.
    is_named_forwarded: bool,
    /// Whether one is there that is for a connection alone.
    is_hop_forwarded: bool,
    /// Whether Via has one more entry.
    is_via_added: bool,
}

impl Fields {
    fn of<'a>(
        sent: impl Iterator<Item = (&'a str, &'a str)>,
        before: &dyn Fn(&str) -> Option<&'a str>,
        after: &dyn Fn(&str) -> Option<&'a str>,
    ) -> Self {
        let is_one_of = |names: &[&str], name: &str| names.iter().any(|other| other.eq_ignore_ascii_case(name));
        let named: Vec<&str> = directives(before("connection")).collect();
        let vias = |via: Option<&'a str>| via.map_or(0, |via| via.split(',').count());
        let is_via_added = match (before("via"), after("via")) {
            (before, Some(after)) => after.starts_with(before.unwrap_or_default()) && vias(Some(after)) > vias(before),
            (_, None) => false,
        };
        let (mut are_forwarded, mut is_named_forwarded, mut is_hop_forwarded) = (true, false, false);
        for (name, value) in sent {
            let is_there = after(name) == Some(value);
            match () {
                () if is_one_of(&named, name) => is_named_forwarded |= is_there,
                // Of the proxy's own framing nothing is said.
                () if name.eq_ignore_ascii_case("transfer-encoding") || is_one_of(&OTHERS, name) => {}
                () if is_one_of(&HOP_BY_HOP, name) => is_hop_forwarded |= is_there,
                () => are_forwarded &= is_there,
            }
        }
        Self { are_forwarded, is_named_forwarded, is_hop_forwarded, is_via_added }
    }
}

/// Returns whether a response is what an origin sends beside its answer.
fn is_unasked(response: &Response) -> bool {
    response.get("unasked").is_some()
}

/// Returns the elements of a list.
fn directives(list: Option<&str>) -> impl Iterator<Item = &str> {
    list.unwrap_or_default().split(',').map(str::trim).filter(|element| !element.is_empty())
}

/// Returns whether a request has all of some cache directives.
fn has_directives(request: &Request, wanted: Option<&str>) -> bool {
    let has = |wanted: &str| directives(request.get("cache-control")).any(|other| other.eq_ignore_ascii_case(wanted));
    directives(wanted).all(has)
}

/// Returns how often a request may be forwarded, if it says so and it counts (RFC 9110, section 7.6.2).
fn max_forwards(request: &Request) -> Option<u64> {
    let max = request.get("max-forwards").filter(|_| request.method == "OPTIONS");
    max.and_then(|max| max.parse().ok())
}

#[cfg(test)]
mod tests {
    use simutant_http_tester::watch::Watch;

    use super::*;

    const ORIGIN: &str = "h:1";

    /// What happens, by the places of exchanges.
    #[derive(Debug, Clone)]
    enum Seen {
        /// A client sends a request.
        Sent(usize, Request),
        /// The origin receives one; it is the answer with this number.
        Received(Request, usize),
        Got(usize, Response),
        Ended(usize, Response),
    }
    use Seen::{Ended, Got, Received, Sent};

    /// Returns whether something can happen to a proxy that may break rules.
    fn is_possible(all: &[Seen], waived: &[usize]) -> bool {
        let mut proxy = Proxy::default();
        waived.iter().for_each(|rule| proxy.waive(*rule));
        let mut watch = Watch::new(proxy);
        all.iter().cloned().all(|seen| {
            let (event, response) = match seen {
                Sent(exchange, request) => (ProxyEvent::Sent { exchange, request }, Response::default()),
                Received(request, number) => {
                    let (origin, answer) = (ORIGIN.to_owned(), answer(&request, number));
                    (ProxyEvent::Received { exchange: 0, origin, request, answer }, Response::default())
                }
                Got(exchange, response) => (ProxyEvent::Got { exchange }, response),
                Ended(exchange, response) => (ProxyEvent::Ended { exchange }, response),
            };
            let asked = watch.asked(Session(0), event);
            watch.answered(&asked, response).is_ok()
        })
    }

    /// Checks which rules would allow something if each was waived; `Ok` if it is right.
    #[track_caller]
    fn check(all: &[Seen], expect: Result<(), &[&str]>) {
        let allowing: Vec<&str> =
            (0..RULES.len()).filter(|rule| is_possible(all, &[*rule])).map(|rule| RULES[rule].name).collect();
        assert_eq!(if is_possible(all, &[]) { Ok(()) } else { Err(allowing.as_slice()) }, expect);
    }

    /// Returns a request of a client.
    fn ask(method: &str, fields: &[(&str, &str)]) -> Request {
        let request = Request::new(method, format!("http://{ORIGIN}/a?b"));
        fields.iter().fold(request, |request, (name, value)| request.header(*name, *value))
    }

    /// Returns what a right proxy makes of it, with other fields.
    fn forwarded(request: &Request, fields: &[(&str, &str)]) -> Request {
        let mut forwarded = Request { path: "/a?b".to_owned(), ..request.clone() };
        for (name, value) in [("Host", ORIGIN), ("Via", "1.1 proxy")].iter().chain(fields) {
            forwarded = forwarded.header(*name, *value);
        }
        forwarded
    }

    /// Returns what a right proxy relays of the answer with a number, with other fields.
    fn relay(request: &Request, number: usize, fields: &[(&str, &str)]) -> Response {
        let mut response = answer(request, number).sent().unwrap_or_default();
        for (name, value) in [("date", "today"), ("via", "1.1 proxy")].iter().chain(fields) {
            response.headers.insert((*name).to_owned(), (*value).to_owned());
        }
        response
    }

    #[test]
    fn a_request_is_forwarded_as_it_is() {
        let get = ask("GET", &[("Unknown", "it is")]);
        let received = |request: Request| [Sent(1, get.clone()), Received(request, 1)];
        let right = forwarded(&get, &[]);
        check(&received(right.clone()), Ok(()));
        check(&received(forwarded(&get, &[("X-Forwarded-For", "me")])), Ok(()));
        check(&received(forwarded(&get, &[("Host", "other")])), Err(&["host"]));
        check(&received(forwarded(&get, &[("Unknown", "it was")])), Err(&["request-fields"]));
        check(&received(Request { method: "HEAD".to_owned(), ..right.clone() }), Err(&["method"]));
        check(&received(Request { path: "/a".to_owned(), ..right.clone() }), Err(&["target"]));
        check(&received(Request { path: get.path.clone(), ..right }), Err(&["origin-form"]));
        let put = ask("PUT", &[("Cache-Control", "no-transform")]).body("a");
        let other = forwarded(&put, &[]).body("b");
        check(&[Sent(1, put.clone()), Received(other.clone(), 1)], Err(&["request-content"]));
        // A proxy may transform what does not forbid it.
        let free = ask("PUT", &[]).body("a");
        check(&[Sent(1, free.clone()), Received(forwarded(&free, &[]).body("b"), 1)], Ok(()));
        check(&[Received(forwarded(&free, &[]), 1)], Err(&[]));
    }

    #[test]
    fn fields_of_a_connection_stay_there() {
        let get =
            ask("GET", &[("Connection", "close, pRIVATE"), ("Private", "a"), ("TE", "trailers"), ("Via", "1.0 b")]);
        let mut right = forwarded(&get, &[("Via", "1.0 b, 1.1 proxy")]);
        for name in ["Connection", "Private", "TE"] {
            right.headers.remove(name);
        }
        let received = |request: Request| [Sent(1, get.clone()), Received(request, 1)];
        check(&received(right.clone()), Ok(()));
        check(&received(right.clone().header("Connection", "close")), Ok(()));
        check(&received(right.clone().header("private", "a")), Err(&["request-connection"]));
        check(&received(right.clone().header("te", "trailers")), Err(&["request-hop-by-hop"]));
        check(&received(right.clone().header("Via", "1.0 b")), Err(&["request-via"]));
        check(&received(right.header("Via", "1.1 proxy")), Err(&["request-via"]));
    }

    #[test]
    fn options_are_forwarded_as_often_as_they_say() {
        let options = |max: &str| ask("OPTIONS", &[("Max-Forwards", max)]);
        let received = |max: &str, left: &str| {
            [Sent(1, options(max)), Received(forwarded(&options(max), &[("Max-Forwards", left)]), 1)]
        };
        check(&received("2", "1"), Ok(()));
        check(&received("2", "2"), Err(&["max-forwards"]));
        check(&received("0", "0"), Err(&["max-forwards-zero"]));
        let got = |max: &str| [Sent(1, options(max)), Got(1, Response::new(501, ""))];
        check(&got("0"), Ok(()));
        check(&got("1"), Err(&["forwards"]));
        let star = Request::new("OPTIONS", format!("http://{ORIGIN}"));
        let received = |path: &str| {
            [Sent(1, star.clone()), Received(Request { path: path.to_owned(), ..forwarded(&star, &[]) }, 1)]
        };
        check(&received("*"), Ok(()));
        check(&received("/"), Err(&["options-star"]));
    }

    #[test]
    fn a_response_is_relayed_as_it_is_to_who_asked() {
        let get = ask("GET", &[("Answer-Private", "private")]);
        let begin = [Sent(1, get.clone()), Received(forwarded(&get, &[]), 7)];
        let got = |response: Response| [&begin[..], &[Got(1, response)]].concat();
        let mut right = relay(&get, 7, &[]);
        right.headers.remove("connection");
        check(&got(right.clone()), Err(&["response-connection"]));
        right.headers.remove("private");
        check(&got(right.clone()), Ok(()));
        check(&got(Response { status: 404, ..right.clone() }), Err(&["status"]));
        check(&got(Response { body: "answer".to_owned(), ..right.clone() }), Err(&["response-content"]));
        for (field, rule) in [
            ("via", "response-via"),
            ("date", "date"),
            (NUMBER, "response-fields"),
            ("cache-control", "response-cache-control"),
        ] {
            let mut less = right.clone();
            less.headers.remove(field);
            // What has no number may be of the proxy's own.
            let rules = if field == NUMBER { vec![rule, "forwards"] } else { vec![rule] };
            check(&got(less), Err(&rules));
        }
        check(&got(Response::new(502, "")), Err(&["forwards"]));
        let other = Sent(2, get.clone());
        let [sent, received] = &begin;
        check(&[sent.clone(), other.clone(), received.clone(), Got(2, right.clone())], Ok(()));
        check(&[&got(right.clone())[..], &[other, Got(2, right.clone())]].concat(), Err(&["no-store"]));
        let second = [Sent(2, ask("PUT", &[])), Received(forwarded(&ask("PUT", &[]), &[]), 8), Got(2, right)];
        check(&[&begin[..], &second].concat(), Err(&["own-response"]));
    }

    #[test]
    fn what_an_origin_cuts_short_is_asked_for_again_or_told() {
        let begin = |method: &str, ending: &str, count: usize| {
            let request = ask(method, &[("Answer-Ending", ending)]);
            let received = (1..=count).map(|number| Received(forwarded(&request, &[]), number));
            let all: Vec<Seen> = std::iter::once(Sent(1, request.clone())).chain(received).collect();
            (all, request)
        };
        check(&begin("GET", "nothing", 2).0, Ok(()));
        check(&begin("POST", "nothing", 2).0, Err(&["retry"]));
        check(&begin("GET", "closed", 2).0, Err(&["once"]));
        let (all, request) = begin("GET", "1", 1);
        let then = |seen: Seen| [&all[..], &[seen]].concat();
        check(&then(Got(1, Response::new(502, ""))), Ok(()));
        check(&then(Ended(1, Response::default())), Ok(()));
        check(&then(Ended(1, relay(&request, 1, &[]))), Ok(()));
        check(&then(Ended(1, Response::new(404, ""))), Err(&[]));
        let mut whole = relay(&request, 1, &[]);
        whole.headers.remove("connection");
        check(&then(Got(1, whole)), Err(&["incomplete"]));
        let (all, _) = begin("GET", "closed", 1);
        check(&[&all[..], &[Ended(1, Response::default())]].concat(), Err(&[]));
    }
}
