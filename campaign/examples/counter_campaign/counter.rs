//! The build of the hand-written worker, as the mutator would describe it.

use std::path::{Path, PathBuf};

use simutant_mutator::{Build, Fingerprint};
use simutant_outcomes::{Block, Branch, BranchOutcome, Class, Function, Mutant, Sites, SourceFile, Span, Tier};

/// The file that the places point into.
const TEXT: &str = "fn sum_below(limit: u64) -> u64 {\n    (0..limit).sum()\n}\n";
/// One for each thing that the worker can do.
const MUTANTS: usize = 20;

/// Returns the build; the worker is the other example of this package, beside the program `beside` or below it.
///
/// # Panics
/// If it has not been built.
pub(crate) fn build(beside: &Path) -> Build {
    let worker = beside.ancestors().map(|folder| folder.join("examples/counter_worker")).find(|path| path.exists());
    let worker: PathBuf = worker.expect("build it: cargo build -p simutant-campaign --examples");
    let fingerprint = Fingerprint { fixed: 0x5eed, functions: vec![1] };
    Build { sites: sites(), worker, source_hash: 0x5eed, fingerprint, operators: "HAND".to_owned() }
}

fn sites() -> Sites {
    let at = |code: &str, line| {
        let start = TEXT.find(code).expect("a part of the text");
        Span { file: 0, start, end: start + code.len(), line, column: 1, line_end: line }
    };
    let whole = Span { line_end: 3, ..at(TEXT, 1) };
    let mutant = |number| Mutant {
        identity: format!("{number:016x}"),
        operator: "HAND".to_owned(),
        tier: Tier::A,
        class: Class::General,
        tag: None,
        function: 0,
        span: at("sum()", 2),
        original: "sum()".to_owned(),
        replacement: format!("mutant_{number}()"),
        parts: None,
    };
    Sites {
        package: "counter".to_owned(),
        system: "counter".to_owned(),
        files: vec![SourceFile { path: "src/counter.rs".to_owned(), text: TEXT.to_owned() }],
        functions: vec![Function { path: "counter::sum_below".to_owned(), span: whole }],
        blocks: vec![Block { function: 0, span: whole }; 3],
        branches: [BranchOutcome::True, BranchOutcome::False]
            .map(|outcome| Branch { function: 0, span: at("0..limit", 2), outcome })
            .to_vec(),
        definitions: Vec::new(),
        pairs: Vec::new(),
        conditions: Vec::new(),
        mutants: (0..MUTANTS).map(mutant).collect(),
        rejected: Vec::new(),
        uninstrumented: Vec::new(),
        left_out: Vec::new(),
        without_flow: Vec::new(),
        unmutated: Vec::new(),
        macros: Vec::new(),
        ambiguous: Vec::new(),
        skipped: Vec::new(),
    }
}
