//! Pictures of histories: sessions as lanes, calls as bars from invocation to end, and an order that explains them as
//! a line through their points of effect, up to where it breaks.
//!
//! [`Picture`] is plain data: texts and times. [`Words`] makes one of a history of the oracle, of the answer of a check
//! and of an explanation; [`reported`] makes one of a report. [`html`] is a page for looking around in histories of any length, with a table of all calls;
//! [`svg`] is a picture for papers, black on white, of some hundred calls, or of an [excerpt](Picture::excerpt).
//!
//! A call takes effect at one instant between its invocation and its end. A picture draws that instant as a point, with
//! the number of the call in the order. Points follow each other in time wherever the order agrees with the times;
//! where it does not, as one that follows each session alone may not, the line goes back and is dashed.
//!
//! Times are drawn with as much space as labels need, not to scale; the page can do both.
//!
//! ```
//! use simutant_oracle::specifications::{Register, register::{Operation, Response}};
//! use simutant_oracle::{Check, Recorder, Session, Time};
//! use simutant_traces::diagram::Caption;
//! use simutant_traces::history::{self, Words};
//!
//! let recorder = Recorder::new();
//! let write = recorder.invoke(Session(1), Operation::Write(7), Time::from_nanos(10));
//! recorder.returned(write, Response::Done, Time::from_nanos(20))?;
//! let read = recorder.invoke(Session(2), Operation::Read, Time::from_nanos(30));
//! recorder.returned(read, Response::Value(None), Time::from_nanos(40))?;
//! let history = recorder.history();
//!
//! let register = Register::default();
//! let explanation = Check::default().explain(&history, &register).expect("the write is lost");
//! let words: Words<'_, Register<i32>> = Words {
//!     operation: &|operation| format!("{operation:?}"),
//!     response: &|response| format!("{response:?}"),
//!     state: &|register| format!("{:?}", register.0),
//! };
//! let picture = words.explained(&history, &register, &explanation);
//! let svg = history::svg(&picture, &Caption { title: "a lost write".to_owned(), ..Caption::default() });
//! assert!(svg.contains("the register has the value 7"));
//! # Ok::<(), simutant_oracle::Misuse>(())
//! ```

mod conversion;
mod html;
mod layout;
mod reported;
mod svg;

use std::collections::{BTreeMap, BTreeSet};

use simutant_oracle::{Moment, Time};

pub use self::conversion::Words;
pub use self::reported::reported;
use crate::diagram::Caption;

/// A history to be drawn. Lanes, bars and orders are named by their places in these lists; what names none is left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Picture {
    /// The names of the sessions, from the top.
    pub lanes: Vec<String>,
    /// The calls.
    pub bars: Vec<Bar>,
    /// Orders that explain calls, to choose from.
    pub orders: Vec<ExplainedOrder>,
    /// How many such orders there are, if `orders` does not have all.
    pub orders_count: u64,
    /// The call that no order can be continued with.
    pub stuck: Option<Stuck>,
    /// The part of the history that is impossible by itself.
    pub core: Vec<CoreBar>,
    /// What was going on meanwhile: faults.
    pub bands: Vec<Band>,
}

/// A call, drawn from its invocation to its end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bar {
    /// The place of the call in its history.
    pub number: usize,
    /// The lane of its session.
    pub lane: usize,
    /// What was asked for.
    pub operation: String,
    /// When it was invoked.
    pub invoked: Moment,
    /// How it ended.
    pub end: BarEnd,
}

/// How a call ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BarEnd {
    /// The service answered.
    Answered {
        /// When.
        at: Moment,
        /// What.
        answer: String,
    },
    /// Nobody knows: the bar is open at the right.
    Unknown,
    /// The operation has no effect: the bar is hatched.
    DidNotHappen {
        /// When the session knew.
        at: Moment,
    },
}

/// An order of calls that the specification can have taken.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExplainedOrder {
    /// What it is called where there are several.
    pub name: String,
    /// The calls, in the order of their effects.
    pub steps: Vec<Step>,
}

/// A call that takes effect.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Step {
    /// The call.
    pub bar: usize,
    /// What the specification answers, if that is known.
    pub answer: Option<String>,
    /// The state of the service after it, if that is to be shown.
    pub state: Option<String>,
}

/// A call whose answer fits nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Stuck {
    /// The call.
    pub bar: usize,
    /// What the specification would have answered.
    pub allowed: Vec<PicturedAnswer>,
}

/// An answer that the specification would have given.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PicturedAnswer {
    /// The answer.
    pub answer: String,
    /// Why, in the words of the specification.
    pub reason: Option<String>,
    /// After which order.
    pub order: usize,
}

/// A call of the part of a history that is impossible by itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CoreBar {
    /// The call.
    pub bar: usize,
    /// What of it matters: that it ended, or its answer.
    pub what: String,
}

/// A time in which something went on: a fault, and until when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Band {
    /// From when.
    pub from: Time,
    /// To when; `None` if it did not end.
    pub to: Option<Time>,
    /// What.
    pub label: String,
}

impl Bar {
    /// Returns when the call ended, if that is known.
    const fn ended(&self) -> Option<Moment> {
        match &self.end {
            BarEnd::Answered { at, .. } | BarEnd::DidNotHappen { at } => Some(*at),
            BarEnd::Unknown => None,
        }
    }

    /// Returns how it ended, in words.
    fn outcome(&self) -> &str {
        match &self.end {
            BarEnd::Answered { answer, .. } => answer,
            BarEnd::Unknown => "unknown",
            BarEnd::DidNotHappen { .. } => "did not happen",
        }
    }

    /// Returns what stands at the bar.
    fn label(&self) -> String {
        match &self.end {
            BarEnd::Answered { answer, .. } if answer.is_empty() => self.operation.clone(),
            BarEnd::Unknown => format!("{} → ?", self.operation),
            BarEnd::Answered { .. } | BarEnd::DidNotHappen { .. } => format!("{} → {}", self.operation, self.outcome()),
        }
    }
}

impl Picture {
    /// Returns the picture of the core and of the stuck call with what is around them: of each, the `neighbours` calls
    /// that were invoked before and after it. Without any it is the first `neighbours` calls.
    ///
    /// Steps of an order keep their states, and calls their numbers.
    #[must_use]
    pub fn excerpt(&self, neighbours: usize) -> Self {
        let mut by_invocation: Vec<usize> = (0..self.bars.len()).collect();
        by_invocation.sort_by_key(|&bar| (self.bars[bar].invoked.time, self.bars[bar].invoked.event, bar));
        let marked: BTreeSet<usize> =
            self.core.iter().map(|core| core.bar).chain(self.stuck.iter().map(|stuck| stuck.bar)).collect();
        let mut kept: BTreeSet<usize> = BTreeSet::new();
        for (place, bar) in by_invocation.iter().enumerate() {
            if marked.contains(bar) {
                let last = by_invocation.len().min(place.saturating_add(neighbours).saturating_add(1));
                kept.extend(&by_invocation[place.saturating_sub(neighbours)..last]);
            }
        }
        if marked.is_empty() {
            kept.extend(by_invocation.iter().take(neighbours));
        }
        self.of_bars(&kept)
    }

    /// Returns the picture of some of its bars.
    fn of_bars(&self, kept: &BTreeSet<usize>) -> Self {
        let place_of = |places: &BTreeSet<usize>| -> BTreeMap<usize, usize> {
            places.iter().enumerate().map(|(place, &old)| (old, place)).collect()
        };
        let bar_of = place_of(kept);
        let lane_of = place_of(&kept.iter().map(|&bar| self.bars[bar].lane).collect());
        let bars: Vec<Bar> =
            kept.iter().map(|&bar| Bar { lane: lane_of[&self.bars[bar].lane], ..self.bars[bar].clone() }).collect();
        let orders = self.orders.iter().map(|order| ExplainedOrder {
            name: order.name.clone(),
            steps: (order.steps.iter())
                .filter_map(|step| Some(Step { bar: *bar_of.get(&step.bar)?, ..step.clone() }))
                .collect(),
        });
        let first = bars.iter().map(|bar| bar.invoked.time).min();
        let last = bars.iter().map(|bar| bar.ended().unwrap_or(bar.invoked).time).max();
        let is_during = |band: &&Band| {
            last.is_some_and(|last| band.from <= last)
                && first.is_some_and(|first| band.to.is_none_or(|to| to >= first))
        };
        Self {
            lanes: lane_of.keys().filter_map(|&lane| self.lanes.get(lane).cloned()).collect(),
            orders: orders.collect(),
            orders_count: self.orders_count,
            stuck: self.stuck.as_ref().and_then(|stuck| Some(Stuck { bar: *bar_of.get(&stuck.bar)?, ..stuck.clone() })),
            core: (self.core.iter())
                .filter_map(|core| Some(CoreBar { bar: *bar_of.get(&core.bar)?, what: core.what.clone() }))
                .collect(),
            bands: self.bands.iter().filter(is_during).cloned().collect(),
            bars,
        }
    }

    /// Returns the call that fits nothing, if the picture has it.
    fn stuck(&self) -> Option<(&Stuck, &Bar)> {
        let stuck = self.stuck.as_ref()?;
        Some((stuck, self.bars.get(stuck.bar)?))
    }
}

/// Returns a page that shows the history, as the text of an HTML file that needs nothing else.
///
/// It is made for histories of 10,000 calls and more, and shows the first [`ORDERS_MAX`] orders.
pub fn html(picture: &Picture, caption: &Caption) -> String {
    html::page(picture, caption)
}

/// How many orders a page has to choose from.
pub const ORDERS_MAX: usize = 32;

/// Returns a picture of the history with its first order, as the text of an SVG file: black on white, without a script.
pub fn svg(picture: &Picture, caption: &Caption) -> String {
    svg::picture(picture, caption)
}

#[cfg(test)]
mod examples;
