//! What the programs of an implementation are made of, as far as its file shows: results of other programs say nothing
//! about these.

use std::collections::BTreeSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf};

use crate::implementation::Implementation;

/// Returns a number that changes with the files that the implementation's commands name. With a script go the others
/// of its kind in its folder, since it may load them.
pub(crate) fn fingerprint(implementation: &Implementation) -> u64 {
    let here = implementation.folder.to_string_lossy();
    let named = words(implementation).map(|word| PathBuf::from(word.replace("{here}", &here)));
    hash(named.filter(|path| path.is_file()).flat_map(|path| with_kin(&path)).collect(), &implementation.folder)
}

/// Returns a number that changes with the files that the commands name of what a build made in `directory`.
pub(crate) fn built(implementation: &Implementation, directory: &Path) -> u64 {
    // In `--path={build}/classes` and `{build}/lib/*` a folder is named.
    let named =
        words(implementation).filter_map(|word| word.find("{build}").map(|start| &word[start + "{build}".len()..]));
    let named = named.map(|rest| directory.join(rest.trim_start_matches('/').trim_end_matches('*')));
    hash(named.flat_map(|path| files_in(&path)).collect(), directory)
}

/// Returns a number that changes with the program that has the implementation's testbed, if it has one of its own.
pub(crate) fn testbed(implementation: &Implementation) -> Option<u64> {
    let program = implementation.testbed()?.program()?;
    Some(hash(BTreeSet::from([program.to_owned()]), program.parent()?))
}

/// Returns a file, or all files in a folder and below it.
fn files_in(path: &Path) -> Vec<PathBuf> {
    if path.is_file() {
        return vec![path.to_owned()];
    }
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    entries.flat_map(|entry| files_in(&entry.path())).collect()
}

/// The words of all commands of an implementation but that of its build.
fn words(implementation: &Implementation) -> impl Iterator<Item = &String> {
    let sides = implementation.sides.iter().map(|side| &side.command);
    let driver = implementation.driver.iter().map(|driver| &driver.command);
    let fixture = implementation.fixture().into_iter().map(|fixture| &fixture.command);
    let commands = sides.chain(driver).chain(fixture);
    commands.flatten()
}

/// Hashes files with their paths below `folder`.
fn hash(files: BTreeSet<PathBuf>, folder: &Path) -> u64 {
    let mut hasher = DefaultHasher::new();
    for path in files {
        // A file that cannot be read now is none that a result rests on.
        let Ok(bytes) = std::fs::read(&path) else { continue };
        path.strip_prefix(folder).unwrap_or(&path).hash(&mut hasher);
        bytes.hash(&mut hasher);
    }
    hasher.finish()
}

/// Returns a file, and those of its folder that have the same extension, if it has one.
fn with_kin(path: &Path) -> Vec<PathBuf> {
    let Some(extension) = path.extension() else { return vec![path.into()] };
    let entries = path.parent().and_then(|folder| std::fs::read_dir(folder).ok());
    let siblings = entries.into_iter().flatten().filter_map(|entry| Some(entry.ok()?.path()));
    siblings.filter(|sibling| sibling.extension() == Some(extension) && sibling.is_file()).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::test_support::copying;

    #[test]
    fn it_changes_with_the_programs_and_what_they_load_and_with_nothing_else() {
        let folder = tempfile::tempdir().expect("there is room");
        let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("it can be written");
        write("sender.py", "import sums");
        write("sums.py", "1");
        write("notes.txt", "1");
        write("serve.sh", "1");
        let mut implementation = copying("true", "python3");
        implementation.folder = folder.path().into();
        implementation.sides[0].command.push("{here}/sender.py".into());
        implementation.fixture = Some(toml::from_str("command = ['{here}/serve.sh']").expect("it is right"));
        let first = fingerprint(&implementation);
        let differs = |name: &str, expect: bool| {
            let before = fs::read(folder.path().join(name)).expect("it is there");
            write(name, "other");
            assert_eq!(fingerprint(&implementation) != first, expect, "{name}");
            fs::write(folder.path().join(name), before).expect("it can be written");
            assert_eq!(fingerprint(&implementation), first);
        };
        differs("sender.py", true);
        differs("sums.py", true);
        differs("notes.txt", false);
        differs("serve.sh", true);
        // Where the folder is does not matter.
        let moved = tempfile::tempdir().expect("there is room");
        for name in ["sender.py", "sums.py", "serve.sh"] {
            fs::copy(folder.path().join(name), moved.path().join(name)).expect("it can be copied");
        }
        implementation.folder = moved.path().into();
        assert_eq!(fingerprint(&implementation), first);
    }
}
