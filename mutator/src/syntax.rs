//! What the text of a package says by its syntax alone: files and functions, declarations, names, types, effects.
//!
//! Nothing here knows of mutants, graphs or builds.

pub(crate) mod comments;
pub(crate) mod conditions;
pub(crate) mod constants;
pub(crate) mod declarations;
pub(crate) mod hidden;
pub(crate) mod module_files;
pub(crate) mod modules;
pub(crate) mod names;
pub(crate) mod parts;
pub(crate) mod purity;
pub(crate) mod source;
pub(crate) mod types;
