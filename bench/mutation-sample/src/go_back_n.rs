//! Go-back-N over a channel that loses and damages frames, as a simulation of its events.

use crate::checksum::{Random, open, seal};
use crate::event_queue::EventQueue;

/// How a transfer goes.
#[derive(Debug, Clone)]
pub struct Transfer {
    /// How many frames may be on their way at a time.
    pub window: usize,
    /// How long the sender waits for an acknowledgement.
    pub timeout: u64,
    /// The least time that a frame takes.
    pub latency_min: u64,
    /// How much longer it may take.
    pub latency_spread: u64,
    /// How many frames of a hundred are lost.
    pub loss_percent: u64,
    /// How many frames of a hundred are damaged.
    pub damage_percent: u64,
    /// What decides about both.
    pub seed: u64,
}

/// What a transfer came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Transferred {
    /// The bytes that the receiver handed on.
    pub received: Vec<u8>,
    /// Frames with data that were sent.
    pub frames: u64,
    /// Frames that did not open.
    pub damaged: u64,
    /// Timeouts of the sender.
    pub timeouts: u64,
    /// When the sender had all acknowledged.
    pub ended_at: u64,
}

#[derive(Debug)]
enum Event {
    ToReceiver(Vec<u8>),
    ToSender(Vec<u8>),
    Timeout,
}

struct Run<'a> {
    transfer: &'a Transfer,
    queue: EventQueue<Event>,
    random: Random,
    data: &'a [u8],
    /// The first byte that is not acknowledged.
    base: usize,
    /// The next byte to be sent.
    next: usize,
    timer: Option<u64>,
    outcome: Transferred,
}

impl Transfer {
    /// Transfers `data`, a byte in a frame.
    pub fn run(&self, data: &[u8]) -> Transferred {
        let outcome = Transferred { received: Vec::new(), frames: 0, damaged: 0, timeouts: 0, ended_at: 0 };
        let mut run = Run {
            transfer: self,
            queue: EventQueue::default(),
            random: Random::new(self.seed),
            data,
            base: 0,
            next: 0,
            timer: None,
            outcome,
        };
        run.fill_window();
        while let Some(event) = run.queue.pop() {
            match event {
                Event::ToReceiver(frame) => run.receive(&frame),
                Event::ToSender(frame) => run.acknowledge(&frame),
                Event::Timeout => run.time_out(),
            }
        }
        run.outcome
    }
}

impl Run<'_> {
    fn fill_window(&mut self) {
        while self.next < self.data.len() && self.next < self.base + self.transfer.window {
            let payload = [self.next as u8, self.data[self.next]];
            self.next += 1;
            self.outcome.frames += 1;
            self.send(&payload, Event::ToReceiver);
        }
        if self.timer.is_none() && self.base < self.next {
            self.timer = Some(self.queue.schedule(self.transfer.timeout, Event::Timeout));
        }
    }

    /// Lets the channel do with a frame what it does.
    fn send(&mut self, payload: &[u8], arrival: fn(Vec<u8>) -> Event) {
        let transfer = self.transfer;
        let delay = transfer.latency_min + self.random.below(transfer.latency_spread + 1);
        if self.random.chance(transfer.loss_percent) {
            return;
        }
        let mut frame = seal(payload);
        if self.random.chance(transfer.damage_percent) {
            let index = self.random.below(frame.len() as u64) as usize;
            frame[index] ^= 1 << self.random.below(8);
        }
        self.queue.schedule(delay, arrival(frame));
    }

    fn receive(&mut self, frame: &[u8]) {
        let Some(payload) = open(frame) else {
            self.outcome.damaged += 1;
            return;
        };
        if usize::from(payload[0]) == self.outcome.received.len() {
            self.outcome.received.push(payload[1]);
        }
        let expected = self.outcome.received.len() as u8;
        self.send(&[expected], Event::ToSender);
    }

    fn acknowledge(&mut self, frame: &[u8]) {
        let Some(payload) = open(frame) else {
            self.outcome.damaged += 1;
            return;
        };
        let expected = usize::from(payload[0]);
        if expected <= self.base || expected > self.next {
            return;
        }
        self.base = expected;
        if let Some(timer) = self.timer.take() {
            self.queue.cancel(timer);
        }
        if self.base == self.data.len() {
            self.outcome.ended_at = self.queue.now();
        }
        self.fill_window();
    }

    fn time_out(&mut self) {
        self.outcome.timeouts += 1;
        self.timer = None;
        self.next = self.base;
        self.fill_window();
    }
}
