//! What a system is to Simutant: a simulation with parameters, its input domain, its oracle and its adequacy criteria.
//!
//! Implement [`System`] for a type that only names the system, and everything else works with it: test cases are drawn
//! from its input domain by a [source], runs are judged by its oracle, and what they cover is counted by its
//! [criteria]. The simulation itself is written with [`simutant_sim_core`]; an [`Observer`] records its history.

pub mod criteria;
mod domain;
mod hold;
mod logs;
mod net;
mod observer;
mod outage;
mod separation;
pub mod source;
mod system;
pub mod testing;
mod walk;

pub use criteria::{Requirements, TraceCriterion};
pub use domain::{Domain, InvalidTestCase, Lengths, Point, Probabilities};
pub use hold::{Hold, Holds};
pub use logs::{InvalidLog, Logged, check_calls, history_of_logs};
pub use net::{NetCase, NetModel, NetSystem, NoMessage, nets};
pub use observer::{Observer, checked, history_time, verdict_of};
pub use outage::{Outage, Outages};
pub use separation::{Separation, Separations};
pub use simutant_outcomes::{CostBounds, Coverage, InputSource, Quota};
pub use source::Universe;
pub use system::{BlackBoxCriterion, System, met_requirements, reseeding, universe};
pub use walk::{Walk, Walks};
