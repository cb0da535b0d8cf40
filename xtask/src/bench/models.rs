//! `cargo xtask bench models`: how many transitions a second walks take, with coverage on, beside another generator of
//! stateful tests on the same model. `bench/machines/` has both.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::Context;
use clap::Args;

use super::table::aligned;
use super::target_directory;

#[derive(Debug, Args)]
pub(crate) struct ModelsArguments {
    /// Takes one round of fifteen: to see that everything works, not to quote.
    #[arg(long)]
    quick: bool,
    /// Prints `{simutant, proptest}`, in transitions per second, instead of a table.
    #[arg(long)]
    json: bool,
}

pub(super) fn run(root: &Path, arguments: &ModelsArguments) -> anyhow::Result<()> {
    let target = target_directory(root);
    let mut cargo = Command::new("cargo");
    cargo.args(["build", "--quiet", "--release", "--locked", "--manifest-path", "bench/machines/Cargo.toml"]);
    crate::run(cargo.arg("--target-dir").arg(&target).current_dir(root))?;
    let program = target.join("release/simutant-bench-machines");
    let output = Command::new(&program).arg(if arguments.quick { "1" } else { "15" }).output();
    let output = output.with_context(|| format!("cannot start {}", program.display()))?;
    anyhow::ensure!(output.status.success(), "{} ended with {}", program.display(), output.status);
    let per_s: BTreeMap<String, f64> = serde_json::from_slice(&output.stdout)?;
    #[expect(clippy::print_stdout, reason = "this is the result")]
    if arguments.json {
        println!("{}", serde_json::to_string_pretty(&per_s)?);
    } else {
        print!("{}", aligned(&rows(&per_s)));
    }
    Ok(())
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
