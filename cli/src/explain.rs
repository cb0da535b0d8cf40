//! `simutant explain`: one mutant, its change, who kills it and why, and where its run leaves the original's.

use std::path::Path;

use serde::Serialize;
use simutant_analysis::case_name;
use simutant_campaign::{read_limits, read_outcomes_of, read_sites};
use simutant_outcomes::{Judgement, MutantNumber, Outcomes, RunEnd};
use simutant_report::{Explanation, MutantPage, example_case};
use simutant_study::{Explainer, OperatorTitles, write_mutant_page};

use crate::arguments::{Common, ExplainArguments};
use crate::exit::{BadInput, Exit, with_options};
use crate::{build, mutants, output, simulate};

/// Lines of code before and after a change.
const CONTEXT: usize = 3;

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
    let found = build::find(&arguments.system)?;
    let judgements = found.judgements()?;
    if arguments.case.is_none() {
        // Before a build that takes long: nothing is explained without a study of this source, or of other mutants.
        let sites = read_sites(&out).map_err(|_| no_study(&out))?;
        mutants::resolve(&sites, &arguments.mutant)?;
    }
    let built = build::instrumented(&found)?;
    let number = mutants::resolve(&built.sites, &arguments.mutant)?;
    // A study of other source would tell of other mutants.
    let outcomes = read_outcomes_of(&built, &out).ok().flatten();

    let replay = common.campaign(system).replay(&found.request);
    let mut explainer = Explainer::new(&built, &replay, read_limits(&out)?);
    let (case, case_number) = match (&arguments.case, &outcomes) {
        (Some(given), _) => {
            (simulate::read_case(given, (common, &out), &mut explainer.simulator)?, given.trim().parse().ok())
        }
        (None, Some(outcomes)) => {
            let case = example_case(outcomes, number).ok_or_else(|| {
                BadInput(format!("no test case of the study reaches mutant {number}; give one that does with --case"))
            })?;
            (outcomes.cases[case].case.clone(), Some(case))
        }
        (None, None) => return Err(no_study(&out).into()),
    };
    let explanation = explainer.explain(number, case, case_number)?;
    let mutant = &built.sites.mutants[number as usize];
    let judgement = judgements.get(&mutant.identity);
    // The page may be read elsewhere.
    let (for_others, judge) = (replay.for_others(), replay.for_others().judge_command(&mutant.identity));
    let for_page = Explanation {
        replay: for_others.command(&output::quoted(&explanation.case.to_string()), Some(number)),
        ..explanation.clone()
    };
    let explained = Some(&for_page);
    let titles = OperatorTitles::new();
    let page = MutantPage {
        previous: None,
        next: None,
        judge: Some(&judge),
        sites: &built.sites,
        mutant: number,
        outcomes: outcomes.as_ref(),
        judgement,
        explanation: explained,
        operators: titles.operators(),
    };
    let path = write_mutant_page(&out, &page).map_err(with_options)?;

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

fn no_study(out: &Path) -> BadInput {
    BadInput(format!(
        "there is no finished study of this source, with all files as they are now, in {}; run one, or give --case",
        out.display()
    ))
}

fn text(explained: &Explained<'_>, outcomes: Option<&Outcomes>) -> String {
    let Explained { mutant, identity, operator, diff, judgement, explanation, page, .. } = explained;
    let mut text = format!("mutant {mutant} [{identity}] {operator}\n{}", output::coloured(diff));
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
        None if execution.verdict == RunEnd::Passed => {}
        None => text.push_str("there is no trace: the run ended its process\n"),
    }
    text.push_str(&format!("again: {replay}\npage: {page}\n"));
    text
}
