//! Runs on mutants as bytes: there are tens of thousands in a second, too many for text.
//!
//! A file of runs begins with a number in eight bytes: how many bytes of runs come after it. A worker sets it anew
//! after each run, so that what a dying worker leaves is whole; what comes behind those bytes is nothing. A run is its
//! length, in four bytes, and so many bytes after these: the mutant (4), the cause (1, as an index into [`Cause::ALL`]
//! and one more; 0 for none), three facts (1, a bit each), functions (8), events (8), steps (8), if the third fact says
//! so messages (8) and virtual time (8), and the reason to the end, as text. The lowest byte of a number comes first.

use simutant_outcomes::{Cause, Execution, RunEnd};

use crate::{MutantExecution, Spent};

/// How long the number is with which a file of runs begins.
pub const HEADER_BYTES: usize = 8;
/// The length of a run without its reason, and without its length.
const BYTES_MIN: usize = 4 + 1 + 1 + 8 + 8 + 8;
const REACHED: u8 = 1;
const DIVERGED: u8 = 2;
const SPENT: u8 = 4;
/// How long what a run cost is, if it is there.
const SPENT_BYTES: usize = 8 + 8;

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
        let Self { mutant, reached, diverged, entered, execution, spent } = self;
        let Execution { verdict: _, cause, reason, events, steps } = execution;
        let spent_bytes = if spent.is_some() { SPENT_BYTES } else { 0 };
        let length = u32::try_from(BYTES_MIN + spent_bytes + reason.len()).expect("a reason is text for people");
        bytes.extend(length.to_le_bytes());
        bytes.extend(mutant.to_le_bytes());
        bytes.push(cause.map_or(0, |cause| cause as u8 + 1));
        let fact = |is_so: bool, bit: u8| if is_so { bit } else { 0 };
        bytes.push(fact(*reached, REACHED) | fact(*diverged, DIVERGED) | fact(spent.is_some(), SPENT));
        for number in [entered, events, steps] {
            bytes.extend(number.to_le_bytes());
        }
        if let Some(Spent { messages, virtual_time_ns }) = spent {
            bytes.extend(messages.to_le_bytes());
            bytes.extend(virtual_time_ns.to_le_bytes());
        }
        bytes.extend(reason.as_bytes());
    }

    /// Reads what is in a run behind its length.
    fn read(bytes: &[u8]) -> Option<Self> {
        let (&mutant, bytes) = bytes.split_first_chunk()?;
        let (&[cause, facts], bytes) = bytes.split_first_chunk()?;
        let (&entered, bytes) = bytes.split_first_chunk()?;
        let (&events, bytes) = bytes.split_first_chunk()?;
        let (&steps, bytes) = bytes.split_first_chunk()?;
        let (spent, reason) = match facts & SPENT {
            0 => (None, bytes),
            _ => {
                let (&messages, bytes) = bytes.split_first_chunk()?;
                let (&virtual_time_ns, reason) = bytes.split_first_chunk()?;
                let (messages, virtual_time_ns) = (u64::from_le_bytes(messages), u64::from_le_bytes(virtual_time_ns));
                (Some(Spent { messages, virtual_time_ns }), reason)
            }
        };
        let cause = match cause.checked_sub(1) {
            None => None,
            Some(index) => Some(*Cause::ALL.get(usize::from(index))?),
        };
        let execution = Execution {
            verdict: cause.map_or(RunEnd::Passed, Cause::verdict),
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
            spent,
        })
    }
}

/// Returns how many bytes of runs there are in a file that begins with `header`.
pub fn runs_length(header: [u8; HEADER_BYTES]) -> u64 {
    u64::from_le_bytes(header)
}

/// Reads the runs from the bytes of a file; there are none in one that is empty.
///
/// # Errors
/// If there is something else.
pub fn read_runs(file: &[u8]) -> Result<Vec<MutantExecution>, NoRun> {
    let mut runs = Vec::new();
    let Some((&header, bytes)) = file.split_first_chunk() else { return Ok(runs) };
    let length = usize::try_from(runs_length(header)).unwrap_or(usize::MAX);
    let mut left = bytes.get(..length).ok_or(NoRun { at: file.len() })?;
    while !left.is_empty() {
        let (run, next) = split(left).ok_or(NoRun { at: HEADER_BYTES + length - left.len() })?;
        runs.push(run);
        left = next;
    }
    Ok(runs)
}

/// Returns the first run, and what comes behind it.
fn split(bytes: &[u8]) -> Option<(MutantExecution, &[u8])> {
    let (&length, bytes) = bytes.split_first_chunk()?;
    let (run, next) = bytes.split_at_checked(u32::from_le_bytes(length) as usize)?;
    Some((MutantExecution::read(run)?, next))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(mutant: u32, cause: Option<Cause>, reason: &str) -> MutantExecution {
        let verdict = cause.map_or(RunEnd::Passed, Cause::verdict);
        let execution = Execution { verdict, cause, reason: reason.to_owned(), events: u64::MAX - 1, steps: 3 };
        let is_odd = mutant % 2 == 1;
        let spent = is_odd.then_some(Spent { messages: 7, virtual_time_ns: u64::MAX - 2 });
        MutantExecution { mutant, reached: is_odd, diverged: !is_odd, entered: 1 << 63 | 1, execution, spent }
    }

    /// Runs with every cause, and with none.
    fn runs() -> Vec<MutantExecution> {
        let with_cause = (0..).zip(Cause::ALL).map(|(number, cause)| run(number, Some(cause), "ended \u{fc}ber it"));
        with_cause.chain([run(u32::MAX, None, "")]).collect()
    }

    /// A file of these bytes of runs.
    fn file(runs: &[u8]) -> Vec<u8> {
        [&(runs.len() as u64).to_le_bytes(), runs].concat()
    }

    #[test]
    fn what_is_written_is_read() {
        let mut bytes = Vec::new();
        runs().iter().for_each(|run| run.write(&mut bytes));
        assert_eq!(read_runs(&file(&bytes)), Ok(runs()));
        assert_eq!(read_runs(&[file(&bytes), vec![7; 99]].concat()), Ok(runs()), "what is behind them is nothing");
    }

    #[test]
    fn a_file_without_runs_has_none() {
        for length in 0..2 * HEADER_BYTES {
            assert_eq!(read_runs(&vec![0; length]), Ok(Vec::new()), "{length} bytes");
        }
    }

    #[test]
    fn what_is_no_run_is_told_with_its_place() {
        let mut bytes = Vec::new();
        run(7, None, "").write(&mut bytes);
        let second = bytes.len();
        run(8, Some(Cause::Exit), "it").write(&mut bytes);
        let at = HEADER_BYTES + second;
        for (place, byte) in [(0, 0), (0, 0xff), (3, 1), (8, 14), (BYTES_MIN + 4, 0xff)] {
            let mut damaged = file(&bytes);
            damaged[at + place] = byte;
            assert_eq!(read_runs(&damaged), Err(NoRun { at }), "byte {place} is {byte}");
        }
        for length in second + 1..bytes.len() {
            assert_eq!(read_runs(&file(&bytes[..length])), Err(NoRun { at }), "the first {length} bytes");
        }
        let short = &file(&bytes)[..at];
        assert_eq!(read_runs(short), Err(NoRun { at }), "the file is shorter than it says");
    }
}
