//! The tables of this folder's README say what the sources say: each `NAME = value` in a table of a specification and its
//! program is the value of a constant there, and where the two differ, the table has it.

use std::path::Path;

use simutant_mutator::{ConstantValue, NamedConstant, differences, named_constants, source_files};

/// The headings of the systems, and their folders in `systems/src` and in `src`.
const SYSTEMS: [(&str, &str); 3] =
    [("## Go-back-n", "gbn"), ("## Link-state routing", "lsr"), ("## The domain name system", "dns")];

/// The constants of the source files in a folder of this repository.
fn constants(folder: &str) -> Vec<NamedConstant> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("..").join(folder);
    let mut files = source_files(&folder, &["*.rs".to_owned()]).expect("there are some");
    // What hands questions on to dnscache is no part of the resolver.
    files.retain(|file| !file.ends_with("tests.rs") && !file.ends_with("dnscache.rs"));
    let read = |file: &std::path::PathBuf| std::fs::read_to_string(file).expect("it can be read");
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
fn rows(heading: &str) -> Vec<[Vec<(String, ConstantValue)>; 2]> {
    let readme = include_str!("../README.md");
    let (_, section) = readme.split_once(&format!("\n{heading}\n")).expect("the README has it");
    let section = section.split("\n## ").next().unwrap_or_default();
    let (_, tables) = section.split_once("\n### Specification and program").expect("the section has the table");
    let rows = tables.split("\n### ").next().unwrap_or_default().lines().filter(|line| line.starts_with("| "));
    let cells = |row: &str| row.split(" | ").map(str::to_owned).collect::<Vec<_>>();
    rows.map(cells).map(|cells| [claims(&cells[1]), claims(&cells[2])]).collect()
}

#[test]
fn what_tables_say_of_constants_is_so() {
    for (heading, folder) in SYSTEMS {
        for (side, root) in [(0, "systems/src"), (1, "tests/src")] {
            let found = constants(&format!("{root}/{folder}"));
            let claims: Vec<_> = rows(heading).into_iter().flat_map(|mut row| std::mem::take(&mut row[side])).collect();
            assert!(claims.len() >= 2, "{heading}: {claims:?}");
            for (name, value) in claims {
                let is_it = |constant: &&NamedConstant| constant.name == name && constant.value == value;
                assert!(found.iter().any(|constant| is_it(&constant)), "{root}/{folder} has no {name} = {value}");
            }
        }
    }
}

#[test]
fn constants_that_differ_are_in_the_tables() {
    for (heading, folder) in SYSTEMS {
        let [here, there] = ["systems/src", "tests/src"].map(|root| constants(&format!("{root}/{folder}")));
        let rows = rows(heading);
        for difference in differences(&here, &there) {
            let is_claimed = |side: usize, value: &str| {
                rows.iter()
                    .flat_map(|row| &row[side])
                    .any(|(name, claimed)| *name == difference.name && claimed.to_string() == value)
            };
            for place in &difference.implementation {
                assert!(is_claimed(1, &place.value), "{heading}: {}", difference.sentence(place.file.as_str()));
            }
            assert!(
                difference.specification.iter().any(|place| is_claimed(0, &place.value)),
                "{heading}: {difference:?}"
            );
        }
    }
}
