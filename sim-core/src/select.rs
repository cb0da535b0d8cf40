//! Waiting for whichever comes first.

use std::future::Future;
use std::pin::pin;
use std::task::Poll;

use crate::noted_waits::{asked_len, withdraw_after};

/// Futures of which the first that is ready counts: tuples of two to four futures, and arrays. See [`select`].
pub trait Select {
    /// What the first of them returned, and which one it was.
    type Output;

    /// Returns a future of it.
    fn first(self) -> impl Future<Output = Self::Output>;
}

/// Waits until one of several futures is ready, returns its output, and drops the others.
///
/// They are polled in the order of the arguments, so of several that are ready the first counts. The futures of this
/// crate lose nothing when they are dropped: a message that was not received stays where it is, and a timer is gone. A
/// tuple may hold futures of different types; the index of the one that was first is a case of [`Either2`] to
/// [`Either4`]. An array holds futures of one type, and gives the index.
///
/// ```
/// use simutant_sim_core::{Either2, Message, Simulation, VirtualDuration, select};
///
/// # #[derive(Debug, Clone, PartialEq, Hash)]
/// # struct Hello;
/// # impl Message for Hello {
/// #     fn kind(&self) -> &'static str {
/// #         "HELLO"
/// #     }
/// # }
/// let mut simulation = Simulation::<Hello>::new(1);
/// let waiter = simulation.add("waiter", |context| async move {
///     let mut channel = context.channel_at(80);
///     match select((channel.recv(), context.pause(VirtualDuration::from_secs(1)))).await {
///         Either2::First(delivery) => Some(delivery.message),
///         Either2::Second(()) => None,
///     }
/// });
/// # let waiter = waiter.returned();
/// # simulation.run();
/// # assert!(waiter.get().is_some_and(|outcome| outcome.is_none()));
/// ```
pub async fn select<S: Select>(futures: S) -> S::Output {
    let mut first = pin!(futures.first());
    std::future::poll_fn(|task| {
        let asked = asked_len();
        let poll = first.as_mut().poll(task);
        if poll.is_ready() {
            // The others are not waited for any more, even those that are not dropped because they were lent.
            withdraw_after(asked);
        }
        poll
    })
    .await
}

impl<F: Future + Unpin, const N: usize> Select for [F; N] {
    type Output = (usize, F::Output);

    async fn first(mut self) -> (usize, F::Output) {
        std::future::poll_fn(|task| {
            for (index, future) in self.iter_mut().enumerate() {
                if let Poll::Ready(output) = pin!(future).poll(task) {
                    return Poll::Ready((index, output));
                }
            }
            Poll::Pending
        })
        .await
    }
}

macro_rules! select_tuple {
    ($name:ident, $count:literal: $($case:ident $future:ident $variable:ident),*) => {
        #[doc = concat!("Which of ", $count, " futures was first, and what it returned.")]
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub enum $name<$($case),*> {
            $(
                /// What it returned, if it was this one.
                $case($case),
            )*
        }

        impl<$($future: Future),*> Select for ($($future,)*) {
            type Output = $name<$($future::Output),*>;

            async fn first(self) -> Self::Output {
                let ($($variable,)*) = self;
                $(let mut $variable = pin!($variable);)*
                std::future::poll_fn(|task| {
                    $(if let Poll::Ready(output) = $variable.as_mut().poll(task) {
                        return Poll::Ready($name::$case(output));
                    })*
                    Poll::Pending
                })
                .await
            }
        }
    };
}

select_tuple!(Either2, "two": First A first, Second B second);
select_tuple!(Either3, "three": First A first, Second B second, Third C third);
select_tuple!(Either4, "four": First A first, Second B second, Third C third, Fourth D fourth);
