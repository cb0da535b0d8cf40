//! Draws scripts: mostly changes, and conditions on tags that were seen.

use simutant_http_tester::script::{Label, Step};
use simutant_http_tester::{Random, Request};

use crate::message::UNKNOWN_METHOD;

/// A date before all others, as a text.
const LONG_AGO: &str = "Mon, 01 Jan 1990 00:00:00 GMT";

/// Which scripts are drawn.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Drawn {
    pub(crate) steps: usize,
    pub(crate) connections: u8,
    pub(crate) targets: u8,
    /// Whether some requests do not wait.
    pub(crate) is_pipelined: bool,
}

/// Draws a script.
pub(crate) fn draw(drawn: Drawn, random: &mut Random) -> Vec<Step> {
    let Drawn { steps, connections, targets, is_pipelined } = drawn;
    let mut script = Vec::new();
    for label in 1..=steps as Label {
        let request = request(targets, &script, random);
        let connection = random.uniform(1..=connections);
        let pipelined = is_pipelined && random.uniform(0..4) == 0;
        script.push(Step { label, connection, pipelined, request });
    }
    script
}

/// Draws the next request of a script.
pub(crate) fn request(targets: u8, script: &[Step], random: &mut Random) -> Request {
    let label = script.len() as Label + 1;
    let path = format!("/<run>-{}", random.uniform(0..targets));
    let method = match random.uniform(0..40_u8) {
        0..12 => "GET",
        12..16 => "HEAD",
        16..35 => "PUT",
        35..39 => "DELETE",
        _ => UNKNOWN_METHOD,
    };
    let mut request = Request::new(method, path);
    if method == "PUT" {
        // Mostly something new; some contents come again.
        request = request.body(match random.uniform(0..8_u8) {
            0 => format!("body {}", random.uniform(0..label)),
            _ => format!("body {label}{}", ".".repeat(random.uniform(0..40))),
        });
    }
    let kind = random.uniform(0..16_u8);
    if matches!(kind, 0..4 | 8) {
        let tags = tags(&request.path, script, random);
        request = request.header("If-Match", tags);
    }
    if (4..10).contains(&kind) {
        let tags = tags(&request.path, script, random);
        request = request.header("If-None-Match", tags);
    }
    let date = |random: &mut Random| match random.uniform(0..2_u8) {
        0 => LONG_AGO.to_owned(),
        _ => format!("<{}.last-modified|{LONG_AGO}>", random.uniform(1..=label)),
    };
    if matches!(kind, 9 | 10) {
        request = request.header("If-Modified-Since", date(random));
    }
    if matches!(kind, 0 | 11) {
        request = request.header("If-Unmodified-Since", date(random));
    }
    request
}

/// Draws tags for a condition: those of answers about the target, the last ones most of all, and some of others.
fn tags(path: &str, script: &[Step], random: &mut Random) -> String {
    let label = script.len() as Label + 1;
    let about: Vec<Label> =
        script.iter().rev().filter(|step| step.request.path == path).map(|step| step.label).collect();
    let mut tag = || {
        let label = match random.uniform(0..10_u8) {
            0 => random.uniform(1..=label),
            1..4 if !about.is_empty() => about[random.uniform(0..about.len())],
            _ => about.first().copied().unwrap_or(label),
        };
        let function = match random.uniform(0..10_u8) {
            0 => return "\"other\"".to_owned(),
            1 => ":weak",
            2 => ":strong",
            _ => "",
        };
        format!("<{label}.etag{function}|\"nobody\">")
    };
    let (first, second) = (tag(), tag());
    match random.uniform(0..10_u8) {
        0 => "*".to_owned(),
        1 => format!("{first}, {second}"),
        _ => first,
    }
}
