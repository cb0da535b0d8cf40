//! What a component has of the world: its channels, the clock, its random stream.

use std::fmt;

use crate::kernel::Shared;
use crate::message::ComponentId;
use crate::pause::Pause;
use crate::{Address, Channel, Message, Random, VirtualDuration, VirtualTime};

/// A component's handle to the simulation that it is part of.
pub struct Context<M: Message> {
    kernel: Shared<M>,
    component: ComponentId,
    name: String,
    random: Random,
}

impl<M: Message> Context<M> {
    pub(crate) fn new(kernel: Shared<M>, component: ComponentId, name: &str, random: Random) -> Self {
        Self { kernel, component, name: name.to_owned(), random }
    }

    /// Returns the component's name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the address of a port of this component, whether it is open or not.
    pub fn address(&self, port: u16) -> Address {
        Address { component: self.component, port }
    }

    /// Opens a channel on an unused port from 49,152 on, as clients do.
    ///
    /// # Panics
    /// If all of these ports of the component are in use.
    pub fn channel(&self) -> Channel<M> {
        let opened = self.kernel.borrow_mut().ports.open_ephemeral(self.component);
        let Some((address, port)) = opened else {
            panic!("{} has no unused port from 49,152 on: drop channels that are not needed", self.name)
        };
        Channel::new(self.kernel.clone(), port, address)
    }

    /// Opens a channel on a port of one's choice, as servers do.
    ///
    /// # Panics
    /// If a channel of this component is open on this port: a mistake of the component, which ends the run.
    pub fn channel_at(&self, port: u16) -> Channel<M> {
        let address = self.address(port);
        let opened = self.kernel.borrow_mut().ports.open(address);
        let Some(port) = opened else { panic!("port {port} of {} is in use: drop the other channel first", self.name) };
        Channel::new(self.kernel.clone(), port, address)
    }

    /// Returns the current virtual time. It passes between polls only: code takes none, except where it awaits.
    pub fn now(&self) -> VirtualTime {
        self.kernel.borrow().now
    }

    /// Lets `duration` pass, counted from the first poll.
    ///
    /// With [`VirtualDuration::ZERO`], everything that is scheduled for this instant already happens first.
    pub fn pause(&self, duration: VirtualDuration) -> Pause<'_, M> {
        Pause::new(&self.kernel, duration)
    }

    /// Returns whether the run goes on: true for all code of a component but its destructors at the end of the run.
    ///
    /// It is the condition of a server's loop (Rutherford, PhD thesis, figure 3.4). The loop ends while it waits.
    pub fn running(&self) -> bool {
        self.kernel.borrow().is_running
    }

    /// Returns the component's own random stream, which depends on the simulation's seed and the component's name.
    pub fn random(&mut self) -> &mut Random {
        &mut self.random
    }
}

impl<M: Message> fmt::Debug for Context<M> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Context").field("name", &self.name).finish_non_exhaustive()
    }
}
