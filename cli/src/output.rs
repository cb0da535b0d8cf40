//! Writing: results, lines on standard error, files that a command line names; and a standard output that may be
//! closed.

use std::borrow::Cow;
use std::io::{ErrorKind, IsTerminal, Write};
use std::path::Path;

use anyhow::Context;
use serde::Serialize;
use simutant_mutator::nearest;
use simutant_outcomes::FORMAT_VERSION;
pub(crate) use simutant_outcomes::quoted;
use simutant_study::{to_json, write_whole};

/// Prints text to standard output. A reader that has enough is no error.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    let mut stdout = std::io::stdout().lock();
    match stdout.write_all(text.as_bytes()).and_then(|()| stdout.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(error).context("cannot write to the standard output; make room where it goes")
        }
        _ => Ok(()),
    }
}

/// Returns a diff with its lines in colour, if it goes to a terminal and `NO_COLOR` is not set.
pub(crate) fn coloured(diff: &str) -> Cow<'_, str> {
    let is_plain = !std::io::stdout().is_terminal() || std::env::var_os("NO_COLOR").is_some_and(|set| !set.is_empty());
    if is_plain { diff.into() } else { with_colours(diff).into() }
}

fn with_colours(diff: &str) -> String {
    let colour = |line: &str| match line.as_bytes() {
        [b'-', b'-', b'-', ..] | [b'+', b'+', b'+', ..] => Some("1"),
        [b'-', ..] => Some("31"),
        [b'+', ..] => Some("32"),
        [b'@', b'@', ..] => Some("36"),
        _ => None,
    };
    let line = |line: &str| {
        let (text, end) = line.strip_suffix('\n').map_or((line, ""), |text| (text, "\n"));
        match colour(text) {
            Some(colour) => format!("\x1b[{colour}m{text}\x1b[0m{end}"),
            None => line.to_owned(),
        }
    };
    diff.split_inclusive('\n').map(line).collect()
}

/// Returns how this program is called: by its path where that is how it was started.
pub(crate) fn program() -> String {
    std::env::args().next().unwrap_or_else(|| "simutant".into())
}

/// Returns the line that says how to see all of a result.
pub(crate) fn shows(out: &Path) -> String {
    format!("next: {} show {} lists the sections of the result\n", program(), quoted(&out.display().to_string()))
}

/// Tells a line on standard error, if anyone listens.
pub(crate) fn tell(line: &str) {
    _ = writeln!(std::io::stderr(), "{line}");
}

/// Tells an error with its causes; what was said already of a cause is not said again.
pub(crate) fn tell_error(error: &anyhow::Error) {
    tell(&format!("error: {}", with_causes(error)));
}

fn with_causes(error: &anyhow::Error) -> String {
    let causes = error.chain().map(ToString::to_string);
    causes
        .reduce(|told, cause| if told.contains(&cause) { told } else { format!("{told}: {cause}") })
        .unwrap_or_default()
}

/// Returns the known name that somebody who mistyped one may have meant, as the end of a clause; nothing if none is like
/// it.
pub(crate) fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    nearest(name, known).map(|nearest| format!("; did you mean `{nearest}`?")).unwrap_or_default()
}

/// What `--json` prints: a result with the version of its form.
#[derive(Debug, Serialize)]
pub(crate) struct Versioned<T> {
    format_version: u32,
    #[serde(flatten)]
    result: T,
}

impl<T> Versioned<T> {
    pub(crate) fn new(result: T) -> Self {
        Self { format_version: FORMAT_VERSION, result }
    }
}

/// Returns a value as JSON, one field a line.
pub(crate) fn json(value: &impl Serialize) -> anyhow::Result<String> {
    Ok(to_json(value)?)
}

/// Writes a file of a study so that it is there as a whole or as it was before.
pub(crate) fn write(path: &Path, text: &str) -> anyhow::Result<()> {
    let cure = "make room, or give another folder with --out";
    write_whole(path, text.as_bytes()).with_context(|| format!("cannot write {}; {cure}", path.display()))
}

/// Writes a file that was named on the command line, so that it is there as a whole or as it was before. What is there
/// and no file, as a pipe, is written to and stays what it is.
pub(crate) fn write_named(path: &Path, bytes: &[u8]) -> anyhow::Result<()> {
    let written = if is_special(path) { std::fs::write(path, bytes) } else { write_whole(path, bytes) };
    written.with_context(|| format!("cannot write {}; make room, or name another file", path.display()))
}

/// Returns whether there is something at `path` that is neither a file nor a folder, such as a pipe.
pub(crate) fn is_special(path: &Path) -> bool {
    std::fs::metadata(path).is_ok_and(|metadata| !metadata.is_file() && !metadata.is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_diff_have_colours_of_their_own_and_only_where_they_are_seen() {
        let diff = "--- a/f\n+++ b/f\n@@ -1 +1 @@\n same\n-old\n+new";
        let expect = "\x1b[1m--- a/f\x1b[0m\n\x1b[1m+++ b/f\x1b[0m\n\x1b[36m@@ -1 +1 @@\x1b[0m\n same\n\x1b[31m-old\x1b[0m\n\x1b[32m+new\x1b[0m";
        assert_eq!(with_colours(diff), expect);
    }

    #[test]
    fn each_cause_is_said_once() {
        let bottom = || anyhow::Error::new(std::io::Error::from(ErrorKind::PermissionDenied));
        assert_eq!(with_causes(&bottom().context("cannot write")), "cannot write: permission denied");
        let own = bottom().context("cannot write: permission denied; give another folder").context("cannot study");
        assert_eq!(with_causes(&own), "cannot study: cannot write: permission denied; give another folder");
    }
}
