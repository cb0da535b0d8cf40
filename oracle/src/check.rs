//! Checks: whether a specification explains a history.

use crate::distinct::BYTES_PER_CALL;
use crate::history::{end_key, key};
use crate::search::{Candidates, Found, Placed, Problem, Role, RoleOf, Search, Tactics, parts};
use crate::{Budget, Call, End, Explored, Footprint, History, Limit, Order, Regions, Specification};

/// Returns whether a specification can have done what clients saw, from an initial state.
///
/// That is [`Check`] as it is made by default, with an order and a budget.
pub fn check<S: Specification>(
    history: &History<S::Operation, S::Response>,
    initial: &S,
    order: &Order,
    budget: Budget<'_>,
) -> Checked {
    Check { order: order.clone(), budget, ..Check::default() }.run(history, initial)
}

/// A check, and how it is made. The fields that are not named below are those of [`Check::default`].
///
/// ```
/// use simutant_oracle::specifications::{Register, register::{Operation, Response}};
/// use simutant_oracle::{Answer, Check, Order, Recorder, Session, Time};
///
/// let recorder = Recorder::new();
/// let at = Time::from_nanos;
/// let write = recorder.invoke(Session(1), Operation::Write(7), at(0));
/// let read = recorder.invoke(Session(2), Operation::Read, at(5));
/// recorder.returned(read, Response::Value(Some(7)), at(9))?;
/// // The write is still under way when another client no longer sees it.
/// let again = recorder.invoke(Session(2), Operation::Read, at(10));
/// recorder.returned(again, Response::Value(None), at(12))?;
/// recorder.returned(write, Response::Done, at(20))?;
///
/// let checked = Check::default().run(&recorder.history(), &Register::default());
/// assert!(matches!(checked.answer, Answer::Impossible { .. }));
///
/// // If only the calls of a session are in order it is the same: both reads are of one session.
/// let sequential = Check { order: Order::sequential(), ..Check::default() };
/// assert!(!sequential.run(&recorder.history(), &Register::default()).is_possible());
/// # Ok::<(), simutant_oracle::Misuse>(())
/// ```
#[derive(Debug, Clone)]
pub struct Check<'a> {
    /// What is known of the order of calls.
    pub order: Order,
    /// How much the check may take.
    pub budget: Budget<'a>,
    /// How the search goes about it. The answer does not depend on it, only the cost.
    pub strategy: Strategy,
    /// What has to be explained.
    pub scope: Scope,
    /// Whether calls that share no region of the state are checked apart, where the order is that of real time, for
    /// which that is sound (Herlihy and Wing, 1990, 3.1).
    pub is_partitioned: bool,
    /// Whether a specification may answer without a search ([`Specification::fast_path`],
    /// [`Specification::contradiction`]), where the order is that of real time alone and the strategy is the fastest. Whether there is an explanation does not depend on it.
    pub has_fast_paths: bool,
    /// Whether a history in which no call was answered is [unobserved](crate::ReportedAnswer::Unobserved) in reports and
    /// verdicts, and not possible. Any service can have done nothing.
    pub requires_answers: bool,
}

/// The strategy of a search: the order in which it tries calls.
///
/// ```
/// use simutant_oracle::specifications::{Queue, containers::{Operation, Response}};
/// use simutant_oracle::{Check, Recorder, Session, Strategy, Time};
///
/// let recorder = Recorder::new();
/// for session in 0..6 {
///     recorder.invoke(Session(session), Operation::Put(session), Time::ZERO);
/// }
/// recorder.observed(Session(9), Operation::Take, Response::Value(Some(5)), Time::from_nanos(1));
/// let strategies = [Strategy::JustInTime, Strategy::AnswerOrder, Strategy::DepthFirst, Strategy::BreadthFirst];
/// let checks = strategies.map(|strategy| {
///     Check { strategy, ..Check::default() }.run(&recorder.history(), &Queue::default())
/// });
/// assert!(checks.iter().all(|checked| checked.is_possible()));
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Strategy {
    /// Depth first, calls in the order of their ends, with all reductions.
    #[default]
    JustInTime,
    /// Depth first, calls in the order of their ends (Banzai, 2018, 3.3.2, "Hänsel und Gretel", by answers).
    AnswerOrder,
    /// Depth first, calls in the order of their invocations (the same, as the source has it).
    CallOrder,
    /// Depth first, calls of one session after those of another.
    DepthFirst,
    /// Breadth first.
    BreadthFirst,
}

/// The scope of a check: the answers that have to be explained, and by how many orders.
///
/// ```
/// use simutant_oracle::specifications::{Register, register::{Operation, Response}};
/// use simutant_oracle::{Check, Recorder, Scope, Session, Time};
///
/// let recorder = Recorder::new();
/// let at = Time::from_nanos;
/// let write = recorder.invoke(Session(1), Operation::Write(7), at(0));
/// // While the write is under way, a client sees the new value, and then the old one.
/// for (time, value) in [(1, Some(7)), (3, None)] {
///     recorder.observed(Session(2), Operation::Read, Response::Value(value), at(time));
/// }
/// recorder.returned(write, Response::Done, at(9))?;
/// let explains = |scope| Check { scope, ..Check::default() }.run(&recorder.history(), &Register::default());
/// // A regular register may do so, and an atomic one may not.
/// assert!(explains(Scope::EachRead).is_possible());
/// assert!(!explains(Scope::History).is_possible());
/// # Ok::<(), simutant_oracle::Misuse>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// All answers, by one order.
    #[default]
    History,
    /// Each call that changes nothing by an order of its own, together with all calls that may change something: a
    /// regular register in the place of an atomic one (Lamport, 1986), for several writers as the weakest of Shao,
    /// Welch, Pierce and Lee (2011).
    EachRead,
    /// Each answer by an order of its own: calls that need not come before it may be left out (Banzai, 2018, 3.5 and
    /// 3.6). That may miss what is wrong, above all if answers to other calls are not compared.
    EachCall {
        /// Which answers have to agree.
        compared: Compared,
        /// Which calls are left out.
        filter: Filter,
    },
}

/// Which answers have to agree with the specification where each call is explained by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Compared {
    /// That of the call that is explained: simple checking.
    Target,
    /// Those of all calls in the order: strict checking.
    All,
}

/// Which calls are left out where each call is explained by itself.
///
/// Where only the answer that is explained is compared, whether there is an explanation does not depend on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Filter {
    /// None.
    None,
    /// Those that change nothing: the weak filter. An [update](Footprint::updates) that no call looks at is no change.
    Reads,
    /// Those, and all that cannot change what the answer depends on, not even through other calls: the strong filter. A
    /// call that is known to come after another one cannot change that one's answer.
    Unrelated,
}

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// The answer.
    pub answer: Answer,
    /// What the check has done.
    pub explored: Explored,
}

/// An answer: whether a specification can have done what clients saw. Calls are named by their places in the history.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Answer {
    /// It can.
    Possible {
        /// The calls in an order that explains all of it, without those of unknown end that had no effect. Where
        /// calls are explained by themselves, it is empty.
        order: Vec<usize>,
    },
    /// It cannot.
    Impossible {
        /// The longest part that was explained, in its order. Where calls are checked apart, those that share a region
        /// with `stuck`.
        longest: Vec<usize>,
        /// The call whose answer cannot follow.
        stuck: usize,
    },
    /// The budget ran out before it was known.
    Undecided {
        /// What ran out.
        limit: Limit,
    },
}

impl Checked {
    /// Returns whether the specification can have done this.
    pub const fn is_possible(&self) -> bool {
        matches!(self.answer, Answer::Possible { .. })
    }
}

/// The order of real time, one explanation for the whole history, the fastest strategy, and a gibibyte.
impl Default for Check<'_> {
    fn default() -> Self {
        Self {
            order: Order::default(),
            budget: Budget::default(),
            strategy: Strategy::default(),
            scope: Scope::default(),
            is_partitioned: true,
            has_fast_paths: true,
            requires_answers: false,
        }
    }
}

/// How many steps a search takes before it is another part's turn.
const FIRST_TURN: u64 = 1 << 12;

/// The calls of a part of a history, with their places.
pub(crate) type Calls<'h, S> = Vec<Placed<'h, <S as Specification>::Operation, <S as Specification>::Response>>;

impl Check<'_> {
    /// Returns whether a specification can have done what clients saw, from an initial state.
    ///
    /// ```
    /// use simutant_oracle::specifications::{Counter, counter::{Operation, Response}};
    /// use simutant_oracle::{Answer, Budget, Check, Limit, Recorder, Session, Time};
    ///
    /// let recorder = Recorder::new();
    /// for session in 0..20 {
    ///     recorder.invoke(Session(session), Operation::AddAndGet(1 << session), Time::ZERO);
    /// }
    /// // Which of the twenty additions make this sum?
    /// let sum = Response::Value(0b1010_1100_1010_1100_1011);
    /// recorder.observed(Session(99), Operation::Read, sum, Time::from_nanos(1));
    /// let budget = Budget { steps: Some(3), ..Budget::default() };
    /// let answer = Check { budget, ..Check::default() }.run(&recorder.history(), &Counter::default()).answer;
    /// assert_eq!(answer, Answer::Undecided { limit: Limit::Steps });
    /// ```
    pub fn run<S: Specification>(&self, history: &History<S::Operation, S::Response>, initial: &S) -> Checked {
        let calls: Calls<'_, S> = history.calls().iter().enumerate().collect();
        match self.scope {
            Scope::History => self.whole(calls, initial, &|_, call| Role::of(&call.end)),
            Scope::EachRead => self.each_read(&calls, initial),
            Scope::EachCall { compared, filter } => self.each(&calls, initial, compared, filter),
        }
    }

    /// Checks calls with roles of their own.
    pub(crate) fn whole<'h, S: Specification>(
        &self,
        calls: Calls<'h, S>,
        initial: &S,
        role: &RoleOf<'_, S>,
    ) -> Checked {
        self.whole_by(self.strategy.tactics(), calls, initial, role)
    }

    /// The same, by tactics that no strategy has.
    pub(crate) fn whole_by<'h, S: Specification>(
        &self,
        tactics: Tactics,
        calls: Calls<'h, S>,
        initial: &S,
        role: &RoleOf<'_, S>,
    ) -> Checked {
        let parts = self.parts::<S>(calls, role);
        let mut orders: Vec<Option<Vec<usize>>> = vec![None; parts.len()];
        let mut fast = Explored::default();
        let has_fast_paths = self.has_fast_paths && self.is_linearizability() && self.strategy == Strategy::JustInTime;
        // Whether a specification may be asked about a part: its calls have the roles that their ends give them.
        let is_shown = |part: &Calls<'h, S>| {
            has_fast_paths && part.iter().all(|&(place, call)| role(place, call) == Role::of(&call.end))
        };
        if has_fast_paths {
            for (order, part) in orders.iter_mut().zip(&parts).filter(|(_, part)| is_shown(part)) {
                match self.fast_path(part, initial, &mut fast) {
                    None => {}
                    Some(Answer::Possible { order: found }) => *order = Some(found),
                    Some(answer) => return Checked { answer, explored: fast },
                }
            }
        }
        let open: Vec<usize> = (0..parts.len()).filter(|&part| orders[part].is_none()).collect();
        let problem = |&part: &usize| self.problem::<S>(&parts[part], role);
        let Some(problems) = open.iter().map(problem).collect::<Option<Vec<_>>>() else { return self.too_large() };
        let mut searches: Vec<_> = problems.iter().map(|problem| Search::new(problem, initial, tactics)).collect();
        // One part may show in no time what another one cannot in a year, so all go on in turns, each longer than the
        // last. What a search does not decide in its first turn may show without one.
        let mut turn = FIRST_TURN;
        loop {
            for (number, &part) in open.iter().enumerate() {
                if orders[part].is_some() {
                    continue;
                }
                let others = explored(&searches, Some(number));
                let found = searches[number].run(initial, turn, &self.budget, others);
                let is_open = matches!(found, None | Some(Found::Stopped(Limit::Steps | Limit::Bytes)));
                if is_open
                    && turn == FIRST_TURN
                    && is_shown(&parts[part])
                    && let Some(core) = self.contradiction(&parts[part], initial)
                    && let Some(stuck) = last_of(&core)
                {
                    fast.follow(explored(&searches, None));
                    return Checked { answer: Answer::Impossible { longest: Vec::new(), stuck }, explored: fast };
                }
                let answer = match found {
                    None => continue,
                    Some(Found::Order(order)) => {
                        orders[part] = Some(problems[number].places(&order));
                        continue;
                    }
                    Some(Found::Nowhere { longest, stuck }) => Answer::Impossible {
                        longest: problems[number].places(&longest),
                        stuck: problems[number].place(stuck),
                    },
                    Some(Found::Stopped(limit)) => Answer::Undecided { limit },
                };
                fast.follow(explored(&searches, None));
                return Checked { answer, explored: fast };
            }
            if orders.iter().all(Option::is_some) {
                let orders: Vec<Vec<usize>> = orders.into_iter().flatten().collect();
                let order = if orders.len() == 1 { orders.concat() } else { merged(&orders, &parts) };
                fast.follow(explored(&searches, None));
                return Checked { answer: Answer::Possible { order }, explored: fast };
            }
            turn *= 4;
        }
    }

    fn each_read<'h, S: Specification>(&self, calls: &[Placed<'h, S::Operation, S::Response>], initial: &S) -> Checked {
        let mut explored = Explored::default();
        for roles in roles_of_each_read::<S>(calls) {
            let steps = self.budget.steps.map(|steps| steps.saturating_sub(explored.steps));
            let check = Check { budget: Budget { steps, ..self.budget }, order: self.order.clone(), ..*self };
            let checked = check.whole(calls.to_vec(), initial, &|place, _| roles[place]);
            explored.follow(checked.explored);
            if !checked.is_possible() {
                return Checked { explored, ..checked };
            }
        }
        Checked { answer: Answer::Possible { order: Vec::new() }, explored }
    }

    /// Returns whether the order is that of real time alone, for which parts that share nothing can be checked apart.
    pub(crate) fn is_linearizability(&self) -> bool {
        self.order == Order::linearizability()
    }

    /// Returns the calls in the parts that are checked apart.
    fn parts<'h, S: Specification>(&self, calls: Calls<'h, S>, role: &RoleOf<'_, S>) -> Vec<Calls<'h, S>> {
        if self.is_partitioned && self.is_linearizability() { by_part::<S>(calls, role) } else { vec![calls] }
    }

    /// Returns the calls that are checked together with one of them.
    pub(crate) fn part_with<'h, S: Specification>(&self, calls: Calls<'h, S>, place: usize) -> Calls<'h, S> {
        let parts = self.parts::<S>(calls, &|_, call| Role::of(&call.end));
        parts.into_iter().find(|part| part.iter().any(|call| call.0 == place)).unwrap_or_default()
    }

    /// Asks the specification, if the budget has the memory.
    fn fast_path<'h, S: Specification>(
        &self,
        calls: &[Placed<'h, S::Operation, S::Response>],
        initial: &S,
        explored: &mut Explored,
    ) -> Option<Answer> {
        let bytes = calls.len() * BYTES_PER_CALL;
        if self.budget.bytes.is_some_and(|limit| bytes > limit) || self.budget.stop.is_some_and(|stop| stop()) {
            return None;
        }
        let only_calls: Vec<_> = calls.iter().map(|&(_, call)| call).collect();
        let places = |order: Vec<usize>| order.into_iter().map(|number| calls[number].0).collect();
        let answer = match initial.fast_path(&only_calls)? {
            Answer::Possible { order } => Answer::Possible { order: places(order) },
            Answer::Impossible { longest, stuck } => {
                Answer::Impossible { longest: places(longest), stuck: calls[stuck].0 }
            }
            undecided @ Answer::Undecided { .. } => undecided,
        };
        explored.bytes = explored.bytes.max(bytes as u64);
        Some(answer)
    }

    /// Asks the specification for calls of a part that contradict each other, if the budget has the memory.
    pub(crate) fn contradiction<'h, S: Specification>(
        &self,
        part: &Calls<'h, S>,
        initial: &S,
    ) -> Option<Vec<Placed<'h, S::Operation, S::Response>>> {
        let has_room = self.budget.bytes.is_none_or(|limit| part.len() * BYTES_PER_CALL <= limit);
        if !has_room || self.budget.stop.is_some_and(|stop| stop()) {
            return None;
        }
        let only_calls: Vec<_> = part.iter().map(|&(_, call)| call).collect();
        let core = initial.contradiction(&only_calls)?;
        Some(core.into_iter().map(|number| part[number]).collect())
    }

    /// Returns what a search is about, or `None` if that alone does not fit into the memory.
    pub(crate) fn problem<'h, S: Specification>(
        &self,
        calls: &[Placed<'h, S::Operation, S::Response>],
        role: &RoleOf<'_, S>,
    ) -> Option<Problem<'h, S>> {
        let reductions = self.strategy.tactics().is_reduced;
        Problem::new(calls, &self.order, reductions, self.budget.bytes.unwrap_or(usize::MAX), role)
    }

    /// Returns what is known of a history whose problem alone does not fit into the memory.
    fn too_large(&self) -> Checked {
        let bytes = self.budget.bytes.unwrap_or(usize::MAX) as u64;
        Checked {
            answer: Answer::Undecided { limit: Limit::Bytes },
            explored: Explored { bytes, ..Explored::default() },
        }
    }

    fn each<'h, S: Specification>(
        &self,
        calls: &[Placed<'h, S::Operation, S::Response>],
        initial: &S,
        compared: Compared,
        filter: Filter,
    ) -> Checked {
        // The relation by itself, with what comes before by way of others, and without what is left out.
        if self.budget.bytes.is_some_and(|limit| 3 * Precedes::bytes(calls.len()) > limit) {
            return self.too_large();
        }
        let is_stopped = || self.budget.stop.is_some_and(|stop| stop());
        let mut explored = Explored::default();
        for (place, question) in questions_of_each_call::<S>(calls, &self.order, compared, filter, &is_stopped) {
            let check = Check { order: question.order, ..self.clone() };
            let role = |place: usize, _: &Call<_, _>| question.roles[place];
            let Some(problem) = check.problem::<S>(calls, &role) else { return self.too_large() };
            let mut search = Search::new(&problem, initial, self.strategy.tactics());
            let found =
                search.run(initial, u64::MAX, &self.budget, Explored { steps: explored.steps, ..Explored::default() });
            explored.follow(search.explored());
            match found {
                None | Some(Found::Order(_)) => {}
                Some(Found::Nowhere { longest, .. }) => {
                    let answer = Answer::Impossible { longest: problem.places(&longest), stuck: place };
                    return Checked { answer, explored };
                }
                Some(Found::Stopped(limit)) => return Checked { answer: Answer::Undecided { limit }, explored },
            }
        }
        Checked { answer: Answer::Possible { order: Vec::new() }, explored }
    }
}

/// One of the questions that a scope asks of a history: whether there is an order in which its calls have these roles.
pub(crate) struct Question {
    /// What is known of the order of the calls.
    pub(crate) order: Order,
    /// The role of each call, by its place.
    pub(crate) roles: Vec<Role>,
}

/// Returns the questions of a scope. A history is possible if the answer to each is yes.
pub(crate) fn questions<'a, S: Specification>(
    calls: &'a [Placed<'a, S::Operation, S::Response>],
    order: &'a Order,
    scope: Scope,
) -> Box<dyn Iterator<Item = Question> + 'a> {
    let of_roles = |roles| Question { order: order.clone(), roles };
    match scope {
        Scope::History => {
            Box::new(std::iter::once(of_roles(calls.iter().map(|(_, call)| Role::of(&call.end)).collect())))
        }
        Scope::EachRead => Box::new(roles_of_each_read::<S>(calls).map(of_roles)),
        Scope::EachCall { compared, filter } => {
            let questions = questions_of_each_call::<S>(calls, order, compared, filter, &|| false);
            Box::new(questions.map(|(_, question)| question))
        }
    }
}

/// Returns the roles of calls for each of them that is known to have changed nothing, and at last for the changes by
/// themselves, too, where nobody reads.
fn roles_of_each_read<'a, S: Specification>(
    calls: &'a [Placed<'a, S::Operation, S::Response>],
) -> impl Iterator<Item = Vec<Role>> + 'a {
    let is_read = |call: &Call<S::Operation, S::Response>| {
        let observed = call.end.response();
        observed.is_some() && S::footprint(&call.operation, observed).is_read()
    };
    let reads = calls.iter().filter(move |(_, call)| is_read(call)).map(|&(place, _)| Some(place));
    reads.chain([None]).map(move |target| {
        let role = |&(place, call): &Placed<'a, S::Operation, S::Response>| match &call.end {
            End::Returned { .. } if is_read(call) && Some(place) != target => Role::Absent,
            end => Role::of(end),
        };
        calls.iter().map(role).collect()
    })
}

/// Returns what is asked about each call that returned, with its place.
fn questions_of_each_call<'a, S: Specification>(
    calls: &'a [Placed<'a, S::Operation, S::Response>],
    order: &Order,
    compared: Compared,
    filter: Filter,
    is_stopped: &'a dyn Fn() -> bool,
) -> impl Iterator<Item = (usize, Question)> + 'a {
    let returned = |number: &usize| calls[*number].1.end.response().is_some();
    let order = order.closed_over(&mut (0..calls.len()).filter(|number| !returned(number)));
    let direct = Precedes::direct(calls, &order, is_stopped);
    // A call that may not have happened puts nothing before anything else.
    let precedes = direct.clone().through(&mut (0..calls.len()).filter(returned), is_stopped);
    let is_strict = compared == Compared::All;
    let footprint = move |number: usize, is_compared: bool| {
        let (_, call) = calls[number];
        S::footprint(&call.operation, call.end.response().filter(|_| is_compared))
    };
    let mut footprints: Vec<Footprint> = (0..calls.len()).map(|number| footprint(number, is_strict)).collect();
    (0..calls.len()).filter(returned).map(move |target| {
        // The answer that is explained is compared in any case.
        let unseen = std::mem::replace(&mut footprints[target], footprint(target, true));
        let is_kept = kept(&footprints, &precedes, target, filter);
        footprints[target] = unseen;
        let role = |number: usize| match &calls[number].1.end {
            _ if number == target => Role::Demanded { is_compared: true },
            _ if !is_kept[number] || precedes.is_before(target, number) => Role::Absent,
            End::DidNotHappen { .. } => Role::Absent,
            End::Returned { .. } if precedes.is_before(number, target) => Role::Demanded { is_compared: is_strict },
            End::Returned { .. } => Role::Optional { is_compared: is_strict },
            End::Unknown => Role::Doubtful,
        };
        let roles = (0..calls.len()).map(role).collect();
        let order = order_without(calls, &order, &direct, &is_kept, is_stopped);
        (calls[target].0, Question { order, roles })
    })
}

/// Returns the order of the calls that are kept, from what comes before what by itself: what comes before a call
/// that is left out comes before what follows that one all the same.
fn order_without<O, R>(
    calls: &[Placed<'_, O, R>],
    order: &Order,
    direct: &Precedes,
    is_kept: &[bool],
    is_stopped: &dyn Fn() -> bool,
) -> Order {
    let mut order = order.clone();
    if is_kept.iter().all(|kept| *kept) || order.is_transitive() {
        return order;
    }
    let is_left_out = |&middle: &usize| !is_kept[middle] && calls[middle].1.end.response().is_some();
    let through = direct.clone().through(&mut (0..calls.len()).filter(is_left_out), is_stopped);
    for other in (0..calls.len()).filter(|&other| is_kept[other]) {
        let is_new = |&one: &usize| {
            through.is_before(one, other) && is_kept[one] && one != other && !direct.is_before(one, other)
        };
        order.pairs.extend((0..calls.len()).filter(is_new).map(|one| (calls[one].0, calls[other].0)));
    }
    order
}

impl Strategy {
    pub(crate) const fn tactics(self) -> Tactics {
        let (candidates, breadth_first) = match self {
            Self::JustInTime | Self::AnswerOrder => (Candidates::End, false),
            Self::CallOrder => (Candidates::Invocation, false),
            Self::DepthFirst => (Candidates::Session, false),
            Self::BreadthFirst => (Candidates::Session, true),
        };
        let is_reduced = matches!(self, Self::JustInTime);
        Tactics { candidates, breadth_first, is_reduced, foresees: is_reduced, hides: is_reduced }
    }
}

/// Returns what searches have done, all but one of them: they share the memory.
fn explored<S: Specification>(searches: &[Search<'_, '_, S>], but: Option<usize>) -> Explored {
    let mut sum = Explored::default();
    for (_, search) in searches.iter().enumerate().filter(|&(part, _)| Some(part) != but) {
        sum.join(search.explored());
    }
    sum
}

/// Returns which calls may matter to the answer of `target`.
///
/// The answers and changes of calls that are kept depend on regions that only calls which are kept change. So an order of
/// all calls explains the answer if and only if it does so without the others.
fn kept(footprints: &[Footprint], precedes: &Precedes, target: usize, filter: Filter) -> Vec<bool> {
    let is_changed = |footprint: &Footprint| match footprint.writes {
        Regions::None => footprints.iter().any(|other| footprint.affects(other)),
        _ => true,
    };
    let mut kept: Vec<bool> = match filter {
        Filter::None => vec![true; footprints.len()],
        Filter::Reads => footprints.iter().map(is_changed).collect(),
        Filter::Unrelated => vec![false; footprints.len()],
    };
    kept[target] = true;
    if filter == Filter::Unrelated {
        let mut reached = vec![target];
        while let Some(number) = reached.pop() {
            // What may change everything may change what later calls look at, as a watch does.
            let is_everything = footprints[number] == Footprint::everything();
            for (other, footprint) in footprints.iter().enumerate() {
                let is_late =
                    precedes.is_before(target, other) || (!is_everything && precedes.is_before(number, other));
                if !kept[other] && !is_late && footprint.affects(&footprints[number]) {
                    kept[other] = true;
                    reached.push(other);
                }
            }
        }
    }
    kept
}

/// Which calls come before which other ones.
#[derive(Clone)]
struct Precedes {
    /// `rows[other]` has a bit for each call, which says whether that comes before `other`.
    rows: Vec<Vec<u64>>,
}

impl Precedes {
    /// How many bytes the relation on some calls takes.
    const fn bytes(calls: usize) -> usize {
        8 * calls.div_ceil(64) * calls
    }

    /// Returns which calls come before which other ones for a reason of the two alone.
    fn direct<O, R>(calls: &[Placed<'_, O, R>], order: &Order, is_stopped: &dyn Fn() -> bool) -> Self {
        let length = calls.len();
        let mut rows = vec![vec![0; length.div_ceil(64)]; length];
        for (other, &(other_place, other_call)) in calls.iter().enumerate() {
            if is_stopped() {
                break;
            }
            for (one, &(one_place, one_call)) in calls.iter().enumerate() {
                if one != other && order.puts((one, one_place, one_call), (other, other_place, other_call)) {
                    rows[other][one / 64] |= 1 << (one % 64);
                }
            }
        }
        Self { rows }
    }

    /// Returns the same, and what comes before others by way of some calls. A search that follows ends, too, where this
    /// was stopped.
    fn through(mut self, middles: &mut dyn Iterator<Item = usize>, is_stopped: &dyn Fn() -> bool) -> Self {
        for middle in middles {
            if is_stopped() {
                break;
            }
            let before_middle = self.rows[middle].clone();
            for row in self.rows.iter_mut().filter(|row| is_in(row, middle)) {
                row.iter_mut().zip(&before_middle).for_each(|(word, &before)| *word |= before);
            }
        }
        self
    }

    fn is_before(&self, one: usize, other: usize) -> bool {
        is_in(&self.rows[other], one)
    }
}

/// Returns whether a row has the bit of a call.
fn is_in(row: &[u64], call: usize) -> bool {
    row[call / 64] >> (call % 64) & 1 == 1
}

/// Returns the place of the call that ended last.
fn last_of<O, R>(calls: &[Placed<'_, O, R>]) -> Option<usize> {
    let ended = calls.iter().filter_map(|&(place, call)| Some((end_key(call.end.at()?), place)));
    ended.max().map(|(_, place)| place)
}

/// Returns the calls by the regions of the state that they share, each part in the order of invocation.
fn by_part<'h, S: Specification>(calls: Calls<'h, S>, role: &RoleOf<'_, S>) -> Vec<Calls<'h, S>> {
    let footprint = |&(place, call): &Placed<'h, S::Operation, S::Response>| {
        S::footprint(&call.operation, call.end.response().filter(|_| role(place, call).is_compared()))
    };
    let footprints: Vec<Footprint> = calls.iter().map(footprint).collect();
    let numbers = parts(&footprints, &mut std::iter::empty());
    let mut parts: Vec<Calls<'_, S>> = Vec::new();
    for (call, part) in calls.into_iter().zip(numbers) {
        if part == parts.len() {
            parts.push(Vec::new());
        }
        parts[part].push(call);
    }
    parts
}

/// Returns one order of all calls, from orders of parts that share nothing.
///
/// Each call takes effect as early as its invocation and those before it in its part allow. So it does before its end,
/// and the order of these instants keeps what ended before something was invoked.
fn merged<O, R>(orders: &[Vec<usize>], parts: &[Vec<Placed<'_, O, R>>]) -> Vec<usize> {
    let mut instants = Vec::new();
    for (order, part) in orders.iter().zip(parts) {
        let mut now = None;
        for &place in order {
            let found = part.binary_search_by_key(&place, |&(place, _)| place);
            let invoked = found.ok().map(|at| key(part[at].1.invoked));
            now = now.max(invoked);
            instants.push((now, place));
        }
    }
    instants.sort_by_key(|&(instant, _)| instant);
    instants.into_iter().map(|(_, place)| place).collect()
}
