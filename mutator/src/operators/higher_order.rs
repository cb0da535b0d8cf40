//! HOM, higher-order mutation: two mutants of other operators at once, in two functions that follow one another in the
//! source.
//!
//! Shows whether one fault hides another, and how far the scores of single faults say something about several. Source:
//! Jia and Harman, "Higher order mutation testing" (Information and Software Technology, 2009); pairs rather than
//! larger sets, each mutant in few of them, as in Polo, Piattini and García-Rodríguez, "Decreasing the cost of mutation
//! testing with second-order mutants" (STVR, 2009). Of the pairs that two functions have, each mutant of the first one
//! is in exactly one, so there are not more pairs than mutants. Functions that follow one another belong together more
//! often than others do, and their mutants have adjoining numbers: a function with mutants tests one range of numbers
//! per call, and a pair lies in the ranges of both.

use simutant_outcomes::{Class, Tier};

use super::operator::{Change, Context, Operator, Place};
use crate::text::identity::Hash;

/// What there is to say about pairs; they are made of all mutants that compile, when these are numbered.
pub(crate) const HIGHER_ORDER: Operator = Operator { name: "HOM", tier: Tier::C, class: Class::General, changes };

fn changes(_place: Place<'_>, _context: &Context<'_>) -> Vec<Change> {
    Vec::new()
}

/// Returns which of `others` goes with the mutant `identity`, and the pair's identity; `None` if there are none.
///
/// The choice is by the smallest hash of both identities, so that it stays as it is when other mutants come and go
/// (rendezvous hashing; Thaler and Ravishankar, 1998).
pub(crate) fn partner<'a>(identity: &str, others: impl IntoIterator<Item = &'a str>) -> Option<(usize, String)> {
    let hash = |other: &str| {
        let mut hash = Hash::default();
        for part in [HIGHER_ORDER.name, identity, other] {
            hash.write(part.as_bytes());
            hash.write(&[0]);
        }
        hash.mixed()
    };
    let (hash, index) = others.into_iter().enumerate().map(|(index, other)| (hash(other), index)).min()?;
    Some((index, format!("{hash:016x}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_partner_stays_when_others_come_and_go() {
        let others: Vec<String> = (0..40).map(|number| format!("{number:016x}")).collect();
        let all = || others.iter().map(String::as_str);
        let mut chosen = std::collections::BTreeSet::new();
        for mutant in 100..200 {
            let mutant = format!("{mutant:016x}");
            let (index, identity) = partner(&mutant, all()).expect("there are others");
            chosen.insert(index);
            let without =
                all().enumerate().filter(|(other, _)| other % 3 != 0 || *other == index).map(|(_, other)| other);
            assert_eq!(partner(&mutant, without).expect("some are left").1, identity);
        }
        assert!(chosen.len() > 20, "{chosen:?}");
        assert_eq!(partner("a", []), None);
    }
}
