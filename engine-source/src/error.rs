//! Why there is no engine to build with.

use std::path::PathBuf;

/// Why the engine's source cannot be used. Every message names the cure.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineSourceError {
    /// There is no folder for caches.
    #[error(
        "neither XDG_CACHE_HOME nor HOME is set, so there is no folder to unpack the engine's source into; set SIMUTANT_ENGINE to a folder that has it"
    )]
    NoCache,
    /// A folder is not the engine's.
    #[error("{}: {message}; the engine's source is a checkout of Simutant, or what `simutant init --vendor` writes", folder.display())]
    NotAnEngine {
        /// The folder.
        folder: PathBuf,
        /// What is missing.
        message: String,
    },
    /// The engine of a package is none that this command can build a worker of.
    #[error(
        "{}: the engine's source there has interface {theirs}, and this command {ours}; `simutant init --vendor` puts the command's own into the package, and \
         `cargo install --path cli` in a checkout of the same age as that source makes a command that goes with it", folder.display(), theirs = shown(*theirs)
    )]
    OtherInterface {
        /// The folder of the engine's workspace.
        folder: PathBuf,
        /// The number there; an older release has none.
        theirs: Option<u32>,
        /// The command's.
        ours: u32,
    },
    /// A file of the cache cannot be read or written.
    #[error("cannot {action} {}, where the engine's source is unpacked: {source}; make room, or set XDG_CACHE_HOME or SIMUTANT_ENGINE to another folder", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// What the operating system says.
        source: std::io::Error,
    },
}

fn shown(interface: Option<u32>) -> String {
    interface.map_or_else(|| "none".to_owned(), |number| number.to_string())
}
