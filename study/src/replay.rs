//! The command that repeats a run: every page and every failed check ends in it.

use std::path::{Path, PathBuf};

use simutant_outcomes::{MutantNumber, quoted};

use crate::SystemRequest;

/// The command that runs a test case of a study again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplayCommand {
    /// The `simutant` command, as it is called.
    pub program: String,
    /// The system.
    pub system: SystemRequest,
    /// The folder of the study.
    pub out: PathBuf,
}

impl ReplayCommand {
    /// Returns the command that runs a test case on a mutant, or on the original; `case` is as a shell takes it.
    pub fn command(&self, case: &str, mutant: Option<MutantNumber>) -> String {
        let mutant = mutant.map_or_else(String::new, |mutant| format!(" --mutant {mutant}"));
        let (program, out) = (quoted(&self.program), self.out_argument());
        format!("{program} simulate {} --case {case}{mutant}{out}", self.system.command_line())
    }

    /// Returns the command that judges a mutant, by its identity, with a reason to be filled in.
    pub fn judge_command(&self, identity: &str) -> String {
        let (program, out) = (quoted(&self.program), self.out_argument());
        format!("{program} judge {} {identity} equivalent --reason 'WHY'{out}", self.system.command_line())
    }

    fn out_argument(&self) -> String {
        match self.out.as_os_str().is_empty() {
            true => String::new(),
            false => format!(" --out {}", quoted(&self.out.display().to_string())),
        }
    }

    /// Returns the command as others can give it, on another machine and in another folder: the program by its name, and
    /// no path of this machine. Paths below this folder are relative to it; another folder of the study is left out.
    pub fn for_others(&self) -> Self {
        let here = std::env::current_dir().unwrap_or_default();
        let relative = |path: &Path| match path.is_absolute() {
            true => path.strip_prefix(&here).map(Path::to_owned).ok(),
            false => Some(path.to_owned()),
        };
        let program = Path::new(&self.program);
        let name = program.file_name().map(|name| name.to_string_lossy().into_owned());
        let program = if program.is_absolute() { name.unwrap_or_default() } else { self.program.clone() };
        let manifest_path = self.system.manifest_path.as_deref().and_then(relative);
        let is_default = self.out == Path::new("out").join(&self.system.system);
        let out = if is_default { None } else { relative(&self.out) };
        Self { program, system: SystemRequest { manifest_path, ..self.system.clone() }, out: out.unwrap_or_default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn others_are_told_no_path_of_this_machine() {
        let here = std::env::current_dir().expect("there is a folder");
        let system = SystemRequest { manifest_path: Some("/elsewhere/Cargo.toml".into()), ..SystemRequest::new("gbn") };
        let own = ReplayCommand { program: "/usr/bin/simutant".into(), system, out: "/elsewhere/out".into() };
        let told = own.for_others();
        assert_eq!(told.command("7", Some(3)), "simutant simulate gbn --case 7 --mutant 3");
        assert_eq!(told.judge_command("0a"), "simutant judge gbn 0a equivalent --reason 'WHY'");
        assert!(own.command("7", None).ends_with(" --out /elsewhere/out"), "here the folder is told");
        let below = ReplayCommand { out: here.join("mine"), ..own.clone() }.for_others();
        assert_eq!(below.command("7", None), "simutant simulate gbn --case 7 --out mine");
        let usual = ReplayCommand { out: "out/gbn".into(), ..own }.for_others();
        assert_eq!(usual.command("7", None), "simutant simulate gbn --case 7");
    }
}
