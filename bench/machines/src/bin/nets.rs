//! Explores one net, and prints what came of it and what it took, as JSON: `two-phase-commit WORKERS`, or a file in PNML
//! with a file for the net without colours.

use rustix::time::{ClockId, clock_gettime};
use simutant_nets::{Budget, StateGraph};
use simutant_pnml::PnmlNet;

const BUDGET: Budget = Budget { markings: None, bytes: None };

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words[..] {
        ["two-phase-commit", workers] => {
            let workers = workers.parse().expect("the number of workers is a number");
            let net = simutant_two_phase_commit::net::two_phase_commit(workers);
            measured(|| net.explore(&BUDGET).expect("the net has no mistake"), |space| space.graph());
        }
        [file, ref unfolded @ ..] => {
            let text = std::fs::read_to_string(file).expect("the file can be read");
            let net = PnmlNet::read(&text).expect("the net can be read").unfold().expect("the net can be unfolded");
            if let [unfolded] = unfolded {
                std::fs::write(unfolded, net.to_net().to_pnml()).expect("the file can be written");
            }
            measured(|| net.explore(&BUDGET).expect("its places have few tokens"), |space| space.graph());
        }
        [] => panic!("name a net"),
    }
}

/// Explores, and prints the result: processor time, and by how much resident memory grew at most.
fn measured<S>(explore: impl FnOnce() -> S, graph: impl Fn(&S) -> &StateGraph) {
    // From here on the peak counts anew.
    std::fs::write("/proc/self/clear_refs", "5").expect("Linux forgets the peak");
    let (before, begun) = (resident("VmRSS:"), processor_s());
    let space = explore();
    let seconds = processor_s() - begun;
    let bytes = resident("VmHWM:") - before;
    let (markings, arcs) = (graph(&space).markings(), graph(&space).arcs());
    let result = serde_json::json!({ "markings": markings, "arcs": arcs, "seconds": seconds, "bytes": bytes });
    println!("{result}");
}

fn processor_s() -> f64 {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// Returns a number of bytes that Linux says of this process.
fn resident(name: &str) -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux has it");
    let line = status.lines().find_map(|line| line.strip_prefix(name)).expect("Linux says it");
    let kib = line.trim().trim_end_matches(" kB").parse::<u64>().expect("it is a number");
    kib * 1024
}
