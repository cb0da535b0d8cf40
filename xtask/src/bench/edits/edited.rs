//! The edits after which systems are studied.

use anyhow::ensure;

/// A system, and how it is edited.
#[derive(Debug)]
pub(super) struct Edited {
    pub(super) system: &'static str,
    pub(super) edits: &'static [Edit],
}

/// An edit of one file of the project.
#[derive(Debug)]
pub(super) struct Edit {
    pub(super) what: &'static str,
    /// From the project's folder.
    pub(super) file: &'static str,
    /// What it takes the place of, which the file has once.
    from: &'static str,
    to: &'static str,
}

/// Edits in here are of a function that few test cases call.
const RARELY_CALLED: &str = "systems/dns/src/exchange.rs";
/// Edits in here are of a function that most runs call.
const OFTEN_CALLED: &str = "systems/gbn/src/window.rs";

pub(super) const EDITED: [Edited; 3] = [
    Edited {
        system: "dns",
        edits: &[
            Edit {
                what: "the text of an assertion",
                file: RARELY_CALLED,
                from: "what came by a stream was truncated",
                to: "what came by a stream was cut off",
            },
            Edit {
                what: "a mutant, a variable and a line more",
                file: RARELY_CALLED,
                from: "    stream.send(query.clone()).await.ok()?;\n",
                to: "    let patience = patience + STREAM_PATIENCE;\n    stream.send(query.clone()).await.ok()?;\n",
            },
            Edit {
                what: "a comment",
                file: RARELY_CALLED,
                from: "    stream.send(query.clone()).await.ok()?;\n",
                to: "    // It goes as a whole.\n    stream.send(query.clone()).await.ok()?;\n",
            },
        ],
    },
    Edited {
        system: "gbn",
        edits: &[
            Edit {
                what: "two lines change places",
                file: OFTEN_CALLED,
                from: "        self.next = self.base;\n        self.acknowledged = 0;\n",
                to: "        self.acknowledged = 0;\n        self.next = self.base;\n",
            },
            Edit {
                what: "a comment",
                file: OFTEN_CALLED,
                from: "        self.next = self.base;\n        self.acknowledged = 0;\n",
                to: "        // All of it.\n        self.next = self.base;\n        self.acknowledged = 0;\n",
            },
        ],
    },
    Edited { system: "lsr", edits: &[] },
];

impl Edit {
    /// Returns the file's text after the edit.
    pub(super) fn apply(&self, text: &str) -> anyhow::Result<String> {
        let count = text.matches(self.from).count();
        ensure!(count == 1, "the edit ({}) has no place: {} has {:?} {count} times", self.what, self.file, self.from);
        Ok(text.replace(self.from, self.to))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn every_edit_has_its_place_in_the_sources() {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("xtask is a folder of the workspace");
        for edit in EDITED.iter().flat_map(|edited| edited.edits) {
            let text = std::fs::read_to_string(root.join(edit.file)).expect("the file is there");
            let edited = edit.apply(&text).expect("the edit has a place");
            assert_ne!(edited, text, "{}", edit.what);
        }
    }

    #[test]
    fn an_edit_with_no_place_or_with_several_is_refused() {
        let edit = Edit { what: "b for a", file: "f.rs", from: "a", to: "b" };
        assert_eq!(edit.apply("cad").expect("one place"), "cbd");
        for text in ["cd", "caad"] {
            let error = edit.apply(text).expect_err("not one place").to_string();
            assert!(error.contains("b for a") && error.contains("f.rs"), "{error}");
        }
    }
}
