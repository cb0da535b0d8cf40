//! What a wrong answer means: the rules that it breaks, and the fewest requests that show it.

use std::net::SocketAddr;

use serde::Serialize;
use simutant_oracle::{OnlineError, Session};
use simutant_outcomes::{Finding, FindingClass};

use super::driver::{End, Exchange, Run, Target};
use super::wire;
use crate::message::{Request, Seen};
use crate::rules::{Rule, RuleId, RuleSet};
use crate::script::Step;
use crate::specification::Service;
use crate::watch::Watch;

/// How often a shorter script is tried: a server may be right at times.
const TRIES: usize = 2;

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
    request: &'a Request,
    response: Option<&'a Seen>,
}

/// The rules that are broken.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Broken {
    /// One of these: each of them would allow what was seen if it were waived.
    One(Vec<RuleId>),
    /// Both of these.
    Two(RuleId, RuleId),
    /// It is wrong whatever is waived.
    Whatever,
}

impl Broken {
    /// Returns what was broken in a run.
    fn of(script: &[Step], run: &Run, waived: RuleSet) -> Self {
        let is_allowed = |waived: RuleSet| is_possible(script, run, Service::waiving(waived));
        let in_force: Vec<RuleId> = RuleId::all().filter(|rule| !waived.has(*rule)).collect();
        let one: Vec<RuleId> = in_force.iter().copied().filter(|rule| is_allowed(waived.with(*rule))).collect();
        if !one.is_empty() {
            return Self::One(one);
        }
        if !is_allowed(in_force.iter().copied().fold(waived, RuleSet::with)) {
            return Self::Whatever;
        }
        let pairs =
            in_force.iter().enumerate().flat_map(|(at, one)| in_force[at + 1..].iter().map(|other| (*one, *other)));
        let mut allowed = pairs.filter(|(one, other)| is_allowed(waived.with(*one).with(*other)));
        allowed.next().map_or(Self::Whatever, |(one, other)| Self::Two(one, other))
    }

    fn rules(&self) -> Vec<RuleId> {
        match self {
            Self::One(rules) => rules.clone(),
            Self::Two(one, other) => vec![*one, *other],
            Self::Whatever => Vec::new(),
        }
    }

    /// Returns whether this says at least as much as another one.
    fn says_more(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::One(rules), Self::One(others)) => rules.iter().all(|rule| others.contains(rule)),
            _ => self == other,
        }
    }

    /// Returns the name of a finding.
    fn kind(&self) -> &'static str {
        self.rules().first().map_or("no-such-answer", |rule| rule.rule().name)
    }

    /// Returns what is broken, in words.
    fn words(&self) -> String {
        match self {
            Self::One(rules) => {
                let others: Vec<&str> = rules[1..].iter().map(|rule| rule.rule().name).collect();
                let or = if others.is_empty() { String::new() } else { format!("; or {}", others.join(", or ")) };
                format!("which breaks {}{or}", rules[0].rule())
            }
            Self::Two(one, other) => format!("which breaks {} and {}", one.rule(), other.rule()),
            Self::Whatever => "which no rule allows that could be waived".to_owned(),
        }
    }
}

/// Returns whether a service may have answered so. What cannot be decided is possible.
pub(super) fn is_possible(script: &[Step], run: &Run, service: Service) -> bool {
    let mut watch = Watch::new(service);
    let mut asked = Vec::new();
    for &exchange in &run.answered {
        let Some((seen, sent)) = &run.exchanges[exchange].answer else { continue };
        for Exchange { step, request, .. } in run.exchanges.iter().take(*sent).skip(asked.len()) {
            asked.push(watch.asked(Session(script[*step].connection.into()), request.clone()));
        }
        if let Err(error) = watch.answered(&asked[exchange], seen.clone()) {
            return !matches!(error, OnlineError::Impossible { .. });
        }
    }
    true
}

/// Returns the finding of a run that did not end as it should; `None` of one that says nothing of the server.
pub(super) fn finding(
    target: &Target,
    script: &[Step],
    run: &Run,
    seconds: f64,
    fresh: &mut dyn FnMut() -> String,
) -> Option<Finding> {
    let waived = target.service.waived;
    // Only a wrong answer breaks a rule.
    let broken_in = |script: &[Step], run: &Run| match run.end {
        End::Wrong(_) => Broken::of(script, run, waived),
        _ => Broken::Whatever,
    };
    let broken = broken_in(script, run);
    let is_same = |script: &[Step], other: &Run| match (&run.end, &other.end) {
        (End::Wrong(_), End::Wrong(_)) => Broken::of(script, other, waived).says_more(&broken),
        (End::Malformed(..), End::Malformed(..)) | (End::Silent(_), End::Silent(_)) => true,
        _ => false,
    };
    let mut again = |script: &[Step]| {
        let mut tries = (0..TRIES).map(|_| Target { prefix: fresh(), ..target.clone() }.run(script));
        tries.find(|other| is_same(script, other))
    };
    let (script, shown) = match run.end {
        End::Over | End::Unreachable(_) | End::Undecided(_) => return None,
        End::Silent(_) => (script.to_vec(), run.clone()),
        End::Wrong(_) | End::Malformed(..) => shrunk(script, run, &mut again),
    };
    let broken = broken_in(&script, &shown);
    let (class, kind, summary) = words(&shown, &broken)?;
    let rules = broken.rules();
    let exchanges = shown.exchanges.iter().map(|Exchange { request, answer, .. }| {
        let response = answer.as_ref().map(|(seen, _)| seen);
        Line { request, response }
    });
    let detail = Detail {
        rule: rules.first().map(|rule| rule.rule().name),
        rules: rules.iter().map(|rule| rule.rule()).collect(),
        messages: run.messages(),
        seconds,
        reason: rules.iter().map(|rule| rule.rule().words()).collect::<Vec<_>>().join("; "),
        exchange: exchanges.collect(),
        commands: shown.exchanges.iter().map(|it| curl(&it.request, target.address)).collect(),
        script: &script,
    };
    Some(Finding { class, kind, summary, detail: serde_json::Value::Null }.with_detail(detail))
}

/// Returns the fewest and simplest steps that still show it, as far as one change after the other finds them, with a run.
fn shrunk(script: &[Step], run: &Run, again: &mut dyn FnMut(&[Step]) -> Option<Run>) -> (Vec<Step>, Run) {
    // What was not sent is not needed.
    let sent = run.exchanges.iter().map(|it| it.step).max().map_or(0, |last| last + 1);
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
fn words(run: &Run, broken: &Broken) -> Option<(FindingClass, String, String)> {
    let described = |at: usize| {
        let request = &run.exchanges[at].request;
        let fields: Vec<String> =
            wire::fields(request).iter().map(|(name, value)| format!("{name}: {value}")).collect();
        let with = if fields.is_empty() { String::new() } else { format!(" with {}", fields.join(" and ")) };
        format!("{} {}{with}", request.method, request.path)
    };
    Some(match &run.end {
        End::Wrong(at) => {
            let status = run.exchanges[*at].answer.as_ref().map_or(0, |(seen, _)| seen.status);
            let summary = format!("{} was answered {status}, {}", described(*at), broken.words());
            (FindingClass::WrongResult, broken.kind().to_owned(), summary)
        }
        End::Malformed(at, reason) => (
            FindingClass::WrongResult,
            "malformed".to_owned(),
            format!("the answer to {} is none: {reason}", described(*at)),
        ),
        End::Silent(at) => (
            FindingClass::NotTerminated,
            "no-answer".to_owned(),
            format!("{} was not answered in time", described(*at)),
        ),
        End::Over | End::Unreachable(_) | End::Undecided(_) => return None,
    })
}

/// Returns the command that makes a request.
fn curl(request: &Request, address: SocketAddr) -> String {
    let mut command = match request.method {
        crate::message::Method::Head => "curl -sI".to_owned(),
        method => format!("curl -si -X {method}"),
    };
    for (name, value) in wire::fields(request) {
        command.push_str(&format!(" -H '{name}: {value}'"));
    }
    if let Some(body) = &request.body {
        command.push_str(&format!(" --data-raw '{body}' -H 'Content-Type:'"));
    }
    format!("{command} http://{address}{}", request.path)
}
