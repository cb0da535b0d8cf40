//! Queues between tasks that share memory: the children of a component, or the parts of a queueing model.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use crate::noted_waits::{NotedSubject, NotedWaker};

/// Returns the two ends of an unbounded queue, first in first out.
///
/// No network is between them: what is sent is there at the same instant. So it is for tasks that would share memory in
/// reality, and for models without a network, such as a customer who joins the queue before a server.
///
/// ```
/// use simutant_sim_core::{Message, Simulation, VirtualDuration, VirtualTime, fifo};
///
/// # #[derive(Debug, Clone, Hash)]
/// # struct Nothing;
/// # impl Message for Nothing {
/// #     fn kind(&self) -> &'static str { "NOTHING" }
/// # }
/// let (customers, mut queue) = fifo();
/// let mut simulation = Simulation::<Nothing>::new(1);
/// simulation.add("door", |_| async move { (0..3).for_each(|customer| customers.send(customer)) });
/// simulation
///     .add("clerk", |context| async move {
///         // The queue is over when the door, its only sender, is gone.
///         while queue.recv().await.is_some() {
///             context.pause(VirtualDuration::from_secs(60)).await;
///         }
///         context.now()
///     })
///     .expecting(VirtualTime::from_secs(180));
/// assert!(simulation.run().ended.passed());
/// ```
pub fn fifo<T>() -> (FifoSender<T>, FifoReceiver<T>) {
    let state = Rc::new(RefCell::new(State { items: VecDeque::new(), waiter: None, senders: 1, has_receiver: true }));
    (FifoSender { state: state.clone() }, FifoReceiver { state })
}

struct State<T> {
    items: VecDeque<T>,
    waiter: Option<NotedWaker>,
    senders: usize,
    has_receiver: bool,
}

/// The end of a [`fifo`] that takes items; it can be cloned.
pub struct FifoSender<T> {
    state: Rc<RefCell<State<T>>>,
}

/// The end of a [`fifo`] that gives items.
pub struct FifoReceiver<T> {
    state: Rc<RefCell<State<T>>>,
}

impl<T> FifoSender<T> {
    /// Appends an item. If the receiver is gone, the item is dropped.
    pub fn send(&self, item: T) {
        let mut state = self.state.borrow_mut();
        if !state.has_receiver {
            drop(state);
            return drop(item);
        }
        state.items.push_back(item);
        let waiter = state.waiter.take();
        drop(state);
        if let Some(waiter) = waiter {
            waiter.wake();
        }
    }
}

impl<T> FifoReceiver<T> {
    /// Waits for the oldest item. Returns `None` when there are no items and no senders any more.
    ///
    /// Dropping the future before it is ready loses nothing.
    pub fn recv(&mut self) -> FifoRecv<'_, T> {
        FifoRecv { state: &self.state, is_registered: false }
    }

    /// Returns how many items wait.
    pub fn len(&self) -> usize {
        self.state.borrow().items.len()
    }

    /// Returns whether none waits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// The future of [`FifoReceiver::recv`].
#[must_use = "futures do nothing unless awaited"]
pub struct FifoRecv<'a, T> {
    state: &'a RefCell<State<T>>,
    is_registered: bool,
}

impl<T> Future for FifoRecv<'_, T> {
    type Output = Option<T>;

    fn poll(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Option<T>> {
        let this = self.get_mut();
        let mut state = this.state.borrow_mut();
        if let Some(item) = state.items.pop_front() {
            return Poll::Ready(Some(item));
        }
        if state.senders == 0 {
            return Poll::Ready(None);
        }
        drop(state);
        // Cloned and dropped outside the borrow, because a foreign waker may run code that comes back here.
        let waker = task.waker().clone();
        let _replaced = NotedWaker::put(&mut this.state.borrow_mut().waiter, waker, NotedSubject::FifoItem);
        this.is_registered = true;
        Poll::Pending
    }
}

impl<T> Drop for FifoRecv<'_, T> {
    fn drop(&mut self) {
        if self.is_registered {
            // In a variable, so that a foreign waker is dropped after the borrow.
            let _waiter = self.state.borrow_mut().waiter.take();
        }
    }
}

impl<T> Drop for FifoReceiver<T> {
    fn drop(&mut self) {
        let mut state = self.state.borrow_mut();
        state.has_receiver = false;
        let items = std::mem::take(&mut state.items);
        drop(state);
        drop(items);
    }
}

impl<T> Clone for FifoSender<T> {
    fn clone(&self) -> Self {
        self.state.borrow_mut().senders += 1;
        Self { state: self.state.clone() }
    }
}

impl<T> Drop for FifoSender<T> {
    fn drop(&mut self) {
        let mut state = self.state.borrow_mut();
        state.senders -= 1;
        let waiter = if state.senders == 0 { state.waiter.take() } else { None };
        drop(state);
        if let Some(waiter) = waiter {
            waiter.wake();
        }
    }
}

impl<T> fmt::Debug for FifoSender<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("FifoSender").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for FifoReceiver<T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("FifoReceiver").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for FifoRecv<'_, T> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("FifoRecv").finish_non_exhaustive()
    }
}
