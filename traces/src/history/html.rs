//! The page: the history as data, the script that draws what is in sight of it, and a table of its calls.

use std::collections::BTreeMap;

use maud::{Markup, PreEscaped, html};
use serde::Serialize;
use simutant_oracle::Moment;

use super::layout::Layout;
use super::{BarEnd, ORDERS_MAX, Picture, svg};
use crate::diagram::Caption;
use crate::script_data::{self, Exact, Texts, or_none};
use crate::text::lines;

const STYLE: &str = include_str!("page/style.css");

/// The parts of the script, which share one scope that nothing else sees.
const SCRIPT: &str = concat!(
    "(() => {\n\"use strict\";\n",
    include_str!("../page/words.js"),
    include_str!("page/calls.js"),
    include_str!("page/view.js"),
    include_str!("page/drawing.js"),
    include_str!("page/order.js"),
    include_str!("page/frame.js"),
    include_str!("page/details.js"),
    include_str!("../page/pointers.js"),
    include_str!("page/input.js"),
    include_str!("../page/keys.js"),
    "})();\n",
);

/// How many calls a table has that is open at first.
const TABLE_OPEN_MAX: usize = 100;
/// How many answers and calls are named before the chart.
const NAMED_MAX: usize = 8;

/// Returns the page of a history.
pub(super) fn page(picture: &Picture, caption: &Caption) -> String {
    let layout = Layout::new(picture, ORDERS_MAX);
    let content = html! {
        (breaks(picture, &layout))
        (toolbar(picture, &layout))
        ul #legend aria-label="Legend" {}
        noscript { p { "The chart is drawn with JavaScript. The table has the same calls." } }
        main {
            canvas #chart tabindex="0" role="application" aria-label="Calls by session and time"
                aria-describedby="keys" {}
            div #hint role="presentation" hidden {}
        }
        aside #details aria-live="polite" hidden {}
        p #keys {
            kbd { "←" } kbd { "→" } " call by call, " kbd { "[" } kbd { "]" } " along the order, "
            kbd { "↑" } kbd { "↓" } " sessions, " kbd { "+" } kbd { "−" } " or Ctrl and wheel: zoom, "
            kbd { "0" } " all, " kbd { "b" } " the break, "
            kbd { "/" } " find, " kbd { "Esc" } " close"
        }
        (table(picture, &layout))
        script #history type="application/json" {
            (PreEscaped(script_data::json(&Data::new(picture, &layout))))
        }
        script { (PreEscaped(SCRIPT)) }
    };
    crate::page::page(STYLE, caption, &svg::summary(picture), &content)
}

/// Returns what is said of the call that fits nothing.
fn breaks(picture: &Picture, layout: &Layout) -> Markup {
    let Some((stuck, bar)) = picture.stuck() else { return html! {} };
    let core: Vec<usize> = picture.core.iter().filter_map(|core| Some(picture.bars.get(core.bar)?.number)).collect();
    let session = picture.lanes.get(bar.lane).map_or("", String::as_str);
    let more = |count: usize| count.saturating_sub(NAMED_MAX);
    html! {
        section #breaks aria-labelledby="breaks-title" {
            h2 #breaks-title { "Where it breaks" }
            p {
                "Call " (bar.number) " of " (lines(session)) ", " code { (lines(&bar.operation)) }
                ", was answered " code { (lines(bar.outcome())) }
                @match picture.orders_count {
                    0 => ", which the specification cannot do.",
                    1 => ", which cannot follow the only explanation of the calls before it.",
                    many => { ", which can follow none of the " (many) " explanations of the calls before it." }
                }
            }
            @if !stuck.allowed.is_empty() {
                p { "The specification would have answered:" }
                ul {
                    @for allowed in stuck.allowed.iter().take(NAMED_MAX) {
                        li {
                            code { (lines(&allowed.answer)) }
                            @if let Some(reason) = &allowed.reason { ", since " (lines(reason)) }
                            @if layout.orders.len() > 1 && allowed.order < layout.orders.len() {
                                " " button.show type="button" data-order=(allowed.order) {
                                    "after " (lines(&picture.orders[allowed.order].name))
                                }
                            }
                        }
                    }
                    @if more(stuck.allowed.len()) > 0 { li { (more(stuck.allowed.len())) " more" } }
                }
            }
            @if !core.is_empty() {
                p {
                    @if core.len() == 1 {
                        "This call is impossible"
                    } @else {
                        "These " (core.len()) " calls are impossible together"
                    }
                    ", whatever the others were answered: "
                    (core.iter().take(NAMED_MAX).map(usize::to_string).collect::<Vec<_>>().join(", "))
                    @if more(core.len()) > 0 { " and " (more(core.len())) " more" }
                    "."
                }
            }
        }
    }
}

fn toolbar(picture: &Picture, layout: &Layout) -> Markup {
    html! {
        form #tools {
            @if layout.orders.len() > 1 {
                fieldset {
                    label for="order" { "Order" }
                    select #order {
                        @for (number, order) in picture.orders.iter().take(ORDERS_MAX).enumerate() {
                            option value=(number) { (lines(&order.name)) }
                        }
                    }
                    @if picture.orders_count > layout.orders.len() as u64 { span.soft { "of " (picture.orders_count) } }
                }
            }
            fieldset {
                legend { "Times" }
                label { input type="radio" name="layout" value="labels" checked; " as labels need" }
                label { input type="radio" name="layout" value="scale"; " to scale" }
            }
            fieldset {
                legend { "Zoom" }
                button #out type="button" title="Smaller (−)" aria-label="Smaller" { "−" }
                button #in type="button" title="Larger (+)" aria-label="Larger" { "+" }
                button #all type="button" title="The whole history (0)" { "all" }
                button #read type="button" title="Labels that can be read (1)" { "labels" }
                @if picture.stuck().is_some() { button #break type="button" title="Where it breaks (b)" { "break" } }
            }
            fieldset.find {
                legend { "Find" }
                input #find type="search" placeholder="operation, answer, session, #call"
                    aria-label="Find operations, answers, sessions, #call" spellcheck="false" autocomplete="off";
                button #previous type="button" title="The one before (Shift and Enter)" aria-label="The one before" {
                    "←"
                }
                button #next type="button" title="The next one (Enter)" aria-label="The next one" { "→" }
                output #found {}
            }
        }
    }
}

/// Returns the calls for who cannot see the chart, by invocation.
fn table(picture: &Picture, layout: &Layout) -> Markup {
    let mut places: BTreeMap<usize, usize> = BTreeMap::new();
    for point in layout.orders.first().into_iter().flatten() {
        places.insert(point.bar, point.step + 1);
    }
    let core: BTreeMap<usize, &str> = picture.core.iter().map(|core| (core.bar, core.what.as_str())).collect();
    let stuck = picture.stuck().map(|(stuck, _)| stuck.bar);
    let mut bars: Vec<usize> = (0..picture.bars.len()).collect();
    bars.sort_by_key(|&bar| (layout.bars[bar].from, bar));
    html! {
        details #table open[bars.len() <= TABLE_OPEN_MAX] {
            summary { "Table of all " (bars.len()) " calls" }
            div.scroll tabindex="0" role="region" aria-label="Table of all calls" {
                table {
                    thead {
                        tr {
                            @for name in ["call", "session", "invoked", "ended", "operation", "answer"] {
                                th scope="col" { (name) }
                            }
                            @if let Some(order) = picture.orders.first() {
                                th scope="col" { "place in " (lines(&order.name)) }
                            }
                            th scope="col" { "remarks" }
                        }
                    }
                    tbody {
                        @for bar_place in bars {
                            @let bar = &picture.bars[bar_place];
                            tr {
                                th scope="row" { (bar.number) }
                                td { (picture.lanes.get(bar.lane).map(|lane| lines(lane)).unwrap_or_default()) }
                                td { (bar.invoked.time) }
                                td { @if let Some(Moment { time, .. }) = bar.ended() { (time) } }
                                td { (lines(&bar.operation)) }
                                td { (lines(bar.outcome())) }
                                @if !picture.orders.is_empty() {
                                    td { @if let Some(place) = places.get(&bar_place) { (place) } }
                                }
                                td {
                                    @if stuck == Some(bar_place) { b.bad { "it breaks here" } " " }
                                    @if let Some(what) = core.get(&bar_place) { "core: " (lines(what)) }
                                }
                            }
                        }
                    }
                }
            }
        }
    }
}

/// The history by columns. Lanes, bars, moments and texts are indices; -1 is none.
#[derive(Debug, Serialize)]
struct Data {
    lanes: Vec<String>,
    lane_rows: Vec<usize>,
    times: Vec<Exact>,
    /// Where moments are as labels need it, in tenths of a pixel.
    x: Vec<u64>,
    bars: Bars,
    orders: Vec<OrderData>,
    stuck: Option<StuckData>,
    core: Vec<(usize, usize)>,
    bands: Vec<BandData>,
    texts: Vec<String>,
}

#[derive(Debug, Default, Serialize)]
struct Bars {
    number: Vec<usize>,
    lane: Vec<isize>,
    row: Vec<usize>,
    from: Vec<usize>,
    to: Vec<usize>,
    /// The moment from which on the next call of the row covers it.
    covered: Vec<usize>,
    operation: Vec<usize>,
    answer: Vec<isize>,
    /// 0: answered, 1: unknown, 2: did not happen.
    end: Vec<u8>,
    label: Vec<usize>,
}

#[derive(Debug, Serialize)]
struct OrderData {
    name: String,
    bar: Vec<usize>,
    step: Vec<usize>,
    /// Where the points of effect are, in pixels.
    x: Vec<f64>,
    /// The points that are before those that come before them in the order.
    back: Vec<usize>,
    answer: Vec<isize>,
    state: Vec<isize>,
}

#[derive(Debug, Serialize)]
struct StuckData {
    bar: usize,
    /// Answer, reason, order.
    allowed: Vec<(usize, isize, usize)>,
}

#[derive(Debug, Serialize)]
struct BandData {
    from: usize,
    to: usize,
    row: usize,
    label: String,
    is_open: bool,
}

impl Data {
    fn new(picture: &Picture, layout: &Layout) -> Self {
        let mut texts = Texts::default();
        let mut bars = Bars::default();
        for (bar, span) in picture.bars.iter().zip(&layout.bars) {
            bars.number.push(bar.number);
            bars.lane.push(or_none((bar.lane < picture.lanes.len()).then_some(bar.lane)));
            bars.row.push(span.row);
            bars.from.push(span.from);
            bars.to.push(span.to);
            bars.covered.push(span.covered);
            bars.operation.push(texts.index(&bar.operation));
            bars.label.push(texts.index(&bar.label()));
            let (answer, end) = match &bar.end {
                BarEnd::Answered { answer, .. } => (Some(texts.index(answer)), 0),
                BarEnd::Unknown => (None, 1),
                BarEnd::DidNotHappen { .. } => (None, 2),
            };
            bars.answer.push(or_none(answer));
            bars.end.push(end);
        }
        let orders = picture.orders.iter().zip(&layout.orders).map(|(order, points)| {
            let mut text = |text: &Option<String>| or_none(text.as_deref().map(|text| texts.index(text)));
            OrderData {
                name: lines(&order.name),
                bar: points.iter().map(|point| point.bar).collect(),
                step: points.iter().map(|point| point.step).collect(),
                x: points.iter().map(|point| point.x).collect(),
                back: (0..points.len()).filter(|&point| points[point].goes_back).collect(),
                answer: points.iter().map(|point| text(&order.steps[point.step].answer)).collect(),
                state: points.iter().map(|point| text(&order.steps[point.step].state)).collect(),
            }
        });
        let orders = orders.collect();
        let stuck = picture.stuck().map(|(stuck, _)| StuckData {
            bar: stuck.bar,
            allowed: (stuck.allowed.iter())
                .map(|allowed| {
                    let reason = allowed.reason.as_deref().map(|reason| texts.index(reason));
                    (texts.index(&allowed.answer), or_none(reason), allowed.order)
                })
                .collect(),
        });
        let core = picture.core.iter().filter(|core| core.bar < picture.bars.len());
        let core = core.map(|core| (core.bar, texts.index(&core.what))).collect();
        let bands = picture.bands.iter().zip(&layout.bands).map(|(band, span)| BandData {
            from: span.from,
            to: span.to,
            row: span.row,
            label: lines(&band.label),
            is_open: band.to.is_none(),
        });
        Self {
            lanes: picture.lanes.iter().map(|lane| lines(lane)).collect(),
            lane_rows: layout.lane_rows.clone(),
            times: layout.times.iter().copied().map(Exact).collect(),
            x: layout.x.iter().map(|x| (x * 10.0).round() as u64).collect(),
            bars,
            orders,
            stuck,
            core,
            bands: bands.collect(),
            texts: texts.texts,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use crate::diagram::{Caption, Outcome};
    use crate::examples::page_data;
    use crate::history::examples::{any_picture, lost_write};
    use crate::history::{BarEnd, Picture, html};

    fn numbers(values: &Value) -> Vec<i64> {
        values.as_array().expect("a column").iter().map(|value| value.as_i64().expect("a number")).collect()
    }

    /// Returns the picture with `x` in place of every text that is not empty.
    fn without_texts(picture: &Picture) -> Picture {
        let plain = |text: &mut String| {
            if !text.is_empty() {
                *text = "x".to_owned();
            }
        };
        let mut picture = picture.clone();
        picture.lanes.iter_mut().for_each(plain);
        for bar in &mut picture.bars {
            plain(&mut bar.operation);
            if let BarEnd::Answered { answer, .. } = &mut bar.end {
                plain(answer);
            }
        }
        for order in &mut picture.orders {
            plain(&mut order.name);
            order.steps.iter_mut().flat_map(|step| step.answer.iter_mut().chain(&mut step.state)).for_each(plain);
        }
        for allowed in picture.stuck.iter_mut().flat_map(|stuck| &mut stuck.allowed) {
            plain(&mut allowed.answer);
            allowed.reason.iter_mut().for_each(plain);
        }
        picture.core.iter_mut().for_each(|core| plain(&mut core.what));
        picture.bands.iter_mut().for_each(|band| plain(&mut band.label));
        picture
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

        /// What begins and ends an element of the page is only what the page has itself, whatever texts say.
        #[test]
        fn no_text_of_a_history_is_markup(picture in any_picture(), title in crate::examples::any_text()) {
            let caption = |title: &str| Caption {
                title: title.to_owned(),
                verdict: title.to_owned(),
                outcome: Outcome::Failed,
            };
            let plain_title = if title.is_empty() { "" } else { "x" };
            let page = html(&picture, &caption(&title));
            let plain = html(&without_texts(&picture), &caption(plain_title));
            for mark in ['<', '>'] {
                // JSON says `>` as it is, where it ends nothing.
                let markup = |page: &str| Some(page.split_once("<script id=\"history\"")?.0.matches(mark).count());
                prop_assert_eq!(markup(&page), markup(&plain));
            }
            prop_assert_eq!(page.matches('<').count(), plain.matches('<').count());
            prop_assert_eq!(&page, &html(&picture, &caption(&title)));
        }

        #[test]
        fn columns_are_equally_long_and_indices_are_inside(picture in any_picture()) {
            let data = page_data(&html(&picture, &Caption::default()));
            let length = |name: &str| data[name].as_array().expect("an array").len() as i64;
            let inside = |values: &Value, many: i64| numbers(values).iter().all(|value| (-1..many).contains(value));
            let texts = [("operation", "texts"), ("answer", "texts"), ("label", "texts")];
            let places = [("lane", "lanes"), ("from", "times"), ("to", "times"), ("covered", "times")];
            for (name, many) in texts.into_iter().chain(places) {
                prop_assert!(inside(&data["bars"][name], length(many)), "{name}");
                prop_assert_eq!(numbers(&data["bars"][name]).len(), picture.bars.len());
            }
            prop_assert_eq!(length("times"), length("x"));
            for order in data["orders"].as_array().expect("orders") {
                prop_assert!(inside(&order["bar"], picture.bars.len() as i64));
                prop_assert!(inside(&order["answer"], length("texts")) && inside(&order["state"], length("texts")));
                for name in ["step", "answer", "state"] {
                    prop_assert_eq!(numbers(&order[name]).len(), numbers(&order["bar"]).len());
                }
            }
        }

        #[test]
        fn the_table_has_every_call_once(picture in any_picture()) {
            let page = html(&picture, &Caption::default());
            let mut rows: Vec<usize> = page
                .split("<th scope=\"row\">")
                .skip(1)
                .map(|row| row.split_once('<').expect("the cell ends").0.parse().expect("a number"))
                .collect();
            rows.sort_unstable();
            let mut expected: Vec<usize> = picture.bars.iter().map(|bar| bar.number).collect();
            expected.sort_unstable();
            prop_assert_eq!(rows, expected);
        }
    }

    #[test]
    fn the_page_says_where_it_breaks_and_what_would_have_been_allowed() {
        let page = html(&lost_write(), &Caption::default());
        let (_, section) = page.split_once("<section id=\"breaks\"").expect("it breaks");
        let (section, _) = section.split_once("</section>").expect("the section ends");
        for text in [
            "Call 4 of session 1, <code>read</code>, was answered <code>1</code>",
            "which can follow none of the 2 explanations of the calls before it.",
            "<code>2</code>, since the register has the value 2",
            "<button class=\"show\" type=\"button\" data-order=\"0\">after explanation 1</button>",
            "These 3 calls are impossible together, whatever the others were answered: 0, 2, 4.",
        ] {
            assert!(section.contains(text), "{text}: {section}");
        }
        assert!(page.contains("<option value=\"1\">explanation 2</option>"));
    }

    #[test]
    fn the_page_needs_nothing_from_outside() {
        let page = html(&lost_write(), &Caption::default());
        for outside in ["http://", "https://", " src=", "@import", "url(", "fetch(", "import("] {
            assert!(!page.contains(outside), "the page has `{outside}`");
        }
    }

    #[test]
    fn a_page_without_orders_has_no_place_for_them() {
        let picture = Picture { orders: Vec::new(), stuck: None, ..lost_write() };
        let page = html(&picture, &Caption::default());
        assert!(
            !page.contains("id=\"breaks\"")
                && !page.contains("id=\"order\"")
                && !page.contains("<th scope=\"col\">place in")
        );
    }
}
