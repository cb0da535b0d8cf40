//! The engine's source: the packages that are compiled with a system for a study, wherever the command is.
//!
//! A study compiles a worker with the user's package, so it needs the source of the worker, the probes and the engine.
//! The command carries these files ([`files()`]), with the systems that come with Simutant and the library for
//! testbeds.
//!
//! An [`Engine`] is a folder with these packages. There are three of them:
//!
//! - [`Engine::own`] is the command's: the folder that the variable [`VARIABLE`] names, the checkout that the command
//!   was built from if it is still there, or the carried files, unpacked into the user's cache.
//! - [`Engine::containing`] is the one that a user's package depends on, which may be another one: a worker is linked
//!   with the package, so it is built of that one. [`Engine::check`] says whether the command can work with it.
//! - [`vendored`] are the carried files for a user's repository.
//!
//! # What can be relied on
//!
//! - The carried files are the same for the same source, whichever machine packs them.
//! - A cache folder is there as a whole or not at all, and any number of processes may ask for it at once. A file in it
//!   that is damaged is written again.

mod cache;
mod engine;
mod error;
mod files;

pub use engine::{Engine, INTERFACE_KEY, OWN, VARIABLE};
pub use error::EngineSourceError;
pub use files::{BundledFile, INTERFACE, files, hash, vendored};
