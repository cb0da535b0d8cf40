//! The objects whose methods were called in a run, found by their types and addresses.

use std::cell::Cell;
use std::ops::Range;

use super::store::{Births, Object, STORE, births_in_store};

/// How many types are found without a search.
pub(super) const TYPES: usize = 64;

/// How many objects are. Memory to clear for a run, against searches for objects that took each other's place.
const RECENT: usize = 256;

/// How many places there are for objects at first; a power of two.
const OBJECTS: usize = 64;

/// Objects with fewer slots than this are lent again when they are gone.
const LENGTHS: usize = 256;

/// So many bytes of memory are a line.
const LINE: usize = 64;

/// Objects at addresses with the same quotient by this have a place in common.
const GROUP: usize = 8;

/// The objects whose methods were called in a run, and the births.
#[derive(Debug)]
pub(crate) struct Objects {
    births: [Births; TYPES],
    /// Those that were called last, each at the place that its address gives.
    pub(super) recent: [Cell<Known>; RECENT],
    /// All, each at the place that its address gives, or at the next free one. A table that is full by half is replaced
    /// by a larger one, and never freed: there are as many as the logarithm of the most objects.
    known: Cell<&'static [Cell<Known>]>,
    count: Cell<usize>,
    /// A bit for each line of memory in which an object was known; lines share bits. So there is little to do for most
    /// memory that is given back.
    lines: [Cell<u64>; 64],
    /// Objects that are gone, by how many slots they have.
    gone: [Cell<Option<&'static Object>>; LENGTHS],
    /// The number of the run.
    run: Cell<u32>,
}

/// An object that is known.
#[derive(Debug, Clone, Copy)]
pub(super) struct Known {
    /// The run that knows it; another one takes the place for a free one.
    pub(super) run: u32,
    pub(super) type_number: u32,
    pub(super) address: usize,
    pub(super) object: Option<&'static Object>,
}

impl Known {
    const FREE: Self = Self { run: 0, type_number: 0, address: 0, object: None };

    #[inline(always)]
    pub(super) fn is(&self, type_number: u32, address: usize) -> bool {
        self.address == address && self.type_number == type_number
    }
}

impl Objects {
    pub(crate) const fn new() -> Self {
        Self {
            births: [const { Births::new() }; TYPES],
            recent: [const { Cell::new(Known::FREE) }; RECENT],
            known: Cell::new(&[]),
            count: Cell::new(0),
            lines: [const { Cell::new(0) }; 64],
            gone: [const { Cell::new(None) }; LENGTHS],
            run: Cell::new(0),
        }
    }

    /// Begins a recording.
    pub(crate) fn start(&self) {
        self.births.iter().for_each(Births::clear);
        STORE.with_borrow_mut(|store| store.clear());
        self.count.set(0);
        self.recent.iter().for_each(|known| known.set(Known::FREE));
        self.lines.iter().for_each(|bits| bits.set(0));
        self.gone.iter().for_each(|objects| objects.set(None));
        self.run.set(self.run.get().wrapping_add(1));
        if self.run.get() == 0 {
            // So many runs were there that their numbers begin anew.
            self.known.get().iter().for_each(|known| known.set(Known::FREE));
            self.run.set(1);
        }
    }

    #[inline(always)]
    pub(super) fn births(&self, type_number: u32) -> &Births {
        self.births.get(type_number as usize).unwrap_or_else(|| births_in_store(type_number))
    }

    /// Looks for an object wherever it may stand, and adds it if it is not known.
    pub(super) fn find(&self, type_number: u32, address: usize, length: usize) -> &'static Object {
        self.make_room();
        let births = self.births(type_number);
        let run = self.run.get();
        let place = self.place(address, |known| known.run != run || known.is(type_number, address));
        let known = |object| Known { run, type_number, address, object: Some(object) };
        let object = match place.get() {
            Known { run: its_run, object: Some(object), .. } if its_run == run => {
                if object.births_seen.replace(births.total.get()) != births.total.get() {
                    object.slots.iter().for_each(|slot| slot.set(0));
                }
                object
            }
            _ => {
                let object = self.lend(length);
                object.begin(births);
                self.add(place, known(object));
                object
            }
        };
        self.recent[recent_place_of(address)].set(known(object));
        object
    }

    fn lend(&self, length: usize) -> &'static Object {
        let gone = self.gone.get(length).and_then(|objects| {
            let first = objects.take()?;
            objects.set(first.next.take());
            Some(first)
        });
        gone.unwrap_or_else(|| STORE.with_borrow_mut(|store| store.object(length)))
    }

    fn add(&self, place: &Cell<Known>, known: Known) {
        place.set(known);
        self.count.set(self.count.get() + 1);
        let (word, bit) = self.line(known.address / LINE);
        word.set(word.get() | bit);
    }

    /// Returns the bit of a line, in its word.
    fn line(&self, line: usize) -> (&Cell<u64>, u64) {
        let number = line ^ (line / 4096);
        (&self.lines[number / 64 % 64], 1 << (number % 64))
    }

    /// Takes all objects in a range of addresses out, and calls `action` with each.
    fn take_all(&self, addresses: &Range<usize>, mut action: impl FnMut(Known)) {
        if self.count.get() == 0 || addresses.is_empty() {
            return;
        }
        let (first, last) = (addresses.start / GROUP, (addresses.end - 1) / GROUP);
        if last - first > 8 * self.known.get().len() {
            // A block so large that there are fewer objects than places in it where one could be.
            return self.take_all_by_scan(addresses, action);
        }
        let mut group = first;
        while group <= last {
            let line = group * GROUP / LINE;
            let (word, bit) = self.line(line);
            let end = (line + 1) * (LINE / GROUP);
            if word.get() & bit != 0 {
                for group in group..end.min(last + 1) {
                    while let Some(known) = self.take(group, addresses) {
                        action(known);
                    }
                }
            }
            group = end;
        }
    }

    /// As [`Self::take_all`], by a look at each place of the table.
    fn take_all_by_scan(&self, addresses: &Range<usize>, mut action: impl FnMut(Known)) {
        let (known, run) = (self.known.get(), self.run.get());
        for place in known {
            // What stands behind one that is taken moves up, so the place is looked at until nothing in it fits.
            let next = || {
                let Known { run: its_run, address, .. } = place.get();
                let fits = its_run == run && addresses.contains(&address);
                fits.then(|| self.take(address / GROUP, addresses)).flatten()
            };
            while let Some(taken) = next() {
                action(taken);
            }
        }
    }

    /// Takes one object out that is in the range and in this group of addresses, if there is one.
    fn take(&self, group: usize, addresses: &Range<usize>) -> Option<Known> {
        let (known, run) = (self.known.get(), self.run.get());
        let fits = |known: &Known| known.address / GROUP == group && addresses.contains(&known.address);
        let mut gap = self.place(group * GROUP, |known| known.run != run || fits(known));
        let taken = gap.get();
        if taken.run != run {
            return None;
        }
        // What stands behind it moves up, so that a search still ends at the first free place.
        let mask = known.len() - 1;
        let index = |place: &Cell<Known>| known.element_offset(place).expect("a place of the table");
        let mut next = (index(gap) + 1) & mask;
        while known[next].get().run == run {
            let home = place_of(known[next].get().address) & mask;
            if next.wrapping_sub(home) & mask >= next.wrapping_sub(index(gap)) & mask {
                gap.set(known[next].get());
                gap = &known[next];
            }
            next = (next + 1) & mask;
        }
        gap.set(Known::FREE);
        self.count.set(self.count.get() - 1);
        let recent = &self.recent[recent_place_of(taken.address)];
        if recent.get().is(taken.type_number, taken.address) {
            recent.set(Known::FREE);
        }
        Some(taken)
    }

    #[inline(never)]
    pub(super) fn freed(&self, addresses: &Range<usize>) {
        self.take_all(addresses, |known| {
            let Some(object) = known.object else { return };
            if let Some(gone) = self.gone.get(object.slots.len()) {
                object.next.set(gone.replace(Some(object)));
            }
        });
    }

    #[inline(never)]
    pub(super) fn moved(&self, from: &Range<usize>, to: usize) {
        self.take_all(from, |known| {
            // There is room for one that was taken.
            let known = Known { address: known.address - from.start + to, ..known };
            let run = self.run.get();
            let place =
                self.place(known.address, |other| other.run != run || other.is(known.type_number, known.address));
            self.add(place, known);
        });
    }

    /// Returns the first place that fits, from the one on that the address gives; some place does.
    fn place(&self, address: usize, fits: impl Fn(&Known) -> bool) -> &'static Cell<Known> {
        let known = self.known.get();
        let mask = known.len() - 1;
        let mut place = place_of(address) & mask;
        while !fits(&known[place].get()) {
            place = (place + 1) & mask;
        }
        &known[place]
    }

    fn make_room(&self) {
        if 2 * self.count.get() >= self.known.get().len() {
            self.grow();
        }
    }

    #[cold]
    fn grow(&self) {
        let before = self.known.get();
        let length = (2 * before.len()).max(OBJECTS);
        self.known.set(Vec::leak(vec![Cell::new(Known::FREE); length]));
        let run = self.run.get();
        for known in before.iter().map(Cell::get).filter(|known| known.run == run) {
            self.place(known.address, |other| other.run != run).set(known);
        }
    }
}

/// Mixes the bits of an address. Objects lie side by side, in a few regions of the memory.
#[inline(always)]
fn place_of(address: usize) -> usize {
    (address / 8) ^ (address / 512)
}

/// Returns the place of an object among those that were called last: less work, and a few more that share one.
#[inline(always)]
pub(super) fn recent_place_of(address: usize) -> usize {
    address / 8 % RECENT
}
