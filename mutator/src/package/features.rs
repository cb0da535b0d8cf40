//! Which of its features a package is compiled with.

use std::collections::BTreeSet;

use cargo_metadata::Package;

/// The feature that is on unless someone says otherwise.
const DEFAULT: &str = "default";

/// The features of a package that are on when it is compiled for a study.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Features {
    /// Those that are asked for.
    named: Vec<String>,
    /// Whether those by default are on as well.
    has_default: bool,
    /// All that are on for that.
    enabled: BTreeSet<String>,
}

impl Features {
    /// Finds out what the package has for these features, which are asked for as in a dependency.
    ///
    /// # Errors
    /// The package has no such feature.
    pub(super) fn new(package: &Package, named: &[String], has_default: bool) -> Result<Self, String> {
        if let Some(unknown) = named.iter().find(|name| !package.features.contains_key(*name)) {
            let known: Vec<&str> = package.features.keys().map(String::as_str).collect();
            let known = if known.is_empty() { "none".to_owned() } else { known.join(", ") };
            return Err(format!("the package has no feature `{unknown}`; it has {known}"));
        }
        let mut enabled = BTreeSet::new();
        let mut open: Vec<&str> = named.iter().map(String::as_str).collect();
        open.extend(has_default.then_some(DEFAULT));
        while let Some(name) = open.pop() {
            // What is no feature of the package is one of a dependency, or a dependency.
            let Some(enables) = package.features.get(name) else { continue };
            if enabled.insert(name.to_owned()) {
                open.extend(enables.iter().map(String::as_str));
            }
        }
        Ok(Self { named: named.to_vec(), has_default, enabled })
    }

    /// Returns these features, and one more if the package has it.
    pub(super) fn with(&self, package: &Package, feature: &str) -> Self {
        let named: Vec<String> = self.named.iter().cloned().chain([feature.to_owned()]).collect();
        Self::new(package, &named, self.has_default).unwrap_or_else(|_| self.clone())
    }

    /// Returns all features that are on, those included that others turn on.
    pub(crate) fn enabled(&self) -> &BTreeSet<String> {
        &self.enabled
    }

    /// Returns what a dependency on the package says of them.
    pub(crate) fn of_dependency(&self) -> String {
        format!("default-features = {}, features = {:?}", self.has_default, self.named)
    }

    /// Returns what the command line of cargo says of them.
    pub(crate) fn of_command(&self) -> Vec<String> {
        let without_default = (!self.has_default).then(|| "--no-default-features".to_owned());
        let named = (!self.named.is_empty()).then(|| format!("--features={}", self.named.join(",")));
        without_default.into_iter().chain(named).collect()
    }
}
