//! Studies after edits: what an edit cannot have changed is kept, and the results are those of a new study.

use simutant_campaign::read_outcomes;

use crate::init::UserPackage;
use crate::support::{assert_exit, folder, results, stdout, text, write};

/// A function of the template's protocol that few test cases come to, and that can panic.
const RARE: &str = "
/// Nobody has answered.
fn gave_up(number: u32) -> Option<u64> {
    assert!(number < 1_000, \"no client asks that often\");
    if number > 900 { Some(0) } else { None }
}
";

struct Studied {
    package: UserPackage,
    out: tempfile::TempDir,
}

impl Studied {
    fn study(&self, options: &[&str]) -> String {
        let out = text(self.out.path());
        let arguments =
            ["study", "store", "--cases", "40", "--suites", "10", "--pages", "2", "--jobs", "2", "--out", &out];
        let output = self.package.simutant(&[&arguments, options].concat());
        assert_exit(&output, 0);
        stdout(&output)
    }

    /// Replaces `part` of the protocol by `by`, and checks that a study finds out what a new one does, and how many
    /// runs it keeps, as (kept, all).
    #[track_caller]
    fn check(&self, part: &str, by: &str, expect: impl Fn(u64, u64) -> bool) {
        let protocol = self.package.read("src/store/protocol.rs");
        assert_eq!(protocol.matches(part).count(), 1, "{part}");
        write(&self.package.path("src/store/protocol.rs"), protocol.replace(part, by));

        let printed = self.study(&[]);
        let kept = printed.lines().find_map(|line| line.strip_prefix("kept "));
        let kept = kept.map(|line| line.split(' ').filter_map(|word| word.parse().ok()).collect::<Vec<u64>>());
        let kept = kept.unwrap_or_else(|| vec![0, 0]);
        assert!(expect(kept[0], kept[1]), "{by}: {kept:?} are kept: {printed}");
        let journal = self.out.path().join("journal.sqlite");
        let aside = self.out.path().join("journal.aside");
        let found = (results(self.out.path()), read_outcomes(self.out.path()).expect("it is finished"));
        std::fs::rename(&journal, &aside).expect("nobody has it open");

        assert!(!self.study(&["--fresh"]).contains("kept "), "a new study keeps nothing");
        assert!(results(self.out.path()) == found.0, "{by}: the results differ");
        assert!(read_outcomes(self.out.path()).expect("it is finished") == found.1, "{by}: the outcomes differ");
        // The next edit meets the journal of this one.
        std::fs::rename(&aside, &journal).expect("nobody has it open");
    }
}

fn studied() -> Studied {
    let package = UserPackage::new("--lib");
    assert_exit(&package.simutant(&["init", "--no-vendor"]), 0);
    let path = package.path("src/store/protocol.rs");
    let protocol = package.read("src/store/protocol.rs");
    let end = "    None\n}\n";
    assert_eq!(protocol.matches(end).count(), 1);
    // What the engine asks for names in traces is no part of what is measured here.
    let (before, rest) = protocol.split_once("impl Message for SumMessage {").expect("the template has messages");
    let (kinds, after) = rest.split_once("\n}\n").expect("it ends");
    let harness = package.read("src/store.rs");
    let kinds = format!("{harness}\nimpl simutant_sim_core::Message for protocol::SumMessage {{{kinds}\n}}\n");
    write(&package.path("src/store.rs"), kinds);
    let protocol = format!("{before}{after}").replace(", Message,", ",");
    write(&path, protocol.replace(end, &format!("    gave_up(number)\n}}\n{RARE}")));
    let studied = Studied { package, out: folder() };
    studied.study(&[]);
    studied
}

#[test]
fn a_study_after_an_edit_finds_out_what_a_new_study_does() {
    let studied = studied();
    // Runs that ended their process have not said what they called.
    studied.check("/// Asks again", "// A comment.\n\n/// Asks again", |kept, all| kept * 20 > all * 19);
    // Places in reasons and in labels move with the code.
    studied.check("next += 1;", "// One more.\n\n        next\n            += 1;", |kept, all| kept * 20 > all * 19);
    studied.check("next\n            += 1;", "next += 1;", |kept, all| kept * 20 > all * 19);
    studied.check("number > 900", "number >= 901", |kept, all| kept > all / 2 && kept < all);
    // Every run calls the server.
    studied.check("next += 1;", "next = number + 1;", |kept, _| kept == 0);
    studied.check("from_millis(100)", "from_millis(150)", |kept, _| kept == 0);
    studied.check("/// Nobody", "#[inline]\nfn _other() {}\n\n/// Nobody", |kept, _| kept == 0);
}
