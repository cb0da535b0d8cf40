//! Whatever is wrong, the message names it and the cure, the exit code is the documented one, and nothing is
//! half-written.

use std::io::Write;
use std::net::UdpSocket;
use std::path::Path;
use std::process::Command;

use crate::support::{
    RESULTS, STUDY, assert_exit, command, finished_study, folder, results, run, snapshot, stderr, stdout, text, write,
};

/// Checks the exit code, the message, that nothing is printed as a result, and that all files are as they were.
#[track_caller]
fn check(arguments: &[&str], out: &Path, code: i32, expect: &[&str]) {
    let before = snapshot(out);
    let output = run(arguments, out);
    assert_exit(&output, code);
    for part in expect {
        assert!(stderr(&output).contains(part), "`{part}` is not in: {}", stderr(&output));
    }
    assert_eq!(stdout(&output), "");
    assert!(snapshot(out) == before, "{arguments:?} changed {:?}", snapshot(out).keys());
}

#[test]
fn unknown_names_are_answered_with_the_known_ones() {
    let study = finished_study();
    let out = &study.out;
    check(
        &["study", "nothing"],
        out,
        3,
        &["no system `nothing`", "known systems: dns, gbn, gbn-last-ack, gbn-thesis, gcd"],
    );
    check(&["study", "gbn", "--criterion", "IP-9"], out, 3, &["--criterion IP-9", "all-blocks", "IP-2"]);
    check(&["study", "gbn", "--count-cost"], out, 3, &["--count-cost needs a cost oracle", "--cost events=20%"]);
    check(&["study", "gbn", "--count-cost", "--cost", "none"], out, 3, &["--count-cost needs a cost oracle"]);
    // Drawn suites of it would be judged by what they were drawn for.
    check(&["study", "gbn", "--criterion", "mutants"], out, 3, &["--criterion mutants", "--builder greedy"]);
    check(
        &["simulate", "gbn", "--case", "1", "--mutant", "99999"],
        out,
        3,
        &["--mutant 99999", "`mutants` lists them"],
    );
    check(&["frobnicate"], out, 2, &["frobnicate"]);
    let near = ["no operator or set `SDK`", "did you mean `SDL`?", "mujava", "MSG-D"];
    check(&["mutants", "gbn", "--operators", "default,SDK"], out, 2, &near);
    let nowhere = folder();
    let new = nowhere.path().join("new");
    check(&["study", "nothing"], &new, 3, &["no system `nothing`"]);
    assert!(!new.exists(), "a folder for nothing");
    let machine = ["the source `pairs` takes walks of machines, and gbn has none", "simutant init --machine"];
    check(&["study", "gbn", "--source", "pairs"], nowhere.path(), 3, &machine);
}

#[test]
fn where_there_is_no_package_the_message_says_so_and_names_the_systems_that_come_along() {
    let (nowhere, out) = (folder(), folder());
    let output = command(&["study", "quota"], out.path()).current_dir(nowhere.path()).output().expect("it was built");
    assert_exit(&output, 3);
    let message = stderr(&output);
    let parts =
        ["no system `quota`", "no Cargo.toml in this folder or above", "Simutant's own: dns, gbn, gbn-last-ack"];
    assert!(parts.iter().all(|part| message.contains(part)), "{message}");
}

#[test]
fn a_test_has_a_suite_or_test_cases_of_the_universe() {
    let out = folder();
    let both = ["test", "gbn", "--implementation", "udp", "--suite", "a", "--cases", "1"];
    check(&both, out.path(), 2, &["cannot be used with"]);
}

#[test]
fn an_explanation_that_nothing_can_give_is_refused_before_the_build() {
    let study = finished_study();
    let none = folder();
    for (mutant, out, part) in
        [("99999", &*study.out, "no mutant has the number"), ("0", none.path(), "no finished study")]
    {
        let output = run(&["explain", "gbn", mutant], out);
        assert_exit(&output, 3);
        let message = stderr(&output);
        assert!(message.contains(part) && !message.contains("compiling"), "{message}");
    }
}

#[test]
fn numbers_that_make_no_sense_are_refused_before_anything_is_run() {
    let folder = folder();
    check(&["study", "gbn", "--cases", "0"], folder.path(), 2, &["--cases"]);
    let cost = |text| ["study", "gbn", "--cost", text];
    check(&cost("event=20%"), folder.path(), 2, &["no measure `event`", "for example events=20%,time=50%"]);
    check(&cost("events=+500"), folder.path(), 2, &["`+500` is not", "for example events=20%,time=50%"]);
    check(&cost("20%"), folder.path(), 2, &["`20%` has no `=`", "events=P%, messages=P% and time=P%"]);
    check(&["study", "gbn", "--jobs", "0"], folder.path(), 2, &["--jobs"]);
    check(&["study", "gbn", "--budget", "0"], folder.path(), 2, &["--budget"]);
    check(&["study", "gbn", "--budget", "9", "--builder", "minimum"], folder.path(), 3, &["--builder greedy"]);
    // One suite has no deviation.
    let output = run(&["study", "gbn", "--cases", "4", "--suites", "1"], folder.path());
    assert!(matches!(output.status.code(), Some(2 | 3)), "{:?}: {}", output.status, stderr(&output));
    assert!(stderr(&output).contains("suites"), "{}", stderr(&output));
    assert!(snapshot(folder.path()).is_empty(), "{:?}", snapshot(folder.path()).keys());
}

#[test]
fn a_study_of_something_else_in_the_folder_is_left_alone() {
    let study = finished_study();
    let arguments = |cases, seed| ["study", "gbn", "--cases", cases, "--seed", seed];
    let cure = ["--fresh", "--out"];
    check(&arguments("24", "8"), &study.out, 3, &[&["seed 7", "seed 8"], &cure[..]].concat());
    // A study grows, and does not shrink.
    check(&arguments("23", "7"), &study.out, 3, &[&["cases 24", "cases 23"], &cure[..]].concat());
    let all = [&STUDY[..], &["--replacements", "all"]].concat();
    check(&all, &study.out, 3, &[&["operators \"default\"", ":all"], &cure[..]].concat());
    let some = [&STUDY[..], &["--operators", "-LVR"]].concat();
    check(&some, &study.out, 3, &[&["operators \"default\"", "operators \"AOR,"], &cure[..]].concat());
}

#[test]
fn a_damaged_journal_is_named_and_left_alone() {
    let study = finished_study();
    let path = study.out.join("journal.sqlite");
    let whole = std::fs::read(&path).expect("the study wrote it");
    let garbage = b"not a database, but long enough to be read as one".repeat(100);
    for damaged in [garbage, whole[..whole.len() / 2].to_vec(), whole[..5000].to_vec()] {
        let name = write(&path, damaged);
        check(&STUDY, &study.out, 3, &[&name, "damaged", "--fresh"]);
        check(&["simulate", "gbn", "--case", "1"], &study.out, 3, &[&name, "damaged"]);
    }
    assert_exit(&run(&[&STUDY[..], &["--fresh"]].concat(), &study.out), 0);
}

#[test]
fn a_folder_that_cannot_be_made_is_named() {
    let folder = folder();
    let file = folder.path().join("file");
    let name = write(&file, "not a folder");
    check(&["study", "gbn"], &file, 5, &[&name]);
    check(&["select", "gbn"], &file.join("below"), 5, &[&name]);
}

#[test]
fn test_cases_that_are_none_are_refused() {
    let study = finished_study();
    let out = &study.out;
    let case = |bytes: &str| format!("{{\"bytes\":{bytes},\"drop\":0.1,\"duplicate\":0,\"seed\":1}}");
    check(&["simulate", "gbn", "--case", &case("0")], out, 3, &["bytes is 0", "from 1 to 335760"]);
    check(&["simulate", "gbn", "--case", "{\"byte\":1}"], out, 3, &["unknown field `byte`"]);
    check(&["simulate", "gbn", "--case", "{"], out, 3, &["--case", "not JSON"]);
    check(&["simulate", "gbn", "--case", "/no/such/file"], out, 3, &["/no/such/file"]);
    let file = write(&out.join("case.json"), "[");
    check(&["simulate", "gbn", "--case", &file], out, 3, &[&file, "not JSON"]);
}

#[test]
fn suites_that_cannot_be_used_are_refused_by_field() {
    let study = finished_study();
    let good = std::fs::read_to_string(study.out.join("suite.json")).expect("the study wrote it");
    let folder = folder();
    let path = folder.path().join("suite.json");
    let name = text(&path);
    let arguments = ["test", "gbn", "--suite", &name, "--implementation", "udp"];
    check(&arguments, folder.path(), 3, &[&name, "`simutant study gbn` writes a suite"]);
    for (content, expect) in [
        (good.replace("\"gbn\"", "\"dns\""), ["field `system` is `dns`", &name]),
        (good.replace("\"format_version\": 1", "\"format_version\": 9"), ["field `format_version` is 9", &name]),
        (good.replace("\"criterion\"", "\"criterium\""), ["unknown field `criterium`", &name]),
        // The suite itself is good, so it is the implementation's system that refuses.
        (good.replace("\"bytes\": ", "\"bytes\": 9999999"), ["field bytes is 9999999", "from 1 to"]),
        ("hello".to_owned(), ["not a suite", &name]),
        (good[..good.len() / 2].to_owned(), ["not a suite", &name]),
    ] {
        write(&path, content);
        check(&arguments, folder.path(), 3, &expect);
    }
    write(&path, &good);
    let only = [&arguments[..], &["--only", "gbn-none"]].concat();
    check(&only, folder.path(), 3, &["no test case `gbn-none`", "there are: gbn-", &name]);
}

#[test]
fn implementations_that_cannot_be_used_are_refused_by_field() {
    let study = finished_study();
    let suite = study.path("suite.json");
    let folder = folder();
    let test = |implementation: &str, code, expect: &[&str]| {
        let arguments = ["test", "gbn", "--suite", &suite, "--implementation", implementation];
        check(&arguments, folder.path(), code, expect);
    };
    test("nothing", 3, &["no implementation `nothing`", "udp"]);
    test("/no/such/file.toml", 3, &["/no/such/file.toml"]);
    let sides = |receiver: &str, key: &str| {
        format!(
            "name = \"mine\"\nsystem = \"gbn\"\ndescription = \"\"\n[[side]]\nname = \"receiver\"\n{key} = [\"{receiver}\"]\n\
             [[side]]\nname = \"sender\"\ncommand = [\"true\"]\n"
        )
    };
    let path = folder.path().join("mine.toml");
    let name = write(&path, sides("true", "comand"));
    test(&name, 3, &[&name, "comand"]);
    write(&path, sides("{outputs}", "command"));
    test(&name, 3, &[&name, "`command` of side `receiver`", "{outputs}"]);
    write(&path, sides("/no/such/program", "command"));
    test(&name, 4, &["implementation mine", "/no/such/program", "receiver", "`command`"]);
    write(&path, sides("true", "command").replace("description", "build = [\"false\"]\ndescription"));
    test(&name, 4, &["implementation mine", "`build` command `false`"]);
}

#[test]
fn the_proxy_says_what_is_wrong_with_its_arguments() {
    let folder = folder();
    let taken = UdpSocket::bind("127.0.0.1:0").expect("a free port");
    let listen = taken.local_addr().expect("it is bound").to_string();
    check(&["proxy", "--listen", &listen, "--forward", "127.0.0.1:9"], folder.path(), 4, &[&listen, "port 0"]);
    let arguments = ["proxy", "--listen", "127.0.0.1:0", "--forward", "127.0.0.1:9"];
    for (option, message) in [("--drop=1.5", "--drop is 1.5"), ("--duplicate=NaN", "--duplicate is NaN")] {
        check(&[&arguments[..], &[option]].concat(), folder.path(), 3, &[message, "from 0 to 1"]);
    }
    for (forward, message) in [
        ("127.0.0.1:0", "nothing receives at port 0"),
        ("0.0.0.0:9", "it stands for all addresses of a machine"),
        ("255.255.255.255:9", "cannot forward to 255.255.255.255:9: "),
    ] {
        for network in [&[][..], &["--network", "{}"]] {
            let arguments = ["proxy", "--listen", "localhost:0", "--forward", forward];
            check(&[&arguments[..], network].concat(), folder.path(), 3, &["--forward: ", message]);
        }
    }
    let without_port = ["proxy", "--listen", "localhost", "--forward", "localhost:9"];
    check(&without_port, folder.path(), 2, &["give a host and a port, for example localhost:5000"]);
    let calm = "{}";
    let taken = ["proxy", "--listen", &listen, "--forward", "127.0.0.1:9", "--network", calm];
    check(&taken, folder.path(), 4, &[&listen, "port 0"]);
    let link = r#"{"link": {"drop": 2}}"#;
    let elsewhere = r#"{"links": [{"from": "nobody", "link": {}}]}"#;
    for (network, message) in [
        (link, "link.drop"),
        (elsewhere, "\"nobody\" is no program here; there are: client, server"),
        ("nowhere.json", "not JSON, and as a file"),
    ] {
        check(&[&arguments[..], &["--network", network]].concat(), folder.path(), 3, &["--network", message]);
    }
}

/// A file system of its own, whose size can be changed.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    /// Returns `None` to those who may not mount.
    fn mount(kibibytes: u64) -> Option<Self> {
        let folder = folder();
        let options = format!("size={kibibytes}k");
        let mount = Command::new("mount").args(["-t", "tmpfs", "-o", &options, "tmpfs"]).arg(folder.path()).output();
        mount.is_ok_and(|output| output.status.success()).then_some(Self(folder))
    }

    fn resize(&self, kibibytes: u64) {
        let options = format!("remount,size={kibibytes}k");
        let mount = Command::new("mount").args(["-o", &options]).arg(self.0.path()).status();
        assert!(mount.expect("it could be mounted").success());
    }

    /// Leaves so much room.
    fn leave(&self, kibibytes: u64) {
        let used = Command::new("du").args(["-sk"]).arg(self.0.path()).output().expect("du is everywhere");
        let used = stdout(&used).split_whitespace().next().and_then(|number| number.parse::<u64>().ok());
        self.resize(used.expect("du prints a number first") + kibibytes);
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        _ = Command::new("umount").arg(self.0.path()).status();
    }
}

#[test]
fn a_full_disk_is_told_and_the_study_goes_on_when_there_is_room() {
    const LARGE: u64 = 64 * 1024;
    let Some(disk) = SmallDisk::mount(100) else {
        // Only root may mount: elsewhere the test cannot be done, and says so.
        _ = writeln!(std::io::stderr(), "may not mount: no small disk to fill");
        return;
    };
    let out = disk.0.path().join("out");
    let check_full = |file: &str, variables: &[(&str, &Path)]| {
        let output = command(&STUDY, &out).envs(variables.iter().copied()).output().expect("the command was built");
        assert_exit(&output, 5);
        for part in ["make room", file] {
            assert!(stderr(&output).contains(part), "`{part}` is not in: {}", stderr(&output));
        }
        assert_eq!(stdout(&output), "");
        assert!(!out.join("suite.json").exists(), "nothing is half-written");
    };
    check_full("systems/gbn-", &[("CARGO_TARGET_DIR", disk.0.path())]);
    assert!(!out.join("journal.sqlite").exists(), "nothing is begun");
    disk.resize(LARGE);
    // With all that is built in a place with room, it is the journal that has none.
    assert_exit(&run(&STUDY, &out), 0);
    for file in RESULTS.iter().chain(&["journal.sqlite"]) {
        std::fs::remove_file(out.join(file)).expect("the study wrote it");
    }
    disk.leave(200);
    check_full("journal.sqlite", &[]);
    disk.resize(LARGE);
    assert_exit(&run(&STUDY, &out), 0);
    assert!(results(&out) == results(&finished_study().out), "the results differ");

    // An old result stays as it was if there is no room for a new one.
    disk.leave(100);
    let before = results(&out);
    let output = run(&STUDY, &out);
    assert_exit(&output, 5);
    assert!(stderr(&output).contains("make room"), "{}", stderr(&output));
    assert!(results(&out) == before, "a file is half-written");
}

#[test]
fn a_standard_output_that_is_full_is_an_error() {
    let study = finished_study();
    let full = std::fs::File::options().write(true).open("/dev/full").expect("this is Linux");
    let output = command(&["mutants", "gbn"], &study.out).stdout(full).output().expect("the command was built");
    assert_exit(&output, 5);
    assert!(stderr(&output).contains("No space left"), "{}", stderr(&output));
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
