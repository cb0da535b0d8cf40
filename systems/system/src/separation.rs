//! Separations: when components of a run are cut off from all others.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};
use simutant_random::Random;
use simutant_sim_core::VirtualTime;
use simutant_sim_core::network::ScheduledPartition;

use crate::{Domain, InvalidTestCase, Lengths};

/// The separations that a test case may have: how many, of which components, when and for how long.
///
/// ```
/// use simutant_random::Random;
/// use simutant_system::{Separation, Separations};
///
/// let separations = Separations { count: 0..=2, components: 1..=3, begin_ms: 0..=200, for_ms: 20..=500 };
/// let partitions: Vec<Separation> = separations.draw(&mut Random::from_seed(1));
/// assert!(separations.check("partitions", &partitions).is_ok());
///
/// let nobody = [Separation { components: [].into(), at_ms: 10, for_ms: 90 }];
/// let refused = separations.check("partitions", &nobody).unwrap_err();
/// assert!(refused.to_string().starts_with("partitions[0].components"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Separations {
    /// How many there are.
    pub count: RangeInclusive<usize>,
    /// The components that may be cut off, by numbers that the system gives them.
    pub components: RangeInclusive<usize>,
    /// When they begin, in milliseconds of virtual time.
    pub begin_ms: RangeInclusive<u64>,
    /// How long they last, in milliseconds; at least 1.
    pub for_ms: RangeInclusive<u64>,
}

/// Some components are cut off from all others for a time.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Separation {
    /// The numbers of the components, which reach each other.
    pub components: BTreeSet<usize>,
    /// When it begins, in milliseconds of virtual time.
    pub at_ms: u64,
    /// For how long, in milliseconds.
    pub for_ms: u64,
}

impl Separations {
    /// Draws separations, each of one component at least, and of all at most.
    pub fn draw(&self, random: &mut Random) -> Vec<Separation> {
        let Self { count, components, begin_ms, for_ms } = self;
        let count = count.draw(random);
        let one = |_| {
            let mut numbers: Vec<usize> = components.clone().collect();
            random.shuffle(&mut numbers);
            numbers.truncate((1..=numbers.len()).draw(random));
            let (at_ms, for_ms) = (begin_ms.draw(random), for_ms.draw(random));
            Separation { components: numbers.into_iter().collect(), at_ms, for_ms }
        };
        (0..count).map(one).collect()
    }

    /// Checks the separations of a field.
    ///
    /// # Errors
    /// [`InvalidTestCase`] for the first that cannot be.
    pub fn check(&self, field: &str, separations: &[Separation]) -> Result<(), InvalidTestCase> {
        let Self { count, components, begin_ms, for_ms } = self;
        Lengths(count.clone()).check(field, &separations.len())?;
        for (index, separation) in separations.iter().enumerate() {
            let of = format!("{field}[{index}].components");
            Lengths(1..=components.clone().count()).check(of.clone(), &separation.components.len())?;
            for component in &separation.components {
                components.check(of.clone(), component)?;
            }
            begin_ms.check(format!("{field}[{index}].at_ms"), &separation.at_ms)?;
            for_ms.check(format!("{field}[{index}].for_ms"), &separation.for_ms)?;
        }
        Ok(())
    }
}

impl Separation {
    /// Returns the partition of a network, in which components have names.
    pub fn partition(&self, name: impl Fn(usize) -> String) -> ScheduledPartition {
        ScheduledPartition {
            from: VirtualTime::from_millis(self.at_ms),
            until: Some(VirtualTime::from_millis(self.at_ms + self.for_ms)),
            groups: vec![self.components.iter().map(|number| name(*number)).collect()],
        }
    }
}
