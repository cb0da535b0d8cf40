//! Reaching definitions, over all functions of a specification at a time: fields connect the methods of a type.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use simutant_outcomes::BitSet;

use crate::graph::{Action, Birth, BlockId, Edge, EventId, Flow, Graph, VariableKind};

/// A variable of the specification.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum VariableKey {
    /// A variable of a function, by its index there.
    Local { function: usize, variable: usize },
    /// A field of a type.
    Field { type_name: String, name: String },
}

/// A definition.
#[derive(Debug)]
pub(crate) struct DefinitionSite {
    pub(crate) variable: usize,
    pub(crate) function: usize,
    pub(crate) name: String,
    pub(crate) range: Range<usize>,
    /// Which of its variable's definitions it is, from 1.
    pub(crate) ordinal: u32,
}

/// A definition and a use that can see it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct PairSite {
    /// The function of the use.
    pub(crate) function: usize,
    /// The use, an event of the function.
    pub(crate) event: EventId,
    /// The branch of the function that the pair is for, if the use is in a predicate.
    pub(crate) branch: Option<usize>,
    /// An index into [`Analysis::definitions`].
    pub(crate) definition: usize,
}

/// The definition-use pairs of a specification.
#[derive(Debug, Default)]
pub(crate) struct Analysis {
    pub(crate) variables: Vec<VariableKey>,
    pub(crate) definitions: Vec<DefinitionSite>,
    /// By variable.
    pub(crate) definitions_of: Vec<Vec<usize>>,
    pub(crate) by_event: BTreeMap<(usize, EventId), usize>,
    /// By function, literal and the field's index there.
    pub(crate) by_birth: BTreeMap<(usize, usize, usize), usize>,
    /// In ascending order.
    pub(crate) pairs: Vec<PairSite>,
}

/// A function: its graph and what happens in it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FunctionFlow<'a> {
    pub(crate) graph: &'a Graph,
    pub(crate) flow: &'a Flow,
}

/// Finds the definition-use pairs of functions.
pub(crate) fn analyse(functions: &[FunctionFlow<'_>]) -> Analysis {
    let mut analysis = Analysis::default();
    let mut keys = BTreeMap::new();
    let types: BTreeSet<&str> = functions.iter().filter_map(|function| function.flow.receiver.as_deref()).collect();
    for (number, FunctionFlow { flow, .. }) in functions.iter().enumerate() {
        analysis.collect(number, flow, &types, &mut keys);
    }
    let effects = effects(&analysis, functions);
    let bodies: Vec<Body<'_>> = functions
        .iter()
        .enumerate()
        .map(|(number, &FunctionFlow { graph, flow })| Body::new(&analysis, &effects, number, graph, flow))
        .collect();
    // What the beginning of every method can see, by type: at first, what literals define.
    let mut pools: BTreeMap<&str, BitSet> = BTreeMap::new();
    let born: BTreeSet<usize> = analysis.by_birth.values().copied().collect();
    for (definition, site) in analysis.definitions.iter().enumerate() {
        if let VariableKey::Field { type_name, .. } = &analysis.variables[site.variable] {
            let pool = pools.entry(type_name).or_insert_with(|| BitSet::with_capacity(analysis.definitions.len()));
            if born.contains(&definition) {
                pool.insert(definition);
            }
        }
    }
    let mut pairs = BTreeSet::new();
    loop {
        let before = pools.clone();
        for body in &bodies {
            let mut pool = body.flow.receiver.as_deref().and_then(|name| pools.get(name)).cloned();
            body.solve(&analysis, pool.as_mut(), &mut pairs);
            if let (Some(name), Some(pool)) = (body.flow.receiver.as_deref(), pool) {
                *pools.get_mut(name).expect("it was there") = pool;
            }
        }
        if pools == before {
            break;
        }
    }
    analysis.pairs = pairs.into_iter().collect();
    analysis
}

/// Returns, by type and name, the definitions of fields that a method or what it calls can make; those of any method of
/// the type under the empty name.
fn effects(analysis: &Analysis, functions: &[FunctionFlow<'_>]) -> BTreeMap<(String, String), BitSet> {
    let none = || BitSet::with_capacity(analysis.definitions.len());
    let mut effects: BTreeMap<(String, String), BitSet> = BTreeMap::new();
    loop {
        let before = effects.clone();
        for (number, FunctionFlow { flow, .. }) in functions.iter().enumerate() {
            let Some(type_name) = &flow.receiver else { continue };
            let mut own = none();
            for (event, known) in flow.events.iter().enumerate() {
                match known.action {
                    Action::Define(variable) if flow.variables[variable].kind == VariableKind::Field => {
                        own.extend(analysis.by_event.get(&(number, event)).copied());
                    }
                    Action::Exchange { callee } => {
                        let callee = effects_of(&before, type_name, callee.map(|callee| flow.callees[callee].as_str()));
                        own.union_with(callee.unwrap_or(&none()));
                    }
                    _ => {}
                }
            }
            for name in [flow.name.as_str(), ""] {
                effects.entry((type_name.clone(), name.to_owned())).or_insert_with(none).union_with(&own);
            }
        }
        if effects == before {
            return effects;
        }
    }
}

/// Returns what a method can define: what any can if it is not one of the specification.
fn effects_of<'a>(
    effects: &'a BTreeMap<(String, String), BitSet>,
    type_name: &str,
    method: Option<&str>,
) -> Option<&'a BitSet> {
    let of = |name: &str| effects.get(&(type_name.to_owned(), name.to_owned()));
    method.and_then(of).or_else(|| of(""))
}

impl Analysis {
    fn collect(
        &mut self,
        function: usize,
        flow: &Flow,
        types: &BTreeSet<&str>,
        keys: &mut BTreeMap<VariableKey, usize>,
    ) {
        for (event, known) in flow.events.iter().enumerate() {
            let Some(variable) = flow.variable_of(event) else { continue };
            let name = flow.variables[variable].name.clone();
            let variable = self.variable(variable_key(function, flow, variable), keys);
            if matches!(known.action, Action::Define(_)) {
                let definition = self.definition(variable, function, name, known.range.clone());
                self.by_event.insert((function, event), definition);
            }
        }
        let is_followed = |birth: &Birth| types.contains(birth.type_name.as_str());
        for (birth, born) in flow.births.iter().enumerate().filter(|(_, birth)| is_followed(birth)) {
            for (index, (field, range)) in born.fields.iter().enumerate() {
                let key = VariableKey::Field { type_name: born.type_name.clone(), name: format!("self.{field}") };
                let name = format!("self.{field}");
                let variable = self.variable(key, keys);
                let definition = self.definition(variable, function, name, range.clone());
                self.by_birth.insert((function, birth, index), definition);
            }
        }
    }

    fn variable(&mut self, key: VariableKey, keys: &mut BTreeMap<VariableKey, usize>) -> usize {
        *keys.entry(key).or_insert_with_key(|key| {
            self.variables.push(key.clone());
            self.definitions_of.push(Vec::new());
            self.variables.len() - 1
        })
    }

    fn definition(&mut self, variable: usize, function: usize, name: String, range: Range<usize>) -> usize {
        let definition = self.definitions.len();
        self.definitions_of[variable].push(definition);
        let ordinal = self.definitions_of[variable].len() as u32;
        self.definitions.push(DefinitionSite { variable, function, name, range, ordinal });
        definition
    }
}

/// Returns the variable of the specification that a variable of a function is.
pub(crate) fn variable_key(function: usize, flow: &Flow, variable: usize) -> VariableKey {
    let known = &flow.variables[variable];
    match (known.kind, &flow.receiver) {
        (VariableKind::Field, Some(type_name)) => {
            VariableKey::Field { type_name: type_name.clone(), name: known.name.clone() }
        }
        _ => VariableKey::Local { function, variable },
    }
}

/// A function with what the analysis needs to know of it again and again.
struct Body<'a> {
    number: usize,
    graph: &'a Graph,
    flow: &'a Flow,
    /// The variables of the specification, by those of the function.
    variables: Vec<Option<usize>>,
    /// By closure: from which event on each block can be executed after the closure was made.
    after: Vec<BTreeMap<BlockId, usize>>,
    /// By closure: the definitions that a call of it can make and that can be seen outside ...
    made: Vec<BitSet>,
    /// ... and those of them that can be made while others use the variable.
    shared: Vec<BitSet>,
    effects: &'a BTreeMap<(String, String), BitSet>,
}

impl<'a> Body<'a> {
    fn new(
        analysis: &Analysis,
        effects: &'a BTreeMap<(String, String), BitSet>,
        number: usize,
        graph: &'a Graph,
        flow: &'a Flow,
    ) -> Self {
        let variables = (0..flow.variables.len()).map(|variable| {
            let key = variable_key(number, flow, variable);
            analysis.variables.iter().position(|known| *known == key)
        });
        let variables = variables.collect();
        let mut body =
            Self { number, graph, flow, variables, after: Vec::new(), made: Vec::new(), shared: Vec::new(), effects };
        body.after = (0..flow.closures.len()).map(|closure| body.after(closure)).collect();
        let made = |closure, only_shareable| body.made(analysis, closure, only_shareable);
        let all = (0..flow.closures.len()).map(|closure| made(closure, false)).collect();
        let shared = (0..flow.closures.len()).map(|closure| made(closure, true)).collect();
        (body.made, body.shared) = (all, shared);
        body
    }

    fn made(&self, analysis: &Analysis, closure: usize, only_shareable: bool) -> BitSet {
        let mut made = BitSet::with_capacity(analysis.definitions.len());
        for (event, known) in self.flow.events.iter().enumerate() {
            if !known.closures.contains(&closure) {
                continue;
            }
            if let Action::Exchange { callee } = known.action {
                made.union_with(self.called(callee).unwrap_or(&BitSet::new()));
            } else if self.flow.shared_by(event).contains(&closure) && (!only_shareable || self.is_shareable(event)) {
                made.extend(analysis.by_event.get(&(self.number, event)).copied());
            }
        }
        made
    }

    /// Returns the definitions of fields that a call can make.
    fn called(&self, callee: Option<usize>) -> Option<&'a BitSet> {
        let type_name = self.flow.receiver.as_deref()?;
        effects_of(self.effects, type_name, callee.map(|callee| self.flow.callees[callee].as_str()))
    }

    fn events(&self, block: BlockId) -> &'a [EventId] {
        self.flow.blocks.get(block).map_or(&[], Vec::as_slice)
    }

    /// Returns from which event on blocks can be executed after a closure was made.
    fn after(&self, closure: usize) -> BTreeMap<BlockId, usize> {
        let made = &self.flow.closures[closure];
        let mut after = BTreeMap::from([(made.block, made.at)]);
        let mut open = vec![made.block];
        while let Some(block) = open.pop() {
            for to in self.graph.edges.iter().filter(|edge| edge.from == block).filter_map(|edge| edge.to) {
                // A block that is reached again is executed as a whole.
                if after.insert(to, 0) != Some(0) {
                    open.push(to);
                }
            }
        }
        after
    }

    fn is_entry(&self, edge: &Edge) -> Option<usize> {
        let to = edge.to?;
        // The innermost closure that begins there.
        self.flow.closures.iter().rposition(|closure| closure.block == edge.from && closure.body.contains(&to))
    }

    /// Propagates definitions until nothing changes, and adds the pairs. `pool` is what the other methods of the type
    /// leave.
    fn solve(&self, analysis: &Analysis, mut pool: Option<&mut BitSet>, pairs: &mut BTreeSet<PairSite>) {
        let size = analysis.definitions.len();
        let none = || BitSet::with_capacity(size);
        let mut states: BTreeMap<BlockId, BitSet> = BTreeMap::new();
        let mut left: Vec<BitSet> = vec![none(); self.flow.closures.len()];
        loop {
            let before = (states.clone(), left.clone(), pool.as_deref().cloned());
            let mut start = none();
            if let Some(pool) = &pool {
                start.union_with(pool);
            }
            states.entry(0).or_insert_with(none).union_with(&start);
            for block in 0..self.graph.blocks.len() {
                let Some(mut state) = states.get(&block).cloned() else { continue };
                let edges: Vec<&Edge> = self.graph.edges.iter().filter(|edge| edge.from == block).collect();
                let events = self.events(block);
                for at in 0..=events.len() {
                    for (closure, made) in self.flow.closures.iter().enumerate() {
                        if made.block != block || made.at != at {
                            continue;
                        }
                        let mut inside = state.clone();
                        inside.union_with(&left[closure]);
                        inside.union_with(&self.definitions_after(analysis, closure, pool.as_deref()));
                        for edge in edges.iter().filter(|edge| self.is_entry(edge) == Some(closure)) {
                            self.pass(analysis, edge, &inside, &mut states);
                        }
                        state.union_with(&left[closure]);
                    }
                    if let Some(&event) = events.get(at) {
                        self.step(analysis, event, &mut state, pool.as_deref_mut());
                    }
                }
                for edge in edges.iter().filter(|edge| self.is_entry(edge).is_none()) {
                    self.pass(analysis, edge, &state, &mut states);
                    if edge.to.is_none() {
                        self.leave(analysis, block, &state, &mut left, pool.as_deref_mut());
                    }
                }
            }
            if before == (states.clone(), left.clone(), pool.as_deref().cloned()) {
                break;
            }
        }
        self.pairs(analysis, &states, &left, pool, pairs);
    }

    /// Returns whether a definition can be made while a closure shares the variable.
    fn is_shareable(&self, event: EventId) -> bool {
        let is_field = |variable: usize| self.flow.variables[variable].kind == VariableKind::Field;
        self.flow.events[event].by_method || self.flow.variable_of(event).is_some_and(is_field)
    }

    /// Definitions that a closure can see since they may be made between its making and its call.
    fn definitions_after(&self, analysis: &Analysis, closure: usize, pool: Option<&BitSet>) -> BitSet {
        let mut found = pool.cloned().unwrap_or_else(|| BitSet::with_capacity(analysis.definitions.len()));
        found.grow(analysis.definitions.len());
        for (&block, &first) in &self.after[closure] {
            for event in self.events(block).iter().skip(first).filter(|event| self.is_shareable(**event)) {
                found.extend(analysis.by_event.get(&(self.number, *event)).copied());
            }
        }
        found
    }

    /// Control passes an edge.
    fn pass(&self, analysis: &Analysis, edge: &Edge, state: &BitSet, states: &mut BTreeMap<BlockId, BitSet>) {
        let Some(to) = edge.to else { return };
        let mut state = state.clone();
        for &event in edge.binding.iter().flat_map(|binding| &self.flow.bindings[*binding]) {
            self.step(analysis, event, &mut state, None);
        }
        states.entry(to).or_insert_with(|| BitSet::with_capacity(analysis.definitions.len())).union_with(&state);
    }

    fn step(&self, analysis: &Analysis, event: EventId, state: &mut BitSet, pool: Option<&mut BitSet>) {
        match self.flow.events[event].action {
            Action::Define(_) => {
                let definition = analysis.by_event[&(self.number, event)];
                for &killed in &analysis.definitions_of[analysis.definitions[definition].variable] {
                    state.set(killed, false);
                }
                state.insert(definition);
            }
            Action::Exchange { callee } => {
                if let Some(pool) = pool {
                    pool.union_with(&self.fields_of(analysis, state));
                }
                if let Some(called) = self.called(callee) {
                    state.union_with(called);
                }
            }
            Action::Use { .. } | Action::Birth(_) => {}
        }
    }

    /// Control leaves the function or the closures that the block is in.
    fn leave(
        &self,
        analysis: &Analysis,
        block: BlockId,
        state: &BitSet,
        left: &mut [BitSet],
        pool: Option<&mut BitSet>,
    ) {
        let innermost = self.flow.closures.iter().rposition(|closure| closure.body.contains(&block));
        if let Some(closure) = innermost {
            let mut made = state.clone();
            made.intersect_with(&self.made[closure]);
            left[closure].union_with(&made);
        }
        if let Some(pool) = pool {
            pool.union_with(&self.fields_of(analysis, state));
        }
    }

    /// Returns those of some definitions that are of fields of the type.
    fn fields_of(&self, analysis: &Analysis, state: &BitSet) -> BitSet {
        let mut fields = BitSet::with_capacity(analysis.definitions.len());
        let own = self.flow.receiver.as_deref();
        fields.extend(state.ones().filter(|definition| {
            let variable = &analysis.variables[analysis.definitions[*definition].variable];
            matches!(variable, VariableKey::Field { type_name, .. } if Some(type_name.as_str()) == own)
        }));
        fields
    }

    fn pairs(
        &self,
        analysis: &Analysis,
        states: &BTreeMap<BlockId, BitSet>,
        left: &[BitSet],
        mut pool: Option<&mut BitSet>,
        pairs: &mut BTreeSet<PairSite>,
    ) {
        for (&block, state) in states {
            let mut state = state.clone();
            for (at, &event) in self.events(block).iter().enumerate() {
                for (closure, made) in self.flow.closures.iter().enumerate() {
                    if (made.block, made.at) == (block, at) {
                        state.union_with(&left[closure]);
                    }
                }
                if let Action::Use { variable, .. } = self.flow.events[event].action
                    && let Some(variable) = self.variables[variable]
                {
                    let seen = |definition: &&usize| {
                        state.contains(**definition) || self.is_left(**definition, block, at, left)
                    };
                    for &definition in analysis.definitions_of[variable].iter().filter(seen) {
                        self.add(event, definition, pairs);
                    }
                }
                self.step(analysis, event, &mut state, pool.as_deref_mut());
            }
        }
    }

    /// Returns whether a closure that was made before a place may leave a definition to it.
    fn is_left(&self, definition: usize, block: BlockId, at: usize, left: &[BitSet]) -> bool {
        (0..self.flow.closures.len()).any(|closure| {
            let is_after = self.after[closure].get(&block).is_some_and(|first| *first <= at);
            is_after && left[closure].contains(definition) && self.shared[closure].contains(definition)
        })
    }

    fn add(&self, event: EventId, definition: usize, pairs: &mut BTreeSet<PairSite>) {
        let Action::Use { predicate, .. } = self.flow.events[event].action else { return };
        let function = self.number;
        match predicate.map(|predicate| &self.flow.predicates[predicate]) {
            None => _ = pairs.insert(PairSite { function, event, branch: None, definition }),
            Some(branches) => pairs.extend(branches.iter().map(|&branch| PairSite {
                function,
                event,
                branch: Some(branch),
                definition,
            })),
        }
    }
}
