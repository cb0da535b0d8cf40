//! `cargo xtask bench oracle`: what the oracle takes to judge a trace, beside a validator that is written by hand, and to
//! judge histories, beside the checkers that the registry has, and what its strategies cost on histories of a tree of
//! nodes as they grow.
//!
//! `bench/histories/` has the programs. What counts is the ratio of two times of one run; each is the least of the
//! rounds, since what else a machine does can only make it longer.

mod figures;
mod validators;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, ensure};
use clap::Args;
use serde::{Deserialize, Serialize};

use self::validators::Validated;
use super::table::aligned;
use super::target_directory;

#[derive(Debug, Args)]
pub(crate) struct OracleArguments {
    /// Also checks the histories of a folder: `etcd`, with `verdicts.txt`, and `kv`, whose files' names say the verdict.
    #[arg(long, value_name = "DIR")]
    histories: Option<PathBuf>,
    /// Draws what each strategy costs on histories of a tree of nodes with 2 to 11 sessions of as many calls, and does
    /// nothing else without `--histories`.
    #[arg(long, value_name = "FILE.svg")]
    figures: Option<PathBuf>,
    /// Checks everything once, and few histories of a tree: to see that everything works, not to quote.
    #[arg(long)]
    quick: bool,
    /// Prints `{validator_ratio, …}` instead of tables, and with histories `{…, etcd_ratio, kv_c50_ratio,
    /// kv_unpartitioned_ratio, right, …}`.
    #[arg(long)]
    json: bool,
}

/// What `peers` prints.
#[derive(Debug, Deserialize)]
struct Checked {
    etcd: Vec<File>,
    kv: Vec<File>,
}

/// A file, and for each checker its seconds and its verdict.
#[derive(Debug, Deserialize)]
struct File {
    file: String,
    expected: bool,
    checked: BTreeMap<String, (f64, Option<bool>)>,
}

/// The result.
#[derive(Debug, Serialize)]
struct Measured {
    /// The time of the specification of HTTP servers, to that of a validator by hand.
    validator_ratio: f64,
    validators: Validated,
    #[serde(flatten)]
    compared: Option<Compared>,
}

/// The oracle beside the best of its peers on the same files.
#[derive(Debug, PartialEq, Serialize)]
struct Compared {
    /// All etcd histories.
    etcd_ratio: f64,
    /// The key-value stores of fifty clients.
    kv_c50_ratio: f64,
    /// Those of ten clients, all keys at once, beside a peer that looks at one at a time.
    kv_unpartitioned_ratio: f64,
    /// How many verdicts of the oracle are right, of `files`.
    right: usize,
    files: usize,
    /// Seconds of each checker.
    etcd_seconds: BTreeMap<String, f64>,
    kv_c50_seconds: BTreeMap<String, f64>,
    kv_c10_seconds: BTreeMap<String, f64>,
}

const SIMUTANT: &str = "simutant";
const UNPARTITIONED: &str = "simutant, not partitioned";

pub(super) fn run(root: &Path, arguments: &OracleArguments) -> anyhow::Result<()> {
    let programs = build(root)?;
    if arguments.histories.is_some() || arguments.figures.is_none() {
        let (exchanges, rounds) = if arguments.quick { ("10000", "1") } else { ("100000", "15") };
        let printed = output(Command::new(programs.join("validators")).args([exchanges, rounds]))?;
        let validators: Validated = serde_json::from_slice(&printed)?;
        let check = |folder| {
            let printed = output(Command::new(programs.join("peers")).arg(folder).arg(rounds))?;
            compared(&serde_json::from_slice(&printed)?)
        };
        let compared = arguments.histories.as_ref().map(check).transpose()?;
        let measured = Measured { validator_ratio: validators.ratio(), validators, compared };
        #[expect(clippy::print_stdout, reason = "this is the result")]
        if arguments.json {
            println!("{}", serde_json::to_string_pretty(&measured)?);
        } else {
            print!("{}", validators::table(&measured.validators));
            measured.compared.iter().for_each(|compared| print!("\n{}", table(compared)));
        }
    }
    if let Some(file) = &arguments.figures {
        let [size_max, histories, steps] = if arguments.quick { ["5", "2", "10000"] } else { ["11", "20", "1000000"] };
        let rows = output(Command::new(programs.join("figures")).args([size_max, histories, steps]))?;
        let rows: Vec<figures::Row> = serde_json::from_slice(&rows)?;
        std::fs::write(file, figures::plot(&rows)).with_context(|| format!("cannot write {}", file.display()))?;
        #[expect(clippy::print_stdout, reason = "this is the result")]
        if !arguments.json {
            print!("{}", figures::table(&rows));
        }
    }
    Ok(())
}

/// Builds the programs, and returns where they are.
fn build(root: &Path) -> anyhow::Result<PathBuf> {
    let target = target_directory(root);
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--release", "--locked", "--manifest-path", "bench/histories/Cargo.toml"]);
    crate::run(cargo.current_dir(root).env("CARGO_TARGET_DIR", &target))?;
    Ok(target.join("release"))
}

fn output(command: &mut Command) -> anyhow::Result<Vec<u8>> {
    eprintln!("xtask: {command:?}");
    let output = command.stderr(std::process::Stdio::inherit()).output()?;
    ensure!(output.status.success(), "{command:?} ended with {}", output.status);
    Ok(output.stdout)
}

fn compared(checked: &Checked) -> anyhow::Result<Compared> {
    let of = |files: &mut dyn Iterator<Item = &File>| {
        let mut seconds: BTreeMap<String, f64> = BTreeMap::new();
        for file in files {
            for (checker, (taken, verdict)) in &file.checked {
                // Who does not know, or is wrong, is no peer.
                let is_right = *verdict == Some(file.expected);
                *seconds.entry(checker.clone()).or_default() += if is_right { *taken } else { f64::INFINITY };
            }
        }
        seconds
    };
    let etcd_seconds = of(&mut checked.etcd.iter());
    let kv_c50_seconds = of(&mut checked.kv.iter().filter(|file| file.file.starts_with("c50")));
    let kv_c10_seconds = of(&mut checked.kv.iter().filter(|file| file.file.starts_with("c10")));
    let ratio = |seconds: &BTreeMap<String, f64>, ours: &str| -> anyhow::Result<f64> {
        let peers = seconds.iter().filter(|(checker, _)| !checker.starts_with(SIMUTANT));
        let best = peers.map(|(_, &seconds)| seconds).reduce(f64::min).context("no peer checked the files")?;
        Ok(seconds.get(ours).context("the oracle did not check the files")? / best)
    };
    let files = || checked.etcd.iter().chain(&checked.kv);
    let is_right = |file: &&File| {
        let ours = file.checked.iter().filter(|(checker, _)| checker.starts_with(SIMUTANT));
        ours.clone().count() > 0 && ours.into_iter().all(|(_, (_, verdict))| *verdict == Some(file.expected))
    };
    Ok(Compared {
        etcd_ratio: ratio(&etcd_seconds, SIMUTANT)?,
        kv_c50_ratio: ratio(&kv_c50_seconds, SIMUTANT)?,
        kv_unpartitioned_ratio: ratio(&kv_c10_seconds, UNPARTITIONED)?,
        right: files().filter(is_right).count(),
        files: files().count(),
        etcd_seconds,
        kv_c50_seconds,
        kv_c10_seconds,
    })
}

fn table(compared: &Compared) -> String {
    let columns = [&compared.etcd_seconds, &compared.kv_c10_seconds, &compared.kv_c50_seconds];
    let mut checkers: Vec<&String> = columns.iter().flat_map(|seconds| seconds.keys()).collect();
    checkers.sort();
    checkers.dedup();
    let header = ["ms", "etcd", "key-value, 10 clients", "key-value, 50 clients"].map(str::to_owned).to_vec();
    let row = |checker: &String| {
        let cell = |seconds: &BTreeMap<String, f64>| match seconds.get(checker) {
            Some(seconds) if seconds.is_finite() => format!("{:.2}", 1e3 * seconds),
            Some(_) => "no verdict".to_owned(),
            None => "-".to_owned(),
        };
        std::iter::once(checker.clone()).chain(columns.map(cell)).collect()
    };
    let rows: Vec<Vec<String>> = std::iter::once(header).chain(checkers.into_iter().map(row)).collect();
    let Compared { etcd_ratio, kv_c50_ratio, kv_unpartitioned_ratio, right, files, .. } = compared;
    format!(
        "{}\nTo the best peer: etcd {etcd_ratio:.4}, key-value with 50 clients {kv_c50_ratio:.4}, with 10 clients and all keys \
         at once {kv_unpartitioned_ratio:.4}.\nRight: {right} of {files}.\n",
        aligned(&rows)
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(file: &str, expected: bool, checked: &[(&str, f64, Option<bool>)]) -> File {
        let checked = checked.iter().map(|&(checker, seconds, verdict)| (checker.to_owned(), (seconds, verdict)));
        File { file: file.to_owned(), expected, checked: checked.collect() }
    }

    #[test]
    fn the_best_peer_is_the_one_that_is_right_everywhere() {
        let [yes, no] = [Some(true), Some(false)];
        let etcd = vec![
            file("a", true, &[(SIMUTANT, 1.0, yes), ("slow", 9.0, yes), ("hasty", 2.0, yes)]),
            file("b", false, &[(SIMUTANT, 2.0, no), ("slow", 3.0, no), ("hasty", 2.0, yes)]),
        ];
        let kv = vec![
            file("c10-ok", true, &[(SIMUTANT, 1.0, yes), (UNPARTITIONED, 3.0, yes), ("slow", 6.0, yes)]),
            file("c50-ok", true, &[(SIMUTANT, 1.0, None), ("slow", 4.0, yes)]),
        ];
        let compared = compared(&Checked { etcd, kv }).expect("all is there");
        assert_eq!((compared.etcd_ratio, compared.kv_unpartitioned_ratio), (0.25, 0.5));
        assert_eq!((compared.right, compared.files), (3, 4));
        assert!(compared.kv_c50_ratio.is_infinite());
        let table = table(&compared);
        assert!(table.contains("| hasty                     | no verdict |"), "{table}");
    }
}
