//! `cargo xtask bench zookeeper`: what random calls on a real ZooKeeper take, what the oracle takes of it, and what it
//! says, as sessions and their calls grow. `systems/zookeeper/examples/scripts.rs` is the program that runs them.

use std::ops::RangeInclusive;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, ensure};
use clap::Args;
use serde::{Deserialize, Serialize};

use super::table::aligned;
use super::target_directory;

#[derive(Debug, Args)]
pub(crate) struct ZookeeperArguments {
    /// Runs this many scripts of each size.
    #[arg(long, value_name = "N", default_value_t = 10_000)]
    scripts: u64,
    /// Has scripts change lists of permissions, which ZooKeeper 3.8.0 checks too early (ZOOKEEPER-2439).
    #[arg(long)]
    permissions: bool,
    /// Draws scripts of up to this many sessions, with as many calls each.
    #[arg(long, value_name = "N", default_value = "3", conflicts_with = "figures")]
    sessions: u64,
    /// Draws scripts of each size from 2 to 11.
    #[arg(long)]
    figures: bool,
    /// Runs a hundred scripts of each size: to see that everything works, not to quote.
    #[arg(long, conflicts_with = "scripts")]
    quick: bool,
    /// Prints an array of `{sessions, scripts, calls, refused, stale, inconclusive, oracle_s, total_s, …}`.
    #[arg(long)]
    json: bool,
}

/// How many threads run scripts, each on sessions of its own.
const THREADS: u32 = 2;
/// Of ten calls, how many are asynchronous.
const ASYNCHRONOUS_OF_TEN: u32 = 5;
const SIZES: RangeInclusive<u64> = 2..=11;
const QUICK: u64 = 100;

/// What came of the scripts of a size.
#[derive(Debug, Deserialize, Serialize)]
struct Size {
    /// How many sessions a script has at most, and calls each of them.
    #[serde(default)]
    sessions: u64,
    scripts: u64,
    calls: u64,
    refused: u64,
    stale: u64,
    inconclusive: u64,
    oracle_s: f64,
    total_s: f64,
    start_s: f64,
}

pub(super) fn run(root: &Path, arguments: &ZookeeperArguments) -> anyhow::Result<()> {
    let target = target_directory(root);
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--quiet", "--release", "--package", "simutant-zookeeper", "--example", "scripts"]);
    crate::run(cargo.arg("--target-dir").arg(&target).current_dir(root))?;
    let program = target.join("release/examples/scripts");
    let scripts = if arguments.quick { QUICK } else { arguments.scripts };
    let sizes = if arguments.figures { SIZES } else { arguments.sessions..=arguments.sessions };
    let sizes = sizes.map(|sessions| size(&program, scripts, sessions, arguments.permissions));
    let sizes = sizes.collect::<anyhow::Result<Vec<_>>>()?;
    #[expect(clippy::print_stdout, reason = "this is the result")]
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&sizes)?);
    } else {
        print!("{}", aligned(&rows(&sizes)));
    }
    Ok(())
}

fn size(program: &Path, scripts: u64, sessions: u64, permissions: bool) -> anyhow::Result<Size> {
    let numbers = [scripts, THREADS.into(), sessions, sessions, ASYNCHRONOUS_OF_TEN.into()];
    let mut command = Command::new(program);
    command.args(numbers.map(|number| number.to_string())).args([permissions, false].map(|is| is.to_string()));
    let output = command.stderr(std::process::Stdio::inherit()).output();
    let output = output.with_context(|| format!("cannot start {}", program.display()))?;
    ensure!(output.status.success(), "{} ended with {}", program.display(), output.status);
    let size: Size = serde_json::from_slice(&output.stdout)?;
    Ok(Size { sessions, ..size })
}

/// Returns the rows of a table.
fn rows(sizes: &[Size]) -> Vec<Vec<String>> {
    let heads = [
        "sessions and calls",
        "scripts",
        "calls",
        "total",
        "oracle, threads together",
        "refused",
        "stale",
        "inconclusive",
    ];
    let mut rows = vec![heads.map(str::to_owned).into()];
    rows.extend(sizes.iter().map(|size| {
        vec![
            size.sessions.to_string(),
            size.scripts.to_string(),
            size.calls.to_string(),
            format!("{:.1} s", size.total_s),
            format!("{:.2} s", size.oracle_s),
            size.refused.to_string(),
            size.stale.to_string(),
            size.inconclusive.to_string(),
        ]
    }));
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_program_prints_is_a_row() {
        let printed = r#"{"scripts":10,"calls":40,"refused":2,"stale":1,"inconclusive":0,"oracle_s":0.5,
            "total_s":3.25,"start_s":0.4,"smallest":null,"shown":[0,0]}"#;
        let size: Size = serde_json::from_str(printed).expect("its fields are those of the program");
        let rows = rows(&[Size { sessions: 4, ..size }]);
        assert_eq!(rows[1], ["4", "10", "40", "3.2 s", "0.50 s", "2", "1", "0"]);
    }
}
