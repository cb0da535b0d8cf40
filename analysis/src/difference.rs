//! What changed between two studies, as of a simulation before and after an edit, or of two universes.
//!
//! Mutants are told by their identity, which survives edits elsewhere; requirements by their labels, whose places move
//! with the lines of the source. So a requirement on a line that was edited is gone, and another one is new.

mod labels;
mod lines;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use serde_json::Value;
use simutant_outcomes::{Criterion, FORMAT_VERSION, Outcomes, Suite};

use crate::case_names::suite_cases;
use crate::chosen::suite_scores;
use crate::mutants::MutantClass;
use crate::score::Score;
use crate::study::Study;
use crate::suites;

use labels::Moves;

/// Something of the study before, and of the one after.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Change<T> {
    /// Before.
    pub before: T,
    /// After.
    pub after: T,
}

/// What changed between two studies of one system: plain data, the same bytes for the same studies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// [`FORMAT_VERSION`].
    pub format_version: u32,
    /// The system.
    pub system: String,
    /// How many test cases the universes have.
    pub cases: Change<usize>,
    /// Whether both studies have the same test cases: if not, other inputs can be why something differs.
    pub same_universe: bool,
    /// The paths of specification files whose text differs, or that only one study has.
    pub files: Vec<String>,
    /// The mutants.
    pub mutants: MutantsDifference,
    /// What the universe kills of all mutants, those with equal machine code once.
    pub universe_score: Change<Score>,
    /// One entry per criterion that either study has: those of the study after, then those that it lacks.
    pub criteria: Vec<CriterionDifference>,
    /// The names of the criteria by mean score, best first.
    pub order: Change<Vec<String>>,
    /// The name of the criterion that comes first, by what each study recommends by; `None` if no criterion has suites.
    pub first: Change<Option<String>>,
    /// The suites to run.
    pub suite: SuiteDifference,
}

/// What changed about mutants.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MutantsDifference {
    /// How many there are.
    pub count: Change<usize>,
    /// How many of them the universe kills.
    pub killed: Change<usize>,
    /// Those that only the study after has.
    pub new: Vec<MutantDifference>,
    /// Those that only the study before has.
    pub gone: Vec<MutantDifference>,
    /// Those that were killed before, and are alive now.
    pub no_longer_killed: Vec<MutantDifference>,
    /// Those that were alive before, and are killed now.
    pub newly_killed: Vec<MutantDifference>,
    /// Those that live in both, but get farther now, or less far, or are judged otherwise.
    pub other_class: Vec<MutantDifference>,
}

/// A mutant that is not as it was.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MutantDifference {
    /// Its name in both studies.
    pub identity: String,
    /// The mutation operator's short name.
    pub operator: String,
    /// `path:line` of the change, in the newer study that has it.
    pub place: String,
    /// The code that is replaced.
    pub original: String,
    /// What stands there in the mutant.
    pub replacement: String,
    /// Its number, class and kills before; `None` if it was not there.
    pub before: Option<MutantState>,
    /// The same after; `None` if it is not there.
    pub after: Option<MutantState>,
    /// Whether the compiler rejects it in the study that does not have it.
    pub is_rejected: bool,
}

/// How a mutant stands in one study.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct MutantState {
    /// Its number in that study.
    pub mutant: usize,
    /// Its class.
    pub class: MutantClass,
    /// How many test cases kill it.
    pub kills: usize,
}

/// What changed about a criterion.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CriterionDifference {
    /// Its name.
    pub name: String,
    /// How it stands in each study; `None` in one that does not have it.
    pub standing: Change<Option<CriterionStanding>>,
    /// Labels of requirements that only the study after has.
    pub new: Vec<String>,
    /// Labels, as they were, of requirements that only the study before has.
    pub gone: Vec<String>,
    /// Labels of requirements that the universe covers now, and did not before.
    pub newly_covered: Vec<String>,
    /// Labels of requirements that the universe covered before, and no longer does.
    pub no_longer_covered: Vec<String>,
}

/// How a criterion stands in one study.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct CriterionStanding {
    /// How many requirements it has.
    pub requirements: usize,
    /// How many of them the universe covers.
    pub covered: usize,
    /// Mean number of test cases of its suites; `None` if it has none.
    pub size: Option<f64>,
    /// Mean mutant score of its suites; `None` if no mutant counts.
    pub score: Option<f64>,
    /// Mean score of its suites on the dominators; `None` if there is none.
    pub dominator_score: Option<f64>,
}

/// What changed about the suite to run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SuiteDifference {
    /// The criterion that it was chosen by; `None` without a suite.
    pub criterion: Change<Option<String>>,
    /// How many test cases it has.
    pub size: Change<usize>,
    /// Its mutant score in its own study; `None` without one.
    pub mutant_score: Change<Option<f64>>,
    /// Its score on the dominators of its own study; `None` without one.
    pub dominator_score: Change<Option<f64>>,
    /// What each study's suite kills of all mutants of the other; `None` without a suite, or if the other has not all
    /// of its test cases.
    pub in_other: Change<Option<Score>>,
    /// The names of test cases that are in the suite now, and were not before.
    pub new: Vec<String>,
    /// The names of test cases that were in the suite before, and are no longer.
    pub gone: Vec<String>,
}

/// Studies that cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the first study is of `{before}`, the second of `{after}`; compare studies of one system")]
pub struct DifferenceError {
    /// The system of the first.
    pub before: String,
    /// The system of the second.
    pub after: String,
}

impl Difference {
    /// Returns what changed from the study `before` to the study `after`.
    ///
    /// # Errors
    /// [`DifferenceError`] if they are of different systems.
    pub fn between(before: &Study<'_>, after: &Study<'_>) -> Result<Self, DifferenceError> {
        let (old, new) = (before.outcomes, after.outcomes);
        if old.system != new.system {
            return Err(DifferenceError { before: old.system.clone(), after: new.system.clone() });
        }
        let change = |of: fn(&Study<'_>) -> usize| Change { before: of(before), after: of(after) };
        let order = |study: &Study<'_>| {
            let order = study.analysis.ranking.order.iter();
            order.map(|&criterion| study.analysis.criteria[criterion].name.clone()).collect()
        };
        let score = |study: &Study<'_>| study.analysis.score_bounds.lower();
        Ok(Self {
            format_version: FORMAT_VERSION,
            system: new.system.clone(),
            cases: change(|study| study.outcomes.cases.len()),
            same_universe: old.cases.iter().map(|case| &case.case).eq(new.cases.iter().map(|case| &case.case)),
            files: files(old, new),
            mutants: mutants(before, after),
            universe_score: Change { before: score(before), after: score(after) },
            criteria: criteria(before, after),
            order: Change { before: order(before), after: order(after) },
            first: Change { before: first(before), after: first(after) },
            suite: suite(before, after),
        })
    }

    /// Returns whether nothing differs but what the universes hold.
    pub fn is_empty(&self) -> bool {
        let MutantsDifference { new, gone, no_longer_killed, newly_killed, other_class, .. } = &self.mutants;
        let mutants = [new, gone, no_longer_killed, newly_killed, other_class];
        let is_same = |criterion: &CriterionDifference| {
            let CriterionDifference { standing, new, gone, newly_covered, no_longer_covered, .. } = criterion;
            standing.before == standing.after
                && [new, gone, newly_covered, no_longer_covered].iter().all(|labels| labels.is_empty())
        };
        self.files.is_empty()
            && mutants.iter().all(|mutants| mutants.is_empty())
            && self.universe_score.before == self.universe_score.after
            && self.criteria.iter().all(is_same)
            && self.first.before == self.first.after
            && self.suite.criterion.before == self.suite.criterion.after
            && self.suite.mutant_score.before == self.suite.mutant_score.after
            && self.suite.new.is_empty()
            && self.suite.gone.is_empty()
    }
}

fn files(before: &Outcomes, after: &Outcomes) -> Vec<String> {
    let texts = |outcomes: &Outcomes| -> BTreeMap<String, String> {
        outcomes.sites.files.iter().map(|file| (file.path.clone(), file.text.clone())).collect()
    };
    let (before, after) = (texts(before), texts(after));
    let paths: BTreeSet<&String> = before.keys().chain(after.keys()).collect();
    paths.into_iter().filter(|path| before.get(*path) != after.get(*path)).cloned().collect()
}

fn mutants(before: &Study<'_>, after: &Study<'_>) -> MutantsDifference {
    let numbers = |study: &Study<'_>| -> BTreeMap<String, usize> {
        let mutants = study.outcomes.sites.mutants.iter().enumerate();
        mutants.map(|(number, mutant)| (mutant.identity.clone(), number)).collect()
    };
    let (old, new) = (numbers(before), numbers(after));
    let state = |study: &Study<'_>, mutant: usize| MutantState {
        mutant,
        class: study.analysis.mutants.classes[mutant],
        kills: study.outcomes.kills[mutant].count_ones(..),
    };
    let difference = |identity: &str| {
        let (then, now) = (old.get(identity).copied(), new.get(identity).copied());
        let (study, number, lacking) = match (then, now) {
            (Some(then), None) => (before, then, Some(after)),
            (None, Some(now)) => (after, now, Some(before)),
            (_, now) => (after, now.expect("one of the studies has it"), None),
        };
        let mutant = &study.outcomes.sites.mutants[number];
        let is_rejected = lacking.is_some_and(|lacking| {
            lacking.outcomes.sites.rejected.iter().any(|rejected| rejected.mutant.identity == identity)
        });
        MutantDifference {
            identity: identity.to_owned(),
            operator: mutant.operator.clone(),
            place: format!("{}:{}", study.outcomes.sites.files[mutant.span.file].path, mutant.span.line),
            original: mutant.original.clone(),
            replacement: mutant.replacement.clone(),
            before: then.map(|mutant| state(before, mutant)),
            after: now.map(|mutant| state(after, mutant)),
            is_rejected,
        }
    };
    let killed = |study: &Study<'_>| study.outcomes.killed_mutants().len();
    let mut found = MutantsDifference {
        count: Change { before: old.len(), after: new.len() },
        killed: Change { before: killed(before), after: killed(after) },
        new: Vec::new(),
        gone: Vec::new(),
        no_longer_killed: Vec::new(),
        newly_killed: Vec::new(),
        other_class: Vec::new(),
    };
    // In the order of the source, those that are gone in that of the source before.
    for mutant in &after.outcomes.sites.mutants {
        let difference = difference(&mutant.identity);
        let (Some(then), Some(now)) = (difference.before, difference.after) else {
            found.new.push(difference);
            continue;
        };
        match (then.kills > 0, now.kills > 0) {
            (true, false) => found.no_longer_killed.push(difference),
            (false, true) => found.newly_killed.push(difference),
            (false, false) if then.class != now.class => found.other_class.push(difference),
            _ => {}
        }
    }
    let gone = before.outcomes.sites.mutants.iter().filter(|mutant| !new.contains_key(&mutant.identity));
    found.gone.extend(gone.map(|mutant| difference(&mutant.identity)));
    found
}

fn criteria(before: &Study<'_>, after: &Study<'_>) -> Vec<CriterionDifference> {
    let moves = Moves::new(&before.outcomes.sites, &after.outcomes.sites);
    let has = |study: &Study<'_>, name: &str| study.outcomes.criteria.iter().any(|criterion| criterion.name == name);
    let names = after.outcomes.criteria.iter().map(|criterion| &criterion.name);
    let lost = before.outcomes.criteria.iter().map(|criterion| &criterion.name).filter(|name| !has(after, name));
    names.chain(lost).map(|name| criterion(name, before, after, &moves)).collect()
}

fn criterion(name: &str, before: &Study<'_>, after: &Study<'_>, moves: &Moves<'_>) -> CriterionDifference {
    let of = |study: &Study<'_>| study.outcomes.criteria.iter().position(|criterion| criterion.name == name);
    let standing = |study: &Study<'_>| {
        let criterion = &study.analysis.criteria[of(study)?];
        Some(CriterionStanding {
            requirements: criterion.requirements,
            covered: criterion.feasible(),
            size: criterion.size.map(|size| size.mean),
            score: criterion.score.map(|score| score.mean),
            dominator_score: criterion.dominator_score.map(|score| score.mean),
        })
    };
    let stays = |label: &str| Some(label.to_owned());
    let then = of(before).map(|index| requirements(&before.outcomes.criteria[index], &|label| moves.label(label)));
    let now = of(after).map(|index| requirements(&after.outcomes.criteria[index], &stays));
    let (then, now) = (then.unwrap_or_default(), now.unwrap_or_default());
    // One label can stand for several requirements: the first of them is the first there, too.
    let key = |requirement: &Requirement| requirement.key.clone();
    let known: BTreeMap<_, _> = then.iter().filter_map(|old| Some((key(old)?, old))).collect();
    let mut found = CriterionDifference {
        name: name.to_owned(),
        standing: Change { before: standing(before), after: standing(after) },
        new: Vec::new(),
        gone: Vec::new(),
        newly_covered: Vec::new(),
        no_longer_covered: Vec::new(),
    };
    for requirement in &now {
        let label = requirement.label.clone();
        match key(requirement).and_then(|key| known.get(&key)) {
            None => found.new.push(label),
            Some(old) if requirement.is_covered && !old.is_covered => found.newly_covered.push(label),
            Some(old) if !requirement.is_covered && old.is_covered => found.no_longer_covered.push(label),
            Some(_) => {}
        }
    }
    let still: BTreeSet<_> = now.iter().filter_map(key).collect();
    let gone = then.iter().filter(|old| key(old).is_none_or(|key| !still.contains(&key)));
    found.gone.extend(gone.map(|old| old.label.clone()));
    found
}

/// A requirement with what it is known by in the study after: its label there, and its place among those with the same
/// label.
struct Requirement {
    label: String,
    key: Option<(String, usize)>,
    is_covered: bool,
}

fn requirements(criterion: &Criterion, label_after: &dyn Fn(&str) -> Option<String>) -> Vec<Requirement> {
    let target = suites::target(criterion);
    let mut seen: BTreeMap<String, usize> = BTreeMap::new();
    let requirements = criterion.requirements.iter().enumerate();
    requirements
        .map(|(index, label)| {
            let key = label_after(label).map(|label| {
                let count = seen.entry(label.clone()).or_default();
                *count += 1;
                (label, *count)
            });
            Requirement { label: label.clone(), key, is_covered: target.contains(index) }
        })
        .collect()
}

/// The name of the criterion that comes first.
fn first(study: &Study<'_>) -> Option<String> {
    let sensitivity = study.analysis.sensitivity.as_ref().map(|sensitivity| sensitivity.order[0]);
    let recommended = study.analysis.recommendation.as_ref().map(crate::Recommendation::recommended_criterion);
    sensitivity.or(recommended).map(|criterion| study.analysis.criteria[criterion].name.clone())
}

fn suite(before: &Study<'_>, after: &Study<'_>) -> SuiteDifference {
    let in_other = |suite: Option<&Suite>, other: &Study<'_>| {
        let suite = suite.filter(|suite| suite_cases(other.outcomes, suite).len() == suite.cases.len())?;
        Some(suite_scores(other.outcomes, other.analysis, suite).mutants.upper())
    };
    let in_other = Change { before: in_other(before.suite, after), after: in_other(after.suite, before) };
    let (before, after) = (before.suite, after.suite);
    // Test cases of different universes can have one name.
    let cases = |suite: Option<&Suite>| -> Vec<(String, Value)> {
        let cases = suite.into_iter().flat_map(|suite| &suite.cases);
        cases.map(|case| (case.name.clone(), case.case.clone())).collect()
    };
    let (old, new) = (cases(before), cases(after));
    let without = |these: &[(String, Value)], others: &[(String, Value)]| -> Vec<String> {
        let is_new = |case: &&(String, Value)| others.iter().all(|other| other.1 != case.1);
        these.iter().filter(is_new).map(|case| case.0.clone()).collect()
    };
    SuiteDifference {
        criterion: Change {
            before: before.map(|suite| suite.criterion.clone()),
            after: after.map(|suite| suite.criterion.clone()),
        },
        size: Change { before: old.len(), after: new.len() },
        mutant_score: Change {
            before: before.and_then(|suite| suite.mutant_score),
            after: after.and_then(|suite| suite.mutant_score),
        },
        dominator_score: Change {
            before: before.and_then(|suite| suite.dominator_score),
            after: after.and_then(|suite| suite.dominator_score),
        },
        in_other,
        new: without(&new, &old),
        gone: without(&old, &new),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Analysis, AnalysisOptions, analyse};
    use simutant_synthetic::{from_kills, synthetic};

    fn analysed(outcomes: &Outcomes) -> Analysis {
        analyse(outcomes, &AnalysisOptions { suites: 20, resamples: 100, ..AnalysisOptions::default() })
            .expect("sound outcomes")
    }

    fn between(before: &Outcomes, after: &Outcomes) -> Difference {
        let (old, new) = (analysed(before), analysed(after));
        let suites = [crate::suite(before, &old), crate::suite(after, &new)];
        let before = Study::new(before, &old, suites[0].as_ref()).expect("they belong together");
        let after = Study::new(after, &new, suites[1].as_ref()).expect("they belong together");
        let difference = Difference::between(&before, &after).expect("one system");
        let json = serde_json::to_string(&difference).expect("plain data");
        assert_eq!(serde_json::from_str::<Difference>(&json).expect("it can be read back"), difference);
        difference
    }

    fn identities(mutants: &[MutantDifference]) -> Vec<&str> {
        mutants.iter().map(|mutant| mutant.identity.trim_start_matches('0')).collect()
    }

    #[test]
    fn a_study_does_not_differ_from_itself() {
        let outcomes = synthetic(40, 2);
        let difference = between(&outcomes, &outcomes);
        assert!(difference.is_empty() && difference.same_universe, "{difference:?}");
    }

    #[test]
    fn mutants_are_told_by_identity_whatever_their_numbers() {
        let before = from_kills(&["....", "k...", ".k..", ".i..", "k..."]);
        let mut after = from_kills(&["k...", "....", "..i.", "...d", ".k.."]);
        // The first one is gone: 4 is at its place, and 9 is new.
        for (mutant, identity) in after.sites.mutants.iter_mut().zip([4, 1, 2, 3, 9]) {
            mutant.identity = format!("{identity:016x}");
        }
        let found = between(&before, &after).mutants;
        assert_eq!(identities(&found.new), ["9"]);
        assert_eq!(identities(&found.gone), [""], "the identity of number 0");
        assert_eq!(identities(&found.no_longer_killed), ["1", "2"]);
        assert_eq!(identities(&found.newly_killed), [""; 0]);
        assert_eq!(identities(&found.other_class), ["3"]);
        let state = |class, kills, mutant| Some(MutantState { mutant, class, kills });
        let second = &found.no_longer_killed[1];
        assert_eq!(second.before, state(MutantClass::Analysed, 1, 2));
        assert_eq!(second.after, state(MutantClass::NeverPropagated, 0, 2));
        assert_eq!((found.killed.before, found.killed.after), (3, 2));
        let reverse = between(&after, &before).mutants;
        assert_eq!(identities(&reverse.newly_killed), ["1", "2"]);
        assert_eq!((identities(&reverse.new), identities(&reverse.gone)), (vec![""], vec!["9"]));
    }

    #[test]
    fn requirements_move_with_their_lines() {
        let before = synthetic(40, 2);
        let mut after = before.clone();
        let file = &mut after.sites.files[0];
        file.text.insert_str(0, "// A line more.\n");
        let shift = |span: &mut simutant_outcomes::Span| {
            (span.start, span.end) = (span.start + 16, span.end + 16);
            (span.line, span.line_end) = (span.line + 1, span.line_end + 1);
        };
        let sites = &mut after.sites;
        sites.functions.iter_mut().for_each(|function| shift(&mut function.span));
        sites.blocks.iter_mut().for_each(|block| shift(&mut block.span));
        sites.branches.iter_mut().for_each(|branch| shift(&mut branch.span));
        sites.mutants.iter_mut().for_each(|mutant| shift(&mut mutant.span));
        for criterion in &mut after.criteria[..2] {
            for label in &mut criterion.requirements {
                let mut parts = label.split(':').map(str::to_owned).collect::<Vec<_>>();
                parts[1] = (parts[1].parse::<usize>().expect("a line") + 1).to_string();
                *label = parts.join(":");
            }
        }
        let difference = between(&before, &after);
        assert_eq!(difference.files, ["src/arq/window.rs"]);
        let of_criteria = difference.criteria.iter();
        assert!(of_criteria.clone().all(|criterion| criterion.new.is_empty() && criterion.gone.is_empty()));
        assert_eq!(of_criteria.count(), 4);
        assert_eq!(difference.mutants.new, []);
    }

    #[test]
    fn what_is_covered_no_longer_is_told_by_its_label() {
        let before = synthetic(40, 2);
        let mut after = before.clone();
        let blocks = &mut after.criteria[0];
        blocks.covered.iter_mut().for_each(|covered| covered.set(0, false));
        blocks.requirements[1] = "src/arq/window.rs:1:1".into();
        let difference = between(&before, &after);
        let found = &difference.criteria[0];
        assert_eq!(found.no_longer_covered, before.criteria[0].requirements[..1]);
        assert_eq!(
            (&found.new[..], &found.gone[..]),
            (&["src/arq/window.rs:1:1".to_owned()][..], &before.criteria[0].requirements[1..2])
        );
        assert_eq!(between(&after, &before).criteria[0].newly_covered, before.criteria[0].requirements[..1]);
    }

    #[test]
    fn studies_of_different_systems_are_refused() {
        let (one, mut other) = (from_kills(&["k..."]), from_kills(&["k..."]));
        other.system = "other".into();
        let (analysis, analysis_of_other) = (analysed(&one), analysed(&other));
        let one = Study::new(&one, &analysis, None).expect("they belong together");
        let other = Study::new(&other, &analysis_of_other, None).expect("they belong together");
        assert!(Difference::between(&one, &other).is_err());
    }
}
