//! What is asked of a build, what it gives, and what it tells on the way.

use std::path::{Path, PathBuf};

use simutant_outcomes::Sites;

use crate::operators::Selection;
use crate::package::Package;
use crate::specification::fingerprint::Fingerprint;

/// What to build.
#[derive(Debug, Clone)]
pub struct BuildRequest<'a> {
    /// The package and the system in it.
    pub package: &'a Package,
    /// The mutation operators.
    pub operators: &'a Selection,
    /// The folder for the generated workspace; what is there is overwritten. [`Package::build_directory`] is one for
    /// all studies of a system.
    pub directory: &'a Path,
    /// The crate that drives the instrumented system, as (name, folder). It exports `main(&[Box<dyn System>], &[(&str,
    /// &str, &[u32])]) -> ExitCode` and `system::<S>()`; the second argument of `main` lists for each instrumented file
    /// its path as it is compiled, as reports have it, and the original line of each of its lines.
    pub worker: (&'a str, &'a Path),
    /// The folder of the probe crate that the worker is built with: instrumented copies depend on it.
    pub probe: &'a Path,
}

/// A finished build.
#[derive(Debug, Clone)]
pub struct Build {
    /// Requirements and mutants, numbered as in the executable.
    pub sites: Sites,
    /// The executable.
    pub worker: PathBuf,
    /// A hash of all source that went into it: outcomes of equal hashes can be compared.
    pub source_hash: u64,
    /// Hashes of the parts of that source, by which a study after an edit knows what it can keep.
    pub fingerprint: Fingerprint,
    /// The mutation operators that were asked for, in the form that [`Selection`] is written in.
    pub operators: String,
}

/// Something to tell a person who waits.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum BuildEvent {
    /// The compiler starts, for the first time or again after mutants were rejected.
    Compiling {
        /// Which time, from 1.
        round: usize,
        /// Mutants in this round.
        mutants: usize,
        /// Mutants rejected so far.
        rejected: usize,
    },
    /// The instrumented code is so long that the compiler may take minutes. Comes before it starts for the first time.
    Long {
        /// Bytes of instrumented code, in all files.
        bytes: usize,
        /// The path of the function with the most of it.
        function: String,
        /// Bytes of instrumented code in that function.
        function_bytes: usize,
    },
    /// The compiler begins a package, or has ended one.
    Running {
        /// Those that it is at, in the order in which it began them.
        packages: Vec<String>,
    },
}
