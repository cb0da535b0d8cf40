//! Source as text: edits to it, what they make of it, and hashes that name pieces of it.

pub(crate) mod compact;
pub(crate) mod edit;
pub(crate) mod identity;
