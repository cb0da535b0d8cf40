//! Holds: when packets from one component to another are held back.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};
use simutant_random::Random;
use simutant_sim_core::VirtualTime;
use simutant_sim_core::network::{Effect, Rule};

use crate::{Domain, InvalidTestCase, Lengths};

/// The holds that a test case may have: how many, of packets between whom, when and for how long.
///
/// ```
/// use simutant_random::Random;
/// use simutant_system::{Hold, Holds};
///
/// let ways = vec![["client".to_owned(), "server".to_owned()]];
/// let holds = Holds { count: 1..=2, ways, begin_ms: 0..=200, for_ms: 20..=500 };
/// let drawn: Vec<Hold> = holds.draw(&mut Random::from_seed(1));
/// assert!(holds.check("holds", &drawn).is_ok());
///
/// let back = Hold { from: "server".into(), to: "client".into(), at_ms: 10, for_ms: 90 };
/// let refused = holds.check("holds", &[back]).unwrap_err();
/// assert_eq!(refused.to_string(), "holds[0] is from server to client: it must be a way of packets");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Holds {
    /// How many there are.
    pub count: RangeInclusive<usize>,
    /// The pairs of a component that sends packets and one that receives them.
    pub ways: Vec<[String; 2]>,
    /// When they begin, in milliseconds of virtual time.
    pub begin_ms: RangeInclusive<u64>,
    /// How long they last, in milliseconds; at least 1.
    pub for_ms: RangeInclusive<u64>,
}

/// Packets from one component to another that are sent in an interval go on their way at its end. What others send
/// overtakes them.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hold {
    /// The name of the component that sends them.
    pub from: String,
    /// The name of the component that receives them.
    pub to: String,
    /// When it begins, in milliseconds of virtual time.
    pub at_ms: u64,
    /// For how long, in milliseconds.
    pub for_ms: u64,
}

impl Holds {
    /// Draws holds, each of which has any of the ways.
    ///
    /// # Panics
    /// If there must be holds, and there are no ways.
    pub fn draw(&self, random: &mut Random) -> Vec<Hold> {
        let Self { count, ways, begin_ms, for_ms } = self;
        let count = count.draw(random);
        let one = |_| {
            let [from, to] = ways[(0..=ways.len() - 1).draw(random)].clone();
            Hold { from, to, at_ms: begin_ms.draw(random), for_ms: for_ms.draw(random) }
        };
        (0..count).map(one).collect()
    }

    /// Checks the holds of a field.
    ///
    /// # Errors
    /// [`InvalidTestCase`] for the first that cannot be.
    pub fn check(&self, field: &str, holds: &[Hold]) -> Result<(), InvalidTestCase> {
        Lengths(self.count.clone()).check(field, &holds.len())?;
        for (index, Hold { from, to, at_ms, for_ms }) in holds.iter().enumerate() {
            let field = format!("{field}[{index}]");
            self.begin_ms.check(format!("{field}.at_ms"), at_ms)?;
            self.for_ms.check(format!("{field}.for_ms"), for_ms)?;
            if !self.ways.iter().any(|[source, destination]| source == from && destination == to) {
                return Err(InvalidTestCase::new(field, format_args!("from {from} to {to}"), "a way of packets"));
            }
        }
        Ok(())
    }
}

impl Hold {
    /// Returns the rule of a network.
    ///
    /// ```
    /// use simutant_sim_core::VirtualTime;
    /// use simutant_sim_core::network::Effect;
    /// use simutant_system::Hold;
    ///
    /// let rule = Hold { from: "client".into(), to: "server".into(), at_ms: 10, for_ms: 90 }.rule();
    /// let end = VirtualTime::from_millis(100);
    /// assert_eq!((rule.since, rule.until), (VirtualTime::from_millis(10), Some(end)));
    /// assert_eq!((rule.from.as_deref(), rule.effect), (Some("client"), Effect::HoldUntil(end)));
    /// ```
    pub fn rule(&self) -> Rule {
        let until = VirtualTime::from_millis(self.at_ms + self.for_ms);
        Rule {
            from: Some(self.from.clone()),
            to: Some(self.to.clone()),
            since: VirtualTime::from_millis(self.at_ms),
            until: Some(until),
            ..Rule::of(Effect::HoldUntil(until))
        }
    }
}
