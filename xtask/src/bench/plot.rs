//! The plot of what an event costs against the number of components.

use std::fmt::Write;

use super::Measurement;
use super::workload::grouped;

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 360.0;
const LEFT: f64 = 64.0;
const RIGHT: f64 = 520.0;
const TOP: f64 = 24.0;
const BOTTOM: f64 = 300.0;

/// Returns an SVG of the processor time of an event in the engine and in the bare loop, by the number of components,
/// which are powers of ten in rising order.
///
/// The cost begins at zero, so that heights compare; the number of components is on a logarithmic axis.
pub(super) fn cost_by_components(measurements: &[Measurement]) -> String {
    let cost_max = measurements.iter().flat_map(|row| [row.ns_per_unit, row.bare_ns_per_unit]).fold(1.0, f64::max);
    let step = tick_step(cost_max);
    let ticks = (cost_max / step).ceil() as u32;
    let (first, last) = match measurements {
        [] => (1.0, 10.0),
        [first, .., last] => (f64::from(first.n), f64::from(last.n)),
        [only] => (f64::from(only.n), 10.0 * f64::from(only.n)),
    };
    let x = |n: u32| LEFT + (f64::from(n) / first).log10() / (last / first).log10() * (RIGHT - LEFT);
    let y = |cost: f64| BOTTOM - cost / (step * f64::from(ticks)) * (BOTTOM - TOP);

    let mut svg = String::new();
    let mut line = |text: std::fmt::Arguments<'_>| writeln!(svg, "{text}").expect("a string takes all");
    line(format_args!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" font-family="sans-serif" font-size="13" role="img" aria-label="Processor time of an event by the number of components">"##
    ));
    line(format_args!(r##"<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>"##));
    for tick in 0..=ticks {
        let cost = step * f64::from(tick);
        let height = y(cost);
        line(format_args!(
            r##"<path d="M{LEFT} {height:.1}H{RIGHT}" stroke="#ddd"/><text x="{:.1}" y="{:.1}" text-anchor="end" fill="#444">{cost}</text>"##,
            LEFT - 8.0,
            height + 4.5
        ));
    }
    for row in measurements {
        let across = x(row.n);
        line(format_args!(
            r##"<path d="M{across:.1} {BOTTOM}v5" stroke="#444"/><text x="{across:.1}" y="{:.1}" text-anchor="middle" fill="#444">{}</text>"##,
            BOTTOM + 20.0,
            grouped(row.n)
        ));
    }
    line(format_args!(r##"<path d="M{LEFT} {BOTTOM}H{RIGHT}" stroke="#444"/>"##));
    let middle = LEFT.midpoint(RIGHT);
    line(format_args!(
        r##"<text x="{middle}" y="{}" text-anchor="middle">components that sleep (logarithmic)</text>"##,
        HEIGHT - 16.0
    ));
    let middle = TOP.midpoint(BOTTOM);
    line(format_args!(
        r##"<text transform="translate(18 {middle}) rotate(-90)" text-anchor="middle">processor time of an event, ns</text>"##
    ));
    let series: [Series; 2] =
        [("simutant", "#0b6e99", |row| row.ns_per_unit), ("bare loop", "#b4530a", |row| row.bare_ns_per_unit)];
    // The names stand at the ends of the lines, and keep apart where these do not.
    let ends = series.map(|(_, _, cost)| measurements.last().map_or(BOTTOM, |row| y(cost(row))));
    let apart = (16.0 - (ends[0] - ends[1]).abs()).max(0.0) / 2.0;
    let shifts = if ends[0] <= ends[1] { [-apart, apart] } else { [apart, -apart] };
    for (index, (name, colour, cost)) in series.into_iter().enumerate() {
        let points: Vec<String> =
            measurements.iter().map(|row| format!("{:.1},{:.1}", x(row.n), y(cost(row)))).collect();
        line(format_args!(
            r##"<polyline points="{}" fill="none" stroke="{colour}" stroke-width="2"/>"##,
            points.join(" ")
        ));
        for row in measurements {
            let (across, height, cost) = (x(row.n), y(cost(row)), cost(row));
            let n = grouped(row.n);
            line(format_args!(
                r##"<circle cx="{across:.1}" cy="{height:.1}" r="3.5" fill="{colour}"><title>{name}, {n} components: {cost:.1} ns</title></circle>"##
            ));
        }
        line(format_args!(
            r##"<text x="{}" y="{:.1}" fill="{colour}">{name}</text>"##,
            RIGHT + 10.0,
            ends[index] + shifts[index] + 4.5
        ));
    }
    line(format_args!("</svg>"));
    svg
}

/// A line: its name, its colour, and what it shows of a measurement.
type Series = (&'static str, &'static str, fn(&Measurement) -> f64);

/// Returns 1, 2 or 5 times a power of ten, such that four to ten steps reach `max`.
fn tick_step(max: f64) -> f64 {
    let power = 10_f64.powf(max.log10().floor());
    let step = [0.1, 0.2, 0.5].into_iter().find(|step| max / (step * power) <= 10.0);
    step.unwrap_or(1.0) * power
}

#[cfg(test)]
mod tests {
    use super::super::{Engine, Kind};
    use super::*;

    #[test]
    fn steps_are_round_and_few() {
        for (max, step) in [(9.0, 1.0), (47.3, 5.0), (110.0, 20.0), (580.0, 100.0), (1_000.0, 100.0)] {
            assert!((tick_step(max) - step).abs() < 1e-9, "{max}: {}", tick_step(max));
        }
    }

    #[test]
    fn twice_the_cost_is_twice_as_high() {
        let row = |n, cost| Measurement {
            engine: Engine::Simutant,
            workload: Kind::Hold,
            n,
            timeout_ms: None,
            ratio: 2.0,
            ratio_min: 2.0,
            ratio_median: 2.0,
            ratio_max: 2.0,
            ns_per_unit: 2.0 * cost,
            bare_ns_per_unit: cost,
            peak_memory_bytes: None,
        };
        let svg = cost_by_components(&[row(10, 25.0), row(100, 50.0), row(1_000, 50.0)]);
        // The axis ends at 100 ns, 276 above its start, and each power of ten takes half of its length of 456.
        assert!(svg.contains(r#"<polyline points="64.0,162.0 292.0,24.0 520.0,24.0""#), "{svg}");
        assert!(svg.contains(r#"<polyline points="64.0,231.0 292.0,162.0 520.0,162.0""#), "{svg}");
        assert!(svg.contains("simutant, 1,000 components: 100.0 ns"), "{svg}");
    }
}
