//! The file that takes runs, as memory: a run is in it without a call of the system, and stays when the process dies.

#![expect(unsafe_code, reason = "there is no memory shared with a file without it: mmap is an unsafe function")]

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, Ordering::Release};

use rustix::mm::{MapFlags, ProtFlags, mmap, munmap};
use simutant_protocol::{HEADER_BYTES, MutantExecution};

/// The length of a new file: enough for some hundred runs.
const BYTES_MIN: usize = 16 << 10;

/// An open file of runs.
#[derive(Debug)]
pub(crate) struct Answers {
    path: PathBuf,
    file: File,
    memory: Memory,
    /// Where the next run begins.
    end: usize,
    /// The run that is written; kept for its memory.
    run: Vec<u8>,
}

/// The file's bytes, all of them.
#[derive(Debug)]
struct Memory {
    start: NonNull<u8>,
    bytes: usize,
}

impl Answers {
    /// Begins the file at `path` anew. If `before` is that file, its memory is gone on with: a file that is as long as
    /// it must be, and mapped, costs nothing.
    pub(crate) fn begin(before: Option<Self>, path: &Path) -> io::Result<Self> {
        let mut answers = match before {
            Some(answers) if answers.path == path => answers,
            _ => Self::open(path)?,
        };
        answers.end = HEADER_BYTES;
        answers.memory.set_header(0);
        Ok(answers)
    }

    fn open(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        let length = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
        let memory = Memory::of(&file, length, length.max(BYTES_MIN))?;
        Ok(Self { path: path.to_owned(), file, memory, end: HEADER_BYTES, run: Vec::new() })
    }

    /// Adds a run. It is all there when this returns, and nothing of it is if the process dies before.
    pub(crate) fn push(&mut self, run: &MutantExecution) -> io::Result<()> {
        self.run.clear();
        run.write(&mut self.run);
        let end = self.end + self.run.len();
        if end > self.memory.bytes {
            self.memory = Memory::of(&self.file, self.memory.bytes, end.next_power_of_two())?;
        }
        self.memory.write(self.end, &self.run);
        self.end = end;
        self.memory.set_header((end - HEADER_BYTES) as u64);
        Ok(())
    }
}

impl Memory {
    /// Makes a file of `length` bytes longer, if it is shorter than `bytes`, and returns it as memory.
    fn of(mut file: &File, length: usize, bytes: usize) -> io::Result<Self> {
        // Zeros are written, since a disk that is full must be an error here. Where there are no blocks for memory, the
        // process would be ended by a signal, as by what it runs.
        file.seek(SeekFrom::Start(length as u64))?;
        io::copy(&mut io::repeat(0).take((bytes - length) as u64), &mut file)?;
        let access = ProtFlags::READ | ProtFlags::WRITE;
        // SAFETY: the kernel chooses a place where nothing is.
        let start = unsafe { mmap(std::ptr::null_mut(), bytes, access, MapFlags::SHARED, file, 0) }?;
        let start = NonNull::new(start.cast()).expect("nothing is mapped at address 0");
        Ok(Self { start, bytes })
    }

    /// Writes `bytes` from the place `at` on.
    fn write(&mut self, at: usize, bytes: &[u8]) {
        assert!(at <= self.bytes && bytes.len() <= self.bytes - at, "{} bytes at {at} of {}", bytes.len(), self.bytes);
        // SAFETY: the target lies in the mapping, which is there as long as this value, and which nothing else in this
        // process refers to.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), self.start.add(at).as_ptr(), bytes.len()) }
    }

    /// Writes the first number of the file, after all that was written before.
    fn set_header(&mut self, number: u64) {
        // SAFETY: the mapping begins with a page's first byte, so the place is aligned; it is at least `BYTES_MIN`
        // long.
        let header = unsafe { AtomicU64::from_ptr(self.start.as_ptr().cast()) };
        header.store(number.to_le(), Release);
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: it was mapped with this length, and no reference to it outlives this value.
        // It fails for no mapping that exists.
        _ = unsafe { munmap(self.start.as_ptr().cast(), self.bytes) };
    }
}

#[cfg(test)]
mod tests {
    use simutant_outcomes::{Cause, Execution, RunEnd};
    use simutant_protocol::read_runs;

    use super::*;

    fn run(mutant: u32) -> MutantExecution {
        // Some are longer than the file is at first.
        let reason = "because ".repeat(if mutant.is_multiple_of(100) { 5_000 } else { mutant as usize % 7 });
        let execution = Execution { verdict: RunEnd::Abnormal, cause: Some(Cause::Panic), reason, events: 7, steps: 1 };
        MutantExecution { mutant, reached: true, diverged: false, entered: 5, execution, spent: None }
    }

    #[test]
    fn a_run_is_in_the_file_as_soon_as_it_is_added() {
        let path = std::env::temp_dir().join(format!("simutant-answers-{}", std::process::id()));
        let in_file = || read_runs(&std::fs::read(&path).expect("it is there")).expect("these are runs");
        let mut before = None;
        // The first makes the file, the second has its memory, the third finds it as one that died has left it.
        for turn in 0..3 {
            let mut answers = Answers::begin(before.take(), &path).expect("the folder can be written to");
            assert_eq!(in_file(), []);
            let mut runs = Vec::new();
            for mutant in 0..=300 {
                answers.push(&run(mutant)).expect("the disk has room");
                runs.push(run(mutant));
                if mutant % 50 == 1 {
                    assert_eq!(in_file(), runs, "while more are added");
                }
            }
            assert_eq!(in_file(), runs, "afterwards");
            before = (turn == 0).then_some(answers);
        }
        std::fs::remove_file(&path).expect("it is ours");
    }

    #[test]
    fn a_file_that_cannot_be_written_is_an_error() {
        assert!(Answers::begin(None, Path::new("/dev/null/answers")).is_err());
        // A device that takes nothing, as a full disk does.
        #[cfg(target_os = "linux")]
        assert!(Answers::begin(None, Path::new("/dev/full")).is_err());
    }
}
