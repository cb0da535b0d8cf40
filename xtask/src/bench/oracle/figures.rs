//! What strategies cost as histories grow: tables, and a plot of small multiples.

use std::fmt::Write;

use serde::Deserialize;

use crate::bench::table::aligned;

/// What `figures` prints: a strategy on some histories of a size.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Row {
    condition: String,
    strategy: String,
    size: u64,
    histories: u64,
    undecided: u64,
    seconds: f64,
    steps: u64,
}

impl Row {
    fn ms(&self) -> f64 {
        1e3 * self.seconds / self.histories as f64
    }

    /// Returns how many steps a history takes, if it is known.
    fn steps(&self) -> Option<u64> {
        (self.steps > 0).then(|| (self.steps as f64 / self.histories as f64).round() as u64)
    }
}

/// Returns the values of a property in the order in which they first come.
fn distinct<'a>(rows: &'a [Row], of: impl Fn(&'a Row) -> &'a str) -> Vec<&'a str> {
    let mut values: Vec<&str> = Vec::new();
    for value in rows.iter().map(of) {
        if !values.contains(&value) {
            values.push(value);
        }
    }
    values
}

/// Returns what a cell of a table says of a row, if it is known.
type Measure = fn(&Row) -> Option<String>;

/// Returns two tables for each condition: milliseconds a history, and steps a history, in brackets how many ended
/// undecided.
pub(super) fn table(rows: &[Row]) -> String {
    let mut text = String::new();
    let measures: [(&str, Measure); 2] =
        [("ms", |row| Some(format!("{:.2}", row.ms()))), ("steps", |row| row.steps().map(|steps| steps.to_string()))];
    for condition in distinct(rows, |row| &row.condition) {
        for (unit, measure) in measures {
            let of: Vec<&Row> =
                rows.iter().filter(|row| row.condition == condition && measure(row).is_some()).collect();
            let strategies = distinct(rows, |row| &row.strategy);
            let strategies: Vec<&str> =
                strategies.into_iter().filter(|strategy| of.iter().any(|row| row.strategy == *strategy)).collect();
            let mut sizes: Vec<u64> = of.iter().map(|row| row.size).collect();
            sizes.sort_unstable();
            sizes.dedup();
            let header = format!("{condition}, {unit}");
            let header = std::iter::once(header).chain(sizes.iter().map(u64::to_string)).collect();
            let cell = |strategy: &str, size: u64| {
                let row = of.iter().find(|row| row.strategy == strategy && row.size == size);
                row.and_then(|row| Some((row.undecided, measure(row)?))).map_or_else(
                    || "-".to_owned(),
                    |(undecided, measured)| match undecided {
                        0 => measured,
                        undecided => format!("{measured} ({undecided})"),
                    },
                )
            };
            let line = |strategy: &&str| {
                let cells = sizes.iter().map(|&size| cell(strategy, size));
                std::iter::once((*strategy).to_owned()).chain(cells).collect()
            };
            let lines: Vec<Vec<String>> = std::iter::once(header).chain(strategies.iter().map(line)).collect();
            text.push_str(&aligned(&lines));
            text.push('\n');
        }
    }
    text
}

const PANEL_WIDTH: f64 = 300.0;
const PANEL_HEIGHT: f64 = 210.0;
const MARGIN: f64 = 48.0;
const TOP: f64 = 58.0;
/// What is between the two halves.
const GAP: f64 = 24.0;
/// Colours that differ in lightness, too (Okabe and Ito).
const COLOURS: [&str; 7] = ["#d55e00", "#e69f00", "#009e73", "#56b4e9", "#0b3d66", "#222", "#cc79a7"];

/// What tells rows apart.
type Property = fn(&Row) -> &str;

/// Returns an SVG of two halves: a panel for each condition with a line for each strategy, and the other way round. Each
/// has milliseconds a history on a logarithmic axis, by size. A hollow point has histories that ended undecided, so their
/// search would have gone on.
pub(super) fn plot(rows: &[Row]) -> String {
    let halves: [(Property, Property); 2] =
        [(|row| &row.condition, |row| &row.strategy), (|row| &row.strategy, |row| &row.condition)];
    let height = |of: Property| distinct(rows, of).len().div_ceil(2) as f64 * (PANEL_HEIGHT + MARGIN + 12.0) + TOP;
    let width = 2.0 * (PANEL_WIDTH + MARGIN) + 16.0;
    let all = halves.iter().map(|(panel, _)| height(*panel)).sum::<f64>() + GAP;
    let axes = Axes::of(rows);
    let mut svg = String::new();
    let mut line = |text: std::fmt::Arguments<'_>| writeln!(svg, "{text}").expect("a string takes all");
    line(format_args!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0} {all:.0}" font-family="sans-serif" font-size="12" role="img" aria-label="Milliseconds a history by sessions and calls: the strategies in each condition, and the conditions for each strategy">"##
    ));
    line(format_args!(r##"<rect width="{width:.0}" height="{all:.0}" fill="#fff"/>"##));
    let mut begin = 0.0;
    for (panel, series) in halves {
        for (number, (name, colour)) in distinct(rows, series).iter().zip(COLOURS).enumerate() {
            let (x, y) =
                (MARGIN + (number % 4) as f64 * ((width - MARGIN) / 4.0), begin + 16.0 + 15.0 * (number / 4) as f64);
            line(format_args!(
                r##"<path d="M{x} {y}h18" stroke="{colour}" stroke-width="2"/><text x="{:.0}" y="{:.0}">{name}</text>"##,
                x + 24.0,
                y + 4.0
            ));
        }
        for (number, name) in distinct(rows, panel).iter().enumerate() {
            let left = MARGIN + (number % 2) as f64 * (PANEL_WIDTH + MARGIN);
            let top = begin + TOP + (number / 2) as f64 * (PANEL_HEIGHT + MARGIN + 12.0);
            line(format_args!(r##"<text x="{left}" y="{:.0}" font-weight="bold">{name}</text>"##, top - 10.0));
            axes.draw((left, top), &mut line);
            for (name_of_line, colour) in distinct(rows, series).iter().zip(COLOURS) {
                let of = rows.iter().filter(|row| panel(row) == *name && series(row) == *name_of_line);
                axes.draw_line((left, top), &of.collect::<Vec<_>>(), (name_of_line, colour), &mut line);
            }
        }
        begin += height(panel) + GAP;
    }
    line(format_args!(
        r##"<text x="{MARGIN}" y="{:.0}" fill="#444">across: sessions, and calls of each; up: ms a history; hollow: not all were decided</text>"##,
        all - 8.0
    ));
    svg.push_str("</svg>\n");
    svg
}

/// What all panels show: sizes across, and milliseconds up.
struct Axes {
    sizes: Vec<u64>,
    /// The decades of the milliseconds, from and to.
    decades: (f64, f64),
}

impl Axes {
    fn of(rows: &[Row]) -> Self {
        let least = rows.iter().map(Row::ms).fold(f64::INFINITY, f64::min).max(1e-3).log10().floor();
        let most = rows.iter().map(Row::ms).fold(0.0, f64::max).max(1e-2).log10().ceil();
        let mut sizes: Vec<u64> = rows.iter().map(|row| row.size).collect();
        sizes.sort_unstable();
        sizes.dedup();
        Self { sizes, decades: (least, most) }
    }

    fn x(&self, left: f64, size: u64) -> f64 {
        let (first, last) = (self.sizes[0] as f64, self.sizes[self.sizes.len() - 1] as f64);
        left + (size as f64 - first) / (last - first).max(1.0) * (PANEL_WIDTH - 16.0)
    }

    fn y(&self, top: f64, ms: f64) -> f64 {
        let (least, most) = self.decades;
        top + PANEL_HEIGHT * (most - ms.max(1e-3).log10()) / (most - least).max(1.0)
    }

    fn draw(&self, (left, top): (f64, f64), line: &mut impl FnMut(std::fmt::Arguments<'_>)) {
        let (mut decade, most) = self.decades;
        while decade <= most {
            let (ms, height) = (10_f64.powf(decade), self.y(top, 10_f64.powf(decade)));
            line(format_args!(
                r##"<path d="M{left} {height:.1}h{PANEL_WIDTH}" stroke="#ddd"/><text x="{:.0}" y="{:.1}" text-anchor="end" fill="#444">{ms}</text>"##,
                left - 6.0,
                height + 4.0
            ));
            decade += 1.0;
        }
        for &size in &self.sizes {
            line(format_args!(
                r##"<text x="{:.1}" y="{:.0}" text-anchor="middle" fill="#444">{size}</text>"##,
                self.x(left, size),
                top + PANEL_HEIGHT + 16.0
            ));
        }
    }

    fn draw_line(
        &self,
        (left, top): (f64, f64),
        rows: &[&Row],
        (name, colour): (&str, &str),
        line: &mut impl FnMut(std::fmt::Arguments<'_>),
    ) {
        let at = |row: &Row| (self.x(left, row.size), self.y(top, row.ms()));
        let points: Vec<String> = rows.iter().map(|row| at(row)).map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
        line(format_args!(
            r##"<polyline points="{}" fill="none" stroke="{colour}" stroke-width="2"/>"##,
            points.join(" ")
        ));
        for row in rows {
            let fill = if row.undecided == 0 { colour } else { "#fff" };
            let (x, y) = at(row);
            line(format_args!(
                r##"<circle cx="{x:.1}" cy="{y:.1}" r="3.5" fill="{fill}" stroke="{colour}" stroke-width="1.5"><title>{name}, {}: {:.2} ms, {} of {} undecided</title></circle>"##,
                row.size,
                row.ms(),
                row.undecided,
                row.histories
            ));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_decided_is_told_apart() {
        let row = |strategy: &str, size, undecided, seconds| Row {
            condition: "strict".to_owned(),
            strategy: strategy.to_owned(),
            size,
            histories: 2,
            undecided,
            seconds,
            steps: if strategy == "gone" { 0 } else { 2_001 * size },
        };
        let rows = [
            row("slow", 2, 0, 0.002),
            row("slow", 3, 1, 0.2),
            row("fast", 2, 0, 0.001),
            row("fast", 3, 0, 0.001),
            row("gone", 2, 0, 0.002),
        ];
        assert_eq!(
            table(&rows),
            "| strict, ms |    2 |          3 |\n| ---------- | ---: | ---------: |\n| slow       | 1.00 | 100.00 (1) |\n| fast       | 0.50 |       0.50 |\n| gone       | 1.00 |          - |\n\n\
             | strict, steps |    2 |        3 |\n| ------------- | ---: | -------: |\n| slow          | 2001 | 3002 (1) |\n| fast          | 2001 |     3002 |\n\n"
        );
        let svg = plot(&rows);
        // Once by condition, and once by strategy.
        assert_eq!(svg.matches("<circle").count(), 2 * 5);
        assert_eq!(svg.matches(r##"fill="#fff" stroke="##).count(), 2);
        assert_eq!(svg.matches("font-weight").count(), 1 + 3);
    }
}
