//! Mutants in the place of an implementation: which package they are made of, and what its programs are told.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use simutant_outcomes::Origin;

use super::{Implementation, ImplementationError};

/// The variable that tells a program which of its mutants is active; `mutator/probe/src/program.rs` reads it.
const MUTANT: &str = "SIMUTANT_MUTANT";

/// The variable with the path of the file that a program makes when it comes to the mutant.
const REACHED: &str = "SIMUTANT_MUTANT_REACHED";

/// The name of that file in the private folder of a test case.
const REACHED_FILE: &str = "simutant-mutant-reached";

/// The table `[mutants]`: the package that has the programs of an implementation, and what is mutated of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MutatedPackage {
    /// The package's `Cargo.toml`, from the folder of the implementation's file.
    pub manifest: PathBuf,
    /// The files that are mutated: names or patterns, from the package's folder.
    pub specification: Vec<String>,
    /// The package's features, beside those that are on by default, that its programs are compiled with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub features: Vec<String>,
    /// Whether those by default are on [default: yes].
    #[serde(default = "yes", skip_serializing_if = "is_yes", rename = "default-features")]
    pub default_features: bool,
    /// The mutation operators, as `--operators` takes them [default: the default ones].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operators: Option<String>,
}

fn yes() -> bool {
    true
}

fn is_yes(value: &bool) -> bool {
    *value
}

impl MutatedPackage {
    pub(super) fn validate(&self, folder: &Path, path: &Path) -> Result<(), ImplementationError> {
        if self.specification.is_empty() {
            return Err(ImplementationError::NothingMutated { path: path.into() });
        }
        let manifest = folder.join(&self.manifest);
        if manifest.is_file() { Ok(()) } else { Err(ImplementationError::NoManifest { path: path.into(), manifest }) }
    }
}

/// The mutant that programs are told to activate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ActiveMutant {
    /// The number of the mutant; without one they do what they do as they are written.
    pub number: Option<u32>,
    /// A hash of the programs: a number means another mutant in others.
    pub programs: u64,
}

impl ActiveMutant {
    /// Returns the variables that tell it to a program of a test case with this private folder.
    pub(crate) fn environment(&self, folder: &Path) -> Vec<(&'static str, OsString)> {
        let reached = (REACHED, folder.join(REACHED_FILE).into());
        self.number.map(|number| vec![(MUTANT, number.to_string().into()), reached]).unwrap_or_default()
    }

    /// Returns whether a program of the test case with this private folder came to the mutant; `None` without one.
    pub(crate) fn was_reached(&self, folder: &Path) -> Option<bool> {
        self.number.map(|_| folder.join(REACHED_FILE).exists())
    }
}

impl Implementation {
    /// Returns the implementation with a mutant active in all of its programs, which are built beforehand:
    /// [`RunOptions::build_directory`](crate::RunOptions::build_directory) is the folder that has them.
    ///
    /// ```
    /// use std::path::Path;
    /// use simutant_harness::{ActiveMutant, Testbeds};
    /// use simutant_outcomes::Origin;
    ///
    /// let text = r#"
    ///     name = "mine"
    ///     system = "leases"
    ///     description = "Leases"
    ///     build = ["make"]
    ///     driver = { command = ["{build}/driver", "{case}"] }
    /// "#;
    /// let implementation = Testbeds::NONE.parse(text, Path::new("mine.toml"), Path::new("."))?;
    /// let active = ActiveMutant { number: Some(12), programs: 0x5eed };
    /// let mutant = implementation.with_mutant("mine/12".to_owned(), "`<` for `<=`".to_owned(), active);
    /// // It is built already, and results tell it from what people wrote.
    /// assert_eq!((mutant.origin, mutant.build), (Origin::Mutant, None));
    /// # Ok::<(), simutant_harness::ImplementationError>(())
    /// ```
    pub fn with_mutant(&self, name: String, description: String, active: ActiveMutant) -> Self {
        Self {
            name,
            description,
            origin: Origin::Mutant,
            build: None,
            sources: Vec::new(),
            mutants: None,
            active_mutant: Some(active),
            ..self.clone()
        }
    }
}
