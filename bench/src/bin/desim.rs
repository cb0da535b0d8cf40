//! desim: processes are coroutines, which are nightly Rust's.
//!
//! A process that waits is resumed by any event, and a scheduled event cannot be taken back, so there is no timer to
//! cancel, and no ping. The steps are not logged, since their state asks for that; the default keeps all of them.

#![feature(coroutines, coroutine_trait)]

use std::cell::RefCell;
use std::collections::VecDeque;
use std::process::ExitCode;
use std::rc::Rc;

use desim::resources::SimpleStore;
use desim::{Effect, EndCondition, SimContext, SimState, Simulation};
use simutant_bench::{ARRIVAL_RATE, Counter, Outcome, Random, Task, Workload, timed};

fn main() -> ExitCode {
    simutant_bench::run(|task| match task.workload {
        Workload::Hold => Some(hold(task)),
        Workload::Ping | Workload::PingLossy => None,
        Workload::Mm1 => Some(mm1(task)),
    })
}

/// An effect that leaves no entry in the log.
#[derive(Debug, Clone, Copy)]
struct Unlogged(Effect);

impl SimState for Unlogged {
    fn get_effect(&self) -> Effect {
        self.0
    }

    fn set_effect(&mut self, effect: Effect) {
        self.0 = effect;
    }

    fn should_log(&self) -> bool {
        false
    }
}

/// Time is a number of seconds.
fn sleep(random: &RefCell<Random>, mean_s: f64) -> Unlogged {
    Unlogged(Effect::TimeOut(random.borrow_mut().exponential_ns(mean_s) as f64 / 1e9))
}

fn hold(task: Task) -> Outcome {
    let units = Counter::default();
    let random = Rc::new(RefCell::new(Random::new(task.seed)));
    let mut simulation = Simulation::new();
    for _ in 0..task.n {
        let (units, random) = (units.clone(), random.clone());
        let process = simulation.create_process(Box::new(
            #[coroutine]
            move |_: SimContext<Unlogged>| loop {
                yield sleep(&random, 1.0);
                units.add(1);
            },
        ));
        simulation.schedule_event(0.0, process, Unlogged(Effect::Wait));
    }
    let until = EndCondition::Time(task.horizon_ns() as f64 / 1e9);
    let (simulation, cpu) = timed(|| simulation.run(until));
    let virtual_ns = (simulation.time() * 1e9) as u64;
    Outcome { cpu, units: units.get(), timeouts: 0, virtual_ns, stay_ns: None }
}

/// The store hands no items over: when the customers came is kept beside it.
fn mm1(task: Task) -> Outcome {
    let customers = task.units;
    let (served, stays_s) = (Counter::default(), Rc::new(RefCell::new(0.0)));
    let random = Rc::new(RefCell::new(Random::new(task.seed)));
    let queue = Rc::new(RefCell::new(VecDeque::new()));
    let mut simulation = Simulation::new();
    let store = simulation.create_store(Box::new(SimpleStore::new(usize::MAX)));
    let arrivals = {
        let (random, queue) = (random.clone(), queue.clone());
        simulation.create_process(Box::new(
            #[coroutine]
            move |_: SimContext<Unlogged>| {
                for _ in 0..customers {
                    let context: SimContext<Unlogged> = yield sleep(&random, 1.0 / ARRIVAL_RATE);
                    queue.borrow_mut().push_back(context.time());
                    yield Unlogged(Effect::Push(store));
                }
            },
        ))
    };
    let server = {
        let (served, stays_s) = (served.clone(), stays_s.clone());
        simulation.create_process(Box::new(
            #[coroutine]
            move |_: SimContext<Unlogged>| {
                for _ in 0..customers {
                    yield Unlogged(Effect::Pull(store));
                    let arrived_at = queue.borrow_mut().pop_front().expect("a customer was pulled");
                    let context: SimContext<Unlogged> = yield sleep(&random, 1.0);
                    *stays_s.borrow_mut() += context.time() - arrived_at;
                    served.add(1);
                }
            },
        ))
    };
    for process in [arrivals, server] {
        simulation.schedule_event(0.0, process, Unlogged(Effect::Wait));
    }
    let (simulation, cpu) = timed(|| simulation.run(EndCondition::NoEvents));
    let virtual_ns = (simulation.time() * 1e9) as u64;
    let stay_ns = Some(*stays_s.borrow() * 1e9 / served.get() as f64);
    Outcome { cpu, units: served.get(), timeouts: 0, virtual_ns, stay_ns }
}
