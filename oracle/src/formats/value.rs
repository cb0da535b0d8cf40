//! Values in files.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::de::{self, MapAccess, SeqAccess, Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::specifications::Text;

/// A value in a file: what EDN and JSON have in common, and the words of EDN.
///
/// Specifications of files have such values: a [`Register`](crate::specifications::Register) of `Value`, a
/// [`Queue`](crate::specifications::Queue) of `Value`. Values are ordered: integers by size, texts by their bytes.
///
/// In serde it is the value itself, as in JSON; a word is `{"word":":a"}`, a set `{"set":[…]}` and a map
/// `{"map":[[key,value],…]}`, whose keys need not be texts.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(untagged)]
pub enum Value {
    /// No value: `nil` in EDN, `null` in JSON.
    Nil,
    /// Yes or no.
    Boolean(bool),
    /// An integer.
    Integer(i64),
    /// A text.
    Text(Text),
    /// Any other word, as it was written: a keyword (`:a`), a symbol, a number that is not an integer or too large.
    Word {
        /// The word.
        word: Text,
    },
    /// A list or a vector.
    List(Vec<Value>),
    /// A set.
    Set {
        /// Its members.
        set: BTreeSet<Value>,
    },
    /// A map.
    Map {
        /// The values by their keys.
        #[serde(serialize_with = "in_pairs")]
        map: BTreeMap<Value, Value>,
    },
}

/// Writes a map as a list of pairs, so that keys need not be texts.
fn in_pairs<S: Serializer>(map: &BTreeMap<Value, Value>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(map)
}

/// As it comes, and with an error that names what it met: an untagged enumeration keeps a second tree of all that it
/// reads, and says no more than that nothing matched.
impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(AnyValue)
    }
}

struct AnyValue;

impl<'de> Visitor<'de> for AnyValue {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .write_str(r#"an integer of 64 bits, a text, a boolean, null, a list, {"word":…}, {"set":…} or {"map":…}"#)
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Nil)
    }

    fn visit_bool<E>(self, boolean: bool) -> Result<Value, E> {
        Ok(Value::Boolean(boolean))
    }

    fn visit_i64<E>(self, integer: i64) -> Result<Value, E> {
        Ok(Value::Integer(integer))
    }

    fn visit_u64<E: de::Error>(self, integer: u64) -> Result<Value, E> {
        let too_large = |_| E::invalid_value(Unexpected::Unsigned(integer), &self);
        i64::try_from(integer).map(Value::Integer).map_err(too_large)
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(value) = values.next_element()? {
            list.push(value);
        }
        if list.len() == 1 {
            list.shrink_to_fit();
        }
        Ok(Value::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        const FIELDS: &[&str] = &["word", "set", "map"];
        let Some(field) = fields.next_key::<String>()? else {
            return Err(de::Error::invalid_type(Unexpected::Map, &self));
        };
        let value = match field.as_str() {
            "word" => Value::Word { word: fields.next_value()? },
            "set" => Value::Set { set: fields.next_value()? },
            "map" => {
                let pairs: Vec<(Value, Value)> = fields.next_value()?;
                let count = pairs.len();
                let map: BTreeMap<Value, Value> = pairs.into_iter().collect();
                if map.len() < count {
                    return Err(de::Error::custom("the map has a key twice"));
                }
                Value::Map { map }
            }
            field => return Err(de::Error::unknown_field(field, FIELDS)),
        };
        match fields.next_key::<String>()? {
            None => Ok(value),
            Some(field) => Err(de::Error::custom(format_args!("the field `{field}` is one too many"))),
        }
    }
}

impl Value {
    /// Returns a text.
    pub fn text(text: &str) -> Self {
        Self::Text(text.into())
    }

    /// Returns a word of EDN, as a keyword with its colon.
    pub fn word(word: &str) -> Self {
        Self::Word { word: word.into() }
    }

    /// Returns a set.
    pub const fn set(set: BTreeSet<Self>) -> Self {
        Self::Set { set }
    }

    /// Returns a map.
    pub const fn map(map: BTreeMap<Self, Self>) -> Self {
        Self::Map { map }
    }

    /// Returns the name that a keyword or a text is: EDN's `:read` is JSON's `"read"`.
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text.as_str()),
            Self::Word { word } => word.as_str().strip_prefix(':'),
            _ => None,
        }
    }

    /// Returns the integer.
    pub const fn integer(&self) -> Option<i64> {
        match self {
            Self::Integer(integer) => Some(*integer),
            _ => None,
        }
    }

    /// Returns both values of a list of two.
    pub fn pair(&self) -> Option<(&Self, &Self)> {
        match self {
            Self::List(values) => match &values[..] {
                [one, other] => Some((one, other)),
                _ => None,
            },
            _ => None,
        }
    }

    /// Returns both values of a list of two, or what it is instead.
    pub(super) fn into_pair(self) -> Result<(Self, Self), Self> {
        let Self::List(values) = self else { return Err(self) };
        <[Self; 2]>::try_from(values).map(|[one, other]| (one, other)).map_err(Self::List)
    }

    /// Returns the values of a list or a set, in their order.
    pub fn members(&self) -> Option<Vec<&Self>> {
        match self {
            Self::List(values) => Some(values.iter().collect()),
            Self::Set { set } => Some(set.iter().collect()),
            _ => None,
        }
    }

    /// Returns the value of a key of a map, which is a keyword or a text.
    pub fn field(&self, name: &str) -> Option<&Self> {
        let Self::Map { map } = self else { return None };
        map.iter().find(|(key, _)| key.name() == Some(name)).map(|(_, value)| value)
    }

    /// Returns the value if it is one that a register or a container may have: an integer, a text, a boolean, a
    /// keyword, or a list of such.
    pub fn element(&self) -> Option<Self> {
        match self {
            Self::Boolean(_) | Self::Integer(_) | Self::Text(_) => Some(self.clone()),
            Self::Word { .. } => self.name().map(|_| self.clone()),
            Self::List(values) => values.iter().map(Self::element).collect::<Option<_>>().map(Self::List),
            Self::Nil | Self::Set { .. } | Self::Map { .. } => None,
        }
    }

    /// Returns the text of a text, an integer or a keyword: a key `3` is the key `"3"`.
    pub fn as_text(&self) -> Option<Text> {
        match self {
            Self::Text(text) => Some(text.clone()),
            Self::Integer(integer) => Some(integer.to_string().as_str().into()),
            Self::Word { word } => self.name().map(|_| word.clone()),
            _ => None,
        }
    }

    /// Returns the value in EDN, cut where it is too long for a message.
    pub(super) fn shown(&self) -> String {
        const SHOWN_MAX: usize = 60;
        let mut text = Limited { text: String::new(), left: SHOWN_MAX };
        // An error says that the limit was reached.
        match fmt::Write::write_fmt(&mut text, format_args!("{self}")) {
            Ok(()) => text.text,
            Err(fmt::Error) => text.text + "…",
        }
    }
}

/// A text that takes so many characters and no more.
struct Limited {
    text: String,
    left: usize,
}

impl fmt::Write for Limited {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for character in text.chars() {
            self.left = self.left.checked_sub(1).ok_or(fmt::Error)?;
            self.text.push(character);
        }
        Ok(())
    }
}

/// In EDN, so that specifications of values speak as files do.
impl fmt::Debug for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

/// In EDN.
impl fmt::Display for Value {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fn list<'a>(
            formatter: &mut fmt::Formatter<'_>,
            [open, close]: [&str; 2],
            values: impl IntoIterator<Item = &'a Value>,
        ) -> fmt::Result {
            formatter.write_str(open)?;
            for (number, value) in values.into_iter().enumerate() {
                let space = if number == 0 { "" } else { " " };
                write!(formatter, "{space}{value}")?;
            }
            formatter.write_str(close)
        }
        match self {
            Self::Nil => formatter.write_str("nil"),
            Self::Boolean(boolean) => boolean.fmt(formatter),
            Self::Integer(integer) => integer.fmt(formatter),
            Self::Word { word } => word.fmt(formatter),
            Self::Text(text) => {
                formatter.write_str("\"")?;
                for character in text.as_str().chars() {
                    match character {
                        '"' => formatter.write_str("\\\"")?,
                        '\\' => formatter.write_str("\\\\")?,
                        '\n' => formatter.write_str("\\n")?,
                        '\r' => formatter.write_str("\\r")?,
                        '\t' => formatter.write_str("\\t")?,
                        control if control.is_control() => write!(formatter, "\\u{:04x}", u32::from(control))?,
                        other => write!(formatter, "{other}")?,
                    }
                }
                formatter.write_str("\"")
            }
            Self::List(values) => list(formatter, ["[", "]"], values),
            Self::Set { set } => list(formatter, ["#{", "}"], set),
            Self::Map { map } => list(formatter, ["{", "}"], map.iter().flat_map(|(key, value)| [key, value])),
        }
    }
}

impl From<i64> for Value {
    fn from(integer: i64) -> Self {
        Self::Integer(integer)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_has_a_form_in_json_and_in_edn() {
        #[track_caller]
        fn check(value: &Value, json: &str, edn: &str) {
            assert_eq!(serde_json::to_string(value).expect("it has a form"), json);
            assert_eq!(&serde_json::from_str::<Value>(json).expect("it has this form"), value);
            assert_eq!(value.to_string(), edn);
        }
        check(&Value::Nil, "null", "nil");
        check(&Value::Boolean(true), "true", "true");
        check(&Value::from(-3), "-3", "-3");
        check(&Value::from("a\"\\\u{1}\n"), r#""a\"\\\u0001\n""#, r#""a\"\\\u0001\n""#);
        check(&Value::word(":a"), r#"{"word":":a"}"#, ":a");
        check(&Value::List(vec![Value::from(1), Value::List(Vec::new())]), "[1,[]]", "[1 []]");
        check(&Value::set([Value::from("b"), Value::from(2)].into()), r#"{"set":[2,"b"]}"#, r#"#{2 "b"}"#);
        check(&Value::map([(Value::from(1), Value::Nil)].into()), r#"{"map":[[1,null]]}"#, "{1 nil}");
    }

    #[test]
    fn what_no_value_is_has_no_form_and_is_named() {
        #[track_caller]
        fn check(json: &str, expect: &str) {
            let error = serde_json::from_str::<Value>(json).expect_err("it is none").to_string();
            assert!(error.starts_with(expect), "{error}");
        }
        check("1.5", "invalid type: floating point `1.5`, expected an integer of 64 bits, a text, ");
        check(
            "[[9223372036854775808]]",
            "invalid value: integer `9223372036854775808`, expected an integer of 64 bits",
        );
        check(r#"{"word":"a","more":1}"#, "the field `more` is one too many at line 1 column 18");
        check(r#"{"a":1}"#, "unknown field `a`, expected one of `word`, `set`, `map`");
        check("{}", "invalid type: map, expected");
        check(r#"{"word":1}"#, "invalid type: integer `1`, expected a string");
        check(r#"{"map":[[1,2],[1,3]]}"#, "the map has a key twice");
        check(r#"{"set":[1,{"b":2}]}"#, "unknown field `b`");
    }

    #[test]
    fn values_are_cut_in_messages() {
        assert_eq!(Value::List(vec![Value::from(1); 1000]).shown().chars().count(), 61);
        assert_eq!(Value::from(1).shown(), "1");
    }

    #[test]
    fn integers_are_ordered_by_size() {
        assert!(Value::from(-5) < Value::from(3) && Value::from(3) < Value::from(20));
    }
}
