//! The protocol: messages, and the components that send them.
//!
//! This file is the specification: mutants are made of it, and what test cases cover is measured in
//! it. Keep out of it what only judges.

use simutant_sim_core::{Address, Channel, Context, Message, VirtualDuration};

/// The port of the server.
pub const PORT: u16 = 7_000;

/// How long a client waits for an answer before it asks again.
pub const TIMEOUT: VirtualDuration = VirtualDuration::from_millis(100);

/// How often a client asks before it gives up.
pub const TRIES: u32 = 5;

/// What the components send to each other.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum SumMessage {
    /// Asks the server to add an amount to its sum.
    Add {
        /// Counts the client's amounts, from 0.
        number: u32,
        /// The amount.
        amount: u64,
    },
    /// Tells the client the sum.
    Sum {
        /// The number of the amount that was added last when this was sent, or before.
        number: u32,
        /// The sum.
        sum: u64,
    },
}

impl Message for SumMessage {
    fn kind(&self) -> &'static str {
        match self {
            Self::Add { .. } => "ADD",
            Self::Sum { .. } => "SUM",
        }
    }
}

/// Has amounts added up, and returns the sum of them; nothing if the server does not answer.
pub async fn client(
    context: Context<SumMessage>,
    server: Address,
    amounts: Vec<u64>,
) -> Option<u64> {
    let mut channel = context.channel();
    let mut sum = 0;
    for (number, amount) in (0..).zip(amounts) {
        sum = add(&mut channel, server, number, amount).await?;
    }
    Some(sum)
}

/// Asks again and again until the answer comes.
async fn add(
    channel: &mut Channel<SumMessage>,
    server: Address,
    number: u32,
    amount: u64,
) -> Option<u64> {
    for _ in 0..TRIES {
        channel.send(server, SumMessage::Add { number, amount });
        while let Ok(delivery) = channel.recv_timeout(TIMEOUT).await {
            match delivery.message {
                SumMessage::Sum { number: of, sum } if of == number => return Some(sum),
                // An answer to what was asked before, come late or twice.
                _ => {}
            }
        }
    }
    None
}

/// Adds up what it is sent, each amount once however often it comes.
pub async fn server(context: Context<SumMessage>) {
    let mut channel = context.channel_at(PORT);
    let mut next = 0;
    let mut sum = 0;
    while context.running() {
        let delivery = channel.recv().await;
        if let SumMessage::Add { number, amount } = delivery.message {
            if number == next {
                sum += amount;
                next += 1;
            }
            channel.send(delivery.source, SumMessage::Sum { number, sum });
        }
    }
}
