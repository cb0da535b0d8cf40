//! Rules: what happens to particular packets, without chance.

use serde::{Deserialize, Serialize};

use super::invalid::Field;
use super::{InvalidNetwork, Names, PacketInfo};
use crate::message::ComponentId;
use crate::{VirtualDuration, VirtualTime};

/// A rule for particular packets: "drop the third ACK from a to b", "hold every VOTE until 20 s".
///
/// Of the rules of a network, the first that applies to a packet is the one that takes effect. What links do to packets
/// comes on top of it.
///
/// ```
/// use simutant_sim_core::VirtualTime;
/// use simutant_sim_core::network::{Effect, Rule};
///
/// let rule: Rule = serde_json::from_str(r#"{"kind": "VOTE", "effect": {"hold_until_ns": 20000000000}}"#)?;
/// let effect = Effect::HoldUntil(VirtualTime::from_secs(20));
/// assert_eq!(rule, Rule { kind: Some("VOTE".to_owned()), ..Rule::of(effect) });
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// The sender; any component if it is left out.
    #[serde(default)]
    pub from: Option<String>,
    /// The receiver; any component if it is left out.
    #[serde(default)]
    pub to: Option<String>,
    /// The kind of the message ([`Message::kind`](crate::Message::kind)); any if it is left out.
    #[serde(default)]
    pub kind: Option<String>,
    /// The rule is for packets that are sent at this time or later.
    #[serde(rename = "since_ns", default)]
    pub since: VirtualTime,
    /// The rule is for packets that are sent before this time; there is no end if it is left out.
    #[serde(rename = "until_ns", default)]
    pub until: Option<VirtualTime>,
    /// The ones it applies to, of the packets that match the fields above.
    #[serde(default)]
    pub occurrences: Occurrences,
    /// What happens to them.
    pub effect: Effect,
}

/// The packets that a rule applies to, of those that it describes.
///
/// Each rule counts the packets that it describes from 1, in the order of their sending, also those to which an earlier
/// rule applies and those that are lost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Occurrences {
    /// Every one.
    #[default]
    All,
    /// The first so many.
    First(u64),
    /// The one with this number, from 1.
    Only(u64),
}

/// What a rule does to a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// It is lost.
    Drop,
    /// It is held so long before it goes on its way.
    #[serde(rename = "delay_ns")]
    Delay(VirtualDuration),
    /// It is held until this time before it goes on its way; not at all if it is sent later.
    #[serde(rename = "hold_until_ns")]
    HoldUntil(VirtualTime),
    /// It arrives twice, unless it is lost.
    Duplicate,
    /// It arrives with some of its bits changed, unless it is lost.
    Corrupt,
}

impl Rule {
    /// Returns a rule for all packets of a network, to be narrowed down:
    /// `Rule { kind: ..., ..Rule::of(Effect::Drop) }`.
    ///
    /// ```
    /// use simutant_sim_core::network::{Effect, Fate, NetworkFates, Occurrences, Rule};
    /// use simutant_sim_core::{Network, VirtualTime};
    ///
    /// let (from, occurrences) = (Some("a".to_owned()), Occurrences::Only(2));
    /// let rule = Rule { from, occurrences, ..Rule::of(Effect::Drop) };
    /// let network = Network { rules: vec![rule], ..Network::default() };
    /// let mut fates = NetworkFates::new(&network, &["a", "b"].map(str::to_owned), 7)?;
    /// let mut is_lost = || matches!(fates.draw(VirtualTime::ZERO, 0, 1, 0), Fate::Dropped(_));
    /// assert_eq!([is_lost(), is_lost(), is_lost()], [false, true, false]);
    /// # Ok::<(), simutant_sim_core::InvalidNetwork>(())
    /// ```
    pub fn of(effect: Effect) -> Self {
        let (since, occurrences) = (VirtualTime::ZERO, Occurrences::All);
        Self { from: None, to: None, kind: None, since, until: None, occurrences, effect }
    }

    pub(super) fn validate(&self, field: &Field<'_>) -> Result<(), InvalidNetwork> {
        if let Some(until) = self.until.filter(|until| *until <= self.since) {
            let allowed = format!("above since_ns, which is {}", self.since.as_nanos());
            return Err(field.child("until_ns").refuse(until.as_nanos(), allowed));
        }
        let occurrences_field = field.child("occurrences");
        match self.occurrences {
            Occurrences::First(0) => Err(occurrences_field.child("first").refuse(0, "at least 1")),
            Occurrences::Only(0) => Err(occurrences_field.child("only").refuse(0, "at least 1")),
            Occurrences::All | Occurrences::First(_) | Occurrences::Only(_) => Ok(()),
        }
    }
}

/// The rules of a run, and how many packets each has described.
#[derive(Debug, Clone, Default)]
pub(super) struct Rules(Vec<CountedRule>);

#[derive(Debug, Clone)]
struct CountedRule {
    source: Option<ComponentId>,
    destination: Option<ComponentId>,
    rule: Rule,
    count: u64,
}

impl Rules {
    pub(super) fn new(rules: &[Rule], names: &Names<'_>) -> Result<Self, InvalidNetwork> {
        let counted = |(index, rule): (usize, &Rule)| {
            let field = Field::root("rules").element(index);
            Ok(CountedRule {
                source: names.find_optional(rule.from.as_deref(), &field.child("from"))?,
                destination: names.find_optional(rule.to.as_deref(), &field.child("to"))?,
                rule: rule.clone(),
                count: 0,
            })
        };
        Ok(Self(rules.iter().enumerate().map(counted).collect::<Result<_, _>>()?))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Counts a packet, and returns the effect of the first rule that applies to it.
    pub(super) fn apply(&mut self, packet: &PacketInfo) -> Option<Effect> {
        let mut effect = None;
        for counted in &mut self.0 {
            if !counted.describes(packet) {
                continue;
            }
            counted.count += 1;
            let applies = match counted.rule.occurrences {
                Occurrences::All => true,
                Occurrences::First(count) => counted.count <= count,
                Occurrences::Only(number) => counted.count == number,
            };
            if applies && effect.is_none() {
                effect = Some(counted.rule.effect);
            }
        }
        effect
    }
}

impl CountedRule {
    fn describes(&self, packet: &PacketInfo) -> bool {
        self.source.is_none_or(|source| source == packet.source)
            && self.destination.is_none_or(|destination| destination == packet.destination)
            && self.rule.kind.as_deref().is_none_or(|kind| kind == packet.kind)
            && self.rule.since <= packet.at
            && self.rule.until.is_none_or(|until| packet.at < until)
    }
}
