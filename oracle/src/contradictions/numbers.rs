//! Numbers that only some calls can lead to.

use super::{answer, shorter};
use crate::distinct::{Span, Timeline};
use crate::specifications::{counter, lock};
use crate::{Call, End};

/// Returns a call that observed another value of a counter than what was added by then can lead to, with the calls that
/// are known to have added before it; or two calls that observed less than what was there before, if nothing is taken
/// away.
pub(crate) fn counter(initial: i64, calls: &[&Call<counter::Operation, counter::Response>]) -> Option<Vec<usize>> {
    use counter::Operation::{Add, AddAndGet, Read};
    let timeline = Timeline::new(calls, 0);
    let happened = |place: &usize| !matches!(calls[*place].end, End::DidNotHappen { .. });
    let added = |place: usize| match calls[place].operation {
        Read => 0,
        Add(number) | AddAndGet(number) => i128::from(number),
    };
    let all: i128 = (0..calls.len()).filter(happened).map(|place| added(place).abs()).sum();
    if i128::from(initial).abs() + all > i128::from(i64::MAX) {
        // It may start anew.
        return None;
    }
    // The sums of what may have been added, by starts, and of what must have been, by ends: of positive numbers and of
    // negative ones.
    let adds: Vec<usize> = (0..calls.len()).filter(happened).filter(|&place| added(place) != 0).collect();
    let by_start = Sums::new(adds.iter().map(|&place| (timeline.spans[place].start, added(place))));
    let ended = adds.iter().filter(|&&place| answer(calls[place]).is_some());
    let by_end = Sums::new(ended.clone().map(|&place| (timeline.spans[place].end, added(place))));
    // When those that added ended, and those that took away.
    let ends_of = |is_up: bool| {
        let ended = ended.clone().filter(|&&place| (added(place) > 0) == is_up);
        let mut ends: Vec<usize> = ended.map(|&place| timeline.spans[place].end).collect();
        ends.sort_unstable();
        ends
    };
    let (ups, downs) = (ends_of(true), ends_of(false));
    // The wrong answer before which the fewest are known, with these: named at the end, since there may be many answers.
    let mut fewest: Option<(usize, usize, bool)> = None;
    let mut observed: Vec<(Span, i128, usize)> = Vec::new();
    for (place, call) in calls.iter().enumerate() {
        let Some(&counter::Response::Value(value)) = answer(call).filter(|_| !matches!(call.operation, Add(_))) else {
            continue;
        };
        let (span, value) = (timeline.spans[place], i128::from(value));
        observed.push((span, value, place));
        // Its own addition is among the first, and not among the second.
        let own = added(place);
        let (may_up, may_down) = by_start.until(span.end);
        let (must_up, must_down) = by_end.until(span.start);
        let (must_up, must_down) = (must_up + own.max(0), must_down + own.min(0));
        let base = i128::from(initial);
        let is_up = if value > base + may_up + must_down {
            false
        } else if value < base + must_up + may_down {
            true
        } else {
            continue;
        };
        let known = if is_up { &ups } else { &downs }.partition_point(|&end| end < span.start);
        if fewest.is_none_or(|(fewest, ..)| known < fewest) {
            fewest = Some((known, place, is_up));
        }
    }
    let mut found = fewest.map(|(_, place, is_up)| {
        let is_known =
            |add: &usize| timeline.spans[*add].end < timeline.spans[place].start && (added(*add) > 0) == is_up;
        std::iter::once(place).chain(ended.copied().filter(is_known)).collect()
    });
    if adds.iter().all(|&place| added(place) > 0) {
        found = shorter(found, falling(observed, |_, _| false));
    }
    found
}

/// Sums of positive and of negative numbers up to events.
struct Sums(Vec<(usize, i128, i128)>);

impl Sums {
    fn new(added: impl Iterator<Item = (usize, i128)>) -> Self {
        let mut sums: Vec<(usize, i128, i128)> =
            added.map(|(event, number)| (event, number.max(0), number.min(0))).collect();
        sums.sort_unstable();
        let (mut up, mut down) = (0, 0);
        for (_, positive, negative) in &mut sums {
            up += *positive;
            down += *negative;
            (*positive, *negative) = (up, down);
        }
        Self(sums)
    }

    /// Returns the sums of what comes before an event.
    fn until(&self, event: usize) -> (i128, i128) {
        let before = self.0.partition_point(|&(other, ..)| other < event);
        before.checked_sub(1).map_or((0, 0), |last| (self.0[last].1, self.0[last].2))
    }
}

/// Returns two calls of which the second, which comes after the first, observed less; or as much, if that may not be.
fn falling(mut observed: Vec<(Span, i128, usize)>, is_new: impl Fn(usize, usize) -> bool) -> Option<Vec<usize>> {
    observed.sort_by_key(|(span, ..)| span.start);
    let mut by_end = observed.clone();
    by_end.sort_by_key(|(span, ..)| span.end);
    let mut by_end = by_end.into_iter().peekable();
    let mut largest: Option<(i128, usize)> = None;
    for (span, value, place) in observed {
        while let Some((_, value, place)) = by_end.next_if(|(other, ..)| other.end < span.start) {
            largest = largest.max(Some((value, place)));
        }
        if let Some((largest, before)) = largest
            && (value < largest || value == largest && is_new(before, place))
        {
            return Some(vec![before, place]);
        }
    }
    None
}

/// Returns calls on a lease that were told numbers which cannot be: two that were granted one number, a number that is
/// larger than there were grants, or that was granted before, or one after a larger one.
pub(crate) fn fences(granted: u64, calls: &[&Call<lock::Operation, lock::Response>]) -> Option<Vec<usize>> {
    use lock::Operation::Acquire;
    let timeline = Timeline::new(calls, 0);
    let mut starts: Vec<usize> = Vec::new();
    let mut refused: Vec<(usize, usize)> = Vec::new();
    let mut told: Vec<(Span, i128, usize)> = Vec::new();
    let mut found = None;
    for (place, call) in calls.iter().enumerate() {
        let is_acquire = matches!(call.operation, Acquire);
        let may_be_granted =
            !matches!(call.end, End::DidNotHappen { .. } | End::Returned { response: lock::Response::Refused, .. });
        let start = timeline.spans[place].start;
        if is_acquire && may_be_granted {
            starts.push(start);
        } else if is_acquire && answer(call).is_some() {
            refused.push((start, place));
        }
        if let Some(&lock::Response::Granted { fence: Some(fence) }) = answer(call) {
            told.push((timeline.spans[place], i128::from(fence), place));
        }
    }
    starts.sort_unstable();
    refused.sort_unstable();
    let mut grants: Vec<(i128, usize)> = Vec::new();
    // The number that is too large before which the fewest were refused, with how many.
    let mut fewest: Option<(usize, usize)> = None;
    for &(span, fence, place) in &told {
        let grants_max = i128::from(granted) + starts.partition_point(|&start| start < span.end) as i128;
        let is_acquire = matches!(calls[place].operation, Acquire);
        if fence < i128::from(granted) + i128::from(is_acquire) {
            found = shorter(found, Some(vec![place]));
        } else if fence > grants_max {
            let known = refused.partition_point(|&(start, _)| start < span.end);
            if fewest.is_none_or(|(fewest, _)| known < fewest) {
                fewest = Some((known, place));
            }
        }
        grants.extend(is_acquire.then_some((fence, place)));
    }
    // But for their answers those that were refused were granted, too.
    let too_large = fewest.map(|(known, place)| {
        std::iter::once(place).chain(refused[..known].iter().map(|&(_, refused)| refused)).collect()
    });
    found = shorter(found, too_large);
    grants.sort_unstable();
    let twice = grants.windows(2).find(|pair| pair[0].0 == pair[1].0).map(|pair| vec![pair[0].1, pair[1].1]);
    // A new grant has a number of its own.
    let is_new = |_, second: usize| matches!(calls[second].operation, Acquire);
    shorter(shorter(found, twice), falling(told, is_new))
}
