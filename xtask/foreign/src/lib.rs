//! Stands for a system whose specification is in dependencies alone; nothing runs it.

/// The system.
#[derive(Debug)]
pub struct Foreign;

impl worker::System for Foreign {}
