//! The systems in the book: each folder of `systems/` with a `README.md` has that as a page, and its `FINDINGS.md`
//! below it. The book has links to both, and its contents list them.

use std::fmt::Write as _;
use std::path::Path;

use anyhow::Context;

use super::reference::Page;

/// Where systems are.
const SYSTEMS: &str = "systems";

/// Where the book has them.
const PAGES: &str = "docs/src/systems";

/// The book's contents, and the heading of the part that is written here, up to the next one.
const CONTENTS: &str = "docs/src/SUMMARY.md";
const HEADING: &str = "# Systems\n";

/// A document of a system, and what is added to the system's name in that of its page.
const DOCUMENTS: [(&str, &str); 2] = [("README.md", ""), ("FINDINGS.md", "-findings")];

/// Links the documents of systems into the book.
pub(super) fn link(root: &Path) -> anyhow::Result<()> {
    for system in systems(root)? {
        for (document, suffix) in DOCUMENTS {
            let page = root.join(PAGES).join(format!("{system}{suffix}.md"));
            if root.join(SYSTEMS).join(&system).join(document).exists() && !page.is_symlink() {
                std::os::unix::fs::symlink(format!("../../../{SYSTEMS}/{system}/{document}"), page)?;
            }
        }
    }
    Ok(())
}

/// Returns the contents of the book with all systems.
pub(super) fn contents(root: &Path) -> anyhow::Result<Page> {
    let path = root.join(CONTENTS);
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {CONTENTS}"))?;
    let (before, rest) = text.split_once(HEADING).with_context(|| format!("{CONTENTS} has no part of systems"))?;
    let after = rest.find("\n# ").map_or("", |next| &rest[next..]);
    let mut list = String::new();
    for system in systems(root)? {
        let folder = root.join(SYSTEMS).join(&system);
        let readme = std::fs::read_to_string(folder.join("README.md"))?;
        let title = readme.lines().next().unwrap_or_default().trim_start_matches("# ");
        writeln!(list, "- [{title}](systems/{system}.md)")?;
        if folder.join("FINDINGS.md").exists() {
            writeln!(list, "  - [Findings](systems/{system}-findings.md)")?;
        }
    }
    Ok(Page { path, text: format!("{before}{HEADING}\n{list}{after}") })
}

/// Returns the names of the folders with a page, in their order.
fn systems(root: &Path) -> anyhow::Result<Vec<String>> {
    let folders = std::fs::read_dir(root.join(SYSTEMS)).with_context(|| format!("cannot read {SYSTEMS}"))?;
    let folders = folders.map(|folder| folder.map(|folder| folder.path())).collect::<std::io::Result<Vec<_>>>()?;
    let with_page = folders.iter().filter(|folder| folder.join("README.md").exists());
    let mut names: Vec<String> =
        with_page.filter_map(|folder| Some(folder.file_name()?.to_str()?.to_owned())).collect();
    names.sort_unstable();
    Ok(names)
}
