//! Markings as rows of bytes, in which each place has a few bits.

use simutant_nets::{Each, Explorable, ExploreError, Rows};

use crate::unfold::Unfolded;

/// An unfolded net, with as many bits for each place as its tokens need so far.
///
/// A count that needs more ends the exploration, and [`Packed::widen`] makes room before it begins again. So nothing
/// wraps.
#[derive(Debug)]
pub(crate) struct Packed {
    /// By place, how many bits it has; none if no transition changes it.
    widths: Vec<u32>,
    fields: Vec<Field>,
    /// How many bytes a row has.
    bytes: usize,
    transitions: Vec<Rule>,
    /// By place, the transitions that are looked at when it is marked: each is at one of its inputs.
    watched: Vec<Vec<usize>>,
    /// The transitions without inputs.
    unconditional: Vec<usize>,
    /// The place that has more tokens than its bits can count, and how many.
    exceeded: Option<(usize, u64)>,
    initial: Vec<u64>,
    /// The coloured place of each place, with its name.
    coloured: Vec<(usize, String)>,
    /// The counts of the marking that is looked at.
    counts: Vec<u64>,
    words: Vec<u64>,
    after: Vec<u8>,
}

/// The bits of a place: they are in one word of 64.
#[derive(Debug, Clone, Copy, Default)]
struct Field {
    word: usize,
    shift: u32,
    /// The greatest number that the bits can count.
    most: u64,
    /// The tokens of a place without bits.
    constant: u64,
}

/// What a transition needs and changes.
#[derive(Debug)]
struct Rule {
    inputs: Vec<(usize, u64)>,
    /// The places that have more tokens afterwards.
    gains: Vec<(usize, u64)>,
    losses: Vec<(usize, u64)>,
    /// By word, what is added to it, modulo 2^64: no field borrows from the next one, as all counts fit.
    changes: Vec<(usize, u64)>,
}

impl Packed {
    pub(crate) fn new(net: &Unfolded) -> Self {
        let places = net.places.len();
        let mut consumers = vec![0; places];
        net.transitions.iter().flat_map(|fired| &fired.inputs).for_each(|&(place, _)| consumers[place] += 1);
        let mut packed = Self {
            widths: vec![0; places],
            fields: Vec::new(),
            bytes: 0,
            transitions: Vec::new(),
            watched: vec![Vec::new(); places],
            unconditional: Vec::new(),
            exceeded: None,
            initial: net.places.iter().map(|place| place.initial).collect(),
            coloured: Vec::new(),
            counts: vec![0; places],
            words: Vec::new(),
            after: Vec::new(),
        };
        for place in &net.places {
            packed.coloured.push((place.place, net.net.places[place.place].common.words().to_owned()));
        }
        for (number, fired) in net.transitions.iter().enumerate() {
            let taken = |place| fired.inputs.iter().find(|input| input.0 == place).map_or(0, |input| input.1);
            let put = |place| fired.outputs.iter().find(|output| output.0 == place).map_or(0, |output| output.1);
            let more = |&(place, count): &(usize, u64), other: u64| (count > other).then(|| (place, count - other));
            packed.transitions.push(Rule {
                inputs: fired.inputs.to_vec(),
                gains: fired.outputs.iter().filter_map(|output| more(output, taken(output.0))).collect(),
                losses: fired.inputs.iter().filter_map(|input| more(input, put(input.0))).collect(),
                changes: Vec::new(),
            });
            let rule = &packed.transitions[number];
            for &(place, _) in rule.gains.iter().chain(&rule.losses) {
                packed.widths[place] = bits(packed.initial[place]);
            }
            // A place that is seldom marked: not at first, and for few transitions.
            let rarity = |place: &usize| (packed.initial[*place] > 0, consumers[*place]);
            match fired.inputs.iter().map(|&(place, _)| place).min_by_key(rarity) {
                Some(place) => packed.watched[place].push(number),
                None => packed.unconditional.push(number),
            }
        }
        packed.lay_out();
        packed
    }

    /// Gives each place its bits: the widest first, so that no word has a gap.
    fn lay_out(&mut self) {
        let mut order: Vec<usize> = (0..self.widths.len()).collect();
        order.sort_by_key(|&place| std::cmp::Reverse(self.widths[place]));
        self.fields = vec![Field::default(); order.len()];
        let (mut word, mut shift) = (0, 0);
        for place in order {
            let width = self.widths[place];
            if width == 0 {
                self.fields[place].constant = self.initial[place];
                continue;
            }
            if shift + width > u64::BITS {
                (word, shift) = (word + 1, 0);
            }
            self.fields[place] = Field { word, shift, most: u64::MAX >> (u64::BITS - width), constant: 0 };
            shift += width;
        }
        self.bytes = 8 * word + shift.div_ceil(8) as usize;
        self.words = vec![0; self.bytes.div_ceil(8).max(1)];
        self.after = vec![0; self.bytes];
        for rule in &mut self.transitions {
            let mut changes = vec![0u64; self.words.len()];
            for &(place, count) in &rule.gains {
                let Field { word, shift, .. } = self.fields[place];
                changes[word] = changes[word].wrapping_add(count.wrapping_shl(shift));
            }
            for &(place, count) in &rule.losses {
                let Field { word, shift, .. } = self.fields[place];
                changes[word] = changes[word].wrapping_sub(count.wrapping_shl(shift));
            }
            rule.changes = changes.into_iter().enumerate().filter(|&(_, change)| change != 0).collect();
        }
    }

    /// Makes room for the count that did not fit. Returns whether there is one.
    ///
    /// The other colours of the place get room, too: they often have as many tokens, and it is one restart less for
    /// each.
    pub(crate) fn widen(&mut self) -> bool {
        let Some((exceeded, count)) = self.exceeded.take() else { return false };
        let width = self.widths[exceeded];
        let wider = bits(count).max(if width < 4 { width + 1 } else { 2 * width }).min(u32::BITS);
        for (width, (place, _)) in self.widths.iter_mut().zip(&self.coloured) {
            if *place == self.coloured[exceeded].0 && *width > 0 {
                *width = wider.max(*width);
            }
        }
        self.lay_out();
        true
    }

    /// Checks that the initial marking can be counted.
    pub(crate) fn check_initial(&self) -> Result<(), ExploreError> {
        match (0..self.initial.len()).find(|&place| self.initial[place] > u64::from(u32::MAX)) {
            Some(place) => Err(self.too_many(place)),
            None => Ok(()),
        }
    }

    fn too_many(&self, place: usize) -> ExploreError {
        ExploreError::TooMany { what: format!("tokens of `{}`", self.coloured[place].1) }
    }

    /// Returns the counts of a marking, by place.
    pub(crate) fn counts(&self, row: &[u8]) -> Vec<u64> {
        let (mut words, mut counts) = (self.words.clone(), vec![0; self.fields.len()]);
        unpack(&self.fields, row, &mut words, &mut counts);
        counts
    }

    /// Returns the least and the greatest number of tokens in each coloured place, by its number.
    pub(crate) fn bounds(&self, markings: &Rows<u8>, places: usize) -> Vec<(u64, u64)> {
        let mut bounds = vec![(u64::MAX, 0); places];
        for row in markings.iter() {
            let mut sums = vec![0; places];
            for (count, (place, _)) in self.counts(row).into_iter().zip(&self.coloured) {
                sums[*place] += count;
            }
            bounds.iter_mut().zip(sums).for_each(|(bounds, sum)| *bounds = (sum.min(bounds.0), sum.max(bounds.1)));
        }
        bounds
    }

    /// Calls `each` with every transition that is enabled, and the marking after it.
    pub(crate) fn fire(
        &mut self,
        row: &[u8],
        mut each: impl FnMut(usize, &[u8]) -> Result<(), ExploreError>,
    ) -> Result<(), ExploreError> {
        unpack(&self.fields, row, &mut self.words, &mut self.counts);
        let Self { fields, transitions, watched, unconditional, counts, words, after, exceeded, .. } = self;
        let marked = counts.iter().zip(&*watched).filter(|(count, _)| **count > 0);
        for &number in unconditional.iter().chain(marked.flat_map(|(_, watching)| watching)) {
            let rule = &transitions[number];
            if rule.inputs.iter().any(|&(place, count)| counts[place] < count) {
                continue;
            }
            for &(place, gain) in &rule.gains {
                // The sum of two counts of 64 bits may not fit, and is then too large in any case.
                let count = counts[place].saturating_add(gain);
                if count > fields[place].most {
                    *exceeded = (count <= u64::from(u32::MAX)).then_some((place, count));
                    return Err(self.too_many(place));
                }
            }
            after.copy_from_slice(row);
            for &(word, change) in &rule.changes {
                let bytes = words[word].wrapping_add(change).to_le_bytes();
                let part = after.len().min(8 * word + 8);
                after[8 * word..part].copy_from_slice(&bytes[..part - 8 * word]);
            }
            each(number, after)?;
        }
        Ok(())
    }
}

/// Returns how many bits a count has, at least one.
fn bits(count: u64) -> u32 {
    (u64::BITS - count.leading_zeros()).clamp(1, u32::BITS)
}

fn unpack(fields: &[Field], row: &[u8], words: &mut [u64], counts: &mut [u64]) {
    for (word, bytes) in words.iter_mut().zip(row.chunks(8)) {
        let mut all = [0; 8];
        all[..bytes.len()].copy_from_slice(bytes);
        *word = u64::from_le_bytes(all);
    }
    for (count, field) in counts.iter_mut().zip(fields) {
        *count = ((words[field.word] >> field.shift) & field.most) + field.constant;
    }
}

impl Explorable for Packed {
    type Cell = u8;

    fn initial(&self) -> Vec<u8> {
        let mut words = vec![0u64; self.words.len()];
        for (field, count) in self.fields.iter().zip(&self.initial) {
            words[field.word] |= (count - field.constant) << field.shift;
        }
        let mut row: Vec<u8> = words.into_iter().flat_map(u64::to_le_bytes).collect();
        row.truncate(self.bytes);
        row
    }

    fn successors(&mut self, marking: &[u8], each: &mut Each<'_, u8>) -> Result<(), ExploreError> {
        self.fire(marking, |_, after| each(after))
    }

    fn bytes(&self) -> usize {
        let rules = self.transitions.iter().map(|rule| {
            16 * (rule.inputs.len() + rule.gains.len() + rule.losses.len() + rule.changes.len()) + size_of::<Rule>()
        });
        rules.sum::<usize>() + (size_of::<Field>() + 16) * self.fields.len()
    }

    fn grows(&self, markings: &Rows<u8>) -> String {
        let places = self.coloured.iter().map(|(place, _)| place + 1).max().unwrap_or(0);
        let bounds = self.bounds(markings, places).into_iter().enumerate();
        let most = bounds.map(|(place, (_, most))| (place, most)).max_by_key(|&(_, most)| most);
        let Some((place, most)) = most else { return "there are no places".to_owned() };
        let name = self.coloured.iter().find(|(number, _)| *number == place).map_or("", |(_, name)| name);
        format!("the place `{name}` has had up to {most} tokens")
    }
}
