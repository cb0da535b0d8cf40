//! Histories made at random, judged by the crate and by who tries all orders.

#[path = "../../../research/checker/src/any.rs"]
#[expect(unreachable_pub, reason = "the system's test cases are public")]
mod any;
// The judge is that of the system which has mutants of the oracle.
#[path = "../../../research/checker/src/case.rs"]
#[expect(unreachable_pub, dead_code, reason = "the system's test cases are public, and it draws and checks them")]
mod case;
mod contradictions;
mod corpus;
#[path = "../../../research/checker/src/edge.rs"]
mod edge;
#[path = "../../../research/checker/src/examine.rs"]
mod examine;
mod explain;
mod explaining;
#[path = "../../../research/checker/src/judge.rs"]
#[expect(clippy::disallowed_types, reason = "nobody sees the order of what has failed")]
mod judge;
#[cfg(feature = "catalogue")]
mod judging;
#[path = "../../../research/checker/src/nodes.rs"]
mod nodes;
mod online;
mod others;
mod overwriting;
#[path = "../../../research/checker/src/sample.rs"]
mod sample;
mod search;
mod sources;
#[path = "../../../research/checker/src/tried.rs"]
mod tried;
