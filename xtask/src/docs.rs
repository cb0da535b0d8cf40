//! The book in `docs/`: its generated pages, the links of all documents, and the HTML that mdBook makes of it.

pub(crate) mod figures;
mod links;
mod reference;
mod signatures;
mod systems;
pub(crate) mod transfer;

use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail};

use self::reference::Page;
use crate::run;

/// The documents that a reader meets first, with the most lines that each may have.
const FRONT_PAGES: [(&str, usize); 2] = [("README.md", 250), ("ARCHITECTURE.md", 250)];

/// The longest line of `README.md`, in characters.
const COLUMNS_MAX: usize = 100;

/// Writes the generated pages, checks all documents, and builds the book into `target/book/`.
pub(crate) fn write(root: &Path) -> anyhow::Result<()> {
    systems::link(root)?;
    for page in pages(root)? {
        std::fs::write(&page.path, page.text).with_context(|| format!("cannot write {}", page.path.display()))?;
    }
    check_documents(root)?;
    run(Command::new(mdbook(root)?).args(["build", "docs"]))
}

/// Checks that the generated pages are those that the code makes, and all documents; builds no HTML.
pub(crate) fn check(root: &Path) -> anyhow::Result<()> {
    for page in pages(root)? {
        let text = std::fs::read_to_string(&page.path).unwrap_or_default();
        if text != page.text {
            bail!("{} differs from what the code says; run cargo xtask docs", page.path.display());
        }
    }
    check_documents(root)
}

/// Returns the pages that are generated, and those with figures and tables that are.
fn pages(root: &Path) -> anyhow::Result<Vec<Page>> {
    let mut pages = reference::pages(root)?;
    pages.extend(figures::pages(root)?);
    pages.extend(transfer::page(root)?);
    pages.push(systems::contents(root)?);
    Ok(pages)
}

/// Checks the links of all documents, and that the front pages are short.
fn check_documents(root: &Path) -> anyhow::Result<()> {
    let mut faults = links::faults(root)?;
    for (name, lines_max) in FRONT_PAGES {
        let text = std::fs::read_to_string(root.join(name))?;
        let lines = text.lines().count();
        if lines > lines_max {
            faults.push(format!("{name}: {lines} lines, at most {lines_max} fit; move text to docs/src"));
        }
    }
    let readme = std::fs::read_to_string(root.join("README.md"))?;
    for (number, line) in (1..).zip(readme.lines()) {
        if line.chars().count() > COLUMNS_MAX {
            faults.push(format!("README.md:{number}: longer than {COLUMNS_MAX} columns"));
        }
    }
    if !faults.is_empty() {
        bail!("the documents have faults:\n  {}", faults.join("\n  "));
    }
    Ok(())
}

/// Returns the program that builds the book: the one on the path, or else one in `target/tools/`, installed there if it
/// is missing.
fn mdbook(root: &Path) -> anyhow::Result<std::path::PathBuf> {
    let is_installed = |program: &Path| Command::new(program).arg("--version").output().is_ok();
    let own = crate::target(root).join("tools");
    let program = own.join("bin").join("mdbook");
    if is_installed(&program) {
        return Ok(program);
    }
    if is_installed(Path::new("mdbook")) {
        return Ok("mdbook".into());
    }
    run(Command::new("cargo").args(["install", "--locked", "mdbook", "--root"]).arg(own))?;
    Ok(program)
}
