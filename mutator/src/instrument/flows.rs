//! The data flow of a specification, and what it adds to the sites.

use std::collections::BTreeMap;
use std::ops::Range;

use simutant_outcomes::{Condition, Definition, Pair, Sites};

use crate::dataflow::{self, Analysis, Flow, Numbers};
use crate::graph::Graph;
use crate::syntax::source::Source;

/// The data flow of a specification.
#[derive(Debug)]
pub(super) struct Flows {
    /// By the number of the function: its file, its graph, and what happens in it.
    pub(super) functions: Vec<(usize, Graph, Flow)>,
    pub(super) analysis: Analysis,
    pub(super) numbers: Numbers,
}

impl Flows {
    pub(super) fn new(functions: Vec<(usize, Graph, Flow)>) -> Self {
        let bodies: Vec<_> = functions.iter().map(|(_, graph, flow)| (graph, flow)).collect();
        let analysis = dataflow::analyse(&bodies);
        let numbers = Numbers::new(&analysis, &bodies);
        Self { functions, analysis, numbers }
    }

    pub(super) fn probes(&self, function: usize, start: usize, first_mark: usize) -> dataflow::Probes {
        let (_, graph, flow) = &self.functions[function];
        dataflow::Probes::new(&self.analysis, &self.numbers, function, (graph, flow), start, first_mark)
    }

    pub(super) fn add_conditions(
        &self,
        function: usize,
        source: &Source,
        file: usize,
        first_branch: usize,
        sites: &mut Sites,
    ) {
        for decision in &self.functions[function].2.decisions {
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
            let file = self.functions[function].0;
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
            let event = &self.functions[pair.function].2.events[pair.event];
            sites.pairs.push(Pair {
                definition,
                function: pair.function,
                span: span(pair.function, &event.range),
                branch: pair.branch.map(|branch| first_branches[pair.function] + branch),
            });
        }
    }
}
