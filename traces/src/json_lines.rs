//! Traces as JSON Lines: an event a line, in the form that [`TraceEvent`] has in serde.
//!
//! ```
//! use simutant_traces::json_lines;
//!
//! let text = r#"{"at_ns":1500000,"action":"started","component":"server"}"#;
//! let trace = json_lines::read(text.as_bytes()).expect("an event");
//! let mut written = Vec::new();
//! json_lines::write(&trace, &mut written).expect("memory takes all");
//! assert_eq!(written, format!("{text}\n").into_bytes());
//! ```

use std::io::{self, BufRead, Write};

use simutant_sim_core::trace::{Trace, TraceEvent};

/// A file that is not a trace, or cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// A line is not an event. Another program wrote it, or the file was cut off.
    #[error("line {line} is not an event of a trace")]
    NotAnEvent {
        /// The line, counted from 1.
        line: usize,
        /// What is wrong with it.
        source: serde_json::Error,
    },
    /// The line could not be read, or is not UTF-8.
    #[error("line {line} cannot be read")]
    Unreadable {
        /// The line, counted from 1.
        line: usize,
        /// What went wrong.
        source: io::Error,
    },
}

/// Writes an event a line, each with its line end.
///
/// # Errors
/// As `to` has them.
pub fn write(trace: &Trace, mut to: impl Write) -> io::Result<()> {
    for event in trace {
        serde_json::to_writer(&mut to, event)?;
        to.write_all(b"\n")?;
    }
    to.flush()
}

/// Reads what [`write()`] wrote. Empty lines are skipped.
///
/// # Errors
/// [`ReadError`] names the line.
pub fn read(from: impl BufRead) -> Result<Trace, ReadError> {
    let mut trace = Trace::new();
    for (index, text) in from.lines().enumerate() {
        let line = index + 1;
        let text = text.map_err(|source| ReadError::Unreadable { line, source })?;
        if !text.trim().is_empty() {
            let event: TraceEvent =
                serde_json::from_str(&text).map_err(|source| ReadError::NotAnEvent { line, source })?;
            trace.push(event);
        }
    }
    Ok(trace)
}

#[cfg(test)]
mod tests {
    use std::error::Error;

    use proptest::prelude::*;

    use super::*;
    use crate::examples::{any_trace, every_action};

    fn written(trace: &Trace) -> Vec<u8> {
        let mut bytes = Vec::new();
        write(trace, &mut bytes).expect("memory takes all");
        bytes
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(50))]

        #[test]
        fn what_is_written_is_read(trace in any_trace()) {
            let bytes = written(&trace);
            prop_assert_eq!(bytes.iter().filter(|byte| **byte == b'\n').count(), trace.len());
            prop_assert_eq!(read(&bytes[..]).expect("it was written here"), trace);
        }
    }

    #[test]
    fn an_error_names_the_line() {
        let mut bytes = written(&every_action()[..2].to_vec());
        bytes.extend_from_slice(b"\n{\"at_ns\":1,\"action\":\"exploded\"}\n");
        let error = read(&bytes[..]).expect_err("nothing explodes");
        assert_eq!(error.to_string(), "line 4 is not an event of a trace");
        let source = error.source().expect("serde says why").to_string();
        assert!(source.contains("unknown variant `exploded`"), "{source}");

        let error = read(&b"\xff\n"[..]).expect_err("no UTF-8");
        assert_eq!(error.to_string(), "line 1 cannot be read");
    }

    #[test]
    fn a_file_that_was_cut_off_is_refused() {
        let bytes = written(&every_action());
        let error = read(&bytes[..bytes.len() - 5]).expect_err("the last line is no JSON");
        assert_eq!(error.to_string(), format!("line {} is not an event of a trace", every_action().len()));
    }
}
