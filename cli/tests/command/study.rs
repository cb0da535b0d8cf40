//! What a study writes, and that its seed alone decides.

use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use serde_json::Value;
use simutant_analysis::duration;
use simutant_campaign::{Bounds, Campaign, CampaignPlan, Existing, Pruning};
use simutant_mutator::{BuildRequest, Package, Selection, build, build_plain};
use simutant_outcomes::{CostRole, InputSource, Outcomes, Suite};

use crate::support::{RESULTS, STUDY, assert_exit, finished_study, folder, results, run, stderr, stdout};

#[test]
fn a_study_writes_what_it_says() {
    let study = finished_study();
    for file in RESULTS.into_iter().chain(["journal.sqlite"]) {
        assert!(study.out.join(file).is_file(), "{file}");
        assert!(study.stdout.contains(file), "{file}: {}", study.stdout);
    }
    let prose = study.stdout.lines().take_while(|line| !line.starts_with("written to "));
    assert!(prose.clone().all(|line| line.chars().count() <= 80), "{}", study.stdout);
    assert!(study.stdout.lines().count() <= 40, "it fits on a screen: {}", study.stdout);
    for part in ["24 test cases", "Run suite.json: ", "random inputs", "no check notices"] {
        let text = study.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(part), "{part}: {text}");
    }
    let tables = std::fs::read_to_string(study.out.join("tables.txt")).expect("it was written");
    let summary = study.stdout.split("\nwritten to ").next().expect("there is a summary");
    assert!(tables.starts_with(&format!("# summary\n{summary}")), "{tables}");
    let text = std::fs::read_to_string(study.out.join("suite.json")).expect("it was written");
    let suite = Suite::parse(&text, "gbn").expect("a study writes good suites");
    assert!(!suite.cases.is_empty());
    let next = format!("suite.json --implementation NAME runs its {} inputs\n", suite.cases.len());
    assert!(study.stdout.ends_with(&next), "{}", study.stdout);
    // The survivor that tells most is shown by the command that is named.
    let next = study.stdout.lines().find_map(|line| Some(line.strip_prefix("next: ")?.split_once(" shows ")?.0));
    let number = next.and_then(|command| command.split_once(" explain gbn ")?.1.split(' ').next());
    let number = number.unwrap_or_else(|| panic!("{}", study.stdout));
    let explained = run(&["explain", "gbn", number], &study.out);
    assert_exit(&explained, 0);
    assert!(stdout(&explained).contains("first difference: event "), "{}", stdout(&explained));
    let report = std::fs::read_to_string(study.out.join("report.html")).expect("it was written");
    for outside in ["src=\"http", "href=\"http", "@import", "url(http"] {
        assert!(!report.contains(outside), "the page stands alone: {outside}");
    }
}

#[test]
fn the_seed_alone_decides() {
    let study = finished_study();
    let expected = results(&study.out);

    let output = run(&[&STUDY[..], &["--jobs", "1", "--fresh"]].concat(), &study.out);
    assert_exit(&output, 0);
    assert!(results(&study.out) == expected, "one worker instead of two");

    let output = run(&[&STUDY[..], &["--json"]].concat(), &study.out);
    assert_exit(&output, 0);
    assert!(results(&study.out) == expected, "a second run over the same journal");
    let printed: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    assert_eq!(printed["format_version"], 1);
    let written = std::fs::read_to_string(study.out.join("results.json")).expect("it was written");
    assert_eq!(stdout(&output), written);

    let output =
        run(&["study", "gbn", "--cases", "24", "--seed", "8", "--pages", "2", "--suites", "20", "--fresh"], &study.out);
    assert_exit(&output, 0);
    for (file, (other, first)) in RESULTS.into_iter().zip(results(&study.out).into_iter().zip(expected)) {
        assert!(other != first, "{file} is the same with another seed");
    }
}

#[test]
fn mutants_with_the_code_of_others_count_once_and_nothing_runs_again() {
    let study = finished_study();
    let output = run(&[&STUDY[..], &["--compiler-equivalence", "--json"]].concat(), &study.out);
    assert_exit(&output, 0);
    let results: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    let found = results["options"]["compiled"].as_object().expect("what the compiler says, by identity");
    let duplicates = found.values().filter(|compiled| compiled.get("duplicate").is_some()).count();
    assert!(duplicates > 0, "{found:?}");
    assert_eq!(results["mutants"]["counts"]["duplicate"], duplicates);
    let mutants = results["mutants"]["classes"].as_array().expect("a class for each").len();
    assert_eq!(results["score_bounds"]["mutants"], mutants - duplicates);
}

#[test]
fn a_second_run_executes_nothing() {
    let study = finished_study();
    let before = results(&study.out);
    let output = run(&[&STUDY[..], &["--verbose"]].concat(), &study.out);
    assert_exit(&output, 0);
    let printed = stdout(&output);
    for part in ["none in this session", "all-branches", "IP-2", "executed", "pruned", "# ranking\n"] {
        assert!(printed.contains(part), "{part}: {printed}");
    }
    assert!(results(&study.out) == before, "the results differ");
}

#[test]
fn each_section_of_a_result_is_shown_alone() {
    let study = finished_study();
    let out = study.out.to_string_lossy().into_owned();
    let list = run(&["show", &out], &study.out);
    assert_exit(&list, 0);
    let names = stdout(&list);
    let names: Vec<&str> = names.lines().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(names[..4], ["summary", "campaign", "suite", "survivors"]);
    let shown: Vec<String> = names.iter().map(|name| stdout(&run(&["show", &out, name], &study.out))).collect();
    let criteria = names.iter().position(|name| *name == "criteria").expect("it is listed");
    assert!(shown[criteria].starts_with("Criteria: the suites, "), "{}", shown[criteria]);
    let tables = std::fs::read_to_string(study.out.join("tables.txt")).expect("it was written");
    let lines = |text: &str| text.lines().filter(|line| !line.is_empty()).count();
    let all: usize = shown.iter().map(|text| lines(text)).sum();
    assert_eq!(all + names.len(), lines(&tables), "nothing is left out");
    let unknown = run(&["show", &out, "criterion"], &study.out);
    assert_exit(&unknown, 3);
    assert!(
        stderr(&unknown).contains("there is no section `criterion`; did you mean `criteria`?"),
        "{}",
        stderr(&unknown)
    );
}

#[test]
fn the_suite_of_a_criterion_can_be_asked_for() {
    let study = finished_study();
    for criterion in ["all-blocks", "IP-1", "timeouts"] {
        assert_exit(&run(&[&STUDY[..], &["--criterion", criterion]].concat(), &study.out), 0);
        let text = std::fs::read_to_string(study.out.join("suite.json")).expect("it was written");
        assert_eq!(Suite::parse(&text, "gbn").expect("a good suite").criterion, criterion);
    }
}

/// Returns how the note on a suite begins that takes more than half of the time of the universe, or of its inputs where no
/// time was looked at.
fn saves_little(out: &Path, suite: &Suite) -> Option<String> {
    let text = std::fs::read_to_string(out.join("results.json")).expect("it was written");
    let results: Value = serde_json::from_str(&text).expect("JSON");
    let Some(universe) = results["built_expected"]["universe_seconds"].as_f64() else {
        let inputs = suite.cases.len();
        return (2 * inputs > 24).then(|| format!("note: suite.json has {inputs} of all 24 inputs"));
    };
    let seconds = suite.seconds.expect("it is estimated");
    let takes = || format!("takes {} of the {} that all 24 inputs take", duration(seconds), duration(universe));
    (2.0 * seconds > universe).then(|| format!("note: suite.json {}", takes()))
}

#[test]
fn a_suite_is_built_as_it_is_asked_for() {
    let study = finished_study();
    let built = |arguments: &[&str]| {
        let output = run(&[&STUDY[..], arguments].concat(), &study.out);
        assert_exit(&output, 0);
        let text = std::fs::read_to_string(study.out.join("suite.json")).expect("it was written");
        let suite = Suite::parse(&text, "gbn").expect("a good suite");
        let text = stdout(&output).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(&suite.chosen), "{}: {text}", suite.chosen);
        // An order has all inputs, and is to; a size may be asked for.
        let is_meant = ["prioritised", "--inputs", "--time"].iter().any(|size| arguments.contains(size));
        let note = if is_meant { None } else { saves_little(&study.out, &suite) };
        assert_eq!(text.contains("which saves little"), note.is_some(), "{text}");
        assert!(note.is_none_or(|note| text.contains(&note)), "{text}");
        suite
    };
    let greedy = built(&["--builder", "greedy", "--criterion", "all-uses"]);
    let smallest = built(&["--builder", "minimum", "--criterion", "all-uses"]);
    assert_eq!((greedy.criterion.as_str(), smallest.criterion.as_str()), ("all-uses", "all-uses"));
    assert!(smallest.cases.len() <= greedy.cases.len());
    let order = built(&["--builder", "prioritised", "--criterion", "all-uses"]);
    assert_eq!(order.cases.len(), 24);
    assert_eq!(order.cases[..greedy.cases.len()], greedy.cases);
    let mutants = built(&["--builder", "minimum", "--criterion", "mutants"]);
    assert_eq!((mutants.criterion.as_str(), mutants.dominator_score), ("mutants", Some(1.0)));
    assert_eq!(built(&["--inputs", "13"]).cases.len(), 13);
    assert!(built(&["--target", "100"]).cases.len() > 12, "more than half of the universe");
    let budget = built(&["--budget", "500", "--criterion", "mutants"]);
    assert!(budget.chosen.starts_with("built greedily for a budget, with "), "{}", budget.chosen);
    assert!(budget.dominator_score <= mutants.dominator_score && !budget.cases.is_empty());

    // By time: what each input takes is told, the beginning finds most for it, and nothing else has room.
    let timed = built(&["--time", "8s"]);
    let seconds: Vec<f64> = timed.cases.iter().map(|case| case.seconds.expect("it is estimated")).collect();
    let whole = timed.seconds.expect("it is estimated");
    assert!(whole <= 8.0 && (whole - seconds.iter().sum::<f64>()).abs() < 1e-9, "{whole}");
    let cheapest = seconds.iter().copied().fold(f64::INFINITY, f64::min);
    assert!(whole + cheapest > 8.0, "another {cheapest} s would fit after {whole}");
    let found: Vec<f64> = timed.cases.iter().map(|case| case.found.expect("it is estimated")).collect();
    assert!(found.is_sorted() && found[0] > 0.0, "{found:?}");
    let text = std::fs::read_to_string(study.out.join("results.json")).expect("it was written");
    let results: Value = serde_json::from_str(&text).expect("JSON");
    let same_time = &results["built_expected"]["same_time"];
    assert_eq!(same_time["chosen"].as_f64(), found.last().copied());
    assert!(
        same_time["random"].as_f64().is_some_and(|random| random > 0.0) && same_time["rules"].is_array(),
        "{same_time}"
    );

    // What was measured goes before what is estimated.
    let file = study.out.join("durations.csv");
    let line = |case: usize| format!("gbn-{case:04}, {}\n", if case == 3 { 0.5 } else { 7.9 });
    std::fs::write(&file, (0..24).map(line).collect::<String>()).expect("room");
    let path = file.display().to_string();
    let measured = built(&["--time", "8s", "--durations", &path]);
    assert_eq!(measured.seconds.map(|seconds| seconds.round()), Some(8.0));
    assert!(measured.cases.iter().all(|case| case.name.starts_with("gbn-0003") || measured.cases.len() == 1));
    std::fs::write(&file, "gbn-0001\n").expect("room");
    let output = run(&[&STUDY[..], &["--durations", &path]].concat(), &study.out);
    assert_exit(&output, 3);
    assert!(stderr(&output).contains("line 1: `gbn-0001` is not the name of a test case, a comma, and seconds"));
}

#[test]
fn a_universe_of_another_source_has_other_test_cases_and_numbers_mean_those_of_the_study() {
    let study = finished_study();
    let simulated = |case: &str, seed: &str| {
        let output = run(&["simulate", "gbn", "--case", case, "--seed", seed, "--json"], &study.out);
        let simulated: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
        simulated["case"].clone()
    };
    let uniform = [simulated("0", "1"), simulated("16", "1"), simulated("0", "2")];
    let boundary = ["study", "gbn", "--cases", "16", "--source", "boundary", "--pages", "0"];
    let output = run(&[&boundary[..], &["--fresh"]].concat(), &study.out);
    assert_exit(&output, 0);
    assert!(stdout(&output).starts_with("gbn: 16 test cases (seed 1, boundary) and "), "{}", stdout(&output));
    // The first parameter is the length, and its first value comes first.
    assert_eq!(simulated("0", "1")["bytes"], 1);
    assert_ne!(simulated("0", "1"), uniform[0]);
    // Beyond the study, and of other seeds, numbers are those of the uniform universe.
    assert_eq!([simulated("16", "1"), simulated("0", "2")], uniform[1..]);
    let refused = run(&["study", "gbn", "--cases", "16", "--source", "sobol"], &study.out);
    assert_exit(&refused, 3);
    assert!(stderr(&refused).contains("boundary"), "{}", stderr(&refused));
}

#[test]
fn sources_are_compared_on_the_same_mutants() {
    let study = finished_study();
    let arguments = ["sources", "gbn", "--cases", "12", "--json"];
    let output = run(&arguments, &study.out);
    assert_exit(&output, 0);
    let compared: Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    let sources = compared["sources"].as_array().expect("a list");
    let names: Vec<&str> = sources.iter().filter_map(|source| source["source"].as_str()).collect();
    // There is no machine that walks, and no net.
    let can_be_drawn = |source: &InputSource| !source.walks() && *source != InputSource::Net;
    let expect: Vec<_> = InputSource::ALL.into_iter().filter(can_be_drawn).map(InputSource::name).collect();
    assert_eq!(names, expect);
    let any = compared["killed_by_any"].as_u64().expect("a number");
    for source in sources {
        assert!(source["killed"].as_u64().is_some_and(|killed| 0 < killed && killed <= any), "{source}");
        assert_eq!(source["random"].as_array().map(Vec::len), Some(5));
        assert!(source["random_expected"][1].as_f64().is_some_and(|score| 0.0 < score && score < 1.0), "{source}");
    }
    assert_eq!(compared["expected"]["reseedings"], 8);
    assert_eq!(compared["failed"], serde_json::json!([]));
    // Nothing runs again.
    let again = run(&arguments[..4], &study.out);
    assert_exit(&again, 0);
    assert!(stdout(&again).contains("12 test cases of seed 1 from each source"), "{}", stdout(&again));
    assert!(!stderr(&again).contains("mutating"), "{}", stderr(&again));
}

#[test]
fn a_cost_oracle_is_asked_for_afterwards_and_runs_nothing() {
    let study = finished_study();
    let before = results(&study.out);
    let json = || -> Value {
        serde_json::from_slice(&std::fs::read(study.out.join("results.json")).expect("there is one")).expect("JSON")
    };
    let without = json();
    assert_eq!(without.get("cost"), None);
    let study_with = |more: &[&str]| {
        let output = run(&[&STUDY[..], &["--verbose"], more].concat(), &study.out);
        assert_exit(&output, 0);
        let text = stdout(&output).split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("none in this session"), "{text}");
        text
    };

    let text = study_with(&["--cost", "events=20%"]);
    assert!(text.contains("The cost oracle (events=20%) kills ") && text.contains("in no other number"), "{text}");
    let mut with = json();
    let cost = with.as_object_mut().and_then(|with| with.remove("cost")).expect("it was asked for");
    assert!(cost["pairs"].as_u64().is_some_and(|pairs| pairs > 0), "{cost}");
    assert_eq!(with, without, "all else is as it was");
    assert_exit(&run(&["export", "gbn", "--format", "csv"], &study.out), 0);

    let text = study_with(&["--cost", "events=20%", "--count-cost"]);
    assert!(text.contains("they count as kills in all other numbers"), "{text}");
    let mut counted = json();
    let of_counted = counted.as_object_mut().and_then(|with| with.remove("cost")).expect("it was asked for");
    assert_eq!((&of_counted["criteria"], &of_counted["role"]), (&cost["criteria"], &Value::from("counted")));
    assert_ne!(counted, without, "they are among the kills");
    assert_exit(&run(&["export", "gbn", "--format", "csv"], &study.out), 0);

    study_with(&["--cost", "none"]);
    assert!(results(&study.out) == before, "byte for byte as before");
}

/// Pairs that are pruned would have passed, and the number of workers changes nothing.
#[track_caller]
fn check_pruned(system: &str) {
    let folder = folder();
    let package = Package::find(Path::new("../Cargo.toml"), system).expect("it comes with Simutant");
    let request = BuildRequest {
        package: &package,
        operators: &Selection::default().with_all_replacements(),
        directory: &folder.path().join("build"),
        worker: ("simutant-worker", Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../campaign/worker"))),
        probe: Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../mutator/probe")),
    };
    let built = build(&request, &mut |_| {}).expect("it can be mutated");
    let plain = build_plain(&request, &mut |_| {}).expect("it can be built");
    let outcomes = |pruning, jobs: usize| -> Outcomes {
        let out = folder.path().join(format!("{pruning:?}-{jobs}"));
        let plan = CampaignPlan {
            reseedings: std::num::NonZeroU8::MIN,
            build: built.clone(),
            seed: 3,
            input_source: InputSource::Uniform,
            cases: 12,
            given: Vec::new(),
            pruning,
            bounds: Bounds::default(),
        };
        let mut campaign = Campaign::open(&out, plan, Existing::Continue).expect("it opens");
        let jobs = NonZeroUsize::new(jobs).expect("not zero");
        campaign.run(&plain, jobs, &mut |_| {}, &AtomicBool::new(false)).expect("it runs");
        let oracle = "events=20%,messages=20%,time=20%".parse().expect("it is a cost oracle");
        campaign.judge_cost(Some((&oracle, CostRole::Apart))).expect("the worker works");
        campaign.outcomes().expect("it is finished")
    };
    let full = outcomes(Pruning::None, 2);
    let by_cost = &full.cost.as_ref().expect("it was asked for").kills;
    assert!(by_cost.iter().any(|kills| !kills.is_clear()), "{system} has a mutant that wastes something");
    assert!(full.pairs_infected() < full.pairs(), "there is something to prune");
    assert!(!full.killed_mutants().is_empty());
    for (pruning, jobs) in [(Pruning::Infected, 1), (Pruning::Infected, 3), (Pruning::Reached, 2)] {
        let pruned = outcomes(pruning, jobs);
        for (number, mutant) in full.sites.mutants.iter().enumerate() {
            assert_eq!(pruned.kills[number], full.kills[number], "{pruning:?}: {mutant:?}");
            assert_eq!(pruned.verdicts[number], full.verdicts[number], "{pruning:?}: {mutant:?}");
        }
        assert!(pruned == full, "{pruning:?} with {jobs} workers");
    }
}

#[test]
fn the_pruned_matrix_is_the_full_matrix_for_any_number_of_workers() {
    check_pruned("gbn");
    check_pruned("lsr");
}
