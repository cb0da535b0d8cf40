//! The end of a run: who still waits, what is missing, and the checks.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::{Change, Executor, panic_message};
use crate::ended::{Panic, PanicOrigin, Undecided, Violation, Wait, WaitSubject, Waiting};
use crate::expectation::Comparison;
use crate::fault::Fault;
use crate::kernel::Kernel;
use crate::message::ComponentId;
use crate::network::PartitionChange;
use crate::noted_waits::noted_waits;
use crate::setup::FinalCheck;
use crate::trace::TraceEvent;
use crate::{Ended, Message, VirtualTime};

impl<M: Message> Executor<M> {
    /// Returns who still waits, and for what.
    pub(super) fn waiting(&self) -> Vec<Waiting> {
        let kernel = self.kernel.borrow();
        let mut others = self.other_waits(&kernel);
        let waiting = self.added.iter().filter_map(|&component| {
            let is_waiting = self.components[component.index()].as_ref().is_some_and(|state| state.main.is_some())
                || kernel.components.is_down(component);
            let name = || kernel.components.name(component).to_string();
            is_waiting.then(|| Waiting { component: name(), waits: self.waits(component, &kernel, &mut others) })
        });
        waiting.collect()
    }

    /// Returns the waits that neither ports nor streams know of, by component: first those that began first.
    fn other_waits(&self, kernel: &Kernel<M>) -> BTreeMap<ComponentId, Vec<Wait>> {
        let mut waits = noted_waits(|task_key| self.component_of(task_key));
        for (component, since) in kernel.endless_pauses.iter() {
            waits.entry(component).or_default().push(Wait { subject: WaitSubject::EndOfTime, since });
        }
        waits.values_mut().for_each(|waits| waits.sort_by_key(|wait| wait.since));
        waits
    }

    /// Returns what a component waits for, and takes its part of the other waits for that.
    fn waits(
        &self,
        component: ComponentId,
        kernel: &Kernel<M>,
        others: &mut BTreeMap<ComponentId, Vec<Wait>>,
    ) -> Vec<Wait> {
        let state = self.components[component.index()].as_ref();
        let never_starts = state.is_some_and(|state| state.starts_at == VirtualTime::MAX && state.restarts == 0);
        if never_starts && !kernel.components.is_down(component) {
            return vec![Wait { subject: WaitSubject::Start, since: VirtualTime::ZERO }];
        }
        let mut waits = kernel.waits(component);
        waits.extend(others.remove(&component).unwrap_or_default());
        waits
    }

    /// Returns the violation of the first component that should have returned a value and has not.
    pub(super) fn missing_result(&mut self) -> Option<Violation> {
        for index in 0..self.added.len() {
            let component = self.added[index];
            self.current = Some(component);
            if let Comparison::NotReturned { expected } = self.component(component).result.compare() {
                let kernel = self.kernel.borrow();
                return Some(Violation::NoResult {
                    component: kernel.components.name(component).to_string(),
                    expected,
                    ended_at: kernel.now,
                    waits: self.waits(component, &kernel, &mut self.other_waits(&kernel)),
                });
            }
        }
        None
    }

    /// Returns how many scheduled faults and partitions began after the last component had returned.
    pub(super) fn faults_after_end(&self) -> u64 {
        let Some(end) = self.returned_at else { return 0 };
        let begins = |change: &Change| match change {
            Change::Fault(Fault::Restart { .. }, _) | Change::Partition(PartitionChange::Heal(_), _) => false,
            Change::Fault(..) | Change::Partition(PartitionChange::Begin(_), _) => true,
        };
        self.changes.iter().filter(|(at, change)| *at > end && begins(change)).count() as u64
    }

    /// Returns the verdict of the checks, which get `trace`, on a run that passed so far.
    pub(super) fn check(&self, checks: &mut Vec<FinalCheck>, trace: &[TraceEvent]) -> Ended {
        let mut undecided = None;
        for FinalCheck { name, check } in checks.drain(..) {
            match catch_unwind(AssertUnwindSafe(|| check(trace))) {
                Ok(Ok(())) => {}
                // Another check may still find a failure.
                Ok(Err(failure)) if failure.is_undecided() => {
                    undecided.get_or_insert_with(|| Undecided { check: name, reason: failure.to_string() });
                }
                Ok(Err(failure)) => return Ended::Failed(Violation::CheckFailed { check: name, failure }),
                Err(payload) => {
                    let at = self.kernel.borrow().now;
                    let message = panic_message(payload);
                    return Ended::Abnormal(Panic { origin: PanicOrigin::Check(name), at, message });
                }
            }
        }
        undecided.map_or(Ended::Passed, Ended::Inconclusive)
    }
}
