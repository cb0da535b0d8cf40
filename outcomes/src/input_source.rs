//! Where the test cases of a universe come from.

use serde::{Deserialize, Serialize};

/// A source of test cases: the engine's, as it goes from process to process; there each is described.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum InputSource {
    /// Every draw is random.
    #[default]
    #[serde(rename = "uniform")]
    Uniform,
    /// A Latin hypercube.
    #[serde(rename = "lhs")]
    LatinHypercube,
    /// A Sobol sequence.
    #[serde(rename = "sobol")]
    Sobol,
    /// A covering array of all pairs of levels, then random ones.
    #[serde(rename = "covering-2")]
    Covering2,
    /// A covering array of all triples of levels, then random ones.
    #[serde(rename = "covering-3")]
    Covering3,
    /// Boundary values, then random ones.
    #[serde(rename = "boundary")]
    Boundary,
    /// Adaptive random testing.
    #[serde(rename = "adaptive")]
    Adaptive,
}

impl InputSource {
    /// All sources, the random one first.
    pub const ALL: [Self; 7] = [
        Self::Uniform,
        Self::LatinHypercube,
        Self::Sobol,
        Self::Covering2,
        Self::Covering3,
        Self::Boundary,
        Self::Adaptive,
    ];

    /// Returns its name on the command line and in files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Uniform => "uniform",
            Self::LatinHypercube => "lhs",
            Self::Sobol => "sobol",
            Self::Covering2 => "covering-2",
            Self::Covering3 => "covering-3",
            Self::Boundary => "boundary",
            Self::Adaptive => "adaptive",
        }
    }
}

impl std::fmt::Display for InputSource {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.pad(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_have_the_names_of_the_command_line() {
        for source in InputSource::ALL {
            assert_eq!(serde_json::to_value(source).expect("a name"), source.name());
        }
    }
}
