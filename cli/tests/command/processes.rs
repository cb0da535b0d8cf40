//! Looks at processes from outside, and sends them signals. Linux only.

use std::process::Child;

use rustix::process::{Pid, Signal, kill_process};

/// Sends a signal to a process that was started here and not yet waited for.
pub(crate) fn send(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).expect("a child stays until it is waited for");
}

/// Returns the processes that `ancestor` started, or those that it started, and whose program's name begins so.
pub(crate) fn started_by(ancestor: &Child, program: &str) -> Vec<u32> {
    let is_it = |process: u32| {
        let executable = std::fs::read_link(format!("/proc/{process}/exe")).ok()?;
        Some(executable.file_name()?.to_str()?.starts_with(program))
    };
    let ancestors = |process: u32| std::iter::successors(parent(process), |&parent| self::parent(parent));
    let number = |entry: std::fs::DirEntry| entry.file_name().to_str()?.parse().ok();
    let all = std::fs::read_dir("/proc").expect("this is Linux").flatten().filter_map(number);
    all.filter(|&process| is_it(process) == Some(true) && ancestors(process).any(|above| above == ancestor.id()))
        .collect()
}

/// Returns the process that started another one; none if that is gone.
fn parent(process: u32) -> Option<u32> {
    // State and parent follow the name, which is in parentheses.
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

/// Returns whether a process is there and has not ended.
pub(crate) fn runs(process: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit_once(')').is_some_and(|(_, rest)| !rest.trim_start().starts_with('Z'))
}
