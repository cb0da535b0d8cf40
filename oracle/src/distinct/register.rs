//! Registers whose values are distinct.
//!
//! A write and the reads of its value are a *cluster*. No other write comes between them, so an order of calls is an
//! order of clusters. A cluster comes before another one if one of its calls ended before one of the other's was
//! invoked, that is, if its first end is before the other's last invocation. Between its first end and its last
//! invocation is its *zone*: in a forward zone the first end comes first, and the register has the value all the time;
//! in a backward zone it is the other way round, and the value can come and go at one instant there. There is an order
//! if and only if no two forward zones overlap and no backward zone lies inside a forward one (Gibbons and Korach,
//! 1997); then the clusters in the order in which their zones begin are one.

use std::hash::Hash;

use foldhash::fast::FixedState;
use hashbrown::HashMap;

use super::{Span, Timeline};
use crate::specifications::register::{Operation, Response};
use crate::{Answer, Call, End};

/// A write and the reads of its value.
#[derive(Debug, Default)]
struct Cluster {
    write: Write,
    /// In the order of invocation.
    reads: Vec<usize>,
}

#[derive(Debug, Default, Clone, Copy)]
enum Write {
    #[default]
    Missing,
    /// The register has the value at first.
    Initial,
    Call(usize),
}

/// Returns whether a register explains calls, from an initial value, or `None` if a value is written twice or there is
/// another operation than reads and writes.
pub(crate) fn register<V: Eq + Hash>(
    initial: Option<&V>,
    calls: &[&Call<Operation<V>, Response<V>>],
) -> Option<Answer> {
    let mut numbers: HashMap<Option<&V>, usize, FixedState> = HashMap::with_hasher(FixedState::with_seed(0));
    let mut clusters = vec![Cluster { write: Write::Initial, reads: Vec::new() }];
    numbers.insert(initial, 0);
    for (place, call) in calls.iter().enumerate() {
        let (value, is_write) = match (&call.operation, &call.end) {
            (_, End::DidNotHappen { .. }) | (Operation::Read, End::Unknown) => continue,
            (Operation::Read, End::Returned { response: Response::Value(value), .. }) => (value.as_ref(), false),
            (Operation::Write(value), End::Returned { response: Response::Done, .. } | End::Unknown) => {
                (Some(value), true)
            }
            _ => return None,
        };
        let number = *numbers.entry(value).or_insert(clusters.len());
        if number == clusters.len() {
            clusters.push(Cluster::default());
        }
        let cluster = &mut clusters[number];
        match cluster.write {
            _ if !is_write => cluster.reads.push(place),
            Write::Missing => cluster.write = Write::Call(place),
            Write::Initial | Write::Call(_) => return None,
        }
    }
    let timeline = Timeline::new(calls, 2);
    Some(timeline.answer(|cut| explain(&timeline, &clusters, cut)))
}

/// Returns an order of the calls that ended by a cut.
fn explain(timeline: &Timeline, clusters: &[Cluster], cut: usize) -> Option<Vec<usize>> {
    let mut zones = Vec::with_capacity(clusters.len());
    for (number, cluster) in clusters.iter().enumerate() {
        let mut reads = cluster.reads.iter().filter(|&&read| timeline.has_ended(read, cut)).peekable();
        let write = match cluster.write {
            Write::Missing => None,
            Write::Initial => Some(Span { start: 0, end: 1 }),
            Write::Call(write) => timeline.at(write, cut),
        };
        let is_demanded = matches!(cluster.write, Write::Call(write) if timeline.has_ended(write, cut));
        if !is_demanded && reads.peek().is_none() {
            continue;
        }
        let Span { start, end } = write?;
        let (mut start_last, mut end_first) = (start, end);
        for &read in reads {
            let read = timeline.spans[read];
            if read.end < start {
                return None;
            }
            start_last = start_last.max(read.start);
            end_first = end_first.min(read.end);
        }
        zones.push((end_first.min(start_last), end_first.max(start_last), end_first < start_last, number));
    }
    zones.sort_unstable();
    let mut forward_until = 0;
    for &(low, high, is_forward, _) in &zones {
        if (if is_forward { low } else { high }) < forward_until {
            return None;
        }
        if is_forward {
            forward_until = high;
        }
    }
    let mut order = Vec::new();
    for (.., number) in zones {
        let Cluster { write, reads } = &clusters[number];
        order.extend(match write {
            Write::Call(write) => Some(*write),
            Write::Missing | Write::Initial => None,
        });
        order.extend(reads.iter().copied().filter(|&read| timeline.has_ended(read, cut)));
    }
    Some(order)
}
