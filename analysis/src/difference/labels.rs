//! The labels of requirements after an edit: places in the source move with their lines.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use simutant_outcomes::Sites;

use super::lines::same_lines;

/// Takes labels of one study to those that the same requirements have in another.
#[derive(Debug)]
pub(super) struct Moves<'a> {
    /// By path, for each line of the file before, from 0, the line in the file after.
    files: BTreeMap<&'a str, Vec<Option<usize>>>,
}

impl<'a> Moves<'a> {
    pub(super) fn new(before: &'a Sites, after: &Sites) -> Self {
        let text_after = |path: &str| after.files.iter().find(|file| file.path == path).map(|file| &file.text);
        let files = before.files.iter().filter_map(|file| {
            let after = text_after(&file.path)?;
            Some((file.path.as_str(), same_lines(&file.text, after)))
        });
        Self { files: files.collect() }
    }

    /// Returns what the label is after the edit, `None` if it names a line that is changed or gone.
    ///
    /// A label names a place as `path:line`, or, if it begins with `path:`, as `at line:column`. What stands between
    /// backquotes is code.
    pub(super) fn label(&self, label: &str) -> Option<String> {
        let own = self.files.keys().find(|path| label.strip_prefix(**path).is_some_and(|rest| rest.starts_with(':')));
        let mut moved = String::with_capacity(label.len());
        for (index, part) in label.split('`').enumerate() {
            if index > 0 {
                moved.push('`');
            }
            if index % 2 == 1 {
                moved.push_str(part);
                continue;
            }
            let mut rest = part;
            while let Some((before, path, line, after)) = self.next_place(rest, own.copied()) {
                let line: usize = line.parse().ok()?;
                let now = (*self.files[path].get(line.checked_sub(1)?)?)?;
                moved.push_str(before);
                moved.push_str(&(now + 1).to_string());
                rest = after;
            }
            moved.push_str(rest);
        }
        Some(moved)
    }

    /// Returns the first place: what stands before its line, its path, its line as text, and what follows.
    fn next_place<'t>(&self, text: &'t str, own: Option<&'a str>) -> Option<(&'t str, &'a str, &'t str, &'t str)> {
        let named = self.files.keys().flat_map(|path| {
            let starts = text.match_indices(path).map(|(at, found)| at + found.len());
            starts.filter(|at| text[*at..].starts_with(':')).map(|at| (at + 1, *path))
        });
        let unnamed = own.into_iter().flat_map(|path| text.match_indices(" at ").map(move |(at, _)| (at + 4, path)));
        let digits = |at: usize| text[at..].chars().take_while(char::is_ascii_digit).count();
        let places = named.chain(unnamed).filter(|(at, _)| digits(*at) > 0);
        // One path can end as another does.
        let (at, path) = places.min_by_key(|(at, path)| (*at, Reverse(path.len())))?;
        let end = at + digits(at);
        Some((&text[..at], path, &text[at..end], &text[end..]))
    }
}

#[cfg(test)]
mod tests {
    use simutant_outcomes::SourceFile;

    use super::*;

    fn sites(files: [(&str, &str); 2]) -> Sites {
        let files = files.map(|(path, text)| SourceFile { path: path.into(), text: text.into() });
        Sites { files: files.into(), ..Sites::default() }
    }

    #[track_caller]
    fn check(label: &str, expect: Option<&str>) {
        let before = sites([("src/a.rs", "one\ntwo\nthree\n"), ("src/b.rs", "one\ntwo\n")]);
        let after = sites([("src/a.rs", "new\none\nTWO\nthree\n"), ("src/b.rs", "two\n")]);
        assert_eq!(Moves::new(&before, &after).label(label).as_deref(), expect);
    }

    #[test]
    fn places_move_with_their_lines() {
        check("src/a.rs:3: block `three`", Some("src/a.rs:4: block `three`"));
        check("src/a.rs:2: block `two`", None);
        check("src/a.rs:9: block `a line that there is not`", None);
        check("src/a.rs: x defined at 1:6, used at 3:9", Some("src/a.rs: x defined at 2:6, used at 4:9"));
        check(
            "src/a.rs: x defined at 1:6, used at src/b.rs:2:9",
            Some("src/a.rs: x defined at 2:6, used at src/b.rs:1:9"),
        );
        check("src/a.rs: x defined at 1:6, used at src/b.rs:1:9", None);
        check("receiver: src/a.rs:3:20", Some("receiver: src/a.rs:4:20"));
    }

    #[test]
    fn code_and_other_labels_stay() {
        check("src/a.rs:3: true branch of `src/a.rs:1 at 1:1`", Some("src/a.rs:4: true branch of `src/a.rs:1 at 1:1`"));
        check("drop at 3:4", Some("drop at 3:4"));
        check("src/c.rs:1: block `one`", Some("src/c.rs:1: block `one`"));
        check("", Some(""));
    }
}
