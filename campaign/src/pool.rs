//! Units of work for several workers at a time.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::sync::mpsc;

use crate::{CampaignError, End};

/// Does `work` on every unit, on one thread per element of `crews`, and hands each result to `sink` on this thread, in the order in
/// which they come.
///
/// Units are begun in their order. After `stop` or an error, units that were begun are finished and no more are begun.
/// Of several errors the one of the first unit is returned, so that it does not depend on the number of threads.
pub(crate) fn run<Crew: Send, T: Send>(
    crews: Vec<Crew>,
    units: &[usize],
    stop: &AtomicBool,
    work: impl Fn(&mut Crew, usize) -> Result<T, CampaignError> + Sync,
    mut sink: impl FnMut(usize, T) -> Result<(), CampaignError>,
) -> Result<End, CampaignError> {
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let (next, failed, work) = (&next, &failed, &work);
    // A session that cannot write its results soon makes its workers wait.
    let (sender, receiver) = mpsc::sync_channel(2 * crews.len());
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
        for (unit, result) in receiver {
            match result.and_then(|result| sink(unit, result)) {
                Ok(()) => done += 1,
                Err(error) => {
                    failed.store(true, Relaxed);
                    if first_error.as_ref().is_none_or(|&(first, _)| unit < first) {
                        first_error = Some((unit, error));
                    }
                }
            }
        }
    });
    match first_error {
        Some((_, error)) => Err(error),
        None if done == units.len() => Ok(End::Finished),
        None => Ok(End::Stopped),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fails(unit: usize) -> CampaignError {
        CampaignError::NotDeterministic { number: unit, difference: String::new() }
    }

    #[test]
    fn every_unit_is_done_once() {
        for crews in 1..4 {
            let units: Vec<usize> = (0..50).map(|unit| unit * 3).collect();
            let mut seen = Vec::new();
            let end = run(
                vec![(); crews],
                &units,
                &AtomicBool::new(false),
                |(), unit| Ok(unit + 1),
                |unit, result| {
                    assert_eq!(result, unit + 1);
                    seen.push(unit);
                    Ok(())
                },
            );
            seen.sort_unstable();
            assert_eq!((end.expect("nothing fails"), seen), (End::Finished, units));
        }
    }

    #[test]
    fn the_error_of_the_first_unit_is_returned_for_any_number_of_crews() {
        for crews in 1..5 {
            let units: Vec<usize> = (0..50).collect();
            let work = |(): &mut (), unit| if unit >= 7 { Err(fails(unit)) } else { Ok(()) };
            let error = run(vec![(); crews], &units, &AtomicBool::new(false), work, |_, ()| Ok(()));
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
        let end = run(vec![(); 3], &units, &stop, work, |_, ()| {
            done += 1;
            Ok(())
        });
        assert_eq!(end.expect("nothing fails"), End::Stopped);
        assert_eq!(done, begun.into_inner());
        assert!(done < units.len());
    }
}
