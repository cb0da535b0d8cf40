//! Graphs of what walks of random machines cover.

use std::collections::BTreeSet;

use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed, TestRunner};
use simutant_models::{
    Abstractions, Choices, Graph, Kind, Limits, Machine, NodeKind, Path, PathTrie, Prefixes, Selection, Shape, Sharing,
    Step, StepResult, Stop, Style, Walker, skip, transition,
};

/// A transition of a random machine: from, to, and how many options its action has.
type Arrow = (usize, usize, u32);

const STATES: [&str; 5] = ["a", "b", "c \"d\"", "<e>", "end"];

/// Returns the walks of a machine, which launches another one now and then.
fn walks(arrows: &[Arrow], tests: u64) -> Option<(Walker, Vec<Path>)> {
    let child = Machine::new("child & co", ["x", "y"], [skip::<()>("x -> x"), skip("x -> y")]).ok()?;
    let transitions = arrows.iter().enumerate().map(|(number, &(from, to, options))| {
        let child = child.clone();
        let action = async move |_: &mut (), step: &mut Step<'_>| {
            if options > 4 {
                step.launch(child.with(()));
            }
            let mut chosen = 1;
            for _ in 0..options % 4 {
                chosen = step.choose(0..=2);
                if chosen == 2 {
                    break;
                }
            }
            step.require(chosen > 0)?;
            step.assert(chosen != 2 || number != 3, "it is right")?;
            if chosen == 2 && number == 1 { Err(Stop::from(std::fmt::Error)) } else { Ok(()) }
        };
        let arrow = format!("{} -> {}", STATES[from], STATES[to]);
        transition(&arrow, action).label(&format!("t{number}")).catches("Odd", "a", |_: &std::fmt::Error| true)
    });
    let machine = Machine::new("random", STATES, transitions).ok()?;
    let mut walker = Walker::new().with_limits(Limits { transitions: 12, ..Limits::default() });
    let paths = (0..tests).map(|seed| walker.run(machine.with(()), seed)).collect();
    Some((walker, paths))
}

fn arrows() -> impl Strategy<Value = Vec<Arrow>> {
    // An exit of each state, so that most of what is drawn is a machine.
    let more = proptest::collection::vec((0..4_usize, 0..5_usize, 0..7_u32), 1..8);
    more.prop_map(|mut arrows| {
        arrows.extend([(0, 1, 0), (1, 2, 1), (2, 3, 2), (3, 4, 3)]);
        arrows
    })
}

/// Calls a property with what walks of random machines have covered.
fn check(property: impl Fn(&Walker, &[Path], &[&Shape]) -> Result<(), TestCaseError>) {
    let config = Config { cases: 40, rng_seed: RngSeed::Fixed(11), ..Config::default() };
    let with = |(arrows, tests): (Vec<Arrow>, u64)| {
        let Some((walker, paths)) = walks(&arrows, tests) else { return Ok(()) };
        let machines: Vec<&Shape> = walker.coverage().machines().collect();
        property(&walker, &paths, &machines)
    };
    TestRunner::new(config).run(&(arrows(), 1..40_u64), with).expect("it holds");
}

fn trie(paths: &[Path], sharing: Sharing) -> PathTrie {
    let mut trie = PathTrie::sharing(sharing);
    paths.iter().for_each(|path| trie.add(&path.taken));
    trie
}

/// What a full graph is made of.
const NOTHING: Sharing = Sharing { prefixes: Prefixes::Apart, repetitions: false };

fn sharings() -> impl Iterator<Item = Sharing> {
    let prefixes = [Prefixes::Apart, Prefixes::SamePaths, Prefixes::Shared];
    prefixes.into_iter().flat_map(|prefixes| [false, true].map(|repetitions| Sharing { prefixes, repetitions }))
}

fn abstractions() -> impl Iterator<Item = Abstractions> {
    let choices = [Choices::Apart, Choices::Merged, Choices::Hidden];
    choices.into_iter().flat_map(|choices| [false, true].map(|transitions| Abstractions { transitions, choices }))
}

fn graphs(paths: &[Path], machines: &[&Shape], kind: Kind) -> Vec<(Sharing, Abstractions, Graph)> {
    let graphs = sharings().flat_map(|sharing| {
        let trie = trie(paths, sharing);
        abstractions()
            .map(|with| (sharing, with, Graph::new(kind, &trie, machines, with, &Selection::default())))
            .collect::<Vec<_>>()
    });
    graphs.collect()
}

#[test]
fn edges_join_nodes_and_final_points_count_all_tests() {
    check(|_, paths, machines| {
        for kind in [Kind::States, Kind::Paths] {
            for (sharing, with, graph) in graphs(paths, machines, kind) {
                let mut joined: BTreeSet<usize> =
                    (0..graph.nodes.len()).filter(|&node| graph.nodes[node].is_initial).collect();
                for edge in &graph.edges {
                    prop_assert!(edge.from < graph.nodes.len() && edge.to < graph.nodes.len());
                    joined.extend([edge.from, edge.to]);
                    // What came of a transition is told where it does not lead to a choice.
                    let leads_to_choice = graph.nodes[edge.to].kind == NodeKind::Choice;
                    prop_assert_eq!(edge.style == Style::Part, leads_to_choice);
                    prop_assert_eq!(edge.label.is_empty(), leads_to_choice);
                    prop_assert!(edge.count > 0 && edge.thickness > 0.0);
                    match edge.style {
                        Style::Failed | Style::Success | Style::Part => prop_assert!(!edge.is_loop),
                        Style::SelfLoop | Style::Backtracked => prop_assert!(edge.is_loop),
                        Style::Exceptional => {}
                    }
                    let expected = (edge.count as f64 * 100.0 / paths.len() as f64 + 1.0).ln();
                    prop_assert!((edge.thickness - expected).abs() < 1e-9);
                }
                prop_assert_eq!(joined.len(), graph.nodes.len());
                let ends: u64 = graph.nodes.iter().map(|node| node.ends).sum();
                prop_assert_eq!(ends, paths.len() as u64, "{:?} {:?} {:?}", kind, sharing, with);
            }
        }
        Ok(())
    });
}

/// A graph of states without abstractions has an edge for each transition and each choice of it; as many failed ones as
/// tests failed.
#[test]
fn full_graphs_have_an_edge_for_each_transition() {
    check(|_, paths, machines| {
        let taken = || paths.iter().flat_map(|path| &path.taken);
        let choices: usize = taken().map(|taken| taken.choices.len()).sum();
        let failed = taken().filter(|taken| taken.result == StepResult::Failed).count();
        let trie = trie(paths, NOTHING);
        let states = Graph::new(Kind::States, &trie, machines, Abstractions::NONE, &Selection::default());
        let points = Graph::new(Kind::Paths, &trie, machines, Abstractions::NONE, &Selection::default());
        for graph in [&states, &points] {
            let metrics = graph.metrics();
            prop_assert_eq!((metrics.edges, metrics.failed), (taken().count() + choices, failed));
            prop_assert!(graph.edges.iter().all(|edge| edge.count == 1));
            let chosen = graph.nodes.iter().filter(|node| node.kind == NodeKind::Choice).count();
            prop_assert_eq!(chosen, choices);
        }
        let moves = points.edges.iter().filter(|edge| edge.style != Style::Part && !edge.is_loop).count();
        let at = points.nodes.iter().filter(|node| node.kind == NodeKind::Point).count();
        prop_assert_eq!(at, moves + 1);
        Ok(())
    });
}

#[test]
fn no_abstraction_makes_a_graph_larger() {
    let is_less = |one: Choices, other: Choices| {
        let rank = |choices| match choices {
            Choices::Apart => 0,
            Choices::Merged => 1,
            Choices::Hidden => 2,
        };
        rank(one) <= rank(other)
    };
    check(|_, paths, machines| {
        for kind in [Kind::States, Kind::Paths] {
            let graphs = graphs(paths, machines, kind);
            for (sharing, with, graph) in &graphs {
                for (more_sharing, more, smaller) in &graphs {
                    let abstracts_more = sharing.prefixes <= more_sharing.prefixes
                        && sharing.repetitions <= more_sharing.repetitions
                        && with.transitions <= more.transitions
                        && is_less(with.choices, more.choices);
                    if abstracts_more {
                        let (large, small) = (graph.metrics(), smaller.metrics());
                        let is_smaller = small.nodes <= large.nodes && small.edges <= large.edges;
                        prop_assert!(is_smaller, "{kind:?} {with:?} {sharing:?} {more:?} {more_sharing:?}");
                    }
                }
            }
        }
        Ok(())
    });
}

/// As many points are final as there are distinct paths, where each path ends with a transition of its own.
#[test]
fn distinct_paths_have_final_points_of_their_own() {
    check(|walker, _, machines| {
        let coverage = walker.coverage();
        let graph = Graph::of_paths(coverage, Abstractions::default());
        let final_points = graph.nodes.iter().filter(|node| node.ends > 0).count();
        let trie = coverage.paths();
        let is_loop = |key: (u32, u32, StepResult)| {
            let described = &machines[key.0 as usize].transitions[key.1 as usize];
            match key.2 {
                StepResult::Backtracked => true,
                StepResult::Failed => false,
                StepResult::Succeeded => described.target == described.origin,
                StepResult::Exceptional(place) => described.exceptional[place as usize].1 == described.origin,
            }
        };
        let ends = trie.nodes().iter().filter(|node| node.ends > 0);
        let own = ends.clone().filter(|node| node.key.is_some_and(|key| !is_loop(key))).count();
        let distinct = trie.metrics().map_or(0, |metrics| metrics.distinct);
        prop_assert_eq!(ends.count(), distinct);
        prop_assert!((own..=distinct).contains(&final_points), "{} {} {}", own, final_points, distinct);
        Ok(())
    });
}

/// Where only the same paths share nodes, all distinct paths have final points, but for those that stay at the first one.
#[test]
fn paths_that_are_drawn_apart_end_apart() {
    check(|_, paths, machines| {
        let trie = trie(paths, Sharing { prefixes: Prefixes::SamePaths, repetitions: true });
        let graph = Graph::new(Kind::Paths, &trie, machines, Abstractions::default(), &Selection::default());
        let final_points = graph.nodes.iter().filter(|node| !node.is_initial && node.ends > 0).count();
        let moving = graph.edges.iter().filter(|edge| edge.from == 0 && !edge.is_loop).count();
        let distinct = trie.metrics().map_or(0, |metrics| metrics.distinct);
        prop_assert!(final_points <= distinct && distinct == trie.nodes()[0].children.len());
        if graph.edges.iter().all(|edge| edge.from != 0 || edge.style == Style::Success) {
            prop_assert_eq!(final_points, moving);
            prop_assert_eq!(final_points, distinct);
        }
        Ok(())
    });
}

#[test]
fn a_selection_draws_what_follows_the_selected_transitions() {
    check(|walker, _, machines| {
        let trie = walker.coverage().paths();
        let draw = |selection: &Selection| Graph::new(Kind::Paths, trie, machines, Abstractions::default(), selection);
        let all = draw(&Selection::default());
        prop_assert_eq!(&draw(&Selection { level: Some(1), ..Selection::default() }).edges, &all.edges);
        let size = |nodes: &[usize]| {
            // The selected nodes, and all below.
            let (mut open, mut below) = (nodes.to_vec(), BTreeSet::new());
            while let Some(node) = open.pop() {
                if below.insert(node) {
                    open.extend(&trie.nodes()[node].children);
                }
            }
            below.len()
        };
        let hidden = Abstractions { choices: Choices::Hidden, ..Abstractions::default() };
        for &child in &trie.nodes()[0].children {
            let (machine, transition, result) = trie.nodes()[child].key.expect("it is no root");
            for (level, parent) in [(Some(2), Some((machine, transition))), (Some(1), None), (None, None)] {
                let selection = match level {
                    Some(2) => Selection { level, parent, ..Selection::default() },
                    _ => Selection { transition: Some((machine, transition)), result: Some(result), level, parent },
                };
                let selected: Vec<usize> = (1..trie.nodes().len())
                    .filter(|&node| {
                        let key = trie.nodes()[node].key.expect("it is no root");
                        let of = trie.nodes().iter().position(|parent| parent.children.contains(&node));
                        let before = of.and_then(|parent| trie.nodes()[parent].key);
                        match level {
                            Some(2) => {
                                of.is_some_and(|of| trie.nodes()[0].children.contains(&of))
                                    && before.is_some_and(|key| (key.0, key.1) == (machine, transition))
                            }
                            Some(_) => of == Some(0) && key == (machine, transition, result),
                            None => key == (machine, transition, result),
                        }
                    })
                    .collect();
                let graph = Graph::new(Kind::Paths, trie, machines, hidden, &selection);
                prop_assert_eq!(graph.edges.len(), size(&selected), "{:?}", selection);
            }
        }
        let none = draw(&Selection { transition: Some((9, 9)), ..Selection::default() });
        prop_assert_eq!(none.metrics().edges, 0);
        Ok(())
    });
}

/// Reads what is between quotes and what is outside of them: statements, each with its attributes.
fn statements(dot: &str) -> Vec<String> {
    let (mut statements, mut now, mut in_quotes, mut escaped) = (Vec::new(), String::new(), false, false);
    for letter in dot.chars() {
        match letter {
            _ if escaped => escaped = false,
            '\\' if in_quotes => escaped = true,
            '"' => {
                in_quotes = !in_quotes;
                now.push('"');
            }
            _ if in_quotes => {}
            ';' | '{' | '}' => statements.push(std::mem::take(&mut now).trim().to_owned()),
            '\n' => {}
            _ => now.push(letter),
        }
    }
    assert!(!in_quotes && now.is_empty(), "{dot}");
    statements
}

#[test]
fn what_is_written_is_well_formed() {
    check(|walker, _, _| {
        for kind in [Graph::of_states, Graph::of_paths] {
            let graph = kind(walker.coverage(), Abstractions::default());
            let dot = graph.to_dot();
            let statements = statements(&dot);
            prop_assert_eq!(statements.first().map(String::as_str), Some("digraph \"\""));
            let (mut declared, mut edges) = (BTreeSet::new(), 0);
            for statement in &statements[1..statements.len() - 1] {
                let (subject, attributes) = statement.split_once(" [").expect("it has attributes");
                let attributes = attributes.strip_suffix(']').expect("they end");
                prop_assert!(attributes.split(", ").all(|attribute| attribute.contains('=')), "{statement}");
                match subject.split_once(" -> ") {
                    Some((from, to)) => {
                        edges += 1;
                        prop_assert!(declared.contains(from) && declared.contains(to));
                    }
                    None => prop_assert!(declared.insert(subject.to_owned())),
                }
            }
            // And the attributes of the graph, of all nodes and of all edges.
            prop_assert_eq!((declared.len(), edges), (graph.nodes.len() + 3, graph.edges.len()));
            let svg = graph.to_svg();
            let document = roxmltree::Document::parse(&svg).map_err(|error| TestCaseError::fail(error.to_string()))?;
            let tips = document.descendants().filter(|node| node.has_attribute("marker-end")).count();
            prop_assert_eq!(tips, graph.edges.len());
            let [width, height] = ["width", "height"].map(|name| {
                document
                    .root_element()
                    .attribute(name)
                    .and_then(|size| size.parse::<f64>().ok())
                    .expect("it has a size")
            });
            for text in document.descendants().filter(|node| node.has_tag_name("text")) {
                let at = |name| text.attribute(name).and_then(|at| at.parse::<f64>().ok()).expect("it has a place");
                let (x, y) = (at("x"), at("y"));
                prop_assert!((0.0..=width).contains(&x) && (0.0..=height).contains(&y), "{x} {y} {svg}");
            }
        }
        Ok(())
    });
}

#[test]
fn nothing_gives_a_graph_of_nothing() {
    let walker = Walker::new();
    let states = Graph::of_states(walker.coverage(), Abstractions::default());
    assert_eq!((states.nodes.len(), states.edges.len()), (0, 0));
    let points = Graph::of_paths(walker.coverage(), Abstractions::default());
    assert_eq!((points.nodes.len(), points.edges.len()), (1, 0));
    assert!(
        roxmltree::Document::parse(&states.to_svg()).is_ok() && roxmltree::Document::parse(&points.to_svg()).is_ok()
    );
}
