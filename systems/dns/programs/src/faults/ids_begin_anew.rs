//! The numbers of queries begin anew for each question of a client, and the name in a response is not looked at.
//!
//! A socket is used again for the next question, and what a server sent twice is still in it. Shows when a response is
//! doubled, and the next question's query has its number and its type: what was said of one name is taken for what is
//! said of another.

use crate::behaviour::Behaviour;
use crate::message::Message;

#[derive(Debug)]
pub(super) struct IdsBeginAnew;

impl Behaviour for IdsBeginAnew {
    fn id(&self, _sent: u16, sent_for_client: u16) -> u16 {
        sent_for_client
    }

    fn is_response_to(&self, response: &Message, query: &Message) -> bool {
        response.is_response && response.id == query.id && response.question.of == query.question.of
    }
}
