//! Scripts: requests that refer to what was answered earlier, so that they mean the same in each run.
//!
//! A server chooses its tags and dates anew each time. A step names the answer that has them instead: the tag of the
//! answer to step 3 (Li, "Testing by Dualization", PhD thesis, University of Pennsylvania, 2022, section 5.3, where such
//! terms are J-expressions).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use simutant_sim_core::Random;

use crate::message::{Conditions, Method, Request, Seen, Tags};
use crate::specification::LONG_AGO;
use crate::tag::EntityTag;

/// The number of a step, which stays with it when others are left out.
pub type Label = u32;

/// A request of a script.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Its number.
    pub label: Label,
    /// The connection on which it is made, from 1. A connection makes one request after the other.
    pub connection: u8,
    /// What is to be done.
    pub method: Method,
    /// The number of the target.
    pub target: u8,
    /// The content of a PUT.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// What must hold.
    #[serde(default, skip_serializing_if = "Conditions::is_empty")]
    pub conditions: Conditions<TagTerm, DateTerm>,
}

/// A tag in a script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TagTerm {
    /// This one.
    Tag(EntityTag),
    /// That of the answer to a step.
    Of(Label),
    /// That of the answer to a step, made weak.
    WeakOf(Label),
    /// That of the answer to a step, made strong.
    StrongOf(Label),
}

/// A date in a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DateTerm {
    /// A date before all others.
    LongAgo,
    /// The field Last-Modified of the answer to a step.
    Of(Label),
}

/// The answers so far, with the number of the target.
#[derive(Debug, Clone, Default)]
pub struct Answers(BTreeMap<Label, (u8, Seen)>);

impl Answers {
    /// Adds the answer to a step.
    pub fn add(&mut self, step: &Step, seen: &Seen) {
        self.0.insert(step.label, (step.target, seen.clone()));
    }

    /// Returns a part of the answer to a step. Where it is not there, it is that of the last answer about the same target
    /// that has one, or else of any other target.
    fn part<T>(&self, label: Label, target: u8, part: impl Fn(&Seen) -> Option<T>) -> Option<T> {
        let meant = self.0.get(&label).and_then(|(_, seen)| part(seen));
        let others = || self.0.values().rev();
        let about = || others().filter(|(other, _)| *other == target).find_map(|(_, seen)| part(seen));
        meant.or_else(about).or_else(|| others().find_map(|(_, seen)| part(seen)))
    }
}

impl Step {
    /// Returns the request, whose target's path begins with `prefix`. Where no answer has had a tag or a date, it is one that
    /// nobody has chosen.
    ///
    /// ```
    /// use simutant_http::message::{Conditions, Method, Seen, Tags};
    /// use simutant_http::script::{Answers, Step, TagTerm};
    /// use simutant_http::tag::EntityTag;
    ///
    /// let get = Step { label: 1, connection: 1, method: Method::Get, target: 0, body: None, conditions: Default::default() };
    /// let if_none_match = Some(Tags::These(vec![TagTerm::WeakOf(1)]));
    /// let again = Step { label: 2, conditions: Conditions { if_none_match, ..Default::default() }, ..get.clone() };
    /// let mut answers = Answers::default();
    /// let tag = Some(EntityTag::strong("a1"));
    /// answers.add(&get, &Seen { status: 200, tag, modified: None, length: None, body: "x".into() });
    /// let request = again.request("/test-", &answers);
    /// assert_eq!(request.path, "/test-0");
    /// assert_eq!(request.conditions.if_none_match, Some(Tags::These(vec![EntityTag::weak("a1")])));
    /// ```
    pub fn request(&self, prefix: &str, answers: &Answers) -> Request {
        let of = |label: &Label| {
            let tag = answers.part(*label, self.target, |seen| seen.tag.clone());
            tag.unwrap_or_else(|| EntityTag::strong("nobody"))
        };
        let mut tag = |term: &TagTerm| match term {
            TagTerm::Tag(tag) => tag.clone(),
            TagTerm::Of(label) => of(label),
            TagTerm::WeakOf(label) => EntityTag { is_weak: true, ..of(label) },
            TagTerm::StrongOf(label) => EntityTag { is_weak: false, ..of(label) },
        };
        let mut date = |term: &DateTerm| match term {
            DateTerm::LongAgo => LONG_AGO,
            DateTerm::Of(label) => answers.part(*label, self.target, |seen| seen.modified).unwrap_or(LONG_AGO),
        };
        Request {
            method: self.method,
            path: format!("{prefix}{}", self.target),
            body: self.body.clone(),
            conditions: self.conditions.map(&mut tag, &mut date),
        }
    }

    /// Returns steps that are simpler: with a condition less, with one tag instead of several, with a strong tag instead of a
    /// weak one, with less content, on the first connection.
    pub(crate) fn simpler(&self) -> Vec<Self> {
        let mut simpler = Vec::new();
        let mut add = |change: &dyn Fn(&mut Self)| {
            let mut step = self.clone();
            change(&mut step);
            if step != *self {
                simpler.push(step);
            }
        };
        add(&|step| step.connection = 1);
        add(&|step| step.body.iter_mut().for_each(|body| body.truncate(1)));
        let strong = |term: &mut TagTerm| match term {
            TagTerm::Tag(tag) => tag.is_weak = false,
            TagTerm::WeakOf(label) => *term = TagTerm::StrongOf(*label),
            TagTerm::Of(_) | TagTerm::StrongOf(_) => {}
        };
        let fewer = |tags: &mut Option<Tags<TagTerm>>| {
            if let Some(Tags::These(tags)) = tags {
                tags.truncate(1);
            }
        };
        let stronger = |tags: &mut Option<Tags<TagTerm>>| {
            if let Some(Tags::These(tags)) = tags {
                tags.iter_mut().for_each(strong);
            }
        };
        add(&|step| stronger(&mut step.conditions.if_match));
        add(&|step| stronger(&mut step.conditions.if_none_match));
        add(&|step| fewer(&mut step.conditions.if_match));
        add(&|step| fewer(&mut step.conditions.if_none_match));
        add(&|step| step.conditions.if_unmodified_since = None);
        add(&|step| step.conditions.if_modified_since = None);
        add(&|step| step.conditions.if_none_match = None);
        add(&|step| step.conditions.if_match = None);
        simpler
    }
}

/// Which scripts are drawn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Drawn {
    pub(crate) steps: usize,
    pub(crate) connections: u8,
    pub(crate) targets: u8,
}

/// Draws a script.
pub(crate) fn draw(drawn: Drawn, random: &mut Random) -> Vec<Step> {
    let Drawn { steps, connections, targets } = drawn;
    let mut script: Vec<Step> = Vec::new();
    for label in 1..=steps as Label {
        let target = random.uniform(0..targets);
        let method = match random.uniform(0..10_u8) {
            0..3 => Method::Get,
            3 => Method::Head,
            4..9 => Method::Put,
            _ => Method::Delete,
        };
        // Mostly something new; some contents come again.
        let body = (method == Method::Put).then(|| match random.uniform(0..8_u8) {
            0 => format!("body {}", random.uniform(0..label)),
            _ => format!("body {label}{}", ".".repeat(random.uniform(0..40))),
        });
        let mut conditions = Conditions::default();
        let tags = |random: &mut Random| {
            // Answers about the target, the last ones most of all, and some about others.
            let about: Vec<Label> =
                script.iter().rev().filter(|step| step.target == target).map(|step| step.label).collect();
            let mut tag = || {
                let label = match random.uniform(0..10_u8) {
                    0 => random.uniform(1..=label),
                    1..4 if !about.is_empty() => about[random.uniform(0..about.len())],
                    _ => about.first().copied().unwrap_or(label),
                };
                match random.uniform(0..10_u8) {
                    0 => TagTerm::Tag(EntityTag::strong("other")),
                    1 => TagTerm::WeakOf(label),
                    2 => TagTerm::StrongOf(label),
                    _ => TagTerm::Of(label),
                }
            };
            let first = tag();
            let second = tag();
            match random.uniform(0..10_u8) {
                0 => Tags::Any,
                1 => Tags::These(vec![first, second]),
                _ => Tags::These(vec![first]),
            }
        };
        let kind = random.uniform(0..16_u8);
        if matches!(kind, 0..4 | 8) {
            conditions.if_match = Some(tags(random));
        }
        if (4..10).contains(&kind) {
            conditions.if_none_match = Some(tags(random));
        }
        let date = |random: &mut Random| match random.uniform(0..2_u8) {
            0 => DateTerm::LongAgo,
            _ => DateTerm::Of(random.uniform(1..=label)),
        };
        if matches!(kind, 9 | 10) {
            conditions.if_modified_since = Some(date(random));
        }
        if matches!(kind, 0 | 11) {
            conditions.if_unmodified_since = Some(date(random));
        }
        let connection = random.uniform(1..=connections);
        script.push(Step { label, connection, method, target, body, conditions });
    }
    script
}
