//! The cost oracle: runs that pass, and cost much more or much less than the original's.

use std::collections::BTreeMap;
use std::fmt::{Display, Formatter};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::{BitSet, Cause, Outcomes, ReasonCount};

/// What of a run is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CostMeasure {
    /// Events of the engine.
    Events,
    /// Packets that components send.
    Messages,
    /// Virtual time at the end.
    Time,
}

impl CostMeasure {
    /// All measures.
    pub const ALL: [Self; 3] = [Self::Events, Self::Messages, Self::Time];

    /// Returns its name on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Events => "events",
            Self::Messages => "messages",
            Self::Time => "time",
        }
    }
}

impl Display for CostMeasure {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        formatter.pad(self.name())
    }
}

/// What a run cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunCost {
    /// Events of the engine.
    pub events: u64,
    /// Packets that components sent.
    pub messages: u64,
    /// Virtual time at the end, in nanoseconds.
    pub virtual_time_ns: u64,
}

impl RunCost {
    /// Returns how much it is by one measure.
    pub fn of(self, measure: CostMeasure) -> u64 {
        match measure {
            CostMeasure::Events => self.events,
            CostMeasure::Messages => self.messages,
            CostMeasure::Time => self.virtual_time_ns,
        }
    }
}

/// How much of each measure a run of a test case may cost, whatever the original's costs: what a system states.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CostBounds {
    /// The most events of the engine; `None` is no bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub events_max: Option<u64>,
    /// The most packets.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages_max: Option<u64>,
    /// The most virtual time, in nanoseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub virtual_time_ns_max: Option<u64>,
}

impl CostBounds {
    /// Returns the bound of one measure.
    pub fn of(self, measure: CostMeasure) -> Option<u64> {
        match measure {
            CostMeasure::Events => self.events_max,
            CostMeasure::Messages => self.messages_max,
            CostMeasure::Time => self.virtual_time_ns_max,
        }
    }

    /// Returns whether nothing is bounded.
    pub fn is_none(&self) -> bool {
        *self == Self::default()
    }
}

/// By how many percent the cost of a run may differ from that of the original's run of the same test case, by measure.
/// A measure that is not in it is not looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct CostOracle {
    /// At least one entry; what differs by more, up or down, is a kill.
    pub percent: BTreeMap<CostMeasure, u32>,
}

/// Text that is no [`CostOracle`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{reason}: give one or more of events=P%, messages=P% and time=P% with commas between them, for example events=20%,time=50%"
)]
pub struct CostOracleError {
    /// What is wrong with it.
    pub reason: String,
}

impl CostOracle {
    /// Returns the first measure by which a run costs too much or too little; the bounds of a system hold beside those
    /// that the original's run gives, and by measures of their own.
    ///
    /// ```
    /// use simutant_outcomes::{CostBounds, CostMeasure, CostOracle, RunCost};
    ///
    /// let oracle: CostOracle = "messages=20%".parse()?;
    /// let run = |messages| RunCost { events: 500, messages, virtual_time_ns: 1_000_000 };
    /// let exceeded = |messages| oracle.exceeded(run(messages), run(100), CostBounds::default());
    /// assert_eq!((exceeded(120), exceeded(80)), (None, None));
    /// assert_eq!((exceeded(121), exceeded(79)), (Some(CostMeasure::Messages), Some(CostMeasure::Messages)));
    /// # Ok::<(), simutant_outcomes::CostOracleError>(())
    /// ```
    pub fn exceeded(&self, run: RunCost, original: RunCost, bounds: CostBounds) -> Option<CostMeasure> {
        CostMeasure::ALL.into_iter().find(|&measure| {
            let (found, expected) = (u128::from(run.of(measure)), u128::from(original.of(measure)));
            let differs = self.percent.get(&measure).is_some_and(|&percent| {
                let percent = u128::from(percent);
                100 * found > (100 + percent) * expected || 100 * found < 100_u128.saturating_sub(percent) * expected
            });
            differs || bounds.of(measure).is_some_and(|most| run.of(measure) > most)
        })
    }

    /// Returns the measures that it bounds.
    pub fn measures(&self) -> impl Iterator<Item = CostMeasure> {
        self.percent.keys().copied()
    }
}

/// Takes `events=20%,messages=20%,time=20%`, or some of them; the signs may be left out.
impl FromStr for CostOracle {
    type Err = CostOracleError;

    fn from_str(text: &str) -> Result<Self, CostOracleError> {
        let refused = |reason: String| CostOracleError { reason };
        let mut percent = BTreeMap::new();
        for part in text.split(',').map(str::trim) {
            let (name, number) = part.split_once('=').ok_or_else(|| refused(format!("`{part}` has no `=`")))?;
            let known = CostMeasure::ALL.into_iter().find(|measure| measure.name() == name.trim());
            let measure = known.ok_or_else(|| refused(format!("there is no measure `{}`", name.trim())))?;
            let digits = number.trim();
            let digits = digits.strip_suffix('%').unwrap_or(digits).trim_end();
            // A sign would parse, and means something else.
            let number = Some(digits).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_digit()));
            let number = number.and_then(|digits| digits.parse().ok());
            let number = number.ok_or_else(|| refused(format!("`{digits}` is not a whole number of percent")))?;
            if percent.insert(measure, number).is_some() {
                return Err(refused(format!("`{measure}` is there twice")));
            }
        }
        Ok(Self { percent })
    }
}

impl Display for CostOracle {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        for (number, (measure, percent)) in self.percent.iter().enumerate() {
            let comma = if number > 0 { "," } else { "" };
            write!(formatter, "{comma}{measure}={percent}%")?;
        }
        Ok(())
    }
}

/// Whether kills by cost are among the kills of [`Outcomes`].
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CostRole {
    /// They are not: a run that passes kills nothing.
    #[default]
    Apart,
    /// They are, with the cause [`Cause::Cost`].
    Counted,
}

/// What the cost oracle kills: runs that pass, and cost too much or too little.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CostKills {
    /// The oracle.
    pub oracle: CostOracle,
    /// Whether the kills of the outcomes have these among them.
    pub role: CostRole,
    /// `kills[mutant]` has a bit for each test case that kills it by cost, and by nothing else; shape `mutants x
    /// cases`.
    pub kills: Vec<BitSet>,
    /// `reseeded[mutant][case]`: how many of the runs of [`Reseeded::runs`](crate::Reseeded::runs) kill by cost, and by
    /// nothing else; `None` without re-seedings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reseeded: Option<Vec<Vec<u8>>>,
}

impl Outcomes {
    /// Returns the outcomes with kills by cost among the kills; as they are, if these are there or no cost oracle was
    /// asked for.
    pub fn with_cost_kills(&self) -> Self {
        let mut merged = self.clone();
        let Some(cost) = merged.cost.as_mut().filter(|cost| cost.role == CostRole::Apart) else { return merged };
        cost.role = CostRole::Counted;
        for (mutant, by_cost) in cost.kills.iter().enumerate() {
            let count = by_cost.count_ones(..) as u32;
            let Some(first_case) = by_cost.ones().next() else { continue };
            merged.kills[mutant].union_with(by_cost);
            let (cause, verdict) = (Cause::Cost, Cause::Cost.verdict());
            merged.verdicts[mutant].passed -= count;
            (0..count).for_each(|_| merged.verdicts[mutant].add(verdict));
            merged.causes[mutant].insert(cause, count);
            let reason = format!("it passes, and costs more or less than {} allows", cost.oracle);
            let reasons = &mut merged.reasons[mutant];
            reasons.push(ReasonCount { verdict, cause, reason, count, first_case });
            reasons.sort_by_key(|reason| (std::cmp::Reverse(reason.count), reason.first_case));
        }
        if let Some((reseeded, by_cost)) = merged.reseeded.as_mut().zip(cost.reseeded.as_ref()) {
            let pairs =
                reseeded.kills.iter_mut().zip(by_cost).flat_map(|(kills, by_cost)| kills.iter_mut().zip(by_cost));
            pairs.for_each(|(kills, by_cost)| *kills += by_cost);
        }
        merged
    }

    /// Returns the outcomes without kills by cost among the kills; as they are, if there are none.
    pub fn without_cost_kills(&self) -> Self {
        let mut ordinary = self.clone();
        let Some(cost) = ordinary.cost.as_mut().filter(|cost| cost.role == CostRole::Counted) else { return ordinary };
        cost.role = CostRole::Apart;
        for (mutant, by_cost) in cost.kills.iter().enumerate() {
            let count = by_cost.count_ones(..) as u32;
            ordinary.kills[mutant].difference_with(by_cost);
            ordinary.verdicts[mutant].passed += count;
            ordinary.verdicts[mutant].failed -= count;
            ordinary.causes[mutant].remove(&Cause::Cost);
            ordinary.reasons[mutant].retain(|reason| reason.cause != Cause::Cost);
        }
        if let Some((reseeded, by_cost)) = ordinary.reseeded.as_mut().zip(cost.reseeded.as_ref()) {
            let pairs =
                reseeded.kills.iter_mut().zip(by_cost).flat_map(|(kills, by_cost)| kills.iter_mut().zip(by_cost));
            pairs.for_each(|(kills, by_cost)| *kills -= by_cost);
        }
        ordinary
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn oracle(text: &str) -> CostOracle {
        text.parse().expect("it is an oracle")
    }

    fn cost(events: u64, messages: u64, virtual_time_ns: u64) -> RunCost {
        RunCost { events, messages, virtual_time_ns }
    }

    #[track_caller]
    fn check(text: &str, run: RunCost, expect: Option<CostMeasure>) {
        let found = oracle(text).exceeded(run, cost(100, 50, 1_000), CostBounds::default());
        assert_eq!(found, expect, "{text} of {run:?}");
    }

    #[test]
    fn both_sides_of_the_original_kill_and_the_bounds_do_not() {
        check("events=20%", cost(120, 0, 0), None);
        check("events=20%", cost(121, 0, 0), Some(CostMeasure::Events));
        check("events=20%", cost(80, 0, 0), None);
        check("events=20%", cost(79, 0, 0), Some(CostMeasure::Events));
        check("messages=0%", cost(0, 50, 0), None);
        check("messages=0%", cost(0, 51, 0), Some(CostMeasure::Messages));
        check("time=100%", cost(0, 0, 0), None);
        check("time=100%", cost(0, 0, 2_001), Some(CostMeasure::Time));
        check("time=250%", cost(0, 0, 0), None);
        check("time=20%,events=20%", cost(100, 900, 799), Some(CostMeasure::Time));
        check("time=20%,events=20%", cost(200, 900, 799), Some(CostMeasure::Events));
    }

    #[test]
    fn what_a_system_states_holds_whatever_the_original_costs() {
        let bounds = CostBounds { messages_max: Some(60), ..CostBounds::default() };
        let exceeded = |messages| oracle("events=20%").exceeded(cost(100, messages, 0), cost(100, 100, 0), bounds);
        assert_eq!([exceeded(60), exceeded(61)], [None, Some(CostMeasure::Messages)]);
        assert!(!bounds.is_none() && CostBounds::default().is_none());
    }

    #[test]
    fn what_is_no_oracle_is_refused_with_the_cure() {
        for (text, expect) in [
            ("", "`` has no `=`"),
            ("events", "`events` has no `=`"),
            ("event=20%", "there is no measure `event`"),
            ("events=-1%", "`-1` is not a whole number of percent"),
            ("events=1.5%", "`1.5` is not a whole number of percent"),
            ("events=20%,events=30%", "`events` is there twice"),
            ("events=20%,", "`` has no `=`"),
        ] {
            let error = text.parse::<CostOracle>().expect_err(text).to_string();
            assert!(error.starts_with(expect) && error.contains("for example events=20%"), "{error}");
        }
        assert_eq!(oracle(" time = 5 , events=20 % "), oracle("events=20%,time=5%"));
        assert_eq!(oracle("time=5,events=20%").to_string(), "events=20%,time=5%");
    }

    proptest! {
        #[test]
        fn a_run_is_costly_if_its_share_of_the_original_is_outside_of_the_percentage(
            found in 0_u64..1 << 40, original in 1_u64..1 << 40, percent in 0_u32..300,
        ) {
            let exceeded = oracle(&format!("time={percent}%")).exceeded(
                cost(0, 0, found), cost(0, 0, original), CostBounds::default(),
            );
            let (share, part) = (found as f64 / original as f64, f64::from(percent) / 100.0);
            // What is on the edge, by rounding, is the matter of the test before.
            if (share - (1.0 + part)).abs() > 1e-9 && (share - (1.0 - part)).abs() > 1e-9 {
                prop_assert_eq!(exceeded.is_some(), share > 1.0 + part || share < 1.0 - part);
            }
        }

        #[test]
        fn an_oracle_comes_back_from_its_text(percent in proptest::collection::btree_map(0_usize..3, 0_u32..1000, 1..=3)) {
            let percent = percent.into_iter().map(|(index, percent)| (CostMeasure::ALL[index], percent)).collect();
            let oracle = CostOracle { percent };
            prop_assert_eq!(oracle.to_string().parse(), Ok(oracle));
        }
    }
}
