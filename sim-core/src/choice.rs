//! Choices: every decision that a run leaves open, made in one place.
//!
//! What becomes of a packet, which of two simultaneous events comes first, what a component draws: by default the seed
//! decides. A [`ChoiceSource`] decides otherwise: it can replay what was recorded, change one choice and keep the
//! others, or explore systematically. A run without a choice source pays one look at a flag for each draw.
//!
//! A choice is open only if both answers are possible: on a link that loses nothing, or everything, nobody is asked
//! whether a packet is lost. How long a packet takes is what the source says, also if the link would never draw it.
//!
//! A choice is known by its stream and its place in the stream, and not by its place in the run: when one choice is
//! made differently, the others keep their names, as far as the components still ask for them.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use simutant_random::{Draw, Interception, Interceptor, is_intercepted};

use crate::outlined::{Outlined, outline};

/// Decides what a run leaves open.
pub trait ChoiceSource: 'static {
    /// Returns what is decided: a value below [`Choice::options`]; another one is taken modulo their number.
    ///
    /// It must not run a simulation.
    fn choose(&mut self, choice: &Choice<'_>) -> u64;
}

/// A decision that is open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice<'a> {
    /// Whose decision it is: `network a->b` for packets from `a` to `b`, `component a` for what `a` draws, `order` for
    /// simultaneous events.
    pub stream: &'a str,
    /// Which packet, draw or instant of the stream it is about, from 0 on.
    pub index: u64,
    /// What is decided.
    pub kind: ChoiceKind,
    /// How many values there are; `None` means all 2^64.
    pub options: Option<u64>,
    /// What the seed decides.
    pub seeded: u64,
}

/// The decision that a choice makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChoiceKind {
    /// Whether a packet is lost by chance: 0 or 1.
    Drop,
    /// Whether it arrives twice: 0 or 1.
    Duplicate,
    /// Whether it is corrupted: 0 or 1.
    Corrupt,
    /// Whether it is held back so that others overtake it: 0 or 1.
    Reorder,
    /// How long it takes, in nanoseconds. On a path of several links, the first takes what this is more or less than
    /// the seed says: so much later or earlier the packet is at the others.
    Latency,
    /// Whether its copy is corrupted: 0 or 1.
    CopyCorrupt,
    /// Whether its copy is held back: 0 or 1.
    CopyReorder,
    /// How long its copy takes, in nanoseconds.
    CopyLatency,
    /// For how long it is held back, in nanoseconds.
    Hold,
    /// For how long its copy is held back, in nanoseconds.
    CopyHold,
    /// What corruption makes of it or its copy: the seed of the random numbers that decide.
    Corruption,
    /// Which of the simultaneous events comes next, in the order of scheduling.
    Order,
    /// 64 bits that a component draws.
    Bits,
}

impl ChoiceKind {
    /// Returns what is simplest: a packet arrives, once, unchanged and in its turn; events come in the order of
    /// scheduling.
    ///
    /// `None` where no value is simpler than another: how long a packet takes, what a component draws.
    pub fn simplest(self) -> Option<u64> {
        match self {
            Self::Drop
            | Self::Duplicate
            | Self::Corrupt
            | Self::Reorder
            | Self::CopyCorrupt
            | Self::CopyReorder
            | Self::Order => Some(0),
            Self::Latency | Self::CopyLatency | Self::Hold | Self::CopyHold | Self::Corruption | Self::Bits => None,
        }
    }
}

/// A decision that was made.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedChoice {
    /// [`Choice::stream`].
    pub stream: String,
    /// [`Choice::index`].
    pub index: u64,
    /// What was decided.
    pub kind: ChoiceKind,
    /// The value that was chosen.
    pub value: u64,
}

/// Makes choices as they were recorded; who makes those that were not, [`Others`] says.
///
/// With all choices of a run it replays the run, whatever the seed is; with one it changes this one alone.
#[derive(Debug, Clone, Default)]
pub struct Replay {
    /// By stream.
    values: BTreeMap<String, BTreeMap<(ChoiceKind, u64), u64>>,
    others: Others,
    /// By stream, in nanoseconds.
    latencies: BTreeMap<String, u64>,
}

/// The default for choices that were not recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Others {
    /// As the seed decides.
    #[default]
    Seed,
    /// In the [simplest](ChoiceKind::simplest) way, and as the seed decides where there is none: so the recorded
    /// choices are all that goes wrong.
    Simplest,
}

impl Replay {
    /// Returns a source that makes these choices, and leaves the others to the seed. Of several for one place the last
    /// counts.
    pub fn new(choices: impl IntoIterator<Item = RecordedChoice>) -> Self {
        let mut replay = Self::default();
        for RecordedChoice { stream, index, kind, value } in choices {
            replay.values.entry(stream).or_default().insert((kind, index), value);
        }
        replay
    }

    /// Sets how the other choices are made.
    ///
    /// ```
    /// use simutant_sim_core::{Choice, ChoiceKind, ChoiceSource, Others, RecordedChoice, Replay};
    ///
    /// let (stream, kind) = ("network a->b", ChoiceKind::Drop);
    /// let loss = RecordedChoice { stream: stream.to_owned(), index: 3, kind, value: 1 };
    /// let mut replay = Replay::new([loss]).others(Others::Simplest);
    /// // The seed would lose every packet; now the packet with index 3 is the only one that is lost.
    /// let mut is_lost = |index| replay.choose(&Choice { stream, index, kind, options: Some(2), seeded: 1 });
    /// assert_eq!([is_lost(2), is_lost(3), is_lost(4)], [0, 1, 0]);
    /// ```
    pub fn others(self, others: Others) -> Self {
        Self { others, ..self }
    }

    /// Sets, by stream, how many nanoseconds packets and their copies take for which no choice was recorded. A stream
    /// that is not in the map is as it was.
    pub fn latencies(self, latencies: BTreeMap<String, u64>) -> Self {
        Self { latencies, ..self }
    }
}

impl ChoiceSource for Replay {
    fn choose(&mut self, choice: &Choice<'_>) -> u64 {
        let recorded = self.values.get(choice.stream).and_then(|values| values.get(&(choice.kind, choice.index)));
        let other = match self.others {
            Others::Seed => None,
            Others::Simplest => choice.kind.simplest(),
        };
        let latency = || match choice.kind {
            ChoiceKind::Latency | ChoiceKind::CopyLatency => self.latencies.get(choice.stream).copied(),
            _ => None,
        };
        recorded.copied().or(other).or_else(latency).unwrap_or(choice.seeded)
    }
}

outline!(Option<Choices>);

/// The choices of one run: who makes them, and those that were made.
#[derive(Default)]
pub(crate) struct Choices {
    source: Option<Box<dyn ChoiceSource>>,
    log: Option<Vec<RecordedChoice>>,
    /// How many choices of each stream and kind were made.
    made: BTreeMap<(String, ChoiceKind), u64>,
    /// The streams of components, by the seed of their generators.
    streams: BTreeMap<u64, String>,
}

impl Choices {
    pub(crate) fn set_source(&mut self, source: Box<dyn ChoiceSource>) {
        self.source = Some(source);
    }

    pub(crate) fn record(&mut self) {
        self.log.get_or_insert_default();
    }

    /// Whether anyone wants to make or see choices.
    pub(crate) fn is_active(&self) -> bool {
        self.source.is_some() || self.log.is_some()
    }

    pub(crate) fn name_stream(&mut self, seed: u64, name: String) {
        self.streams.insert(seed, name);
    }

    /// Names the stream of a child task after that of its parent.
    pub(crate) fn name_child_stream(&mut self, parent: u64, seed: u64, name: &str) {
        if let Some(parent) = self.streams.get(&parent) {
            let name = format!("{parent}/{name}");
            self.streams.insert(seed, name);
        }
    }

    pub(crate) fn take_log(&mut self) -> Option<Vec<RecordedChoice>> {
        self.log.take()
    }

    /// Makes the next choice of this kind in a stream.
    pub(crate) fn choose(&mut self, stream: &str, kind: ChoiceKind, options: Option<u64>, seeded: u64) -> u64 {
        let made = self.made.entry((stream.to_owned(), kind)).or_default();
        let index = *made;
        *made += 1;
        let choice = Choice { stream, index, kind, options, seeded };
        let value = self.source.as_mut().map_or(seeded, |source| {
            // A source may draw random numbers of its own, and these are no choices.
            let _interception = Interception::begin(None);
            source.choose(&choice)
        });
        let value = options.map_or(value, |options| value % options);
        if let Some(log) = &mut self.log {
            log.push(RecordedChoice { stream: stream.to_owned(), index, kind, value });
        }
        value
    }

    pub(crate) fn yes_or_no(&mut self, stream: &str, kind: ChoiceKind, seeded: bool) -> bool {
        self.choose(stream, kind, Some(2), u64::from(seeded)) == 1
    }
}

thread_local! {
    static CHOICES: RefCell<Outlined<Option<Choices>>> = const { RefCell::new(Outlined::new(None)) };
}

/// Makes the choices of a run those of the thread, until it is dropped; those of a run around it wait meanwhile.
pub(crate) struct CurrentChoices {
    outer: Outlined<Option<Choices>>,
    _interception: Interception,
}

impl CurrentChoices {
    pub(crate) fn enter(choices: Choices) -> Self {
        let interceptor: Option<&'static dyn Interceptor> = if choices.is_active() { Some(&Draws) } else { None };
        Self { outer: CHOICES.replace(Some(choices).into()), _interception: Interception::begin(interceptor) }
    }

    /// Returns what was recorded.
    pub(crate) fn take_log(&mut self) -> Option<Vec<RecordedChoice>> {
        with(Choices::take_log)
    }
}

impl Drop for CurrentChoices {
    fn drop(&mut self) {
        CHOICES.set(std::mem::take(&mut self.outer));
    }
}

/// What components draw, as choices.
struct Draws;

impl Interceptor for Draws {
    fn bits(&self, seed: u64, _: Draw, drawn: u64) -> u64 {
        with(|choices| match choices.streams.get(&seed).cloned() {
            Some(stream) => choices.choose(&stream, ChoiceKind::Bits, None, drawn),
            None => drawn,
        })
    }

    fn child_stream(&self, parent: u64, seed: u64, name: &str) {
        with(|choices| choices.name_child_stream(parent, seed, name));
    }
}

/// Whether the current run makes its choices here.
#[inline]
pub(crate) fn is_active() -> bool {
    is_intercepted()
}

/// Calls `action` with the choices of the current run.
///
/// # Panics
/// If there is no run, or the source of choices calls this.
pub(crate) fn with<T>(action: impl FnOnce(&mut Choices) -> T) -> T {
    CHOICES.with_borrow_mut(|choices| action(choices.as_mut().expect("a run is under way")))
}

impl fmt::Debug for Choices {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Choices").field("made", &self.made).finish_non_exhaustive()
    }
}
