//! Runs on mutants in the journal: those of a test case are one row, of which SQL sees the runs apart (`executions` in
//! `schema.sql`). A row for each would take longer than a short run does.

use std::collections::BTreeMap;
use std::ops::Range;

use rusqlite::params;
use rusqlite::types::{Value, ValueRef};
use serde::{Serialize, Serializer};
use simutant_outcomes::{Cause, Execution, MutantNumber, RunEnd};
use simutant_protocol::{MutantExecution, Spent};

use super::packed::{pack, unpack};
use super::{Content, Journal};
use crate::CampaignError;

/// How the runs of a test case are written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunForm {
    /// As text, which SQL can read.
    Text,
    /// In an eighth of the space, which SQL cannot read.
    Packed,
}

/// A run on a mutant, as the journal has it: numbers, in the order of the columns of `executions`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StoredRun {
    pub(crate) mutant: MutantNumber,
    /// `None` if the run passed.
    pub(crate) cause: Option<Cause>,
    pub(crate) diverged: bool,
    /// The number of the reason, which is the empty one if the run passed.
    pub(crate) reason: i64,
    pub(crate) events: u64,
    pub(crate) steps: u64,
    /// The functions that the run called: number `n` is bit `n % 64`.
    pub(crate) entered: u64,
    /// What it cost beside these; `None` as in [`MutantExecution::spent`], and in runs of before it was noted.
    pub(crate) spent: Option<Spent>,
}

impl StoredRun {
    pub(crate) fn verdict(&self) -> RunEnd {
        self.cause.map_or(RunEnd::Passed, Cause::verdict)
    }

    /// Returns how it ended, with the text of its reason.
    pub(crate) fn execution(&self, reason: String) -> Execution {
        let &Self { cause, events, steps, .. } = self;
        Execution { verdict: self.verdict(), cause, reason, events, steps }
    }
}

impl From<StoredRun> for [i64; 8] {
    fn from(run: StoredRun) -> Self {
        let StoredRun { mutant, cause, diverged, reason, events, steps, entered, spent: _ } = run;
        [
            i64::from(mutant),
            verdict_number(run.verdict()),
            cause_number(cause),
            i64::from(diverged),
            reason,
            events.cast_signed(),
            steps.cast_signed(),
            entered.cast_signed(),
        ]
    }
}

/// Eight numbers, and two more of a run that says what it cost.
impl Serialize for StoredRun {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let numbers: [i64; 8] = (*self).into();
        match self.spent {
            None => numbers.serialize(serializer),
            Some(Spent { messages, virtual_time_ns }) => {
                let [mutant, verdict, cause, diverged, reason, events, steps, entered] = numbers;
                let spent = [messages.cast_signed(), virtual_time_ns.cast_signed()];
                [mutant, verdict, cause, diverged, reason, events, steps, entered, spent[0], spent[1]]
                    .serialize(serializer)
            }
        }
    }
}

impl TryFrom<[i64; 8]> for StoredRun {
    type Error = String;

    fn try_from([mutant, verdict, cause, diverged, reason, events, steps, entered]: [i64; 8]) -> Result<Self, String> {
        let number = MutantNumber::try_from(mutant).map_err(|_| unknown("a mutant", mutant))?;
        let run = Self {
            mutant: number,
            cause: cause_of(cause)?,
            diverged: diverged == 1,
            reason,
            events: events.cast_unsigned(),
            steps: steps.cast_unsigned(),
            entered: entered.cast_unsigned(),
            spent: None,
        };
        if verdict != verdict_number(run.verdict()) || !(0..=1).contains(&diverged) {
            return Err(format!("mutant {mutant} has verdict {verdict} by cause {cause}, and divergence {diverged}"));
        }
        Ok(run)
    }
}

/// Returns 0 for none.
pub(super) fn cause_number(cause: Option<Cause>) -> i64 {
    let index = Cause::ALL.iter().position(|&known| Some(known) == cause);
    index.map_or(0, |index| index as i64 + 1)
}

/// Returns the cause that [`cause_number`] gives this number.
pub(super) fn cause_of(number: i64) -> Result<Option<Cause>, String> {
    let known = number.checked_sub(1).and_then(|index| Cause::ALL.get(usize::try_from(index).ok()?));
    match known {
        None if number != 0 => Err(unknown("a cause", number)),
        known => Ok(known.copied()),
    }
}

fn unknown(what: &str, number: i64) -> String {
    format!("{what} with the number {number}")
}

fn verdict_number(verdict: RunEnd) -> i64 {
    match verdict {
        RunEnd::Passed => 0,
        RunEnd::Failed => 1,
        RunEnd::NotTerminated => 2,
        RunEnd::Abnormal => 3,
        RunEnd::Inconclusive => 4,
    }
}

/// Returns runs as a column has them.
pub(super) fn to_text(runs: &[StoredRun]) -> String {
    serde_json::to_string(runs).expect("runs are numbers")
}

/// Returns the runs in what [`to_text`] wrote. There are many of them, and whoever takes all of JSON takes three times
/// as long.
fn from_text(text: &str) -> Result<Vec<StoredRun>, String> {
    let rows = text.strip_prefix('[').and_then(|text| text.strip_suffix(']'));
    let mut rest = Numbers(rows.ok_or("not an array")?.as_bytes());
    let mut runs = Vec::new();
    while !rest.0.is_empty() {
        let is_next = runs.is_empty() || rest.take(b',').is_some();
        let row = is_next.then(|| rest.row()).flatten();
        let (numbers, spent) = row.ok_or_else(|| format!("number {} is not a run", runs.len()))?;
        runs.push(StoredRun { spent, ..StoredRun::try_from(numbers)? });
    }
    Ok(runs)
}

/// What is left of the numbers of a column.
struct Numbers<'a>(&'a [u8]);

impl Numbers<'_> {
    /// Passes over a byte, if it is the next one.
    fn take(&mut self, byte: u8) -> Option<()> {
        self.0 = self.0.strip_prefix(&[byte])?;
        Some(())
    }

    fn row(&mut self) -> Option<([i64; 8], Option<Spent>)> {
        let mut row = [0; 8];
        for (column, number) in row.iter_mut().enumerate() {
            self.take(if column == 0 { b'[' } else { b',' })?;
            *number = self.number()?;
        }
        let mut spent = None;
        if self.take(b',').is_some() {
            let messages = self.number()?.cast_unsigned();
            self.take(b',')?;
            spent = Some(Spent { messages, virtual_time_ns: self.number()?.cast_unsigned() });
        }
        self.take(b']')?;
        Some((row, spent))
    }

    fn number(&mut self) -> Option<i64> {
        let is_negative = self.take(b'-').is_some();
        let mut number = 0_u64;
        let mut length = 0;
        while let Some(digit @ 0..=9) = self.0.get(length).map(|byte| byte.wrapping_sub(b'0')) {
            number = number.wrapping_mul(10).wrapping_add(digit.into());
            length += 1;
        }
        self.0 = &self.0[length..];
        // So many digits are always below 2^64.
        let number = (1..=19).contains(&length).then_some(number)?;
        if is_negative { 0_i64.checked_sub_unsigned(number) } else { i64::try_from(number).ok() }
    }
}

impl Journal {
    /// Adds runs of a test case on mutants, which with those that are kept finish the test case.
    pub(crate) fn add_executions(&mut self, case: usize, runs: &[MutantExecution]) -> Result<(), CampaignError> {
        let mut stored = self.take_kept(case)?;
        stored.reserve(runs.len());
        for MutantExecution { mutant, diverged, entered, execution, spent, reached: _ } in runs {
            stored.push(StoredRun {
                mutant: *mutant,
                cause: execution.cause,
                diverged: *diverged,
                reason: self.reason_number(&execution.reason)?,
                events: execution.events,
                steps: execution.steps,
                entered: *entered,
                spent: *spent,
            });
        }
        stored.sort_unstable_by_key(|run| run.mutant);
        self.add_unit(case, &stored, RunForm::Text)
    }

    /// Adds all runs of a test case, in the order of mutants, which finish it.
    pub(super) fn add_unit(&self, case: usize, runs: &[StoredRun], form: RunForm) -> Result<(), CampaignError> {
        let value: Value = match form {
            RunForm::Text => to_text(runs).into(),
            RunForm::Packed => pack(runs).into(),
        };
        self.try_sql(|connection| {
            let sql = "INSERT INTO units (test_case, executions, runs) VALUES (?1, ?2, ?3)";
            let row = params![case as i64, runs.len() as i64, value];
            connection.prepare_cached(sql)?.execute(row)
        })?;
        Ok(())
    }

    /// Returns the number of a reason, which is written down if it is new.
    pub(crate) fn reason_number(&mut self, text: &str) -> Result<i64, CampaignError> {
        let mut numbers = match self.reason_numbers.take() {
            Some(numbers) => numbers,
            None => self.reasons()?.into_iter().map(|(number, text)| (text, number)).collect(),
        };
        let number = match numbers.get(text) {
            Some(&number) => number,
            None => {
                let sql = "INSERT INTO reasons (text) VALUES (?1)";
                let number = self.try_sql(|connection| connection.prepare_cached(sql)?.insert([text]))?;
                numbers.insert(text.to_owned(), number);
                number
            }
        };
        self.reason_numbers = Some(numbers);
        Ok(number)
    }

    /// Returns the runs that a column has, in the order of their mutants, of which each has one at most.
    pub(super) fn runs(&self, case: usize, column: ValueRef<'_>) -> Result<Vec<StoredRun>, CampaignError> {
        let damaged = |what: &dyn std::fmt::Display| self.damaged(format!("runs of test case {case}: {what}"));
        let runs = match column {
            // The journal is the campaign's own file: its runs may be on any mutant here.
            ValueRef::Blob(packed) => unpack(packed, usize::MAX),
            text => from_text(text.as_str().map_err(|error| damaged(&error))?),
        };
        let runs = runs.map_err(|error| damaged(&error))?;
        match runs.is_sorted_by(|run, next| run.mutant < next.mutant) {
            true => Ok(runs),
            false => Err(damaged(&"they are not in the order of mutants")),
        }
    }

    /// Returns for each test case how many mutants it was run on, `None` where that is still to do.
    pub(crate) fn units(&self, content: &Content) -> Result<Vec<Option<u64>>, CampaignError> {
        let mut units = vec![None; content.cases];
        self.for_each("SELECT test_case, executions FROM units", |row| {
            let case = self.index(row.get(0)?, content.cases);
            let executions: i64 = row.get(1)?;
            Ok(case.map(|case| units[case] = Some(executions.cast_unsigned())))
        })?;
        Ok(units)
    }

    /// Returns the reasons by their numbers.
    pub(crate) fn reasons(&self) -> Result<BTreeMap<i64, String>, CampaignError> {
        let rows = self.rows("SELECT number, text FROM reasons", |row| Ok((row.get(0)?, row.get(1)?)))?;
        Ok(rows.into_iter().collect())
    }

    /// Calls `visit` with the runs of each test case of a range, in the order of test cases and mutants.
    pub(crate) fn runs_in(
        &self,
        range: Range<usize>,
        content: &Content,
        mut visit: impl FnMut(usize, &StoredRun),
    ) -> Result<(), CampaignError> {
        let sql = format!(
            "SELECT test_case, runs FROM units WHERE test_case BETWEEN {} AND {} ORDER BY test_case",
            range.start,
            range.end.saturating_sub(1)
        );
        self.for_each(&sql, |row| {
            let case = self.index(row.get(0)?, content.cases);
            let column = row.get_ref(1)?;
            Ok(case.and_then(|case| {
                for run in &self.runs(case, column)? {
                    self.index(run.mutant.into(), content.mutants)?;
                    visit(case, run);
                }
                Ok(())
            }))
        })
    }

    /// Calls `visit` with every test case of the universe and its runs, in the order of test cases and mutants; their
    /// reasons are among `reasons`. `content` is that of the universe alone.
    pub(crate) fn executions(
        &self,
        content: &Content,
        reasons: &BTreeMap<i64, String>,
        mut visit: impl FnMut(usize, &StoredRun),
    ) -> Result<(), CampaignError> {
        let sql = format!(
            "SELECT test_case, executions, runs FROM units WHERE test_case < {} ORDER BY test_case",
            content.cases
        );
        self.for_each(&sql, |row| {
            let (case, count) = (self.index(row.get(0)?, content.cases), row.get::<_, i64>(1)?);
            let column = row.get_ref(2)?;
            Ok(case.and_then(|case| {
                let runs = self.runs(case, column)?;
                if runs.len() as i64 != count {
                    return Err(self.damaged(format!("{count} runs were written down, {} are there", runs.len())));
                }
                for run in &runs {
                    self.index(run.mutant.into(), content.mutants)?;
                    if !reasons.contains_key(&run.reason) {
                        return Err(self.damaged("a run without a reason"));
                    }
                    visit(case, run);
                }
                Ok(())
            }))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_comes_back_as_it_was_written() {
        for (cause, diverged) in
            Cause::ALL.map(Some).into_iter().chain([None]).flat_map(|cause| [(cause, false), (cause, true)])
        {
            let run = StoredRun {
                mutant: 7,
                cause,
                diverged,
                reason: 3,
                events: u64::MAX,
                steps: 1 << 63,
                entered: u64::MAX - 1,
                spent: None,
            };
            let text = to_text(&[run]);
            assert_eq!(from_text(&text), Ok(vec![run]), "{text}");
            let other = StoredRun { mutant: 8, events: 0, entered: 1 << 63, reason: i64::MIN, ..run };
            let spent = Some(Spent { messages: 1 << 63, virtual_time_ns: u64::MAX });
            let costly = StoredRun { mutant: 9, spent, ..run };
            assert_eq!(from_text(&to_text(&[run, costly, other])), Ok(vec![run, costly, other]));
        }
        assert_eq!(from_text(&to_text(&[])), Ok(Vec::new()));
    }

    #[test]
    fn people_read_runs_in_the_words_of_all_other_files() {
        let connection = rusqlite::Connection::open_in_memory().expect("it needs no file");
        connection.execute_batch(include_str!("schema.sql")).expect("the tables are well-formed");
        connection.execute_batch(crate::journal::VIEWS).expect("the view is well-formed");
        let causes = || [None].into_iter().chain(Cause::ALL.map(Some));
        let run = |(cause, mutant)| StoredRun {
            mutant,
            cause,
            diverged: true,
            reason: 3,
            events: 1,
            steps: 2,
            entered: 0,
            spent: None,
        };
        let runs: Vec<StoredRun> = causes().zip(0..).map(run).collect();
        let unit = "INSERT INTO units VALUES (5, ?1, ?2)";
        connection.execute("INSERT INTO cases VALUES (5, '{}')", []).expect("a row");
        connection.execute(unit, rusqlite::params![runs.len() as i64, to_text(&runs)]).expect("a row");
        connection.execute("INSERT INTO reasons VALUES (3, 'why')", []).expect("a row");
        let mut query =
            connection.prepare("SELECT verdict, cause, reason FROM executions ORDER BY mutant").expect("SQL");
        let rows = query.query_map([], |row| Ok([row.get(0)?, row.get(1)?, row.get(2)?])).expect("it can be asked");
        let rows: Vec<[String; 3]> = rows.collect::<Result<_, _>>().expect("texts");
        let word = |value: Result<serde_json::Value, _>| value.expect("a word").as_str().expect("a text").to_owned();
        let expected: Vec<[String; 3]> = causes()
            .map(|cause| {
                let verdict = cause.map_or(RunEnd::Passed, Cause::verdict);
                let cause = cause.map_or("none".to_owned(), |cause| word(serde_json::to_value(cause)));
                [word(serde_json::to_value(verdict)), cause, "why".to_owned()]
            })
            .collect();
        assert_eq!(rows, expected);
    }

    #[test]
    fn text_that_nobody_wrote_is_an_error() {
        let whole = "[[1,0,0,0,1,1,1,1],[2,0,0,0,1,1,1,-1]]";
        assert_eq!(from_text(whole).map(|runs| runs.len()), Ok(2));
        for end in 0..whole.len() {
            from_text(&whole[..end]).expect_err("it is cut off");
            // A sign can go unnoticed.
            let without: String = [&whole[..end], &whole[end + 1..]].concat();
            assert!(whole[end..].starts_with('-') || from_text(&without).is_err(), "{without}");
        }
        for row in ["[1,0,0,0,1,1,1,1,5]", "[1,0,0,0,1,1,1,1,5,6,7]", "[1,0,0,0,1,1,1,1,]"] {
            from_text(&format!("[{row}]")).expect_err("neither eight numbers nor ten");
        }
        for number in ["9223372036854775808", "-9223372036854775809", "-", "", "1.5", "x"] {
            from_text(&format!("[[1,0,0,0,1,1,1,{number}]]")).expect_err("no such number");
        }
    }

    #[test]
    fn numbers_that_no_run_has_are_errors() {
        let check = |row: [i64; 8], expect: &str| {
            let text = serde_json::to_string(&[row]).expect("numbers");
            let error = from_text(&text).expect_err("no run is so");
            assert!(error.starts_with(expect), "{error}");
        };
        check([-1, 0, 0, 0, 1, 1, 1, 1], "a mutant with the number -1");
        check([1 << 32, 0, 0, 0, 1, 1, 1, 1], "a mutant with the number 4294967296");
        check([1, 3, 14, 0, 1, 1, 1, 1], "a cause with the number 14");
        check([1, 3, -1, 0, 1, 1, 1, 1], "a cause with the number -1");
        check([1, 0, 8, 0, 1, 1, 1, 1], "mutant 1 has verdict 0 by cause 8");
        check([1, 3, 8, 2, 1, 1, 1, 1], "mutant 1 has verdict 3 by cause 8, and divergence 2");
    }
}
