//! Scripts: requests that refer to what was answered earlier, so that they mean the same in each run.
//!
//! A server chooses its identifiers and tags anew each time. A request names the answer that has them instead, by a *term*
//! in its texts: `GET /notes/<3.body.id>` asks for the note whose identifier is in the answer to step 3 (Li, "Testing by
//! Dualization", PhD thesis, University of Pennsylvania, 2022, section 5.3, where terms are J-expressions).
//!
//! | term | stands for |
//! | --- | --- |
//! | `<run>` | a text that no other run has, so that each run has targets of its own |
//! | `<3.etag>`, `<3.location>` | a header of the answer to step 3 |
//! | `<3.status>`, `<3.body>` | the status code and the body |
//! | `<3.body.items.0.id>` | a part of a body in JSON |
//! | `<3.etag:weak>`, `<3.etag:strong>` | an entity tag, made weak or strong |
//! | `<3.etag\|"none">` | the text after the bar if nothing has it |
//! | `<origin>`, `<origin:2>` | the host and the port of an [origin server](crate::Origins) behind a proxy |
//!
//! Terms always have a value, since an answer may not be there yet, or be another one than in an earlier run. Where an array
//! has no such element, or it lacks the rest, it is another element; where the answer to the step has no such part, it is the
//! last answer to a request of the same path that has one, or else the last one of all.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use simutant_random::Random;

use crate::message::{Request, Response};
use crate::service::HttpService;

/// The number of a step, which stays with it when others are left out.
pub type Label = u32;

/// A request of a script.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Its number.
    pub label: Label,
    /// The connection on which it is made, from 1.
    pub connection: u8,
    /// Whether it is sent at once. Otherwise it waits for the answers to what was sent before on its connection.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub pipelined: bool,
    /// The request, whose texts may have terms.
    pub request: Request,
}

/// The answers so far, and the origin servers of a proxy.
#[derive(Debug, Clone, Default)]
pub struct Answers {
    answers: BTreeMap<Label, (String, Response)>,
    origins: Vec<String>,
}

/// A term whose value is that of another answer than the one that it names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Substitute {
    /// The term.
    pub term: String,
    /// The step whose answer has the value; `None` if it is the text after the bar.
    pub of: Option<Label>,
}

impl Answers {
    /// Returns no answers, behind a proxy with origin servers by their hosts and ports.
    pub const fn with_origins(origins: Vec<String>) -> Self {
        Self { answers: BTreeMap::new(), origins }
    }

    /// Adds the answer to a step.
    pub fn add(&mut self, step: &Step, response: Response) {
        self.answers.insert(step.label, (step.request.path.clone(), response));
    }

    /// Returns the step whose answer has a part, and the part.
    fn part(&self, label: Label, part: &str, path: &str) -> Option<(Label, String)> {
        let meant = self.answers.get(&label).and_then(|(_, response)| Some((label, of_response(response, part)?)));
        let others = || self.answers.iter().rev();
        let find = |(label, (_, response)): (&Label, &(String, Response))| Some((*label, of_response(response, part)?));
        let about = || others().filter(|(_, (other, _))| other == path).find_map(find);
        meant.or_else(about).or_else(|| others().find_map(find))
    }
}

fn of_response(response: &Response, part: &str) -> Option<String> {
    match part.split_once('.').unwrap_or((part, "")) {
        ("status", "") => Some(response.status.to_string()),
        ("body", "") => Some(response.body.clone()),
        ("body", path) => {
            let body: Value = serde_json::from_str(&response.body).ok()?;
            match of_value(&body, &path.split('.').collect::<Vec<_>>())? {
                Value::String(text) => Some(text.clone()),
                other => Some(other.to_string()),
            }
        }
        (name, "") => response.headers.get(&name.to_ascii_lowercase()).cloned(),
        _ => None,
    }
}

fn of_value<'a>(value: &'a Value, path: &[&str]) -> Option<&'a Value> {
    let Some((name, rest)) = path.split_first() else { return Some(value) };
    match value {
        Value::Object(members) => of_value(members.get(*name)?, rest),
        Value::Array(elements) => {
            let meant = name.parse::<usize>().ok().and_then(|at| of_value(elements.get(at)?, rest));
            meant.or_else(|| elements.iter().find_map(|element| of_value(element, rest)))
        }
        _ => None,
    }
}

/// A term, without its brackets.
enum Term<'a> {
    Run,
    /// By its place, from 1.
    Origin(usize),
    Of {
        label: Label,
        part: &'a str,
        function: Option<&'a str>,
        otherwise: &'a str,
    },
}

impl<'a> Term<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        if text == "run" {
            return Some(Self::Run);
        }
        if let Some(rest) = text.strip_prefix("origin") {
            let number = if rest.is_empty() { Some(1) } else { rest.strip_prefix(':')?.parse().ok() };
            return number.map(Self::Origin);
        }
        let (text, otherwise) = text.split_once('|').unwrap_or((text, "none"));
        let (label, part) = text.split_once('.')?;
        let (part, function) = part.split_once(':').map_or((part, None), |(part, function)| (part, Some(function)));
        let is_known = function.is_none_or(|function| matches!(function, "weak" | "strong"));
        let label = label.parse().ok().filter(|_| is_known && !part.is_empty())?;
        Some(Self::Of { label, part, function, otherwise })
    }
}

/// Fills in terms.
struct Filling<'a> {
    run: &'a str,
    answers: &'a Answers,
    /// The path of the request, with its terms.
    path: &'a str,
    substitutes: Vec<Substitute>,
}

impl Filling<'_> {
    fn fill(&mut self, text: &str) -> String {
        let mut filled = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('<') {
            filled.push_str(before);
            let term = after.split_once('>').and_then(|(term, rest)| Some((term, Term::parse(term)?, rest)));
            let value = term.and_then(|(text, term, after)| Some((self.value(text, &term)?, after)));
            if let Some((value, after)) = value {
                filled.push_str(&value);
                rest = after;
            } else {
                filled.push('<');
                rest = after;
            }
        }
        filled + rest
    }

    /// Returns the value of a term; `None` if there is no such origin.
    fn value(&mut self, text: &str, term: &Term<'_>) -> Option<String> {
        let (label, part, function, otherwise) = match *term {
            Term::Run => return Some(self.run.to_owned()),
            Term::Origin(number) => return self.answers.origins.get(number.checked_sub(1)?).cloned(),
            Term::Of { label, part, function, otherwise } => (label, part, function, otherwise),
        };
        let found = self.answers.part(label, part, self.path);
        let of = found.as_ref().map(|(of, _)| *of);
        if of != Some(label) {
            self.substitutes.push(Substitute { term: text.to_owned(), of });
        }
        let value = found.map_or_else(|| otherwise.to_owned(), |(_, value)| value);
        let opaque = value.strip_prefix("W/").unwrap_or(&value);
        Some(match function {
            Some("weak") => format!("W/{opaque}"),
            Some(_) => opaque.to_owned(),
            None => value,
        })
    }
}

impl Step {
    /// Returns the request without terms, and the terms whose values are those of other answers.
    ///
    /// ```
    /// use simutant_http_tester::{Request, Response};
    /// use simutant_http_tester::script::{Answers, Step};
    ///
    /// let step = |label, request| Step { label, connection: 1, pipelined: false, request };
    /// let mut answers = Answers::default();
    /// let add = step(1, Request::new("POST", "/notes"));
    /// answers.add(&add, Response::new(201, r#"{"id": 7}"#));
    /// let (request, substitutes) = step(2, Request::new("GET", "/notes/<1.body.id>")).request("r0", &answers);
    /// assert_eq!((request.path.as_str(), substitutes.len()), ("/notes/7", 0));
    /// ```
    pub fn request(&self, run: &str, answers: &Answers) -> (Request, Vec<Substitute>) {
        let Request { method, path, headers, body } = &self.request;
        let mut filling = Filling { run, answers, path, substitutes: Vec::new() };
        let request = Request {
            method: method.clone(),
            path: filling.fill(path),
            headers: headers.iter().map(|(name, value)| (name.clone(), filling.fill(value))).collect(),
            body: body.as_ref().map(|body| filling.fill(body)),
        };
        (request, filling.substitutes)
    }

    /// Returns steps that are simpler: on the first connection, not pipelined, with a body of one letter, or JSON with such texts, with one tag of a
    /// list, with a strong tag instead of a weak one, with a header less. The later ones are simpler.
    pub fn simpler(&self) -> Vec<Self> {
        let mut simpler = Vec::new();
        let mut add = |change: &dyn Fn(&mut Self)| {
            let mut step = self.clone();
            change(&mut step);
            if step != *self {
                simpler.push(step);
            }
        };
        add(&|step| step.connection = 1);
        add(&|step| step.pipelined = false);
        add(&|step| step.request.body = step.request.body.take().map(|body| shorter(&body)));
        for name in self.request.headers.keys() {
            let mut change = |change: &dyn Fn(&str) -> String| {
                add(&|step| {
                    step.request.headers.iter_mut().filter(|it| it.0 == name).for_each(|it| *it.1 = change(it.1))
                });
            };
            change(&|value| value.replace(":weak", "").replace("W/\"", "\""));
            change(&|value| value.split_once(", ").map_or(value, |(first, _)| first).to_owned());
            add(&|step| _ = step.request.headers.remove(name));
        }
        simpler
    }
}

/// Returns a body with texts of one letter; that of JSON stays JSON, and terms stay.
fn shorter(body: &str) -> String {
    let first = |text: &str| if text.contains('<') { text.to_owned() } else { text.chars().take(1).collect() };
    match serde_json::from_str::<Value>(body) {
        Ok(mut value) => {
            each(&mut value, &first);
            value.to_string()
        }
        // What only looks like JSON has terms that are none.
        Err(_) if body.starts_with(['{', '[']) => body.to_owned(),
        Err(_) => first(body),
    }
}

/// Changes the texts of a value.
fn each(value: &mut Value, change: &impl Fn(&str) -> String) {
    match value {
        Value::String(text) => *text = change(text),
        Value::Array(elements) => elements.iter_mut().for_each(|element| each(element, change)),
        Value::Object(members) => members.values_mut().for_each(|member| each(member, change)),
        _ => {}
    }
}

/// Draws a script for a service, whose requests go out on some connections.
pub fn draw<S: HttpService>(steps: usize, connections: u8, random: &mut Random) -> Vec<Step> {
    let mut script = Vec::new();
    for label in 1..=steps as Label {
        let request = S::draw(random, &script);
        let connection = random.uniform(1..=connections);
        // Of a proxy, the order of answers is a question. A client should pipeline nothing that is not idempotent (RFC 9112,
        // section 9.3.2).
        let pipelined = S::origins().is_some() && request.method != "POST" && random.uniform(0..8_u8) == 0;
        script.push(Step { label, connection, pipelined, request });
    }
    script
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(label: Label, path: &str) -> Step {
        Step { label, connection: 1, pipelined: false, request: Request::new("GET", path) }
    }

    /// Checks a text with terms, after answers with bodies.
    #[track_caller]
    fn check(answers: &[(Label, &str)], text: &str, expect: &str, substitutes: &[Option<Label>]) {
        let mut before = Answers::default();
        for (label, body) in answers {
            before.add(&step(*label, "/other"), Response::new(200, *body));
        }
        let (request, found) = step(9, text).request("r1", &before);
        assert_eq!(request.path, expect);
        assert_eq!(found.iter().map(|substitute| substitute.of).collect::<Vec<_>>(), substitutes);
    }

    #[test]
    fn terms_stand_for_parts_of_answers() {
        // Li's section 5.3.2 and figures 5.6 to 5.8; indices begin at 0 here.
        let files = r#"{"files":[{"name":"foo","mode":755},{"name":"bar","mode":500}],"exitCode":0}"#;
        check(&[(4, files)], "<4.body.files.1.mode> <4.body.files.1.name>", "500 bar", &[]);
        let (j2, j3) = (r#"[{"foo":21},{"bar":22}]"#, r#"[{"bar":31},{"baz":32},{"foo":33}]"#);
        check(&[(2, j2)], "<2.body.2.bar>", "22", &[]);
        check(&[(4, j3)], "<4.body.2.bar>", "31", &[]);
        check(&[(2, j2)], "<6.body.1.foo>", "21", &[Some(2)]);
        check(&[(4, j3), (6, "{}")], "<6.body.1.foo>", "33", &[Some(4)]);
    }

    #[test]
    fn terms_have_a_value_whatever_was_answered() {
        check(&[], "/<run>-<1.etag|\"nobody\">", "/r1-\"nobody\"", &[None]);
        check(&[(1, "a")], "<1.status> <1.body> <3.body:weak>", "200 a W/a", &[Some(1)]);
        check(&[(1, "W/a")], "<1.body:strong> <1.body:weak>", "a W/a", &[]);
        for text in ["<b>", "a < b", "<1>", "<x.y>", "<1.>", "<1.body:other>", "<"] {
            check(&[(1, "a")], text, text, &[]);
        }
        check(&[(1, "a")], "<b<1.body>", "<b<1.body>".replace("<1.body>", "a").as_str(), &[]);
    }

    #[test]
    fn origins_have_their_places() {
        let answers = Answers::with_origins(vec!["h:1".to_owned(), "h:2".to_owned()]);
        let path = |text: &str| step(1, text).request("r1", &answers).0.path;
        assert_eq!(path("http://<origin>/<run> <origin:1> <origin:2>"), "http://h:1/r1 h:1 h:2");
        // Nobody knows these.
        for text in ["<origin:0>", "<origin:3>", "<origin:x>", "<origins>"] {
            assert_eq!(path(text), text);
        }
    }

    #[test]
    fn the_last_answer_of_the_same_path_comes_before_others() {
        let mut answers = Answers::default();
        answers.add(&step(1, "/a"), Response::new(200, "first"));
        answers.add(&step(2, "/<7.body>"), Response::new(200, "same"));
        answers.add(&step(3, "/a"), Response::new(200, "last"));
        assert_eq!(step(4, "/<7.body>").request("", &answers).0.path, "/same");
        assert_eq!(step(4, "/b<7.body>").request("", &answers).0.path, "/blast");
    }

    #[test]
    fn bodies_become_shorter_and_stay_what_they_are() {
        for (body, expect) in [
            ("content", "c"),
            (r#"{"at":[10,"noon"],"title":"milk"}"#, r#"{"at":[10,"n"],"title":"m"}"#),
            (r#"{"of":"<3.body.id>"}"#, r#"{"of":"<3.body.id>"}"#),
            (r#"{"of": <3.body.id>}"#, r#"{"of": <3.body.id>}"#),
            ("17", "17"),
        ] {
            assert_eq!(shorter(body), expect);
        }
    }

    #[test]
    fn steps_become_simpler_one_thing_at_a_time() {
        let request = Request::new("PUT", "/a").header("If-Match", "W/\"x\", <1.etag:weak>").body("body");
        let step = Step { label: 3, connection: 2, pipelined: true, request };
        let mut simplest = step;
        let mut count = 0;
        while let Some(simpler) = simplest.simpler().first() {
            (simplest, count) = (simpler.clone(), count + 1);
        }
        assert_eq!((count, simplest.connection, simplest.pipelined), (6, 1, false));
        assert_eq!(simplest.request, Request::new("PUT", "/a").body("b"));
    }
}
