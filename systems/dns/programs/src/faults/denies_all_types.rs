//! That a name has no records of one type is taken to hold for all types.
//!
//! What is not there is remembered by the name, as it may be if the name is not there (RFC 2308, section 5); where
//! there are only no such data, the type counts. Shows when a name is asked for a type that it has not, and soon after
//! for one that it has.

use crate::behaviour::{Behaviour, Denial};
use crate::message::{Question, Type};

#[derive(Debug)]
pub(super) struct DeniesAllTypes;

impl Behaviour for DeniesAllTypes {
    fn denied_types(&self, _question: &Question, _denial: &Denial) -> Option<Type> {
        None
    }
}
