//! Simulations that depend on more than their test cases end a study with an error, and never with outcomes.

use std::process::{Command, Output};

use crate::init::UserPackage;
use crate::support::{assert_exit, folder, stderr, stdout, text, write};

/// Where the template makes its network: a leak in the latency shows in every trace.
pub(crate) const LATENCY: &str = "VirtualDuration::from_nanos(case.latency_ns)";

/// Studies `store` with few test cases and expects that it ends with an error, and without results.
#[track_caller]
fn fails(package: &UserPackage, out: &str) -> Output {
    let arguments = ["study", "store", "--cases", "4", "--reseed", "1", "--jobs", "1", "--seed", "3", "--out", out];
    let output = package.simutant(&arguments);
    assert_exit(&output, 1);
    assert_eq!(stdout(&output), "");
    assert!(!package.path(out).join("results.json").exists(), "results of a study that failed");
    output
}

#[test]
fn what_is_left_by_earlier_runs_shows_in_pairs_that_are_pruned() {
    // So many runs that the baseline is over: it would see that the runs of a test case differ.
    let leak = "{\n    static RUNS: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);\n    \
                let run = RUNS.fetch_add(1, std::sync::atomic::Ordering::Relaxed);\n    \
                VirtualDuration::from_nanos(case.latency_ns + u64::from(run > 30))\n}";
    let package = UserPackage::changed("src/store.rs", LATENCY, leak);
    let out = folder();
    let out = text(&out.path().join("it's here"));
    let output = fails(&package, &out);
    let told = stderr(&output);
    for part in ["was not to be run", "had other events than the original", "what ran before in its process"] {
        assert!(told.contains(part), "`{part}` is not in: {told}");
    }

    let command = told.split('`').find(|part| part.contains(" simulate store ")).expect("a command is told");
    let mut shell = Command::new("sh");
    shell.args(["-c", command]).current_dir(package.path("")).env("CARGO_TARGET_DIR", UserPackage::target_directory());
    // It is the first run of its process, in which nothing is left.
    let again = shell.output().expect("it can be started");
    assert_exit(&again, 0);
    assert!(stdout(&again).contains("passed"), "{}", stdout(&again));
}

#[test]
fn what_depends_on_the_text_of_the_source_shows_beside_the_plain_build() {
    let part = "channel.send(delivery.source,";
    let leak = format!("context.pause(VirtualDuration::from_nanos(END)).await;\n            {part}");
    let package = UserPackage::changed("src/store/protocol.rs", part, &leak);
    // Below the functions, which have four bodies in the instrumented copy.
    let source = package.read("src/store/protocol.rs");
    write(&package.path("src/store/protocol.rs"), format!("{source}\nconst END: u64 = line!() as u64;\n"));
    let out = folder();
    let told = stderr(&fails(&package, &text(out.path())));
    for part in [
        "does not do the same in the instrumented build",
        "from event ",
        "as it is written {",
        "line numbers of its source",
    ] {
        assert!(told.contains(part), "`{part}` is not in: {told}");
    }
}

#[test]
fn a_broken_oracle_is_told_before_the_instrumented_build_with_the_number_of_test_cases() {
    let package = UserPackage::changed("src/store.rs", LATENCY, "{ panic!(\"broken\") }");
    let out = folder();
    let told = stderr(&fails(&package, &text(out.path())));
    for part in ["test case 0 of seed 3 does not pass on the original store", "broken", "4 of 4 test cases fail"] {
        assert!(told.contains(part), "`{part}` is not in: {told}");
    }
    assert!(told.contains("as it is written") && !told.contains(" mutants ("), "{told}");
}
