//! How long a test case takes on a real implementation.

use std::fmt::{Display, Formatter};

use serde::{Deserialize, Serialize};

use crate::RunCost;

/// What the shortest test case takes if nothing is known, in seconds: nothing is run for nothing.
const SHORTEST: f64 = 0.001;

/// What a test case takes on a real implementation, by what its run on the simulation costs: starting and stopping the
/// programs, and so much for each second of virtual time and for each message.
///
/// ```
/// use simutant_outcomes::{RunCost, TestTime};
///
/// let run = RunCost { events: 90, messages: 20, virtual_time_ns: 2_000_000_000 };
/// assert_eq!(TestTime::default().seconds(run), 2.3);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default, rename_all = "kebab-case")]
pub struct TestTime {
    /// Seconds that any test case takes.
    pub start: f64,
    /// Seconds for a second of virtual time.
    pub per_virtual_second: f64,
    /// Seconds for a message.
    pub per_message: f64,
    /// Seconds that the shortest test case takes: the sum of the others may tell less of one that is unlike all that were
    /// measured.
    pub shortest: f64,
}

impl Default for TestTime {
    /// Returns what holds before anything is known: real time passes as virtual time does, and starting the programs
    /// takes 0.3 s.
    fn default() -> Self {
        Self { start: 0.3, per_virtual_second: 1.0, per_message: 0.0, shortest: SHORTEST }
    }
}

impl TestTime {
    /// Returns whether all its numbers are finite and none is negative.
    pub fn is_valid(self) -> bool {
        [self.start, self.per_virtual_second, self.per_message, self.shortest]
            .into_iter()
            .all(|number| number.is_finite() && number >= 0.0)
    }

    /// Returns what a test case takes whose run on the simulation costs so much, in seconds.
    ///
    /// ```
    /// use simutant_outcomes::{RunCost, TestTime};
    ///
    /// // A simulation of seconds that real programs, whose timeouts are a hundredth, are through with sooner.
    /// let time = TestTime { start: 0.25, per_virtual_second: 0.01, per_message: 0.002, shortest: 0.3 };
    /// let run = RunCost { events: 90, messages: 20, virtual_time_ns: 5_000_000_000 };
    /// assert!((time.seconds(run) - 0.34).abs() < 1e-9);
    /// assert_eq!(time.seconds(RunCost::default()), 0.3);
    /// assert_eq!(time.to_string(), "0.25 s + 0.01 x virtual time + 2 ms for each message, at least 0.3 s");
    /// ```
    pub fn seconds(self, run: RunCost) -> f64 {
        let of_time = self.per_virtual_second * run.virtual_time_ns as f64 / 1e9;
        (self.start + of_time + self.per_message * run.messages as f64).max(self.shortest).max(SHORTEST)
    }

    /// Writes it as a sum, each number with its error if there are errors.
    ///
    /// # Errors
    /// Those of the formatter.
    pub fn write(self, formatter: &mut Formatter<'_>, error: Option<Self>) -> std::fmt::Result {
        let number = |number: f64, error: Option<f64>| match error.filter(|error| *error > 0.0) {
            Some(error) => format!("{} ± {}", rounded(number, 3), rounded(error, 1)),
            None => rounded(number, 3),
        };
        write!(formatter, "{} s", number(self.start, error.map(|error| error.start)))?;
        if self.per_virtual_second > 0.0 {
            match number(self.per_virtual_second, error.map(|error| error.per_virtual_second)).as_str() {
                "1" => formatter.write_str(" + virtual time")?,
                factor => write!(formatter, " + {factor} x virtual time")?,
            }
        }
        if self.per_message > 0.0 {
            let message = number(1000.0 * self.per_message, error.map(|error| 1000.0 * error.per_message));
            write!(formatter, " + {message} ms for each message")?;
        }
        if self.shortest > self.start.max(SHORTEST) {
            write!(formatter, ", at least {} s", rounded(self.shortest, 3))?;
        }
        Ok(())
    }
}

/// Says it as a sum, for example `0.31 s + 1.08 x virtual time + 0.2 ms for each message`; what is 0 is left out.
impl Display for TestTime {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        self.write(formatter, None)
    }
}

/// How it is known what a test case takes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TestTimeSource {
    /// It is not: [`TestTime::default`].
    #[default]
    Assumed,
    /// The system's manifest says it.
    Manifest,
    /// Trials took so long.
    Measured {
        /// Of so many implementations.
        implementations: usize,
        /// So many trials.
        trials: usize,
    },
}

/// Returns a number with so many digits, or fewer if that is all of it.
fn rounded(number: f64, digits: i32) -> String {
    let decimals = if number <= 0.0 { 0 } else { (digits - 1 - number.log10().floor() as i32).clamp(0, 9) as usize };
    let text = format!("{number:.decimals$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_told_as_a_sum() {
        let told = |start, per_virtual_second, per_message| {
            TestTime { start, per_virtual_second, per_message, ..TestTime::default() }.to_string()
        };
        assert_eq!(TestTime::default().to_string(), "0.3 s + virtual time");
        assert_eq!(told(0.3142, 1.0849, 0.0), "0.314 s + 1.08 x virtual time");
        assert_eq!(told(0.0, 0.0, 0.000_21), "0 s + 0.21 ms for each message");
        assert_eq!(told(123.4, 20.0, 1.0), "123 s + 20 x virtual time + 1000 ms for each message");
    }

    #[test]
    fn nothing_takes_no_time() {
        let none = TestTime { start: 0.0, per_virtual_second: 0.0, per_message: 0.0, ..TestTime::default() };
        assert!(none.is_valid() && none.seconds(RunCost::default()) > 0.0);
        assert!(TestTime { shortest: 0.0, ..none }.seconds(RunCost::default()) > 0.0);
        assert!(!TestTime { start: f64::NAN, ..none }.is_valid());
        assert!(!TestTime { per_message: -1.0, ..none }.is_valid());
    }
}
