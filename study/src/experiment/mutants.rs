//! Mutants of an implementation in an experiment: which of them are tried, and in whose place.

use std::collections::BTreeSet;
use std::num::NonZeroU32;

use simutant_engine_source::Engine;
use simutant_harness::{ActiveMutant, Implementation, RunOptions};
use simutant_mutator::{BuiltPrograms, Programs, ProgramsRequest, ProgramsSection, Selection, build_programs};
use simutant_outcomes::{Mutant, MutantNumber, Sites};
use simutant_sim_core::Random;

use super::trying::{Trying, failed, first_line, first_trials, is_of_implementation};
use super::{TrialEvent, TrialsEnd, Unfit};
use crate::StudyError;

/// So many digits of a mutant's identity tell it from the others of its implementation.
const IDENTITY_DIGITS: usize = 8;

/// Code is shown up to so many characters.
const SHOWN_MAX: usize = 40;

/// An implementation whose mutants are tried.
#[derive(Debug)]
pub(super) struct Mutated<'a> {
    pub(super) implementation: &'a Implementation,
    programs: Programs,
    operators: Selection,
}

/// Finds the packages of those implementations that have any; `count` mutants of each are wanted.
pub(super) fn find(implementations: &[Implementation], count: usize) -> Result<Vec<Mutated<'_>>, StudyError> {
    if count == 0 {
        return Ok(Vec::new());
    }
    let mut found = Vec::new();
    for implementation in implementations {
        let Some(package) = &implementation.mutants else { continue };
        let bad = |error: StudyError| error.of_implementation("[mutants] of implementation", implementation);
        let operators = package.operators.as_deref().map(Selection::parse).transpose();
        let operators = operators.map_err(|error| bad(StudyError::Operators(error)))?.unwrap_or_default();
        let section = ProgramsSection {
            name: &implementation.name,
            specification: &package.specification,
            features: &package.features,
            default_features: package.default_features,
        };
        let programs = Programs::find(&implementation.folder.join(&package.manifest), section);
        found.push(Mutated { implementation, programs: programs.map_err(|error| bad(error.into()))?, operators });
    }
    if found.is_empty() { Err(StudyError::NoMutatedPrograms(count)) } else { Ok(found) }
}

impl Mutated<'_> {
    /// Builds the programs with their mutants, and tries `count` of these.
    pub(super) fn try_all(
        &self,
        count: usize,
        options: &RunOptions,
        trying: &mut Trying<'_>,
    ) -> Result<(), StudyError> {
        let built = self.build(trying)?;
        let options = RunOptions { build_directory: built.folder.clone(), ..options.clone() };
        let obstacle = self.try_original(&built, &options, trying)?;
        for number in draw(&built.sites, options.seed, count) {
            let mutant = self.mutant(&built, number);
            match &obstacle {
                None => trying.try_implementation(&mutant, &options, Unfit::LeaveOut)?,
                Some(why) => trying.leave_out(&mutant, why.clone()),
            }
        }
        Ok(())
    }

    /// Builds the programs with all their mutants.
    fn build(&self, trying: &mut Trying<'_>) -> Result<BuiltPrograms, StudyError> {
        let (engine, name) = (Engine::own()?, &self.implementation.name);
        let request = ProgramsRequest {
            programs: &self.programs,
            operators: &self.operators,
            directory: &self.programs.build_directory(),
            probe: engine.probe(),
        };
        (trying.observer)(TrialEvent::Building(name));
        let built = build_programs(&request, &mut |event| (trying.observer)(TrialEvent::Compiler(event)));
        let bad =
            |error| StudyError::Package(error).of_implementation("cannot mutate the programs of", self.implementation);
        let built = built.map_err(bad)?;
        (trying.observer)(TrialEvent::Built(name, &built.sites));
        Ok(built)
    }

    /// Tries the programs with the first test cases while no mutant is active. Returns why trials of mutants would say
    /// nothing, if that is so.
    fn try_original(
        &self,
        built: &BuiltPrograms,
        options: &RunOptions,
        trying: &mut Trying<'_>,
    ) -> Result<Option<String>, StudyError> {
        let name = format!("{}~original", self.implementation.name);
        let active = ActiveMutant { number: None, programs: built.hash };
        let original = self.implementation.with_mutant(name, "No mutant is active".into(), active);
        let cases = &trying.universe.cases[..trying.pilot.cases];
        trying.begin(&original, options)?;
        (trying.observer)(TrialEvent::Started(cases.len()));
        // One that fails says all.
        let options = RunOptions { failures_max: 0, repetitions: NonZeroU32::MIN, ..options.clone() };
        let (end, why) = match trying.first(cases.len(), &original, &options) {
            Err(error) if is_of_implementation(&error) => (TrialsEnd::Unavailable, Some(first_line(&error))),
            tried => {
                tried?;
                let failed = failed(&trying.log, &original.name, cases);
                let cases = first_trials(&trying.log, &original.name, cases).count();
                let why = "its programs fail test cases while no mutant is active";
                (TrialsEnd::Unmutated { cases, failed }, (failed > 0).then(|| why.to_owned()))
            }
        };
        (trying.observer)(TrialEvent::Ended(&original.name, end));
        Ok(why)
    }

    /// Returns the implementation with a mutant in it.
    fn mutant(&self, built: &BuiltPrograms, number: MutantNumber) -> Implementation {
        let mutant = &built.sites.mutants[number as usize];
        let name = format!("{}~{}", self.implementation.name, &mutant.identity[..IDENTITY_DIGITS]);
        let active = ActiveMutant { number: Some(number), programs: built.hash };
        self.implementation.with_mutant(name, describe(mutant, &built.sites), active)
    }
}

/// Draws so many mutants: of as many functions as there are, then of as many places. Which ones depends on the seed and
/// the mutants' identities alone.
fn draw(sites: &Sites, seed: u64, count: usize) -> Vec<MutantNumber> {
    let seeded = Random::from_seed(seed);
    let mut order: Vec<(MutantNumber, &Mutant)> = (0..).zip(&sites.mutants).collect();
    order.sort_by_cached_key(|(_, mutant)| (seeded.stream(&mutant.identity).bits(), &mutant.identity));
    let (mut functions, mut places) = (BTreeSet::new(), BTreeSet::new());
    let mut ranked: Vec<(u8, MutantNumber)> = order
        .into_iter()
        .map(|(number, mutant)| {
            let is_first_of = (functions.insert(mutant.function), places.insert(mutant.span));
            let rank = match is_first_of {
                (true, _) => 0,
                (false, true) => 1,
                (false, false) => 2,
            };
            (rank, number)
        })
        .collect();
    ranked.sort_by_key(|(rank, _)| *rank);
    ranked.into_iter().take(count).map(|(_, number)| number).collect()
}

/// Says what a mutant changes, and where.
fn describe(mutant: &Mutant, sites: &Sites) -> String {
    let changes = sites.changes(mutant).into_iter().map(|change| {
        let place = format!("{}:{}", sites.files[change.span.file].path, change.span.line);
        format!("{place}: {} -> {}", shown(&change.original), shown(&change.replacement))
    });
    format!("{} at {}", mutant.operator, changes.collect::<Vec<_>>().join(" and "))
}

/// Returns code in one line, cut where it is long.
fn shown(code: &str) -> String {
    let line = code.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(SHOWN_MAX) {
        _ if line.is_empty() => "nothing".into(),
        Some((end, _)) => format!("`{}…`", &line[..end]),
        None => format!("`{line}`"),
    }
}

#[cfg(test)]
mod tests {
    use simutant_outcomes::{Class, SourceFile, Span, Tier};

    use super::*;

    /// Sites with mutants of these functions and places.
    fn sites(mutants: &[(usize, usize)]) -> Sites {
        let mutant = |(index, &(function, start)): (usize, &(usize, usize))| Mutant {
            identity: format!("{index:016x}"),
            operator: "ROR".into(),
            tier: Tier::A,
            class: Class::General,
            tag: None,
            function,
            span: Span { file: 0, start, end: start + 1, line: start + 1, column: 1, line_end: start + 1 },
            original: "<".into(),
            replacement: "<=".into(),
            parts: None,
        };
        let files = vec![SourceFile { path: "src/a.rs".into(), text: String::new() }];
        Sites { files, mutants: mutants.iter().enumerate().map(mutant).collect(), ..Sites::default() }
    }

    /// Three functions with four places each, and three mutants for each place.
    fn many() -> Sites {
        let places = (0..3).flat_map(|function| (0..4).map(move |place| (function, 10 * function + place)));
        sites(&places.flat_map(|place| [place; 3]).collect::<Vec<_>>())
    }

    #[test]
    fn the_same_mutants_are_drawn_for_the_same_seed() {
        let sites = many();
        assert_eq!(draw(&sites, 1, 10), draw(&sites, 1, 10));
        assert_ne!(draw(&sites, 1, 10), draw(&sites, 2, 10));
        assert_eq!(draw(&sites, 1, 10)[..4], draw(&sites, 1, 4), "more of them are the same and others");
    }

    #[test]
    fn what_is_drawn_is_spread_over_functions_and_places() {
        let sites = many();
        for seed in 0..20 {
            let different = |count, of: &dyn Fn(&Mutant) -> usize| {
                let drawn = draw(&sites, seed, count);
                drawn.iter().map(|number| of(&sites.mutants[*number as usize])).collect::<BTreeSet<_>>().len()
            };
            assert_eq!(different(3, &|mutant| mutant.function), 3);
            assert_eq!(different(12, &|mutant| mutant.span.start), 12);
            let all: BTreeSet<MutantNumber> = draw(&sites, seed, 36).into_iter().collect();
            assert_eq!(all.len(), 36, "each once");
            assert_eq!(draw(&sites, seed, 99).len(), 36, "there are no more");
        }
    }

    #[test]
    fn a_mutant_that_goes_changes_no_other_draw() {
        let all = many();
        let drawn = draw(&all, 1, 3);
        let mut fewer = all.clone();
        let gone = (0..36).find(|number| !drawn.contains(number)).expect("36 are more than 3");
        fewer.mutants.remove(gone as usize);
        let identities = |sites: &Sites, drawn: Vec<MutantNumber>| -> Vec<String> {
            drawn.into_iter().map(|number| sites.mutants[number as usize].identity.clone()).collect()
        };
        assert_eq!(identities(&fewer, draw(&fewer, 1, 3)), identities(&all, drawn));
    }

    #[test]
    fn a_mutant_is_described_by_its_change() {
        let mut sites = sites(&[(0, 6)]);
        assert_eq!(describe(&sites.mutants[0], &sites), "ROR at src/a.rs:7: `<` -> `<=`");
        sites.mutants[0].original = "while a {\n        one_that_is_long(); another_that_is_long();\n    }".into();
        sites.mutants[0].replacement = String::new();
        let described = describe(&sites.mutants[0], &sites);
        assert_eq!(described, "ROR at src/a.rs:7: `while a { one_that_is_long(); another_th…` -> nothing");
    }
}
