//! The stub resolver: asks the resolver what its user wants to know.

use simutant_sim_core::{Address, Context, VirtualDuration, VirtualTime};

use super::exchange::exchange;
use super::{Answers, DnsMessage, Question};

/// How long a stub waits for an answer: longer than a resolver ever takes.
const PATIENCE: VirtualDuration = VirtualDuration::from_secs(600);

/// What a stub asks.
#[derive(Debug, Clone)]
pub struct Asked {
    /// The number of the query in the test case.
    pub number: usize,
    /// When it is to be asked. A query that is not answered yet comes first.
    pub start: VirtualTime,
    /// The question.
    pub question: Question,
}

/// Asks the resolver one question after the other, and notes the answers.
pub async fn stub(context: Context<DnsMessage>, resolver: Address, list: Vec<Asked>, answers: Answers) {
    let mut channel = context.channel();
    let mut id = 0;
    for Asked { number, start, question } in list {
        if context.now() < start {
            context.sleep(start - context.now()).await;
        }
        id += 1;
        let query = DnsMessage::query(id, question);
        let asked_at = context.now();
        let response = exchange(&context, &mut channel, resolver, &query, PATIENCE).await;
        answers.note(number, asked_at, context.now(), response);
    }
}
