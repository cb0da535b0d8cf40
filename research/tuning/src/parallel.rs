//! Work on several threads, whose results do not depend on how many there are.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Returns what `work` makes of each number below `count`, in their order, on so many threads.
#[expect(clippy::disallowed_methods, reason = "results are by number: no order of threads shows")]
pub(crate) fn map<T: Send>(count: usize, threads: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let results = Mutex::new(Vec::with_capacity(count));
    std::thread::scope(|scope| {
        for _ in 0..threads.clamp(1, count.max(1)) {
            scope.spawn(|| {
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        break;
                    }
                    let result = work(number);
                    results.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push((number, result));
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    results.sort_by_key(|&(number, _)| number);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_in_the_order_of_their_numbers() {
        for threads in [0, 1, 3, 40] {
            let results = map(20, threads, |number| {
                // Later ones are done first.
                let rounds = (20 - number) * 5_000;
                std::hint::black_box((0..rounds).fold(0_usize, usize::wrapping_add));
                number * number
            });
            assert_eq!(results, (0..20).map(|number| number * number).collect::<Vec<_>>());
        }
        assert!(map(0, 2, |number| number).is_empty());
    }
}
