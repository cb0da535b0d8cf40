//! The protocol: messages, the server, and how a client asks it.
//!
//! This file is the specification: mutants are made of it, and what test cases cover is measured in
//! it. Keep out of it what only judges.

use std::collections::BTreeMap;

use simutant_oracle::specifications::register;
use simutant_sim_core::{Address, Channel, Context, Message, VirtualDuration};

use super::machine::NoAnswer;

/// The port of the server.
pub const PORT: u16 = 7_000;

/// How long a client waits for an answer before it asks again.
pub const TIMEOUT: VirtualDuration = VirtualDuration::from_millis(100);

/// How often a client asks before it gives up.
pub const TRIES: u32 = 5;

/// What a client asks: to read the value, to write one, or to compare and set it.
pub type Operation = register::Operation<u32>;

/// What the server answers.
pub type Response = register::Response<u32>;

/// What the components send to each other.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum RegisterMessage {
    /// Asks the server to do something.
    Request {
        /// Counts the client's requests.
        number: u32,
        /// What it is to do.
        operation: Operation,
    },
    /// Tells the client what came of it.
    Answer {
        /// The number of the request.
        number: u32,
        /// What came of it.
        response: Response,
    },
}

impl Message for RegisterMessage {
    fn kind(&self) -> &'static str {
        match self {
            Self::Request { .. } => "REQUEST",
            Self::Answer { .. } => "ANSWER",
        }
    }
}

/// Holds a value, and does each request once however often it comes.
pub async fn server(context: Context<RegisterMessage>) {
    let mut channel = context.channel_at(PORT);
    let mut value = None;
    // The last request of each client, and what it was answered.
    let mut answered: BTreeMap<Address, (u32, Response)> = BTreeMap::new();
    while context.running() {
        let delivery = channel.recv().await;
        let RegisterMessage::Request { number, operation } = delivery.message else {
            continue;
        };
        let response = match answered.get(&delivery.source) {
            Some((last, _)) if *last > number => continue,
            Some((last, response)) if *last == number => response.clone(),
            _ => apply(&mut value, operation),
        };
        answered.insert(delivery.source, (number, response.clone()));
        channel.send(
            delivery.source,
            RegisterMessage::Answer { number, response },
        );
    }
}

fn apply(value: &mut Option<u32>, operation: Operation) -> Response {
    match operation {
        Operation::Read => Response::Value(*value),
        Operation::Write(new) => {
            *value = Some(new);
            Response::Done
        }
        Operation::CompareAndSet { from, to } => {
            let is_equal = *value == Some(from);
            if is_equal {
                *value = Some(to);
            }
            Response::Compared(is_equal)
        }
    }
}

/// Asks again and again until the answer comes.
pub async fn ask(
    channel: &mut Channel<RegisterMessage>,
    server: Address,
    number: u32,
    operation: Operation,
) -> Result<Response, NoAnswer> {
    for _ in 0..TRIES {
        let operation = operation.clone();
        channel.send(server, RegisterMessage::Request { number, operation });
        while let Ok(delivery) = channel.recv_timeout(TIMEOUT).await {
            match delivery.message {
                RegisterMessage::Answer {
                    number: of,
                    response,
                } if of == number => return Ok(response),
                // An answer to what was asked before, come late or twice.
                _ => {}
            }
        }
    }
    Err(NoAnswer)
}
