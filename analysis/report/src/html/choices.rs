//! What suites of equal size or time find, by how they are chosen: a curve for each, told apart by colour and dashes.

use maud::{Markup, html};
use simutant_analysis::{Curve, SelectionCurves, SuiteUnit, percent};

use super::svg::{Scale, label, polyline, px};

const HEIGHT: f64 = 330.0;
const LEFT: f64 = 44.0;
const BOTTOM: f64 = 36.0;
const TOP: f64 = 12.0;

/// What stands between the names of two curves at their ends.
const LINE_HEIGHT: f64 = 14.0;

/// How many colours there are for curves: those of Okabe and Ito (2008), which people of all kinds of vision tell
/// apart. The style sheet has them as `series-0` and so on.
const COLOURS: usize = 7;

/// How curves of one colour are dashed.
const DASHES: [&str; 4] = ["none", "7 3", "2 3", "9 3 2 3"];

/// A drawing for one width of the page.
#[derive(Debug, Clone, Copy)]
struct Form {
    class: &'static str,
    width: f64,
    /// What the names of the curves need on the right.
    names: f64,
}

/// Where there is room, each curve has its name at its end.
const WIDE: Form = Form { class: "wide named", width: 760.0, names: 200.0 };

/// On a telephone the list below has to do, and letters keep their size.
const NARROW: Form = Form { class: "bare", width: 340.0, names: 12.0 };

/// A curve, and how it is drawn.
struct Drawn<'a> {
    curve: &'a Curve,
    class: String,
    dash: &'static str,
}

/// Returns the drawing with the list of its curves, the best first.
pub(super) fn figure(choosing: &SelectionCurves) -> Markup {
    let drawn = drawn(choosing);
    html! {
        figure {
            (svg(&drawn, choosing.unit, WIDE))
            (svg(&drawn, choosing.unit, NARROW))
            ul.keys {
                @for Drawn { curve, class, dash } in &drawn {
                    li {
                        svg viewBox="0 0 36 10" aria-hidden="true" {
                            line.(class) x1="1" x2="35" y1="5" y2="5" stroke-dasharray=(dash) {}
                        }
                        span { (curve.name) " " b { (percent(curve.area)) } }
                    }
                }
            }
        }
    }
}

/// Returns the curves in the order of their areas. What is compared with all others looks the same in all pages.
fn drawn<'a>(choosing: &'a SelectionCurves) -> Vec<Drawn<'a>> {
    let mut curves: Vec<&Curve> = choosing.curves().collect();
    curves.sort_by(|one, other| other.area.total_cmp(&one.area));
    let mut number = 0;
    let style = |curve: &'a Curve| {
        if std::ptr::eq(curve, &choosing.chosen) {
            return Drawn { curve, class: "series chosen".to_owned(), dash: DASHES[0] };
        }
        if std::ptr::eq(curve, &choosing.random) {
            return Drawn { curve, class: "series random".to_owned(), dash: DASHES[1] };
        }
        let (colour, dash) = (number % COLOURS, DASHES[number / COLOURS % DASHES.len()]);
        number += 1;
        Drawn { curve, class: format!("series series-{colour}"), dash }
    };
    curves.into_iter().map(style).collect()
}

fn svg(drawn: &[Drawn<'_>], unit: SuiteUnit, form: Form) -> Markup {
    let axis = match unit {
        SuiteUnit::TestCases => "test cases in the suite",
        SuiteUnit::MeanTimes => "time of the suite, in mean test cases",
    };
    let size_max = drawn.iter().map(|drawn| drawn.curve.shares.len()).max().unwrap_or(0) as f64;
    let right = form.width - form.names;
    let x = Scale::new((1.0, size_max.max(2.0)), (LEFT, right));
    let y = Scale::new((0.0, 1.0), (HEIGHT - BOTTOM, TOP));
    let line = |curve: &Curve| {
        polyline(curve.shares.iter().enumerate().map(|(place, share)| (x.at(place as f64 + 1.0), y.at(*share))))
    };
    let ends: Vec<f64> =
        drawn.iter().map(|drawn| drawn.curve.shares.last().map_or(0.0, |share| y.at(*share))).collect();
    html! {
        svg class=(form.class) viewBox={ "0 0 " (form.width) " " (HEIGHT) } role="img"
            aria-label="What suites of each size find, by how they are chosen" {
            @for tick in [0.0, 0.25, 0.5, 0.75, 1.0] {
                line.rule x1=(px(LEFT)) x2=(px(right)) y1=(px(y.at(tick))) y2=(px(y.at(tick))) {}
                text x=(px(LEFT - 6.0)) y=(px(y.at(tick) + 4.0)) text-anchor="end" { (format!("{:.0} %", 100.0 * tick)) }
            }
            @for size in [1, 5, 10, 15, 20].into_iter().filter(|size| f64::from(*size) <= size_max) {
                (label(x.at(f64::from(size)), HEIGHT - BOTTOM + 16.0, &size.to_string()))
            }
            (label((LEFT + right) / 2.0, HEIGHT - 4.0, axis))
            // The best lie on top of the others.
            @for Drawn { curve, class, dash } in drawn.iter().rev() {
                polyline.(class) points=(line(curve)) stroke-dasharray=(dash) {
                    title { (curve.name) ": " (percent(curve.area)) " on average over the sizes" }
                }
            }
            @if form.class == WIDE.class {
                @for (Drawn { curve, class, dash }, (end, top)) in drawn.iter().zip(ends.iter().zip(places(&ends))) {
                    polyline.leader points=(polyline([(right, *end), (right + 8.0, top)])) {}
                    line.(class) x1=(px(right + 8.0)) x2=(px(right + 34.0)) y1=(px(top)) y2=(px(top)) stroke-dasharray=(dash) {}
                    text.name x=(px(right + 39.0)) y=(px(top + 4.0)) { (curve.name) }
                }
            }
        }
    }
}

/// Returns where the names of curves stand that end at these heights: there, or as far from it as others need, and all
/// of them within the drawing.
fn places(ends: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..ends.len()).collect();
    order.sort_by(|one, other| ends[*one].total_cmp(&ends[*other]));
    let mut places = ends.to_vec();
    let mut free = TOP;
    for &index in &order {
        places[index] = places[index].max(free);
        free = places[index] + LINE_HEIGHT;
    }
    let mut free = HEIGHT - 6.0;
    for &index in order.iter().rev() {
        places[index] = places[index].min(free);
        free = places[index] - LINE_HEIGHT;
    }
    places
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    fn curve(name: &str, area: f64) -> Curve {
        Curve {
            name: name.to_owned(),
            shares: vec![area; 20],
            area,
            interval: None,
            chosen_above: 0.0,
            chosen_above_interval: None,
            chosen_above_by_seed: Vec::new(),
            at_budgets: Vec::new(),
        }
    }

    fn choosing(rules: usize) -> SelectionCurves {
        SelectionCurves {
            unit: SuiteUnit::TestCases,
            resampled: Vec::new(),
            budgets: Vec::new(),
            chosen: curve("chosen", 0.8),
            own_seeds: None,
            random: curve("random", 0.5),
            rules: (0..rules).map(|rule| curve(&format!("rule {rule}"), rule as f64 / rules as f64)).collect(),
        }
    }

    #[test]
    fn no_two_curves_look_the_same() {
        let choosing = choosing(20);
        let drawn = drawn(&choosing);
        let looks: BTreeSet<(&str, &str)> = drawn.iter().map(|drawn| (drawn.class.as_str(), drawn.dash)).collect();
        assert_eq!((drawn.len(), looks.len()), (22, 22));
        assert!(drawn.is_sorted_by(|one, other| one.curve.area >= other.curve.area));
        let page = figure(&choosing).into_string();
        assert_eq!(page.matches("rule 7").count(), 4, "in two drawings as a title, at the end, and in the list");
        assert_eq!(page.matches(" points=").count(), 22 + 22 + 22);
    }

    #[test]
    fn names_at_the_ends_of_curves_do_not_cover_each_other() {
        for ends in [vec![50.0; 21], vec![290.0, 291.0, 293.0], vec![12.0, 12.0, 200.0], Vec::new()] {
            let mut places = places(&ends);
            places.sort_by(f64::total_cmp);
            assert!(places.is_sorted_by(|one, other| other - one >= LINE_HEIGHT - 0.01), "{places:?}");
            assert!(places.iter().all(|place| (TOP..HEIGHT).contains(place)), "{places:?}");
        }
    }
}
