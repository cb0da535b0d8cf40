//! Measures how often implementations fail on randomly drawn inputs: the failure rates in the README of this folder.
//!
//! `failure_rates SYSTEM INPUTS SEED JOBS [NAME...]`, where a name is that of a file in `implementations/`; without
//! names all of the system are measured, but those that are there on demand. The inputs are the first ones of the
//! universe of that seed. A line per implementation is printed, what went wrong goes to standard error, and the inputs
//! that failed are written as a suite to `failures/NAME.json` in Cargo's target folder.

use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use simutant_harness::{Implementation, RunOptions, run_suite};
use simutant_outcomes::{FORMAT_VERSION, Suite, SuiteCase};
use simutant_system::{System, universe};
use simutant_systems::dns::Dns;
use simutant_systems::gbn::{Gbn, GbnLastAck};
use simutant_systems::gbn_thesis::GbnThesis;
use simutant_systems::lsr::Lsr;
use simutant_testbeds::TESTBEDS;

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
    let target = target_directory(folder);
    // Stubs ask at the times of the test case, and again for as long as resolvers take under losses.
    let timeout = Duration::from_secs(if system == Dns::NAME { 180 } else { 30 });
    let options = RunOptions { jobs, timeout, ..RunOptions::new(target.join("implementations")) };
    let suite = match system.as_str() {
        Gbn::NAME => drawn_suite::<Gbn>(inputs, seed)?,
        GbnLastAck::NAME => drawn_suite::<GbnLastAck>(inputs, seed)?,
        GbnThesis::NAME => drawn_suite::<GbnThesis>(inputs, seed)?,
        Lsr::NAME => drawn_suite::<Lsr>(inputs, seed)?,
        Dns::NAME => drawn_suite::<Dns>(inputs, seed)?,
        _ => return Err(format!("SYSTEM is {system}: it must be one with implementations here").into()),
    };
    for name in names {
        let implementation = TESTBEDS.find(&name, &folders)?;
        if are_all && (!implementation.serves(&system) || implementation.on_demand) {
            continue;
        }
        let report = run_suite(&suite, &implementation, &options, &mut |_| {})?;
        let failures = report.failures().count();
        for result in report.failures() {
            let Some(reason) = result.verdict.finding() else { continue };
            writeln!(std::io::stderr(), "{name}: {}: {reason}", result.name)?;
        }
        let failed = report.failures().map(|result| SuiteCase::new(result.name.clone(), result.case.clone()));
        let failed =
            Suite { chosen: format!("inputs that failed on {name}"), cases: failed.collect(), ..suite.clone() };
        let file = target.join("failures").join(format!("{}.json", implementation.name));
        std::fs::create_dir_all(target.join("failures"))?;
        std::fs::write(file, serde_json::to_string_pretty(&failed)?)?;
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
        Ok(SuiteCase::new(format!("{}-{index:04}", S::NAME), case))
    };
    Ok(Suite {
        format_version: FORMAT_VERSION,
        system: S::NAME.into(),
        criterion: "none".into(),
        chosen: format!("the first {inputs} of the universe"),
        seed,
        mutant_score: None,
        dominator_score: None,
        seconds: None,
        cases: (0..inputs).map(case).collect::<Result<_, serde_json::Error>>()?,
    })
}

/// Returns Cargo's target folder, as far as it is known.
fn target_directory(folder: &Path) -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| folder.join("../target"), PathBuf::from)
}
