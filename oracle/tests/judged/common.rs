//! Histories made at random, and a judge that tries all orders.

use simutant_oracle::{Call, End, History, Mode, Moment, Open, Order, Revision, Session, Specification, Time};
use simutant_random::Random;

/// What kinds of calls histories have.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Shape {
    pub(crate) calls_max: u64,
    pub(crate) sessions: u64,
    /// Of ten calls, how many have no known end.
    pub(crate) unknown: u64,
    /// Whether an answer may be replaced by one from another run.
    pub(crate) may_be_wrong: bool,
}

/// Returns a history of a service that does as the specification says, or nearly.
///
/// `operation` and `response` make up an operation, and an answer that need not be right.
pub(crate) fn history<S>(
    random: &mut Random,
    shape: Shape,
    initial: &S,
    operation: impl Fn(&mut Random) -> S::Operation,
    response: impl Fn(&mut Random, &S::Operation) -> S::Response,
) -> History<S::Operation, S::Response>
where
    S: Specification,
    S::Response: Clone,
{
    let count = random.uniform(1..=shape.calls_max);
    // Each call has an invocation, an effect and an end, in this order, at places of a common row.
    let mut row: Vec<u64> = (0..count).flat_map(|call| [call; 3]).collect();
    for place in (1..row.len()).rev() {
        row.swap(place, random.uniform(0..=place as u64) as usize);
    }
    let mut seen = vec![0; count as usize];
    let mut calls: Vec<Option<Call<S::Operation, S::Response>>> = (0..count).map(|_| None).collect();
    let mut answers: Vec<Option<S::Response>> = (0..count).map(|_| None).collect();
    let mut state = initial.clone();
    let mut revision = 0;
    for (time, &number) in (0..).zip(&row) {
        let number = number as usize;
        // Times are coarse, so that some events are at one.
        let at = Moment { time: Time::from_nanos(time / 2), event: (random.uniform(0..=3_u64) > 0).then_some(time) };
        seen[number] += 1;
        match seen[number] {
            1 => {
                let mode = if random.uniform(0..=1_u64) == 0 { Mode::Synchronous } else { Mode::Asynchronous };
                let session = Session(random.uniform(1..=shape.sessions));
                let call = Call::new(session, operation(random), at, End::Unknown);
                calls[number] = Some(Call { mode, ..call });
            }
            2 => {
                let call = calls[number].as_mut().expect("it was invoked");
                let mut decide = |options: usize| random.uniform(0..=options as u64 - 1) as usize;
                let answer = state.step(call.session, &call.operation, &mut Open::decided_by(&mut decide));
                answers[number] = Some(answer);
                revision += random.uniform(0..=1_u64);
                call.revision = (random.uniform(0..=2_u64) > 0).then_some(Revision(revision));
            }
            _ => {
                let call = calls[number].as_mut().expect("it was invoked");
                let is_wrong = shape.may_be_wrong && random.uniform(0..=5_u64) == 0;
                let made_up = is_wrong.then(|| response(random, &call.operation));
                let response = made_up.or(answers[number].take()).expect("it had its effect");
                call.end = match random.uniform(0..=19_u64) {
                    0 => End::DidNotHappen { at },
                    chosen if chosen < 2 * shape.unknown => End::Unknown,
                    _ => End::Returned { at, response },
                };
            }
        }
    }
    History::from_calls(calls.into_iter().flatten().collect()).expect("calls end after their invocations")
}

/// Returns whether a call was taken before another one, for a reason of the two alone.
pub(crate) fn puts<O, R>(order: &Order, calls: &[&Call<O, R>], places: &[usize], one: usize, other: usize) -> bool {
    let (a, b) = (calls[one], calls[other]);
    let is_synchronous = a.mode == Mode::Synchronous && b.mode == Mode::Synchronous;
    (order.real_time && a.end.at().is_some_and(|end| end.is_before(b.invoked)))
        || (order.sessions && one < other && a.session == b.session)
        || (order.synchronous && one < other && is_synchronous)
        || (order.revisions
            && [a, b].iter().all(|call| call.end.response().is_some())
            && matches!((a.revision, b.revision), (Some(a), Some(b)) if a < b))
        || order.pairs.contains(&(places[one], places[other]))
}

/// Returns whether a specification explains a history, by trying all orders.
pub(crate) fn brute_force<S: Specification>(
    history: &History<S::Operation, S::Response>,
    initial: &S,
    order: &Order,
) -> bool {
    let happened = |call: &&(usize, &Call<S::Operation, S::Response>)| !matches!(call.1.end, End::DidNotHappen { .. });
    let kept: Vec<_> = history.calls().iter().enumerate().collect();
    let (places, calls): (Vec<usize>, Vec<&Call<_, _>>) = kept.iter().filter(happened).copied().unzip();
    let before: Vec<Vec<bool>> = (0..calls.len())
        .map(|other| (0..calls.len()).map(|one| puts(order, &calls, &places, one, other)).collect())
        .collect();
    place(&calls, &before, &mut vec![false; calls.len()], initial)
}

fn place<S: Specification>(
    calls: &[&Call<S::Operation, S::Response>],
    before: &[Vec<bool>],
    placed: &mut Vec<bool>,
    state: &S,
) -> bool {
    if calls.iter().zip(&*placed).all(|(call, placed)| *placed || call.end.response().is_none()) {
        return true;
    }
    for next in 0..calls.len() {
        let waits = |one: usize| before[next][one] && !placed[one] && calls[one].end.response().is_some();
        let is_late = |other: usize| before[other][next] && placed[other];
        if placed[next] || (0..calls.len()).any(|call| waits(call) || is_late(call)) {
            continue;
        }
        for after in outcomes(state, calls[next]) {
            placed[next] = true;
            if place(calls, before, placed, &after) {
                placed[next] = false;
                return true;
            }
            placed[next] = false;
        }
    }
    false
}

/// Returns the states after a call whose answers agree with what was observed.
pub(crate) fn outcomes<S: Specification>(state: &S, call: &Call<S::Operation, S::Response>) -> Vec<S> {
    let mut outcomes = Vec::new();
    // The choices so far, each with its number of options.
    let mut script: Vec<(usize, usize)> = Vec::new();
    loop {
        let mut after = state.clone();
        let mut next = 0;
        let mut decide = |options: usize| {
            if next == script.len() {
                script.push((0, options));
            }
            next += 1;
            script[next - 1].0
        };
        let mut open = Open::decided_by(&mut decide);
        let expected = after.step(call.session, &call.operation, &mut open);
        let observed = call.end.response();
        if observed.is_none_or(|observed| after.agrees(&call.operation, &expected, observed, &mut open)) {
            outcomes.push(after);
        }
        while script.last().is_some_and(|&(chosen, options)| chosen + 1 == options) {
            script.pop();
        }
        let Some(last) = script.last_mut() else { return outcomes };
        last.0 += 1;
    }
}
