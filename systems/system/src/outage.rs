//! Outages: when components of a run are down, drawn so that each changes something.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};
use simutant_random::Random;
use simutant_sim_core::trace::DurableState;
use simutant_sim_core::{Fault, ScheduledFault, VirtualTime};

use crate::{Domain, InvalidTestCase, Lengths};

/// The outages that a test case may have: how many, of which components, when and for how long.
///
/// Crashes that are drawn one by one overlap: a component that is down cannot crash. Those that are drawn by
/// [`Outages::draw`] do not. None begins later than the last instant of `begin_ms`: let that be one at which a run without
/// outages still goes on, such as the number of requests times the latency of one, since nobody notices a crash after the
/// end of a run.
///
/// ```
/// use simutant_random::Random;
/// use simutant_sim_core::Faults;
/// use simutant_system::{Outage, Outages};
///
/// let outages = Outages { count: 0..=3, components: 1..=2, begin_ms: 0..=200, for_ms: 1..=500 };
/// let crashes: Vec<Outage> = outages.draw(&mut Random::from_seed(1));
/// assert!(outages.check("crashes", &crashes).is_ok());
///
/// // For `Simulation::faults`: component 1 is the one that was added as `server-1`.
/// let schedule = crashes.iter().flat_map(|crash| crash.crash(format!("server-{}", crash.component))).collect();
/// let faults = Faults { schedule, ..Faults::default() };
/// assert_eq!(faults.schedule.len(), 2 * crashes.len());
///
/// // A component crashes again when it is up again.
/// let twice = [Outage { component: 1, at_ms: 10, for_ms: 90 }, Outage { component: 1, at_ms: 100, for_ms: 5 }];
/// let refused = outages.check("crashes", &twice).unwrap_err();
/// assert_eq!(refused.to_string(), "crashes[1].at_ms is 100: it must be above 100, when component 1 is up again");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outages {
    /// How many there are.
    pub count: RangeInclusive<usize>,
    /// The components that may be down, by numbers that the system gives them.
    pub components: RangeInclusive<usize>,
    /// When they begin, in milliseconds of virtual time.
    pub begin_ms: RangeInclusive<u64>,
    /// How long they last, in milliseconds; at least 1. The last one of a component may end after the run.
    pub for_ms: RangeInclusive<u64>,
}

/// A component is down for a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outage {
    /// The number of the component.
    pub component: usize,
    /// When it goes down, in milliseconds of virtual time.
    pub at_ms: u64,
    /// For how long, in milliseconds.
    pub for_ms: u64,
}

impl Outages {
    /// Draws outages in the order in which they begin. Of one component, all instants at which they may begin are equally
    /// likely, given how long each lasts.
    ///
    /// # Panics
    /// If so many of the shortest outages of one component do not fit in: `begin_ms` must span one millisecond more than
    /// the shortest outage lasts, for each of `count` but one.
    pub fn draw(&self, random: &mut Random) -> Vec<Outage> {
        let Self { count, components, begin_ms, for_ms } = self;
        let mut counts: BTreeMap<usize, u64> = BTreeMap::new();
        for _ in 0..count.draw(random) {
            *counts.entry(components.draw(random)).or_default() += 1;
        }
        let mut outages = Vec::new();
        for (component, count) in counts {
            // Between two of them it is up for a millisecond at least.
            let shortest = for_ms.start() + 1;
            let fits = (begin_ms.end() - begin_ms.start()).checked_sub((count - 1) * shortest);
            let mut free =
                fits.unwrap_or_else(|| panic!("{count} outages of {shortest} ms do not fit into {begin_ms:?} ms"));
            let mut lengths = Vec::new();
            for number in 1..=count {
                let longest = *for_ms.end();
                // What follows the last one is no matter.
                let longest = if number < count { longest.min(for_ms.start() + free) } else { longest };
                let length = (*for_ms.start()..=longest).draw(random);
                if number < count {
                    free -= length - for_ms.start();
                }
                lengths.push(length);
            }
            // Sorted places in what is left, with the outages put in between, are all that there are.
            let mut places: Vec<u64> = lengths.iter().map(|_| (0..=free).draw(random)).collect();
            places.sort_unstable();
            let mut before = *begin_ms.start();
            for (place, for_ms) in places.into_iter().zip(lengths) {
                outages.push(Outage { component, at_ms: before + place, for_ms });
                before += for_ms + 1;
            }
        }
        outages.sort_by_key(|outage| (outage.at_ms, outage.component));
        outages
    }

    /// Draws one moment at which as many components go down as may, or all: a power failure. Each is down for a time of its own.
    pub fn draw_at_once(&self, random: &mut Random) -> Vec<Outage> {
        let mut components: Vec<usize> = self.components.clone().collect();
        random.shuffle(&mut components);
        components.truncate(*self.count.end());
        components.sort_unstable();
        let at_ms = self.begin_ms.draw(random);
        components.into_iter().map(|component| Outage { component, at_ms, for_ms: self.for_ms.draw(random) }).collect()
    }

    /// Checks the outages of a field: those that are drawn are right, in any order, and others that do not overlap.
    ///
    /// # Errors
    /// [`InvalidTestCase`] for the first that cannot be.
    pub fn check(&self, field: &str, outages: &[Outage]) -> Result<(), InvalidTestCase> {
        Lengths(self.count.clone()).check(field, &outages.len())?;
        for (index, Outage { component, at_ms, for_ms }) in outages.iter().enumerate() {
            self.components.check(format!("{field}[{index}].component"), component)?;
            self.begin_ms.check(format!("{field}[{index}].at_ms"), at_ms)?;
            self.for_ms.check(format!("{field}[{index}].for_ms"), for_ms)?;
        }
        let mut numbered: Vec<(usize, &Outage)> = outages.iter().enumerate().collect();
        numbered.sort_by_key(|(_, outage)| (outage.component, outage.at_ms));
        for pair in numbered.windows(2) {
            let [(_, first), (index, second)] = pair else { continue };
            let up_again = first.at_ms + first.for_ms;
            if first.component == second.component && second.at_ms <= up_again {
                let allowed = format!("above {up_again}, when component {} is up again", first.component);
                return Err(InvalidTestCase::new(format!("{field}[{index}].at_ms"), second.at_ms, allowed));
            }
        }
        Ok(())
    }
}

impl Outage {
    /// Returns the crash of the component of this name, and its restart with its durable state.
    ///
    /// ```
    /// use simutant_sim_core::{Fault, VirtualTime};
    /// use simutant_system::Outage;
    ///
    /// let [crash, restart] = Outage { component: 2, at_ms: 30, for_ms: 500 }.crash("server-2");
    /// assert_eq!(crash.fault, Fault::Crash { component: "server-2".to_owned() });
    /// assert_eq!((crash.at, restart.at), (VirtualTime::from_millis(30), VirtualTime::from_millis(530)));
    /// ```
    pub fn crash(&self, component: impl Into<String>) -> [ScheduledFault; 2] {
        let component = component.into();
        let at = |ms, fault| ScheduledFault { at: VirtualTime::from_millis(ms), fault };
        let restart = Fault::Restart { component: component.clone(), durable_state: DurableState::default() };
        [at(self.at_ms, Fault::Crash { component }), at(self.at_ms + self.for_ms, restart)]
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_drawn_is_admitted_whatever_the_ranges_are(
            (count, more, components) in (0..4_usize, 0..4_usize, 1..4_usize),
            (begin, span, shortest, longer) in (0..50_u64, 0..60_u64, 1..10_u64, 0..100_u64),
            seed: u64,
        ) {
            let most = count + more;
            let span = span + most.saturating_sub(1) as u64 * (shortest + 1);
            let outages = Outages {
                count: count..=most,
                components: 1..=components,
                begin_ms: begin..=begin + span,
                for_ms: shortest..=shortest + longer,
            };
            let drawn = outages.draw(&mut Random::from_seed(seed));
            prop_assert_eq!(outages.check("crashes", &drawn), Ok(()), "{:?} of {:?}", drawn, outages);
            let outages = Outages { count: 0..=most, ..outages };
            let drawn = outages.draw_at_once(&mut Random::from_seed(seed));
            prop_assert_eq!(drawn.len(), most.min(components));
            prop_assert!(drawn.windows(2).all(|pair| pair[0].at_ms == pair[1].at_ms), "{:?}", drawn);
            prop_assert_eq!(outages.check("crashes", &drawn), Ok(()), "{:?} of {:?}", drawn, outages);
        }
    }

    #[test]
    fn every_admitted_list_of_a_small_domain_is_drawn() {
        let outages = Outages { count: 0..=2, components: 0..=1, begin_ms: 3..=6, for_ms: 1..=2 };
        let all: Vec<Outage> = (0..=1)
            .flat_map(|component| {
                (3..=6).flat_map(move |at_ms| (1..=2).map(move |for_ms| Outage { component, at_ms, for_ms }))
            })
            .collect();
        let lists = std::iter::once(Vec::new())
            .chain(all.iter().map(|outage| vec![*outage]))
            .chain(all.iter().flat_map(|first| all.iter().map(|second| vec![*first, *second])));
        let in_order = |list: &Vec<Outage>| list.is_sorted_by_key(|outage| (outage.at_ms, outage.component));
        let admitted: BTreeSet<String> = lists
            .filter(|list| in_order(list) && outages.check("crashes", list).is_ok())
            .map(|list| format!("{list:?}"))
            .collect();
        let mut random = Random::from_seed(1);
        let drawn: BTreeSet<String> = (0..20_000).map(|_| format!("{:?}", outages.draw(&mut random))).collect();
        assert!(drawn == admitted && admitted.len() > 60, "{} of {}", drawn.len(), admitted.len());
    }
}
