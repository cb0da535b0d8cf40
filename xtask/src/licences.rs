//! Every dependency may be used under a licence that goes with ours.

use anyhow::{Context, bail};
use cargo_metadata::MetadataCommand;
use spdx::{Expression, ParseMode};

/// Licences that ask for no more than a notice; and MPL-2.0, which asks that changes of its files stay under it: a
/// crate that is used as it comes has none.
const ALLOWED: [&str; 12] = [
    "MIT",
    "MIT-0",
    "Apache-2.0",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MPL-2.0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Fails if a dependency has no licence, or none of those allowed.
pub(crate) fn check() -> anyhow::Result<()> {
    let metadata = MetadataCommand::new().exec()?;
    let mut refused = Vec::new();
    for package in &metadata.packages {
        let licence = package.license.as_deref().unwrap_or_default();
        let expression = Expression::parse_mode(licence, ParseMode::LAX)
            .with_context(|| format!("{} {}: licence `{licence}`", package.name, package.version))?;
        let is_allowed =
            |requirement: &spdx::LicenseReq| requirement.license.id().is_some_and(|id| ALLOWED.contains(&id.name));
        if !expression.evaluate(is_allowed) {
            refused.push(format!("{} {}: {licence}", package.name, package.version));
        }
    }
    if !refused.is_empty() {
        bail!("licences that are not allowed (see xtask/src/licences.rs):\n{}", refused.join("\n"));
    }
    Ok(())
}
