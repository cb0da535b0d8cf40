//! What the compiler makes of a mutant.

use serde::{Deserialize, Serialize};

/// What follows from the machine code of a mutant's function.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Compiled {
    /// It is that of the original: no test case can kill the mutant.
    Equivalent,
    /// It is that of another mutant, which has this identity: every test case does the same to both.
    Duplicate(String),
}
