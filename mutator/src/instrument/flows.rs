//! The data flow of a specification, and what it adds to the sites.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;

use simutant_outcomes::{Condition, Definition, Pair, Sites};

use super::coverage::{Coverage, Measured, Numbers};
use crate::dataflow::{Analysis, FunctionFlow, analyse};
use crate::graph::{Flow, Graph, Lowered, ProbeSite};
use crate::syntax::source::Source;

/// The data flow of a specification.
#[derive(Debug, Default)]
pub(super) struct Flows<'a> {
    /// By the number of the function.
    functions: Vec<LoweredFunction<'a>>,
    pub(super) analysis: Analysis,
    numbers: Numbers,
}

/// An instrumented function, with as much data flow as it compiles with.
#[derive(Debug)]
pub(super) struct LoweredFunction<'a> {
    file: usize,
    graph: Cow<'a, Graph>,
    flow: Cow<'a, Flow>,
    sites: &'a [ProbeSite],
}

impl<'a> LoweredFunction<'a> {
    pub(super) fn new(file: usize, lowered: &'a Lowered) -> Self {
        let Lowered { graph, flow, sites } = lowered;
        Self { file, graph: Cow::Borrowed(graph), flow: Cow::Borrowed(flow), sites }
    }

    /// Returns the function without its definitions and uses.
    pub(super) fn without_flow(mut self) -> Self {
        self.graph.to_mut().edges.iter_mut().for_each(|edge| edge.binding = None);
        self.flow = Cow::Owned(Flow::default());
        self
    }

    fn flow(&self) -> FunctionFlow<'_> {
        FunctionFlow { graph: &self.graph, flow: &self.flow }
    }
}

impl<'a> Flows<'a> {
    pub(super) fn new(functions: Vec<LoweredFunction<'a>>) -> Self {
        let bodies: Vec<_> = functions.iter().map(LoweredFunction::flow).collect();
        let analysis = analyse(&bodies);
        let numbers = Numbers::new(&analysis, &bodies);
        Self { functions, analysis, numbers }
    }

    /// Returns the graph of a function.
    pub(super) fn graph(&self, function: usize) -> &Graph {
        &self.functions[function].graph
    }

    /// Returns the probes of a function whose body begins at `start`, with marks from `first_mark` on.
    pub(super) fn coverage(&self, function: usize, start: usize, first_mark: usize) -> Coverage {
        let lowered = &self.functions[function];
        let measured = Measured { function, flow: lowered.flow(), sites: lowered.sites, start };
        Coverage::new(&self.analysis, &self.numbers, measured, first_mark)
    }

    pub(super) fn add_conditions(
        &self,
        function: usize,
        source: &Source,
        file: usize,
        first_branch: usize,
        sites: &mut Sites,
    ) {
        for decision in &self.functions[function].flow.decisions {
            let is_alone = decision.conditions.len() == 1;
            for (index, condition) in decision.conditions.iter().enumerate() {
                for value in [true, false] {
                    let branch = condition.branches.map(|(holds, fails)| if value { holds } else { fails });
                    sites.conditions.push(Condition {
                        function,
                        span: source.span(file, &condition.range),
                        value,
                        is_coupled: decision.is_coupled(index),
                        branch: branch.filter(|_| is_alone).map(|branch| first_branch + branch),
                    });
                }
            }
        }
    }

    /// Adds definitions and pairs, when all functions have their branches.
    pub(super) fn add_to(&self, sites: &mut Sites, sources: &[Source]) {
        let mut first_branches = vec![0; self.functions.len()];
        for (number, branch) in sites.branches.iter().enumerate().rev() {
            first_branches[branch.function] = number;
        }
        let span = |function: usize, range: &Range<usize>| {
            let file = self.functions[function].file;
            sources[file].span(file, range)
        };
        let mut listed = BTreeMap::new();
        for pair in &self.analysis.pairs {
            let site = &self.analysis.definitions[pair.definition];
            let definition = *listed.entry(pair.definition).or_insert_with(|| {
                let span = span(site.function, &site.range);
                sites.definitions.push(Definition { function: site.function, variable: site.name.clone(), span });
                sites.definitions.len() - 1
            });
            let event = &self.functions[pair.function].flow.events[pair.event];
            sites.pairs.push(Pair {
                definition,
                function: pair.function,
                span: span(pair.function, &event.range),
                branch: pair.branch.map(|branch| first_branches[pair.function] + branch),
            });
        }
    }
}
