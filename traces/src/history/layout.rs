//! Where things are: times from left to right, bars in the rows of their lanes, points of effect in their bars.

use simutant_oracle::{Moment, Time};

use super::{Bar, Picture};

/// The space between two moments, at least.
const GAP: f64 = 10.0;
/// The width of a bar, at least.
const BAR_MIN: f64 = 28.0;
/// The width of a letter at a bar.
pub(super) const LETTER: f64 = 6.3;
/// How many letters of a label have space in any case.
pub(super) const LABEL_MAX: usize = 34;
/// How many calls of a session may be open in rows of their own; more share one.
const OPEN_ROWS_MAX: usize = 2;
/// The space of a point of effect.
const POINT: f64 = 19.0;

/// A moment among all of a picture, by its number from the left.
pub(super) type Rank = usize;

/// Where everything of a picture is.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Layout {
    /// The time of each moment. The last one stands for the end of what is open.
    pub(super) times: Vec<u64>,
    /// How far each moment is from the left, in pixels: as far as labels need.
    pub(super) x: Vec<f64>,
    /// The first and the last moment of each bar.
    pub(super) bars: Vec<Span>,
    /// How many rows each lane has, so that its bars do not cover each other.
    pub(super) lane_rows: Vec<usize>,
    /// The first and the last moment of each band.
    pub(super) bands: Vec<Span>,
    /// How many rows the bands have.
    pub(super) band_rows: usize,
    /// The points of effect of each order, in its order.
    pub(super) orders: Vec<Vec<Point>>,
}

/// From where to where something goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Span {
    pub(super) from: Rank,
    pub(super) to: Rank,
    /// The row among those that are at one time.
    pub(super) row: usize,
    /// Where the next one of its row begins to cover it; `to`, if none does.
    pub(super) covered: Rank,
}

/// Where a call takes effect.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Point {
    pub(super) bar: usize,
    /// Its place among the steps of the order.
    pub(super) step: usize,
    pub(super) x: f64,
    /// Whether it is before the one that comes before it in the order.
    pub(super) goes_back: bool,
}

/// A moment as it is sorted: by time, then by event. Without an event an invocation is before all ends of its time, and
/// an end after all invocations, since neither is known to come first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    time: Time,
    event: u64,
    is_end: bool,
}

impl Key {
    fn begin(moment: Moment) -> Self {
        Self { time: moment.time, event: moment.event.unwrap_or(0), is_end: false }
    }

    fn end(moment: Moment) -> Self {
        Self { time: moment.time, event: moment.event.unwrap_or(u64::MAX), is_end: true }
    }
}

impl Layout {
    pub(super) fn new(picture: &Picture, orders_max: usize) -> Self {
        let of_bars = picture.bars.iter().map(|bar| (Key::begin(bar.invoked), bar.ended().map(Key::end)));
        let of_bands =
            picture.bands.iter().map(|band| (Key::begin(band.from.into()), band.to.map(|to| Key::end(to.into()))));
        let mut keys: Vec<Key> =
            of_bars.clone().chain(of_bands.clone()).flat_map(|(from, to)| [Some(from), to]).flatten().collect();
        keys.sort_unstable();
        keys.dedup();
        let horizon = keys.len();
        let rank = |key: Key| keys.binary_search(&key).unwrap_or(horizon);
        let span = |(from, to): (Key, Option<Key>)| {
            let from = rank(from);
            let to = to.map_or(horizon, rank).max(from);
            Span { from, to, row: 0, covered: to }
        };
        let mut bars: Vec<Span> = of_bars.map(span).collect();
        let mut bands: Vec<Span> = of_bands.map(span).collect();

        let mut lanes: Vec<Vec<usize>> = vec![Vec::new(); picture.lanes.len()];
        for (place, bar) in picture.bars.iter().enumerate() {
            if let Some(lane) = lanes.get_mut(bar.lane) {
                lane.push(place);
            }
        }
        let lane_rows = lanes
            .into_iter()
            .map(|lane| {
                let (open, ended): (Vec<usize>, Vec<usize>) =
                    lane.into_iter().partition(|&bar| bars[bar].to == horizon);
                if open.len() <= OPEN_ROWS_MAX {
                    return pack(&mut bars, [ended, open].concat()).max(1);
                }
                let row = pack(&mut bars, ended);
                share(&mut bars, open, row);
                row + 1
            })
            .collect();
        let all_bands = (0..bands.len()).collect();
        let band_rows = pack(&mut bands, all_bands);

        let steps: Vec<Vec<(usize, usize)>> = (picture.orders.iter().take(orders_max))
            .map(|order| {
                let bars = order.steps.iter().map(|step| step.bar).enumerate();
                bars.filter(|&(_, bar)| picture.bars.get(bar).is_some_and(|bar| bar.lane < picture.lanes.len()))
                    .collect()
            })
            .collect();
        let mut times: Vec<u64> = keys.iter().map(|key| key.time.as_nanos()).collect();
        let (first, last) = (times.first().copied().unwrap_or(0), times.last().copied().unwrap_or(0));
        times.push(last.saturating_add(((last - first) / 24).max(1)));
        let x = columns(times.len(), &bars, &picture.bars, &steps);
        let orders = steps.iter().map(|steps| points(steps, &bars, &x)).collect();
        Self { times, x, bars, lane_rows, bands, band_rows, orders }
    }

    /// Returns where all of it ends, in pixels from the left.
    pub(super) fn width(&self) -> f64 {
        self.x.last().copied().unwrap_or(0.0)
    }
}

/// Gives each of some spans the first row in which no other one is at the same time, and returns how many rows there
/// are.
fn pack(spans: &mut [Span], mut chosen: Vec<usize>) -> usize {
    chosen.sort_by_key(|&place| (spans[place].from, place));
    let mut ends: Vec<Rank> = Vec::new();
    for place in chosen {
        let Span { from, to, .. } = spans[place];
        let row = ends.iter().position(|&end| end < from).unwrap_or(ends.len());
        spans[place].row = row;
        if row == ends.len() {
            ends.push(to);
        } else {
            ends[row] = to;
        }
    }
    ends.len()
}

/// Gives all of some open spans one row, in which each is covered by the next.
fn share(spans: &mut [Span], mut chosen: Vec<usize>, row: usize) {
    chosen.sort_by_key(|&place| (spans[place].from, place));
    for (index, &place) in chosen.iter().enumerate() {
        spans[place].row = row;
        if let Some(&next) = chosen.get(index + 1) {
            spans[place].covered = spans[next].from;
        }
    }
}

/// Returns where moments are, so that labels fit into bars and points of effect beside each other.
fn columns(ranks: usize, spans: &[Span], bars: &[Bar], orders: &[Vec<(usize, usize)>]) -> Vec<f64> {
    // By the moment at which it ends, what needs space.
    let mut needs: Vec<Vec<(Rank, f64)>> = vec![Vec::new(); ranks];
    for (span, bar) in spans.iter().zip(bars) {
        let letters = bar.label().chars().count().min(LABEL_MAX);
        needs[span.covered].push((span.from, (letters as f64 * LETTER + 12.0).max(BAR_MIN)));
    }
    for order in orders {
        for part in parts(order, spans) {
            let bounds = bounds(part, spans);
            for group in bounds.chunk_by(|one, other| one == other) {
                needs[group[0].1].push((group[0].0, (group.len() + 1) as f64 * POINT));
            }
        }
    }
    let mut x: Vec<f64> = Vec::with_capacity(ranks);
    for needs in &needs {
        let after = x.last().map_or(0.0, |before| before + GAP);
        let free = needs.iter().filter_map(|&(from, width)| Some(x.get(from)? + width));
        x.push(free.fold(after, f64::max));
    }
    x
}

/// Returns the parts of an order in which no call comes after one that was invoked when it had ended.
fn parts<'o>(order: &'o [(usize, usize)], spans: &[Span]) -> Vec<&'o [(usize, usize)]> {
    let mut parts = Vec::new();
    let (mut begin, mut invoked) = (0, 0);
    for (place, &(_, bar)) in order.iter().enumerate() {
        if place > begin && spans[bar].to <= invoked {
            parts.push(&order[begin..place]);
            (begin, invoked) = (place, 0);
        }
        invoked = invoked.max(spans[bar].from);
    }
    if begin < order.len() {
        parts.push(&order[begin..]);
    }
    parts
}

/// Returns between which moments each call of a part has to take effect: after the invocations of those before it, and
/// before the ends of those after it.
fn bounds(part: &[(usize, usize)], spans: &[Span]) -> Vec<(Rank, Rank)> {
    let mut earliest = 0;
    let mut bounds: Vec<(Rank, Rank)> = (part.iter())
        .map(|&(_, bar)| {
            earliest = earliest.max(spans[bar].from);
            (earliest, spans[bar].to)
        })
        .collect();
    let mut latest = Rank::MAX;
    for bound in bounds.iter_mut().rev() {
        latest = latest.min(bound.1);
        bound.1 = latest;
    }
    bounds
}

/// Returns the points of effect of an order.
fn points(order: &[(usize, usize)], spans: &[Span], x: &[f64]) -> Vec<Point> {
    let mut points: Vec<Point> = Vec::with_capacity(order.len());
    for (number, part) in parts(order, spans).into_iter().enumerate() {
        let bounds = bounds(part, spans);
        let mut before = f64::NEG_INFINITY;
        for (place, (&(step, bar), &(earliest, latest))) in part.iter().zip(&bounds).enumerate() {
            // Those from here on that may have to share the space up to `latest`.
            let others = bounds.partition_point(|bound| bound.0 < latest).max(place + 1) - place;
            let low = x[earliest].max(before);
            let at = low + (x[latest] - low) / (others + 1) as f64;
            points.push(Point { bar, step, x: at, goes_back: number > 0 && place == 0 });
            before = at;
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::history::examples::any_picture;
    use crate::history::{BarEnd, ExplainedOrder, Step};

    fn bar(lane: usize, from: u64, to: Option<u64>) -> Bar {
        let at = |nanos| Moment::from(Time::from_nanos(nanos));
        let end = to.map_or(BarEnd::Unknown, |to| BarEnd::Answered { at: at(to), answer: String::new() });
        Bar { number: 0, lane, operation: String::new(), invoked: at(from), end }
    }

    fn picture(bars: Vec<Bar>, order: &[usize]) -> Picture {
        let steps = order.iter().map(|&bar| Step { bar, ..Step::default() }).collect();
        let orders = vec![ExplainedOrder { name: String::new(), steps }];
        Picture { lanes: vec!["a".to_owned(), "b".to_owned()], bars, orders, ..Picture::default() }
    }

    /// Returns whether one bar ends before another one begins.
    fn precedes(one: &Bar, other: &Bar) -> bool {
        one.ended().is_some_and(|ended| ended.is_before(other.invoked))
    }

    proptest! {
        #[test]
        fn a_bar_lies_within_its_times_and_moments_are_in_order(picture in any_picture()) {
            let layout = Layout::new(&picture, usize::MAX);
            prop_assert!(layout.times.is_sorted());
            prop_assert!(layout.x.windows(2).all(|pair| pair[1] - pair[0] > GAP - 0.001));
            for (bar, span) in picture.bars.iter().zip(&layout.bars) {
                prop_assert_eq!(layout.times[span.from], bar.invoked.time.as_nanos());
                match bar.ended() {
                    Some(ended) if !ended.is_before(bar.invoked) => {
                        prop_assert_eq!(layout.times[span.to], ended.time.as_nanos());
                    }
                    // A call that ends too early has no width.
                    Some(_) => prop_assert_eq!(span.to, span.from),
                    None => prop_assert_eq!(span.to, layout.times.len() - 1),
                }
            }
        }

        #[test]
        fn of_two_bars_one_is_left_of_the_other_if_it_precedes_it(picture in any_picture()) {
            let layout = Layout::new(&picture, usize::MAX);
            for (one, first) in picture.bars.iter().zip(&layout.bars) {
                for (other, second) in picture.bars.iter().zip(&layout.bars) {
                    let is_whole = |bar: &Bar| bar.ended().is_none_or(|ended| !ended.is_before(bar.invoked));
                    if is_whole(one) && precedes(one, other) {
                        prop_assert!(first.to < second.from);
                    }
                }
            }
        }

        #[test]
        fn bars_of_a_row_cover_each_other_only_if_they_are_open(picture in any_picture()) {
            let layout = Layout::new(&picture, usize::MAX);
            let horizon = layout.times.len() - 1;
            let drawn = picture.bars.iter().zip(layout.bars.iter().copied());
            let drawn: Vec<(&Bar, Span)> = drawn.filter(|(bar, _)| bar.lane < picture.lanes.len()).collect();
            for (place, (bar, span)) in drawn.iter().enumerate() {
                prop_assert!(span.row < layout.lane_rows[bar.lane]);
                prop_assert!(span.covered == span.to || span.to == horizon);
                for (other, other_span) in &drawn[place + 1..] {
                    let is_first = span.from <= other_span.from;
                    let (first, second) = if is_first { (span, other_span) } else { (other_span, span) };
                    let is_apart = first.to < second.from || first.to == horizon && first.covered <= second.from;
                    prop_assert!(bar.lane != other.lane || span.row != other_span.row || is_apart);
                }
            }
        }

        #[test]
        fn points_are_within_their_bars_and_go_on_unless_the_order_goes_back(picture in any_picture()) {
            let layout = Layout::new(&picture, usize::MAX);
            for points in &layout.orders {
                for point in points {
                    let span = layout.bars[point.bar];
                    prop_assert!(layout.x[span.from] <= point.x && point.x <= layout.x[span.to]);
                }
                for pair in points.windows(2) {
                    prop_assert!(pair[1].goes_back || pair[0].x <= pair[1].x, "{points:?}");
                }
            }
        }

        #[test]
        fn points_of_an_order_that_agrees_with_the_times_increase(
            times in prop::collection::vec((0..2_usize, 0..40_u64, 0..40_u64, any::<bool>()), 1..12),
            places in prop::collection::vec(0..1000_u64, 12),
        ) {
            let ended = |from: u64, length: u64, is_open: bool| (!is_open).then_some(from + length);
            let drawn = times.iter().map(|&(lane, from, length, open)| bar(lane, from, ended(from, length, open)));
            let bars: Vec<Bar> = drawn.collect();
            // Effects somewhere within the calls: their order agrees with the times.
            let effect = |&place: &usize| {
                let (_, from, length, is_open) = times[place];
                (from * 1000 + places[place] * if is_open { 50 } else { length }, place)
            };
            let mut order: Vec<usize> = (0..bars.len()).collect();
            order.sort_by_key(effect);
            let layout = Layout::new(&picture(bars, &order), usize::MAX);
            let points = &layout.orders[0];
            prop_assert_eq!(points.iter().map(|point| point.bar).collect::<Vec<_>>(), order);
            for pair in points.windows(2) {
                prop_assert!(pair[0].x < pair[1].x && !pair[1].goes_back);
            }
            for point in points {
                let span = layout.bars[point.bar];
                prop_assert!(layout.x[span.from] < point.x && point.x < layout.x[span.to]);
            }
        }
    }

    #[test]
    fn an_order_against_the_times_goes_back_once() {
        let bars = vec![bar(0, 0, Some(1)), bar(1, 2, Some(3)), bar(0, 4, Some(5))];
        let layout = Layout::new(&picture(bars, &[1, 0, 2]), usize::MAX);
        let goes_back: Vec<bool> = layout.orders[0].iter().map(|point| point.goes_back).collect();
        assert_eq!(goes_back, [false, true, false]);
    }

    #[test]
    fn many_points_of_one_time_have_space() {
        let bars = (0..20).map(|_| bar(0, 0, Some(9))).collect();
        let layout = Layout::new(&picture(bars, &Vec::from_iter(0..20)), usize::MAX);
        assert!(layout.orders[0].windows(2).all(|pair| pair[1].x - pair[0].x >= POINT - 0.001));
        assert_eq!(layout.lane_rows, [20, 1]);
    }
}
