//! The documents against the command: the reference has its help, and every command line in them is understood.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::init::UserPackage;
use crate::support::{assert_exit, folder, run, stdout};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Returns the help of each command, by its name.
fn help() -> BTreeMap<String, String> {
    let nowhere = folder();
    let help_of = |arguments: &[&str]| {
        let output = run(arguments, nowhere.path());
        assert_exit(&output, 0);
        stdout(&output)
    };
    let all = help_of(&["--help"]);
    let list = all.split("\nCommands:\n").nth(1).expect("it lists the commands");
    let lines = list.lines().take_while(|line| !line.is_empty());
    let names = lines.filter_map(|line| line.strip_prefix("  ")).filter(|line| !line.starts_with(' '));
    let names: Vec<&str> = names.filter_map(|line| line.split(' ').next()).filter(|name| *name != "help").collect();
    assert!(names.contains(&"study"), "{names:?}");
    names.into_iter().map(|name| (name.to_owned(), help_of(&[name, "--help"]))).collect()
}

#[test]
fn the_reference_has_the_help_of_each_command() {
    let page = read(&root().join("docs/src/reference/commands.md"));
    let help = help();
    let once = page.split("\n## Global options\n").nth(1).and_then(|rest| rest.split("\n## ").next());
    for (name, text) in &help {
        let (own, global) = text.split_once("\nGlobal options:\n").expect("every command takes them");
        let lines: Vec<&str> = own.trim_end().lines().map(str::trim_end).collect();
        let section = format!("\n## {name}\n\n```text\n{}\n```\n", lines.join("\n"));
        assert!(page.contains(&section), "of {name} the page says something else; run cargo xtask docs");
        let options = global.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
        for option in options.map(|line| line.split("  ").next().expect("a split has a first part")) {
            assert!(once.is_some_and(|once| once.contains(option)), "{option} of {name}; run cargo xtask docs");
        }
    }
    assert_eq!(page.matches("\n## ").count(), help.len() + 1, "the page has a command that is not there");
}

/// Returns the documents with command lines in them.
fn documents() -> Vec<PathBuf> {
    let mut documents: Vec<PathBuf> = vec![PathBuf::from("README.md")];
    for example in ["gbn-python", "omnipaxos", "store", "tickets"] {
        documents.push(Path::new("examples").join(example).join("README.md"));
    }
    for part in ["guide", "reference", "experiments", "systems"] {
        let part = Path::new("docs/src").join(part);
        let pages = std::fs::read_dir(root().join(&part)).expect("the book has this part");
        documents.extend(pages.map(|page| part.join(page.expect("an entry").file_name())));
    }
    documents
}

/// Returns the console blocks of a document.
fn console_blocks(text: &str) -> impl Iterator<Item = &str> {
    text.split("\n```console\n").skip(1).map(|rest| rest.split("\n```").next().unwrap_or_default())
}

#[test]
fn the_documents_show_what_init_prints() {
    let package = UserPackage::new("--lib");
    // As `cargo new` makes it for a reader.
    std::fs::write(package.path(".gitignore"), "/target\n").expect("it can be written");
    let output = package.simutant(&["init"]);
    assert_exit(&output, 0);
    assert_eq!(package.read(".gitignore"), "/target\n/out\n");
    let printed = stdout(&output).replace(env!("CARGO_BIN_EXE_simutant"), "simutant");
    for document in ["README.md", "docs/src/guide/your-system.md"] {
        let text = read(&root().join(document));
        let blocks = console_blocks(&text).filter_map(|block| block.split_once("$ simutant init\n"));
        let blocks: Vec<&str> = blocks.map(|(_, shown)| shown).collect();
        assert_eq!(blocks.len(), 1, "{document}");
        let shown: Vec<&str> = blocks[0].lines().take_while(|line| !line.starts_with("$ ")).collect();
        let printed: Vec<&str> = printed.lines().collect();
        assert!(is_shown(&shown, &printed), "{document} shows {shown:#?}, and init prints {printed:#?}");
    }
}

/// Returns whether lines of a document show what is printed: one that is too long ends in an ellipsis, and an ellipsis
/// alone stands for lines that are left out.
fn is_shown(shown: &[&str], printed: &[&str]) -> bool {
    match (shown.split_first(), printed.split_first()) {
        (None, None) => true,
        (Some((&"…", rest)), _) => (1..=printed.len()).any(|left_out| is_shown(rest, &printed[left_out..])),
        (Some((line, shown)), Some((whole, printed))) => {
            let agrees = line.strip_suffix('…').map_or(line == whole, |beginning| whole.starts_with(beginning));
            agrees && is_shown(shown, printed)
        }
        _ => false,
    }
}

#[test]
fn an_ellipsis_stands_for_the_rest_of_a_line_or_for_lines() {
    assert!(is_shown(&["a", "b…"], &["a", "bc"]));
    assert!(is_shown(&["a", "…", "d"], &["a", "b", "c", "d"]));
    for wrong in [&["a"][..], &["a", "c…"], &["a", "bc", "…"], &["…", "b"]] {
        assert!(!is_shown(wrong, &["a", "bc"]), "{wrong:?}");
    }
}

/// Returns what follows the name of the command in a line of a console block, if it runs it.
fn arguments(line: &str) -> Option<&str> {
    let line = line.strip_prefix("$ ").or_else(|| line.strip_prefix(">   "))?;
    ["simutant ", "target/release/simutant ", "cargo run --release -- "].iter().find_map(|name| line.strip_prefix(name))
}

#[test]
fn command_lines_in_documents_are_understood() {
    let help = help();
    let mut lines = 0;
    for document in documents() {
        let text = read(&root().join(&document));
        for line in console_blocks(&text).flat_map(str::lines) {
            let Some(arguments) = arguments(line) else { continue };
            let (name, rest) = arguments.split_once(' ').unwrap_or((arguments, ""));
            let known = help.get(name).unwrap_or_else(|| panic!("{}: no command {name}: {line}", document.display()));
            for option in rest.split_whitespace().filter(|word| word.starts_with("--")) {
                let option = option.split('=').next().unwrap_or(option);
                let is_known = known.split([' ', ',', '\n']).any(|word| word == option);
                assert!(is_known, "{}: `simutant {name}` has no {option}: {line}", document.display());
            }
            lines += 1;
        }
    }
    assert!(lines >= 25, "only {lines} command lines were found");
}
