//! `simutant check`: histories in files, judged by a specification.

mod known;
mod picture;
mod solver;
pub(crate) mod text;

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use serde_json::Value as Json;
use simutant_oracle::catalogue::ReadyMade;
use simutant_oracle::judging::{JudgingError, JudgingReply, JudgingRequest, NamedOrder, Watch};
use simutant_oracle::{CheckReport, ReportedAnswer, Scope};
use simutant_outcomes::{Inconclusive, Verdict};
use simutant_study::{JudgingProgram, NamedRequest, PackageSpecification, ProgramError};

use self::known::Known;
use self::picture::Drawn;
use self::solver::{SecondJudge, Solved};
use crate::arguments::{CheckArguments, Common};
use crate::exit::{BadInput, Exit};
use crate::interrupt::Interrupts;
use crate::stages::built;
use crate::{given, output};

/// The name of the standard input.
const STDIN: &str = "-";

/// What the command found out, as it prints it with `--json`.
#[derive(Debug, Serialize, Deserialize)]
struct Listing {
    #[serde(flatten)]
    question: Question,
    #[serde(flatten)]
    counts: Counts,
    histories: Vec<Judged>,
}

/// What is asked of each history.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Question {
    /// The release that answers.
    release: String,
    specification: String,
    /// Whether there is a service for each key.
    #[serde(default)]
    keyed: bool,
    /// The state that the service begins in, as it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    initial: Option<Json>,
    /// The format that was given for all files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    format: Option<String>,
    order: NamedOrder,
    revisions: bool,
    /// Whether a history in which no call was answered is inconclusive.
    #[serde(default)]
    requires_answers: bool,
    #[serde(default)]
    scope: Scope,
    /// Whether a solver is asked, too.
    #[serde(default, skip_serializing_if = "is_false")]
    smt: bool,
    budget: Budget,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
const fn is_false(value: &bool) -> bool {
    !*value
}

/// How much the check of a history may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Budget {
    steps: Option<u64>,
    bytes: usize,
    time: Option<Duration>,
}

/// How many histories were answered how.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Counts {
    possible: usize,
    impossible: usize,
    /// Those in which no call was answered, where that is not possible, but inconclusive.
    #[serde(default)]
    unobserved: usize,
    undecided: usize,
    unreadable: usize,
    /// Those on which the specification of a package panicked, or ended otherwise without an answer.
    #[serde(default)]
    unanswered: usize,
    /// Those of which a solver says the contrary. They are counted above, too.
    #[serde(default, skip_serializing_if = "is_zero")]
    contested: usize,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde gives a reference")]
const fn is_zero(count: &usize) -> bool {
    *count == 0
}

/// A file, and what came of its check.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Judged {
    file: String,
    /// The SHA-256 of its content; `None` for the standard input and for what cannot be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    sha256: Option<String>,
    #[serde(flatten)]
    judgement: Judgement,
    /// What a solver says, if one was asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    smt: Option<Solved>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(untagged)]
enum Judgement {
    Report(CheckReport),
    Unreadable { unreadable: String },
    Unanswered { unanswered: String },
}

pub(crate) fn run(arguments: &CheckArguments, common: &Common) -> anyhow::Result<Exit> {
    let mut judge = Judge::new(arguments)?;
    // Nobody else asks for the hashes of files.
    judge.hashes = common.json || !arguments.judged.is_empty();
    if arguments.histories.iter().filter(|history| history.as_os_str() == STDIN).count() > 1 {
        return Err(BadInput(format!("{STDIN}: the standard input can be read once")).into());
    }
    judge.known.take(&arguments.judged, &judge.question)?;
    let mut histories = arguments.histories.clone();
    if let Some(shard) = arguments.shard {
        shard.retain(&mut histories);
    }
    let interrupts = Interrupts::listen()?;
    let is_stopped = || interrupts.flag().load(Ordering::SeqCst);
    let mut judged: Vec<Judged> = Vec::new();
    let mut counts = Counts::default();
    let mut drawn = Drawn::default();
    in_order(
        &histories,
        common.jobs().get(),
        &|path| {
            let judged = (!is_stopped()).then(|| judge.judge(path, &is_stopped));
            // A program that was interrupted, too, has found out nothing.
            judged.filter(|judged| !is_stopped() || judged.is_decided())
        },
        |mut one| {
            counts.add(&one);
            drawn.offer(&mut one);
            if common.json {
                judged.push(one);
                return Ok(());
            }
            output::print(&(text::of(&one) + &judge.doubt(&one)))
        },
    )?;
    let exit = if is_stopped() { Exit::Interrupted } else { counts.exit() };
    if let Some(file) = arguments.picture.as_ref().filter(|_| exit != Exit::Interrupted) {
        drawn.write(file, histories.len() > 1)?;
    }
    if common.json {
        let listing = Listing { question: judge.question, counts, histories: judged };
        output::print(&output::json(&output::Versioned::new(listing))?)?;
    } else if histories.len() > 1 && exit != Exit::Interrupted {
        output::print(&text::summary(counts))?;
    }
    Ok(exit)
}

/// A specification, and what is asked for of its checks.
pub(crate) struct Judge {
    specification: Specification,
    question: Question,
    request: JudgingRequest,
    /// What is known already.
    known: Known,
    /// Whether files are hashed.
    hashes: bool,
    solver: Option<SecondJudge>,
}

/// Who knows what a service may do.
enum Specification {
    ReadyMade(ReadyMade, Option<Json>),
    /// One of a user's package.
    Program(JudgingProgram),
}

impl Judge {
    pub(crate) fn new(arguments: &CheckArguments) -> anyhow::Result<Self> {
        let ready_made = ReadyMade::named(&arguments.specification).filter(|_| arguments.manifest_path.is_none());
        let specification = match ready_made {
            Some(specification) => {
                let initial = arguments.initial.as_deref().map(initial).transpose()?;
                match &initial {
                    Some(initial) => {
                        specification.check_initial(initial).map_err(|error| BadInput(format!("--initial: {error}")))?
                    }
                    None if specification.needs_initial() => {
                        let (name, form) = (specification.name(), specification.initial_form());
                        let message = format!("--specification {name}: give its first state with --initial: {form}");
                        return Err(BadInput(message).into());
                    }
                    None => {}
                }
                Specification::ReadyMade(specification, initial)
            }
            None if arguments.keyed => {
                let message = format!(
                    "--keyed: the specification `{}` is one of a package: write its type as Keyed<...> there",
                    arguments.specification
                );
                return Err(BadInput(message).into());
            }
            None => Specification::Program(program(arguments)?),
        };
        let scope = arguments.scope.with(arguments.filter).ok_or_else(|| {
            BadInput(
                "--filter: goes with --scope simple or strict, where each answer is explained by itself".to_owned(),
            )
        })?;
        let solver = arguments.smt.then(|| SecondJudge::installed(arguments.time)).transpose()?;
        let request = JudgingRequest {
            file: None,
            format: arguments.format,
            order: arguments.order.into(),
            revisions: arguments.revisions,
            scope,
            strategy: arguments.strategy.into(),
            steps: arguments.steps,
            bytes: Some(arguments.memory),
            time: arguments.time,
            keyed: arguments.keyed,
            requires_answers: arguments.require_answers,
            calls: arguments.picture.is_some(),
            formulas: arguments.smt,
        };
        let initial = match &specification {
            Specification::ReadyMade(_, initial) => initial.clone(),
            Specification::Program(_) => None,
        };
        let question = Question {
            release: env!("CARGO_PKG_VERSION").to_owned(),
            specification: arguments.specification.clone(),
            keyed: arguments.keyed,
            initial,
            format: arguments.format.map(|format| format.name().to_owned()),
            order: request.order,
            revisions: request.revisions,
            requires_answers: request.requires_answers,
            scope,
            smt: arguments.smt,
            budget: Budget { steps: arguments.steps, bytes: arguments.memory, time: arguments.time },
        };
        Ok(Self { specification, question, request, known: Known::default(), hashes: false, solver })
    }

    /// Returns the verdict on the history in a file; one without calls shows nothing.
    pub(crate) fn verdict(&self, path: &Path) -> Verdict {
        let inconclusive = |reason: String| Verdict::Inconclusive(Inconclusive { reason });
        match self.judge(path, &|| false).judgement {
            Judgement::Report(report) if report.calls == 0 => inconclusive("the history has no calls".into()),
            Judgement::Report(report) => report.into_verdict(),
            Judgement::Unreadable { unreadable } => inconclusive(format!(
                "the history cannot be read as one of {}: {unreadable}",
                self.question.specification
            )),
            Judgement::Unanswered { unanswered } => inconclusive(unanswered),
        }
    }

    /// Returns a number that changes with the specification, and with what is asked for.
    pub(crate) fn fingerprint(&self) -> u64 {
        let program = match &self.specification {
            Specification::ReadyMade(..) => None,
            Specification::Program(program) => known::hash(program.executable()),
        };
        let text = serde_json::to_string(&(&self.question, program)).expect("it is plain data");
        known::number(text.as_bytes())
    }

    /// Returns what may be wrong with the question where one answer is impossible whatever others were: the initial state
    /// that nobody gave.
    fn doubt(&self, judged: &Judged) -> String {
        match (&self.specification, &judged.judgement) {
            (
                Specification::ReadyMade(specification, None),
                Judgement::Report(CheckReport { answer: ReportedAnswer::Impossible(impossible), .. }),
            ) if impossible.core.len() == 1 && impossible.revisions.is_none() => {
                text::doubt(specification.initial_form())
            }
            _ => String::new(),
        }
    }

    fn judge(&self, path: &Path, is_stopped: &dyn Fn() -> bool) -> Judged {
        let file = path.display().to_string();
        let sha256 = if self.hashes { known::hash(path) } else { None };
        if let Some(known) = self.known.get(sha256.as_deref()) {
            // The same content may have another name here.
            return Judged { file, ..known.clone() };
        }
        let request = JudgingRequest { file: Some(path.to_owned()), ..self.request.clone() };
        let mut judgement = match &self.specification {
            Specification::ReadyMade(specification, initial) => {
                let begun = Instant::now();
                let watch = Watch { elapsed: &|| begun.elapsed(), is_stopped };
                open(path)
                    .map_err(JudgingError::from)
                    .and_then(|mut from| specification.judge(&request, initial.as_ref(), &mut from, watch))
                    .map_or_else(|error| Judgement::Unreadable { unreadable: told(&error) }, Judgement::Report)
            }
            Specification::Program(program) => match stdin_of(path).map(|from| program.judge(&request, from)) {
                Ok(Ok(JudgingReply::Report(report))) => Judgement::Report(report),
                Ok(Ok(JudgingReply::Unreadable { message })) => Judgement::Unreadable { unreadable: message },
                Ok(Err(error)) => Judgement::Unanswered { unanswered: error.to_string() },
                Err(error) => Judgement::Unreadable { unreadable: told(&error.into()) },
            },
        };
        let smt = match (&mut judgement, &self.solver) {
            (Judgement::Report(report), Some(solver)) => report.formulas.take().map(|it| solver.answer(it, is_stopped)),
            _ => None,
        };
        Judged { file, sha256, judgement, smt }
    }
}

/// Returns the message for an unreadable file; where an option of the command line helps, it names the option.
fn told(error: &JudgingError) -> String {
    match error {
        JudgingError::UnknownFormat => format!("{error}, with --format"),
        error => error.to_string(),
    }
}

impl Judged {
    /// Returns whether the history was read and checked; the answer may be undecided.
    fn is_report(&self) -> bool {
        matches!(self.judgement, Judgement::Report(_))
    }

    /// Returns whether the check found an answer: the history is possible, or it is impossible.
    fn is_decided(&self) -> bool {
        self.is_possible().is_some()
    }

    /// Returns whether the history is possible; `None` if the check is undecided or the file was not judged.
    fn is_possible(&self) -> Option<bool> {
        match &self.judgement {
            Judgement::Report(CheckReport { answer: ReportedAnswer::Possible { .. }, .. }) => Some(true),
            Judgement::Report(CheckReport { answer: ReportedAnswer::Impossible(_), .. }) => Some(false),
            _ => None,
        }
    }

    /// Returns whether the solver contradicts the check. Both decide one question, so Simutant or the solver is wrong.
    fn is_contested(&self) -> bool {
        let says = self.smt.as_ref().and_then(Solved::is_possible);
        says.zip(self.is_possible()).is_some_and(|(one, other)| one != other)
    }

    /// Returns whether one answer is "possible" and the other "impossible", so that both cannot be true of one content.
    /// Other differences are no contradiction, since costs vary and a larger budget decides more.
    fn contradicts(&self, other: &Self) -> bool {
        self.is_possible().zip(other.is_possible()).is_some_and(|(one, other)| one != other)
    }
}

/// Builds the program of the specification that a package has.
fn program(arguments: &CheckArguments) -> anyhow::Result<JudgingProgram> {
    let name = &arguments.specification;
    let request = NamedRequest { name: name.clone(), manifest_path: arguments.manifest_path.clone() };
    let found = match PackageSpecification::find(&request) {
        Ok(found) => found,
        Err(error @ (ProgramError::Unknown { .. } | ProgramError::NoPackage { .. } | ProgramError::Metadata(_))) => {
            return Err(BadInput(unknown(&request, &error)).into());
        }
        Err(error) => return Err(error.into()),
    };
    if arguments.initial.is_some() {
        let message = format!("--initial: the specification `{name}` has its initial state in its Cargo.toml");
        return Err(BadInput(message).into());
    }
    Ok(built(&format!("the specification {name}"), |progress| found.build(progress))?)
}

/// Says that nobody has the specification, and which one may be meant: of the package, or, unless one is named, of
/// Simutant.
fn unknown(request: &NamedRequest, error: &ProgramError) -> String {
    let name = &request.name;
    let (of_package, own) = match error {
        ProgramError::Unknown { known, own, .. } => (known.as_slice(), own.as_slice()),
        ProgramError::NoPackage { own } => (&[][..], own.as_slice()),
        _ => Default::default(),
    };
    let mut simutants: Vec<&str> = own.iter().map(String::as_str).collect();
    if request.manifest_path.is_none() {
        simutants.splice(..0, ReadyMade::ALL.map(ReadyMade::name));
    }
    let meant = output::did_you_mean(name, of_package.iter().map(String::as_str).chain(simutants.iter().copied()));
    let none = match &simutants[..] {
        [] => String::new(),
        known => format!(" Simutant has no such one ({}), and:", known.join(", ")),
    };
    format!("--specification {name}:{none} {error}{meant}")
}

/// Returns the file as the standard input of a program.
fn stdin_of(path: &Path) -> io::Result<Stdio> {
    if path.as_os_str() == STDIN { Ok(Stdio::inherit()) } else { Ok(std::fs::File::open(path)?.into()) }
}

/// Returns the initial state that was given.
fn initial(text: &str) -> Result<Json, BadInput> {
    // Numbers and words of JSON are no names of files.
    if let Ok(json) = serde_json::from_str(text) {
        return Ok(json);
    }
    let (text, name) = given::json_or_file("--initial", text.trim(), "")?;
    serde_json::from_str(&text).map_err(|error| BadInput(format!("{name}: not JSON: {error}")))
}

fn open(path: &Path) -> io::Result<Box<dyn BufRead>> {
    if path.as_os_str() == STDIN {
        return Ok(Box::new(BufReader::new(io::stdin())));
    }
    Ok(Box::new(BufReader::new(std::fs::File::open(path)?)))
}

/// Calls `judge` on all paths, some at a time, and `take` on what it returned, in the order of the paths. Where it
/// returns nothing, that is the end.
fn in_order<T: Send>(
    paths: &[PathBuf],
    jobs: usize,
    judge: &(dyn Fn(&Path) -> Option<T> + Sync),
    mut take: impl FnMut(T) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let next = AtomicUsize::new(0);
    let (sender, receiver) = mpsc::channel();
    std::thread::scope(|scope| {
        for _ in 0..jobs.min(paths.len()) {
            let (next, sender) = (&next, sender.clone());
            scope.spawn(move || {
                while let Some((number, path)) = {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    paths.get(number).map(|path| (number, path))
                } {
                    let Some(judged) = judge(path) else { return };
                    if sender.send((number, judged)).is_err() {
                        return;
                    }
                }
            });
        }
        drop(sender);
        let mut early = BTreeMap::new();
        let mut due = 0;
        for (number, judged) in receiver {
            early.insert(number, judged);
            while let Some(judged) = early.remove(&due) {
                take(judged)?;
                due += 1;
            }
        }
        // Behind one on which there was the end.
        early.into_values().try_for_each(take)
    })
}

impl Counts {
    fn add(&mut self, judged: &Judged) {
        self.contested += usize::from(judged.is_contested());
        let count = match &judged.judgement {
            Judgement::Report(report) => match report.answer {
                ReportedAnswer::Possible { .. } => &mut self.possible,
                ReportedAnswer::Impossible(_) => &mut self.impossible,
                ReportedAnswer::Unobserved => &mut self.unobserved,
                ReportedAnswer::Undecided { .. } => &mut self.undecided,
            },
            Judgement::Unreadable { .. } => &mut self.unreadable,
            Judgement::Unanswered { .. } => &mut self.unanswered,
        };
        *count += 1;
    }

    /// A history that is impossible is the first thing to tell, whatever became of the others.
    const fn exit(self) -> Exit {
        match self {
            Self { impossible: 1.., .. } | Self { contested: 1.., .. } => Exit::Failed,
            Self { unreadable: 1.., .. } => Exit::BadInput,
            Self { unanswered: 1.., .. } => Exit::Unavailable,
            Self { undecided: 1.., .. } | Self { unobserved: 1.., .. } => Exit::Inconclusive,
            _ => Exit::Success,
        }
    }
}
