//! Tests as XML, inputs and outcomes apart.

use serde_json::Value;
use simutant_nets::exploring::{NamedCase, NamedTests};

use super::events::Event;
use super::names::NAMELESS;
use crate::xml::{escaped, open};

/// Returns the tests, with an event on each line.
///
/// An event or a field is an element with its name; a name that no element can have is the attribute `name` of an
/// `event` or a `field`. Values without a name are elements `value`, and `null` is an element with the attribute
/// `null`.
pub(super) fn xml(tests: &NamedTests) -> String {
    let mut out = String::from("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
    let paths = serde_json::json!(tests.paths).as_str().map(str::to_owned);
    open(&mut out, "tests", &[("net", Some(tests.net.clone())), ("paths", paths)]);
    out.push_str("\n<arguments>");
    tests.arguments.iter().for_each(|argument| element(&mut out, "value", "value", argument));
    out.push_str("</arguments>\n");
    for (NamedCase { inputs, outcomes }, number) in tests.cases.iter().zip(1..) {
        open(&mut out, "case", &[("id", Some(number.to_string()))]);
        out.push_str("\n<inputs>\n");
        inputs.iter().for_each(|event| write_event(&mut out, event));
        out.push_str("</inputs>\n<outcomes>\n");
        for outcome in outcomes {
            out.push_str("<outcome>\n");
            outcome.iter().for_each(|event| write_event(&mut out, event));
            out.push_str("</outcome>\n");
        }
        out.push_str("</outcomes>\n</case>\n");
    }
    out + "</tests>\n"
}

fn write_event(out: &mut String, event: &Value) {
    let Event { name, payload } = Event::new(event);
    // A unit has nothing in it, and nothing is missing.
    let unit = Value::Array(Vec::new());
    element(out, NAMELESS, name, if event.is_string() { &unit } else { payload });
    out.push('\n');
}

/// Writes an element with a name of the user, or a general element that has the name as attribute.
fn element(out: &mut String, general: &str, name: &str, value: &Value) {
    let is_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let is_name = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(is_word)
        && !name.to_ascii_lowercase().starts_with("xml");
    let (tag, name) = if is_name { (name, None) } else { (general, Some(name.to_owned())) };
    open(out, tag, &[("name", name), ("null", value.is_null().then(|| "true".to_owned()))]);
    match value {
        Value::Null => {}
        Value::String(text) => out.push_str(&escaped(text, false)),
        Value::Array(values) => values.iter().for_each(|value| element(out, "value", "value", value)),
        Value::Object(fields) => fields.iter().for_each(|(field, value)| element(out, "field", field, value)),
        scalar => out.push_str(&scalar.to_string()),
    }
    out.push_str(&format!("</{tag}>"));
}
