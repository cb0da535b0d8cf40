//! Temporary.
use simutant_harness::{Implementation, Options, run_suite};
use simutant_outcomes::{FORMAT_VERSION, Suite, SuiteCase};
use std::io::Write;
fn main() {
    let folders = [std::path::PathBuf::from("/work/main/tests/implementations")];
    for (n, name) in [(400, "udp".to_string()), (60, "/work/main/examples/gbn-python/implementation.toml".into())] {
        let im = Implementation::find(&name, &folders).unwrap();
        let suite = Suite { format_version: FORMAT_VERSION, system: "gbn".into(), criterion: "".into(), chosen: "".into(), seed: 0, mutant_score: None, dominator_score: None,
            cases: (0..n).map(|s| SuiteCase { name: s.to_string(), case: serde_json::json!({"bytes": 335760, "drop": 0.2, "duplicate": 0.2, "seed": s}) }).collect() };
        let r = run_suite(&suite, &im, &Options { jobs: 12.try_into().unwrap(), ..Options::new("/tmp/target-harness/impl") }, &mut |_| {}).unwrap();
        let max = r.results.iter().map(|r| r.duration_ms).max();
        writeln!(std::io::stdout(), "{name}: {} of {n}, max {max:?} ms", r.failures().count()).unwrap();
        for f in r.failures().take(3) { writeln!(std::io::stdout(), "{f:?}").unwrap(); }
    }
}
