//! What the codes of mutation operators mean, for pages.

use simutant_mutator::operator_descriptions;
use simutant_report::Operators;

/// The titles of all operators.
#[derive(Debug)]
pub struct OperatorTitles(Vec<(&'static str, &'static str)>);

impl OperatorTitles {
    /// Returns the titles, as the reference has them.
    pub fn new() -> Self {
        Self(operator_descriptions().into_iter().map(|operator| (operator.name, operator.title)).collect())
    }

    /// Returns them as pages take them.
    pub fn operators(&self) -> Operators<'_> {
        Operators { titles: &self.0 }
    }
}

impl Default for OperatorTitles {
    fn default() -> Self {
        Self::new()
    }
}
