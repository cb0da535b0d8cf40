//! Why a campaign cannot go on.

use std::path::PathBuf;

use simutant_outcomes::{CostMeasure, Execution, MutantNumber};

/// Why a campaign cannot be opened or cannot go on. None of these says anything about a mutant.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CampaignError {
    /// A test case does not pass on the original, so no result on a mutant would mean anything.
    #[error(
        "test case {number} of seed {seed} does not pass on the original {system}: {}: {}; {}no mutant was run; \
         fix the specification or its oracle and run the same command again; the test case is {case}",
        execution.verdict, execution.reason, Share::words(*share, "fail")
    )]
    BaselineFailed {
        /// The system.
        system: String,
        /// The seed of the universe.
        seed: u64,
        /// The number of the test case in the universe: the lowest that fails.
        number: usize,
        /// The test case, in the system's own form: [`Simulator::simulate`](crate::Simulator::simulate) replays it.
        case: Box<serde_json::Value>,
        /// How the run ended.
        execution: Box<Execution>,
        /// How many test cases fail, if that is known.
        share: Option<Share>,
    },
    /// Two runs of one test case on the original differ.
    #[error(
        "two runs of test case {number} on the original differ: {difference}; {}a simulation must depend on its test case \
         alone: look for state outside of it (statics, thread-locals), hash maps that are iterated (`RandomState`), generators \
         that the machine seeds (`thread_rng`, `rand::rng`, `getrandom`), clocks, line numbers of its source",
        Share::words(*share, "differ")
    )]
    NotDeterministic {
        /// The number of the test case in the universe.
        number: usize,
        /// In what they differ.
        difference: String,
        /// How many test cases do not repeat, if that is known.
        share: Option<Share>,
    },
    /// A mutant ran otherwise than the recorded run of the original says; the kill matrix could not be trusted.
    #[error(
        "test case {number} {} mutant {mutant}, but the recorded run of the original says otherwise; this is an error of \
         Simutant or a simulation that keeps state outside of itself",
        if *reached { "reached" } else { "did not reach" }
    )]
    WrongMutant {
        /// The number of the test case in the universe.
        number: usize,
        /// The mutant that was asked for.
        mutant: MutantNumber,
        /// Whether the run reached it.
        reached: bool,
    },
    /// A test case does not do the same where the instrumented code chooses between the original and mutants, and chooses
    /// the original.
    #[error(
        "test case {number} does not do the same where its code chooses the original among mutants: {difference}; no \
         result on a mutant would mean anything; this is an error of Simutant: please report it. A comment `// simutant: \
         skip: REASON` leaves a function out; the test case is {case}"
    )]
    NotAsChosen {
        /// The number of the test case in the universe: the lowest that differs.
        number: usize,
        /// The test case, in the system's own form.
        case: Box<serde_json::Value>,
        /// The fact that differs, and its values.
        difference: String,
    },
    /// A test case does on the original, instrumented, not what it does on the package as it is written.
    #[error(
        "test case {number} does not do the same in the instrumented build as in the package as it is written: {difference}; no \
         result on a mutant would mean anything; this is an error of Simutant, or of a simulation that depends on more than its \
         test case: state outside of it, clocks, addresses, line numbers of its source; the test case is {case}"
    )]
    NotAsWritten {
        /// The number of the test case in the universe: the lowest that differs.
        number: usize,
        /// The test case, in the system's own form.
        case: Box<serde_json::Value>,
        /// In what they differ, with the first event that does.
        difference: String,
    },
    /// A pair that was pruned does not end as the original.
    #[error(
        "test case {number} of seed {seed} on mutant {mutant} of {system} was not to be run, since the recorded run of the original \
         did not infect the mutant, but as one of the sample that is run it {how}; the mutant is {change}; kills may be missing in \
         outcomes; this is an error of Simutant, or of a simulation that depends on more than its test case: on what ran before in \
         its process, on clocks, on addresses"
    )]
    PrunedWrongly {
        /// The system.
        system: String,
        /// The seed of the universe.
        seed: u64,
        /// The number of the test case in the universe.
        number: usize,
        /// The mutant.
        mutant: MutantNumber,
        /// What the mutant changes.
        change: String,
        /// How the run ended.
        how: String,
    },
    /// The test cases are to be walks of machines, and the system has no machine.
    #[error(
        "the source `{input_source}` takes walks of machines, and {system} has none: its `System::walks` names no field of a \
         test case; `simutant init --machine` writes a system that does"
    )]
    NoWalks {
        /// The system.
        system: String,
        /// The source.
        input_source: simutant_outcomes::InputSource,
    },
    /// The test cases are to be those of a net, and the system has none.
    #[error(
        "the source `net` takes the test cases that a net generates, and {system} has none: its `System::of_net` returns them"
    )]
    NoNet {
        /// The system.
        system: String,
    },
    /// A run that was kept after an edit of the source would be another one now.
    #[error(
        "test case {number} of seed {seed} on mutant {mutant} of {system} called nothing that has changed since the last study, but as \
         one of the sample of such runs that is made again it differs: {difference}; the mutant is {change}; other runs that were kept may be \
         wrong, and --fresh makes all of them again; this is an error of Simutant, or of a simulation that depends on more than its test case"
    )]
    KeptWrongly {
        /// The system.
        system: String,
        /// The seed of the universe.
        seed: u64,
        /// The number of the test case in the universe.
        number: usize,
        /// The mutant.
        mutant: MutantNumber,
        /// What the mutant changes.
        change: String,
        /// In what they differ.
        difference: String,
    },
    /// What was recorded on a test case and kept after an edit of the source would be something else now.
    #[error(
        "test case {number} of seed {seed} calls nothing of {system} that has changed since the last study, but as one of the sample of such test cases that \
         is recorded again it differs: {difference}; other recordings that were kept may be wrong, and --fresh makes all of them again; this is an error of \
         Simutant, or of a simulation that depends on more than its test case"
    )]
    RecordingKeptWrongly {
        /// The system.
        system: String,
        /// The seed of the universe.
        seed: u64,
        /// The number of the test case in the universe.
        number: usize,
        /// In what they differ.
        difference: String,
    },
    /// One of the other errors, in a run of a re-seeded test case.
    #[error("under re-seeding {reseeding}, {error}{}", if error.has_case() { String::new() } else { format!("; the re-seeded test case is {case}") })]
    OfReseeding {
        /// The number of the re-seeding, from 1 on.
        reseeding: usize,
        /// The re-seeded test case.
        case: Box<serde_json::Value>,
        /// The error, which names the test case of the universe.
        error: Box<CampaignError>,
    },
    /// The directory holds a campaign that differs from the one that was asked for.
    #[error(
        "{directory} holds a campaign with {field} {found}, but {field} {expected} was asked for; give another folder with \
         --out, or delete what is there with --fresh"
    )]
    OtherCampaign {
        /// The folder.
        directory: PathBuf,
        /// What differs first.
        field: &'static str,
        /// Its value in the journal.
        found: String,
        /// Its value in the plan.
        expected: String,
    },
    /// The journal was written by a version of Simutant that has it in another way.
    #[error(
        "{path} is of another version of Simutant (its format is {found}, that of this version is {expected}): give another folder with --out, or begin anew with --fresh"
    )]
    OtherFormat {
        /// The journal.
        path: PathBuf,
        /// The number of its format.
        found: u32,
        /// The number of the one that is read.
        expected: u32,
    },
    /// Another process works in the directory.
    #[error("{0}: another campaign is running in this folder; wait for its end, or give another folder with --out")]
    InUse(PathBuf),
    /// The journal's file is damaged, or is something else.
    #[error(
        "{path} is damaged or not a journal of a campaign ({detail}); restore it from a copy, or begin anew with --fresh"
    )]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What was found.
        detail: String,
    },
    /// The disk is full.
    #[error("{path}: no space is left on the disk; the journal is intact: make room and run the same command again")]
    DiskFull {
        /// The file that could not grow.
        path: PathBuf,
    },
    /// The journal cannot be read or written.
    #[error("{path}: {source}")]
    Journal {
        /// The file.
        path: PathBuf,
        /// What the database says.
        source: rusqlite::Error,
    },
    /// A file or folder cannot be read or written.
    #[error("{path}: {source}")]
    File {
        /// The file or folder.
        path: PathBuf,
        /// What the operating system says.
        source: std::io::Error,
    },
    /// The system panicked while it drew a test case.
    #[error("{message}")]
    SamplePanicked {
        /// Where, in drawing which test case, and why.
        message: String,
    },
    /// A test case is not one of the system's.
    #[error("{reason}")]
    CaseRefused {
        /// The system's reason, which names the field and what it may be.
        reason: String,
    },
    /// The worker program cannot be started, or does not speak the protocol.
    #[error("worker {program}: {detail}; build the system anew")]
    Worker {
        /// The program.
        program: PathBuf,
        /// What happened.
        detail: String,
    },
    /// Something outside of the campaign keeps killing a worker at the same run.
    #[error(
        "a worker was killed from outside ({signal}) {times} times at test case {number} on mutant {mutant}; if the machine \
         is short of memory, use fewer jobs"
    )]
    WorkerKilled {
        /// The signal.
        signal: String,
        /// How often.
        times: u32,
        /// The number of the test case in the universe.
        number: usize,
        /// The mutant.
        mutant: MutantNumber,
    },
    /// A cost oracle asks for what runs of an older release did not note.
    #[error(
        "the journal does not say how many messages or how much virtual time each run took, since an older release began it; \
         begin anew with --fresh, or give --cost events alone"
    )]
    CostUnknown,
    /// The original costs more than its system states.
    #[error(
        "test case {number} on the original costs {found} {measure}, but its system states {most} at most; fix `cost_bounds` of the system"
    )]
    CostStatedWrongly {
        /// The number of the test case in the universe.
        number: usize,
        /// What it costs too much of.
        measure: CostMeasure,
        /// How much it costs; virtual time in nanoseconds.
        found: u64,
        /// How much the system states.
        most: u64,
    },
    /// Outcomes were asked for before the campaign had ended.
    #[error("{executed} of {cases} test cases have been run on the mutants; run the campaign to its end first")]
    Unfinished {
        /// Test cases that are done.
        executed: usize,
        /// Test cases of the universe.
        cases: usize,
    },
}

/// How many of the test cases that were run an error is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Share {
    /// Those that it is about.
    pub of: usize,
    /// Those that were run; a re-seeding counts as one.
    pub among: usize,
}

impl Share {
    /// Returns how many test cases do what `verb` says, as a part of a message; nothing if that is not known.
    fn words(share: Option<Self>, verb: &str) -> String {
        match share {
            None => String::new(),
            Some(Self { of: 1, among }) => format!("it is the only one of {among} test cases; "),
            Some(Self { of, among }) => format!("{of} of {among} test cases {verb}; "),
        }
    }
}

impl CampaignError {
    /// Names the file, and tells a full disk from other trouble.
    pub(crate) fn file(path: impl Into<PathBuf>, source: std::io::Error) -> Self {
        let path = path.into();
        match source.kind() {
            std::io::ErrorKind::StorageFull | std::io::ErrorKind::QuotaExceeded => Self::DiskFull { path },
            _ => Self::File { path, source },
        }
    }

    /// Names a test case that a person gave, and that the system refuses.
    pub(crate) fn of_given(self, case: &serde_json::Value) -> Self {
        match self {
            Self::CaseRefused { reason } => Self::CaseRefused { reason: format!("{reason}; the test case is {case}") },
            other => other,
        }
    }

    /// Returns whether its message has the test case.
    fn has_case(&self) -> bool {
        matches!(self, Self::BaselineFailed { .. } | Self::NotAsChosen { .. } | Self::NotAsWritten { .. })
    }

    /// Returns whether a test case or a re-seeding of one does not pass on the original.
    pub fn is_failed_baseline(&self) -> bool {
        match self {
            Self::BaselineFailed { .. } => true,
            Self::OfReseeding { error, .. } => error.is_failed_baseline(),
            _ => false,
        }
    }

    /// Names the test case of the universe, which has `universe` of them, and if this is about a re-seeding of it, that
    /// one, which is `case`.
    pub(crate) fn of_reseeding(mut self, universe: usize, case: &serde_json::Value) -> Self {
        let (Self::BaselineFailed { number, .. }
        | Self::NotDeterministic { number, .. }
        | Self::WrongMutant { number, .. }
        | Self::NotAsChosen { number, .. }
        | Self::NotAsWritten { number, .. }
        | Self::PrunedWrongly { number, .. }
        | Self::KeptWrongly { number, .. }
        | Self::RecordingKeptWrongly { number, .. }
        | Self::CostStatedWrongly { number, .. }
        | Self::WorkerKilled { number, .. }) = &mut self
        else {
            return self;
        };
        let reseeding = *number / universe.max(1);
        *number %= universe.max(1);
        match reseeding {
            0 => self,
            _ => Self::OfReseeding { reseeding, case: Box::new(case.clone()), error: Box::new(self) },
        }
    }

    /// Names the file, and tells a full disk and a damaged file from other trouble.
    pub(crate) fn journal(path: impl Into<PathBuf>, source: rusqlite::Error) -> Self {
        use rusqlite::ErrorCode;
        let path = path.into();
        let is_shared_memory_full =
            source.sqlite_error().is_some_and(|error| error.extended_code == rusqlite::ffi::SQLITE_IOERR_SHMSIZE);
        match source.sqlite_error_code() {
            _ if is_shared_memory_full => Self::DiskFull { path },
            Some(ErrorCode::DiskFull) => Self::DiskFull { path },
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Self::Damaged { path, detail: source.to_string() }
            }
            _ => Self::Journal { path, source },
        }
    }
}
