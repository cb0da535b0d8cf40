//! Uses that see one definition on every path of a run: reaching such a use covers its pair.
//!
//! Most uses are such, since most variables are defined once. The analysis is that of constants which nobody computes
//! with: it loses nothing where ways meet, so what it does not find some way through the graph contradicts.

use std::collections::BTreeMap;

use super::reaching::{Analysis, FunctionFlow};
use crate::graph::{Action, BlockId, EventId, Graph};

/// What the last definition of a variable is at one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Last {
    /// No way leads there.
    Nowhere,
    /// This one, as an index into [`Analysis::definitions`], or none.
    One(Option<usize>),
    /// It depends on the way.
    Several,
}

impl Last {
    fn joined(self, other: Self) -> Self {
        match (self, other) {
            (Self::Nowhere, last) | (last, Self::Nowhere) => last,
            _ if self == other => self,
            _ => Self::Several,
        }
    }
}

/// Returns by use the one definition that it sees, if it is so. Left out are all uses of the variables of the function
/// for which `is_followed` is false: those that something else can define.
pub(crate) fn certain_uses(
    analysis: &Analysis,
    function: usize,
    FunctionFlow { graph, flow }: FunctionFlow<'_>,
    is_followed: impl Fn(usize) -> bool,
) -> BTreeMap<EventId, usize> {
    let define = |state: &mut [Last], event: EventId| {
        if let Action::Define(variable) = flow.events[event].action {
            state[variable] = Last::One(Some(analysis.by_event[&(function, event)]));
        }
    };
    let events_of = |block: BlockId| flow.blocks.get(block).map_or(&[][..], Vec::as_slice);
    let mut states = vec![vec![Last::Nowhere; flow.variables.len()]; graph.blocks.len()];
    let Some(entry) = states.first_mut() else { return BTreeMap::new() };
    entry.fill(Last::One(None));
    let mut open = vec![0];
    while let Some(block) = open.pop() {
        let mut state = states[block].clone();
        events_of(block).iter().for_each(|&event| define(&mut state, event));
        for edge in graph.edges.iter().filter(|edge| edge.from == block) {
            let Some(to) = edge.to else { continue };
            let mut state = state.clone();
            edge.binding
                .iter()
                .flat_map(|&binding| &flow.bindings[binding])
                .for_each(|&event| define(&mut state, event));
            let joined: Vec<Last> = states[to].iter().zip(state).map(|(known, new)| known.joined(new)).collect();
            if joined != states[to] {
                states[to] = joined;
                open.push(to);
            }
        }
    }
    let mut certain = BTreeMap::new();
    let is_come_to = |state: &[Last]| !state.contains(&Last::Nowhere);
    for (block, mut state) in states.into_iter().enumerate().filter(|(_, state)| is_come_to(state)) {
        for &event in events_of(block) {
            if let Action::Use { variable, .. } = flow.events[event].action
                && let Last::One(Some(definition)) = state[variable]
                && is_followed(variable)
            {
                certain.insert(event, definition);
            }
            define(&mut state, event);
        }
    }
    certain
}

/// Returns whether every way from the beginning to a block leads through another, or begins there.
pub(crate) fn dominates(graph: &Graph, dominator: BlockId, block: BlockId) -> bool {
    let mut is_known = vec![false; graph.blocks.len()];
    is_known[dominator] = true;
    let mut open = vec![0];
    while let Some(from) = open.pop() {
        if !std::mem::replace(&mut is_known[from], true) {
            if from == block {
                return false;
            }
            open.extend(graph.edges.iter().filter(|edge| edge.from == from).filter_map(|edge| edge.to));
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::dataflow::reaching::analyse;
    use crate::graph::{BasicBlock, Edge, Event, Flow, Variable, VariableKind};

    const VARIABLES: usize = 2;

    /// Numbers below a limit, in no order.
    struct Random(u64);

    impl Random {
        fn below(&mut self, limit: usize) -> usize {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) as usize % limit
        }

        /// Makes some definitions and uses.
        fn events(&mut self, flow: &mut Flow, can_use: bool) -> Vec<EventId> {
            let count = self.below(3);
            let made = (0..count).map(|_| {
                let variable = self.below(VARIABLES);
                let uses = can_use && self.below(3) > 0;
                let action = if uses { Action::Use { variable, predicate: None } } else { Action::Define(variable) };
                flow.events.push(Event { action, range: 0..0, closures: Vec::new(), by_method: false });
                flow.events.len() - 1
            });
            made.collect()
        }

        fn function(&mut self) -> (Graph, Flow) {
            let (mut graph, mut flow) = (Graph::default(), Flow::default());
            for number in 0..VARIABLES {
                flow.variables.push(Variable { name: number.to_string(), kind: VariableKind::Local { depth: 0 } });
            }
            let blocks = 1 + self.below(6);
            for from in 0..blocks {
                graph.blocks.push(BasicBlock { range: 0..0, is_entered: true });
                let events = self.events(&mut flow, true);
                flow.blocks.push(events);
                for _ in 0..self.below(3) {
                    let bound = self.events(&mut flow, false);
                    flow.bindings.push(bound);
                    let binding = Some(flow.bindings.len() - 1);
                    graph.edges.push(Edge { from, to: Some(self.below(blocks)), branch: None, binding });
                }
            }
            (graph, flow)
        }
    }

    /// What a walk can have seen: all last definitions for each use, and the blocks that each block was come to after.
    #[derive(Default)]
    struct Seen {
        uses: BTreeMap<EventId, BTreeSet<Option<usize>>>,
        before: BTreeMap<BlockId, Vec<BTreeSet<BlockId>>>,
    }

    impl Seen {
        fn walk(
            &mut self,
            FunctionFlow { graph, flow }: FunctionFlow<'_>,
            definition_of: impl Fn(EventId) -> usize,
            random: &mut Random,
        ) {
            let mut last = [None; VARIABLES];
            let (mut block, mut blocks) = (0, BTreeSet::new());
            for _ in 0..20 {
                blocks.insert(block);
                self.before.entry(block).or_default().push(blocks.clone());
                let ways: Vec<&Edge> = graph.edges.iter().filter(|edge| edge.from == block).collect();
                let edge = (!ways.is_empty()).then(|| ways[random.below(ways.len())]);
                let bound = edge.and_then(|edge| edge.binding).map_or(&[][..], |binding| &flow.bindings[binding]);
                for &event in flow.blocks[block].iter().chain(bound) {
                    match flow.events[event].action {
                        Action::Define(variable) => last[variable] = Some(definition_of(event)),
                        Action::Use { variable, .. } => _ = self.uses.entry(event).or_default().insert(last[variable]),
                        Action::Exchange { .. } | Action::Birth(_) => {}
                    }
                }
                let Some(to) = edge.and_then(|edge| edge.to) else { return };
                block = to;
            }
        }
    }

    #[test]
    fn what_is_certain_is_what_all_ways_see() {
        let mut random = Random(1);
        let (mut certain_count, mut others) = (0, 0);
        for _ in 0..300 {
            let (graph, flow) = random.function();
            let function = FunctionFlow { graph: &graph, flow: &flow };
            let analysis = analyse(&[function]);
            let certain = certain_uses(&analysis, 0, function, |_| true);
            let mut seen = Seen::default();
            for _ in 0..300 {
                seen.walk(function, |event| analysis.by_event[&(0, event)], &mut random);
            }
            for (event, definitions) in &seen.uses {
                let only = match definitions.iter().collect::<Vec<_>>()[..] {
                    [Some(only)] => Some(only),
                    _ => None,
                };
                assert_eq!(certain.get(event), only, "event {event} of {flow:?} in {graph:?}");
                if only.is_some() { certain_count += 1 } else { others += 1 }
            }
            assert!(certain.keys().all(|event| seen.uses.contains_key(event)));
            let followed = certain_uses(&analysis, 0, function, |variable| variable == 1);
            let of_second = certain.iter().filter(|(event, _)| flow.variable_of(**event) == Some(1));
            assert!(followed.iter().eq(of_second));
            for (&block, walks) in &seen.before {
                for other in 0..graph.blocks.len() {
                    let is_before = walks.iter().all(|before| before.contains(&other));
                    assert_eq!(dominates(&graph, other, block), is_before, "{other} and {block} in {graph:?}");
                }
            }
        }
        assert!(certain_count > 50 && others > 50, "{certain_count}, {others}");
    }
}
