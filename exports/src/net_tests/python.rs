//! Tests for Python's unittest, which pytest runs, too.

use serde_json::Value;
use simutant_nets::exploring::NamedTests;

use super::events::{Form, Program};
use super::names::{Names, NamesError};
use super::text::{Item, Style, camel, comment, fill, is_identifier, joined, literal, unchanged};
use crate::ExportedFile;
use crate::test_code::identifier;

const TEST: &str = include_str!("test.py.txt");
const ADAPTER: &str = include_str!("adapter.py.txt");

const KEYWORDS: &str = "False None True and as assert async await break class continue def del elif else except \
                        finally for from global if import in is lambda nonlocal not or pass raise return try while \
                        with yield";
const METHODS: Style = Style { write: unchanged, prefix: "call", reserved: &[KEYWORDS, "start stop observed is_done"] };
const PARAMETERS: Style = Style { write: unchanged, prefix: "field", reserved: &[KEYWORDS, "self"] };

pub(super) fn files(tests: &NamedTests, names: &Names, program: &Program) -> Result<Vec<ExportedFile>, NamesError> {
    let net = identifier(&tests.net);
    let adapter = names.adapter.clone().unwrap_or_else(|| format!("{net}_adapter.Adapter"));
    let place = adapter.rsplit_once('.').filter(|_| adapter.split('.').all(is_identifier));
    let Some((module, class)) = place else {
        return Err(NamesError::setting("adapter", &adapter, "a module of Python, a dot, and a class in it"));
    };
    let methods = Item::all(&program.calls, METHODS, PARAMETERS);
    let calls = program.calls.events.iter().map(|(shape, _, values)| call(&methods[*shape], values));
    let observations = program.observations.events.iter().map(|(_, event, _)| format!("    {},\n", value(event)));
    let digits = program.cases.lines().count().to_string().len();
    let mut values = vec![
        ("module", module.to_owned()),
        ("class", class.to_owned()),
        ("name", format!("test_{net}")),
        ("first", format!("{:0digits$}", 1)),
        ("digits", digits.to_string()),
        ("arguments", list(&tests.arguments)),
        ("calls", calls.collect()),
        ("observations", observations.collect()),
        ("cases", program.cases.clone()),
        ("test_class", format!("{}Test", camel(&net))),
        ("at", "@".to_owned()),
    ];
    values.extend(names.settings(tests, ["False", "True"]));
    let mut files = vec![ExportedFile::new(format!("test_{net}.py"), fill(TEST, &values))];
    if names.adapter.is_none() {
        let file = format!("{net}_adapter.py");
        let parameters = (1..=tests.arguments.len()).map(|number| format!(", argument_{number}"));
        let examples = program.observations.examples().map(|(_, event, _)| format!("        # {}\n", value(event)));
        let values = [
            ("parameters", parameters.collect()),
            ("methods", methods.iter().map(definition).collect()),
            ("observations", examples.collect()),
            ("file", file.clone()),
        ];
        files.push(ExportedFile::template(file, fill(ADAPTER, &values)));
    }
    Ok(files)
}

/// Returns a call as a method's name with its arguments.
fn call(method: &Item<'_>, values: &[Value]) -> String {
    let arguments = if method.shape.form == Form::Struct {
        let fields = method.fields.iter().zip(values);
        format!("{{{}}}", joined(fields.map(|(field, it)| format!("{}: {}", literal(field), value(it)))))
    } else {
        list(values)
    };
    format!("    ({}, {arguments}),\n", literal(&method.name))
}

/// Returns a method of the adapter to write.
fn definition(method: &Item<'_>) -> String {
    let Item { name, fields, shape } = method;
    let parameters: String = fields.iter().map(|field| format!(", {field}")).collect();
    let about = comment(&shape.name);
    format!(
        "    def {name}(self{parameters}):\n        # The call `{about}`.\n        \
             raise NotImplementedError(\"{name} is not written yet\")\n\n"
    )
}

/// Returns a value as Python has it.
fn value(it: &Value) -> String {
    match it {
        Value::Null => "None".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::String(text) => literal(text),
        Value::Array(values) => list(values),
        Value::Object(fields) => {
            format!("{{{}}}", joined(fields.iter().map(|(name, it)| format!("{}: {}", literal(name), value(it)))))
        }
    }
}

fn list(values: &[Value]) -> String {
    format!("[{}]", joined(values.iter().map(value)))
}
