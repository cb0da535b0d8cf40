//! The run: events in order, each followed by the tasks that it wakes.

mod ending;
mod faults;

use std::any::Any;
use std::collections::BTreeSet;
use std::future::Future;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::task;

use crate::child::TaskRequest;
use crate::choice::{self, CurrentChoices};
use crate::digest::hash_of;
use crate::ended::{Panic, PanicOrigin, Violation};
use crate::event::Event;
use crate::event_queue::{EventId, EventQueue};
use crate::expectation::{AnyResultSlot, Comparison};
use crate::fault::Fault;
use crate::kernel::{Outcome, Shared};
use crate::message::ComponentId;
use crate::network::PartitionChange;
use crate::noted_waits::{NotedWaits, begin_poll};
use crate::outlined::Outlined;
use crate::prefetch::prefetch;
use crate::setup::Setup;
use crate::simulation::{Body, Configured, Report};
use crate::trace::Action;
use crate::waker::{TaskKey, Waiter, WokenRing};
use crate::{Ended, LimitReached, Limits, Message, Random, VirtualTime};

pub(crate) type BoxedFuture = Pin<Box<dyn Future<Output = ()>>>;

/// So many tasks stay in the processor's caches by themselves.
const TASKS_IN_CACHE: usize = 4_096;
/// Of a large future, its beginning is asked for.
const PREFETCH_BYTES_MAX: usize = 256;

/// The place of a component's body.
const MAIN: u32 = u32::MAX;

/// Something that is polled: the body of a component, or a child task of it.
struct Task {
    key: TaskKey,
    component: ComponentId,
    /// Where it is among the child tasks of the component, or [`MAIN`].
    place: u32,
    future: BoxedFuture,
}

/// A component that was added.
struct Component<M: Message> {
    /// The task of its body; `None` when it has returned or crashed.
    main: Option<TaskKey>,
    children: Vec<TaskKey>,
    deferred: Deferred,
    /// The event that ends its pause, and when that is.
    resume: Option<(EventId, VirtualTime)>,
    result: Rc<dyn AnyResultSlot>,
    /// What makes its body again after a crash.
    body: Option<Body<M>>,
    /// How often it was restarted.
    restarts: u32,
    starts_at: VirtualTime,
}

/// Tasks of a component that were to be polled while it was paused.
#[derive(Default)]
struct Deferred {
    /// In the order in which they were to be polled first.
    tasks: Vec<TaskKey>,
    /// The same, so that each is there once.
    all: BTreeSet<TaskKey>,
}

/// A change that the configuration schedules.
#[derive(Debug, Clone)]
pub(crate) enum Change {
    Fault(Fault, ComponentId),
    Partition(PartitionChange, Vec<Vec<String>>),
}

struct Executor<M: Message> {
    kernel: Shared<M>,
    tasks: Vec<Option<Task>>,
    /// By [`ComponentId`]; `None` for those that are only named.
    components: Vec<Option<Component<M>>>,
    /// In the order in which they were added.
    added: Vec<ComponentId>,
    /// What happens by schedule, and when.
    changes: Outlined<Vec<(VirtualTime, Change)>>,
    /// Whose code runs.
    current: Option<ComponentId>,
    /// What decides between simultaneous events, unless it is the order of scheduling.
    order: Option<Random>,
    random: Random,
    events: u64,
    /// The first expectation that did not hold.
    violation: Option<Violation>,
    /// When the last component returned.
    returned_at: Option<VirtualTime>,
}

/// Why the run cannot go on.
enum Stop {
    Limit(LimitReached),
    Panic(Panic),
}

pub(crate) fn run<M: Message>(configured: Configured<M>) -> Report {
    let Configured { kernel, components, mut setup, changes } = configured;
    let mut choices = CurrentChoices::enter(setup.take_choices());
    let count = kernel.borrow().components.len();
    let mut executor = Executor {
        kernel,
        tasks: Vec::with_capacity(components.len()),
        components: Vec::new(),
        added: Vec::with_capacity(components.len()),
        changes,
        current: None,
        order: setup.order(),
        random: setup.random.clone(),
        events: 0,
        violation: None,
        returned_at: None,
    };
    executor.components.resize_with(count, || None);
    // Changes come first, so that they happen before anything else of their instant.
    for (index, &(at, _)) in executor.changes.iter().enumerate() {
        executor.kernel.borrow_mut().schedule(at, Event::Change(index as u32));
    }
    for added in components {
        let key = executor.kernel.borrow_mut().new_task();
        executor.put_task(Task { key, component: added.id, place: MAIN, future: added.future });
        executor.kernel.borrow_mut().schedule(added.starts_at, Event::Start(added.id));
        executor.added.push(added.id);
        executor.components[added.id.index()] = Some(Component {
            main: Some(key),
            children: Vec::new(),
            deferred: Deferred::default(),
            resume: None,
            result: added.result,
            body: added.body,
            restarts: 0,
            starts_at: added.starts_at,
        });
    }
    let mut report = executor.run(setup);
    report.choices = choices.take_log();
    report
}

impl<M: Message> Executor<M> {
    fn run(mut self, mut setup: Outlined<Setup>) -> Report {
        let mut kernel = self.kernel.borrow_mut();
        kernel.is_running = true;
        // Whatever the report has of the trace, a check gives the same verdict.
        let trace_max = kernel.trace_max;
        if setup.checks_trace {
            kernel.trace_max = usize::MAX;
        }
        drop(kernel);
        let noted_waits = NotedWaits::enter(self.kernel.clone());
        let end = self.guarded(|executor| executor.handle_events(setup.limits)).and_then(|end| end);
        let (mut waiting, mut missing) = (Vec::new(), None);
        let mut end = end.and_then(|()| {
            waiting = self.waiting();
            missing = self.guarded(|executor| executor.missing_result())?;
            Ok(())
        });
        drop(noted_waits);
        self.kernel.borrow_mut().is_running = false;
        // The trace of a run that failed ends with the failure, whatever destructors do after it.
        let mut trace = None;
        for index in 0..self.tasks.len() {
            let has_failed = matches!(end, Err(Stop::Panic(_)));
            if has_failed && trace.is_none() {
                trace = self.kernel.borrow_mut().trace.take();
            }
            if let (Err(stop), false) = (self.drop_task(index), has_failed) {
                end = Err(stop);
            }
        }
        // What holds the kernel is dropped here, so that nothing holds itself.
        let mut kernel = self.kernel.borrow_mut();
        let left = (std::mem::take(&mut kernel.task_requests), kernel.components.lose_all_durable());
        drop(kernel);
        if let (Err(stop), false) = (self.guarded(|_| drop(left)), matches!(end, Err(Stop::Panic(_)))) {
            end = Err(stop);
        }
        let mut trace = trace.or_else(|| self.kernel.borrow_mut().trace.take());
        let ended = match end {
            Err(Stop::Limit(limit)) => Ended::NotTerminated(limit),
            Err(Stop::Panic(failure)) => Ended::Abnormal(failure),
            Ok(()) => match self.violation.take().or(missing) {
                Some(violation) => Ended::Failed(violation),
                None => self.check(&mut setup.checks, trace.as_deref().unwrap_or_default()),
            },
        };
        trace = trace.filter(|_| setup.reports_trace);
        if let Some(trace) = &mut trace {
            trace.truncate(trace_max);
        }
        let kernel = self.kernel.borrow();
        Report {
            ended,
            events: self.events,
            ended_at: kernel.now,
            packets_sent: kernel.packets_sent,
            digest: kernel.digest.value(),
            waiting,
            faults_after_end: self.faults_after_end(),
            trace,
            choices: None,
        }
    }

    /// Calls `action`; a panic is a failure of the component whose code ran.
    fn guarded<T>(&mut self, action: impl FnOnce(&mut Self) -> T) -> Result<T, Stop> {
        catch_unwind(AssertUnwindSafe(|| action(self))).map_err(|payload| self.panicked(payload))
    }

    /// Handles events until there are no more.
    fn handle_events(&mut self, limits: Limits) -> Result<(), Stop> {
        // Whoever decides between simultaneous events does so from the first event on, or never.
        if self.order.is_none() && !choice::is_active() {
            self.handle_events_by::<true>(limits)
        } else {
            self.handle_events_by::<false>(limits)
        }
    }

    #[inline(always)]
    fn handle_events_by<const IN_SCHEDULING_ORDER: bool>(&mut self, limits: Limits) -> Result<(), Stop> {
        let mut woken = WokenRing::enter();
        // The end of time is where what saturates goes: it does not come.
        let last = VirtualTime::from_nanos(u64::MAX - 1).min(limits.virtual_time);
        let is_large = self.tasks.len() > TASKS_IN_CACHE;
        loop {
            let mut kernel = self.kernel.borrow_mut();
            if !kernel.task_requests.is_empty() {
                drop(kernel);
                self.handle_task_requests();
                continue;
            }
            if !woken.is_empty() {
                drop(kernel);
                self.poll_woken(&mut woken, limits)?;
                continue;
            }
            if kernel.queue.refill_if_empty() && is_large {
                prefetch_tasks(&self.tasks, &kernel.queue);
            }
            let next = if IN_SCHEDULING_ORDER { kernel.queue.pop_sorted() } else { kernel.pop_chosen(&mut self.order) };
            let Some((time, payload)) = next else { return Ok(()) };
            if time > last {
                if time == VirtualTime::MAX {
                    return Ok(());
                }
                let limit = LimitReached::VirtualTime { limit: limits.virtual_time, next: time };
                return Err(Stop::Limit(limit));
            }
            if self.events >= limits.events {
                return Err(Stop::Limit(LimitReached::Events { limit: limits.events, at: kernel.now }));
            }
            self.events += 1;
            let outcome = kernel.handle(time, payload);
            let any_is_paused = kernel.components.any_is_paused();
            drop(kernel);
            match outcome {
                Outcome::Poll(task_key) if any_is_paused => self.poll_unless_paused(task_key),
                Outcome::Poll(task_key) => self.poll(task_key),
                rare => self.follow(rare),
            }
        }
    }

    /// Does what an event asks for.
    #[inline(never)]
    fn follow(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Nothing => {}
            Outcome::Poll(task_key) => self.poll_unless_paused(task_key),
            Outcome::Wake(waker) => {
                self.current = None;
                waker.wake();
            }
            Outcome::Start(component) => self.start(component),
            Outcome::Change(index) => self.change(index as usize),
            Outcome::Resume(component) => self.resume(component),
            Outcome::Streams => self.settle_streams(),
        }
    }

    /// Polls the task that was woken first by others than events.
    #[cold]
    fn poll_woken(&mut self, woken: &mut WokenRing, limits: Limits) -> Result<(), Stop> {
        let Some(task_key) = woken.pop() else { return Ok(()) };
        if !self.is_live(task_key) {
            woken.keep_for_outer(task_key);
            return Ok(());
        }
        let mut kernel = self.kernel.borrow_mut();
        if self.events >= limits.events {
            return Err(Stop::Limit(LimitReached::Events { limit: limits.events, at: kernel.now }));
        }
        self.events += 1;
        kernel.note_wake(task_key);
        drop(kernel);
        self.poll_unless_paused(task_key);
        Ok(())
    }

    /// Drops and wakes what streams are done with and bring.
    #[cold]
    fn settle_streams(&mut self) {
        let mut left = self.kernel.borrow_mut().connections.take_left();
        self.current = None;
        left.drop_all();
        let mut waiters = std::mem::take(&mut left.waiters);
        self.kernel.borrow_mut().connections.give_room_back(left);
        for waiter in waiters.drain(..) {
            match waiter {
                Waiter::Task(task_key) => self.poll_unless_paused(task_key),
                Waiter::Foreign(waker) => waker.wake(),
            }
            // One task may have cancelled the next.
            self.handle_task_requests();
        }
        // Only events wake, and this one is over.
        self.kernel.borrow_mut().connections.left.waiters = waiters;
    }

    fn is_live(&self, task_key: TaskKey) -> bool {
        self.component_of(task_key).is_some()
    }

    /// Returns whose task it is, if it is live.
    fn component_of(&self, task_key: TaskKey) -> Option<ComponentId> {
        let task = self.tasks.get(task_key.index())?.as_ref()?;
        (task.key == task_key).then_some(task.component)
    }

    fn put_task(&mut self, task: Task) {
        let index = task.key.index();
        if index >= self.tasks.len() {
            self.tasks.resize_with(index + 1, || None);
        }
        self.tasks[index] = Some(task);
    }

    /// Polls a task, if it is live.
    #[inline]
    fn poll(&mut self, task_key: TaskKey) {
        let index = task_key.index();
        let Some(Some(task)) = self.tasks.get_mut(index) else { return };
        if task.key != task_key {
            return;
        }
        self.current = Some(task.component);
        begin_poll(task_key);
        // To drop such a waker does nothing.
        let waker = ManuallyDrop::new(task_key.waker());
        if task.future.as_mut().poll(&mut task::Context::from_waker(&waker)).is_ready() {
            self.returned(task_key);
        }
    }

    fn poll_unless_paused(&mut self, task_key: TaskKey) {
        let Some(Some(task)) = self.tasks.get(task_key.index()) else { return };
        let component = task.component;
        if !self.kernel.borrow().components.is_paused(component) {
            return self.poll(task_key);
        }
        let deferred = &mut self.component(component).deferred;
        if deferred.all.insert(task_key) {
            deferred.tasks.push(task_key);
        }
    }

    /// Removes a task that returned.
    #[cold]
    fn returned(&mut self, task_key: TaskKey) {
        let task = self.tasks[task_key.index()].take().expect("a task that returned is there");
        // Destructors are the component's code too.
        let component = task.component;
        drop(task.future);
        self.kernel.borrow_mut().free_tasks.push(task_key.index() as u32);
        if self.component(component).main == Some(task_key) {
            self.component(component).main = None;
            self.component_returned(component);
        } else {
            self.forget_child(component, task.place);
        }
    }

    /// Records that a component's body returned, and whether with what was expected, and ends its child tasks.
    fn component_returned(&mut self, component: ComponentId) {
        self.stop_children(component);
        let result = self.component(component).result.clone();
        let mut kernel = self.kernel.borrow_mut();
        let name = kernel.components.name(component).to_string();
        let value = result.returned_text();
        kernel.digest.add(hash_of(&value));
        kernel.record(|_| Action::Returned { component: name.clone(), value });
        let at = kernel.now;
        drop(kernel);
        self.returned_at = Some(at);
        if let (None, Comparison::Mismatch { expected, actual }) = (&self.violation, result.compare()) {
            self.violation = Some(Violation::UnexpectedResult { component: name, at, expected, actual });
        }
    }

    fn component(&mut self, component: ComponentId) -> &mut Component<M> {
        self.components[component.index()].as_mut().expect("tasks are of components that were added")
    }

    // Child tasks.

    #[cold]
    fn handle_task_requests(&mut self) {
        let requests = std::mem::take(&mut *self.kernel.borrow_mut().task_requests);
        for request in requests {
            match request {
                TaskRequest::Spawn { component, key, future } => {
                    // The body that asked for it may have returned since.
                    if self.component(component).main.is_none() {
                        self.current = Some(component);
                        drop(future);
                        self.kernel.borrow_mut().free_tasks.push(key.index() as u32);
                        continue;
                    }
                    let place = self.component(component).children.len() as u32;
                    self.put_task(Task { key, component, place, future });
                    self.component(component).children.push(key);
                    key.waker().wake();
                }
                TaskRequest::Cancel(key) => self.stop_task(key),
            }
        }
    }

    /// Drops a task, if it is live.
    fn stop_task(&mut self, key: TaskKey) {
        if !self.is_live(key) {
            return;
        }
        let Some(task) = self.tasks[key.index()].take() else { return };
        let is_main = task.place == MAIN;
        self.current = Some(task.component);
        if !is_main {
            self.forget_child(task.component, task.place);
        }
        drop(task.future);
        self.kernel.borrow_mut().free_tasks.push(key.index() as u32);
    }

    fn stop_children(&mut self, component: ComponentId) {
        while let Some(&last) = self.component(component).children.last() {
            self.stop_task(last);
        }
    }

    /// Removes a child task from the list of its component; the last one takes its place.
    fn forget_child(&mut self, component: ComponentId, place: u32) {
        let children = &mut self.component(component).children;
        children.swap_remove(place as usize);
        if let Some(&moved) = children.get(place as usize)
            && let Some(task) = &mut self.tasks[moved.index()]
        {
            task.place = place;
        }
    }

    // Starts.

    fn start(&mut self, component: ComponentId) {
        let was_restarted = self.component(component).restarts > 0;
        let mut kernel = self.kernel.borrow_mut();
        if was_restarted || kernel.components.is_down(component) {
            // It crashed before it was to start: a restart has begun it, or will.
            return;
        }
        kernel.record(|kernel| Action::Started { component: kernel.place_name(component) });
        drop(kernel);
        if let Some(main) = self.component(component).main {
            self.poll_unless_paused(main);
        }
    }

    /// Drops what is left of a task. A destructor that panics is a failure.
    fn drop_task(&mut self, index: usize) -> Result<(), Stop> {
        self.guarded(|executor| {
            if let Some(task) = executor.tasks[index].take() {
                executor.current = Some(task.component);
                drop(task.future);
            }
        })
    }

    fn panicked(&self, payload: Box<dyn Any + Send>) -> Stop {
        let message = panic_message(payload);
        // Only the kernel's own panics could leave it borrowed, and a guard is gone when one gets here.
        let mut kernel = self.kernel.borrow_mut();
        let origin = match self.current {
            Some(component) => PanicOrigin::Component(kernel.components.name(component).to_string()),
            None => PanicOrigin::Model,
        };
        kernel.record(|_| Action::Failed { component: origin.to_string(), message: message.clone() });
        Stop::Panic(Panic { origin, at: kernel.now, message })
    }
}

/// Asks for the memory of the tasks whose timers fire next: for their places in the table, all at once, and then for
/// their futures.
#[inline(never)]
fn prefetch_tasks(tasks: &[Option<Task>], queue: &EventQueue) {
    let upcoming = || {
        queue.upcoming().filter_map(|payload| match Event::from_payload(payload) {
            Event::Timer(task_key) => tasks.get(task_key.index()),
            _ => None,
        })
    };
    upcoming().for_each(|task| prefetch(task, size_of::<Task>()));
    for task in upcoming().flatten() {
        prefetch(&*task.future, size_of_val(&*task.future).min(PREFETCH_BYTES_MAX));
    }
}

fn panic_message(payload: Box<dyn Any + Send>) -> String {
    match payload.downcast::<String>() {
        Ok(text) => *text,
        Err(payload) => match payload.downcast_ref::<&str>() {
            Some(text) => (*text).to_owned(),
            None => "panicked with a value that is not text".to_owned(),
        },
    }
}
