//! A program that runs, and that never outlives its owner.
//!
//! Each program leads a process group of its own. The group is killed when its [`ChildProcess`] is dropped. If the
//! harness itself is killed and can drop nothing, the [`Guardian`] kills the group; and on Linux the kernel kills the
//! program even if the harness dies before the guardian has heard of it. A program that leaves its process group on
//! purpose (a daemon) is not followed.

mod guardian;
mod limits;
mod output;

use std::ffi::OsString;
use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{ChildStdin, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Sender, channel};
use std::thread::JoinHandle;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions};
use serde::{Deserialize, Serialize};

pub(crate) use guardian::Guardian;
pub(crate) use limits::allow_many_files;
pub use limits::is_shortage;
pub use output::OutputTail;
use output::{Capture, Watch};

use crate::side::Ready;

/// How a program ended.
///
/// ```
/// use simutant_harness::ProcessExit;
///
/// assert!(ProcessExit::Code(0).is_success() && !ProcessExit::Signal(9).is_success());
/// assert_eq!(ProcessExit::Signal(11).to_string(), "signal 11 (SIGSEGV)");
/// assert_eq!(serde_json::to_string(&ProcessExit::UNAVAILABLE)?, r#"{"code":69}"#);
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ProcessExit {
    /// By itself, with this exit code.
    Code(i32),
    /// By this signal.
    Signal(i32),
}

impl ProcessExit {
    /// The exit code by which a program says that the machine lacks something that it needs: `EX_UNAVAILABLE` of BSD's
    /// `sysexits.h`.
    pub const UNAVAILABLE: Self = Self::Code(69);

    /// Returns whether this is exit code 0.
    pub fn is_success(self) -> bool {
        self == Self::Code(0)
    }
}

impl std::fmt::Display for ProcessExit {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match *self {
            Self::Code(code) => write!(formatter, "exit code {code}"),
            Self::Signal(number) => match signal_name(number) {
                Some(name) => write!(formatter, "signal {number} ({name})"),
                None => write!(formatter, "signal {number}"),
            },
        }
    }
}

/// Returns the names of the signals that faulty programs usually die of.
fn signal_name(number: i32) -> Option<&'static str> {
    [
        (Signal::ABORT, "SIGABRT"),
        (Signal::BUS, "SIGBUS"),
        (Signal::FPE, "SIGFPE"),
        (Signal::ILL, "SIGILL"),
        (Signal::INT, "SIGINT"),
        (Signal::KILL, "SIGKILL"),
        (Signal::PIPE, "SIGPIPE"),
        (Signal::SEGV, "SIGSEGV"),
        (Signal::TERM, "SIGTERM"),
    ]
    .into_iter()
    .find_map(|(signal, name)| (signal.as_raw() == number).then_some(name))
}

/// Something that happened to a program; the number is its owner's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Event {
    /// It printed the line that says that it is ready.
    Ready(usize),
    /// It printed its first line.
    Said(usize, String),
    /// It ended.
    Exited(usize, ProcessExit),
}

/// Who ends a program when the harness is killed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Care {
    /// The kernel, and the guardian after it. To ask the kernel costs a copy of the harness's memory map for each
    /// program.
    Kernel,
    /// The guardian alone: for programs that are well known and started often. They may have as many files open as the
    /// harness.
    Guardian,
}

/// What is looked for in what a program prints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Watched<'a> {
    /// Nothing.
    Nothing,
    /// A line with this text, which means that the program is ready.
    Ready(&'a str),
    /// The first line.
    FirstLine,
}

impl<'a> Watched<'a> {
    /// Returns what tells that a program is ready.
    pub(crate) fn for_ready(ready: &'a Ready) -> Self {
        match ready {
            Ready::Line(text) => Self::Ready(text),
            Ready::Started | Ready::Port => Self::Nothing,
        }
    }
}

/// What a program reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Input {
    /// Nothing: its standard input is at its end.
    Nothing,
    /// What it is [told](ChildProcess::tell).
    Told,
}

/// What to start, and where to report.
#[derive(Debug)]
pub(crate) struct Start<'a> {
    /// The program and its arguments; not empty.
    pub(crate) command: &'a [OsString],
    /// The folder that it runs in.
    pub(crate) folder: &'a Path,
    /// What is looked for on standard output.
    pub(crate) watch: Watched<'a>,
    /// What it reads.
    pub(crate) input: Input,
    /// Variables of its environment, beside those of the harness.
    pub(crate) environment: &'a [(&'a str, OsString)],
    /// Who sees that it ends when the harness is killed.
    pub(crate) care: Care,
    /// The owner's number for it.
    pub(crate) number: usize,
    /// Where its events go.
    pub(crate) events: &'a Sender<Event>,
}

/// A program that runs, or has ended and was not reaped yet.
#[derive(Debug)]
pub(crate) struct ChildProcess {
    child: std::process::Child,
    /// The program's own number, and that of the group which it leads.
    group: Pid,
    capture: Capture,
    /// Its standard input, if it is told something.
    input: Option<Sender<String>>,
    waiter: Option<JoinHandle<()>>,
    guardian: Arc<Guardian>,
}

impl ChildProcess {
    /// Starts a program, its output captured.
    ///
    /// # Errors
    /// The system's reason if the program cannot be started.
    pub(crate) fn start(start: &Start<'_>, guardian: &Arc<Guardian>) -> io::Result<Self> {
        let (program, arguments) = start.command.split_first().expect("validation refuses an empty command");
        let mut command = Command::new(program);
        command
            .args(arguments)
            .envs(start.environment.iter().map(|(name, value)| (name, value)))
            .current_dir(start.folder)
            .stdin(match start.input {
                Input::Nothing => Stdio::null(),
                Input::Told => Stdio::piped(),
            })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        if start.care == Care::Kernel {
            die_with_this_thread(&mut command);
            limits::restore(&mut command);
        }
        let mut child = command.spawn()?;
        let group = Pid::from_child(&child);
        guardian.watch(group);
        let (number, events) = (start.number, start.events.clone());
        let (seen, input) = (events.clone(), child.stdin.take().map(write_on_a_thread));
        // It is disconnected once the watch has seen what it looks for, or will not see it any more.
        let (watching, watched) = channel::<()>();
        let tell = move |event| {
            // The owner may have lost interest; nobody needs to hear it then.
            _ = seen.send(event);
            drop(watching);
        };
        let watch = match start.watch {
            Watched::Nothing => None,
            Watched::Ready(text) => Some(Watch::for_text(text, move || tell(Event::Ready(number)))),
            Watched::FirstLine => Some(Watch::for_first_line(move |line| tell(Event::Said(number, line)))),
        };
        let capture = Capture::start(
            child.stdout.take().expect("standard output is piped"),
            child.stderr.take().expect("standard error is piped"),
            watch,
        );
        let waiter = std::thread::spawn(move || {
            if let Some(exit) = wait_for_exit(group) {
                // What it said before comes before.
                _ = watched.recv_timeout(output::REST_PATIENCE);
                _ = events.send(Event::Exited(number, exit));
            }
        });
        Ok(Self { child, group, capture, input, waiter: Some(waiter), guardian: Arc::clone(guardian) })
    }

    /// Returns the process group that the program leads.
    pub(crate) fn group(&self) -> Pid {
        self.group
    }

    /// Returns whether a thread of the program is at work, or would be if a processor were free, rather than waiting
    /// for something.
    ///
    /// What the program started is not looked at. Without Linux's `/proc` this cannot be seen, and is `false`.
    pub(crate) fn is_active(&self) -> bool {
        let tasks = Path::new("/proc").join(self.group.as_raw_pid().to_string()).join("task").read_dir();
        let stats = tasks.into_iter().flatten().flatten().map(|task| std::fs::read_to_string(task.path().join("stat")));
        // The name before the state may hold any character.
        stats.flatten().any(|stat| stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(['R', 'D'])))
    }

    /// Sends a signal to the program and all it started.
    pub(crate) fn signal(&self, signal: Signal) {
        // The group is gone if all of it has ended: then there is nobody to hear it.
        _ = rustix::process::kill_process_group(self.group, signal);
    }

    /// Writes a line to its standard input, in the background: a program that does not read holds nobody up.
    pub(crate) fn tell(&self, line: String) {
        if let Some(input) = &self.input {
            // Whoever has closed its input does not want to know.
            _ = input.send(line);
        }
    }

    /// Kills the program and all it started, and returns what they printed last.
    pub(crate) fn kill(&mut self) -> (OutputTail, OutputTail) {
        self.kill_group();
        self.capture.finish()
    }

    /// Kills the group and reaps its leader; the second time does nothing.
    fn kill_group(&mut self) {
        let Some(waiter) = self.waiter.take() else { return };
        // The leader is reaped last, so that until then the number means this group and no other.
        self.signal(Signal::KILL);
        waiter.join().expect("waiting has no way to panic");
        self.guardian.forget(self.group);
        _ = self.child.wait();
    }
}

impl Drop for ChildProcess {
    fn drop(&mut self) {
        self.kill_group();
    }
}

/// Writes lines to a program's standard input on a thread of its own, until the sender is dropped.
fn write_on_a_thread(mut input: ChildStdin) -> Sender<String> {
    let (sender, lines) = channel::<String>();
    std::thread::spawn(move || {
        for line in lines {
            if input.write_all(format!("{line}\n").as_bytes()).is_err() {
                return;
            }
        }
    });
    sender
}

/// Waits until a child has ended and leaves it to be reaped, so that its number is not used again.
fn wait_for_exit(child: Pid) -> Option<ProcessExit> {
    loop {
        match rustix::process::waitid(WaitId::Pid(child), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
            Ok(Some(status)) => {
                return status
                    .exit_status()
                    .map(ProcessExit::Code)
                    .or(status.terminating_signal().map(ProcessExit::Signal));
            }
            Ok(None) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return None,
        }
    }
}

/// Makes the kernel kill the program when the thread that starts it is gone.
///
/// Owners keep their processes on the thread that started them, so that this happens only if the harness is killed.
#[cfg(target_os = "linux")]
#[expect(
    unsafe_code,
    reason = "code between fork and exec is unsafe by its nature; there is no safe way to ask for this"
)]
fn die_with_this_thread(command: &mut Command) {
    let parent = rustix::process::getpid();
    let ask = move || {
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        // The parent may have died before the request was made.
        if rustix::process::getppid() == Some(parent) { Ok(()) } else { Err(rustix::io::Errno::SRCH.into()) }
    };
    // SAFETY: between fork and exec only system calls are made; nothing is allocated and no lock is taken.
    unsafe { command.pre_exec(ask) };
}

/// Elsewhere than on Linux only the guardian ends programs whose harness was killed.
#[cfg(not(target_os = "linux"))]
fn die_with_this_thread(_: &mut Command) {}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::Receiver;
    use std::time::Duration;

    use super::*;

    const PATIENCE: Duration = Duration::from_secs(20);

    /// Starts a shell script; returns the process, its events, and what keeps both going.
    fn shell(script: &str, ready_line: Option<&str>) -> (ChildProcess, Receiver<Event>, tempfile::TempDir) {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let guardian = Arc::new(Guardian::start(folder.path()).expect("the guardian starts"));
        let (sender, events) = channel();
        let command: Vec<OsString> = ["sh", "-c", script].map(OsString::from).to_vec();
        let start = Start {
            command: &command,
            folder: folder.path(),
            watch: ready_line.map_or(Watched::Nothing, Watched::Ready),
            input: Input::Nothing,
            environment: &[("VARIABLE", "value".into())],
            care: Care::Kernel,
            number: 5,
            events: &sender,
        };
        (ChildProcess::start(&start, &guardian).expect("sh starts"), events, folder)
    }

    #[track_caller]
    fn check_exit(script: &str, expect: ProcessExit, stdout: &str, stderr: &str) {
        let (mut process, events, _folder) = shell(script, None);
        assert_eq!(events.recv_timeout(PATIENCE), Ok(Event::Exited(5, expect)));
        let (out, error) = process.kill();
        assert_eq!((out.text.as_str(), error.text.as_str()), (stdout, stderr));
    }

    #[test]
    fn an_exit_is_reported_with_the_output() {
        check_exit("echo out; echo err >&2", ProcessExit::Code(0), "out\n", "err\n");
        check_exit("echo $VARIABLE", ProcessExit::Code(0), "value\n", "");
        check_exit("exit 3", ProcessExit::Code(3), "", "");
        check_exit("kill -SEGV $$", ProcessExit::Signal(11), "", "");
    }

    #[test]
    fn a_program_that_waits_is_not_active_and_one_that_computes_is() {
        let (waiting, events, _folder) = shell("echo now; exec sleep 1000", Some("now"));
        assert_eq!(events.recv_timeout(PATIENCE), Ok(Event::Ready(5)));
        let idle = (0..2_000).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            !waiting.is_active()
        });
        assert!(idle, "it sleeps");
        let (computing, events, _folder) = shell("echo now; while :; do :; done", Some("now"));
        assert_eq!(events.recv_timeout(PATIENCE), Ok(Event::Ready(5)));
        assert!((0..100).all(|_| computing.is_active()));
    }

    #[test]
    fn a_line_makes_it_ready() {
        let (_process, events, _folder) = shell("echo; echo now listening; sleep 100", Some("listening"));
        assert_eq!(events.recv_timeout(PATIENCE), Ok(Event::Ready(5)));
    }

    #[test]
    fn what_a_program_says_comes_before_its_end() {
        for _ in 0..50 {
            let (_process, events, _folder) = shell("echo listening", Some("listening"));
            assert_eq!(events.recv_timeout(PATIENCE), Ok(Event::Ready(5)));
            assert_eq!(events.recv_timeout(PATIENCE), Ok(Event::Exited(5, ProcessExit::Code(0))));
        }
    }

    #[test]
    fn killing_ends_all_that_the_program_started() {
        let (mut process, events, _folder) = shell("sleep 1000 & echo $!; echo started; wait", Some("started"));
        assert_eq!(events.recv_timeout(PATIENCE), Ok(Event::Ready(5)));
        let (out, _) = process.kill();
        let grandchild = out.text.lines().next().and_then(|line| line.parse().ok()).and_then(Pid::from_raw);
        let grandchild = grandchild.expect("the first line is a process number");
        assert_eq!(events.recv_timeout(PATIENCE), Ok(Event::Exited(5, ProcessExit::Signal(9))));
        // Its new parent may take a moment to reap it; a zombie has no command line.
        let ended = (0..2_000).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            std::fs::read(format!("/proc/{}/cmdline", grandchild.as_raw_pid())).map_or(true, |line| line.is_empty())
        });
        assert!(ended, "{grandchild:?} still runs");
    }

    #[test]
    fn a_missing_program_is_an_error() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let guardian = Arc::new(Guardian::start(folder.path()).expect("the guardian starts"));
        let (events, _receiver) = channel();
        let command = [OsString::from("/nowhere/program")];
        for care in [Care::Kernel, Care::Guardian] {
            let start = Start {
                command: &command,
                folder: folder.path(),
                watch: Watched::Nothing,
                input: Input::Nothing,
                environment: &[],
                care,
                number: 0,
                events: &events,
            };
            let error = ChildProcess::start(&start, &guardian).expect_err("there is no such program");
            assert_eq!(error.kind(), io::ErrorKind::NotFound);
        }
    }

    #[test]
    fn exits_read_well() {
        assert_eq!(ProcessExit::Code(101).to_string(), "exit code 101");
        assert_eq!(ProcessExit::Signal(11).to_string(), "signal 11 (SIGSEGV)");
        assert_eq!(ProcessExit::Signal(64).to_string(), "signal 64");
    }
}
