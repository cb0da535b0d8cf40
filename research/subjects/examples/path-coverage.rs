//! Prints what walks of the subjects cover, as tables in Markdown: the columns are those of Wang, Artho, Kristensen and
//! Stolz (2019), tables 1 and 2. With a directory as its argument it also writes the graphs of ten tests there, as SVG
//! and DOT.

use std::collections::LinkedList;
use std::fs;
use std::path::PathBuf;

use anyhow::Context;
use simutant_models::{
    Abstractions, Graph, GraphMetrics, Instance, Kind, Limits, MachineError, Path, PathTrie, Prefixes, Selection,
    Shape, Sharing, Uniform, Walker, Weighted,
};
use simutant_subjects::{choose_test, coordinator, garage_door, list, server_socket};

const TESTS: [u64; 5] = [10, 100, 200, 500, 1_000];

/// What graphs of paths are made of here: each distinct path is drawn apart, as the authors' are.
const APART: Sharing = Sharing { prefixes: Prefixes::SamePaths, repetitions: true };

struct Subject {
    name: &'static str,
    walker: Walker,
    instance: fn() -> Result<Box<dyn Instance>, MachineError>,
}

fn subjects() -> Vec<Subject> {
    let uniform = |transitions, visits| {
        Walker::new().with_strategy(Uniform).with_limits(Limits { transitions, visits, ..Limits::default() })
    };
    let weighted =
        || Walker::new().with_strategy(Weighted).with_limits(Limits { transitions: 400, ..Limits::default() });
    vec![
        Subject { name: "ChooseTest", walker: uniform(1_000, Some(2)), instance: choose_test::instance },
        Subject {
            name: "garage door",
            walker: uniform(100, None),
            instance: || garage_door::instance(garage_door::WAITS),
        },
        Subject { name: "server socket", walker: uniform(200, None), instance: server_socket::instance },
        Subject {
            name: "coordinator",
            walker: uniform(100, None),
            instance: || coordinator::instance(coordinator::Mistake::None),
        },
        Subject { name: "Vec", walker: weighted(), instance: || list::instance::<Vec<u32>>(list::Mistake::None) },
        Subject {
            name: "LinkedList",
            walker: weighted(),
            instance: || list::instance::<LinkedList<u32>>(list::Mistake::None),
        },
    ]
}

#[expect(clippy::print_stdout, reason = "this is the result")]
fn main() -> anyhow::Result<()> {
    let directory = std::env::args().nth(1).map(PathBuf::from);
    let head = ["machine", "S", "T", "TC", "FC", "LIP", "basis", "LP", "SP", "AVE", "SD"];
    let graphs = ["PG N", "E", "FE", "L", "SG N", "E", "FE", "L"];
    let columns = || head.iter().chain(&graphs);
    println!("| {} |", columns().copied().collect::<Vec<_>>().join(" | "));
    println!(
        "| {} |",
        columns().enumerate().map(|(at, _)| if at == 0 { "---" } else { "--:" }).collect::<Vec<_>>().join(" | ")
    );
    let mut benefit = Vec::new();
    for mut subject in subjects() {
        let mut paths: Vec<Path> = Vec::new();
        for tests in TESTS {
            for seed in paths.len() as u64..tests {
                paths.push(subject.walker.run((subject.instance)()?, seed));
            }
            println!("{}", row(&subject, &paths));
            if subject.name == "server socket" {
                benefit.push(sizes(&subject.walker, &paths));
            }
            if let Some(directory) = directory.as_ref().filter(|_| tests == TESTS[0]) {
                for (kind, graph) in [("states", Graph::of_states as fn(_, _) -> _), ("paths", Graph::of_paths)] {
                    let graph: Graph = graph(subject.walker.coverage(), Abstractions::default());
                    for (ending, text) in [("svg", graph.to_svg()), ("dot", graph.to_dot())] {
                        let file = directory.join(format!("{}-{kind}.{ending}", subject.name.replace(' ', "-")));
                        fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
                    }
                }
            }
        }
    }
    println!("\n| TC | PG, prefixes shared | PG | FPG | SG | FSG |\n| --: | --: | --: | --: | --: | --: |");
    benefit.iter().for_each(|row| println!("{row}"));
    Ok(())
}

fn row(subject: &Subject, paths: &[Path]) -> String {
    let coverage = subject.walker.coverage();
    let of = |(covered, all)| format!("{covered}/{all}");
    let failed = paths.iter().filter(|path| !path.verdict().passes()).count();
    let mut cells = vec![subject.name.to_owned(), of(coverage.states()), of(coverage.transitions())];
    cells.extend([paths.len().to_string(), failed.to_string()]);
    if let Some(metrics) = coverage.paths().metrics() {
        cells.extend([metrics.distinct, metrics.basis, metrics.longest, metrics.shortest].map(|cell| cell.to_string()));
        cells.extend([metrics.mean, metrics.deviation].map(|cell| format!("{cell:.2}")));
    }
    let machines: Vec<&Shape> = coverage.machines().collect();
    let (with, selection) = (Abstractions::default(), Selection::default());
    let apart = Graph::new(Kind::Paths, &trie(paths, APART), &machines, with, &selection);
    for graph in [apart, Graph::of_states(coverage, with)] {
        let GraphMetrics { nodes, edges, failed, loops } = graph.metrics();
        cells.extend([nodes, edges, failed, loops].map(|cell| cell.to_string()));
    }
    format!("| {} |", cells.join(" | "))
}

fn trie(paths: &[Path], sharing: Sharing) -> PathTrie {
    let mut trie = PathTrie::sharing(sharing);
    paths.iter().for_each(|path| trie.add(&path.taken));
    trie
}

/// Returns how large graphs are with all abstractions, and without any.
fn sizes(walker: &Walker, paths: &[Path]) -> String {
    let machines: Vec<&Shape> = walker.coverage().machines().collect();
    let full = trie(paths, Sharing { prefixes: Prefixes::Apart, repetitions: false });
    let (all, none) = (Abstractions::default(), Abstractions::NONE);
    let shared = walker.coverage().paths();
    let graphs = [
        (Kind::Paths, shared, all),
        (Kind::Paths, &trie(paths, APART), all),
        (Kind::Paths, &full, none),
        (Kind::States, shared, all),
        (Kind::States, &full, none),
    ];
    let graphs = graphs.map(|(kind, trie, with)| Graph::new(kind, trie, &machines, with, &Selection::default()));
    let cells = graphs.iter().map(|graph| {
        let GraphMetrics { nodes, edges, failed, loops } = graph.metrics();
        format!("{nodes} {edges} {failed} {loops}")
    });
    format!("| {} | {} |", paths.len(), cells.collect::<Vec<_>>().join(" | "))
}
