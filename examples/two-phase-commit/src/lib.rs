//! Two-phase commit: a coordinator and participants that decide together, whoever crashes meanwhile.

pub mod two_phase_commit;
