//! The mutants that no test case kills, with how far each of them gets, and what people say of mutants.
//!
//! They call for different work. A mutant that is never reached or never infected asks for another test case, as long
//! as one can exist. One that infects but never changes the events of a run may well be equivalent. One whose runs have
//! other events than the original's, and still pass, shows what the oracle does not look at.

use std::cmp::Reverse;

use serde::{Deserialize, Serialize};
use simutant_outcomes::{BitSet, Compiled, Judged, Judgement, Mutant, MutantNumber, Outcomes};

use crate::error::AnalysisError;
use crate::mutants::{MutantClass, MutantClasses};
use crate::options::AnalysisOptions;
use crate::score::Score;

/// The operators whose mutants change how long something takes: delays, awaited pauses and timeouts.
const TIMING: [&str; 3] = ["DLY", "AW-D", "AW-T"];

/// A mutant that no test case kills, with the evidence.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Survivor {
    /// The mutant.
    pub mutant: MutantNumber,
    /// Its name, which survives edits elsewhere.
    pub identity: String,
    /// The mutation operator's short name.
    pub operator: String,
    /// `path:line` of the change.
    pub place: String,
    /// The path of the function.
    #[serde(default)]
    pub function: String,
    /// The lines of code that it changes, as one line.
    #[serde(default)]
    pub before: String,
    /// What becomes of them; empty if they are deleted.
    #[serde(default)]
    pub after: String,
    /// Whether it changes no more than how long something takes, or the value of a constant.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tunes: bool,
    /// How far it gets.
    pub class: MutantClass,
    /// How many test cases reach it.
    pub reached: usize,
    /// How many test cases infect it.
    pub infected: usize,
    /// How many of its runs have other events than the original's.
    pub diverged: usize,
    /// How many of its runs were inconclusive: it may be killed by one of these.
    #[serde(default, skip_serializing_if = "simutant_outcomes::is_zero")]
    pub inconclusive: u32,
    /// Of the test cases that get as far as any does, the first of those with the fewest events on the original; `None`
    /// if none reaches it.
    pub example: Option<usize>,
    /// What a person says of it.
    pub judgement: Option<Judgement>,
    /// What the compiler makes of it, if that says anything.
    #[serde(default)]
    pub compiled: Option<Compiled>,
}

impl Survivor {
    /// Returns how many test cases get as far as any does.
    pub fn test_cases(&self) -> usize {
        [self.diverged, self.infected, self.reached].into_iter().find(|count| *count > 0).unwrap_or(0)
    }

    /// Returns whether it changes what happens, and does no more than tune: checks seldom look at that, and need not.
    pub fn is_tuning(&self) -> bool {
        self.tunes && self.class == MutantClass::NeverKilled
    }
}

/// A mutant that is judged equivalent, and killed: the judgement is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contradiction {
    /// The mutant.
    pub mutant: MutantNumber,
    /// Its name.
    pub identity: String,
    /// `path:line` of the change.
    pub place: String,
    /// Why it was judged so.
    pub reason: String,
    /// How many test cases kill it, with their own chance or drawn anew.
    pub kills: usize,
    /// The first of them.
    pub first_case: usize,
}

/// What can be said about a mutant score although it is not known which mutants are equivalent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScoreBounds {
    /// The killed mutants, pathological ones too.
    pub killed: usize,
    /// All mutants, those with equal machine code once.
    pub mutants: usize,
    /// Those of them that are judged or compiled to be equivalent, and that nothing kills.
    pub equivalent: usize,
}

impl ScoreBounds {
    /// Returns the score if every mutant could be killed.
    pub fn lower(self) -> Score {
        Score { killed: self.killed, of: self.mutants }
    }

    /// Returns the score if those that are known as equivalent are, and no others.
    pub fn upper(self) -> Score {
        Score { killed: self.killed, of: self.mutants - self.equivalent }
    }
}

impl std::fmt::Display for ScoreBounds {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        if self.equivalent == 0 {
            return write!(formatter, "{}", self.lower());
        }
        write!(formatter, "{} to {}", self.lower(), self.upper())
    }
}

/// Returns the mutants that no test case kills, in the order of their numbers.
pub(crate) fn survivors(outcomes: &Outcomes, classes: &MutantClasses, options: &AnalysisOptions) -> Vec<Survivor> {
    let with = |set: fn(&simutant_outcomes::CaseOutcome) -> &BitSet, mutant: usize| -> Vec<usize> {
        let cases = outcomes.cases.iter().enumerate();
        cases.filter(|(_, case)| set(case).contains(mutant)).map(|(number, _)| number).collect()
    };
    let shortest = |cases: &mut dyn Iterator<Item = usize>| cases.min_by_key(|&case| outcomes.cases[case].events);
    let unkilled = classes.classes.iter().enumerate().filter(|(_, class)| class.survives());
    unkilled
        .map(|(number, &class)| {
            let mutant = &outcomes.sites.mutants[number];
            let (reached, infected) = (with(|case| &case.reached, number), with(|case| &case.infected, number));
            let diverged = &outcomes.diverged[number];
            let (before, after) = change(&outcomes.sites.diff(mutant, 0));
            Survivor {
                function: outcomes.sites.functions[mutant.function].path.clone(),
                before,
                after,
                mutant: number as MutantNumber,
                identity: mutant.identity.clone(),
                operator: mutant.operator.clone(),
                place: place(outcomes, number),
                class,
                tunes: tunes(outcomes, mutant),
                example: shortest(&mut diverged.ones())
                    .or_else(|| shortest(&mut infected.iter().copied()))
                    .or_else(|| shortest(&mut reached.iter().copied())),
                reached: reached.len(),
                infected: infected.len(),
                diverged: diverged.count_ones(..),
                inconclusive: outcomes.verdicts[number].inconclusive,
                judgement: options.judgements.get(&mutant.identity).cloned(),
                compiled: options.compiled.get(&mutant.identity).cloned(),
            }
        })
        .collect()
}

/// A mutant of a constant is not within the function that it counts for, which uses the constant.
fn tunes(outcomes: &Outcomes, mutant: &Mutant) -> bool {
    let function = outcomes.sites.functions[mutant.function].span;
    let is_within =
        mutant.span.file == function.file && function.start <= mutant.span.start && mutant.span.end <= function.end;
    !is_within || TIMING.contains(&mutant.operator.as_str())
}

/// Returns the mutants that are judged equivalent, and killed, be it by a re-seeding.
pub(crate) fn contradictions(outcomes: &Outcomes, options: &AnalysisOptions) -> Vec<Contradiction> {
    let mutants = outcomes.sites.mutants.iter().enumerate();
    mutants
        .filter_map(|(number, mutant)| {
            let judgement = options.judgements.get(&mutant.identity)?;
            let kills = outcomes.killing_cases(number);
            let first_case = kills.minimum().filter(|_| judgement.judged == Judged::Equivalent)?;
            Some(Contradiction {
                mutant: number as MutantNumber,
                identity: mutant.identity.clone(),
                place: place(outcomes, number),
                reason: judgement.reason.clone(),
                kills: kills.count_ones(..),
                first_case,
            })
        })
        .collect()
}

/// Checks that no run contradicts what the compiler makes of mutants: it would be an error of the comparison.
pub(crate) fn check_compiled(outcomes: &Outcomes, options: &AnalysisOptions) -> Result<(), AnalysisError> {
    let mutants = &outcomes.sites.mutants;
    for (mutant, compiled) in options.compiled.iter().filter_map(|(identity, compiled)| {
        Some((mutants.iter().position(|mutant| mutant.identity == *identity)?, compiled))
    }) {
        let (other, differs) = match compiled {
            Compiled::Equivalent => {
                ("the original".to_owned(), !outcomes.kills[mutant].is_clear() || !outcomes.diverged[mutant].is_clear())
            }
            Compiled::Duplicate(identity) => {
                let other = mutants.iter().position(|mutant| mutant.identity == *identity);
                let is_same = other.is_some_and(|other| {
                    outcomes.kills[other] == outcomes.kills[mutant]
                        && outcomes.diverged[other] == outcomes.diverged[mutant]
                });
                (format!("mutant [{identity}]"), !is_same)
            }
        };
        if differs {
            return Err(AnalysisError::Compiled { mutant: mutant as MutantNumber, other });
        }
    }
    Ok(())
}

/// Returns the identities that were judged and that no mutant has: the code they were about has changed.
pub(crate) fn stale(outcomes: &Outcomes, options: &AnalysisOptions) -> Vec<String> {
    let is_gone = |identity: &&String| outcomes.sites.mutants.iter().all(|mutant| mutant.identity != **identity);
    options.judgements.keys().filter(is_gone).cloned().collect()
}

/// Returns the bounds of the score of test cases that kill these mutants.
pub(crate) fn bounds(killed: &BitSet, classes: &MutantClasses) -> ScoreBounds {
    ScoreBounds {
        killed: killed.ones().filter(|&mutant| classes.classes[mutant] != MutantClass::Duplicate).count(),
        mutants: classes.classes.len() - classes.counts.duplicate,
        equivalent: classes.counts.of(MutantClass::Equivalent),
    }
}

/// Returns the lines that a diff takes away and those that it adds, each as one line.
fn change(diff: &str) -> (String, String) {
    let side = |sign: char, header: &str| {
        let lines = diff.lines().filter(|line| !line.starts_with(header));
        let lines = lines.filter_map(|line| line.strip_prefix(sign)).map(str::trim);
        lines.collect::<Vec<_>>().join(" ")
    };
    (side('-', "--- a/"), side('+', "+++ b/"))
}

/// Returns the survivor that shows most of what expectations and checks leave out: nobody has judged it, and of all it
/// gets farthest, in most test cases; one that only tunes comes last. `None` if no test case reaches any.
pub(crate) fn most_telling(survivors: &[Survivor]) -> Option<&Survivor> {
    let candidates = survivors.iter().filter(|survivor| survivor.judgement.is_none() && survivor.compiled.is_none());
    let candidates = candidates.filter(|survivor| survivor.example.is_some());
    candidates.min_by_key(|survivor| {
        (survivor.is_tuning(), Reverse((survivor.diverged, survivor.infected, survivor.reached)))
    })
}

fn place(outcomes: &Outcomes, mutant: usize) -> String {
    let span = outcomes.sites.mutants[mutant].span;
    format!("{}:{}", outcomes.sites.files[span.file].path, span.line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analyse;
    use simutant_synthetic::{from_kills, reseeded};

    /// The identities of [`from_kills`].
    fn judged(mutant: usize, judged: Judged) -> (String, Judgement) {
        (format!("{mutant:016x}"), Judgement { judged, reason: "a reason".into() })
    }

    #[test]
    fn survivors_have_their_evidence() {
        let outcomes = from_kills(&["....", ".rr.", ".rii", "irdd", "k..."]);
        let analysis = analyse(&outcomes, &AnalysisOptions::default()).expect("sound outcomes");
        let evidence: Vec<_> = analysis
            .survivors
            .iter()
            .map(|survivor| (survivor.class, survivor.reached, survivor.infected, survivor.diverged, survivor.example))
            .collect();
        assert_eq!(
            evidence,
            [
                (MutantClass::NeverReached, 0, 0, 0, None),
                (MutantClass::NeverInfected, 2, 0, 0, Some(1)),
                (MutantClass::NeverPropagated, 3, 2, 0, Some(2)),
                (MutantClass::NeverKilled, 4, 3, 2, Some(2)),
            ]
        );
    }

    #[test]
    fn survivors_say_what_they_change_and_the_most_telling_changes_most_runs() {
        let outcomes = from_kills(&["ik..", "d...", "dd..", "iiii", "...."]);
        let analysis = analyse(&outcomes, &AnalysisOptions::default()).expect("sound outcomes");
        let most_telling = analysis.most_telling_survivor().expect("there are survivors");
        assert_eq!((most_telling.mutant, most_telling.diverged), (2, 2));
        assert_eq!(most_telling.function, "small::f");
        assert_eq!([&most_telling.before, &most_telling.after], ["fn f() -> u8 { 1 }", "fn f() -> u8 { 2 }"]);
        assert_eq!(
            change("--- a/f\n+++ b/f\n@@ -1,2 +1,1 @@\n-  one\n-  -two\n+  three\n"),
            ("one -two".into(), "three".into())
        );
        let analysis = analyse(&from_kills(&["....", "k..."]), &AnalysisOptions::default()).expect("sound outcomes");
        assert_eq!(analysis.most_telling_survivor(), None);
    }

    #[test]
    fn what_only_tunes_tells_least_and_the_shortest_test_case_is_the_example() {
        let mut outcomes = from_kills(&["dddd", "d.d.", "iiii", "k..."]);
        outcomes.sites.mutants[0].operator = "DLY".into();
        outcomes.cases[2].events = 3;
        let analysis = analyse(&outcomes, &AnalysisOptions::default()).expect("sound outcomes");
        let tuning: Vec<bool> = analysis.survivors.iter().map(Survivor::is_tuning).collect();
        assert_eq!(tuning, [true, false, false]);
        assert!(analysis.survivors.iter().all(|survivor| survivor.example == Some(2)), "{:?}", analysis.survivors);
        assert_eq!(analysis.most_telling_survivor().map(|survivor| survivor.mutant), Some(1));
        let function = &mut outcomes.sites.functions[0].span;
        function.end = function.start;
        let analysis = analyse(&outcomes, &AnalysisOptions::default()).expect("sound outcomes");
        assert!(analysis.survivors[1].is_tuning(), "it is in no function, so of a constant");
    }

    #[test]
    fn the_compiler_moves_the_bounds_and_is_never_contradicted() {
        let identity = |mutant: usize| format!("{mutant:016x}");
        let analysed = |compiled: Vec<(usize, Compiled)>| {
            let compiled = compiled.into_iter().map(|(mutant, compiled)| (identity(mutant), compiled)).collect();
            let options = AnalysisOptions { compiled, ..AnalysisOptions::default() };
            analyse(&from_kills(&["k...", "k...", "i...", "d..."]), &options)
        };
        let same_as = |mutant| Compiled::Duplicate(identity(mutant));
        let analysis = analysed(vec![(1, same_as(0)), (2, Compiled::Equivalent)]).expect("sound");
        assert_eq!(analysis.score_bounds.to_string(), "33.3 % (1 of 3) to 50.0 % (1 of 2)");
        let evidence: Vec<_> = analysis.survivors.iter().map(|survivor| survivor.compiled.clone()).collect();
        assert_eq!(evidence, [Some(Compiled::Equivalent), None]);
        for wrong in
            [(0, Compiled::Equivalent), (3, Compiled::Equivalent), (2, same_as(1)), (3, same_as(2)), (2, same_as(9))]
        {
            let message = analysed(vec![wrong]).expect_err("a run says otherwise").to_string();
            assert!(message.contains("the same machine code as"), "{message}");
        }
    }

    #[test]
    fn a_kill_by_a_re_seeding_contradicts_a_judgement() {
        let outcomes = reseeded(&[&[0, 1, 0, 2], &[0; 4], &[0, 0, 8, 0]]);
        let judgements = [judged(0, Judged::Equivalent), judged(1, Judged::Equivalent)].into();
        let options = AnalysisOptions { judgements, ..AnalysisOptions::default() };
        let analysis = analyse(&outcomes, &options).expect("sound outcomes");
        let wrong: Vec<_> =
            analysis.contradictions.iter().map(|wrong| (wrong.mutant, wrong.kills, wrong.first_case)).collect();
        assert_eq!(wrong, [(0, 2, 1)]);
        let classes = [MutantClass::NeverPropagated, MutantClass::Equivalent, MutantClass::Analysed];
        assert_eq!(analysis.mutants.classes, classes);
    }

    #[test]
    fn judgements_move_the_upper_bound_and_those_that_kills_contradict_are_found() {
        let outcomes = from_kills(&["k...", ".k..", "i...", "d...", "...."]);
        let bounds = |judgements: Vec<(String, Judgement)>| {
            let options =
                AnalysisOptions { judgements: judgements.into_iter().collect(), ..AnalysisOptions::default() };
            let analysis = analyse(&outcomes, &options).expect("sound outcomes");
            let numbers: Vec<MutantNumber> = analysis.contradictions.iter().map(|wrong| wrong.mutant).collect();
            (analysis.score_bounds, analysis.mutants.counts, numbers, analysis.stale_judgements)
        };
        let (none, ..) = bounds(Vec::new());
        assert_eq!((none.lower(), none.upper()), (Score { killed: 2, of: 5 }, Score { killed: 2, of: 5 }));
        let (two, counts, wrong, stale) = bounds(vec![
            judged(0, Judged::Equivalent),
            judged(2, Judged::Equivalent),
            judged(3, Judged::Killable),
            judged(4, Judged::Equivalent),
            judged(9, Judged::Equivalent),
        ]);
        assert_eq!((two.lower(), two.upper()), (Score { killed: 2, of: 5 }, Score { killed: 2, of: 3 }));
        assert_eq!(two.to_string(), "40.0 % (2 of 5) to 66.7 % (2 of 3)");
        assert_eq!((counts.equivalent, counts.never_killed, counts.never_reached, counts.analysed), (2, 1, 0, 2));
        assert_eq!(wrong, [0]);
        assert_eq!(stale, [format!("{:016x}", 9)]);
    }
}
