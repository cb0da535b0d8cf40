//! Units of work for several workers at a time.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use crate::{CampaignError, SessionEnd};

/// How long a result waits for others to be written with.
const TOGETHER: Duration = Duration::from_millis(50);
/// How many results of each crew may wait for the thread that writes.
const AHEAD: usize = 8;

/// Does `work` on every unit, on one thread per element of `crews`. Hands each result to `seen` on this thread as soon
/// as it comes, and those of a short time together to `write`, in the order in which they come.
///
/// Units are begun in their order. After `stop` or an error, units that were begun are finished and no more are begun.
/// Of several errors the one of the first unit is returned, so that it does not depend on the number of threads; an
/// error of `write` is that of the first of its units.
pub(crate) fn run<Crew: Send, T: Send>(
    crews: Vec<Crew>,
    units: &[usize],
    stop: &AtomicBool,
    work: impl Fn(&mut Crew, usize) -> Result<T, CampaignError> + Sync,
    mut seen: impl FnMut(usize, &T),
    mut write: impl FnMut(&[(usize, T)]) -> Result<(), CampaignError>,
) -> Result<SessionEnd, CampaignError> {
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let (next, failed, work) = (&next, &failed, &work);
    // A session that cannot write its results soon makes its workers wait.
    let (sender, receiver) = mpsc::sync_channel(AHEAD * crews.len());
    let mut first_error: Option<(usize, CampaignError)> = None;
    let mut done = 0;
    std::thread::scope(|scope| {
        for mut crew in crews {
            let sender = sender.clone();
            scope.spawn(move || {
                while !stop.load(Relaxed) && !failed.load(Relaxed) {
                    let Some(&unit) = units.get(next.fetch_add(1, Relaxed)) else { break };
                    let result = work(&mut crew, unit);
                    if result.is_err() {
                        failed.store(true, Relaxed);
                    }
                    if sender.send((unit, result)).is_err() {
                        break;
                    }
                }
            });
        }
        drop(sender);
        // Nobody must wait for it if this panics.
        let receiver = receiver;
        let mut note = |unit, error| {
            failed.store(true, Relaxed);
            if first_error.as_ref().is_none_or(|&(first, _)| unit < first) {
                first_error = Some((unit, error));
            }
        };
        while let Ok(first) = receiver.recv() {
            let due = Instant::now() + TOGETHER;
            let mut unwritten = Vec::new();
            let mut next = Some(first);
            while let Some((unit, result)) = next {
                match result {
                    Ok(result) => {
                        seen(unit, &result);
                        unwritten.push((unit, result));
                    }
                    Err(error) => note(unit, error),
                }
                let left = due.saturating_duration_since(Instant::now());
                next = if left.is_zero() { None } else { receiver.recv_timeout(left).ok() };
            }
            let Some(first) = unwritten.iter().map(|(unit, _)| *unit).min() else { continue };
            match write(&unwritten) {
                Ok(()) => done += unwritten.len(),
                Err(error) => note(first, error),
            }
        }
    });
    match first_error {
        Some((_, error)) => Err(error),
        None if done == units.len() => Ok(SessionEnd::Finished),
        None => Ok(SessionEnd::Stopped),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fails(unit: usize) -> CampaignError {
        CampaignError::NotDeterministic { number: unit, difference: String::new(), share: None }
    }

    #[test]
    fn every_unit_is_done_once() {
        for crews in 1..4 {
            let units: Vec<usize> = (0..50).map(|unit| unit * 3).collect();
            let (mut seen, mut written) = (Vec::new(), Vec::new());
            let end = run(
                vec![(); crews],
                &units,
                &AtomicBool::new(false),
                |(), unit| Ok(unit + 1),
                |unit, result| {
                    assert_eq!(*result, unit + 1);
                    seen.push((unit, *result));
                },
                |results| {
                    written.extend_from_slice(results);
                    Ok(())
                },
            );
            assert_eq!(written, seen, "in the order in which they came");
            seen.sort_unstable();
            let expect: Vec<(usize, usize)> = units.iter().map(|unit| (*unit, unit + 1)).collect();
            assert_eq!((end.expect("nothing fails"), seen), (SessionEnd::Finished, expect));
        }
    }

    #[test]
    fn results_wait_for_others_but_not_for_all() {
        let units: Vec<usize> = (0..100).collect();
        let work = |(): &mut (), _| {
            std::thread::sleep(TOGETHER / 10);
            Ok(Instant::now())
        };
        let (mut writes, mut written) = (0, 0);
        let write = |results: &[(usize, Instant)]| {
            writes += 1;
            written += results.len();
            let waited = results[0].1.elapsed();
            assert!(waited >= TOGETHER || written == 100, "{} of them after {waited:?}", results.len());
            Ok(())
        };
        run(vec![()], &units, &AtomicBool::new(false), work, |_, _| {}, write).expect("nothing fails");
        assert!(writes > 1);
    }

    #[test]
    fn what_cannot_be_written_ends_it() {
        let units: Vec<usize> = (0..100).collect();
        let begun = AtomicUsize::new(0);
        let work = |(): &mut (), _| {
            begun.fetch_add(1, Relaxed);
            std::thread::sleep(TOGETHER / 10);
            Ok(())
        };
        let write = |results: &[(usize, ())]| Err(fails(results[0].0));
        let error = run(vec![()], &units, &AtomicBool::new(false), work, |_, ()| {}, write);
        assert!(matches!(error, Err(CampaignError::NotDeterministic { number: 0, .. })), "{error:?}");
        assert!(begun.into_inner() < units.len());
    }

    #[test]
    fn a_panic_of_this_thread_leaves_no_crew_behind() {
        let units: Vec<usize> = (0..10 * AHEAD).collect();
        let stop = AtomicBool::new(false);
        let run = || run(vec![()], &units, &stop, |(), _| Ok(()), |_, ()| panic!("nobody is told"), |_| Ok(()));
        std::panic::catch_unwind(run).expect_err("it comes through");
    }

    #[test]
    fn the_error_of_the_first_unit_is_returned_for_any_number_of_crews() {
        for crews in 1..5 {
            let units: Vec<usize> = (0..50).collect();
            let work = |(): &mut (), unit| if unit >= 7 { Err(fails(unit)) } else { Ok(()) };
            let error = run(vec![(); crews], &units, &AtomicBool::new(false), work, |_, ()| {}, |_| Ok(()));
            assert!(matches!(error, Err(CampaignError::NotDeterministic { number: 7, .. })), "{crews}: {error:?}");
        }
    }

    #[test]
    fn a_stop_lets_the_units_that_were_begun_finish() {
        let stop = AtomicBool::new(false);
        let units: Vec<usize> = (0..50).collect();
        let begun = AtomicUsize::new(0);
        let mut done = 0;
        let work = |(): &mut (), unit| {
            begun.fetch_add(1, Relaxed);
            if unit == 5 {
                stop.store(true, Relaxed);
            }
            Ok(())
        };
        let write = |results: &[(usize, ())]| {
            done += results.len();
            Ok(())
        };
        let end = run(vec![(); 3], &units, &stop, work, |_, ()| {}, write);
        assert_eq!(end.expect("nothing fails"), SessionEnd::Stopped);
        assert_eq!(done, begun.into_inner());
        assert!(done < units.len());
    }
}
