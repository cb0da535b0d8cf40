//! A service of which nothing but the status code is looked at.

use simutant_http_tester::script::Step;
use simutant_http_tester::{HttpService, Random, Request, Response};
use simutant_oracle::{Open, Session, Specification};

/// A service that says nothing.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub(crate) struct Quiet;

impl Specification for Quiet {
    type Operation = Request;
    type Response = Response;

    fn step(&mut self, _: Session, _: &Request, _: &mut Open<'_>) -> Response {
        Response::new(204, "")
    }

    fn agrees(&mut self, _: &Request, due: &Response, seen: &Response, _: &mut Open<'_>) -> bool {
        due.status == seen.status
    }
}

impl HttpService for Quiet {
    fn draw(_: &mut Random, _: &[Step]) -> Request {
        Request::new("GET", "/")
    }
}
