//! The tables in the READMEs of systems say what the sources say: each `NAME = value` in a table of a specification and its
//! programs is the value of a constant there, and where the two differ, the table has it.

use std::path::{Path, PathBuf};

use simutant_mutator::{ConstantValue, NamedConstant, differences, named_constants, source_files};

/// The folders of systems that have programs of their own.
fn systems() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../systems");
    let entries = folder.read_dir().expect("it is there").map(|entry| entry.expect("it can be listed").path());
    let mut systems: Vec<PathBuf> = entries.filter(|folder| folder.join("programs/Cargo.toml").exists()).collect();
    systems.sort_unstable();
    systems
}

/// The constants of the source files in a folder.
fn constants(folder: &Path) -> Vec<NamedConstant> {
    let mut files = source_files(folder, &["**/*.rs".to_owned()]).expect("there are some");
    // What hands questions on to dnscache is no part of the resolver, testbeds are none of a specification, and faults are wrong.
    let others = ["tests.rs", "dnscache.rs", "testbed.rs"];
    let is_part = |file: &PathBuf| {
        let is_fault = file.parent().is_some_and(|folder| folder.ends_with("faults"));
        !is_fault && !others.iter().any(|other| file.ends_with(other))
    };
    files.retain(is_part);
    let read = |file: &PathBuf| std::fs::read_to_string(file).expect("it can be read");
    files.iter().flat_map(|file| named_constants(&file.to_string_lossy(), &read(file)).expect("it parses")).collect()
}

/// Each `NAME = value`, or `name() = value`, in a cell.
fn claims(cell: &str) -> Vec<(String, ConstantValue)> {
    let code = cell.split('`').skip(1).step_by(2).filter_map(|code| code.split_once(" = "));
    let claim = |(name, value): (&str, &str)| {
        let name = name.trim_end_matches("()").to_uppercase();
        Some((name, value.parse().ok()?))
    };
    code.filter_map(claim).collect()
}

/// The claims about a system's specification and its program, a pair of lists for each row.
fn rows(system: &Path) -> Vec<[Vec<(String, ConstantValue)>; 2]> {
    let readme = std::fs::read_to_string(system.join("README.md")).expect("a system has one");
    let (_, section) = readme.split_once("\n## Specification and program").expect("it has the table");
    let rows = section.split("\n## ").next().unwrap_or_default().lines().filter(|line| line.starts_with("| "));
    let cells = |row: &str| row.split(" | ").map(str::to_owned).collect::<Vec<_>>();
    rows.map(cells).map(|cells| [claims(&cells[1]), claims(&cells[2])]).collect()
}

#[test]
fn what_tables_say_of_constants_is_so() {
    assert!(systems().len() >= 3, "{:?}", systems());
    for system in systems() {
        for (side, source) in ["src", "programs/src"].into_iter().enumerate() {
            let mut found = constants(&system.join(source));
            if source == "programs/src" {
                found.extend(constants(&system.join("../programs/src")));
            }
            let claims: Vec<_> = rows(&system).into_iter().flat_map(|mut row| std::mem::take(&mut row[side])).collect();
            assert!(claims.len() >= 2, "{}: {claims:?}", system.display());
            for (name, value) in claims {
                let is_it = |constant: &&NamedConstant| constant.name == name && constant.value == value;
                let is_there = found.iter().any(|constant| is_it(&constant));
                assert!(is_there, "{}/{source} has no {name} = {value}", system.display());
            }
        }
    }
}

#[test]
fn constants_that_differ_are_in_the_tables() {
    for system in systems() {
        let [here, there] = ["src", "programs/src"].map(|source| constants(&system.join(source)));
        let rows = rows(&system);
        for difference in differences(&here, &there) {
            let is_claimed = |side: usize, value: &str| {
                let mut claims = rows.iter().flat_map(|row| &row[side]);
                claims.any(|(name, claimed)| *name == difference.name && claimed.to_string() == value)
            };
            for place in &difference.implementation {
                assert!(is_claimed(1, &place.value), "{}: {}", system.display(), difference.sentence(&place.file));
            }
            let is_claimed = difference.specification.iter().any(|place| is_claimed(0, &place.value));
            assert!(is_claimed, "{}: {difference:?}", system.display());
        }
    }
}
