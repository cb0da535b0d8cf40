//! Histories made at random, judged by the crate and by who tries all orders.

#[path = "../../../examples/checker/src/any.rs"]
#[expect(unreachable_pub, reason = "the system's test cases are public")]
mod any;
// The judge is that of the system which has mutants of the oracle.
#[path = "../../../examples/checker/src/case.rs"]
#[expect(unreachable_pub, dead_code, reason = "the system's test cases are public, and it draws and checks them")]
mod case;
mod contradictions;
mod corpus;
#[path = "../../../examples/checker/src/edge.rs"]
mod edge;
#[path = "../../../examples/checker/src/examine.rs"]
mod examine;
mod explain;
mod explaining;
#[path = "../../../examples/checker/src/judge.rs"]
#[expect(clippy::disallowed_types, reason = "nobody sees the order of what has failed")]
mod judge;
#[cfg(feature = "catalogue")]
mod judging;
#[path = "../../../examples/checker/src/nodes.rs"]
mod nodes;
mod online;
mod others;
mod overwriting;
#[path = "../../../examples/checker/src/sample.rs"]
mod sample;
mod search;
mod sources;
#[path = "../../../examples/checker/src/tried.rs"]
mod tried;
mod zookeeper;
