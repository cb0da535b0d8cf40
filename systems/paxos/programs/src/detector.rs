//! The detectors of failures and of the leader, free of sockets and clocks.
//!
//! Who does not answer in time is suspected. Who answers after all makes the time longer, so that in the end nobody is
//! suspected who is there (an eventually perfect failure detector; Cachin, Guerraoui and Rodrigues, *Introduction to
//! Reliable and Secure Distributed Programming*, 2011, algorithm 2.7).

use std::collections::BTreeSet;
use std::time::Duration;

use super::behaviour::Behaviour;
use super::message::Number;

/// How long an answer is waited for at first, and how much longer after a suspicion that was wrong.
pub(crate) const DELAY: Duration = Duration::from_millis(100);

/// What a replica knows of the others.
#[derive(Debug)]
pub(crate) struct Detector {
    number: Number,
    replicas: usize,
    /// How long a period lasts. All are asked at its begin.
    pub(crate) delay: Duration,
    /// Who has answered in this period.
    alive: BTreeSet<Number>,
    suspected: BTreeSet<Number>,
    leader: Number,
}

impl Detector {
    /// Returns the detector of a replica, where nobody is suspected and replica 0 leads.
    pub(crate) fn new(number: Number, replicas: usize) -> Self {
        let nobody = BTreeSet::new();
        Self { number, replicas, delay: DELAY, alive: nobody.clone(), suspected: nobody, leader: 0 }
    }

    /// Returns whether this replica leads, as far as it knows.
    pub(crate) fn leads(&self) -> bool {
        self.leader == self.number
    }

    /// Notes that a replica has answered, to whichever question.
    pub(crate) fn answered(&mut self, other: Number) {
        self.alive.insert(other);
    }

    /// Ends a period, and returns whether another one leads now.
    pub(crate) fn end_period(&mut self, behaviour: &dyn Behaviour) -> bool {
        let mut alive = std::mem::take(&mut self.alive);
        alive.insert(self.number);
        if self.suspected.intersection(&alive).next().is_some() {
            self.delay += DELAY;
        }
        let before = std::mem::take(&mut self.suspected);
        self.suspected = (0..self.replicas).filter(|other| !alive.contains(other)).collect();
        let is_new = !self.suspected.is_subset(&before);
        let leader = behaviour.elect(self.leader, &self.suspected, is_new, self.replicas);
        std::mem::replace(&mut self.leader, leader) != leader
    }
}

#[cfg(test)]
mod tests {
    use super::super::behaviour::Correct;
    use super::super::faults;
    use super::*;

    /// Checks who leads after each period, as replica 2 of 3 sees it, where those of a list answer.
    #[track_caller]
    fn check(behaviour: &dyn Behaviour, periods: &[(&[Number], Number)]) -> Detector {
        let mut detector = Detector::new(2, 3);
        for (answers, leader) in periods {
            answers.iter().for_each(|other| detector.answered(*other));
            let before = detector.leader;
            assert_eq!(detector.end_period(behaviour), before != *leader, "{answers:?}");
            assert_eq!((detector.leader, detector.leads()), (*leader, *leader == 2), "{answers:?}");
        }
        detector
    }

    #[test]
    fn the_first_that_is_not_suspected_leads_and_wrong_suspicions_make_the_time_longer() {
        let all: [(&[Number], Number); 4] = [(&[0, 1], 0), (&[1], 1), (&[], 2), (&[], 2)];
        assert_eq!(check(&Correct, &all).delay, DELAY);
        let back: [(&[Number], Number); 5] = [(&[1], 1), (&[0, 1], 0), (&[0], 0), (&[0, 1], 0), (&[0, 1], 0)];
        let detector = check(&Correct, &back);
        assert_eq!(detector.delay, DELAY * 3);
        assert!(detector.suspected.is_empty());
    }

    #[test]
    fn with_a_fault_the_leader_moves_on_whoever_is_suspected() {
        let all: [(&[Number], Number); 4] = [(&[0, 1], 0), (&[0], 1), (&[0], 1), (&[0, 1], 1)];
        check(faults::find("elects-another-leader"), &all);
    }
}
