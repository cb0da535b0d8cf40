//! `simutant mutants`: every mutant with its diff.

use serde::Serialize;
use simutant_outcomes::{Mutant, MutantNumber, RejectedMutant, Sites, UninstrumentedFunction, UnmutatedConstant};

use crate::arguments::{Common, MutantsArguments};
use crate::exit::{BadInput, Exit};
use crate::{build, output};

/// Lines of code before and after a change.
const CONTEXT: usize = 2;

#[derive(Debug, Serialize)]
struct Listing<'a> {
    system: &'a str,
    mutants: Vec<Listed<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rejected: Option<Vec<Rejected<'a>>>,
    uninstrumented: &'a [UninstrumentedFunction],
    unmutated: &'a [UnmutatedConstant],
}

#[derive(Debug, Serialize)]
struct Listed<'a> {
    number: MutantNumber,
    #[serde(flatten)]
    mutant: &'a Mutant,
    diff: String,
}

#[derive(Debug, Serialize)]
struct Rejected<'a> {
    #[serde(flatten)]
    mutant: &'a Mutant,
    diff: String,
    reason: &'a str,
}

pub(crate) fn run(arguments: &MutantsArguments, common: &Common) -> anyhow::Result<Exit> {
    let built = build::instrumented(&build::find(&arguments.system)?)?;
    let sites = &built.sites;
    let diff = |mutant: &Mutant| sites.diff(mutant, CONTEXT);
    let listing = Listing {
        system: &sites.system,
        uninstrumented: &sites.uninstrumented,
        unmutated: &sites.unmutated,
        mutants: (0..)
            .zip(&sites.mutants)
            .map(|(number, mutant)| Listed { number, mutant, diff: diff(mutant) })
            .collect(),
        rejected: arguments.rejected.then(|| {
            let rejected = sites.rejected.iter();
            rejected.map(|RejectedMutant { mutant, reason }| Rejected { mutant, diff: diff(mutant), reason }).collect()
        }),
    };
    if common.json {
        output::print(&output::json(&output::Versioned::new(listing))?)?;
    } else {
        output::print(&text(&listing, sites))?;
    }
    Ok(Exit::Success)
}

/// Returns the number of the mutant that a person names by its number or by its identity.
pub(crate) fn resolve(sites: &Sites, name: &str) -> Result<MutantNumber, BadInput> {
    let has_identity = |mutant: &Mutant| mutant.identity == name;
    let numbered = name.parse().ok().filter(|&number| number < sites.mutants.len());
    let number = sites.mutants.iter().position(has_identity).or(numbered).ok_or_else(|| {
        BadInput(format!(
            "no mutant has the number or the identity `{name}`; there are {}, from 0 on, and `mutants {}` lists them",
            sites.mutants.len(),
            sites.system
        ))
    })?;
    Ok(number as MutantNumber)
}

fn text(listing: &Listing<'_>, sites: &Sites) -> String {
    let mut text = String::new();
    let place = |mutant: &Mutant| {
        let path = &sites.files[mutant.span.file].path;
        let function = &sites.functions[mutant.function].path;
        let tag = mutant.tag.as_ref().map(|tag| format!(" ({tag})")).unwrap_or_default();
        let Mutant { operator, tier, class, span, .. } = mutant;
        let parts = mutant.parts.map(|[first, second]| format!(" of {first} and {second}")).unwrap_or_default();
        format!("{operator}{parts}{tag} {path}:{}:{} in {function}, tier {tier}, {class}", span.line, span.column)
    };
    for listed in &listing.mutants {
        let Listed { number, mutant, diff } = listed;
        text.push_str(&format!("mutant {number} [{}] {}\n{diff}\n", mutant.identity, place(mutant)));
    }
    for Rejected { mutant, diff, reason } in listing.rejected.iter().flatten() {
        text.push_str(&format!("rejected: {reason}: {}\n{diff}\n", place(mutant)));
    }
    for UnmutatedConstant { path, span, reason } in listing.unmutated {
        let file = &sites.files[span.file].path;
        text.push_str(&format!("without mutants: {path} {file}:{}:{}: {reason}\n", span.line, span.column));
    }
    text.push_str(&format!("{} mutants, {} rejected by the compiler\n", sites.mutants.len(), sites.rejected.len()));
    text
}
