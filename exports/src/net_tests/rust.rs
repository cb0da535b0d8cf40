//! Tests for `cargo test`.

use serde_json::Value;
use simutant_nets::exploring::NamedTests;

use super::events::{Form, Program, Type};
use super::names::Names;
use super::text::{Item, Style, camel, comment, fill, joined, snake};
use crate::ExportedFile;
use crate::test_code::{identifier, string_literal};

const TEST: &str = include_str!("test.rs.txt");
const ADAPTER: &str = include_str!("adapter.rs.txt");

const KEYWORDS: &str = "as async await break const continue crate dyn else enum extern false fn for if impl in let \
                        loop match mod move mut pub ref return self static struct super trait true type unsafe use \
                        where while abstract become box do final gen macro override priv try typeof unsized virtual \
                        yield";
const METHODS: Style = Style { write: snake, prefix: "call", reserved: &[KEYWORDS, "start stop observed is_done"] };
const VARIANTS: Style = Style { write: camel, prefix: "event", reserved: &["Other Self"] };
const FIELDS: Style = Style { write: snake, prefix: "field", reserved: &[KEYWORDS] };

pub(super) fn files(tests: &NamedTests, names: &Names, program: &Program) -> Vec<ExportedFile> {
    let net = identifier(&tests.net);
    // Cargo takes each file beside the tests for tests of its own, and none in a folder.
    let file = names.adapter.clone().unwrap_or_else(|| format!("{net}_test/adapter.rs"));
    let methods = Item::all(&program.calls, METHODS, FIELDS);
    let variants = Item::all(&program.observations, VARIANTS, FIELDS);
    let calls = program.calls.events.iter().map(|(shape, event, values)| {
        let text = string_literal(&event.to_string());
        format!("    ({text}, |it| it.{}({})),\n", methods[*shape].name, literals(&methods[*shape], values))
    });
    let observations = program.observations.events.iter();
    let observations =
        observations.map(|(shape, _, values)| format!("        {},\n", value(&variants[*shape], values)));
    let arguments: Vec<(&Value, Type)> = tests.arguments.iter().map(|it| (it, Type::of(it).resolved())).collect();
    let parameters = arguments.iter().zip(1..).map(|((_, it), number)| format!("argument_{number}: {}", type_of(it)));
    let parameters = joined(parameters);
    let mut values = vec![
        ("file", comment(&file)),
        ("path", string_literal(&file)),
        ("test", format!("each_case_of_{}_has_an_allowed_outcome", snake(&net))),
        ("parameters", parameters.clone()),
        ("arguments", joined(arguments.iter().map(|(it, of)| literal(it, of)))),
        ("variants", variants.iter().map(variant).collect()),
        ("calls", calls.collect()),
        ("observations", observations.collect()),
        ("cases", program.cases.clone()),
        ("methods", methods.iter().map(|method| format!("{};\n", signature(method))).collect()),
    ];
    values.extend(names.settings(tests, ["false", "true"]));
    let mut files = vec![ExportedFile::new(format!("{net}_test.rs"), fill(TEST, &values))];
    if names.adapter.is_none() {
        let unwritten = |method: &Item<'_>| {
            let ignored = method.fields.iter().map(|field| format!("        let _ = {field};\n"));
            let body = format!("        unimplemented!(\"{} is not written yet\")\n", method.name);
            format!("{} {{\n{}{body}    }}\n", signature(method), ignored.collect::<String>())
        };
        let examples = program.observations.examples();
        let example =
            |(shape, _, values): &(usize, _, Vec<_>)| format!("    /// {}\n", value(&variants[*shape], values));
        let ignored = (1..=arguments.len()).map(|number| format!("        let _ = argument_{number};\n"));
        let values = [
            ("file", file.clone()),
            ("parameters", parameters),
            ("ignored", ignored.collect()),
            ("methods", methods.iter().map(unwritten).collect()),
            ("observations", examples.map(example).collect()),
        ];
        files.push(ExportedFile::template(file, fill(ADAPTER, &values)));
    }
    files
}

/// Returns a method of the adapter, without its body.
fn signature(method: &Item<'_>) -> String {
    let parameters: String = method.types().map(|(field, it)| format!(", {field}: {}", type_of(it))).collect();
    format!("\n    /// The call `{}`.\n    fn {}(&self{parameters})", comment(&method.shape.name), method.name)
}

/// Returns a variant of the observations.
fn variant(item: &Item<'_>) -> String {
    let Item { name, shape, .. } = item;
    let fields = item.types();
    let fields = match shape.form {
        Form::Nothing => String::new(),
        Form::Struct => format!(" {{ {} }}", joined(fields.map(|(field, it)| format!("{field}: {}", type_of(it))))),
        _ => format!("({})", joined(fields.map(|(_, it)| type_of(it)))),
    };
    format!("    /// The observation `{}`.\n    {name}{fields},\n", comment(&shape.name))
}

/// Returns an observation.
fn value(item: &Item<'_>, values: &[Value]) -> String {
    let fields = match item.shape.form {
        Form::Nothing => String::new(),
        Form::Struct => {
            let fields = item.types().zip(values);
            format!(" {{ {} }}", joined(fields.map(|((field, of), it)| format!("{field}: {}", literal(it, of)))))
        }
        _ => format!("({})", literals(item, values)),
    };
    format!("Observation::{}{fields}", item.name)
}

fn literals(item: &Item<'_>, values: &[Value]) -> String {
    joined(item.types().zip(values).map(|((_, of), it)| literal(it, of)))
}

fn type_of(it: &Type) -> String {
    match it {
        Type::Bool => "bool".to_owned(),
        Type::Integer => "i64".to_owned(),
        Type::Float => "f64".to_owned(),
        Type::Optional(part) => format!("Option<{}>", type_of(part)),
        Type::List(part) => format!("Vec<{}>", type_of(part)),
        Type::Text | Type::Json | Type::Unknown => "String".to_owned(),
    }
}

fn literal(it: &Value, of: &Type) -> String {
    match (of, it) {
        (Type::Optional(_), Value::Null) => "None".to_owned(),
        (Type::Optional(part), _) => format!("Some({})", literal(it, part)),
        (Type::List(part), Value::Array(values)) => {
            format!("vec![{}]", joined(values.iter().map(|it| literal(it, part))))
        }
        (Type::Float, _) => format!("{:?}", it.as_f64().unwrap_or_default()),
        (Type::Text, Value::String(text)) => format!("{}.to_owned()", string_literal(text)),
        (Type::Bool | Type::Integer, _) => it.to_string(),
        _ => format!("{}.to_owned()", string_literal(&it.to_string())),
    }
}
