//! A coordinator of two-phase commit. The environment variable MODE says what is wrong with it.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;
use std::time::Duration;

use super::{Observation, Tested};

pub struct Adapter {
    workers: usize,
    votes: Mutex<BTreeMap<i64, i64>>,
    seen: Arc<Mutex<Vec<Observation>>>,
    has_decided: Arc<AtomicBool>,
    // So many votes wait for each other.
    barrier: Option<Barrier>,
}

fn is_mode(mode: &str) -> bool {
    std::env::var("MODE").is_ok_and(|it| it == mode)
}

impl Tested for Adapter {
    fn start(workers: i64) -> Self {
        let barrier = std::env::var("BARRIER").ok().map(|calls| Barrier::new(calls.parse().unwrap()));
        let (votes, seen, has_decided) = (Mutex::default(), Arc::default(), Arc::default());
        Self { workers: workers as usize, votes, seen, has_decided, barrier }
    }

    fn deliver_vote(&self, worker_id: i64, vote: i64, round: i64) {
        if is_mode("raises") && worker_id == 2 {
            panic!("no such worker");
        }
        if is_mode("stuck") && worker_id == 2 && vote == 1 {
            thread::sleep(Duration::from_secs(3600));
        }
        if is_mode("rounds") && round == 2 {
            assert_eq!(self.votes.lock().unwrap().len(), 2, "a round begins too early");
        } else if let Some(barrier) = &self.barrier {
            barrier.wait();
        }
        let mut votes = self.votes.lock().unwrap();
        votes.insert(worker_id, vote);
        if votes.len() == self.workers {
            let (votes, seen, has_decided) = (votes.clone(), self.seen.clone(), self.has_decided.clone());
            thread::spawn(move || {
                let decision = if votes.values().any(|vote| *vote == 1) { "ABORT" } else { "commit" };
                for (worker_id, vote) in votes {
                    thread::sleep(Duration::from_millis(2));
                    if !(is_mode("no-voters") && decision == "ABORT" && vote == 0) {
                        seen.lock().unwrap().push(Observation::Told { worker_id, decision: decision.into() });
                    }
                }
                if is_mode("other") {
                    seen.lock().unwrap().push(Observation::Other("surprise".into()));
                }
                seen.lock().unwrap().push(Observation::Completed { decision: decision.into() });
                has_decided.store(true, Ordering::SeqCst);
            });
        }
    }

    fn observed(&self) -> Vec<Observation> {
        self.seen.lock().unwrap().clone()
    }

    fn is_done(&self) -> bool {
        std::env::var_os("SAYS_DONE").is_some() && self.has_decided.load(Ordering::SeqCst)
    }

    fn stop(&self) {
        if is_mode("late") {
            self.seen.lock().unwrap().push(Observation::Completed { decision: "both".into() });
        }
    }
}
