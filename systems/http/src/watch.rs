//! Checks answers when they arrive, by target: what becomes of one target does not depend on others.

use std::collections::BTreeMap;

use simutant_oracle::{CallNumber, Online, OnlineBudget, OnlineError, Session};

use crate::message::{Request, Seen};
use crate::specification::{Response, Service};

/// A check of what clients see while they see it. Linearizability is local (Herlihy and Wing, 1990, 3.1), so there is a check
/// for each target.
#[derive(Debug)]
pub struct Watch {
    service: Service,
    targets: BTreeMap<String, Online<Service>>,
}

/// A request that has no answer yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asked {
    path: String,
    call: CallNumber,
}

impl Watch {
    /// Returns the check of a server that has no content.
    pub const fn new(service: Service) -> Self {
        Self { service, targets: BTreeMap::new() }
    }

    /// Observes that a request is sent.
    pub fn asked(&mut self, session: Session, request: Request) -> Asked {
        let path = request.path.clone();
        let new = || Online::new(self.service.clone(), OnlineBudget::default());
        let call = self.targets.entry(path.clone()).or_insert_with(new).invoked(session, request);
        Asked { path, call }
    }

    /// Observes an answer, and returns how many states the target can be in.
    ///
    /// # Errors
    /// [`OnlineError`] if the answer is impossible, or it is not known.
    pub fn answered(&mut self, asked: &Asked, seen: Seen) -> Result<usize, OnlineError> {
        let target = self.target(asked);
        target.returned(asked.call, Response::Seen(seen))?;
        Ok(target.states().count())
    }

    /// Observes that a request will not be answered: it may have been performed, or not.
    pub fn lost(&mut self, asked: &Asked) {
        // It has not been answered, so it is under way.
        _ = self.target(asked).unknown(asked.call);
    }

    fn target(&mut self, asked: &Asked) -> &mut Online<Service> {
        self.targets.get_mut(&asked.path).expect("the target was asked for")
    }
}
