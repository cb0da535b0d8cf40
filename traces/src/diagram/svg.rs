//! The picture.

use maud::{Markup, PreEscaped, html};
use simutant_sim_core::trace::Transport;

use super::Caption;
use super::look::{self, Feature, Symbol};
use super::units::Unit;
use crate::sequence::{Flight, FlightEnd, FlightOrigin, Life, Mark, Port, Separation, Sequence, Sign, State};
use crate::text::{cut, line, lines};

const STYLE: &str = include_str!("svg.css");

const MARGIN: f64 = 24.0;
/// The space for times, left of the first lifeline's column.
const AXIS: f64 = 96.0;
const ROW: f64 = 24.0;
/// The space for what is written beside the last lifeline.
const RIGHT: f64 = 190.0;
const BOX_HEIGHT: f64 = 28.0;
/// Wide letters of the style's font; text that is cut to fit is cut by this.
const LETTER: f64 = 6.0;
/// How far along its way a lost packet gets.
const LOST_AT: f64 = 0.62;

#[derive(Clone, Copy, PartialEq)]
struct Point {
    x: f64,
    y: f64,
}

/// Returns the picture of a sequence.
/// `summary` says how much it has of what; the row `marked` stands out.
pub(super) fn picture(sequence: &Sequence<'_>, summary: &str, caption: &Caption, marked: Option<usize>) -> String {
    let chart = Chart::new(sequence);
    let (width, height) = (chart.width(), chart.bottom() + BOX_HEIGHT + MARGIN);
    let drawing = html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox={ "0 0 " (px(width)) " " (px(height)) } width=(px(width))
            height=(px(height)) role="img" aria-label=(line(&format!("Message sequence: {}", caption.title))) {
            title { (lines(&caption.title)) }
            style { (PreEscaped(STYLE)) }
            defs {
                pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)" {
                    rect.page width="6" height="6" {}
                    line.hatch x1="0" y1="0" x2="0" y2="6" {}
                }
            }
            rect.page width="100%" height="100%" {}
            (chart.head(caption, summary))
            @if let Some(row) = marked {
                rect.marked x="0" y=(px(chart.row(row) - ROW / 2.0)) width="100%" height=(px(ROW)) {}
            }
            @for partition in &sequence.partitions { (chart.band(partition)) }
            (chart.axis())
            @for life in &sequence.lives { (chart.life(life)) }
            (chart.names(chart.top - ROW - BOX_HEIGHT))
            (chart.names(chart.bottom()))
            @for flight in &sequence.flights { (chart.flight(flight)) }
            @for mark in &sequence.marks { (chart.mark(mark)) }
        }
    };
    format!("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n{}\n", drawing.into_string())
}

struct Chart<'a> {
    sequence: &'a Sequence<'a>,
    unit: Unit,
    column: f64,
    legend: Vec<(Symbol, &'static str)>,
    /// Where the first row is.
    top: f64,
}

impl<'a> Chart<'a> {
    fn new(sequence: &'a Sequence<'a>) -> Self {
        let column = match sequence.components.len() {
            0..=3 => 270.0,
            4..=6 => 220.0,
            _ => 170.0,
        };
        let features = Feature::ALL.into_iter().filter(|feature| sequence.flights.iter().any(|f| feature.has(f)));
        let signs = Sign::ALL.into_iter().filter(|sign| sequence.marks.iter().any(|mark| mark.sign == *sign));
        let legend = features
            .map(|feature| (feature.symbol(), feature.name()))
            .chain(signs.map(|sign| (look::sign(sign), sign.name())))
            .collect();
        let mut chart = Self { sequence, unit: Unit::for_times_to(sequence.end()), column, legend, top: 0.0 };
        let legend_rows = chart.legend_places().last().map_or(0.0, |place| place.y + 1.0);
        chart.top = MARGIN + 58.0 + legend_rows * 22.0 + BOX_HEIGHT + ROW;
        chart
    }

    fn width(&self) -> f64 {
        let columns = self.sequence.components.len().saturating_sub(1) as f64;
        (MARGIN + AXIS + self.column / 2.0 + columns * self.column + RIGHT).max(640.0)
    }

    fn bottom(&self) -> f64 {
        self.row(self.sequence.rows.len()) + ROW / 2.0
    }

    fn row(&self, row: usize) -> f64 {
        self.top + row as f64 * ROW
    }

    fn end_row(&self, row: Option<usize>) -> f64 {
        row.map_or_else(|| self.bottom(), |row| self.row(row))
    }

    fn lifeline(&self, component: usize) -> f64 {
        MARGIN + AXIS + self.column / 2.0 + component as f64 * self.column
    }

    /// Returns where each entry of the legend begins: x in pixels, y in rows of the legend.
    fn legend_places(&self) -> Vec<Point> {
        let mut next = Point { x: 0.0, y: 0.0 };
        let mut places = Vec::new();
        for (_, name) in &self.legend {
            let width = 38.0 + LETTER * name.len() as f64;
            if next.x + width > self.width() - 2.0 * MARGIN {
                next = Point { x: 0.0, y: next.y + 1.0 };
            }
            places.push(next);
            next.x += width;
        }
        places
    }

    fn head(&self, caption: &Caption, summary: &str) -> Markup {
        let letters = |width: f64| ((self.width() - 2.0 * MARGIN) / width) as usize;
        html! {
            text.title x=(px(MARGIN)) y=(px(MARGIN + 12.0)) { (cut(&line(&caption.title), letters(9.0))) }
            text x=(px(MARGIN)) y=(px(MARGIN + 34.0)) {
                @if !caption.verdict.is_empty() {
                    tspan.(caption.outcome.class()) { (cut(&line(&caption.verdict), letters(11.0))) } " · "
                }
                (summary)
            }
            @for ((symbol, name), place) in self.legend.iter().zip(self.legend_places()) {
                @let at = Point { x: MARGIN + 8.0 + place.x, y: MARGIN + 56.0 + place.y * 22.0 };
                (draw(*symbol, at))
                text.soft x=(px(at.x + 14.0)) y=(px(at.y + 4.0)) { (name) }
            }
        }
    }

    fn names(&self, top: f64) -> Markup {
        let width = self.column - 28.0;
        html! {
            @for (component, name) in self.sequence.components.iter().enumerate() {
                @let x = self.lifeline(component);
                g {
                    title { (lines(name)) }
                    rect.component x=(px(x - width / 2.0)) y=(px(top)) width=(px(width)) height=(px(BOX_HEIGHT)) rx="7" {}
                    text.name x=(px(x)) y=(px(top + 18.5)) text-anchor="middle" {
                        (cut(&line(name), (width / 8.0) as usize))
                    }
                }
            }
        }
    }

    /// A label and a rule for each row whose label differs from the one above.
    fn axis(&self) -> Markup {
        let labels: Vec<String> = self.sequence.rows.iter().map(|at| self.unit.label(*at)).collect();
        let is_new = |row: usize| row == 0 || labels[row] != labels[row - 1];
        html! {
            text.soft x=(px(MARGIN + AXIS - 12.0)) y=(px(self.top - ROW - 8.0)) text-anchor="end" { (self.unit.symbol) }
            @for (row, label) in labels.iter().enumerate().filter(|(row, _)| is_new(*row)) {
                @let y = self.row(row);
                line.rule x1=(px(MARGIN + AXIS)) x2=(px(self.width() - MARGIN)) y1=(px(y)) y2=(px(y)) {}
                text.time x=(px(MARGIN + AXIS - 12.0)) y=(px(y + 4.0)) text-anchor="end" { (label) }
            }
        }
    }

    fn band(&self, partition: &Separation) -> Markup {
        let (top, bottom) = (self.row(partition.from), self.end_row(partition.to));
        let (left, right) = (MARGIN + AXIS, self.width() - MARGIN);
        html! {
            rect.band x=(px(left)) y=(px(top)) width=(px(right - left)) height=(px(bottom - top)) {}
            line.cut x1=(px(left)) x2=(px(right)) y1=(px(top)) y2=(px(top)) {}
            line.cut x1=(px(left)) x2=(px(right)) y1=(px(bottom)) y2=(px(bottom)) {}
        }
    }

    fn life(&self, life: &Life) -> Markup {
        let x = self.lifeline(life.component);
        let from = if life.from == 0 { self.top - ROW } else { self.row(life.from) };
        let to = self.end_row(life.to);
        let class = match life.state {
            State::Waiting | State::Over => "faint",
            State::Up | State::Paused => "up",
            State::Down => "down",
        };
        html! {
            line.(class) x1=(px(x)) x2=(px(x)) y1=(px(from)) y2=(px(to)) {}
            @if life.state == State::Paused {
                rect.paused x=(px(x - 6.0)) y=(px(from)) width="12" height=(px(to - from)) {}
            }
        }
    }

    fn flight(&self, flight: &Flight<'_>) -> Markup {
        let path = Path::new(self, flight);
        let kind = line(&flight.packet.kind);
        html! {
            g.flight.(look::colour(flight).symbol().class) data-packet=(flight.packet.number) {
                title { (self.describe(flight)) }
                path.(stroke_class(flight)) d=(path.data) {}
                @if flight.packet.transport == Transport::Stream { path.inner d=(path.data) {} }
                @if flight.origin == FlightOrigin::Copied { circle.origin cx=(px(path.from.x)) cy=(px(path.from.y)) r="3.5" {} }
                @match flight.end {
                    FlightEnd::Delivered(_) => { polygon.tip points=(path.tip()) {} }
                    FlightEnd::Dropped(_, reason) => {
                        (draw(Feature::Dropped.symbol(), path.to))
                        text.reason x=(px(path.to.x + 11.0 * path.side)) y=(px(path.to.y + 4.0)) text-anchor=(path.anchor()) {
                            (reason)
                        }
                    }
                    FlightEnd::Unreachable(_) => { (draw(Feature::Unreachable.symbol(), path.to)) }
                    FlightEnd::Never => { (draw(Feature::Flying.symbol(), path.to)) }
                }
                @if flight.corrupted.is_some() { (draw(Feature::Corrupted.symbol(), path.middle)) }
                @if flight.origin != FlightOrigin::Copied {
                    text.label x=(px(path.from.x + 10.0 * path.side)) y=(px(path.from.y - 4.5)) text-anchor=(path.anchor()) {
                        tspan.kind { (cut(&kind, self.letters())) }
                        (self.contents(flight))
                    }
                }
            }
        }
    }

    /// How many letters fit between two lifelines.
    fn letters(&self) -> usize {
        ((self.column - 24.0) / LETTER) as usize
    }

    /// Returns what a packet holds, as far as there is space for it behind its kind.
    fn contents(&self, flight: &Flight<'_>) -> String {
        let space = self.letters().saturating_sub(flight.packet.kind.chars().count() + 1);
        if flight.packet.message.is_empty() || space < 4 {
            return String::new();
        }
        format!(" {}", cut(&line(&flight.packet.message), space))
    }

    fn describe(&self, flight: &Flight<'_>) -> String {
        let sequence = self.sequence;
        let packet = flight.packet;
        let name = |port: Port| format!("{}:{}", sequence.components[port.component], port.number);
        let what = match flight.origin {
            FlightOrigin::Copied => "copy of packet",
            FlightOrigin::Sent | FlightOrigin::Unknown => "packet",
        };
        let mut text = format!("{what} {}: {}", packet.number, packet.kind);
        if !packet.message.is_empty() {
            text += &format!("\n{}", packet.message);
        }
        if let Some(corrupted) = flight.corrupted {
            text += &format!("\ncorrupted: {}", corrupted.message);
        }
        text += &format!("\n{} to {}", name(flight.source), name(flight.destination));
        // Messages without a size have 0.
        if packet.bytes > 0 {
            text += &format!(", {} bytes", packet.bytes);
        }
        if flight.origin != FlightOrigin::Unknown {
            text += &format!("\nsent at {}", sequence.rows[flight.sent]);
        }
        let after = sequence.duration(flight).map(|after| format!(" (after {after})")).unwrap_or_default();
        text += &match flight.end {
            FlightEnd::Delivered(row) => format!("\ndelivered at {}{after}", sequence.rows[row]),
            FlightEnd::Unreachable(row) => {
                format!("\nunreachable at {}{after}: no channel is open", sequence.rows[row])
            }
            FlightEnd::Dropped(row, reason) => format!("\ndropped at {}{after}: {}", sequence.rows[row], reason),
            FlightEnd::Never => "\nin flight at the end".to_owned(),
        };
        lines(&text)
    }

    fn mark(&self, mark: &Mark) -> Markup {
        let y = self.row(mark.row);
        let at = Point { x: mark.component.map_or(MARGIN + AXIS, |component| self.lifeline(component)), y };
        let what = if mark.text.is_empty() || mark.sign == Sign::Noted {
            mark.text.clone()
        } else {
            format!("{}: {}", mark.sign.name(), mark.text)
        };
        let shown = if mark.sign == Sign::Started {
            ""
        } else if what.is_empty() {
            mark.sign.name()
        } else {
            &what
        };
        // What concerns all has the whole width; a note beside a lifeline has the space to the next one.
        let letters = if mark.component.is_some() { self.letters() } else { (self.width() / LETTER) as usize - 30 };
        let symbol = look::sign(mark.sign);
        let is_cut = mark.sign == Sign::Partitioned;
        // Beside the symbol, or above the line that goes out from it.
        let text_y =
            if matches!(mark.sign, Sign::Partitioned | Sign::Healed | Sign::Connected) { y - 7.0 } else { y + 4.0 };
        html! {
            g.mark {
                title { (lines(&format!("{}\n{}\nat {}", mark.sign.name(), mark.text, self.sequence.rows[mark.row]))) }
                @if let (Some(peer), Sign::Connected) = (mark.peer, mark.sign) {
                    @let far = Point { x: self.lifeline(peer), y };
                    path.pipe d=(format!("M{}H{}", pair(at), px(far.x))) {}
                    path.inner d=(format!("M{}H{}", pair(at), px(far.x))) {}
                    (draw(symbol, far))
                }
                (draw(symbol, at))
                text.said.(symbol.class) x=(px(at.x + 12.0)) y=(px(text_y)) {
                    (cut(&line(shown), letters))
                }
                @if is_cut {
                    @let partition = self.sequence.partitions.iter().find(|partition| partition.from == mark.row);
                    @for (component, group) in partition.iter().flat_map(|partition| partition.group_of.iter().enumerate()) {
                        (chip(Point { x: self.lifeline(component), y }, *group))
                    }
                }
            }
        }
    }
}

/// The name of a component's group, on its lifeline.
fn chip(at: Point, group: Option<usize>) -> Markup {
    let name = group.map_or_else(|| "–".to_owned(), |group| (group + 1).to_string());
    html! {
        circle.chip cx=(px(at.x)) cy=(px(at.y)) r="9" {}
        text.group x=(px(at.x)) y=(px(at.y + 4.0)) text-anchor="middle" { (name) }
    }
}

fn stroke_class(flight: &Flight<'_>) -> &'static str {
    match (flight.packet.transport, flight.origin) {
        (Transport::Stream, _) => "pipe",
        (Transport::Datagram, FlightOrigin::Copied) => "way dashed",
        (Transport::Datagram, _) if flight.end == FlightEnd::Never => "way dotted",
        (Transport::Datagram, _) => "way",
    }
}

/// The way of a flight across the chart.
struct Path {
    from: Point,
    to: Point,
    middle: Point,
    /// A point on the way, short of its end: the tip points away from it.
    before: Point,
    /// 1 if it goes to the right, -1 if it goes to the left.
    side: f64,
    data: String,
}

impl Path {
    fn new(chart: &Chart<'_>, flight: &Flight<'_>) -> Self {
        let (source, destination) =
            (chart.lifeline(flight.source.component), chart.lifeline(flight.destination.component));
        let from = Point { x: source, y: chart.row(flight.sent) };
        let y = match flight.end.row() {
            // What is lost at once, and what has no sending, still falls a little.
            Some(row) => chart.row(row).max(from.y + if source == destination { 12.0 } else { 7.0 }),
            None => chart.bottom() - 6.0,
        };
        let share = match flight.end {
            FlightEnd::Delivered(_) | FlightEnd::Unreachable(_) => 1.0,
            FlightEnd::Dropped(..) => LOST_AT,
            FlightEnd::Never => 0.5,
        };
        if source == destination {
            return Self::to_itself(from, y, share);
        }
        let to = Point { x: source + share * (destination - source), y };
        Self {
            from,
            to,
            middle: Point { x: (from.x + to.x) / 2.0, y: (from.y + to.y) / 2.0 },
            before: from,
            side: (destination - source).signum(),
            data: format!("M{}L{}", pair(from), pair(to)),
        }
    }

    /// A loop at the right of the lifeline.
    fn to_itself(from: Point, y: f64, share: f64) -> Self {
        const REACH: f64 = 44.0;
        let is_whole = share == 1.0;
        let to = Point { x: from.x + if is_whole { 0.0 } else { REACH }, y };
        let turn = from.x + REACH;
        let back = if is_whole { format!("H{}", px(to.x)) } else { String::new() };
        Self {
            from,
            to,
            middle: Point { x: turn, y: (from.y + y) / 2.0 },
            before: Point { x: turn, y },
            side: 1.0,
            data: format!("M{}H{}V{}{back}", pair(from), px(turn), px(y)),
        }
    }

    fn anchor(&self) -> &'static str {
        if self.side > 0.0 { "start" } else { "end" }
    }

    /// Returns the corners of the arrow's tip.
    fn tip(&self) -> String {
        const LENGTH: f64 = 10.0;
        const HALF_WIDTH: f64 = 4.5;
        let (dx, dy) = (self.to.x - self.before.x, self.to.y - self.before.y);
        let length = (dx * dx + dy * dy).sqrt();
        let (dx, dy) = (dx / length, dy / length);
        let back = Point { x: self.to.x - LENGTH * dx, y: self.to.y - LENGTH * dy };
        let corner = |sign: f64| Point { x: back.x - sign * HALF_WIDTH * dy, y: back.y + sign * HALF_WIDTH * dx };
        format!("{} {} {}", pair(self.to), pair(corner(1.0)), pair(corner(-1.0)))
    }
}

fn draw(symbol: Symbol, at: Point) -> Markup {
    html! {
        g.(symbol.class) transform={ "translate(" (pair(at)) ")" } {
            path.body d=(symbol.body) {}
            @if !symbol.glyph.is_empty() { path.glyph d=(symbol.glyph) {} }
        }
    }
}

fn px(value: f64) -> String {
    format!("{value:.1}")
}

fn pair(point: Point) -> String {
    format!("{:.1},{:.1}", point.x, point.y)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use roxmltree::{Document, Node};
    use simutant_sim_core::trace::Trace;

    use super::*;
    use crate::diagram::svg;
    use crate::examples::{any_trace, every_action, place_without_number};

    fn drawn(trace: &Trace) -> String {
        svg(trace, &Caption { title: "a < b & \"c\"\0".to_owned(), ..Caption::default() })
    }

    fn has_class(node: &Node<'_, '_>, class: &str) -> bool {
        node.attribute("class").is_some_and(|classes| classes.split(' ').any(|one| one == class))
    }

    fn count(document: &Document<'_>, class: &str) -> usize {
        document.descendants().filter(|node| has_class(node, class)).count()
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(50))]

        #[test]
        fn any_trace_is_a_well_formed_picture_with_every_packet(trace in any_trace()) {
            let picture = drawn(&trace);
            let document = Document::parse(&picture).expect("well-formed XML");
            let sequence = Sequence::new(&trace);
            let packets: Vec<u64> = document
                .descendants()
                .filter_map(|node| node.attribute("data-packet")?.parse().ok())
                .collect();
            let expected: Vec<u64> = sequence.flights.iter().map(|flight| flight.packet.number).collect();
            prop_assert_eq!(packets, expected);
            prop_assert_eq!(count(&document, "mark"), sequence.marks.len());
            prop_assert_eq!(place_without_number(&document), None);
        }
    }

    #[test]
    fn arrows_end_as_their_packets_did() {
        let trace = every_action();
        let picture = drawn(&trace);
        let document = Document::parse(&picture).expect("well-formed XML");
        let flights = Sequence::new(&trace).flights;
        let many = |test: fn(&Flight<'_>) -> bool| flights.iter().filter(|flight| test(flight)).count();
        assert_eq!(count(&document, "tip"), many(|flight| matches!(flight.end, FlightEnd::Delivered(_))));
        assert_eq!(count(&document, "reason"), many(|flight| matches!(flight.end, FlightEnd::Dropped(..))));
        assert_eq!(count(&document, "dashed"), 1);
        assert_eq!(count(&document, "paused"), 1);
        assert_eq!(count(&document, "band"), 1);
        let reasons: Vec<&str> =
            document.descendants().filter(|node| has_class(node, "reason")).filter_map(|node| node.text()).collect();
        assert_eq!(reasons, ["loss", "mailbox full", "partition", "destination down"]);
    }

    #[test]
    fn contents_can_be_read_by_pointing() {
        let picture = drawn(&every_action());
        let document = Document::parse(&picture).expect("well-formed XML");
        let titles: Vec<&str> =
            document.descendants().filter(|node| node.has_tag_name("title")).filter_map(|node| node.text()).collect();
        let expected = "copy of packet 4: APPEND\nAppend { index: 1, value: \"<1 & 2>\" }\nprimary:50001 to replica:81, 72 \
                        bytes\nsent at 0.0093 s\ndelivered at 0.0109 s (after 1.6 ms)";
        assert!(titles.contains(&expected), "{titles:#?}");
    }

    #[test]
    fn the_tip_of_an_arrow_lies_on_its_way() {
        let trace = every_action();
        let sequence = Sequence::new(&trace);
        let chart = Chart::new(&sequence);
        let path = Path::new(&chart, &sequence.flights[0]);
        let corners: Vec<f64> = path.tip().split([' ', ',']).map(|part| part.parse().expect("a number")).collect();
        assert_eq!((corners[0], corners[1]), (path.to.x, path.to.y));
        let apart = (corners[2] - corners[4]).hypot(corners[3] - corners[5]);
        assert!((apart - 9.0).abs() < 0.2, "the tip is {apart} wide");
    }
}
