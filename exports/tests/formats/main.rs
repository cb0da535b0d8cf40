//! What is exported, held against the schemas of those who read it.

mod elements;
mod junit;
mod pytest;
mod sarif;

use simutant_analysis::{Analysis, AnalysisOptions, Study, analyse, suite};
use simutant_outcomes::{Cause, Compiled, Judged, Judgement, Mutant, Outcomes, RejectedMutant, Suite, VerdictCounts};
use simutant_synthetic::synthetic;

/// Everything that a study can have in it.
struct Everything {
    outcomes: Outcomes,
    analysis: Analysis,
    suite: Option<Suite>,
}

impl Everything {
    fn new() -> Self {
        let mut outcomes = synthetic(40, 2);
        let sites = &mut outcomes.sites;
        let first = sites.mutants[0].clone();
        let reason = "error[E0308]: mismatched types\n  --> <here> & there".to_owned();
        let mutant = Mutant { identity: "f".repeat(16), replacement: "\"<&>\"".into(), ..first };
        sites.rejected.push(RejectedMutant { mutant, reason });
        let alive: Vec<usize> = (0..sites.mutants.len()).filter(|&mutant| outcomes.kills[mutant].is_clear()).collect();
        // One of two parts, one that is judged, one that the compiler knows, and two that are the same to it.
        sites.mutants[alive[0]].parts = Some([1, 2]);
        let judgement = Judgement { judged: Judged::Equivalent, reason: "it \"cannot\"\tmatter".into() };
        let same = alive[3..].iter().find(|&&mutant| outcomes.diverged[mutant].is_clear()).expect("there is one");
        // One that every killing test case kills by not ending, and one that nothing reaches.
        let endless = outcomes.kills.iter().position(|kills| !kills.is_clear()).expect("something is killed");
        let kills = outcomes.kills[endless].count_ones(..) as u32;
        let passed = outcomes.cases.len() as u32 - kills;
        outcomes.verdicts[endless] = VerdictCounts { passed, not_terminated: kills, ..VerdictCounts::default() };
        outcomes.causes[endless] = [(Cause::Steps, kills)].into();
        outcomes.reasons[endless].clear();
        for case in &mut outcomes.cases {
            case.reached.set(alive[2], false);
            case.infected.set(alive[2], false);
        }
        outcomes.diverged[alive[2]].clear();
        let sites = &outcomes.sites;
        let identity = |mutant: usize| sites.mutants[mutant].identity.clone();
        let twin = alive[3..].iter().find(|&&mutant| mutant != *same && outcomes.diverged[mutant].is_clear());
        let twin = *twin.expect("there are two");
        let options = AnalysisOptions {
            suites: 10,
            resamples: 100,
            judgements: [(identity(alive[1]), judgement)].into(),
            compiled: [(identity(*same), Compiled::Equivalent), (identity(twin), Compiled::Duplicate(identity(*same)))]
                .into(),
            ..AnalysisOptions::default()
        };
        let analysis = analyse(&outcomes, &options).expect("sound outcomes");
        let suite = suite(&outcomes, &analysis);
        Self { outcomes, analysis, suite }
    }

    fn study(&self) -> Study<'_> {
        Study::new(&self.outcomes, &self.analysis, self.suite.as_ref()).expect("they belong together")
    }
}

/// Checks a document against a schema.
#[track_caller]
fn validate(schema: &str, document: &serde_json::Value) {
    let schema = serde_json::from_str(schema).expect("a schema is JSON");
    let validator = jsonschema::validator_for(&schema).expect("a good schema");
    let errors: Vec<String> =
        validator.iter_errors(document).map(|error| format!("{} at {}", error, error.instance_path())).collect();
    assert!(errors.is_empty(), "{}", errors.join("\n"));
    // A schema that lets everything pass would pass this, too.
    assert!(!validator.is_valid(&serde_json::json!({ "version": 3 })));
}
