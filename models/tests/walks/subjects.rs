//! ChooseTest and the garage door, as the papers have them, and a list with iterators.

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Duration;

use simutant_models::{
    CoverageGuided, End, Limits, Machine, Path, Step, StepResult, Strategy, Walker, Weighted, skip, transition,
};

/// Returns the machine ChooseTest: an assertion that fails in one of a hundred attempts to take its transition.
fn choose_test() -> Machine<()> {
    let transitions = [
        skip("ok -> ok"),
        skip("ok -> end"),
        transition("ok -> err", async |_: &mut (), step: &mut Step<'_>| {
            let first = step.choose(0..=9);
            step.require(first == 0)?;
            let second = step.choose(0..=9);
            step.assert(second != 0, "the second choice is not 0")
        }),
    ];
    Machine::new("ChooseTest", ["ok", "end", "err"], transitions).expect("it is a machine")
}

fn words(machine: &Machine<()>, path: &Path) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for taken in &path.taken {
        let name = &machine.shape().transitions[taken.transition as usize].name;
        let result = match taken.result {
            StepResult::Backtracked => " (back)",
            StepResult::Failed => " (failed)",
            StepResult::Succeeded | StepResult::Exceptional(_) => "",
        };
        words.push(format!("{name}{result}"));
    }
    words
}

/// Wang et al. (2019), 5.1: of 1,000 tests, in which no state is visited more than twice.
#[test]
fn choose_test_has_the_paths_of_the_paper() {
    let machine = choose_test();
    let mut walker = Walker::new().with_limits(Limits { visits: Some(2), ..Limits::default() });
    let mut found = BTreeSet::new();
    for seed in 0..1_000 {
        found.insert(words(&machine, &walker.run(machine.with(()), seed)));
    }
    let paper = [
        vec!["ok -> end"],
        vec!["ok -> ok", "ok -> end"],
        vec!["ok -> ok", "ok -> err (back)", "ok -> end"],
        vec!["ok -> ok", "ok -> err"],
        vec!["ok -> err (back)", "ok -> end"],
        vec!["ok -> err (failed)"],
        vec!["ok -> err"],
    ];
    let paper: BTreeSet<Vec<String>> = paper.map(|path| path.into_iter().map(str::to_owned).collect()).into();
    // One more is as likely as two tests of these, and the paper's did not have it.
    let rare = vec!["ok -> ok".to_owned(), "ok -> err (failed)".to_owned()];
    assert!(paper.is_subset(&found), "{found:?}");
    assert!(found.is_subset(&paper.iter().cloned().chain([rare]).collect()), "{found:?}");
    let metrics = walker.coverage().paths().metrics().expect("there are paths");
    assert_eq!((metrics.distinct, metrics.longest, metrics.shortest), (found.len(), 3, 1));
    // A path is a sum of others where it only puts them together.
    assert!((5..=found.len()).contains(&metrics.basis), "{metrics:?}");
    let coverage = walker.coverage();
    assert_eq!((coverage.states(), coverage.transitions(), coverage.pairs()), ((3, 3), (3, 3), (5, 6)));
}

/// A door of two metres whose motor moves it an eighth of a metre in a second.
#[derive(Debug)]
struct Door {
    top: Duration,
    /// When it began to move, where to, and how long it takes.
    moves: Rc<Cell<Option<(Duration, bool)>>>,
}

/// Returns the garage door of Wang et al. (2020), listings 1 and 2, whose door takes this long.
fn garage_door(takes: Duration) -> (Machine<Door>, Door) {
    let arrived = |door: &Door, step: &Step<'_>, up: bool| match door.moves.get() {
        None => !up,
        Some((since, to)) => to == up && step.now() - since >= door.top,
    };
    let move_to = move |up: bool| {
        async move |door: &mut Door, step: &mut Step<'_>| {
            let is_there = arrived(door, step, !up);
            step.require(is_there)?;
            door.moves.set(Some((step.now(), up)));
            step.stay(Duration::from_secs(16));
            Ok(())
        }
    };
    let check = move |up: bool| {
        async move |door: &mut Door, step: &mut Step<'_>| {
            let is_there = arrived(door, step, up);
            step.assert(is_there, "the door is at its end, and the motor is off")
        }
    };
    let machine = Machine::new(
        "garage door",
        ["down", "opening", "up", "closing", "end"],
        [
            transition("down -> opening", move_to(true)),
            transition("opening -> up", check(true)),
            transition("up -> closing", move_to(false)),
            transition("closing -> down", check(false)),
            skip("down | up -> end"),
        ],
    );
    let door = Door { top: takes, moves: Rc::new(Cell::new(None)) };
    (machine.expect("it is a machine"), door)
}

#[test]
fn a_slow_garage_door_is_found_and_shrinks_to_two_transitions() {
    let limits = Limits { transitions: 40, ..Limits::default() };
    let mut walker = Walker::new().with_limits(limits);
    for seed in 0..100 {
        let (machine, door) = garage_door(Duration::from_secs(16));
        assert!(walker.run(machine.with(door), seed).verdict().passes(), "{seed}");
    }
    assert_eq!(walker.coverage().transitions(), (6, 6));
    let slow = || {
        let (machine, door) = garage_door(Duration::from_secs(17));
        machine.with(door)
    };
    let path = (0..).map(|seed| walker.run(slow(), seed)).find(|path| !path.verdict().passes()).expect("it is slow");
    let End::Failed(finding) = &path.end else { panic!("{path:?}") };
    assert_eq!(finding.summary, "garage door: opening -> up: the door is at its end, and the motor is off");
    assert_eq!(path.taken.len(), 2);
}

/// A list under test that removes the wrong item, from three items on.
#[derive(Debug, Default)]
struct List {
    items: Vec<u32>,
    expect: Vec<u32>,
    is_broken: bool,
}

/// Returns a list, which launches iterators: a change of the list ends them.
fn list(is_broken: bool) -> (Machine<Rc<RefCell<List>>>, Rc<RefCell<List>>) {
    let iterator = |list: &Rc<RefCell<List>>| {
        let machine = Machine::new(
            "iterator",
            ["iterating", "done"],
            [
                transition("iterating -> iterating", async |iterator: &mut Iterating, step: &mut Step<'_>| {
                    let list = iterator.list.borrow();
                    step.require(iterator.next < list.expect.len())?;
                    let is_right = list.items.get(iterator.next) == list.expect.get(iterator.next);
                    iterator.next += 1;
                    step.assert(is_right, "the next item is the expected one")
                })
                .weight(3.0),
                skip("iterating -> done"),
            ],
        );
        let list = list.clone();
        machine.expect("it is a machine").with(Iterating { list, next: 0 })
    };
    let machine = Machine::new(
        "list",
        ["filling", "done"],
        [
            transition("filling -> filling", async |list: &mut Rc<RefCell<List>>, step: &mut Step<'_>| {
                let item = step.choose(1..=100);
                let mut list = list.borrow_mut();
                list.items.push(item);
                list.expect.push(item);
                Ok(())
            })
            .label("add"),
            transition("filling -> filling", async |list: &mut Rc<RefCell<List>>, step: &mut Step<'_>| {
                let mut list = list.borrow_mut();
                step.require(!list.expect.is_empty())?;
                let place = step.choose(0..=list.expect.len() as u32 - 1) as usize;
                list.expect.remove(place);
                let wrong = list.is_broken && list.items.len() >= 3;
                let removed = if wrong { list.items.len() - 1 } else { place };
                list.items.remove(removed);
                Ok(())
            })
            .label("remove"),
            transition("filling -> filling", async move |list: &mut Rc<RefCell<List>>, step: &mut Step<'_>| {
                let iterator = step.launch(iterator(list));
                step.join(iterator);
                Ok(())
            })
            .label("iterate"),
            skip("filling -> done").weight(0.3),
        ],
    );
    let model = Rc::new(RefCell::new(List { is_broken, ..List::default() }));
    (
        machine.expect("it is a machine").invariant("as many items as expected", |list| {
            let list = list.borrow();
            list.items.len() == list.expect.len()
        }),
        model,
    )
}

#[derive(Debug)]
struct Iterating {
    list: Rc<RefCell<List>>,
    next: usize,
}

#[test]
fn a_mistake_in_a_list_is_found_and_shrinks() {
    let strategies: [fn() -> Box<dyn Strategy>; 2] = [|| Box::new(Weighted), || Box::new(CoverageGuided::default())];
    let start = |is_broken| {
        let (machine, model) = list(is_broken);
        machine.with(model)
    };
    for strategy in strategies {
        let limits = Limits { transitions: 200, ..Limits::default() };
        let mut walker = Walker::new().with_boxed(strategy()).with_limits(limits);
        for seed in 0..200 {
            let path = walker.run(start(false), seed);
            assert!(path.verdict().passes(), "{path:?}");
        }
        let coverage = walker.coverage();
        assert_eq!((coverage.states(), coverage.transitions()), ((4, 4), (6, 6)));
        let failing = (0..10_000).map(|seed| walker.run(start(true), seed)).find(|path| !path.verdict().passes());
        let failing = failing.expect("it is found");
        assert_eq!(at_once(walker.replay(start(true), &failing)), failing);
        let small = at_once(simutant_models::shrink(&mut walker, || start(true), &failing));
        let names: Vec<&str> = small
            .taken
            .iter()
            .map(|taken| {
                let machine = walker.coverage().machines().nth(taken.machine as usize).expect("it is known");
                machine.transitions[taken.transition as usize].name.as_str()
            })
            .collect();
        let iterating = "iterating -> iterating";
        assert_eq!(names[..5], ["add", "add", "add", "remove", "iterate"], "{small:?}");
        assert!(names[5..].iter().all(|name| *name == iterating) && names.len() <= 7, "{names:?}");
    }
}

fn at_once<T>(future: impl Future<Output = T>) -> T {
    use std::task::{Context, Poll, Waker};
    match std::pin::pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(value) => value,
        Poll::Pending => panic!("nothing waits"),
    }
}
