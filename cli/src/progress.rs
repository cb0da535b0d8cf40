//! Progress on a terminal's standard error; elsewhere a line at the end of each phase, and one every half minute before.

use std::cell::Cell;
use std::fmt::Write;
use std::sync::LazyLock;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use indicatif::{MultiProgress, ProgressBar, ProgressState, ProgressStyle};

use crate::output;

/// How often a phase says where there is no terminal that it goes on.
const SIGN_INTERVAL: Duration = Duration::from_secs(30);

/// The bars of all phases: two may go on at a time.
static BARS: LazyLock<MultiProgress> = LazyLock::new(MultiProgress::new);

/// One phase of a command.
#[derive(Debug)]
pub(crate) struct ProgressPhase {
    bar: ProgressBar,
    /// What the line at the end begins with.
    name: Cell<&'static str>,
    started: Instant,
    /// Ends the signs of life when it is dropped; `None` on a terminal.
    _signs: Option<Sender<()>>,
}

impl ProgressPhase {
    /// Begins a phase of `total` parts.
    pub(crate) fn counted(name: &'static str, total: u64) -> Self {
        let style = "{prefix:>12} {bar:30} {pos}/{len} {msg}, {rate}, {eta} to go";
        Self::new(name, ProgressBar::new(total), style)
    }

    /// Begins a phase whose length is not known.
    pub(crate) fn open(name: &'static str) -> Self {
        let phase = Self::new(name, ProgressBar::new_spinner(), "{prefix:>12} {spinner} {msg} ({elapsed})");
        phase.bar.enable_steady_tick(Duration::from_millis(120));
        phase
    }

    /// Begins a build. Its last line says that nothing has changed, unless something is [compiled](Self::compiles).
    pub(crate) fn build() -> Self {
        let phase = Self::open("building");
        phase.name.set("unchanged");
        phase
    }

    /// Shows that a build compiles something.
    pub(crate) fn compiles(&self) {
        self.name.set("compiling");
        self.bar.set_prefix("compiling");
    }

    fn new(name: &'static str, bar: ProgressBar, template: &str) -> Self {
        let rate = |state: &ProgressState, text: &mut dyn Write| {
            // A rate that cannot be written is not worth an end.
            _ = write!(text, "{:.0} per second", state.per_sec());
        };
        let style = ProgressStyle::with_template(template).expect("the templates above are well formed");
        let style = style.with_key("rate", rate);
        let bar = BARS.add(bar);
        bar.set_style(style);
        bar.set_prefix(name);
        let started = Instant::now();
        let signs = bar.is_hidden().then(|| signs_of_life(&bar, started));
        Self { bar, name: Cell::new(name), started, _signs: signs }
    }

    /// Shows of how many parts the phase is, when more is known than at its beginning.
    pub(crate) fn total(&self, total: u64) {
        self.bar.set_length(total);
    }

    /// Shows that `done` parts are done; what was done before the phase began does not count for the rate.
    pub(crate) fn at(&self, done: u64, message: String) {
        if self.bar.position() == 0 && done > 0 {
            self.bar.set_position(done);
            self.bar.reset_eta();
        }
        self.bar.set_position(done);
        self.bar.set_message(message);
    }

    /// Shows what is being done.
    pub(crate) fn message(&self, message: String) {
        self.bar.set_message(message);
    }

    /// Shows a line above the bar.
    pub(crate) fn line(&self, line: &str) {
        if self.bar.is_hidden() {
            output::tell(line);
        } else {
            self.bar.println(line);
        }
    }

    /// Ends the phase with a line that says what was done.
    pub(crate) fn end(self, summary: &str) {
        self.bar.finish_and_clear();
        let line = format!("{:>12} {summary} in {:.1} s", self.name.get(), self.started.elapsed().as_secs_f64());
        BARS.suspend(|| output::tell(&line));
    }
}

/// Tells every half minute how far a phase is, until what is returned is dropped.
fn signs_of_life(bar: &ProgressBar, started: Instant) -> Sender<()> {
    let (end, ended) = channel();
    // The thread must not keep the bar.
    let bar = bar.downgrade();
    std::thread::spawn(move || {
        while ended.recv_timeout(SIGN_INTERVAL) == Err(RecvTimeoutError::Timeout) {
            let Some(bar) = bar.upgrade() else { return };
            let message = bar.message();
            let message = if message.is_empty() { message } else { format!("{message}, ") };
            let done = bar.length().map_or_else(String::new, |total| format!("{} of {total} ", bar.position()));
            let name = bar.prefix();
            output::tell(&format!("{name:>12} {done}{message}{} s so far", started.elapsed().as_secs()));
        }
    });
    end
}

impl Drop for ProgressPhase {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
        BARS.remove(&self.bar);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_build_compiles_only_where_something_is_compiled() {
        let build = ProgressPhase::build();
        assert_eq!((build.bar.prefix().as_str(), build.name.get()), ("building", "unchanged"));
        build.compiles();
        assert_eq!((build.bar.prefix().as_str(), build.name.get()), ("compiling", "compiling"));
        assert_eq!(ProgressPhase::open("drawing").name.get(), "drawing");
    }
}
