//! What was found out about a net, for people.

use std::fmt::Write;

use simutant_nets::exploring::{Explored, NamedTests};
use simutant_nets::{Fired, Paths, PropertyKind, Witness};

use crate::stages::counted;

/// How many places and transitions are listed; `--verbose` lists all.
const LISTED_MAX: usize = 8;

/// How many firings of a run are listed at its beginning and at its end.
const FIRINGS_MAX: usize = 12;

/// Returns what is said of a state space.
pub(super) fn explored(explored: &Explored, lists_all: bool) -> String {
    let Explored { net, markings, arcs, dead, home, components, properties, places, transitions, .. } = explored;
    let mut text = String::new();
    // Writing to a text never fails.
    _ = writeln!(text, "{net}: {}, {}", counted(*markings, "marking", "markings"), counted(*arcs, "arc", "arcs"));
    _ = writeln!(text, "{dead:>10}  dead markings");
    _ = match home {
        0 => writeln!(text, "{home:>10}  home markings: none can be reached from every marking"),
        all if all == markings => writeln!(text, "{all:>10}  home markings: each can be reached from every other"),
        home => writeln!(text, "{home:>10}  home markings, which can be reached from every marking"),
    };
    _ = writeln!(text, "{components:>10}  strongly connected components");
    let never: Vec<&str> = transitions.iter().filter(|it| it.arcs == 0).map(|it| it.name.as_str()).collect();
    if !never.is_empty() {
        _ = writeln!(text, "never fires: {}", listed(&never, lists_all));
    }
    let listed_max = if lists_all { usize::MAX } else { LISTED_MAX };
    let mut largest: Vec<_> = places.iter().map(|place| (&place.name, place.least, place.most)).collect();
    // Those with most tokens first, others as they are in the net.
    largest.sort_by_key(|&(_, _, most)| std::cmp::Reverse(most));
    let width = largest.iter().take(listed_max).map(|place| place.0.chars().count()).max().unwrap_or(0);
    _ = writeln!(text, "\ntokens");
    for (name, least, most) in largest.iter().take(listed_max) {
        let bounds = if least == most { least.to_string() } else { format!("{least} to {most}") };
        _ = writeln!(text, "  {name:width$}  {bounds}");
    }
    if largest.len() > listed_max {
        _ = writeln!(
            text,
            "  and {} more: --verbose lists all",
            counted(largest.len() - listed_max, "place", "places")
        );
    }
    for property in properties {
        let kind = match property.kind {
            PropertyKind::Always => "always",
            PropertyKind::Eventually => "always eventually",
        };
        let holds = if property.witness.is_some() { "does not hold" } else { "holds" };
        _ = writeln!(text, "\n{kind}: {}: {holds}", property.name);
        if let Some(witness) = &property.witness {
            run(&mut text, witness);
        }
    }
    let is_shown = properties.iter().any(|property| property.witness.is_some());
    if let Some(witness) = explored.nearest_dead.as_ref().filter(|_| !is_shown) {
        _ = writeln!(text, "\nthe nearest dead marking");
        run(&mut text, witness);
    }
    if let Some(found) = &explored.tests {
        _ = write!(text, "\n{}", tests(found));
    }
    text
}

/// Returns what is said of simulated runs.
pub(super) fn simulated(found: &NamedTests, runs: usize) -> String {
    let unchecked = "properties are not checked: a simulation does not reach all markings\n";
    format!("{}: {}\n{}{unchecked}", found.net, counted(runs, "run", "runs"), tests(found))
}

fn tests(found: &NamedTests) -> String {
    let several = found.cases.iter().filter(|case| case.outcomes.len() > 1).count();
    let most = found.cases.iter().map(|case| case.outcomes.len()).max().unwrap_or(0);
    let mut text = counted(found.cases.len(), "test case", "test cases");
    if several > 0 {
        _ = write!(text, ", {several} with more than one allowed outcome, up to {most}");
    }
    text.push('\n');
    _ = match (found.paths, found.endless) {
        (_, 0) => Ok(()),
        (Paths::All, cycles) => {
            writeln!(
                text,
                "{}, which give no test case",
                counted(cycles, "cycle that no run leaves", "cycles that no run leaves")
            )
        }
        (Paths::Simulated, runs) => {
            writeln!(text, "{}, which give no test case", counted(runs, "run without an end", "runs without an end"))
        }
    };
    for event in &found.repeated {
        _ = writeln!(text, "{event} comes twice in a run, and counts once: give it a field that tells them apart");
    }
    if found.paths == Paths::Simulated {
        text.push_str(
            "an outcome that no run showed is inconclusive, and not wrong, unless --names has paths = \"all\"\n",
        );
    }
    text
}

fn listed(names: &[&str], lists_all: bool) -> String {
    let most = if lists_all { usize::MAX } else { LISTED_MAX };
    let more = names.len().saturating_sub(most);
    let named = names.iter().take(most).copied().collect::<Vec<_>>().join(", ");
    if more == 0 { named } else { format!("{named} and {more} more") }
}

fn run(text: &mut String, witness: &Witness) {
    firings(text, &witness.firings);
    let Witness { marking, cycle, .. } = witness;
    if cycle.is_empty() {
        _ = writeln!(text, "  leads to  {marking}");
    } else {
        _ = writeln!(text, "  leads to  {marking}, and then round for ever");
        firings(text, cycle);
    }
}

/// Writes firings one below the other, the middle of many left out.
fn firings(text: &mut String, fired: &[Fired]) {
    let left_out = if fired.len() > 2 * FIRINGS_MAX { FIRINGS_MAX..fired.len() - FIRINGS_MAX } else { 0..0 };
    for (number, fired) in fired.iter().enumerate() {
        if left_out.start == number && !left_out.is_empty() {
            _ = writeln!(text, "        … {} more", left_out.len());
        }
        if !left_out.contains(&number) {
            _ = writeln!(text, "  {:>6}  {fired}", number + 1);
        }
    }
}
