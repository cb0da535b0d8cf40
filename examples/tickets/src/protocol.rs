//! The protocol: clients ask until they are answered, and the seller answers what it has answered before as it did then.

use std::collections::BTreeMap;

use simutant_oracle::Session;
use simutant_sim_core::{Address, Channel, Context, Message, VirtualDuration};

use crate::{Calls, TICKETS};

/// The port of the seller.
pub const PORT: u16 = 7_000;

/// How long a client waits for an answer before it asks again.
pub const TIMEOUT: VirtualDuration = VirtualDuration::from_millis(100);

/// How often a client asks before it gives up.
pub const TRIES: u32 = 5;

/// What clients and the seller send to each other.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum SaleMessage {
    /// A client orders tickets.
    Order {
        /// Counts the client's orders, from 0.
        number: u32,
        /// How many tickets.
        wanted: u64,
    },
    /// The seller answers.
    Answer {
        /// The number of the order.
        number: u32,
        /// Whether the tickets are the client's.
        is_sold: bool,
    },
}

impl Message for SaleMessage {
    fn kind(&self) -> &'static str {
        match self {
            Self::Order { .. } => "ORDER",
            Self::Answer { .. } => "ANSWER",
        }
    }
}

/// Orders tickets, one order after the other; returns how many orders were answered. It ends with the first one that is
/// not: whether that one was taken, nobody knows.
pub async fn client(
    context: Context<SaleMessage>,
    seller: Address,
    session: Session,
    orders: Vec<u64>,
    calls: Calls,
) -> usize {
    let mut channel = context.channel();
    let count = orders.len();
    for (number, wanted) in (0..).zip(orders) {
        let call = calls.invoke(session, wanted);
        match order(&mut channel, seller, number, wanted).await {
            Some(is_sold) => calls.returned(call, is_sold).expect("a client takes one answer to an order"),
            None => return number as usize,
        }
    }
    count
}

/// Asks again and again until the answer comes.
async fn order(channel: &mut Channel<SaleMessage>, seller: Address, number: u32, wanted: u64) -> Option<bool> {
    for _ in 0..TRIES {
        channel.send(seller, SaleMessage::Order { number, wanted });
        while let Ok(delivery) = channel.recv_timeout(TIMEOUT).await {
            match delivery.message {
                SaleMessage::Answer { number: of, is_sold } if of == number => return Some(is_sold),
                // An answer to what was asked before, come late or twice.
                _ => {}
            }
        }
    }
    None
}

/// Sells tickets as long as there are some, each order once however often it comes.
pub async fn seller(context: Context<SaleMessage>) {
    let mut channel = context.channel_at(PORT);
    let mut left = TICKETS;
    // The last order of each client, and the answer to it.
    let mut answered = BTreeMap::<Address, (u32, bool)>::new();
    while context.running() {
        let delivery = channel.recv().await;
        let SaleMessage::Order { number, wanted } = delivery.message else { continue };
        let is_sold = match answered.get(&delivery.source) {
            Some(&(of, _)) if of > number => continue,
            Some(&(of, is_sold)) if of == number => is_sold,
            _ => wanted <= left,
        };
        if answered.insert(delivery.source, (number, is_sold)) != Some((number, is_sold)) && is_sold {
            left -= wanted;
        }
        channel.send(delivery.source, SaleMessage::Answer { number, is_sold });
    }
}
