//! Priority queues whose values are distinct.
//!
//! A value can be taken in a gap if no larger one must be there. So the largest comes as late and goes as early as its
//! calls allow, which is best for all others; the next one as late and as early as its calls and the gaps of the larger
//! one allow; and so on. A take that found nothing comes last: it needs a gap in which no value is there.

use super::containers::{Stay, Stays};

/// A value goes before those that are smaller.
pub(super) const fn ages(number: usize, _: &Stay) -> (usize, usize) {
    (number, number)
}

/// When a call takes effect within a gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Phase {
    /// Values go: the largest, which is the first from the top, first. What comes and goes at one instant does so here.
    Goes {
        from_top: usize,
        is_take: bool,
    },
    FindsNothing,
    Comes,
}

/// Returns an order of the calls, if a queue by priority explains them. The values are in order.
///
/// Cost: O(n log n).
pub(super) fn explain(stays: &Stays) -> Option<Vec<usize>> {
    let mut free = FreeGaps::new(stays.length + 2);
    let mut order = Vec::new();
    for (from_top, stay) in stays.stays.iter().rev().enumerate() {
        let gap = free.first_from(stay.take.start + 1);
        if gap > stay.take.end {
            return None;
        }
        let put = if gap <= stay.put.end {
            (gap, Phase::Goes { from_top, is_take: false })
        } else {
            free.take(stay.put.end + 1, gap);
            (stay.put.end, Phase::Comes)
        };
        order.extend(stay.put_call.map(|call| (put, call)));
        let take = (gap, Phase::Goes { from_top, is_take: true });
        order.extend(stay.take_call.filter(|_| gap <= stays.length).map(|call| (take, call)));
    }
    for &(span, place) in &stays.found_nothing {
        let gap = free.first_from(span.start + 1);
        if gap > span.end {
            return None;
        }
        order.push(((gap, Phase::FindsNothing), place));
    }
    order.sort_unstable();
    Some(order.into_iter().map(|(_, place)| place).collect())
}

/// Gaps in which no value is there. Each gap knows one that is not before it and not after the first free one from it
/// on; a free gap knows itself.
struct FreeGaps(Vec<usize>);

impl FreeGaps {
    fn new(gaps: usize) -> Self {
        Self((0..gaps).collect())
    }

    fn first_from(&mut self, mut gap: usize) -> usize {
        while self.0[gap] != gap {
            self.0[gap] = self.0[self.0[gap]];
            gap = self.0[gap];
        }
        gap
    }

    /// Takes the gaps from `first` on that are before `until`.
    fn take(&mut self, first: usize, until: usize) {
        let mut gap = self.first_from(first);
        while gap < until {
            self.0[gap] = gap + 1;
            gap = self.first_from(gap + 1);
        }
    }
}
