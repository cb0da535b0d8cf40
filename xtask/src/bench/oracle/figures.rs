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
}

impl Row {
    fn ms(&self) -> f64 {
        1e3 * self.seconds / self.histories as f64
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

/// Returns a table for each condition: milliseconds a history, and in brackets how many ended undecided.
pub(super) fn table(rows: &[Row]) -> String {
    let mut text = String::new();
    for condition in distinct(rows, |row| &row.condition) {
        let of: Vec<&Row> = rows.iter().filter(|row| row.condition == condition).collect();
        let strategies = distinct(rows, |row| &row.strategy);
        let strategies: Vec<&str> =
            strategies.into_iter().filter(|strategy| of.iter().any(|row| row.strategy == *strategy)).collect();
        let mut sizes: Vec<u64> = of.iter().map(|row| row.size).collect();
        sizes.sort_unstable();
        sizes.dedup();
        let header = std::iter::once(condition.to_owned()).chain(sizes.iter().map(u64::to_string)).collect();
        let cell = |strategy: &str, size: u64| {
            let row = of.iter().find(|row| row.strategy == strategy && row.size == size);
            row.map_or_else(
                || "-".to_owned(),
                |row| match row.undecided {
                    0 => format!("{:.2}", row.ms()),
                    undecided => format!("{:.2} ({undecided})", row.ms()),
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
    text
}

const PANEL_WIDTH: f64 = 300.0;
const PANEL_HEIGHT: f64 = 210.0;
const MARGIN: f64 = 48.0;
const TOP: f64 = 58.0;
/// Colours that differ in lightness, too (Okabe and Ito).
const COLOURS: [&str; 6] = ["#d55e00", "#e69f00", "#009e73", "#56b4e9", "#0b3d66", "#cc79a7"];

/// Returns an SVG with a panel for each condition: milliseconds a history on a logarithmic axis, by size. A hollow point
/// has histories that ended undecided, so their search would have gone on.
pub(super) fn plot(rows: &[Row]) -> String {
    let conditions = distinct(rows, |row| &row.condition);
    let strategies = distinct(rows, |row| &row.strategy);
    let (lines, columns) = (conditions.len().div_ceil(2), 2);
    let (width, height) =
        (columns as f64 * (PANEL_WIDTH + MARGIN) + 16.0, lines as f64 * (PANEL_HEIGHT + MARGIN + 12.0) + TOP);
    let least = rows.iter().map(Row::ms).fold(f64::INFINITY, f64::min).max(1e-3).log10().floor();
    let most = rows.iter().map(Row::ms).fold(0.0, f64::max).max(1e-2).log10().ceil();
    let sizes = || rows.iter().map(|row| row.size as f64);
    let (first, last) = (sizes().fold(f64::INFINITY, f64::min), sizes().fold(0.0, f64::max));

    let mut svg = String::new();
    let mut line = |text: std::fmt::Arguments<'_>| writeln!(svg, "{text}").expect("a string takes all");
    line(format_args!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0} {height:.0}" font-family="sans-serif" font-size="12" role="img" aria-label="Milliseconds a history by sessions and calls, for each strategy">"##
    ));
    line(format_args!(r##"<rect width="{width:.0}" height="{height:.0}" fill="#fff"/>"##));
    for (number, (strategy, colour)) in strategies.iter().zip(COLOURS).enumerate() {
        let x = MARGIN + number as f64 * ((width - MARGIN) / strategies.len() as f64).min(128.0);
        line(format_args!(
            r##"<path d="M{x} 20h18" stroke="{colour}" stroke-width="2"/><text x="{:.0}" y="24">{strategy}</text>"##,
            x + 24.0
        ));
    }
    for (number, condition) in conditions.iter().enumerate() {
        let left = MARGIN + (number % columns) as f64 * (PANEL_WIDTH + MARGIN);
        let top = TOP + (number / columns) as f64 * (PANEL_HEIGHT + MARGIN + 12.0);
        let x = |size: u64| left + (size as f64 - first) / (last - first).max(1.0) * (PANEL_WIDTH - 16.0);
        let y = |ms: f64| top + PANEL_HEIGHT * (most - ms.max(1e-3).log10()) / (most - least).max(1.0);
        line(format_args!(r##"<text x="{left}" y="{:.0}" font-weight="bold">{condition}</text>"##, top - 10.0));
        let (mut decade, bottom) = (least, top + PANEL_HEIGHT);
        while decade <= most {
            let (ms, height) = (10_f64.powf(decade), y(10_f64.powf(decade)));
            line(format_args!(
                r##"<path d="M{left} {height:.1}h{PANEL_WIDTH}" stroke="#ddd"/><text x="{:.0}" y="{:.1}" text-anchor="end" fill="#444">{ms}</text>"##,
                left - 6.0,
                height + 4.0
            ));
            decade += 1.0;
        }
        for (strategy, colour) in strategies.iter().zip(COLOURS) {
            let of: Vec<&Row> =
                rows.iter().filter(|row| row.condition == *condition && row.strategy == *strategy).collect();
            let points: Vec<String> = of.iter().map(|row| format!("{:.1},{:.1}", x(row.size), y(row.ms()))).collect();
            line(format_args!(
                r##"<polyline points="{}" fill="none" stroke="{colour}" stroke-width="2"/>"##,
                points.join(" ")
            ));
            for row in of {
                let fill = if row.undecided == 0 { colour } else { "#fff" };
                line(format_args!(
                    r##"<circle cx="{:.1}" cy="{:.1}" r="3.5" fill="{fill}" stroke="{colour}" stroke-width="1.5"><title>{strategy}, {}: {:.2} ms, {} of {} undecided</title></circle>"##,
                    x(row.size),
                    y(row.ms()),
                    row.size,
                    row.ms(),
                    row.undecided,
                    row.histories
                ));
            }
        }
        let mut sizes: Vec<u64> = rows.iter().map(|row| row.size).collect();
        sizes.sort_unstable();
        sizes.dedup();
        for size in sizes {
            line(format_args!(
                r##"<text x="{:.1}" y="{:.0}" text-anchor="middle" fill="#444">{size}</text>"##,
                x(size),
                bottom + 16.0
            ));
        }
    }
    line(format_args!(
        r##"<text x="{MARGIN}" y="{:.0}" fill="#444">across: sessions, and calls of each; up: ms a history; hollow: not all were decided</text>"##,
        height - 8.0
    ));
    svg.push_str("</svg>\n");
    svg
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
            "| strict |    2 |          3 |\n| ------ | ---: | ---------: |\n| slow   | 1.00 | 100.00 (1) |\n| fast   | 0.50 |       0.50 |\n| gone   | 1.00 |          - |\n\n"
        );
        let svg = plot(&rows);
        assert_eq!(svg.matches("<circle").count(), 5);
        assert_eq!(svg.matches(r##"fill="#fff" stroke="##).count(), 1);
    }
}
