//! The server socket on the loopback network.

use simutant_models::{Abstractions, Graph, Limits, Walker};
use simutant_subjects::server_socket;

use crate::{first_failure, summary};

#[test]
fn a_third_byte_is_not_there() {
    let mut walker = Walker::new().with_limits(Limits { transitions: 200, ..Limits::default() });
    let path = first_failure(&mut walker, server_socket::instance, 1_000).expect("some walk reads three times");
    assert_eq!(summary(&path), "server socket: connected -> connected: there is a byte");
}

#[test]
fn all_states_and_transitions_are_covered_and_nothing_else_fails() {
    let mut walker = Walker::new().with_limits(Limits { transitions: 200, ..Limits::default() });
    for seed in 0..500 {
        let path = walker.run(server_socket::instance().expect("it is a machine"), seed);
        let summary = summary(&path);
        assert!(path.verdict().passes() || summary.ends_with("there is a byte"), "{summary}");
    }
    let coverage = walker.coverage();
    assert_eq!((coverage.states(), coverage.transitions()), ((7, 7), (16, 16)));
    let states = Graph::of_states(coverage, Abstractions::default()).metrics();
    // The seven states, and the two choices of one transition.
    assert_eq!((states.nodes, states.failed), (9, 1));
}
