//! What a run examines: the oracle is asked for everything, and held against the verdicts of the test case. The tests of
//! `oracle/` have this file, too.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use simutant_oracle::{
    Answer, Budget, Call, Check, Checked, Compared, End, Filter, History, Limit, Maximal, Mode, Moment, Open, Order,
    RevisionConflict, Scope, Specification, Strategy, Time, What, hints,
};

use crate::any::{Any, steps_taken};
use crate::case::{AnyHistory, Case, FILTERS, orders, orders_of_each};
use crate::judge::{agree, brute_force_compared, brute_force_some};
use crate::nodes::is_watch;

const STRATEGIES: [Strategy; 5] =
    [Strategy::JustInTime, Strategy::AnswerOrder, Strategy::CallOrder, Strategy::DepthFirst, Strategy::BreadthFirst];

/// A history that is examined.
pub(crate) struct Examined {
    pub(crate) history: AnyHistory,
    pub(crate) initial: Any,
    /// What searches took.
    pub(crate) steps: Cell<u64>,
}

/// What a part of an examination found: nothing, or what is wrong.
pub(crate) type Examination = Result<(), String>;

fn expect(holds: bool, what: impl FnOnce() -> String) -> Examination {
    if holds { Ok(()) } else { Err(what()) }
}

impl Examined {
    /// Returns what the oracle gets wrong first.
    pub(crate) fn all(&self, case: &Case) -> Examination {
        let possible = &case.possible;
        let real_time = Order::linearizability();
        for is_partitioned in [false, true] {
            self.check(&real_time, Strategy::JustInTime, is_partitioned, possible.linearizability)?;
        }
        self.fast_path()?;
        self.contradiction()?;
        self.early_ends()?;
        let Some(others) = &possible.others else { return Ok(()) };
        let operations: Vec<_> = self.history.calls().iter().take(3).map(|call| call.operation.clone()).collect();
        // A footprint does not say that a call takes the events along which its session has not been told yet.
        let has_watches = case.before.iter().any(|form| form.get("watch").is_some()) || operations.iter().any(is_watch);
        if !has_watches {
            hints::check(&self.initial, &operations, 2).map_err(|wrong| wrong.to_string())?;
        }
        for (order, expected) in orders(&case.pairs).iter().zip(possible.by_order(others)) {
            for strategy in STRATEGIES {
                self.check(order, strategy, true, expected)?;
            }
            self.check(order, Strategy::JustInTime, false, expected)?;
            self.budgets(order, expected)?;
        }
        let (sequential, zookeeper) = (Order::sequential(), Order::ordered_sequential());
        for strategy in STRATEGIES {
            self.check(&real_time, strategy, false, possible.linearizability)?;
        }
        self.each_read(&real_time, others.reads.0)?;
        self.each_read(&sequential, others.reads.1)?;
        for (order, (simple, strict)) in
            orders_of_each(&self.history, &case.pairs).iter().zip(others.simple.into_iter().zip(others.strict))
        {
            self.each(order, simple, strict)?;
        }
        self.explain(&real_time, possible.linearizability, possible.linearizability)?;
        self.explain(&sequential, others.sequential, possible.linearizability)?;
        self.explain(&zookeeper, others.zookeeper, possible.linearizability)?;
        self.explain(&real_time.with_revisions(), others.revisions, possible.linearizability)
    }

    fn run(&self, check: &Check<'_>) -> Checked {
        let checked = check.run(&self.history, &self.initial);
        self.steps.set(self.steps.get() + checked.explored.steps);
        checked
    }

    fn check(&self, order: &Order, strategy: Strategy, is_partitioned: bool, expected: bool) -> Examination {
        let has_fast_paths = is_partitioned;
        let check = Check { order: order.clone(), strategy, is_partitioned, has_fast_paths, ..Check::default() };
        let checked = self.run(&check);
        // A search takes a step for each call that it places.
        let is_counted = |placed: &[usize]| self.is_fast(&check) || checked.explored.steps >= placed.len() as u64;
        let is_right = match &checked.answer {
            Answer::Possible { order: witness } => expected && is_counted(witness) && self.is_explained(order, witness),
            Answer::Impossible { longest, stuck } => {
                let is_call = self.history.calls()[*stuck].end.response().is_some() && !longest.contains(stuck);
                // Of parts, another one may fail earlier; a search that foresees may be stuck earlier.
                let is_any = is_partitioned || strategy == Strategy::JustInTime || *order != Order::linearizability();
                let is_first = is_any || self.is_first_wrong(*stuck);
                // A part of the calls may be all that is told of; without parts all that ended before is explained.
                let is_longest = is_partitioned || self.has_all_before(longest, *stuck);
                let is_known = is_call && is_first && is_longest && is_counted(longest);
                !expected && is_known && agree(&self.history, &self.initial, order, longest)
            }
            Answer::Undecided { .. } => false,
        };
        // A state comes of a step; not each leads to a configuration that is kept.
        let explored = checked.explored;
        let is_kept = is_partitioned || (1..=explored.steps + 1).contains(&explored.states);
        expect(is_right && is_kept, || format!("{strategy:?}, {order:?}, partitioned {is_partitioned}: {checked:?}"))
    }

    /// Returns whether a witness has all calls that returned, and explains them.
    fn is_explained(&self, order: &Order, witness: &[usize]) -> bool {
        let calls = self.history.calls();
        let is_complete =
            (0..calls.len()).all(|place| witness.contains(&place) || calls[place].end.response().is_none());
        is_complete && agree(&self.history, &self.initial, order, witness)
    }

    /// Returns whether all calls that ended before one can be explained by real time, and not it with them.
    fn is_first_wrong(&self, stuck: usize) -> bool {
        let ended = |place: usize| ended(&self.history.calls()[place]);
        let is_possible = |is_known: &dyn Fn(usize) -> bool| {
            brute_force_some(&self.history, &self.initial, &Order::linearizability(), is_known)
        };
        // What ends at the same moment may come first or later.
        is_possible(&|place| ended(place) < ended(stuck)) && !is_possible(&|place| ended(place) <= ended(stuck))
    }

    /// Returns whether all calls that ended before one are placed.
    fn has_all_before(&self, placed: &[usize], stuck: usize) -> bool {
        (0..self.history.calls().len()).all(|place| {
            let call = &self.history.calls()[place];
            call.end.response().is_none()
                || ended(call) >= ended(&self.history.calls()[stuck])
                || placed.contains(&place)
        })
    }

    /// A call that ends before it was invoked is refused, and one is synchronous if nothing else is said.
    fn early_ends(&self) -> Examination {
        let Some(call) = self.history.calls().first() else { return Ok(()) };
        let at = |nanos| Moment { time: Time::from_nanos(nanos), event: None };
        let End::Returned { response, .. } = &call.end else { return Ok(()) };
        let ending = |nanos| {
            let end = End::Returned { at: at(nanos), response: response.clone() };
            let call = Call::new(call.session, call.operation.clone(), at(5), end);
            (call.mode, History::from_calls(vec![call]).is_ok())
        };
        expect(ending(4) == (Mode::Synchronous, false) && ending(5) == (Mode::Synchronous, true), || {
            format!("early ends: {:?}, {:?}", ending(4), ending(5))
        })
    }

    /// Returns whether a check may answer without a search.
    fn is_fast(&self, check: &Check<'_>) -> bool {
        check.has_fast_paths && check.order == Order::linearizability() && check.strategy == Strategy::JustInTime
    }

    /// What contradicts itself is impossible, whatever became of the other calls.
    fn contradiction(&self) -> Examination {
        let calls: Vec<_> = self.history.calls().iter().collect();
        let Some(core) = self.initial.contradiction(&calls) else { return Ok(()) };
        let returned = core.iter().all(|&place| calls.get(place).is_some_and(|call| call.end.response().is_some()));
        let forget = |(place, call): (usize, &Call<_, _>)| match call.end {
            End::Returned { .. } if !core.contains(&place) => Call { end: End::Unknown, ..call.clone() },
            _ => call.clone(),
        };
        let forgotten = History::from_calls(self.history.calls().iter().enumerate().map(forget).collect());
        let order = Order::linearizability();
        let is_impossible =
            forgotten.is_ok_and(|history| !brute_force_compared(&history, &self.initial, &order, |_| true));
        expect(returned && is_impossible, || format!("{core:?} contradict each other"))
    }

    /// A specification that answers by itself is asked, and what it says stands, unless the budget has no memory for it
    /// or it is to stop.
    fn fast_path(&self) -> Examination {
        let calls: Vec<_> = self.history.calls().iter().collect();
        let known = self.initial.fast_path(&calls);
        let run = |budget| self.run(&Check { is_partitioned: false, budget, ..Check::default() });
        let checked = run(Budget::default());
        let is_asked = match &known {
            Some(answer) => {
                let has_doubts = self.history.calls().iter().any(|call| call.end == End::Unknown);
                let is_right = |longest: &[usize], stuck| {
                    self.is_first_wrong(stuck) && (has_doubts || self.has_all_before(longest, stuck))
                };
                let is_said = match answer {
                    Answer::Possible { order } => self.is_explained(&Order::linearizability(), order),
                    Answer::Impossible { longest, stuck } => is_right(longest, *stuck),
                    Answer::Undecided { .. } => false,
                };
                let enough = run(Budget { bytes: usize::try_from(checked.explored.bytes).ok(), ..Budget::default() });
                is_said
                    && enough == checked
                    && checked.answer == *answer
                    && checked.explored.steps == 0
                    && checked.explored.bytes > 0
            }
            None => checked.explored.steps > 0 || checked.answer == Answer::Possible { order: Vec::new() },
        };
        let small = run(Budget { bytes: Some(10), ..Budget::default() });
        let is_small = is_stopped(&small, Limit::Bytes) || small.explored.bytes <= 10;
        expect(is_asked && is_small, || format!("fast path: {known:?}; {checked:?}; {small:?}"))
    }

    /// A budget of exactly what is needed is enough, and of less is not.
    fn budgets(&self, order: &Order, expected: bool) -> Examination {
        self.steps(&Check { order: order.clone(), ..Check::default() })?;
        let run = |budget| self.run(&Check { order: order.clone(), budget, ..Check::default() });
        let is_small = [100, 1_000, 4_000].iter().all(|&limit| {
            let checked = run(Budget { bytes: Some(limit), ..Budget::default() });
            is_stopped(&checked, Limit::Bytes) || checked.is_possible() == expected
        });
        let stopped = run(Budget { stop: Some(&|| true), ..Budget::default() });
        let stops = is_stopped(&stopped, Limit::Stopped);
        expect(is_small && stops, || format!("budgets, {order:?}: {is_small}; {stopped:?}"))
    }

    /// What an explanation names is impossible, and no longer if one of its ends or answers is forgotten. What it says of
    /// the calls before can be, and the answer that cannot follow cannot.
    fn explain(&self, order: &Order, expected: bool, is_possible_by_time: bool) -> Examination {
        let check = Check { order: order.clone(), ..Check::default() };
        let before = steps_taken();
        let Some(explanation) = check.explain(&self.history, &self.initial) else {
            return expect(expected, || format!("{order:?}: no explanation"));
        };
        self.explain_within(&check, steps_taken() - before)?;
        let known: BTreeMap<usize, What> = explanation.core.iter().map(|known| (known.call, known.what)).collect();
        let is_possible = |known: &BTreeMap<usize, What>| {
            let forget = |(place, call): (usize, &Call<_, _>)| match call.end {
                End::Returned { .. } if !known.contains_key(&place) => Call { end: End::Unknown, ..call.clone() },
                _ => call.clone(),
            };
            let calls = self.history.calls().iter().enumerate().map(forget).collect();
            let history = History::from_calls(calls).expect("ends are as they were");
            let is_compared = |place: usize| known.get(&place) == Some(&What::Answer);
            brute_force_compared(&history, &self.initial, order, is_compared)
        };
        let is_smallest = known.iter().all(|(&place, &what)| {
            let mut fewer = known.clone();
            match what {
                What::Ended => fewer.remove(&place),
                What::Answer => fewer.insert(place, What::Ended),
            };
            is_possible(&fewer)
        });
        let is_core = !is_possible(&known) && is_smallest;
        let stuck = explanation.stuck;
        // Where the order is that of real time, nothing else can be what the call waits for.
        let follows = |placed: &[usize]| {
            *order == Order::linearizability()
                && agree(&self.history, &self.initial, order, &[placed, &[stuck]].concat())
        };
        let is_maximal = explanation.maximal.iter().all(|maximal| {
            let is_explained = agree(&self.history, &self.initial, order, &maximal.order);
            is_explained && !maximal.order.contains(&stuck) && !follows(&maximal.order)
        });
        let observed = self.history.calls()[stuck].end.response();
        let is_allowed = explanation
            .allowed
            .iter()
            .all(|allowed| Some(&allowed.response) != observed && allowed.after < explanation.maximal.len());
        // The answers of a log do not say all.
        let has_allowed = !explanation.allowed.is_empty()
            || *order != Order::linearizability()
            || matches!(self.initial, Any::Log(_));
        let has_all = has_allowed
            && !explanation.maximal.is_empty()
            && explanation.maximal_count >= explanation.maximal.len() as u64;
        // Nothing is said twice.
        let calls = |maximal: &Maximal<Any>| maximal.order.iter().copied().collect::<BTreeSet<_>>();
        let is_other =
            |one: &Maximal<Any>, other: &Maximal<Any>| one.state != other.state || calls(one) != calls(other);
        let (maximal, allowed) = (&explanation.maximal, &explanation.allowed);
        let is_once = (0..maximal.len()).all(|at| maximal[at + 1..].iter().all(|other| is_other(&maximal[at], other)))
            && (0..allowed.len())
                .all(|at| allowed[at + 1..].iter().all(|other| other.response != allowed[at].response));
        // What the specification would answer after an explanation is told.
        let is_told = maximal.iter().all(|maximal| {
            let call = &self.history.calls()[stuck];
            let response = maximal.state.clone().step(call.session, &call.operation, &mut Open::first());
            Some(&response) == observed || allowed.iter().any(|allowed| allowed.response == response)
        });
        let is_conflict = explanation.revisions.is_some() == (order.revisions && is_possible_by_time)
            && explanation.revisions.as_ref().is_none_or(|conflict| self.is_conflict(conflict, &known));
        expect(!expected && is_core && is_maximal && is_allowed && has_all && is_once && is_told && is_conflict, || {
            format!("{order:?}: {explanation:?}")
        })
    }

    /// Of two calls whose revisions contradict the rest the one with the larger revision comes first; where a core has
    /// no others, they are named.
    fn is_conflict(&self, conflict: &RevisionConflict, core: &BTreeMap<usize, What>) -> bool {
        let revision = |place: usize| self.history.calls()[place].revision;
        let differ = |places: &[usize]| matches!(*places, [one, other] if revision(one) != revision(other));
        let core: Vec<usize> = core.keys().copied().collect();
        let has_revisions = core.iter().all(|&place| revision(place).is_some());
        match conflict.calls {
            Some((later, earlier)) => revision(later) > revision(earlier) && revision(earlier).is_some(),
            None => !has_revisions || !differ(&core),
        }
    }

    /// An explanation takes no more steps than the budget has, but for the answers that are allowed: one for each
    /// explanation of the calls before, and each choice.
    fn explain_within(&self, check: &Check<'_>, taken: u64) -> Examination {
        for budget in [taken / 4, taken / 2, taken] {
            let limited = Check { budget: Budget { steps: Some(budget), ..Budget::default() }, ..check.clone() };
            let before = steps_taken();
            let explanation = limited.explain(&self.history, &self.initial);
            let taken = steps_taken() - before;
            let asked = explanation.map_or(0, |explanation| 4 * explanation.maximal.len() as u64);
            expect(taken <= budget + asked, || format!("explained with {budget} steps in {taken}: {check:?}"))?;
        }
        Ok(())
    }

    fn each_read(&self, order: &Order, expected: bool) -> Examination {
        for strategy in [Strategy::JustInTime, Strategy::BreadthFirst] {
            let check = Check { order: order.clone(), strategy, scope: Scope::EachRead, ..Check::default() };
            let checked = self.run(&check);
            let is_decided = !matches!(checked.answer, Answer::Undecided { .. });
            let has_calls = self.history.calls().iter().any(|call| call.end.response().is_some());
            let is_counted = self.is_fast(&check) || checked.explored.steps >= u64::from(has_calls);
            expect(checked.is_possible() == expected && is_decided && is_counted, || {
                format!("each read, {strategy:?}, {order:?}: {checked:?}")
            })?;
        }
        self.steps(&Check { order: order.clone(), scope: Scope::EachRead, ..Check::default() })
    }

    /// As many steps as a check takes are enough, and one less is not.
    fn steps(&self, check: &Check<'_>) -> Examination {
        // What contradicts itself is known without the last step.
        let check = &Check { has_fast_paths: false, ..check.clone() };
        let with = |steps| self.run(&Check { budget: Budget { steps, ..Budget::default() }, ..check.clone() });
        let all = with(None);
        let steps = all.explored.steps;
        let enough = with(Some(steps));
        let less = steps.checked_sub(1).map(|less| with(Some(less)));
        let is_less = less.as_ref().is_none_or(|less| is_stopped(less, Limit::Steps) && less.explored.steps < steps);
        expect(enough == all && is_less, || format!("{steps} steps of {check:?}: {enough:?}; {less:?}"))
    }

    fn each(&self, order: &Order, simple: [bool; 3], strict: [bool; 3]) -> Examination {
        // What a filter leaves out matters to no answer. That of the first one is of all calls, whatever footprints say.
        expect(simple == [simple[0]; 3], || {
            format!("filters change what simple checking says: {simple:?}, {order:?}")
        })?;
        let returned = self.history.calls().iter().filter(|call| call.end.response().is_some()).count() as u64;
        for (number, filter) in FILTERS.into_iter().enumerate() {
            for (compared, expected) in [(Compared::Target, simple[number]), (Compared::All, strict[number])] {
                for strategy in [Strategy::JustInTime, Strategy::BreadthFirst] {
                    let scope = Scope::EachCall { compared, filter };
                    let check = Check { order: order.clone(), strategy, scope, ..Check::default() };
                    let checked = self.run(&check);
                    let is_right = match &checked.answer {
                        Answer::Possible { .. } => expected && checked.explored.steps >= returned,
                        Answer::Impossible { stuck, .. } => !expected && *stuck < self.history.calls().len(),
                        Answer::Undecided { .. } => false,
                    };
                    expect(is_right, || format!("{scope:?}, {strategy:?}, {order:?}: {checked:?}"))?;
                }
            }
        }
        let scope = Scope::EachCall { compared: Compared::All, filter: Filter::None };
        self.steps(&Check { order: order.clone(), scope, ..Check::default() })
    }
}

/// Returns when a call ended, in the order of ends.
fn ended<O, R>(call: &Call<O, R>) -> Option<(Time, bool, Option<u64>)> {
    call.end.at().map(|at| (at.time, at.event.is_none(), at.event))
}

fn is_stopped(checked: &Checked, by: Limit) -> bool {
    checked.answer == Answer::Undecided { limit: by }
}
