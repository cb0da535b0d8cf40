//! The machine that a shard runs on: what it is called, and whether it has what the bundle needs.

use std::fs::read_to_string;
use std::num::NonZeroUsize;

use rustix::process::{Resource, getrlimit};
use serde::{Deserialize, Serialize};

/// A machine, as results name it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Machine {
    /// Its name in the network.
    pub name: String,
    /// Its kernel.
    pub kernel: String,
    /// Its processor, as the kernel calls it; empty if it does not say.
    pub processor: String,
}

impl Machine {
    /// Returns this machine.
    pub(super) fn this() -> Self {
        let known = rustix::system::uname();
        let text = |value: &std::ffi::CStr| value.to_string_lossy().into_owned();
        let processor = read_to_string("/proc/cpuinfo").ok().and_then(|text| line_of(&text, "model name"));
        Self {
            name: text(known.nodename()),
            kernel: format!("{} {}", text(known.sysname()), text(known.release())),
            processor: processor.unwrap_or_default(),
        }
    }
}

/// Returns why this machine cannot run `jobs` workers that may use so much memory each; `None` if it can.
pub(super) fn lacks_memory(jobs: NonZeroUsize, bytes_each: u64) -> Option<String> {
    let limits = [(Resource::As, "address space"), (Resource::Data, "data segment")];
    let limits = limits.map(|(resource, name)| (getrlimit(resource).current, name));
    lacks(&limits, cgroup_limit(), jobs, bytes_each)
}

/// Returns why these limits, of a process and of its control group, are too low; `None` if they are not.
fn lacks(
    limits: &[(Option<u64>, &str)],
    cgroup_limit: Option<u64>,
    jobs: NonZeroUsize,
    bytes_each: u64,
) -> Option<String> {
    let each = format!("{} MiB", bytes_each >> 20);
    for (limit, name) in limits {
        if let Some(limit) = limit.filter(|limit| *limit < bytes_each) {
            return Some(format!("a process may use {} MiB ({name}), and a worker needs {each}", limit >> 20));
        }
    }
    let needed = bytes_each.saturating_mul(jobs.get() as u64);
    let limit = cgroup_limit.filter(|limit| *limit < needed)?;
    Some(format!("its control group allows {} MiB, and {jobs} workers need {each} each; use fewer --jobs", limit >> 20))
}

/// Returns how much memory the control groups of this process allow; `None` for as much as there is.
fn cgroup_limit() -> Option<u64> {
    let own = read_to_string("/proc/self/cgroup").ok()?;
    let path = own.lines().find_map(|line| line.strip_prefix("0::"))?;
    let limits = std::path::Path::new(path).ancestors().filter_map(|group| {
        let below = group.strip_prefix("/").unwrap_or(group);
        read_to_string(std::path::Path::new("/sys/fs/cgroup").join(below).join("memory.max")).ok()
    });
    limits.filter_map(|limit| limit.trim().parse().ok()).min()
}

/// Returns the features of `needed`, as rustc names them, that this processor does not have; nothing where the kernel does not
/// list them in rustc's names.
pub(super) fn missing_features(needed: &[String]) -> Vec<String> {
    if !cfg!(target_arch = "x86_64") {
        return Vec::new();
    }
    let known = read_to_string("/proc/cpuinfo").ok().and_then(|text| line_of(&text, "flags"));
    known.map_or_else(Vec::new, |flags| missing_of(needed, &flags))
}

/// Features that the kernel calls otherwise than rustc.
const OTHER_NAMES: [(&str, &str); 7] = [
    ("sse3", "pni"),
    ("sse4.1", "sse4_1"),
    ("sse4.2", "sse4_2"),
    ("lzcnt", "abm"),
    ("sha", "sha_ni"),
    ("avx512vnni", "avx512_vnni"),
    ("avx512vbmi2", "avx512_vbmi2"),
];

/// Features that both call by one name. Others are not instructions that a compiler puts into a program by itself.
const SAME_NAMES: [&str; 19] = [
    "sse",
    "sse2",
    "ssse3",
    "popcnt",
    "movbe",
    "avx",
    "avx2",
    "fma",
    "f16c",
    "bmi1",
    "bmi2",
    "adx",
    "aes",
    "pclmulqdq",
    "avx512f",
    "avx512bw",
    "avx512cd",
    "avx512dq",
    "avx512vl",
];

/// Returns the features that are not among the flags of the kernel.
fn missing_of(needed: &[String], flags: &str) -> Vec<String> {
    let flag = |feature: &str| {
        let other = OTHER_NAMES.iter().find(|(name, _)| *name == feature).map(|(_, flag)| *flag);
        other.or_else(|| SAME_NAMES.into_iter().find(|name| *name == feature))
    };
    let is_missing =
        |feature: &&String| flag(feature).is_some_and(|flag| !flags.split_whitespace().any(|known| known == flag));
    needed.iter().filter(is_missing).cloned().collect()
}

/// Returns the value of the first line `name : value`.
fn line_of(text: &str, name: &str) -> Option<String> {
    let mut lines = text.lines().filter_map(|line| line.split_once(':'));
    lines.find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_feature_that_the_processor_lacks_is_named() {
        let needed: Vec<String> = ["sse2", "sse3", "sse4.2", "avx2", "fma", "crt-static"].map(str::to_owned).into();
        assert_eq!(missing_of(&needed, "fpu sse2 pni sse4_2 avx2 fma"), Vec::<String>::new());
        assert_eq!(missing_of(&needed, "fpu sse2 sse4_2 fma avx22"), ["sse3", "avx2"]);
    }

    #[test]
    fn this_machine_has_what_its_own_programs_need() {
        let own: Vec<String> = ["fxsr", "sse", "sse2"].map(str::to_owned).into();
        assert_eq!(missing_features(&own), Vec::<String>::new());
        assert!(!Machine::this().name.is_empty());
    }

    #[test]
    fn a_limit_below_what_workers_need_is_told() {
        let lacks = |process: Option<u64>, cgroup: Option<u64>| {
            let gib = 1 << 30;
            let jobs = NonZeroUsize::new(2).expect("two");
            lacks(
                &[(None, "first"), (process.map(|size| size * gib / 2), "second")],
                cgroup.map(|size| size * gib),
                jobs,
                gib,
            )
        };
        assert_eq!((lacks(None, None), lacks(Some(2), Some(2))), (None, None));
        assert!(lacks(Some(1), None).is_some_and(|told| told.contains("512 MiB (second)")));
        assert!(lacks(None, Some(1)).is_some_and(|told| told.contains("allows 1024 MiB, and 2 workers")));
    }
}
