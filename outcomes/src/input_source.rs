//! Where the test cases of a universe come from.

use serde::{Deserialize, Serialize};

/// Where the test cases of a universe come from.
///
/// Each is a function of the system, the seed, the index and the size, on every platform. But for
/// [`InputSource::LatinHypercube`], a longer universe begins with the shorter one.
///
/// Of the system, most sources know how its test cases are drawn. A source that [learns](InputSource::learns) also
/// knows what they cover, so its universe is another one when the simulation's code is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum InputSource {
    /// Every draw is random.
    #[default]
    #[serde(rename = "uniform")]
    Uniform,
    /// Of the strata into which a universe of `n` cuts the range of each parameter, `n` of one size, each has one test
    /// case (McKay, Beckman and Conover, "A comparison of three methods for selecting values of input variables",
    /// Technometrics 21, 1979).
    #[serde(rename = "lhs")]
    LatinHypercube,
    /// A Sobol sequence with Owen's scrambling (Burley, "Practical hash-based Owen scrambling", JCGT 9, 2020): evenly
    /// spread at every length. After 65,536 test cases the rest is random.
    #[serde(rename = "sobol")]
    Sobol,
    /// A covering array first, in which every combination of levels of any two parameters occurs, as far as there are
    /// such test cases (Lei et al., "IPOG: a general strategy for t-way software testing", ECBS 2007); the rest is
    /// random.
    #[serde(rename = "covering-2")]
    Covering2,
    /// The same for any three parameters. Its cost grows with the third power of their number.
    #[serde(rename = "covering-3")]
    Covering3,
    /// The first and the last value of each parameter, then of each two, with the other draws random; the rest is
    /// random.
    #[serde(rename = "boundary")]
    Boundary,
    /// Each test case is, of ten that are drawn at random, the farthest from those before it (Chen, Leung and Mak,
    /// "Adaptive random testing", ASIAN 2004). To keep the cost linear only the last 500 count, which is forgetting as
    /// of Chan et al., "Forgetting test cases", COMPSAC 2006.
    #[serde(rename = "adaptive")]
    Adaptive,
    /// Each test case is random, or a mutation of an earlier one that covered something new: mostly what found more of
    /// late. The rarer what a test case covered and the less often it was chosen, the likelier it is to be mutated.
    ///
    /// This is coverage-guided fuzzing as in AFL, by the coverage of the simulation as in ModelFuzz (Gulcan et al.,
    /// "Model-guided fuzzing of distributed systems", OOPSLA 2025), with a power schedule that favours what is rare
    /// (Böhme, Pham and Roychoudhury, "Coverage-based greybox fuzzing as Markov chain", CCS 2016).
    #[serde(rename = "guided")]
    Guided,
    /// The machines of the system's clients take each open transition in proportion to its weight.
    #[serde(rename = "walk")]
    Walk,
    /// They take transitions by their outcomes so far and by how seldom they were tried: the bandit of Wang, Artho,
    /// Kristensen and Stolz ("Multi-objective search for model-based testing", QRS 2020).
    #[serde(rename = "bandit")]
    Bandit,
    /// They take each open transition in proportion to its weight, which counts up to four times where the transition came
    /// seldom after the one before it.
    #[serde(rename = "pairs")]
    Pairs,
    /// The test cases that a coloured Petri net of the system generates, each with what may come of it (Wang, Kristensen,
    /// Meling and Stolz, VECoS 2018), as many as there are; the rest is random.
    #[serde(rename = "net")]
    Net,
}

impl InputSource {
    /// All sources, the random one first.
    pub const ALL: [Self; 12] = [
        Self::Uniform,
        Self::LatinHypercube,
        Self::Sobol,
        Self::Covering2,
        Self::Covering3,
        Self::Boundary,
        Self::Adaptive,
        Self::Guided,
        Self::Walk,
        Self::Bandit,
        Self::Pairs,
        Self::Net,
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
            Self::Guided => "guided",
            Self::Walk => "walk",
            Self::Bandit => "bandit",
            Self::Pairs => "pairs",
            Self::Net => "net",
        }
    }

    /// Returns whether a test case depends on what the test cases before it covered.
    pub fn learns(self) -> bool {
        match self {
            Self::Uniform
            | Self::LatinHypercube
            | Self::Sobol
            | Self::Covering2
            | Self::Covering3
            | Self::Boundary
            | Self::Adaptive
            | Self::Walk
            | Self::Bandit
            | Self::Pairs
            | Self::Net => false,
            Self::Guided => true,
        }
    }

    /// Returns whether it is for systems whose clients are driven by machines, and for no others.
    pub fn walks(self) -> bool {
        matches!(self, Self::Walk | Self::Bandit | Self::Pairs)
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
