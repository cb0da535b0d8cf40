//! What each test takes, from the lines that the test harness prints.
//!
//! The harness tells no times. But it begins tests in the order of their names, as many as there are threads, and the next
//! one whenever one ends; so the ends tell when each began.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// The tests that have run, with what they took.
static TESTS: Mutex<Vec<(Duration, String)>> = Mutex::new(Vec::new());

/// How many of them are told at the end: the slowest.
const TOLD: usize = 10;

/// Runs a command that tests, prints what it prints, and keeps what each test takes.
#[expect(clippy::print_stdout, reason = "it is the output of the command that runs")]
pub(crate) fn run(command: &mut Command) -> anyhow::Result<()> {
    let threads = std::env::var("RUST_TEST_THREADS").ok().and_then(|threads| threads.parse().ok());
    let threads = threads.or_else(|| std::thread::available_parallelism().map(usize::from).ok()).unwrap_or(1);
    command.stdout(Stdio::piped());
    crate::run_with(command, |command| {
        let mut child = command.spawn()?;
        let lines = child.stdout.take().map(BufReader::new).into_iter().flat_map(|stdout| stdout.split(b'\n'));
        let begun = Instant::now();
        let mut binary = TestBinary::default();
        for line in lines.map_while(Result::ok) {
            let line = String::from_utf8_lossy(&line);
            println!("{line}");
            if binary.is_over(&line, begun.elapsed()) {
                TESTS.lock().expect("nobody panics with it").extend(std::mem::take(&mut binary).taken(threads));
            }
        }
        child.wait()
    })
}

/// Tells the slowest tests, if any ran.
pub(crate) fn tell() {
    let mut tests = std::mem::take(&mut *TESTS.lock().expect("nobody panics with it"));
    tests.sort_by_key(|(taken, _)| std::cmp::Reverse(*taken));
    if !tests.is_empty() {
        eprintln!("xtask: the slowest of {} tests:", tests.len());
    }
    for (taken, name) in tests.iter().take(TOLD) {
        eprintln!("xtask: {:6.1} s  {name}", taken.as_secs_f64());
    }
}

/// The tests of one binary, by what it has printed so far.
#[derive(Debug, Default)]
struct TestBinary {
    begun: Duration,
    /// The tests that have ended, and when.
    ended: Vec<(Duration, String)>,
}

impl TestBinary {
    /// Takes a line, and returns whether it is the last one of a binary.
    fn is_over(&mut self, line: &str, now: Duration) -> bool {
        if line.strip_prefix("running ").is_some_and(|line| line.ends_with(" tests") || line.ends_with(" test")) {
            *self = Self { begun: now, ended: Vec::new() };
        }
        let ended = line.strip_prefix("test ").and_then(|line| line.rsplit_once(" ... "));
        if let Some((name, "ok" | "FAILED")) = ended {
            self.ended.push((now, name.to_owned()));
        }
        line.starts_with("test result: ")
    }

    /// Returns what each test took, if so many run at a time.
    fn taken(self, threads: usize) -> Vec<(Duration, String)> {
        let mut by_name: Vec<&(Duration, String)> = self.ended.iter().collect();
        by_name.sort_by_key(|(_, name)| name);
        let began = |place: usize| match place.checked_sub(threads) {
            None => self.begun,
            Some(before) => self.ended[before].0,
        };
        let taken =
            by_name.iter().enumerate().map(|(place, (end, name))| (end.saturating_sub(began(place)), name.clone()));
        taken.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_begins_when_one_before_it_ends() {
        let mut binary = TestBinary::default();
        let lines = [
            (5, "running 4 tests"),
            (7, "test b ... ok"),
            (8, "test c ... FAILED"),
            (15, "test a ... ok"),
            (16, "test ignored ... ignored, it takes long"),
            (18, "test d - should panic ... ok"),
            (18, ""),
        ];
        for (now, line) in lines {
            assert!(!binary.is_over(line, Duration::from_secs(now)), "{line}");
        }
        assert!(binary.is_over("test result: FAILED. 3 passed; 1 failed", Duration::from_secs(18)));
        let taken = binary.taken(2).into_iter().map(|(taken, name)| (taken.as_secs(), name));
        let expect =
            [(10, "a"), (2, "b"), (1, "c"), (10, "d - should panic")].map(|(taken, name)| (taken, name.to_owned()));
        assert_eq!(taken.collect::<Vec<_>>(), expect);
    }
}
