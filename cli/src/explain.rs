//! `simutant explain`: one mutant, its change, who kills it and why, and where its run leaves the original's; and the
//! pages that a study writes of many.

use std::path::Path;

use serde::Serialize;
use serde_json::Value;
use simutant_analysis::{
    Analysis, CasePage, CasePages, Explanation, MutantClass, MutantPage, Parting, boosted, case_name, example_case,
};
use simutant_campaign::{Bounds, Limits, Simulated, Simulator, Trace, read_outcomes_of};
use simutant_mutator::{Build, read_judgements};
use simutant_outcomes::{Cause, Execution, Judgement, MutantNumber, Outcomes, Verdict};
use simutant_sim_core::{Divergence, trace};
use simutant_traces::diagram::{self, Caption, Outcome};

use crate::arguments::{Common, ExplainArguments, SystemArguments};
use crate::exit::{BadInput, Exit};
use crate::{build, mutants, output, simulate, trace_files};

/// The folder of the pages, in that of the study.
pub(crate) const FOLDER: &str = "mutants";

/// The folder of the pages of test cases.
pub(crate) const CASES_FOLDER: &str = "cases";

/// Lines of code before and after a change.
const CONTEXT: usize = 3;

/// The classes whose mutants have pages, those first whose pages tell most.
const CLASSES: [MutantClass; 5] = [
    MutantClass::NeverKilled,
    MutantClass::Analysed,
    MutantClass::NeverPropagated,
    MutantClass::NeverInfected,
    MutantClass::Equivalent,
];

#[derive(Debug, Serialize)]
struct Explained<'a> {
    system: &'a str,
    mutant: MutantNumber,
    identity: &'a str,
    operator: &'a str,
    diff: String,
    judgement: Option<&'a Judgement>,
    explanation: &'a Explanation,
    page: String,
}

pub(crate) fn run(arguments: &ExplainArguments, common: &Common) -> anyhow::Result<Exit> {
    let system = &arguments.system.system;
    let out = common.out(system);
    let package = build::find(&arguments.system)?;
    let judgements = read_judgements(&package.judgements(), system)?;
    let built = build::instrumented(&arguments.system, &package)?;
    let number = mutants::resolve(&built.sites, &arguments.mutant)?;
    // A study of other source would tell of other mutants.
    let outcomes = read_outcomes_of(&built, &out).ok().flatten();

    let mut runner = Runner::new(&built, &arguments.system, common, simulate::limits(&out)?);
    let (case, case_number) = match (&arguments.case, &outcomes) {
        (Some(given), _) => {
            (simulate::read_case(given, (common, &out), &mut runner.simulator)?, given.trim().parse().ok())
        }
        (None, Some(outcomes)) => {
            let case = example_case(outcomes, number).ok_or_else(|| {
                BadInput(format!("no test case of the study reaches mutant {number}; give one that does with --case"))
            })?;
            (outcomes.cases[case].case.clone(), Some(case))
        }
        (None, None) => {
            let message = format!(
                "there is no finished study of this source, with all files as they are now, in {}; run one, or give --case",
                out.display()
            );
            return Err(BadInput(message).into());
        }
    };
    let explanation = runner.explain(number, case, case_number)?;
    let mutant = &built.sites.mutants[number as usize];
    let judgement = judgements.get(&mutant.identity);
    let explained = Some(&explanation);
    let page = MutantPage {
        sites: &built.sites,
        mutant: number,
        outcomes: outcomes.as_ref(),
        judgement,
        explanation: explained,
    };
    let path = out.join(FOLDER).join(page.file_name());
    output::write(&path, &page.html())?;

    let explained = Explained {
        system,
        mutant: number,
        identity: &mutant.identity,
        operator: &mutant.operator,
        diff: built.sites.diff(mutant, CONTEXT),
        judgement,
        explanation: &explanation,
        page: path.display().to_string(),
    };
    output::print(&if common.json {
        output::json(&output::Versioned::new(explained))?
    } else {
        text(&explained, outcomes.as_ref())
    })?;
    Ok(Exit::Success)
}

/// Writes pages of the mutants of a study, at most `pages_max`, in the place of those of an earlier one; returns whose.
pub(crate) fn write_pages(
    runner: &mut Runner<'_>,
    outcomes: &Outcomes,
    analysis: &Analysis,
    (out, pages_max): (&Path, usize),
) -> anyhow::Result<Vec<MutantNumber>> {
    let folder = out.join(FOLDER);
    clear(&folder)?;
    let of_class = |class: MutantClass| {
        let classes = (0..).zip(&analysis.mutants.classes);
        classes.filter(move |(_, other)| **other == class).map(|(number, _): (MutantNumber, _)| number)
    };
    let mut written = Vec::new();
    for number in CLASSES.into_iter().flat_map(of_class).take(pages_max) {
        let identity = &outcomes.sites.mutants[number as usize].identity;
        // A run that hangs would keep the study for a minute.
        let may_hang = outcomes.causes[number as usize].contains_key(&Cause::Hang);
        let explanation = match example_case(outcomes, number) {
            Some(case) if !may_hang => Some(runner.explain(number, outcomes.cases[case].case.clone(), Some(case))?),
            _ => None,
        };
        let page = MutantPage {
            sites: &outcomes.sites,
            mutant: number,
            outcomes: Some(outcomes),
            judgement: analysis.options.judgements.get(identity),
            explanation: explanation.as_ref(),
        };
        output::write(&folder.join(page.file_name()), &page.html())?;
        written.push(number);
    }
    Ok(written)
}

/// Writes pages of the test cases of the best suites of all criteria, the chosen one first, at most `pages_max`, in the
/// place of those of an earlier study; returns which.
pub(crate) fn write_case_pages(
    runner: &mut Runner<'_>,
    outcomes: &Outcomes,
    analysis: &Analysis,
    (out, pages_max): (&Path, usize),
) -> anyhow::Result<Vec<usize>> {
    let folder = out.join(CASES_FOLDER);
    clear(&folder)?;
    let chosen = analysis.recommendation.iter().map(|recommendation| recommendation.choice);
    let best = analysis.criteria.iter().filter_map(|criterion| boosted(analysis, &criterion.name));
    let mut written: Vec<usize> = Vec::new();
    for choice in chosen.chain(best) {
        for &case in &analysis.criteria[choice.criterion].suites[choice.suite].cases {
            if written.len() < pages_max && !written.contains(&case) {
                written.push(case);
            }
        }
    }
    let pages = CasePages::new(outcomes, analysis);
    for &case in &written {
        let name = case_name(&outcomes.system, case, outcomes.cases.len());
        let simulated = runner.simulator.simulate(&outcomes.cases[case].case, None, Trace::Keep, runner.limits)?;
        let trace: Option<trace::Trace> = simulated.trace.as_ref().map(trace_files::read).transpose()?;
        let caption = caption(name.clone(), &simulated.execution);
        let picture = trace.as_ref().map(|trace| diagram::excerpt(trace, 0, &caption));
        let diagram = trace.as_ref().map(|_| format!("{name}-diagram.html"));
        if let (Some(trace), Some(diagram)) = (&trace, &diagram) {
            output::write(&folder.join(diagram), &diagram::html(trace, &caption))?;
        }
        let input = output::quoted(&outcomes.cases[case].case.to_string());
        let replay = simulate::command_line(runner.system, runner.common, &input, None);
        let (picture, diagram, replay) = (picture.as_deref(), diagram.as_deref(), replay.as_str());
        let page = CasePage { pages: &pages, case, picture, diagram, replay };
        output::write(&folder.join(page.file_name()), &page.html())?;
    }
    Ok(written)
}

/// Removes a folder of pages.
fn clear(folder: &Path) -> anyhow::Result<()> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

/// Runs test cases on the original and on mutants side by side.
pub(crate) struct Runner<'a> {
    pub(crate) simulator: Simulator<'a>,
    limits: Option<Limits>,
    system: &'a SystemArguments,
    common: &'a Common,
}

impl<'a> Runner<'a> {
    pub(crate) fn new(
        built: &'a Build,
        system: &'a SystemArguments,
        common: &'a Common,
        limits: Option<Limits>,
    ) -> Self {
        Self { simulator: Simulator::new(built, Bounds::default()), limits, system, common }
    }

    /// Returns what `case` shows of `mutant`.
    fn explain(&mut self, mutant: MutantNumber, case: Value, number: Option<usize>) -> anyhow::Result<Explanation> {
        let original = self.simulator.simulate(&case, None, Trace::Keep, self.limits)?;
        let mutated = self.simulator.simulate(&case, Some(mutant), Trace::Keep, self.limits)?;
        let read = |simulated: &Simulated| simulated.trace.as_ref().map(trace_files::read::<trace::Trace>).transpose();
        let traces = read(&original)?.zip(read(&mutated)?);
        let divergence = traces.as_ref().and_then(|(first, second)| Divergence::between_traces(first, second));
        let pictures = traces.as_ref().map(|(first, second)| {
            // Where nothing differs there is no event to show more of than of others.
            let event = divergence.as_ref().map_or(0, |divergence| divergence.event);
            let picture = |trace: &trace::Trace, title: String, execution: &Execution| {
                diagram::excerpt(trace, event, &caption(title, execution))
            };
            let system = &self.system.system;
            [
                picture(first, format!("{system}: original"), &original.execution),
                picture(second, format!("{system}: mutant {mutant}"), &mutated.execution),
            ]
        });
        let parting = divergence.map(|Divergence { event, first, second, before }| Parting {
            event,
            before: before.as_ref().map(ToString::to_string),
            original: first.as_ref().map(ToString::to_string),
            mutant: second.as_ref().map(ToString::to_string),
        });
        let replay = self.replay(mutant, &case);
        let Simulated { execution, reached, .. } = mutated;
        Ok(Explanation { case, number, execution, reached, parting, pictures, replay })
    }

    fn replay(&self, mutant: MutantNumber, case: &Value) -> String {
        simulate::command_line(self.system, self.common, &output::quoted(&case.to_string()), Some(mutant))
    }
}

fn caption(title: String, execution: &Execution) -> Caption {
    let Execution { verdict, reason, .. } = execution;
    Caption {
        title,
        verdict: if reason.is_empty() { verdict.to_string() } else { format!("{verdict}: {reason}") },
        outcome: if verdict.kills() { Outcome::Failed } else { Outcome::Passed },
    }
}

fn text(explained: &Explained<'_>, outcomes: Option<&Outcomes>) -> String {
    let Explained { mutant, identity, operator, diff, judgement, explanation, page, .. } = explained;
    let mut text = format!("mutant {mutant} [{identity}] {operator}\n{diff}");
    if let Some(Judgement { judged, reason }) = judgement {
        text.push_str(&format!("judged {judged}: {reason}\n"));
    }
    if let Some(outcomes) = outcomes {
        let number = *mutant as usize;
        let cases = outcomes.cases.len();
        let kills = outcomes.kills[number].count_ones(..);
        let infected = outcomes.cases.iter().filter(|case| case.infected.contains(number)).count();
        let diverged = outcomes.diverged[number].count_ones(..);
        text.push_str(&format!(
            "of {cases} test cases {infected} infect it, {diverged} have other events on it, {kills} kill it\n"
        ));
        for reason in &outcomes.reasons[number] {
            let first = case_name(&outcomes.system, reason.first_case, cases);
            text.push_str(&format!("  {} x {}: {} (first {first})\n", reason.count, reason.cause, reason.reason));
        }
    }
    let Explanation { case, execution, reached, parting, pictures, replay, .. } = explanation;
    text.push_str(&format!("test case: {case}\non the mutant: {}", execution.verdict));
    if let Some(cause) = execution.cause {
        text.push_str(&format!(" ({cause}): {}", execution.reason));
    }
    text.push('\n');
    if !reached {
        text.push_str("the run does not reach the change\n");
    }
    match parting {
        Some(parting) => {
            let or_end = |event: &Option<String>| event.clone().unwrap_or_else(|| "the run is over".to_owned());
            text.push_str(&format!("first difference: event {}\n", parting.event));
            if let Some(before) = &parting.before {
                text.push_str(&format!("  both:     {before}\n"));
            }
            text.push_str(&format!("  original: {}\n", or_end(&parting.original)));
            text.push_str(&format!("  mutant:   {}\n", or_end(&parting.mutant)));
        }
        None if pictures.is_some() => text.push_str("the two runs have the same events\n"),
        None if execution.verdict == Verdict::Reasonable => {}
        None => text.push_str("there is no trace: the run ended its process\n"),
    }
    text.push_str(&format!("again: {replay}\npage: {page}\n"));
    text
}
