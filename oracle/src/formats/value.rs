//! Values in files.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::specifications::Text;

/// A value in a file: what EDN and JSON have in common, and the words of EDN.
///
/// Specifications of files have such values: a [`Register`](crate::specifications::Register) of `Value`, a
/// [`Queue`](crate::specifications::Queue) of `Value`. Values are ordered: integers by size, texts by their bytes.
///
/// In serde it is the value itself, as in JSON; a word is `{"word":":a"}`, a set `{"set":[…]}` and a map
/// `{"map":[[key,value],…]}`, whose keys need not be texts.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
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
        #[serde(with = "pairs")]
        map: BTreeMap<Value, Value>,
    },
}

/// A map as a list of pairs, so that keys need not be texts.
mod pairs {
    use std::collections::BTreeMap;

    use serde::{Deserialize, Deserializer, Serializer};

    use super::Value;

    pub(super) fn serialize<S: Serializer>(map: &BTreeMap<Value, Value>, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(map)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<Value, Value>, D::Error> {
        Vec::<(Value, Value)>::deserialize(from).map(|pairs| pairs.into_iter().collect())
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
    fn what_no_value_is_has_no_form() {
        for json in ["1.5", "9223372036854775808", r#"{"word":"a","more":1}"#, r#"{"a":1}"#] {
            assert!(serde_json::from_str::<Value>(json).is_err(), "{json}");
        }
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
