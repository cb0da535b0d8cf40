//! The run: events in order, each followed by the tasks that it wakes.

use std::any::Any;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{self, Poll, Waker};

use crate::expectation::{AnyResultSlot, Comparison};
use crate::kernel::Shared;
use crate::message::ComponentId;
use crate::simulation::{FinalCheck, Report, Simulation};
use crate::trace::Action;
use crate::verdict::{Failure, Origin, Violation};
use crate::waker::{TaskKey, Waiter, WokenRing};
use crate::{LimitReached, Limits, Message, Verdict, VirtualTime};

/// A component that runs, or has run.
struct Task {
    component: ComponentId,
    key: TaskKey,
    waker: Waker,
    /// `None` when the component has returned.
    future: Option<Pin<Box<dyn Future<Output = ()>>>>,
    result: Rc<dyn AnyResultSlot>,
}

struct Executor<M: Message> {
    kernel: Shared<M>,
    tasks: Vec<Task>,
    events: u64,
    /// The first expectation that did not hold.
    violation: Option<Violation>,
}

/// Why the run cannot go on.
enum Stop {
    Limit(LimitReached),
    Panic(Failure),
}

pub(crate) fn run<M: Message>(simulation: Simulation<M>) -> Report {
    let Simulation { kernel, components, limits, checks, .. } = simulation;
    let mut tasks = Vec::with_capacity(components.len());
    for (index, component) in components.into_iter().enumerate() {
        let key = TaskKey::new(index);
        kernel.borrow_mut().schedule_start(component.starts_at, component.id, key);
        let (future, result) = (Some(component.future), component.result);
        tasks.push(Task { component: component.id, key, waker: key.waker(), future, result });
    }
    Executor { kernel, tasks, events: 0, violation: None }.run(limits, checks)
}

impl<M: Message> Executor<M> {
    fn run(mut self, limits: Limits, checks: Vec<FinalCheck>) -> Report {
        self.kernel.borrow_mut().is_running = true;
        let end = self.handle_events(limits);
        let missing = self.missing_result();
        self.kernel.borrow_mut().is_running = false;
        let end = self.drop_components(end);
        let verdict = match end {
            Err(Stop::Limit(limit)) => Verdict::NotTerminated(limit),
            Err(Stop::Panic(failure)) => Verdict::Abnormal(failure),
            Ok(()) => match self.violation.take().or(missing) {
                Some(violation) => Verdict::Unreasonable(violation),
                None => self.check(checks),
            },
        };
        let mut kernel = self.kernel.borrow_mut();
        Report {
            verdict,
            events: self.events,
            ended_at: kernel.now,
            digest: kernel.digest.value(),
            trace: kernel.trace.take(),
        }
    }

    /// Handles events until there are no more.
    fn handle_events(&mut self, limits: Limits) -> Result<(), Stop> {
        let mut woken = WokenRing::enter();
        loop {
            while let Some(task_key) = woken.pop() {
                if !self.is_live(task_key) {
                    woken.keep_for_outer(task_key);
                    continue;
                }
                self.count_event(limits)?;
                self.kernel.borrow_mut().note_wake(task_key);
                self.poll(task_key)?;
            }
            let mut kernel = self.kernel.borrow_mut();
            // The end of time is where what saturates goes: it does not come.
            let Some(next) = kernel.next_time().filter(|next| *next < VirtualTime::MAX) else { return Ok(()) };
            if next > limits.virtual_time {
                return Err(Stop::Limit(LimitReached::VirtualTime { limit: limits.virtual_time, next }));
            }
            if self.events >= limits.events {
                return Err(Stop::Limit(LimitReached::Events { limit: limits.events, at: kernel.now }));
            }
            self.events += 1;
            let waiter = kernel.handle_next();
            drop(kernel);
            match waiter {
                Some(Waiter::Task(task_key)) => self.poll(task_key)?,
                Some(Waiter::Foreign(waker)) => waker.wake(),
                None => {}
            }
        }
    }

    fn count_event(&mut self, limits: Limits) -> Result<(), Stop> {
        if self.events >= limits.events {
            let at = self.kernel.borrow().now;
            return Err(Stop::Limit(LimitReached::Events { limit: limits.events, at }));
        }
        self.events += 1;
        Ok(())
    }

    fn is_live(&self, task_key: TaskKey) -> bool {
        self.tasks.get(task_key.index()).is_some_and(|task| task.key == task_key && task.future.is_some())
    }

    /// Polls a task, if it is live.
    fn poll(&mut self, task_key: TaskKey) -> Result<(), Stop> {
        if !self.is_live(task_key) {
            return Ok(());
        }
        let task = &mut self.tasks[task_key.index()];
        let future = &mut task.future;
        let waker = &task.waker;
        let polled = catch_unwind(AssertUnwindSafe(|| {
            let poll = future.as_mut().map(|future| future.as_mut().poll(&mut task::Context::from_waker(waker)));
            if poll == Some(Poll::Ready(())) {
                // Here, because destructors are the component's code too.
                *future = None;
            }
        }));
        if let Err(payload) = polled {
            return Err(self.panicked(task_key.index(), payload));
        }
        if self.tasks[task_key.index()].future.is_none() {
            self.returned(task_key.index());
        }
        Ok(())
    }

    /// Records that a component returned, and whether with what was expected.
    fn returned(&mut self, index: usize) {
        let Task { component, result, .. } = &self.tasks[index];
        let mut kernel = self.kernel.borrow_mut();
        kernel.record(|kernel| Action::Returned {
            component: kernel.component_name(*component).to_owned(),
            value: result.returned_text(),
        });
        if let (None, Comparison::Mismatch { expected, actual }) = (&self.violation, result.compare()) {
            let component = kernel.component_name(*component).to_owned();
            self.violation = Some(Violation::UnexpectedResult { component, at: kernel.now, expected, actual });
        }
    }

    /// Returns the violation of the first component that should have returned a value and has not.
    fn missing_result(&self) -> Option<Violation> {
        let kernel = self.kernel.borrow();
        self.tasks.iter().find_map(|task| match task.result.compare() {
            Comparison::NotReturned { expected } => Some(Violation::NoResult {
                component: kernel.component_name(task.component).to_owned(),
                expected,
                ended_at: kernel.now,
                waits: kernel.ports.waits(task.component),
            }),
            Comparison::Met | Comparison::Mismatch { .. } => None,
        })
    }

    /// Drops what is left of the components. A destructor that panics is a failure, unless there was one before.
    fn drop_components(&mut self, mut end: Result<(), Stop>) -> Result<(), Stop> {
        for index in 0..self.tasks.len() {
            let future = self.tasks[index].future.take();
            if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(future)))
                && !matches!(end, Err(Stop::Panic(_)))
            {
                end = Err(self.panicked(index, payload));
            }
        }
        end
    }

    fn panicked(&self, index: usize, payload: Box<dyn Any + Send>) -> Stop {
        let kernel = self.kernel.borrow();
        let component = kernel.component_name(self.tasks[index].component).to_owned();
        Stop::Panic(Failure { origin: Origin::Component(component), at: kernel.now, message: panic_message(payload) })
    }

    fn check(&self, checks: Vec<FinalCheck>) -> Verdict {
        for FinalCheck { name, check } in checks {
            match catch_unwind(AssertUnwindSafe(check)) {
                Ok(Ok(())) => {}
                Ok(Err(failure)) => return Verdict::Unreasonable(Violation::CheckFailed { check: name, failure }),
                Err(payload) => {
                    let at = self.kernel.borrow().now;
                    let message = panic_message(payload);
                    return Verdict::Abnormal(Failure { origin: Origin::Check(name), at, message });
                }
            }
        }
        Verdict::Reasonable
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
