//! `cargo xtask bench models`: how many transitions a second walks take, with coverage on, beside another generator of
//! stateful tests on the same model, and how many markings a second nets are explored. `bench/machines/` has all of it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context;
use clap::Args;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::python::{install_python, python};
use super::table::aligned;
use super::target_directory;

#[derive(Debug, Args)]
pub(crate) struct ModelsArguments {
    /// Takes one round of fifteen: to see that everything works, not to quote.
    #[arg(long)]
    quick: bool,
    /// Also explores the nets in PNML in this folder, those of the Model Checking Contest that a test names among them, and
    /// lets SNAKES do so with Peterson-COL-2.
    #[arg(long, value_name = "DIR")]
    nets: Option<PathBuf>,
    /// Prints `{simutant, proptest, nets, snakes}` instead of tables: transitions per second, and what nets took.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(root: &Path, arguments: &ModelsArguments) -> anyhow::Result<()> {
    let target = target_directory(root);
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--quiet", "--release", "--locked", "--manifest-path", "bench/machines/Cargo.toml"]);
    crate::run(cargo.arg("--target-dir").arg(&target).current_dir(root))?;
    let mut walks = Command::new(target.join("release/simutant-bench-machines"));
    let per_s: BTreeMap<String, f64> = answer(walks.arg(if arguments.quick { "1" } else { "15" }))?;
    let nets = nets(&target, arguments)?;
    let snakes = match &arguments.nets {
        Some(folder) => {
            let mut counts = Command::new("cargo");
            counts.args(["test", "--quiet", "--release", "--locked", "--manifest-path", "bench/machines/Cargo.toml"]);
            counts.args(["--test", "contest", "--target-dir"]).arg(&target).args(["--", "--ignored"]);
            crate::run(counts.env("SIMUTANT_NETS", std::path::absolute(folder)?).current_dir(root))?;
            Some(snakes(root, &target, folder)?)
        }
        None => None,
    };
    #[expect(clippy::print_stdout, reason = "this is the result")]
    if arguments.json {
        let all = Measured { per_s, nets, snakes };
        println!("{}", serde_json::to_string_pretty(&all)?);
    } else {
        println!("{}\n{}", aligned(&rows(&per_s)), aligned(&net_rows(&nets)));
        if let Some(Snakes { simutant, snakes }) = snakes {
            let times = simutant.markings_per_s() / snakes.markings_per_s();
            println!("\n{PETERSON}: SNAKES {:.0} markings/s, {times:.0} times fewer", snakes.markings_per_s());
        }
    }
    Ok(())
}

/// All that was measured.
#[derive(Debug, Serialize)]
struct Measured {
    #[serde(flatten)]
    per_s: BTreeMap<String, f64>,
    nets: BTreeMap<String, Explored>,
    snakes: Option<Snakes>,
}

/// The same net, without its colours, explored by both.
#[derive(Debug, Serialize)]
struct Snakes {
    simutant: Explored,
    snakes: Explored,
}

/// What an exploration came to, and what it took.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
struct Explored {
    markings: u64,
    #[serde(default)]
    arcs: u64,
    /// Processor time.
    seconds: f64,
    /// By how much resident memory grew at most.
    #[serde(default)]
    bytes: u64,
}

impl Explored {
    fn markings_per_s(self) -> f64 {
        self.markings as f64 / self.seconds
    }
}

/// The net on which a peer is as well.
const PETERSON: &str = "Peterson-COL-2";

/// Explores nets: of a folder, all in PNML; and two-phase commit.
fn nets(target: &Path, arguments: &ModelsArguments) -> anyhow::Result<BTreeMap<String, Explored>> {
    let program = target.join("release/nets");
    let workers = if arguments.quick { "4" } else { "6" };
    let commit = answer(Command::new(&program).args(["two-phase-commit", workers]))?;
    let mut nets = BTreeMap::from([(format!("two-phase commit of {workers} workers"), commit)]);
    for file in arguments.nets.iter().flat_map(std::fs::read_dir).flatten() {
        let path = file?.path();
        if path.extension().is_some_and(|extension| extension == "pnml") {
            let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            nets.insert(name, answer(Command::new(&program).arg(&path))?);
        }
    }
    Ok(nets)
}

/// Lets SNAKES explore for ten seconds of processor time what Simutant explores as a whole.
fn snakes(root: &Path, target: &Path, folder: &Path) -> anyhow::Result<Snakes> {
    let (bench, unfolded) = (root.join("bench"), target.join("peterson.pnml"));
    install_python(&bench, target)?;
    let net = folder.join(PETERSON).with_extension("pnml");
    let simutant = answer(Command::new(target.join("release/nets")).args([&net, &unfolded]))?;
    let mut peer = Command::new(python(target));
    let snakes = answer(peer.arg(bench.join("snakes_explore.py")).arg(&unfolded).arg("10"))?;
    Ok(Snakes { simutant, snakes })
}

/// Runs a program that answers in JSON.
fn answer<T: DeserializeOwned>(command: &mut Command) -> anyhow::Result<T> {
    let name = command.get_program().display().to_string();
    let output = command.output().with_context(|| format!("cannot start {name}"))?;
    let said = String::from_utf8_lossy(&output.stderr);
    anyhow::ensure!(output.status.success(), "{name} ended with {}: {}", output.status, said.trim());
    Ok(serde_json::from_slice(&output.stdout)?)
}

/// Returns the rows of a table of nets.
fn net_rows(nets: &BTreeMap<String, Explored>) -> Vec<Vec<String>> {
    let mut rows = vec![["net", "markings", "arcs", "s", "markings/s", "bytes a marking"].map(str::to_owned).into()];
    rows.extend(nets.iter().map(|(name, explored)| {
        let Explored { markings, arcs, seconds, bytes } = *explored;
        let per_marking = bytes as f64 / markings as f64;
        vec![
            name.clone(),
            markings.to_string(),
            arcs.to_string(),
            format!("{seconds:.2}"),
            format!("{:.0}", explored.markings_per_s()),
            // What fits into pages that were there already is not seen to grow.
            if markings < 10_000 { "-".to_owned() } else { format!("{per_marking:.0}") },
        ]
    }));
    rows
}

/// Returns the rows of a table, with what each takes to what Simutant takes.
fn rows(per_s: &BTreeMap<String, f64>) -> Vec<Vec<String>> {
    let names = [("simutant", "walks, with coverage"), ("proptest", "proptest-state-machine, without")];
    let ours = per_s.get("simutant").copied().unwrap_or(f64::NAN);
    let mut rows = vec![["what", "transitions/s", "time, to walks"].map(str::to_owned).into()];
    rows.extend(names.iter().filter_map(|(name, words)| {
        let per_s = per_s.get(*name)?;
        Some(vec![(*words).to_owned(), format!("{per_s:.0}"), format!("{:.2}", ours / per_s)])
    }));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_peer_that_takes_half_as_many_takes_twice_the_time() {
        let per_s = [("simutant".to_owned(), 4e6), ("proptest".to_owned(), 2e6)].into();
        let rows = rows(&per_s);
        assert_eq!(rows[1], ["walks, with coverage", "4000000", "1.00"]);
        assert_eq!(rows[2], ["proptest-state-machine, without", "2000000", "2.00"]);
    }
}
