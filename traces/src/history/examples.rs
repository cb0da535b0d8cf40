//! Pictures for the tests.

use proptest::prelude::*;
use simutant_oracle::{Moment, Time};

use super::{Band, Bar, BarEnd, CoreBar, ExplainedOrder, Picture, PicturedAnswer, Step, Stuck};
use crate::examples::any_text;

/// Any picture, also such as no history has: with bars that end too early, of lanes that are not there, and orders of
/// bars that are not there.
pub(super) fn any_picture() -> impl Strategy<Value = Picture> {
    let lanes = prop::collection::vec(any_text(), 0..4);
    let bars = prop::collection::vec(any_bar(), 0..12);
    let orders = prop::collection::vec(any_order(), 0..3);
    let allowed = (any_text(), prop::option::of(any_text()), 0..4_usize)
        .prop_map(|(answer, reason, order)| PicturedAnswer { answer, reason, order });
    let stuck = (0..13_usize, prop::collection::vec(allowed, 0..3)).prop_map(|(bar, allowed)| Stuck { bar, allowed });
    let core = (0..13_usize, any_text()).prop_map(|(bar, what)| CoreBar { bar, what });
    let band =
        (any_time(), prop::option::of(any_time()), any_text()).prop_map(|(from, to, label)| Band { from, to, label });
    (lanes, bars, orders, prop::option::of(stuck), prop::collection::vec(core, 0..3), prop::collection::vec(band, 0..3))
        .prop_map(|(lanes, bars, orders, stuck, core, bands)| Picture {
            lanes,
            bars,
            orders_count: orders.len() as u64,
            orders,
            stuck,
            core,
            bands,
        })
}

fn any_time() -> impl Strategy<Value = Time> {
    prop_oneof![8 => 0..30_u64, 1 => any::<u64>()].prop_map(Time::from_nanos)
}

fn any_moment() -> impl Strategy<Value = Moment> {
    (any_time(), prop::option::of(0..40_u64)).prop_map(|(time, event)| Moment { time, event })
}

fn any_bar() -> impl Strategy<Value = Bar> {
    let end = prop_oneof![
        4 => (any_moment(), any_text()).prop_map(|(at, answer)| BarEnd::Answered { at, answer }),
        1 => Just(BarEnd::Unknown),
        1 => any_moment().prop_map(|at| BarEnd::DidNotHappen { at }),
    ];
    (0..50_usize, 0..4_usize, any_text(), any_moment(), end).prop_map(|(number, lane, operation, invoked, end)| Bar {
        number,
        lane,
        operation,
        invoked,
        end,
    })
}

fn any_order() -> impl Strategy<Value = ExplainedOrder> {
    let step = (0..13_usize, prop::option::of(any_text()), prop::option::of(any_text()))
        .prop_map(|(bar, answer, state)| Step { bar, answer, state });
    (any_text(), prop::collection::vec(step, 0..12)).prop_map(|(name, steps)| ExplainedOrder { name, steps })
}

/// The picture of a history in which a read does not see the last write, with all kinds of bars, and a fault.
pub(super) fn lost_write() -> Picture {
    let at = |micros: u64| Moment::from(Time::from_nanos(micros * 1000));
    let mut bars = Vec::new();
    for (lane, from, to, operation, answer) in [
        (0, 0, Some(10), "write 1", Some("ok")),
        (1, 5, None, "write 3", None),
        (1, 20, Some(30), "write 2", Some("ok")),
        (2, 22, Some(24), "write 9", None),
        (0, 40, Some(50), "read", Some("1")),
        (2, 35, Some(60), "read", Some("2")),
    ] {
        let end = match (to, answer) {
            (Some(to), Some(answer)) => BarEnd::Answered { at: at(to), answer: answer.to_owned() },
            (Some(to), None) => BarEnd::DidNotHappen { at: at(to) },
            _ => BarEnd::Unknown,
        };
        bars.push(Bar { number: bars.len(), lane, operation: operation.to_owned(), invoked: at(from), end });
    }
    let step = |(bar, state): (usize, &str)| Step { bar, answer: Some("ok".to_owned()), state: Some(state.to_owned()) };
    let order = |name: &str, steps: &[(usize, &str)]| ExplainedOrder {
        name: name.to_owned(),
        steps: steps.iter().copied().map(step).collect(),
    };
    let allowed =
        PicturedAnswer { answer: "2".to_owned(), reason: Some("the register has the value 2".to_owned()), order: 0 };
    let core = |bar, what: &str| CoreBar { bar, what: what.to_owned() };
    let (from, to) = (Time::from_nanos(12_000), Some(Time::from_nanos(36_000)));
    Picture {
        lanes: ["session 1", "session 2", "session 3"].map(str::to_owned).to_vec(),
        bars,
        orders: vec![
            order("explanation 1", &[(0, "1"), (2, "2"), (5, "2")]),
            order("explanation 2", &[(0, "1"), (1, "3"), (2, "2")]),
        ],
        orders_count: 2,
        stuck: Some(Stuck { bar: 4, allowed: vec![allowed] }),
        core: vec![
            core(0, "that it took effect by its end"),
            core(2, "that it took effect by its end"),
            core(4, "its answer"),
        ],
        bands: vec![Band { from, to, label: "partition a | b, c".to_owned() }],
    }
}
