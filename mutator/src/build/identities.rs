//! The identities of all mutants that a build tries to compile.

use super::specification::read_specification;
use crate::error::MutatorError;
use crate::operators::Selection;
use crate::package::Package;

/// Returns the identities of the mutants that a build of the system would put in, in its order; nothing is compiled, so
/// those that the compiler rejects are among them.
///
/// Equal lists say that two studies have the same mutants, and cost a moment.
///
/// # Errors
/// If a file of the specification cannot be read, or does not parse.
pub fn mutant_identities(package: &Package, operators: &Selection) -> Result<Vec<String>, MutatorError> {
    let specification = read_specification(package, operators)?;
    Ok(specification.all_candidates().map(|(_, placed)| placed.identity.clone()).collect())
}
