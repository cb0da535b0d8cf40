//! `cargo xtask bench edits`: what a study costs where nothing is compiled yet, and what it costs after an edit of the
//! system.
//!
//! Studies are of a copy of the project, by the copy's own `simutant`, so nobody's files are edited. Edits come one at
//! a time; each is reverted before the next, which is an edit, too. All is repeated, and the least counts, since what
//! else a machine does only ever makes a study dearer. What a study after an edit has written must be, byte for byte,
//! what a study in a new folder writes, which keeps no run of another source.

mod edited;
mod files;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, bail, ensure};
use clap::Args;
use serde::Serialize;
use tempfile::TempDir;

use super::least;
use super::spent::{Spent, timed};
use super::table::aligned;
use edited::{EDITED, Edit, Edited};
use files::Files;

#[derive(Debug, Args)]
pub(crate) struct EditsArguments {
    /// Studies these systems only.
    #[arg(long, value_delimiter = ',', value_parser = systems(), default_values = systems())]
    systems: Vec<String>,
    /// Runs 60 test cases of each, once: to see that everything works, not to quote.
    #[arg(long)]
    quick: bool,
    /// Prints an array of `{system, study, seconds, processor_seconds, …}` instead of a table.
    #[arg(long)]
    json: bool,
}

fn systems() -> [&'static str; EDITED.len()] {
    EDITED.each_ref().map(|edited| edited.system)
}

/// What a study cost, in the cheapest of the rounds.
#[derive(Debug, Clone, PartialEq, Serialize)]
struct Cost {
    system: &'static str,
    /// What the sources have become since the study before it.
    study: &'static str,
    /// By the clock.
    seconds: f64,
    /// Of all processors together, the compiler's included.
    processor_seconds: f64,
    /// What the first study of the system took by the clock, this one being 1.
    first_to_this: f64,
    /// What it took of processor time, this one being 1.
    first_to_this_processor: f64,
}

/// The study that all others are compared with.
const FIRST: &str = "nothing compiled";

/// Sums up rounds, of which there is one at least, and each of which begins with the first study.
fn costs(system: &'static str, rounds: &[Vec<(&'static str, Spent)>]) -> Vec<Cost> {
    let cheapest = |study: usize, of: fn(Spent) -> f64| {
        least(rounds.iter().map(|round| of(round[study].1))).expect("there is a round at least")
    };
    let cost = |(index, &(study, _)): (usize, &(&'static str, Spent))| {
        let [seconds, processor_seconds] = [|spent: Spent| spent.wall, Spent::processor].map(|of| cheapest(index, of));
        Cost {
            system,
            study,
            seconds,
            processor_seconds,
            first_to_this: cheapest(0, |spent| spent.wall) / seconds,
            first_to_this_processor: cheapest(0, Spent::processor) / processor_seconds,
        }
    };
    rounds[0].iter().enumerate().map(cost).collect()
}

/// How often everything is done.
const ROUNDS: usize = 3;

/// Measures, and prints what was found out.
pub(super) fn run(root: &Path, arguments: &EditsArguments) -> anyhow::Result<()> {
    let copy = Copy::make(root)?;
    let rounds = if arguments.quick { 1 } else { ROUNDS };
    let mut costs = Vec::new();
    for edited in EDITED.iter().filter(|edited| arguments.systems.iter().any(|system| system == edited.system)) {
        let studies = Studies { edited, quick: arguments.quick, copy: &copy, folder: tempfile::tempdir()? };
        let round = |round| {
            eprintln!("xtask: studying {}, {round} of {rounds}", edited.system);
            studies.measure()
        };
        let spent = (1..=rounds).map(round).collect::<anyhow::Result<Vec<_>>>()?;
        costs.extend(self::costs(edited.system, &spent));
    }
    #[expect(clippy::print_stdout, reason = "this is the result")]
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&costs)?);
    } else {
        print!("{}", table(&costs));
    }
    Ok(())
}

/// A copy of the project in its target directory, and the `simutant` that was built of it.
#[derive(Debug)]
struct Copy {
    project: PathBuf,
    simutant: PathBuf,
}

impl Copy {
    /// Copies and builds; what is as it was in the copy before this one is not compiled again.
    fn make(root: &Path) -> anyhow::Result<Self> {
        let target = crate::target(root).join("edits");
        let project = target.join("project");
        files::copy_project(root, &project)?;
        let mut build = Command::new("cargo");
        build.args(["build", "--release", "--locked", "--package", "simutant"]).current_dir(&project);
        crate::run(build.env("CARGO_TARGET_DIR", &target))?;
        Ok(Self { project, simutant: target.join("release/simutant") })
    }

    /// Deletes what studies have compiled.
    fn forget_studies(&self) -> anyhow::Result<()> {
        files::remove(&self.project.join("target"))
    }
}

/// Where all studies of a round go.
const FOLLOWING: &str = "following";

/// Studies of one system.
#[derive(Debug)]
struct Studies<'a> {
    edited: &'static Edited,
    quick: bool,
    copy: &'a Copy,
    /// Has [`FOLLOWING`], and for each edit a folder with a study that nothing was kept for.
    folder: TempDir,
}

impl Studies<'_> {
    /// Studies the system as it is, after each edit, and after each is reverted; returns what that cost.
    fn measure(&self) -> anyhow::Result<Vec<(&'static str, Spent)>> {
        self.copy.forget_studies()?;
        files::remove(&self.folder.path().join(FOLLOWING))?;
        let study = |what| Ok::<_, anyhow::Error>((what, self.study(FOLLOWING)?));
        let mut spent = vec![study(FIRST)?];
        let mut written = Vec::new();
        for edit in self.edited.edits {
            self.with(edit, || {
                spent.push(study(edit.what)?);
                written.push(files::results(&self.folder.path().join(FOLLOWING))?);
                Ok(())
            })?;
            spent.push(study("reverted")?);
        }
        // Not in between: a study that has much to write makes the next one wait.
        for (index, written) in written.iter().enumerate() {
            self.check_same(index, written)?;
        }
        Ok(spent)
    }

    /// Does something while the copy is edited.
    fn with(&self, edit: &Edit, action: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<()> {
        let file = self.copy.project.join(edit.file);
        let original = std::fs::read_to_string(&file).with_context(|| format!("cannot read {}", edit.file))?;
        std::fs::write(&file, edit.apply(&original)?)?;
        action()?;
        Ok(std::fs::write(&file, original)?)
    }

    /// Makes a study in this folder, and returns what it cost.
    fn study(&self, folder: &str) -> anyhow::Result<Spent> {
        let folder = self.folder.path().join(folder);
        std::fs::create_dir_all(&folder)?;
        let mut command = Command::new(&self.copy.simutant);
        command.args(["study", self.edited.system, "--manifest-path"]).arg(self.copy.project.join("Cargo.toml"));
        // What is written names the commands that belong to it, which are the same in all folders.
        command.args(["--out", "out"]).args(self.quick.then_some(["--cases", "60"]).into_iter().flatten());
        command.current_dir(folder).env_remove("CARGO_TARGET_DIR");
        let (output, spent) = timed(|| command.output().with_context(|| format!("cannot start {command:?}")))?;
        if !output.status.success() {
            bail!("{command:?} ended with {}: {}", output.status, String::from_utf8_lossy(&output.stderr));
        }
        Ok(spent)
    }

    /// Checks that the study after this edit has written what one in a folder of its own writes, which is made once.
    fn check_same(&self, index: usize, written: &Files) -> anyhow::Result<()> {
        let (edit, name) = (&self.edited.edits[index], format!("anew-{index}"));
        let anew = self.folder.path().join(&name);
        if !anew.exists() {
            self.with(edit, || self.study(&name).map(drop))?;
        }
        let differing = files::differing(written, &files::results(&anew)?);
        ensure!(differing.is_empty(), "after an edit ({}) a new study writes others: {differing:?}", edit.what);
        Ok(())
    }
}

/// Returns a table in Markdown, as it stands in the book's page of benchmarks.
fn table(costs: &[Cost]) -> String {
    let head = ["study", "by the clock", "first to this", "processor", "first to this"].map(ToOwned::to_owned);
    let row = |cost: &Cost| {
        let Cost { system, study, seconds, processor_seconds, first_to_this, first_to_this_processor } = cost;
        vec![
            format!("{system}, {study}"),
            format!("{seconds:.1} s"),
            format!("{first_to_this:.1}"),
            format!("{processor_seconds:.1} s"),
            format!("{first_to_this_processor:.1}"),
        ]
    };
    let rows: Vec<Vec<String>> = std::iter::once(head.into()).chain(costs.iter().map(row)).collect();
    aligned(&rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_has_the_least_of_the_rounds_and_what_the_first_study_took_for_each_second_of_it() {
        let spent = |wall, children| Spent { own: 0.5, children, wall };
        let rounds = [
            vec![(FIRST, spent(60.0, 109.5)), ("an edit", spent(5.0, 9.5))],
            vec![(FIRST, spent(70.0, 99.5)), ("an edit", spent(6.0, 7.5))],
        ];
        let expected = "\
| study                 | by the clock | first to this | processor | first to this |
| --------------------- | -----------: | ------------: | --------: | ------------: |
| dns, nothing compiled |       60.0 s |           1.0 |   100.0 s |           1.0 |
| dns, an edit          |        5.0 s |          12.0 |     8.0 s |          12.5 |
";
        assert_eq!(table(&costs("dns", &rounds)), expected);
    }
}
