//! Ctrl-C: the first asks for an orderly end, the second ends at once.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context;

use crate::exit::Exit;
use crate::output;

/// Returns a flag that the first Ctrl-C sets.
pub(crate) fn flag() -> anyhow::Result<Arc<AtomicBool>> {
    let flag = Arc::new(AtomicBool::new(false));
    let set = Arc::clone(&flag);
    ctrlc::set_handler(move || {
        if set.swap(true, Ordering::SeqCst) {
            std::process::exit(Exit::Interrupted as i32);
        }
        output::tell("\nstopping after what is running now; once more to stop at once");
    })
    .context("cannot listen for Ctrl-C")?;
    Ok(flag)
}

/// Returns `None` for what failed and was interrupted: Ctrl-C in a terminal ends the compiler as well.
pub(crate) fn unless<T>(interrupted: &AtomicBool, result: anyhow::Result<T>) -> anyhow::Result<Option<T>> {
    match result {
        Err(_) if interrupted.load(Ordering::SeqCst) => Ok(None),
        result => result.map(Some),
    }
}
