//! Histories made at random, and a judge that tries all orders. The tests of `oracle/` have this file, too.

use std::collections::HashSet;
use std::hash::{BuildHasherDefault, DefaultHasher};

use simutant_oracle::{
    Call, Compared, End, Filter, Footprint, History, Mode, Moment, Open, Order, Regions, Revision, Session,
    Specification, Time,
};
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

/// Returns one of several, each as likely.
pub(crate) fn one_of<T: Clone>(random: &mut Random, options: &[T]) -> T {
    options[random.uniform(0..=options.len() as u64 - 1) as usize].clone()
}

/// Returns a history of a service that does as the specification says, or nearly.
///
/// `operation` and `response` make up an operation, and an answer that need not be right.
pub(crate) fn history<S>(
    random: &mut Random,
    shape: Shape,
    initial: &S,
    operation: impl FnMut(&mut Random) -> S::Operation,
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
    history_of(random, &row, shape, initial, operation, response)
}

/// The same, of calls whose invocations, effects and ends are at the places where a row has their numbers.
pub(crate) fn history_of<S>(
    random: &mut Random,
    row: &[u64],
    shape: Shape,
    initial: &S,
    mut operation: impl FnMut(&mut Random) -> S::Operation,
    response: impl Fn(&mut Random, &S::Operation) -> S::Response,
) -> History<S::Operation, S::Response>
where
    S: Specification,
    S::Response: Clone,
{
    let count = row.len() / 3;
    let mut seen = vec![0; count];
    let mut calls: Vec<Option<Call<S::Operation, S::Response>>> = (0..count).map(|_| None).collect();
    let mut answers: Vec<Option<S::Response>> = (0..count).map(|_| None).collect();
    let mut state = initial.clone();
    let mut revision = 0;
    for (time, &number) in (0..).zip(row) {
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
                let mut answer = state.step(call.session, &call.operation, &mut Open::decided_by(&mut decide));
                // Of answers that a client may see for it, not always that of the step.
                for _ in 0..3 {
                    let other = response(random, &call.operation);
                    let mut after = state.clone();
                    let mut decide = |options: usize| random.uniform(0..=options as u64 - 1) as usize;
                    if after.agrees(&call.operation, &answer, &other, &mut Open::decided_by(&mut decide)) {
                        (state, answer) = (after, other);
                        break;
                    }
                }
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

/// What the judge has to do with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// It must be placed. Whether its answer has to agree.
    Must(bool),
    /// It may be placed, and what it precedes waits for it. Whether its answer has to agree.
    May(bool),
    /// It may be placed, and nothing waits for it.
    Free,
    /// It has no effect.
    Out,
}

/// Returns whether a call was taken before another one, for a reason of the two alone.
fn puts<O, R>(order: &Order, calls: &[Call<O, R>], one: usize, other: usize) -> bool {
    let (a, b) = (&calls[one], &calls[other]);
    let is_synchronous = a.mode == Mode::Synchronous && b.mode == Mode::Synchronous;
    (order.real_time && a.end.at().is_some_and(|end| end.is_before(b.invoked)))
        || (order.sessions && one < other && a.session == b.session)
        || (order.synchronous && one < other && is_synchronous)
        || (order.revisions
            && [a, b].iter().all(|call| call.end.response().is_some())
            && matches!((a.revision, b.revision), (Some(a), Some(b)) if a < b))
        || order.pairs.contains(&(one, other))
}

/// Returns which calls were taken before which other ones: `[other][one]` of `one` before `other`.
fn precedence<O, R>(order: &Order, calls: &[Call<O, R>]) -> Vec<Vec<bool>> {
    let before = |other| (0..calls.len()).map(move |one| one != other && puts(order, calls, one, other)).collect();
    (0..calls.len()).map(before).collect()
}

/// Returns an order whose pairs are closed over calls that did not happen, or may not have.
pub(crate) fn closed<O, R>(order: &Order, history: &History<O, R>) -> Order {
    let mut order = order.clone();
    for (place, call) in history.calls().iter().enumerate() {
        if call.end.response().is_some() {
            continue;
        }
        let pairs = order.pairs.clone();
        for before in pairs.iter().filter(|pair| pair.1 == place) {
            for after in pairs.iter().filter(|pair| pair.0 == place) {
                order.pairs.push((before.0, after.1));
            }
        }
    }
    order
}

/// Returns whether a specification explains a history, by trying all orders.
pub(crate) fn brute_force<S: Specification>(
    history: &History<S::Operation, S::Response>,
    initial: &S,
    order: &Order,
) -> bool {
    brute_force_compared(history, initial, order, |_| true)
}

/// The same, where only the answers to some calls have to agree.
pub(crate) fn brute_force_compared<S: Specification>(
    history: &History<S::Operation, S::Response>,
    initial: &S,
    order: &Order,
    is_compared: impl Fn(usize) -> bool,
) -> bool {
    tried(history, initial, order, |place| Part::Must(is_compared(place)))
}

/// Returns whether a specification explains some calls, with others before them or without, by trying all orders.
pub(crate) fn brute_force_some<S: Specification>(
    history: &History<S::Operation, S::Response>,
    initial: &S,
    order: &Order,
    is_demanded: impl Fn(usize) -> bool,
) -> bool {
    tried(history, initial, order, |place| if is_demanded(place) { Part::Must(true) } else { Part::May(true) })
}

/// Tries all orders, with what each call that returned is to an explanation.
fn tried<S: Specification>(
    history: &History<S::Operation, S::Response>,
    initial: &S,
    order: &Order,
    returned: impl Fn(usize) -> Part,
) -> bool {
    let calls = history.calls();
    let part = |(place, call): (usize, &Call<_, _>)| match call.end {
        End::Returned { .. } => returned(place),
        End::Unknown => Part::Free,
        End::DidNotHappen { .. } => Part::Out,
    };
    let parts: Vec<Part> = calls.iter().enumerate().map(part).collect();
    let before = precedence(&closed(order, history), calls);
    place(calls, &parts, &before, &mut vec![false; calls.len()], initial, &mut Failed::default())
}

/// Returns whether a specification explains each call of a history by itself, by trying all orders.
///
/// A call that cannot come before it is left out, and others may be; those that the filter leaves out are, but not what
/// they put before others. `compared` says whether all answers have to agree.
pub(crate) fn brute_force_each<S: Specification>(
    history: &History<S::Operation, S::Response>,
    initial: &S,
    order: &Order,
    compared: Compared,
    filter: Filter,
) -> bool {
    explains_each(history, initial, order, compared, filter, true)
}

/// The same, where calls that are left out put nothing in order.
pub(crate) fn brute_force_each_apart<S: Specification>(
    history: &History<S::Operation, S::Response>,
    initial: &S,
    order: &Order,
    compared: Compared,
    filter: Filter,
) -> bool {
    explains_each(history, initial, order, compared, filter, false)
}

fn explains_each<S: Specification>(
    history: &History<S::Operation, S::Response>,
    initial: &S,
    order: &Order,
    compared: Compared,
    filter: Filter,
    is_through: bool,
) -> bool {
    let calls = history.calls();
    let is_strict = compared == Compared::All;
    let direct = precedence(&closed(order, history), calls);
    let returned = |call: usize| calls[call].end.response().is_some();
    let reach = through(&direct, returned);
    (0..calls.len()).filter(|&target| returned(target)).all(|target| {
        let footprint = |place: usize| {
            let observed = calls[place].end.response().filter(|_| is_strict || place == target);
            S::footprint(&calls[place].operation, observed)
        };
        let footprints: Vec<Footprint> = (0..calls.len()).map(footprint).collect();
        let kept = kept(&footprints, &reach, target, filter);
        let part = |call: usize| match calls[call].end {
            _ if call == target => Part::Must(true),
            _ if reach[call][target] || !kept[call] => Part::Out,
            End::DidNotHappen { .. } => Part::Out,
            End::Returned { .. } if reach[target][call] => Part::Must(is_strict),
            End::Returned { .. } => Part::May(is_strict),
            End::Unknown => Part::Free,
        };
        let parts: Vec<Part> = (0..calls.len()).map(part).collect();
        let before = through(&direct, |middle| is_through && !kept[middle] && returned(middle));
        place(calls, &parts, &before, &mut vec![false; calls.len()], initial, &mut Failed::default())
    })
}

/// Returns whether an order puts some call before itself.
pub(crate) fn is_contradictory<O, R>(order: &Order, history: &History<O, R>) -> bool {
    let reach = through(&precedence(&closed(order, history), history.calls()), |_| true);
    (0..reach.len()).any(|call| reach[call][call])
}

/// Returns what comes before what, also by way of some calls.
fn through(direct: &[Vec<bool>], is_way: impl Fn(usize) -> bool) -> Vec<Vec<bool>> {
    let calls = direct.len();
    let mut reach = direct.to_vec();
    for middle in (0..calls).filter(|&middle| is_way(middle)) {
        for (other, one) in (0..calls).flat_map(|other| (0..calls).map(move |one| (other, one))) {
            reach[other][one] |= reach[other][middle] && reach[middle][one];
        }
    }
    reach
}

/// Returns which calls a filter keeps, where the answer of one is explained. `reach` is what comes before what.
fn kept(footprints: &[Footprint], reach: &[Vec<bool>], target: usize, filter: Filter) -> Vec<bool> {
    let matters = |place: usize, to: usize| {
        let Footprint { writes, updates, .. } = &footprints[place];
        [writes, updates].iter().any(|changed| changed.meets(&footprints[to].reads))
    };
    let all = 0..footprints.len();
    let mut kept: Vec<bool> = all
        .clone()
        .map(|place| match filter {
            Filter::None => true,
            Filter::Reads => {
                let is_read = matches!(footprints[place].writes, Regions::None);
                place == target || !is_read || all.clone().any(|other| matters(place, other))
            }
            Filter::Unrelated => place == target,
        })
        .collect();
    if filter == Filter::Unrelated {
        // A call that can come before a kept one, and before the target, and changes what the kept one looks at, is kept.
        // What may change everything may change what later calls look at.
        let is_in_time = |place: usize, one: usize| {
            let is_late = reach[place][one] && footprints[one] != Footprint::everything();
            !is_late && !reach[place][target]
        };
        while let Some(more) = all.clone().find(|&place| {
            !kept[place] && all.clone().any(|one| kept[one] && matters(place, one) && is_in_time(place, one))
        }) {
            kept[more] = true;
        }
    }
    kept
}

/// Returns whether a specification explains each read of a history together with all changes, by trying all orders.
///
/// The order is one that says the same of two calls whatever calls are left out.
pub(crate) fn brute_force_each_read<S: Specification>(
    history: &History<S::Operation, S::Response>,
    initial: &S,
    order: &Order,
) -> bool
where
    S::Operation: Clone,
    S::Response: Clone,
{
    let calls = history.calls();
    let is_read = |call: &Call<S::Operation, S::Response>| {
        let observed = call.end.response();
        observed.is_some() && S::footprint(&call.operation, observed).is_read()
    };
    let reads = (0..calls.len()).filter(|&place| is_read(&calls[place]));
    reads.map(Some).chain([None]).all(|target| {
        let is_kept = |&place: &usize| Some(place) == target || !is_read(&calls[place]);
        let kept = (0..calls.len()).filter(is_kept).map(|place| calls[place].clone()).collect();
        brute_force(&History::from_calls(kept).expect("ends are as they were"), initial, order)
    })
}

/// Calls that were placed and the state after them, from where the others cannot be placed. Hashes are the same in each
/// run, so that runs repeat.
type Failed<S> = HashSet<(Vec<bool>, S), BuildHasherDefault<DefaultHasher>>;

/// Returns whether the calls that are left can be placed. What has failed is not tried again.
fn place<S: Specification>(
    calls: &[Call<S::Operation, S::Response>],
    parts: &[Part],
    before: &[Vec<bool>],
    placed: &mut Vec<bool>,
    state: &S,
    failed: &mut Failed<S>,
) -> bool {
    if parts.iter().zip(&*placed).all(|(part, placed)| *placed || !matches!(part, Part::Must(_))) {
        return true;
    }
    // It is there before all of it has been tried, but nothing that comes after it has as few calls.
    if !failed.insert((placed.clone(), state.clone())) {
        return false;
    }
    for next in 0..calls.len() {
        let waits =
            |one: usize| before[next][one] && !placed[one] && matches!(parts[one], Part::Must(_) | Part::May(_));
        let is_late = |other: usize| before[other][next] && placed[other];
        if placed[next] || parts[next] == Part::Out || (0..calls.len()).any(|call| waits(call) || is_late(call)) {
            continue;
        }
        let is_compared = matches!(parts[next], Part::Must(true) | Part::May(true));
        for after in outcomes(state, &calls[next], is_compared) {
            placed[next] = true;
            let is_possible = place(calls, parts, before, placed, &after, failed);
            placed[next] = false;
            if is_possible {
                return true;
            }
        }
    }
    false
}

/// Returns whether calls can have been taken in an order: what a witness claims of them.
pub(crate) fn agree<S: Specification>(
    history: &History<S::Operation, S::Response>,
    initial: &S,
    order: &Order,
    witness: &[usize],
) -> bool {
    let calls = history.calls();
    let before = precedence(&closed(order, history), calls);
    let mut states = vec![initial.clone()];
    for (at, &place) in witness.iter().enumerate() {
        if matches!(calls[place].end, End::DidNotHappen { .. }) || witness[..at].contains(&place) {
            return false;
        }
        states = states.iter().flat_map(|state| outcomes(state, &calls[place], true)).collect();
    }
    let is_ordered =
        witness.iter().enumerate().all(|(at, &other)| witness[at + 1..].iter().all(|&one| !before[other][one]));
    is_ordered && !states.is_empty()
}

/// Returns the states after a call, if it is compared those whose answers agree with what was observed.
fn outcomes<S: Specification>(state: &S, call: &Call<S::Operation, S::Response>, is_compared: bool) -> Vec<S> {
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
        let observed = call.end.response().filter(|_| is_compared);
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
