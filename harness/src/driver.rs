//! Test cases on implementations that a command of their own runs and judges, in any language, for any system.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use serde_json::Value;
use simutant_outcomes::{Finding, FindingClass, Inconclusive, Verdict};

use crate::error::HarnessError;
use crate::history::ExpectedHistory;
use crate::implementation::DriverCommand;
use crate::implementation::driver::{ProcessOwner, ROLES};
use crate::ports::Lease;
use crate::process::{OutputTail, ProcessExit};
use crate::report::EndedProcess;
use crate::testbed::{
    Conclusion, Environment, InvalidCase, Left, Placeholders, Process, Role, Setup, TIMEOUT, Testbed,
};

/// The test case failed.
const FAILED: ProcessExit = ProcessExit::Code(1);

/// Nothing was found out: `EX_TEMPFAIL` of BSD's `sysexits.h`.
const INCONCLUSIVE: ProcessExit = ProcessExit::Code(75);

/// The report of a driver, in addition to its exit code: the last line of its standard output, as JSON.
///
/// ```
/// use simutant_harness::DriverAnswer;
///
/// let line = r#"{"reason": "two holders of lease 3", "kind": "two-holders", "details": {"holders": ["a", "b"]}}"#;
/// let answer: DriverAnswer = serde_json::from_str(line)?;
/// assert_eq!(answer.reason.as_deref(), Some("two holders of lease 3"));
/// // A driver that misspells a field is broken.
/// assert!(serde_json::from_str::<DriverAnswer>(r#"{"raeson": "two holders of lease 3"}"#).is_err());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DriverAnswer {
    /// Why the test case failed, or why nothing was found out: a sentence without a full stop.
    #[serde(default)]
    pub reason: Option<String>,
    /// What kind of failure that is, in words with hyphens: `failed` by default.
    #[serde(default)]
    pub kind: Option<String>,
    /// Which of the thesis's ends that is: a wrong result by default.
    #[serde(default)]
    pub class: Option<FindingClass>,
    /// The same as data, for readers of the report.
    #[serde(default)]
    pub details: Value,
    /// The file with what clients saw, from the private folder: the specification that the implementation's file names
    /// judges it ([`DriverHistory`](crate::DriverHistory)).
    #[serde(default)]
    pub history: Option<String>,
    /// Faults of the test case that could not be injected, each in words: see [`Conclusion::not_injected`].
    #[serde(default)]
    pub not_injected: Vec<String>,
}

impl Testbed for DriverCommand {
    /// The implementation says which one it is.
    fn system(&self) -> &'static str {
        ""
    }

    fn roles(&self) -> &[Role] {
        &ROLES
    }

    fn timeout(&self) -> Duration {
        self.timeout_s.map_or(TIMEOUT, |seconds| Duration::from_secs(seconds.get()))
    }

    fn jobs_for_each_core(&self) -> usize {
        self.jobs_for_each_core.map_or(1, NonZeroUsize::get)
    }

    /// The driver knows the system; the harness does not.
    fn check(&self, _case: &Value) -> Result<(), InvalidCase> {
        Ok(())
    }

    fn set_up(&self, setup: &Setup<'_>) -> Result<Box<dyn Environment>, HarnessError> {
        let case = setup.folder.join("case.json");
        std::fs::write(&case, format!("{}\n", setup.case)).map_err(HarnessError::file("write", &case))?;
        let fixture = setup.fixture.cloned().unwrap_or_default();
        Ok(Box::new(Driven {
            name: setup.name.into(),
            case,
            seed: setup.seed,
            lease: Lease::for_both()?,
            history: ExpectedHistory::new(self.history.as_ref(), setup.folder, &fixture),
            fixture,
            processes: self.processes,
        }))
    }
}

/// One test case.
struct Driven {
    name: String,
    /// The file of the test case.
    case: PathBuf,
    seed: u64,
    lease: Lease,
    /// What it is told of its fixture.
    fixture: Placeholders,
    history: ExpectedHistory,
    /// Who runs processes: the first line of a driver that does not is its plan, and no answer.
    processes: ProcessOwner,
}

impl Environment for Driven {
    fn processes(&self, role: &str) -> Vec<Process> {
        let mut placeholders = self.fixture.clone();
        placeholders.extend([
            ("case", self.case.clone().into_os_string()),
            ("name", self.name.clone().into()),
            ("seed", self.seed.to_string().into()),
            ("port", self.lease.port().to_string().into()),
        ]);
        vec![Process { name: role.into(), placeholders, port: None, start: Duration::ZERO }]
    }

    fn judge(&self, left: &Left<'_>) -> Result<Conclusion, HarnessError> {
        let Judged { conclusion, history, is_whole } = judge(&left.processes[0], self.processes);
        if !is_whole {
            return Ok(conclusion);
        }
        let verdict = self.history.verdict(conclusion.verdict, history.as_deref())?;
        Ok(Conclusion { verdict, ..conclusion })
    }
}

/// What a driver found out.
#[derive(Debug, PartialEq, Eq)]
struct Judged {
    conclusion: Conclusion,
    /// The file with a history that it names.
    history: Option<String>,
    /// Whether it ended as drivers do, so that histories are whole.
    is_whole: bool,
}

/// A driver that is broken: nothing else is looked at.
impl From<Verdict> for Judged {
    fn from(verdict: Verdict) -> Self {
        Self { conclusion: verdict.into(), history: None, is_whole: false }
    }
}

/// Returns what a driver found out.
fn judge(driver: &EndedProcess, processes: ProcessOwner) -> Judged {
    let exit = driver.exit.expect("a driver is waited for");
    let inconclusive = |reason: String| Verdict::Inconclusive(Inconclusive { reason });
    let answer = match answer(&driver.stdout, processes) {
        Ok(answer) => answer.unwrap_or_default(),
        Err(why) => return inconclusive(format!("the last line that the driver printed is no answer: {why}")).into(),
    };
    let reason = answer.reason.filter(|reason| !reason.trim().is_empty());
    let verdict = match (exit, reason) {
        (ProcessExit::Code(0), None) => Verdict::Pass,
        (ProcessExit::Code(0), Some(reason)) => {
            inconclusive(format!("the driver ended with {exit}, which means a pass, and gives a reason: {reason}"))
        }
        (FAILED, Some(summary)) => Verdict::Fail(Finding {
            class: answer.class.unwrap_or(FindingClass::WrongResult),
            kind: answer.kind.unwrap_or_else(|| "failed".into()),
            summary,
            detail: answer.details,
        }),
        (FAILED, None) => inconclusive(format!(
            "the driver ended with {exit}, which means a failure, and its last line gives no reason, such as \
             {{\"reason\": \"...\"}}{}",
            quoted(driver)
        )),
        (INCONCLUSIVE, reason) => inconclusive(reason.unwrap_or_else(|| "the driver gave no verdict".into())),
        (exit, _) => inconclusive(format!("the driver ended with {exit}, not 0, 1, 69 or 75{}", quoted(driver))),
    };
    let is_broken = match exit {
        ProcessExit::Code(0) => !verdict.passes(),
        exit => exit != INCONCLUSIVE,
    };
    let conclusion = Conclusion { not_injected: answer.not_injected, ..verdict.into() };
    Judged { conclusion, history: answer.history, is_whole: !is_broken }
}

/// Returns the answer in what a driver printed, if its last line is one.
fn answer(stdout: &OutputTail, processes: ProcessOwner) -> Result<Option<DriverAnswer>, String> {
    let mut text = stdout.text.trim_end();
    let has_one_line = !text.contains('\n');
    match processes {
        ProcessOwner::Driver if stdout.omitted_bytes > 0 && has_one_line => {
            return Err("it is longer than 64 KiB".into());
        }
        ProcessOwner::Harness if has_one_line => text = "",
        ProcessOwner::Driver | ProcessOwner::Harness => {}
    }
    let last = text.lines().next_back().map(str::trim);
    let read = |line| serde_json::from_str(line).map_err(|error| error.to_string());
    last.filter(|line| line.starts_with('{')).map(read).transpose()
}

/// Returns the last line of what a driver complained of, after a colon.
fn quoted(driver: &EndedProcess) -> String {
    driver.stderr.last_line().map(|line| format!(": {line}")).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::implementation::driver::DRIVER;

    #[track_caller]
    fn check(exit: ProcessExit, stdout: &str, stderr: &str, expect: Verdict, not_injected: &[&str]) {
        let tail = |text: &str| OutputTail { text: text.into(), omitted_bytes: 0 };
        let (stdout, stderr) = (tail(stdout), tail(stderr));
        let ended = EndedProcess { process: DRIVER.into(), exit: Some(exit), stdout, stderr };
        let not_injected = not_injected.iter().map(|fault| (*fault).to_owned()).collect();
        let expect = Conclusion { not_injected, ..expect.into() };
        assert_eq!(judge(&ended, ProcessOwner::Driver).conclusion, expect);
    }

    fn inconclusive(reason: &str) -> Verdict {
        Verdict::Inconclusive(Inconclusive { reason: reason.into() })
    }

    #[test]
    fn a_driver_answers_by_exit_code_and_last_line() {
        check(ProcessExit::Code(0), "", "", Verdict::Pass, &[]);
        check(
            ProcessExit::Code(0),
            "log\n{\"not_injected\": [\"crash of b\"]}\n\n",
            "",
            Verdict::Pass,
            &["crash of b"],
        );
        let failed = Finding::wrong_result("failed", "two holders");
        check(ProcessExit::Code(1), "a\n{\"reason\": \"two holders\"}\n", "x", Verdict::Fail(failed.clone()), &[]);
        let more = Finding { class: FindingClass::NotTerminated, kind: "stuck".into(), ..failed.with_detail([3]) };
        let line =
            "{\"reason\": \"two holders\", \"kind\": \"stuck\", \"class\": \"not-terminated\", \"details\": [3]}";
        check(ProcessExit::Code(1), line, "", Verdict::Fail(more), &[]);
        check(ProcessExit::Code(75), "{\"reason\": \"no quorum\"}", "", inconclusive("no quorum"), &[]);
        check(ProcessExit::Code(75), "", "", inconclusive("the driver gave no verdict"), &[]);
    }

    #[test]
    fn a_broken_driver_is_neither_a_pass_nor_a_failure() {
        let no_reason = "the driver ended with exit code 1, which means a failure, and its last line gives no reason, such as \
                         {\"reason\": \"...\"}";
        check(ProcessExit::Code(1), "two holders\n", "", inconclusive(no_reason), &[]);
        let crashed = format!("{no_reason}: NameError: lease");
        check(ProcessExit::Code(1), "", "NameError: lease\n", inconclusive(&crashed), &[]);
        check(ProcessExit::Code(2), "", "", inconclusive("the driver ended with exit code 2, not 0, 1, 69 or 75"), &[]);
        let killed = "the driver ended with signal 11 (SIGSEGV), not 0, 1, 69 or 75";
        check(ProcessExit::Signal(11), "{\"reason\": \"x\"}", "", inconclusive(killed), &[]);
        for exit in [ProcessExit::Code(0), ProcessExit::Code(1)] {
            let mistyped = "the last line that the driver printed is no answer: unknown field `why`, expected one of \
                            `reason`, `kind`, `class`, `details`, `history`, `not_injected` at line 1 column 6";
            check(exit, "{\"why\": \"x\"}", "", inconclusive(mistyped), &[]);
        }
    }

    #[test]
    fn a_reason_is_none_of_a_pass_and_a_blank_one_is_none() {
        let passes = "the driver ended with exit code 0, which means a pass, and gives a reason: two holders";
        check(ProcessExit::Code(0), "{\"reason\": \"two holders\"}", "", inconclusive(passes), &[]);
        check(ProcessExit::Code(0), "{\"reason\": \" \"}", "", Verdict::Pass, &[]);
        check(ProcessExit::Code(75), "{\"reason\": \"\"}", "", inconclusive("the driver gave no verdict"), &[]);
    }

    #[test]
    fn a_last_line_that_was_cut_is_no_answer() {
        let judged = |exit, text: &str| {
            let stdout = OutputTail { text: text.into(), omitted_bytes: 10 };
            let (process, stderr) = (DRIVER.into(), OutputTail::default());
            let ended = EndedProcess { process, exit: Some(exit), stdout, stderr };
            [ProcessOwner::Driver, ProcessOwner::Harness].map(|processes| judge(&ended, processes).conclusion.verdict)
        };
        let cut = inconclusive("the last line that the driver printed is no answer: it is longer than 64 KiB");
        // A driver that has a plan may print a long one.
        assert_eq!(judged(ProcessExit::Code(0), "xx\"}\n"), [cut.clone(), Verdict::Pass]);
        assert_eq!(judged(ProcessExit::Code(1), "xx\"}\n")[0], cut);
        assert_eq!(judged(ProcessExit::Code(0), "xx\n{}\n"), [Verdict::Pass, Verdict::Pass]);
    }
}
