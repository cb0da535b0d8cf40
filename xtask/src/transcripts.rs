//! The console blocks of the README and the guide: run, and compared with what the page shows.
//!
//! A block of the language `console` has commands, each after `$ `, and what each prints. In that, `…` stands for any
//! text, and alone on a line for any lines; durations match any duration. A comment in the line before a block says what
//! is particular: after `<!-- varies -->`, for what real programs do, numbers match any numbers, and lines may be missing
//! in between; after `<!-- exit 1 -->` the last command ends with that code, as all others end with 0; `<!-- varies,
//! exit 1 -->` is both. What a reader completes first is of the language `sh`, and is not run.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail};

/// The pages, in the order in which a reader has what the next one needs.
const PAGES: [&str; 7] = [
    "docs/src/guide/study.md",
    // Its tests measure what test cases take, by which the next study would choose others.
    "README.md",
    "docs/src/guide/one-run.md",
    "docs/src/guide/implementations.md",
    "docs/src/guide/your-system.md",
    "docs/src/guide/judging.md",
    // Chooses another suite.
    "docs/src/guide/choosing.md",
];

/// What begins the comment before a block.
const COMMENT: &str = "<!-- ";

/// Stands for any text.
const ELLIPSIS: &str = "…";

/// Runs all console blocks, and fails if a page shows something else than is printed.
pub(crate) fn check(root: &Path) -> anyhow::Result<()> {
    // What it prints is the same in both profiles, and a release build takes minutes.
    let simutant = crate::simutant(root)?;
    // Outside of the workspace, which a new package would join.
    let folder = tempfile::tempdir()?;
    let work = folder.path();
    let mut faults = unlisted(root)?;
    for page in PAGES {
        let text = std::fs::read_to_string(root.join(page)).with_context(|| format!("cannot read {page}"))?;
        // Pages share what is written to `out`, and no other folder.
        let folder = work.join(page.replace('/', "-"));
        std::fs::create_dir_all(work.join("out"))?;
        std::fs::create_dir_all(&folder)?;
        std::os::unix::fs::symlink("../out", folder.join("out"))?;
        let programs = folder.join("target/release");
        std::fs::create_dir_all(&programs)?;
        std::os::unix::fs::symlink(&simutant, programs.join("simutant"))?;
        let mut shell = Shell { root: root.to_owned(), folder, programs };
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

/// Returns the pages of the guide that have commands and are not among [`PAGES`].
fn unlisted(root: &Path) -> anyhow::Result<Vec<String>> {
    let mut unlisted = Vec::new();
    for entry in std::fs::read_dir(root.join("docs/src/guide"))? {
        let name = format!("docs/src/guide/{}", entry?.file_name().display());
        let has_steps = !steps(&std::fs::read_to_string(root.join(&name))?).is_empty();
        if has_steps != PAGES.contains(&name.as_str()) && name.ends_with(".md") {
            unlisted.push(format!("{name}: it has commands, and xtask/src/transcripts.rs does not list it, or none"));
        }
    }
    Ok(unlisted)
}

/// A command of a page, and what the page shows of its output.
#[derive(Debug, PartialEq, Eq)]
struct Step {
    /// The command's line in the page, from 1 on.
    line: usize,
    command: String,
    expected: Vec<String>,
    varies: bool,
    /// The exit code.
    code: i32,
}

/// Returns the commands of a page.
fn steps(page: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let (mut is_inside, mut comment, mut before) = (false, "", "");
    for (index, text) in page.lines().enumerate() {
        if text == "```console" {
            (is_inside, comment) = (true, if before.starts_with(COMMENT) { before } else { "" });
        } else if text == "```" && is_inside {
            is_inside = false;
            let code = comment.strip_suffix(" -->").and_then(|comment| comment.split_once("exit ")?.1.parse().ok());
            if let (Some(code), Some(last)) = (code, steps.last_mut()) {
                last.code = code;
            }
        } else if is_inside {
            match (text.strip_prefix("$ "), steps.last_mut()) {
                (Some(command), _) => steps.push(Step {
                    line: index + 1,
                    command: command.to_owned(),
                    expected: Vec::new(),
                    varies: comment.contains("varies"),
                    code: 0,
                }),
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
            // The packages that a reader makes share what is compiled, also with what was studied before.
            .env("CARGO_TARGET_DIR", crate::target(&self.root))
            .stdin(Stdio::null())
            .stderr(Stdio::inherit())
            .output()?;
        let printed = String::from_utf8_lossy(&output.stdout);
        let (printed, folder) = printed.rsplit_once('\n').context("the shell did not end by itself")?;
        self.folder = folder.into();
        let printed = printed.replace(&format!("{}/", self.root.display()), "");
        // On a slow machine a stage says in between that it goes on.
        let printed: Vec<&str> = printed.lines().filter(|line| !line.ends_with(" s so far")).collect();
        let shown = || format!("  printed:\n    {}", printed.join("\n    "));
        if output.status.code() != Some(step.code) {
            return Ok(Err(format!("  {}, and not exit code {}\n{}", output.status, step.code, shown())));
        }
        let is_shown = step.expected.is_empty() || fits(&step.expected, &printed, step.varies);
        Ok(if is_shown { Ok(()) } else { Err(format!("  the page has other lines\n{}", shown())) })
    }
}

/// Returns whether lines of a page stand for what was printed.
fn fits(expected: &[String], printed: &[&str], varies: bool) -> bool {
    // Whether the lines of the page so far can stand for so many printed ones.
    let mut ends: Vec<bool> = (0..=printed.len()).map(|end| end == 0).collect();
    for line in expected {
        let Some(first) = ends.iter().position(|can_end| *can_end) else { return false };
        ends = if line == ELLIPSIS {
            (0..=printed.len()).map(|end| end >= first).collect()
        } else {
            let begins = |place: usize| if varies { place >= first } else { ends[place] };
            let stands = |end: usize| end > 0 && begins(end - 1) && matches(line, printed[end - 1], varies);
            (0..=printed.len()).map(stands).collect()
        };
    }
    let is_rest_empty = |end: usize| printed[end..].iter().all(|line| line.trim().is_empty());
    (0..=printed.len()).any(|end| ends[end] && (varies || is_rest_empty(end)))
}

/// Returns whether a line of a page stands for a line that was printed.
fn matches(expected: &str, printed: &str, varies: bool) -> bool {
    let plain = |line: &str| if varies { without_numbers(line) } else { without_durations(line) };
    let (expected, printed) = (plain(expected.trim_end()), plain(printed.trim_end()));
    // What was compiled before is not compiled again.
    let (expected, printed) = (as_built(&expected), as_built(&printed));
    let is_rule = |line: &str| !line.is_empty() && line.chars().all(|character| character == '─');
    if is_rule(&expected) && is_rule(&printed) {
        // A table that is cut off has a shorter one.
        return true;
    }
    let pieces: Vec<&str> = expected.split(ELLIPSIS).collect();
    let [first, middle @ .., last] = &pieces[..] else { return printed == expected };
    let Some(mut rest) = printed.strip_prefix(first) else { return false };
    for piece in middle {
        let Some(at) = rest.find(piece) else { return false };
        rest = &rest[at + piece.len()..];
    }
    rest.ends_with(last)
}

/// Returns a line in which a build that had nothing to do is as any other.
fn as_built(line: &str) -> String {
    line.strip_prefix("   unchanged ").map_or_else(|| line.to_owned(), |rest| format!("   compiling {rest}"))
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
        if let Some((text, number)) = line.strip_suffix(unit).and_then(|line| line.rsplit_once(' '))
            && number.parse::<f64>().is_ok()
        {
            return format!("{text} #{unit}");
        }
    }
    line.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(expected: &[&str], printed: &[&str], varies: bool, expect: bool) {
        let expected: Vec<String> = expected.iter().map(|&line| line.to_owned()).collect();
        assert_eq!(fits(&expected, printed, varies), expect, "{expected:?} for {printed:?}");
    }

    #[test]
    fn a_block_has_its_commands_with_what_they_print() {
        let page = "text\n```console\n$ one\na\n$ two\n```\n<!-- varies, exit 3 -->\n```console\n$ three\n$ four\nb\n```\n\
                    ```sh\n$ x\n```\n<!-- exit 1 -->\n```console\n$ five\n```\n";
        let step = |line, command: &str, expected: &[&str], varies, code| {
            let expected = expected.iter().map(|&line| line.to_owned()).collect();
            Step { line, command: command.to_owned(), expected, varies, code }
        };
        let expect = [
            step(3, "one", &["a"], false, 0),
            step(5, "two", &[], false, 0),
            step(9, "three", &[], true, 0),
            step(10, "four", &["b"], true, 3),
            step(18, "five", &[], false, 1),
        ];
        assert_eq!(steps(page), expect);
    }

    #[test]
    fn lines_are_as_printed_but_for_what_an_ellipsis_stands_for() {
        check(&["a", "b"], &["a", "b"], false, true);
        check(&["a", "b"], &["a", "c"], false, false);
        check(&["a"], &["a", "b"], false, false);
        check(&["a"], &["b", "a"], false, false);
        check(&["a", "…", "d"], &["a", "b", "c", "d"], false, true);
        check(&["a", "…", "d"], &["a", "b", "c"], false, false);
        check(&["a", "…"], &["a", "b", "c"], false, true);
        check(&["…", "x", "y"], &["x", "z", "x", "y"], false, true);
        check(&["   compiling gbn …"], &["   unchanged gbn in 0.1 s"], false, true);
        check(&["   unchanged gbn"], &["   comparing gbn"], false, false);
        check(&["a … c"], &["a b c"], false, true);
        check(&["a … c"], &["a b d"], false, false);
        check(&["a …"], &["a b c"], false, true);
        check(&["───"], &["─────"], false, true);
        check(&["───"], &["a"], false, false);
    }

    #[test]
    fn durations_depend_on_the_machine_and_other_numbers_do_not() {
        check(&["drawing 3 in 0.3 s"], &["drawing 3 in 12.5 s"], false, true);
        check(&["passed a in 7 ms"], &["passed a in 12 ms"], false, true);
        check(&["drawing 3 in 0.3 s"], &["drawing 4 in 0.3 s"], false, false);
    }

    #[test]
    fn numbers_of_real_runs_are_any_numbers() {
        check(&["41 passed, 8 failed"], &["more", "42 passed, 7 failed"], true, true);
        check(&["41 passed, 8 failed"], &["42 passed, 7 inconclusive"], true, false);
        check(&["a in 1.5 s"], &["a in 2 s"], true, true);
    }
}
