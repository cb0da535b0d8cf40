//! Studies in shards: the files are those of one machine.

#![expect(clippy::print_stderr, reason = "what is skipped is said")]

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::{Command, Output};

use crate::init::UserPackage;
use crate::self_checks::LATENCY;
use crate::support::{STUDY, assert_exit, finished_study, folder, results, run, stderr, stdout, text, write};

/// Runs the command without `--out`.
fn simutant(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_simutant")).args(arguments).output().expect("the command was built")
}

fn path(folder: &Path, name: &str) -> String {
    text(&folder.join(name))
}

#[test]
fn a_study_in_shards_writes_the_files_of_one_machine() {
    let expected = results(&finished_study().out);
    let folder = folder();
    let out = folder.path().join("out");
    let bundle = path(folder.path(), "the bundle");
    let prepare = [&STUDY[..], &["--prepare", &bundle]].concat();
    let prepared = run(&prepare, &out);
    assert_exit(&prepared, 0);
    let told = stdout(&prepared);
    assert!(told.starts_with(&format!("prepared: 24 test cases of gbn, in '{bundle}'\n")), "{told}");
    let id = told.lines().find_map(|line| line.strip_prefix("bundle: ")).expect("it has an identity");
    assert!(!out.join("suite.json").exists(), "nothing is chosen yet");

    // Elsewhere there is neither cargo nor source, and the bundle has the command.
    let files: Vec<String> = (0..3).map(|shard| path(folder.path(), &format!("results/{shard}.sqlite"))).collect();
    for (shard, file) in files.iter().enumerate() {
        let mut command = Command::new(format!("{bundle}/simutant"));
        command.args(["shard", &bundle, &format!("{shard}/3"), "--into", file, "--id", &id[..16]]);
        let output = command.env("PATH", "/nowhere").current_dir("/").output().expect("it is a program");
        assert_exit(&output, 0);
        let told = stdout(&output);
        assert!(told.contains(&format!("shard {shard}/3 of gbn: ")) && told.contains(": complete\n"), "{told}");
    }
    check_parallel(folder.path(), &bundle, &files);
    let merged = simutant(&["merge", &text(&out), &files[1], &files[0]]);
    assert_exit(&merged, 7);
    let told = stdout(&merged);
    assert!(told.contains(" of 24, which are 2, "), "{told}");
    let merged = simutant(&["merge", &text(&out), &files[2], "--json"]);
    assert_exit(&merged, 0);
    let merged: serde_json::Value = serde_json::from_slice(&merged.stdout).expect("JSON");
    assert_eq!(merged["missing"], serde_json::json!([]));
    assert!(merged["known"].as_u64() > Some(0), "some test cases are in two shards: {merged}");

    let study = run(&[&STUDY[..], &["--verbose"]].concat(), &out);
    assert_exit(&study, 0);
    assert!(stdout(&study).contains("runs: none in this session"), "{}", stdout(&study));
    assert_eq!(results(&out), expected);
}

/// Runs what `cluster-script parallel` prints, with a program in place of ssh that does what ssh does: its words are one line
/// for a shell in the home folder, and the environment names the user's shell, without which GNU parallel runs nothing and
/// ends with 0.
fn check_parallel(folder: &Path, bundle: &str, files: &[String]) {
    let script = simutant(&["cluster-script", "parallel", bundle, "--shards", "3"]);
    assert_exit(&script, 0);
    let script = stdout(&script);
    let two = script.replace("1/HOST1,1/HOST2", "1/one,1/two");
    assert_ne!(two, script);
    if Command::new("parallel").arg("--version").output().is_err() {
        eprintln!("skipped: GNU parallel is not installed (`cargo xtask test` installs it on Debian)");
        return;
    }
    let elsewhere = folder.join("else where");
    std::fs::create_dir(&elsewhere).expect("there is room");
    let ssh = folder.join("ssh");
    write(
        &ssh,
        "#!/bin/sh\nwhile [ \"${1#-}\" != \"$1\" ]; do shift; done\nhost=$1\nshift\n[ \"$1\" != -- ] || shift\nexport SHELL=/bin/sh\necho \"$host\" >> \"$HOSTS\"\ncd\nexec sh -c \"$*\"\n",
    );
    std::fs::set_permissions(&ssh, Permissions::from_mode(0o700)).expect("it is ours");
    let hosts = folder.join("hosts");
    let mut command = Command::new("sh");
    command
        .args(["-c", &two])
        .current_dir(&elsewhere)
        .env_remove("SHELL")
        .env("PARALLEL_SSH", &ssh)
        .env("HOSTS", &hosts);
    assert_exit(&command.env("HOME", folder).output().expect("a shell"), 0);
    let seen = std::fs::read_to_string(&hosts).expect("it was called");
    assert!(seen.contains("one") && seen.contains("two"), "{seen}");
    for (shard, file) in files.iter().enumerate() {
        let of_parallel = path(&elsewhere, &format!("results/{shard}.sqlite"));
        let merged = simutant(&["merge", &path(folder, "merged"), file, &of_parallel, "--bundle", bundle]);
        assert!(stdout(&merged).contains("known already, and the same: "), "{}{}", stdout(&merged), stderr(&merged));
    }
}

#[test]
fn a_machine_on_which_the_c_library_computes_otherwise_runs_no_mutant() {
    const NO_FMA: &str = "glibc.cpu.hwcaps=-FMA,-FMA4,-AVX2";
    // Few results differ, so it takes many to see whether any do.
    let results = |tunables: &str| {
        let mut python = Command::new("python3");
        python.args(["-c", "import math; print([math.exp(number / 777) for number in range(50_000)])"]);
        python.env("GLIBC_TUNABLES", tunables).output().map(|output| output.stdout).unwrap_or_default()
    };
    if results("") == results(NO_FMA) {
        eprintln!("skipped: the C library of this machine, or its processor, has one code for real numbers");
        return;
    }
    let change = "VirtualDuration::from_nanos((case.latency_ns as f64).ln().exp() as u64)";
    let package = UserPackage::changed("src/store.rs", LATENCY, change);
    let folder = folder();
    let (bundle, out) = (path(folder.path(), "bundle"), path(folder.path(), "out"));
    let study = ["study", "store", "--cases", "20", "--reseed", "1", "--seed", "3", "--out", &out];
    assert_exit(&package.simutant(&[&study[..], &["--prepare", &bundle]].concat()), 0);
    let into = folder.path().join("0.sqlite");
    let shard = |tunables: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_simutant"));
        command.args(["shard", &bundle, "0/1", "--into", &text(&into)]).env("GLIBC_TUNABLES", tunables);
        command.output().expect("the command was built")
    };
    // The last bits of `exp` and `ln` are others then.
    let refused = shard(NO_FMA);
    assert_exit(&refused, 4);
    assert!(stderr(&refused).contains("computes other last bits of "), "{}", stderr(&refused));
    assert!(!into.exists(), "a result of a machine that computes otherwise");
    assert_exit(&shard(""), 0);
    assert!(into.exists());
}

#[test]
fn what_is_no_shard_and_no_bundle_is_told() {
    let folder = folder();
    let told = |arguments: &[&str], exit: i32, expect: &str| {
        let output = simutant(arguments);
        assert_exit(&output, exit);
        assert!(stderr(&output).contains(expect), "{}", stderr(&output));
    };
    let into = path(folder.path(), "0.sqlite");
    told(&["shard", "bundle", "8/8", "--into", &into], 2, "give the shard as K/N, with K from 0 to N - 1");
    told(&["shard", &text(folder.path()), "0/8", "--into", &into], 3, "is no bundle, or is damaged");
    told(&["merge", &text(folder.path()), &into], 3, "holds no campaign that was prepared");
}
