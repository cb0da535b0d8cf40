//! The search: an order of calls that the specification explains.
//!
//! A *configuration* is a state of the specification and the calls that have been placed to get there. The search goes
//! from configuration to configuration by placing one more call whose answer agrees with what the client observed, and
//! never twice to the same one (Lowe, 2017, "Testing for linearizability"; Wing and Gong, 1993).
//!
//! Six reductions make the default strategy fast; each is sound for every order of [`Order`](crate::Order), or is made
//! only where the order is one for which it is:
//!
//! - a call that changes no state ([`Footprint::is_read`](crate::Footprint::is_read)) is placed as soon as its answer
//!   agrees: whatever order places it later still holds with it placed now, unless a call that may not have happened
//!   could then no longer come before it. That an operation leaves *this* state as it
//!   is would not be enough: a pending write of the current value may be needed later;
//! - of two configurations that differ only in the calls of unknown end that they placed, the one that placed fewer can
//!   do all that the other one can, as nothing waits for such calls;
//! - where nothing but operations that add to the state can come before the next read, a state that cannot grow into
//!   what it observed is left at once;
//! - calls of unknown end whose operations are the same stand in a class, of which the first is tried;
//! - a call that overwrites what is there ([`Specification::overwrites`]) leaves no trace if another one follows at
//!   once. So one is tried only where something other than that can follow; of those that do the same only the first
//!   to end; and each that was under way when another one was placed is *hidden*: when it is demanded, it is taken to
//!   have come just before that one. What is hidden can do all that what is exposed can, and all that what is placed
//!   can;
//! - a call is demanded only when it returned: of those that are still under way only such are placed before it as
//!   share a region of the state with it. Where one of several parts that share nothing has no explanation, the search
//!   goes back to the last call of that part.

mod parts;
mod problem;
mod store;

use std::collections::VecDeque;

pub(crate) use parts::parts;
use problem::{OTHER_KIND, Overwriting};
pub(crate) use problem::{Placed, Problem, Role, RoleOf};
pub(crate) use store::States;
use store::{Configurations, grown};

use crate::open::Script;
use crate::{Budget, Explored, Limit, Open, Specification};

/// In which order, and with which reductions, a search tries calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tactics {
    pub(crate) candidates: Candidates,
    pub(crate) breadth_first: bool,
    /// Whether all reductions are made, or only that nothing is tried twice.
    pub(crate) is_reduced: bool,
    /// Whether a state ends the search when a later read is out of its reach.
    pub(crate) foresees: bool,
    /// Whether calls that others overwrite are hidden.
    pub(crate) hides: bool,
}

/// Which call is tried first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Candidates {
    /// The call that ended first, and those of unknown end last.
    End,
    /// The call that was invoked first.
    Invocation,
    /// Those of the first session.
    Session,
}

/// What a search found.
#[derive(Debug)]
pub(crate) enum Found {
    /// Calls by their numbers in the problem, in an order that explains all.
    Order(Vec<u32>),
    /// There is none. The longest part that there is, and the call that cannot follow it.
    Nowhere { longest: Vec<u32>, stuck: u32 },
    /// The budget ran out.
    Stopped(Limit),
}

/// A search, which can be stopped and go on.
pub(crate) struct Search<'p, 'h, S: Specification> {
    problem: &'p Problem<'h, S>,
    tactics: Tactics,
    /// Whether some call waits for another one besides those that ended before it.
    is_chained: bool,
    states: States<S>,
    configurations: Configurations,
    /// For each configuration that leads nowhere, the part of the problem that is the reason.
    reasons: Vec<u32>,
    /// What is to be expanded: the path of a depth-first search.
    frames: Vec<Frame>,
    /// What is to be expanded breadth first, and how each configuration was reached.
    queue: VecDeque<u32>,
    trails: Vec<Trail>,
    longest: Longest,
    /// The demand at which dead ends are kept, if they are.
    kept_demand: Option<u32>,
    /// Where a depth-first search could not go on at that demand.
    dead_ends: Vec<DeadEnd>,
    dead_ends_count: u64,
    meter: Meter,
    /// The state that a step changes.
    scratch: S,
    /// The state that reads look at, and its number.
    reader: (S, Option<u32>),
    script: Script,
    /// The configuration that is being expanded, and its candidates if they are in an order of their own.
    parent: Vec<u64>,
    ranked: (Option<u32>, Vec<u32>),
    /// The configuration that is being made, and what hidden calls make of it.
    child: Vec<u64>,
    ahead: Vec<u64>,
    /// The calls placed so far. Those that were hidden when they were demanded have the bit [`HIDDEN`].
    order: Vec<u32>,
    /// Whether the child was made by a call that no other one can follow but such as overwrite it.
    is_useless: bool,
}

/// The bit of a call that was hidden when it was demanded.
const HIDDEN: u32 = 1 << 31;

/// The longest part that was explained.
#[derive(Debug, Default)]
struct Longest {
    demand: u32,
    /// Its last configuration in a breadth-first search.
    configuration: u32,
    /// How many calls of the path are its first ones.
    shared: usize,
    /// Its other calls, the last one first.
    others: Vec<u32>,
}

impl Longest {
    fn len(&self) -> usize {
        self.shared + self.others.len()
    }

    /// Takes leave of the calls of a path from a place on.
    fn part(&mut self, path: &[u32], placed: usize) {
        if let Some(left) = path.get(placed..self.shared) {
            self.others.extend(left.iter().rev());
            self.shared = placed;
        }
    }

    fn order(self, path: &[u32]) -> Vec<u32> {
        path[..self.shared].iter().copied().chain(self.others.into_iter().rev()).collect()
    }
}

/// A configuration that is being expanded.
struct Frame {
    configuration: u32,
    /// The next candidate.
    cursor: usize,
    /// Whether the demanded call was hidden: it has come before, and changes nothing.
    has_hidden: bool,
    /// The kinds of overwriting calls that were candidates, a bit each.
    kinds: u64,
    /// Further choices of that candidate.
    script: Option<Script>,
    /// How many calls had been placed.
    placed: usize,
}

/// An explanation that nothing can be added to.
#[derive(Debug)]
pub(crate) struct DeadEnd {
    /// The number of the state.
    state: u32,
    /// The calls placed, in their order.
    pub(crate) order: Vec<u32>,
}

/// How many dead ends are kept.
const DEAD_ENDS_MAX: usize = 256;

/// How a breadth-first search reached a configuration.
struct Trail {
    before: Option<u32>,
    calls: Vec<u32>,
}

impl Trail {
    /// Returns all calls that were placed to reach a configuration.
    fn to(trails: &[Self], configuration: u32) -> Vec<u32> {
        let mut pieces = Vec::new();
        let mut next = Some(configuration);
        while let Some(trail) = next.map(|next| &trails[next as usize]) {
            pieces.push(&trail.calls);
            next = trail.before;
        }
        pieces.into_iter().rev().flatten().copied().collect()
    }
}

/// What a search has taken, and may take.
#[derive(Debug, Default)]
struct Meter {
    steps: u64,
    bytes_max: usize,
    /// The steps and the bytes at which the budget is used up.
    steps_end: u64,
    bytes_end: usize,
    /// The steps at which the turn ends.
    turn_end: u64,
}

/// No reason is known.
const UNKNOWN: u32 = u32::MAX;

impl<'p, 'h, S: Specification> Search<'p, 'h, S> {
    pub(crate) fn new(problem: &'p Problem<'h, S>, initial: &S, tactics: Tactics) -> Self {
        Self {
            problem,
            tactics,
            is_chained: problem.items.iter().any(|item| !item.after.is_empty()),
            states: States::new(),
            configurations: Configurations::new(1 + problem.firm, problem.spare),
            reasons: Vec::new(),
            frames: Vec::new(),
            queue: VecDeque::new(),
            trails: Vec::new(),
            longest: Longest::default(),
            kept_demand: None,
            dead_ends: Vec::new(),
            dead_ends_count: 0,
            meter: Meter::default(),
            scratch: initial.clone(),
            reader: (initial.clone(), None),
            script: Script::default(),
            parent: Vec::new(),
            ranked: (None, Vec::new()),
            child: vec![0; 1 + problem.firm + problem.spare],
            ahead: Vec::new(),
            order: Vec::new(),
            is_useless: false,
        }
    }

    /// Keeps the dead ends at the demand of the call that is at a place of the history.
    pub(crate) fn keep_dead_ends_at(&mut self, place: usize) {
        self.kept_demand = self.problem.item_at(place).map(|item| item.until);
    }

    /// Searches from an initial state, or goes on, for some steps. `others` is what other searches have taken of the
    /// same budget.
    pub(crate) fn run(&mut self, initial: &S, steps: u64, budget: &Budget<'_>, others: Explored) -> Option<Found> {
        self.meter.turn_end = self.meter.steps.saturating_add(steps);
        self.meter.steps_end = budget.steps.map_or(u64::MAX, |limit| limit.saturating_sub(others.steps));
        let others_bytes = usize::try_from(others.bytes).unwrap_or(usize::MAX);
        self.meter.bytes_end = budget.bytes.map_or(usize::MAX, |limit| limit.saturating_sub(others_bytes));
        self.search(initial, budget).unwrap_or_else(|limit| Some(Found::Stopped(limit)))
    }

    pub(crate) fn explored(&self) -> Explored {
        Explored {
            steps: self.meter.steps,
            states: self.states.len() as u64,
            configurations: self.configurations.len() as u64,
            bytes: self.meter.bytes_max as u64,
        }
    }

    fn search(&mut self, initial: &S, budget: &Budget<'_>) -> Result<Option<Found>, Limit> {
        let is_stopped = || budget.stop.is_some_and(|stop| stop());
        if is_stopped() {
            return Err(Limit::Stopped);
        }
        if self.configurations.len() == 0 && self.begin(initial)? {
            return Ok(Some(self.found()));
        }
        /// How many expansions there are between two questions whether to stop.
        const EXPANSIONS_BETWEEN: u32 = 256;
        let mut expansions = 0_u32;
        while self.meter.steps < self.meter.turn_end {
            expansions = expansions.wrapping_add(1);
            if expansions.is_multiple_of(EXPANSIONS_BETWEEN) && is_stopped() {
                return Err(Limit::Stopped);
            }
            let found = if self.tactics.breadth_first { self.expand_first()? } else { self.expand_last()? };
            if found.is_some() {
                return Ok(found);
            }
        }
        Ok(None)
    }

    /// Makes the first configuration, and returns whether nothing is left to do.
    fn begin(&mut self, initial: &S) -> Result<bool, Limit> {
        self.child[0] = head(0, self.states.number(initial, S::heap_bytes));
        expose(self.problem, &mut self.child, 0);
        if self.settle()? {
            return Ok(true);
        }
        if let Ok(root) = self.keep()? {
            self.longest.demand = demand(self.configurations.get(root));
            self.longest.configuration = root;
            self.longest.shared = self.order.len();
            self.push(root);
        }
        Ok(false)
    }

    /// Returns the calls that were placed, all of them.
    fn found(&self) -> Found {
        Found::Order(self.shown(&self.order))
    }

    /// Returns an order of calls in which those that were hidden come just before the call that hides them.
    fn shown(&self, order: &[u32]) -> Vec<u32> {
        let mut hidden: Vec<Vec<u32>> = vec![Vec::new(); self.problem.growth.len()];
        let mut shown = Vec::with_capacity(order.len());
        for &number in order.iter().rev() {
            let item = &self.problem.items[(number & !HIDDEN) as usize];
            let hidden = &mut hidden[item.part as usize];
            if number & HIDDEN != 0 {
                hidden.push(number & !HIDDEN);
            } else {
                shown.push(number);
                if item.overwriting != Overwriting::No {
                    shown.append(hidden);
                }
            }
        }
        shown.reverse();
        shown
    }

    /// Goes on with a configuration later.
    fn push(&mut self, configuration: u32) {
        if self.tactics.breadth_first {
            self.queue.push_back(configuration);
        } else {
            let placed = self.order.len();
            self.frames.push(Frame { configuration, cursor: 0, has_hidden: false, kinds: 0, script: None, placed });
        }
    }

    /// Makes one more child of the configuration that was reached last.
    fn expand_last(&mut self) -> Result<Option<Found>, Limit> {
        let Some(mut frame) = self.frames.pop() else { return Ok(Some(self.nowhere())) };
        self.longest.part(&self.order, frame.placed);
        self.order.truncate(frame.placed);
        let demanded = demand(self.configurations.get(frame.configuration));
        if self.next_child(&mut frame)? {
            self.frames.push(frame);
            if self.settle()? {
                return Ok(Some(self.found()));
            }
            if self.is_useless()? {
                return Ok(None);
            }
            match self.keep()? {
                Ok(child) => self.push(child),
                Err(known) => match self.reasons[known as usize] {
                    // It is on the path, with fewer calls placed.
                    UNKNOWN => {}
                    reason if reason == self.part_of(demanded) => {}
                    // Another part of the problem has no explanation after what was placed of it, so it does not matter
                    // what is tried of this one.
                    reason => self.jump(reason),
                },
            }
        } else {
            self.note_dead_end(demanded, frame.configuration);
            let reason = self.part_of(demanded);
            self.reasons[frame.configuration as usize] = reason;
            self.jump(reason);
        }
        Ok(None)
    }

    fn note_dead_end(&mut self, demanded: u32, configuration: u32) {
        if self.kept_demand == Some(demanded) {
            self.dead_ends_count += 1;
            if self.dead_ends.len() < DEAD_ENDS_MAX {
                let state = state(self.configurations.get(configuration));
                let order = self.shown(&self.order);
                self.dead_ends.push(DeadEnd { state, order });
            }
        }
        if (demanded, self.order.len()) > (self.longest.demand, self.longest.len()) {
            self.longest = Longest { demand: demanded, configuration, shared: self.order.len(), others: Vec::new() };
        }
    }

    /// Returns the explanations that nothing can be added to, each with its state, and how many there are in all.
    pub(crate) fn dead_ends(&self) -> (impl Iterator<Item = (&S, &DeadEnd)>, u64) {
        let ends = self.dead_ends.iter().map(|end| (self.states.get(end.state), end));
        (ends, self.dead_ends_count)
    }

    /// Returns the part that is to blame if a demand cannot be met. Without reductions calls of all parts are tried.
    fn part_of(&self, demanded: u32) -> u32 {
        if self.tactics.is_reduced { self.problem.part_of(demanded) } else { 0 }
    }

    /// Goes back to where a call of a part was placed last.
    fn jump(&mut self, reason: u32) {
        while let Some(frame) = self.frames.last() {
            if self.part_of(demand(self.configurations.get(frame.configuration))) == reason {
                break;
            }
            self.reasons[frame.configuration as usize] = reason;
            self.frames.pop();
        }
    }

    fn nowhere(&mut self) -> Found {
        let longest = std::mem::take(&mut self.longest);
        let stuck = self.problem.demands[longest.demand as usize];
        let order = if self.tactics.breadth_first {
            Trail::to(&self.trails, longest.configuration)
        } else {
            longest.order(&self.order)
        };
        Found::Nowhere { longest: self.shown(&order), stuck }
    }

    /// Makes all children of the configuration that was reached first.
    fn expand_first(&mut self) -> Result<Option<Found>, Limit> {
        let Some(configuration) = self.queue.pop_front() else { return Ok(Some(self.nowhere())) };
        let demanded = demand(self.configurations.get(configuration));
        if demanded >= self.longest.demand {
            (self.longest.demand, self.longest.configuration) = (demanded, configuration);
        }
        let mut frame = Frame { configuration, cursor: 0, has_hidden: false, kinds: 0, script: None, placed: 0 };
        self.order.clear();
        while self.next_child(&mut frame)? {
            if self.settle()? {
                let mut order = Trail::to(&self.trails, configuration);
                order.append(&mut self.order);
                return Ok(Some(Found::Order(self.shown(&order))));
            }
            if !self.is_useless()?
                && let Ok(child) = self.keep()?
            {
                self.trails[child as usize].before = Some(configuration);
                self.push(child);
            }
            self.order.clear();
        }
        Ok(None)
    }

    /// Keeps the child, and returns its number.
    ///
    /// # Errors
    /// The number of a configuration that is known and as good.
    fn keep(&mut self) -> Result<Result<u32, u32>, Limit> {
        let kept = self.configurations.insert(&self.child);
        if kept.is_ok() {
            if self.tactics.breadth_first {
                self.trails.push(Trail { before: None, calls: self.order.clone() });
            } else {
                self.reasons.push(UNKNOWN);
            }
        }
        Ok(kept)
    }

    /// Makes sure that there is room for one more state and one more configuration. What grows is twice in memory for a
    /// moment.
    fn make_room(&mut self) -> Result<(), Limit> {
        /// What a short list takes on the heap.
        const LIST: usize = 32;
        let trails = self.trails.capacity() * size_of::<Trail>() + self.trails.len() * LIST;
        let path = self.frames.capacity() * size_of::<Frame>()
            + 4 * (self.reasons.capacity() + self.order.capacity() + self.longest.others.capacity());
        let ends: usize = self.dead_ends.iter().map(|end| size_of::<DeadEnd>() + 4 * end.order.capacity()).sum();
        let kept = self.states.bytes() + self.configurations.bytes() + self.problem.bytes;
        let queue = self.queue.capacity() * size_of::<u32>();
        let bytes = kept + trails + path + ends + queue;
        self.meter.bytes_max = self.meter.bytes_max.max(bytes);
        let growth = self.states.growth()
            + self.configurations.growth()
            + grown(&self.trails)
            + grown(&self.frames)
            + grown(&self.reasons);
        if bytes + growth > self.meter.bytes_end { Err(Limit::Bytes) } else { Ok(()) }
    }

    /// Makes the next child of a frame, and returns whether there is one.
    fn next_child(&mut self, frame: &mut Frame) -> Result<bool, Limit> {
        self.parent.clear();
        self.parent.extend_from_slice(self.configurations.get(frame.configuration));
        let demanded = demand(&self.parent);
        while let Some(item) = self.candidate(frame.configuration, frame.cursor, demanded) {
            if self.problem.demands[demanded as usize] == item
                && !frame.has_hidden
                && self.is_hidden(&self.parent, item)
            {
                frame.has_hidden = true;
                self.count()?;
                self.make_room()?;
                self.child.copy_from_slice(&self.parent);
                set(&mut self.child, self.problem.items[item as usize].slot);
                self.order.push(item | HIDDEN);
                self.is_useless = false;
                return Ok(true);
            }
            let script = frame.script.take();
            if script.is_none() && !(self.may_place(item, demanded) && self.is_first_of_kind(item, &mut frame.kinds)) {
                frame.cursor += 1;
                continue;
            }
            self.script = script.unwrap_or_default();
            let agrees = self.step(item)?;
            if self.script.advance() {
                frame.script = Some(std::mem::take(&mut self.script));
            } else {
                frame.cursor += 1;
            }
            if agrees && !self.is_hopeless(item, demanded) {
                self.make_room()?;
                let state = self.states.number(&self.scratch, S::heap_bytes);
                self.child.copy_from_slice(&self.parent);
                self.child[0] = head(demanded, state);
                set(&mut self.child, self.problem.items[item as usize].slot);
                self.hide(item, demanded);
                self.order.push(item);
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the candidate at a place of the order in which candidates are tried.
    fn candidate(&mut self, configuration: u32, cursor: usize, demanded: u32) -> Option<u32> {
        let problem = self.problem;
        let live = problem.live(demanded);
        if self.tactics.candidates == Candidates::End && !problem.has_optional {
            return live
                .get(cursor)
                .copied()
                .or_else(|| Some(self.first_of(problem.classes.get(cursor - live.len())?, demanded)));
        }
        if self.ranked.0 != Some(configuration) {
            let mut ranked: Vec<u32> = live.to_vec();
            ranked.extend(problem.classes.iter().map(|class| self.first_of(class, demanded)));
            let items = &problem.items;
            // What they are sorted by, and then by.
            let key = |(place, item): (u32, u32)| match self.tactics.candidates {
                Candidates::Session => (items[item as usize].session.0, item, item),
                Candidates::Invocation => (0, item, item),
                Candidates::End => (items[item as usize].ended.into(), place, item),
            };
            let mut keyed: Vec<(u64, u32, u32)> = (0..).zip(ranked).map(key).collect();
            keyed.sort_unstable();
            let ranked = keyed.into_iter().map(|(.., item)| item).collect();
            self.ranked = (Some(configuration), ranked);
        }
        self.ranked.1.get(cursor).copied()
    }

    /// Returns the call of a class that stands for it: the first one that is not placed.
    fn first_of(&self, class: &[u32], demanded: u32) -> u32 {
        let is_open = |&&item: &&u32| !self.is_placed(&self.parent, item, demanded);
        class.iter().find(is_open).copied().unwrap_or(class[0])
    }

    fn is_placed(&self, configuration: &[u64], item: u32, demanded: u32) -> bool {
        let item = &self.problem.items[item as usize];
        item.until < demanded || (item.from <= demanded && is_set(configuration, item.slot))
    }

    /// Returns whether a call may be placed next in the parent.
    fn may_place(&self, number: u32, demanded: u32) -> bool {
        let item = &self.problem.items[number as usize];
        // A read that could be placed has been.
        let is_settled = self.tactics.is_reduced && item.is_free;
        // What shares nothing with the demanded call can as well be placed after it.
        let is_apart = self.tactics.is_reduced && item.part != self.part_of(demanded);
        !is_settled && !is_apart && self.is_next(&self.parent, number, demanded)
    }

    fn is_next(&self, configuration: &[u64], number: u32, demanded: u32) -> bool {
        let item = &self.problem.items[number as usize];
        item.from <= demanded
            && !is_set(configuration, item.slot)
            && item.after.iter().all(|&other| self.is_placed(configuration, other, demanded))
            && !item.before.iter().any(|&other| self.is_placed(configuration, other, demanded))
    }

    /// Returns whether the state after a call is out of reach of what the next read observed: nothing can come before
    /// that but operations that only add to the state, and these do not lead there.
    fn is_hopeless(&self, placed: u32, demanded: u32) -> bool {
        let items = &self.problem.items;
        let growth = &self.problem.growth[items[placed as usize].part as usize];
        if !self.tactics.foresees || growth.reads.is_empty() {
            return false;
        }
        let is_open = |number: u32| number != placed && !self.is_placed(&self.parent, number, demanded);
        let first = growth.reads.partition_point(|&read| items[read as usize].until < demanded);
        let Some(read) = growth.reads[first..].iter().copied().find(|&read| is_open(read)) else { return false };
        let read = &items[read as usize];
        let is_over = |&(number, _): &(u32, u32)| items[number as usize].until < demanded;
        let abrupt = &growth.abrupt[growth.abrupt.partition_point(is_over)..];
        let may_come_first = |&number: &u32| items[number as usize].from <= read.until && is_open(number);
        !abrupt.iter().take_while(|(_, from)| *from <= read.until).any(|(number, _)| may_come_first(number))
            && read.response.is_some_and(|observed| !self.scratch.may_grow_into(read.operation, observed))
    }

    /// Takes a step from the parent's state, and returns whether the answer agrees. The scratch has the state after it.
    fn step(&mut self, number: u32) -> Result<bool, Limit> {
        self.count()?;
        let item = &self.problem.items[number as usize];
        self.scratch.clone_from(self.states.get(state(&self.parent)));
        let mut open = Open::enumerated(&mut self.script);
        let expected = self.scratch.step(item.session, item.operation, &mut open);
        Ok(item.response.is_none_or(|observed| self.scratch.agrees(item.operation, &expected, observed, &mut open)))
    }

    /// Returns whether a candidate overwrites what is there, and is the first that does so in its way: the first to end.
    /// Those that do not are each the first of its kind.
    fn is_first_of_kind(&self, number: u32, kinds: &mut u64) -> bool {
        match self.problem.items[number as usize].overwriting.kind() {
            Some(kind) if self.tactics.hides && kind != OTHER_KIND => {
                let is_first = *kinds >> kind & 1 == 0;
                *kinds |= 1 << kind;
                is_first
            }
            _ => true,
        }
    }

    /// Returns whether a call that is under way can have come just before the last one that overwrites the same regions.
    fn is_hidden(&self, configuration: &[u64], number: u32) -> bool {
        let item = &self.problem.items[number as usize];
        let is_open = |exposed| !is_set(configuration, item.slot) && !is_set(configuration, exposed);
        self.tactics.hides && item.overwriting.exposed().is_some_and(is_open)
    }

    /// Hides the calls of a child that the call which was placed last overwrites.
    fn hide(&mut self, placed: u32, demanded: u32) {
        let items = &self.problem.items;
        let item = &items[placed as usize];
        let is_overwriting = self.tactics.hides && item.overwriting != Overwriting::No;
        // What is demanded and not hidden must be placed, even if another one follows.
        self.is_useless = is_overwriting && (item.until != demanded || self.is_hidden(&self.parent, placed));
        if let Some(exposed) = item.overwriting.exposed() {
            clear(&mut self.child, exposed);
        }
        if is_overwriting {
            for &other in self.problem.live(demanded) {
                let other = &items[other as usize];
                if let Some(exposed) = other.overwriting.exposed().filter(|_| other.part == item.part) {
                    clear(&mut self.child, exposed);
                }
            }
        }
    }

    /// Returns whether the child was made by an overwriting call that can as well be hidden by a later one: it was not
    /// demanded, and nothing but hidden calls can follow it before another overwriting call does.
    fn is_useless(&mut self) -> Result<bool, Limit> {
        if !std::mem::take(&mut self.is_useless) {
            return Ok(false);
        }
        let problem = self.problem;
        let first = demand(&self.child);
        let part = self.part_of(demand(&self.parent));
        let mut ahead = std::mem::take(&mut self.ahead);
        ahead.clone_from(&self.child);
        let mut is_useless = true;
        for demanded in (first..).take(problem.demands.len() - first as usize) {
            if demanded > first {
                expose(problem, &mut ahead, demanded);
            }
            // Those whose answers are not known follow everything.
            let doubtful = problem.classes.iter().flatten();
            for &number in doubtful.chain(problem.live(demanded)) {
                let item = &problem.items[number as usize];
                // What could follow before was looked at, and a read that agrees has been placed.
                let is_new = item.from == demanded || (demanded == first && !item.is_free);
                let is_candidate = is_new && item.overwriting == Overwriting::No && item.part == part;
                if is_candidate && self.is_next(&ahead, number, demanded) && self.may_follow(number)? {
                    is_useless = false;
                    break;
                }
            }
            let number = problem.demands[demanded as usize];
            let item = &problem.items[number as usize];
            if !(self.is_hidden(&ahead, number) || is_set(&ahead, item.slot)) {
                // What comes after a call of another part may be another call of this one.
                is_useless &= item.part == part;
                break;
            }
            if !is_useless {
                break;
            }
            clear(&mut ahead, item.slot);
        }
        self.ahead = ahead;
        Ok(is_useless)
    }

    /// Returns whether a call can follow the child.
    fn may_follow(&mut self, number: u32) -> Result<bool, Limit> {
        let item = &self.problem.items[number as usize];
        let Some(observed) = item.response else { return Ok(true) };
        let mut script = Script::default();
        loop {
            self.count()?;
            self.scratch.clone_from(self.states.get(state(&self.child)));
            let mut open = Open::enumerated(&mut script);
            let expected = self.scratch.step(item.session, item.operation, &mut open);
            if self.scratch.agrees(item.operation, &expected, observed, &mut open) {
                return Ok(true);
            }
            if !script.advance() {
                return Ok(false);
            }
        }
    }

    /// Takes off the child what has been demanded and placed, places the reads that agree, and returns whether nothing
    /// is left to be demanded.
    fn settle(&mut self) -> Result<bool, Limit> {
        let problem = self.problem;
        let mut demanded = demand(&self.child);
        loop {
            while let Some(&number) = problem.demands.get(demanded as usize) {
                let item = &problem.items[number as usize];
                if is_set(&self.child, item.slot) {
                    clear(&mut self.child, item.slot);
                } else {
                    break;
                }
                demanded += 1;
                expose(problem, &mut self.child, demanded);
            }
            self.child[0] = head(demanded, state(&self.child));
            if demanded as usize == problem.demands.len() {
                return Ok(true);
            }
            if !self.tactics.is_reduced || !self.place_reads(demanded)? {
                return Ok(false);
            }
        }
    }

    /// Places the reads that agree with the child's state, and returns whether to look again.
    fn place_reads(&mut self, demanded: u32) -> Result<bool, Limit> {
        let mut again = false;
        for &number in self.problem.live(demanded) {
            let item = &self.problem.items[number as usize];
            if !item.is_free || !self.is_next(&self.child, number, demanded) || !self.read(number)? {
                continue;
            }
            set(&mut self.child, item.slot);
            self.order.push(number);
            self.is_useless = false;
            again |= self.is_chained || item.until == demanded;
        }
        Ok(again)
    }

    /// Returns whether a read agrees with the child's state.
    fn read(&mut self, number: u32) -> Result<bool, Limit> {
        let state = state(&self.child);
        let item = &self.problem.items[number as usize];
        let Some(observed) = item.response else { return Ok(true) };
        self.script.clear();
        loop {
            self.count()?;
            if self.reader.1.replace(state) != Some(state) {
                self.reader.0.clone_from(self.states.get(state));
            }
            let mut open = Open::enumerated(&mut self.script);
            let reader = &mut self.reader.0;
            let expected = reader.step(item.session, item.operation, &mut open);
            if reader.agrees(item.operation, &expected, observed, &mut open) {
                debug_assert!(*reader == *self.states.get(state), "an operation that writes nothing changed a state");
                return Ok(true);
            }
            // What answers otherwise may have changed the state.
            self.reader.1 = None;
            if !self.script.advance() {
                return Ok(false);
            }
        }
    }

    fn count(&mut self) -> Result<(), Limit> {
        if self.meter.steps >= self.meter.steps_end {
            return Err(Limit::Steps);
        }
        self.meter.steps += 1;
        Ok(())
    }
}

/// Notes the calls that may be placed from a demand on: nothing that hides them was placed yet.
fn expose<S: Specification>(problem: &Problem<'_, S>, configuration: &mut [u64], demanded: u32) {
    if demanded as usize == problem.demands.len() {
        return;
    }
    for &item in problem.live(demanded) {
        let item = &problem.items[item as usize];
        if let Some(exposed) = item.overwriting.exposed().filter(|_| item.from == demanded) {
            set(configuration, exposed);
        }
    }
}

/// The first word of a configuration: the demand, and the number of the state.
const fn head(demanded: u32, state: u32) -> u64 {
    (demanded as u64) << 32 | state as u64
}

const fn demand(configuration: &[u64]) -> u32 {
    (configuration[0] >> 32) as u32
}

const fn state(configuration: &[u64]) -> u32 {
    (configuration[0] & u32::MAX as u64) as u32
}

const fn is_set(configuration: &[u64], slot: u32) -> bool {
    configuration[slot as usize / 64 + 1] >> (slot % 64) & 1 == 1
}

const fn set(configuration: &mut [u64], slot: u32) {
    configuration[slot as usize / 64 + 1] |= 1 << (slot % 64);
}

const fn clear(configuration: &mut [u64], slot: u32) {
    configuration[slot as usize / 64 + 1] &= !(1 << (slot % 64));
}
