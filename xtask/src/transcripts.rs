//! The console blocks of the README and the guide: run, and compared with what the page shows.
//!
//! A block of the language `console` has commands, each after `$ `, and what each prints. In that, `…` stands for any
//! text, and alone on a line for any lines; durations match any duration. A block after `<!-- varies -->` shows runs of
//! real programs: its numbers match any numbers, and lines may be missing in between. A command without output in the
//! page has to succeed; what a reader completes first is of the language `sh`, and is not run.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail};

/// The pages, in the order in which a reader has what the next one needs.
const PAGES: [&str; 6] = [
    "README.md",
    "docs/src/guide/study.md",
    "docs/src/guide/one-run.md",
    "docs/src/guide/implementations.md",
    "docs/src/guide/your-system.md",
    // Chooses another suite.
    "docs/src/guide/choosing.md",
];

/// The line before a block whose numbers are not those of the next run.
const VARIES: &str = "<!-- varies -->";

/// Stands for any text.
const ELLIPSIS: &str = "…";

/// Runs all console blocks, and fails if a page shows something else than is printed.
pub(crate) fn check(root: &Path) -> anyhow::Result<()> {
    crate::run(Command::new("cargo").args(["build", "--release", "--package", "simutant"]))?;
    // Outside of the workspace, which a new package would join.
    let folder = tempfile::tempdir()?;
    let work = folder.path();
    let mut faults = Vec::new();
    for page in PAGES {
        let text = std::fs::read_to_string(root.join(page)).with_context(|| format!("cannot read {page}"))?;
        // Pages share what is written to `out`, and no other folder.
        let folder = work.join(page.replace('/', "-"));
        std::fs::create_dir_all(work.join("out"))?;
        std::fs::create_dir_all(&folder)?;
        std::os::unix::fs::symlink("../out", folder.join("out"))?;
        std::os::unix::fs::symlink(crate::target(root), folder.join("target"))?;
        let mut shell = Shell { root: root.to_owned(), folder, programs: crate::target(root).join("release") };
        for step in steps(&text) {
            eprintln!("xtask: {page}:{}: {}", step.line, step.command);
            if let Err(fault) = shell.run(&step)? {
                faults.push(format!("{page}:{}: $ {}\n{fault}", step.line, step.command));
            }
        }
    }
    if !faults.is_empty() {
        bail!("the pages show what is not printed:\n{}", faults.join("\n"));
    }
    Ok(())
}

/// A command of a page, and what the page shows of its output.
#[derive(Debug, PartialEq, Eq)]
struct Step {
    /// The command's line in the page, from 1 on.
    line: usize,
    command: String,
    expected: Vec<String>,
    varies: bool,
}

/// Returns the commands of a page.
fn steps(page: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let (mut is_inside, mut varies, mut before) = (false, false, "");
    for (index, text) in page.lines().enumerate() {
        if text == "```console" {
            (is_inside, varies) = (true, before == VARIES);
        } else if text == "```" {
            is_inside = false;
        } else if is_inside {
            match (text.strip_prefix("$ "), steps.last_mut()) {
                (Some(command), _) => {
                    let (line, command) = (index + 1, command.to_owned());
                    steps.push(Step { line, command, expected: Vec::new(), varies });
                }
                (None, Some(step)) => step.expected.push(text.to_owned()),
                (None, None) => {}
            }
        }
        before = text;
    }
    steps
}

/// Where a page's commands run.
#[derive(Debug)]
struct Shell {
    /// The project's folder, which pages do not name: they are read there.
    root: PathBuf,
    folder: PathBuf,
    /// Where the command is.
    programs: PathBuf,
}

impl Shell {
    /// Runs a command, and returns how its output differs from what is expected.
    fn run(&mut self, step: &Step) -> anyhow::Result<Result<(), String>> {
        let script = step.command.replace("cargo run --release -- ", "target/release/simutant ");
        let programs = std::env::var_os("PATH").unwrap_or_default();
        let programs = std::iter::once(self.programs.clone()).chain(std::env::split_paths(&programs));
        // The last line is the folder that the next command runs in.
        let output = Command::new("bash")
            .args(["-c", &format!("{{ {script}\n}} 2>&1; code=$?; printf '\\n%s' \"$PWD\"; exit $code")])
            .current_dir(&self.folder)
            .env("PATH", std::env::join_paths(programs)?)
            .stdin(Stdio::null())
            .stderr(Stdio::inherit())
            .output()?;
        let printed = String::from_utf8_lossy(&output.stdout).replace(&format!("{}/", self.root.display()), "");
        let (printed, folder) = printed.rsplit_once('\n').context("the shell did not end by itself")?;
        self.folder = folder.into();
        let printed: Vec<&str> = printed.lines().collect();
        if step.expected.is_empty() && !output.status.success() {
            return Ok(Err(format!("{}, after:\n{}", output.status, printed.join("\n"))));
        }
        Ok(compare(&step.expected, &printed, step.varies)
            .map_err(|missing| format!("  the page: {missing}\n  printed:\n    {}", printed.join("\n    "))))
    }
}

/// Returns the first expected line that is not printed where it should be.
fn compare<'a>(expected: &'a [String], printed: &[&str], varies: bool) -> Result<(), &'a str> {
    let mut rest = printed;
    let mut may_skip = varies || expected.is_empty();
    for line in expected {
        if line == ELLIPSIS {
            may_skip = true;
            continue;
        }
        let found = if may_skip {
            rest.iter().position(|printed| matches(line, printed, varies))
        } else {
            rest.first().filter(|printed| matches(line, printed, varies)).map(|_| 0)
        };
        let Some(found) = found else { return Err(line) };
        rest = &rest[found + 1..];
        may_skip = varies;
    }
    let is_all_shown = may_skip || expected.is_empty() || rest.iter().all(|line| line.trim().is_empty());
    if is_all_shown { Ok(()) } else { Err("(its last line)") }
}

/// Returns whether a line of a page stands for a line that was printed.
fn matches(expected: &str, printed: &str, varies: bool) -> bool {
    let plain = |line: &str| if varies { without_numbers(line) } else { without_durations(line) };
    let (expected, printed) = (plain(expected.trim_end()), plain(printed.trim_end()));
    let pieces: Vec<&str> = expected.split(ELLIPSIS).collect();
    let [first, middle @ .., last] = &pieces[..] else { return printed == expected };
    let Some(mut rest) = printed.strip_prefix(first) else { return false };
    for piece in middle {
        let Some(at) = rest.find(piece) else { return false };
        rest = &rest[at + piece.len()..];
    }
    rest.ends_with(last)
}

/// Replaces each number by `#`.
fn without_numbers(line: &str) -> String {
    let mut plain = String::with_capacity(line.len());
    for character in line.chars() {
        match character {
            '0'..='9' if plain.ends_with('#') => {}
            '0'..='9' => plain.push('#'),
            _ => plain.push(character),
        }
    }
    plain.replace("#.#", "#")
}

/// Replaces each number before a unit of time at the end of a line by `#`: that is what depends on the machine.
fn without_durations(line: &str) -> String {
    for unit in [" ms", " s"] {
        if let Some((text, number)) = line.strip_suffix(unit).and_then(|line| line.rsplit_once(' ')) {
            if number.parse::<f64>().is_ok() {
                return format!("{text} #{unit}");
            }
        }
    }
    line.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(expected: &[&str], printed: &[&str], varies: bool, expect: Result<(), &str>) {
        let expected: Vec<String> = expected.iter().map(|&line| line.to_owned()).collect();
        assert_eq!(compare(&expected, printed, varies), expect);
    }

    #[test]
    fn a_block_has_its_commands_with_what_they_print() {
        let page =
            "text\n```console\n$ one\na\n$ two\n```\n<!-- varies -->\n```console\n$ three\nb\n```\n```sh\n$ x\n```\n";
        let step = |line, command: &str, expected: &[&str], varies| {
            let expected = expected.iter().map(|&line| line.to_owned()).collect();
            Step { line, command: command.to_owned(), expected, varies }
        };
        let expect = [step(3, "one", &["a"], false), step(5, "two", &[], false), step(9, "three", &["b"], true)];
        assert_eq!(steps(page), expect);
    }

    #[test]
    fn lines_are_as_printed_but_for_what_an_ellipsis_stands_for() {
        check(&["a", "b"], &["a", "b"], false, Ok(()));
        check(&["a", "b"], &["a", "c"], false, Err("b"));
        check(&["a"], &["a", "b"], false, Err("(its last line)"));
        check(&["a", "…", "d"], &["a", "b", "c", "d"], false, Ok(()));
        check(&["a", "…", "d"], &["a", "b", "c"], false, Err("d"));
        check(&["a", "…"], &["a", "b", "c"], false, Ok(()));
        check(&["a … c"], &["a b c"], false, Ok(()));
        check(&["a … c"], &["a b d"], false, Err("a … c"));
        check(&["a …"], &["a b c"], false, Ok(()));
        check(&[], &["whatever"], false, Ok(()));
    }

    #[test]
    fn durations_depend_on_the_machine_and_other_numbers_do_not() {
        check(&["drawing 3 in 0.3 s"], &["drawing 3 in 12.5 s"], false, Ok(()));
        check(&["passed a in 7 ms"], &["passed a in 12 ms"], false, Ok(()));
        check(&["drawing 3 in 0.3 s"], &["drawing 4 in 0.3 s"], false, Err("drawing 3 in 0.3 s"));
    }

    #[test]
    fn numbers_of_real_runs_are_any_numbers() {
        check(&["41 passed, 8 failed"], &["more", "42 passed, 7 failed"], true, Ok(()));
        check(&["41 passed, 8 failed"], &["42 passed, 7 inconclusive"], true, Err("41 passed, 8 failed"));
        check(&["a in 1.5 s"], &["a in 2 s"], true, Ok(()));
    }
}
