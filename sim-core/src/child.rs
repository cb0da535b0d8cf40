//! Child tasks: what a component does beside its body.

use std::cell::RefCell;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use crate::Message;
use crate::kernel::Shared;
use crate::message::ComponentId;
use crate::noted_waits::{NotedSubject, NotedWaker};
use crate::waker::TaskKey;

/// A task that a component [spawned](crate::Context::spawn), as a future of what it returns.
///
/// Dropping the handle changes nothing for the task.
pub struct Child<T> {
    state: Rc<RefCell<ChildState<T>>>,
    cancel: Rc<dyn Fn()>,
}

/// A child task was cancelled before it returned.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the child task was cancelled before it returned")]
pub struct Cancelled;

struct ChildState<T> {
    outcome: Option<Result<T, Cancelled>>,
    waiter: Option<NotedWaker>,
}

/// What a component asks of the executor about its child tasks.
pub(crate) enum TaskRequest {
    /// To run one more.
    Spawn { component: ComponentId, key: TaskKey, future: Pin<Box<dyn Future<Output = ()>>> },
    /// To stop one.
    Cancel(TaskKey),
}

impl<T: 'static> Child<T> {
    /// Asks the executor for a task that runs `body`.
    pub(crate) fn spawn<M: Message>(
        kernel: &Shared<M>,
        component: ComponentId,
        body: impl Future<Output = T> + 'static,
    ) -> Self {
        if !kernel.borrow().is_running {
            // Before the run, or after its end: nobody would ever poll it.
            let state = ChildState { outcome: Some(Err(Cancelled)), waiter: None };
            return Self { state: Rc::new(RefCell::new(state)), cancel: Rc::new(|| {}) };
        }
        let key = kernel.borrow_mut().new_task();
        let state = Rc::new(RefCell::new(ChildState { outcome: None, waiter: None }));
        let ending = Ending(state.clone());
        let future = Box::pin(async move {
            let ending = ending;
            let value = body.await;
            end(&ending.0, Ok(value));
        });
        kernel.borrow_mut().task_requests.push(TaskRequest::Spawn { component, key, future });
        let kernel = Rc::downgrade(kernel);
        let cancel = Rc::new(move || {
            if let Some(kernel) = kernel.upgrade() {
                kernel.borrow_mut().task_requests.push(TaskRequest::Cancel(key));
            }
        });
        Self { state, cancel }
    }

    /// Stops the task where it waits, as soon as the calling task waits; nothing of it happens after that.
    pub fn cancel(&self) {
        (self.cancel)();
    }

    /// Returns whether the task is over: it has returned, or was cancelled.
    pub fn is_over(&self) -> bool {
        self.state.borrow().outcome.is_some()
    }
}

/// Ends a child task that is dropped before it returned.
struct Ending<T>(Rc<RefCell<ChildState<T>>>);

impl<T> Drop for Ending<T> {
    fn drop(&mut self) {
        let is_open = self.0.borrow().outcome.is_none();
        if is_open && Rc::strong_count(&self.0) > 1 {
            end(&self.0, Err(Cancelled));
        }
    }
}

fn end<T>(state: &RefCell<ChildState<T>>, outcome: Result<T, Cancelled>) {
    let mut state = state.borrow_mut();
    state.outcome = Some(outcome);
    let waiter = state.waiter.take();
    drop(state);
    if let Some(waiter) = waiter {
        waiter.wake();
    }
}

impl<T> Future for Child<T> {
    type Output = Result<T, Cancelled>;

    fn poll(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Result<T, Cancelled>> {
        let waker = task.waker().clone();
        let mut state = self.state.borrow_mut();
        if let Some(outcome) = state.outcome.take() {
            // Whoever asks again hears that nothing is left.
            state.outcome = Some(Err(Cancelled));
            return Poll::Ready(outcome);
        }
        let replaced = NotedWaker::put(&mut state.waiter, waker, NotedSubject::ChildTask);
        drop(state);
        drop(replaced);
        Poll::Pending
    }
}

/// Nobody waits with a handle that is gone, but who did is still woken, so that a report of waits changes no run.
impl<T> Drop for Child<T> {
    fn drop(&mut self) {
        if let Some(waiter) = &mut self.state.borrow_mut().waiter {
            waiter.forget();
        }
    }
}

impl<T> fmt::Debug for Child<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Child").field("is_over", &self.state.borrow().outcome.is_some()).finish_non_exhaustive()
    }
}

impl fmt::Debug for TaskRequest {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Spawn { component, key, .. } => {
                formatter.debug_struct("Spawn").field("component", component).field("key", key).finish_non_exhaustive()
            }
            Self::Cancel(key) => formatter.debug_tuple("Cancel").field(key).finish(),
        }
    }
}
