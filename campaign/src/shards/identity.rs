//! What makes two prepared campaigns the same: whatever a run on a mutant depends on.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::campaign::Baseline;
use crate::campaign::settings::settings;
use crate::journal::{IDENTITY, Journal, Recording};
use crate::{CampaignError, CampaignPlan};

/// The identity of a prepared campaign: facts by their names, so that a difference can be told in words.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Identity(BTreeMap<String, String>);

/// The facts that are compared first, so that the one that a person knows is reported of several that differ.
const FIRST: [&str; 7] =
    ["version of Simutant", "system", "package", "seed", "source_hash", "operators", "number of re-seedings"];

impl Identity {
    /// Returns the identity of a campaign. `executables` are their hashes.
    pub(super) fn of(baseline: &Baseline, plan: &CampaignPlan, executables: &BTreeMap<&'static str, String>) -> Self {
        let mut facts: BTreeMap<String, String> = settings(plan)
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value.as_str().map_or_else(|| value.to_string(), str::to_owned)))
            .collect();
        facts.insert(FIRST[0].to_owned(), env!("CARGO_PKG_VERSION").to_owned());
        facts.insert("number of re-seedings".to_owned(), baseline.rounds(plan).to_string());
        let (mut cases, mut recorded) = (Sha256::new(), Sha256::new());
        for case in baseline.cases.texts() {
            cases.update(case);
            cases.update("\n");
        }
        baseline.recordings.iter().for_each(|recording| add(&mut recorded, recording));
        for (name, limits) in ["limits", "limits of re-seedings"].into_iter().zip(baseline.limits(plan)) {
            facts.insert(name.to_owned(), serde_json::to_string(&limits).unwrap_or_default());
        }
        facts.insert("list of test cases".to_owned(), hexadecimal(&cases.finalize()));
        facts.insert("recording of the original".to_owned(), hexadecimal(&recorded.finalize()));
        facts.insert("list of mutants".to_owned(), hash(&serde_json::to_vec(&plan.build.sites).unwrap_or_default()));
        facts.extend(executables.iter().map(|(name, hash)| (format!("executable `{name}`"), hash.clone())));
        Self(facts)
    }

    /// Returns the identity that a journal has noted.
    pub(super) fn read(journal: &Journal) -> Result<Option<Self>, CampaignError> {
        journal.get(IDENTITY)
    }

    /// Notes it in a journal.
    pub(super) fn write(&self, journal: &Journal) -> Result<(), CampaignError> {
        journal.set(IDENTITY, self)
    }

    /// Returns the first fact that differs, with its value here and there.
    pub(super) fn difference(&self, other: &Self) -> Option<(String, String, String)> {
        let names = FIRST.into_iter().chain(self.0.keys().chain(other.0.keys()).map(String::as_str));
        let value = |identity: &Self, name| identity.0.get(name).cloned().unwrap_or_else(|| "not known".to_owned());
        names
            .map(|name| (name.replace('_', " "), value(self, name), value(other, name)))
            .find(|(_, here, there)| here != there)
    }
}

/// Adds what is the same on every machine: how much memory a run takes depends a little on what its worker ran before.
fn add(hash: &mut Sha256, recording: &Recording) {
    let Recording { events, steps, virtual_time_ns, messages, late_faults, digest, entered, .. } = recording;
    let counts =
        [*events, *steps, *virtual_time_ns, messages.unwrap_or(0), late_faults.unwrap_or(0), *digest, *entered];
    counts.iter().for_each(|count| hash.update(count.to_le_bytes()));
    for set in [&recording.reached, &recording.infected].into_iter().chain(&recording.covered) {
        hash.update(crate::bits::to_bytes(set));
    }
}

/// Returns the SHA-256 of bytes as 64 hexadecimal digits.
pub(super) fn hash(bytes: &[u8]) -> String {
    hexadecimal(&Sha256::digest(bytes))
}

pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn identity(facts: &[(&str, &str)]) -> Identity {
        Identity(facts.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    #[test]
    fn what_differs_is_told_and_what_a_person_knows_comes_first() {
        let first = identity(&[("a", "1"), ("seed", "1"), ("source_hash", "x")]);
        assert_eq!(first.difference(&first), None);
        let told = |second: &[(&str, &str)]| first.difference(&identity(second)).map(|(name, _, there)| (name, there));
        let of = |name: &str, there: &str| Some((name.to_owned(), there.to_owned()));
        assert_eq!(told(&[("a", "2"), ("seed", "2"), ("source_hash", "x")]), of("seed", "2"));
        assert_eq!(told(&[("a", "2"), ("seed", "1"), ("source_hash", "y")]), of("source hash", "y"));
        assert_eq!(told(&[("seed", "1"), ("source_hash", "x")]), of("a", "not known"));
        assert_eq!(told(&[("a", "1"), ("b", "3"), ("seed", "1"), ("source_hash", "x")]), of("b", "3"));
    }
}
