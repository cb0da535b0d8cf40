//! The specification of HTTP servers as a validator, beside one that is written by hand.
//!
//! `validators EXCHANGES ROUNDS` prints a JSON object. A client asks a server on one connection, and both validators judge
//! what it saw, in turns; of each thousand exchanges the least time of the rounds counts. Then one answer of a shorter trace
//! is changed at a time, and they have to reject the same one, if any.

mod by_hand;

use std::collections::BTreeMap;
use std::hint::black_box;
use std::time::Instant;

use serde::Serialize;
use simutant_http::message::{Conditions, Method, Request, Response, Seen, Tags};
use simutant_http::specification::Service;
use simutant_http::tag::{Comparison, EntityTag};
use simutant_oracle::{Online, OnlineBudget, OnlineError, Session};
use simutant_random::Random;

use self::by_hand::Validator;

type Trace = Vec<(Request, Seen)>;

const PATHS: u64 = 8;

/// How many exchanges are timed at once: less than what another process interrupts each time.
const PART: usize = 1_000;

/// How many exchanges a trace has of which an answer is changed.
const SHORT: usize = 500;

/// How many answers are changed, each in a trace of its own.
const CHANGED: u64 = 5_000;

/// A server, whose tags are weak or strong, and stay so.
#[derive(Default)]
struct Server {
    contents: BTreeMap<String, (String, EntityTag)>,
}

impl Server {
    fn answer(&mut self, request: &Request, new_tag: EntityTag) -> Seen {
        let seen = |status| Seen { status, ..Seen::default() };
        let is_put = request.method == Method::Put;
        let current = self.contents.get(&request.path);
        let has_one_of = |tags: &Tags, comparison| {
            current.is_some_and(|(_, tag)| match tags {
                Tags::Any => true,
                Tags::These(tags) => tags.iter().any(|given| given.matches(tag, comparison)),
            })
        };
        let Conditions { if_match, if_none_match, .. } = &request.conditions;
        match current {
            None if !is_put => seen(404),
            _ if if_match.as_ref().is_some_and(|tags| !has_one_of(tags, Comparison::Strong)) => seen(412),
            Some((_, tag)) if if_none_match.as_ref().is_some_and(|tags| has_one_of(tags, Comparison::Weak)) => {
                if is_put { seen(412) } else { Seen { tag: Some(tag.clone()), ..seen(304) } }
            }
            Some((body, tag)) if !is_put => Seen { body: body.clone(), tag: Some(tag.clone()), ..seen(200) },
            _ => {
                let status = if current.is_some() { 204 } else { 201 };
                self.contents.insert(request.path.clone(), (request.body.clone().unwrap_or_default(), new_tag));
                seen(status)
            }
        }
    }
}

/// Draws a trace of a server that does as it should. Each PUT has a content of its own.
fn draw(exchanges: usize, random: &mut Random) -> Trace {
    let mut server = Server::default();
    // The tags that were seen, by path.
    let mut seen_tags: BTreeMap<String, Vec<EntityTag>> = BTreeMap::new();
    let mut exchange = |number: usize| {
        let path = format!("/{}", random.uniform(0..PATHS));
        let method = if random.uniform(0..2_u8) == 0 { Method::Get } else { Method::Put };
        let tags = seen_tags.entry(path.clone()).or_default();
        let tag = match random.uniform(0..10_u8) {
            0..5 => tags.last().cloned(),
            5..7 => random.choose(tags).cloned(),
            // One that the server may have chosen, and has not told.
            7..9 => server.contents.get(&path).map(|(_, tag)| EntityTag { is_weak: false, ..tag.clone() }),
            _ => None,
        };
        let tag = tag.unwrap_or_else(|| EntityTag::strong(format!("other-{}", random.uniform(0..4_u8))));
        let these = Some(Tags::These(vec![tag]));
        let conditions = match random.uniform(0..8_u8) {
            0..3 => Conditions { if_match: these, ..Conditions::default() },
            3..6 => Conditions { if_none_match: these, ..Conditions::default() },
            _ => Conditions::default(),
        };
        let body = (method == Method::Put).then(|| format!("content {number}"));
        let request = Request { method, path: path.clone(), body, conditions };
        let new_tag = EntityTag { is_weak: random.uniform(0..4_u8) == 0, opaque: format!("{number:x}") };
        let seen = server.answer(&request, new_tag);
        tags.extend(seen.tag.iter().filter(|tag| !tags.contains(tag)).cloned().collect::<Vec<_>>());
        let old = tags.len().saturating_sub(4);
        tags.drain(..old);
        (request, seen)
    };
    (0..exchanges).map(&mut exchange).collect()
}

/// Changes one answer.
fn change(trace: &mut Trace, random: &mut Random) {
    let (number, other) = (random.uniform(0..trace.len()), random.uniform(0..trace.len()));
    let other = trace[other].1.clone();
    let (before, after) = trace.split_at_mut(number);
    let (request, seen) = &mut after[0];
    match random.uniform(0..5_u8) {
        0 => seen.body = other.body,
        1 => seen.tag = other.tag,
        2 => match &mut seen.tag {
            Some(tag) => tag.is_weak = !tag.is_weak,
            None => seen.tag = Some(EntityTag::strong("other-0")),
        },
        // As if the request had no condition.
        3 if seen.status == 304 => {
            let is_put = |(put, seen): &&(Request, Seen)| put.path == request.path && matches!(seen.status, 201 | 204);
            let put = before.iter().rev().find(is_put).and_then(|(put, _)| put.body.clone());
            (seen.status, seen.body) = (200, put.unwrap_or_default());
            return;
        }
        _ => *seen = other,
    }
    if random.uniform(0..2_u8) == 0 {
        seen.status = [200, 201, 204, 304, 404, 412][random.uniform(0..6_usize)];
    }
}

/// Returns what says of one exchange after the other whether the validator by hand accepts it.
fn by_hand() -> impl FnMut((Request, Seen)) -> bool {
    let mut validator = Validator::default();
    move |(request, seen)| validator.accepts(&request, &seen)
}

/// Returns what says whether the specification explains it, path by path, as clients watch a server.
fn simutant() -> impl FnMut((Request, Seen)) -> bool {
    let mut paths: BTreeMap<String, Online<Service>> = BTreeMap::new();
    move |(request, seen)| {
        if !paths.contains_key(&request.path) {
            paths.insert(request.path.clone(), Online::new(Service::default(), OnlineBudget::default()));
        }
        let online = paths.get_mut(&request.path).expect("it was inserted");
        let call = online.invoked(Session(1), request);
        match online.returned(call, Response::Seen(seen)) {
            Ok(()) => true,
            Err(OnlineError::Impossible { .. }) => false,
            Err(error) => panic!("{error}"),
        }
    }
}

/// Returns the number of the first exchange that is rejected.
fn first_rejected(mut accepts: impl FnMut((Request, Seen)) -> bool, trace: Trace) -> Option<usize> {
    trace.into_iter().position(|exchange| !accepts(exchange))
}

/// Judges a trace that is right, and keeps the least time of each part.
///
/// # Panics
/// If an exchange is rejected.
fn time(mut accepts: impl FnMut((Request, Seen)) -> bool, trace: Trace, least: &mut [f64]) {
    let mut exchanges = trace.into_iter();
    for least in least {
        let begun = Instant::now();
        assert!(exchanges.by_ref().take(PART).all(|exchange| black_box(accepts(exchange))));
        *least = least.min(begun.elapsed().as_secs_f64());
    }
}

/// Changes one answer of each of some traces, and returns how many of them both reject.
///
/// # Panics
/// If they do not reject the same exchange.
fn rejected(changed: u64, random: &mut Random) -> u64 {
    let mut is_rejected = |number| {
        let mut trace = draw(SHORT, random);
        change(&mut trace, random);
        let rejected = first_rejected(simutant(), trace.clone());
        assert_eq!(first_rejected(by_hand(), trace), rejected, "trace {number}");
        rejected.is_some()
    };
    (0..changed).filter(|&number| is_rejected(number)).count() as u64
}

#[derive(Debug, Serialize)]
struct Measured {
    exchanges: usize,
    by_hand_seconds: f64,
    simutant_seconds: f64,
    /// Traces with an answer that was changed, and how many of them both reject, at the same exchange.
    changed: u64,
    rejected: u64,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let numbers: Vec<usize> = std::env::args().skip(1).map(|argument| argument.parse()).collect::<Result<_, _>>()?;
    let [exchanges, rounds] = numbers[..] else {
        return Err("usage: validators EXCHANGES ROUNDS".into());
    };
    let mut random = Random::from_seed(1);
    let trace = draw(exchanges, &mut random);
    let [mut of_hand, mut of_simutant] = [(); 2].map(|()| vec![f64::INFINITY; exchanges.div_ceil(PART)]);
    for _ in 0..rounds {
        // Who watches a server has what it asks and sees anyway, so copies are not a part of the time.
        time(by_hand(), trace.clone(), &mut of_hand);
        time(simutant(), trace.clone(), &mut of_simutant);
    }
    let measured = Measured {
        exchanges,
        by_hand_seconds: of_hand.iter().sum(),
        simutant_seconds: of_simutant.iter().sum(),
        changed: CHANGED,
        rejected: rejected(CHANGED, &mut random),
    };
    println!("{}", serde_json::to_string(&measured)?);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_accept_what_is_right_and_reject_the_same_answer() {
        let mut random = Random::from_seed(2);
        let trace = draw(5_000, &mut random);
        assert_eq!(first_rejected(by_hand(), trace.clone()), None);
        assert_eq!(first_rejected(simutant(), trace), None);
        assert!((100..250).contains(&rejected(250, &mut random)));
    }
}
