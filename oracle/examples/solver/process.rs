//! Solvers as processes. The crate itself starts none, so this is a part of the example; the tests use it, too.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Solvers that read SMT-LIB 2, the fastest one first, and their options for a limit of so many seconds for a question.
/// A solver keeps the time itself, so nobody else has to.
const SOLVERS: [(&str, Limit); 2] = [
    ("z3", |seconds| format!("-t:{}", 1_000 * seconds)),
    ("cvc5", |seconds| format!("--tlimit-per={}", 1_000 * seconds)),
];

/// Returns the option of a limit of some seconds.
type Limit = fn(u64) -> String;

/// An installed solver.
#[derive(Debug, Clone)]
pub(crate) struct Solver {
    program: PathBuf,
    limit: Limit,
}

/// What a solver says of a formula.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Satisfiable {
    Yes,
    No,
    /// The solver gave up, mostly since the time was over.
    Unknown,
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum SolverError {
    #[error(
        "no solver is installed: none of the folders of PATH has `z3` or `cvc5`; install one, as by `apt-get install z3`"
    )]
    NotInstalled,
    #[error("cannot run `{}`: {source}", program.display())]
    NotRun { program: PathBuf, source: io::Error },
    #[error("`{}` did not answer with `sat`, `unsat` or `unknown`, but with: {line}", program.display())]
    Misunderstood { program: PathBuf, line: String },
}

impl Solver {
    /// Returns the first solver that is on the path.
    pub(crate) fn installed() -> Result<Self, SolverError> {
        Self::among(&std::env::var_os("PATH").unwrap_or_default())
    }

    /// Returns the first solver in one of some folders, which are given as `PATH` has them.
    pub(crate) fn among(path: &std::ffi::OsStr) -> Result<Self, SolverError> {
        let folders: Vec<PathBuf> = std::env::split_paths(path).collect();
        SOLVERS
            .iter()
            .flat_map(|&(name, limit)| folders.iter().map(move |folder| (folder.join(name), limit)))
            .find(|(program, _)| program.is_file())
            .map(|(program, limit)| Self { program, limit })
            .ok_or(SolverError::NotInstalled)
    }

    /// Returns the answers of one run of the solver to the questions of a file, each with a limit in seconds.
    pub(crate) fn answers(&self, file: &Path, seconds: u64) -> Result<Vec<Satisfiable>, SolverError> {
        let program = &self.program;
        let not_run = |source| SolverError::NotRun { program: program.clone(), source };
        let output = Command::new(program)
            .arg((self.limit)(seconds))
            .arg(file)
            .stdin(Stdio::null())
            .output()
            .map_err(not_run)?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        text.lines()
            .filter(|line| !line.trim().is_empty())
            .map(|line| match line.trim() {
                "sat" => Ok(Satisfiable::Yes),
                "unsat" => Ok(Satisfiable::No),
                "unknown" | "timeout" => Ok(Satisfiable::Unknown),
                _ => Err(SolverError::Misunderstood { program: program.clone(), line: line.to_owned() }),
            })
            .collect()
    }
}
