//! The coordinator of two-phase commits.

use simutant_models::{Abstractions, Graph, GraphMetrics, Walker};
use simutant_subjects::coordinator::{self, Mistake};

use crate::{first_failure, summary};

#[test]
fn mistakes_are_found() {
    assert_eq!(first_failure(&mut Walker::new(), || coordinator::instance(Mistake::None), 1_000), None);
    let summaries = Mistake::ALL.map(|mistake| {
        let path = first_failure(&mut Walker::new(), || coordinator::instance(mistake), 100).expect("it is wrong");
        summary(&path).to_owned()
    });
    assert_eq!(
        summaries,
        [
            "coordinator: started -> asked: each worker is asked once",
            "coordinator: voted -> informed: each worker is told the decision",
            "coordinator: voted -> informed: each worker is told the decision",
            "coordinator: informed -> acknowledged: it waits for all acknowledgements",
        ]
    );
}

/// Wang et al. (2019), table 1: 21 nodes and 27 edges in both graphs from 100 tests on, as there are eight cases; and
/// one path.
#[test]
fn graphs_grow_until_all_votes_were_cast() {
    let mut walker = Walker::new();
    for tests in [100, 200, 500, 1_000] {
        let seeds = walker.coverage().paths().tests()..tests;
        for seed in seeds {
            walker.run(coordinator::instance(Mistake::None).expect("it is a machine"), seed);
        }
        let coverage = walker.coverage();
        assert_eq!((coverage.states(), coverage.transitions()), ((7, 7), (6, 6)));
        let metrics = coverage.paths().metrics().expect("there are paths");
        let lengths = (metrics.longest, metrics.shortest, metrics.mean, metrics.deviation);
        assert_eq!((metrics.distinct, metrics.basis, lengths), (1, 1, (6, 6, 6.0, 0.0)));
        for graph in [Graph::of_states, Graph::of_paths] {
            let graph = graph(coverage, Abstractions::default());
            assert_eq!(graph.metrics(), GraphMetrics { nodes: 21, edges: 27, failed: 0, loops: 0 }, "{tests}");
        }
    }
}
