//! Which body functions run in the tests of the mutator: of crates that others wrote, whose own tests know nothing of
//! probes.
//!
//! The variable `SIMUTANT_REHEARSAL` says it, for all threads of the process, as their first probes are called:
//! `recording` with the sizes after it (without mutants, that is the covering body), or `mutated`, in which every
//! function that has mutants runs the body that chooses between them, and no mutant is active.

use std::sync::LazyLock;

use crate::{CHOOSE, RecordingSizes, Run};

/// Which body runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Body {
    Clean,
    Mutated,
    Recording(RecordingSizes),
}

static BODY: LazyLock<Body> = LazyLock::new(|| {
    let asked = std::env::var("SIMUTANT_REHEARSAL").unwrap_or_default();
    let mut words = asked.split(' ');
    match words.next() {
        Some("mutated") => Body::Mutated,
        Some("recording") => {
            let mut size = || words.next().and_then(|size| size.parse().ok()).expect("five sizes after `recording`");
            Body::Recording(RecordingSizes {
                blocks: size(),
                branches: size(),
                pairs: size(),
                conditions: size(),
                mutants: size(),
            })
        }
        _ => Body::Clean,
    }
});

/// Makes a run what a thread begins with.
pub(crate) fn begin(run: &Run) {
    match *BODY {
        Body::Clean => {}
        Body::Mutated => run.active.set(CHOOSE),
        Body::Recording(sizes) => run.record(sizes),
    }
}
