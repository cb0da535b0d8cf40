//! The wheel: keys in buckets by the digits of their time, so that no key is compared with another until it is due.
//!
//! Times are numbers of [`LEVELS`] digits to base 64. A key is in the bucket of the highest digit in which its time
//! differs from the base, an instant that no key is before: `buckets[level * 64 + digit]`. All times in a bucket lie
//! between those of the buckets before and after, and a key on a lower level is sooner than one on a higher, so the
//! soonest keys are in the first bucket of the lowest level that has any. If these are a handful, they are handed out,
//! and the base goes to the end of their bucket's span; if not, the base goes to its start, and they are scattered over
//! the buckets of lower levels.
//!
//! This is the radix heap of Ahuja, Mehlhorn, Orlin and Tarjan ("Faster algorithms for the shortest path problem",
//! Journal of the ACM 37, 1990) with 64 buckets a level, as in the hierarchical timing wheels of Varghese and Lauck
//! ("Hashed and hierarchical timing wheels", SOSP 1987), and, from the ladder queue of Tang, Goh and Thng ("Ladder
//! queue", ACM TOMACS 15, 2005), the sorted array at its bottom, to which small buckets go at once. A key moves down at
//! most once a level.
//!
//! Keys of equal time are always in the same bucket, in the order of scheduling.

use super::Key;

const DIGIT_BITS: u32 = 6;
const DIGITS: usize = 1 << DIGIT_BITS;
const DIGIT_MASK: u64 = DIGITS as u64 - 1;
const LEVELS: usize = u64::BITS.div_ceil(DIGIT_BITS) as usize;
/// How many keys a chunk has room for. A bucket of one chunk is sorted, not scattered.
const CHUNK_LEN: usize = 32;
/// [`Wheel::advance`] goes on with the next bucket as long as it has fewer keys.
const BATCH_MIN: usize = 16;
const NO_CHUNK: u32 = u32::MAX;

/// Keys that are not sorted yet, dead ones too.
#[derive(Debug)]
pub(super) struct Wheel {
    /// No live key's time is before it.
    base: u64,
    /// A bit for each level that has keys.
    levels: u32,
    /// A bit for each bucket that has keys.
    digits: [u64; LEVELS],
    /// Empty until the first key comes.
    buckets: Vec<Bucket>,
    chunks: Vec<Chunk>,
    /// The first chunk of the list of those that are free, or [`NO_CHUNK`].
    free: u32,
    /// How many keys are dead.
    dead: usize,
    /// Keys on their way to another bucket; empty between calls.
    moving: Vec<Key>,
    /// How often a key was put into a bucket.
    #[cfg(test)]
    pub(super) moves: u64,
}

/// A list of chunks, all full but the last.
#[derive(Debug, Clone, Copy)]
struct Bucket {
    first: u32,
    last: u32,
    /// How many keys the last chunk has; [`CHUNK_LEN`] if there is none, so that one comparison finds that a chunk is
    /// needed.
    last_len: u32,
}

/// The link makes it a little longer than a power of two, so that the starts of chunks spread over the cache.
#[derive(Debug, Clone)]
struct Chunk {
    keys: [Key; CHUNK_LEN],
    next: u32,
}

const EMPTY: Bucket = Bucket { first: NO_CHUNK, last: NO_CHUNK, last_len: CHUNK_LEN as u32 };

impl Wheel {
    pub(super) fn new() -> Self {
        Self {
            base: u64::MAX,
            levels: 0,
            digits: [0; LEVELS],
            buckets: Vec::new(),
            chunks: Vec::new(),
            free: NO_CHUNK,
            dead: 0,
            moving: Vec::new(),
            #[cfg(test)]
            moves: 0,
        }
    }

    /// Adds a key, whose time is not before the base.
    #[inline]
    pub(super) fn insert(&mut self, key: Key) {
        #[cfg(test)]
        {
            self.moves += 1;
        }
        let time = time_of(key);
        debug_assert!(time >= self.base, "{time} is before the base, {}", self.base);
        let level = level_of(time ^ self.base);
        let index = level * DIGITS + digit_of(time, level);
        if let Some(bucket) = self.buckets.get_mut(index)
            && (bucket.last_len as usize) < CHUNK_LEN
        {
            self.chunks[bucket.last as usize].keys[bucket.last_len as usize] = key;
            bucket.last_len += 1;
        } else {
            self.put_in_new_chunk(index, key);
        }
    }

    /// Puts the key into a bucket that has no room for it.
    #[inline(never)]
    fn put_in_new_chunk(&mut self, index: usize, key: Key) {
        if self.buckets.is_empty() {
            self.buckets.resize(LEVELS * DIGITS, EMPTY);
        }
        let chunk = self.free;
        let chunk = if let Some(free) = self.chunks.get_mut(chunk as usize) {
            self.free = free.next;
            free.keys[0] = key;
            chunk
        } else {
            let mut keys = [0; CHUNK_LEN];
            keys[0] = key;
            self.chunks.push(Chunk { keys, next: NO_CHUNK });
            (self.chunks.len() - 1) as u32
        };
        let bucket = &mut self.buckets[index];
        if bucket.last == NO_CHUNK {
            bucket.first = chunk;
            self.digits[index / DIGITS] |= 1 << (index % DIGITS);
            self.levels |= 1 << (index / DIGITS);
        } else {
            self.chunks[bucket.last as usize].next = chunk;
        }
        bucket.last = chunk;
        bucket.last_len = 1;
    }

    /// Notes that a key is dead from now on.
    #[inline]
    pub(super) fn note_dead(&mut self) {
        self.dead += 1;
    }

    /// Returns how many keys are dead.
    #[inline]
    pub(super) fn dead(&self) -> usize {
        self.dead
    }

    /// Moves the soonest keys to `batch`, which is empty, in any order, and the base to the time of the key returned:
    /// all keys up to this one are in `batch` now, the others are greater.
    pub(super) fn advance(&mut self, batch: &mut Vec<Key>, is_alive: impl Fn(Key) -> bool) -> Key {
        debug_assert!(batch.is_empty(), "the keys of the last call are still there");
        loop {
            let Some(index) = self.next_bucket() else {
                self.base = u64::MAX;
                return Key::MAX;
            };
            let Bucket { first, last, .. } = self.buckets[index];
            if first == last {
                self.base = self.span(index).1;
                self.move_bucket(index, batch, &is_alive);
                if batch.len() >= BATCH_MIN {
                    return last_key_at(self.base);
                }
            } else if !batch.is_empty() {
                return last_key_at(self.base);
            } else if index < DIGITS {
                // The keys have the same time, and are in order.
                self.base = self.span(index).0;
                self.move_first_chunk(index, batch, &is_alive);
                if let Some(&key) = batch.last() {
                    return key;
                }
            } else {
                self.base = self.span(index).0;
                self.scatter(index, &is_alive);
            }
        }
    }

    /// Moves the base back to `base`, and adds keys in ascending order, of which none is before it and none after the
    /// old base.
    pub(super) fn lower_base(&mut self, base: u64, keys: impl Iterator<Item = Key>, is_alive: impl Fn(Key) -> bool) {
        debug_assert!(base <= self.base, "{base} is after the base, {}", self.base);
        let level = level_of(base ^ self.base);
        let mut moving = std::mem::take(&mut self.moving);
        // These keys are near to the old base, and no longer so to the new one.
        while self.levels.trailing_zeros() < level as u32 {
            let index = self.next_bucket().expect("the level has a bit");
            self.move_bucket(index, &mut moving, &is_alive);
        }
        // Some of the new keys may be of the same time as these, and have to stand before them.
        let index = digit_of(self.base, 0);
        if self.digits[0] & (1 << index) != 0 {
            self.move_bucket(index, &mut moving, &is_alive);
        }
        self.base = base;
        for key in keys {
            self.insert(key);
        }
        for key in moving.drain(..) {
            self.insert(key);
        }
        self.moving = moving;
    }

    /// Removes all dead keys.
    pub(super) fn drop_dead(&mut self, is_alive: impl Fn(Key) -> bool) {
        for level in 0..LEVELS {
            let mut digits = self.digits[level];
            while digits != 0 {
                self.scatter(level * DIGITS + digits.trailing_zeros() as usize, &is_alive);
                digits &= digits - 1;
            }
        }
        debug_assert_eq!(self.dead, 0, "every dead key was met");
    }

    fn next_bucket(&self) -> Option<usize> {
        if self.levels == 0 {
            return None;
        }
        let level = self.levels.trailing_zeros() as usize;
        Some(level * DIGITS + self.digits[level].trailing_zeros() as usize)
    }

    /// Returns the first and the last instant of a bucket.
    fn span(&self, index: usize) -> (u64, u64) {
        let (level, digit) = (index / DIGITS, (index % DIGITS) as u64);
        let shift = level as u32 * DIGIT_BITS;
        // On the highest level nothing is left of the mask, as there is no higher digit.
        let first = self.base & !(DIGIT_MASK << shift | ((1 << shift) - 1)) | digit << shift;
        (first, first | ((1 << shift) - 1))
    }

    #[cfg(test)]
    fn keys(&self, index: usize) -> impl Iterator<Item = Key> {
        let Bucket { first, last, last_len } = self.buckets[index];
        let chunks = std::iter::successors((first != NO_CHUNK).then_some(first), move |&chunk| {
            (chunk != last).then(|| self.chunks[chunk as usize].next)
        });
        chunks.flat_map(move |chunk| {
            let len = if chunk == last { last_len as usize } else { CHUNK_LEN };
            self.chunks[chunk as usize].keys[..len].iter().copied()
        })
    }

    /// Takes a bucket's keys out and puts them where they belong with the present base, without the dead ones.
    fn scatter(&mut self, index: usize, is_alive: impl Fn(Key) -> bool) {
        let Bucket { mut first, last, last_len } = self.take_bucket(index);
        loop {
            let Chunk { keys, next } = self.chunks[first as usize].clone();
            self.free_chunk(first);
            let len = if first == last { last_len as usize } else { CHUNK_LEN };
            for &key in &keys[..len] {
                if self.dead == 0 || is_alive(key) {
                    self.insert(key);
                } else {
                    self.dead -= 1;
                }
            }
            if first == last {
                return;
            }
            first = next;
        }
    }

    /// Moves a bucket's live keys to the end of `keys`.
    fn move_bucket(&mut self, index: usize, keys: &mut Vec<Key>, is_alive: impl Fn(Key) -> bool) {
        let Bucket { mut first, last, last_len } = self.take_bucket(index);
        loop {
            let len = if first == last { last_len as usize } else { CHUNK_LEN };
            let next = self.move_chunk(first, len, keys, &is_alive);
            if first == last {
                return;
            }
            first = next;
        }
    }

    /// Moves the live keys of the first of several chunks of a bucket to the end of `keys`.
    fn move_first_chunk(&mut self, index: usize, keys: &mut Vec<Key>, is_alive: impl Fn(Key) -> bool) {
        let first = self.buckets[index].first;
        self.buckets[index].first = self.move_chunk(first, CHUNK_LEN, keys, is_alive);
    }

    /// Moves a chunk's live keys to the end of `keys`, frees the chunk, and returns the next one.
    fn move_chunk(&mut self, chunk: u32, len: usize, keys: &mut Vec<Key>, is_alive: impl Fn(Key) -> bool) -> u32 {
        let len_before = keys.len();
        let next = self.chunks[chunk as usize].next;
        // This looks at the slot of each key, dead keys or not: it brings the slots to the cache, all at a time.
        keys.extend(self.chunks[chunk as usize].keys[..len].iter().copied().filter(|&key| is_alive(key)));
        self.dead -= len - (keys.len() - len_before);
        self.free_chunk(chunk);
        next
    }

    fn take_bucket(&mut self, index: usize) -> Bucket {
        let level = index / DIGITS;
        self.digits[level] &= !(1 << (index % DIGITS));
        if self.digits[level] == 0 {
            self.levels &= !(1 << level);
        }
        std::mem::replace(&mut self.buckets[index], EMPTY)
    }

    fn free_chunk(&mut self, chunk: u32) {
        self.chunks[chunk as usize].next = self.free;
        self.free = chunk;
    }
}

#[cfg(test)]
impl Wheel {
    /// Checks that every key is in its bucket, and returns how many keys there are, dead ones too.
    pub(super) fn check_and_count(&self) -> usize {
        let mut count = 0;
        for index in 0..self.buckets.len() {
            let (first, last) = self.span(index);
            let is_noted = self.digits[index / DIGITS] & (1 << (index % DIGITS)) != 0;
            assert_eq!(is_noted, self.keys(index).next().is_some(), "the bit of bucket {index}");
            for key in self.keys(index) {
                let time = time_of(key);
                assert!(
                    (first.max(self.base)..=last).contains(&time),
                    "{time} is in bucket {index}: {first} to {last}"
                );
                assert_eq!(level_of(time ^ self.base), index / DIGITS, "the level of {time} with base {}", self.base);
                count += 1;
            }
        }
        for (level, &digits) in self.digits.iter().enumerate() {
            assert_eq!(digits != 0, self.levels & (1 << level) != 0, "the bit of level {level}");
        }
        count
    }

    /// Returns how many chunks there are, free ones too.
    pub(super) fn chunk_count(&self) -> usize {
        self.chunks.len()
    }
}

#[inline]
fn level_of(difference: u64) -> usize {
    ((difference | 1).ilog2() / DIGIT_BITS) as usize
}

#[inline]
fn digit_of(time: u64, level: usize) -> usize {
    (time >> (level as u32 * DIGIT_BITS) & DIGIT_MASK) as usize
}

#[inline]
fn time_of(key: Key) -> u64 {
    (key >> 64) as u64
}

/// Returns a key that no key at `time` is greater than.
fn last_key_at(time: u64) -> Key {
    Key::from(time) << 64 | Key::from(u64::MAX)
}
