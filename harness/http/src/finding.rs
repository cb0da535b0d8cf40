//! What a wrong answer means: the rules that it breaks, and the fewest requests that show it.

use std::collections::BTreeSet;
use std::time::Duration;

use serde::Serialize;
use simutant_outcomes::{Finding, FindingClass, quoted};

use crate::checking::Checking;
use crate::driver::{End, Exchange, Run, Server, Side};
use crate::message::{Request, Response};
use crate::origin::OriginAnswer;
use crate::script::{Step, Substitute};
use crate::service::{HttpService, Rule};
use crate::watch::{PendingRequest, Unsure};

/// How often a shorter script is tried: a server may be right at times.
const TRIES: usize = 2;

/// How long an answer is waited for, at least, where silence is made smaller.
const PATIENCE_MIN: Duration = Duration::from_millis(200);

/// How many answers are named that would have been allowed.
const ALLOWED_MAX: usize = 3;

/// How many steps it may take to find out what is broken, for each rule.
const STEPS_MAX: u64 = 50_000;

/// What is wrong, as data.
#[derive(Debug, Serialize)]
struct Detail<'a> {
    /// The name of the rule that is broken: the first of these.
    rule: Option<&'static str>,
    /// Rules of which one is broken, as each of them would allow what was seen if it were waived; or two that both are.
    rules: Vec<&'static Rule>,
    /// How many messages were sent and received before.
    messages: usize,
    /// How many seconds that took.
    seconds: f64,
    /// What would have been allowed, as far as that is not too much.
    allowed: Vec<String>,
    /// What the rules say.
    reason: String,
    /// The fewest requests that show it.
    exchange: Vec<Line<'a>>,
    /// The same as commands of a shell.
    commands: Vec<String>,
    /// The same as a script, which a test case may have.
    script: &'a [Step],
}

/// A request, and the answer to it.
#[derive(Debug, Serialize)]
struct Line<'a> {
    /// The number of the connection.
    connection: u64,
    request: &'a Request,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    substitutes: &'a [Substitute],
    response: Option<&'a Response>,
    /// The origin server that received the request from a proxy, and what it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    origin: Option<(&'a str, &'a OriginAnswer)>,
    /// Whether the connection was closed before the whole response was there.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    is_cut: bool,
    /// How many requests had been sent when it arrived.
    #[serde(skip_serializing_if = "Option::is_none")]
    sent: Option<usize>,
}

/// A set of rules, by their places.
pub(crate) type Rules = Vec<usize>;

/// Returns a service that may break some rules.
pub(crate) fn waiving<S: HttpService>(initial: &S, rules: &[usize]) -> S {
    let mut service = initial.clone();
    rules.iter().for_each(|rule| service.waive(*rule));
    service
}

/// The rules that are broken.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Broken {
    /// One of these: each of them would allow what was seen if it were waived.
    One(Rules),
    /// Both of these.
    Two(usize, usize),
    /// Several of them, nobody has found out which.
    Several,
    /// It is wrong whatever is waived.
    Whatever,
}

impl Broken {
    /// Returns what was broken in a run.
    fn of<S: HttpService>(run: &Run, initial: &S, waived: &[usize]) -> Self {
        let is_allowed = |more: &[usize]| is_possible(run, waiving(initial, &[waived, more].concat()));
        let in_force: Rules = (0..S::RULES.len()).filter(|rule| !waived.contains(rule)).collect();
        if !is_allowed(&in_force) {
            return Self::Whatever;
        }
        let one: Rules = in_force.into_iter().filter(|rule| is_allowed(&[*rule])).collect();
        if one.is_empty() { Self::Several } else { Self::One(one) }
    }

    /// Returns the same, with two rules if these explain a run. There are many pairs, so the run should be short.
    fn told_apart<S: HttpService>(self, run: &Run, initial: &S, waived: &[usize]) -> Self {
        if self != Self::Several {
            return self;
        }
        let in_force: Rules = (0..S::RULES.len()).filter(|rule| !waived.contains(rule)).collect();
        let mut pairs =
            in_force.iter().enumerate().flat_map(|(at, one)| in_force[at + 1..].iter().map(|other| [*one, *other]));
        let allowed = pairs.find(|pair| is_possible(run, waiving(initial, &[waived, pair.as_slice()].concat())));
        allowed.map_or(Self::Several, |[one, other]| Self::Two(one, other))
    }

    /// Returns whether another run, which is wrong, shows as much: of several broken rules, one is enough.
    fn is_in<S: HttpService>(&self, run: &Run, initial: &S, waived: &[usize]) -> bool {
        match (self, Self::of(run, initial, waived)) {
            (Self::One(rules), Self::One(others)) => others.iter().all(|rule| rules.contains(rule)),
            (Self::Whatever, other) => other == Self::Whatever,
            (Self::Two(..) | Self::Several, other) => other != Self::Whatever,
            (Self::One(_), _) => false,
        }
    }

    fn rules(&self) -> Rules {
        match self {
            Self::One(rules) => rules.clone(),
            Self::Two(one, other) => vec![*one, *other],
            Self::Several | Self::Whatever => Vec::new(),
        }
    }

    /// Returns what is broken, in words.
    fn words(&self, all: &[Rule]) -> String {
        match self {
            Self::One(rules) => {
                let others: Vec<&str> = rules[1..].iter().map(|rule| all[*rule].name).collect();
                let or = if others.is_empty() { String::new() } else { format!("; or {}", others.join(", or ")) };
                format!("which breaks {}{or}", all[rules[0]])
            }
            Self::Two(one, other) => format!("which breaks {} and {}", all[*one], all[*other]),
            Self::Several => "which breaks several rules".to_owned(),
            Self::Whatever if all.is_empty() => "which the specification does not allow".to_owned(),
            Self::Whatever => "which is wrong whichever rule is waived".to_owned(),
        }
    }
}

/// Returns whether a service may have answered so. What cannot be decided soon is possible.
pub(crate) fn is_possible<S: HttpService>(run: &Run, service: S) -> bool {
    let mut checking = Checking::new(service);
    match replayed(run, &mut checking, &mut |_, _, _| true) {
        Some(true) => !matches!(checking.finish(STEPS_MAX), Err(Unsure::Wrong(_))),
        Some(false) => false,
        None => true,
    }
}

/// Returns what would have been allowed in place of the answer with which a run ended.
fn allowed<S: HttpService>(run: &Run, service: S) -> Vec<String> {
    // What a proxy may do is said when it is seen.
    let End::Wrong(at) = run.end else { return Vec::new() };
    if S::origins().is_some() {
        return Vec::new();
    }
    let mut allowed: Vec<String> = Vec::new();
    replayed(run, &mut Checking::new(service), &mut |exchange, checking, due| {
        if exchange == at {
            allowed.extend(checking.watch.allowed(due).iter().map(ToString::to_string));
        }
        exchange != at
    });
    allowed.sort_unstable();
    allowed.dedup();
    allowed
}

/// Lets a check see a run again. Before each answer, `look` gets the place of the exchange and the call that is answered, and
/// says whether to go on. Returns whether all went on to the end; `None` if a message is none that the
/// specification knows.
fn replayed<S: HttpService>(
    run: &Run,
    checking: &mut Checking<S>,
    look: &mut dyn FnMut(usize, &Checking<S>, &PendingRequest) -> bool,
) -> Option<bool> {
    let mut asked = Vec::new();
    for &at in &run.answered {
        let exchange = &run.exchanges[at];
        let Some((response, sent)) = &exchange.answer else { continue };
        for (at, begun) in run.exchanges.iter().enumerate().take(*sent).skip(asked.len()) {
            match checking.begun(at, begun) {
                Ok(begun) => asked.push(begun),
                Err(End::Wrong(_)) => return Some(false),
                Err(_) => return None,
            }
        }
        // What an origin received was looked at when it began.
        if exchange.step().is_none() {
            continue;
        }
        let due = checking.due(at, exchange, &asked[at]);
        if !look(at, checking, &due) {
            return Some(false);
        }
        match checking.answered(at, &due, response.clone()) {
            Ok(()) => {}
            Err(End::Wrong(_)) => return Some(false),
            Err(_) => return None,
        }
    }
    Some(true)
}

/// The service under test, as findings need it.
pub(crate) struct ServiceUnderTest<'a, S> {
    pub(crate) server: &'a Server,
    pub(crate) initial: &'a S,
    pub(crate) waived: &'a [usize],
    /// What `<run>` stands for in another run.
    pub(crate) fresh: &'a dyn Fn() -> String,
    /// Whether there is one like it already, so that nobody needs it small.
    pub(crate) is_known: &'a dyn Fn(&Likeness) -> bool,
}

/// What findings have in common that are probably one: the kind, the method, the status code of the answer, and, where no rule is
/// named, the status codes that were due. Those of a proxy have the kind alone, since it treats all messages alike.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Likeness {
    kind: String,
    method: String,
    status: Option<u16>,
    due: BTreeSet<String>,
}

impl Likeness {
    /// Returns that of a run which ended as `kind` says, where other answers would have been allowed.
    fn of<S: HttpService>(run: &Run, kind: &str, allowed: &[String]) -> Self {
        let kind = kind.to_owned();
        if S::origins().is_some() {
            return Self { kind, method: String::new(), status: None, due: BTreeSet::new() };
        }
        let exchange = run.end.exchange().map(|at| &run.exchanges[at]);
        let method = exchange.map(|it| it.request.method.clone()).unwrap_or_default();
        let status = exchange.and_then(|it| Some(it.answer.as_ref()?.0.status));
        // Responses begin with it.
        let due = allowed.iter().filter_map(|response| response.split(' ').next()).map(str::to_owned).collect();
        Self { kind, method, status, due }
    }

    /// Returns whether another one shows as much: of several status codes that were due, some are enough; none are known where
    /// too much was possible.
    fn is_in(&self, other: &Self) -> bool {
        (&self.kind, &self.method, self.status) == (&other.kind, &other.method, other.status)
            && (self.due.is_empty() || other.due.is_subset(&self.due))
    }
}

impl<S: HttpService> ServiceUnderTest<'_, S> {
    /// Returns the finding of a run that did not end as it should, and what it has in common with others, as it was seen and
    /// as it is shown; `None` of a run that says nothing of the server.
    pub(crate) fn finding(&self, script: &[Step], run: &Run, seconds: f64) -> Option<(Finding, [Likeness; 2])> {
        let service = waiving(self.initial, self.waived);
        // Only a wrong answer breaks a rule.
        let broken_in = |run: &Run| match run.end {
            End::Wrong(_) => Broken::of(run, self.initial, self.waived),
            _ => Broken::Whatever,
        };
        let broken = broken_in(run);
        // A rule says what was due.
        let likeness_of = |run: &Run, broken: &Broken, kind: &str| match broken {
            Broken::Whatever => Likeness::of::<S>(run, kind, &allowed(run, service.clone())),
            _ => Likeness::of::<S>(run, kind, &[]),
        };
        let seen = likeness_of(run, &broken, "");
        let is_same = |other: &Run| match (&run.end, &other.end) {
            // Without rules, a request that was made shorter may be wrong in another way.
            (End::Wrong(_), End::Wrong(_)) => {
                seen.is_in(&likeness_of(other, &broken, "")) && broken.is_in(other, self.initial, self.waived)
            }
            (End::Malformed(..), End::Malformed(..))
            | (End::Unasked(..), End::Unasked(..))
            | (End::Garbled(..), End::Garbled(..))
            | (End::Closed(_), End::Closed(_))
            | (End::Silent(_), End::Silent(_)) => true,
            _ => false,
        };
        let run_by = |server: &Server, script: &[Step]| {
            let mut tries = (0..TRIES).map(|_| server.run(script, &service, &(self.fresh)()));
            tries.find(|other| is_same(other))
        };
        let again = |script: &[Step]| run_by(self.server, script);
        let (_, kind, _) = words(run, &broken, S::RULES)?;
        let mut is_hanging = false;
        let likeness = Likeness { kind, ..seen.clone() };
        let (script, shown) = match run.end {
            End::Wrong(_) | End::Malformed(..) | End::Unasked(..) | End::Garbled(..) | End::Closed(_)
                if !(self.is_known)(&likeness) =>
            {
                shrunk(script, run, &again)
            }
            End::Silent(at) if !(self.is_known)(&likeness) && self.is_alive(script, run, &service) => {
                // Each try that shows it takes as long as the tester waits: nobody waits much longer than for other answers.
                let others = Duration::from_secs_f64(seconds).saturating_sub(self.server.patience);
                let patience = (others * 4).max(PATIENCE_MIN).min(self.server.patience);
                let hasty = Server { patience, ..self.server.clone() };
                let silent = run.exchanges[at].step().map(|step| script[step].clone());
                is_hanging = silent.is_some_and(|step| run_by(&hasty, &[step]).is_some());
                match is_hanging {
                    // It may be an earlier request that has brought the server into this state.
                    true => (script.to_vec(), run.clone()),
                    false => {
                        let (least, _) = shrunk(script, run, &|script| run_by(&hasty, script));
                        again(&least).map_or_else(|| (script.to_vec(), run.clone()), |shown| (least, shown))
                    }
                }
            }
            // Nobody would answer.
            _ => (script.to_vec(), run.clone()),
        };
        let broken = broken_in(&shown).told_apart(&shown, self.initial, self.waived);
        let (class, kind, mut summary) = words(&shown, &broken, S::RULES)?;
        let allowed = if broken.rules().is_empty() { allowed(&shown, service.clone()) } else { Vec::new() };
        let due = if matches!(broken, Broken::Whatever) { &allowed[..] } else { &[] };
        let likenesses = [likeness, Likeness::of::<S>(&shown, &kind, due)];
        let at = shown.end.exchange().filter(|_| (1..=ALLOWED_MAX).contains(&allowed.len()));
        let answer = at.and_then(|at| shown.exchanges[at].answer.as_ref());
        summary.push_str(&match answer {
            Some((response, _)) if allowed.contains(&response.to_string()) => {
                "; it allows the same with other headers, or with another end of the body".to_owned()
            }
            Some(_) => format!("; it allows {}", allowed.join(" or ")),
            None => String::new(),
        });
        let rules: Vec<&'static Rule> = broken.rules().iter().map(|rule| &S::RULES[*rule]).collect();
        let exchanges = shown.exchanges.iter().map(|it| {
            let Exchange { side, session, request, substitutes, answer, is_cut } = it;
            let (response, sent) = answer.as_ref().map(|(response, sent)| (response, *sent)).unzip();
            let origin = match side {
                Side::Client { .. } => None,
                Side::Origin { name, answer } => Some((name.as_str(), answer)),
            };
            Line { connection: session.0, request, substitutes, response, origin, is_cut: *is_cut, sent }
        });
        // The origin servers behind a proxy are those of the run.
        let names =
            |request: &Request| [&request.path].into_iter().chain(&request.body).any(|text| text.contains("<run>"));
        let has_targets = S::origins().is_some() || script.iter().any(|step| names(&step.request));
        let is_fresh = self.server.reset.is_some() || has_targets;
        let stale = (!is_fresh && !script.is_empty()).then_some(
            "no path or body has <run>, and nothing resets the server between scripts: this may come of earlier requests",
        );
        let hanging = is_hanging.then_some(
            "by itself it is not answered any more either: one of those before may have brought the server to that",
        );
        let detail = Detail {
            rule: rules.first().map(|rule| rule.name),
            reason: rules
                .iter()
                .map(|rule| rule.words())
                .chain(stale.map(str::to_owned))
                .chain(hanging.map(str::to_owned))
                .collect::<Vec<_>>()
                .join("; "),
            rules,
            allowed,
            messages: run.messages(),
            seconds,
            exchange: exchanges.collect(),
            commands: commands(&shown, self.server),
            script: &script,
        };
        Some((Finding { class, kind, summary, detail: serde_json::Value::Null }.with_detail(detail), likenesses))
    }

    /// Returns whether the server still answers a request that it has answered: one that answers nothing any more tells
    /// nothing of what made it silent.
    fn is_alive(&self, script: &[Step], run: &Run, service: &S) -> bool {
        let answered = run.answered.iter().find_map(|exchange| run.exchanges[*exchange].step());
        let answered = answered.map(|step| &script[step]);
        let is_answered = |step: &Step| {
            let run = self.server.run(std::slice::from_ref(step), service, &(self.fresh)());
            run.exchanges.iter().any(|exchange| exchange.step().is_some() && exchange.answer.is_some())
        };
        answered.is_some_and(is_answered)
    }
}

/// Returns the fewest and simplest steps that still show it, as far as one change after the other finds them, with a run.
fn shrunk(script: &[Step], run: &Run, again: &dyn Fn(&[Step]) -> Option<Run>) -> (Vec<Step>, Run) {
    // What was not sent is not needed.
    let sent = run.exchanges.iter().filter_map(Exchange::step).max().map_or(0, |last| last + 1);
    let (mut least, mut shown) = (script[..sent].to_vec(), run.clone());
    let mut size = least.len() / 2;
    while size > 0 {
        let mut at = 0;
        while at < least.len() {
            let end = (at + size).min(least.len());
            let shorter = [&least[..at], &least[end..]].concat();
            match again(&shorter) {
                Some(other) => (least, shown) = (shorter, other),
                None => at = end,
            }
        }
        size /= 2;
    }
    for at in 0..least.len() {
        let mut simpler = least[at].simpler();
        while let Some(step) = simpler.pop() {
            let mut changed = least.clone();
            changed[at] = step;
            if let Some(other) = again(&changed) {
                simpler = changed[at].simpler();
                (least, shown) = (changed, other);
            }
        }
    }
    (least, shown)
}

/// Returns the class, the kind and the summary of a finding.
fn words(run: &Run, broken: &Broken, rules: &[Rule]) -> Option<(FindingClass, String, String)> {
    let request = |at: usize| &run.exchanges[at].request;
    Some(match &run.end {
        End::Wrong(at) if let Side::Origin { name, .. } = &run.exchanges[*at].side => {
            let summary = format!("{name} received {}, {}", request(*at), broken.words(rules));
            let kind = broken.rules().first().map_or("no-such-request", |rule| rules[*rule].name);
            (FindingClass::WrongResult, kind.to_owned(), summary)
        }
        End::Wrong(at) => {
            let answer = run.exchanges[*at].answer.as_ref().map(|(response, _)| response.to_string());
            let summary =
                format!("{} was answered {}, {}", request(*at), answer.unwrap_or_default(), broken.words(rules));
            let kind = broken.rules().first().map_or("no-such-answer", |rule| rules[*rule].name);
            (FindingClass::WrongResult, kind.to_owned(), summary)
        }
        End::Malformed(at, reason) => (
            FindingClass::WrongResult,
            "malformed".to_owned(),
            format!("the answer to {} is none: {reason}", request(*at)),
        ),
        End::Garbled(origin, reason) => (
            FindingClass::WrongResult,
            "malformed-request".to_owned(),
            format!("what the origin {origin} received is no request: {reason}"),
        ),
        End::Unasked(at, bytes) => (
            FindingClass::WrongResult,
            "more-than-an-answer".to_owned(),
            format!("the server sent {bytes} bytes after its answer to {}, which are none of it", request(*at)),
        ),
        End::Silent(at) => {
            (FindingClass::NotTerminated, "no-answer".to_owned(), format!("{} was not answered in time", request(*at)))
        }
        End::Closed(at) => (
            FindingClass::Abnormal,
            "connection-closed".to_owned(),
            format!("the connection was closed before the answer to {} was there", request(*at)),
        ),
        End::Gone(error) => (
            FindingClass::Abnormal,
            "server-gone".to_owned(),
            format!("the server takes no connections any more: {error}"),
        ),
        _ => return None,
    })
}

/// Returns the commands that make the requests of a run. Those end with `&` that are made while others are.
fn commands(run: &Run, server: &Server) -> Vec<String> {
    let mut commands = Vec::new();
    let is_open = |number: usize, exchange: &Exchange| exchange.answer.as_ref().is_none_or(|(_, sent)| *sent > number);
    for (number, Exchange { side, session, request, answer, is_cut, .. }) in run.exchanges.iter().enumerate() {
        if let Side::Origin { name, answer } = side {
            commands.push(format!("# {name} received {request}; it answered {answer}"));
            continue;
        }
        let later = run.exchanges.iter().enumerate().skip(number + 1).find(|(_, later)| later.step().is_some());
        let overlaps = later.is_some_and(|(later, _)| is_open(later, &run.exchanges[number]));
        let is_pipelined = run.exchanges[..number].iter().any(|it| it.session == *session && is_open(number, it));
        let place = |response: &Response| response.get("location").map(|place| format!(" with location: {place}"));
        let whole = |response: &Response| format!("{response}{}", place(response).unwrap_or_default());
        let answered = answer.as_ref().map_or_else(|| "no answer".to_owned(), |(response, _)| whole(response));
        let and = if overlaps { " &" } else { "" };
        let cut = if *is_cut { ", and no more" } else { "" };
        let pipelined = if is_pipelined { "; it was pipelined" } else { "" };
        commands.push(format!("{}{and}  # {answered}{cut}{pipelined}", curl(request, server)));
    }
    commands
}

/// Returns the command that makes a request.
fn curl(request: &Request, server: &Server) -> String {
    let Request { method, path, headers, body } = &server.whole(request);
    let mut command = match method.as_str() {
        "HEAD" => "curl -sI".to_owned(),
        "GET" if body.is_none() => "curl -si".to_owned(),
        method => format!("curl -si -X {method}"),
    };
    for (name, value) in headers {
        // A field without a value is left out after a colon.
        let field = if value.is_empty() { format!("{name};") } else { format!("{name}: {value}") };
        command.push_str(&format!(" -H {}", quoted(&field)));
    }
    if let Some(body) = body {
        command.push_str(&format!(" --data-raw {}", quoted(body)));
        if !headers.keys().any(|name| name.eq_ignore_ascii_case("content-type")) {
            command.push_str(" -H Content-Type:");
        }
    }
    // curl would make another path of these.
    if path.contains("/.") {
        command.push_str(" --path-as-is");
    }
    if path.contains(['[', ']', '{', '}']) {
        command.push_str(" -g");
    }
    let host = &server.host;
    match request.authority() {
        Some(authority) => {
            if path.ends_with(authority) {
                command.push_str(&format!(" --request-target {}", quoted(path)));
            }
            format!("{command} -x {} {}", quoted(&format!("http://{host}")), quoted(path))
        }
        None => format!("{command} {}", quoted(&format!("http://{host}{path}"))),
    }
}
