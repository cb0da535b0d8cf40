//! The pages of the reference that the code writes: commands and exit codes as `simutant help` prints them, and
//! mutation operators as their files describe them.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};
use simutant_mutator::Selection;

use super::signatures;

/// A generated page.
#[derive(Debug)]
pub(crate) struct Page {
    /// Where it is kept.
    pub(crate) path: PathBuf,
    /// What it says.
    pub(crate) text: String,
}

/// What each generated page begins with, after its title.
pub(super) const NOTICE: &str = "<!-- Written by `cargo xtask docs`. Change the code instead. -->";

/// The sets of operators, with what each is.
const SETS: [(&str, &str); 5] = [
    ("default", "tiers A and B"),
    ("a", "tier A: `default` without the operators of messages, time and states"),
    ("andrews", "the operators of Andrews, Briand and Labiche (ICSE 2005), with all their replacements"),
    ("mujava", "muJava's operators of methods, as its source defines them"),
    ("all", "all operators"),
];

/// Returns the generated pages, made from the code as it is now.
pub(crate) fn pages(root: &Path) -> anyhow::Result<Vec<Page>> {
    let folder = root.join("docs/src/reference");
    let simutant = Simutant(crate::simutant(root)?);
    let help = simutant.help(None)?;
    let mut pages = vec![("commands.md", commands(&simutant, &help)?), ("exit-codes.md", exit_codes(&help)?)];
    pages.push(("signatures.md", signatures::page(root)?));
    pages.push(("operators.md", operators(&root.join("mutator/src/operators"))?));
    Ok(pages.into_iter().map(|(name, text)| Page { path: folder.join(name), text }).collect())
}

/// The command.
struct Simutant(PathBuf);

impl Simutant {
    /// Returns the help of a command, or that of all; wrapped as where there is no terminal.
    fn help(&self, command: Option<&str>) -> anyhow::Result<String> {
        let mut help = Command::new(&self.0);
        help.arg("help").args(command).env_remove("COLUMNS").stdin(Stdio::null());
        let output = help.output().with_context(|| format!("cannot start {}", self.0.display()))?;
        ensure!(output.status.success(), "{help:?} ended with {}", output.status);
        Ok(String::from_utf8(output.stdout)?)
    }
}

fn commands(simutant: &Simutant, help: &str) -> anyhow::Result<String> {
    let commands = listed(help, "Commands:");
    ensure!(!commands.is_empty(), "`simutant help` lists no commands");
    let mut page = format!("# Commands\n\n{NOTICE}\n\n");
    page.push_str(
        "Standard output is the result, standard error is progress. The [exit codes](exit-codes.md) are the same for all \
         commands,\nand so are the [global options](#global-options).\n\n| command | does |\n| --- | --- |\n",
    );
    let commands: Vec<_> = commands.into_iter().filter(|(name, _)| name != "help").collect();
    for (name, does) in &commands {
        writeln!(page, "| [`{name}`](#{name}) | {does} |")?;
    }
    let variables = listed(help, "Environment:");
    ensure!(!variables.is_empty(), "`simutant help` lists no variables");
    page.push_str("\n| variable of the environment | is |\n| --- | --- |\n");
    for (name, is) in &variables {
        writeln!(page, "| `{name}` | {is} |")?;
    }
    let mut section = |title: &str, text: &str| write!(page, "\n## {title}\n\n```text\n{}\n```\n", trimmed(text));
    let (_, global) = halves(help)?;
    section("Global options", global)?;
    for (name, _) in &commands {
        let help = simutant.help(Some(name))?;
        section(name, halves(&help)?.0)?;
    }
    Ok(page)
}

/// Returns what a help text says before the global options, and these.
fn halves(help: &str) -> anyhow::Result<(&str, &str)> {
    let (before, after) = help.split_once("\nGlobal options:\n").context("a help text has no global options")?;
    Ok((before, after.split("\n\n").next().unwrap_or_default()))
}

fn exit_codes(help: &str) -> anyhow::Result<String> {
    let codes = listed(help, "Exit codes:");
    ensure!(!codes.is_empty(), "`simutant help` lists no exit codes");
    let mut page = format!("# Exit codes\n\n{NOTICE}\n\n| code | means |\n| ---: | --- |\n");
    for (code, meaning) in codes {
        writeln!(page, "| {code} | {meaning} |")?;
    }
    page.push_str(
        "\nA reader that closes the pipe early, as `head` does, is no error. An error of Simutant itself never counts as a \
         killed\nmutant or a failed test: it ends the command.\n",
    );
    Ok(page)
}

/// Returns the entries of a list in a help text: the first word of each, and the rest with its lines joined.
fn listed(help: &str, heading: &str) -> Vec<(String, String)> {
    let lines = help.lines().skip_while(|line| *line != heading).skip(1).take_while(|line| !line.trim().is_empty());
    let mut entries: Vec<(String, String)> = Vec::new();
    for line in lines {
        // An entry has two blanks between its name and its text; a line that goes on has none.
        match (line.trim().split_once("  "), entries.last_mut()) {
            (Some((name, text)), _) => entries.push((name.to_owned(), text.trim().to_owned())),
            (None, Some((_, text))) => write!(text, " {}", line.trim()).expect("a string takes all"),
            (None, None) => {}
        }
    }
    entries
}

/// Returns the text without blanks at the ends of its lines.
fn trimmed(text: &str) -> String {
    text.trim_end().lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

/// The documentation of one file of operators.
struct Documented {
    /// The names of its operators, such as `ODL`, `VDL` and `CDL`.
    names: Vec<String>,
    /// What they do in a few words.
    title: String,
    /// The paragraphs, the first one without names and title.
    text: String,
}

fn operators(folder: &Path) -> anyhow::Result<String> {
    let mut files = Vec::new();
    source_files(folder, &mut files)?;
    let mut documented = Vec::new();
    for file in files {
        let source = std::fs::read_to_string(&file)?;
        documented.extend(documentation(&source));
    }
    documented.sort_by(|left, right| left.names.cmp(&right.names));
    let names: Vec<&str> = documented.iter().flat_map(|file| &file.names).map(String::as_str).collect();
    check_complete(&names)?;
    let mut page = format!("# Mutation operators\n\n{NOTICE}\n\n");
    page.push_str(
        "An operator is a rule that makes mutants. Those of tier A are those of the literature on adequacy; tier B makes the\n\
         faults of distributed systems, where the names of a specification show what code is for; tier C is made on demand.\n\
         `--operators LIST` chooses operators and sets, `NAME:all` asks for all replacements of one, `+NAME` adds to the\n\
         default set, and `-NAME` takes away.\n\n| set | is |\n| --- | --- |\n",
    );
    for (set, is) in SETS {
        writeln!(page, "| `{set}` | {is} |")?;
    }
    page.push_str("\n| operator | tier | sets | |\n| --- | --- | --- | --- |\n");
    for file in &documented {
        for name in &file.names {
            let sets = SETS.map(|(set, _)| set).into_iter().filter(|set| has(set, name));
            let sets: Vec<_> = sets.map(|set| format!("`{set}`")).collect();
            writeln!(page, "| [{name}](#{}) | {} | {} | {} |", anchor(file), tier(name), sets.join(", "), file.title)?;
        }
    }
    for file in &documented {
        write!(page, "\n## {}\n\n{}\n", heading(file), file.text)?;
    }
    Ok(page)
}

fn heading(file: &Documented) -> String {
    format!("{}: {}", file.names.join(", "), file.title)
}

fn anchor(file: &Documented) -> String {
    super::links::slug(&heading(file))
}

/// Fails unless these are the operators that there are: each one that is documented, and none beside.
fn check_complete(names: &[&str]) -> anyhow::Result<()> {
    let mut seen = BTreeSet::new();
    for name in names {
        ensure!(seen.insert(name), "two files document the operator {name}");
        Selection::parse(name).with_context(|| format!("the operator {name} is documented, but not there"))?;
    }
    let without: String = names.iter().map(|name| format!(",-{name}")).collect();
    let rest = Selection::parse(&format!("all{without}"))?;
    if rest != Selection::parse("")? {
        bail!("no file documents the operators {rest}: its first line must begin with the name");
    }
    Ok(())
}

/// Whether a set has an operator.
fn has(set: &str, name: &str) -> bool {
    let parse = |list: &str| Selection::parse(list).expect("sets and documented operators are known");
    parse(set) != parse(&format!("{set},-{name}"))
}

fn tier(name: &str) -> char {
    match (has("a", name), has("default", name)) {
        (true, _) => 'A',
        (false, true) => 'B',
        (false, false) => 'C',
    }
}

/// Adds the Rust files in a folder and in those below, by name.
fn source_files(folder: &Path, files: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    let entries = std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))?;
    let mut paths = entries.map(|entry| Ok(entry?.path())).collect::<std::io::Result<Vec<_>>>()?;
    paths.sort();
    for path in paths {
        if path.is_dir() {
            source_files(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

/// Returns what the first comment of a file says of its operators, if it begins with their names:
/// `ODL, VDL and CDL, operand deletion: of ...`. Further ones are introduced later: `AORB is the same with ...`.
fn documentation(source: &str) -> Option<Documented> {
    let lines = source.lines().map_while(|line| line.strip_prefix("//!"));
    let comment: Vec<&str> = lines.map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
    let comment = comment.join("\n");
    let (head, text) = comment.split_once(':')?;
    let (names, title) = head.rsplit_once(", ")?;
    let mut names: Vec<String> = names.split(", ").flat_map(|name| name.split(" and ")).map(str::to_owned).collect();
    if !names.iter().all(|name| is_name(name)) {
        return None;
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    for phrase in words.windows(4) {
        if let [name, "is", "the", "same"] = phrase {
            names.push((*name).to_owned());
        }
    }
    Some(Documented { names, title: title.replace('\n', " "), text: sentence(text.trim()) })
}

/// Whether a word can be the name of an operator: capitals, digits and hyphens, the first two capitals.
fn is_name(word: &str) -> bool {
    word.len() > 1
        && word.chars().take(2).all(|letter| letter.is_ascii_uppercase())
        && word.chars().all(|letter| letter.is_ascii_uppercase() || letter.is_ascii_digit() || letter == '-')
}

/// Returns the text with a capital first, and without the brackets of links to code.
fn sentence(text: &str) -> String {
    let text = text.replace("[`", "`").replace("`]", "`");
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_help_have_a_name_and_a_text() {
        let help = "About\n\nCommands:\n  one  Does one\n       thing\n  two  Does two\n\nOptions:\n  -h  Help\n";
        let entry = |name: &str, text: &str| (name.to_owned(), text.to_owned());
        assert_eq!(listed(help, "Commands:"), [entry("one", "Does one thing"), entry("two", "Does two")]);
        assert_eq!(listed(help, "Options:"), [entry("-h", "Help")]);
        assert_eq!(listed(help, "Exit codes:"), []);
    }

    #[test]
    fn files_document_one_operator_or_several() {
        let comment = "ODL and MSG-2, operand\ndeletion: `a` goes.\n\nSee [`b`]. VDL is\nthe same here.";
        let source: String = comment.lines().map(|line| format!("//! {line}\n")).collect();
        let documented = documentation(&source).expect("the first line begins with names");
        assert_eq!(documented.names, ["ODL", "MSG-2", "VDL"]);
        assert_eq!(documented.title, "operand deletion");
        assert_eq!(documented.text, "`a` goes.\n\nSee `b`. VDL is\nthe same here.");
        assert!(documentation("//! What each operator makes, as snapshots: one for each.\n").is_none());
    }

    #[test]
    fn the_documented_operators_are_those_that_there_are() {
        assert!(check_complete(&["ROR"]).is_err_and(|error| error.to_string().contains("SDL")));
        assert!(check_complete(&["ROR", "NONE"]).is_err_and(|error| error.to_string().contains("NONE")));
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../mutator/src/operators");
        let page = operators(&folder).expect("all are documented");
        let kept = include_str!("../../../docs/src/reference/operators.md");
        assert!(page == kept, "docs/src/reference/operators.md is not what the code says: run cargo xtask docs");
    }

    #[test]
    fn tiers_follow_from_the_sets() {
        assert_eq!(["SDL", "MSG-D", "AORB"].map(tier), ['A', 'B', 'C']);
    }
}
