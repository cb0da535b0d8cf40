//! Hints of specifications, held against brute force.

use std::collections::BTreeSet;
use std::fmt::Debug;

use crate::{Session, Specification};

/// A hint that is not so.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{hint} of {operations} is wrong in the state {state}: {why}")]
#[non_exhaustive]
pub struct WrongHint {
    /// The function that gives the hint.
    pub hint: &'static str,
    /// The operation, or both.
    pub operations: String,
    /// The state of the specification.
    pub state: String,
    /// What happens instead.
    pub why: String,
}

/// The outcomes of a step: each answer with the state after it.
type Outcomes<S> = Vec<(<S as Specification>::Response, S)>;

/// Holds the hints of a specification against all that some operations do, in every state that they reach from an
/// initial one in at most `depth` steps.
///
/// - An operation whose footprint writes and updates nothing changes no state.
/// - An operation that does not [affect](crate::Footprint::affects) another one changes nothing of what that one answers.
/// - Two operations whose footprints do not [conflict](crate::Footprint::conflicts) commute: both orders give the same
///   answers and end in the same state.
/// - An operation that does not depend on its session does the same for two sessions.
/// - Operations that are the same do the same.
/// - An operation that overwrites is answered so in every state, and leaves no trace of another one that overwrites
///   the same regions before it.
/// - What an operation is answered after others that only add to the state was not said to be out of reach before them.
///
/// Cost: the states that are reached, times the operations squared.
///
/// ```
/// use simutant_oracle::{Footprint, Open, Region, Session, Specification, hints};
///
/// #[derive(Debug, Clone, PartialEq, Eq, Hash)]
/// struct Counter(u8);
///
/// impl Specification for Counter {
///     type Operation = &'static str;
///     type Response = u8;
///
///     fn step(&mut self, _: Session, operation: &&str, _: &mut Open<'_>) -> u8 {
///         self.0 += u8::from(*operation == "count");
///         self.0
///     }
///
///     // Wrong: to count is no read.
///     fn footprint(_: &&str, _: Option<&u8>) -> Footprint { Footprint::reads(Region::of("count")) }
/// }
///
/// let wrong = hints::check(&Counter(0), &["count", "read"], 2).expect_err("the state changes");
/// assert_eq!(wrong.hint, "footprint");
/// ```
///
/// # Errors
/// The first [`WrongHint`].
pub fn check<S>(initial: &S, operations: &[S::Operation], depth: usize) -> Result<(), WrongHint>
where
    S: Specification + Debug,
    S::Operation: Debug,
    S::Response: Debug + Clone,
{
    let mut states = vec![initial.clone()];
    let mut known: BTreeSet<String> = BTreeSet::from([format!("{initial:?}")]);
    let mut reached = 0;
    for _ in 0..depth {
        let border = reached..states.len();
        reached = states.len();
        for at in border {
            for operation in operations {
                for (_, after) in outcomes(&states[at], Session(0), operation) {
                    if known.insert(format!("{after:?}")) {
                        states.push(after);
                    }
                }
            }
        }
    }
    states.iter().try_for_each(|state| {
        check_in(state, operations)?;
        check_growth(state, operations, depth)
    })
}

/// Holds what is said to be out of reach against what sequences of operations that only add to the state lead to.
fn check_growth<S>(state: &S, operations: &[S::Operation], depth: usize) -> Result<(), WrongHint>
where
    S: Specification + Debug,
    S::Operation: Debug,
    S::Response: Debug,
{
    let mut grown = vec![state.clone()];
    for at in 0.. {
        let Some(later) = grown.get(at).cloned() else { break };
        for operation in operations {
            for (response, after) in outcomes(&later, Session(0), operation) {
                let is_read = S::footprint(operation, Some(&response)).is_read();
                if is_read && !state.may_grow_into(operation, &response) {
                    let why = format!("it is answered {response:?} in the state {later:?}, which grows out of it");
                    let (operations, state) = (format!("{operation:?}"), format!("{state:?}"));
                    return Err(WrongHint { hint: "may_grow_into", operations, state, why });
                }
                // Each level has all that can be reached in as many steps, or more than are looked at.
                let is_room = grown.len() < operations.len().pow(u32::try_from(depth.min(3)).unwrap_or(3));
                if S::grows(operation) && is_room && !grown.contains(&after) {
                    grown.push(after);
                }
            }
        }
    }
    Ok(())
}

fn check_in<S>(state: &S, operations: &[S::Operation]) -> Result<(), WrongHint>
where
    S: Specification + Debug,
    S::Operation: Debug,
    S::Response: Debug + Clone,
{
    let wrong =
        |hint, operations: String, why: String| WrongHint { hint, operations, state: format!("{state:?}"), why };
    for one in operations {
        for (response, after) in outcomes(state, Session(0), one) {
            for footprint in [S::footprint(one, None), S::footprint(one, Some(&response))] {
                if footprint.is_read() && after != *state {
                    let why = format!("it writes nothing, and the state becomes {after:?}");
                    return Err(wrong("footprint", format!("{one:?}"), why));
                }
            }
        }
        if !S::depends_on_session(one) && outcomes(state, Session(0), one) != outcomes(state, Session(1), one) {
            let why = "another session has another answer or another state".to_owned();
            return Err(wrong("depends_on_session", format!("{one:?}"), why));
        }
        for other in operations {
            let both = || format!("{one:?} and {other:?}");
            if S::is_same(one, other) && outcomes(state, Session(0), one) != outcomes(state, Session(0), other) {
                return Err(wrong("is_same", both(), "they do different things".to_owned()));
            }
            check_overwriting(state, one, other).map_err(|why| wrong("overwrites", both(), why))?;
            for (one_response, after_one) in outcomes(state, Session(0), one) {
                if let Some(response) = answered_anew::<S>(state, (one, &one_response, &after_one), other) {
                    let why =
                        format!("{one:?} changes nothing that {other:?} looks at, and the answer {response:?} is new");
                    return Err(wrong("footprint", both(), why));
                }
                for (other_response, after_both) in outcomes(&after_one, Session(1), other) {
                    let footprints =
                        (S::footprint(one, Some(&one_response)), S::footprint(other, Some(&other_response)));
                    let turned = || {
                        outcomes(state, Session(1), other).into_iter().any(|(response, after_other)| {
                            response == other_response
                                && outcomes(&after_other, Session(0), one)
                                    .into_iter()
                                    .any(|(response, after)| response == one_response && after == after_both)
                        })
                    };
                    if !footprints.0.conflicts(&footprints.1) && !turned() {
                        let why = format!(
                            "they do not conflict, and {one_response:?} with {other_response:?} is not answered the other way round"
                        );
                        return Err(wrong("footprint", both(), why));
                    }
                }
            }
        }
    }
    Ok(())
}

/// Returns an answer to an operation that is given before a step alone, or after it alone, though the step does not affect
/// the operation that is answered so.
fn answered_anew<S: Specification>(
    before: &S,
    (taken, taken_response, after): (&S::Operation, &S::Response, &S),
    operation: &S::Operation,
) -> Option<S::Response> {
    let taken = S::footprint(taken, Some(taken_response));
    let answers = |state| outcomes::<S>(state, Session(1), operation).into_iter().map(|(response, _)| response);
    let is_new = |response: &S::Response, state| {
        !taken.affects(&S::footprint(operation, Some(response))) && !answers(state).any(|other| other == *response)
    };
    [(before, after), (after, before)]
        .into_iter()
        .find_map(|(here, there)| answers(here).find(|response| is_new(response, there)))
}

/// Holds what is said of an operation that overwrites against what it does after another one, and says what is wrong.
fn check_overwriting<S>(state: &S, one: &S::Operation, other: &S::Operation) -> Result<(), String>
where
    S: Specification + Debug,
    S::Response: Debug,
{
    for (response, after_one) in outcomes(state, Session(0), one) {
        for observed in [None, Some(&response)].into_iter().filter(|&observed| S::overwrites(one, observed)) {
            let writes = S::footprint(one, observed).writes;
            for (other_response, after_other) in outcomes(state, Session(1), other) {
                let leaves_no_trace = [None, Some(&other_response)]
                    .into_iter()
                    .any(|observed| S::overwrites(other, observed) && S::footprint(other, observed).writes == writes);
                let mut after_both = crate::outcomes(&after_other, Session(0), one, observed).map(|(_, after)| after);
                match after_both.next() {
                    None => return Err(format!("after the other one it is not answered {response:?}")),
                    Some(after) if leaves_no_trace && after != after_one => {
                        return Err(format!("the other one leaves a trace: {after:?} and not {after_one:?}"));
                    }
                    Some(_) => {}
                }
            }
        }
    }
    Ok(())
}

/// Returns all outcomes of a step.
fn outcomes<S: Specification>(state: &S, session: Session, operation: &S::Operation) -> Outcomes<S> {
    crate::outcomes(state, session, operation, None).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Footprint, Open, Regions};

    /// A register whose hints are wrong as `Operation` says.
    #[derive(Debug, Clone, PartialEq, Eq, Hash)]
    struct Liar(u8);

    #[derive(Debug, Clone, Copy)]
    enum Operation {
        WritesAndSaysItReads,
        AddsSession,
        Doubles,
        Adds,
        Grows,
        Overwrites,
        Reads,
        /// Says that nothing matters to it, as if it wrote blindly.
        Swaps(u8),
        /// Says that it does not matter which of two comes first.
        Appends(u8),
    }

    impl Specification for Liar {
        type Operation = Operation;
        type Response = u8;

        fn step(&mut self, session: Session, operation: &Operation, _: &mut Open<'_>) -> u8 {
            let before = self.0;
            self.0 = match operation {
                Operation::Swaps(value) => *value,
                Operation::Appends(bit) => self.0 << 1 | bit,
                Operation::WritesAndSaysItReads => 7,
                Operation::AddsSession => self.0.wrapping_add(u8::from(session == Session(1))),
                Operation::Doubles => self.0.wrapping_mul(2),
                Operation::Adds => self.0.wrapping_add(1),
                Operation::Grows | Operation::Overwrites => self.0.saturating_add(1),
                Operation::Reads => self.0,
            };
            match operation {
                Operation::Swaps(_) => before,
                Operation::Appends(_) => 0,
                _ => self.0,
            }
        }

        fn footprint(operation: &Operation, _: Option<&u8>) -> Footprint {
            match operation {
                Operation::WritesAndSaysItReads | Operation::Reads => Footprint::reads_everything(),
                Operation::Swaps(_) => Footprint::new(Regions::None, Regions::All),
                Operation::Appends(_) => Footprint::new(Regions::None, Regions::None).and_updates(Regions::All),
                _ => Footprint::everything(),
            }
        }

        fn depends_on_session(operation: &Operation) -> bool {
            !matches!(operation, Operation::AddsSession)
        }

        fn is_same(one: &Operation, other: &Operation) -> bool {
            matches!((one, other), (Operation::Doubles, Operation::Adds))
        }

        fn grows(operation: &Operation) -> bool {
            matches!(operation, Operation::Grows)
        }

        fn overwrites(operation: &Operation, _: Option<&u8>) -> bool {
            matches!(operation, Operation::Overwrites)
        }

        fn may_grow_into(&self, _: &Operation, observed: &u8) -> bool {
            self.0 == *observed
        }
    }

    #[test]
    fn each_wrong_hint_is_named() {
        #[track_caller]
        fn check(operations: &[Operation], expect: &str) {
            let wrong = super::check(&Liar(1), operations, 3).expect_err("a hint is wrong");
            assert_eq!(wrong.hint, expect, "{wrong}");
        }
        check(&[Operation::WritesAndSaysItReads], "footprint");
        check(&[Operation::AddsSession], "depends_on_session");
        check(&[Operation::Doubles, Operation::Adds], "is_same");
        check(&[Operation::Grows, Operation::Reads], "may_grow_into");
        // The two conflict, and only an answer shows that the one matters to the other.
        check(&[Operation::Swaps(2), Operation::Swaps(3)], "footprint");
        check(&[Operation::Appends(0), Operation::Appends(1)], "footprint");
        check(&[Operation::Overwrites], "overwrites");
    }
}
