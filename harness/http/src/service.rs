//! What a tester is made of: a specification, and which requests are worth making.

use std::fmt::{Debug, Display};

use serde::Serialize;
use simutant_oracle::Specification;
use simutant_random::Random;

use crate::message::{Request, Response};
use crate::origin::Origins;
use crate::script::Step;

/// A service that is asked by HTTP.
///
/// Its specification says what it may answer. Its operations and responses are [`Request`] and [`Response`] themselves, or
/// types that these can be turned into. Findings show what would have been allowed, as responses are displayed.
pub trait HttpService:
    Specification<
        Operation: Clone + Debug + TryFrom<Request, Error: Display>,
        Response: Clone + Debug + Display + TryFrom<Response, Error: Display>,
    >
{
    /// The rules that can be waived: none, unless the specification has names for what it demands.
    const RULES: &'static [Rule] = &[];

    /// Draws the next request of a script, whose steps so far it may refer to by [terms](crate::script).
    fn draw(random: &mut Random, script: &[Step]) -> Request;

    /// Lets the service break a rule, by its place in [`HttpService::RULES`]: it may keep it or not.
    fn waive(&mut self, _rule: usize) {}

    /// Returns the part of the service that a request is about, where parts have nothing to do with each other: each is
    /// checked by itself, which is quicker.
    ///
    /// Linearizability is local (Herlihy and Wing, 1990, section 3.1). By default there is one part.
    fn part(_operation: &Self::Operation) -> String {
        String::new()
    }

    /// Returns the origin servers behind the service, if it is a proxy: then its operations are
    /// [events](crate::ProxyEvent). By default it is none.
    fn origins() -> Option<Origins<Self::Operation>> {
        None
    }
}

/// A rule of a specification.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Rule {
    /// Its name, by which it is waived.
    pub name: &'static str,
    /// What it comes from, such as a section of an RFC.
    pub source: &'static str,
    /// What it says.
    pub sentence: &'static str,
}

impl Display for Rule {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "{} ({})", self.name, self.source)
    }
}

impl Rule {
    /// Returns the rule with its sentence.
    pub fn words(&self) -> String {
        format!("{self}: {}", self.sentence)
    }
}
