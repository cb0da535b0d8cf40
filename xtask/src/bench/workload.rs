//! Workloads and their sizes, and what a run of one must have done.

use std::fmt;
use std::ops::RangeInclusive;

use anyhow::ensure;
use clap::ValueEnum;
use serde::Serialize;

use super::outcome::Outcome;

/// What is simulated; the crate in `bench/` says it in full.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Kind {
    /// Components that sleep.
    Hold,
    /// Pairs that throw a datagram to and fro.
    Ping,
    /// The same over a network that loses some.
    PingLossy,
    /// Customers, a queue and a server.
    Mm1,
}

/// A workload of a size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Workload {
    pub(super) kind: Kind,
    /// Components, or pairs of them.
    pub(super) n: u32,
    pub(super) timeout_ms: Option<u64>,
    /// How many wake-ups, messages or customers are asked for.
    pub(super) units: u64,
}

impl Kind {
    pub(super) const ALL: [Self; 4] = [Self::Hold, Self::Ping, Self::PingLossy, Self::Mm1];

    /// Returns how it is called on command lines.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Hold => "hold",
            Self::Ping => "ping",
            Self::PingLossy => "ping-lossy",
            Self::Mm1 => "mm1",
        }
    }
}

impl Workload {
    /// Returns the columns of the tables.
    pub(super) fn all() -> impl Iterator<Item = Self> {
        [
            (Kind::Hold, 1_000, None, 2_000_000),
            (Kind::Hold, 100_000, None, 2_000_000),
            (Kind::Ping, 1, Some(10), 2_000_000),
            (Kind::Ping, 1, Some(10_000), 2_000_000),
            (Kind::Ping, 1_000, Some(10), 2_000_000),
            (Kind::PingLossy, 1, Some(10), 2_000_000),
            (Kind::Mm1, 1, None, 1_000_000),
        ]
        .into_iter()
        .map(|(kind, n, timeout_ms, units)| Self { kind, n, timeout_ms, units })
    }

    /// Returns the points of the plot, with the units that the many components of the last ones need.
    pub(super) fn curve() -> impl Iterator<Item = Self> {
        (1..=6)
            .map(|power| Self { kind: Kind::Hold, n: 10_u32.pow(power), timeout_ms: None, units: 2_000_000 }.scaled(1))
    }

    /// Returns the workload with a part of the units.
    ///
    /// It keeps as many as are needed: five for each component of hold, so that the starts do not weigh much; a hundred
    /// for each pair of ping, whose shortest timeouts end in that time if they are not cancelled; and enough customers
    /// for a mean.
    pub(super) fn scaled(self, divisor: u64) -> Self {
        let units_min = match self.kind {
            Kind::Hold => 5 * u64::from(self.n),
            Kind::Ping | Kind::PingLossy => 100 * u64::from(self.n),
            Kind::Mm1 => 100_000,
        };
        Self { units: (self.units / divisor).max(units_min), ..self }
    }

    /// Fails if a run did something else than was asked for.
    ///
    /// `one_way_ms` is how long a datagram takes on average, in the shortest and the longest case: some engines round.
    /// Counts may be six standard deviations off, and what is six deviations of a Poisson count is as many or more of
    /// the others.
    pub(super) fn check(self, outcome: &Outcome, one_way_ms: &RangeInclusive<f64>) -> anyhow::Result<()> {
        let Self { kind, n, timeout_ms, units: asked } = self;
        let (n, asked) = (f64::from(n), asked as f64);
        let Outcome { units, timeouts, virtual_s, stay_s, .. } = *outcome;
        let (units, timeouts) = (units as f64, timeouts as f64);
        let is_about = |name: &str, value: f64, expected: RangeInclusive<f64>, deviation: f64| {
            let (min, max) = (expected.start() - 6.0 * deviation, expected.end() + 6.0 * deviation);
            ensure!((min..=max).contains(&value), "{name}: {value} instead of {min:.3} to {max:.3}");
            Ok(())
        };
        match kind {
            Kind::Hold => {
                // Some end with the last event before the end, and some with the whole second after it.
                let horizon_s = asked / n;
                is_about("virtual seconds", virtual_s, 0.98 * horizon_s..=horizon_s + 1.0, 0.0)?;
                is_about("wake-ups", units, n * virtual_s..=n * virtual_s, asked.sqrt())?;
                is_about("timeouts", timeouts, 0.0..=0.0, 0.0)?;
            }
            Kind::Ping => {
                let horizon_s = asked * 1e-3 / n;
                is_about("virtual seconds", virtual_s, 0.98 * horizon_s..=horizon_s + 1e-3, 0.0)?;
                let messages = |one_way_ms: f64| n * virtual_s * 1e3 / one_way_ms;
                // The messages that are still on their way at the end are as many as there are pairs.
                let expected = messages(*one_way_ms.end()) - n..=messages(*one_way_ms.start());
                is_about("messages", units, expected, asked.sqrt())?;
                is_about("timeouts", timeouts, 0.0..=0.0, 0.0)?;
            }
            Kind::PingLossy => {
                const ARRIVES: f64 = 0.99;
                let horizon_s = asked * 1e-3 / n;
                is_about("virtual seconds", virtual_s, 0.98 * horizon_s..=horizon_s + 1e-3, 0.0)?;
                // An attempt brings the ball there, or there and back, or ends with the timeout.
                let returns = ARRIVES * ARRIVES;
                let timeout_ms = timeout_ms.unwrap_or_default() as f64;
                let messages = |one_way_ms: f64| {
                    let attempt_ms = returns * 2.0 * one_way_ms + (1.0 - returns) * timeout_ms;
                    n * virtual_s * 1e3 / attempt_ms * (ARRIVES + returns)
                };
                is_about("messages", units, messages(*one_way_ms.end())..=messages(*one_way_ms.start()), asked.sqrt())?;
                // The first of the pair times out at every loss, and the second at most of them.
                let losses = units * (1.0 - returns) / (ARRIVES + returns);
                is_about("timeouts", timeouts, losses..=2.5 * losses, losses.sqrt())?;
            }
            Kind::Mm1 => {
                is_about("customers", units, asked..=asked, 0.0)?;
                is_about("virtual seconds", virtual_s, asked / 0.9..=asked / 0.9 + 10.0, asked.sqrt() / 0.9)?;
                // The times of customers who come one after the other depend on each other. With a load of r, the
                // variance of the mean of many is r (2 + 5 r - 4 r^2 + r^3) / (1 - r)^4 divided by their number.
                let deviation = (35_901.0 / asked).sqrt();
                let stay_s = stay_s.unwrap_or(f64::NAN);
                is_about("mean time in the system", stay_s, 10.0..=10.0, deviation)?;
            }
        }
        Ok(())
    }
}

/// The headings of the tables: `hold 1,000` and `ping 1, 10 ms`.
impl fmt::Display for Workload {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.kind.name())?;
        if self.kind == Kind::Mm1 {
            return Ok(());
        }
        write!(formatter, " {}", grouped(self.n))?;
        match self.timeout_ms {
            Some(timeout_ms) if timeout_ms >= 1_000 => write!(formatter, ", {} s", timeout_ms / 1_000),
            Some(timeout_ms) => write!(formatter, ", {timeout_ms} ms"),
            None => Ok(()),
        }
    }
}

/// Returns a number with a comma before every three digits.
pub(super) fn grouped(number: u32) -> String {
    let digits = number.to_string();
    let groups: Vec<&[u8]> = digits.as_bytes().rchunks(3).rev().collect();
    let groups: Vec<&str> = groups.into_iter().map(|group| str::from_utf8(group).expect("digits")).collect();
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn workload(kind: Kind) -> Workload {
        Workload::all().find(|workload| workload.kind == kind).expect("all kinds are there")
    }

    /// Returns what the check says of an outcome that is right but for `change`.
    #[track_caller]
    fn complaint(kind: Kind, change: impl FnOnce(&mut Outcome)) -> String {
        let workload = workload(kind);
        let units = workload.units;
        let (units, timeouts, virtual_s, stay_s) = match kind {
            Kind::Hold => (units, 0, 2_000.0, None),
            Kind::Ping => (units, 0, 2_000.0, None),
            Kind::PingLossy => (1_824_840, 32_500, 2_000.0, None),
            Kind::Mm1 => (units, 0, 1_111_111.0, Some(10.1)),
        };
        let mut outcome = Outcome { cpu_ns: 1, units, timeouts, virtual_s, stay_s, rss_bytes: None };
        workload.check(&outcome, &(1.0..=1.0)).expect("it is right");
        change(&mut outcome);
        workload.check(&outcome, &(1.0..=1.0)).expect_err("it is wrong now").to_string()
    }

    #[test]
    fn a_run_that_did_something_else_is_refused() {
        assert!(
            complaint(Kind::Hold, |outcome| outcome.units += 9_000).starts_with("wake-ups: 2009000 instead of 1991514")
        );
        assert!(complaint(Kind::Hold, |outcome| outcome.virtual_s = 1_900.0).starts_with("virtual seconds"));
        assert!(complaint(Kind::Ping, |outcome| outcome.units /= 2).starts_with("messages"));
        assert!(complaint(Kind::Ping, |outcome| outcome.timeouts = 1).starts_with("timeouts"));
        assert!(complaint(Kind::PingLossy, |outcome| outcome.units = 2_000_000).starts_with("messages"));
        assert!(complaint(Kind::PingLossy, |outcome| outcome.timeouts = 0).starts_with("timeouts"));
        assert!(complaint(Kind::Mm1, |outcome| outcome.units -= 1).starts_with("customers"));
        assert!(complaint(Kind::Mm1, |outcome| outcome.virtual_s = 1e6).starts_with("virtual seconds"));
        assert!(complaint(Kind::Mm1, |outcome| outcome.stay_s = Some(12.0)).starts_with("mean time"));
        assert!(complaint(Kind::Mm1, |outcome| outcome.stay_s = None).starts_with("mean time"));
    }

    #[test]
    fn a_slow_network_delivers_less() {
        let outcome =
            Outcome { cpu_ns: 1, units: 666_000, timeouts: 0, virtual_s: 2_000.0, stay_s: None, rss_bytes: None };
        let workload = workload(Kind::Ping);
        assert!(workload.check(&outcome, &(1.0..=1.0)).is_err());
        assert!(workload.check(&outcome, &(2.9..=3.2)).is_ok());
    }

    #[test]
    fn headings_name_what_differs() {
        let headings: Vec<String> = Workload::all().map(|workload| workload.to_string()).collect();
        let expected = [
            "hold 1,000",
            "hold 100,000",
            "ping 1, 10 ms",
            "ping 1, 10 s",
            "ping 1,000, 10 ms",
            "ping-lossy 1, 10 ms",
            "mm1",
        ];
        assert_eq!(headings, expected);
        assert_eq!(grouped(1_000_000), "1,000,000");
        assert_eq!(grouped(10), "10");
    }
}
