//! Operations and responses in words, from the form that serde gives them.

use serde_json::{Map, Value as Json};

/// Returns an operation or a response in words: `{"write":7}` is `write 7`, `"compare_and_set"` is `compare and set`,
/// and `{"put":{"key":"x","value":"1"}}` is `put key "x", value "1"`.
///
/// ```
/// use simutant_oracle::words;
/// use serde_json::json;
///
/// assert_eq!(words(&json!({"compare_and_set": {"from": 1, "to": [2]}})), "compare and set from 1, to [2]");
/// assert_eq!(words(&json!({"value": null})), "no value");
/// assert_eq!(words(&json!({"Given": null})), "nothing");
/// assert_eq!(words(&json!("done")), "done");
/// assert_eq!(words(&json!({"granted": {}})), "granted");
/// assert_eq!(words(&json!(5)), "5");
/// ```
pub fn words(value: &Json) -> String {
    match value {
        Json::Null => "nothing".to_owned(),
        Json::String(name) => spaced(name),
        Json::Object(fields) => match (variant(fields), special(fields)) {
            (_, Some(special)) => special,
            // A variant that serde names as Rust does is no noun: "no Given" is no English.
            (Some((name, Json::Null)), None) if name.starts_with(char::is_uppercase) => "nothing".to_owned(),
            (Some((name, Json::Null)), None) => format!("no {}", spaced(name)),
            (Some((name, Json::Object(none))), None) if none.is_empty() => spaced(name),
            (Some((name, inner)), None) => format!("{} {}", spaced(name), within(inner)),
            (None, None) => keyed(fields).unwrap_or_else(|| listed(fields)),
        },
        value => within(value),
    }
}

/// Returns the name and the content of a map of one field, as a variant of an enum is.
fn variant(fields: &Map<String, Json>) -> Option<(&str, &Json)> {
    let mut fields = fields.iter();
    let (name, inner) = fields.next().filter(|_| fields.next().is_none())?;
    Some((name, inner))
}

/// Returns what a word of EDN and a set are, which are maps of one field in files.
fn special(fields: &Map<String, Json>) -> Option<String> {
    match variant(fields)? {
        ("word", Json::String(word)) => Some(word.clone()),
        ("set", Json::Array(members)) => {
            Some(format!("{{{}}}", members.iter().map(within).collect::<Vec<_>>().join(", ")))
        }
        _ => None,
    }
}

/// Returns what is asked of the service of a key.
fn keyed(fields: &Map<String, Json>) -> Option<String> {
    let (key, operation) = (fields.get("key")?, fields.get("operation")?);
    (fields.len() == 2).then(|| format!("{} of key {}", words(operation), within(key)))
}

fn spaced(name: &str) -> String {
    name.replace('_', " ")
}

fn listed(fields: &Map<String, Json>) -> String {
    fields.iter().map(|(name, value)| format!("{} {}", spaced(name), within(value))).collect::<Vec<_>>().join(", ")
}

/// Returns a value inside of an operation: texts have quotes, so that they are not taken for names.
fn within(value: &Json) -> String {
    match value {
        Json::Object(fields) => special(fields).unwrap_or_else(|| listed(fields)),
        Json::Array(values) => format!("[{}]", values.iter().map(within).collect::<Vec<_>>().join(", ")),
        value => value.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn texts_are_told_from_names_and_values_of_files_are_as_they_were_written() {
        #[track_caller]
        fn check(value: &Json, expect: &str) {
            assert_eq!(words(value), expect);
        }
        check(&json!({"append": {"key": "x", "value": "a_b"}}), r#"append key "x", value "a_b""#);
        check(&json!({"write": {"word": ":a_b"}}), "write :a_b");
        check(&json!({"values": {"set": [1, {"word": ":b"}]}}), "values {1, :b}");
        check(&json!({"balances": {"alice": 3, "bob": 4}}), "balances alice 3, bob 4");
        check(&json!({"cas": {"from": null, "to": 2}}), "cas from null, to 2");
        check(&json!([1, "a"]), r#"[1, "a"]"#);
        check(&json!(null), "nothing");
        check(&json!({"Given": 3}), "Given 3");
        check(&json!({"key": "x", "operation": {"write": 3}}), "write 3 of key \"x\"");
        check(&json!({"records": [[0, "a"]]}), r#"records [[0, "a"]]"#);
    }
}
