//! The pages that a study writes beside its report: of mutants, and of test cases.

use std::path::{Path, PathBuf};

use simutant_analysis::{Analysis, MutantClass, boosted, case_name};
use simutant_outcomes::{Cause, MutantNumber, Outcomes};
use simutant_report::{CasePage, CasePages, MutantPage, Operators, example_case};
use simutant_traces::diagram;

use crate::explain::caption;
use crate::{Explainer, StudyError, files};

/// The folder of the pages of mutants, in that of the study.
const MUTANTS: &str = "mutants";

/// The folder of the pages of test cases.
const CASES: &str = "cases";

/// The folder of the whole message sequences of runs on mutants.
const DIAGRAMS: &str = "diagrams";

/// The classes whose mutants have pages, those first whose pages tell most.
const CLASSES: [MutantClass; 6] = [
    MutantClass::NeverKilled,
    MutantClass::Analysed,
    MutantClass::NotKnown,
    MutantClass::NeverPropagated,
    MutantClass::NeverInfected,
    MutantClass::Equivalent,
];

/// Writes the page of a mutant into the folder of a study, with the diagrams that it links, and returns its path.
///
/// # Errors
/// [`StudyError::File`] if it cannot be written.
pub fn write_mutant_page(out: &Path, page: &MutantPage<'_>) -> Result<PathBuf, StudyError> {
    let path = out.join(MUTANTS).join(page.file_name());
    files::write(&path, &page.html())?;
    let diagrams = page.explanation.and_then(|explanation| explanation.diagrams.as_ref());
    for (name, diagram) in page.diagram_names().iter().zip(diagrams.into_iter().flatten()) {
        files::write(&out.join(DIAGRAMS).join(name), diagram)?;
    }
    Ok(path)
}

/// Writes pages of the mutants of a study, at most `pages_max`, in the place of those of an earlier one; returns whose.
pub(crate) fn write_mutant_pages(
    explainer: &mut Explainer<'_>,
    outcomes: &Outcomes,
    analysis: &Analysis,
    ((out, pages_max), operators): ((&Path, usize), Operators<'_>),
) -> Result<Vec<MutantNumber>, StudyError> {
    files::remove(&out.join(MUTANTS))?;
    files::remove(&out.join(DIAGRAMS))?;
    let of_class = |class: MutantClass| {
        let classes = (0..).zip(&analysis.mutants.classes);
        classes.filter(move |(_, other)| **other == class).map(|(number, _): (MutantNumber, _)| number)
    };
    let numbers: Vec<MutantNumber> = CLASSES.into_iter().flat_map(of_class).take(pages_max).collect();
    for (place, &number) in numbers.iter().enumerate() {
        let identity = &outcomes.sites.mutants[number as usize].identity;
        // A run that hangs would keep the study for a minute.
        let may_hang = outcomes.causes[number as usize].contains_key(&Cause::Hang);
        let explanation = match example_case(outcomes, number) {
            Some(case) if !may_hang => {
                Some(explainer.explain(number, outcomes.cases[case].case.clone(), Some(case))?)
            }
            _ => None,
        };
        let judge = explainer.judge_command(identity);
        let page = MutantPage {
            previous: place.checked_sub(1).map(|place| numbers[place]),
            next: numbers.get(place + 1).copied(),
            judge: Some(&judge),
            sites: &outcomes.sites,
            mutant: number,
            outcomes: Some(outcomes),
            judgement: analysis.options.judgements.get(identity),
            explanation: explanation.as_ref(),
            operators,
        };
        write_mutant_page(out, &page)?;
    }
    Ok(numbers)
}

/// Writes pages of the test cases of the chosen suite, of those that survivors name, and of those of the best suites of
/// all criteria, at most `pages_max`, in the place of those of an earlier study; returns which.
pub(crate) fn write_case_pages(
    explainer: &mut Explainer<'_>,
    outcomes: &Outcomes,
    analysis: &Analysis,
    (out, pages_max): (&Path, usize),
) -> Result<Vec<usize>, StudyError> {
    let folder = out.join(CASES);
    files::remove(&folder)?;
    let cases = cases_of_suites(analysis, pages_max);
    let pages = CasePages::new(outcomes, analysis);
    for &case in &cases {
        let name = case_name(&outcomes.system, case, outcomes.cases.len());
        let input = &outcomes.cases[case].case;
        let (simulated, trace) = explainer.simulate(input)?;
        let caption = caption(name.clone(), &simulated.execution);
        let picture = trace.as_ref().map(|trace| diagram::excerpt(trace, 0, &caption));
        let diagram = trace.as_ref().map(|_| format!("{name}-diagram.html"));
        if let (Some(trace), Some(diagram)) = (&trace, &diagram) {
            files::write(&folder.join(diagram), &diagram::html(trace, &caption))?;
        }
        let replay = explainer.replay_command(input, None);
        let (picture, diagram, replay) = (picture.as_deref(), diagram.as_deref(), replay.as_str());
        let page = CasePage { pages: &pages, case, picture, diagram, replay };
        files::write(&folder.join(page.file_name()), &page.html())?;
    }
    Ok(cases)
}

/// Returns the first test cases of the chosen suite, those that survivors name, and those of the suite that is
/// recommended and of the best suites of all criteria.
fn cases_of_suites(analysis: &Analysis, count: usize) -> Vec<usize> {
    let recommended = analysis.recommendation.iter().map(|recommendation| recommendation.choice);
    let best = analysis.criteria.iter().filter_map(|criterion| boosted(analysis, &criterion.name));
    let drawn = recommended.chain(best).map(|choice| &analysis.criteria[choice.criterion].suites[choice.suite].cases);
    let mut cases: Vec<usize> = Vec::new();
    let chosen = analysis.chosen.iter().flat_map(|chosen| &chosen.cases);
    let named = analysis.survivors.iter().filter_map(|survivor| survivor.example.as_ref());
    for &case in chosen.chain(named).chain(drawn.flatten()) {
        if cases.len() < count && !cases.contains(&case) {
            cases.push(case);
        }
    }
    cases
}
