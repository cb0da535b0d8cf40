//! A study's files depend on its seed alone: debug and release builds write the same bytes.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail};

use crate::{cargo, run, simutant, target};

const FILES: [&str; 4] = ["suite.json", "results.json", "tables.txt", "report.html"];

/// Runs one small study with both builds, and compares what they write.
pub(crate) fn check(root: &Path) -> anyhow::Result<()> {
    simutant(root)?;
    cargo(["build", "--package", "simutant", "--release"], &[])?;
    let folder = tempfile::tempdir()?;
    let outs = ["debug", "release"].map(|profile| (profile, folder.path().join(profile)));
    for (profile, out) in &outs {
        let mut command = Command::new(target(root).join(profile).join("simutant"));
        let quiet =
            command.args(["study", "gbn", "--cases", "60", "--out"]).arg(out).stdout(std::process::Stdio::null());
        run(quiet)?;
    }
    for file in FILES {
        let [debug, release] = outs.each_ref().map(|(_, out)| {
            let path = out.join(file);
            std::fs::read(&path).with_context(|| format!("{} was not written", path.display()))
        });
        if debug? != release? {
            bail!("debug and release builds write different {file}");
        }
    }
    eprintln!("xtask: debug and release builds write the same {}", FILES.join(", "));
    Ok(())
}
