//! The times to live of aliases are not counted down.
//!
//! They are put before the records that were asked for, whose times are right, when the answer is made. Whoever gets
//! the alias keeps it for longer than its zone allows. Shows when an alias is asked for again some seconds later,
//! within its time.

use crate::behaviour::Behaviour;
use crate::message::{Record, Type};

#[derive(Debug)]
pub(super) struct AliasesStayYoung;

impl Behaviour for AliasesStayYoung {
    fn aged(&self, record: &Record, left: u32) -> u32 {
        if record.of == Type::CNAME { record.ttl } else { left }
    }
}
