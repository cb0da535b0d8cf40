//! A worker process as the campaign sees it: requests, answers, and how it died.

use std::io::{ErrorKind, Read, Write};
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, ExitStatus, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use simutant_outcomes::Cause;
use simutant_protocol::{WorkerAnswer, WorkerRequest, setup_hang, to_line};

use crate::CampaignError;

/// How much of a worker's standard error is kept: its end tells why it died.
const STDERR_BYTES_MAX: usize = 4096;
/// How often the progress of a worker that does not answer is looked at, at most.
const LOOK: Duration = Duration::from_millis(500);
/// A wait that takes so many times as long as [`LOOK`] was no wait: this process stood still (the lid of a laptop was closed, or
/// a scheduler suspended the job), and its workers with it. Their patience begins anew.
const SUSPENDED: u32 = 4;

/// A worker process. It is killed when this is dropped.
///
/// The kernel kills it too when the thread that started it ends (see `simutant-worker`), so a worker is used by the
/// thread that started it.
#[derive(Debug)]
pub(crate) struct Worker {
    program: PathBuf,
    child: Child,
    requests: ChildStdin,
    answers: ChildStdout,
    /// What was read of the answer that is not whole yet.
    partial: Vec<u8>,
    /// Reads standard error to its end, so that a talkative system never waits for a reader. `None` when it was asked.
    stderr: Option<JoinHandle<Vec<u8>>>,
}

/// Why a worker did not answer.
#[derive(Debug)]
pub(crate) enum NoAnswer {
    /// It has ended.
    Died {
        /// How.
        death: Death,
        /// The end of its standard error.
        last_words: String,
    },
    /// Nothing was heard of it for as long as it may take. It is still there.
    Hung,
    /// It said something else, or could not be talked to: an error of ours.
    Error(CampaignError),
}

/// How a worker ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Death {
    /// By what it ran; the cause, and in words.
    ByItself(Cause, String),
    /// By a signal that no run raises: a person or the machine killed it.
    FromOutside(String),
}

impl Worker {
    /// Starts `program` for `system`.
    pub(crate) fn start(program: &Path, system: &str) -> Result<Self, CampaignError> {
        let mut child = Command::new(program)
            .arg(system)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // A backtrace would push what the runtime says of an abort out of the end that is kept.
            .env("RUST_BACKTRACE", "0")
            // Ctrl-C in a terminal goes to the whole group: it is for the campaign, which lets workers finish.
            .process_group(0)
            .spawn()
            .map_err(|error| CampaignError::Worker { program: program.to_owned(), detail: error.to_string() })?;
        let stderr = child.stderr.take().expect("it is piped");
        Ok(Self {
            program: program.to_owned(),
            requests: child.stdin.take().expect("it is piped"),
            answers: child.stdout.take().expect("it is piped"),
            stderr: Some(std::thread::spawn(|| read_tail(stderr))),
            child,
            partial: Vec::new(),
        })
    }

    /// Sends a request and waits for the answer. `progress` is a number that changes as the worker gets on; when it
    /// has not changed for `patience`, the worker hangs.
    pub(crate) fn ask(
        &mut self,
        request: &WorkerRequest,
        patience: Duration,
        mut progress: impl FnMut() -> u64,
    ) -> Result<WorkerAnswer, NoAnswer> {
        // A worker that does not take it has ended: then its answers end too, after what it still had to say.
        _ = self.requests.write_all(&to_line(request));
        let mut seen = progress();
        let mut silence = Silence::default();
        // An answer may be of megabytes, and comes in small parts.
        let mut searched = 0;
        loop {
            if let Some(end) = self.partial[searched..].iter().position(|&byte| byte == b'\n') {
                let line: Vec<u8> = self.partial.drain(..=searched + end).collect();
                return self.read_answer(&line);
            }
            searched = self.partial.len();
            let begun = Instant::now();
            let heard = self.listen(LOOK.min(patience)).map_err(NoAnswer::Error)?;
            silence.add(begun.elapsed());
            match heard {
                Heard::Answer => silence = Silence::default(),
                Heard::End => return Err(self.bury()),
                Heard::Nothing => {
                    let now = progress();
                    if now != seen {
                        (seen, silence) = (now, Silence::default());
                    } else if silence.0 >= patience {
                        return Err(NoAnswer::Hung);
                    }
                }
            }
        }
    }

    fn read_answer(&self, line: &[u8]) -> Result<WorkerAnswer, NoAnswer> {
        match serde_json::from_slice(line) {
            Ok(WorkerAnswer::Refused { message }) => {
                Err(NoAnswer::Error(CampaignError::CaseRefused { reason: message }))
            }
            Ok(WorkerAnswer::Undrawn { message }) => Err(NoAnswer::Error(CampaignError::SamplePanicked { message })),
            Ok(WorkerAnswer::Failed { message }) => Err(NoAnswer::Error(self.error(message))),
            Ok(answer) => Ok(answer),
            Err(_) => {
                let shown: String = String::from_utf8_lossy(line).trim().chars().take(80).collect();
                Err(NoAnswer::Error(self.error(format!("answered `{shown}`, which is not of the protocol"))))
            }
        }
    }

    /// Returns an error that says that this is not the answer to what was asked.
    pub(crate) fn unexpected(&self, answer: &WorkerAnswer) -> CampaignError {
        self.error(format!("gave an answer that was not asked for: {answer:?}"))
    }

    /// Returns an error of this worker.
    fn error(&self, detail: String) -> CampaignError {
        CampaignError::Worker { program: self.program.clone(), detail }
    }

    /// Waits until a part of an answer can be read, and reads it.
    fn listen(&mut self, patience: Duration) -> Result<Heard, CampaignError> {
        let timeout = Timespec::try_from(patience).expect("half a second at most");
        match poll(&mut [PollFd::new(&self.answers, PollFlags::IN)], Some(&timeout)) {
            Ok(0) | Err(Errno::INTR) => return Ok(Heard::Nothing),
            Ok(_) => {}
            Err(error) => return Err(self.error(format!("cannot be listened to: {error}"))),
        }
        let mut buffer = [0; 16 * 1024];
        match self.answers.read(&mut buffer) {
            Ok(0) => Ok(Heard::End),
            Ok(length) => {
                self.partial.extend_from_slice(&buffer[..length]);
                Ok(Heard::Answer)
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => Ok(Heard::Nothing),
            Err(error) => Err(self.error(format!("cannot be read from: {error}"))),
        }
    }

    /// Waits for the end of a process that has closed its streams, and returns how it died.
    fn bury(&mut self) -> NoAnswer {
        match self.child.wait() {
            Ok(status) => {
                let last_words = self.last_words();
                NoAnswer::Died { death: cause_of_death(status, &last_words), last_words }
            }
            Err(error) => NoAnswer::Error(self.error(format!("cannot be waited for: {error}"))),
        }
    }

    /// Returns the end of what the process wrote to standard error, which has ended; empty the second time.
    fn last_words(&mut self) -> String {
        let tail = self.stderr.take().and_then(|reader| reader.join().ok()).unwrap_or_default();
        String::from_utf8_lossy(&tail).trim().to_owned()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // Both fail only if the process is gone already.
        _ = self.child.kill();
        _ = self.child.wait();
    }
}

/// How long nothing was heard of a worker.
#[derive(Debug, Default)]
struct Silence(Duration);

impl Silence {
    /// Adds a wait, which was to take [`LOOK`] at most.
    fn add(&mut self, waited: Duration) {
        self.0 = if waited > LOOK * SUSPENDED { Duration::ZERO } else { self.0 + waited };
    }
}

/// What [`Worker::listen`] heard.
enum Heard {
    /// A part of an answer, or all of it.
    Answer,
    /// The end of the stream.
    End,
    /// Nothing yet.
    Nothing,
}

/// Reads to the end and returns the last [`STDERR_BYTES_MAX`] bytes.
fn read_tail(mut stream: impl Read) -> Vec<u8> {
    let mut tail = Vec::new();
    let mut buffer = [0; STDERR_BYTES_MAX];
    while let Ok(length @ 1..) = stream.read(&mut buffer) {
        tail.extend_from_slice(&buffer[..length]);
        tail.drain(..tail.len().saturating_sub(STDERR_BYTES_MAX));
    }
    tail
}

/// Tells from its status and its last words why a process ended.
///
/// The words are those of Rust's runtime, which aborts both at the guard page of a stack and when memory is refused.
fn cause_of_death(status: ExitStatus, stderr: &str) -> Death {
    const ABORT: i32 = 6;
    // SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV: what a process does to itself, on any Unix.
    const OWN: [i32; 7] = [4, 5, ABORT, 7, 8, 10, 11];
    match (status.signal(), status.code()) {
        (Some(ABORT), _) if stderr.contains("has overflowed its stack") => {
            Death::ByItself(Cause::StackOverflow, "stack overflow".to_owned())
        }
        (Some(ABORT), _) if stderr.contains("memory allocation of") => {
            Death::ByItself(Cause::Memory, "memory used up".to_owned())
        }
        (Some(ABORT), _) => Death::ByItself(Cause::Abort, format!("aborted (signal {ABORT})")),
        (Some(signal), _) if OWN.contains(&signal) => {
            Death::ByItself(Cause::Abort, format!("crashed (signal {signal})"))
        }
        (Some(signal), _) => Death::FromOutside(format!("signal {signal}")),
        _ if stderr.ends_with(&setup_hang()) => Death::ByItself(Cause::Hang, format!("hung: {}", setup_hang())),
        (None, code) => {
            Death::ByItself(Cause::Exit, format!("the process exited with code {}", code.unwrap_or_default()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(wait_status: i32, stderr: &str, expect: Death) {
        assert_eq!(cause_of_death(ExitStatus::from_raw(wait_status), stderr), expect);
    }

    #[test]
    fn the_cause_of_a_death_is_told_from_the_status_and_the_last_words() {
        let own = |cause, words: &str| Death::ByItself(cause, words.to_owned());
        let overflow = "thread 'simulation' (7) has overflowed its stack\nfatal runtime error";
        check(6, overflow, own(Cause::StackOverflow, "stack overflow"));
        check(6, "memory allocation of 4096 bytes failed", own(Cause::Memory, "memory used up"));
        check(6, "", own(Cause::Abort, "aborted (signal 6)"));
        check(11, "", own(Cause::Abort, "crashed (signal 11)"));
        check(3 << 8, "", own(Cause::Exit, "the process exited with code 3"));
        let hung = setup_hang();
        check(1 << 8, &format!("words\n{hung}"), own(Cause::Hang, &format!("hung: {hung}")));
        check(9, "", Death::FromOutside("signal 9".to_owned()));
        check(9, "memory allocation of 4096 bytes failed", Death::FromOutside("signal 9".to_owned()));
    }

    #[test]
    fn a_process_that_was_suspended_does_not_take_its_worker_for_one_that_hangs() {
        let mut silence = Silence::default();
        (0..40).for_each(|_| silence.add(LOOK));
        assert_eq!(silence.0, LOOK * 40);
        silence.add(Duration::from_secs(3600));
        assert_eq!(silence.0, Duration::ZERO);
        silence.add(LOOK * 2);
        assert_eq!(silence.0, LOOK * 2, "a machine that is busy wakes it late");
    }

    #[test]
    fn only_the_end_of_a_long_text_is_kept() {
        let text: Vec<u8> = (0..10_000_u32).map(|index| (index % 251) as u8).collect();
        assert_eq!(read_tail(&text[..]), &text[text.len() - STDERR_BYTES_MAX..]);
        assert_eq!(read_tail(&text[..7]), &text[..7]);
    }
}
