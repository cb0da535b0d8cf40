//! A whole answer is given again as long as its first record lives, and says so of all records.
//!
//! That saves work, and is right for records of one name and type, which have one time (RFC 2181, section 5.2). An
//! alias and what it leads to have two. Shows when an alias is asked for again that lives longer than what it leads to.

use std::time::Duration;

use crate::behaviour::Behaviour;
use crate::message::Record;
use crate::resolver::Answer;

#[derive(Debug)]
pub(super) struct OneTimeForAll;

impl Behaviour for OneTimeForAll {
    fn repeats(&self, answer: &Answer, age: Duration) -> Option<Answer> {
        let ttl = self.left(answer.answer.first()?.ttl, age)?;
        let aged = |record: &Record| Record { ttl, ..record.clone() };
        let is_whole = answer.authority.is_empty();
        is_whole.then(|| Answer { answer: answer.answer.iter().map(aged).collect(), ..answer.clone() })
    }
}
