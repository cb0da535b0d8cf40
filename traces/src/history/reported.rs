//! Pictures of check reports: plain data, so that the specification which made one need not be known here.

use std::collections::{BTreeMap, BTreeSet};

use simutant_oracle::{CheckReport, Impossible, Moment, ReportedAnswer, ReportedCall, Session, words};

use super::conversion::what;
use super::{Bar, BarEnd, CoreBar, ExplainedOrder, Picture, PicturedAnswer, Step, Stuck};

/// Returns the picture of a report whose calls are included ([`CheckReport::history`]).
///
/// A possible history has the order that explains it. An impossible one has the orders that explain a part of it, the
/// call that can be added to none of them, and the core. The picture shows no states of the service: a report does not
/// contain them.
pub fn reported(report: &CheckReport) -> Picture {
    let sessions: BTreeSet<Session> = report.history.iter().map(|call| call.session).collect();
    let lanes: BTreeMap<Session, usize> = sessions.iter().enumerate().map(|(lane, &session)| (session, lane)).collect();
    let bars: Vec<Bar> = report.history.iter().map(|call| bar(call, lanes[&call.session])).collect();
    let mut picture = Picture { lanes: sessions.iter().map(Session::to_string).collect(), bars, ..Picture::default() };
    match &report.answer {
        // Where each call is explained by itself, there is no order of all.
        ReportedAnswer::Possible { order } if order.is_empty() => {}
        ReportedAnswer::Possible { order } => {
            picture.orders = vec![explained(order, "explanation".to_owned())];
            picture.orders_count = 1;
        }
        ReportedAnswer::Impossible(impossible) => break_at(&mut picture, impossible),
        ReportedAnswer::Unobserved | ReportedAnswer::Undecided { .. } => {}
    }
    picture
}

fn bar(call: &ReportedCall, lane: usize) -> Bar {
    let at = call.ended_ns.map(|time| Moment { time, event: call.ended_event });
    Bar {
        number: call.call,
        lane,
        operation: words(&call.operation),
        invoked: Moment { time: call.invoked_ns, event: call.invoked_event },
        end: match at {
            Some(at) if call.did_not_happen => BarEnd::DidNotHappen { at },
            Some(at) => BarEnd::Answered { at, answer: words(&call.response) },
            None => BarEnd::Unknown,
        },
    }
}

fn explained(order: &[usize], name: String) -> ExplainedOrder {
    ExplainedOrder { name, steps: order.iter().map(|&bar| Step { bar, ..Step::default() }).collect() }
}

/// Adds the maximal explanations of an impossible history, the call that fits none of them, and the core.
fn break_at(picture: &mut Picture, impossible: &Impossible) {
    let names = (1..).map(|number| format!("explanation {number}"));
    picture.orders = impossible.maximal.iter().zip(names).map(|(order, name)| explained(order, name)).collect();
    picture.orders_count = impossible.maximal_count;
    let allowed = impossible.allowed.iter().map(|allowed| PicturedAnswer {
        answer: words(&allowed.response),
        reason: allowed.reason.clone(),
        order: allowed.after,
    });
    picture.stuck = Some(Stuck { bar: impossible.stuck.call, allowed: allowed.collect() });
    let core = impossible.core.iter().map(|core| CoreBar { bar: core.call.call, what: what(core.known) });
    picture.core = core.collect();
}
