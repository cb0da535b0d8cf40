//! Each workload as a bare loop over the standard library's binary heap: no components, no network, no cancelled
//! timers.
//!
//! It is the measure of all engines. What a model needs to remember of a component is a number or two in a vector, and
//! a timer that is no longer wanted stays in the heap until it comes up, which is what costs least to write.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};
use std::process::ExitCode;

use simutant_bench::{ARRIVAL_RATE, DROP, Outcome, Random, Task, Workload, timed};

fn main() -> ExitCode {
    simutant_bench::run(|task| {
        Some(match task.workload {
            Workload::Hold => hold(task),
            Workload::Ping => ping::<false>(task),
            Workload::PingLossy => ping::<true>(task),
            Workload::Mm1 => mm1(task),
        })
    })
}

/// Events by time, then by a number that only grows.
#[derive(Default)]
struct Queue {
    heap: BinaryHeap<Reverse<(u64, u64, u32)>>,
    sequence: u64,
}

impl Queue {
    /// Schedules an event, and returns its number, which is never 0.
    #[inline]
    fn push(&mut self, time_ns: u64, event: u32) -> u64 {
        self.sequence += 1;
        self.heap.push(Reverse((time_ns, self.sequence, event)));
        self.sequence
    }

    #[inline]
    fn pop(&mut self) -> (u64, u64, u32) {
        let Reverse(event) = self.heap.pop().expect("these workloads never end by themselves");
        event
    }
}

fn hold(task: Task) -> Outcome {
    let horizon_ns = task.horizon_ns();
    let mut random = Random::new(task.seed);
    let mut queue = Queue::default();
    let (units, cpu) = timed(|| {
        for component in 0..task.n {
            queue.push(random.exponential_ns(1.0), component);
        }
        let mut units = 0;
        loop {
            let (now_ns, _, component) = queue.pop();
            if now_ns > horizon_ns {
                break units;
            }
            units += 1;
            queue.push(now_ns + random.exponential_ns(1.0), component);
        }
    });
    Outcome { cpu, units, timeouts: 0, virtual_ns: horizon_ns, stay_ns: None }
}

/// Players have numbers, and those of a pair differ in the last bit. An event is twice the number of a player for an
/// arrival there, and one more for a timeout.
fn ping<const IS_LOSSY: bool>(task: Task) -> Outcome {
    let horizon_ns = task.horizon_ns();
    let mut random = Random::new(task.seed);
    let mut queue = Queue::default();
    let mut send = move |queue: &mut Queue, now_ns: u64, to: u32| {
        if !IS_LOSSY || random.unit() >= DROP {
            queue.push(now_ns + random.latency_ns(), to * 2);
        }
    };
    // The number of the timer that each player waits with.
    let mut timers = vec![0; 2 * task.n as usize];
    let ((units, timeouts), cpu) = timed(|| {
        for player in 0..2 * task.n {
            if player % 2 == 0 {
                send(&mut queue, 0, player + 1);
            }
            timers[player as usize] = queue.push(task.timeout_ns, player * 2 + 1);
        }
        let (mut units, mut timeouts) = (0, 0);
        loop {
            let (now_ns, sequence, event) = queue.pop();
            if now_ns > horizon_ns {
                break (units, timeouts);
            }
            let player = event / 2;
            if event % 2 == 0 {
                units += 1;
                send(&mut queue, now_ns, player ^ 1);
            } else if timers[player as usize] == sequence {
                timeouts += 1;
                if player % 2 == 0 {
                    send(&mut queue, now_ns, player ^ 1);
                }
            } else {
                continue;
            }
            timers[player as usize] = queue.push(now_ns + task.timeout_ns, player * 2 + 1);
        }
    });
    Outcome { cpu, units, timeouts, virtual_ns: horizon_ns, stay_ns: None }
}

fn mm1(task: Task) -> Outcome {
    const ARRIVAL: u32 = 0;
    const DEPARTURE: u32 = 1;
    let mut random = Random::new(task.seed);
    let mut queue = Queue::default();
    let mut arrivals = VecDeque::new();
    let ((virtual_ns, stays_ns), cpu) = timed(|| {
        let (mut arrived, mut departed, mut stays_ns) = (0, 0, 0);
        queue.push(random.exponential_ns(1.0 / ARRIVAL_RATE), ARRIVAL);
        loop {
            let (now_ns, _, event) = queue.pop();
            if event == ARRIVAL {
                arrived += 1;
                if arrived < task.units {
                    queue.push(now_ns + random.exponential_ns(1.0 / ARRIVAL_RATE), ARRIVAL);
                }
                arrivals.push_back(now_ns);
                if arrivals.len() == 1 {
                    queue.push(now_ns + random.exponential_ns(1.0), DEPARTURE);
                }
            } else {
                stays_ns += now_ns - arrivals.pop_front().expect("who departs has arrived");
                departed += 1;
                if departed == task.units {
                    break (now_ns, stays_ns);
                }
                if !arrivals.is_empty() {
                    queue.push(now_ns + random.exponential_ns(1.0), DEPARTURE);
                }
            }
        }
    });
    let stay_ns = Some(stays_ns as f64 / task.units as f64);
    Outcome { cpu, units: task.units, timeouts: 0, virtual_ns, stay_ns }
}
