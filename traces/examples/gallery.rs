//! Writes all kinds of files for three runs into a folder: one made by hand that has everything a trace can have, one
//! of go-back-n with losses, and a long one.
//!
//! `cargo run -p simutant-traces --example gallery -- out/gallery`; traces in JSON Lines that are named after the
//! folder are drawn too.

use std::fs::{self, File};
use std::io::{BufReader, BufWriter};
use std::path::Path;

use simutant_gbn::Gbn;
use simutant_sim_core::Ended;
use simutant_sim_core::trace::Trace;
use simutant_system::System;
use simutant_traces::diagram::{self, Caption, Outcome};
use simutant_traces::{json_lines, pcapng, perfetto};

fn main() {
    let folder = std::env::args().nth(1).unwrap_or_else(|| "out/gallery".to_owned());
    let folder = Path::new(&folder);
    fs::create_dir_all(folder).expect("a folder can be made there");
    let by_hand = json_lines::read(include_str!("every_action.jsonl").as_bytes()).expect("it is a trace");
    let caption = Caption { title: "everything, by hand".to_owned(), ..Caption::default() };
    write(folder, "everything", &by_hand, &caption);
    gbn(folder, "short", r#"{"bytes": 12000, "drop": 0.15, "duplicate": 0.1, "seed": 3}"#);
    for given in std::env::args().skip(2) {
        let file = BufReader::new(File::open(&given).expect("a file that is there"));
        let name = Path::new(&given).file_stem().expect("a file has a name").to_string_lossy().into_owned();
        let trace = json_lines::read(file).expect("a trace");
        write(folder, &name, &trace, &Caption { title: name.clone(), ..Caption::default() });
    }
    gbn(folder, "long", r#"{"bytes": 335760, "drop": 0.05, "duplicate": 0.05, "seed": 1}"#);
}

/// Runs a test case of go-back-n.
fn gbn(folder: &Path, name: &str, case: &str) {
    let test_case = serde_json::from_str(case).expect("a test case");
    let mut simulation = Gbn::configure(&test_case);
    simulation.record_trace();
    let report = simulation.run();
    let outcome = if report.ended == Ended::Passed { Outcome::Passed } else { Outcome::Failed };
    let caption = Caption { title: format!("gbn {case}"), verdict: report.ended.to_string(), outcome };
    write(folder, name, &report.trace.expect("it was recorded"), &caption);
}

fn write(folder: &Path, name: &str, trace: &Trace, caption: &Caption) {
    let path = |extension: &str| folder.join(format!("{name}.{extension}"));
    let lines = BufWriter::new(File::create(path("jsonl")).expect("a file can be made there"));
    json_lines::write(trace, lines).expect("there is room");
    fs::write(path("html"), diagram::html(trace, caption)).expect("there is room");
    fs::write(path("svg"), diagram::svg(trace, caption)).expect("there is room");
    fs::write(path("pcapng"), pcapng::write(trace)).expect("there is room");
    fs::write(path("perfetto.json"), perfetto::write(trace)).expect("there is room");
}
