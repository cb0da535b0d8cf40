//! Shrinking: a shorter path, with smaller choices, that still fails in the same way.

use std::ops::Range;

use crate::instance::Instance;
use crate::path::{End, InstanceId, Path, Taken};
use crate::walk::Walker;

/// Returns a path that fails as `path` does, with as few transitions and as small choices as a search finds that leaves parts
/// out and halves choices. A choice is the smallest that fails where all greater ones fail as well; elsewhere a smaller one may
/// fail too, and so may another path that is shorter. `instance` makes the instance that a walk begins with.
///
/// A path that does not fail is returned as it is.
///
/// ```
/// use std::pin::pin;
/// use std::task::{Context, Poll, Waker};
/// use simutant_models::{Machine, Step, Walker, shrink, skip, transition};
///
/// let add = transition("on -> on", async |sum: &mut u32, step: &mut Step<'_>| {
///     *sum += step.choose(0..=9);
///     step.assert(*sum < 15, "the sum is small")
/// });
/// let adder = Machine::new("adder", ["on", "off"], [add, skip("on -> off")])?;
/// let mut walker = Walker::new();
/// let mut failing = (0..100).map(|seed| walker.run(adder.with(0), seed)).filter(|path| !path.verdict().passes());
/// let path = failing.by_ref().max_by_key(|path| path.taken.len()).expect("some walk fails");
/// assert!(path.taken.len() > 2);
/// let shrinking = pin!(shrink(&mut walker, || adder.with(0), &path));
/// let Poll::Ready(least) = shrinking.poll(&mut Context::from_waker(Waker::noop())) else { panic!("it waits") };
/// // None of the numbers can be smaller: together they are just enough.
/// assert_eq!(least.taken.iter().map(|taken| taken.choices[0]).sum::<u32>(), 15);
/// # Ok::<(), simutant_models::MachineError>(())
/// ```
pub async fn shrink(walker: &mut Walker, mut instance: impl FnMut() -> Box<dyn Instance>, path: &Path) -> Path {
    let mut best = path.clone();
    let Some(kind) = kind(path).map(str::to_owned) else { return best };
    let mut part = best.taken.len() / 2;
    while part > 0 {
        let (mut start, mut is_smaller) = (0, false);
        while start < best.taken.len() {
            let end = (start + part).min(best.taken.len());
            match fails(walker, instance(), &best, without(&best.taken, start..end), &kind).await {
                Some(smaller) => (best, is_smaller) = (smaller, true),
                None => start = end,
            }
        }
        if !is_smaller || part > 1 {
            part /= 2;
        }
    }
    let choices: Vec<(usize, usize)> = (0..)
        .zip(&best.taken)
        .flat_map(|(place, taken)| (0..taken.choices.len()).map(move |choice| (place, choice)))
        .collect();
    for (place, choice) in choices {
        // What a smaller choice leads to may have fewer.
        let chosen = |path: &Path| path.taken.get(place).and_then(|taken| taken.choices.get(choice).copied());
        let mut least = 0;
        while let Some(now) = chosen(&best).filter(|now| *now > least) {
            let tried = least + (now - least) / 2;
            let mut taken = best.taken.clone();
            taken[place].choices[choice] = tried;
            match fails(walker, instance(), &best, taken, &kind).await {
                Some(smaller) if chosen(&smaller).is_some_and(|chosen| chosen < now) => best = smaller,
                _ => least = tried + 1,
            }
        }
    }
    best
}

/// Returns the transitions without some of them, and without those of instances that are launched by these.
fn without(taken: &[Taken], left_out: Range<usize>) -> Vec<Taken> {
    let mut rest = Vec::with_capacity(taken.len());
    // For each instance of the whole path, its number in the rest.
    let mut numbers = vec![Some(InstanceId(0))];
    let mut next = 1;
    for (place, taken) in taken.iter().enumerate() {
        let instance = numbers.get(taken.instance.0 as usize).copied().flatten();
        let kept = instance.filter(|_| !left_out.contains(&place));
        for _ in 0..taken.launched {
            numbers.push(kept.map(|_| InstanceId(next)));
            next += u32::from(kept.is_some());
        }
        rest.extend(kept.map(|instance| Taken { instance, ..taken.clone() }));
    }
    rest
}

/// Replays transitions; returns the path if it fails in this way.
async fn fails(
    walker: &mut Walker,
    instance: Box<dyn Instance>,
    of: &Path,
    taken: Vec<Taken>,
    kind: &str,
) -> Option<Path> {
    let path = walker.replay(instance, &Path { seed: of.seed, taken, end: End::Cut }).await;
    (self::kind(&path) == Some(kind)).then_some(path)
}

fn kind(path: &Path) -> Option<&str> {
    match &path.end {
        End::Failed(finding) => Some(&finding.kind),
        _ => None,
    }
}
