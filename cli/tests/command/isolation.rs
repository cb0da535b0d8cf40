//! Commands in other folders, and in the same, never change what a study runs.

use rustix::process::Signal;

use crate::processes::send;
use crate::resume::{LONG_STUDY, UNDISTURBED, wait_for_rows};
use crate::support::{STUDY, assert_exit, finished_study, folder, results, run, start, stderr};

/// All studies share what cargo builds, so that dependencies are compiled once: but never the mutants.
#[test]
fn a_study_runs_its_own_mutants_whatever_was_built_for_others() {
    let reduced = finished_study();
    let reduced_results = results(&reduced.out);
    let all = folder();
    let study_all = [&STUDY[..], &["--replacements", "all"]].concat();
    assert_exit(&run(&study_all, all.path()), 0);
    let all_results = results(all.path());
    assert!(all_results != reduced_results, "other mutants have other results");

    assert_exit(&run(&[&STUDY[..], &["--fresh"]].concat(), &reduced.out), 0);
    assert!(results(&reduced.out) == reduced_results, "after a build of all replacements elsewhere");
    assert_exit(&run(&[&study_all[..], &["--fresh"]].concat(), all.path()), 0);
    assert!(results(all.path()) == all_results, "after a build of some replacements elsewhere");
}

#[test]
fn a_running_study_is_not_disturbed_by_commands_in_its_folder() {
    let study = finished_study();
    let mut running = start(&LONG_STUDY, &study.out);
    wait_for_rows(&mut running, &study.out, 1);
    // It stands still, so that the workers for the mutants are certainly started after the other commands.
    send(&running, Signal::STOP);

    let second = run(&[&LONG_STUDY[..], &["--replacements", "all"]].concat(), &study.out);
    // Whether it may list the mutants meanwhile is left open.
    _ = run(&["mutants", "gbn", "--replacements", "all"], &study.out);
    send(&running, Signal::CONT);
    assert_exit(&running.wait_with_output().expect("it ends"), 0);
    assert!(results(&study.out) == *UNDISTURBED, "the first study's results differ");

    assert_exit(&second, 4);
    for part in ["another campaign is running in this folder", "wait for its end", "--out"] {
        assert!(stderr(&second).contains(part), "`{part}` is not in: {}", stderr(&second));
    }
}
