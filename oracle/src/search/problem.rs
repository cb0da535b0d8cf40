//! What a search is about: the calls of a history, and which of them may be placed when.
//!
//! The calls that must be placed are sorted by their ends. A search is at the first of them that is not placed yet, its
//! *demand*. A call may be placed from the demand on by which all calls have been placed that ended before it was
//! invoked, and no later than it is demanded itself. So the order of real time is two numbers a call, and what is
//! placed by now is a bit for each of the calls that are under way.

use super::parts::parts;
use crate::history::end_key;
use crate::{Call, End, Footprint, Mode, Order, Regions, Session, Specification};

/// The demand of a call that need not be placed.
pub(crate) const NEVER: u32 = u32::MAX;

/// Calls, and what orders them.
pub(crate) struct Problem<'h, S: Specification> {
    pub(crate) items: Vec<Item<'h, S>>,
    /// The calls that must be placed, in the order of their ends.
    pub(crate) demands: Vec<u32>,
    /// Calls that need not be placed, those of a class being as good as each other: the first that is not placed yet
    /// stands for all.
    pub(crate) classes: Vec<Vec<u32>>,
    /// Whether one of those calls is known to have ended.
    pub(crate) has_optional: bool,
    /// How many words of bits say what is placed of the calls that others may wait for.
    pub(crate) firm: usize,
    /// How many words, after those, say what is placed of the calls that nothing waits for.
    pub(crate) spare: usize,
    /// What can say early that a read is out of reach, by part.
    pub(crate) growth: Vec<Growth>,
    /// How many bytes all of this takes.
    pub(crate) bytes: usize,
    live: Vec<u32>,
    /// Where in `live` the calls of a demand are.
    live_at: Vec<(u32, u32)>,
}

/// A call that a search may place.
pub(crate) struct Item<'h, S: Specification> {
    /// Its place in the history.
    pub(crate) place: usize,
    pub(crate) session: Session,
    pub(crate) operation: &'h S::Operation,
    /// What a step has to agree with; `None` if with nothing.
    pub(crate) response: Option<&'h S::Response>,
    /// Whether it changes no state, and forbids nothing once it is placed: then it may be placed as soon as it can be.
    pub(crate) is_free: bool,
    /// The first demand at which it may be placed.
    pub(crate) from: u32,
    /// The demand that it is, or [`NEVER`].
    pub(crate) until: u32,
    /// How many calls ended before it, or [`NEVER`].
    pub(crate) ended: u32,
    /// Which bit says that it is placed, as long as it is under way.
    pub(crate) slot: u32,
    /// What it is to other calls that overwrite the same regions.
    pub(crate) overwriting: Overwriting,
    /// Which part of the problem it is of: calls of other parts share no region of the state with it, and are not
    /// ordered by anything but time.
    pub(crate) part: u32,
    /// Whether it changes something, and not only by adding to it.
    pub(crate) is_abrupt: bool,
    /// What must have been placed before.
    pub(crate) after: Vec<u32>,
    /// What must not have been placed before.
    pub(crate) before: Vec<u32>,
}

/// Whether a call overwrites what other calls wrote, and can be overwritten unseen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overwriting {
    /// It does not.
    No,
    /// It does, and nothing waits for it. Calls of one kind do the same.
    Doubtful { kind: u32 },
    /// It does, and it is demanded. A bit says, as long as the call is under way, that it is *exposed*: no other one
    /// was placed since it was invoked, so that it cannot be placed unseen.
    Demanded { kind: u32, exposed: u32 },
}

impl Overwriting {
    /// Returns the kind of a call that overwrites.
    pub(crate) const fn kind(self) -> Option<u32> {
        match self {
            Self::No => None,
            Self::Doubtful { kind } | Self::Demanded { kind, .. } => Some(kind),
        }
    }

    /// Returns the bit that says that the call is exposed.
    pub(crate) const fn exposed(self) -> Option<u32> {
        match self {
            Self::No | Self::Doubtful { .. } => None,
            Self::Demanded { exposed, .. } => Some(exposed),
        }
    }
}

/// The kind of the calls that are compared with no other ones.
pub(crate) const OTHER_KIND: u32 = KINDS_MAX;

/// How many classes a call of unknown end is compared with.
const CLASSES_COMPARED: usize = 256;

/// How many kinds of overwriting calls are told apart: a bit of a word each.
const KINDS_MAX: u32 = 64;

/// The reads of a part that has operations which only add to the state, and its other changes.
///
/// A part without reads, or without such operations, has neither.
#[derive(Debug, Default)]
pub(crate) struct Growth {
    /// Calls that are demanded and change nothing, in the order of their ends.
    pub(crate) reads: Vec<u32>,
    /// Calls that change more than they add, in the order of their ends, each with the least first demand of it and of
    /// those after it.
    pub(crate) abrupt: Vec<(u32, u32)>,
}

/// What a search has to do with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Role {
    /// It must be placed.
    Demanded { is_compared: bool },
    /// It may be placed. If it returned, nothing that it precedes may be placed without it.
    Optional { is_compared: bool },
    /// It may be placed, and nothing waits for it: its end is unknown, or is not looked at.
    Doubtful,
    /// It has no effect.
    Absent,
}

impl Role {
    /// Returns the role of a call where all that clients observed is explained at once.
    pub(crate) const fn of<R>(end: &End<R>) -> Self {
        match end {
            End::Returned { .. } => Self::Demanded { is_compared: true },
            End::Unknown => Self::Doubtful,
            End::DidNotHappen { .. } => Self::Absent,
        }
    }

    /// Returns whether the answer has to agree.
    pub(crate) const fn is_compared(self) -> bool {
        matches!(self, Self::Demanded { is_compared: true } | Self::Optional { is_compared: true })
    }
}

/// The role of each call at its place. It is no part of what takes it, which is compiled for each specification once.
pub(crate) type RoleOf<'r, S> =
    dyn Fn(usize, &Call<<S as Specification>::Operation, <S as Specification>::Response>) -> Role + 'r;

/// A call of a history, with its place there.
pub(crate) type Placed<'h, O, R> = (usize, &'h Call<O, R>);

impl<'h, S: Specification> Problem<'h, S> {
    /// Returns the problem of some calls of a history, which are in the order of invocation, or `None` if it takes more
    /// than `limit` bytes.
    pub(crate) fn new(
        calls: &[Placed<'h, S::Operation, S::Response>],
        order: &Order,
        reductions: bool,
        limit: usize,
        role: &RoleOf<'_, S>,
    ) -> Option<Self> {
        let mut builder = Builder { calls: Vec::new(), happened: Vec::new(), items: Vec::new(), order };
        for &(place, call) in calls {
            builder.add(place, call, role(place, call));
        }
        let demands = builder.demand();
        builder.order_by_time(&demands);
        builder.order_by_chains();
        builder.order_by_pairs(calls);
        builder.part();
        let classes = builder.classes(reductions);
        let mut items = builder.items;
        for doubtful in 0..items.len() {
            // What may not have happened cannot happen after these.
            for place in 0..items[doubtful].before.len() {
                let other = items[doubtful].before[place];
                items[other as usize].is_free = false;
            }
        }
        let is_spare: Vec<bool> =
            items.iter().zip(&builder.happened).map(|(item, happened)| item.until == NEVER && !happened).collect();
        if reductions {
            overwrite(&mut items, &is_spare);
        }
        let (firm, spare) = allot(&mut items, &demands, &is_spare);
        let growth = growth(&items, &demands);
        let (live, live_at) = live(&items, &demands, limit)?;
        let has_optional = items.iter().any(|item| item.until == NEVER && item.ended != NEVER);
        let mut problem = Self { items, demands, classes, has_optional, firm, spare, growth, bytes: 0, live, live_at };
        problem.bytes = problem.count_bytes();
        (problem.bytes <= limit).then_some(problem)
    }

    /// Returns the place of a call in the history.
    pub(crate) fn place(&self, item: u32) -> usize {
        self.items[item as usize].place
    }

    /// Returns the places of calls in the history.
    pub(crate) fn places(&self, items: &[u32]) -> Vec<usize> {
        items.iter().map(|&item| self.place(item)).collect()
    }

    /// Returns the part that a demand is of.
    pub(crate) fn part_of(&self, demand: u32) -> u32 {
        self.items[self.demands[demand as usize] as usize].part
    }

    /// Returns the calls that must be placed and may be placed now, in the order of their ends.
    pub(crate) fn live(&self, demand: u32) -> &[u32] {
        let (start, end) = self.live_at[demand as usize];
        &self.live[start as usize..end as usize]
    }

    /// Returns the number of the call at a place in the history, if it is part of the problem.
    pub(crate) fn item_at(&self, place: usize) -> Option<&Item<'h, S>> {
        let number = self.items.binary_search_by_key(&place, |item| item.place).ok()?;
        self.items.get(number)
    }

    fn count_bytes(&self) -> usize {
        let edges: usize = self.items.iter().map(|item| item.after.capacity() + item.before.capacity()).sum();
        size_of_val(self.items.as_slice())
            + 4 * (edges + self.demands.len() + self.live.capacity())
            + 8 * self.live_at.capacity()
            + self.classes.iter().map(|class| size_of_val(class) + 4 * class.capacity()).sum::<usize>()
            + self.growth.iter().map(|growth| 4 * growth.reads.capacity() + 8 * growth.abrupt.capacity()).sum::<usize>()
    }
}

struct Builder<'h, 'o, S: Specification> {
    calls: Vec<&'h Call<S::Operation, S::Response>>,
    /// Which calls are known to have happened, so that nothing that they precede can be placed without them.
    happened: Vec<bool>,
    items: Vec<Item<'h, S>>,
    order: &'o Order,
}

impl<'h, S: Specification> Builder<'h, '_, S> {
    fn add(&mut self, place: usize, call: &'h Call<S::Operation, S::Response>, role: Role) {
        let (is_compared, until) = match role {
            Role::Demanded { is_compared } => (is_compared, 0),
            Role::Optional { is_compared } => (is_compared, NEVER),
            Role::Doubtful => (false, NEVER),
            Role::Absent => return,
        };
        let response = call.end.response().filter(|_| is_compared);
        let footprint: Footprint = S::footprint(&call.operation, response);
        // Nobody looks at the answer, and it changes nothing. Where it happened, it may be what puts one call before
        // another one.
        let puts_none = role == Role::Doubtful || self.order.is_transitive();
        if footprint.is_read() && response.is_none() && puts_none {
            return;
        }
        self.items.push(Item {
            place,
            session: call.session,
            operation: &call.operation,
            response,
            is_free: footprint.is_read() && until != NEVER,
            from: 0,
            until,
            ended: NEVER,
            slot: 0,
            overwriting: Overwriting::No,
            part: 0,
            is_abrupt: !footprint.is_read() && !S::grows(&call.operation),
            after: Vec::new(),
            before: Vec::new(),
        });
        self.calls.push(call);
        self.happened.push(role != Role::Doubtful);
    }

    /// Numbers the demands.
    fn demand(&mut self) -> Vec<u32> {
        let mut ended: Vec<u32> = (0..).take(self.items.len()).filter(|&item| self.happened(item)).collect();
        // Of ends of one time, those whose place among the events is not known come last: what one of them precedes,
        // all that are demanded before it precede, too.
        let keys: Vec<_> = self.calls.iter().map(|call| call.end.at().map(end_key)).collect();
        sort_by(&mut ended, &keys);
        for (rank, &item) in (0..).zip(&ended) {
            self.items[item as usize].ended = rank;
        }
        let demands: Vec<u32> = ended.into_iter().filter(|&item| self.is_demanded(item)).collect();
        for (demand, &item) in (0..).zip(&demands) {
            self.items[item as usize].until = demand;
        }
        demands
    }

    fn is_demanded(&self, item: u32) -> bool {
        self.items[item as usize].until != NEVER
    }

    fn happened(&self, item: u32) -> bool {
        self.happened[item as usize]
    }

    fn order_by_time(&mut self, demands: &[u32]) {
        if !self.order.real_time {
            return;
        }
        for (item, call) in self.items.iter_mut().zip(&self.calls) {
            let precedes = |&demand: &u32| self.calls[demand as usize].precedes(call);
            item.from = u32::try_from(demands.partition_point(precedes)).unwrap_or(NEVER);
        }
        let ended: Vec<u32> =
            (0..).take(self.items.len()).filter(|&item| !self.is_demanded(item) && self.happened(item)).collect();
        for (item, call) in self.items.iter_mut().zip(&self.calls) {
            item.after.extend(ended.iter().filter(|&&ended| self.calls[ended as usize].precedes(call)));
        }
    }

    fn order_by_chains(&mut self) {
        if self.order.sessions {
            let mut by_session: Vec<(Session, u32)> =
                (0..).zip(&self.items).map(|(number, item)| (item.session, number)).collect();
            by_session.sort_unstable();
            for session in by_session.chunk_by(|one, other| one.0 == other.0) {
                self.chain(&mut session.iter().map(|&(_, item)| item));
            }
        }
        if self.order.synchronous {
            let synchronous: Vec<u32> = (0..)
                .zip(&self.calls)
                .filter(|(_, call)| call.mode == Mode::Synchronous)
                .map(|(item, _)| item)
                .collect();
            self.chain(&mut synchronous.into_iter());
        }
    }

    /// Puts calls in a row. A call that may not have happened is no reason for others to wait; it cannot happen after
    /// them.
    fn chain(&mut self, items: &mut dyn Iterator<Item = u32>) {
        let mut happened = None;
        let mut doubtful: Vec<u32> = Vec::new();
        for item in items {
            self.items[item as usize].after.extend(happened);
            for &other in &doubtful {
                self.items[other as usize].before.push(item);
            }
            if self.happened(item) {
                happened = Some(item);
                doubtful.clear();
            } else {
                doubtful.push(item);
            }
        }
    }

    /// `calls` are all calls, those without a part in the search among them.
    fn order_by_pairs(&mut self, calls: &[Placed<'h, S::Operation, S::Response>]) {
        let happened: Vec<usize> = self
            .items
            .iter()
            .zip(&self.happened)
            .filter(|(_, happened)| **happened)
            .map(|(item, _)| item.place)
            .collect();
        let is_doubtful = |place: &usize| happened.binary_search(place).is_err();
        let Order { pairs, .. } =
            self.order.closed_over(&mut calls.iter().map(|&(place, _)| place).filter(is_doubtful));
        let number = |items: &[Item<'_, S>], place: usize| {
            items.binary_search_by_key(&place, |item| item.place).ok().and_then(|item| u32::try_from(item).ok())
        };
        for (one, other) in pairs {
            let Some((one, other)) = number(&self.items, one).zip(number(&self.items, other)) else { continue };
            if self.happened(one) {
                self.items[other as usize].after.push(one);
            } else {
                self.items[one as usize].before.push(other);
            }
        }
        if self.order.revisions {
            self.order_by_revisions();
        }
    }

    fn order_by_revisions(&mut self) {
        let mut revisions: Vec<_> = (0..)
            .zip(&self.calls)
            .filter(|&(item, _)| self.happened(item))
            .filter_map(|(item, call)| Some((call.revision?, item)))
            .collect();
        revisions.sort_unstable();
        let groups: Vec<&[_]> = revisions.chunk_by(|one, other| one.0 == other.0).collect();
        for pair in groups.windows(2) {
            for &(_, item) in pair[1] {
                self.items[item as usize].after.extend(pair[0].iter().map(|&(_, before)| before));
            }
        }
    }

    fn part(&mut self) {
        let footprints: Vec<Footprint> =
            self.items.iter().map(|item| S::footprint(item.operation, item.response)).collect();
        let mut edges = self.items.iter().enumerate().flat_map(|(number, item)| {
            item.after.iter().chain(&item.before).map(move |&other| (number, other as usize))
        });
        let parts = parts(&footprints, &mut edges);
        for (item, part) in self.items.iter_mut().zip(parts) {
            item.part = u32::try_from(part).unwrap_or(NEVER);
        }
    }

    /// Returns the calls that need not be placed. Where there are no reductions, each is a class of its own.
    fn classes(&self, reductions: bool) -> Vec<Vec<u32>> {
        let mut is_ordered = vec![false; self.items.len()];
        for (number, item) in self.items.iter().enumerate() {
            for &other in item.after.iter().chain(&item.before) {
                is_ordered[number] = true;
                is_ordered[other as usize] = true;
            }
        }
        let mut classes: Vec<Vec<u32>> = Vec::new();
        for number in (0..).take(self.items.len()).filter(|&item| !self.is_demanded(item)) {
            let item = &self.items[number as usize];
            let is_same = |class: &&mut Vec<u32>| {
                let other = &self.items[class[0] as usize];
                !is_ordered[class[0] as usize]
                    && item.response.is_none()
                    && other.response.is_none()
                    && S::is_same(item.operation, other.operation)
                    && (item.session == other.session || !S::depends_on_session(item.operation))
            };
            // Of many classes a call is compared with the last ones, so that long histories do not take their square.
            let last = classes.len().saturating_sub(CLASSES_COMPARED);
            match classes[last..].iter_mut().find(|class| reductions && !is_ordered[number as usize] && is_same(class))
            {
                Some(class) => class.push(number),
                None => classes.push(vec![number]),
            }
        }
        // Calls come in the order of invocation, so a class has those that can be placed first at its beginning.
        classes
    }
}

/// Returns, by part, the calls that matter to what can grow into what.
fn growth<S: Specification>(items: &[Item<'_, S>], demands: &[u32]) -> Vec<Growth> {
    let parts = items.iter().map(|item| item.part + 1).max().unwrap_or_default() as usize;
    let mut growth: Vec<Growth> = std::iter::repeat_with(Growth::default).take(parts).collect();
    let mut grows = vec![false; parts];
    let is_read = |item: &Item<'_, S>| {
        item.response.is_some_and(|response| S::footprint(item.operation, Some(response)).is_read())
    };
    let mut by_end: Vec<u32> = (0..).take(items.len()).collect();
    sort_by(&mut by_end, &items.iter().map(|item| item.until).collect::<Vec<u32>>());
    for number in by_end {
        let item = &items[number as usize];
        let part = item.part as usize;
        if item.is_abrupt {
            growth[part].abrupt.push((number, item.from));
        } else {
            grows[part] |= S::grows(item.operation);
        }
    }
    for Growth { abrupt, .. } in &mut growth {
        let mut least = NEVER;
        for (_, from) in abrupt.iter_mut().rev() {
            least = least.min(*from);
            *from = least;
        }
    }
    for &number in demands {
        let item = &items[number as usize];
        if grows[item.part as usize] && is_read(item) {
            growth[item.part as usize].reads.push(number);
        }
    }
    growth
}

/// Finds the calls that overwrite what others wrote. No order but that of time may say anything of calls: then a call
/// that another one overwrites can be placed just before it.
fn overwrite<S: Specification>(items: &mut [Item<'_, S>], is_doubtful: &[bool]) {
    if items.iter().any(|item| !item.after.is_empty() || !item.before.is_empty()) {
        return;
    }
    let parts = items.iter().map(|item| item.part + 1).max().unwrap_or_default() as usize;
    // What the overwriting calls of a part write, as long as that is the same.
    let mut written: Vec<Option<Regions>> = vec![None; parts];
    let mut is_mixed = vec![false; parts];
    let overwrites = |item: &Item<'_, S>| S::overwrites(item.operation, item.response);
    for item in items.iter().filter(|item| overwrites(item)) {
        let writes = S::footprint(item.operation, item.response).writes;
        let part = item.part as usize;
        is_mixed[part] |= written[part].get_or_insert_with(|| writes.clone()) != &writes;
    }
    let mut kinds: Vec<u32> = Vec::new();
    for number in (0..).take(items.len()) {
        let item = &items[number as usize];
        if is_mixed[item.part as usize] || !overwrites(item) {
            continue;
        }
        let is_same = |&other: &u32| {
            let other = &items[other as usize];
            other.part == item.part
                && S::is_same(item.operation, other.operation)
                && (item.session == other.session || !S::depends_on_session(item.operation))
        };
        let kind = kinds.iter().position(is_same).unwrap_or_else(|| {
            if kinds.len() < KINDS_MAX as usize {
                kinds.push(number);
                kinds.len() - 1
            } else {
                OTHER_KIND as usize
            }
        }) as u32;
        let item = &mut items[number as usize];
        item.overwriting = if is_doubtful[number as usize] {
            Overwriting::Doubtful { kind }
        } else if item.until == NEVER {
            Overwriting::No
        } else {
            Overwriting::Demanded { kind, exposed: 0 }
        };
    }
}

/// Sorts numbers of calls by the keys of these, those of one key as they are. One copy serves all specifications.
fn sort_by<K: Ord>(items: &mut [u32], keys: &[K]) {
    items.sort_by(|&one, &other| keys[one as usize].cmp(&keys[other as usize]));
}

/// Bits that are given to calls as long as they are under way.
#[derive(Default)]
struct Slots {
    free: Vec<u32>,
    length: u32,
}

impl Slots {
    fn take(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.length += 1;
            self.length - 1
        })
    }
}

/// Gives each call its bits, and returns how many words they take: those of spare calls, and of those that can be
/// overwritten unseen, have words of their own. A bit is used again when its call has been demanded.
fn allot<S: Specification>(items: &mut [Item<'_, S>], demands: &[u32], is_spare: &[bool]) -> (usize, usize) {
    let mut by_first: Vec<u32> = (0..).take(items.len()).filter(|&item| !is_spare[item as usize]).collect();
    sort_by(&mut by_first, &items.iter().map(|item| item.from).collect::<Vec<u32>>());
    let mut arriving = by_first.into_iter().peekable();
    let (mut firm, mut spare) = (Slots::default(), Slots::default());
    for demand in 0..=demands.len() {
        while let Some(item) = arriving.next_if(|&item| items[item as usize].from as usize <= demand) {
            let item = &mut items[item as usize];
            if let Overwriting::Demanded { exposed, .. } = &mut item.overwriting {
                item.slot = spare.take();
                *exposed = spare.take();
            } else {
                item.slot = firm.take();
            }
        }
        if let Some(&item) = demands.get(demand) {
            let item = &items[item as usize];
            match item.overwriting.exposed() {
                Some(exposed) => spare.free.extend([item.slot, exposed]),
                None => firm.free.push(item.slot),
            }
        }
    }
    let firm = firm.length.div_ceil(64);
    for (item, is_spare) in items.iter_mut().zip(is_spare) {
        if *is_spare {
            item.slot = spare.length;
            spare.length += 1;
        }
        match &mut item.overwriting {
            Overwriting::Demanded { exposed, .. } => {
                item.slot += 64 * firm;
                *exposed += 64 * firm;
            }
            _ if *is_spare => item.slot += 64 * firm,
            _ => {}
        }
    }
    (firm as usize, spare.length.div_ceil(64) as usize)
}

/// Calls, and where those of each demand begin and end.
type Live = (Vec<u32>, Vec<(u32, u32)>);

/// Returns the calls that may be placed at each demand, and where those of a demand begin and end; `None` if that takes
/// more than `limit` bytes.
fn live<S: Specification>(items: &[Item<'_, S>], demands: &[u32], limit: usize) -> Option<Live> {
    let mut by_first = demands.to_vec();
    sort_by(&mut by_first, &items.iter().map(|item| item.from).collect::<Vec<u32>>());
    let mut arriving = by_first.into_iter().peekable();
    let until: Vec<u32> = items.iter().map(|item| item.until).collect();
    let (mut live, mut live_at): (Vec<u32>, Vec<(u32, u32)>) = (Vec::new(), Vec::with_capacity(demands.len()));
    for demand in 0..demands.len() {
        // Without the call that was demanded last, which was the first.
        let mut start = live_at.last().map_or(0, |&(start, _)| start as usize + 1);
        let begins = |item: &u32| items[*item as usize].from as usize <= demand;
        if arriving.peek().is_some_and(begins) {
            let mut now = live[start..].to_vec();
            while let Some(item) = arriving.next_if(begins) {
                now.push(item);
            }
            sort_by(&mut now, &until);
            start = live.len();
            if 4 * (start + now.len()) > limit {
                return None;
            }
            live.extend(now);
        }
        live_at.push((u32::try_from(start).ok()?, u32::try_from(live.len()).ok()?));
    }
    Some((live, live_at))
}
