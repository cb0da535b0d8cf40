//! Nets of the Model Checking Contest have the counts that its tools agree on.
//!
//! `cargo xtask bench models --nets DIR` runs this with a folder that has them.

use std::path::Path;

use simutant_pnml::{Budget, PnmlNet};

/// A net, its markings, arcs and dead markings, the most tokens in a place with one colour and in a marking, its
/// transitions, and its places with all colours.
type Row = (&'static str, [usize; 3], [u64; 2], usize, u64);

const NETS: [Row; 13] = [
    ("PhilosophersDyn-COL-03", [325, 768, 45], [1, 11], 7, 30),
    ("Angiogenesis-PT-01", [110, 288, 4], [1, 8], 64, 39),
    ("Peterson-COL-2", [20_754, 62_262, 0], [1, 8], 14, 108),
    ("UtilityControlRoom-COL-Z2T3N04", [208_341, 1_393_748, 0], [4, 17], 12, 72),
    ("NeoElection-COL-3", [974_325, 3_599_110, 1], [1, 30], 22, 972),
    ("AirplaneLD-COL-0010", [43_463, 183_664, 6112], [1, 38], 15, 89),
    ("DrinkVendingMachine-COL-02", [1_024, 7_680, 0], [1, 12], 7, 24),
    ("NeoElection-COL-2", [241, 448, 1], [1, 14], 22, 438),
    ("Referendum-COL-0010", [59_050, 393_661, 1024], [1, 10], 3, 31),
    ("SharedMemory-COL-000005", [1_863, 10_395, 0], [1, 11], 5, 46),
    ("TokenRing-COL-005", [166, 365, 0], [1, 6], 2, 36),
    ("LamportFastMutEx-COL-2", [380, 716, 0], [1, 8], 17, 69),
    ("Philosophers-COL-000005", [243, 945, 2], [1, 10], 5, 25),
];

#[test]
#[ignore = "the nets are no part of the repository: cargo xtask bench models --nets DIR"]
fn nets_of_the_contest_have_their_counts() {
    let folder = std::env::var_os("SIMUTANT_NETS").expect("SIMUTANT_NETS names the folder with the nets");
    for (name, counts, [most_in_place, most], transitions, places) in NETS {
        let path = Path::new(&folder).join(format!("{name}.pnml"));
        let text = std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let net = PnmlNet::read(&text).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(net.transitions().len(), transitions, "{name}");
        let again = PnmlNet::read(&net.to_pnml()).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert!(net == again, "{name} is not what it was after it was written");
        let unfolded = net.unfold().unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(unfolded.places_with_unmarked(), places, "{name}");
        let flat = PnmlNet::read(&unfolded.to_net().to_pnml()).unwrap_or_else(|error| panic!("{name}: {error}"));
        for unfolded in [unfolded, flat.unfold().unwrap_or_else(|error| panic!("{name}: {error}"))] {
            let space = unfolded.explore(&Budget::default()).unwrap_or_else(|error| panic!("{name}: {error}"));
            let graph = space.graph();
            assert_eq!([graph.markings(), graph.arcs(), graph.dead().len()], counts, "{name}");
            if graph.markings() < 100_000 {
                let tokens = |number| space.marking(number).tokens().map(|(_, _, count)| count).collect::<Vec<_>>();
                let all: Vec<Vec<u64>> = (0..graph.markings()).map(tokens).collect();
                assert_eq!(all.iter().flatten().max(), Some(&most_in_place), "{name}");
                assert_eq!(all.iter().map(|counts| counts.iter().sum::<u64>()).max(), Some(most), "{name}");
            }
        }
    }
}
