//! Small helpers of the drawings.

use maud::{Markup, html};

/// A straight mapping of values to coordinates.
#[derive(Debug, Clone, Copy)]
pub(super) struct Scale {
    from: (f64, f64),
    to: (f64, f64),
}

impl Scale {
    /// Maps `from.0` to `to.0` and `from.1` to `to.1`.
    pub(super) fn new(from: (f64, f64), to: (f64, f64)) -> Self {
        Self { from, to }
    }

    /// Returns the coordinate of `value`.
    pub(super) fn at(self, value: f64) -> f64 {
        let width = self.from.1 - self.from.0;
        let share = if width == 0.0 { 0.0 } else { (value - self.from.0) / width };
        self.to.0 + share * (self.to.1 - self.to.0)
    }
}

/// Writes a coordinate with one decimal.
pub(super) fn px(value: f64) -> String {
    format!("{value:.1}")
}

/// Writes points as the `points` of a line or an area.
pub(super) fn polyline(points: impl IntoIterator<Item = (f64, f64)>) -> String {
    let points: Vec<String> = points.into_iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
    points.join(" ")
}

/// A text whose middle is at `x`.
pub(super) fn label(x: f64, y: f64, text: &str) -> Markup {
    html! { text x=(px(x)) y=(px(y)) text-anchor="middle" { (text) } }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_scale_maps_its_ends_and_survives_an_empty_range() {
        let scale = Scale::new((0.0, 1.0), (100.0, 0.0));
        assert_eq!((scale.at(0.0), scale.at(0.25), scale.at(1.0)), (100.0, 75.0, 0.0));
        assert_eq!(Scale::new((3.0, 3.0), (5.0, 9.0)).at(3.0), 5.0);
    }
}
