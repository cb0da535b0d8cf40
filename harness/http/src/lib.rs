//! Tests HTTP services against a specification of what they may answer.
//!
//! Nobody writes down which answer is right. The specification is a model of the service in ordinary Rust; where the service
//! may choose, it asks, and a search keeps every state that explains what clients have seen so far. The tester draws
//! requests, makes several at once, checks each answer when it arrives, and makes what is wrong as small as it can (Li,
//! "Testing by Dualization", PhD thesis, University of Pennsylvania, 2022).
//!
//! ```
//! use std::collections::BTreeMap;
//!
//! use simutant_http_tester::{HttpService, Request, Response, Step};
//! use simutant_oracle::{Open, Session, Specification};
//! use simutant_random::Random;
//!
//! /// Notes, by their paths.
//! #[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
//! struct Notes(BTreeMap<String, String>);
//!
//! impl Specification for Notes {
//!     type Operation = Request;
//!     type Response = Response;
//!
//!     fn step(&mut self, _: Session, request: &Request, _: &mut Open<'_>) -> Response {
//!         match (request.method.as_str(), &request.body) {
//!             ("PUT", Some(body)) => {
//!                 self.0.insert(request.path.clone(), body.clone());
//!                 Response::new(204, "")
//!             }
//!             _ => self.0.get(&request.path).map_or(Response::new(404, ""), |note| Response::new(200, note)),
//!         }
//!     }
//!
//!     /// Headers are the server's business, and so is what it writes beside an error.
//!     fn agrees(&mut self, _: &Request, due: &Response, seen: &Response, _: &mut Open<'_>) -> bool {
//!         due.status == seen.status && (due.body == seen.body || due.status == 404)
//!     }
//! }
//!
//! impl HttpService for Notes {
//!     fn draw(random: &mut Random, script: &[Step]) -> Request {
//!         let path = format!("/notes/<run>-{}", random.uniform(0..2));
//!         match random.uniform(0..2) {
//!             0 => Request::new("GET", path),
//!             _ => Request::new("PUT", path).body(format!("text {}", script.len())),
//!         }
//!     }
//! }
//! ```
//!
//! A pass says that no answer was wrong, and nothing of requests that were not made.

#[cfg(feature = "client")]
mod checking;
#[cfg(feature = "client")]
mod driver;
#[cfg(feature = "client")]
mod finding;
mod message;
mod origin;
pub mod script;
mod service;
#[cfg(feature = "client")]
mod serving;
#[cfg(feature = "client")]
mod tester;
#[cfg(feature = "client")]
pub mod testing;
pub mod watch;
#[cfg(feature = "client")]
mod wire;

#[cfg(feature = "client")]
pub use finding::Likeness;
pub use message::{Request, Response, is_token};
pub use origin::{Ending, Framing, OriginAnswer, Origins, ProxyEvent};
pub use script::Step;
pub use service::{HttpService, Rule};
pub use simutant_random::Random;
#[cfg(feature = "client")]
pub use tester::{Inconclusive, NoSuchRule, TestedScript, Tester};
