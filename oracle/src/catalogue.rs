//! The ready-made specifications by name, for commands and services that are told which one a history is of.
//!
//! ```
//! use std::time::Duration;
//! use simutant_oracle::catalogue::ReadyMade;
//! use simutant_oracle::judging::{JudgingRequest, Watch};
//! use simutant_oracle::ReportedAnswer;
//!
//! let text = b"{:process 0, :type :invoke, :f :read, :value nil}
//! {:process 0, :type :ok, :f :read, :value 3}
//! ";
//! let register = ReadyMade::named("register").expect("it is one of them");
//! // There is no clock here: the check has no limit of time.
//! let watch = Watch { elapsed: &|| Duration::ZERO, is_stopped: &|| false };
//! let report = register.judge(&JudgingRequest::default(), None, &mut &text[..], watch)?;
//! let ReportedAnswer::Impossible(impossible) = report.answer else { panic!("nobody wrote 3") };
//! assert_eq!(impossible.allowed[0].reason.as_deref(), Some("the register has no value"));
//!
//! let three = serde_json::json!(3);
//! let report = register.judge(&JudgingRequest::default(), Some(&three), &mut &text[..], watch)?;
//! assert!(matches!(report.answer, ReportedAnswer::Possible { .. }));
//! # Ok::<(), simutant_oracle::judging::JudgingError>(())
//! ```

use std::io::BufRead;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

use crate::CheckReport;
use crate::formats::{Value, Vocabulary};
use crate::judging::{JudgingError, JudgingRequest, Reading, Watch};
use crate::specifications::{
    Bank, Counter, KeyValueStore, Keyed, Lease, Log, Mutex, PriorityQueue, Queue, Register, Set, Stack, UniqueIds,
    UnorderedQueue,
};

/// A ready-made specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ReadyMade {
    /// [`Register`].
    Register,
    /// [`KeyValueStore`].
    KeyValueStore,
    /// [`Mutex`].
    Mutex,
    /// [`Lease`].
    Lease,
    /// [`Counter`].
    Counter,
    /// [`Set`].
    Set,
    /// [`Queue`].
    Queue,
    /// [`Stack`].
    Stack,
    /// [`PriorityQueue`].
    PriorityQueue,
    /// [`UnorderedQueue`].
    UnorderedQueue,
    /// [`Log`].
    Log,
    /// [`UniqueIds`].
    UniqueIds,
    /// [`Bank`].
    Bank,
}

impl ReadyMade {
    /// All of them.
    pub const ALL: [Self; 13] = [
        Self::Register,
        Self::KeyValueStore,
        Self::Mutex,
        Self::Lease,
        Self::Counter,
        Self::Set,
        Self::Queue,
        Self::Stack,
        Self::PriorityQueue,
        Self::UnorderedQueue,
        Self::Log,
        Self::UniqueIds,
        Self::Bank,
    ];

    /// Returns the one of a name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|specification| specification.name() == name)
    }

    /// Returns the name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Register => "register",
            Self::KeyValueStore => "key-value-store",
            Self::Mutex => "mutex",
            Self::Lease => "lease",
            Self::Counter => "counter",
            Self::Set => "set",
            Self::Queue => "queue",
            Self::Stack => "stack",
            Self::PriorityQueue => "priority-queue",
            Self::UnorderedQueue => "unordered-queue",
            Self::Log => "log",
            Self::UniqueIds => "unique-ids",
            Self::Bank => "bank",
        }
    }

    /// Returns what its initial state is and how another one is given, in JSON.
    pub const fn initial_form(self) -> &'static str {
        match self {
            Self::Register => "a value, or null for none (the default)",
            Self::KeyValueStore => {
                r#"{"entries":{"x":"1"},"absent":"empty"}; by default no entries, and a key without a value is answered with "nothing""#
            }
            Self::Mutex => r#"{"holder":SESSION}; by default nobody has it"#,
            Self::Lease => r#"{"holder":SESSION,"granted":GRANTS}; by default nobody has it, and none was granted"#,
            Self::Counter => "an integer, by default 0",
            Self::Set => "a list of values, by default none",
            Self::Queue => "a list of values, the first to be taken first, by default none",
            Self::Stack => "a list of values, the first to be taken last, by default none",
            Self::PriorityQueue | Self::UnorderedQueue => "a list of values, by default none",
            Self::Log => "a list of records, by default none",
            Self::UniqueIds => "a list of ids that were given before, by default none",
            Self::Bank => {
                r#"the balances, as in {"alice":10,"bob":5}, or {"balances":{"alice":10},"overdraft":true} if accounts may be overdrawn; by default there is no account"#
            }
        }
    }

    /// Returns whether a history says little without an initial state of its own.
    pub const fn needs_initial(self) -> bool {
        matches!(self, Self::Bank)
    }

    /// Reads a history to its end, and judges it from an initial state, which has the
    /// [form](Self::initial_form) of the specification, or from its default.
    ///
    /// # Errors
    /// [`JudgingError`] if the history cannot be read, or the initial state is none.
    pub fn judge(
        self,
        request: &JudgingRequest,
        initial: Option<&Json>,
        from: &mut dyn BufRead,
        watch: Watch<'_>,
    ) -> Result<CheckReport, JudgingError> {
        let judging = Judging { specification: self, request, initial, from, watch };
        match self {
            Self::Register => judging.with::<Register<Value>>(),
            Self::KeyValueStore => judging.with::<KeyValueStore>(),
            Self::Mutex => judging.with::<Mutex>(),
            Self::Lease => judging.with::<Lease>(),
            Self::Counter => judging.with::<Counter>(),
            Self::Set => judging.with::<Set<Value>>(),
            Self::Queue => judging.with::<Queue<Value>>(),
            Self::Stack => judging.with::<Stack<Value>>(),
            Self::PriorityQueue => judging.with::<PriorityQueue<Value>>(),
            Self::UnorderedQueue => judging.with::<UnorderedQueue<Value>>(),
            Self::Log => judging.with::<Log<Value>>(),
            Self::UniqueIds => judging.with::<UniqueIds<Value>>(),
            Self::Bank => judging.with::<Bank>(),
        }
    }

    /// Checks that an initial state is one of the specification's.
    ///
    /// # Errors
    /// [`JudgingError::Initial`] if it is none.
    pub fn check_initial(self, initial: &Json) -> Result<(), JudgingError> {
        let watch = Watch { elapsed: &|| std::time::Duration::ZERO, is_stopped: &|| false };
        self.judge(&JudgingRequest::default(), Some(initial), &mut std::io::empty(), watch).map(|_| ())
    }
}

struct Judging<'a> {
    specification: ReadyMade,
    request: &'a JudgingRequest,
    initial: Option<&'a Json>,
    from: &'a mut dyn BufRead,
    watch: Watch<'a>,
}

impl Judging<'_> {
    fn with<S: Vocabulary + Default + DeserializeOwned>(self) -> Result<CheckReport, JudgingError>
    where
        S::Operation: Serialize + DeserializeOwned + Clone,
        S::Response: Serialize + DeserializeOwned + Clone,
    {
        if self.request.keyed && !S::HAS_KEYS { self.of::<Keyed<S>>() } else { self.of::<S>() }
    }

    fn of<S: Vocabulary + Default + DeserializeOwned>(self) -> Result<CheckReport, JudgingError>
    where
        S::Operation: Serialize + DeserializeOwned + Clone,
        S::Response: Serialize + DeserializeOwned + Clone,
    {
        let initial = match self.initial {
            None => S::default(),
            Some(initial) => S::deserialize(initial).map_err(|error| self.refused(error.to_string()))?,
        };
        self.request.judge::<S>(&Reading::all_formats(), &initial, self.from, self.watch)
    }

    fn refused(&self, message: String) -> JudgingError {
        JudgingError::Initial { message, cure: format!("it is {}", self.specification.initial_form()) }
    }
}
