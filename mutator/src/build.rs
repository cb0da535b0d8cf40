//! One build of all mutants: copy the package, put probes and mutants in, compile, reject what does not, repeat.

mod blame;
mod cargo;
mod check;
mod equivalence;
mod files;
mod identities;
mod instrumented;
mod missing;
mod plain;
mod program;
mod programs;
mod request;
mod rounds;
mod specification;
mod testbed;
mod worker;
mod workspace;

pub use equivalence::{Equivalence, compiler_equivalence};
pub use identities::mutant_identities;
pub use instrumented::{build, build_with};
pub use plain::build_plain;
pub use program::{INITIAL_LINE, NET_LINE, Named, ProgramRequest, TYPE_LINE, build_program};
pub use programs::{BuiltPrograms, ProgramsRequest, build_programs};
pub use request::{Build, BuildEvent, BuildRequest};
pub use testbed::build_testbed;
