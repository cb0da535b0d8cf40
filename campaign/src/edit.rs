//! From one version of the source to the next: which runs on mutants are the same, and what they are called now.
//!
//! A run is fixed by its test case and by the code that it executes. So a run that called no function whose body has
//! changed is what a new run would be, whatever else of the campaign changes: each run has noted what it called. (To
//! ask whether the original's run calls a changed function would not do: a mutant elsewhere may be what makes a run
//! call it.) What a run is compared with and what ends it do belong to the others, so a run is kept only if the
//! original's events on the test case and the limits are still as they were for it; that is found out when all test
//! cases have been recorded again (see `journal/kept.rs`).
//!
//! A recording is kept on the same ground: if nothing that it called has changed, it covers, reaches and infects what
//! it did, in new numbers (see `journal/kept_recordings.rs`).

mod renumbering;

use std::collections::{BTreeMap, BTreeSet};

use simutant_mutator::{Build, Fingerprint, token_lines};
use simutant_outcomes::{MutantNumber, Sites, Span};

use renumbering::Renumbering;

/// How the source of a campaign has changed, if it has changed within functions only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Edit {
    /// The functions that have changed, in the form in which runs note what they called.
    pub(crate) changed: u64,
    /// The numbers of the mutants of all other functions, before and after.
    pub(crate) mutants: Vec<(MutantNumber, MutantNumber)>,
    /// How what was recorded is numbered now; `None` if no recording can be kept.
    pub(crate) renumbering: Option<Renumbering>,
    /// The specification files whose text has changed.
    files: Vec<EditedFile>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct EditedFile {
    path: String,
    /// The lines of the functions that are the same, and what they are now: `None` where one has become several.
    lines: BTreeMap<usize, Option<usize>>,
}

impl Edit {
    /// Returns what has changed from an earlier build to `new`; `None` if no run can be kept.
    pub(crate) fn between(sites: &Sites, fingerprint: &Fingerprint, new: &Build) -> Option<Self> {
        let (old, functions) = (sites, new.sites.functions.iter().zip(&sites.functions));
        let sizes = [&old.functions, &new.sites.functions].map(Vec::len);
        let hashed = [fingerprint, &new.fingerprint].map(|fingerprint| fingerprint.functions.len());
        let is_same_outside = fingerprint.fixed == new.fingerprint.fixed && sizes == hashed && sizes[0] == sizes[1];
        if !is_same_outside || functions.clone().any(|(new, old)| new.path != old.path) {
            return None;
        }
        let hashes = fingerprint.functions.iter().zip(&new.fingerprint.functions);
        let differs = hashes.map(|(old, new)| old != new);
        let paths: BTreeSet<&str> =
            functions.clone().zip(differs).filter(|(_, differs)| *differs).map(|((new, _), _)| &*new.path).collect();
        // Methods of two traits can have one path, and their mutants are told apart by their order.
        let is_changed = |function: usize| paths.contains(&*old.functions[function].path);
        let numbers: BTreeMap<&str, MutantNumber> =
            (0..).zip(&new.sites.mutants).map(|(number, mutant)| (&*mutant.identity, number)).collect();
        let mut mutants = Vec::new();
        for (number, mutant) in (0..).zip(&old.mutants).filter(|(_, mutant)| !is_changed(mutant.function)) {
            let Some(&renumbered) = numbers.get(&*mutant.identity) else { continue };
            let is_same = {
                let new = &new.sites.mutants[renumbered as usize];
                (new.function, &new.operator) == (mutant.function, &mutant.operator)
            };
            if is_same {
                mutants.push((number, renumbered));
            }
        }
        let files = old.files.iter().zip(&new.sites.files).enumerate().filter(|(_, (old, new))| old.text != new.text);
        let moved = |file: usize| {
            let mut lines = BTreeMap::new();
            let all = functions.clone().enumerate();
            for (_, (to, from)) in all.filter(|(number, (_, old))| old.span.file == file && !is_changed(*number)) {
                let tokens = |sites: &Sites, span: Span| token_lines(&sites.files[file].text[span.start..span.end]);
                let (before, after) = (tokens(old, from.span), tokens(&new.sites, to.span));
                for (before, after) in before.into_iter().zip(after) {
                    let (before, after) = (from.span.line + before, to.span.line + after);
                    let known = lines.entry(before).or_insert(Some(after));
                    *known = known.filter(|known| *known == after);
                }
            }
            lines
        };
        Some(Self {
            changed: (0..old.functions.len())
                .filter(|&number| is_changed(number))
                .fold(0, |set, number| set | bit(number)),
            renumbering: Renumbering::between(old, &new.sites, &mutants, &is_changed),
            mutants,
            files: files.map(|(file, (old, _))| EditedFile { path: old.path.clone(), lines: moved(file) }).collect(),
        })
    }

    /// Returns what a reason would say now; `None` if it names a place that is not in a function that stayed the same.
    ///
    /// The only places in reasons are those of panics: a file's path, a colon, a line.
    pub(crate) fn reworded(&self, reason: &str) -> Option<String> {
        let mut text = String::with_capacity(reason.len());
        let mut rest = reason;
        while let Some((at, file)) = self.first_place(rest) {
            let digits = at + file.path.len() + 1;
            let length = rest[digits..].bytes().take_while(u8::is_ascii_digit).count();
            text.push_str(&rest[..digits]);
            if length > 0 {
                let line: usize = rest[digits..digits + length].parse().ok()?;
                text.push_str(&(*file.lines.get(&line)?)?.to_string());
            }
            rest = &rest[digits + length..];
        }
        text.push_str(rest);
        Some(text)
    }

    /// Returns where the path of an edited file comes first, with a colon behind it.
    fn first_place(&self, text: &str) -> Option<(usize, &EditedFile)> {
        let places = self.files.iter().flat_map(|file| {
            let is_place = |(at, path): &(usize, &str)| text[at + path.len()..].starts_with(':');
            text.match_indices(&*file.path).find(is_place).map(|(at, _)| (at, file))
        });
        // Of two that begin together, the longer path is meant; of `a.rs` in `b/a.rs`, the one that begins first.
        places.min_by_key(|(at, file)| (*at, std::cmp::Reverse(file.path.len())))
    }
}

fn bit(function: usize) -> u64 {
    1 << (function % 64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit() -> Edit {
        let file = |path: &str, lines: &[(usize, Option<usize>)]| EditedFile {
            path: path.to_owned(),
            lines: lines.iter().copied().collect(),
        };
        let lines = [(3, Some(4)), (4, Some(5)), (5, None), (12, Some(10))];
        let files = vec![file("src/a.rs", &lines), file("arq/src/a.rs", &[(1, Some(2))])];
        Edit { changed: 0, mutants: Vec::new(), renumbering: None, files }
    }

    #[track_caller]
    fn check(reason: &str, expect: Option<&str>) {
        assert_eq!(edit().reworded(reason).as_deref(), expect);
    }

    #[test]
    fn places_in_functions_that_stayed_move_with_them() {
        check("a panicked at src/a.rs:4: no", Some("a panicked at src/a.rs:5: no"));
        check("a panicked at src/a.rs:12: at src/a.rs:3", Some("a panicked at src/a.rs:10: at src/a.rs:4"));
        check("a panicked at arq/src/a.rs:1: no", Some("a panicked at arq/src/a.rs:2: no"));
        check("a panicked at src/b.rs:4: no", Some("a panicked at src/b.rs:4: no"));
        check("src/a.rs: is a file", Some("src/a.rs: is a file"));
    }

    #[test]
    fn other_places_in_files_that_changed_are_not_known() {
        check("a panicked at src/a.rs:7: no", None);
        check("a panicked at src/a.rs:5: no", None);
        check("a panicked at src/a.rs:4: but src/a.rs:99999999999999999999999", None);
    }
}
