//! How links lose packets: each on its own, or in bursts.

use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize};

use super::draws::{Chance, Draws, Lane};
use crate::Probability;

/// A model of a link's losses. In serde, a plain number is the probability of independent losses.
///
/// ```
/// use simutant_sim_core::Loss;
/// use simutant_sim_core::network::GilbertElliott;
///
/// assert!(matches!(serde_json::from_str("0.1")?, Loss::Independent(_)));
/// let bursts = r#"{"gilbert_elliott": {"good_to_bad": 0.01, "bad_to_good": 0.25}}"#;
/// let Loss::GilbertElliott(GilbertElliott { drop_good, drop_bad, .. }) = serde_json::from_str(bursts)? else {
///     panic!("losses come in bursts")
/// };
/// // Left out, they are those of Gilbert's model: all is lost in the bad state, and nothing in the good one.
/// assert_eq!((drop_good.get(), drop_bad.get()), (0.0, 1.0));
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Loss {
    /// In bursts.
    GilbertElliott(GilbertElliott),
    /// Each packet with this probability, whatever becomes of the others.
    #[serde(untagged)]
    Independent(Probability),
}

/// Losses in bursts (Gilbert, "Capacity of a burst-noise channel", 1960; Elliott, "Estimates of error rates for codes
/// on burst-noise channels", 1963).
///
/// Each direction of a link is in a good or a bad state, each with a probability of loss of its own. It begins in the
/// good state. For each packet that reaches the link, the state first changes or stays, then the packet is lost or not.
/// So a bad state lasts `1 / bad_to_good` packets on average, and in the long run the share of packets that find it is
/// `good_to_bad / (good_to_bad + bad_to_good)`.
///
/// ```
/// use simutant_sim_core::network::{Fate, Fates, GilbertElliott};
/// use simutant_sim_core::{Link, Loss, Probability, VirtualTime};
///
/// let probability = |value| Probability::new(value).expect("it is one");
/// let drop = Loss::GilbertElliott(GilbertElliott {
///     good_to_bad: probability(0.02),
///     bad_to_good: probability(0.2),
///     drop_good: Probability::ZERO,
///     drop_bad: Probability::ONE,
/// });
/// let mut fates = Fates::new(&Link { drop, ..Link::default() }, 7, "client")?;
/// let lost = (0..10_000).filter(|_| matches!(fates.draw(VirtualTime::ZERO, 0), Fate::Dropped(_))).count();
/// // In the long run, 0.02 / (0.02 + 0.2) of the packets are lost: 9 %.
/// assert!((800..1_000).contains(&lost));
/// # Ok::<(), simutant_sim_core::InvalidNetwork>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GilbertElliott {
    /// The probability that a good state becomes a bad one.
    pub good_to_bad: Probability,
    /// The probability that a bad state becomes a good one.
    pub bad_to_good: Probability,
    /// The probability that a packet is lost in the good state.
    #[serde(default)]
    pub drop_good: Probability,
    /// The probability that a packet is lost in the bad state.
    #[serde(default = "always")]
    pub drop_bad: Probability,
}

fn always() -> Probability {
    Probability::ONE
}

/// No loss.
impl Default for Loss {
    fn default() -> Self {
        Self::Independent(Probability::ZERO)
    }
}

impl From<Probability> for Loss {
    fn from(probability: Probability) -> Self {
        Self::Independent(probability)
    }
}

/// Written out, for a derived one would say of a wrong number only that it is neither of the two.
impl<'de> Deserialize<'de> for Loss {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(LossVisitor)
    }
}

/// What stands in a map.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case")]
enum Named {
    GilbertElliott(GilbertElliott),
}

struct LossVisitor;

impl<'de> Visitor<'de> for LossVisitor {
    type Value = Loss;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a probability or {\"gilbert_elliott\": {...}}")
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Loss, E> {
        Probability::new(value).map(Loss::Independent).map_err(E::custom)
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Loss, E> {
        self.visit_f64(value as f64)
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Loss, E> {
        self.visit_f64(value as f64)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Loss, A::Error> {
        let Named::GilbertElliott(gilbert_elliott) = Named::deserialize(MapAccessDeserializer::new(map))?;
        Ok(Loss::GilbertElliott(gilbert_elliott))
    }
}

/// Which of its states a direction of a link is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) enum BurstState {
    #[default]
    Good,
    Bad,
}

impl GilbertElliott {
    /// Returns the probability that a bad state stays one. It is rounded, so a tiny `bad_to_good` is none.
    fn bad_to_bad(&self) -> Probability {
        Probability::new(1.0 - self.bad_to_good.get()).expect("it is from 0 to 1")
    }
}

impl Loss {
    /// Returns the state of the link after a packet has come, which was `state` before.
    pub(super) fn next_state(&self, state: BurstState, draws: Draws) -> BurstState {
        let Self::GilbertElliott(gilbert_elliott) = self else { return state };
        // One draw for both: whatever the state was, the same draws make it bad, so that states which differ soon
        // agree.
        let is_bad = match state {
            BurstState::Good => draws.chance(Lane::Burst, gilbert_elliott.good_to_bad.into()),
            BurstState::Bad => draws.chance(Lane::Burst, gilbert_elliott.bad_to_bad().into()),
        };
        if is_bad { BurstState::Bad } else { BurstState::Good }
    }

    /// Returns whether a packet is lost by a link in this state.
    pub(super) fn is_lost(&self, state: BurstState, draws: Draws) -> bool {
        let probability = match (self, state) {
            (Self::Independent(probability), _) => *probability,
            (Self::GilbertElliott(gilbert_elliott), BurstState::Good) => gilbert_elliott.drop_good,
            (Self::GilbertElliott(gilbert_elliott), BurstState::Bad) => gilbert_elliott.drop_bad,
        };
        draws.chance(Lane::Drop, Chance::from(probability))
    }

    /// Returns whether some packet can be lost.
    pub(super) fn can_lose(&self) -> bool {
        self.probabilities().any(|probability| probability != Probability::ZERO)
    }

    /// Returns whether some packet can get through.
    pub(super) fn can_let_through(&self) -> bool {
        self.probabilities().any(|probability| probability != Probability::ONE)
    }

    /// Returns the probabilities of a loss in the states in which a packet can find the link.
    fn probabilities(&self) -> impl Iterator<Item = Probability> {
        let of_states = match self {
            Self::Independent(probability) => [Some(*probability), None],
            Self::GilbertElliott(chain) => {
                // The state changes before a packet meets it, so that even the first may find no good state, and later
                // ones do if the bad one can end.
                let can_be_bad = chain.good_to_bad != Probability::ZERO;
                let can_be_good = chain.good_to_bad != Probability::ONE || chain.bad_to_bad() != Probability::ONE;
                [can_be_good.then_some(chain.drop_good), can_be_bad.then_some(chain.drop_bad)]
            }
        };
        of_states.into_iter().flatten()
    }

    /// Returns whether what becomes of a packet depends on the packets before it.
    pub(super) fn has_state(&self) -> bool {
        matches!(self, Self::GilbertElliott(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probability(value: f64) -> Probability {
        Probability::new(value).expect("it is one")
    }

    /// Returns which of 200,000 packets are lost.
    fn losses(loss: &Loss) -> Vec<bool> {
        let mut state = BurstState::default();
        let lose = |number| {
            let draws = Draws::new(5, number);
            state = loss.next_state(state, draws);
            loss.is_lost(state, draws)
        };
        (0..200_000).map(lose).collect()
    }

    fn share(losses: &[bool]) -> f64 {
        losses.iter().filter(|is_lost| **is_lost).count() as f64 / losses.len() as f64
    }

    /// Returns whether any of the first packets on some links is lost, and whether any gets through.
    fn seen(loss: &Loss) -> (bool, bool) {
        let (mut is_any_lost, mut is_any_through) = (false, false);
        for link in 0..60 {
            let mut state = BurstState::default();
            for number in 0..20 {
                let draws = Draws::new(link, number);
                state = loss.next_state(state, draws);
                match loss.is_lost(state, draws) {
                    true => is_any_lost = true,
                    false => is_any_through = true,
                }
            }
        }
        (is_any_lost, is_any_through)
    }

    #[track_caller]
    fn check_possible(loss: Loss) {
        assert_eq!((loss.can_lose(), loss.can_let_through()), seen(&loss), "{loss:?}");
    }

    #[test]
    fn what_can_become_of_packets_is_what_becomes_of_some() {
        let values = [0.0, 0.5, 1.0].map(probability);
        for drop_good in values {
            check_possible(Loss::Independent(drop_good));
            for drop_bad in values {
                for good_to_bad in values {
                    for bad_to_good in values {
                        let chain = GilbertElliott { good_to_bad, bad_to_good, drop_good, drop_bad };
                        check_possible(Loss::GilbertElliott(chain));
                    }
                }
            }
        }
    }

    #[test]
    fn a_bad_state_that_is_never_left_hides_what_the_good_one_does() {
        let never_left = |bad_to_good| {
            Loss::GilbertElliott(GilbertElliott {
                good_to_bad: Probability::ONE,
                bad_to_good: probability(bad_to_good),
                drop_good: Probability::ZERO,
                drop_bad: Probability::ONE,
            })
        };
        assert!(!never_left(0.0).can_let_through());
        assert!(!never_left(f64::MIN_POSITIVE).can_let_through(), "no draw is as small");
        assert!(never_left(f64::EPSILON).can_let_through());
    }

    #[test]
    fn bursts_are_as_frequent_and_as_long_as_the_chain_says() {
        let chain = GilbertElliott {
            good_to_bad: probability(0.02),
            bad_to_good: probability(0.18),
            drop_good: Probability::ZERO,
            drop_bad: Probability::ONE,
        };
        let losses = losses(&Loss::GilbertElliott(chain));
        let bursts = 1 + losses.windows(2).filter(|pair| !pair[0] && pair[1]).count();
        let lost = losses.iter().filter(|is_lost| **is_lost).count();
        // The states of packets that are k apart correlate by 0.8^k, so the variance of the share is 1.8 / 0.2 = 9
        // times that of independent losses. Four standard deviations.
        let share_tolerance = 4.0 * (0.1 * 0.9 * 9.0 / 200_000.0_f64).sqrt();
        assert!((share(&losses) - 0.1).abs() < share_tolerance, "{}", share(&losses));
        // The length of a burst is geometric with mean 1 / 0.18 and standard deviation sqrt(0.82) / 0.18.
        let mean_length = lost as f64 / bursts as f64;
        let length_tolerance = 4.0 * 0.82_f64.sqrt() / 0.18 / (bursts as f64).sqrt();
        assert!((mean_length - 1.0 / 0.18).abs() < length_tolerance, "{mean_length}");
    }

    #[test]
    fn each_state_loses_with_its_own_probability() {
        let chain = GilbertElliott {
            good_to_bad: probability(0.5),
            bad_to_good: probability(0.5),
            drop_good: probability(0.1),
            drop_bad: probability(0.6),
        };
        // Such a chain has no memory: 0.35 of the packets are lost, each on its own.
        let share = share(&losses(&Loss::GilbertElliott(chain)));
        assert!((share - 0.35).abs() < 4.0 * (0.35 * 0.65 / 200_000.0_f64).sqrt(), "{share}");
    }

    #[test]
    fn what_is_lost_is_also_lost_in_more_and_longer_bursts() {
        let chain = |good_to_bad, bad_to_good| GilbertElliott {
            good_to_bad: probability(good_to_bad),
            bad_to_good: probability(bad_to_good),
            drop_good: probability(0.01),
            drop_bad: probability(0.9),
        };
        let few = losses(&Loss::GilbertElliott(chain(0.02, 0.3)));
        let many = losses(&Loss::GilbertElliott(chain(0.05, 0.2)));
        assert!(few.iter().zip(&many).all(|(few, many)| !few || *many));
        assert_ne!(few, many);
    }

    #[test]
    fn a_plain_number_is_independent_loss() {
        let loss: Loss = serde_json::from_str("0.25").expect("it is a loss");
        assert_eq!(loss, probability(0.25).into());
        assert_eq!(serde_json::to_string(&loss).expect("json"), "0.25");
        assert_eq!(serde_json::from_str::<Loss>("1").expect("it is a loss"), Probability::ONE.into());
        let json = r#"{"gilbert_elliott":{"good_to_bad":0.1,"bad_to_good":0.5}}"#;
        let Loss::GilbertElliott(chain) = serde_json::from_str(json).expect("it is a loss") else {
            panic!("not bursts")
        };
        assert_eq!((chain.drop_good, chain.drop_bad), (Probability::ZERO, Probability::ONE));
    }

    #[test]
    fn what_is_no_loss_is_refused() {
        #[track_caller]
        fn check(json: &str, expect: &str) {
            let error = serde_json::from_str::<Loss>(json).expect_err("it is no loss").to_string();
            assert!(error.starts_with(expect), "{error}");
        }
        check("-1", "-1 is not a probability: give a number from 0 to 1");
        check("1.5", "1.5 is not a probability: give a number from 0 to 1");
        check("\"0.1\"", "invalid type: string \"0.1\", expected a probability or {\"gilbert_elliott\": {...}}");
        check(r#"{"gilbert_elliott": {"good_to_bad": 0, "bad_to_good": 1}, "drop": 1}"#, "trailing comma");
        check(r#"{"bursts": 1}"#, "unknown variant `bursts`, expected `gilbert_elliott`");
        check(
            r#"{"gilbert_elliott": {"good_to_bad": 2, "bad_to_good": 0.5}}"#,
            "2 is not a probability: give a number from 0 to 1",
        );
        let chain = serde_json::json!({"good_to_bad": 0, "bad_to_good": 1});
        let tree = serde_json::json!({"gilbert_elliott": chain, "drop": 1});
        assert!(serde_json::from_value::<Loss>(tree).is_err());
    }
}
