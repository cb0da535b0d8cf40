//! The file that a receiver writes.

use simutant_oracle::{History, Session};
use simutant_sim_core::{CheckFailure, Message, Simulation};
use simutant_system::Observer;

/// Only the receiver writes.
const RECEIVER: Session = Session(0);

/// A file that pieces of another file are appended to. Clones are the same file.
///
/// It holds no bytes, only the history of what was appended: where in the other file its own bytes come from.
#[derive(Debug, Clone)]
pub struct File {
    appended: Observer<Piece, ()>,
}

#[derive(Debug, Clone, Copy)]
struct Piece {
    offset: u64,
    length: u32,
}

impl File {
    /// Returns an empty file of a simulation.
    pub fn new<M: Message>(simulation: &Simulation<M>) -> Self {
        Self { appended: Observer::new(simulation) }
    }

    /// Appends `length` bytes that are at `offset` in the other file.
    pub fn append(&self, offset: u64, length: u32) {
        self.appended.observed(RECEIVER, Piece { offset, length }, ());
    }

    /// Returns how many bytes were appended.
    pub fn length(&self) -> u64 {
        let bytes =
            |pieces: &History<Piece, ()>| pieces.calls().iter().map(|call| u64::from(call.operation.length)).sum();
        self.appended.recorder().with(bytes)
    }

    /// Checks that this is a copy of a file of `bytes` bytes.
    ///
    /// # Errors
    /// The first place where it is not.
    pub fn check_copy(&self, bytes: u64) -> Result<(), CheckFailure> {
        self.appended.recorder().with(|history| {
            let mut end = 0;
            for &Piece { offset, length } in history.calls().iter().map(|call| &call.operation) {
                if offset != end {
                    return Err(CheckFailure::new(format!("byte {end} of the copy is byte {offset} of the file")));
                }
                end += u64::from(length);
            }
            if end == bytes {
                Ok(())
            } else {
                Err(CheckFailure::new(format!("the copy has {end} bytes, the file {bytes}")))
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pieces: &[(u64, u32)], expect: Result<(), &str>) {
        let file = File { appended: Observer::without_clock() };
        pieces.iter().for_each(|&(offset, length)| file.append(offset, length));
        let copy = file.check_copy(10).map_err(|failure| failure.to_string());
        assert_eq!(copy.as_ref().map_err(String::as_str).copied(), expect);
    }

    #[test]
    fn a_copy_has_every_byte_once_and_in_order() {
        check(&[(0, 6), (6, 4)], Ok(()));
        check(&[(6, 4), (0, 6)], Err("byte 0 of the copy is byte 6 of the file"));
        check(&[(0, 6), (0, 6), (6, 4)], Err("byte 6 of the copy is byte 0 of the file"));
        check(&[(0, 6)], Err("the copy has 6 bytes, the file 10"));
        check(&[(0, 6), (6, 5)], Err("the copy has 11 bytes, the file 10"));
        check(&[], Err("the copy has 0 bytes, the file 10"));
    }
}
