//! Outcomes made without a campaign, for tests of what reads outcomes, and for the example that renders a report.

use std::collections::BTreeMap;

use serde_json::json;
use simutant_outcomes::{
    BitSet, Block, Branch, BranchOutcome, CaseOutcome, Cause, Class, CostKills, CostRole, Criterion, CriterionKind,
    Function, InputSource, LeftOut, Mutant, Origin, Outcomes, ReasonCount, Reseeded, RunEnd, Sites, SourceFile, Span,
    Subject, Tier, Trials, VerdictCounts,
};

/// The source that the mutants and requirements of [`synthetic`] are in.
const SOURCE: &str = include_str!("window.rs.txt");

/// Pieces of the source from the first text to the next occurrence of the second, and the least loss and the least
/// number of bytes of a test case that covers them; a loss above 1 does not occur.
const BLOCKS: [(&str, &str, f64, u64); 15] = [
    ("self.next < self.base + self.size", "size", 0.0, 0),
    ("if !self.has_room()", "has_room()", 0.0, 0),
    ("return None;", ";", 0.0, 4000),
    ("let number = self.next;", "Some(number)", 0.0, 0),
    ("if number <= self.base", "base", 0.0, 0),
    ("return false;", ";", 0.09, 0),
    ("if number > self.next", "next", 0.0, 0),
    ("return self.reject(number);", ";", 2.0, 0),
    ("self.base = number;", "self.base == self.next", 0.0, 0),
    ("self.retries += 1;", "base < self.next", 0.02, 0),
    ("return Err(GiveUp { base: self.base });", ";", 0.185, 30_000),
    ("let again = self.next - self.base;", "size / 2", 0.02, 0),
    ("self.shrink(1);", ";", 0.05, 9000),
    ("self.size = if", "};", 0.05, 9000),
    ("self.retries += (number - self.next) as u32;", "false", 2.0, 0),
];

/// Decisions, with the least loss and bytes for their two outcomes.
const BRANCHES: [(&str, [(f64, u64); 2]); 6] = [
    ("!self.has_room()", [(0.0, 4000), (0.0, 0)]),
    ("number <= self.base", [(0.09, 0), (0.0, 0)]),
    ("number > self.next", [(2.0, 0), (0.0, 0)]),
    ("self.retries > retries_max && self.base < self.next", [(0.185, 30_000), (0.02, 0)]),
    ("again > self.size / 2", [(0.05, 9000), (0.03, 0)]),
    ("self.size > by + 1", [(0.05, 9000), (0.14, 40_000)]),
];

/// Code, its mutation operator and its replacements.
const MUTATIONS: [(&str, &str, &[&str]); 11] = [
    (" < ", "ROR", &[" <= ", " != "]),
    (" > ", "ROR", &[" >= ", " != ", " < "]),
    (" <= ", "ROR", &[" < ", " == "]),
    (" == ", "ROR", &[" <= ", " >= "]),
    (" + ", "AOR", &[" - "]),
    (" - ", "AOR", &[" + ", " * "]),
    (" / ", "AOR", &[" * "]),
    (" += ", "ASR", &[" -= ", " = "]),
    (" && ", "COR", &[" || "]),
    ("1;", "LVR", &["0;", "2;"]),
    ("self.base = number;", "SDL", &[""]),
];

/// Returns outcomes of a made-up campaign of `cases` test cases on a made-up sender, for a system called `arq`.
pub fn synthetic(cases: usize, seed: u64) -> Outcomes {
    let mut noise = Noise(seed);
    let inputs: Vec<Input> = (0..cases).map(|_| Input::draw(&mut noise)).collect();
    let sites = sites();
    let block_needs: Vec<(f64, u64)> = BLOCKS.iter().map(|(_, _, loss, bytes)| (*loss, *bytes)).collect();
    let branch_needs: Vec<(f64, u64)> = BRANCHES.iter().flat_map(|(_, outcomes)| *outcomes).collect();
    let mut outcomes = Outcomes {
        system: "arq".into(),
        seed,
        input_source: InputSource::Uniform,
        cases: inputs.iter().map(|input| input.outcome(sites.mutants.len())).collect(),
        criteria: vec![
            white_box("all-blocks", &sites, sites.blocks.iter().map(|b| b.span).collect(), &block_needs, &inputs),
            white_box("all-branches", &sites, sites.branches.iter().map(|b| b.span).collect(), &branch_needs, &inputs),
            partitions(
                "IP-1",
                &inputs,
                |input| vec![input.loss_bin(4), 4 + input.twice_bin(4), 8 + input.bytes_bin(4)],
                12,
            ),
            partitions(
                "IP-2",
                &inputs,
                |input| {
                    let skewed = |bin: usize| if bin < 4 { bin / 2 } else { bin - 2 };
                    vec![skewed(input.loss_bin(8)), 6 + skewed(input.twice_bin(8)), 12 + input.bytes_bin(7)]
                },
                19,
            ),
        ],
        left_out: Vec::new(),
        kills: vec![BitSet::with_capacity(cases); sites.mutants.len()],
        verdicts: vec![VerdictCounts::default(); sites.mutants.len()],
        causes: vec![BTreeMap::new(); sites.mutants.len()],
        diverged: vec![BitSet::with_capacity(cases); sites.mutants.len()],
        reasons: vec![Vec::new(); sites.mutants.len()],
        reseeded: None,
        cost: None,
        sites,
    };
    for mutant in 0..outcomes.sites.mutants.len() {
        let needs = needs_at(&outcomes.sites.mutants[mutant].span);
        run_mutant(&mut outcomes, mutant, needs, &inputs, &mut noise);
    }
    outcomes
}

/// Returns outcomes with these rows of the kill matrix: `.` does not reach, `r` reaches, `i` infects, `d` changes the
/// events, `k` kills. The one criterion asks for every test case.
pub fn from_kills(rows: &[&str]) -> Outcomes {
    let cases = rows.first().map_or(1, |row| row.len());
    let text = "fn f() -> u8 { 1 }";
    let span = Span { file: 0, start: 15, end: 16, line: 1, column: 16, line_end: 1 };
    let set = |bits: Vec<usize>, length: usize| {
        let mut set = BitSet::with_capacity(length);
        set.extend(bits);
        set
    };
    let column = |case: usize, marks: &str| {
        let has = |row: &&str| marks.contains(row.as_bytes()[case] as char);
        set(rows.iter().enumerate().filter(|(_, row)| has(row)).map(|(mutant, _)| mutant).collect(), rows.len())
    };
    let row_of = |marks: &[char]| -> Vec<Vec<usize>> {
        rows.iter().map(|row| row.match_indices(marks).map(|(case, _)| case).collect()).collect()
    };
    let killing = row_of(&['k']);
    Outcomes {
        system: "small".into(),
        seed: 1,
        input_source: InputSource::Uniform,
        sites: Sites {
            package: "small".into(),
            system: "small".into(),
            files: vec![SourceFile { path: "src/lib.rs".into(), text: text.into() }],
            functions: vec![Function { path: "small::f".into(), span }],
            blocks: Vec::new(),
            branches: Vec::new(),
            definitions: Vec::new(),
            pairs: Vec::new(),
            conditions: Vec::new(),
            mutants: (0..rows.len()).map(|number| mutant(number, "LVR", 0, span, "1", &number.to_string())).collect(),
            rejected: Vec::new(),
            uninstrumented: Vec::new(),
            left_out: Vec::new(),
            without_flow: Vec::new(),
            unmutated: Vec::new(),
            macros: Vec::new(),
            ambiguous: Vec::new(),
            skipped: Vec::new(),
        },
        cases: (0..cases)
            .map(|case| CaseOutcome {
                case: json!({ "case": case }),
                events: 10,
                steps: 10,
                virtual_time_ns: 10,
                messages: 0,
                late_faults: 0,
                reached: column(case, "ridk"),
                infected: column(case, "idk"),
            })
            .collect(),
        criteria: vec![Criterion {
            name: "every-case".into(),
            kind: CriterionKind::BlackBox,
            requirements: (0..cases).map(|case| format!("case {case}")).collect(),
            quotas: Vec::new(),
            covered: (0..cases).map(|case| set(vec![case], cases)).collect(),
        }],
        left_out: Vec::new(),
        verdicts: killing
            .iter()
            .map(|kills| VerdictCounts {
                passed: (cases - kills.len()) as u32,
                failed: kills.len() as u32,
                ..VerdictCounts::default()
            })
            .collect(),
        causes: killing
            .iter()
            .map(|kills| kills.iter().map(|_| (Cause::UnexpectedResult, kills.len() as u32)).collect())
            .collect(),
        diverged: row_of(&['d', 'k']).into_iter().map(|cases_| set(cases_, cases)).collect(),
        reasons: vec![Vec::new(); rows.len()],
        reseeded: None,
        cost: None,
        kills: killing.into_iter().map(|kills| set(kills, cases)).collect(),
    }
}

/// Returns outcomes with runs that kill with these probabilities, and how many of 8; shape `mutants x cases`.
pub fn reseeded(kills_of_eight: &[&[u8]]) -> Outcomes {
    let rows: Vec<String> = kills_of_eight
        .iter()
        .map(|row| row.iter().map(|&kills| if kills >= 4 { 'k' } else { 'i' }).collect())
        .collect();
    let mut outcomes = from_kills(&rows.iter().map(String::as_str).collect::<Vec<_>>());
    let covered = outcomes.criteria.iter().map(|criterion| {
        let of_case = |covered: &BitSet| (0..covered.len()).map(|index| 8 * u8::from(covered[index])).collect();
        criterion.covered.iter().map(of_case).collect()
    });
    outcomes.reseeded = Some(Reseeded {
        reseedings: 8,
        chance: vec!["seed".into()],
        runs: kills_of_eight.iter().map(|row| vec![8; row.len()]).collect(),
        kills: kills_of_eight.iter().map(|row| row.to_vec()).collect(),
        covered: covered.collect(),
    });
    outcomes
}

/// Returns outcomes with kills by cost: `c` for each test case that kills so, shape `mutants x cases`.
pub fn with_cost(mut outcomes: Outcomes, rows: &[&str]) -> Outcomes {
    let set = |row: &&str| {
        let mut set = BitSet::with_capacity(row.len());
        set.extend(row.match_indices('c').map(|(case, _)| case));
        set
    };
    outcomes.cost = Some(CostKills {
        oracle: "events=20%".parse().expect("it is an oracle"),
        role: CostRole::Apart,
        kills: rows.iter().map(set).collect(),
        reseeded: None,
    });
    outcomes
}

/// Returns outcomes with kills, kills by cost, and two criteria, of which one asks for the first test case and one for
/// the second.
pub fn two_criteria(kills: &[&str], by_cost: &[&str]) -> Outcomes {
    let mut outcomes = with_cost(from_kills(kills), by_cost);
    let mut first = outcomes.criteria[0].clone();
    first.name = "first-case".into();
    first.covered.iter_mut().skip(1).for_each(BitSet::clear);
    let mut second = outcomes.criteria[0].clone();
    second.name = "second-case".into();
    second.covered.iter_mut().enumerate().filter(|(case, _)| *case != 1).for_each(|(_, covered)| covered.clear());
    outcomes.criteria = vec![first, second];
    outcomes
}

/// Returns a subject that fails on the test cases that kill a mutant.
pub fn subject(name: &str, origin: Origin, outcomes: &Outcomes, mutant: usize) -> Subject {
    Subject {
        name: name.into(),
        origin,
        description: format!("ROR at src/a.rs:{mutant}"),
        failed: outcomes.kills[mutant].clone(),
        again: Vec::new(),
        durations_ms: (0..outcomes.cases.len() as u64).map(|case| 20 + case % 7).collect(),
    }
}

/// Returns eight implementations that each fail on the test cases that kill a mutant, and that also did `again`.
pub fn eight_subjects(outcomes: &Outcomes, again: impl Fn(&BitSet) -> Vec<BitSet>) -> Vec<Subject> {
    let fails = |mutant: &usize| (2..=24).contains(&outcomes.kills[*mutant].count_ones(..));
    let mutants = (0..outcomes.kills.len()).filter(fails).take(8);
    let subject = |mutant: usize| {
        let subject = subject(&format!("m{mutant}"), Origin::Mistake, outcomes, mutant);
        Subject { again: again(&subject.failed), ..subject }
    };
    mutants.map(subject).collect()
}

/// Returns trials of these subjects, and one implementation that is left out.
pub fn trials(outcomes: &Outcomes, subjects: Vec<Subject>) -> Trials {
    let why = || "its program is not there".into();
    let left_out = vec![LeftOut { name: "absent".into(), origin: Origin::Release, why: why() }];
    Trials {
        system: outcomes.system.clone(),
        seed: outcomes.seed,
        redraws: true,
        subjects,
        left_out,
        simulation_ns_per_event: 100,
    }
}

/// Mutants with the kills of 8 runs of each test case, each with a number that names its operator, of
/// [`OPERATORS`], and its function, of `f0`, `f1` and `f2`.
pub type TaggedMutants = Vec<(Vec<u8>, usize)>;

/// What each test case covers of each criterion.
pub type Covered = Vec<Vec<Vec<bool>>>;

/// The operators of [`tagged`] mutants.
pub const OPERATORS: [&str; 3] = ["AOR", "ROR", "SDL"];

/// Returns outcomes of these mutants and of criteria `a`, `b` and so on, with re-seedings.
pub fn tagged(mutants: &TaggedMutants, criteria: &Covered) -> Outcomes {
    let rows: Vec<&[u8]> = mutants.iter().map(|(row, _)| row.as_slice()).collect();
    let mut outcomes = reseeded(&rows);
    let span = outcomes.sites.functions[0].span;
    outcomes.sites.functions = (0..3).map(|number| Function { path: format!("f{number}"), span }).collect();
    for (mutant, (_, tag)) in outcomes.sites.mutants.iter_mut().zip(mutants) {
        mutant.operator = OPERATORS[tag % 3].into();
        mutant.function = tag / 3 % 3;
    }
    let criterion = |(covered, name): (&Vec<Vec<bool>>, char)| {
        let requirements = covered[0].len();
        let of_case = |covers: &Vec<bool>| {
            let mut set = BitSet::with_capacity(requirements);
            set.extend((0..requirements).filter(|&requirement| covers[requirement]));
            set
        };
        Criterion {
            name: name.into(),
            kind: CriterionKind::BlackBox,
            requirements: (0..requirements).map(|number| number.to_string()).collect(),
            quotas: Vec::new(),
            covered: covered.iter().map(of_case).collect(),
        }
    };
    outcomes.criteria = criteria.iter().zip('a'..).map(criterion).collect();
    let runs = |covered: &Vec<Vec<bool>>| {
        covered.iter().map(|covers| covers.iter().map(|&covers| 8 * u8::from(covers)).collect()).collect()
    };
    outcomes.reseeded.as_mut().expect("there are re-seedings").covered = criteria.iter().map(runs).collect();
    outcomes
}

/// Returns [`tagged`] outcomes without re-seedings.
pub fn on_own_seeds(mutants: &TaggedMutants, criteria: &Covered) -> Outcomes {
    Outcomes { reseeded: None, ..tagged(mutants, criteria) }
}

/// Returns a row of ten test cases of which these kill in all runs.
pub fn row_of_ten(killing: &[usize], tag: usize) -> (Vec<u8>, usize) {
    ((0..10).map(|case| if killing.contains(&case) { 8 } else { 0 }).collect(), tag)
}

/// Returns what ten test cases cover of a criterion that asks for each of these.
pub fn asks_for(cases: &[usize]) -> Vec<Vec<bool>> {
    (0..10).map(|case| cases.iter().map(|&other| other == case).collect()).collect()
}

/// A made-up test case.
struct Input {
    bytes: u64,
    loss: f64,
    twice: f64,
}

impl Input {
    fn draw(noise: &mut Noise) -> Self {
        Self { bytes: 1 + noise.below(50_000), loss: noise.share() * 0.2, twice: noise.share() * 0.2 }
    }

    fn covers(&self, (loss, bytes): (f64, u64)) -> bool {
        self.loss >= loss && self.bytes >= bytes
    }

    fn loss_bin(&self, bins: usize) -> usize {
        (self.loss / 0.2 * bins as f64) as usize
    }

    fn twice_bin(&self, bins: usize) -> usize {
        (self.twice / 0.2 * bins as f64) as usize
    }

    fn bytes_bin(&self, bins: usize) -> usize {
        (self.bytes - 1) as usize * bins / 50_000
    }

    fn outcome(&self, mutants: usize) -> CaseOutcome {
        let events = 40 + self.bytes / 50 + (self.loss * 4000.0) as u64;
        CaseOutcome {
            case: json!({ "bytes": self.bytes, "drop_prob": (self.loss * 1000.0).round() / 1000.0,
                          "dup_prob": (self.twice * 1000.0).round() / 1000.0 }),
            events,
            steps: 9 * events,
            virtual_time_ns: events * 1_500_000,
            messages: 0,
            late_faults: 0,
            reached: BitSet::with_capacity(mutants),
            infected: BitSet::with_capacity(mutants),
        }
    }
}

/// Fills in what the test cases do to one mutant, which is harder for some mutants than for others.
fn run_mutant(outcomes: &mut Outcomes, mutant: usize, needs: (f64, u64), inputs: &[Input], noise: &mut Noise) {
    let kind = noise.below(10);
    let loss_min = noise.share() * 0.2;
    let rate = [0.004, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.95, 0.0, 0.95][kind as usize];
    for (case, input) in inputs.iter().enumerate().filter(|(_, input)| input.covers(needs)) {
        outcomes.cases[case].reached.insert(mutant);
        let infects = noise.share() < 0.6 + 0.4 * rate && !(kind == 8 && mutant.is_multiple_of(2));
        if !infects {
            outcomes.verdicts[mutant].add(RunEnd::Passed);
            continue;
        }
        outcomes.cases[case].infected.insert(mutant);
        let is_killed = noise.share() < rate && (kind == 7 || input.loss.max(input.twice) >= loss_min);
        let end = match (is_killed, noise.below(8)) {
            (false, _) => None,
            (true, 0) => Some((Cause::Steps, "the run used up its 91 260 steps")),
            (true, 1) => Some((Cause::Panic, "attempt to subtract with overflow (src/arq/window.rs:50)")),
            (true, _) => Some((Cause::UnexpectedResult, "receiver: expected the file, got 1 024 bytes fewer")),
        };
        if is_killed || mutant.is_multiple_of(3) {
            outcomes.diverged[mutant].insert(case);
        }
        outcomes.verdicts[mutant].add(end.map_or(RunEnd::Passed, |(cause, _)| cause.verdict()));
        if let Some((cause, reason)) = end {
            let verdict = cause.verdict();
            outcomes.kills[mutant].insert(case);
            *outcomes.causes[mutant].entry(cause).or_default() += 1;
            let reasons = &mut outcomes.reasons[mutant];
            match reasons.iter_mut().find(|known| known.verdict == verdict) {
                Some(known) => known.count += 1,
                None => reasons.push(ReasonCount { verdict, cause, reason: reason.into(), count: 1, first_case: case }),
            }
        }
    }
    let runs = outcomes.verdicts[mutant];
    outcomes.verdicts[mutant].passed = inputs.len() as u32 - runs.kills();
    outcomes.reasons[mutant].sort_by_key(|reason| std::cmp::Reverse(reason.count));
}

fn sites() -> Sites {
    let functions: Vec<Function> = SOURCE
        .match_indices("fn ")
        .map(|(start, _)| {
            let name = SOURCE[start + 3..].split('(').next().expect("a split has a first part");
            let end = start + SOURCE[start..].find("\n    }").expect("a method ends") + 6;
            Function { path: format!("arq::window::Window::{name}"), span: span(start, end) }
        })
        .collect();
    let function_at = |at: usize| {
        let encloses = |function: &Function| function.span.start <= at && at < function.span.end;
        functions.iter().position(encloses).expect("every site is in a method")
    };
    let mutants = MUTATIONS
        .iter()
        .flat_map(|(original, operator, replacements)| {
            let places = SOURCE.match_indices(original).filter(|(at, _)| *at > functions[0].span.start);
            let places: Vec<usize> = places.map(|(at, _)| at).collect();
            places.into_iter().flat_map(move |at| replacements.iter().map(move |new| (at, *operator, *original, *new)))
        })
        .enumerate()
        .map(|(number, (at, operator, original, new))| {
            // The replaced code is without the spaces around it.
            let start = at + original.len() - original.trim_start().len();
            let place = span(start, start + original.trim().len());
            mutant(number, operator, function_at(at), place, original.trim(), new.trim())
        })
        .collect();
    let blocks = BLOCKS.iter().map(|block| {
        let place = block_span(block.0, block.1);
        Block { function: function_at(place.start), span: place }
    });
    let branches = BRANCHES.iter().flat_map(|(condition, _)| {
        let start = SOURCE.find(condition).expect("the condition is in the source");
        let place = span(start, start + condition.len());
        [BranchOutcome::True, BranchOutcome::False].map(|outcome| Branch {
            function: function_at(start),
            span: place,
            outcome,
        })
    });
    Sites {
        package: "made-up".into(),
        system: "arq".into(),
        files: vec![SourceFile { path: "src/arq/window.rs".into(), text: SOURCE.into() }],
        blocks: blocks.collect(),
        branches: branches.collect(),
        definitions: Vec::new(),
        pairs: Vec::new(),
        conditions: Vec::new(),
        mutants,
        rejected: Vec::new(),
        uninstrumented: Vec::new(),
        left_out: Vec::new(),
        without_flow: Vec::new(),
        unmutated: Vec::new(),
        macros: Vec::new(),
        ambiguous: Vec::new(),
        skipped: Vec::new(),
        functions,
    }
}

fn mutant(number: usize, operator: &str, function: usize, span: Span, original: &str, replacement: &str) -> Mutant {
    Mutant {
        identity: format!("{number:016x}"),
        operator: operator.into(),
        tier: Tier::A,
        class: Class::General,
        tag: None,
        function,
        span,
        original: original.into(),
        replacement: replacement.into(),
        parts: None,
    }
}

fn span(start: usize, end: usize) -> Span {
    let line = |at: usize| SOURCE[..at].matches('\n').count() + 1;
    let line_start = SOURCE[..start].rfind('\n').map_or(0, |at| at + 1);
    Span { file: 0, start, end, line: line(start), column: start - line_start + 1, line_end: line(end - 1) }
}

fn block_span(first: &str, last: &str) -> Span {
    let start = SOURCE.find(first).expect("the block is in the source");
    let length = SOURCE[start..].find(last).expect("the block ends") + last.len();
    span(start, start + length)
}

/// What it takes to reach a place: what the smallest block around it takes, nothing outside of blocks.
fn needs_at(place: &Span) -> (f64, u64) {
    BLOCKS
        .iter()
        .map(|block| (block_span(block.0, block.1), (block.2, block.3)))
        .filter(|(block, _)| block.start <= place.start && place.end <= block.end)
        .min_by_key(|(block, _)| block.end - block.start)
        .map_or((0.0, 0), |(_, needs)| needs)
}

fn white_box(name: &str, sites: &Sites, places: Vec<Span>, needs: &[(f64, u64)], inputs: &[Input]) -> Criterion {
    Criterion {
        name: name.into(),
        kind: CriterionKind::WhiteBox,
        requirements: places
            .iter()
            .map(|place| format!("{}:{}:{}", sites.files[place.file].path, place.line, place.column))
            .collect(),
        quotas: Vec::new(),
        covered: inputs
            .iter()
            .map(|input| {
                let mut set = BitSet::with_capacity(needs.len());
                set.extend((0..needs.len()).filter(|&index| input.covers(needs[index])));
                set
            })
            .collect(),
    }
}

fn partitions(name: &str, inputs: &[Input], of: impl Fn(&Input) -> Vec<usize>, count: usize) -> Criterion {
    Criterion {
        name: name.into(),
        kind: CriterionKind::BlackBox,
        requirements: (0..count).map(|index| format!("partition {index}")).collect(),
        quotas: Vec::new(),
        covered: inputs
            .iter()
            .map(|input| {
                let mut set = BitSet::with_capacity(count);
                set.extend(of(input));
                set
            })
            .collect(),
    }
}

/// SplitMix64: made-up data needs no better generator.
struct Noise(u64);

impl Noise {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    fn share(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}
