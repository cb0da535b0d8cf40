//! State machines of the literature on which generators of tests were compared, each with the system that it tests.
//!
//! | subject | its system | of |
//! | --- | --- | --- |
//! | [`choose_test`] | nothing but an assertion that fails by chance | Wang et al. 2019, 5.1 |
//! | [`garage_door`] | a door that takes its time | Wang et al. 2020, listings 1 and 2 |
//! | [`coordinator`] | a coordinator of two-phase commits | Wang et al. 2019, 6 |
//! | [`list`] | lists with iterators, as three interleaved machines | Wang et al. 2019, 6 |
//! | [`server_socket`] | a server socket on the loopback network | Wang et al. 2019, 6 |
//!
//! Systems of which there are faulty variants have a `Mistake`: `None` is right. `cargo run -p simutant-subjects
//! --example path-coverage` measures what walks of them cover.

pub mod choose_test;
pub mod coordinator;
pub mod garage_door;
pub mod list;
pub mod server_socket;
