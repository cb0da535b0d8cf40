//! `simutant judge`: what a person says of a mutant, kept by its identity.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;
use simutant_analysis::plural;
use simutant_campaign::read_outcomes;
use simutant_mutator::{read_judgements, with_judgement};
use simutant_outcomes::{Judged, Judgement, Mutant, MutantNumber, Sites};

use crate::arguments::{Common, JudgeArguments};
use crate::exit::{BadInput, Exit};
use crate::{build, mutants, output};

#[derive(Debug, Serialize)]
struct Listing<'a> {
    system: &'a str,
    file: String,
    judgements: Vec<Listed<'a>>,
}

#[derive(Debug, Serialize)]
struct Listed<'a> {
    identity: &'a str,
    #[serde(flatten)]
    judgement: &'a Judgement,
    /// `None` if the judgement is stale: no mutant has the identity.
    mutant: Option<MutantNumber>,
}

pub(crate) fn run(arguments: &JudgeArguments, common: &Common) -> anyhow::Result<Exit> {
    let system = &arguments.system.system;
    let out = common.out(system);
    let found = build::find(&arguments.system)?;
    let path = found.package.judgements();
    let built = build::instrumented(&found)?;
    let sites = &built.sites;
    if let (Some(mutant), Some(judged), Some(reason)) = (&arguments.mutant, arguments.judged, &arguments.reason) {
        let number = mutants::resolve(sites, mutant)?;
        let judgement = Judgement { judged: judged.into(), reason: reason.clone() };
        let mutant = &sites.mutants[number as usize];
        check_kills(&out, mutant, &judgement)?;
        let text = with_judgement(&path, sites, mutant, &judgement)?;
        output::write_named(&path, text.as_bytes())?;
    }
    let judgements = read_judgements(&path, system)?;
    let listing = listing(sites, &path, &judgements);
    output::print(&if common.json { output::json(&output::Versioned::new(listing))? } else { text(&listing, sites) })?;
    Ok(Exit::Success)
}

/// Refuses to call a mutant equivalent that the study in `out`, if there is one, has killed.
fn check_kills(out: &Path, mutant: &Mutant, judgement: &Judgement) -> anyhow::Result<()> {
    // Without a finished study nothing is known of kills.
    let Ok(outcomes) = read_outcomes(out) else { return Ok(()) };
    let number = outcomes.sites.mutants.iter().position(|known| known.identity == mutant.identity);
    let first = number.and_then(|number| outcomes.killing_cases(number).minimum());
    match first {
        Some(case) if judgement.judged == Judged::Equivalent => {
            let name = simutant_analysis::case_name(&outcomes.system, case, outcomes.cases.len());
            let identity = &mutant.identity;
            let message =
                format!("mutant {identity} is not equivalent: {name} kills it in the study in {}", out.display());
            Err(BadInput(message).into())
        }
        _ => Ok(()),
    }
}

fn listing<'a>(sites: &'a Sites, path: &Path, judgements: &'a BTreeMap<String, Judgement>) -> Listing<'a> {
    let number = |identity: &str| {
        let position = sites.mutants.iter().position(|mutant| mutant.identity == identity);
        position.map(|number| number as MutantNumber)
    };
    Listing {
        system: &sites.system,
        file: path.display().to_string(),
        judgements: judgements
            .iter()
            .map(|(identity, judgement)| Listed { identity, judgement, mutant: number(identity) })
            .collect(),
    }
}

fn text(listing: &Listing<'_>, sites: &Sites) -> String {
    let mut text = String::new();
    for Listed { identity, judgement: Judgement { judged, reason }, mutant } in &listing.judgements {
        match mutant {
            Some(number) => {
                let Mutant { operator, span, .. } = &sites.mutants[*number as usize];
                let place = format!("{}:{}", sites.files[span.file].path, span.line);
                text.push_str(&format!("mutant {number} [{identity}] {operator} {place}: {judged}: {reason}\n"));
            }
            None => text.push_str(&format!(
                "STALE [{identity}]: {judged}: {reason}; no mutant has this identity, since its code or the operators have changed\n"
            )),
        }
    }
    text.push_str(&format!("{} in {}\n", plural(listing.judgements.len(), "judgement"), listing.file));
    text
}
