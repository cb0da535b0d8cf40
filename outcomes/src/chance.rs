//! What is chance in a test case: the fields that a re-seeding changes.

use std::collections::BTreeSet;

use serde_json::Value;

/// Returns the paths of what differs between two test cases, for example `seed` or `links[].seed`.
///
/// ```
/// use serde_json::json;
/// use simutant_outcomes::differences;
///
/// let before = json!({"window": 4, "seed": 1, "links": [{"drop": 0.1, "seed": 2}, {"drop": 0.2, "seed": 3}]});
/// let after = json!({"window": 4, "seed": 7, "links": [{"drop": 0.1, "seed": 8}, {"drop": 0.2, "seed": 9}]});
/// assert_eq!(differences(&before, &after).into_iter().collect::<Vec<_>>(), ["links[].seed", "seed"]);
/// ```
pub fn differences(before: &Value, after: &Value) -> BTreeSet<String> {
    let mut paths = BTreeSet::new();
    add(before, after, "", &mut paths);
    paths
}

fn add(before: &Value, after: &Value, path: &str, paths: &mut BTreeSet<String>) {
    match (before, after) {
        _ if before == after => {}
        (Value::Object(before), Value::Object(after))
            if before.len() == after.len() && before.keys().all(|key| after.contains_key(key)) =>
        {
            for (key, before) in before {
                let after = &after[key];
                let path = if path.is_empty() { key.clone() } else { format!("{path}.{key}") };
                add(before, after, &path, paths);
            }
        }
        (Value::Array(before), Value::Array(after)) if before.len() == after.len() => {
            before.iter().zip(after).for_each(|(before, after)| add(before, after, &format!("{path}[]"), paths));
        }
        _ => _ = paths.insert(path.to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[track_caller]
    fn check(before: Value, after: Value, expect: &[&str]) {
        assert_eq!(differences(&before, &after).iter().collect::<Vec<_>>(), expect);
    }

    #[test]
    fn what_differs_has_its_path() {
        check(json!({ "a": 1, "seed": 2 }), json!({ "a": 1, "seed": 2 }), &[]);
        check(json!({ "a": 1, "seed": 2 }), json!({ "a": 1, "seed": 3 }), &["seed"]);
        check(json!({ "a": { "b": [1, 2], "c": 3 } }), json!({ "a": { "b": [1, 3], "c": 4 } }), &["a.b[]", "a.c"]);
        check(json!({ "a": [1] }), json!({ "a": [1, 2] }), &["a"]);
        check(json!({ "links": [{ "seed": 1 }] }), json!({ "links": [{ "seed": 2 }] }), &["links[].seed"]);
        // A file that was written by hand has the fields in any order.
        check(json!({ "a": 1, "seed": 2 }), json!({ "seed": 3, "a": 1 }), &["seed"]);
        check(json!({ "a": 1, "b": 2 }), json!({ "a": 1, "c": 2 }), &[""]);
        check(json!(1), json!(2), &[""]);
    }
}
