//! Looks at processes from outside, and sends them signals. Linux only.

use std::process::Child;

use rustix::process::{Pid, Signal, kill_process};

/// Sends a signal to a process that was started here and not yet waited for.
pub(crate) fn send(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).expect("a child stays until it is waited for");
}

/// Returns the processes that `parent` started and whose program's path ends so.
pub(crate) fn children(parent: &Child, program: &str) -> Vec<u32> {
    let parent = parent.id().to_string();
    let child = |entry: std::fs::DirEntry| {
        let process: u32 = entry.file_name().to_str()?.parse().ok()?;
        let executable = std::fs::read_link(entry.path().join("exe")).ok()?;
        // State and parent follow the name, which is in parentheses.
        let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
        let its_parent = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?;
        (its_parent == parent && executable.to_str()?.rsplit("/").next()?.starts_with(program)).then_some(process)
    };
    std::fs::read_dir("/proc").expect("this is Linux").flatten().filter_map(child).collect()
}

/// Returns whether a process is there and has not ended.
pub(crate) fn runs(process: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}
