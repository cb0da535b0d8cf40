//! The specifications that judge histories of implementations: as `check` does, for the test cases of a run.

use std::cell::RefCell;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use clap::{Args, FromArgMatches};
use simutant_harness::{DriverHistory, HistoryJudge, Implementation, JudgeHistories};
use simutant_oracle::catalogue::ReadyMade;
use simutant_outcomes::Verdict;

use crate::arguments::CheckArguments;
use crate::check::Judge;
use crate::exit::BadInput;

/// Judges as `check` does, with the arguments that a table `[driver.history]` stands for.
struct AsChecked {
    judge: Judge,
    fingerprint: u64,
}

impl JudgeHistories for AsChecked {
    fn judge(&self, file: &Path) -> Verdict {
        self.judge.verdict(file)
    }

    fn fingerprint(&self) -> u64 {
        self.fingerprint
    }
}

/// The judges of a run: a specification is built once, however many implementations it judges.
#[derive(Debug, Default)]
pub(super) struct Judges(RefCell<Vec<(Vec<OsString>, HistoryJudge)>>);

impl Judges {
    /// Returns the implementation with a judge of its histories, if its file asks for one. A specification that is not
    /// ready-made is that of the package with this manifest.
    pub(super) fn judged(
        &self,
        mut implementation: Implementation,
        manifest: Option<&Path>,
    ) -> anyhow::Result<Implementation> {
        let limit = implementation.timeout(&implementation.system);
        let Some(history) = implementation.driver.as_mut().and_then(|driver| driver.history.as_mut()) else {
            return Ok(implementation);
        };
        let mut arguments = as_arguments(history, manifest);
        arguments.extend(["--time".into(), format!("{}ms", limit.as_millis()).into()]);
        let known = self.0.borrow().iter().find(|(known, _)| *known == arguments).map(|(_, judge)| judge.clone());
        let judge = match known {
            Some(judge) => judge,
            None => {
                let judge = judge(&arguments, &implementation.name)?;
                self.0.borrow_mut().push((arguments, judge.clone()));
                judge
            }
        };
        history.judge = Some(judge);
        Ok(implementation)
    }
}

/// Returns the arguments of `check` that a table stands for.
fn as_arguments(history: &DriverHistory, manifest: Option<&Path>) -> Vec<OsString> {
    let DriverHistory { specification, order, format, revisions, initial, file: _, judge: _ } = history;
    let mut arguments: Vec<OsString> =
        vec!["check".into(), "--require-answers".into(), "--specification".into(), specification.into()];
    let mut add = |name: &str, value: OsString| arguments.extend([name.into(), value]);
    if ReadyMade::named(specification).is_none()
        && let Some(manifest) = manifest
    {
        add("--manifest-path", PathBuf::from(manifest).into());
    }
    order.iter().for_each(|order| add("--order", order.into()));
    format.iter().for_each(|format| add("--format", format.into()));
    initial.iter().for_each(|initial| add("--initial", initial.to_string().into()));
    arguments.extend(revisions.then(|| "--revisions".into()));
    arguments
}

fn judge(arguments: &[OsString], implementation: &str) -> anyhow::Result<HistoryJudge> {
    let named =
        |error: &dyn std::fmt::Display| BadInput(format!("implementation {implementation}: [driver.history]: {error}"));
    let command = CheckArguments::augment_args(clap::Command::new("check"));
    // Which files there are is known later.
    let matches = command.try_get_matches_from(arguments.iter().chain([&OsString::from("-")]));
    let parsed = matches.and_then(|matches| CheckArguments::from_arg_matches(&matches));
    let parsed = parsed.map_err(|error| {
        let text = error.to_string();
        let first = text.lines().next().unwrap_or_default();
        named(&first.strip_prefix("error: ").unwrap_or(first))
    })?;
    let judge = Judge::new(&parsed).map_err(|error| match error.downcast_ref::<BadInput>() {
        Some(bad) => named(&bad.0).into(),
        None => error,
    })?;
    let fingerprint = judge.fingerprint();
    Ok(HistoryJudge::new(AsChecked { judge, fingerprint }))
}
