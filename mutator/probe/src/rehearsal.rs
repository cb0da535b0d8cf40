//! Which body functions run in the tests of the mutator: of crates that others wrote, whose own tests know nothing of probes.
//!
//! The variable `SIMUTANT_REHEARSAL` says it, for all threads of the process, as their first probes are called: `recording` with the sizes after it, or
//! `mutated`, in which every function that has mutants runs the body that chooses between them, and no mutant is active.

use std::sync::LazyLock;

use crate::{Sizes, record};

/// Which body runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Body {
    Clean,
    Mutated,
    Recording(Sizes),
}

static BODY: LazyLock<Body> = LazyLock::new(|| {
    let asked = std::env::var("SIMUTANT_REHEARSAL").unwrap_or_default();
    let mut words = asked.split(' ');
    match words.next() {
        Some("mutated") => Body::Mutated,
        Some("recording") => {
            let mut size = || words.next().and_then(|size| size.parse().ok()).expect("five sizes after `recording`");
            Body::Recording(Sizes {
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

/// Returns the sizes of what a thread records from its beginning, if it does.
pub(crate) fn sizes() -> Option<Sizes> {
    match *BODY {
        Body::Recording(sizes) => Some(sizes),
        Body::Clean | Body::Mutated => None,
    }
}

/// Returns a recorder as a thread begins with it.
pub(crate) fn recorder() -> record::Recorder {
    let recorder = record::Recorder::new();
    sizes().inspect(|&sizes| recorder.start(sizes));
    recorder
}

/// Whether functions with mutants run the body that has them.
pub(crate) fn is_mutated() -> bool {
    *BODY == Body::Mutated
}
