//! What is not there is remembered for as long as the last field of the SOA record says.
//!
//! That is the meaning that RFC 2308 has given to the field; but the time of the record itself, if it is less, is the
//! limit (section 5). Shows when a question whose answer is that there is nothing is asked again, in a zone whose SOA
//! record lives less long than its last field.

use crate::behaviour::Behaviour;
use crate::message::Record;

#[derive(Debug)]
pub(super) struct NegativeForMinimum;

impl Behaviour for NegativeForMinimum {
    fn soa(&self, soa: Record) -> Record {
        let ttl = soa.minimum().unwrap_or_default();
        Record { ttl, ..soa }
    }
}
