//! The files that the command carries.

use std::path::Path;

use generated::FILES;
pub use generated::INTERFACE;

/// A file of the engine's source.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct BundledFile {
    /// The path from the folder of the workspace, with `/`.
    pub path: &'static str,
    /// What is in it.
    pub bytes: &'static [u8],
}

impl std::fmt::Debug for BundledFile {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} ({} bytes)", self.path, self.bytes.len())
    }
}

mod generated {
    use super::BundledFile;

    include!(concat!(env!("OUT_DIR"), "/files.rs"));
}

/// The lock file of the workspace. Cargo shortens it where the packages are built.
pub(crate) const LOCK: &str = "Cargo.lock";

/// What the name of a file with judgements on mutants ends in. `simutant judge` adds to it.
const JUDGEMENTS_END: &str = "judgements.toml";

impl BundledFile {
    /// Returns whether another content of the file is no damage.
    pub(crate) fn may_change(&self) -> bool {
        self.path == LOCK || self.path.ends_with(JUDGEMENTS_END)
    }
}

/// Returns the files that the command carries, in order of their paths: a workspace.
pub fn files() -> &'static [BundledFile] {
    FILES
}

/// Returns the files for a user's repository: all but the lock file, since that of the user's workspace counts.
pub fn vendored() -> impl Iterator<Item = BundledFile> {
    FILES.iter().copied().filter(|file| file.path != LOCK)
}

/// Returns a hash of all paths and contents (FNV-1a of 64 bits): the name of a version of the source.
pub fn hash() -> u64 {
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    let mut write = |bytes: &[u8]| {
        for byte in (bytes.len() as u64).to_le_bytes().iter().chain(bytes) {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
        }
    };
    for file in FILES {
        write(file.path.as_bytes());
        write(file.bytes);
    }
    hash
}

/// Writes a file below `folder`.
pub(crate) fn write(folder: &Path, file: &BundledFile) -> std::io::Result<()> {
    let path = folder.join(file.path);
    std::fs::create_dir_all(path.parent().unwrap_or(folder))?;
    std::fs::write(path, file.bytes)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn paths_are_in_order_and_stay_below_the_folder() {
        assert!(FILES.is_sorted_by(|file, next| file.path < next.path));
        assert!(FILES.iter().all(|file| file.path.split('/').all(|part| !part.is_empty() && part != "..")));
    }

    #[test]
    fn what_only_developers_need_is_left_out() {
        let folders: BTreeSet<&str> = FILES.iter().filter_map(|file| Some(file.path.split_once('/')?.0)).collect();
        for folder in ["sim-core", "systems", "campaign", "harness", "outcomes"] {
            assert!(folders.contains(folder), "{folder} is missing");
        }
        for folder in ["cli", "analysis", "tests", "xtask", "engine-source"] {
            assert!(!folders.contains(folder), "{folder} is no part of a worker");
        }
        let in_tests = FILES.iter().find(|file| file.path.contains("/tests/") && !file.path.contains("/src/"));
        assert_eq!(in_tests, None);
        let large: Vec<_> = FILES.iter().filter(|file| file.bytes.len() > 64 << 10 && file.path != LOCK).collect();
        assert!(large.is_empty(), "{large:?}: more than source");
    }

    #[test]
    fn what_the_source_includes_is_there() {
        let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).parent().expect("the package is in the workspace");
        let mut seen = 0;
        for file in FILES.iter().filter(|file| file.path.ends_with(".rs")) {
            let text = std::str::from_utf8(file.bytes).expect("source is text");
            for included in text.split("include_str!(\"").skip(1).filter_map(|rest| rest.split('"').next()) {
                let path = checkout.join(file.path).with_file_name("").join(included).canonicalize();
                let path = path.unwrap_or_else(|error| panic!("{} includes {included}: {error}", file.path));
                let path = path.strip_prefix(checkout.canonicalize().expect("it is there")).expect("it is ours");
                assert!(FILES.iter().any(|file| Path::new(file.path) == path), "{} is missing", path.display());
                seen += 1;
            }
        }
        assert!(seen > 0, "the engine's documentation includes an example");
    }

    #[test]
    fn no_path_of_this_machine_is_in_the_manifests() {
        for file in FILES.iter().filter(|file| file.path.ends_with("Cargo.toml")) {
            let text = std::str::from_utf8(file.bytes).expect("manifests are text");
            assert!(!text.contains(env!("CARGO_MANIFEST_DIR")), "{}: {text}", file.path);
        }
    }
}
