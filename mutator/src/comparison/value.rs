//! Values of constants: numbers, and lengths of time.

use std::fmt;
use std::str::FromStr;

/// A value that constants of two programs can be compared by.
#[derive(Debug, Clone, Copy)]
pub enum ConstantValue {
    /// A whole number.
    Integer(i128),
    /// Another number.
    Float(f64),
    /// A length of time, or a time since the start, in nanoseconds.
    Time(i128),
}

/// A text is no value of a constant.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no value: a number, or one with ns, us, ms or s")]
pub struct InvalidValue(pub String);

/// A unit of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unit {
    Nanos,
    Micros,
    Millis,
    Seconds,
    Minutes,
}

/// From the longest on that values are shown in.
const SHOWN: [(Unit, &str); 4] =
    [(Unit::Seconds, "s"), (Unit::Millis, "ms"), (Unit::Micros, "us"), (Unit::Nanos, "ns")];

impl Unit {
    pub(super) fn nanos(self) -> i128 {
        match self {
            Self::Nanos => 1,
            Self::Micros => 1_000,
            Self::Millis => 1_000_000,
            Self::Seconds => 1_000_000_000,
            Self::Minutes => 60_000_000_000,
        }
    }

    /// Returns the unit that a part of a name says.
    fn of_name(part: &str) -> Option<Self> {
        match part {
            "NS" | "NANOS" => Some(Self::Nanos),
            "US" | "MICROS" => Some(Self::Micros),
            "MS" | "MILLIS" => Some(Self::Millis),
            "S" | "SECS" | "SECONDS" => Some(Self::Seconds),
            "MINUTES" => Some(Self::Minutes),
            _ => None,
        }
    }
}

/// Returns a name in capitals without the unit that it says, and the unit.
pub(super) fn name_and_unit(name: &str) -> (String, Option<Unit>) {
    let name = name.trim_start_matches("r#").to_uppercase();
    let parts: Vec<&str> = name.split('_').collect();
    let place = parts.iter().skip(1).position(|part| Unit::of_name(part).is_some()).map(|place| place + 1);
    let unit = place.and_then(|place| Unit::of_name(parts[place]));
    let rest: Vec<&str> =
        parts.iter().enumerate().filter(|(index, _)| Some(*index) != place).map(|(_, part)| *part).collect();
    (rest.join("_"), unit)
}

impl ConstantValue {
    /// Returns so much of a unit, or the value itself if it has one.
    pub(super) fn in_unit(self, unit: Unit) -> Option<Self> {
        match self {
            Self::Integer(value) => value.checked_mul(unit.nanos()).map(Self::Time),
            Self::Float(value) => Some(Self::Time((value * unit.nanos() as f64).round() as i128)),
            Self::Time(_) => Some(self),
        }
    }

    /// Returns whether both are numbers, or both are lengths of time.
    pub fn is_comparable(self, other: Self) -> bool {
        matches!(self, Self::Time(_)) == matches!(other, Self::Time(_))
    }
}

impl PartialEq for ConstantValue {
    fn eq(&self, other: &Self) -> bool {
        match (*self, *other) {
            (Self::Integer(one), Self::Integer(other)) | (Self::Time(one), Self::Time(other)) => one == other,
            (Self::Integer(whole), Self::Float(number)) | (Self::Float(number), Self::Integer(whole)) => {
                whole as f64 == number
            }
            (Self::Float(one), Self::Float(other)) => one == other,
            (Self::Time(_), _) | (_, Self::Time(_)) => false,
        }
    }
}

impl fmt::Display for ConstantValue {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Integer(value) => write!(formatter, "{value}"),
            Self::Float(value) => write!(formatter, "{value}"),
            Self::Time(nanos) => {
                let longest = SHOWN.into_iter().find(|(unit, _)| nanos % unit.nanos() == 0);
                let (unit, name) = longest.expect("every time is one in nanoseconds");
                write!(formatter, "{} {name}", nanos / unit.nanos())
            }
        }
    }
}

impl FromStr for ConstantValue {
    type Err = InvalidValue;

    fn from_str(text: &str) -> Result<Self, InvalidValue> {
        let (number, unit) = text.split_once(' ').map_or((text, None), |(number, unit)| (number, Some(unit)));
        let number = match (number.parse(), number.parse()) {
            (Ok(value), _) => Some(Self::Integer(value)),
            (Err(_), Ok(value)) => Some(Self::Float(value)),
            _ => None,
        };
        let value = match unit {
            None => number,
            Some(name) => {
                SHOWN.into_iter().find(|(_, shown)| *shown == name).and_then(|(unit, _)| number?.in_unit(unit))
            }
        };
        value.ok_or_else(|| InvalidValue(text.to_owned()))
    }
}
