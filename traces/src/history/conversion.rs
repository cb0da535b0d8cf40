//! Pictures of the oracle's histories, answers and explanations.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use simutant_oracle::{Answer, Call, End, Explanation, History, Session, Specification, What, outcomes};

use super::{Bar, BarEnd, CoreBar, ExplainedOrder, Picture, PicturedAnswer, Step, Stuck};

/// How operations, responses and states are said.
pub struct Words<'w, S: Specification> {
    /// An operation, in few letters: `write 7`.
    pub operation: &'w dyn Fn(&S::Operation) -> String,
    /// A response, in few letters: `ok`.
    pub response: &'w dyn Fn(&S::Response) -> String,
    /// A state of the service; nothing if the text is empty.
    pub state: &'w dyn Fn(&S) -> String,
}

impl<S: Specification> fmt::Debug for Words<'_, S> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Words")
    }
}

type HistoryOf<S> = History<<S as Specification>::Operation, <S as Specification>::Response>;

impl<S: Specification> Words<'_, S> {
    /// Returns the picture of a history: its sessions in the order of their numbers, and its calls.
    pub fn history(&self, history: &HistoryOf<S>) -> Picture {
        let sessions: BTreeSet<Session> = history.calls().iter().map(|call| call.session).collect();
        let lanes: BTreeMap<Session, usize> =
            sessions.iter().enumerate().map(|(lane, &session)| (session, lane)).collect();
        let bar = |(number, call): (usize, &Call<S::Operation, S::Response>)| Bar {
            number,
            lane: lanes[&call.session],
            operation: (self.operation)(&call.operation),
            invoked: call.invoked,
            end: match &call.end {
                End::Returned { at, response } => BarEnd::Answered { at: *at, answer: (self.response)(response) },
                End::Unknown => BarEnd::Unknown,
                End::DidNotHappen { at } => BarEnd::DidNotHappen { at: *at },
            },
        };
        Picture {
            lanes: sessions.iter().map(Session::to_string).collect(),
            bars: history.calls().iter().enumerate().map(bar).collect(),
            ..Picture::default()
        }
    }

    /// Returns the picture of a history with the order that a check found, whole or up to where it breaks.
    pub fn answered(&self, history: &HistoryOf<S>, initial: &S, answer: &Answer) -> Picture {
        let mut picture = self.history(history);
        let (order, name) = match answer {
            Answer::Possible { order } => (order, "explanation"),
            Answer::Impossible { longest, stuck } => {
                picture.stuck = Some(Stuck { bar: *stuck, allowed: Vec::new() });
                (longest, "longest explanation")
            }
            Answer::Undecided { .. } => return picture,
        };
        // Where each call is explained by itself, there is no order of all.
        if !order.is_empty() {
            picture.orders.push(self.order(history, initial, order, None, name.to_owned()));
        }
        picture.orders_count = picture.orders.len() as u64;
        picture
    }

    /// Returns the picture of a history with the explanation of why it is impossible.
    ///
    /// Replays each maximal explanation from the initial state, for answers and states.
    pub fn explained(&self, history: &HistoryOf<S>, initial: &S, explanation: &Explanation<S>) -> Picture {
        let orders = explanation.maximal.iter().enumerate().map(|(number, maximal)| {
            self.order(history, initial, &maximal.order, Some(&maximal.state), format!("explanation {}", number + 1))
        });
        let allowed = explanation.allowed.iter().map(|allowed| PicturedAnswer {
            answer: (self.response)(&allowed.response),
            reason: allowed.reason.clone(),
            order: allowed.after,
        });
        let core = explanation.core.iter().map(|known| CoreBar { bar: known.call, what: what(known.what) });
        Picture {
            orders: orders.collect(),
            orders_count: explanation.maximal_count,
            stuck: Some(Stuck { bar: explanation.stuck, allowed: allowed.collect() }),
            core: core.collect(),
            ..self.history(history)
        }
    }

    fn order(
        &self,
        history: &HistoryOf<S>,
        initial: &S,
        order: &[usize],
        last: Option<&S>,
        name: String,
    ) -> ExplainedOrder {
        let replayed = replay(history, initial, order, last);
        let steps = order.iter().enumerate().map(|(place, &bar)| {
            let Some((response, state)) = replayed.get(place) else { return Step { bar, ..Step::default() } };
            let state = (self.state)(state);
            Step { bar, answer: Some((self.response)(response)), state: (!state.is_empty()).then_some(state) }
        });
        ExplainedOrder { name, steps: steps.collect() }
    }
}

/// Returns what has to be known of a call of the core, in words.
pub(super) fn what(known: What) -> String {
    match known {
        What::Ended => "that it took effect by its end".to_owned(),
        What::Answer => "its answer".to_owned(),
    }
}

/// What the specification did at a step, and from which of the states before it.
struct Done<S: Specification> {
    response: S::Response,
    state: S,
    before: usize,
}

/// Returns the answers and the states of a specification that takes calls in an order and agrees with what clients saw,
/// and ends in the state `last`, if that can be. Nothing, if the choices that it has are too many.
fn replay<S: Specification>(
    history: &HistoryOf<S>,
    initial: &S,
    order: &[usize],
    last: Option<&S>,
) -> Vec<(S::Response, S)> {
    /// How many states are followed at the same time.
    const STATES_MAX: usize = 64;
    let mut steps: Vec<Vec<Done<S>>> = Vec::with_capacity(order.len());
    for &place in order {
        let Some(call) = history.calls().get(place) else { return Vec::new() };
        let mut next: Vec<Done<S>> = Vec::new();
        let states: Vec<&S> =
            steps.last().map_or_else(|| vec![initial], |done| done.iter().map(|done| &done.state).collect());
        for (before, state) in states.into_iter().enumerate() {
            for (response, state) in
                outcomes(state, call.session, &call.operation, call.end.response()).take(STATES_MAX)
            {
                if next.len() < STATES_MAX && !next.iter().any(|done| done.state == state) {
                    next.push(Done { response, state, before });
                }
            }
        }
        if next.is_empty() {
            return Vec::new();
        }
        steps.push(next);
    }
    let mut at = steps.last().and_then(|done| done.iter().position(|done| Some(&done.state) == last)).unwrap_or(0);
    let mut replayed = Vec::with_capacity(steps.len());
    for mut done in steps.into_iter().rev() {
        let Done { response, state, before } = done.swap_remove(at);
        replayed.push((response, state));
        at = before;
    }
    replayed.reverse();
    replayed
}

#[cfg(test)]
mod tests {
    use simutant_oracle::specifications::Register;
    use simutant_oracle::specifications::register::{Operation, Response};
    use simutant_oracle::{Check, Open, Recorder, Time};

    use super::*;

    /// A register of which a write may be lost.
    #[derive(Debug, Clone, PartialEq, Eq, Hash)]
    struct Forgetful(u8);

    impl Specification for Forgetful {
        type Operation = Option<u8>;
        type Response = u8;

        fn step(&mut self, _: Session, operation: &Option<u8>, open: &mut Open<'_>) -> u8 {
            match operation {
                Some(value) if open.maybe() => self.0 = *value,
                _ => {}
            }
            if operation.is_some() { 0 } else { self.0 }
        }
    }

    #[test]
    fn a_replay_makes_the_choices_that_agree_with_what_comes_later() {
        let recorder = Recorder::new();
        for (time, operation, answer) in [(0, Some(1), 0), (2, Some(2), 0), (4, None, 1)] {
            let call = recorder.invoke(Session(1), operation, Time::from_nanos(time));
            recorder.returned(call, answer, Time::from_nanos(time + 1)).expect("it ends once");
        }
        let history = recorder.history();
        let Answer::Possible { order } = Check::default().run(&history, &Forgetful(0)).answer else {
            panic!("the second write is lost")
        };
        let words: Words<'_, Forgetful> = Words {
            operation: &|operation| format!("{operation:?}"),
            response: &|response| response.to_string(),
            state: &|state| state.0.to_string(),
        };
        let picture = words.answered(&history, &Forgetful(0), &Answer::Possible { order });
        let states: Vec<Option<&str>> = picture.orders[0].steps.iter().map(|step| step.state.as_deref()).collect();
        assert_eq!(states, [Some("1"); 3]);
    }

    #[test]
    fn an_explanation_has_its_calls_answers_and_reasons() {
        let recorder: Recorder<Operation<u8>, Response<u8>> = Recorder::new();
        let at = Time::from_nanos;
        recorder.invoke(Session(5), Operation::CompareAndSet { from: 1, to: 2 }, at(1));
        let write = recorder.invoke(Session(3), Operation::Write(1), at(2));
        recorder.returned(write, Response::Done, at(3)).expect("it ends once");
        let refused = recorder.invoke(Session(4), Operation::Write(9), at(3));
        recorder.did_not_happen(refused, at(4)).expect("it ends once");
        for (time, value) in [(10, 2), (20, 3)] {
            let read = recorder.invoke(Session(3), Operation::Read, at(time));
            recorder.returned(read, Response::Value(Some(value)), at(time + 5)).expect("it ends once");
        }
        let history = recorder.history();
        let register = Register::default();
        let explanation = Check::default().explain(&history, &register).expect("nobody wrote 3");
        let words: Words<'_, Register<u8>> = Words {
            operation: &|operation| format!("{operation:?}"),
            response: &|response| format!("{response:?}"),
            state: &|register| format!("{:?}", register.0),
        };
        let picture = words.explained(&history, &register, &explanation);
        assert_eq!(picture.lanes, ["session 3", "session 4", "session 5"]);
        let steps = &picture.orders[0].steps;
        assert_eq!(steps.iter().map(|step| step.bar).collect::<Vec<_>>(), [1, 0, 3]);
        // Nobody knows what the comparison was answered, and the specification says it.
        assert_eq!(picture.bars[0].end, BarEnd::Unknown);
        assert_eq!(steps[1].answer.as_deref(), Some("Compared(true)"));
        assert_eq!(steps[1].state.as_deref(), Some("Some(2)"));
        let stuck = picture.stuck.expect("it is impossible");
        assert_eq!(stuck.bar, 4);
        assert_eq!(stuck.allowed[0].answer, "Value(Some(2))");
        assert_eq!(stuck.allowed[0].reason.as_deref(), Some("the register has the value 2"));
        assert_eq!(picture.core.last().map(|core| core.bar), Some(4));
    }
}
