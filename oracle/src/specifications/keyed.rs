//! A service for each key.

use serde::{Deserialize, Serialize};

use super::Text;
use crate::formats::{Answered, Misfit, Said, Value, Vocabulary};
use crate::{Answer, Call, End, Footprint, Open, Region, Regions, Session, Specification};

/// A service of its own for each key, such as a register a key.
///
/// ```
/// use simutant_oracle::specifications::{Keyed, Register, keyed, register};
/// use simutant_oracle::{Open, Session, Specification};
///
/// let mut registers = Keyed::new(Register(Some(0)));
/// let of = |key: &str, operation| keyed::Operation { key: key.into(), operation };
/// registers.step(Session(1), &of("x", register::Operation::Write(7)), &mut Open::first());
/// let other = registers.step(Session(1), &of("y", register::Operation::Read), &mut Open::first());
/// assert_eq!(other, register::Response::Value(Some(0)));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Keyed<S> {
    /// What the service of a key is at first.
    initial: S,
    /// The services that are not as at first, in the order of their keys.
    others: Vec<(Text, S)>,
}

/// An operation on the service of a key.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Operation<O> {
    /// The key.
    pub key: Text,
    /// What is asked.
    pub operation: O,
}

impl<S> Keyed<S> {
    /// Returns services that are all like this at first.
    pub const fn new(initial: S) -> Self {
        Self { initial, others: Vec::new() }
    }

    fn find(&self, key: &Text) -> Result<usize, usize> {
        self.others.binary_search_by(|(other, _)| other.cmp(key))
    }

    /// Returns the service of a key.
    fn of(&self, key: &Text) -> &S {
        self.find(key).map_or(&self.initial, |place| &self.others[place].1)
    }
}

impl<S: Default> Default for Keyed<S> {
    fn default() -> Self {
        Self::new(S::default())
    }
}

/// From the initial state of each service.
impl<'de, S: Deserialize<'de>> Deserialize<'de> for Keyed<S> {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        S::deserialize(from).map(Self::new)
    }
}

impl<S: Specification> Keyed<S> {
    /// Changes the service of a key. A service that is as at first again is kept no longer, so that equal states are
    /// equal.
    fn change<T>(&mut self, key: &Text, change: impl FnOnce(&mut S) -> T) -> T {
        let place = self.find(key);
        let mut service = match place {
            Ok(place) => self.others.remove(place).1,
            Err(_) => self.initial.clone(),
        };
        let returned = change(&mut service);
        if service != self.initial {
            let (Ok(place) | Err(place)) = place;
            self.others.insert(place, (key.clone(), service));
        }
        returned
    }
}

impl<S> Specification for Keyed<S>
where
    S: Specification<Operation: Clone, Response: Clone>,
{
    type Operation = Operation<S::Operation>;
    type Response = S::Response;

    fn step(&mut self, session: Session, asked: &Self::Operation, open: &mut Open<'_>) -> S::Response {
        self.change(&asked.key, |service| service.step(session, &asked.operation, open))
    }

    fn agrees(
        &mut self,
        asked: &Self::Operation,
        expected: &S::Response,
        observed: &S::Response,
        open: &mut Open<'_>,
    ) -> bool {
        self.change(&asked.key, |service| service.agrees(&asked.operation, expected, observed, open))
    }

    fn is_observable(response: &S::Response) -> bool {
        S::is_observable(response)
    }

    fn reason(
        &self,
        session: Session,
        asked: &Self::Operation,
        expected: &S::Response,
        observed: &S::Response,
    ) -> Option<String> {
        self.of(&asked.key).reason(session, &asked.operation, expected, observed)
    }

    fn footprint(asked: &Self::Operation, response: Option<&S::Response>) -> Footprint {
        let Footprint { reads, writes, updates } = S::footprint(&asked.operation, response);
        let of_key = |regions: &Regions| match regions.listed() {
            Some([]) => Regions::None,
            _ => Regions::One(Region::of(asked.key.as_str())),
        };
        Footprint { reads: of_key(&reads), writes: of_key(&writes), updates: of_key(&updates) }
    }

    fn depends_on_session(asked: &Self::Operation) -> bool {
        S::depends_on_session(&asked.operation)
    }

    fn is_same(one: &Self::Operation, other: &Self::Operation) -> bool {
        one.key == other.key && S::is_same(&one.operation, &other.operation)
    }

    /// The region is a whole service, so an operation has to overwrite all of its service.
    fn overwrites(asked: &Self::Operation, response: Option<&S::Response>) -> bool {
        let replaces_all = || S::footprint(&asked.operation, response).writes == Regions::All;
        S::overwrites(&asked.operation, response) && replaces_all()
    }

    fn grows(asked: &Self::Operation) -> bool {
        S::grows(&asked.operation)
    }

    fn may_grow_into(&self, asked: &Self::Operation, observed: &S::Response) -> bool {
        self.of(&asked.key).may_grow_into(&asked.operation, observed)
    }

    /// Where all calls are about one key, as those of each part are.
    fn fast_path(&self, calls: &[&Call<Self::Operation, S::Response>]) -> Option<Answer> {
        let key = &calls.first()?.operation.key;
        let calls = of_key(key, calls)?;
        self.of(key).fast_path(&calls.iter().collect::<Vec<_>>())
    }

    fn contradiction(&self, calls: &[&Call<Self::Operation, S::Response>]) -> Option<Vec<usize>> {
        let key = &calls.first()?.operation.key;
        let calls = of_key(key, calls)?;
        self.of(key).contradiction(&calls.iter().collect::<Vec<_>>())
    }

    fn heap_bytes(&self) -> usize {
        let services: usize = self.others.iter().map(|(_, service)| service.heap_bytes()).sum();
        self.initial.heap_bytes() + services + self.others.len() * size_of::<(Text, S)>()
    }
}

/// Returns the calls as those of the service of a key, if all are.
fn of_key<O: Clone, R: Clone>(key: &Text, calls: &[&Call<Operation<O>, R>]) -> Option<Vec<Call<O, R>>> {
    let of_service = |call: &&Call<Operation<O>, R>| {
        let Call { session, mode, invoked, revision, .. } = **call;
        let end = match &call.end {
            End::Returned { at, response } => End::Returned { at: *at, response: response.clone() },
            End::Unknown => End::Unknown,
            End::DidNotHappen { at } => End::DidNotHappen { at: *at },
        };
        let operation = (call.operation.key == *key).then(|| call.operation.operation.clone())?;
        Some(Call { session, operation, mode, invoked, end, revision })
    };
    calls.iter().map(of_service).collect()
}

impl<S> Vocabulary for Keyed<S>
where
    S: Vocabulary<Operation: Clone, Response: Clone>,
{
    const NAME: &'static str = S::NAME;
    const OPERATIONS: &'static [&'static str] = S::OPERATIONS;
    const HAS_KEYS: bool = true;
    const DRAIN: Option<[&'static str; 2]> = S::DRAIN;

    fn operation(asked: &Said<'_>) -> Result<Self::Operation, Misfit> {
        let key = asked.key.and_then(Value::as_text).ok_or(Misfit::KEY)?;
        S::operation(&Said { key: None, ..*asked }).map(|operation| Operation { key, operation })
    }

    fn response(asked: &Self::Operation, answer: &Answered<'_>) -> Result<S::Response, Misfit> {
        S::response(&asked.operation, answer)
    }

    fn refusal(asked: &Self::Operation) -> Option<S::Response> {
        S::refusal(&asked.operation)
    }
}
