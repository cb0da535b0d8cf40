//! A study can be stopped at each of its stages, and goes on as if it had not been.

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use simutant_campaign::Phase;
use simutant_study::{
    CampaignSettings, CompletedStudy, FinishedStudy, StudyError, StudyEvent, StudyPlan, StudyStage, SystemRequest,
};

fn plan(out: &Path) -> StudyPlan {
    let campaign = CampaignSettings { seed: 7, ..CampaignSettings::new(out) };
    StudyPlan {
        cases: NonZeroUsize::new(24),
        suites: 20,
        pages: 5,
        ..StudyPlan::new(SystemRequest::new("gbn"), campaign)
    }
}

/// Runs the study until `stage` begins, or to its end.
fn run_until(plan: &StudyPlan, stage: Option<StudyStage>) -> (Result<CompletedStudy, StudyError>, Vec<StudyStage>) {
    let stop = AtomicBool::new(false);
    let stages = Mutex::new(Vec::new());
    let observer = |event: StudyEvent<'_>| {
        if let StudyEvent::Started(started) = event {
            stages.lock().expect("nobody panics").push(started);
            stop.fetch_or(Some(started) == stage, Ordering::SeqCst);
        }
    };
    let result = plan.run(&observer, &stop);
    (result, stages.into_inner().expect("nobody panics"))
}

/// Returns the files below a folder that are the same for the same plan; the paths of `out` in them are cut.
fn files(out: &Path, folder: &Path, found: &mut BTreeMap<PathBuf, String>) {
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(out, &path, found);
        } else if path
            .extension()
            .is_some_and(|extension| ["html", "json", "txt"].iter().any(|known| extension == *known))
        {
            let text = std::fs::read_to_string(&path).expect("text").replace(&out.display().to_string(), "OUT");
            found.insert(path.strip_prefix(out).expect("it is below").to_owned(), text);
        }
    }
}

fn files_of(out: &Path) -> BTreeMap<PathBuf, String> {
    let mut found = BTreeMap::new();
    files(out, out, &mut found);
    found
}

#[test]
fn a_study_that_is_stopped_at_every_stage_ends_as_if_it_had_not_been() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let undisturbed = plan(&folder.path().join("undisturbed"));
    let (completed, stages) = run_until(&undisturbed, None);
    let completed = completed.expect("it comes to its end").finished;
    let expect = files_of(&undisturbed.campaign.out);
    for name in ["suite.json", "results.json", "tables.txt", "report.html"] {
        assert!(expect.contains_key(Path::new(name)), "{name} is not in {:?}", expect.keys());
    }
    let pages = |folder: &str| expect.keys().filter(|path| path.starts_with(folder)).count();
    assert_eq!((pages("mutants"), pages("cases")), (5, 10), "a page, and for test cases a diagram");
    // The universe is drawn once, so that comes first here.
    let stopped_at = [
        StudyStage::Campaign(Phase::Plain),
        StudyStage::Campaign(Phase::Universe),
        StudyStage::Instrument,
        StudyStage::BuildPlain,
        StudyStage::Campaign(Phase::Baseline),
        StudyStage::Campaign(Phase::Mutants),
        StudyStage::Analyse,
        StudyStage::Explain,
    ];
    for stage in stopped_at {
        assert_eq!(stages.iter().filter(|other| **other == stage).count(), 1, "{stage:?} in {stages:?}");
    }
    assert_eq!(stages.len(), stopped_at.len(), "{stages:?}");

    let disturbed = plan(&folder.path().join("disturbed"));
    for stage in stopped_at {
        let (result, started) = run_until(&disturbed, Some(stage));
        assert!(matches!(result, Err(StudyError::Stopped)), "{stage:?}: {:?}", result.map(|_| "it was not stopped"));
        // What is built comes first, and is built to its end.
        let builds = [StudyStage::Instrument, StudyStage::BuildPlain];
        assert!(builds.contains(&stage) || started.last() == Some(&stage), "{stage:?} is the last of {started:?}");
        let results = disturbed.campaign.out.join("results.json");
        let is_analysed = matches!(stage, StudyStage::Analyse | StudyStage::Explain);
        assert_eq!(results.exists(), is_analysed, "{stage:?}");
        assert!(!disturbed.campaign.out.join("report.html").exists(), "{stage:?}");
    }
    run_until(&disturbed, None).0.expect("it goes on");
    assert!(files_of(&disturbed.campaign.out) == expect, "the files differ");

    let read = FinishedStudy::read(&undisturbed.campaign.out).expect("it is finished");
    assert!(read.outcomes == completed.outcomes && read.suite == completed.suite);
    assert_eq!(read.study().suite, completed.suite.as_ref());
    std::fs::remove_file(undisturbed.campaign.out.join("results.json")).expect("the study wrote it");
    let error = FinishedStudy::read(&undisturbed.campaign.out).expect_err("it is not finished").to_string();
    assert!(error.contains("there is no finished study in") && error.contains("results.json"), "{error}");
}
