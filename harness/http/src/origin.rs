//! Origin servers: what the tester of a proxy is beside the clients.
//!
//! A proxy has two sides, and the tester is at both: its clients send requests, its origins receive what the proxy forwards and
//! answer, and its clients receive what the proxy relays (Li, "Testing by Dualization", PhD thesis, University of Pennsylvania,
//! 2022, section 6.1). One thread does all that, so what it sees has an order, and each event is a call that begins and ends at
//! once.

use serde::Serialize;

use crate::message::{Request, Response};

/// The origin servers of a service that is a proxy. In requests, `<origin>` stands for the first one, and `<origin:2>` for
/// the second.
#[derive(Debug, Clone, Copy)]
pub struct Origins<O> {
    /// How many there are.
    pub count: u8,
    /// Returns what an origin does with a request, which depends on nothing but the request and its number in the run, from 1.
    pub answer: fn(&Request, usize) -> OriginAnswer,
    /// Returns the operation of the specification that is an event.
    pub operation: fn(ProxyEvent) -> O,
}

/// What happens around a proxy. Exchanges are requests of clients and of the proxy, by their places among all of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProxyEvent {
    /// A client sends a request.
    Sent {
        /// The place of the exchange.
        exchange: usize,
        /// The request.
        request: Request,
    },
    /// An origin receives a request, and answers it.
    Received {
        /// The place of the exchange.
        exchange: usize,
        /// The host and the port of the origin.
        origin: String,
        /// The request.
        request: Request,
        /// The answer.
        answer: OriginAnswer,
    },
    /// A client gets an answer, which is the response to this operation.
    Got {
        /// The place of the exchange that is answered.
        exchange: usize,
    },
    /// A client gets no whole answer, as the connection is closed. The response is what of it was there, with the status code 0
    /// if that was nothing.
    Ended {
        /// The place of the exchange that is not answered.
        exchange: usize,
    },
}

/// What a client sends first.
impl From<Request> for ProxyEvent {
    fn from(request: Request) -> Self {
        Self::Sent { exchange: 0, request }
    }
}

/// What an origin does with a request.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct OriginAnswer {
    /// The response, without the fields that say how long it is.
    pub response: Response,
    /// How it says where it ends.
    pub framing: Framing,
    /// What follows.
    pub ending: Ending,
}

/// How a message says where it ends (RFC 9112, section 6.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Framing {
    /// By Content-Length.
    Sized,
    /// By the last chunk. A request of HTTP/1.0 gets a length instead.
    Chunked,
    /// By the end of the connection.
    Closed,
}

/// What an origin does with the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ending {
    /// It waits for the next request.
    Kept,
    /// It closes the connection after the response.
    Closed,
    /// It sends a second response that nobody has asked for, which is `200` with the field `unasked`, and closes the
    /// connection.
    More,
    /// It closes the connection after so many bytes of the body, which is longer.
    Cut(usize),
    /// It closes the connection without a response.
    Nothing,
}

impl OriginAnswer {
    /// Returns whether the whole response is sent.
    pub const fn is_whole(&self) -> bool {
        matches!(self.ending, Ending::Kept | Ending::Closed | Ending::More)
    }

    /// Returns how much of the response is sent: `None` is nothing.
    pub fn sent(&self) -> Option<Response> {
        match self.ending {
            Ending::Kept | Ending::Closed | Ending::More => Some(self.response.clone()),
            Ending::Cut(bytes) => {
                let body = self.response.body.get(..bytes).unwrap_or(&self.response.body).to_owned();
                Some(Response { body, ..self.response.clone() })
            }
            Ending::Nothing => None,
        }
    }
}

/// The response, and how it is cut.
impl std::fmt::Display for OriginAnswer {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.ending {
            Ending::Kept | Ending::Closed => write!(formatter, "{}", self.response),
            Ending::More => write!(formatter, "{}, and something that nobody asked for", self.response),
            Ending::Cut(bytes) => write!(formatter, "{}, cut after {bytes} bytes of the body", self.response),
            Ending::Nothing => formatter.write_str("nothing, and closed the connection"),
        }
    }
}
