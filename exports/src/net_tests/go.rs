//! Tests for `go test`.

use serde_json::Value;
use simutant_nets::exploring::NamedTests;

use super::events::{Program, Type};
use super::names::{Names, NamesError};
use super::text::{Item, Style, camel, comment, fill, is_identifier, joined, literal, lower_camel};
use crate::ExportedFile;
use crate::test_code::identifier;

const TEST: &str = include_str!("test.go.txt");
const ADAPTER: &str = include_str!("adapter.go.txt");

const KEYWORDS: &str = "break case chan const continue default defer else fallthrough for func go goto if import \
                        interface map package range return select struct switch type var";
const PREDECLARED: &str = "any bool error float64 int string it";
const METHODS: Style = Style { write: camel, prefix: "call", reserved: &["Start Stop Observed IsDone"] };
const PARAMETERS: Style = Style { write: lower_camel, prefix: "field", reserved: &[KEYWORDS, PREDECLARED] };
const TYPES: Style = Style { write: camel, prefix: "event", reserved: &["Other Tested"] };
const FIELDS: Style = Style { write: camel, prefix: "field", reserved: &[] };

pub(super) fn files(tests: &NamedTests, names: &Names, program: &Program) -> Result<Vec<ExportedFile>, NamesError> {
    let file = identifier(&tests.net);
    let (net, lower_net) = (camel(&file), lower_camel(&file));
    let adapter = names.adapter.clone().unwrap_or_else(|| format!("{lower_net}Adapter"));
    let package = names.package.clone().unwrap_or_else(|| file.replace('_', ""));
    for (setting, value) in [("adapter", &adapter), ("package", &package)] {
        if !is_identifier(value) {
            return Err(NamesError::setting(setting, value, "a name in Go"));
        }
    }
    let methods = Item::all(&program.calls, METHODS, PARAMETERS);
    let types = Item::all(&program.observations, TYPES, FIELDS);
    let calls = program.calls.events.iter().map(|(shape, event, values)| {
        let method = &methods[*shape];
        let arguments = joined(method.types().zip(values).map(|((_, of), it)| go_literal(it, of)));
        let text = literal(&event.to_string());
        format!("\t{{{text}, func(it {net}Tested) error {{ return it.{}({arguments}) }}}},\n", method.name)
    });
    let value = |(shape, _, values): &(usize, _, Vec<Value>)| {
        let item = &types[*shape];
        let fields = item.types().zip(values).map(|((field, of), it)| format!("{field}: {}", go_literal(it, of)));
        format!("{net}{}{{{}}}", item.name, joined(fields))
    };
    let parameters = |method: &Item<'_>| joined(method.types().map(|(field, it)| format!("{field} {}", type_of(it))));
    let arguments: Vec<(&Value, Type)> = tests.arguments.iter().map(|it| (it, Type::of(it).resolved())).collect();
    let start = arguments.iter().zip(1..).map(|((_, it), number)| format!("argument{number} {}", type_of(it)));
    let start = joined(start);
    let method = |method: &Item<'_>| {
        let Item { name, shape, .. } = method;
        format!("\t// {name} makes the call `{}`.\n\t{name}({}) error\n", comment(&shape.name), parameters(method))
    };
    let mut values = vec![
        ("package", package.clone()),
        ("Net", net.clone()),
        ("net", lower_net),
        ("type", adapter.clone()),
        ("parameters", start.clone()),
        ("arguments", joined(arguments.iter().map(|(it, of)| go_literal(it, of)))),
        ("methods", methods.iter().map(method).collect()),
        ("types", types.iter().map(|item| declaration(&net, item)).collect()),
        ("calls", calls.collect()),
        ("observations", program.observations.events.iter().map(|it| format!("\t{},\n", value(it))).collect()),
        ("cases", program.cases.clone()),
    ];
    values.extend(names.settings(tests, ["false", "true"]));
    let mut files = vec![ExportedFile::new(format!("{file}_test.go"), fill(TEST, &values))];
    if names.adapter.is_none() {
        let unwritten = |method: &Item<'_>| {
            let Item { name, shape, .. } = method;
            let (about, parameters) = (comment(&shape.name), parameters(method));
            format!(
                "\n// {name} makes the call `{about}`.\nfunc (it *{adapter}) {name}({parameters}) error {{\n\t\
                     return errors.New(\"{name} is not written yet\")\n}}\n"
            )
        };
        let template = format!("{file}_adapter_test.go");
        let values = [
            ("package", package),
            ("type", adapter.clone()),
            ("file", template.clone()),
            ("parameters", start),
            ("methods", methods.iter().map(unwritten).collect()),
            ("observations", program.observations.examples().map(|it| format!("//\t{}\n", value(it))).collect()),
        ];
        files.push(ExportedFile::template(template, fill(ADAPTER, &values)));
    }
    Ok(files)
}

/// Returns the type of an observation, aligned as gofmt does it.
fn declaration(net: &str, item: &Item<'_>) -> String {
    let Item { name, fields, shape } = item;
    let about = comment(&shape.name);
    let width = fields.iter().map(String::len).max().unwrap_or(0);
    let lines: String = item.types().map(|(field, it)| format!("\t{field:width$} {}\n", type_of(it))).collect();
    let open = if fields.is_empty() { "" } else { " " };
    let lines = if fields.is_empty() { lines } else { format!("\n{lines}") };
    format!("// {net}{name} is the observation `{about}`.\ntype {net}{name} struct{open}{{{lines}}}\n\n")
}

fn type_of(it: &Type) -> String {
    match it {
        Type::Bool => "bool".to_owned(),
        Type::Integer => "int".to_owned(),
        Type::Float => "float64".to_owned(),
        Type::Optional(_) => "any".to_owned(),
        Type::List(part) => format!("[]{}", type_of(part)),
        Type::Text | Type::Json | Type::Unknown => "string".to_owned(),
    }
}

fn go_literal(it: &Value, of: &Type) -> String {
    match (of, it) {
        (Type::Optional(_), Value::Null) => "nil".to_owned(),
        (Type::Optional(part), _) => go_literal(it, part),
        (Type::List(part), Value::Array(values)) => {
            format!("{}{{{}}}", type_of(of), joined(values.iter().map(|it| go_literal(it, part))))
        }
        (Type::Float, _) => format!("{:?}", it.as_f64().unwrap_or_default()),
        (Type::Text, Value::String(text)) => literal(text),
        (Type::Bool | Type::Integer, _) => it.to_string(),
        _ => literal(&it.to_string()),
    }
}
