//! A bank: transfers between accounts.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::Text;
use crate::formats::{Answered, Misfit, Said, Value, Vocabulary};
use crate::{Call, Footprint, Open, Region, Regions, Session, Specification};

/// Accounts with their balances. No balance becomes negative, unless accounts may be overdrawn, and the sum stays what it
/// was.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(from = "InitialBank")]
pub struct Bank {
    balances: BTreeMap<Text, i64>,
    overdraft: bool,
}

/// A bank as a file gives it.
#[derive(Deserialize)]
#[serde(untagged, deny_unknown_fields)]
enum InitialBank {
    Balances(BTreeMap<Text, i64>),
    Whole {
        balances: BTreeMap<Text, i64>,
        #[serde(default)]
        overdraft: bool,
    },
}

impl From<InitialBank> for Bank {
    fn from(initial: InitialBank) -> Self {
        match initial {
            InitialBank::Balances(balances) => Self::new(balances),
            InitialBank::Whole { balances, overdraft } => Self { balances, overdraft },
        }
    }
}

/// An operation on a bank.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Operation {
    /// Takes an amount from one account and gives it to another, if it is there or the account may be overdrawn.
    Transfer {
        /// The account that has less.
        from: Text,
        /// The account that has more.
        to: Text,
        /// How much.
        amount: u64,
    },
    /// Returns all balances.
    Read,
}

/// An answer of a bank.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Response {
    /// Whether the account had as much, or may be overdrawn, and the other one is an account.
    Transferred(bool),
    /// The balance of each account.
    Balances(BTreeMap<Text, i64>),
}

impl Bank {
    /// Returns a bank with these accounts.
    ///
    /// ```
    /// use simutant_oracle::specifications::{Bank, bank::{Operation, Response}};
    /// use simutant_oracle::{Open, Session, Specification};
    ///
    /// let bank = Bank::new([("alice".into(), 10), ("bob".into(), 5)].into());
    /// let transfer = |mut bank: Bank, amount| {
    ///     let operation = Operation::Transfer { from: "bob".into(), to: "alice".into(), amount };
    ///     bank.step(Session(1), &operation, &mut Open::first())
    /// };
    /// assert_eq!(transfer(bank.clone(), 5), Response::Transferred(true));
    /// assert_eq!(transfer(bank.clone(), 6), Response::Transferred(false));
    /// assert_eq!(transfer(bank.with_overdraft(), 6), Response::Transferred(true));
    /// ```
    pub const fn new(balances: BTreeMap<Text, i64>) -> Self {
        Self { balances, overdraft: false }
    }

    /// Returns the bank whose accounts may have less than nothing.
    #[must_use]
    pub fn with_overdraft(self) -> Self {
        Self { overdraft: true, ..self }
    }
}

impl Specification for Bank {
    type Operation = Operation;
    type Response = Response;

    fn step(&mut self, _: Session, operation: &Operation, _: &mut Open<'_>) -> Response {
        match operation {
            Operation::Read => Response::Balances(self.balances.clone()),
            Operation::Transfer { from, to, amount } => {
                let left = self.balances.get(from).and_then(|balance| balance.checked_sub_unsigned(*amount));
                let left = left.filter(|left| *left >= 0 || self.overdraft);
                let has = self.balances.get(to).map(|balance| balance.saturating_add_unsigned(*amount));
                let (Some(left), Some(has)) = (left, has) else { return Response::Transferred(false) };
                if from != to {
                    self.balances.insert(from.clone(), left);
                    self.balances.insert(to.clone(), has);
                }
                Response::Transferred(true)
            }
        }
    }

    fn reason(&self, _: Session, operation: &Operation, _: &Response, _: &Response) -> Option<String> {
        match operation {
            Operation::Read => Some(format!("the balances are {:?}", self.balances)),
            Operation::Transfer { from, .. } => Some(match self.balances.get(from) {
                Some(balance) => format!("{from:?} has {balance}"),
                None => format!("{from:?} is no account"),
            }),
        }
    }

    fn footprint(operation: &Operation, response: Option<&Response>) -> Footprint {
        let Operation::Transfer { from, to, .. } = operation else { return Footprint::reads_everything() };
        let accounts = || Regions::Some(vec![Region::of(from.as_str()), Region::of(to.as_str())]);
        let writes = match response {
            Some(Response::Transferred(false)) => Regions::None,
            _ => accounts(),
        };
        Footprint::new(accounts(), writes)
    }

    fn depends_on_session(_: &Operation) -> bool {
        false
    }

    fn is_same(one: &Operation, other: &Operation) -> bool {
        one == other
    }

    /// All accounts and all money are there at any time.
    fn contradiction(&self, calls: &[&Call<Operation, Response>]) -> Option<Vec<usize>> {
        let total =
            |balances: &BTreeMap<Text, i64>| balances.values().map(|&balance| i128::from(balance)).sum::<i128>();
        let all = total(&self.balances);
        // Sums that overflow are not looked at.
        if self.overdraft || all > i128::from(i64::MAX) || self.balances.values().any(|&balance| balance < 0) {
            return None;
        }
        let is_wrong =
            |balances: &BTreeMap<Text, i64>| !balances.keys().eq(self.balances.keys()) || total(balances) != all;
        let read = calls
            .iter()
            .position(|call| matches!(call.end.response(), Some(Response::Balances(balances)) if is_wrong(balances)))?;
        Some(vec![read])
    }

    fn heap_bytes(&self) -> usize {
        2 * self.balances.len() * size_of::<(Text, u64)>()
            + if self.balances.is_empty() { 0 } else { 2 * size_of::<usize>() }
    }
}

impl Vocabulary for Bank {
    const NAME: &'static str = "a bank";
    const OPERATIONS: &'static [&'static str] = &["transfer", "read"];

    fn operation(asked: &Said<'_>) -> Result<Operation, Misfit> {
        let transfer = |value: &Value| {
            let from = value.field("from")?.as_text()?;
            let to = value.field("to")?.as_text()?;
            let amount = u64::try_from(value.field("amount")?.integer()?).ok()?;
            Some(Operation::Transfer { from, to, amount })
        };
        match asked.name {
            "transfer" => transfer(asked.value)
                .ok_or(Misfit::Value { cure: "give `{:from 0, :to 1, :amount 5}`, with an amount from 0 on" }),
            "read" => asked.without_value(Operation::Read),
            _ => Err(Misfit::Name),
        }
    }

    fn response(operation: &Operation, answer: &Answered<'_>) -> Result<Response, Misfit> {
        match (operation, answer.value) {
            (Operation::Transfer { .. }, _) => answer.done(Response::Transferred(true)),
            (Operation::Read, Value::Map { map }) => {
                let mut balances = BTreeMap::new();
                for (account, balance) in map {
                    let (account, balance) = account.as_text().zip(balance.integer()).ok_or(Misfit::Value {
                        cure: "an account is a text or an integer, and a balance is an integer",
                    })?;
                    if balances.insert(account, balance).is_some() {
                        return Err(Misfit::Value { cure: "an account has one balance, and one of these has two" });
                    }
                }
                Ok(Response::Balances(balances))
            }
            (Operation::Read, _) => Err(Misfit::Value { cure: "answer with a map of balances by account" }),
        }
    }

    fn refusal(operation: &Operation) -> Option<Response> {
        matches!(operation, Operation::Transfer { .. }).then_some(Response::Transferred(false))
    }
}
