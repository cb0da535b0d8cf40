//! What a program prints: read as it comes, the end of it kept.

use std::collections::VecDeque;
use std::io::Read;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How many bytes of each stream are kept until the verdict.
const TAIL_BYTES: usize = 65_536;

/// How many bytes of each stream a report has.
const REPORTED_BYTES: usize = 4_096;

/// How long to wait for the rest of the output of a program that has ended.
pub(super) const REST_PATIENCE: Duration = Duration::from_secs(1);

/// The end of what a program printed to one stream.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutputTail {
    /// The last few kilobytes, as text; what is not UTF-8 is replaced.
    pub text: String,
    /// How many bytes came before these.
    pub omitted_bytes: u64,
}

/// How much of a line is quoted, in bytes.
const QUOTED_BYTES: usize = 300;

impl OutputTail {
    /// Returns the last line that is not blank, as much of it as a message quotes.
    pub(crate) fn last_line(&self) -> Option<String> {
        let last = self.text.lines().map(str::trim).rfind(|line| !line.is_empty())?;
        let end = (0..=last.len().min(QUOTED_BYTES)).rfind(|&at| last.is_char_boundary(at)).unwrap_or(0);
        Some(if end < last.len() { format!("{}…", &last[..end]) } else { last.to_owned() })
    }

    /// Leaves only as much as a report has.
    pub(crate) fn shorten(&mut self) {
        let excess = self.text.len().saturating_sub(REPORTED_BYTES);
        let cut = (excess..).find(|&at| self.text.is_char_boundary(at)).expect("the end is a boundary");
        self.text.drain(..cut);
        self.omitted_bytes += cut as u64;
    }
}

/// Reads both streams of a program on threads of their own.
#[derive(Debug)]
pub(super) struct Capture {
    stdout: Arc<Mutex<Tail>>,
    stderr: Arc<Mutex<Tail>>,
    /// Disconnected when both streams have been read to their ends.
    reading: Receiver<()>,
}

impl Capture {
    /// Reads until both streams end, and lets `watch` see what comes on `stdout`.
    pub(super) fn start(
        stdout: impl Read + Send + 'static,
        stderr: impl Read + Send + 'static,
        watch: Option<Watch>,
    ) -> Self {
        let (reader, reading) = channel();
        let stdout = read_on_a_thread(stdout, watch, reader.clone());
        let stderr = read_on_a_thread(stderr, None, reader);
        Self { stdout, stderr, reading }
    }

    /// Returns the ends of both streams, after a short wait for what is on its way.
    ///
    /// A stream stays open for as long as any process holds it, which may be one that left the group.
    pub(super) fn finish(&self) -> (OutputTail, OutputTail) {
        _ = self.reading.recv_timeout(REST_PATIENCE);
        (read(&self.stdout), read(&self.stderr))
    }
}

fn read(tail: &Mutex<Tail>) -> OutputTail {
    tail.lock().unwrap_or_else(PoisonError::into_inner).to_output()
}

fn read_on_a_thread(
    mut stream: impl Read + Send + 'static,
    mut watch: Option<Watch>,
    reader: Sender<()>,
) -> Arc<Mutex<Tail>> {
    let tail = Arc::new(Mutex::new(Tail::default()));
    let shared = Arc::clone(&tail);
    std::thread::spawn(move || {
        let mut buffer = [0; 4_096];
        while let Ok(length @ 1..) = stream.read(&mut buffer) {
            shared.lock().unwrap_or_else(PoisonError::into_inner).push(&buffer[..length]);
            if let Some(watch) = &mut watch {
                watch.see(&buffer[..length]);
            }
        }
        drop(reader);
    });
    tail
}

/// The last bytes of a stream.
#[derive(Debug, Default)]
struct Tail {
    bytes: VecDeque<u8>,
    omitted: u64,
}

impl Tail {
    fn push(&mut self, bytes: &[u8]) {
        self.bytes.extend(bytes);
        let excess = self.bytes.len().saturating_sub(TAIL_BYTES);
        self.bytes.drain(..excess);
        self.omitted += excess as u64;
    }

    fn to_output(&self) -> OutputTail {
        let bytes: Vec<u8> = self.bytes.iter().copied().collect();
        OutputTail { text: String::from_utf8_lossy(&bytes).into_owned(), omitted_bytes: self.omitted }
    }
}

/// How long a first line is read, in bytes: what is longer counts as none.
const FIRST_LINE_BYTES_MAX: usize = 1 << 24;

/// Looks for a text within a line, or for the first line.
pub(super) struct Watch {
    sought: Sought,
    /// The current line: of a search for a text the end, as much as could be the beginning of the text.
    line: Vec<u8>,
}

/// What is looked for, and what is called once it is found.
enum Sought {
    Text(Vec<u8>, Box<dyn FnOnce() + Send>),
    FirstLine(Box<dyn FnOnce(String) + Send>),
    /// It was found.
    Nothing,
}

impl Watch {
    /// Returns a watch that calls `found` when a line contains a text.
    pub(super) fn for_text(text: &str, found: impl FnOnce() + Send + 'static) -> Self {
        Self { sought: Sought::Text(text.as_bytes().to_vec(), Box::new(found)), line: Vec::new() }
    }

    /// Returns a watch that calls `found` with the first line, once its end has come; what is not UTF-8 is replaced.
    pub(super) fn for_first_line(found: impl FnOnce(String) + Send + 'static) -> Self {
        Self { sought: Sought::FirstLine(Box::new(found)), line: Vec::new() }
    }

    fn see(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.line.push(*byte);
            let is_found = match &self.sought {
                Sought::Nothing => return,
                Sought::Text(text, _) => self.line.ends_with(text),
                Sought::FirstLine(_) => *byte == b'\n' || self.line.len() > FIRST_LINE_BYTES_MAX,
            };
            if is_found {
                match std::mem::replace(&mut self.sought, Sought::Nothing) {
                    Sought::Text(_, found) => found(),
                    Sought::FirstLine(found) => found(String::from_utf8_lossy(&self.line).trim_end().to_owned()),
                    Sought::Nothing => {}
                }
            } else if let Sought::Text(text, _) = &self.sought {
                if *byte == b'\n' {
                    self.line.clear();
                } else if self.line.len() > text.len() {
                    self.line.remove(0);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_kept_and_the_rest_is_counted() {
        let mut tail = Tail::default();
        tail.push(&[b'a'; 1_000]);
        tail.push(&[b'b'; TAIL_BYTES]);
        assert_eq!(tail.to_output(), OutputTail { text: "b".repeat(TAIL_BYTES), omitted_bytes: 1_000 });
        tail.push(b"c");
        assert!(tail.to_output().text.ends_with("bc"));
    }

    #[test]
    fn the_last_line_is_cut_between_characters() {
        let last = |text: &str| OutputTail { text: text.into(), omitted_bytes: 0 }.last_line();
        assert_eq!(last(&"é".repeat(400)), Some(format!("{}…", "é".repeat(QUOTED_BYTES / 2))));
        assert_eq!(last(&format!("x{}", "é".repeat(400))), Some(format!("x{}…", "é".repeat(QUOTED_BYTES / 2 - 1))));
        assert_eq!(last("Traceback:\n  File\nNameError: lease\n\n"), Some("NameError: lease".into()));
        assert_eq!(last("\n"), None);
    }

    #[test]
    fn a_report_has_less_and_whole_characters() {
        let mut tail = OutputTail { text: "é".repeat(3_000), omitted_bytes: 1 };
        tail.shorten();
        assert_eq!(tail, OutputTail { text: "é".repeat(REPORTED_BYTES / 2), omitted_bytes: 1 + 6_000 - 4_096 });
        let mut tail = OutputTail { text: format!("{}{}", "é".repeat(2_048), "x"), omitted_bytes: 0 };
        tail.shorten();
        assert_eq!((tail.text.len(), tail.omitted_bytes), (REPORTED_BYTES - 1, 2), "no character is cut");
        let short = OutputTail { text: "short".into(), omitted_bytes: 0 };
        let mut same = short.clone();
        same.shorten();
        assert_eq!(same, short);
    }

    #[track_caller]
    fn check_watch(text: &str, pieces: &[&str], expect: bool) {
        let (sender, receiver) = channel();
        let mut watch = Watch::for_text(text, move || _ = sender.send(()));
        pieces.iter().for_each(|piece| watch.see(piece.as_bytes()));
        assert_eq!(receiver.try_recv().is_ok(), expect, "{text} in {pieces:?}");
    }

    #[test]
    fn a_text_is_found_wherever_the_reads_cut_it() {
        check_watch("ready", &["not yet\nnow re", "ady!"], true);
        check_watch("ready", &["rerea", "d", "y"], true);
        check_watch("ready", &["rea\ndy"], false);
        check_watch("ready", &["read"], false);
        check_watch("", &["\n"], true);
    }
}
