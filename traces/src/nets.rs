//! Nets and their state spaces as pictures (SVG) and as a page (HTML), without Graphviz.

use maud::{Markup, PreEscaped, html};
use simutant_models::{Edge, Graph, Kind, Node, NodeKind, Style};
use simutant_nets::exploring::Explored;
use simutant_nets::{ArcKind, Drawing, Fired, NetArc, PropertyKind, Structure, Witness};

use crate::diagram::{Caption, Outcome};

const STYLE: &str = include_str!("nets/style.css");

/// Returns the picture of a net: places are ellipses with the number of their initial tokens, transitions boxes.
pub fn net_svg(net: &Structure) -> String {
    let place = |(name, tokens): &(String, u64)| {
        let label = if *tokens == 0 { name.clone() } else { format!("{name} ({tokens})") };
        node(NodeKind::State, label, String::new(), *tokens > 0)
    };
    let transition = |name: &String| node(NodeKind::Transition, name.clone(), String::new(), false);
    let nodes = net.places.iter().map(place).chain(net.transitions.iter().map(transition)).collect();
    let arc = |&NetArc { place, transition, kind }: &NetArc| {
        let transition = net.places.len() + transition;
        let (label, style) = match kind {
            ArcKind::Take | ArcKind::Put => ("", Style::Success),
            ArcKind::TakeAll => ("all", Style::Success),
            ArcKind::Test => ("test", Style::Part),
            ArcKind::Inhibitor => ("unless marked", Style::Backtracked),
        };
        let (from, to) = if kind == ArcKind::Put { (transition, place) } else { (place, transition) };
        edge(from, to, style, label.to_owned())
    };
    graph(net.net.clone(), nodes, net.arcs.iter().map(arc).collect()).to_svg()
}

/// Returns the picture of a state space: a node for each marking, with its number; what is pointed at shows its tokens.
/// Dead markings have a second line.
pub fn state_space_svg(space: &Drawing) -> String {
    let mut is_dead = vec![true; space.markings.len()];
    space.arcs.iter().for_each(|&(from, _, _)| is_dead[from] = false);
    let marking = |(number, (marking, is_dead)): (usize, (&String, bool))| Node {
        ends: u64::from(is_dead),
        ..node(NodeKind::State, number.to_string(), marking.clone(), number == 0)
    };
    let nodes = space.markings.iter().zip(is_dead).enumerate().map(marking).collect();
    let arc = |(from, to, fired): &(usize, usize, String)| edge(*from, *to, Style::Success, fired.clone());
    graph(space.net.clone(), nodes, space.arcs.iter().map(arc).collect()).to_svg()
}

fn graph(title: String, nodes: Vec<Node>, edges: Vec<Edge>) -> Graph {
    Graph { kind: Kind::States, title, tests: 0, nodes, edges }
}

fn node(kind: NodeKind, label: String, detail: String, is_initial: bool) -> Node {
    Node { kind, label, detail, count: None, is_initial, ends: 0 }
}

fn edge(from: usize, to: usize, style: Style, mut label: String) -> Edge {
    // A graph shows a count where there is no label.
    if label.is_empty() {
        label.push(' ');
    }
    Edge { from, to, style, is_loop: from == to, label, count: 1, thickness: 1.0 }
}

/// Returns the page of a net: what was found out, the net, and its state space if it is small enough to be drawn.
pub fn page(explored: &Explored) -> String {
    let Explored { net, markings, arcs, dead, places, transitions, properties, structure, drawing, .. } = explored;
    let is_broken = properties.iter().any(|property| property.witness.is_some());
    let (verdict, outcome) = match (properties.is_empty(), is_broken) {
        (_, true) => ("a property does not hold", Outcome::Failed),
        (false, false) => ("all properties hold", Outcome::Passed),
        (true, false) => ("it has no properties to check", Outcome::Unknown),
    };
    let caption = Caption { title: net.clone(), verdict: verdict.to_owned(), outcome };
    let summary = format!("{markings} markings, {arcs} arcs, {dead} dead markings");
    let content = html! {
        @if !properties.is_empty() {
            h2 { "Properties" }
            @for property in properties {
                p {
                    @match property.kind { PropertyKind::Always => "always: ", PropertyKind::Eventually => "always eventually: " }
                    (property.name)
                    @if property.witness.is_none() { ": holds" } @else { strong { ": does not hold" } }
                }
                @if let Some(witness) = &property.witness { (run(witness)) }
            }
        }
        @if let Some(witness) = &explored.nearest_dead {
            h2 { "The nearest dead marking" }
            (run(witness))
        }
        h2 { "The net" }
        div.scroll { (picture(&net_svg(structure))) }
        h2 { "Its state space" }
        @match drawing {
            Some(drawing) => div.scroll { (picture(&state_space_svg(drawing))) },
            None => p { "It has too many markings to be drawn." },
        }
        div.tables {
            table {
                thead { tr { th { "place" } th { "tokens" } } }
                tbody { @for place in places { tr { td { (place.name) } td { (place.least) "–" (place.most) } } } }
            }
            table {
                thead { tr { th { "transition" } th { "arcs" } } }
                tbody { @for transition in transitions { tr { td { (transition.name) } td { (transition.arcs) } } } }
            }
        }
    };
    crate::page::page(STYLE, &caption, &summary, &content)
}

/// Returns the picture as a part of a page.
fn picture(svg: &str) -> PreEscaped<String> {
    PreEscaped(svg.split_once("?>").map_or(svg, |(_, svg)| svg).to_owned())
}

fn run(witness: &Witness) -> Markup {
    let firings = |firings: &[Fired]| html! { ol { @for fired in firings { li { code { (fired.to_string()) } } } } };
    html! {
        (firings(&witness.firings))
        p { "It leads to " code { (witness.marking) } @if witness.cycle.is_empty() { "." } @else { ", and then round for ever:" } }
        @if !witness.cycle.is_empty() { (firings(&witness.cycle)) }
    }
}

#[cfg(test)]
mod tests {
    use simutant_nets::exploring::{ExploringReply, ExploringRequest, Task, serve};
    use simutant_nets::{Budget, Net};

    use super::*;

    /// Returns a net whose names are no names in XML.
    fn net() -> Net {
        let mut net = Net::new("<n> & \"m\"");
        let (full, empty) = (net.place("full", ["<a>"]), net.place::<&str>("empty \u{1}", []));
        net.transition("take", full.take(), Some, empty.put()).unless_marked(empty);
        net.transition("look", empty.keep(), |_| Some(()), ());
        net.eventually("it is <full>", move |marking| marking.count(full) == 1);
        net
    }

    #[test]
    fn pictures_are_well_formed_whatever_the_names_are() {
        let mut space = net().explore(&Budget::default()).expect("it is small");
        let count = |svg: &str, tag: &str| {
            let document = roxmltree::Document::parse(svg).expect("it is well-formed");
            document.descendants().filter(|node| node.has_tag_name(tag)).count()
        };
        let svg = net_svg(&net().structure());
        // Two places; two transitions, and the background; four arcs, and their tips.
        assert_eq!((count(&svg, "ellipse"), count(&svg, "rect")), (2, 3), "{svg}");
        assert!(svg.contains("unless marked") && svg.contains("class=\"edge part\""), "{svg}");
        let svg = state_space_svg(&space.drawing());
        assert_eq!(count(&svg, "ellipse"), 2, "{svg}");
        assert!(svg.contains("<title>0: full: &quot;&lt;a&gt;&quot;</title>"), "{svg}");
    }

    #[test]
    fn a_page_shows_the_run_that_breaks_a_property() {
        let task = Task::Explore { tests: false, drawn: 10 };
        let request = ExploringRequest { arguments: Vec::new(), markings: None, bytes: None, task };
        let mut reply = Vec::new();
        let request = serde_json::to_string(&request).expect("it is plain data");
        serve(&net, &request, &mut reply).expect("it answers");
        let reply = serde_json::from_slice(&reply).expect("it is an answer");
        let ExploringReply::Explored(explored) = reply else { panic!("{reply:?}") };
        let page = page(&explored);
        assert!(page.contains("always eventually: it is &lt;full&gt;"), "{page}");
        assert!(page.contains("does not hold") && page.contains("and then round for ever:"), "{page}");
        assert!(page.contains("<code>look(&quot;&lt;a&gt;&quot;)</code>"), "{page}");
    }
}
