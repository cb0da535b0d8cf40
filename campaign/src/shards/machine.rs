//! The machine that a shard runs on: what it is called, and whether it has what the bundle needs.

use std::fs::read_to_string;
use std::num::NonZeroUsize;

use rustix::process::{Resource, getrlimit};
use serde::{Deserialize, Serialize};
use simutant_protocol::TargetFeature;

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

/// Returns the names of the features of `needed` that this processor does not have; nothing where the kernel does not list
/// flags.
pub(super) fn missing_features(needed: &[TargetFeature]) -> Vec<String> {
    let known = read_to_string("/proc/cpuinfo").ok().and_then(|text| line_of(&text, "flags"));
    known.map_or_else(Vec::new, |flags| missing_of(needed, &flags))
}

fn missing_of(needed: &[TargetFeature], flags: &str) -> Vec<String> {
    let is_missing = |feature: &&TargetFeature| !flags.split_whitespace().any(|flag| flag == feature.flag);
    needed.iter().filter(is_missing).map(|feature| feature.name.clone()).collect()
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
        let names = [("sse2", "sse2"), ("sse3", "pni"), ("sse4.2", "sse4_2"), ("avx2", "avx2"), ("fma", "fma")];
        let needed = names.map(|(name, flag)| TargetFeature { name: name.to_owned(), flag: flag.to_owned() });
        assert_eq!(missing_of(&needed, "fpu sse2 pni sse4_2 avx2 fma"), Vec::<String>::new());
        assert_eq!(missing_of(&needed, "fpu sse2 sse4_2 fma avx22"), ["sse3", "avx2"]);
    }

    #[test]
    fn this_machine_has_what_its_own_programs_need() {
        let own = ["fxsr", "sse", "sse2"].map(|name| TargetFeature { name: name.to_owned(), flag: name.to_owned() });
        assert!(!cfg!(target_arch = "x86_64") || missing_features(&own).is_empty());
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
