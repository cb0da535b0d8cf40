//! Notes which way a decision goes, with the uses in it.

use crate::Attempt;
use crate::marks::{Row, take, used_on};

/// A use in what decides, or after it: the definition that it saw, and its row, where each definition has a mark for
/// each of two ways.
pub type Held = (u16, Row);

/// Notes which way a condition goes with the uses in it, and hands its value on. The first of two marks is for `true`.
#[inline(always)]
pub fn branch<const N: usize>(condition: bool, first: u32, held: [Held; N]) -> bool {
    // Two ways: the compiler lets them run on into those of the code, where it knows more.
    if condition {
        decided(&held, first, 0)
    } else {
        decided(&held, first, 1)
    }
    condition
}

/// As [`branch`], for a condition that leads to nothing which has a probe: the compiler may do without a branch.
#[inline(always)]
pub fn select<const N: usize>(condition: bool, first: u32, held: [Held; N]) -> bool {
    decided(&held, first, usize::from(!condition));
    condition
}

#[inline(always)]
fn decided(held: &[Held], first: u32, way: usize) {
    for &(definition, row) in held {
        used_on(definition, row, way);
    }
    take(first, way);
}

/// Notes which way a `?` goes with the uses in its operand, and hands that on. The first of two marks is for going on.
#[inline(always)]
pub fn question<T: Attempt, const N: usize>(attempt: T, first: u32, held: [Held; N]) -> T {
    _ = branch(attempt.continues(), first, held);
    attempt
}

/// An iterator that notes whether it goes on; see [`iterate`].
#[derive(Debug)]
pub struct Iterate<I, const FIRST: u32, const N: usize> {
    inner: I,
    held: [Held; N],
}

impl<I: Iterator, const FIRST: u32, const N: usize> Iterator for Iterate<I, FIRST, N> {
    type Item = I::Item;

    #[inline(always)]
    fn next(&mut self) -> Option<I::Item> {
        let item = self.inner.next();
        _ = branch(item.is_some(), FIRST, self.held);
        item
    }
}

/// Makes the iterator of a `for` loop note, each time, whether the loop goes on, with the uses in its head. The first
/// of two marks is for going on.
#[inline]
pub fn iterate<const FIRST: u32, const N: usize, I: IntoIterator>(
    items: I,
    held: [Held; N],
) -> Iterate<I::IntoIter, FIRST, N> {
    Iterate { inner: items.into_iter(), held }
}

/// Hands the value of a condition on.
#[inline]
pub fn holds(condition: bool) -> bool {
    condition
}
