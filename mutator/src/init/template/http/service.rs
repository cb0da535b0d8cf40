//! What a server of counters may answer.
//!
//! Make it yours: the state, what a request does and is answered, which answers agree, which
//! requests are drawn.

use std::collections::BTreeMap;

use simutant_http_tester::{HttpService, Random, Request, Response, Step};
use simutant_oracle::{Open, Session, Specification};

/// The counts that there are, by their paths.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct %TYPE%(BTreeMap<String, u64>);

impl Specification for %TYPE% {
    type Operation = Request;
    type Response = Response;

    /// Returns the answer, and changes the counters.
    fn step(&mut self, _: Session, request: &Request, _: &mut Open<'_>) -> Response {
        let counter = self.0.get_mut(&request.path);
        match (request.method.as_str(), counter) {
            ("POST", counter) => {
                let count = counter.map_or(0, |count| *count) + 1;
                self.0.insert(request.path.clone(), count);
                Response::new(200, count.to_string())
            }
            (_, None) => Response::new(404, ""),
            ("DELETE", Some(_)) => {
                self.0.remove(&request.path);
                Response::new(204, "")
            }
            (_, Some(count)) => Response::new(200, count.to_string()),
        }
    }

    /// Returns whether a client saw the answer that is due. Headers and texts of errors are free.
    fn agrees(&mut self, _: &Request, due: &Response, seen: &Response, _: &mut Open<'_>) -> bool {
        due.status == seen.status && (due.status >= 400 || due.body == seen.body)
    }
}

impl HttpService for %TYPE% {
    /// Draws a request. `<run>` is another text in each script, so that scripts do not meet.
    fn draw(random: &mut Random, _script: &[Step]) -> Request {
        let method = ["GET", "POST", "POST", "DELETE"][random.uniform(0..4_usize)];
        let counter = ["apples", "pears"][random.uniform(0..2_usize)];
        Request::new(method, format!("/counters/<run>-{counter}"))
    }

    /// Returns what a request is about: no counter has to do with another.
    fn part(request: &Request) -> String {
        request.path.clone()
    }
}
