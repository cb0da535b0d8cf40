//! Events in the order of their times, as a binary heap.

/// Events that are still to come. Those of one time come in the order in which they were scheduled.
#[derive(Debug, Clone)]
pub struct EventQueue<T> {
    heap: Vec<Entry<T>>,
    scheduled: u64,
    now: u64,
}

#[derive(Debug, Clone)]
struct Entry<T> {
    time: u64,
    number: u64,
    event: T,
}

impl<T> Entry<T> {
    fn is_before(&self, other: &Self) -> bool {
        self.time < other.time || (self.time == other.time && self.number < other.number)
    }
}

impl<T> Default for EventQueue<T> {
    fn default() -> Self {
        Self { heap: Vec::new(), scheduled: 0, now: 0 }
    }
}

impl<T> EventQueue<T> {
    /// Returns the time of the event that came last.
    pub fn now(&self) -> u64 {
        self.now
    }

    /// Returns how many events are to come.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Returns whether no event is to come.
    pub fn is_empty(&self) -> bool {
        self.heap.len() == 0
    }

    /// Schedules an event `delay` from now, and returns its number.
    pub fn schedule(&mut self, delay: u64, event: T) -> u64 {
        let number = self.scheduled;
        self.scheduled += 1;
        self.heap.push(Entry { time: self.now + delay, number, event });
        let mut child = self.heap.len() - 1;
        while child > 0 {
            let parent = (child - 1) / 2;
            if !self.heap[child].is_before(&self.heap[parent]) {
                break;
            }
            self.heap.swap(child, parent);
            child = parent;
        }
        number
    }

    /// Goes on to the next event, and returns it; `None` if there is none.
    pub fn pop(&mut self) -> Option<T> {
        let last = self.heap.len().checked_sub(1)?;
        self.heap.swap(0, last);
        let entry = self.heap.pop()?;
        self.now = entry.time;
        self.sink(0);
        Some(entry.event)
    }

    /// Takes back the event with this number, and returns whether it was still to come.
    pub fn cancel(&mut self, number: u64) -> bool {
        let mut index = 0;
        while index < self.heap.len() {
            if self.heap[index].number == number {
                self.heap.swap_remove(index);
                self.rebuild();
                return true;
            }
            index += 1;
        }
        false
    }

    fn rebuild(&mut self) {
        let mut index = self.heap.len() / 2;
        while index > 0 {
            index -= 1;
            self.sink(index);
        }
    }

    /// Moves an entry down until both below it come later.
    fn sink(&mut self, start: usize) {
        let mut parent = start;
        loop {
            let mut first = parent;
            for child in [2 * parent + 1, 2 * parent + 2] {
                if child < self.heap.len() && self.heap[child].is_before(&self.heap[first]) {
                    first = child;
                }
            }
            if first == parent {
                return;
            }
            self.heap.swap(first, parent);
            parent = first;
        }
    }
}
