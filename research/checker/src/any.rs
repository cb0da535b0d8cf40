//! Any of the ready-made specifications as one type. What is generic over specifications is compiled with all its
//! mutants for each of them, so there is one. The tests of `oracle/` have this file, too.

use std::cell::Cell;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use simutant_oracle::specifications::{
    Bank, Counter, KeyValueStore, Lease, Log, Mutex, PriorityQueue, Queue, Register, Set, Stack, UniqueIds,
};
use simutant_oracle::{Answer, Call, End, Footprint, Open, Session, Specification};
use simutant_random::Random;
use simutant_zookeeper_histories::ZooKeeper;

use crate::tried::{Permits, Tried};

thread_local! {
    static STEPS: Cell<u64> = const { Cell::new(0) };
}

/// Returns how many steps specifications have taken on this thread.
pub(crate) fn steps_taken() -> u64 {
    STEPS.get()
}

/// The calls as those of one specification; `None` if one of them is of another.
macro_rules! calls_of {
    ($name:ident, $calls:expr) => {{
        let operation = |operation: &Operation| match operation {
            Operation::$name(operation) => Some(operation.clone()),
            _ => None,
        };
        let response = |response: &Response| match response {
            Response::$name(response) => Some(response.clone()),
            _ => None,
        };
        $calls.iter().map(|call| of_one(call, operation, response)).collect::<Option<Vec<_>>>()
    }};
}

/// Makes the enumerations, and asks the specification that a state or an operation is of.
macro_rules! any {
    ($($name:ident: $specification:ty;)*) => {
        /// The name of a specification.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Name {
            $(#[doc = stringify!($specification)] $name,)*
        }

        /// A state of some specification.
        #[derive(Debug, Clone, PartialEq, Eq, Hash)]
        pub(crate) enum Any {
            $($name($specification),)*
        }

        /// An operation of some specification.
        #[derive(Debug, Clone, Serialize)]
        #[serde(untagged)]
        pub(crate) enum Operation {
            $($name(<$specification as Specification>::Operation),)*
        }

        /// An answer of some specification.
        #[derive(Debug, Clone, PartialEq, Serialize)]
        #[serde(untagged)]
        pub(crate) enum Response {
            $($name(<$specification as Specification>::Response),)*
        }

        impl Name {
            /// All of them.
            pub(crate) const ALL: &[Self] = &[$(Self::$name),*];

            /// Returns the state at first.
            pub(crate) fn initial(self) -> Any {
                match self {
                    $(Self::$name => Any::$name(<$specification>::initial()),)*
                }
            }

            /// Returns lists of operations that are about one thing each.
            pub(crate) fn themes(self) -> Vec<Vec<Operation>> {
                match self {
                    $(Self::$name => {
                        let themes = <$specification>::themes().into_iter();
                        themes.map(|theme| theme.into_iter().map(Operation::$name).collect()).collect()
                    })*
                }
            }

            /// Returns the operations of histories for fast paths: those that they have once, and others.
            pub(crate) fn distinct(self) -> (Vec<Operation>, Vec<Operation>) {
                match self {
                    $(Self::$name => {
                        let (once, others) = <$specification>::distinct();
                        let operations = |operations: Vec<_>| operations.into_iter().map(Operation::$name).collect();
                        (operations(once), operations(others))
                    })*
                }
            }

            /// Returns an operation that has this form in a file.
            pub(crate) fn operation(self, form: Value) -> serde_json::Result<Operation> {
                match self {
                    $(Self::$name => serde_json::from_value(form).map(Operation::$name),)*
                }
            }

            /// Returns an answer that has this form in a file.
            pub(crate) fn response(self, form: Value) -> serde_json::Result<Response> {
                match self {
                    $(Self::$name => serde_json::from_value(form).map(Response::$name),)*
                }
            }
        }

        impl Any {
            /// Returns an answer that need not be right.
            pub(crate) fn made_up(random: &mut Random, operation: &Operation) -> Response {
                match operation {
                    $(Operation::$name(operation) => {
                        Response::$name(<$specification>::made_up(random, operation))
                    })*
                }
            }
        }

        impl Specification for Any {
            type Operation = Operation;
            type Response = Response;

            fn step(&mut self, session: Session, operation: &Operation, open: &mut Open<'_>) -> Response {
                STEPS.set(STEPS.get() + 1);
                match (self, operation) {
                    $((Self::$name(state), Operation::$name(operation)) => {
                        Response::$name(state.step(session, operation, open))
                    })*
                    (state, operation) => unreachable!("{operation:?} is not asked of {state:?}"),
                }
            }

            fn agrees(
                &mut self,
                operation: &Operation,
                expected: &Response,
                observed: &Response,
                open: &mut Open<'_>,
            ) -> bool {
                match (self, operation, expected, observed) {
                    $((
                        Self::$name(state),
                        Operation::$name(operation),
                        Response::$name(expected),
                        Response::$name(observed),
                    ) => state.agrees(operation, expected, observed, open),)*
                    _ => false,
                }
            }

            fn reason(
                &self,
                session: Session,
                operation: &Operation,
                expected: &Response,
                observed: &Response,
            ) -> Option<String> {
                match (self, operation, expected, observed) {
                    $((
                        Self::$name(state),
                        Operation::$name(operation),
                        Response::$name(expected),
                        Response::$name(observed),
                    ) => state.reason(session, operation, expected, observed),)*
                    _ => None,
                }
            }

            fn footprint(operation: &Operation, response: Option<&Response>) -> Footprint {
                match operation {
                    $(Operation::$name(operation) => {
                        let response = match response {
                            Some(Response::$name(response)) => Some(response),
                            _ => None,
                        };
                        <$specification>::footprint(operation, response)
                    })*
                }
            }

            fn depends_on_session(operation: &Operation) -> bool {
                match operation {
                    $(Operation::$name(operation) => <$specification>::depends_on_session(operation),)*
                }
            }

            fn is_same(one: &Operation, other: &Operation) -> bool {
                match (one, other) {
                    $((Operation::$name(one), Operation::$name(other)) => <$specification>::is_same(one, other),)*
                    _ => false,
                }
            }

            fn overwrites(operation: &Operation, response: Option<&Response>) -> bool {
                match operation {
                    $(Operation::$name(operation) => {
                        let response = match response {
                            Some(Response::$name(response)) => Some(response),
                            Some(_) => return false,
                            None => None,
                        };
                        <$specification>::overwrites(operation, response)
                    })*
                }
            }

            fn grows(operation: &Operation) -> bool {
                match operation {
                    $(Operation::$name(operation) => <$specification>::grows(operation),)*
                }
            }

            fn may_grow_into(&self, operation: &Operation, observed: &Response) -> bool {
                match (self, operation, observed) {
                    $((Self::$name(state), Operation::$name(operation), Response::$name(observed)) => {
                        state.may_grow_into(operation, observed)
                    })*
                    _ => true,
                }
            }

            fn fast_path(&self, calls: &[&Call<Operation, Response>]) -> Option<Answer> {
                match self {
                    $(Self::$name(state) => {
                        let calls = calls_of!($name, calls)?;
                        state.fast_path(&calls.iter().collect::<Vec<_>>())
                    })*
                }
            }

            fn contradiction(&self, calls: &[&Call<Operation, Response>]) -> Option<Vec<usize>> {
                match self {
                    $(Self::$name(state) => {
                        let calls = calls_of!($name, calls)?;
                        state.contradiction(&calls.iter().collect::<Vec<_>>())
                    })*
                }
            }

            fn heap_bytes(&self) -> usize {
                match self {
                    $(Self::$name(state) => state.heap_bytes(),)*
                }
            }
        }
    };
}

any! {
    Register: Register<u8>;
    Store: KeyValueStore;
    Counter: Counter;
    Set: Set<u8>;
    Queue: Queue<u8>;
    Stack: Stack<u8>;
    PriorityQueue: PriorityQueue<u8>;
    Mutex: Mutex;
    Lease: Lease;
    Log: Log<u8>;
    UniqueIds: UniqueIds<u8>;
    Bank: Bank;
    Zookeeper: ZooKeeper;
    Permissions: Permits<false>;
    StalePermissions: Permits<true>;
}

/// Returns a call as the specification has it that it is of.
fn of_one<O, R, P, S>(
    call: &Call<O, R>,
    operation: impl Fn(&O) -> Option<P>,
    response: impl Fn(&R) -> Option<S>,
) -> Option<Call<P, S>> {
    let end = match &call.end {
        End::Returned { at, response: observed } => End::Returned { at: *at, response: response(observed)? },
        End::Unknown => End::Unknown,
        End::DidNotHappen { at } => End::DidNotHappen { at: *at },
    };
    let Call { session, mode, invoked, revision, .. } = *call;
    Some(Call { session, operation: operation(&call.operation)?, mode, invoked, end, revision })
}
