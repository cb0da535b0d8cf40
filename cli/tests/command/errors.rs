//! Whatever is wrong, the message names it and the cure, the exit code is the documented one, and nothing is half-written.

use std::io::Write;
use std::net::UdpSocket;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{STUDY, assert_exit, command, listing, run, stderr, stdout};

#[track_caller]
fn check(arguments: &[&str], out: &Path, code: i32, expect: &[&str]) {
    let output = run(arguments, out);
    assert_exit(&output, code);
    for part in expect {
        assert!(stderr(&output).contains(part), "`{part}` is not in: {}", stderr(&output));
    }
    assert_eq!(stdout(&output), "");
}

/// Returns a copy of the finished study's journal in a new folder.
fn copied_journal() -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::copy(STUDY.out.join("journal.sqlite"), folder.path().join("journal.sqlite")).expect("it can be copied");
    folder
}

#[test]
fn unknown_names_are_answered_with_the_known_ones() {
    let out = &STUDY.out;
    check(&["study", "nothing"], out, 3, &["no system `nothing`", "known systems: gbn, gcd"]);
    check(&["study", "gbn", "--criterion", "IP-9"], out, 3, &["--criterion IP-9", "all-blocks", "IP-2"]);
    check(
        &["simulate", "gbn", "--case", "1", "--mutant", "99999"],
        out,
        3,
        &["--mutant 99999", "`mutants` lists them"],
    );
    check(&["study", "gbn", "--cases", "0"], out, 2, &["--cases"]);
    check(&["frobnicate"], out, 2, &["frobnicate"]);
}

#[test]
fn a_study_of_something_else_in_the_folder_is_left_alone() {
    let before = listing(&STUDY.out);
    check(&["study", "gbn", "--cases", "24", "--seed", "8"], &STUDY.out, 3, &["seed 7", "seed 8", "--fresh"]);
    check(&["study", "gbn", "--cases", "25", "--seed", "7"], &STUDY.out, 3, &["cases 24", "cases 25", "--fresh"]);
    assert_eq!(listing(&STUDY.out), before);
}

#[test]
fn a_damaged_journal_is_named_and_left_alone() {
    let arguments = ["study", "gbn", "--cases", "24", "--seed", "7"];
    let folder = copied_journal();
    let journal = folder.path().join("journal.sqlite");
    let whole = std::fs::read(&journal).expect("it was copied");
    for damaged in [b"not a database, but long enough to be read as one".repeat(100), whole[..whole.len() / 2].to_vec()]
    {
        std::fs::write(&journal, &damaged).expect("a temporary file");
        check(&arguments, folder.path(), 3, &["journal.sqlite", "damaged", "--fresh"]);
        assert!(!folder.path().join("suite.json").exists());
    }
}

#[test]
fn test_cases_that_are_none_are_refused() {
    let out = &STUDY.out;
    let case = |bytes: &str| format!("{{\"bytes\":{bytes},\"drop\":0.1,\"duplicate\":0,\"seed\":1}}");
    check(&["simulate", "gbn", "--case", &case("0")], out, 3, &["bytes is 0", "from 1 to 335760"]);
    check(&["simulate", "gbn", "--case", "{\"byte\":1}"], out, 3, &["unknown field `byte`"]);
    check(&["simulate", "gbn", "--case", "{"], out, 3, &["--case", "not JSON"]);
    check(&["simulate", "gbn", "--case", "/no/such/file"], out, 3, &["/no/such/file"]);
}

#[test]
fn suites_that_cannot_be_used_are_refused_by_field() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let good = std::fs::read_to_string(STUDY.out.join("suite.json")).expect("the study wrote it");
    let path = folder.path().join("suite.json");
    let name = path.to_str().expect("text");
    let arguments = ["test", "gbn", "--suite", name, "--implementation", "udp"];
    check(&arguments, folder.path(), 3, &[name, "`simutant study gbn` writes a suite"]);
    for (text, expect) in [
        (good.replace("\"gbn\"", "\"dns\""), "field `system` is `dns`"),
        (good.replace("\"format_version\": 1", "\"format_version\": 9"), "field `format_version` is 9"),
        (good.replace("\"criterion\"", "\"criterium\""), "unknown field `criterium`"),
        (good.replace("\"bytes\": ", "\"bytes\": 9999999"), "bytes"),
        ("hello".to_owned(), "not a suite"),
    ] {
        std::fs::write(&path, text).expect("a temporary file");
        check(&arguments, folder.path(), 3, &[expect]);
    }
    std::fs::write(&path, &good).expect("a temporary file");
    let only = [&arguments[..], &["--only", "gbn-none"]].concat();
    check(&only, folder.path(), 3, &["no test case `gbn-none`", "there are: gbn-"]);
}

#[test]
fn implementations_that_cannot_be_used_are_refused_by_field() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let suite = STUDY.out.join("suite.json");
    let test = |implementation: &str, code, expect: &[&str]| {
        let suite = suite.to_str().expect("text");
        let arguments = ["test", "gbn", "--suite", suite, "--implementation", implementation];
        check(&arguments, folder.path(), code, expect);
    };
    test("nothing", 3, &["no implementation `nothing`", "udp"]);
    let sides = |receiver: &str, key: &str| {
        format!(
            "name = \"mine\"\nsystem = \"gbn\"\ndescription = \"\"\n[[side]]\nname = \"receiver\"\n{key} = [\"{receiver}\"]\n\
             [[side]]\nname = \"sender\"\ncommand = [\"true\"]\n"
        )
    };
    let path = folder.path().join("mine.toml");
    let write = |text: String| std::fs::write(&path, text).expect("a temporary file");
    let name = path.to_str().expect("text");
    write(sides("true", "comand"));
    test(name, 3, &[name, "comand"]);
    write(sides("/no/such/program", "command"));
    test(name, 4, &["/no/such/program", "receiver"]);
    write(sides("true", "command").replace("description", "build = [\"false\"]\ndescription"));
    test(name, 4, &["build", "false"]);
}

#[test]
fn the_proxy_says_what_is_wrong_with_its_arguments() {
    let out = &STUDY.out;
    let taken = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let listen = taken.local_addr().expect("it is bound").to_string();
    check(&["proxy", "--listen", &listen, "--forward", "127.0.0.1:9"], out, 4, &[&listen]);
    let arguments = ["proxy", "--listen", "127.0.0.1:0", "--forward", "127.0.0.1:9", "--drop", "1.5"];
    check(&arguments, out, 3, &["--drop is 1.5"]);
}

#[test]
fn a_second_study_in_the_folder_waits_for_its_turn() {
    let folder = copied_journal();
    let lock = std::fs::File::create(folder.path().join("campaign.lock")).expect("a temporary file");
    lock.lock().expect("nobody else has it");
    let before = listing(folder.path());
    let arguments = ["study", "gbn", "--cases", "24", "--seed", "7"];
    check(&arguments, folder.path(), 4, &["another campaign is running in this folder"]);
    assert_eq!(listing(folder.path()), before);
}

/// A file system with little room.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn mount(size: &str) -> Option<Self> {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let mount = Command::new("mount")
            .args(["-t", "tmpfs", "-o", &format!("size={size}"), "tmpfs"])
            .arg(folder.path())
            .stderr(Stdio::null())
            .status();
        mount.is_ok_and(|status| status.success()).then_some(Self(folder))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        _ = Command::new("umount").arg(self.0.path()).status();
    }
}

#[test]
fn a_full_disk_is_told_and_the_study_goes_on_when_there_is_room() {
    // Full while the simulation is built, and while the journal grows.
    for size in ["1m", "2500k"] {
        let Some(disk) = SmallDisk::mount(size) else {
            // Only root may mount: elsewhere the test cannot be done, and says so.
            _ = writeln!(std::io::stderr(), "not root: no small disk to fill");
            return;
        };
        let out = disk.0.path().join("out");
        let arguments = ["study", "gbn", "--cases", "900", "--seed", "7"];
        let output = run(&arguments, &out);
        assert_exit(&output, 5);
        assert!(stderr(&output).contains("make room"), "{}", stderr(&output));
        assert!(!out.join("suite.json").exists(), "nothing is half-written");
        assert_eq!(out.join("journal.sqlite").exists(), size != "1m", "{}", stderr(&output));

        let more = Command::new("mount").args(["-o", "remount,size=64m"]).arg(disk.0.path()).status();
        assert!(more.expect("it could be mounted").success());
        assert_exit(&run(&arguments, &out), 0);
        assert!(out.join("suite.json").exists());
    }
}

#[test]
fn help_names_every_exit_code() {
    let output = command(&["--help"], Path::new("out")).output().expect("the command was built");
    assert_exit(&output, 0);
    for code in
        ["0  done", "1  a test failed", "2  the command line", "3  a file", "4  something", "5  a file", "130  "]
    {
        assert!(stdout(&output).contains(code), "{code}: {}", stdout(&output));
    }
}
