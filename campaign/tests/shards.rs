//! Campaigns in shards: their outcomes are those of one machine, and what is wrong is refused.

#[path = "../examples/counter_campaign/counter.rs"]
mod counter;

use std::fs::{self, Permissions};
use std::num::{NonZeroU8, NonZeroU32, NonZeroUsize};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::Duration;

use rusqlite::Connection;
use serde_json::Value;
use sha2::{Digest, Sha256};
use simutant_campaign::{
    Bounds, Bundle, Campaign, CampaignPlan, Existing, Merged, Phase, Pruning, RunForm, SessionEnd, Shard, ShardError,
    ShardRun, TimeTrial, merge,
};
use simutant_mutator::Build;
use simutant_outcomes::{InputSource, Outcomes};
use tempfile::TempDir;

const CASES: usize = 12;
/// A seed without a limit of 16, also where each test case is drawn anew up to four times: there a mutant hangs, which would only
/// take time.
const SEED: u64 = 215;

/// Makes a result that of an earlier release.
const EARLIER: &str = "
    DROP TABLE reasons; CREATE TABLE reasons (number INTEGER PRIMARY KEY, text TEXT NOT NULL) STRICT;
    UPDATE meta SET value = '1' WHERE key = 'format'";

fn folder() -> TempDir {
    tempfile::tempdir().expect("there is room for a folder")
}

fn build() -> Build {
    counter::build(&std::env::current_exe().expect("a test has a program"))
}

/// A worker that is a script, so that it says the same under any file name: the hand-written worker with a mistake.
fn mistaken(folder: &Path, mistake: &str) -> PathBuf {
    let path = folder.join(format!("worker-{mistake}.sh"));
    let worker = build().worker;
    script(&path, &format!("exec -a counter_worker-{mistake} '{}' \"$@\"", worker.display()));
    path
}

/// Makes a program of a command. Another process writes it: a file that this one has open for writing may be inherited by
/// the processes that other tests start, and cannot be run until they have closed it.
fn script(path: &Path, command: &str) {
    let writing = "printf '#!/bin/bash\\n%s\\n' \"$1\" > \"$0\" && chmod 700 \"$0\"";
    let written = Command::new("sh").arg("-c").arg(writing).arg(path).arg(command).status();
    assert!(written.expect("there is a shell").success());
}

fn plan(worker: &Path, reseedings: u8) -> CampaignPlan {
    CampaignPlan {
        build: Build { worker: worker.to_owned(), ..build() },
        seed: SEED,
        input_source: InputSource::Uniform,
        cases: CASES,
        given: Vec::new(),
        reseedings: NonZeroU8::new(reseedings).expect("once at least"),
        pruning: Pruning::Infected,
        bounds: Bounds { hang: Duration::from_secs(5), ..Bounds::default() },
    }
}

fn two() -> NonZeroUsize {
    NonZeroUsize::new(2).expect("two")
}

fn never() -> AtomicBool {
    AtomicBool::new(false)
}

/// A campaign that was prepared, in `out`, with its bundle.
struct Prepared {
    folder: TempDir,
    plan: CampaignPlan,
    bundle: Bundle,
}

impl Prepared {
    fn new(mistake: &str, reseedings: u8) -> Self {
        let folder = folder();
        let plan = plan(&mistaken(folder.path(), mistake), reseedings);
        let mut campaign = open(&folder.path().join("out"), &plan);
        let bundle = folder.path().join("bundle");
        let worker = plan.build.worker.clone();
        let prepared = campaign
            .prepare(&worker, two(), (&bundle, TimeTrial::Skip), &mut |_| {}, &never())
            .expect("it can be prepared");
        drop(campaign);
        Self { folder, plan, bundle: prepared.expect("nobody stopped it") }
    }

    fn out(&self) -> PathBuf {
        self.folder.path().join("out")
    }

    fn result(&self, name: &str) -> PathBuf {
        self.folder.path().join("results").join(name)
    }

    /// Runs a shard of this bundle, and returns the file of its result.
    fn shard(&self, index: u32, of: u32) -> PathBuf {
        let into = self.result(&format!("{index}-{of}.sqlite"));
        let run = run_shard(&self.bundle, (index, of), &into).expect("it runs");
        assert_eq!(run.end, SessionEnd::Finished);
        into
    }

    fn merge(&self, files: &[PathBuf]) -> Result<Merged, ShardError> {
        merge(&self.out(), None, files, RunForm::Text)
    }

    fn outcomes(&self) -> Outcomes {
        open(&self.out(), &self.plan).outcomes().expect("it is finished")
    }

    /// Replaces a file of the bundle by another one, and lets the bundle say that it is the right one.
    fn smuggle(&self, name: &str, from: &Path) -> Bundle {
        let bytes = fs::read(from).expect("it is there");
        fs::write(self.bundle.folder().join(name), &bytes).expect("it is ours");
        let hash: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
        self.edit(|manifest| manifest["files"][name] = hash.into())
    }

    fn edit(&self, edit: impl FnOnce(&mut Value)) -> Bundle {
        let path = self.bundle.folder().join("bundle.json");
        let mut manifest: Value = serde_json::from_slice(&fs::read(&path).expect("it is there")).expect("JSON");
        edit(&mut manifest);
        fs::write(&path, manifest.to_string()).expect("it is ours");
        Bundle::open(self.bundle.folder(), None).expect("it is still a bundle")
    }
}

fn open(folder: &Path, plan: &CampaignPlan) -> Campaign {
    Campaign::open(folder, plan.clone(), Existing::Continue).expect("it opens")
}

fn shard(index: u32, of: u32) -> Shard {
    Shard::new(index, NonZeroU32::new(of).expect("one at least")).expect("it is a part")
}

fn run_shard(bundle: &Bundle, (index, of): (u32, u32), into: &Path) -> Result<ShardRun, ShardError> {
    bundle.run_shard(shard(index, of), into, two(), &mut |_| {}, &never())
}

fn on_one_machine(plan: &CampaignPlan) -> Outcomes {
    let folder = folder();
    let mut campaign = open(folder.path(), plan);
    let worker = plan.build.worker.clone();
    campaign.run(&worker, two(), &mut |_| {}, &never()).expect("it runs");
    campaign.outcomes().expect("it is finished")
}

#[test]
fn shards_come_to_the_outcomes_of_one_machine() {
    for (mistake, reseedings, of) in [("none", 1, 1), ("chance", 5, 3)] {
        let prepared = Prepared::new(mistake, reseedings);
        let mut files: Vec<PathBuf> = (0..of).map(|index| prepared.shard(index, of)).collect();
        files.reverse();
        let merged = prepared.merge(&files).expect("they go together");
        let rounds = usize::from(reseedings);
        assert_eq!((merged.taken, merged.missing.len(), merged.machines.len()), (CASES * rounds, 0, 1));
        let overlap = if of == 1 { 0 } else { 5 * rounds };
        assert_eq!(merged.known, overlap, "five test cases are in two shards");
        assert!(prepared.outcomes() == on_one_machine(&prepared.plan), "{mistake}");
        let again = prepared.merge(&files).expect("nothing is against it");
        assert_eq!((again.taken, again.known), (0, CASES * rounds + overlap), "the second time changes nothing");
    }
}

#[test]
fn packed_runs_are_the_same_in_less_space() {
    let (text, packed) = (Prepared::new("chance", 3), Prepared::new("chance", 3));
    let forms = [(&text, RunForm::Text), (&packed, RunForm::Packed)];
    let [text_bytes, packed_bytes] = forms.map(|(prepared, form)| {
        let files = [prepared.shard(0, 2), prepared.shard(1, 2)];
        let merged = merge(&prepared.out(), None, &files, form).expect("they go together");
        assert_eq!((merged.taken, merged.missing.len()), (CASES * 3, 0));
        let again = merge(&prepared.out(), None, &files, form).expect("what is there can be compared");
        assert_eq!((again.taken, again.missing.len()), (0, 0));
        assert!(prepared.outcomes() == on_one_machine(&prepared.plan));
        let journal = Connection::open(prepared.out().join("journal.sqlite")).expect("it is there");
        let number = |sql: &str| journal.query_row(sql, [], |row| row.get::<_, i64>(0)).expect("a number");
        let listed = number("SELECT count(*) FROM executions");
        let runs = number("SELECT sum(executions) FROM units");
        assert_eq!(listed, if form == RunForm::Text { runs } else { 0 });
        number("SELECT sum(octet_length(runs)) FROM units")
    });
    assert!(3 * packed_bytes < text_bytes, "{packed_bytes} of {text_bytes}");
    let longer = CampaignPlan { cases: CASES + 2, ..packed.plan.clone() };
    let kept = {
        let elsewhere = folder();
        fs::copy(packed.out().join("journal.sqlite"), elsewhere.path().join("journal.sqlite")).expect("there is room");
        let mut campaign = open(elsewhere.path(), &longer);
        let worker = longer.build.worker.clone();
        campaign.run(&worker, two(), &mut |_| {}, &never()).expect("it runs");
        assert!(campaign.outcomes().expect("it is finished") == on_one_machine(&longer));
        campaign.statistics().expect("it can be read").session_kept
    };
    assert!(kept > 0, "packed runs are kept when the universe grows");
    let journal = Connection::open(packed.out().join("journal.sqlite")).expect("it is there");
    journal.execute("UPDATE units SET runs = x'00' WHERE test_case = 3", []).expect("it is ours");
    drop(journal);
    let error = open(&packed.out(), &packed.plan).outcomes().expect_err("it is damaged").to_string();
    assert!(error.contains("runs of test case 3: they cannot be read"), "{error}");
}

#[test]
fn what_is_missing_is_told_and_run_here() {
    let prepared = Prepared::new("none", 1);
    let merged = prepared.merge(&[prepared.shard(1, 3)]).expect("it is one of its shards");
    assert!(merged.missing_cases() > 0 && merged.missing_cases() <= CASES - CASES / 3, "{merged:?}");
    assert!(merged.missing.iter().flat_map(Clone::clone).all(|case| case % 3 != 1));
    let mut campaign = open(&prepared.out(), &prepared.plan);
    let worker = prepared.plan.build.worker.clone();
    campaign.run(&worker, two(), &mut |_| {}, &never()).expect("it runs");
    let executed = campaign.statistics().expect("it can be read");
    assert!(executed.session_executed < executed.pairs_executed, "what was merged is not run again");
    drop(campaign);
    assert!(prepared.outcomes() == on_one_machine(&prepared.plan));
}

#[test]
fn a_campaign_that_is_not_there_begins_as_that_of_the_bundle() {
    let prepared = Prepared::new("none", 1);
    let elsewhere = folder();
    let merged =
        merge(elsewhere.path(), Some(&prepared.bundle), &[prepared.shard(0, 1)], RunForm::Text).expect("it begins");
    assert_eq!((merged.taken, merged.missing.len()), (CASES, 0));
    let outcomes = open(elsewhere.path(), &prepared.plan).outcomes().expect("it is finished");
    assert!(outcomes == on_one_machine(&prepared.plan));
}

#[test]
fn a_shard_writes_what_it_has_long_before_its_end() {
    let prepared = Prepared::new("chance", 3);
    let bundle = Bundle::open(prepared.bundle.folder(), None).expect("it is one").with_write_interval(Duration::ZERO);
    let into = prepared.result("parts.sqlite");
    let mut written = Vec::new();
    let mut look = |_: simutant_campaign::Progress| {
        let Ok(file) = Connection::open(&into) else { return };
        written.extend(file.query_row("SELECT count(*) FROM units", [], |row| row.get::<_, i64>(0)));
    };
    let run = bundle.run_shard(shard(0, 1), &into, NonZeroUsize::MIN, &mut look, &never()).expect("it runs");
    assert_eq!((run.end, run.done), (SessionEnd::Finished, CASES * 3));
    written.dedup();
    assert!(written.len() > 3 && written.is_sorted() && written[0] < CASES as i64, "{written:?}");
    assert!(prepared.merge(&[into]).expect("it is whole").missing.is_empty());
    assert!(prepared.outcomes() == on_one_machine(&prepared.plan));
}

#[test]
fn a_shard_that_was_stopped_goes_on_from_its_file() {
    let prepared = Prepared::new("chance", 3);
    let into = prepared.result("part.sqlite");
    let stop = AtomicBool::new(false);
    let mut stop_soon = |progress: simutant_campaign::Progress| {
        stop.store(progress.phase == Phase::Mutants && progress.done > 3, Relaxed);
    };
    let jobs = NonZeroUsize::MIN;
    let part = prepared.bundle.run_shard(shard(0, 1), &into, jobs, &mut stop_soon, &stop).expect("it runs");
    assert!(part.end == SessionEnd::Stopped && (3..CASES * 3).contains(&part.done), "{part:?}");
    let merged = prepared.merge(std::slice::from_ref(&into)).expect("a part is something");
    assert_eq!((merged.taken, merged.missing.is_empty()), (part.done, false));
    // Before anything is run.
    let stopped = AtomicBool::new(true);
    let still = prepared.bundle.run_shard(shard(0, 1), &into, jobs, &mut |_| {}, &stopped).expect("it is not an error");
    assert_eq!((still.end, still.done, still.executed), (SessionEnd::Stopped, part.done, 0));
    let rest = run_shard(&prepared.bundle, (0, 1), &into).expect("it goes on");
    assert_eq!((rest.end, rest.done), (SessionEnd::Finished, CASES * 3));
    assert!(rest.executed > 0);
    let merged = prepared.merge(std::slice::from_ref(&into)).expect("it is whole");
    assert_eq!((merged.known, merged.missing.is_empty()), (part.done, true));
    assert!(prepared.outcomes() == on_one_machine(&prepared.plan));
    let nothing = run_shard(&prepared.bundle, (0, 1), &into).expect("it is done");
    assert_eq!((nothing.executed, nothing.done), (0, CASES * 3));
    fs::write(&into, "no database").expect("it is ours");
    let anew = run_shard(&prepared.bundle, (0, 1), &into).expect("what is damaged is written anew");
    assert_eq!((anew.end, anew.done), (SessionEnd::Finished, CASES * 3));
}

#[test]
fn what_a_trial_ran_is_in_the_results_too() {
    let prepared = Prepared::new("none", 1);
    let worker = prepared.plan.build.worker.clone();
    let bundle = prepared.result("tried");
    let mut campaign = open(&prepared.out(), &CampaignPlan { cases: CASES + 1, ..prepared.plan.clone() });
    let tried =
        campaign.prepare(&worker, two(), (&bundle, TimeTrial::Run), &mut |_| {}, &never()).expect("it can be prepared");
    let tried = tried.expect("nobody stopped it");
    assert!(tried.processor_time().is_some());
    drop(campaign);
    // As with --fresh: the journal that the bundle was made of is gone.
    let again = folder();
    let into = prepared.result("0.sqlite");
    run_shard(&tried, (0, 1), &into).expect("it runs");
    fs::create_dir_all(again.path()).expect("there is room");
    let mut anew =
        Campaign::open(again.path(), CampaignPlan { cases: CASES + 1, ..prepared.plan.clone() }, Existing::Delete)
            .expect("it opens");
    let known =
        anew.prepare(&worker, two(), (&bundle, TimeTrial::Skip), &mut |_| {}, &never()).expect("it can be prepared");
    assert_eq!(known.expect("nobody stopped it").id(), tried.id());
    drop(anew);
    assert_eq!(
        merge(again.path(), None, &[into], RunForm::Text).expect("it is of the same campaign").missing_cases(),
        0
    );
}

#[test]
fn the_end_of_a_session_in_the_trial_is_the_end_of_the_preparation() {
    let folder = folder();
    let plan = plan(&mistaken(folder.path(), "none"), 1);
    let worker = plan.build.worker.clone();
    let stop = AtomicBool::new(false);
    let bundle = folder.path().join("bundle");
    let mut stop_in_trial = |progress: simutant_campaign::Progress| {
        stop.store(progress.phase == Phase::Mutants, Relaxed);
    };
    let mut campaign = open(&folder.path().join("out"), &plan);
    let prepared = campaign.prepare(&worker, two(), (&bundle, TimeTrial::Run), &mut stop_in_trial, &stop);
    assert!(prepared.expect("nothing is wrong").is_none() && !bundle.join("bundle.json").exists());
}

#[test]
fn a_machine_on_which_the_original_is_another_runs_no_mutant() {
    let unfit = |prepared: &Prepared, bundle: &Bundle, expect: &str| {
        let into = prepared.result("unfit.sqlite");
        let error = run_shard(bundle, (0, 2), &into).expect_err("the machine is unfit");
        let text = error.to_string();
        assert!(matches!(error, ShardError::UnfitMachine { .. }) && text.contains(expect), "{text}");
        assert!(!into.exists(), "no file is written");
    };
    let prepared = Prepared::new("none", 1);
    let late = mistaken(prepared.folder.path(), "late");
    prepared.smuggle("plain", &late);
    unfit(&prepared, &prepared.smuggle("worker", &late), "virtual time at the end was");

    // Whatever it is asked, it dies of an instruction that it does not have; but for what it is.
    let ill = prepared.folder.path().join("ill.sh");
    let worker = prepared.plan.build.worker.display().to_string();
    script(
        &ill,
        &format!("read -r first\nprintf '%s\\n' \"$first\" | '{worker}' \"$@\"\nread -r second\nkill -ILL $$"),
    );
    unfit(&prepared, &prepared.smuggle("worker", &ill), "crashed (signal 4)");

    let prepared = Prepared::new("none", 1);
    unfit(&prepared, &prepared.smuggle("plain", &mistaken(prepared.folder.path(), "late")), "as it is written");
    let lacks = |manifest: &mut Value| {
        manifest["math_functions"] = serde_json::json!(["exp"]);
        manifest["math_witness"] = "another".into();
    };
    unfit(&prepared, &prepared.edit(lacks), "other last bits of exp");
    if cfg!(target_arch = "x86_64") {
        let lacks = |manifest: &mut Value| {
            manifest["target_features"] = serde_json::json!([
                { "name": "sse2", "flag": "sse2" },
                { "name": "avx512vbmi2", "flag": "avx512_vbmi2" },
            ])
        };
        let bundle = prepared.edit(lacks);
        let is_here = fs::read_to_string("/proc/cpuinfo").is_ok_and(|text| text.contains("avx512_vbmi2"));
        if !is_here {
            unfit(&prepared, &bundle, "its processor lacks avx512vbmi2");
        }
    }
}

#[test]
fn a_machine_that_does_something_else_on_a_mutant_is_found_by_what_two_shards_ran() {
    let prepared = Prepared::new("none", 1);
    let right = prepared.shard(0, 1);
    let into = prepared.result("wrong.sqlite");
    let wrong = prepared.smuggle("worker", &mistaken(prepared.folder.path(), "calm"));
    run_shard(&wrong, (0, 2), &into).expect("nothing shows on the original");
    prepared.merge(&[right]).expect("it is one of its shards");
    let error = prepared.merge(std::slice::from_ref(&into)).expect_err("its runs are others").to_string();
    assert!(
        error.contains("on mutant 1 is another run than the journal's: the verdict is abnormal adder panicked"),
        "{error}"
    );
    assert!(prepared.outcomes() == on_one_machine(&prepared.plan), "nothing of it was taken");
}

#[test]
fn results_that_are_of_something_else_are_refused() {
    let prepared = Prepared::new("none", 1);
    let good = prepared.shard(0, 2);
    let refused = |path: &Path, expect: &str| {
        let error = prepared.merge(&[path.to_owned()]).expect_err("it is refused").to_string();
        assert!(error.contains(expect), "`{error}` does not say `{expect}`");
    };
    let mut other = plan(&prepared.plan.build.worker, 1);
    other.seed += 1;
    let of_other = {
        let folder = folder();
        let worker = other.build.worker.clone();
        let mut campaign = open(&folder.path().join("out"), &other);
        let bundle = folder.path().join("bundle");
        let bundle = campaign
            .prepare(&worker, two(), (&bundle, TimeTrial::Skip), &mut |_| {}, &never())
            .expect("it can be prepared");
        let into = prepared.result("other-seed.sqlite");
        run_shard(&bundle.expect("nobody stopped it"), (0, 2), &into).expect("it runs");
        into
    };
    refused(&of_other, &format!("its seed is {}, and that of", SEED + 1));

    let changed = |name: &str, sql: &str| {
        let path = prepared.result(name);
        fs::copy(&good, &path).expect("there is room");
        Connection::open(&path).expect("it is a database").execute_batch(sql).expect("it is SQL");
        path
    };
    refused(&changed("table.sqlite", "CREATE TABLE more (number INTEGER)"), "it has other tables");
    refused(&changed("fewer.sqlite", "DELETE FROM units WHERE test_case = 0"), "its digest is another one");
    refused(&changed("format.sqlite", "UPDATE meta SET value = '3' WHERE key = 'format'"), "its format is 3");
    refused(&changed("runs.sqlite", "UPDATE units SET runs = x'00'"), "they cannot be read");
    refused(&changed("earlier.sqlite", EARLIER), "its format is 1, that of this version is 2");
    refused(&changed("none.sqlite", "DELETE FROM meta"), "is not the result of a shard");
    let version =
        "UPDATE meta SET value = json_set(value, '$.\"version of Simutant\"', '9.9.9') WHERE key = 'identity'";
    refused(&changed("version.sqlite", version), "its version of Simutant is 9.9.9");
    let hang = "UPDATE meta SET value = json_set(value, '$.hang_ns', '1') WHERE key = 'identity'";
    refused(&changed("hang.sqlite", hang), "its hang ns is 1");
    let limits = "UPDATE meta SET value = json_set(value, '$.limits', '1') WHERE key = 'identity'";
    refused(&changed("limits.sqlite", limits), "its limits is 1");
    refused(&prepared.out().join("journal.sqlite"), "a database of another program");
    refused(&prepared.result("not there"), "No such file");
    let nowhere = prepared.folder.path().join("nowhere");
    assert!(
        matches!(merge(&nowhere, None, std::slice::from_ref(&good), RunForm::Text), Err(ShardError::NotPrepared(_)))
            && !nowhere.exists()
    );
    let error = run_shard(&prepared.bundle, (1, 2), &good).expect_err("it has the result of another shard");
    assert!(matches!(error, ShardError::OtherShard { .. }), "{error}");
    assert_eq!(prepared.merge(&[]).expect("nothing is wrong").missing_cases(), CASES, "nothing was taken");

    // Any damage is told, or nothing of meaning is damaged.
    let bytes = fs::read(&good).expect("it is there");
    let whole = prepared.merge(&[good]).expect("it is whole").taken;
    let damaged = prepared.result("damaged.sqlite");
    let (mut changes_told, mut cuts_told) = (0, 0);
    for index in (0..bytes.len()).step_by(bytes.len() / 90) {
        let mut changed = bytes.clone();
        changed[index] ^= 0x55;
        for (content, told) in [(&changed[..], &mut changes_told), (&bytes[..index], &mut cuts_told)] {
            fs::write(&damaged, content).expect("there is room");
            match prepared.merge(std::slice::from_ref(&damaged)) {
                Ok(merged) => assert_eq!((merged.taken, merged.known), (0, whole), "byte {index}"),
                Err(_) => *told += 1,
            }
        }
    }
    // Most of so small a file is room in its pages.
    assert!(changes_told > 5 && cuts_told > 60, "{changes_told} {cuts_told}");
}

#[test]
fn a_campaign_that_is_not_the_prepared_one_any_more_takes_nothing() {
    let prepared = Prepared::new("chance", 2);
    let file = prepared.shard(0, 1);
    let not_prepared = |plan: &CampaignPlan| {
        let worker = plan.build.worker.clone();
        let mut campaign = open(&prepared.out(), plan);
        campaign
            .prepare(&worker, two(), (&prepared.result("bundle"), TimeTrial::Skip), &mut |_| {}, &never())
            .expect("it can be prepared");
    };
    let mut more = prepared.plan.clone();
    more.reseedings = NonZeroU8::new(3).expect("three");
    not_prepared(&more);
    let error = prepared.merge(std::slice::from_ref(&file)).expect_err("there are more rounds").to_string();
    assert!(error.contains("its number of re-seedings is 2, and that of"), "{error}");
    let edited = CampaignPlan { build: Build { source_hash: 1, ..more.build.clone() }, ..more };
    drop(open(&prepared.out(), &edited));
    let error = prepared.merge(&[file]).expect_err("the source is another one");
    assert!(matches!(error, ShardError::NotPrepared(_)), "{error}");
}

#[test]
fn a_bundle_that_others_could_have_changed_does_not_run() {
    let prepared = Prepared::new("none", 1);
    let folder = prepared.bundle.folder().to_owned();
    let mode = |path: &Path, mode| fs::set_permissions(path, Permissions::from_mode(mode)).expect("it is ours");
    assert_eq!(fs::metadata(&folder).expect("it is there").permissions().mode() & 0o777, 0o700);
    for path in [folder.clone(), folder.join("worker")] {
        mode(&path, 0o777);
        let error = Bundle::open(&folder, None).expect_err("others can write");
        assert!(matches!(error, ShardError::Writable(_)), "{error}");
        mode(&path, 0o700);
    }
    let id = prepared.bundle.id();
    for expected in [&id[..], &id[..16]] {
        Bundle::open(&folder, Some(expected)).expect("it is this one");
    }
    for expected in [&id[..15], &id[1..], ""] {
        let error = Bundle::open(&folder, Some(expected)).expect_err("it is another one");
        assert!(matches!(error, ShardError::OtherBundle { .. }), "{error}");
    }
    assert_ne!(prepared.edit(|manifest| manifest["files"]["worker"] = "0".into()).id(), id, "other files");
    fs::write(folder.join("plain"), "#!/bin/sh\n").expect("it is ours");
    let error = run_shard(&prepared.bundle, (0, 1), &prepared.result("0.sqlite")).expect_err("it was changed");
    assert!(error.to_string().contains("plain is not the file that was prepared"), "{error}");
    prepared.edit(|manifest| manifest["seven"] = 7.into());
    let manifest = folder.join("bundle.json");
    let text = fs::read_to_string(&manifest).expect("it is there").replace("\"format\":1", "\"format\":2");
    fs::write(&manifest, text).expect("it is ours");
    assert!(matches!(Bundle::open(&folder, None), Err(ShardError::OtherVersion { .. })));
    fs::remove_file(&manifest).expect("it is ours");
    assert!(matches!(Bundle::open(&folder, None), Err(ShardError::NoBundle { .. })));
}

#[test]
fn a_folder_with_something_else_does_not_become_a_bundle() {
    let prepared = Prepared::new("none", 1);
    let worker = prepared.plan.build.worker.clone();
    let mut campaign = open(&prepared.out(), &prepared.plan);
    let mut prepare =
        |folder: &Path| campaign.prepare(&worker, two(), (folder, TimeTrial::Skip), &mut |_| {}, &never());
    let error = prepare(prepared.folder.path()).expect_err("it has files of somebody");
    assert!(matches!(error, ShardError::FolderInUse(_)), "{error}");
    let again = prepare(prepared.bundle.folder()).expect("it is a bundle").expect("nobody stopped it");
    assert_eq!(again.id(), prepared.bundle.id(), "the same campaign");
    let foreign = folder();
    fs::write(foreign.path().join("bundle.json"), "{}").expect("it is ours");
    assert!(matches!(prepare(foreign.path()), Err(ShardError::FolderInUse(_))));
    // One that was not written to its end is written anew, and so is one that is damaged.
    fs::remove_file(prepared.bundle.folder().join("bundle.json")).expect("it is ours");
    prepare(prepared.bundle.folder()).expect("it is a part of a bundle");
    fs::write(prepared.bundle.folder().join("worker"), "").expect("it is ours");
    prepare(prepared.bundle.folder()).expect("it is a bundle");
    assert!(fs::metadata(prepared.bundle.folder().join("worker")).expect("it is there").len() > 0);
}
