//! The double run: whether a configuration and a seed really fix a run.

use std::fmt;

use crate::trace::TraceEvent;
use crate::{Message, Report, Simulation};

/// Two runs of one configuration differ: something in it reads a clock, iterates over a hash map, or shares a global.
///
/// If the traces do not show where, `first` and `second` are `None`.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub struct Divergence {
    /// The number of the first event of the traces that differs, from 0 on.
    pub event: usize,
    /// It in the first run; `None` if that was over.
    pub first: Option<TraceEvent>,
    /// It in the second run; `None` if that was over.
    pub second: Option<TraceEvent>,
    /// The event before, which both have.
    pub before: Option<TraceEvent>,
}

/// Runs a simulation twice, and compares the runs event by event.
///
/// `configure` is called for each run, and must configure the same. Returns the report of the first run, with its
/// trace.
///
/// ```
/// use std::cell::Cell;
/// use simutant_sim_core::{Message, Simulation, check_determinism};
///
/// # #[derive(Debug, Clone, Hash)]
/// # struct Nothing;
/// # impl Message for Nothing {
/// #     fn kind(&self) -> &'static str { "NOTHING" }
/// # }
/// thread_local!(static RUNS: Cell<u32> = const { Cell::new(0) });
///
/// let divergence = check_determinism(|| {
///     let mut simulation = Simulation::<Nothing>::new(1);
///     // A global that survives the run.
///     simulation.add("a", |_| async { RUNS.replace(RUNS.get() + 1) });
///     simulation
/// })
/// .expect_err("the runs return different numbers");
/// assert_eq!(divergence.event, 1);
/// assert!(divergence.to_string().contains("a returned 0; in the other, at 0 s, a returned 1"));
/// ```
///
/// # Errors
/// [`Divergence`] names the first event that differs.
pub fn check_determinism<M: Message>(configure: impl Fn() -> Simulation<M>) -> Result<Report, Box<Divergence>> {
    let run = || {
        let mut simulation = configure();
        simulation.record_trace();
        simulation.run()
    };
    let (first, second) = (run(), run());
    match Divergence::between(&first, &second) {
        None => Ok(first),
        Some(divergence) => Err(Box::new(divergence)),
    }
}

impl Divergence {
    /// Returns where two runs, of which there are traces, differ; `None` if they do not.
    pub fn between(first: &Report, second: &Report) -> Option<Self> {
        if first == second {
            return None;
        }
        let [first, second] = [first, second].map(|report| report.trace.as_deref().unwrap_or_default());
        Some(Self::of(first, second))
    }

    /// Returns where two traces, of any runs, differ; `None` if they do not.
    pub fn between_traces(first: &[TraceEvent], second: &[TraceEvent]) -> Option<Self> {
        (first != second).then(|| Self::of(first, second))
    }

    fn of(first: &[TraceEvent], second: &[TraceEvent]) -> Self {
        let common = first.iter().zip(second).take_while(|(first, second)| first == second).count();
        let before = common.checked_sub(1).and_then(|before| first.get(before).cloned());
        Self { event: common, first: first.get(common).cloned(), second: second.get(common).cloned(), before }
    }
}

impl fmt::Display for Divergence {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { event, first, second, before } = self;
        let text = |event: &Option<TraceEvent>| match event {
            Some(event) => event.to_string(),
            None => "the end of the run".to_owned(),
        };
        if first == second {
            return formatter.write_str(
                "two runs have the same trace, but they end differently, their messages only look the same, or they drew \
                 random numbers without using them",
            );
        }
        write!(
            formatter,
            "two runs differ from event {event} on: in one, {}; in the other, {}",
            text(first),
            text(second)
        )?;
        match before {
            Some(event) => write!(formatter, "; before that, {event}"),
            None => Ok(()),
        }
    }
}
