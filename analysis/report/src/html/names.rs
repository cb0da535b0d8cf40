//! Where the names of points stand in a drawing: beside their points, and over no point and no other name.

use maud::{Markup, html};

use super::svg::px;

/// How wide a letter is, and how high a line, at the size of names.
const LETTER: f64 = 6.7;
const LINE: f64 = 14.0;
/// Half of the side of a point.
const POINT: f64 = 6.0;
/// From a point to its name.
const DISTANCE: f64 = 9.0;
/// How many lines a name may stand above or below its point.
const LINES_MAX: u32 = 12;

/// A part of a drawing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Area {
    pub(super) left: f64,
    pub(super) top: f64,
    pub(super) right: f64,
    pub(super) bottom: f64,
}

impl Area {
    /// The area around a point.
    fn around(x: f64, y: f64) -> Self {
        Self { left: x - POINT, top: y - POINT, right: x + POINT, bottom: y + POINT }
    }

    /// The area of a text that begins at `x` on the line `y`.
    pub(super) fn of_text(x: f64, y: f64, text: &str) -> Self {
        Self { left: x, top: y - LINE + 3.0, right: x + LETTER * text.chars().count() as f64, bottom: y + 3.0 }
    }

    pub(super) fn overlaps(&self, other: &Self) -> bool {
        self.left < other.right && other.left < self.right && self.top < other.bottom && other.top < self.bottom
    }

    pub(super) fn has(&self, x: f64, y: f64) -> bool {
        (self.left..=self.right).contains(&x) && (self.top..=self.bottom).contains(&y)
    }

    fn is_within(&self, other: &Self) -> bool {
        self.left >= other.left && self.right <= other.right && self.top >= other.top && self.bottom <= other.bottom
    }
}

/// Draws the names of points, which are in coordinates of the drawing; a name that stands away from its point has a
/// line to it.
pub(super) fn names(points: &[(&str, f64, f64)], drawing: Area) -> Markup {
    html! {
        @for (place, (name, x, y)) in placed(points, drawing).into_iter().zip(points) {
            @if (place.1 - y).abs() > 1.5 * LINE {
                line.leader x1=(px(*x)) y1=(px(*y)) x2=(px(place.0 + if place.0 > *x { 0.0 } else { LETTER * name.chars().count() as f64 })) y2=(px(place.1 - 4.0)) {}
            }
            text.name x=(px(place.0)) y=(px(place.1)) { (name) }
        }
    }
}

/// Returns where each name begins.
fn placed(points: &[(&str, f64, f64)], drawing: Area) -> Vec<(f64, f64)> {
    let of_points: Vec<Area> = points.iter().map(|(_, x, y)| Area::around(*x, *y)).collect();
    let mut taken: Vec<Area> = Vec::with_capacity(points.len());
    let mut places = Vec::with_capacity(points.len());
    for (name, x, y) in points {
        let width = LETTER * name.chars().count() as f64;
        let beside = |shift: f64| [(x + DISTANCE, y + 4.0 + shift), (x - DISTANCE - width, y + 4.0 + shift)];
        let near = [(x - width / 2.0, y - DISTANCE), (x - width / 2.0, y + DISTANCE + LINE - 4.0)];
        let shifts = (1..=LINES_MAX).flat_map(|lines| [LINE, -LINE].map(|line| line * f64::from(lines)));
        let candidates = beside(0.0).into_iter().chain(near).chain(shifts.flat_map(beside));
        let is_free = |place: &(f64, f64)| {
            let area = Area::of_text(place.0, place.1, name);
            area.is_within(&drawing) && !of_points.iter().chain(&taken).any(|other| area.overlaps(other))
        };
        let place = candidates.clone().find(is_free).unwrap_or((x + DISTANCE, y + 4.0));
        taken.push(Area::of_text(place.0, place.1, name));
        places.push(place);
    }
    places
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const DRAWING: Area = Area { left: 0.0, top: 0.0, right: 760.0, bottom: 330.0 };

    proptest! {
        #[test]
        fn names_cover_no_point_and_no_other_name(
            places in prop::collection::vec((60.0..700.0_f64, 20.0..300.0_f64), 1..14),
            crowd in 0.05..1.0_f64,
        ) {
            // All points are near each other, as criteria often are.
            let points: Vec<(&str, f64, f64)> =
                places.iter().map(|(x, y)| ("all-branches", 300.0 + (x - 300.0) * crowd, 150.0 + (y - 150.0) * crowd)).collect();
            let found = placed(&points, DRAWING);
            let areas: Vec<Area> = found.iter().map(|(x, y)| Area::of_text(*x, *y, "all-branches")).collect();
            for (index, area) in areas.iter().enumerate() {
                prop_assert!(area.is_within(&DRAWING), "{:?}", area);
                prop_assert!(!areas[..index].iter().any(|other| area.overlaps(other)), "{:?}", found);
                prop_assert!(!points.iter().any(|(_, x, y)| area.overlaps(&Area::around(*x, *y))), "{:?}", found);
            }
        }
    }

    #[test]
    fn a_name_stands_to_the_right_where_there_is_room() {
        let points = [("a", 100.0, 100.0), ("b", 755.0, 100.0)];
        let found = placed(&points, DRAWING);
        assert_eq!(found[0], (109.0, 104.0));
        assert!(found[1].0 < 755.0 && found[1].1 == 104.0, "{found:?}");
    }
}
