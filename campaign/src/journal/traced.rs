//! The requirements of criteria that look at traces, in the journal: labels that have numbers of their own there.

use std::collections::BTreeMap;
use std::sync::Arc;

use rusqlite::params;

use super::{Content, Journal};
use crate::CampaignError;
use crate::traced::Traced;

impl Journal {
    /// Adds what a test case covers of each criterion.
    pub(crate) fn add_traced(&mut self, case: usize, traced: &Traced) -> Result<(), CampaignError> {
        if self.labels.len() < traced.len() {
            self.labels.resize_with(traced.len(), BTreeMap::new);
        }
        let mut bytes = Vec::new();
        for (criterion, labels) in traced.iter().enumerate() {
            for label in labels {
                let number = match self.labels[criterion].get(label) {
                    Some(&number) => number,
                    None => self.label_number(criterion, label)?,
                };
                bytes.extend(number.to_le_bytes());
            }
        }
        self.try_sql(|connection| {
            let sql = "INSERT INTO traced (test_case, labels) VALUES (?1, ?2)";
            connection.prepare_cached(sql)?.execute(params![case as i64, bytes])
        })?;
        Ok(())
    }

    fn label_number(&mut self, criterion: usize, label: &Arc<str>) -> Result<u32, CampaignError> {
        let key = params![criterion as i64, &**label];
        let number: i64 = self.try_sql(|connection| {
            let sql = "INSERT OR IGNORE INTO labels (criterion, text) VALUES (?1, ?2)";
            connection.prepare_cached(sql)?.execute(key)?;
            let sql = "SELECT number FROM labels WHERE criterion = ?1 AND text = ?2";
            connection.prepare_cached(sql)?.query_row(key, |row| row.get(0))
        })?;
        let number = u32::try_from(number).map_err(|_| self.damaged(format!("a label has the number {number}")))?;
        self.labels[criterion].insert(label.clone(), number);
        Ok(number)
    }

    /// Returns for each of so many criteria what each test case covers; nothing of those that were not recorded.
    pub(crate) fn traced(&self, content: &Content, criteria: usize) -> Result<Vec<Vec<Vec<Arc<str>>>>, CampaignError> {
        let mut labels: BTreeMap<u32, (usize, Arc<str>)> = BTreeMap::new();
        self.for_each("SELECT number, criterion, text FROM labels", |row| {
            let criterion = self.index(row.get(1)?, criteria);
            let (number, text) = (row.get(0)?, row.get::<_, String>(2)?);
            Ok(criterion.map(|criterion| _ = labels.insert(number, (criterion, text.into()))))
        })?;
        let mut traced = vec![vec![Vec::new(); content.cases]; criteria];
        self.for_each("SELECT test_case, labels FROM traced", |row| {
            let case = self.index(row.get(0)?, content.cases);
            let bytes: Vec<u8> = row.get(1)?;
            Ok(case.and_then(|case| {
                let damaged = || self.damaged(format!("labels of test case {case}"));
                let (numbers, rest) = bytes.as_chunks();
                if !rest.is_empty() {
                    return Err(damaged());
                }
                for &number in numbers {
                    let (criterion, text) = labels.get(&u32::from_le_bytes(number)).ok_or_else(damaged)?;
                    traced[*criterion][case].push(text.clone());
                }
                Ok(())
            }))
        })?;
        Ok(traced)
    }
}
