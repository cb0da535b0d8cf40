//! Budgets: how much a check may take before it says that it does not know.

use std::fmt;

/// Limits of a check. One that runs out ends it as [`Answer::Undecided`](crate::Answer::Undecided).
///
/// ```
/// use simutant_oracle::Budget;
///
/// let budget = Budget { steps: Some(1_000_000), ..Budget::default() };
/// assert_eq!(budget.bytes, Some(1 << 30));
/// ```
#[derive(Clone, Copy)]
pub struct Budget<'a> {
    /// How many steps of the specification the search takes at most; `None` for any number.
    pub steps: Option<u64>,
    /// How many bytes the search keeps at most, of states and of what it has tried; `None` for any number. A
    /// specification counts for what its [`heap_bytes`](crate::Specification::heap_bytes) say.
    pub bytes: Option<usize>,
    /// Asked every thousand steps or so: whether to stop, as when time has run out.
    pub stop: Option<&'a dyn Fn() -> bool>,
}

/// The limit that ran out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Limit {
    /// The steps of the specification.
    Steps,
    /// The memory.
    Bytes,
    /// Whoever was asked said stop.
    Stopped,
}

/// The work that a check has done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Explored {
    /// Steps of the specification.
    pub steps: u64,
    /// Different states of the specification that were kept.
    pub states: u64,
    /// Different combinations of a state and the calls placed so far.
    pub configurations: u64,
    /// Bytes that were kept at most.
    pub bytes: u64,
}

impl Budget<'_> {
    /// Returns a budget without limits.
    pub const fn unlimited() -> Self {
        Self { steps: None, bytes: None, stop: None }
    }
}

/// A gibibyte, and any number of steps.
impl Default for Budget<'_> {
    fn default() -> Self {
        Self { bytes: Some(1 << 30), ..Self::unlimited() }
    }
}

impl fmt::Debug for Budget<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Budget")
            .field("steps", &self.steps)
            .field("bytes", &self.bytes)
            .field("stop", &self.stop.is_some())
            .finish()
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Steps => "the budget of steps",
            Self::Bytes => "the budget of memory",
            Self::Stopped => "the time",
        })
    }
}

impl Explored {
    /// Adds what another search has done, which keeps its memory.
    pub(crate) const fn join(&mut self, other: Self) {
        self.follow(Self { bytes: 0, ..other });
        self.bytes += other.bytes;
    }

    /// Adds what another search has done after this one gave its memory back.
    pub(crate) const fn follow(&mut self, other: Self) {
        self.steps += other.steps;
        self.states += other.states;
        self.configurations += other.configurations;
        self.bytes = if self.bytes < other.bytes { other.bytes } else { self.bytes };
    }
}
