//! Which package depends on which, without what only tests need.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use cargo_metadata::{DependencyKind, Metadata, Node, Package, PackageId};

use crate::syntax::conditions::Conditions;

const CRATES_IO: &str = "https://github.com/rust-lang/crates.io-index";

/// The packages of a workspace and all that they depend on.
#[derive(Debug)]
pub(super) struct DependencyGraph<'m> {
    packages: BTreeMap<&'m PackageId, &'m Package>,
    nodes: BTreeMap<&'m PackageId, &'m Node>,
}

impl<'m> DependencyGraph<'m> {
    pub(super) fn new(metadata: &'m Metadata) -> Self {
        Self {
            packages: metadata.packages.iter().map(|package| (&package.id, package)).collect(),
            nodes: metadata.resolve.iter().flat_map(|resolve| &resolve.nodes).map(|node| (&node.id, node)).collect(),
        }
    }

    /// Returns what a package depends on, directly or through others, itself not included.
    fn dependencies(&self, package: &PackageId) -> BTreeSet<&'m PackageId> {
        let mut found = BTreeSet::new();
        let mut open = vec![package];
        while let Some(id) = open.pop() {
            for dependency in self.nodes.get(id).into_iter().flat_map(|node| &node.deps) {
                let is_needed = dependency.dep_kinds.iter().any(|kind| kind.kind != DependencyKind::Development);
                if is_needed && found.insert(&dependency.pkg) {
                    open.push(&dependency.pkg);
                }
            }
        }
        found
    }

    fn dependencies_in_order(&self, package: &PackageId) -> impl Iterator<Item = &'m Package> {
        self.dependencies(package).into_iter().filter_map(|id| self.packages.get(id).copied())
    }

    /// Returns the dependency that a name, or `NAME@VERSION`, stands for.
    ///
    /// # Errors
    /// None or several of them.
    pub(super) fn find(&self, package: &PackageId, name: &str) -> Result<&'m Package, String> {
        let versioned = |package: &Package| format!("{}@{}", package.name, package.version);
        let is_it = |package: &&Package| package.name.as_str() == name || versioned(package) == name;
        let found: Vec<_> = self.dependencies_in_order(package).filter(is_it).collect();
        match found[..] {
            [found] => Ok(found),
            [] => Err(format!("`{name}` is no package that this one depends on")),
            _ => {
                let versions = found.into_iter().map(versioned).collect::<Vec<_>>().join("` or `");
                Err(format!("`{name}` is several packages: write `{versions}`"))
            }
        }
    }

    /// Returns a name for a package that no other one has, as short as can be.
    pub(super) fn short_name(&self, package: &Package) -> String {
        let is_alone = self.packages.values().filter(|other| other.name == package.name).count() == 1;
        if is_alone { package.name.to_string() } else { format!("{}@{}", package.name, package.version) }
    }

    /// Returns what holds when a package is compiled.
    pub(super) fn conditions(&self, package: &Package, target: &Conditions) -> Conditions {
        let features = self.nodes.get(&package.id).into_iter().flat_map(|node| &node.features);
        target.of(package, features.map(|feature| feature.to_string()).collect())
    }

    /// Returns the folders of the local packages that a package depends on, in order.
    pub(super) fn local_dependencies(&self, package: &PackageId) -> Vec<PathBuf> {
        let local = self.dependencies_in_order(package).filter(|package| package.source.is_none());
        let mut folders: Vec<PathBuf> =
            local.filter_map(|package| package.manifest_path.parent()).map(PathBuf::from).collect();
        folders.sort();
        folders
    }

    /// Returns the local packages through which a package depends on local ones of `targets`.
    pub(super) fn local_dependents(&self, package: &PackageId, targets: &[&PackageId]) -> Vec<&'m Package> {
        let is_local = |id: &PackageId| self.packages.get(id).is_some_and(|package| package.source.is_none());
        let local_targets: BTreeSet<&PackageId> = targets.iter().copied().filter(|id| is_local(id)).collect();
        let between = self.dependencies_in_order(package).filter(|package| {
            let is_between = || self.dependencies(&package.id).iter().any(|id| local_targets.contains(id));
            package.source.is_none() && !targets.contains(&&package.id) && is_between()
        });
        between.collect()
    }

    /// Returns the keys of `[patch]` for all sources that any package takes this one from.
    pub(super) fn patch_keys(&self, package: &Package) -> Vec<String> {
        let declared = self.packages.values().flat_map(|package| &package.dependencies);
        let sources = declared.filter(|dependency| dependency.name == package.name.as_str());
        let keys: BTreeSet<String> =
            sources.filter_map(|dependency| Some(patch_key(&dependency.source.as_ref()?.repr))).collect();
        keys.into_iter().collect()
    }
}

/// Returns the key of `[patch]` for a source as cargo names it: `crates-io`, or an address.
fn patch_key(source: &str) -> String {
    let source = source.split(['?', '#']).next().unwrap_or(source);
    let address = source.strip_prefix("git+").or_else(|| source.strip_prefix("registry+")).unwrap_or(source);
    if address == CRATES_IO { "crates-io".into() } else { address.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sources_are_patched_by_their_addresses() {
        assert_eq!(patch_key("registry+https://github.com/rust-lang/crates.io-index"), "crates-io");
        assert_eq!(patch_key("git+https://example.org/a.git?branch=main#0123"), "https://example.org/a.git");
        assert_eq!(patch_key("registry+https://example.org/index"), "https://example.org/index");
        assert_eq!(patch_key("sparse+https://example.org/index/"), "sparse+https://example.org/index/");
    }
}
