//! Values of a type that only the compiler can name, one for each body of a function.
//!
//! The bodies of a function that returns an `impl Trait` return values of different types, even where their text is the
//! same: a closure has a type of its own wherever it stands. So the function returns one of several, as one type that
//! has the traits which all of them have.

use std::fmt::{Debug, Display, Formatter};
use std::future::Future;
use std::iter::FusedIterator;
use std::pin::Pin;
use std::task::{Context, Poll};

/// What one of two bodies returns.
///
/// A function of more bodies nests it. It has the traits of the two that a specification's functions usually promise:
/// those of iterators, futures (which the generated code puts into a box, so that they can be moved), and text.
#[derive(Clone)]
pub enum Either<A, B> {
    /// What the first one returns.
    One(A),
    /// What the second one returns, or one of those after it.
    Other(B),
}

impl<A: Iterator, B: Iterator<Item = A::Item>> Iterator for Either<A, B> {
    type Item = A::Item;

    #[inline]
    fn next(&mut self) -> Option<A::Item> {
        match self {
            Self::One(inner) => inner.next(),
            Self::Other(inner) => inner.next(),
        }
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        match self {
            Self::One(inner) => inner.size_hint(),
            Self::Other(inner) => inner.size_hint(),
        }
    }

    #[inline]
    fn nth(&mut self, n: usize) -> Option<A::Item> {
        match self {
            Self::One(inner) => inner.nth(n),
            Self::Other(inner) => inner.nth(n),
        }
    }

    #[inline]
    fn count(self) -> usize {
        match self {
            Self::One(inner) => inner.count(),
            Self::Other(inner) => inner.count(),
        }
    }

    #[inline]
    fn last(self) -> Option<A::Item> {
        match self {
            Self::One(inner) => inner.last(),
            Self::Other(inner) => inner.last(),
        }
    }

    #[inline]
    fn fold<C, F: FnMut(C, A::Item) -> C>(self, start: C, add: F) -> C {
        match self {
            Self::One(inner) => inner.fold(start, add),
            Self::Other(inner) => inner.fold(start, add),
        }
    }
}

impl<A: DoubleEndedIterator, B: DoubleEndedIterator<Item = A::Item>> DoubleEndedIterator for Either<A, B> {
    #[inline]
    fn next_back(&mut self) -> Option<A::Item> {
        match self {
            Self::One(inner) => inner.next_back(),
            Self::Other(inner) => inner.next_back(),
        }
    }

    #[inline]
    fn nth_back(&mut self, n: usize) -> Option<A::Item> {
        match self {
            Self::One(inner) => inner.nth_back(n),
            Self::Other(inner) => inner.nth_back(n),
        }
    }

    #[inline]
    fn rfold<C, F: FnMut(C, A::Item) -> C>(self, start: C, add: F) -> C {
        match self {
            Self::One(inner) => inner.rfold(start, add),
            Self::Other(inner) => inner.rfold(start, add),
        }
    }
}

impl<A: ExactSizeIterator, B: ExactSizeIterator<Item = A::Item>> ExactSizeIterator for Either<A, B> {
    #[inline]
    fn len(&self) -> usize {
        match self {
            Self::One(inner) => inner.len(),
            Self::Other(inner) => inner.len(),
        }
    }
}

impl<A: FusedIterator, B: FusedIterator<Item = A::Item>> FusedIterator for Either<A, B> {}

impl<A: Future + Unpin, B: Future<Output = A::Output> + Unpin> Future for Either<A, B> {
    type Output = A::Output;

    #[inline]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<A::Output> {
        match self.get_mut() {
            Self::One(inner) => Pin::new(inner).poll(context),
            Self::Other(inner) => Pin::new(inner).poll(context),
        }
    }
}

impl<A: Display, B: Display> Display for Either<A, B> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::One(inner) => inner.fmt(formatter),
            Self::Other(inner) => inner.fmt(formatter),
        }
    }
}

/// As what it holds is shown.
impl<A: Debug, B: Debug> Debug for Either<A, B> {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::One(inner) => inner.fmt(formatter),
            Self::Other(inner) => inner.fmt(formatter),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same iterator as one body and as the other.
    fn both() -> [Either<impl Iterator<Item = u32> + Clone, std::vec::IntoIter<u32>>; 2] {
        let one = |x: &u32| *x != 3;
        [Either::One((0..9).filter(one)), Either::Other((0..9).filter(one).collect::<Vec<_>>().into_iter())]
    }

    #[test]
    fn whichever_it_is_it_gives_the_same() {
        let [one, other] = both();
        assert_eq!(one.clone().collect::<Vec<_>>(), other.clone().collect::<Vec<_>>());
        assert_eq!((one.clone().count(), one.clone().last()), (other.clone().count(), other.clone().last()));
        assert_eq!((one.clone().nth(2), one.sum::<u32>()), (other.clone().nth(2), other.sum::<u32>()));
    }

    #[test]
    fn it_has_two_ends_if_both_have() {
        for either in [Either::One([2, 3, 4, 5].iter().copied()), Either::Other([2, 3, 4, 5].into_iter())] {
            let mut either = either;
            assert_eq!((either.len(), either.clone().rfold(0, |sum, x| 10 * sum + x)), (4, 5432));
            assert_eq!((either.next_back(), either.nth_back(1)), (Some(5), Some(3)));
            assert_eq!((either.next(), either.next()), (Some(2), None));
        }
    }

    #[test]
    fn it_is_shown_as_what_it_holds() {
        let either: [Either<u8, &str>; 2] = [Either::One(7), Either::Other("seven")];
        assert_eq!(format!("{} {:?} {} {:?}", either[0], either[0], either[1], either[1]), "7 7 seven \"seven\"");
    }

    #[test]
    fn a_future_in_a_box_is_one() {
        let mut context = Context::from_waker(std::task::Waker::noop());
        for either in [Either::One(Box::pin(async { 3 })), Either::Other(Box::pin(std::future::ready(3)))] {
            assert_eq!(std::pin::pin!(either).poll(&mut context), Poll::Ready(3));
        }
    }
}
