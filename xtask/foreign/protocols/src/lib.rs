//! Stands for a system whose specification is in protocols of the registry; nothing runs it.

/// The system.
#[derive(Debug)]
pub struct Protocols;

impl worker::System for Protocols {}
