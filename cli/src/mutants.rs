//! `simutant mutants`: every mutant with its diff.

use serde::Serialize;
use simutant_analysis::plural;
use simutant_outcomes::{
    AmbiguousName, Class, MacroDefinition, Mutant, MutantNumber, RejectedMutant, Sites, SkippedCode, Span, Tier,
    UninstrumentedFunction, UnmutatedConstant,
};

use crate::arguments::{Common, MutantsArguments};
use crate::exit::{BadInput, Exit};
use crate::output::coloured;
use crate::{build, output};

/// Lines of code before and after a change.
const CONTEXT: usize = 2;

/// The result as JSON: names in place of numbers of other tables.
#[derive(Debug, Serialize)]
struct Listing<'a> {
    system: &'a str,
    mutants: Vec<Numbered<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rejected: Option<Vec<Rejected<'a>>>,
    uninstrumented: Vec<Unchanged<'a>>,
    left_out: Vec<Unchanged<'a>>,
    /// How many functions have no mutants, by the reason.
    left_alone: Vec<LeftAlone<'a>>,
    unmutated: Vec<Unchanged<'a>>,
    macros: Vec<Macro<'a>>,
    ambiguous: Vec<Ambiguous<'a>>,
    skipped: Vec<Skipped<'a>>,
}

#[derive(Debug, Serialize)]
struct Numbered<'a> {
    number: MutantNumber,
    #[serde(flatten)]
    mutant: Described<'a>,
}

#[derive(Debug, Serialize)]
struct Rejected<'a> {
    #[serde(flatten)]
    mutant: Described<'a>,
    reason: &'a str,
}

/// A mutant, rejected or not.
#[derive(Debug, Serialize)]
struct Described<'a> {
    identity: &'a str,
    operator: &'a str,
    tier: Tier,
    class: Class,
    #[serde(skip_serializing_if = "Option::is_none")]
    tag: Option<&'a str>,
    /// The function's path; of a constant's mutant, the first function that uses the constant.
    function: &'a str,
    #[serde(flatten)]
    place: Place<'a>,
    original: &'a str,
    replacement: &'a str,
    /// The numbers of the mutants that it is at once, if it is of higher order.
    #[serde(skip_serializing_if = "Option::is_none")]
    parts: Option<[MutantNumber; 2]>,
    diff: String,
}

/// A function without probes, or a constant without mutants.
#[derive(Debug, Serialize)]
struct Unchanged<'a> {
    path: &'a str,
    #[serde(flatten)]
    place: Place<'a>,
    reason: &'a str,
}

/// A macro of `macro_rules!`.
#[derive(Debug, Serialize)]
struct Macro<'a> {
    path: &'a str,
    #[serde(flatten)]
    place: Place<'a>,
}

/// How many functions have no mutants for one reason.
#[derive(Debug, Serialize)]
struct LeftAlone<'a> {
    reason: &'a str,
    functions: usize,
}

/// A name that stands for several declarations, with the function that has it.
#[derive(Debug, Serialize)]
struct Ambiguous<'a> {
    name: &'a str,
    function: &'a str,
    #[serde(flatten)]
    place: Place<'a>,
}

/// Code that a comment or the manifest leaves out of mutation.
#[derive(Debug, Serialize)]
struct Skipped<'a> {
    /// The path of the function, or of the file.
    path: &'a str,
    #[serde(flatten)]
    place: Place<'a>,
    /// The operators whose mutants are left out, if not all are.
    #[serde(skip_serializing_if = "Option::is_none")]
    operators: Option<&'a str>,
    mutants: usize,
    reason: &'a str,
}

/// A place in the source: lines and columns from 1 on, columns in characters.
#[derive(Debug, Serialize)]
struct Place<'a> {
    file: &'a str,
    line: usize,
    column: usize,
    line_end: usize,
}

impl<'a> Place<'a> {
    fn of(span: &Span, sites: &'a Sites) -> Self {
        let Span { file, line, column, line_end, .. } = *span;
        Self { file: &sites.files[file].path, line, column, line_end }
    }
}

impl<'a> Unchanged<'a> {
    fn of(functions: &'a [UninstrumentedFunction], sites: &'a Sites) -> Vec<Self> {
        let unchanged = |function: &'a UninstrumentedFunction| Self {
            path: &function.path,
            place: Place::of(&function.span, sites),
            reason: &function.reason,
        };
        functions.iter().map(unchanged).collect()
    }
}

impl<'a> Described<'a> {
    fn of(mutant: &'a Mutant, sites: &'a Sites) -> Self {
        let Mutant { identity, operator, tier, class, tag, function, span, original, replacement, parts } = mutant;
        Self {
            identity,
            operator,
            tier: *tier,
            class: *class,
            tag: tag.as_deref(),
            function: &sites.functions[*function].path,
            place: Place::of(span, sites),
            original,
            replacement,
            parts: *parts,
            diff: sites.diff(mutant, CONTEXT),
        }
    }

    /// Returns the heading of the mutant's diff.
    fn heading(&self) -> String {
        let Self { operator, tier, class, tag, function, place, parts, .. } = self;
        let tag = tag.map(|tag| format!(" ({tag})")).unwrap_or_default();
        let parts = parts.map(|[first, second]| format!(" of {first} and {second}")).unwrap_or_default();
        format!("{operator}{parts}{tag} {place} in {function}, tier {tier}, {class}")
    }
}

impl std::fmt::Display for Place<'_> {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{}:{}:{}", self.file, self.line, self.column)
    }
}

pub(crate) fn run(arguments: &MutantsArguments, common: &Common) -> anyhow::Result<Exit> {
    let built = build::instrumented(&build::find(&arguments.system)?)?;
    let sites = &built.sites;
    let describe = |mutant| Described::of(mutant, sites);
    let listing = Listing {
        system: &sites.system,
        mutants: (0..)
            .zip(&sites.mutants)
            .map(|(number, mutant)| Numbered { number, mutant: describe(mutant) })
            .collect(),
        rejected: arguments.rejected.then(|| {
            let rejected = sites.rejected.iter();
            rejected.map(|RejectedMutant { mutant, reason }| Rejected { mutant: describe(mutant), reason }).collect()
        }),
        uninstrumented: Unchanged::of(&sites.uninstrumented, sites),
        left_out: Unchanged::of(&sites.left_out, sites),
        left_alone: (sites.left_alone().into_iter())
            .map(|(reason, functions)| LeftAlone { reason, functions })
            .collect(),
        unmutated: (sites.unmutated.iter())
            .map(|UnmutatedConstant { path, span, reason }| Unchanged { path, place: Place::of(span, sites), reason })
            .collect(),
        macros: (sites.macros.iter())
            .map(|MacroDefinition { path, span }| Macro { path, place: Place::of(span, sites) })
            .collect(),
        ambiguous: (sites.ambiguous.iter())
            .map(|AmbiguousName { name, path, span }| Ambiguous { name, function: path, place: Place::of(span, sites) })
            .collect(),
        skipped: (sites.skipped.iter())
            .map(|SkippedCode { path, span, operators, mutants, reason }| Skipped {
                path,
                place: Place::of(span, sites),
                operators: operators.as_deref(),
                mutants: *mutants,
                reason,
            })
            .collect(),
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
    for Numbered { number, mutant } in &listing.mutants {
        text.push_str(&format!(
            "mutant {number} [{}] {}\n{}\n",
            mutant.identity,
            mutant.heading(),
            coloured(&mutant.diff)
        ));
    }
    for Rejected { mutant, reason } in listing.rejected.iter().flatten() {
        text.push_str(&format!("rejected: {reason}: {}\n{}\n", mutant.heading(), coloured(&mutant.diff)));
    }
    for Unchanged { path, place, reason } in &listing.uninstrumented {
        text.push_str(&format!("without probes: {path} {place}: {reason}\n"));
    }
    for Unchanged { path, place, reason } in &listing.left_out {
        text.push_str(&format!("not compiled: {path} {place}: {reason}\n"));
    }
    for Unchanged { path, place, reason } in &listing.unmutated {
        text.push_str(&format!("without mutants: {path} {place}: {reason}\n"));
    }
    for Macro { path, place } in &listing.macros {
        text.push_str(&format!("without mutants: {path} {place}: the body of a macro\n"));
    }
    for Ambiguous { name, function, place } in &listing.ambiguous {
        text.push_str(&format!("ambiguous: `{name}` in {function} {place} stands for several declarations\n"));
    }
    for Skipped { path, place, operators, mutants, reason } in &listing.skipped {
        let operators = operators.map(|operators| format!(" of {operators}")).unwrap_or_default();
        let mutants = plural(*mutants, "mutant");
        text.push_str(&format!("skipped: {mutants}{operators} in {path} {place}: {reason}\n"));
    }
    let rejected = sites.rejected.len();
    text.push_str(&format!("{}, {rejected} rejected by the compiler", plural(listing.mutants.len(), "mutant")));
    if !listing.skipped.is_empty() {
        text.push_str(&format!(", {} skipped", sites.mutants_skipped()));
    }
    if !listing.ambiguous.is_empty() {
        text.push_str(&format!(", {}", plural(listing.ambiguous.len(), "ambiguous name")));
    }
    text.push('\n');
    let functions: usize = listing.left_alone.iter().map(|LeftAlone { functions, .. }| functions).sum();
    if functions > 0 {
        let have = if functions == 1 { "function has" } else { "functions have" };
        text.push_str(&format!("{functions} {have} no mutants:\n"));
    }
    for LeftAlone { reason, functions } in &listing.left_alone {
        text.push_str(&format!("{functions:>6}  {reason}\n"));
    }
    text
}
