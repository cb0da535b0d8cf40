//! Clients: each asks one thing after the other, again and again until it is answered.

use simutant_oracle::specifications::store::{Operation, Response};
use simutant_sim_core::{Address, Channel, Context, VirtualDuration, VirtualTime};

use crate::history::Calls;
use crate::messages::StoreMessage;

/// How long a client waits for an answer before it asks the next replica.
pub const TIMEOUT: VirtualDuration = VirtualDuration::from_millis(80);

/// How long a client waits before it asks the next replica when one has refused.
pub const PAUSE: VirtualDuration = VirtualDuration::from_millis(10);

/// What a client is.
#[derive(Debug, Clone)]
pub struct Client {
    /// Its number, from 1.
    pub number: u64,
    /// The addresses of all replicas.
    pub replicas: Vec<Address>,
    /// What it asks for.
    pub operations: Vec<Operation>,
    /// How long it waits between an answer and the next request.
    pub think: VirtualDuration,
    /// When it gives up.
    pub until: VirtualTime,
}

/// Asks for all operations, and returns how many were answered.
pub async fn client(context: Context<StoreMessage>, client: Client, calls: Calls) -> usize {
    let mut channel = context.channel();
    let mut replica = client.number as usize;
    let mut answered = 0;
    for (request, operation) in (1..).zip(&client.operations) {
        let call = calls.invoke(client.number, operation);
        let ask = StoreMessage::Ask { client: client.number, request, operation: operation.clone() };
        let response = loop {
            if context.now() >= client.until {
                return answered;
            }
            channel.send(client.replicas[replica % client.replicas.len()], ask.clone());
            if let Some(response) = answer(&mut channel, &context, request).await {
                break response;
            }
            replica += 1;
        };
        calls.returned(call, response);
        answered += 1;
        context.pause(client.think).await;
    }
    answered
}

/// Returns the answer to a request, if there is one in time.
async fn answer(
    channel: &mut Channel<StoreMessage>,
    context: &Context<StoreMessage>,
    request: u64,
) -> Option<Response> {
    let deadline = context.now() + TIMEOUT;
    while context.now() < deadline {
        let delivery = channel.recv_timeout(deadline - context.now()).await.ok()?;
        match delivery.message {
            StoreMessage::Answer { request: of, response } if of == request => return Some(response),
            StoreMessage::Refuse { request: of } if of == request => {
                context.pause(PAUSE).await;
                return None;
            }
            // An answer to what was asked before, come late or twice.
            StoreMessage::Answer { .. } | StoreMessage::Refuse { .. } => {}
            other => panic!("a client was sent {other:?}"),
        }
    }
    None
}
