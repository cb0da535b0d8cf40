//! Ctrl-C: while somebody listens, the first asks for an orderly end, the second ends at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;
use simutant_study::StudyError;

use crate::exit::{Exit, with_options};
use crate::output;

/// Listens for Ctrl-C. When it is dropped, Ctrl-C ends the command at once again.
#[derive(Debug)]
pub(crate) struct Interrupts {
    signals: Arc<Signals>,
}

#[derive(Debug, Default)]
struct Signals {
    interrupted: AtomicBool,
    /// Whether nobody listens any more.
    ends_at_once: AtomicBool,
}

/// Ends the command at Ctrl-C with a message, where all that is done so far is kept anyway; a process can ask for it
/// once, and not beside [`Interrupts::listen`].
pub(crate) fn end_with(message: &'static str) -> anyhow::Result<()> {
    ctrlc::set_handler(move || {
        output::tell(message);
        std::process::exit(Exit::Interrupted as i32);
    })
    .context("cannot listen for Ctrl-C")
}

impl Interrupts {
    /// Listens from now on; a process can do so once.
    pub(crate) fn listen() -> anyhow::Result<Self> {
        let signals = Arc::new(Signals::default());
        let heard = Arc::clone(&signals);
        ctrlc::set_handler(move || {
            if heard.interrupted.swap(true, Ordering::SeqCst) || heard.ends_at_once.load(Ordering::SeqCst) {
                std::process::exit(Exit::Interrupted as i32);
            }
            output::tell("\nstopping after what is running now; once more to stop at once");
        })
        .context("cannot listen for Ctrl-C")?;
        Ok(Self { signals })
    }

    /// Returns the flag that the first Ctrl-C sets.
    pub(crate) fn flag(&self) -> &AtomicBool {
        &self.signals.interrupted
    }
}

impl Drop for Interrupts {
    fn drop(&mut self) {
        self.signals.ends_at_once.store(true, Ordering::SeqCst);
    }
}

/// Returns `None` for what was interrupted.
pub(crate) fn unless<T>(result: Result<T, StudyError>) -> anyhow::Result<Option<T>> {
    match result {
        Err(StudyError::Stopped) => Ok(None),
        result => result.map(Some).map_err(with_options),
    }
}
