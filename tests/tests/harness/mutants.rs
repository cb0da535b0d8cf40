//! Programs with mutants in them: what they are told, what they tell, and that those that always fail do not take long.

use simutant_harness::{ActiveMutant, CaseResult, RunOptions, run_suite};

use crate::support::{GENTLE, options, scripts, suite};

const NOTHING: &str = r#"command = ["true"]"#;

/// Runs two scripts with a mutant active, or none. The sender is a script of the shell, and then copies the file.
fn run(script: &str, number: Option<u32>) -> CaseResult {
    let sender = format!(r#"command = ["sh", "-ec", '{script}; cp "$0" output', "{{input}}"]"#);
    let active = ActiveMutant { number, programs: 1 };
    let mutant = scripts(NOTHING, &sender).with_mutant("mutant".into(), "Scripts".into(), active);
    let mut report =
        run_suite(&suite(&[GENTLE]), &mutant, &options(), &mut |_| {}).expect("the scripts can be started");
    report.results.remove(0)
}

#[test]
fn a_program_is_told_its_mutant_and_tells_that_it_came_to_it() {
    let result = run(r#"test "$SIMUTANT_MUTANT" = 17; touch "$SIMUTANT_MUTANT_REACHED""#, Some(17));
    assert!(result.verdict.passes(), "{result:?}");
    assert_eq!(result.mutant_reached, Some(true));
    let result = run("true", Some(17));
    assert!(result.verdict.passes(), "{result:?}");
    assert_eq!(result.mutant_reached, Some(false));
    let result = run(r#"touch "$SIMUTANT_MUTANT_REACHED"; false"#, Some(17));
    assert!(!result.verdict.passes(), "{result:?}");
    assert_eq!(result.mutant_reached, Some(true));
    let result = run(r#"test -z "${{SIMUTANT_MUTANT+set}}${{SIMUTANT_MUTANT_REACHED+set}}""#, None);
    assert!(result.verdict.passes(), "{result:?}");
    assert_eq!(result.mutant_reached, None);
}

#[test]
fn what_fails_too_often_is_not_tried_further() {
    let failing = scripts(NOTHING, r#"command = ["false"]"#);
    let ran = |jobs: usize, failures_max| {
        let options = RunOptions { jobs: jobs.try_into().expect("not 0"), failures_max, ..options() };
        run_suite(&suite(&[GENTLE; 20]), &failing, &options, &mut |_| {}).expect("they can be started").results.len()
    };
    // Test cases that are under way when the last one fails end.
    assert!((3..=4).contains(&ran(1, 2)));
    assert!((3..=8).contains(&ran(4, 2)));
    assert_eq!(ran(4, 20), 20);
}
