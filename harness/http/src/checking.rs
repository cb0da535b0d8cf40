//! Checks what is seen of a run while it is seen, and once more from what was noted of it.

use crate::driver::{End, Exchange, Side};
use crate::message::{Request, Response};
use crate::origin::{Origins, ProxyEvent};
use crate::service::HttpService;
use crate::watch::{PendingRequest, Unsure, Watch, Wrong};

/// A check of a service, or of a proxy between clients and origin servers.
#[derive(Debug)]
pub(crate) struct Checking<S: HttpService> {
    pub(crate) watch: Watch<S>,
    origins: Option<Origins<S::Operation>>,
    /// The exchange of each call of the watch.
    exchanges: Vec<usize>,
}

impl<S: HttpService> Checking<S> {
    /// Returns the check of a service that begins in a state.
    pub(crate) fn new(initial: S) -> Self {
        Self { watch: Watch::new(initial), origins: S::origins(), exchanges: Vec::new() }
    }

    /// Observes that an exchange begins.
    pub(crate) fn begun(&mut self, at: usize, exchange: &Exchange) -> Result<PendingRequest, End> {
        let request = exchange.request.clone();
        let event = match &exchange.side {
            Side::Client { .. } => ProxyEvent::Sent { exchange: at, request },
            Side::Origin { name, answer } => {
                ProxyEvent::Received { exchange: at, origin: name.clone(), request, answer: answer.clone() }
            }
        };
        let Some(origins) = &self.origins else {
            return Ok(self.asked(at, exchange, operation::<S>(&exchange.request)?));
        };
        let asked = self.asked(at, exchange, (origins.operation)(event));
        self.answered(at, &asked, Response::default())?;
        Ok(asked)
    }

    /// Returns the call of an exchange that gets an answer, or only a part of one.
    pub(crate) fn due(&mut self, at: usize, exchange: &Exchange, asked: &PendingRequest) -> PendingRequest {
        let Some(origins) = &self.origins else { return asked.clone() };
        let event = match exchange.is_cut {
            true => ProxyEvent::Ended { exchange: at },
            false => ProxyEvent::Got { exchange: at },
        };
        let operation = (origins.operation)(event);
        self.asked(at, exchange, operation)
    }

    /// Observes the answer to a call.
    pub(crate) fn answered(&mut self, at: usize, due: &PendingRequest, response: Response) -> Result<(), End> {
        let response = response.try_into().map_err(|error| End::Malformed(at, format!("{error}")))?;
        self.watch.answered(due, response).map_err(|Wrong { .. }| End::Wrong(at))
    }

    /// Observes that an exchange will not be answered.
    pub(crate) fn lost(&mut self, asked: &PendingRequest) {
        // What became of the proxy's side of it is seen by itself.
        if self.origins.is_none() {
            self.watch.lost(asked);
        }
    }

    /// Returns whether all answers are possible, as [`Watch::finish`] does.
    pub(crate) fn finish(&self, steps: u64) -> Result<(), Unsure> {
        self.watch.finish(steps).map_err(|unsure| match unsure {
            Unsure::Wrong(Wrong { request }) => Unsure::Wrong(Wrong { request: self.exchanges[request] }),
            Unsure::Exhausted(limit) => Unsure::Exhausted(limit),
        })
    }

    fn asked(&mut self, at: usize, exchange: &Exchange, operation: S::Operation) -> PendingRequest {
        self.exchanges.push(at);
        self.watch.asked(exchange.session, operation)
    }
}

/// Returns the operation of the specification that a request is.
pub(crate) fn operation<S: HttpService>(request: &Request) -> Result<S::Operation, End> {
    request
        .clone()
        .try_into()
        .map_err(|error| End::Unspecified(format!("the specification knows no such request: {request}: {error}")))
}
