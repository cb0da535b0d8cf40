//! Scheduled faults and partitions: what they do to components and their tasks.

use super::{Change, Deferred, Executor, MAIN, Task};
use crate::event::Event;
use crate::fault::Fault;
use crate::message::ComponentId;
use crate::network::PartitionChange;
use crate::trace::{Action, DurableState};
use crate::{Context, Message, VirtualDuration};

impl<M: Message> Executor<M> {
    #[cold]
    pub(super) fn change(&mut self, index: usize) {
        match self.changes[index].1.clone() {
            Change::Fault(Fault::Crash { .. }, component) => self.crash(component),
            Change::Fault(Fault::Restart { durable_state, .. }, component) => self.restart(component, durable_state),
            Change::Fault(Fault::Pause { duration, .. }, component) => self.pause(component, duration),
            Change::Partition(change, groups) => {
                let mut kernel = self.kernel.borrow_mut();
                kernel.network.change_partition(change);
                kernel.record(|_| match change {
                    PartitionChange::Begin(_) => Action::Partitioned { groups },
                    PartitionChange::Heal(_) => Action::Healed { groups },
                });
                kernel.probe_streams();
            }
        }
    }

    pub(super) fn crash(&mut self, component: ComponentId) {
        let Some(main) = self.component(component).main.take() else {
            // Nothing is left of a component that has returned but what its host still sends for it.
            self.kernel.borrow_mut().crash_streams(component);
            return self.settle_streams();
        };
        let resume = self.component(component).resume.take();
        let mut kernel = self.kernel.borrow_mut();
        kernel.record(|kernel| Action::Crashed { component: kernel.place_name(component) });
        let now = kernel.now;
        kernel.components.set_down_since(component, Some(now));
        kernel.components.set_paused_since(component, None);
        if let Some((resume, _)) = resume {
            kernel.queue.cancel(resume);
        }
        kernel.crash_streams(component);
        drop(kernel);
        self.settle_streams();
        self.component(component).deferred = Deferred::default();
        self.stop_task(main);
        self.stop_children(component);
    }

    pub(super) fn restart(&mut self, component: ComponentId, durable_state: DurableState) {
        if !self.kernel.borrow().components.is_down(component) {
            return;
        }
        let mut kernel = self.kernel.borrow_mut();
        kernel.components.set_down_since(component, None);
        let name = kernel.components.name(component).clone();
        let restarted = Action::Restarted { component: name.to_string(), durable_state };
        kernel.record(|_| restarted);
        let lost = match durable_state {
            DurableState::Lost => Some(kernel.components.lose_durable(component)),
            DurableState::Kept => None,
        };
        let key = kernel.new_task();
        drop(kernel);
        self.current = Some(component);
        drop(lost);
        let state = self.component(component);
        state.restarts += 1;
        let restart = format!("restart/{}", state.restarts);
        let random = self.random.stream(&format!("component/{name}")).stream(&restart);
        let context = Context::new(self.kernel.clone(), component, random);
        let body = self.component(component).body.clone().expect("it was checked that the component can be restarted");
        let future = body(context);
        self.component(component).main = Some(key);
        self.put_task(Task { key, component, place: MAIN, future });
        self.poll(key);
    }

    pub(super) fn pause(&mut self, component: ComponentId, duration: VirtualDuration) {
        if self.component(component).main.is_none() {
            return;
        }
        let earlier = self.component(component).resume.take();
        let mut kernel = self.kernel.borrow_mut();
        kernel.record(|kernel| Action::Paused { component: kernel.place_name(component), duration });
        let since = kernel.components.paused_since(component).unwrap_or(kernel.now);
        kernel.components.set_paused_since(component, Some(since));
        let mut at = kernel.now + duration;
        if let Some((earlier, until)) = earlier {
            // Pauses that overlap end with the last of them.
            kernel.queue.cancel(earlier);
            at = at.max(until);
        }
        let resume = kernel.schedule(at, Event::Resume(component));
        drop(kernel);
        self.component(component).resume = Some((resume, at));
    }

    pub(super) fn resume(&mut self, component: ComponentId) {
        let mut kernel = self.kernel.borrow_mut();
        kernel.components.set_paused_since(component, None);
        kernel.record(|kernel| Action::Resumed { component: kernel.place_name(component) });
        drop(kernel);
        self.component(component).resume = None;
        for task_key in std::mem::take(&mut self.component(component).deferred).tasks {
            self.poll(task_key);
            // It may have cancelled the next one.
            self.handle_task_requests();
        }
    }
}
