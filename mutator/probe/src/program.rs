//! Which mutant is active in a program that no worker runs: the one that the environment names, in all threads and from
//! the start.
//!
//! `SIMUTANT_MUTANT` has its number; without it the program does what it does as it is written.
//! `SIMUTANT_MUTANT_REACHED` names a file, which is made, empty, before the mutant is executed for the first time: so
//! whoever started the program knows that it ran another one than the original. Steps are not limited; who waits for
//! the program ends it.
//!
//! A program of which this is unavailable ends at once, says why on standard error, and has exit code 69
//! (`EX_UNAVAILABLE` of BSD's `sysexits.h`): to go on as the original would look like a mutant that does no harm.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::Write;
use std::sync::{LazyLock, Once};

use crate::{NONE, PAUSED, Run};

/// The variable with the number of the mutant.
const MUTANT: &str = "SIMUTANT_MUTANT";

/// The variable with the path of the file that says that the mutant was reached.
const REACHED: &str = "SIMUTANT_MUTANT_REACHED";

/// The exit code of a program that cannot do as the environment says.
const UNAVAILABLE: i32 = 69;

/// The number of the mutant. Read once, so that what the program does to its environment changes nothing.
static ACTIVE: LazyLock<u32> =
    LazyLock::new(|| number(std::env::var_os(MUTANT).as_deref()).unwrap_or_else(|problem| end(&problem)));

static REACHED_FILE: LazyLock<Option<OsString>> = LazyLock::new(|| std::env::var_os(REACHED));

/// Makes a run what a thread begins with.
pub(crate) fn begin(run: &Run) {
    LazyLock::force(&REACHED_FILE);
    run.active.set(*ACTIVE);
}

/// Notes that the active mutant is about to be executed: when this returns, the file is there.
pub(crate) fn reached() {
    static NOTED: Once = Once::new();
    NOTED.call_once(|| {
        let Some(path) = REACHED_FILE.as_ref() else { return };
        if let Err(error) = File::create(path) {
            end(&format!("{REACHED} is {}: {error}", path.display()));
        }
    });
}

/// Returns the number of the mutant that is asked for, or what is wrong with the variable.
fn number(asked: Option<&OsStr>) -> Result<u32, String> {
    let Some(asked) = asked else { return Ok(NONE) };
    let number = asked.to_str().and_then(|text| text.parse().ok()).filter(|number| *number < PAUSED);
    number.ok_or_else(|| format!("{MUTANT} is {}, which is no number of a mutant", asked.display()))
}

fn end(problem: &str) -> ! {
    // If nobody reads the complaint, the exit code is all there is.
    _ = writeln!(std::io::stderr(), "simutant: {problem}");
    std::process::exit(UNAVAILABLE)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mutant_is_asked_for_by_its_number() {
        let check = |asked: Option<&str>, expect: Option<u32>| {
            assert_eq!(number(asked.map(OsStr::new)).ok(), expect, "{asked:?}");
        };
        check(None, Some(NONE));
        check(Some("0"), Some(0));
        check(Some("17"), Some(17));
        check(Some("4294967291"), Some(PAUSED - 1));
        check(Some("4294967292"), None);
        check(Some(""), None);
        check(Some("-1"), None);
        check(Some("none"), None);
        let problem = number(Some(OsStr::new("none"))).expect_err("no number");
        assert_eq!(problem, "SIMUTANT_MUTANT is none, which is no number of a mutant");
    }

    /// Runs itself as a program with this environment; returns how that ended, and what it said.
    fn rerun(mutant: &str, file: &std::path::Path) -> (Option<i32>, String) {
        let own = std::env::current_exe().expect("a test is a program");
        let mut program = std::process::Command::new(own);
        program.args(["--exact", "program::tests::all_threads_run_the_mutant_from_their_start", "--nocapture"]);
        let output = program.env(MUTANT, mutant).env(REACHED, file).output().expect("it can be started");
        (output.status.code(), String::from_utf8_lossy(&output.stderr).into_owned())
    }

    #[test]
    fn all_threads_run_the_mutant_from_their_start() {
        if std::env::var_os(MUTANT).is_some() {
            let bodies = || [crate::is_mutated(0, 17), crate::is_mutated(17, 1), crate::is_mutated(18, 5)];
            assert_eq!(bodies(), [false, true, false]);
            assert_eq!(std::thread::spawn(bodies).join().expect("it ends"), [false, true, false]);
            let file = std::env::var_os(REACHED).expect("it is set");
            assert!(!std::path::Path::new(&file).exists(), "nothing was executed");
            std::thread::spawn(crate::hit).join().expect("it ends");
            assert!(std::path::Path::new(&file).exists());
            // What is there is not made again.
            std::fs::remove_file(&file).expect("it is there");
            crate::hit();
            assert!(!std::path::Path::new(&file).exists());
            return;
        }
        let file = std::env::temp_dir().join(format!("simutant-probe-{}", std::process::id()));
        let (code, said) = rerun("17", &file);
        assert_eq!(code, Some(0), "{said}");
        let (code, said) = rerun("seventeen", &file);
        assert_eq!(code, Some(UNAVAILABLE), "{said}");
        assert!(said.contains("simutant: SIMUTANT_MUTANT is seventeen, which is no number of a mutant"), "{said}");
        let (code, said) = rerun("17", std::path::Path::new("/nowhere/reached"));
        assert_eq!(code, Some(UNAVAILABLE), "{said}");
        assert!(said.contains("simutant: SIMUTANT_MUTANT_REACHED is /nowhere/reached: "), "{said}");
    }
}
