//! The thread of a proxy, which ends with whoever holds it.

use std::io::{self, PipeReader, PipeWriter};
use std::sync::{Arc, OnceLock};
use std::thread::JoinHandle;

use super::ProxyError;

/// A running thread; it stops when it is dropped.
#[derive(Debug)]
pub(super) struct RelayThread {
    /// Why it ended by itself, if it did.
    failure: Arc<OnceLock<Arc<io::Error>>>,
    handle: Option<JoinHandle<()>>,
    /// Its closing wakes and ends the thread.
    alive: Option<PipeWriter>,
}

impl RelayThread {
    /// Starts a thread that runs `relay`, which returns once the other end of its pipe is closed, or if it cannot go
    /// on. It has no way to panic.
    ///
    /// # Errors
    /// If the system has no pipe or thread left.
    pub(super) fn start(
        name: &str,
        relay: impl FnOnce(&PipeReader) -> io::Result<()> + Send + 'static,
    ) -> io::Result<Self> {
        let (stop, alive) = io::pipe()?;
        let failure = Arc::new(OnceLock::new());
        let failure_of_relay = Arc::clone(&failure);
        let handle = std::thread::Builder::new().name(name.into()).spawn(move || {
            if let Err(error) = relay(&stop) {
                failure_of_relay.get_or_init(|| Arc::new(error));
            }
        })?;
        Ok(Self { failure, handle: Some(handle), alive: Some(alive) })
    }

    /// Checks that the thread still works.
    ///
    /// # Errors
    /// [`ProxyError::Broken`] if it passes nothing on any more.
    pub(super) fn check(&self) -> Result<(), ProxyError> {
        self.failure.get().map_or(Ok(()), |error| Err(ProxyError::Broken(Arc::clone(error))))
    }

    /// Ends the thread, and waits until it has ended.
    pub(super) fn stop(&mut self) {
        self.alive = None;
        self.wait();
    }

    /// Waits until the thread has ended.
    pub(super) fn wait(&mut self) {
        if let Some(handle) = self.handle.take() {
            handle.join().expect("a relay has no way to panic");
        }
    }
}

impl Drop for RelayThread {
    fn drop(&mut self) {
        self.stop();
    }
}
