//! Outcomes of a campaign that never was, of any size.
//!
//! A test case is five numbers. A function of the specification looks at one of them, and each of its mutants is killed
//! by test cases in which that number is high enough, most of the time: so mutants of a function are killed together.
//! Requirements are ranges of the numbers, so that criteria tell test cases apart as the mutants do.

use std::collections::BTreeMap;

use serde_json::json;
use simutant_outcomes::{
    BitSet, CaseOutcome, Cause, Class, Criterion, CriterionKind, Function, InputSource, Mutant, Outcomes, Sites,
    SourceFile, Span, Tier, VerdictCounts,
};
use simutant_random::Random;

/// How many numbers a test case has.
const NUMBERS: usize = 5;

/// How many mutants a function has.
const MUTANTS_OF_FUNCTION: usize = 20;

/// Returns outcomes in which every mutant is killed by at least one test case and by at most four in ten.
pub(super) fn outcomes(cases: usize, mutants: usize, criteria: usize, seed: u64) -> Outcomes {
    let mut random = Random::from_seed(seed);
    let inputs: Vec<[f64; NUMBERS]> = (0..cases).map(|_| std::array::from_fn(|_| random.unit())).collect();
    let sites = sites(mutants);
    let kills: Vec<BitSet> = (0..mutants).map(|mutant| killed(mutant, &inputs, &mut random)).collect();
    let by_case = |case: usize| {
        let mut set = BitSet::with_capacity(mutants);
        set.extend((0..mutants).filter(|&mutant| kills[mutant].contains(case)));
        set
    };
    let counts = |kills: &BitSet| kills.count_ones(..) as u32;
    Outcomes {
        system: "made-up".into(),
        seed,
        input_source: InputSource::Uniform,
        cases: inputs
            .iter()
            .enumerate()
            .map(|(case, input)| {
                let events = 50 + (1000.0 * input[0]) as u64;
                CaseOutcome {
                    case: json!({ "case": case, "loss": input[0] }),
                    events,
                    steps: 10 * events,
                    virtual_time_ns: 1_000_000 * events,
                    messages: 0,
                    late_faults: 0,
                    reached: by_case(case),
                    infected: by_case(case),
                }
            })
            .collect(),
        criteria: (0..criteria).map(|number| criterion(number, &inputs)).collect(),
        left_out: Vec::new(),
        verdicts: kills
            .iter()
            .map(|kills| VerdictCounts {
                passed: cases as u32 - counts(kills),
                failed: counts(kills),
                ..VerdictCounts::default()
            })
            .collect(),
        causes: kills.iter().map(|kills| BTreeMap::from([(Cause::UnexpectedResult, counts(kills))])).collect(),
        diverged: kills.clone(),
        reasons: vec![Vec::new(); mutants],
        reseeded: None,
        cost: None,
        kills,
        sites,
    }
}

/// The test cases that kill a mutant.
fn killed(mutant: usize, inputs: &[[f64; NUMBERS]], random: &mut Random) -> BitSet {
    let number = mutant / MUTANTS_OF_FUNCTION % NUMBERS;
    // Thresholds from 0.6 up to almost 1: most test cases do not kill the mutant, and few of the hardest do.
    let threshold = 0.6 + 0.4 * random.unit().sqrt() * 0.99;
    let mut set = BitSet::with_capacity(inputs.len());
    set.extend((0..inputs.len()).filter(|&case| inputs[case][number] >= threshold && random.unit() < 0.9));
    // A mutant that nothing kills would not count.
    set.insert(mutant % inputs.len());
    set
}

/// A criterion that divides each number into parts; the more it has, the more inputs a suite needs.
fn criterion(number: usize, inputs: &[[f64; NUMBERS]]) -> Criterion {
    let parts = 3 + 2 * number;
    let kind = [CriterionKind::WhiteBox, CriterionKind::BlackBox, CriterionKind::Trace][number % 3];
    let requirements = NUMBERS * parts;
    Criterion {
        name: format!("parts-{parts}"),
        kind,
        requirements: (0..requirements).map(|requirement| format!("part {requirement}")).collect(),
        quotas: Vec::new(),
        covered: inputs
            .iter()
            .map(|input| {
                let mut set = BitSet::with_capacity(requirements);
                set.extend(
                    input.iter().enumerate().map(|(place, value)| place * parts + (value * parts as f64) as usize),
                );
                set
            })
            .collect(),
    }
}

fn sites(mutants: usize) -> Sites {
    const LINE: &str = "fn f() -> u8 { 1 }\n";
    let count = mutants.div_ceil(MUTANTS_OF_FUNCTION);
    let span = |function: usize, start: usize, end: usize| {
        let line = function * LINE.len();
        Span {
            file: 0,
            start: line + start,
            end: line + end,
            line: function + 1,
            column: start + 1,
            line_end: function + 1,
        }
    };
    Sites {
        package: "made-up".into(),
        system: "made-up".into(),
        files: vec![SourceFile { path: "src/lib.rs".into(), text: LINE.repeat(count) }],
        functions: (0..count)
            .map(|function| Function { path: format!("made_up::f{function}"), span: span(function, 0, LINE.len() - 1) })
            .collect(),
        blocks: Vec::new(),
        branches: Vec::new(),
        definitions: Vec::new(),
        pairs: Vec::new(),
        conditions: Vec::new(),
        mutants: (0..mutants)
            .map(|number| Mutant {
                identity: format!("{number:016x}"),
                operator: "LVR".into(),
                tier: Tier::A,
                class: Class::General,
                tag: None,
                function: number / MUTANTS_OF_FUNCTION,
                span: span(number / MUTANTS_OF_FUNCTION, 15, 16),
                original: "1".into(),
                replacement: number.to_string(),
                parts: None,
            })
            .collect(),
        rejected: Vec::new(),
        ambiguous: Vec::new(),
        skipped: Vec::new(),
        uninstrumented: Vec::new(),
        left_out: Vec::new(),
        without_flow: Vec::new(),
        unmutated: Vec::new(),
        macros: Vec::new(),
    }
}
