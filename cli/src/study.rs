//! `simutant study`: from a simulation to the inputs that are worth running.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;
use simutant_analysis::{Analysis, Builder, ExpectedBuilder, MutantClass, Score, duration, plural, suite_scores};
use simutant_campaign::{Existing, Statistics};
use simutant_outcomes::{CostRole, Suite};
use simutant_report::{contradiction_sentence, study_text, summary, wrapped};
use simutant_study::{CompletedStudy, CostRequest, FinishedStudy, MachineCodeCheck, StudyPlan, SuiteChoice};

use crate::arguments::{Common, CostArgument, StudyArguments};
use crate::choice::choice;
use crate::exit::{BadInput, Exit};
use crate::interrupt::{self, Interrupts};
use crate::stages::Stages;
use crate::{cluster, given, output};

pub(crate) fn run(arguments: &StudyArguments, common: &Common) -> anyhow::Result<Exit> {
    let system = &arguments.system.system;
    let out = common.out(system);
    let mut plan = plan(arguments, common)?;
    let interrupts = Interrupts::listen()?;
    if let Some(bundle) = &arguments.prepare {
        return prepare(&plan, bundle, &interrupts, common);
    }
    if let Some(scheduler) = arguments.cluster.cluster {
        if let Some(exit) = cluster::run(&plan, &arguments.cluster, scheduler, &interrupts)? {
            return Ok(exit);
        }
        plan.existing = Existing::Continue;
    }
    let Some(CompletedStudy { finished, statistics }) = complete(&plan, &interrupts)? else { return Ok(stopped(&out)) };
    let FinishedStudy { analysis, suite, reference, .. } = &finished;
    if common.json {
        output::print(&output::json(analysis)?)?;
    } else {
        let found = match common.verbose {
            true => format!("{}\n{}", study_text(analysis, reference.as_ref()), prose(&spent(&statistics))),
            false => summary(analysis),
        };
        let written = written(&plan, suite.as_ref(), analysis);
        output::print(&format!("{found}\n{}{written}", prose(&kept(&statistics))))?;
    }
    let contradicts = tell_contradictions(&finished);
    let too_low = below_minimum(arguments, &finished);
    too_low.iter().for_each(|sentence| output::tell(sentence));
    Ok(match (contradicts, too_low.is_empty()) {
        (true, _) => Exit::BadInput,
        (_, false) => Exit::BelowMinimum,
        _ => Exit::Success,
    })
}

/// What `--json` prints of a study that is prepared.
#[derive(Debug, Serialize)]
struct Prepared<'a> {
    system: &'a str,
    bundle: &'a Path,
    id: String,
    cases: usize,
}

/// Writes the bundle of a study.
fn prepare(plan: &StudyPlan, folder: &Path, interrupts: &Interrupts, common: &Common) -> anyhow::Result<Exit> {
    let (system, out) = (&plan.system.system, &plan.campaign.out);
    let stages = Stages::new(system);
    let prepared = interrupt::unless(plan.prepare(folder, &|event| stages.show(event), interrupts.flag()))?;
    let Some(bundle) = prepared else { return Ok(stopped(out)) };
    let command = bundle.add_command()?.display().to_string();
    let (program, cases) = (output::program(), bundle.cases());
    output::print(&if common.json {
        output::json(&Prepared { system, bundle: folder, id: bundle.id(), cases })?
    } else {
        let [folder, out] = [folder, out].map(|path| output::quoted(&path.display().to_string()));
        let (command, id) = (output::quoted(&command), bundle.id());
        let left = match bundle.processor_time() {
            Some(time) => {
                format!("the runs on mutants that are left take about {} of one processor\n", cluster::words(time))
            }
            None => String::new(),
        };
        let cases = plural(cases, "test case");
        format!(
            "prepared: {cases} of {system}, in {folder}\nbundle: {id}\n{left}\
             next: {command} shard {folder} 0/8 --into results/0.sqlite --id {} runs the first of 8 shards, on any machine\n\
             next: {program} merge {out} results/*.sqlite takes their results\n",
            &id[..16],
        )
    })?;
    Ok(Exit::Success)
}

/// Runs a study with a line for each stage; `None` if it was interrupted.
pub(crate) fn complete(plan: &StudyPlan, interrupts: &Interrupts) -> anyhow::Result<Option<CompletedStudy>> {
    let stages = Stages::new(&plan.system.system);
    interrupt::unless(plan.run(&|event| stages.show(event), interrupts.flag()))
}

/// Tells which judgements the study contradicts, and returns whether there are any.
pub(crate) fn tell_contradictions(finished: &FinishedStudy) -> bool {
    let FinishedStudy { outcomes, analysis, .. } = finished;
    for wrong in &analysis.contradictions {
        output::tell(&contradiction_sentence(wrong, &outcomes.system, outcomes.cases.len()));
    }
    !analysis.contradictions.is_empty()
}

/// Returns what the study is to do; options that do not go together are refused.
fn plan(arguments: &StudyArguments, common: &Common) -> Result<StudyPlan, BadInput> {
    Ok(StudyPlan {
        system: arguments.system.request(),
        campaign: common.campaign(&arguments.system.system),
        cases: arguments.universe.cases,
        given: given::read(&arguments.with, &arguments.system.system)?,
        input_source: arguments.universe.source,
        reseedings: arguments.reseedings.count(),
        existing: if arguments.fresh { Existing::Delete } else { Existing::Continue },
        machine_code: if arguments.compiler_equivalence { MachineCodeCheck::Compare } else { MachineCodeCheck::Ignore },
        suites: arguments.suites as usize,
        choice: choice(&arguments.choice, arguments.criterion.as_deref(), arguments.reseedings.count().get() > 1)?,
        durations: arguments.durations.as_deref().map(durations).transpose()?.unwrap_or_default(),
        cost: match &arguments.cost {
            None => CostRequest::OfManifest,
            Some(CostArgument(None)) => CostRequest::Without,
            Some(CostArgument(Some(oracle))) => CostRequest::Oracle(oracle.clone()),
        },
        cost_role: if arguments.count_cost { CostRole::Counted } else { CostRole::Apart },
        pages: arguments.pages,
    })
}

/// Says of each score that is lower than was asked for what it is; a score that there is not is too low.
fn below_minimum(arguments: &StudyArguments, finished: &FinishedStudy) -> Vec<String> {
    let FinishedStudy { outcomes, analysis, suite, .. } = finished;
    let scores = suite.as_ref().map(|suite| suite_scores(outcomes, analysis, suite));
    let asked = [
        ("mutants", "--score-min", arguments.score_min, scores.map(|scores| scores.mutants.upper())),
        (
            "dominator mutants",
            "--dominator-score-min",
            arguments.dominator_score_min,
            scores.map(|scores| scores.dominators),
        ),
    ];
    let sentence = |(what, option, minimum, score): (&str, &str, Option<f64>, Option<Score>)| {
        let minimum = minimum?;
        match score {
            Some(score) if score.is_at_least(minimum) => None,
            Some(score) => {
                Some(format!("SCORE TOO LOW: of the {what} suite.json kills {score}; {option} asks for {minimum} %"))
            }
            None => Some(format!("SCORE TOO LOW: there is no suite; {option} asks for {minimum} %")),
        }
    };
    asked.into_iter().filter_map(sentence).collect()
}

pub(crate) fn stopped(out: &Path) -> Exit {
    output::tell(&format!("stopped; what is done is kept in {}: the same command resumes it", out.display()));
    Exit::Interrupted
}

/// Reads what test cases took, in seconds, by their names.
fn durations(path: &Path) -> Result<BTreeMap<String, f64>, BadInput> {
    let bad = |error: &dyn std::fmt::Display| BadInput(format!("{}: {error}", path.display()));
    let text = std::fs::read_to_string(path).map_err(|error| bad(&error))?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    let duration = |line: &str| {
        let (name, seconds) = line.split_once(',')?;
        let seconds: f64 = seconds.trim().parse().ok()?;
        (seconds.is_finite() && seconds > 0.0).then(|| (name.trim().to_owned(), seconds))
    };
    let read = |(number, line): (usize, &str)| {
        duration(line).ok_or_else(|| {
            bad(&format!("line {}: `{line}` is not the name of a test case, a comma, and seconds above 0", number + 1))
        })
    };
    let durations: BTreeMap<String, f64> = lines.map(read).collect::<Result<_, _>>()?;
    if durations.is_empty() { Err(bad(&"it has no line")) } else { Ok(durations) }
}

/// Wraps each line.
fn prose(text: &str) -> String {
    text.lines().map(|line| wrapped(line) + "\n").collect()
}

/// Says what the study did, and how fast.
fn spent(statistics: &Statistics) -> String {
    let rate = match statistics.executions_per_second_and_worker() {
        Some(rate) => format!(
            "{} in this session at {rate:.0} per second and worker, {:.0} per second in all",
            statistics.session_executed,
            rate * statistics.session_jobs as f64
        ),
        None => "none in this session".to_owned(),
    };
    let share = |part: u64| 100.0 * part as f64 / statistics.pairs.max(1) as f64;
    let reseeded = match statistics.reseeded_executed {
        0 => String::new(),
        count => format!(", re-seeded {}", plural(count as usize, "run")),
    };
    format!(
        "pairs of a test case and a mutant: {}, pruned {} ({:.1} %), executed {} ({:.1} %){reseeded}\nruns: {rate}",
        statistics.pairs,
        statistics.pairs_pruned,
        share(statistics.pairs_pruned),
        statistics.pairs_executed,
        share(statistics.pairs_executed),
    )
}

/// Says what of an earlier session was used again, and what makes coverage inexact: a line each, and none if there is
/// neither.
fn kept(statistics: &Statistics) -> String {
    let mut lines = String::new();
    if statistics.session_kept > 0 {
        lines.push_str(&format!(
            "kept {} of {} of an earlier session: nothing that was called has changed since; made again, with the same end: {}\n",
            statistics.session_kept,
            plural((statistics.pairs_executed + statistics.reseeded_executed) as usize, "run"),
            statistics.session_kept_checked,
        ));
    }
    if statistics.session_recordings_kept > 0 {
        let recordings = statistics.session_recordings_kept;
        lines.push_str(&format!(
            "recorded {} anew and kept what was recorded of {recordings}; recorded again, with the same end: {}\n",
            plural((statistics.cases_compared - recordings) as usize, "test case"),
            statistics.session_recordings_checked,
        ));
    }
    if statistics.session_pairs_unlisted > 0 {
        lines.push_str(&format!(
            "warning: {} a use saw a definition that the mutator does not list for it; all-defs, all-p-uses and all-uses are not exact\n",
            match statistics.session_pairs_unlisted {
                1 => "once".to_owned(),
                count => format!("{count} times"),
            },
        ));
    }
    lines
}

/// Says what was written, and what to do with it.
fn written(plan: &StudyPlan, chosen: Option<&Suite>, analysis: &Analysis) -> String {
    let (out, system) = (plan.campaign.out.display(), &analysis.system);
    let mut text = format!("written to {out}: report.html, tables.txt, results.json, journal.sqlite");
    text.push_str(match chosen {
        Some(_) => ", suite.json\n",
        None if analysis.is_undecided() => {
            "; no suite, since no mutant tells the criteria apart: --criterion NAME takes one\n"
        }
        None => "; no suite, since the criterion has no requirement that a test case covers\n",
    });
    text.push_str(&saves_little(&plan.choice, chosen, analysis));
    let program = output::program();
    text.push_str(&output::shows(&plan.campaign.out));
    text.push_str(&explains(plan, analysis));
    if let Some(suite) = chosen {
        let inputs = plural(suite.cases.len(), "input");
        text.push_str(&format!(
            "next: {program} test {system} --suite {out}/suite.json --implementation NAME runs its {inputs}\n"
        ));
    }
    text
}

/// Says that a suite of most of the universe is hardly a choice; nothing of a smaller one, of one that is an order, or of a
/// size that was asked for.
fn saves_little(choice: &SuiteChoice, chosen: Option<&Suite>, analysis: &Analysis) -> String {
    let is_meant = matches!(
        choice,
        SuiteChoice::Built { builder: Builder::Prioritised { .. }, .. }
            | SuiteChoice::Expected(ExpectedBuilder::Inputs(_) | ExpectedBuilder::Time(_) | ExpectedBuilder::Budget(_))
    );
    if is_meant {
        return String::new();
    }
    let all = analysis.campaign.cases;
    let most = match (chosen, &analysis.built_expected) {
        (None, _) => return String::new(),
        (Some(_), Some(built)) if 2.0 * built.seconds > built.universe_seconds => {
            format!(
                "takes {} of the {} that all {all} inputs take",
                duration(built.seconds),
                duration(built.universe_seconds)
            )
        }
        (Some(suite), None) if 2 * suite.cases.len() > all => format!("has {} of all {all} inputs", suite.cases.len()),
        _ => return String::new(),
    };
    format!("note: suite.json {most}, which saves little; a larger universe (--cases) leaves more to choose from\n")
}

/// Says which command shows the survivor that tells most; nothing if no test case reaches any.
fn explains(plan: &StudyPlan, analysis: &Analysis) -> String {
    let Some(survivor) = analysis.most_telling_survivor() else { return String::new() };
    let (system, program) = (plan.system.command_line(), output::program());
    let shows = match survivor.class {
        MutantClass::NeverKilled => "shows a change that your checks do not see",
        _ => "shows a change that makes no difference",
    };
    let out = match plan.campaign.out == Path::new("out").join(&analysis.system) {
        true => String::new(),
        false => format!(" --out {}", output::quoted(&plan.campaign.out.display().to_string())),
    };
    format!("next: {program} explain {system} {}{out} {shows}\n", survivor.mutant)
}
