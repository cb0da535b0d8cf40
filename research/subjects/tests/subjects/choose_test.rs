//! ChooseTest: its paths, and its graphs as the authors draw them.

use std::collections::BTreeSet;

use simutant_models::{
    Abstractions, Graph, GraphMetrics, Limits, Path, PathTrie, Prefixes, Selection, Sharing, StepResult, Walker,
};
use simutant_subjects::choose_test;

/// Takes walks in which no state is visited more than twice.
fn walks(tests: u64) -> (Walker, Vec<Path>) {
    let machine = choose_test::machine().expect("it is a machine");
    let mut walker = Walker::new().with_limits(Limits { visits: Some(2), ..Limits::default() });
    let paths = (0..tests).map(|seed| walker.run(machine.with(()), seed)).collect();
    (walker, paths)
}

fn words(path: &Path) -> Vec<String> {
    let names = ["ok -> ok", "ok -> end", "ok -> err"];
    let word = |transition: u32, result: StepResult| {
        let result = match result {
            StepResult::Backtracked => " (back)",
            StepResult::Failed => " (failed)",
            StepResult::Succeeded | StepResult::Exceptional(_) => "",
        };
        format!("{}{result}", names[transition as usize])
    };
    path.taken.iter().map(|taken| word(taken.transition, taken.result)).collect()
}

/// Wang et al. (2019), 5.1: of 1,000 tests.
#[test]
fn walks_take_the_paths_of_the_paper() {
    let (walker, paths) = walks(1_000);
    let found: BTreeSet<Vec<String>> = paths.iter().map(words).collect();
    let paper = [
        vec!["ok -> end"],
        vec!["ok -> ok", "ok -> end"],
        vec!["ok -> ok", "ok -> err (back)", "ok -> end"],
        vec!["ok -> ok", "ok -> err"],
        vec!["ok -> err (back)", "ok -> end"],
        vec!["ok -> err (failed)"],
        vec!["ok -> err"],
    ];
    let paper: BTreeSet<Vec<String>> = paper.map(|path| path.into_iter().map(str::to_owned).collect()).into();
    // One more is as likely as two tests of these, and the paper's did not have it.
    let rare = vec!["ok -> ok".to_owned(), "ok -> err (failed)".to_owned()];
    assert!(paper.is_subset(&found), "{found:?}");
    assert!(found.is_subset(&paper.iter().cloned().chain([rare]).collect()), "{found:?}");
    let metrics = walker.coverage().paths().metrics().expect("there are paths");
    assert_eq!((metrics.distinct, metrics.longest, metrics.shortest), (found.len(), 3, 1));
    // A path is a sum of others where it only puts them together.
    assert!((5..=found.len()).contains(&metrics.basis), "{metrics:?}");
    let coverage = walker.coverage();
    assert_eq!((coverage.states(), coverage.transitions(), coverage.pairs()), ((3, 3), (3, 3), (5, 6)));
}

#[test]
fn graphs_are_drawn() {
    let (walker, _) = walks(1_000);
    let states = Graph::of_states(walker.coverage(), Abstractions::default());
    let paths = Graph::of_paths(walker.coverage(), Abstractions::default());
    insta::assert_snapshot!("states.dot", states.to_dot());
    insta::assert_snapshot!("paths.dot", paths.to_dot());
    insta::assert_snapshot!("states.svg", states.to_svg());
    insta::assert_snapshot!("paths.svg", paths.to_svg());
    // A path has a final point of its own, since none of them begins another one.
    let final_points = paths.nodes.iter().filter(|node| node.ends > 0).count();
    assert_eq!(Some(final_points), walker.coverage().paths().metrics().map(|metrics| metrics.distinct));
}

/// As the authors have it: the states, ten options of the first choice and ten of the second one, a loop, an end, edges
/// to and from choices. Of the paths, each that has the transition to `err` has choices of its own.
#[test]
fn graphs_are_as_large_as_their_parts() {
    let (walker, paths) = walks(1_000);
    let states = Graph::of_states(walker.coverage(), Abstractions::default()).metrics();
    let taken = || paths.iter().flat_map(|path| &path.taken);
    let sequences: BTreeSet<_> = taken().map(|taken| (taken.result, &taken.choices)).collect();
    let options: BTreeSet<_> =
        taken().flat_map(|taken| (1..=taken.choices.len()).map(|length| &taken.choices[..length])).collect();
    let with_choices = sequences.iter().filter(|(_, choices)| !choices.is_empty()).count();
    let backtracked = sequences.iter().filter(|(result, _)| *result == StepResult::Backtracked).count();
    assert_eq!(
        states,
        GraphMetrics {
            nodes: 3 + options.len(),
            edges: 2 + options.len() + with_choices,
            failed: 1,
            loops: 1 + backtracked,
        }
    );
    let mut trie = PathTrie::sharing(Sharing { prefixes: Prefixes::Apart, repetitions: false });
    paths.iter().for_each(|path| trie.add(&path.taken));
    let machine = choose_test::machine().expect("it is a machine");
    for kind in [simutant_models::Kind::States, simutant_models::Kind::Paths] {
        let full = Graph::new(kind, &trie, &[machine.shape()], Abstractions::NONE, &Selection::default()).metrics();
        let choices: usize = taken().map(|taken| taken.choices.len()).sum();
        assert_eq!(full.edges, taken().count() + choices);
    }
}
