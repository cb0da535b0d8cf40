//! A small process that clears up when the harness is killed before it can.
//!
//! It is a shell that reads the numbers of process groups from a pipe. When the pipe closes, because the harness let go
//! of it or because it died in whatever way, the shell kills the groups that are left and removes the run's folder. A
//! program that was started just before, and not told of yet, is known by the run's folder, which it runs in.

use std::io::{self, Write};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use rustix::process::Pid;

/// `+ N` adds a group, `- N` takes it away. Groups that are being killed may still write to the folder, and a program
/// may be about to start: hence the loop. Processes' folders are seen in Linux's `/proc` only.
const SCRIPT: &str = r#"
trap '' HUP INT TERM
groups=' '
while read -r sign group; do
    case $sign in
        +) groups="$groups$group " ;;
        -) groups="${groups%% $group *} ${groups#* $group }" ;;
    esac
done
for group in $groups; do kill -KILL "-$group" 2>/dev/null; done
for pause in 0 0.1 0.3 1 3; do
    sleep "$pause"
    ls -ld /proc/[0-9]*/cwd 2>/dev/null | while read -r line; do
        case $line in
            *" -> $1"/*) process=${line##* /proc/}; kill -KILL "${process%%/*}" 2>/dev/null ;;
        esac
    done
    rm -rf "$1" 2>/dev/null
    [ -e "$1" ] || exit 0
done
"#;

/// The harness's end of the guardian; dropping it ends the guardian and removes the folder.
#[derive(Debug)]
pub(crate) struct Guardian {
    child: Child,
    groups: Mutex<Option<ChildStdin>>,
}

impl Guardian {
    /// Starts a guardian that removes `folder` in the end.
    ///
    /// # Errors
    /// The system's reason if no shell can be started.
    pub(crate) fn start(folder: &Path) -> io::Result<Self> {
        let mut child = Command::new("/bin/sh")
            .args(["-c", SCRIPT, "simutant-guardian"])
            .arg(folder)
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        let groups = child.stdin.take().expect("standard input is piped");
        Ok(Self { child, groups: Mutex::new(Some(groups)) })
    }

    /// Puts a process group under the guardian's care.
    pub(crate) fn watch(&self, group: Pid) {
        self.tell('+', group);
    }

    /// Takes a process group that has ended out of the guardian's care.
    pub(crate) fn forget(&self, group: Pid) {
        self.tell('-', group);
    }

    fn tell(&self, sign: char, group: Pid) {
        let mut groups = self.groups.lock().unwrap_or_else(PoisonError::into_inner);
        // If somebody killed the guardian, the run goes on without its care.
        let pipe = groups.as_mut().expect("the pipe is closed by drop alone");
        _ = pipe.write_all(format!("{sign} {}\n", group.as_raw_pid()).as_bytes());
    }
}

impl Drop for Guardian {
    fn drop(&mut self) {
        *self.groups.lock().unwrap_or_else(PoisonError::into_inner) = None;
        _ = self.child.wait();
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::process::ExitStatusExt;

    use super::*;

    /// Starts something that sleeps for long in a process group of its own.
    fn sleeper() -> (Child, Pid) {
        let child = Command::new("sleep").arg("1000").process_group(0).spawn().expect("sleep starts");
        let group = Pid::from_child(&child);
        (child, group)
    }

    #[test]
    fn groups_that_are_left_are_killed_and_those_that_were_forgotten_are_not() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let guardian = Guardian::start(folder.path()).expect("the guardian starts");
        let mut sleepers: Vec<(Child, Pid)> = (0..5).map(|_| sleeper()).collect();
        sleepers.iter().for_each(|(_, group)| guardian.watch(*group));
        for forgotten in [0, 2, 4] {
            guardian.forget(sleepers[forgotten].1);
        }
        drop(guardian);
        for (index, (child, _)) in sleepers.iter_mut().enumerate() {
            if index % 2 == 0 {
                assert_eq!(child.try_wait().expect("a child can be waited for"), None, "{index} was forgotten");
                child.kill().expect("it runs");
            }
            let status = child.wait().expect("a child can be waited for");
            assert_eq!(status.signal(), Some(9), "{index}");
        }
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn a_program_that_nobody_told_of_is_known_by_its_folder() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let inside = folder.path().join("case");
        std::fs::create_dir(&inside).expect("the folder can be written");
        let guardian = Guardian::start(folder.path()).expect("the guardian starts");
        let mut other = sleeper().0;
        let mut child = Command::new("sleep").arg("1000").current_dir(&inside).spawn().expect("sleep starts");
        drop(guardian);
        assert_eq!(child.wait().expect("a child can be waited for").signal(), Some(9));
        assert_eq!(other.try_wait().expect("a child can be waited for"), None, "it runs elsewhere");
        other.kill().expect("it runs");
        other.wait().expect("a child can be waited for");
    }

    #[test]
    fn a_group_that_is_left_ends_and_the_folder_goes() {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join("file"), "content").expect("the folder can be written");
        let guardian = Guardian::start(folder.path()).expect("the guardian starts");
        let (mut child, group) = sleeper();
        guardian.watch(group);
        drop(guardian);
        let status = child.wait().expect("a child can be waited for");
        assert_eq!(status.signal(), Some(9));
        assert!(!folder.path().exists());
    }
}
