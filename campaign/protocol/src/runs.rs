//! Runs on mutants as bytes: there are tens of thousands in a second, too many for text.
//!
//! A run is its length, in four bytes, and so many bytes after these: the mutant (4), the cause (1, as an index into
//! [`Cause::ALL`] and one more; 0 for none), two facts (1, a bit each), functions (8), events (8), steps (8), and the reason
//! to the end, as text. The lowest byte of a number comes first.

use simutant_outcomes::{Cause, Execution, Verdict};

use crate::MutantExecution;

/// The length of a run without its reason.
const BYTES_MIN: usize = 4 + 1 + 1 + 8 + 8 + 8;
const REACHED: u8 = 1;
const DIVERGED: u8 = 2;

/// Bytes that are none of the runs that [`MutantExecution::write`] writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the bytes from {at} on are not a run of this release's protocol")]
pub struct NoRun {
    /// Where they begin.
    pub at: usize,
}

impl MutantExecution {
    /// Appends the run to `bytes`.
    ///
    /// # Panics
    /// If the reason is longer than 4 GiB.
    pub fn write(&self, bytes: &mut Vec<u8>) {
        let Self { mutant, reached, diverged, entered, execution } = self;
        let Execution { verdict: _, cause, reason, events, steps } = execution;
        let length = u32::try_from(BYTES_MIN + reason.len()).expect("a reason is text for people");
        bytes.extend(length.to_le_bytes());
        bytes.extend(mutant.to_le_bytes());
        bytes.push(cause.map_or(0, |cause| cause as u8 + 1));
        bytes.push(u8::from(*reached) * REACHED | u8::from(*diverged) * DIVERGED);
        for number in [entered, events, steps] {
            bytes.extend(number.to_le_bytes());
        }
        bytes.extend(reason.as_bytes());
    }

    /// Reads what is in a run behind its length.
    fn read(bytes: &[u8]) -> Option<Self> {
        let (&mutant, bytes) = bytes.split_first_chunk()?;
        let (&[cause, facts], bytes) = bytes.split_first_chunk()?;
        let (&entered, bytes) = bytes.split_first_chunk()?;
        let (&events, bytes) = bytes.split_first_chunk()?;
        let (&steps, reason) = bytes.split_first_chunk()?;
        let cause = match cause.checked_sub(1) {
            None => None,
            Some(index) => Some(*Cause::ALL.get(usize::from(index))?),
        };
        let execution = Execution {
            verdict: cause.map_or(Verdict::Reasonable, Cause::verdict),
            cause,
            reason: std::str::from_utf8(reason).ok()?.to_owned(),
            events: u64::from_le_bytes(events),
            steps: u64::from_le_bytes(steps),
        };
        Some(Self {
            mutant: u32::from_le_bytes(mutant),
            reached: facts & REACHED != 0,
            diverged: facts & DIVERGED != 0,
            entered: u64::from_le_bytes(entered),
            execution,
        })
    }
}

/// Reads runs from `bytes`; the last one may not be whole, and is left out then.
///
/// # Errors
/// If there is something else.
pub fn read_runs(bytes: &[u8]) -> Result<Vec<MutantExecution>, NoRun> {
    let mut runs = Vec::new();
    let mut left = bytes;
    while let Some((&length, behind)) = left.split_first_chunk() {
        let Some((run, next)) = behind.split_at_checked(u32::from_le_bytes(length) as usize) else { break };
        runs.push(MutantExecution::read(run).ok_or(NoRun { at: bytes.len() - left.len() })?);
        left = next;
    }
    Ok(runs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(mutant: u32, cause: Option<Cause>, reason: &str) -> MutantExecution {
        let verdict = cause.map_or(Verdict::Reasonable, Cause::verdict);
        let execution = Execution { verdict, cause, reason: reason.to_owned(), events: u64::MAX - 1, steps: 3 };
        let is_odd = mutant % 2 == 1;
        MutantExecution { mutant, reached: is_odd, diverged: !is_odd, entered: 1 << 63 | 1, execution }
    }

    /// Runs with every cause, and with none.
    fn runs() -> Vec<MutantExecution> {
        let with_cause = (0..).zip(Cause::ALL).map(|(number, cause)| run(number, Some(cause), "ended \u{fc}ber it"));
        with_cause.chain([run(u32::MAX, None, "")]).collect()
    }

    #[test]
    fn what_is_written_is_read() {
        let mut bytes = Vec::new();
        runs().iter().for_each(|run| run.write(&mut bytes));
        assert_eq!(read_runs(&bytes), Ok(runs()));
        assert_eq!(read_runs(&[]), Ok(Vec::new()));
    }

    #[test]
    fn a_run_that_is_not_whole_is_left_out() {
        let mut bytes = Vec::new();
        run(7, None, "").write(&mut bytes);
        let whole = bytes.len();
        run(8, Some(Cause::Panic), "it panicked").write(&mut bytes);
        for length in whole..bytes.len() {
            assert_eq!(read_runs(&bytes[..length]), Ok(vec![run(7, None, "")]), "{length} bytes");
        }
    }

    #[test]
    fn what_is_no_run_is_told_with_its_place() {
        let mut bytes = Vec::new();
        run(7, None, "").write(&mut bytes);
        let at = bytes.len();
        run(8, Some(Cause::Exit), "it").write(&mut bytes);
        for (place, byte) in [(8, 13), (BYTES_MIN + 4, 0xff)] {
            let mut damaged = bytes.clone();
            damaged[at + place] = byte;
            assert_eq!(read_runs(&damaged), Err(NoRun { at }), "byte {place} is {byte}");
        }
        assert_eq!(read_runs(&[0; 4]), Err(NoRun { at: 0 }), "too short for a run");
    }
}
