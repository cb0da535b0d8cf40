//! Where the last panic was: the part of a reason that only a panic hook sees.

use std::cell::{Cell, RefCell};
use std::path::Path;

use crate::LineTable;

thread_local! {
    static LAST: RefCell<Option<String>> = const { RefCell::new(None) };
    static DRAWN: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Makes panics silent from now on, and remembers the place of the last one on each thread, as `lines` translates it.
pub(crate) fn listen(lines: &'static LineTable) {
    std::panic::set_hook(Box::new(|info| {
        let place = info.location().map(|location| place(location.file(), location.line(), lines));
        // A panic while the thread ends finds the variable gone; nobody will ask for its place.
        _ = LAST.try_with(|last| last.replace(place));
    }));
}

/// Forgets the last panic of this thread.
pub(crate) fn forget() {
    LAST.set(None);
    DRAWN.set(None);
}

/// Notes that this thread draws test case `number` of a universe, or that it does not draw any more.
pub(crate) fn set_drawn(number: Option<usize>) {
    DRAWN.set(number);
}

/// Returns the test case that was drawn when a panic came, if one was.
pub(crate) fn drawn() -> Option<usize> {
    DRAWN.get()
}

/// Returns the place of the last panic of this thread, such as `src/gbn/sender.rs:41`.
pub(crate) fn last_place() -> Option<String> {
    LAST.take()
}

fn place(file: &str, line: u32, lines: &LineTable) -> String {
    let (path, line) = original(file, line, lines);
    format!("{path}:{line}")
}

/// Names a place so that neither the instrumentation nor the folder in which the worker was built shows.
///
/// In an instrumented file it is the original's place; elsewhere the path begins with the package's `src`.
pub(crate) fn original<'a>(file: &'a str, line: u32, lines: &LineTable) -> (&'a str, u32) {
    if let Some(&(_, path, originals)) = lines.iter().find(|(compiled, ..)| Path::new(file).ends_with(compiled)) {
        let original = (line as usize).checked_sub(1).and_then(|index| originals.get(index));
        return (path, original.copied().unwrap_or(line));
    }
    let start = file.rfind("/src/").map_or(0, |slash| slash + 1);
    (&file[start..], line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(file: &str, line: u32, expect: &str) {
        let lines: &LineTable = &[
            ("package-0/src/gbn/sender.rs", "src/gbn/sender.rs", &[1, 2, 2, 3]),
            ("dependencies-0/arq/src/gbn/sender.rs", "arq/src/gbn/sender.rs", &[1, 1, 2]),
        ];
        assert_eq!(place(file, line, lines), expect);
    }

    #[test]
    fn a_place_in_an_instrumented_file_is_that_of_the_original() {
        check("package-0/src/gbn/sender.rs", 3, "src/gbn/sender.rs:2");
        check("/home/me/package-0/src/gbn/sender.rs", 4, "src/gbn/sender.rs:3");
        check("package-0/src/gbn/sender.rs", 9, "src/gbn/sender.rs:9");
        check("dependencies-0/arq/src/gbn/sender.rs", 3, "arq/src/gbn/sender.rs:2");
    }

    #[test]
    fn a_place_elsewhere_does_not_depend_on_the_folder_of_the_build() {
        check("/home/me/src/copy/src/engine.rs", 3, "src/engine.rs:3");
        check("package/src/gbn/receiver.rs", 3, "src/gbn/receiver.rs:3");
        check("/home/me/other/src/gbn/sender.rs", 3, "src/gbn/sender.rs:3");
        check("build.rs", 3, "build.rs:3");
    }
}
