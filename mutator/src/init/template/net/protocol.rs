//! The specification: an office that sells seats to customers who ask at the same time.

use serde::{Deserialize, Serialize};
use simutant_nets::Net;

/// What a tester does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stimulus {
    /// A customer asks for a seat.
    Book { customer: u8 },
}

/// What a tester sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Observation {
    /// A customer has a seat.
    Booked { customer: u8 },
    /// A customer is told that there is none.
    SoldOut { customer: u8 },
}

/// Returns the net of so many customers and seats. Who asks first is open, so a test case in which
/// more customers ask than there are seats has several outcomes.
pub fn net(customers: u8, seats: u8) -> Net<Stimulus, Observation> {
    let mut net = Net::with_events("%NAME%");
    let idle = net.place::<u8>("idle", 1..=customers);
    let asking = net.place::<u8>("asking", []);
    let free = net.place::<()>("free", (0..seats).map(|_| ()));
    let seated = net.place::<u8>("seated", []);
    let gone = net.place::<u8>("gone", []);

    net.transition("ask", idle.take(), keep, asking.put())
        .input(|customer| Some(Stimulus::Book { customer }));
    net.transition("do not ask", idle.take(), keep, gone.put());
    net.transition("sell", (asking.take(), free.take()), sell, seated.put())
        .output(|customer, ()| Some(Observation::Booked { customer }));
    net.transition("refuse", asking.take(), keep, gone.put())
        .unless_marked(free)
        .output(|customer| Some(Observation::SoldOut { customer }));

    net.always("no more are seated than there are seats", move |marking| {
        marking.count(seated) <= u64::from(seats)
    });
    net.eventually("everybody knows", move |marking| {
        marking.count(idle) + marking.count(asking) == 0
    });
    net
}

/// A transition that passes a customer on.
fn keep(customer: u8) -> Option<u8> {
    Some(customer)
}

/// A customer takes a seat.
fn sell(customer: u8, (): ()) -> Option<u8> {
    Some(customer)
}
