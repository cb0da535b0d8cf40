//! The picture for papers: black on white, complete without a script.

use std::collections::BTreeSet;

use maud::{Markup, PreEscaped, html};
use simutant_sim_core::VirtualTime;

use super::layout::{LABEL_MAX, LETTER, Layout, Point, Span};
use super::{Band, Bar, BarEnd, Picture};
use crate::diagram::Caption;
use crate::diagram::units::Unit;
use crate::text::{cut, line, lines};

const STYLE: &str = include_str!("svg.css");

const MARGIN: f64 = 16.0;
/// The height of a row: a label, and the bar below it.
const ROW: f64 = 40.0;
const BAR_HEIGHT: f64 = 10.0;
/// From the top of a row to the middle of its bar.
const BAR_AT: f64 = 27.0;
/// The height of a band's name.
const BAND_ROW: f64 = 17.0;
const LINE: f64 = 17.0;
/// The space for the names of sessions, at most.
const NAMES_MAX: usize = 18;
/// The space between the times of the axis.
const TICK: f64 = 58.0;
/// How many letters of a note have space in any case.
const NOTE_MAX: usize = 110;
/// How many answers are said to be allowed.
const ALLOWED_MAX: usize = 4;

/// Returns the picture of a history.
pub(super) fn picture(picture: &Picture, caption: &Caption) -> String {
    let chart = Chart::new(picture);
    let notes = chart.notes();
    let (width, bottom) = (chart.width(), chart.bottom());
    let height = bottom + LINE * (1 + notes.len()) as f64 + MARGIN;
    let drawing = html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox={ "0 0 " (px(width)) " " (px(height)) } width=(px(width))
            height=(px(height)) role="img" aria-label=(line(&format!("History: {}", caption.title))) {
            title { (lines(&caption.title)) }
            style { (PreEscaped(STYLE)) }
            defs {
                pattern id="hatch" width="5" height="5" patternUnits="userSpaceOnUse" patternTransform="rotate(45)" {
                    rect.page width="5" height="5" {}
                    line.hatch x1="0" y1="0" x2="0" y2="5" {}
                }
            }
            rect.page width="100%" height="100%" {}
            text.title x=(px(MARGIN)) y="26" { (cut(&line(&caption.title), letters(width, 8.0))) }
            text.soft x=(px(MARGIN)) y="44" { (cut(&line(&subtitle(picture, caption)), letters(width, LETTER))) }
            @for (band, span) in picture.bands.iter().zip(&chart.layout.bands) { (chart.band(band, *span)) }
            (chart.axis())
            @for (lane, name) in picture.lanes.iter().enumerate() { (chart.lane(lane, name)) }
            @for place in 0..picture.bars.len() { (chart.bar(place)) }
            (chart.order())
            @for place in 0..picture.bars.len() { (chart.label(place)) }
            (chart.points_of_effect())
            (chart.cross())
            @for (number, note) in notes.iter().enumerate() {
                text.note x=(px(MARGIN)) y=(px(bottom + LINE * (number + 2) as f64)) {
                    (cut(note, letters(width, LETTER)))
                }
            }
        }
    };
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}\n", drawing.into_string())
}

/// Returns how much a picture has of what, in words.
pub(super) fn summary(picture: &Picture) -> String {
    let count = |number: usize, one: &str, many: &str| format!("{number} {}", if number == 1 { one } else { many });
    let calls = count(picture.bars.len(), "call", "calls");
    format!("{calls} of {}", count(picture.lanes.len(), "session", "sessions"))
}

fn subtitle(picture: &Picture, caption: &Caption) -> String {
    let verdict = if caption.verdict.is_empty() { String::new() } else { format!("{}; ", caption.verdict) };
    format!("{verdict}{}", summary(picture))
}

fn letters(width: f64, letter: f64) -> usize {
    ((width - 2.0 * MARGIN) / letter) as usize
}

struct Chart<'a> {
    picture: &'a Picture,
    layout: Layout,
    unit: Unit,
    core: BTreeSet<usize>,
    stuck: Option<usize>,
    /// Where the first moment is.
    left: f64,
    /// Where each lane begins.
    lanes: Vec<f64>,
    bottom: f64,
}

impl<'a> Chart<'a> {
    fn new(picture: &'a Picture) -> Self {
        let layout = Layout::new(picture, 1);
        let names = picture.lanes.iter().map(|name| name.chars().count()).max().unwrap_or(0).min(NAMES_MAX);
        let mut next = 78.0 + layout.band_rows as f64 * BAND_ROW;
        let mut lanes = Vec::new();
        for rows in &layout.lane_rows {
            lanes.push(next);
            next += *rows as f64 * ROW + 6.0;
        }
        Self {
            unit: Unit::for_times_to(VirtualTime::from_nanos(layout.times.last().copied().unwrap_or(0))),
            core: picture.core.iter().map(|core| core.bar).collect(),
            stuck: picture.stuck().map(|(stuck, _)| stuck.bar),
            left: MARGIN + names as f64 * 6.8 + 14.0,
            lanes,
            bottom: next,
            picture,
            layout,
        }
    }

    /// Wide enough for the calls, and for notes of usual length.
    fn width(&self) -> f64 {
        let note = self.notes().iter().map(|note| note.chars().count()).max().unwrap_or(0).min(NOTE_MAX);
        let note = note as f64 * LETTER + 2.0 * MARGIN;
        (self.left + self.layout.width() + 2.0 * MARGIN).max(note).max(420.0)
    }

    /// Where the chart ends and the notes begin.
    fn bottom(&self) -> f64 {
        self.bottom
    }

    fn top(&self) -> f64 {
        72.0
    }

    fn x(&self, rank: usize) -> f64 {
        self.left + self.layout.x.get(rank).copied().unwrap_or(0.0)
    }

    /// Returns where the middle of a bar is, if its lane is there.
    fn y(&self, bar: usize) -> Option<f64> {
        let lane = self.lanes.get(self.picture.bars.get(bar)?.lane)?;
        Some(lane + self.layout.bars[bar].row as f64 * ROW + BAR_AT)
    }

    fn band(&self, band: &Band, span: Span) -> Markup {
        let (from, to) = (self.x(span.from), self.x(span.to));
        let y = self.top() + span.row as f64 * BAND_ROW;
        html! {
            g.band {
                title { (lines(&band.label)) }
                rect.during x=(px(from)) y=(px(y)) width=(px(to - from)) height=(px(self.bottom() - y)) {}
                path.edge d={ "M" (px(from)) "," (px(y)) "V" (px(self.bottom())) } {}
                @if band.to.is_some() { path.edge d={ "M" (px(to)) "," (px(y)) "V" (px(self.bottom())) } {} }
                text.fault x=(px(from + 4.0)) y=(px(y + 12.0)) {
                    (cut(&line(&band.label), ((to - from) / LETTER).max(24.0) as usize))
                }
            }
        }
    }

    /// The times of moments, as far as they have space.
    fn axis(&self) -> Markup {
        let mut free = f64::NEG_INFINITY;
        let mut ticks: Vec<(f64, String)> = Vec::new();
        let moments = self.layout.times.len().saturating_sub(1);
        for (rank, &time) in self.layout.times.iter().enumerate().take(moments) {
            let label = self.unit.label(VirtualTime::from_nanos(time));
            let has_space = self.x(rank) >= free && self.x(rank) + TICK <= self.width();
            if has_space && ticks.last().is_none_or(|(_, last)| *last != label) {
                free = self.x(rank) + TICK;
                ticks.push((self.x(rank), label));
            }
        }
        html! {
            text.soft x=(px(MARGIN)) y="64" { (self.unit.symbol) }
            @for (x, label) in ticks {
                path.tick d={ "M" (px(x)) ",68V" (px(self.bottom())) } {}
                text.soft x=(px(x)) y="64" { (label) }
            }
        }
    }

    fn lane(&self, lane: usize, name: &str) -> Markup {
        let y = self.lanes[lane];
        html! {
            path.lane d={ "M" (px(MARGIN)) "," (px(y)) "H" (px(self.width() - MARGIN)) } {}
            text.name x=(px(MARGIN)) y=(px(y + BAR_AT + 4.0)) { (cut(&line(name), NAMES_MAX)) }
        }
    }

    fn bar(&self, place: usize) -> Markup {
        let (bar, span) = (&self.picture.bars[place], self.layout.bars[place]);
        let Some(y) = self.y(place) else { return html! {} };
        let (from, to) = (self.x(span.from), self.x(span.to));
        let (top, bottom) = (px(y - BAR_HEIGHT / 2.0), px(y + BAR_HEIGHT / 2.0));
        let class = match (&bar.end, Some(place) == self.stuck, self.core.contains(&place)) {
            (_, true, _) => "call stuck",
            (BarEnd::Unknown, _, true) => "call open core",
            (BarEnd::Unknown, _, false) => "call open",
            (BarEnd::DidNotHappen { .. }, ..) => "call not",
            (BarEnd::Answered { .. }, _, true) => "call core",
            (BarEnd::Answered { .. }, _, false) => "call",
        };
        html! {
            g.(class) data-call=(bar.number) data-from=(px(from)) data-to=(px(to)) {
                title { (self.describe(bar)) }
                @if bar.end == BarEnd::Unknown {
                    path.body d={ "M" (px(to)) "," (top) "H" (px(from)) "V" (bottom) "H" (px(to)) } {}
                } @else {
                    path.body d={ "M" (px(from)) "," (top) "H" (px(to)) "V" (bottom) "H" (px(from)) "Z" } {}
                }
            }
        }
    }

    fn label(&self, place: usize) -> Markup {
        let Some(y) = self.y(place) else { return html! {} };
        let x = self.x(self.layout.bars[place].from);
        html! {
            text.label.stuck[Some(place) == self.stuck] x=(px(x)) y=(px(y - 10.0)) {
                (cut(&line(&self.picture.bars[place].label()), LABEL_MAX))
            }
        }
    }

    fn describe(&self, bar: &Bar) -> String {
        let session = self.picture.lanes.get(bar.lane).map_or("", String::as_str);
        let ended = bar.ended().map(|ended| format!(", ended at {}", ended.time)).unwrap_or_default();
        let outcome = bar.outcome();
        lines(&format!(
            "call {} of {session}\n{}\n{outcome}\ninvoked at {}{ended}",
            bar.number, bar.operation, bar.invoked.time
        ))
    }

    /// Returns the points of effect of the first order, with where they are.
    fn points(&self) -> Vec<(&Point, f64, f64)> {
        let points = self.layout.orders.first().into_iter().flatten();
        points.filter_map(|point| Some((point, self.left + point.x, self.y(point.bar)?))).collect()
    }

    /// Draws a line through the points of effect, and one from the last of them to the end of the call that fits
    /// nothing.
    fn order(&self) -> Markup {
        let points = self.points();
        html! {
            @for pair in points.windows(2) {
                @let ((_, x, y), (point, next_x, next_y)) = (&pair[0], &pair[1]);
                path.order.back[point.goes_back] d={ "M" (px(*x)) "," (px(*y)) "L" (px(*next_x)) "," (px(*next_y)) } {}
            }
            @if let (Some((_, last_x, last_y)), Some((x, y))) = (points.last(), self.broken()) {
                path.leads d={ "M" (px(*last_x)) "," (px(*last_y)) "L" (px(x)) "," (px(y)) } {}
            }
        }
    }

    fn points_of_effect(&self) -> Markup {
        html! {
            @for (point, x, y) in self.points() {
                g.effect data-step=(point.step + 1) {
                    circle cx=(px(x)) cy=(px(y)) r="8" {}
                    text.number x=(px(x)) y=(px(y + 3.5)) text-anchor="middle" { (point.step + 1) }
                }
            }
        }
    }

    /// Returns where the order breaks.
    fn broken(&self) -> Option<(f64, f64)> {
        let stuck = self.stuck?;
        Some((self.x(self.layout.bars[stuck].to), self.y(stuck)?))
    }

    fn cross(&self) -> Markup {
        html! {
            @if let Some((x, y)) = self.broken() {
                path.cross d={ "M" (px(x - 6.0)) "," (px(y - 6.0)) "l12,12m0,-12l-12,12" } {}
            }
        }
    }

    /// Returns what is said below the chart.
    fn notes(&self) -> Vec<String> {
        let Some((stuck, bar)) = self.picture.stuck() else { return Vec::new() };
        let mut notes = vec![format!("✕ call {}: {}, which cannot follow", bar.number, line(&bar.label()))];
        for allowed in stuck.allowed.iter().take(ALLOWED_MAX) {
            let reason = allowed.reason.as_ref().map(|reason| format!(": {reason}")).unwrap_or_default();
            notes.push(line(&format!("The specification allows {}{reason}", allowed.answer)));
        }
        if !self.core.is_empty() {
            notes.push("Thick: these calls are impossible together, whatever the others were answered".to_owned());
        }
        notes
    }
}

fn px(value: f64) -> String {
    format!("{value:.1}")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use roxmltree::{Document, Node};

    use super::*;
    use crate::examples::place_without_number;
    use crate::history::examples::{any_picture, lost_write};
    use crate::history::svg;

    fn has_class(node: &Node<'_, '_>, class: &str) -> bool {
        node.attribute("class").is_some_and(|classes| classes.split(' ').any(|one| one == class))
    }

    fn number(node: &Node<'_, '_>, name: &str) -> f64 {
        node.attribute(name).and_then(|value| value.parse().ok()).expect("a number")
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_history_is_a_well_formed_picture_with_every_call(picture in any_picture()) {
            let caption = Caption { title: "a < b & \"c\"\0".to_owned(), ..Caption::default() };
            let text = svg(&picture, &caption);
            let document = Document::parse(&text).expect("well-formed XML");
            let calls: Vec<usize> = document
                .descendants()
                .filter_map(|node| node.attribute("data-call")?.parse().ok())
                .collect();
            let expected: Vec<usize> =
                picture.bars.iter().filter(|bar| bar.lane < picture.lanes.len()).map(|bar| bar.number).collect();
            prop_assert_eq!(calls, expected);
            prop_assert_eq!(place_without_number(&document), None);
            prop_assert_eq!(&text, &svg(&picture, &caption));
        }

        #[test]
        fn an_excerpt_has_what_is_marked_and_no_more_than_is_around_it(
            picture in any_picture(),
            neighbours in 0..4_usize,
        ) {
            let excerpt = picture.excerpt(neighbours);
            let stuck = |picture: &Picture| picture.stuck().map(|(_, bar)| Bar { lane: 0, ..bar.clone() });
            prop_assert_eq!(stuck(&excerpt), stuck(&picture));
            let core = |picture: &Picture| -> Vec<Bar> {
                let bars = picture.core.iter().filter_map(|core| picture.bars.get(core.bar));
                bars.map(|bar| Bar { lane: 0, ..bar.clone() }).collect()
            };
            prop_assert_eq!(core(&excerpt), core(&picture));
            let marked = picture.core.len() + usize::from(picture.stuck.is_some());
            prop_assert!(excerpt.bars.len() <= marked.max(1) * (2 * neighbours + 1));
            Document::parse(&svg(&excerpt, &Caption::default())).expect("well-formed XML");
        }
    }

    #[test]
    fn points_are_drawn_on_their_bars_and_the_break_at_its_end() {
        let text = svg(&lost_write(), &Caption::default());
        let document = Document::parse(&text).expect("well-formed XML");
        let calls: Vec<Node<'_, '_>> = document.descendants().filter(|node| has_class(node, "call")).collect();
        let steps: Vec<&str> = document.descendants().filter_map(|node| node.attribute("data-step")).collect();
        assert_eq!(steps, ["1", "2", "3"]);
        let circles: Vec<f64> =
            document.descendants().filter(|node| node.has_tag_name("circle")).map(|node| number(&node, "cx")).collect();
        for (circle, step) in circles.iter().zip(&lost_write().orders[0].steps) {
            let call = &calls[step.bar];
            assert!((number(call, "data-from")..=number(call, "data-to")).contains(circle));
        }
        assert!(circles.is_sorted());
        let stuck = calls.iter().find(|call| has_class(call, "stuck")).expect("it breaks");
        let cross = document.descendants().find(|node| has_class(node, "cross")).expect("a cross");
        let cross = cross.attribute("d").expect("a path").to_owned();
        assert!(cross.starts_with(&format!("M{:.1},", number(stuck, "data-to") - 6.0)), "{cross}");
        for (class, count) in [("open", 1), ("not", 1), ("core", 2), ("during", 1), ("leads", 1), ("back", 0)] {
            assert_eq!(document.descendants().filter(|node| has_class(node, class)).count(), count, "{class}");
        }
    }

    #[test]
    fn notes_say_what_would_have_been_allowed() {
        let text = svg(&lost_write(), &Caption::default());
        let document = Document::parse(&text).expect("well-formed XML");
        let notes: Vec<&str> =
            document.descendants().filter(|node| has_class(node, "note")).filter_map(|node| node.text()).collect();
        assert_eq!(
            notes,
            [
                "✕ call 4: read → 1, which cannot follow",
                "The specification allows 2: the register has the value 2",
                "Thick: these calls are impossible together, whatever the others were answered",
            ]
        );
    }
}
