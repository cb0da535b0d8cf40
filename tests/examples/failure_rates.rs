//! Measures how often implementations fail on randomly drawn inputs: the failure rates in the README of this folder.
//!
//! `failure_rates SYSTEM INPUTS SEED JOBS [NAME...]`, where a name is that of a file in `implementations/`; without names all
//! of the system are measured. The inputs are the first ones of the universe of that seed. A line per implementation is
//! printed.

use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};

use simutant_harness::{Implementation, Options, run_suite};
use simutant_outcomes::{FORMAT_VERSION, Suite, SuiteCase};
use simutant_sim_core::{System, universe};
use simutant_systems::gbn::Gbn;
use simutant_systems::lsr::Lsr;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let mut word = |name| arguments.next().ok_or_else(|| format!("{name} is missing"));
    let system = word("SYSTEM")?;
    let (inputs, seed, jobs) = (word("INPUTS")?.parse()?, word("SEED")?.parse()?, word("JOBS")?.parse()?);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = [folder.join("implementations")];
    let mut names: Vec<String> = arguments.collect();
    let are_all = names.is_empty();
    if are_all {
        names = Implementation::available(&folders);
    }
    let options = Options { jobs, ..Options::new(build_directory(folder)) };
    let suite = match system.as_str() {
        Gbn::NAME => drawn_suite::<Gbn>(inputs, seed)?,
        Lsr::NAME => drawn_suite::<Lsr>(inputs, seed)?,
        _ => return Err(format!("SYSTEM is {system}: it must be {} or {}", Gbn::NAME, Lsr::NAME).into()),
    };
    for name in names {
        let implementation = Implementation::find(&name, &folders)?;
        if are_all && implementation.system != system {
            continue;
        }
        let report = run_suite(&suite, &implementation, &options, &mut |_| {})?;
        let failures = report.failures().count();
        let total_ms: u64 = report.results.iter().map(|result| result.duration_ms).sum();
        writeln!(
            std::io::stdout(),
            "{name}: {failures} of {inputs} failed ({:.1} %); mean {} ms",
            100.0 * failures as f64 / inputs as f64,
            total_ms / inputs.max(1) as u64,
        )?;
    }
    Ok(())
}

/// Returns the first inputs of a universe as a suite.
fn drawn_suite<S: System>(inputs: usize, seed: u64) -> Result<Suite, serde_json::Error> {
    let case = |index| {
        let case = serde_json::to_value(universe::<S>(seed, index))?;
        Ok(SuiteCase { name: format!("{}-{index:04}", S::NAME), case })
    };
    Ok(Suite {
        format_version: FORMAT_VERSION,
        system: S::NAME.into(),
        criterion: "none".into(),
        chosen: format!("the first {inputs} of the universe"),
        seed,
        mutant_score: None,
        dominator_score: None,
        cases: (0..inputs).map(case).collect::<Result<_, serde_json::Error>>()?,
    })
}

/// Returns where to build: Cargo's target folder, if it is known.
fn build_directory(folder: &Path) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| folder.join("../target"), PathBuf::from);
    target.join("implementations")
}
