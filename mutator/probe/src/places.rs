//! From the numbers that generated code has to those that reports have.
//!
//! Reports number blocks, branches, conditions, pairs and mutants one after the other, function by function. If
//! generated code did so too, an edit that adds a mutant to one function would change the code of all that follow, and
//! the compiler would make them anew. So generated code counts what a function covers from 0 in each function, and the
//! mutants of each function begin at a number that leaves room for more in the one before; the program says where each
//! function begins in reports.

use std::ops::Range;
use std::sync::OnceLock;

/// Where a function begins in the numbers of reports, and its mutants in those of generated code.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Place {
    /// Its first block ...
    pub block: u32,
    /// ... branch ...
    pub branch: u32,
    /// ... condition ...
    pub condition: u32,
    /// ... definition-use pair ...
    pub pair: u32,
    /// ... and mutant in reports.
    pub mutant: u32,
    /// How many mutants it has that no function before it has a part of.
    pub mutants: u32,
    /// The first of these in generated code; without any, the first that there could be.
    pub code: u32,
}

impl Place {
    fn in_code(&self) -> Range<u32> {
        self.code..self.code + self.mutants
    }
}

static PLACES: OnceLock<&'static [Place]> = OnceLock::new();

/// Says where the functions of this program are, by their numbers; to be called before any run.
///
/// In a program that does not say so, mutants have the numbers of generated code, and what is covered has those that
/// [`FunctionMarks::new`](crate::FunctionMarks::new) is given.
///
/// # Panics
/// If it was said before.
pub fn place(places: &'static [Place]) {
    PLACES.set(places).expect("a program says once where its functions are");
}

/// Returns where the functions are; nothing if the program does not say it.
fn places() -> &'static [Place] {
    PLACES.get().copied().unwrap_or_default()
}

/// Returns where a function is.
///
/// # Panics
/// If the program says where others are, but not this one.
pub(crate) fn place_of(function: u32) -> Place {
    PLACES.get().map_or_else(Place::default, |places| places[function as usize])
}

/// Returns the number in generated code of a mutant; one that there is not stays one that there is not.
pub(crate) fn code_of(mutant: u32) -> u32 {
    code_in(places(), mutant)
}

fn code_in(places: &[Place], mutant: u32) -> u32 {
    let before = places.partition_point(|place| place.mutant + place.mutants <= mutant);
    match places.get(before) {
        Some(place) => place.code + (mutant - place.mutant),
        None => places.last().map_or(mutant, |last| {
            let beyond = mutant - (last.mutant + last.mutants);
            last.in_code().end.saturating_add(beyond)
        }),
    }
}

/// Calls `visit` with the numbers of reports of the first of some mutants, and with their numbers in generated code:
/// first to last those of all mutants, of which there are `count`.
pub(crate) fn for_each_range(count: usize, visit: impl FnMut(u32, Range<u32>)) {
    for_each_range_in(places(), count, visit);
}

fn for_each_range_in(places: &[Place], count: usize, mut visit: impl FnMut(u32, Range<u32>)) {
    let count = count as u32;
    if places.is_empty() {
        return visit(0, 0..count);
    }
    for place in places.iter().filter(|place| place.mutants > 0 && place.mutant < count) {
        let mutants = place.mutants.min(count - place.mutant);
        visit(place.mutant, place.code..place.code + mutants);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_mutants(counts: &[(u32, u32)]) -> Vec<Place> {
        let mut mutant = 0;
        let place = |&(mutants, code): &(u32, u32)| {
            let place = Place { mutant, mutants, code, ..Place::default() };
            mutant += mutants;
            place
        };
        counts.iter().map(place).collect()
    }

    #[test]
    fn each_mutant_has_one_number_in_code_and_back() {
        let places = with_mutants(&[(2, 0), (0, 32), (3, 64), (1, 96), (0, 128)]);
        let codes: Vec<u32> = (0..8).map(|mutant| code_in(&places, mutant)).collect();
        assert_eq!(codes, [0, 1, 64, 65, 66, 96, 128, 129], "those that are none have numbers of none");
        assert_eq!(code_in(&places, u32::MAX), u32::MAX);
        for count in 0..=6 {
            let mut listed = Vec::new();
            for_each_range_in(&places, count, |mutant, codes| {
                listed.extend((mutant..).zip(codes));
            });
            let expect: Vec<(u32, u32)> = (0..count as u32).map(|mutant| (mutant, code_in(&places, mutant))).collect();
            assert_eq!(listed, expect);
        }
    }

    #[test]
    fn where_nothing_is_said_the_numbers_are_those_of_reports() {
        assert_eq!((0..9).map(code_of).collect::<Vec<_>>(), (0..9).collect::<Vec<_>>());
        let mut ranges = Vec::new();
        for_each_range(9, |mutant, codes| ranges.push((mutant, codes)));
        assert_eq!(ranges, [(0, 0..9)]);
        assert_eq!(place_of(3), Place::default());
    }
}
