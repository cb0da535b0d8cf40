//! An SMT solver as a second judge of histories.

use std::time::{Duration, Instant};

use serde::{Deserialize, Serialize};
use simutant_oracle::Formulas;
use simutant_oracle::smt::{Satisfiable, Solver, SolverError};

/// How long a solver may take for a history, unless that is given.
const TIME: Duration = Duration::from_secs(60);

/// A solver, and how long it may take for a history.
#[derive(Debug)]
pub(super) struct SecondJudge {
    solver: Solver,
    time: Duration,
}

/// What a solver says of a history.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Solved {
    /// The name of its program.
    solver: String,
    answer: SolverAnswer,
    /// Why it did not decide, if it is not the time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum SolverAnswer {
    Possible,
    Impossible,
    Undecided,
}

impl SecondJudge {
    pub(super) fn installed(time: Option<Duration>) -> Result<Self, SolverError> {
        Ok(Self { solver: Solver::installed()?, time: time.unwrap_or(TIME) })
    }

    /// Asks about one formula after the other, until one is not satisfiable or the time is over.
    pub(super) fn answer(&self, formulas: Formulas, is_stopped: &dyn Fn() -> bool) -> Solved {
        let (answer, reason) = match formulas {
            Formulas::TooLarge(reason) => (SolverAnswer::Undecided, Some(reason)),
            Formulas::Texts(texts) => match self.ask(&texts, is_stopped) {
                Ok(answer) => (answer, None),
                Err(error) => (SolverAnswer::Undecided, Some(error.to_string())),
            },
        };
        let name = self.solver.program().file_stem().unwrap_or_default().to_string_lossy();
        Solved { solver: name.into_owned(), answer, reason }
    }

    fn ask(&self, texts: &[String], is_stopped: &dyn Fn() -> bool) -> Result<SolverAnswer, SolverError> {
        let begun = Instant::now();
        for text in texts {
            let left = self.time.saturating_sub(begun.elapsed()).as_millis().div_ceil(1000);
            let left = u64::try_from(left).unwrap_or(u64::MAX);
            if left == 0 || is_stopped() {
                return Ok(SolverAnswer::Undecided);
            }
            match self.solver.answers(text, left)?.first() {
                Some(Satisfiable::Yes) => {}
                Some(Satisfiable::No) => return Ok(SolverAnswer::Impossible),
                Some(Satisfiable::Unknown) | None => return Ok(SolverAnswer::Undecided),
            }
        }
        Ok(SolverAnswer::Possible)
    }
}

impl Solved {
    /// Returns what it says, if it has decided.
    pub(super) const fn is_possible(&self) -> Option<bool> {
        match self.answer {
            SolverAnswer::Possible => Some(true),
            SolverAnswer::Impossible => Some(false),
            SolverAnswer::Undecided => None,
        }
    }

    /// Says it in a sentence.
    pub(super) fn sentence(&self) -> String {
        let Self { solver, answer, reason } = self;
        match (answer, reason) {
            (SolverAnswer::Possible, _) => format!("{solver} says that it is possible."),
            (SolverAnswer::Impossible, _) => format!("{solver} says that it is impossible."),
            (SolverAnswer::Undecided, Some(reason)) => format!("{solver} has not decided it: {reason}."),
            (SolverAnswer::Undecided, None) => format!("{solver} has not decided it within its time."),
        }
    }
}
