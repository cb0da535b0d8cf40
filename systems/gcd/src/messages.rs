//! The two messages of the service.

use simutant_sim_core::Message;

/// Asks for the greatest common divisor of two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Request {
    /// One number.
    pub a: u32,
    /// The other number.
    pub b: u32,
}

/// Answers a [`Request`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Response {
    /// The greatest common divisor.
    pub gcd: u32,
}

/// Either of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum GcdMessage {
    /// A question.
    Request(Request),
    /// An answer.
    Response(Response),
}

impl GcdMessage {
    /// Returns the request that this is.
    ///
    /// # Panics
    /// If it is a response: nobody sends one to a server.
    #[track_caller]
    pub fn into_request(self) -> Request {
        match self {
            Self::Request(request) => request,
            Self::Response(response) => panic!("a server was sent {response:?}"),
        }
    }

    /// Returns the response that this is.
    ///
    /// # Panics
    /// If it is a request: nobody sends one to a client.
    #[track_caller]
    pub fn into_response(self) -> Response {
        match self {
            Self::Response(response) => response,
            Self::Request(request) => panic!("a client was sent {request:?}"),
        }
    }
}

impl Message for GcdMessage {
    fn kind(&self) -> &'static str {
        match self {
            Self::Request(_) => "REQUEST",
            Self::Response(_) => "RESPONSE",
        }
    }
}

impl From<Request> for GcdMessage {
    fn from(request: Request) -> Self {
        Self::Request(request)
    }
}

impl From<Response> for GcdMessage {
    fn from(response: Response) -> Self {
        Self::Response(response)
    }
}
