//! Solvers as processes.

use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Solvers that read SMT-LIB 2 from the standard input, the fastest one first, and their options for a limit of so many
/// seconds for a question. A solver keeps the time itself, so nobody else has to.
const SOLVERS: [(&str, Options); 2] = [
    ("z3", |seconds| vec![format!("-t:{}", seconds.saturating_mul(1_000)), "-in".to_owned()]),
    ("cvc5", |seconds| vec![format!("--tlimit-per={}", seconds.saturating_mul(1_000)), "--lang=smt2".to_owned()]),
];

/// Returns the options for a limit of some seconds.
type Options = fn(u64) -> Vec<String>;

/// An installed solver: a program that is asked whether a formula is satisfiable.
///
/// ```no_run
/// use simutant_oracle::smt::{Satisfiable, Solver};
///
/// let solver = Solver::installed()?;
/// let text = "(declare-const p Bool) (assert (and p (not p))) (check-sat)";
/// assert_eq!(solver.answers(text, 60)?, [Satisfiable::No]);
/// # Ok::<(), simutant_oracle::smt::SolverError>(())
/// ```
#[derive(Debug, Clone)]
pub struct Solver {
    program: PathBuf,
    options: Options,
}

/// The answer of a solver about a formula.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Satisfiable {
    /// It is satisfiable: what it asks is possible.
    Yes,
    /// It is not.
    No,
    /// The solver gave up, mostly since the time was over.
    Unknown,
}

/// Why a solver has said nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SolverError {
    /// There is none: install one.
    #[error(
        "no solver is installed: none of the folders of PATH has `z3` or `cvc5`; install one, as by `apt-get install z3`"
    )]
    NotInstalled,
    /// The program did not run.
    #[error("cannot run `{}`: {source}", program.display())]
    NotRun {
        /// The solver.
        program: PathBuf,
        /// What the system says.
        source: io::Error,
    },
    /// It is no solver, or one that does not read such a text.
    #[error("`{}` did not answer with `sat`, `unsat` or `unknown`, but with: {line}", program.display())]
    Misunderstood {
        /// The solver.
        program: PathBuf,
        /// The first such line.
        line: String,
    },
}

impl Solver {
    /// Returns the first solver in the folders of `PATH`: `z3`, or else `cvc5`.
    ///
    /// # Errors
    /// [`SolverError::NotInstalled`] if there is none.
    pub fn installed() -> Result<Self, SolverError> {
        Self::among(&std::env::var_os("PATH").unwrap_or_default())
    }

    /// Returns the first solver in some folders, which are given as `PATH` has them.
    ///
    /// # Errors
    /// [`SolverError::NotInstalled`] if there is none.
    pub fn among(path: &OsStr) -> Result<Self, SolverError> {
        let folders: Vec<PathBuf> = std::env::split_paths(path).collect();
        SOLVERS
            .iter()
            .flat_map(|&(name, options)| folders.iter().map(move |folder| (folder.join(name), options)))
            .find(|(program, _)| program.is_file())
            .map(|(program, options)| Self { program, options })
            .ok_or(SolverError::NotInstalled)
    }

    /// Returns the path of the program.
    pub fn program(&self) -> &Path {
        &self.program
    }

    /// Returns the answers of one run of the solver to the questions of an SMT-LIB 2 text, each with a limit in seconds.
    ///
    /// # Errors
    /// [`SolverError`] if the solver does not run, or says something else.
    pub fn answers(&self, text: &str, seconds: u64) -> Result<Vec<Satisfiable>, SolverError> {
        let program = &self.program;
        let not_run = |source| SolverError::NotRun { program: program.clone(), source };
        let mut child = Command::new(program)
            .args((self.options)(seconds))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(not_run)?;
        // It answers in a few words, which its pipe takes while it reads. One that ends early says why.
        let written = child.stdin.take().map_or(Ok(()), |mut stdin| stdin.write_all(text.as_bytes()));
        let output = child.wait_with_output().map_err(not_run)?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        let answers = said
            .lines()
            .filter(|line| !line.trim().is_empty())
            .map(|line| match line.trim() {
                "sat" => Ok(Satisfiable::Yes),
                "unsat" => Ok(Satisfiable::No),
                "unknown" | "timeout" => Ok(Satisfiable::Unknown),
                _ => Err(SolverError::Misunderstood { program: program.clone(), line: line.to_owned() }),
            })
            .collect::<Result<Vec<_>, _>>()?;
        written.map_err(not_run)?;
        Ok(answers)
    }
}
