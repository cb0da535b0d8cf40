//! Why an analysis is refused.

use simutant_outcomes::MutantNumber;

use crate::{OptionsError, ShapeError};

/// Why [`analyse`](crate::analyse) cannot work on what it was given.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum AnalysisError {
    /// An option is out of its range; the message names it.
    #[error(transparent)]
    Options(#[from] OptionsError),
    /// The parts of the outcomes do not fit together; the message names the field.
    #[error("the outcomes do not fit together: {0}; run the campaign again to record them anew")]
    Shape(#[from] ShapeError),
    /// A run differs that cannot, since the machine code is the same: an error of Simutant's.
    #[error(
        "mutant {mutant} has the same machine code as {other}, and a run of it differs: this is an error of Simutant's"
    )]
    Compiled {
        /// The mutant.
        mutant: MutantNumber,
        /// The original, or another mutant.
        other: String,
    },
}
