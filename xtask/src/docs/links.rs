//! Checks the links of all documents: files, pages of the book, and headings; and that the files which they name in
//! code spans are there. Addresses on the web are left alone.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use anyhow::Context;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};

/// Where the pages of the book are.
const BOOK: &str = "docs/src";

/// Documents outside of the book.
const DOCUMENTS: [&str; 5] = ["README.md", "ARCHITECTURE.md", "GLOSSARY.md", "CHANGELOG.md", "tests/README.md"];

/// Where each folder may have a document, and what that is called.
const DOCUMENT_OF_FOLDERS: [(&str, &str); 3] =
    [("examples", "README.md"), ("research", "README.md"), ("systems", "FINDINGS.md")];

/// What a document refers to, and can be referred to by.
#[derive(Debug, Default)]
struct Document {
    /// The anchors of its headings.
    anchors: BTreeSet<String>,
    /// The targets of links and images.
    targets: Vec<String>,
    /// The code spans that can be paths.
    spans: Vec<String>,
}

/// What changed in the past may name files of the past.
const HISTORY: &str = "CHANGELOG.md";

/// Returns what is wrong with the links of the documents, a line each.
///
/// # Errors
/// A document cannot be read.
pub(crate) fn faults(root: &Path) -> anyhow::Result<Vec<String>> {
    let mut paths: Vec<PathBuf> = DOCUMENTS.map(PathBuf::from).to_vec();
    for (above, name) in DOCUMENT_OF_FOLDERS {
        let folders = std::fs::read_dir(root.join(above)).into_iter().flatten();
        for folder in folders.collect::<std::io::Result<Vec<_>>>()? {
            let path = Path::new(above).join(folder.file_name()).join(name);
            paths.extend(root.join(&path).exists().then_some(path));
        }
    }
    let mut pages = Vec::new();
    add_pages(root, Path::new(BOOK), &mut pages)?;
    paths.extend(pages.iter().cloned());
    let mut documents = BTreeMap::new();
    for path in paths {
        documents.insert(path.clone(), Document::parse(&read(root, &path)?));
    }
    let mut faults = Vec::new();
    for (path, document) in &documents {
        for target in &document.targets {
            if let Some(fault) = fault(root, &documents, path, target) {
                faults.push(format!("{}: link to {target}: {fault}", path.display()));
            }
        }
    }
    for (path, document) in documents.iter().filter(|(path, _)| *path != Path::new(HISTORY)) {
        let missing = document.spans.iter().filter(|span| is_missing(root, path, span));
        faults.extend(missing.map(|span| format!("{}: names `{span}`, which is not there", path.display())));
    }
    let contents = Path::new(BOOK).join("SUMMARY.md");
    let listed: BTreeSet<PathBuf> = match documents.get(&contents) {
        Some(contents) => contents.targets.iter().map(|target| Path::new(BOOK).join(target)).collect(),
        None => BTreeSet::new(),
    };
    let unlisted = pages.iter().filter(|page| **page != contents && !listed.contains(*page));
    faults.extend(unlisted.map(|page| format!("{}: SUMMARY.md does not list it", page.display())));
    Ok(faults)
}

/// Adds the pages in a folder of the book and in those below.
fn add_pages(root: &Path, folder: &Path, pages: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    let entries = std::fs::read_dir(root.join(folder)).with_context(|| format!("cannot read {}", folder.display()))?;
    for entry in entries {
        let entry = entry?;
        let path = folder.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            add_pages(root, &path, pages)?;
        } else if path.extension().is_some_and(|extension| extension == "md") {
            pages.push(path);
        }
    }
    pages.sort();
    Ok(())
}

/// Returns the text of a document, with the files that it includes as mdBook does.
fn read(root: &Path, path: &Path) -> anyhow::Result<String> {
    let text = std::fs::read_to_string(root.join(path)).with_context(|| format!("cannot read {}", path.display()))?;
    let mut whole = String::new();
    for line in text.lines() {
        let included = line.strip_prefix("{{#include ").and_then(|rest| rest.strip_suffix("}}"));
        match included {
            Some(file) => whole.push_str(&read(root, &path.with_file_name(file))?),
            None => whole.push_str(line),
        }
        whole.push('\n');
    }
    Ok(whole)
}

/// Returns what is wrong with a link in the document at `path`, if anything is.
fn fault(root: &Path, documents: &BTreeMap<PathBuf, Document>, path: &Path, target: &str) -> Option<String> {
    if target.contains("://") || target.starts_with("mailto:") {
        return None;
    }
    let (file, anchor) = target.split_once('#').map_or((target, None), |(file, anchor)| (file, Some(anchor)));
    let file = if file.is_empty() { path.to_owned() } else { normalised(&path.with_file_name(file)) };
    if path.starts_with(BOOK) && !file.starts_with(BOOK) {
        return Some("leaves the book, which has no such file when it is built".into());
    }
    if !root.join(&file).exists() {
        return Some("no such file".into());
    }
    let anchor = anchor?;
    match documents.get(&file) {
        None => Some("an anchor in a file that is no document".into()),
        Some(document) if document.anchors.contains(anchor) => None,
        Some(_) => Some(format!("{} has no such heading", file.display())),
    }
}

/// Whether a code span names a file or folder of the workspace that is not there: its first part is a folder in the
/// root.
fn is_missing(root: &Path, path: &Path, span: &str) -> bool {
    let Some((folder, _)) = span.split_once('/') else { return false };
    let can_be_path = span.chars().all(|letter| letter.is_ascii_alphanumeric() || "/._-".contains(letter));
    // What a build writes may be there or not, and what begins with / is a path of a service.
    let is_kept = can_be_path && !["", "out", "target", ".", ".."].contains(&folder) && root.join(folder).is_dir();
    is_kept && !root.join(span).exists() && !root.join(path.with_file_name(span)).exists()
}

/// Returns a path without `.` and `..`, where it can do without them.
fn normalised(path: &Path) -> PathBuf {
    let mut normalised = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir if normalised.file_name().is_some() => {
                normalised.pop();
            }
            _ => normalised.push(component),
        }
    }
    normalised
}

impl Document {
    fn parse(text: &str) -> Self {
        let mut document = Self::default();
        let mut heading: Option<String> = None;
        for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
            match event {
                Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
                Event::End(TagEnd::Heading(_)) => document.add_anchor(&heading.take().unwrap_or_default()),
                Event::Text(text) => heading.iter_mut().for_each(|heading| heading.push_str(&text)),
                Event::Code(text) => {
                    heading.iter_mut().for_each(|heading| heading.push_str(&text));
                    document.spans.push(text.into_string());
                }
                Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                    document.targets.push(dest_url.into_string());
                }
                _ => {}
            }
        }
        document
    }

    fn add_anchor(&mut self, heading: &str) {
        let slug = slug(heading);
        let numbered = (1..).map(|number| format!("{slug}-{number}"));
        let free = std::iter::once(slug.clone()).chain(numbered).find(|anchor| !self.anchors.contains(anchor));
        self.anchors.extend(free);
    }
}

/// Returns the anchor of a heading, as mdBook and GitHub make it.
pub(crate) fn slug(heading: &str) -> String {
    let kept = heading.trim().chars().filter_map(|letter| match letter {
        letter if letter.is_alphanumeric() || letter == '-' || letter == '_' => Some(letter),
        letter if letter.is_whitespace() => Some('-'),
        _ => None,
    });
    kept.flat_map(char::to_lowercase).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pages: &[(&str, &str)], expect: &[&str]) {
        let root = tempfile::tempdir().expect("a temporary folder");
        let write = |name: &str, text: &str| {
            let path = root.path().join(name);
            std::fs::create_dir_all(path.parent().expect("it has a folder")).expect("a temporary folder");
            std::fs::write(path, text).expect("a temporary folder");
        };
        for name in DOCUMENTS {
            write(name, "# Title\n");
        }
        for (name, text) in pages {
            write(name, text);
        }
        assert_eq!(faults(root.path()).expect("all can be read"), expect);
    }

    const SUMMARY: (&str, &str) = ("docs/src/SUMMARY.md", "# Summary\n\n- [One](one.md)\n");

    #[test]
    fn links_that_lead_somewhere_are_no_faults() {
        let one = "# One thing, `two`\n\n[a](#one-thing-two) [b](https://example.org/#c) ![p](p.svg)\n\n```text\n[x](y)\n```\n";
        let readme = "[one](docs/src/one.md#one-thing-two) [folder](docs)\n";
        check(&[SUMMARY, ("docs/src/one.md", one), ("docs/src/p.svg", ""), ("README.md", readme)], &[]);
    }

    #[test]
    fn links_that_lead_nowhere_are_faults() {
        check(
            &[SUMMARY, ("docs/src/one.md", "[a](two.md) [b](#none) [c](../../README.md)\n")],
            &[
                "docs/src/one.md: link to two.md: no such file",
                "docs/src/one.md: link to #none: docs/src/one.md has no such heading",
                "docs/src/one.md: link to ../../README.md: leaves the book, which has no such file when it is built",
            ],
        );
    }

    #[test]
    fn files_in_code_spans_are_there() {
        let one = "`docs/src/one.md` `docs` `docs/none.rs` `docs/*.rs` `none/at/all.rs` `out/gbn/` `tests/README.md`\n";
        check(
            &[SUMMARY, ("docs/src/one.md", one), ("CHANGELOG.md", "`docs/none.rs`\n")],
            &["docs/src/one.md: names `docs/none.rs`, which is not there"],
        );
    }

    #[test]
    fn every_page_is_listed() {
        let pages = [SUMMARY, ("docs/src/one.md", "# One\n"), ("docs/src/other.md", "# Other\n")];
        check(&pages, &["docs/src/other.md: SUMMARY.md does not list it"]);
    }

    #[test]
    fn included_files_bring_their_headings() {
        let one = "{{#include ../../GLOSSARY.md}}\n\n[title](#title) [again](#title-1)\n";
        check(
            &[SUMMARY, ("docs/src/one.md", one)],
            &["docs/src/one.md: link to #title-1: docs/src/one.md has no such heading"],
        );
    }
}
