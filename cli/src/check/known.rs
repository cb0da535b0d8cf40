//! What other machines found out of histories.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use simutant_oracle::Scope;

use super::{Judged, Listing, Question, STDIN};
use crate::exit::BadInput;

/// So many bytes of a file are hashed at a time.
const BLOCK: usize = 1 << 16;

/// What is known of histories, by the SHA-256 of their files.
#[derive(Debug, Default)]
pub(super) struct Known(HashMap<String, Judged>);

impl Known {
    /// Takes what `--json` printed into files, all of which must be answers to one question. What was not decided is taken
    /// if the budget was that of now, and what could not be read is not.
    pub(super) fn take(&mut self, files: &[PathBuf], question: &Question) -> Result<(), BadInput> {
        for path in files {
            let refused = |why: String| BadInput(format!("--judged {}: {why}", path.display()));
            let text = std::fs::read(path).map_err(|error| refused(error.to_string()))?;
            let listing: Listing = serde_json::from_slice(&text)
                .map_err(|error| refused(format!("not what `check --json` prints: {error}")))?;
            if let Some(difference) = question.difference(&listing.question) {
                return Err(refused(difference));
            }
            let is_final = |judged: &Judged| {
                judged.is_decided() || (judged.is_report() && listing.question.budget == question.budget)
            };
            for judged in listing.histories.into_iter().filter(is_final) {
                let Some(sha256) = judged.sha256.clone() else { continue };
                let known = self.0.get(&sha256);
                if known.is_some_and(|known| known.contradicts(&judged)) {
                    return Err(refused(format!(
                        "it says something else of {} than another file of --judged; check that history again, without them",
                        judged.file
                    )));
                }
                if known.is_none_or(|known| !known.is_decided()) {
                    self.0.insert(sha256, judged);
                }
            }
        }
        Ok(())
    }

    /// Returns what is known of a file with this content.
    pub(super) fn get(&self, sha256: Option<&str>) -> Option<&Judged> {
        self.0.get(sha256?)
    }
}

impl Question {
    /// Returns what differs from what was asked elsewhere, in words.
    fn difference(&self, other: &Self) -> Option<String> {
        let Self {
            release,
            specification,
            keyed,
            initial,
            format,
            order,
            revisions,
            requires_answers,
            scope,
            smt,
            budget: _,
        } = self;
        let differs = |fact: &str, here: String, there: String| {
            (here != there).then(|| format!("its {fact} is {there}, and here it is {here}"))
        };
        let state = |initial: &Option<serde_json::Value>| {
            initial.as_ref().map_or_else(|| "that of an empty service".to_owned(), ToString::to_string)
        };
        let json =
            |order| serde_json::to_value(order).ok().and_then(|it| it.as_str().map(str::to_owned)).unwrap_or_default();
        let needed = |answers: bool| if answers { "required" } else { "not required" }.to_owned();
        let part = |scope: &Scope| serde_json::to_string(scope).unwrap_or_default().replace('"', "");
        let asked = |smt: bool| if smt { "asked" } else { "not asked" };
        let taken = |revisions: bool| if revisions { "that they order calls" } else { "none" };
        let named = |format: &Option<String>| format.clone().unwrap_or_else(|| "told by each file".to_owned());
        let services = |keyed: bool| if keyed { "one of each key" } else { "one" }.to_owned();
        differs("release of Simutant", release.clone(), other.release.clone())
            .or_else(|| differs("specification", specification.clone(), other.specification.clone()))
            .or_else(|| differs("service", services(*keyed), services(other.keyed)))
            .or_else(|| differs("format", named(format), named(&other.format)))
            .or_else(|| differs("initial state", state(initial), state(&other.initial)))
            .or_else(|| differs("order", json(*order), json(other.order)))
            .or_else(|| differs("use of revisions", taken(*revisions).to_owned(), taken(other.revisions).to_owned()))
            .or_else(|| differs("rule for answers", needed(*requires_answers), needed(other.requires_answers)))
            .or_else(|| differs("scope", part(scope), part(&other.scope)))
            .or_else(|| differs("solver", asked(*smt).to_owned(), asked(other.smt).to_owned()))
    }
}

/// Returns the first bytes of the SHA-256 of some text, as a number.
pub(super) fn number(text: &[u8]) -> u64 {
    Sha256::digest(text).iter().take(8).fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// Returns the SHA-256 of a file's content, if it is a file that can be read.
pub(super) fn hash(path: &Path) -> Option<String> {
    if path.as_os_str() == STDIN || !path.is_file() {
        return None;
    }
    let mut file = BufReader::new(File::open(path).ok()?);
    let (mut hasher, mut block) = (Sha256::new(), vec![0; BLOCK]);
    loop {
        match file.read(&mut block).ok()? {
            0 => return Some(hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect()),
            read => hasher.update(&block[..read]),
        }
    }
}
