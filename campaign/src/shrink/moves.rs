//! What may be put in the place of a part of a test case.

use serde_json::{Map, Number, Value};

use super::SEEDS;

/// The way from a value to a part of it.
pub(super) type Path = Vec<Step>;

/// A step of the way.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// To an entry of a map.
    Key(String),
    /// To an element of a list.
    Index(usize),
}

/// More digits after the point than these, a real number is not thought to be meant with.
const DECIMALS_MAX: usize = 15;

/// Whether a number in this field only chooses between runs that are all alike to a reader.
pub(super) fn is_seed(field: Option<&str>) -> bool {
    field == Some("seed")
}

/// Returns the fields of a map by name: what is tried first, and what is smaller, does not depend on their order.
pub(super) fn by_name(entries: &Map<String, Value>) -> Vec<(&String, &Value)> {
    let mut entries: Vec<(&String, &Value)> = entries.iter().collect();
    entries.sort_unstable_by_key(|(key, _)| *key);
    entries
}

/// Returns the ways to all parts of a value, itself included: each before the parts of that part.
pub(super) fn paths(value: &Value) -> Vec<Path> {
    fn visit(value: &Value, path: &mut Path, paths: &mut Vec<Path>) {
        paths.push(path.clone());
        let steps: Vec<(Step, &Value)> = match value {
            Value::Array(elements) => {
                elements.iter().enumerate().map(|(index, element)| (Step::Index(index), element)).collect()
            }
            Value::Object(entries) => {
                by_name(entries).into_iter().map(|(key, entry)| (Step::Key(key.clone()), entry)).collect()
            }
            _ => Vec::new(),
        };
        for (step, part) in steps {
            path.push(step);
            visit(part, path, paths);
            path.pop();
        }
    }
    let mut paths = Vec::new();
    visit(value, &mut Vec::new(), &mut paths);
    paths
}

/// Returns a part of a value.
///
/// # Panics
/// If there is none, as for [`at_mut`].
pub(super) fn at<'a>(value: &'a Value, path: &[Step]) -> &'a Value {
    path.iter().fold(value, |value, step| match step {
        Step::Key(key) => &value[key.as_str()],
        Step::Index(index) => &value[*index],
    })
}

/// Returns a part of a value, to be changed.
pub(super) fn at_mut<'a>(value: &'a mut Value, path: &[Step]) -> &'a mut Value {
    path.iter().fold(value, |value, step| match step {
        Step::Key(key) => &mut value[key.as_str()],
        Step::Index(index) => &mut value[*index],
    })
}

/// Returns what may be smaller in a place, the smallest first.
pub(super) fn replacements(path: &[Step], value: &Value) -> Vec<Value> {
    let field = path.last().and_then(|step| match step {
        Step::Key(key) => Some(key.as_str()),
        Step::Index(_) => None,
    });
    match value {
        Value::Null | Value::Bool(false) => Vec::new(),
        Value::Bool(true) => vec![Value::Null, false.into()],
        Value::Number(_) if is_seed(field) => (0..SEEDS).map(Value::from).collect(),
        Value::Number(number) => [Value::Null].into_iter().chain(smaller_numbers(number)).collect(),
        Value::String(_) | Value::Array(_) | Value::Object(_) => vec![Value::Null],
    }
}

/// Returns the test case with this number in all its fields for seeds; `None` if it has none.
pub(super) fn with_seeds(case: &Value, seed: u64) -> Option<Value> {
    fn set(value: &mut Value, seed: u64) -> bool {
        match value {
            Value::Array(elements) => elements.iter_mut().fold(false, |any, element| set(element, seed) | any),
            Value::Object(entries) => entries.iter_mut().fold(false, |any, (key, entry)| {
                if is_seed(Some(key)) && entry.is_number() {
                    *entry = seed.into();
                    return true;
                }
                set(entry, seed) | any
            }),
            _ => false,
        }
    }
    let mut case = case.clone();
    set(&mut case, seed).then_some(case)
}

/// Returns numbers of the same kind that are nearer to 0: 0 and 1, and then ever more careful steps from the number
/// itself.
fn smaller_numbers(number: &Number) -> Vec<Value> {
    if let Some(value) = number.as_u64() {
        return smaller_integers(value).into_iter().map(Value::from).collect();
    }
    if let Some(value) = number.as_i64() {
        let negated = |magnitude: u64| Value::from((magnitude as i64).wrapping_neg());
        let positive = value.checked_neg().map(Value::from);
        return smaller_integers(value.unsigned_abs()).into_iter().map(negated).chain(positive).collect();
    }
    let value = number.as_f64().unwrap_or_default();
    smaller_reals(value).into_iter().filter_map(Number::from_f64).map(Value::Number).collect()
}

/// Returns 0, 1, half of `value`, three quarters, and so on up to one less than it.
pub(super) fn smaller_integers(value: u64) -> Vec<u64> {
    let steps = (1..u64::BITS).map(|halvings| value >> halvings).take_while(|&step| step > 0);
    let mut integers: Vec<u64> = [0, 1].into_iter().chain(steps.map(|step| value - step)).collect();
    integers.retain(|&integer| integer < value);
    integers.dedup();
    integers
}

/// Returns 0 and 1, the number cut off after ever more digits, and then what [`smaller_integers`] makes of its digits.
fn smaller_reals(value: f64) -> Vec<f64> {
    let text = value.abs().to_string();
    let (whole, decimals) = text.split_once('.').unwrap_or((&text, ""));
    let of_text = |text: String| text.parse::<f64>().unwrap_or_default();
    let cut = (0..decimals.len().min(DECIMALS_MAX)).map(|length| of_text(format!("{whole}.{}0", &decimals[..length])));
    let mut reals: Vec<f64> = [0.0, 1.0].into_iter().chain(cut).collect();
    if let (true, Ok(digits)) = (decimals.len() <= DECIMALS_MAX, format!("{whole}{decimals}").parse::<u64>()) {
        let with_point = |digits: u64| {
            let padded = format!("{digits:0>width$}", width = decimals.len() + 1);
            let (whole, decimals) = padded.split_at(padded.len() - decimals.len());
            of_text(format!("{whole}.{decimals}0"))
        };
        reals.extend(smaller_integers(digits).into_iter().map(with_point));
    }
    reals.retain(|&real| real < value.abs());
    let signed = |real: f64| if real == 0.0 { 0.0 } else { real.copysign(value) };
    reals.into_iter().map(signed).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(value: Value, expect: Value) {
        assert_eq!(Value::Array(replacements(&[], &value)), expect);
    }

    #[test]
    fn numbers_go_to_zero_in_ever_smaller_steps() {
        check(json!(0), json!([null]));
        check(json!(1), json!([null, 0]));
        check(json!(2), json!([null, 0, 1]));
        check(json!(100), json!([null, 0, 1, 50, 75, 88, 94, 97, 99]));
        check(json!(-5), json!([null, 0, -1, -3, -4, 5]));
        check(json!(true), json!([null, false]));
        check(json!("text"), json!([null]));
    }

    #[test]
    fn real_numbers_lose_digits_first_and_stay_real() {
        check(
            json!(0.1379),
            json!([
                null, 0.0, 0.0, 0.1, 0.13, 0.137, 0.0, 0.0001, 0.069, 0.1035, 0.1207, 0.1293, 0.1336, 0.1358, 0.1369,
                0.1374, 0.1377, 0.1378
            ]),
        );
        check(json!(2.5), json!([null, 0.0, 1.0, 2.0, 0.0, 0.1, 1.3, 1.9, 2.2, 2.4]));
        check(json!(-2.0), json!([null, 0.0, -1.0, 0.0, -1.0]));
        // A third has no digits that anybody meant.
        let thirds = replacements(&[], &json!(1.0 / 3.0));
        assert_eq!(thirds[..5], [json!(null), json!(0.0), json!(0.0), json!(0.3), json!(0.33)]);
        assert_eq!(thirds.last(), Some(&json!(0.33333333333333)));
    }

    #[test]
    fn the_extremes_of_integers_are_no_trouble() {
        for value in [json!(u64::MAX), json!(i64::MIN), json!(i64::MAX), json!(f64::MAX), json!(f64::MIN_POSITIVE)] {
            let distance = |value: &Value| value.as_f64().map_or(0.0, f64::abs);
            let replacements = replacements(&[], &value);
            assert!(replacements.iter().all(|replacement| distance(replacement) <= distance(&value)), "{value}");
            assert!(replacements.len() > 2, "{value}");
        }
    }

    #[test]
    fn seeds_become_small_wherever_they_are() {
        let case = json!({"seed": 987654321, "parts": [{"seed": 5, "size": 7}, {"seed": "text"}]});
        let expect = json!({"seed": 3, "parts": [{"seed": 3, "size": 7}, {"seed": "text"}]});
        assert_eq!(with_seeds(&case, 3), Some(expect));
        assert_eq!(with_seeds(&json!({"size": 7}), 3), None);
        let seeds = replacements(&[Step::Key("seed".to_owned())], &json!(987654321));
        assert_eq!(seeds, (0..SEEDS).map(Value::from).collect::<Vec<_>>());
    }

    #[test]
    fn paths_lead_to_every_part() {
        let case = json!({"c": 2, "a": [1, {"b": null}]});
        let parts: Vec<Value> = paths(&case).iter().map(|path| at(&case, path).clone()).collect();
        assert_eq!(parts, [case.clone(), json!([1, {"b": null}]), json!(1), json!({"b": null}), json!(null), json!(2)]);
        for path in paths(&case) {
            let mut changed = case.clone();
            *at_mut(&mut changed, &path) = json!("new");
            assert_eq!(at(&changed, &path), "new");
        }
    }
}
