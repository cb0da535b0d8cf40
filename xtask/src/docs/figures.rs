//! Figures of studies in pages of the book: numbers after a mark `<!-- SYSTEM.NAME -->`, from `figures.json`, which
//! `cargo xtask figures` writes from studies.
//!
//! The file knows of which mutants its studies were. When the specification of a system or an operator has changed so that
//! others are made, it is out of date, and `cargo xtask check` says so. What people judge of mutants changes no figure.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, bail};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use simutant_mutator::{Package, mutant_identities};

use super::reference::Page;

/// The systems of whose studies pages have figures.
const SYSTEMS: [&str; 2] = ["dns", "lsr"];

/// The pages with figures.
const FOLDER: &str = "docs/src/experiments";

const FILE: &str = "docs/src/experiments/figures.json";

/// What a mark begins with.
const MARK: &str = "<!-- ";

/// The figures of one system.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Figures {
    /// A hash of the identities of its mutants, those included that the compiler rejects.
    mutants_hash: String,
    /// Each figure as pages have it, by its name.
    figures: BTreeMap<String, String>,
}

/// Studies the systems, and writes the file; `cargo xtask docs` brings it into the pages.
pub(crate) fn write(root: &Path) -> anyhow::Result<()> {
    crate::cargo(["build", "--release", "--package", "simutant"], &[])?;
    let simutant = crate::target(root).join("release/simutant");
    let mut all = BTreeMap::new();
    for system in SYSTEMS {
        let out = crate::target(root).join("figures").join(system);
        // Re-seedings change no figure that pages have.
        let mut study = Command::new(&simutant);
        crate::run(study.args(["study", system, "--reseed", "1", "--pages", "0", "--out"]).arg(&out))?;
        let results = std::fs::read_to_string(out.join("results.json"))?;
        let figures = figures(&serde_json::from_str(&results)?);
        let figures = figures.with_context(|| format!("the results of {system} have another form"))?;
        all.insert(system, Figures { mutants_hash: mutants_hash(root, system)?, figures });
    }
    std::fs::write(root.join(FILE), serde_json::to_string_pretty(&all)? + "\n")?;
    Ok(())
}

/// Returns the pages with figures, as they should be.
pub(super) fn pages(root: &Path) -> anyhow::Result<Vec<Page>> {
    let text = std::fs::read_to_string(root.join(FILE)).with_context(|| format!("cannot read {FILE}"))?;
    let all: BTreeMap<String, Figures> = serde_json::from_str(&text).with_context(|| format!("cannot read {FILE}"))?;
    for (system, figures) in &all {
        if figures.mutants_hash != mutants_hash(root, system)? {
            bail!("{FILE}: {system} has other mutants now; run cargo xtask figures, and then docs");
        }
    }
    let mut pages = Vec::new();
    for entry in std::fs::read_dir(root.join(FOLDER))? {
        let path = entry?.path();
        // A page that stands elsewhere is a link.
        if path.extension().is_some_and(|extension| extension == "md") && !path.is_symlink() {
            let text = std::fs::read_to_string(&path)?;
            if text.contains(MARK) {
                let text = filled(&text, &all).with_context(|| format!("{}", path.display()))?;
                pages.push(Page { path, text });
            }
        }
    }
    Ok(pages)
}

/// Returns the figures that pages may have of a study's results; `None` if something is not there.
fn figures(results: &Value) -> Option<BTreeMap<String, String>> {
    let counts = results["mutants"]["counts"].as_object()?;
    let count = |name: &str| counts.get(name)?.as_u64();
    let survivors = results["survivors"].as_array()?;
    let with = |field: &str| {
        survivors.iter().filter(|survivor| survivor[field].as_u64().is_some_and(|cases| cases > 0)).count()
    };
    let diverging = with("diverged");
    let numbers = [
        ("mutants", results["campaign"]["mutants"].as_u64()?),
        ("pathological", count("pathological")?),
        ("analysed", count("analysed")?),
        ("survivors", survivors.len() as u64),
        // No run has other events, be it that a value differs.
        ("survivors/same", (survivors.len() - diverging) as u64),
        ("survivors/same-infected", (with("infected") - diverging) as u64),
        ("survivors/other", diverging as u64),
    ];
    let mut figures: BTreeMap<String, String> =
        numbers.into_iter().map(|(name, number)| (name.to_owned(), number.to_string())).collect();
    for criterion in results["criteria"].as_array()? {
        let name = criterion["name"].as_str()?;
        let mean = |of: &str| criterion[of]["mean"].as_f64();
        if let (Some(score), Some(size)) = (mean("score"), mean("size")) {
            figures.insert(format!("score/{name}"), format!("{:.1}", 100.0 * score));
            figures.insert(format!("size/{name}"), format!("{size:.1}"));
        }
    }
    Some(figures)
}

/// Returns a page with the number after each mark that the mark stands for.
fn filled(page: &str, all: &BTreeMap<String, Figures>) -> anyhow::Result<String> {
    let at_start = page
        .lines()
        .find(|line| line.starts_with(MARK) && line.split_once(" -->").is_some_and(|(_, rest)| !rest.is_empty()));
    anyhow::ensure!(at_start.is_none(), "no mark may begin a line, which Markdown would take for HTML: {at_start:?}");
    let mut parts = page.split(MARK);
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text.push_str(MARK);
        let marked = part.split_once(" -->").and_then(|(mark, rest)| Some((mark, mark.split_once('.')?, rest)));
        let Some((mark, (system, name), rest)) = marked.filter(|(_, (system, _), _)| all.contains_key(*system)) else {
            text.push_str(part);
            continue;
        };
        let figure = all[system].figures.get(name).with_context(|| format!("there is no figure {mark}"))?;
        let number = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.').unwrap_or(rest.len());
        // A full stop is no part of it.
        let number = rest[..number].trim_end_matches('.').len();
        text.push_str(&format!("{mark} -->{figure}{}", &rest[number..]));
    }
    Ok(text)
}

/// Returns a hash of the identities of the mutants that a study of a system tries to compile.
fn mutants_hash(root: &Path, system: &str) -> anyhow::Result<String> {
    let package = Package::find(&root.join("Cargo.toml"), system)?;
    let identities = mutant_identities(&package, package.operators())?;
    // FNV-1a, 64 bits.
    let hash = identities
        .join("\n")
        .bytes()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    Ok(format!("{hash:016x}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marked_numbers_are_those_of_the_studies() {
        let results = serde_json::json!({
            "campaign": { "mutants": 30 },
            "mutants": { "counts": { "pathological": 12, "analysed": 8 } },
            "survivors": [{ "infected": 0, "diverged": 0 }, { "infected": 9, "diverged": 0 }, { "infected": 7, "diverged": 2 }],
            "criteria": [{ "name": "all-uses", "score": { "mean": 0.9183 }, "size": { "mean": 16.94 } },
                         { "name": "none", "score": null, "size": null }],
        });
        let figures = figures(&results).expect("it has all");
        let all = BTreeMap::from([("dns".to_owned(), Figures { mutants_hash: String::new(), figures })]);
        let page = "<!-- varies -->\nOf <!-- dns.mutants -->467, <!-- dns.survivors -->9. <!-- dns.survivors/same -->1, <!-- dns.survivors/same-infected -->0. <!-- dns.score/all-uses -->90 %, \
                    <!-- dns.size/all-uses -->.\n";
        let expected = "<!-- varies -->\nOf <!-- dns.mutants -->30, <!-- dns.survivors -->3. <!-- dns.survivors/same -->2, <!-- dns.survivors/same-infected -->1. <!-- dns.score/all-uses -->91.8 %, \
                        <!-- dns.size/all-uses -->16.9.\n";
        assert_eq!(filled(page, &all).expect("all are known"), expected);
        assert_eq!(filled(expected, &all).expect("all are known"), expected);
        assert_eq!(
            filled("Of <!-- dns.age -->3", &all).expect_err("unknown").to_string(),
            "there is no figure dns.age"
        );
        assert!(filled("Of\n<!-- dns.mutants -->3", &all).is_err(), "a mark begins a line");
        assert_eq!(super::figures(&serde_json::json!({})), None);
    }
}
